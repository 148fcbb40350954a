/* SPDX-License-Identifier: Apache-2.0
 *
 * alloc: the one place where the library asks for memory. See alloc.h.
 */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

enum { ALIGNMENT = 64 }; /* a cache line: two objects never share one */

gyre_status gyre_allocator_check(const gyre_allocator *allocator)
{
    if (allocator && (!allocator->allocate || !allocator->release))
        return gyre_fail(GYRE_INVALID, "allocator: both functions are needed");
    return GYRE_OK;
}

gyre_status gyre_alloc(const gyre_allocator *allocator, size_t count, size_t size, void **out_block)
{
    size_t bytes, rounded;
    void *block;

    *out_block = NULL;
    if (!gyre_size_multiply(count, size, &bytes) ||
        !gyre_size_add(bytes, ALIGNMENT - 1, &rounded) || rounded > PTRDIFF_MAX)
        return gyre_fail(GYRE_NO_MEMORY, "%zu elements of %zu bytes do not fit the address space",
                         count, size);
    if (bytes == 0)
        return gyre_fail(GYRE_INVALID, "allocation of nothing (%zu elements of %zu bytes)", count,
                         size);
    rounded &= ~(size_t)(ALIGNMENT - 1);
    block = allocator ? allocator->allocate(allocator->user, rounded, ALIGNMENT)
                      : aligned_alloc(ALIGNMENT, rounded);
    if (!block)
        return gyre_fail(GYRE_NO_MEMORY, "no memory for %zu elements of %zu bytes", count, size);
    memset(block, 0, rounded);
    *out_block = block;
    return GYRE_OK;
}

void gyre_free(const gyre_allocator *allocator, void *block, size_t count, size_t size)
{
    if (!block)
        return;
    if (allocator)
        allocator->release(allocator->user, block,
                           (count * size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1));
    else
        free(block);
}
