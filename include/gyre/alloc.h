/* SPDX-License-Identifier: Apache-2.0
 *
 * alloc: where the library's memory comes from, when the caller wants a say.
 *
 * Most options structs of a create have an `allocator`; NULL means malloc. Kernels and streams use
 * their context's; actors and ports have none, and use malloc. The struct is copied, so it may live
 * on the stack; what `user` points to must outlive the objects.
 *
 * Threads   the functions must be thread-safe when the object they serve is.
 * Owns      nothing.
 * Not here  size classes and caches (gyre/pool.h).
 */
#ifndef GYRE_ALLOC_H
#define GYRE_ALLOC_H

#include <stddef.h>

#include "gyre/common.h"

GYRE_BEGIN_DECLS

typedef struct gyre_allocator {
    /* A block of `size_bytes` (never 0), aligned to `alignment` (a power of two, at least 16), or
     * NULL when there is none. It need not be zeroed. */
    void *(*allocate)(void *user, size_t size_bytes, size_t alignment);
    /* Takes back a block with the size it was asked for; never NULL. */
    void (*release)(void *user, void *block, size_t size_bytes);
    void *user; /* handed to both */
} gyre_allocator;

GYRE_END_DECLS

#endif
