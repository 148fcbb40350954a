/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks that are given while somebody still uses them: nobody gets one before its ticket is
 * through, but who is ordered behind it. Pools of these cases have room for the blocks that wait
 * and no others, so that a take says whether one was free.
 */
#include "chance.h"
#include "mem/pool_fake.h"

static fake_source source;

/* Room for `count` blocks of 64 bytes. */
static gyre_pool *small_pool(size_t count)
{
    fake_source_init(&source, FAKE_HEAP);
    return fake_pool(&source, (gyre_pool_options){.limit_bytes = 64 * count, .track = track});
}

static void end_pool(gyre_pool *pool)
{
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}

/* GYRE_AGAIN is NULL here. */
static void *take(gyre_pool *pool)
{
    void *block = &block;
    const gyre_status status = gyre_pool_take(pool, 64, &block);

    CHECK(status == GYRE_OK || status == GYRE_AGAIN);
    CHECK((status == GYRE_OK) == (block != NULL));
    return block;
}

static void *take_ordered(gyre_pool *pool, const uint64_t *timeline)
{
    void *block = &block;
    const gyre_status status = gyre_pool_take_ordered(pool, 64, 64, timeline, &block);

    CHECK(status == GYRE_OK || status == GYRE_AGAIN);
    CHECK((status == GYRE_OK) == (block != NULL));
    return block;
}

static void give_after(gyre_pool *pool, void *block, const uint64_t *completed, uint64_t value)
{
    CHECK(gyre_pool_give_after(pool, block, 64, 64, (gyre_ticket){completed, value}) == GYRE_OK);
}

/* Other threads' stores, and the pool's loads, are atomic. */
static void reach(uint64_t *completed, uint64_t value)
{
    __atomic_store_n(completed, value, __ATOMIC_RELEASE);
}

static void block_is_free_when_its_ticket_is_through(void)
{
    static const uint64_t values[] = {1, 2, 7, UINT64_C(1) << 32, UINT64_MAX};

    for (size_t i = 0; i < COUNT(values); i++) {
        uint64_t completed = 0;
        gyre_pool *pool = small_pool(1);
        void *block;

        REQUIRE(pool);
        block = take(pool);
        fake_mark(block, 64, i);
        give_after(pool, block, &completed, values[i]);
        CHECK(take(pool) == NULL);
        CHECK(take_ordered(pool, NULL) == NULL);
        reach(&completed, values[i] - 1);
        CHECK(take(pool) == NULL);
        (void)gyre_pool_trim(pool);
        CHECK(take(pool) == NULL && source.count == 1);
        reach(&completed, values[i]);
        block = take(pool);
        CHECK(block != NULL && take(pool) == NULL);
        gyre_pool_give(pool, block, 64);
        end_pool(pool);
    }
}
ALSO_TRACKED(block_is_free_when_its_ticket_is_through)

/* While it waits it is somebody's: tracking and trimming leave its bytes alone. */
static void waiting_block_is_not_written(void)
{
    static const size_t sizes[] = {64, 5000, 70000, 3 * MIB};

    for (size_t i = 0; i < COUNT(sizes); i++) {
        uint64_t completed = 0;
        unsigned char *block;
        gyre_pool *pool;

        fake_source_init(&source, FAKE_HEAP);
        pool = fake_pool(&source, (gyre_pool_options){.track = track});
        REQUIRE(pool);
        block = fake_block(pool, sizes[i], 64);
        REQUIRE(block);
        fake_mark(block, sizes[i], 1);
        CHECK(gyre_pool_give_after(pool, block, sizes[i], 64, (gyre_ticket){&completed, 1}) ==
              GYRE_OK);
        for (int k = 0; k < 50; k++)
            gyre_pool_give(pool, fake_block(pool, sizes[i], 64), sizes[i]);
        (void)gyre_pool_trim(pool);
        CHECK(fake_owns(&source, block, sizes[i]) && fake_is_marked(block, sizes[i], 1));
        fake_mark(block, sizes[i], 2); /* the device writes to it */
        CHECK(fake_is_marked(block, sizes[i], 2));
        reach(&completed, 1);
        (void)gyre_pool_trim(pool);
        CHECK(source.count == 0);
        gyre_pool_destroy(pool);
        fake_source_fini(&source);
    }
}
ALSO_TRACKED(waiting_block_is_not_written)

