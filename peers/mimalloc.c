/* SPDX-License-Identifier: Apache-2.0
 *
 * mimalloc: mi_malloc and mi_free, which are its malloc and free under names of their own.
 *
 * mi_free_size takes no less time than mi_free: in this version it checks the size and forgets it.
 *
 * Threads   as peers.h says.
 * Owns      nothing.
 */
#include <mimalloc.h>

#include "peers/tables.h"

static inline bool mi_take(void *source, size_t size, void **out_block)
{
    (void)source;
    return (*out_block = mi_malloc(size)) != NULL;
}

static inline void mi_give(void *source, void *block, size_t size)
{
    (void)source;
    (void)size;
    mi_free(block);
}

#define WAY mi
#include "peers/blocks.h"

static const peers_way ways[] = {
    BLOCK_WAYS(mi, "mi_malloc, mi_free", "mi_malloc, mi_free", peers_blocks_create_small,
               peers_blocks_create_large, free),
};

const peers_library peers_mimalloc = {"mimalloc", PEERS_VERSION, PEERS_PEER, ways,
                                      sizeof ways / sizeof ways[0]};
