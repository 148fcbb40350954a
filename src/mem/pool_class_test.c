/* SPDX-License-Identifier: Apache-2.0
 *
 * The classes of the pool, in one thread: blocks of every size are whole, apart, aligned, zeroed
 * when they should be. Most cases are run with and without tracking, since each has its own way.
 */
#include "gyre/pool.h"

#include "mem/pool_fake.h"

enum { MOST_SIZES = 640 };

typedef struct held {
    unsigned char *block;
    size_t size, alignment;
    uint64_t id;
} held;

static int by_address(const void *a, const void *b)
{
    const unsigned char *x = ((const held *)a)->block, *y = ((const held *)b)->block;

    return (x > y) - (x < y);
}

static void check_apart(const held *blocks, size_t count)
{
    held *sorted = malloc(count * sizeof *sorted);

    REQUIRE(sorted != NULL);
    memcpy(sorted, blocks, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_address);
    for (size_t i = 1; i < count; i++)
        CHECK((uintptr_t)sorted[i - 1].block + sorted[i - 1].size <= (uintptr_t)sorted[i].block);
    free(sorted);
}

/* One less, exactly and one more than every class, up to above the largest. */
static size_t sizes_around_classes(size_t *sizes)
{
    size_t count = 0;

    sizes[count++] = 1;
    for (size_t bytes = 64; bytes < 2 * (size_t)GYRE_POOL_LARGEST;
         bytes = fake_class_bytes(bytes + 1, 1))
        for (size_t i = 0; i < 3; i++)
            sizes[count++] = bytes - 1 + i;
    return count;
}

/* Takes one of each, marks it and looks at all again before and while they go back. */
static void take_all(gyre_pool *pool, fake_source *source, held *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        held *h = &blocks[i];

        h->block = fake_block(pool, h->size, h->alignment);
        REQUIRE(h->block != NULL);
        CHECK(fake_owns(source, h->block, h->size));
        h->id = i;
        fake_mark(h->block, h->size, h->id);
    }
    check_apart(blocks, count);
}

static void give_all(gyre_pool *pool, const held *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CHECK(fake_is_marked(blocks[i].block, blocks[i].size, blocks[i].id));
        gyre_pool_give_aligned(pool, blocks[i].block, blocks[i].size, blocks[i].alignment);
    }
}

static void blocks_of_every_size_are_whole_and_apart(void)
{
    static size_t sizes[MOST_SIZES];
    static held blocks[MOST_SIZES];
    const size_t count = sizes_around_classes(sizes);
    fake_source source;
    gyre_pool *pool;

    fake_source_init(&source, FAKE_HEAP);
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool && count <= MOST_SIZES);
    for (size_t part = 0; part < count; part += 9) { /* a part at a time: they are large */
        const size_t n = count - part < 9 ? count - part : 9;

        for (int again = 0; again < 2; again++) {
            for (size_t i = 0; i < n; i++)
                blocks[i] = (held){.size = sizes[part + i], .alignment = 64};
            take_all(pool, &source, blocks, n);
            give_all(pool, blocks, n);
        }
        (void)gyre_pool_trim(pool);
    }
    CHECK(fake_statistics(pool).blocks_out == 0);
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}
ALSO_TRACKED(blocks_of_every_size_are_whole_and_apart)