static void tickets_that_are_through_already_free_at_once(void)
{
    uint64_t completed = 5;
    gyre_pool *pool = small_pool(1);

    REQUIRE(pool);
    give_after(pool, take(pool), NULL, 0);
    give_after(pool, take(pool), NULL, UINT64_MAX);
    give_after(pool, take(pool), &completed, 0);
    give_after(pool, take(pool), &completed, 4);
    give_after(pool, take(pool), &completed, 5);
    CHECK(fake_statistics(pool).blocks_out == 0 && fake_statistics(pool).takes == 5);
    give_after(pool, take(pool), &completed, 6);
    CHECK(take(pool) == NULL);
    reach(&completed, 9);
    give_after(pool, take(pool), NULL, 1);
    end_pool(pool);
}
ALSO_TRACKED(tickets_that_are_through_already_free_at_once)

/* On its own timeline a block is free at once, and once. */
static void ordered_take_gets_what_waits_on_its_timeline(void)
{
    uint64_t here = 0, there = 0;
    gyre_pool *pool = small_pool(1);
    void *block, *again;

    REQUIRE(pool);
    block = take(pool);
    for (uint64_t round = 1; round < 20; round++) {
        give_after(pool, block, &here, round * 10);
        CHECK(take(pool) == NULL);
        CHECK(take_ordered(pool, &there) == NULL);
        CHECK(fake_statistics(pool).bytes_waiting == 64);
        again = take_ordered(pool, &here);
        CHECK(again == block);
        CHECK(fake_statistics(pool).bytes_waiting == 0 && fake_statistics(pool).blocks_out == 1);
        reach(&here, round * 10); /* which gives nobody the block a second time */
        CHECK(take(pool) == NULL && take_ordered(pool, &here) == NULL);
    }
    gyre_pool_give(pool, block, 64);
    end_pool(pool);
}
ALSO_TRACKED(ordered_take_gets_what_waits_on_its_timeline)

/* The work before it on that timeline still reads and writes the block. */
static void ordered_take_does_not_write(void)
{
    uint64_t completed = 0;
    gyre_pool *pool = small_pool(1);
    void *block;

    REQUIRE(pool);
    block = take(pool);
    fake_mark(block, 64, 1);
    give_after(pool, block, &completed, 1);
    CHECK(take_ordered(pool, &completed) == block && fake_is_marked(block, 64, 1));
    gyre_pool_give(pool, block, 64);
    end_pool(pool);
}
ALSO_TRACKED(ordered_take_does_not_write)

/* However many wait before it on other timelines. */
static void ordered_take_finds_its_timeline_in_a_crowd(void)
{
    enum { CROWD = 100 };
    uint64_t here = 0, there = 0;
    gyre_pool *pool = small_pool(CROWD);
    void *blocks[CROWD];

    REQUIRE(pool);
    for (size_t i = 0; i < CROWD; i++)
        REQUIRE((blocks[i] = take(pool)) != NULL);
    for (size_t i = 0; i < CROWD; i++)
        give_after(pool, blocks[i], i == CROWD - 1 ? &here : &there, 1);
    CHECK(take(pool) == NULL);
    CHECK(take_ordered(pool, &here) == blocks[CROWD - 1]);
    CHECK(take_ordered(pool, &here) == NULL);
    end_pool(pool);
}
ALSO_TRACKED(ordered_take_finds_its_timeline_in_a_crowd)

/* Once a trim has seen that it is through, or with the pool, a ticket is not looked at again. */
static void counters_may_go_when_their_tickets_are_through(void)
{
    static const size_t sizes[] = {64, 70000, GYRE_POOL_LARGEST + 1};
    gyre_pool *pool;

    fake_source_init(&source, FAKE_PAGES);
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool);
    for (int then = 0; then < 2; then++) {
        uint64_t *counter = malloc(sizeof *counter);

        REQUIRE(counter);
        *counter = 0;
        for (size_t i = 0; i < COUNT(sizes); i++)
            CHECK(gyre_pool_give_after(pool, fake_block(pool, sizes[i], 64), sizes[i], 64,
                                       (gyre_ticket){counter, 1}) == GYRE_OK);
        reach(counter, 1);
        if (then == 0)
            CHECK(gyre_pool_trim(pool) > 0 && source.count == 0);
        free(counter); /* the sanitizer sees who still reads it */
        if (then == 0)
            gyre_pool_give(pool, fake_block(pool, 64, 64), 64);
    }
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}
ALSO_TRACKED(counters_may_go_when_their_tickets_are_through)

