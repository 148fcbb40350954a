/* SPDX-License-Identifier: Apache-2.0
 *
 * What a pool keeps, in one thread: its statistics and what trimming returns, held against the
 * source's books; how much a thread keeps; and the pool as a source of others.
 */
#include "gyre/bytes.h"
#include "mem/pool_fake.h"

static void statistics_are_those_of_the_source(void)
{
    static const size_t sizes[] = {64, 100, 300, 4096, 5000, 65536, 70000, MIB, 9 * MIB};
    void *blocks[COUNT(sizes)][20];
    uint64_t takes = 0, out = 0, out_bytes = 0;
    gyre_pool_statistics s;
    fake_source source;
    gyre_pool *pool;

    fake_source_init(&source, FAKE_PAGES);
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool);
    s = fake_statistics(pool);
    CHECK(s.takes == 0 && s.bytes_drawn == 0 && s.peak_bytes == 0 && s.refusals == 0);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < COUNT(sizes); i++)
            for (size_t k = 0; k < 20; k++) {
                const uint64_t drawn = source.takes, misses = fake_statistics(pool).misses;

                blocks[i][k] = fake_block(pool, sizes[i], 64);
                REQUIRE(blocks[i][k]);
                takes++, out++, out_bytes += fake_class_bytes(sizes[i], 1);
                s = fake_statistics(pool);
                CHECK(s.takes == takes && s.blocks_out == out && s.bytes_out == out_bytes);
                CHECK(s.bytes_drawn == source.out_bytes && s.peak_bytes == source.peak_bytes);
                CHECK(s.misses - misses == (source.takes > drawn));
            }
        for (size_t i = 0; i < COUNT(sizes); i++)
            for (size_t k = 0; k < 20; k++) {
                gyre_pool_give(pool, blocks[i][k], sizes[i]);
                out--, out_bytes -= fake_class_bytes(sizes[i], 1);
                s = fake_statistics(pool);
                CHECK(s.takes == takes && s.blocks_out == out && s.bytes_out == out_bytes);
                CHECK(s.bytes_drawn == source.out_bytes && s.peak_bytes == source.peak_bytes);
            }
        CHECK(s.bytes_kept >= 20 * MIB && s.bytes_waiting == 0);
    }
    CHECK(s.misses <= source.takes && s.hits >= takes * 2 / 3);
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}
ALSO_TRACKED(statistics_are_those_of_the_source)

/* The same sizes over and over need the source once. */
static void what_was_given_is_taken_again(void)
{
    void *blocks[300];
    fake_source source;
    gyre_pool *pool;
    uint64_t drawn = 0;

    if (FAKE_ASAN)
        SKIP("a pool that is tracked holds blocks back");
    fake_source_init(&source, FAKE_HEAP);
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool);
    for (size_t size = 1; size <= 200 * KIB; size = size * 3 + 1) {
        for (int round = 0; round < 4; round++) {
            for (size_t k = 0; k < COUNT(blocks); k++)
                REQUIRE((blocks[k] = fake_block(pool, size, 64)) != NULL);
            if (round == 0)
                drawn = source.takes;
            CHECK(source.takes == drawn);
            for (size_t k = 0; k < COUNT(blocks); k++)
                gyre_pool_give(pool, blocks[k], size);
        }
        CHECK(source.gives == 0);
    }
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}

