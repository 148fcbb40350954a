/* SPDX-License-Identifier: Apache-2.0
 *
 * memory: the sources of ordinary memory. See gyre/memory.h.
 *
 * Threads   any.
 * Owns      const structs.
 */
#include "mem/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/fail.h"

/* Sources are made by callers. */
_Static_assert(sizeof(gyre_memory) == 56 && offsetof(gyre_memory, name) == 8 &&
                   offsetof(gyre_memory, reach) == 16 && offsetof(gyre_memory, take) == 24 &&
                   offsetof(gyre_memory, give) == 32 && offsetof(gyre_memory, user) == 40 &&
                   offsetof(gyre_memory, grain_bytes) == 48,
               "layout is public");

gyre_status gyre_memory_check(const gyre_memory *memory)
{
    if (memory->struct_size < sizeof *memory || !memory->take || !memory->give)
        return gyre_fail(GYRE_INVALID, "memory: struct_size and both functions are needed");
    return GYRE_OK;
}

/* `size_bytes` rounded up to a multiple of `unit`, and that it and its alignment make sense. */
static gyre_status check(const gyre_memory *memory, size_t size_bytes, size_t alignment,
                         size_t unit, size_t *out_rounded)
{
    *out_rounded = 0;
    if (size_bytes == 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
        return gyre_fail(GYRE_INVALID, "%s: no block of %zu bytes aligned to %zu", memory->name,
                         size_bytes, alignment);
    if (!gyre_size_add(size_bytes, unit - 1, out_rounded) || *out_rounded > PTRDIFF_MAX)
        return gyre_fail(GYRE_NO_MEMORY, "%s: %zu bytes do not fit the address space", memory->name,
                         size_bytes);
    *out_rounded &= ~(unit - 1);
    return GYRE_OK;
}

static gyre_status take(const gyre_memory *memory, size_t size_bytes, size_t alignment,
                        void **out_block)
{
    gyre_status status;
    size_t rounded;

    *out_block = NULL;
    status = check(memory, size_bytes, alignment, alignment ? alignment : 1, &rounded);
    if (status != GYRE_OK)
        return status;
    /* malloc finds what this thread freed before; glibc's aligned_alloc searches */
    *out_block =
        alignment <= _Alignof(max_align_t) ? malloc(size_bytes) : aligned_alloc(alignment, rounded);
    if (!*out_block)
        return gyre_fail(GYRE_NO_MEMORY, "%s: no memory for %zu bytes", memory->name, size_bytes);
    return GYRE_OK;
}

static void give(const gyre_memory *memory, void *block, size_t size_bytes, size_t alignment)
{
    (void)memory, (void)size_bytes, (void)alignment;
    free(block);
}

/* A huge page of x86-64, and of aarch64 with pages of 4 KiB. */
enum { HUGE_PAGE = 2 << 20 };

static gyre_status take_huge(const gyre_memory *memory, size_t size_bytes, size_t alignment,
                             void **out_block)
{
    size_t rounded, mapped, before;
    unsigned char *pages;
    gyre_status status;

    *out_block = NULL;
    status = check(memory, size_bytes, alignment, HUGE_PAGE, &rounded);
    if (status != GYRE_OK)
        return status;
    if (alignment > HUGE_PAGE)
        return gyre_fail(GYRE_INVALID, "%s: no block is aligned to %zu", memory->name, alignment);
    if (!gyre_size_add(rounded, HUGE_PAGE, &mapped))
        return gyre_fail(GYRE_NO_MEMORY, "%s: %zu bytes do not fit the address space", memory->name,
                         size_bytes);
    pages = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return gyre_fail_native(GYRE_NO_MEMORY, errno, "%s: no memory for %zu bytes: %s",
                                memory->name, size_bytes, strerror(errno));
    before = -(uintptr_t)pages & ((size_t)HUGE_PAGE - 1);
    if (before > 0)
        (void)munmap(pages, before);
    if (before < HUGE_PAGE)
        (void)munmap(pages + before + rounded, HUGE_PAGE - before);
    (void)madvise(pages + before, rounded, MADV_HUGEPAGE); /* a wish */
    *out_block = pages + before;
    return GYRE_OK;
}

static void give_huge(const gyre_memory *memory, void *block, size_t size_bytes, size_t alignment)
{
    (void)memory, (void)alignment;
    (void)munmap(block, (size_bytes + HUGE_PAGE - 1) & ~((size_t)HUGE_PAGE - 1));
}

static const gyre_memory host = {
    .struct_size = sizeof host,
    .name = "host",
    .reach = GYRE_MEMORY_HOST,
    .take = take,
    .give = give,
};

static const gyre_memory huge = {
    .struct_size = sizeof huge,
    .name = "huge",
    .reach = GYRE_MEMORY_HOST,
    .take = take_huge,
    .give = give_huge,
    .grain_bytes = HUGE_PAGE,
};

const gyre_memory *gyre_memory_host(void)
{
    return &host;
}

const gyre_memory *gyre_memory_huge(void)
{
    return &huge;
}