static void bytes_out_are_those_of_the_class(void)
{
    static size_t sizes[MOST_SIZES];
    const size_t count = sizes_around_classes(sizes);
    fake_source source;
    gyre_pool *pool;

    fake_source_init(&source, FAKE_PAGES);
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool);
    for (size_t i = 0; i < count; i++) {
        void *block = fake_block(pool, sizes[i], 64);
        gyre_pool_statistics s = fake_statistics(pool);

        REQUIRE(block != NULL);
        CHECK(s.blocks_out == 1);
        if (sizes[i] <= GYRE_POOL_LARGEST)
            CHECK(s.bytes_out == fake_class_bytes(sizes[i], 1));
        else
            CHECK(s.bytes_out >= sizes[i] && s.bytes_out <= sizes[i] + 4096);
        gyre_pool_give(pool, block, sizes[i]);
        s = fake_statistics(pool);
        CHECK(s.blocks_out == 0 && s.bytes_out == 0);
        if (sizes[i] > GYRE_POOL_LARGEST)
            CHECK(!fake_owns(&source, block, 1)); /* to the source, and not kept */
        if (sizes[i] > MIB)
            (void)gyre_pool_trim(pool);
    }
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}
ALSO_TRACKED(bytes_out_are_those_of_the_class)

/* A size of a class gets what another size of it gave, where there is room for no other block. */
static void sizes_of_a_class_share_its_blocks(void)
{
    static size_t sizes[MOST_SIZES];
    const size_t count = sizes_around_classes(sizes);
    fake_source source;

    for (size_t i = 1; i < count; i++) {
        const size_t bytes = fake_class_bytes(sizes[i], 1);
        gyre_pool *pool;
        void *one, *other;

        if (bytes > MIB)
            break;
        fake_source_init(&source, FAKE_HEAP);
        /* those of 64 KiB and more do not start where their piece does */
        pool = fake_pool(
            &source, (gyre_pool_options){.limit_bytes = bytes + (bytes < 64 * KIB ? 0 : 8 * KIB),
                                         .track = track});
        REQUIRE(pool);
        one = fake_block(pool, sizes[i], 64);
        gyre_pool_give(pool, one, sizes[i]);
        other = fake_block(pool, bytes, 64);
        CHECK(one && other);
        gyre_pool_give(pool, other, bytes);
        gyre_pool_destroy(pool);
        fake_source_fini(&source);
    }
}

/* Up to 64 MiB, and not beyond. */
static void largest_class_is_kept(void)
{
    for (size_t alignment = 64; alignment <= 4096; alignment *= 8) {
        const size_t size = GYRE_POOL_LARGEST;
        fake_source source;
        gyre_pool *pool;

        fake_source_init(&source, FAKE_PAGES);
        pool = fake_pool(&source, (gyre_pool_options){.track = track});
        REQUIRE(pool);
        gyre_pool_give_aligned(pool, fake_block(pool, size, alignment), size, alignment);
        CHECK(source.gives == 0 && fake_statistics(pool).bytes_kept == size);
        gyre_pool_give_aligned(pool, fake_block(pool, size + 1, alignment), size + 1, alignment);
        CHECK(source.gives == 1 && fake_statistics(pool).bytes_kept == size);
        gyre_pool_destroy(pool);
        fake_source_fini(&source);
    }
}
ALSO_TRACKED(largest_class_is_kept)

static void alignments_are_kept_for_every_size(void)
{
    static size_t sizes[MOST_SIZES];
    static held blocks[MOST_SIZES];
    const size_t count = sizes_around_classes(sizes);
    fake_source source;
    gyre_pool *pool;

    fake_source_init(&source, FAKE_HEAP);
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool);
    for (size_t i = 0; i < count; i++) {
        size_t n = 0;

        /* three of each, mixed, so that not all are the first of something */
        for (size_t alignment = 1; alignment <= 4096; alignment *= 2)
            for (int copy = 0; copy < (sizes[i] < MIB ? 3 : 1); copy++)
                if (sizes[i] < 4 * MIB || alignment == 4096 || alignment == 64)
                    blocks[n++] = (held){.size = sizes[i], .alignment = alignment};
        take_all(pool, &source, blocks, n);
        give_all(pool, blocks, n);
        if (sizes[i] > 256 * KIB)
            (void)gyre_pool_trim(pool);
    }
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}
ALSO_TRACKED(alignments_are_kept_for_every_size)