static void trim_returns_all_when_nothing_is_out(void)
{
    static const size_t sizes[] = {1, 64, 65, 1000, 4096, 60000, 65536, 70000, MIB, 5 * MIB};
    static void *blocks[COUNT(sizes)][100];
    gyre_pool_statistics s;
    fake_source source;
    gyre_pool *pool;

    fake_source_init(&source, FAKE_PAGES);
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool);
    CHECK(gyre_pool_trim(pool) == 0);
    for (int round = 0; round < 3; round++) {
        size_t before;

        for (size_t i = 0; i < COUNT(sizes); i++)
            for (size_t k = 0; k < (sizes[i] < MIB ? 100 : 7); k++)
                blocks[i][k] = fake_block(pool, sizes[i], k % 3 ? 64 : 4096);
        before = source.out_bytes;
        for (size_t i = 0; i < COUNT(sizes); i++)
            for (size_t k = 0; k < (sizes[i] < MIB ? 100 : 7); k++)
                gyre_pool_give_aligned(pool, blocks[i][k], sizes[i], k % 3 ? 64 : 4096);
        CHECK(source.out_bytes == before);
        CHECK(gyre_pool_trim(pool) == before);
        CHECK(source.out_bytes == 0 && source.count == 0);
        CHECK(gyre_pool_trim(pool) == 0);
        s = fake_statistics(pool);
        CHECK(s.bytes_drawn == 0 && s.bytes_kept == 0 && s.blocks_out == 0 && s.bytes_out == 0);
        CHECK(s.peak_bytes == source.peak_bytes);
    }
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}
ALSO_TRACKED(trim_returns_all_when_nothing_is_out)

/* What is out stays whole when all around it goes. */
static void trim_leaves_what_is_out(void)
{
    static const size_t sizes[] = {64, 1000, 65536, 100000};
    static void *blocks[COUNT(sizes)][200];
    fake_source source;
    gyre_pool *pool;

    fake_source_init(&source, FAKE_HEAP);
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool);
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t k = 0; k < 200; k++) {
            blocks[i][k] = fake_block(pool, sizes[i], 64);
            fake_mark(blocks[i][k], sizes[i], i * 200 + k);
        }
    for (size_t keep = 1; keep < 200; keep = keep * 3 + 1) {
        size_t before, went;

        for (size_t i = 0; i < COUNT(sizes); i++)
            for (size_t k = 0; k < 200; k++)
                if (k % keep)
                    gyre_pool_give(pool, blocks[i][k], sizes[i]);
        before = source.out_bytes;
        went = gyre_pool_trim(pool);
        CHECK(went == before - source.out_bytes);
        for (size_t i = 0; i < COUNT(sizes); i++)
            for (size_t k = 0; k < 200; k++)
                if (k % keep) {
                    blocks[i][k] = fake_block(pool, sizes[i], 64);
                    fake_mark(blocks[i][k], sizes[i], i * 200 + k);
                }
        for (size_t i = 0; i < COUNT(sizes); i++)
            for (size_t k = 0; k < 200; k++)
                CHECK(fake_owns(&source, blocks[i][k], sizes[i]) &&
                      fake_is_marked(blocks[i][k], sizes[i], i * 200 + k));
    }
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t k = 0; k < 200; k++)
            gyre_pool_give(pool, blocks[i][k], sizes[i]);
    (void)gyre_pool_trim(pool);
    CHECK(source.count == 0);
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}
ALSO_TRACKED(trim_leaves_what_is_out)

/* A source whose pieces, in which a pool draws small blocks, follow each other without a gap. */
#define PIECE ((size_t)65536)
typedef struct row {
    _Alignas(4096) unsigned char bytes[4 * PIECE];
    size_t used, given_bytes;
    bool given[4]; /* by piece */
} row;

static gyre_status row_take(const gyre_memory *memory, size_t size, size_t alignment, void **out)
{
    row *r = memory->user;

    *out = NULL;
    if (r->used % alignment != 0 || size > sizeof r->bytes - r->used)
        return GYRE_NO_MEMORY;
    *out = r->bytes + r->used;
    r->used += size;
    return GYRE_OK;
}

static void row_give(const gyre_memory *memory, void *block, size_t size, size_t alignment)
{
    row *r = memory->user;

    (void)alignment;
    r->given[(size_t)((unsigned char *)block - r->bytes) / PIECE] = true;
    r->given_bytes += size;
}

