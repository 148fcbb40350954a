/* SPDX-License-Identifier: Apache-2.0
 *
 * The pool where there is no more: at its limit, over a source or an allocator that refuses; and
 * what it says of itself, held against the books of both.
 */
#include "gyre/bytes.h"
#include "mem/pool_fake.h"

enum { MOST = 4096 };

static void limit_below_the_smallest_class_is_invalid(void)
{
    fake_source source;
    gyre_pool *pool;

    fake_source_init(&source, FAKE_HEAP);
    for (size_t limit = 1; limit < 64; limit++) {
        const gyre_pool_options options = {.struct_size = sizeof options,
                                           .source = &source.memory,
                                           .limit_bytes = limit,
                                           .track = track};

        pool = (gyre_pool *)&pool;
        CHECK(gyre_pool_create(&options, &pool) == GYRE_INVALID && pool == NULL);
    }
    CHECK(source.takes == 0);
    fake_source_fini(&source);
}

/* As many blocks as fit, to the byte, then one refusal after the other; again after a give. */
static void small_limits_hold_exactly(void)
{
    static const size_t limits[] = {64, 100, 127, 128, 129, 191, 192, 256, 320, 640, 1000, 4096};

    for (size_t i = 0; i < COUNT(limits); i++) {
        const size_t fit = limits[i] / 64;
        void *blocks[64 + 1];
        fake_source source;
        gyre_pool *pool;

        fake_source_init(&source, FAKE_HEAP);
        pool = fake_pool(&source, (gyre_pool_options){.limit_bytes = limits[i], .track = track});
        REQUIRE(pool);
        for (size_t k = 0; k < fit; k++) {
            blocks[k] = fake_block(pool, 1 + k % 64, 64);
            REQUIRE(blocks[k] != NULL);
            fake_mark(blocks[k], 1 + k % 64, k);
        }
        for (int round = 0; round < 3; round++) {
            CHECK(gyre_pool_take(pool, 64, &blocks[fit]) == GYRE_AGAIN && blocks[fit] == NULL);
            CHECK(fake_is_marked(blocks[0], 1, 0));
            gyre_pool_give(pool, blocks[0], 1);
            blocks[0] = fake_block(pool, 1, 64);
            REQUIRE(blocks[0] != NULL);
            fake_mark(blocks[0], 1, 0);
        }
        CHECK(fake_statistics(pool).refusals == 3);
        CHECK(source.peak_bytes <= limits[i]);
        for (size_t k = 0; k < fit; k++) {
            CHECK(fake_is_marked(blocks[k], 1 + k % 64, k));
            gyre_pool_give(pool, blocks[k], 1 + k % 64);
        }
        gyre_pool_destroy(pool);
        fake_source_fini(&source);
    }
}
ALSO_TRACKED(small_limits_hold_exactly)

static void refusal_does_not_write_the_detail(void)
{
    fake_source source;
    gyre_error before;
    gyre_pool *pool;
    void *one, *other;

    fake_source_init(&source, FAKE_HEAP);
    pool = fake_pool(&source, (gyre_pool_options){.limit_bytes = 64, .track = track});
    REQUIRE(pool);
    one = fake_block(pool, 64, 64);
    CHECK(gyre_pool_take(pool, 0, &other) == GYRE_INVALID);
    before = *gyre_error_last();
    CHECK(before.status == GYRE_INVALID);
    CHECK(gyre_pool_take(pool, 64, &other) == GYRE_AGAIN);
    CHECK(gyre_pool_take(pool, 65, &other) == GYRE_AGAIN);
    CHECK(gyre_pool_take(pool, (size_t)GYRE_POOL_LARGEST + 1, &other) == GYRE_AGAIN);
    CHECK(gyre_pool_take_zeroed(pool, 64, &other) == GYRE_AGAIN);
    CHECK(gyre_pool_take_ordered(pool, 64, 64, NULL, &other) == GYRE_AGAIN);
    CHECK(gyre_error_last()->status == before.status && gyre_error_last()->line == before.line);
    CHECK(strcmp(gyre_error_last()->text, before.text) == 0);
    CHECK(fake_statistics(pool).refusals == 5);
    gyre_pool_give(pool, one, 64);
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}
ALSO_TRACKED(refusal_does_not_write_the_detail)

