/* SPDX-License-Identifier: Apache-2.0
 *
 * memory: where blocks of memory come from: the host, its huge pages, or a context's device
 * (gyre/context.h).
 *
 * A gyre_memory is a source of blocks with what one must know about them. gyre_allocator
 * (gyre/alloc.h) is for the library's own bookkeeping, this is for the caller's data.
 *
 * Threads   the functions must be thread-safe.
 * Owns      nothing: the struct is its maker's, and must outlive every block taken from it.
 * Not here  size classes and caches (gyre/pool.h).
 */
#ifndef GYRE_MEMORY_H
#define GYRE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

typedef struct gyre_memory gyre_memory;

/* Who can reach the blocks. */
enum {
    GYRE_MEMORY_HOST = 1,   /* the CPU, by ordinary loads and stores */
    GYRE_MEMORY_DEVICE = 2, /* a device */
};

struct gyre_memory {
    size_t struct_size; /* sizeof(gyre_memory): lets the struct grow */
    const char *name;   /* "host", "pinned", "cuda:0"; static */
    uint32_t reach;     /* GYRE_MEMORY_..., together */
    /* A block of `size_bytes` (never 0), aligned to `alignment` (a power of two); not zeroed.
     * GYRE_NO_MEMORY when there is none. */
    GYRE_MUST_USE gyre_status (*take)(const gyre_memory *memory, size_t size_bytes,
                                      size_t alignment, void **out_block);
    /* Takes back a block with the size and alignment it was asked for. */
    void (*give)(const gyre_memory *memory, void *block, size_t size_bytes, size_t alignment);
    void *user; /* the maker's */
    /* Blocks come in multiples of this; who needs less takes several at once. 0: no matter. */
    size_t grain_bytes;
};

/* Ordinary memory of the process. Static. Thread-safe, never blocks, may be called from a signal
 * handler. */
GYRE_API const gyre_memory *gyre_memory_host(void);

/* The same in multiples of 2 MiB, each of them one page where the kernel lets it: fewer pages to
 * look up, and to fault. What it has not written yet costs nothing. As gyre_memory_host. */
GYRE_API const gyre_memory *gyre_memory_huge(void);

GYRE_END_DECLS

#endif
