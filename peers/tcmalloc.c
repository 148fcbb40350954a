/* SPDX-License-Identifier: Apache-2.0
 *
 * tcmalloc: gperftools' tc_malloc and tc_free, which are its malloc and free under names of their
 * own, and tc_free_sized, which need not look the size up.
 *
 * Threads   as peers.h says.
 * Owns      nothing.
 */
#include <gperftools/tcmalloc.h>

#include "peers/tables.h"

static inline bool plain_take(void *source, size_t size, void **out_block)
{
    (void)source;
    return (*out_block = tc_malloc(size)) != NULL;
}

static inline void plain_give(void *source, void *block, size_t size)
{
    (void)source;
    (void)size;
    tc_free(block);
}

static inline bool sized_take(void *source, size_t size, void **out_block)
{
    return plain_take(source, size, out_block);
}

static inline void sized_give(void *source, void *block, size_t size)
{
    (void)source;
    tc_free_sized(block, size);
}

#define WAY plain
#include "peers/blocks.h"

#define WAY sized
#include "peers/blocks.h"

static const peers_way ways[] = {
    BLOCK_WAYS(plain, "tc_malloc, tc_free", "tc_malloc, tc_free", peers_blocks_create_small,
               peers_blocks_create_large, free),
    BLOCK_WAYS(sized, "tc_malloc, tc_free_sized", "tc_malloc, tc_free_sized",
               peers_blocks_create_small, peers_blocks_create_large, free),
};

const peers_library peers_tcmalloc = {"tcmalloc", PEERS_VERSION, PEERS_PEER, ways,
                                      sizeof ways / sizeof ways[0]};