/* An ordered take is a take: of kept blocks too, of every size and alignment. */
static void ordered_take_is_otherwise_as_a_plain_one(void)
{
    uint64_t completed = 0;
    gyre_pool *pool;

    fake_source_init(&source, FAKE_PAGES);
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool);
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2)
        for (size_t size = 1; size < 200 * (size_t)MIB; size = size * 9 + 1)
            for (int round = 0; round < 3; round++) {
                void *block = NULL, *next = NULL;
                const uint64_t value = completed + 1;

                REQUIRE(gyre_pool_take_ordered(pool, size, alignment, &completed, &block) ==
                        GYRE_OK);
                CHECK((uintptr_t)block % (alignment > 64 ? alignment : 64) == 0);
                CHECK(fake_owns(&source, block, size));
                CHECK(gyre_pool_give_after(pool, block, size, alignment,
                                           (gyre_ticket){&completed, value}) == GYRE_OK);
                REQUIRE((next = fake_block(pool, size, alignment)) != NULL && next != block);
                gyre_pool_give_aligned(pool, next, size, alignment);
                if (round)
                    reach(&completed, value);
            }
    reach(&completed, UINT64_MAX);
    (void)gyre_pool_trim(pool);
    CHECK(source.count == 0 && fake_statistics(pool).blocks_out == 0);
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}
ALSO_TRACKED(ordered_take_is_otherwise_as_a_plain_one)

/* Given for 3, 1 and 2, on two timelines: free in the order in which they are through. */
static void tickets_may_be_through_in_any_order(void)
{
    static const uint64_t values[] = {3, 1, 2};
    uint64_t completed[2] = {0, 0};
    gyre_pool *pool = small_pool(6);
    void *blocks[6];

    REQUIRE(pool);
    for (size_t i = 0; i < 6; i++)
        REQUIRE((blocks[i] = take(pool)) != NULL);
    for (size_t i = 0; i < 6; i++)
        give_after(pool, blocks[i], &completed[i / 3], values[i % 3]);
    for (uint64_t value = 1; value <= 3; value++)
        for (size_t line = 2; line-- > 0;) { /* the one that was given last is through first */
            size_t is = 0;

            CHECK(take(pool) == NULL);
            reach(&completed[line], value);
            for (size_t i = 0; i < 6; i++)
                if (i / 3 == line && values[i % 3] == value)
                    is = i;
            CHECK(take(pool) == blocks[is]);
        }
    CHECK(take(pool) == NULL && fake_statistics(pool).bytes_waiting == 0);
    for (size_t i = 0; i < 6; i++)
        gyre_pool_give(pool, blocks[i], 64);
    end_pool(pool);
}
ALSO_TRACKED(tickets_may_be_through_in_any_order)

enum { LINES = 7, MANY = 2000 };

/* Those that wait, on which line and until when. A block that went back to the source and came
 * again may be anywhere, so they are counted, and none that waits may be among those taken. */
typedef struct crowd {
    struct {
        void *block;
        uint64_t value;
        size_t line;
    } all[MANY];
    size_t count;
    uint64_t completed[LINES];
} crowd;

/* How many are through, which are no longer of the crowd. */
static size_t let_through(crowd *c)
{
    size_t left = 0, count = c->count;

    for (size_t i = 0; i < count; i++)
        if (c->completed[c->all[i].line] < c->all[i].value)
            c->all[left++] = c->all[i];
    c->count = left;
    return count - left;
}

