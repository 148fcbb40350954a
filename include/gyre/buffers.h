/* SPDX-License-Identifier: Apache-2.0
 *
 * buffers: memory by number: allocated, written, read and deallocated through an id.
 *
 * For commands, which carry ids instead of addresses: who holds an id holds no pointer that could
 * outlive the buffer. An id that was deallocated is never valid again, though its place is reused.
 *
 * Threads   any. Reads of one buffer go side by side, a write is alone, and a deallocation waits
 *           for both. Nothing here is for signal handlers.
 * Owns      the buffers' memory, taken from a pool.
 * Not here  the pool (gyre/pool.h).
 */
#ifndef GYRE_BUFFERS_H
#define GYRE_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/alloc.h"
#include "gyre/common.h"
#include "gyre/pool.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

typedef struct gyre_buffers gyre_buffers;

/* Zero means default, everywhere. */
typedef struct gyre_buffers_options {
    size_t struct_size;              /* sizeof(gyre_buffers_options): lets the struct grow */
    const gyre_allocator *allocator; /* for the table; copied; default malloc */
    gyre_pool
        *pool; /* borrowed, outlives the buffers; default: one of their own, over host memory */
    uint32_t most_count; /* buffers at one time; default 65536, at most 2^24 */
} gyre_buffers_options;

/* No buffers yet. GYRE_INVALID, GYRE_NO_MEMORY, GYRE_UNSUPPORTED for a pool whose memory the host
 * cannot reach, GYRE_UNAVAILABLE in a forked child. Thread-safe, may block in the allocator. */
GYRE_API GYRE_MUST_USE gyre_status gyre_buffers_create(const gyre_buffers_options *options,
                                                       gyre_buffers **out_buffers);

typedef enum gyre_buffer_content {
    GYRE_BUFFER_ANY = 0,    /* whatever was there */
    GYRE_BUFFER_ZEROED = 1, /* zeros */
} gyre_buffer_content;

/* A buffer of `size` bytes; its id is never 0. GYRE_INVALID for size 0, GYRE_AGAIN when there are
 * as many as may be or the pool is at its limit, GYRE_NO_MEMORY. Thread-safe, may block as
 * gyre_pool_take. */
GYRE_API GYRE_MUST_USE gyre_status gyre_buffer_allocate(gyre_buffers *buffers, size_t size,
                                                        gyre_buffer_content content,
                                                        uint64_t *out_id);

/* Copies `size` bytes into the buffer, or out of it, from `offset` on. GYRE_NOT_FOUND for an id
 * that is not, or no longer, a buffer's; GYRE_INVALID when they do not all lie inside, and nothing
 * is copied. Thread-safe, block while another writes the same buffer. */
GYRE_API GYRE_MUST_USE gyre_status gyre_buffer_write(gyre_buffers *buffers, uint64_t id,
                                                     size_t offset, const void *data, size_t size);
GYRE_API GYRE_MUST_USE gyre_status gyre_buffer_read(gyre_buffers *buffers, uint64_t id,
                                                    size_t offset, void *out_data, size_t size);

/* Its size in bytes. GYRE_NOT_FOUND as above. Thread-safe. */
GYRE_API GYRE_MUST_USE gyre_status gyre_buffer_size(gyre_buffers *buffers, uint64_t id,
                                                    size_t *out_size);

/* Ends a buffer, when nobody reads or writes it. GYRE_NOT_FOUND as above. Thread-safe. */
GYRE_API GYRE_MUST_USE gyre_status gyre_buffer_deallocate(gyre_buffers *buffers, uint64_t id);

/* How many there are. Thread-safe. */
GYRE_API uint32_t gyre_buffers_count(gyre_buffers *buffers);

/* Ends all of them. No other thread may be using them. NULL is a no-op. */
GYRE_API void gyre_buffers_destroy(gyre_buffers *buffers);

GYRE_END_DECLS

#endif
