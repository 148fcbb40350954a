/* SPDX-License-Identifier: Apache-2.0
 *
 * The pool in one thread: its options, calls that make no sense, and memory of other kinds. Most
 * cases are run with and without tracking, since each has its own way.
 */
#include "gyre/pool.h"

#include <unistd.h>

#include "gyre/bytes.h"
#include "mem/pool_fake.h"

static void nonsense_is_invalid(void)
{
    static const struct {
        size_t size, alignment;
        gyre_status status;
    } bad[] = {
        {0, 64, GYRE_INVALID},
        {0, 1, GYRE_INVALID},
        {0, 4096, GYRE_INVALID},
        {64, 8192, GYRE_INVALID},
        {64, SIZE_MAX, GYRE_INVALID},
        {64, 96, GYRE_INVALID},
        {64, 4095, GYRE_INVALID},
        {64, 0, GYRE_INVALID},
        {64, 3, GYRE_INVALID},
        {64, 48, GYRE_INVALID},
        {64, 63, GYRE_INVALID},
        {64, 65, GYRE_INVALID},
        {100 * (size_t)MIB, 3, GYRE_INVALID},
        {100 * (size_t)MIB, 8192, GYRE_INVALID},
        {64, (size_t)1 << 63, GYRE_INVALID},
    };
    fake_source source;
    gyre_pool *pool;

    fake_source_init(&source, FAKE_HEAP);
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool);
    for (int warm = 0; warm < 2; warm++) { /* without blocks at hand, and with */
        const uint64_t takes = fake_statistics(pool).takes;

        for (size_t i = 0; i < COUNT(bad); i++) {
            void *block = &block;

            CHECK(gyre_pool_take_aligned(pool, bad[i].size, bad[i].alignment, &block) ==
                  bad[i].status);
            CHECK(block == NULL);
            block = &block;
            CHECK(gyre_pool_take_ordered(pool, bad[i].size, bad[i].alignment, NULL, &block) ==
                  bad[i].status);
            CHECK(block == NULL);
        }
        CHECK(fake_statistics(pool).takes == takes && fake_statistics(pool).blocks_out == 0);
        for (size_t size = 64; size <= 4096; size *= 2)
            gyre_pool_give(pool, fake_block(pool, size, 64), size);
    }
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}
ALSO_TRACKED(nonsense_is_invalid)

static void sizes_beyond_the_address_space_are_no_memory(void)
{
    static const size_t alignments[] = {1, 64, 128, 4096};
    gyre_pool *pool;
    fake_source source;
    void *small;

    fake_source_init(&source, FAKE_HEAP);
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool);
    small = fake_block(pool, 64, 64); /* so that no sum is what it is from nothing */
    for (size_t i = 0; i < COUNT(alignments); i++)
        for (size_t less = 0; less < 10000; less = less * 2 + 1) {
            void *block = &block;

            CHECK(gyre_pool_take_aligned(pool, SIZE_MAX - less, alignments[i], &block) ==
                  GYRE_NO_MEMORY);
            CHECK(block == NULL);
            block = &block;
            CHECK(gyre_pool_take_zeroed(pool, SIZE_MAX / 2 + less, &block) == GYRE_NO_MEMORY);
            CHECK(block == NULL);
        }
    CHECK(fake_statistics(pool).bytes_out == 64 && fake_statistics(pool).takes == 1);
    CHECK(fake_statistics(pool).peak_bytes == source.peak_bytes);
    gyre_pool_give(pool, small, 64);
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}
ALSO_TRACKED(sizes_beyond_the_address_space_are_no_memory)

static void null_is_given_and_destroyed_without_effect(void)
{
    fake_source source;
    gyre_pool *pool;

    fake_source_init(&source, FAKE_HEAP);
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool);
    for (int warm = 0; warm < 2; warm++) {
        gyre_pool_give(pool, NULL, 64);
        gyre_pool_give(pool, NULL, 0);
        gyre_pool_give_aligned(pool, NULL, 64, 4096);
        gyre_pool_give(pool, NULL, (size_t)GYRE_POOL_LARGEST + 1);
        gyre_pool_give(pool, fake_block(pool, 64, 64), 64);
    }
    CHECK(fake_statistics(pool).takes == 2 && fake_statistics(pool).blocks_out == 0);
    gyre_pool_destroy(NULL);
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}
ALSO_TRACKED(null_is_given_and_destroyed_without_effect)