/* The end of a piece is where the next begins, whose blocks are not its own. */
static void trim_tells_adjacent_pieces_apart(void)
{
    static row r;
    static void *blocks[3 * PIECE / 64];
    const gyre_memory memory = {sizeof memory, "row", GYRE_MEMORY_HOST, row_take, row_give, &r, 0};
    const gyre_pool_options options = {
        .struct_size = sizeof options, .source = &memory, .track = track};
    void *kept = NULL;
    gyre_pool *pool;

    memset(&r, 0, sizeof r);
    REQUIRE(gyre_pool_create(&options, &pool) == GYRE_OK);
    for (size_t i = 0; i < COUNT(blocks); i++)
        REQUIRE(gyre_pool_take(pool, 64, &blocks[i]) == GYRE_OK);
    CHECK(r.used == 3 * PIECE);
    for (size_t i = 0; i < COUNT(blocks); i++)
        if (blocks[i] == r.bytes + 2 * PIECE - 64) /* the last of the second piece */
            kept = blocks[i];
        else
            gyre_pool_give(pool, blocks[i], 64);
    CHECK(gyre_pool_trim(pool) == 2 * PIECE);
    CHECK(r.given[0] && !r.given[1] && r.given[2]);
    gyre_pool_give(pool, kept, 64);
    CHECK(gyre_pool_trim(pool) == PIECE && r.given_bytes == r.used);
    gyre_pool_destroy(pool);
    CHECK(r.given_bytes == r.used);
}
ALSO_TRACKED(trim_tells_adjacent_pieces_apart)

/* Whoever still has blocks of it. */
static void destroy_returns_what_is_out(void)
{
    static const size_t sizes[] = {1, 1000, 65536, 3 * MIB, GYRE_POOL_LARGEST + 1};
    uint64_t completed = 0;
    fake_source source;
    gyre_pool *pool;

    fake_source_init(&source, FAKE_PAGES);
    pool = fake_pool(&source, (gyre_pool_options){.track = GYRE_POOL_TRACK_OFF});
    REQUIRE(pool);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        CHECK(fake_block(pool, sizes[i], 64) && fake_block(pool, sizes[i], 4096));
        gyre_pool_give(pool, fake_block(pool, sizes[i], 64), sizes[i]);
        CHECK(gyre_pool_give_after(pool, fake_block(pool, sizes[i], 64), sizes[i], 64,
                                   (gyre_ticket){&completed, 1}) == GYRE_OK);
    }
    CHECK(fake_statistics(pool).blocks_out == 2 * COUNT(sizes));
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}

/* More than a count of 16 bits can say; and a thread that may keep nothing. */
static void threads_keep_as_little_and_as_much_as_they_may(void)
{
    static const size_t extremes[] = {1, 63, 64, 127, 128, 129, 4096, MIB, 64 * MIB, SIZE_MAX};
    enum { MANY = 140000 };
    static void *blocks[MANY];

    for (size_t i = 0; i < COUNT(extremes); i++) {
        const size_t many = track == GYRE_POOL_TRACK_ON ? 3000 : MANY;
        fake_source source;
        gyre_pool *pool;

        fake_source_init(&source, FAKE_PAGES);
        pool = fake_pool(&source, (gyre_pool_options){.thread_bytes = extremes[i], .track = track});
        REQUIRE(pool);
        for (int round = 0; round < 2; round++) {
            size_t wrong = 0;

            for (size_t k = 0; k < many; k++) {
                if (gyre_pool_take(pool, 64, &blocks[k]) != GYRE_OK)
                    abort();
                memcpy(blocks[k], &k, sizeof k);
            }
            CHECK(fake_statistics(pool).blocks_out == many);
            for (size_t k = 0; k < many; k++) {
                wrong += memcmp(blocks[k], &k, sizeof k) != 0;
                gyre_pool_give(pool, blocks[k], 64);
            }
            CHECK(wrong == 0);
            CHECK(fake_statistics(pool).blocks_out == 0);
            CHECK(fake_statistics(pool).takes == (uint64_t)many * (unsigned)(round + 1));
            CHECK(fake_statistics(pool).bytes_kept >= many * 64);
        }
        (void)gyre_pool_trim(pool);
        CHECK(source.count == 0);
        gyre_pool_destroy(pool);
        fake_source_fini(&source);
    }
}
ALSO_TRACKED(threads_keep_as_little_and_as_much_as_they_may)