/* Fills the pool with blocks of one size until it refuses, gives them, and goes to the next size.
 * Of each it must have had `least_bytes` together. */
static void fill_by_turns(gyre_pool *pool, gyre_status refusal, size_t least_bytes)
{
    static const size_t sizes[] = {64,        4096, 192,    65536,     1000,
                                   256 * KIB, 64,   130000, 512 * KIB, 64};
    static void *blocks[MIB / 64];

    for (size_t i = 0; i < COUNT(sizes); i++) {
        gyre_status status = GYRE_OK;
        size_t n = 0;

        while (status == GYRE_OK && n < COUNT(blocks)) {
            status = gyre_pool_take(pool, sizes[i], &blocks[n]);
            n += status == GYRE_OK;
        }
        CHECK(status == GYRE_OK || status == refusal);
        CHECK(n * fake_class_bytes(sizes[i], 1) >= least_bytes);
        for (size_t k = 0; k < n; k++)
            gyre_pool_give(pool, blocks[k], sizes[i]);
    }
}

static void limit_makes_room_from_other_classes(void)
{
    fake_source source;
    gyre_pool *pool;

    fake_source_init(&source, FAKE_HEAP);
    pool = fake_pool(&source, (gyre_pool_options){.limit_bytes = MIB, .track = track});
    REQUIRE(pool);
    /* all of it but what lines up, and what one piece leaves over */
    fill_by_turns(pool, GYRE_AGAIN, MIB / 2);
    CHECK(source.peak_bytes <= MIB);
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}
ALSO_TRACKED(limit_makes_room_from_other_classes)

/* The same where it is the source that ends. */
static void exhausted_source_makes_room_from_other_classes(void)
{
    fake_source source;
    gyre_pool *pool;

    fake_source_init(&source, FAKE_HEAP);
    source.capacity = MIB;
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool);
    fill_by_turns(pool, GYRE_NO_MEMORY, 1);
    CHECK(fake_statistics(pool).refusals == 0);
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}
ALSO_TRACKED(exhausted_source_makes_room_from_other_classes)

/* What the source says is what the caller hears, and the pool goes on when there is more. */
static void sources_refusal_is_passed_on(void)
{
    static const gyre_status refusals[] = {GYRE_NO_MEMORY, GYRE_DEVICE_LOST, GYRE_UNAVAILABLE,
                                           GYRE_AGAIN};
    static const size_t sizes[] = {64, 300, 5000, 70000, 3 * MIB, GYRE_POOL_LARGEST + 1};

    for (size_t i = 0; i < COUNT(refusals); i++)
        for (int64_t after = 0; after < 8; after++) {
            void *blocks[16 * COUNT(sizes)];
            size_t taken = 0, refused = 0;
            fake_source source;
            gyre_pool *pool;

            fake_source_init(&source, FAKE_PAGES);
            source.refusal = refusals[i];
            pool = fake_pool(&source, (gyre_pool_options){.track = track});
            REQUIRE(pool);
            source.takes_left = after;
            for (size_t k = 0; k < COUNT(blocks); k++) {
                const gyre_status status =
                    gyre_pool_take(pool, sizes[k % COUNT(sizes)], &blocks[k]);

                CHECK(status == GYRE_OK || status == refusals[i]);
                CHECK((status == GYRE_OK) == (blocks[k] != NULL));
                taken += status == GYRE_OK;
                refused += status != GYRE_OK;
            }
            CHECK(refused > 0);
            CHECK(fake_statistics(pool).takes == taken &&
                  fake_statistics(pool).blocks_out == taken);
            CHECK(fake_statistics(pool).peak_bytes == source.peak_bytes);
            CHECK(fake_statistics(pool).bytes_drawn == source.out_bytes);
            source.takes_left = FAKE_NEVER;
            for (size_t k = 0; k < COUNT(blocks); k++)
                if (!blocks[k])
                    blocks[k] = fake_block(pool, sizes[k % COUNT(sizes)], 64);
            for (size_t k = 0; k < COUNT(blocks); k++)
                gyre_pool_give(pool, blocks[k], sizes[k % COUNT(sizes)]);
            CHECK(fake_statistics(pool).blocks_out == 0);
            (void)gyre_pool_trim(pool);
            CHECK(source.count == 0);
            gyre_pool_destroy(pool);
            fake_source_fini(&source);
        }
}
ALSO_TRACKED(sources_refusal_is_passed_on)