/* Many on many timelines, which go on by chance. */
static void many_wait_and_none_is_early_or_lost(void)
{
    static crowd c;
    static void *out[MANY];
    uint64_t random = chance_seed();
    const uint64_t seed = random;
    const int failures = test_failed();
    gyre_pool *pool = small_pool(MANY);
    size_t taken = 0;

    REQUIRE(pool);
    c = (crowd){.count = MANY};
    for (size_t i = 0; i < MANY; i++)
        REQUIRE((c.all[i].block = take(pool)) != NULL);
    for (size_t i = 0; i < MANY; i++) {
        c.all[i].line = chance_below(&random, LINES);
        c.all[i].value = 1 + chance_below(&random, 50);
        give_after(pool, c.all[i].block, &c.completed[c.all[i].line], c.all[i].value);
    }
    CHECK(fake_statistics(pool).bytes_waiting == UINT64_C(64) * MANY);
    while (c.count > 0 && test_failed() == failures) {
        const size_t line = chance_below(&random, LINES), before = taken;
        size_t through;
        void *block;

        reach(&c.completed[line], c.completed[line] + chance_below(&random, 5));
        through = let_through(&c);
        while ((block = take(pool)) != NULL && taken < MANY) {
            for (size_t i = 0; i < c.count; i++)
                CHECK(c.all[i].block != block);
            out[taken++] = block;
        }
        CHECK(taken - before == through);
        CHECK(fake_statistics(pool).bytes_waiting == 64 * c.count);
    }
    if (test_failed() != failures)
        fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
    while (taken > 0)
        gyre_pool_give(pool, out[--taken], 64);
    end_pool(pool);
}
ALSO_TRACKED(many_wait_and_none_is_early_or_lost)

static void destroy_ends_what_still_waits(void)
{
    uint64_t completed = 0;
    gyre_pool *pool;

    fake_source_init(&source, FAKE_PAGES);
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool);
    for (size_t size = 1; size < 100 * (size_t)MIB; size = size * 7 + 1)
        for (uint64_t i = 0; i < 5; i++)
            CHECK(gyre_pool_give_after(pool, fake_block(pool, size, 64), size, 64,
                                       (gyre_ticket){&completed, i}) == GYRE_OK);
    CHECK(fake_statistics(pool).blocks_out == 0 && fake_statistics(pool).bytes_waiting > 0);
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}
ALSO_TRACKED(destroy_ends_what_still_waits)

/* Larger than any class: it waits as the others do, and then goes to the source. */
static void large_block_waits_too(void)
{
    const size_t size = (size_t)GYRE_POOL_LARGEST + 5;
    uint64_t completed = 0;
    gyre_pool *pool;
    void *block;

    fake_source_init(&source, FAKE_PAGES);
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool);
    block = fake_block(pool, size, 4096);
    REQUIRE(block);
    CHECK(gyre_pool_give_after(pool, block, size, 4096, (gyre_ticket){&completed, 3}) == GYRE_OK);
    CHECK(fake_statistics(pool).bytes_waiting >= size && fake_statistics(pool).blocks_out == 0);
    (void)gyre_pool_trim(pool);
    CHECK(fake_owns(&source, block, size));
    reach(&completed, 3);
    CHECK(gyre_pool_trim(pool) >= size);
    CHECK(source.count == 0 && fake_statistics(pool).bytes_waiting == 0);
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}

/* A waiting block is none of another class's, nor of another alignment's. */
static void ordered_take_gets_no_block_of_another_class(void)
{
    static const size_t sizes[] = {64, 128, 192, 256, 320, 4096, 65536, 81920};
    uint64_t completed = 0;
    gyre_pool *pool;

    fake_source_init(&source, FAKE_HEAP);
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool);
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t k = 0; k < COUNT(sizes); k++)
            for (size_t alignment = 64; alignment <= 4096; alignment *= 8) {
                void *block = fake_block(pool, sizes[i], 64), *other = NULL;

                REQUIRE(block);
                CHECK(gyre_pool_give_after(pool, block, sizes[i], 64,
                                           (gyre_ticket){&completed, 1}) == GYRE_OK);
                REQUIRE(gyre_pool_take_ordered(pool, sizes[k], alignment, &completed, &other) ==
                        GYRE_OK);
                CHECK((uintptr_t)other % alignment == 0 && fake_owns(&source, other, sizes[k]));
                CHECK(other != block || fake_class_bytes(sizes[k], alignment) == sizes[i]);
                fake_mark(other, sizes[k], 3);
                gyre_pool_give_aligned(pool, other, sizes[k], alignment);
            }
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}
ALSO_TRACKED(ordered_take_gets_no_block_of_another_class)