static void source_with_a_grain_is_asked_in_grains(void)
{
    void *blocks[1000];
    fake_source source;
    gyre_pool *pool;

    fake_source_init(&source, FAKE_PAGES);
    source.memory.grain_bytes = 2 * MIB;
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool);
    for (size_t k = 0; k < COUNT(blocks); k++)
        blocks[k] = fake_block(pool, 1000, 64);
    CHECK(source.takes == 1);
    for (size_t k = 0; k < source.count; k++)
        CHECK(source.pieces[k].size % (2 * MIB) == 0);
    for (size_t k = 0; k < COUNT(blocks); k++)
        gyre_pool_give(pool, blocks[k], 1000);
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}

static void pool_over_pool_returns_everything(void)
{
    static const size_t sizes[] = {64, 4096, 70000, 2 * MIB, GYRE_POOL_LARGEST + 1};
    void *blocks[COUNT(sizes)][10];
    gyre_pool_options over = {.struct_size = sizeof over, .track = track};
    gyre_pool *lower, *upper;
    fake_source source;

    fake_source_init(&source, FAKE_PAGES);
    lower = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(lower);
    CHECK(gyre_pool_memory(lower)->struct_size == sizeof(gyre_memory));
    CHECK(gyre_pool_memory(lower)->reach == GYRE_MEMORY_HOST);
    over.source = gyre_pool_memory(lower);
    REQUIRE(gyre_pool_create(&over, &upper) == GYRE_OK);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < COUNT(sizes); i++)
            for (size_t k = 0; k < 10; k++) {
                blocks[i][k] = fake_block(upper, sizes[i], k % 2 ? 64 : 4096);
                REQUIRE(blocks[i][k] && fake_owns(&source, blocks[i][k], sizes[i]));
                fake_mark(blocks[i][k], sizes[i], i * 10 + k);
            }
        CHECK(fake_statistics(lower).bytes_out >= fake_statistics(upper).bytes_drawn);
        for (size_t i = 0; i < COUNT(sizes); i++)
            for (size_t k = 0; k < 10; k++) {
                CHECK(fake_is_marked(blocks[i][k], sizes[i], i * 10 + k));
                gyre_pool_give_aligned(upper, blocks[i][k], sizes[i], k % 2 ? 64 : 4096);
            }
        CHECK(gyre_pool_trim(upper) > 0);
        CHECK(fake_statistics(lower).blocks_out == 0);
        CHECK(gyre_pool_trim(lower) > 0 && source.count == 0);
    }
    gyre_pool_give(upper, fake_block(upper, 64, 64), 64);
    gyre_pool_destroy(upper);
    CHECK(fake_statistics(lower).blocks_out == 0);
    gyre_pool_destroy(lower);
    fake_source_fini(&source);
}
ALSO_TRACKED(pool_over_pool_returns_everything)

/* The refusal of the lower is that of the upper. */
static void pool_over_a_pool_at_its_limit_is_refused(void)
{
    gyre_pool_options over = {.struct_size = sizeof over, .track = track};
    gyre_pool *lower, *upper;
    fake_source source;
    void *blocks[32], *more;
    size_t n = 0;

    fake_source_init(&source, FAKE_HEAP);
    lower = fake_pool(&source, (gyre_pool_options){.limit_bytes = MIB, .track = track});
    REQUIRE(lower);
    over.source = gyre_pool_memory(lower);
    REQUIRE(gyre_pool_create(&over, &upper) == GYRE_OK);
    while (n < COUNT(blocks) && gyre_pool_take(upper, 128 * KIB, &blocks[n]) == GYRE_OK)
        n++;
    CHECK(n >= 1 && n <= 8);
    CHECK(gyre_pool_take(upper, 128 * KIB, &more) == GYRE_AGAIN && more == NULL);
    CHECK(gyre_pool_take(upper, MIB, &more) == GYRE_AGAIN && more == NULL);
    while (n > 0)
        gyre_pool_give(upper, blocks[--n], 128 * KIB);
    more = fake_block(upper, 500 * KIB, 64);
    CHECK(more != NULL);
    gyre_pool_give(upper, more, 500 * KIB);
    gyre_pool_destroy(upper);
    gyre_pool_destroy(lower);
    fake_source_fini(&source);
}