/* Blocks that were given without an alignment are there when one is asked for, and the reverse. */
static void alignment_is_kept_among_blocks_without(void)
{
    static const size_t sizes[] = {64, 128, 4096, 8192, 65535, 65536, 65537, 131072, 262144};
    held blocks[64];
    fake_source source;
    gyre_pool *pool;

    fake_source_init(&source, FAKE_HEAP);
    pool = fake_pool(&source, (gyre_pool_options){.thread_bytes = 16 * MIB, .track = track});
    REQUIRE(pool);
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (int round = 0; round < 4; round++) {
            for (size_t k = 0; k < COUNT(blocks); k++)
                blocks[k] = (held){.size = sizes[i], .alignment = round % 2 ? 4096 : 64};
            take_all(pool, &source, blocks, COUNT(blocks));
            give_all(pool, blocks, COUNT(blocks));
        }
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}
ALSO_TRACKED(alignment_is_kept_among_blocks_without)

static bool is_zero(const unsigned char *bytes, size_t size)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
}

static void zeroed_blocks_are_zero_though_used_before(void)
{
    static const size_t sizes[] = {1, 63, 64, 65, 100, 4096, 5000, 65536, MIB, 3 * MIB};
    fake_source source;
    gyre_pool *pool;

    fake_source_init(&source, FAKE_HEAP);
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool);
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < COUNT(sizes); i++) {
            void *block = NULL, *dirty;

            REQUIRE(gyre_pool_take_zeroed(pool, sizes[i], &block) == GYRE_OK && block);
            CHECK((uintptr_t)block % 64 == 0);
            CHECK(sizes[i] > FAKE_FILLED || is_zero(block, sizes[i]));
            memset(block, 0x5a, sizes[i]);
            gyre_pool_give(pool, block, sizes[i]);
            dirty = fake_block(pool, sizes[i], 64);
            REQUIRE(dirty);
            memset(dirty, 0x5a, sizes[i]);
            gyre_pool_give(pool, dirty, sizes[i]);
        }
    CHECK(fake_statistics(pool).blocks_out == 0);
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}
ALSO_TRACKED(zeroed_blocks_are_zero_though_used_before)

static void large_blocks_can_be_zeroed_and_aligned(void)
{
    const size_t size = (size_t)GYRE_POOL_LARGEST + 1;
    fake_source source;
    gyre_pool *pool;
    void *block;

    fake_source_init(&source, FAKE_HEAP);
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool);
    REQUIRE(gyre_pool_take_zeroed(pool, size, &block) == GYRE_OK);
    CHECK(is_zero(block, size));
    gyre_pool_give(pool, block, size);
    CHECK(source.count == 0);
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        held one = {.size = size + alignment, .alignment = alignment};

        take_all(pool, &source, &one, 1);
        CHECK(fake_statistics(pool).blocks_out == 1);
        give_all(pool, &one, 1);
        CHECK(source.count == 0);
    }
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}
ALSO_TRACKED(large_blocks_can_be_zeroed_and_aligned)

static const test_case cases[] = {
    TEST(blocks_of_every_size_are_whole_and_apart),
    TEST(blocks_of_every_size_are_whole_and_apart_when_tracked),
    TEST(bytes_out_are_those_of_the_class),
    TEST(bytes_out_are_those_of_the_class_when_tracked),
    TEST(sizes_of_a_class_share_its_blocks),
    TEST(largest_class_is_kept),
    TEST(largest_class_is_kept_when_tracked),
    TEST(alignments_are_kept_for_every_size),
    TEST(alignments_are_kept_for_every_size_when_tracked),
    TEST(alignment_is_kept_among_blocks_without),
    TEST(alignment_is_kept_among_blocks_without_when_tracked),
    TEST(zeroed_blocks_are_zero_though_used_before),
    TEST(zeroed_blocks_are_zero_though_used_before_when_tracked),
    TEST(large_blocks_can_be_zeroed_and_aligned),
    TEST(large_blocks_can_be_zeroed_and_aligned_when_tracked),
};
TEST_MAIN(cases)
