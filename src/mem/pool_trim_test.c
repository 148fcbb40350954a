/* SPDX-License-Identifier: Apache-2.0
 *
 * When a pool draws and when it trims: not while a block is waiting that may be taken, not without
 * need, and never at the cost of a block.
 */
#include <stdlib.h>

#include "gyre/atomic.h"
#include "gyre/pool.h"
#include "test.h"

enum { MANY = 40, THREAD_BYTES = 2 << 20 }; /* so that only the pool keeps blocks of 4 MiB */

static gyre_pool *make(gyre_pool_options options)
{
    gyre_pool *pool = NULL;

    options.struct_size = sizeof options;
    options.track = GYRE_POOL_TRACK_OFF;
    CHECK(gyre_pool_create(&options, &pool) == GYRE_OK);
    return pool;
}

static void *take(gyre_pool *pool, size_t size)
{
    void *block = NULL;

    CHECK(gyre_pool_take(pool, size, &block) == GYRE_OK);
    return block;
}

static gyre_pool_statistics describe(gyre_pool *pool)
{
    gyre_pool_statistics all = {.struct_size = sizeof all};

    CHECK(gyre_pool_describe(pool, &all) == GYRE_OK);
    return all;
}

/* --- tickets --- */

/* Waiting blocks, of which only the last may be taken. */
static void wait_behind_others(gyre_pool *pool, size_t size, const uint64_t *still,
                               const uint64_t *through)
{
    void *blocks[MANY];

    for (int i = 0; i < MANY; i++)
        blocks[i] = take(pool, size);
    for (int i = 0; i < MANY; i++)
        CHECK(gyre_pool_give_after(pool, blocks[i], size, 64,
                                   (gyre_ticket){i < MANY - 1 ? still : through, 1}) == GYRE_OK);
}

static void nothing_is_drawn_while_a_ticket_is_through(void)
{
    static const size_t sizes[] = {64, 65536, 4 << 20}; /* the last is kept by the pool alone */
    const uint64_t still = 0, through = 1;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        gyre_pool *const pool = make((gyre_pool_options){.thread_bytes = THREAD_BYTES});
        const int whole = sizes[i] == 64 ? 1024 : 1; /* blocks to a piece of the source */
        void *all[1024], *block;
        uint64_t drawn;

        wait_behind_others(pool, sizes[i], &still, &through);
        for (int k = MANY; k < whole; k++)
            all[k] = take(pool, sizes[i]);
        drawn = describe(pool).bytes_drawn;
        block = take(pool, sizes[i]);
        CHECK(describe(pool).bytes_drawn == drawn);
        CHECK(describe(pool).bytes_waiting == (MANY - 1) * sizes[i]);
        gyre_pool_give(pool, block, sizes[i]);
        for (int k = MANY; k < whole; k++)
            gyre_pool_give(pool, all[k], sizes[i]);
        gyre_pool_destroy(pool);
    }
}

/* --- an allocator that says no --- */

static void *allocate_or_not(void *user, size_t size_bytes, size_t alignment)
{
    return *(const bool *)user ? aligned_alloc(alignment, size_bytes) : NULL;
}

static void release(void *user, void *block, size_t size_bytes)
{
    (void)user, (void)size_bytes;
    free(block);
}

static void trim_without_memory_loses_no_block(void)
{
    bool is_willing = true;
    const gyre_allocator allocator = {allocate_or_not, release, &is_willing};
    const size_t size = 4 << 20;
    gyre_pool *const pool =
        make((gyre_pool_options){.allocator = &allocator, .thread_bytes = THREAD_BYTES});
    uint64_t timeline = 0;
    void *block = take(pool, size);

    REQUIRE(gyre_pool_give_after(pool, block, size, 64, (gyre_ticket){&timeline, 1}) == GYRE_OK);
    gyre_store_release(&timeline, 1);
    is_willing = false;
    (void)gyre_pool_trim(pool);
    is_willing = true;
    CHECK(gyre_pool_trim(pool) >= size);
    CHECK(describe(pool).bytes_drawn == 0);
    gyre_pool_destroy(pool);
}

static void trim_looks_again_when_blocks_came(void)
{
    gyre_pool *const pool = make((gyre_pool_options){0});
    void *const first = take(pool, 64), *const second = take(pool, 64);

    gyre_pool_give(pool, first, 64);
    CHECK(gyre_pool_trim(pool) == 0); /* the second is in the same piece */
    CHECK(gyre_pool_trim(pool) == 0);
    gyre_pool_give(pool, second, 64);
    CHECK(gyre_pool_trim(pool) > 0);
    CHECK(describe(pool).bytes_drawn == 0);
    gyre_pool_destroy(pool);
}

/* --- what is refused --- */

static void limit_below_a_piece_of_the_source_is_refused(void)
{
    gyre_pool_options options = {
        .struct_size = sizeof options, .source = gyre_memory_huge(), .limit_bytes = 1 << 20};
    gyre_pool *pool;

    CHECK(gyre_pool_create(&options, &pool) == GYRE_INVALID);
    options.limit_bytes = 2 << 20;
    REQUIRE(gyre_pool_create(&options, &pool) == GYRE_OK);
    gyre_pool_give(pool, take(pool, 100), 100);
    gyre_pool_destroy(pool);
}

static const test_case cases[] = {
    TEST(nothing_is_drawn_while_a_ticket_is_through),
    TEST(trim_without_memory_loses_no_block),
    TEST(trim_looks_again_when_blocks_came),
    TEST(limit_below_a_piece_of_the_source_is_refused),
};
TEST_MAIN(cases)