static void pool_as_memory_refuses_nonsense(void)
{
    const gyre_memory *memory;
    fake_source source;
    gyre_pool *pool;
    void *block = &block;

    fake_source_init(&source, FAKE_HEAP);
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool);
    memory = gyre_pool_memory(pool);
    CHECK(memory->take(memory, 64, 8192, &block) == GYRE_INVALID && block == NULL);
    block = &block;
    CHECK(memory->take(memory, 0, 64, &block) == GYRE_INVALID && block == NULL);
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2)
        for (size_t size = 1; size < 100000; size = size * 5 + 1) {
            REQUIRE(memory->take(memory, size, alignment, &block) == GYRE_OK && block);
            CHECK((uintptr_t)block % alignment == 0);
            fake_mark(block, size, size);
            CHECK(fake_statistics(pool).blocks_out == 1);
            memory->give(memory, block, size, alignment);
            CHECK(fake_statistics(pool).blocks_out == 0);
        }
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}
ALSO_TRACKED(pool_as_memory_refuses_nonsense)

static void bytes_come_from_and_return_to_the_pool(void)
{
    static const fake_kind kinds[] = {FAKE_HEAP, FAKE_DEVICE};

    for (size_t i = 0; i < COUNT(kinds); i++)
        for (size_t size = 1; size < 300000; size = size * 3 + 1) {
            gyre_bytes bytes, clone;
            fake_source source;
            gyre_pool *pool;

            fake_source_init(&source, kinds[i]);
            pool = fake_pool(&source, (gyre_pool_options){.track = track});
            REQUIRE(pool);
            REQUIRE(gyre_bytes_take(gyre_pool_memory(pool), size, &bytes) == GYRE_OK);
            CHECK(fake_owns(&source, bytes.data, size) && fake_statistics(pool).blocks_out == 1);
            if (gyre_bytes_writable(&bytes))
                memset(gyre_bytes_writable(&bytes), 7, size);
            clone = gyre_bytes_clone(&bytes);
            gyre_bytes_release(&bytes);
            CHECK(fake_statistics(pool).blocks_out == 1);
            gyre_bytes_release(&clone);
            CHECK(fake_statistics(pool).blocks_out == 0);
            CHECK(gyre_pool_trim(pool) > 0 && source.count == 0);
            gyre_pool_destroy(pool);
            fake_source_fini(&source);
        }
}
ALSO_TRACKED(bytes_come_from_and_return_to_the_pool)

static const test_case cases[] = {
    TEST(statistics_are_those_of_the_source),
    TEST(statistics_are_those_of_the_source_when_tracked),
    TEST(what_was_given_is_taken_again),
    TEST(trim_returns_all_when_nothing_is_out),
    TEST(trim_returns_all_when_nothing_is_out_when_tracked),
    TEST(trim_leaves_what_is_out),
    TEST(trim_leaves_what_is_out_when_tracked),
    TEST(trim_tells_adjacent_pieces_apart),
    TEST(trim_tells_adjacent_pieces_apart_when_tracked),
    TEST(destroy_returns_what_is_out),
    TEST(threads_keep_as_little_and_as_much_as_they_may),
    TEST(threads_keep_as_little_and_as_much_as_they_may_when_tracked),
    TEST(source_with_a_grain_is_asked_in_grains),
    TEST(pool_over_pool_returns_everything),
    TEST(pool_over_pool_returns_everything_when_tracked),
    TEST(pool_over_a_pool_at_its_limit_is_refused),
    TEST(pool_as_memory_refuses_nonsense),
    TEST(pool_as_memory_refuses_nonsense_when_tracked),
    TEST(bytes_come_from_and_return_to_the_pool),
    TEST(bytes_come_from_and_return_to_the_pool_when_tracked),
};
TEST_MAIN(cases)
