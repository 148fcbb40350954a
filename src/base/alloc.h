/* SPDX-License-Identifier: Apache-2.0
 *
 * alloc: memory through the caller's allocator or malloc, with sizes that cannot overflow.
 *
 * Threads   as the allocator's.
 * Owns      nothing.
 * Not here  recycling (mem/pool.c).
 */
#ifndef GYRE_BASE_ALLOC_H
#define GYRE_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

#include "gyre/alloc.h"
#include "gyre/common.h"
#include "gyre/status.h"

/* True and the result, or false when it does not fit a size_t. */
GYRE_MUST_USE static inline bool gyre_size_add(size_t a, size_t b, size_t *out_sum)
{
    return !__builtin_add_overflow(a, b, out_sum);
}

GYRE_MUST_USE static inline bool gyre_size_multiply(size_t a, size_t b, size_t *out_product)
{
    return !__builtin_mul_overflow(a, b, out_product);
}

/* GYRE_INVALID when `allocator` is given and lacks a function. NULL is fine. */
GYRE_MUST_USE gyre_status gyre_allocator_check(const gyre_allocator *allocator);

/* The copy of an allocator that an object keeps, or NULL where the caller gave none. */
static inline const gyre_allocator *gyre_allocator_kept(const gyre_allocator *copy)
{
    return copy->allocate ? copy : NULL;
}

/* A zeroed block of count * size bytes, aligned to 64. GYRE_NO_MEMORY when the product overflows or
 * the allocator (malloc's family for NULL) has none; GYRE_INVALID for an empty block. */
GYRE_API GYRE_MUST_USE gyre_status gyre_alloc(const gyre_allocator *allocator, size_t count,
                                              size_t size, void **out_block);

/* Gives back a block with the count and size it was asked for; NULL is a no-op. */
GYRE_API void gyre_free(const gyre_allocator *allocator, void *block, size_t count, size_t size);

#endif