/* A source that has a little has that little for the pool. */
static void little_source_is_used(void)
{
    static const size_t capacities[] = {64, 100, 1000, 4096, 65536};

    for (size_t i = 0; i < COUNT(capacities); i++) {
        void *blocks[2 * 65536 / 64];
        fake_source source;
        gyre_pool *pool;
        size_t n = 0;

        fake_source_init(&source, FAKE_HEAP);
        source.capacity = capacities[i];
        pool = fake_pool(&source, (gyre_pool_options){.track = track});
        REQUIRE(pool);
        while (n < COUNT(blocks) && gyre_pool_take(pool, 64, &blocks[n]) == GYRE_OK)
            n++;
        CHECK(n >= 1 && n <= capacities[i] / 64);
        while (n > 0)
            gyre_pool_give(pool, blocks[--n], 64);
        gyre_pool_destroy(pool);
        fake_source_fini(&source);
    }
}

/* Few of those that take long to fill, when they are. */
static size_t most_of(size_t size)
{
    if (size > GYRE_POOL_LARGEST)
        return track == GYRE_POOL_TRACK_ON ? 0 : 3;
    return size > MIB ? 3 : 12;
}

/* Everything a caller can do, some of it in vain; what it still holds in the end is given. */
static void do_everything(gyre_pool *pool, uint64_t *completed)
{
    static const size_t sizes[] = {64, 200, 4096, 70000, 2 * MIB, GYRE_POOL_LARGEST + 1};
    const size_t each = 12;
    void *blocks[COUNT(sizes)][12];
    gyre_pool_statistics s = {.struct_size = sizeof s};

    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < COUNT(sizes); i++)
            for (size_t k = 0; k < each; k++) {
                void **out = &blocks[i][k];
                gyre_status status;

                *out = NULL;
                if (k >= most_of(sizes[i]))
                    continue;
                if (k % 4 == 1)
                    status = gyre_pool_take_zeroed(pool, sizes[i] < 2 * MIB ? sizes[i] : 1000, out);
                else if (k % 4 == 2)
                    status = gyre_pool_take_ordered(pool, sizes[i], 4096, completed, out);
                else
                    status = gyre_pool_take(pool, sizes[i], out);
                CHECK(status == GYRE_OK || status == GYRE_NO_MEMORY);
                CHECK((status == GYRE_OK) == (*out != NULL));
            }
        for (size_t i = 0; i < COUNT(sizes); i++)
            for (size_t k = 0; k < each; k++) {
                const size_t size = k % 4 == 1 && sizes[i] >= 2 * MIB ? 1000 : sizes[i];
                const size_t alignment = k % 4 == 2 ? 4096 : 64;
                gyre_status status = GYRE_NO_MEMORY;

                if (k % 3 == 2 && blocks[i][k])
                    status = gyre_pool_give_after(pool, blocks[i][k], size, alignment,
                                                  (gyre_ticket){completed, *completed + k % 2});
                CHECK(status == GYRE_OK || status == GYRE_NO_MEMORY);
                if (status != GYRE_OK)
                    gyre_pool_give_aligned(pool, blocks[i][k], size, alignment);
            }
        (void)gyre_pool_trim(pool);
        CHECK(gyre_pool_describe(pool, &s) == GYRE_OK);
        CHECK(s.blocks_out == 0 && s.bytes_out == 0 && s.takes == s.hits + s.misses);
        ++*completed;
    }
}