/* The block is still the caller's, and not counted as anything else. */
static void give_after_without_memory_gives_nothing(void)
{
    fake_books books = FAKE_BOOKS;
    const gyre_allocator allocator = {fake_allocate, fake_release, &books};
    static void *blocks[5000];
    uint64_t completed = 0;
    size_t given = 0;
    gyre_pool *pool;

    fake_source_init(&source, FAKE_HEAP);
    pool = fake_pool(&source, (gyre_pool_options){.allocator = &allocator, .track = track});
    REQUIRE(pool);
    for (size_t i = 0; i < COUNT(blocks); i++)
        blocks[i] = fake_block(pool, 64, 64);
    books.broke = true;
    for (size_t i = 0; i < COUNT(blocks); i++) {
        const gyre_status status =
            gyre_pool_give_after(pool, blocks[i], 64, 64, (gyre_ticket){&completed, 1});

        CHECK(status == GYRE_OK || status == GYRE_NO_MEMORY);
        given += status == GYRE_OK;
        if (status == GYRE_OK)
            blocks[i] = NULL;
    }
    CHECK(fake_statistics(pool).blocks_out == COUNT(blocks) - given);
    CHECK(fake_statistics(pool).bytes_waiting == 64 * given);
    books.broke = false;
    for (size_t i = 0; i < COUNT(blocks); i++)
        if (blocks[i])
            CHECK(gyre_pool_give_after(pool, blocks[i], 64, 64, (gyre_ticket){&completed, 1}) ==
                  GYRE_OK);
    CHECK(fake_statistics(pool).bytes_waiting == 64 * COUNT(blocks));
    reach(&completed, 1);
    (void)gyre_pool_trim(pool);
    CHECK(source.count == 0);
    gyre_pool_destroy(pool);
    CHECK(books.out_count == 0);
    fake_source_fini(&source);
}
ALSO_TRACKED(give_after_without_memory_gives_nothing)

static const test_case cases[] = {
    TEST(block_is_free_when_its_ticket_is_through),
    TEST(block_is_free_when_its_ticket_is_through_when_tracked),
    TEST(waiting_block_is_not_written),
    TEST(waiting_block_is_not_written_when_tracked),
    TEST(tickets_that_are_through_already_free_at_once),
    TEST(tickets_that_are_through_already_free_at_once_when_tracked),
    TEST(ordered_take_gets_what_waits_on_its_timeline),
    TEST(ordered_take_gets_what_waits_on_its_timeline_when_tracked),
    TEST(ordered_take_does_not_write),
    TEST(ordered_take_does_not_write_when_tracked),
    TEST(ordered_take_finds_its_timeline_in_a_crowd),
    TEST(ordered_take_finds_its_timeline_in_a_crowd_when_tracked),
    TEST(counters_may_go_when_their_tickets_are_through),
    TEST(counters_may_go_when_their_tickets_are_through_when_tracked),
    TEST(ordered_take_is_otherwise_as_a_plain_one),
    TEST(ordered_take_is_otherwise_as_a_plain_one_when_tracked),
    TEST(tickets_may_be_through_in_any_order),
    TEST(tickets_may_be_through_in_any_order_when_tracked),
    TEST(many_wait_and_none_is_early_or_lost),
    TEST(many_wait_and_none_is_early_or_lost_when_tracked),
    TEST(destroy_ends_what_still_waits),
    TEST(destroy_ends_what_still_waits_when_tracked),
    TEST(large_block_waits_too),
    TEST(ordered_take_gets_no_block_of_another_class),
    TEST(ordered_take_gets_no_block_of_another_class_when_tracked),
    TEST(give_after_without_memory_gives_nothing),
    TEST(give_after_without_memory_gives_nothing_when_tracked),
};
TEST_MAIN(cases)
