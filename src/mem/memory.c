/* SPDX-License-Identifier: Apache-2.0
 *
 * memory: the source of ordinary memory. See gyre/memory.h.
 *
 * Threads   any.
 * Owns      one const struct.
 */
#include "gyre/memory.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"

/* Sources are made by callers. */
_Static_assert(sizeof(gyre_memory) == 48 && offsetof(gyre_memory, name) == 8 &&
                   offsetof(gyre_memory, reach) == 16 && offsetof(gyre_memory, take) == 24 &&
                   offsetof(gyre_memory, give) == 32 && offsetof(gyre_memory, user) == 40,
               "layout is public");

static gyre_status take(const gyre_memory *memory, size_t size_bytes, size_t alignment,
                        void **out_block)
{
    size_t rounded;

    *out_block = NULL;
    if (size_bytes == 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
        return gyre_fail(GYRE_INVALID, "%s: no block of %zu bytes aligned to %zu", memory->name,
                         size_bytes, alignment);
    if (!gyre_size_add(size_bytes, alignment - 1, &rounded) || rounded > PTRDIFF_MAX)
        return gyre_fail(GYRE_NO_MEMORY, "%s: %zu bytes do not fit the address space", memory->name,
                         size_bytes);
    rounded &= ~(alignment - 1);
    /* malloc finds what this thread freed before; glibc's aligned_alloc searches */
    *out_block =
        alignment <= _Alignof(max_align_t) ? malloc(size_bytes) : aligned_alloc(alignment, rounded);
    if (!*out_block)
        return gyre_fail(GYRE_NO_MEMORY, "%s: no memory for %zu bytes", memory->name, size_bytes);
    return GYRE_OK;
}

static void give(const gyre_memory *memory, void *block, size_t size_bytes)
{
    (void)memory, (void)size_bytes;
    free(block);
}

static const gyre_memory host = {
    .struct_size = sizeof host,
    .name = "host",
    .reach = GYRE_MEMORY_HOST,
    .take = take,
    .give = give,
};

const gyre_memory *gyre_memory_host(void)
{
    return &host;
}
