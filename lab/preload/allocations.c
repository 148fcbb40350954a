/* SPDX-License-Identifier: Apache-2.0
 *
 * allocations: a library that is put in front of a program (LD_PRELOAD) and counts what it
 * allocates.
 *
 * Each call is passed on to whoever would have served it. Looking those up may itself allocate, so
 * until they are known a small block serves, which is never given back.
 *
 * Threads   any.
 * Owns      the counts.
 * Not here  reading the counts (bench/count.c), starting the program so (main/worker.c).
 */
#include "preload/allocations.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define SHOWN __attribute__((visibility("default")))

enum { EARLY_BYTES = 16384, EARLY_ALIGN = 16 };

SHOWN extern gyre_allocations gyre_allocations_made;
gyre_allocations gyre_allocations_made;

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void (*free)(void *);
} next;

static _Alignas(EARLY_ALIGN) char early[EARLY_BYTES];
static size_t early_used;

/* Function pointers come from dlsym as data pointers, which C has no cast for. */
static void find(const char *name, void *into)
{
    void *found = dlsym(RTLD_NEXT, name);

    memcpy(into, &found, sizeof found);
}

/* Whether the real ones are known; the first call finds them, while the process has one thread. */
static bool ready(void)
{
    static bool searching;

    if (next.free)
        return true;
    if (searching)
        return false;
    searching = true;
    find("malloc", &next.malloc);
    find("calloc", &next.calloc);
    find("realloc", &next.realloc);
    find("memalign", &next.memalign);
    find("aligned_alloc", &next.aligned_alloc);
    find("posix_memalign", &next.posix_memalign);
    find("free", &next.free);
    searching = false;
    return next.free != NULL;
}

static void *take_early(size_t size)
{
    const size_t rounded = (size + EARLY_ALIGN - 1) / EARLY_ALIGN * EARLY_ALIGN;

    if (rounded < size || rounded > sizeof early - early_used)
        return NULL;
    early_used += rounded;
    return early + early_used - rounded;
}

static bool is_early(const void *block)
{
    return (const char *)block >= early && (const char *)block < early + sizeof early;
}

static void count(size_t size)
{
    /* relaxed, both: sums that are read while the counted work stands still */
    __atomic_fetch_add(&gyre_allocations_made.calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&gyre_allocations_made.bytes, size, __ATOMIC_RELAXED);
}

SHOWN void *malloc(size_t size)
{
    if (!ready())
        return take_early(size);
    count(size);
    return next.malloc(size);
}

SHOWN void *calloc(size_t members, size_t size)
{
    if (!ready()) /* static memory is zero, and overflow is refused by its size */
        return size && members > EARLY_BYTES / size ? NULL : take_early(members * size);
    count(members * size);
    return next.calloc(members, size);
}

SHOWN void *realloc(void *block, size_t size)
{
    void *moved;

    if (!ready())
        return NULL;
    count(size);
    if (!is_early(block))
        return next.realloc(block, size);
    moved = next.malloc(size);
    if (moved) /* it may have been shorter: what follows it is ours too, up to the end */
        memcpy(moved, block,
               size < (size_t)(early + sizeof early - (char *)block)
                   ? size
                   : (size_t)(early + sizeof early - (char *)block));
    return moved;
}

SHOWN void *memalign(size_t alignment, size_t size);
SHOWN void *memalign(size_t alignment, size_t size)
{
    if (!ready())
        return NULL;
    count(size);
    return next.memalign(alignment, size);
}

SHOWN void *aligned_alloc(size_t alignment, size_t size)
{
    if (!ready())
        return NULL;
    count(size);
    return next.aligned_alloc(alignment, size);
}

SHOWN int posix_memalign(void **out_block, size_t alignment, size_t size)
{
    if (!ready())
        return ENOMEM;
    count(size);
    return next.posix_memalign(out_block, alignment, size);
}

SHOWN void free(void *block)
{
    if (!is_early(block) && ready())
        next.free(block);
}