/* With the n-th allocation refused, for every n until there are no more, nothing is lost. */
static void allocators_refusals_lose_nothing(void)
{
    bool more = true;

    for (int64_t n = 0; more && test_failed() == 0; n++) {
        fake_books books = FAKE_BOOKS;
        const gyre_allocator allocator = {fake_allocate, fake_release, &books};
        uint64_t completed = 0;
        fake_source source;
        gyre_pool *pool = (gyre_pool *)&pool;
        gyre_status status;

        fake_source_init(&source, FAKE_PAGES);
        const gyre_pool_options options = {.struct_size = sizeof options,
                                           .allocator = &allocator,
                                           .source = &source.memory,
                                           .track = track};
        books.calls_left = n;
        status = gyre_pool_create(&options, &pool);
        CHECK(status == GYRE_OK || status == GYRE_NO_MEMORY);
        CHECK((status == GYRE_OK) == (pool != NULL));
        if (pool) {
            do_everything(pool, &completed);
            more = books.calls_left < 0;
            do_everything(pool, &completed); /* now that there is memory again */
            gyre_pool_destroy(pool);
        }
        CHECK(books.out_count == 0 && books.out_bytes == 0);
        fake_source_fini(&source);
        if (test_failed())
            fprintf(stderr, "when allocation %lld is refused\n", (long long)n);
        CHECK(n < 10000);
    }
}
ALSO_TRACKED(allocators_refusals_lose_nothing)

/* From the n-th allocation on, all are refused. */
static void allocators_end_loses_nothing(void)
{
    bool more = true;

    for (uint64_t n = 0; more && test_failed() == 0; n++) {
        fake_books books = FAKE_BOOKS;
        const gyre_allocator allocator = {fake_allocate, fake_release, &books};
        uint64_t completed = 0;
        fake_source source;
        gyre_pool *pool;

        fake_source_init(&source, FAKE_PAGES);
        pool = fake_pool(&source, (gyre_pool_options){.allocator = &allocator, .track = track});
        REQUIRE(pool);
        if (n > 0) {
            books.calls_left = (int64_t)n - 1;
            do_everything(pool, &completed);
            more = books.calls_left < 0;
        }
        books.broke = true;
        do_everything(pool, &completed);
        do_everything(pool, &completed);
        gyre_pool_destroy(pool);
        CHECK(books.out_count == 0 && books.out_bytes == 0);
        fake_source_fini(&source);
        if (test_failed())
            fprintf(stderr, "when allocations from %llu on are refused\n", (unsigned long long)n);
        CHECK(n < 10000);
    }
}
ALSO_TRACKED(allocators_end_loses_nothing)

static const test_case cases[] = {
    TEST(limit_below_the_smallest_class_is_invalid),
    TEST(small_limits_hold_exactly),
    TEST(small_limits_hold_exactly_when_tracked),
    TEST(refusal_does_not_write_the_detail),
    TEST(refusal_does_not_write_the_detail_when_tracked),
    TEST(limit_makes_room_from_other_classes),
    TEST(limit_makes_room_from_other_classes_when_tracked),
    TEST(exhausted_source_makes_room_from_other_classes),
    TEST(exhausted_source_makes_room_from_other_classes_when_tracked),
    TEST(sources_refusal_is_passed_on),
    TEST(sources_refusal_is_passed_on_when_tracked),
    TEST(little_source_is_used),
    TEST(allocators_refusals_lose_nothing),
    TEST(allocators_refusals_lose_nothing_when_tracked),
    TEST(allocators_end_loses_nothing),
    TEST(allocators_end_loses_nothing_when_tracked),
};
TEST_MAIN(cases)