/* The default is what it is without options: host memory, and it works. */
static void no_options_are_all_defaults(void)
{
    gyre_pool *pool = NULL;
    void *block;

    REQUIRE(gyre_pool_create(NULL, &pool) == GYRE_OK);
    REQUIRE(gyre_pool_take(pool, 1000, &block) == GYRE_OK);
    fake_mark(block, 1000, 1);
    CHECK(fake_is_marked(block, 1000, 1));
    gyre_pool_give(pool, block, 1000);
    gyre_pool_destroy(pool);
}

static void options_of_other_versions_are_read(void)
{
    struct {
        gyre_pool_options known;
        uint64_t news[2];
    } newer = {{.track = track}, {0, 0}};
    gyre_pool_options older;
    fake_source source;
    gyre_pool *pool;

    fake_source_init(&source, FAKE_HEAP);
    memset(&older, 0xff, sizeof older); /* limit_bytes and what follows are not looked at */
    older.struct_size = offsetof(gyre_pool_options, limit_bytes);
    older.allocator = NULL;
    older.source = &source.memory;
    older.name = "old";
    REQUIRE(gyre_pool_create(&older, &pool) == GYRE_OK);
    gyre_pool_give(pool, fake_block(pool, 1, 1), 1);
    gyre_pool_destroy(pool);
    older.struct_size = 0;
    pool = (gyre_pool *)&pool;
    CHECK(gyre_pool_create(&older, &pool) == GYRE_INVALID && pool == NULL);

    newer.known.struct_size = sizeof newer;
    newer.known.source = &source.memory;
    REQUIRE(gyre_pool_create(&newer.known, &pool) == GYRE_OK);
    gyre_pool_destroy(pool);
    newer.news[1] = 1;
    pool = (gyre_pool *)&pool;
    CHECK(gyre_pool_create(&newer.known, &pool) == GYRE_UNSUPPORTED && pool == NULL);
    fake_source_fini(&source);
}

static void half_an_allocator_or_source_is_invalid(void)
{
    fake_books books = FAKE_BOOKS;
    const gyre_allocator no_release = {fake_allocate, NULL, &books},
                         no_allocate = {NULL, fake_release, &books};
    fake_source source;
    gyre_memory halves[3];
    gyre_pool *pool;

    fake_source_init(&source, FAKE_HEAP);
    for (size_t i = 0; i < COUNT(halves); i++)
        halves[i] = source.memory;
    halves[0].take = NULL;
    halves[1].give = NULL;
    halves[2].struct_size = 0;
    const gyre_pool_options bad[] = {
        {.struct_size = sizeof bad[0], .allocator = &no_release},
        {.struct_size = sizeof bad[0], .allocator = &no_allocate},
        {.struct_size = sizeof bad[0], .source = &halves[0]},
        {.struct_size = sizeof bad[0], .source = &halves[1]},
        {.struct_size = sizeof bad[0], .source = &halves[2]},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        pool = (gyre_pool *)&pool;
        CHECK(gyre_pool_create(&bad[i], &pool) == GYRE_INVALID && pool == NULL);
    }
    CHECK(books.calls == 0);
    fake_source_fini(&source);
}

static void older_statistics_are_not_overrun(void)
{
    struct {
        gyre_pool_statistics known;
        uint64_t news[2];
    } newer;
    gyre_pool_statistics s;
    fake_source source;
    gyre_pool *pool;

    fake_source_init(&source, FAKE_HEAP);
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool);
    gyre_pool_give(pool, fake_block(pool, 64, 64), 64);
    memset(&s, 0xee, sizeof s);
    s.struct_size = offsetof(gyre_pool_statistics, misses);
    CHECK(gyre_pool_describe(pool, &s) == GYRE_OK);
    CHECK(s.struct_size == offsetof(gyre_pool_statistics, misses) && s.takes == 1 && s.hits == 0);
    CHECK(s.misses == UINT64_C(0xeeeeeeeeeeeeeeee) && s.peak_bytes == s.misses);
    s.struct_size = 0;
    CHECK(gyre_pool_describe(pool, &s) == GYRE_INVALID);
    memset(&newer, 0, sizeof newer);
    newer.known.struct_size = sizeof newer;
    CHECK(gyre_pool_describe(pool, &newer.known) == GYRE_OK);
    CHECK(newer.known.struct_size == sizeof newer && newer.known.takes == 1);
    CHECK(newer.news[0] == 0 && newer.news[1] == 0);
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}

