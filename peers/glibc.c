/* SPDX-License-Identifier: Apache-2.0
 *
 * glibc: malloc and free of the C library, which the whole program uses.
 *
 * The other allocators bring a malloc of their own, and the first one in the order of libraries is
 * the program's; so peers/build has the C library come first, and ways whose malloc is not its own
 * are not created. All of them are linked, not opened later: their variables for each thread are
 * then where a preloaded library has them, and a call is the same jump through the same table. Each
 * was compared with this file's loops under LD_PRELOAD, which take as long, or longer where many
 * large blocks are touched.
 *
 * Threads   as peers.h says.
 * Owns      nothing.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "peers/tables.h"

static inline bool glibc_take(void *source, size_t size, void **out_block)
{
    (void)source;
    return (*out_block = malloc(size)) != NULL;
}

static inline void glibc_give(void *source, void *block, size_t size)
{
    (void)source;
    (void)size;
    free(block);
}

#define WAY glibc
#include "peers/blocks.h"

/* Whether the program's malloc is in the same library as its puts. */
static bool is_malloc_of_libc(void)
{
    Dl_info one, other;
    void *const malloc_ = dlsym(RTLD_DEFAULT, "malloc"), *const puts_ = dlsym(RTLD_DEFAULT, "puts");

    return malloc_ && puts_ && dladdr(malloc_, &one) && dladdr(puts_, &other) &&
           one.dli_fbase == other.dli_fbase;
}

static void *small_create(void)
{
    return is_malloc_of_libc() ? peers_blocks_create_small() : NULL;
}

static void *large_create(void)
{
    return is_malloc_of_libc() ? peers_blocks_create_large() : NULL;
}

static const peers_way ways[] = {
    BLOCK_WAYS(glibc, "malloc, free", "malloc, free", small_create, large_create, free),
};

const peers_library peers_glibc = {"glibc", PEERS_VERSION, PEERS_PEER, ways,
                                   sizeof ways / sizeof ways[0]};
