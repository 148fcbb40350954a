/* SPDX-License-Identifier: Apache-2.0
 *
 * gyre_pool: blocks of a pool with default options; those of 1 MiB lie in huge pages, which are
 * written once when they are drawn.
 *
 * Threads   as peers.h says.
 * Owns      a pool for each way.
 */
#include "gyre/pool.h"

static inline bool pool_take(void *source, size_t size, void **out_block)
{
    return gyre_pool_take(source, size, out_block) == GYRE_OK;
}

static inline void pool_give(void *source, void *block, size_t size)
{
    gyre_pool_give(source, block, size);
}

#define WAY pool
#include "peers/blocks.h"

static void *pool_create(const gyre_pool_options *options, uint64_t waiting)
{
    peers_blocks *b;
    gyre_pool *pool;

    if (gyre_pool_create(options, &pool) != GYRE_OK)
        return NULL;
    b = peers_blocks_create(pool, waiting);
    if (!b)
        gyre_pool_destroy(pool);
    return b;
}

static void *small_create(void)
{
    return pool_create(NULL, PEERS_CAPACITY);
}

static void *large_create(void)
{
    const gyre_pool_options options = {
        .struct_size = sizeof options, .source = gyre_memory_huge(), .prefault = 1};

    return pool_create(&options, BLOCK_WAITING);
}

static void pool_destroy(void *state)
{
    gyre_pool_destroy(((peers_blocks *)state)->source);
    free(state);
}

static const peers_way ways[] = {
    BLOCK_WAYS(pool, "gyre_pool", "gyre_pool, huge pages", small_create, large_create,
               pool_destroy),
};

const peers_library peers_gyre_pool = {"Gyre", PEERS_GYRE_VERSION, PEERS_GYRE, ways,
                                       sizeof ways / sizeof ways[0]};