static void prefaulted_pages_are_there(void)
{
    static const size_t sizes[] = {64, 5000, 65536, 3 * MIB, GYRE_POOL_LARGEST + 4096};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    fake_source source;
    gyre_pool *pool;

    fake_source_init(&source, FAKE_PAGES);
    pool = fake_pool(&source, (gyre_pool_options){.prefault = 1, .track = track});
    REQUIRE(pool);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        void *block = fake_block(pool, sizes[i], 64);

        REQUIRE(block != NULL);
        for (size_t k = 0; k < source.count; k++) {
            unsigned char *first =
                source.pieces[k].start - (uintptr_t)source.pieces[k].start % page;
            const size_t length = (size_t)(source.pieces[k].start - first) + source.pieces[k].size;
            const size_t pages = (length + page - 1) / page;
            unsigned char *there = malloc(pages);
            size_t missing = 0;

            REQUIRE(there && mincore(first, length, there) == 0);
            for (size_t n = 0; n < pages; n++)
                missing += !(there[n] & 1);
            CHECK(missing == 0);
            free(there);
        }
        gyre_pool_give(pool, block, sizes[i]);
    }
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}

/* Loads and stores there would end the test. */
static void memory_of_a_device_is_never_touched(void)
{
    static const size_t sizes[] = {1, 64, 100, 4096, 65536, 100000, 3 * MIB, GYRE_POOL_LARGEST + 1};
    uint64_t completed = 0;
    fake_source source;
    gyre_pool *pool;
    void *block;

    fake_source_init(&source, FAKE_DEVICE);
    const gyre_pool_options prefault = {
        .struct_size = sizeof prefault, .source = &source.memory, .prefault = 1, .track = track};
    CHECK(gyre_pool_create(&prefault, &pool) == GYRE_INVALID && pool == NULL);
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool);
    CHECK(gyre_pool_memory(pool)->reach == GYRE_MEMORY_DEVICE);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        void *blocks[9];

        for (size_t k = 0; k < COUNT(blocks); k++) {
            const size_t alignment = (size_t)64 << k % 7;

            blocks[k] = fake_block(pool, sizes[i], alignment);
            REQUIRE(fake_owns(&source, blocks[k], sizes[i]));
        }
        block = &block;
        CHECK(gyre_pool_take_zeroed(pool, sizes[i], &block) == GYRE_UNSUPPORTED && block == NULL);
        CHECK(fake_statistics(pool).blocks_out == COUNT(blocks));
        for (size_t k = 0; k < COUNT(blocks); k++) {
            const size_t alignment = (size_t)64 << k % 7;
            const gyre_ticket ticket = {&completed, completed + 1};

            if (k % 2)
                gyre_pool_give_aligned(pool, blocks[k], sizes[i], alignment);
            else
                CHECK(gyre_pool_give_after(pool, blocks[k], sizes[i], alignment, ticket) ==
                      GYRE_OK);
        }
        CHECK(gyre_pool_take_ordered(pool, sizes[i], 64, &completed, &block) == GYRE_OK);
        gyre_pool_give(pool, block, sizes[i]);
        (void)gyre_pool_trim(pool);
        completed++;
    }
    (void)gyre_pool_trim(pool);
    CHECK(source.count == 0);
    block = fake_block(pool, 64, 64);
    gyre_pool_give(pool, block, 64);
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}
ALSO_TRACKED(memory_of_a_device_is_never_touched)

static const test_case cases[] = {
    TEST(nonsense_is_invalid),
    TEST(nonsense_is_invalid_when_tracked),
    TEST(sizes_beyond_the_address_space_are_no_memory),
    TEST(sizes_beyond_the_address_space_are_no_memory_when_tracked),
    TEST(null_is_given_and_destroyed_without_effect),
    TEST(null_is_given_and_destroyed_without_effect_when_tracked),
    TEST(no_options_are_all_defaults),
    TEST(options_of_other_versions_are_read),
    TEST(half_an_allocator_or_source_is_invalid),
    TEST(older_statistics_are_not_overrun),
    TEST(prefaulted_pages_are_there),
    TEST(memory_of_a_device_is_never_touched),
    TEST(memory_of_a_device_is_never_touched_when_tracked),
};
TEST_MAIN(cases)
