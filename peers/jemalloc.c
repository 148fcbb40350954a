/* SPDX-License-Identifier: Apache-2.0
 *
 * jemalloc: its malloc and free, and sdallocx, which need not look the size up.
 *
 * Distributions build it without a prefix, so its malloc has the name of the C library's, and is
 * looked up by that name in jemalloc alone; mallocx has a name of its own and is slower. A call
 * through a pointer is what a call of a library's function is anyway.
 *
 * Threads   as peers.h says; what is looked up is written before the first way runs.
 * Owns      nothing.
 */
#include <dlfcn.h>
#include <jemalloc/jemalloc.h>
#include <string.h>

#include "peers/tables.h"

static void *(*its_malloc)(size_t size);
static void (*its_free)(void *block);

static inline bool plain_take(void *source, size_t size, void **out_block)
{
    (void)source;
    return (*out_block = its_malloc(size)) != NULL;
}

static inline void plain_give(void *source, void *block, size_t size)
{
    (void)source;
    (void)size;
    its_free(block);
}

static inline bool sized_take(void *source, size_t size, void **out_block)
{
    return plain_take(source, size, out_block);
}

static inline void sized_give(void *source, void *block, size_t size)
{
    (void)source;
    sdallocx(block, size, 0);
}

#define WAY plain
#include "peers/blocks.h"

#define WAY sized
#include "peers/blocks.h"

static void *symbol(void *library, const char *name)
{
    void *const found = dlsym(library, name);
    Dl_info ours, where;

    /* not the C library's, which it depends on */
    return found && dladdr(found, &where) && dladdr((void *)&mallctl, &ours) &&
                   where.dli_fbase == ours.dli_fbase
               ? found
               : NULL;
}

static bool look_up(void)
{
    void *library, *take, *give;
    Dl_info ours;

    if (its_malloc)
        return true;
    if (!dladdr((void *)&mallctl, &ours))
        return false;
    library = dlopen(ours.dli_fname, RTLD_NOW | RTLD_NOLOAD); /* it is linked, and stays */
    if (!library)
        return false;
    take = symbol(library, "malloc");
    give = symbol(library, "free");
    if (!take || !give)
        return false;
    memcpy(&its_free, &give, sizeof its_free); /* C has no cast from data to function */
    memcpy(&its_malloc, &take, sizeof its_malloc);
    return true;
}

static void *small_create(void)
{
    return look_up() ? peers_blocks_create_small() : NULL;
}

static void *large_create(void)
{
    return look_up() ? peers_blocks_create_large() : NULL;
}

static const peers_way ways[] = {
    BLOCK_WAYS(plain, "malloc, free", "malloc, free", small_create, large_create, free),
    BLOCK_WAYS(sized, "malloc, sdallocx", "malloc, sdallocx", small_create, large_create, free),
};

const peers_library peers_jemalloc = {"jemalloc", PEERS_VERSION, PEERS_PEER, ways,
                                      sizeof ways / sizeof ways[0]};
