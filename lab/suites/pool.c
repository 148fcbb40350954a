/* SPDX-License-Identifier: Apache-2.0
 *
 * pool: a block and back, from the pool and from the system.
 *
 * A block that was never written may have no memory behind it yet, so benchmarks say what is
 * written: `allocation` the first word, `memory_allocation` nothing, or, where it is called
 * touched, a word of every page. `cache_efficiency` keeps blocks of many sizes and replaces one
 * after the other, as a program does; its figure of merit is how many takes the pool could serve
 * with what it had.
 *
 * Threads   one.
 * Owns      a fixture per case.
 * Not here  memory by number (suites/buffers.c).
 */
#include "gyre/pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gyre/bench.h"
#include "suites/suites.h"

enum { BLOCK = 4096, PAGE = 4096, HELD = 64, PASS = 4096 };

/* One step of the mixed work: the block in a place goes, one of another size comes. */
typedef struct step {
    uint32_t place;
    uint32_t size; /* a multiple of 8 */
} step;

typedef struct blocks {
    gyre_pool *pool; /* NULL: the system */
    size_t size;
    uint64_t right;
    uint64_t done;
    /* of the mixed work */
    step steps[PASS];
    uint64_t *held[HELD];
    uint32_t held_bytes[HELD];
    double first_rate; /* hits among the takes of the first pass */
} blocks;

static void blocks_teardown(void *fixture)
{
    blocks *b = fixture;

    for (int i = 0; i < HELD; i++)
        if (b->held[i])
            gyre_pool_give(b->pool, b->held[i], b->held_bytes[i]);
    gyre_pool_destroy(b->pool);
    free(b);
}

static gyre_status blocks_setup(bool pooled, int64_t size, void **out_fixture)
{
    gyre_pool_options options = {.struct_size = sizeof options, .track = GYRE_POOL_TRACK_OFF};
    blocks *b = calloc(1, sizeof *b);
    gyre_status status = GYRE_OK;

    *out_fixture = NULL;
    if (!b)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    b->size = (size_t)size;
    if (size < 8 || size > 1 << 30 || size % 8 != 0)
        status = gyre_bench_refuse(GYRE_INVALID, "the size is a multiple of 8, at most a GiB");
    if (status == GYRE_OK && pooled)
        status = gyre_pool_create(&options, &b->pool);
    if (status != GYRE_OK) {
        free(b);
        return status;
    }
    *out_fixture = b;
    return GYRE_OK;
}

static gyre_status setup_pooled_4kb(const gyre_bench_case *c, void **out_fixture)
{
    (void)c;
    return blocks_setup(true, BLOCK, out_fixture);
}

static gyre_status setup_direct_4kb(const gyre_bench_case *c, void **out_fixture)
{
    (void)c;
    return blocks_setup(false, BLOCK, out_fixture);
}

static gyre_status setup_pooled(const gyre_bench_case *c, void **out_fixture)
{
    return blocks_setup(true, gyre_bench_axis(c, "size"), out_fixture);
}

static gyre_status setup_direct(const gyre_bench_case *c, void **out_fixture)
{
    return blocks_setup(false, gyre_bench_axis(c, "size"), out_fixture);
}

/* Whether the word that is written to the block can be read there. */
GYRE_INLINE bool holds(uint64_t *block, uint64_t number)
{
    *block = number;
    gyre_bench_keep(block);
    return *block == number;
}

static void take_and_give_4kb(void *fixture, uint64_t iterations)
{
    blocks *b = fixture;
    gyre_pool *const pool = b->pool;
    uint64_t right = 0; /* here, or every iteration waits for the last one's store */
    void *block;

    for (uint64_t i = 0; i < iterations; i++) {
        if (gyre_pool_take(pool, BLOCK, &block) != GYRE_OK)
            break; /* the check will miss it */
        right += holds(block, i);
        gyre_pool_give(pool, block, BLOCK);
    }
    b->right += right;
}

static void malloc_and_free_4kb(void *fixture, uint64_t iterations)
{
    blocks *b = fixture;
    uint64_t right = 0;

    for (uint64_t i = 0; i < iterations; i++) {
        void *const block = malloc(BLOCK);

        if (!block)
            break;
        right += holds(block, i);
        free(block);
    }
    b->right += right;
}

static void map_and_unmap_4kb(void *fixture, uint64_t iterations)
{
    blocks *b = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        void *const block =
            mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (block == MAP_FAILED)
            break;
        b->right += holds(block, i);
        b->right -= munmap(block, BLOCK) != 0;
    }
}

/* Writes a word of every page, or nothing; whether what was written is there. */
GYRE_INLINE bool touch(uint64_t *block, size_t size, bool touched, uint64_t number)
{
    gyre_bench_keep(block);
    if (!touched)
        return ((uintptr_t)block & 15) == 0;
    block[0] = number;
    for (size_t at = PAGE / 8; at < size / 8; at += PAGE / 8)
        block[at] = number;
    gyre_bench_keep(block);
    return block[0] == number && block[(size - 1) / PAGE * (PAGE / 8)] == number;
}

GYRE_INLINE void take_and_give(blocks *b, bool touched, uint64_t iterations)
{
    gyre_pool *const pool = b->pool;
    const size_t size = b->size;
    uint64_t right = 0;
    void *block;

    for (uint64_t i = 0; i < iterations; i++) {
        if (gyre_pool_take(pool, size, &block) != GYRE_OK)
            break; /* the check will miss it */
        right += touch(block, size, touched, i);
        gyre_pool_give(pool, block, size);
    }
    b->right += right;
}

GYRE_INLINE void malloc_and_free(blocks *b, bool touched, uint64_t iterations)
{
    const size_t size = b->size;
    uint64_t right = 0;

    for (uint64_t i = 0; i < iterations; i++) {
        void *const block = malloc(size);

        if (!block)
            break;
        right += touch(block, size, touched, i);
        free(block);
    }
    b->right += right;
}

/* clang-format off */
#define RUN(name, way, touched) \
    static void name(void *fixture, uint64_t iterations) { way(fixture, touched, iterations); }
/* clang-format on */
RUN(pooled, take_and_give, false)
RUN(pooled_touched, take_and_give, true)
RUN(direct, malloc_and_free, false)
RUN(direct_touched, malloc_and_free, true)

/* Every block was one, and the pool has counted them and has them all. */
static bool all_came_back(const void *fixture, uint64_t iterations)
{
    const blocks *b = fixture;
    gyre_pool_statistics pool = {.struct_size = sizeof pool};

    if (b->pool && (gyre_pool_describe(b->pool, &pool) != GYRE_OK || pool.takes != iterations ||
                    pool.hits + pool.misses != pool.takes || pool.blocks_out != 0))
        return false;
    return b->right == iterations;
}

/* Sizes from 64 B to 64 KB, as many of each doubling, at places in no order. */
static void plan(blocks *b)
{
    uint64_t random = 0x9e3779b97f4a7c15;

    for (int i = 0; i < PASS; i++) {
        random = random * 6364136223846793005 + 1442695040888963407;
        b->steps[i].place = (uint32_t)(random >> 58);
        b->steps[i].size = 64u << (random >> 40) % 10;
        b->steps[i].size += (uint32_t)(random >> 20) % b->steps[i].size & ~7u;
    }
}

/* The block in the place goes, if it has kept its marks, and the next one comes and is marked. */
GYRE_INLINE bool replace(blocks *b, uint64_t number)
{
    const step s = b->steps[number % PASS];
    uint64_t *const old = b->held[s.place];
    uint64_t *fresh;
    void *block;

    if (old) {
        const uint32_t bytes = b->held_bytes[s.place];

        if (old[0] != s.place || old[bytes / 8 - 1] != bytes)
            return false;
        gyre_pool_give(b->pool, old, bytes);
    }
    b->held[s.place] = NULL;
    if (gyre_pool_take(b->pool, s.size, &block) != GYRE_OK)
        return false;
    fresh = block;
    fresh[0] = s.place;
    fresh[s.size / 8 - 1] = s.size;
    b->held[s.place] = fresh;
    b->held_bytes[s.place] = s.size;
    return true;
}

static void replace_each(void *fixture, uint64_t iterations)
{
    blocks *b = fixture;
    uint64_t right = 0;

    for (uint64_t i = 0; i < iterations; i++)
        right += replace(b, b->done + i);
    b->right += right;
    b->done += iterations;
}

static double hit_rate(gyre_pool *pool)
{
    gyre_pool_statistics now = {.struct_size = sizeof now};

    return gyre_pool_describe(pool, &now) == GYRE_OK && now.takes > 0
               ? (double)now.hits / (double)now.takes
               : 0;
}

static gyre_status setup_mixed(const gyre_bench_case *c, void **out_fixture)
{
    const gyre_status status = setup_pooled_4kb(c, out_fixture);
    blocks *b = *out_fixture;

    if (status != GYRE_OK || !b)
        return status;
    plan(b);
    replace_each(b, PASS);
    b->first_rate = hit_rate(b->pool);
    b->right -= PASS; /* not the run's; wrong ones are missed */
    b->done -= PASS;
    return GYRE_OK;
}

/* No block lost its marks, and those that are held are all that are out. */
static bool all_kept_their_marks(const void *fixture, uint64_t iterations)
{
    const blocks *b = fixture;
    gyre_pool_statistics pool = {.struct_size = sizeof pool};
    uint64_t held = 0;

    for (int i = 0; i < HELD; i++)
        held += b->held[i] != NULL;
    return b->right == iterations && gyre_pool_describe(b->pool, &pool) == GYRE_OK &&
           pool.takes == iterations + PASS && pool.blocks_out == held &&
           pool.hits + pool.misses == pool.takes;
}

static void tell_pool(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const blocks *b = fixture;
    gyre_pool_statistics pool = {.struct_size = sizeof pool};

    (void)iterations;
    if (gyre_pool_describe(b->pool, &pool) != GYRE_OK)
        return;
    gyre_bench_count(facts, "hit_rate", hit_rate(b->pool));
    gyre_bench_count(facts, "misses", (double)pool.misses);
    gyre_bench_count(facts, "peak_bytes", (double)pool.peak_bytes);
}

static void tell_mixed(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const blocks *b = fixture;

    tell_pool(fixture, iterations, facts);
    gyre_bench_count(facts, "hit_rate_first_pass", b->first_rate);
    gyre_bench_note(facts, "first_pass", "4096 takes from an empty pool, 64 held");
}

#define FIRST_WORD(take, give)                                                                     \
    .t0 = "before the " take " of 4 KB", .t1 = "after the " give " of the same",                   \
    .observer = "the same thread, which reads back the word that it wrote",                        \
    .teardown = blocks_teardown, .check = all_came_back
#define SIZES GYRE_AXIS("size", 1024, 4096, 16384, 65536, 262144, 1048576)
#define UNTOUCHED                                                                                  \
    .observer = "the same thread, which looks at the address", .check = all_came_back,             \
    .teardown = blocks_teardown
#define TOUCHED                                                                                    \
    .observer = "the same thread, which reads back the words of the first and the last page",      \
    .check = all_came_back, .teardown = blocks_teardown

static const gyre_bench benches[] = {
    {
        .name = "allocation/pooled_alloc_4kb",
        FIRST_WORD("take", "give"),
        .setup = setup_pooled_4kb,
        .run = take_and_give_4kb,
        .tell = tell_pool,
    },
    {
        .name = "allocation/direct_alloc_4kb",
        FIRST_WORD("malloc", "free"),
        .setup = setup_direct_4kb,
        .run = malloc_and_free_4kb,
    },
    {
        .name = "allocation/direct_map_4kb",
        FIRST_WORD("mmap", "munmap"),
        .setup = setup_direct_4kb,
        .run = map_and_unmap_4kb,
    },
    {
        .name = "memory_allocation/pooled",
        .axes = {SIZES},
        .t0 = "before the take",
        .t1 = "after the give of the same",
        UNTOUCHED,
        .setup = setup_pooled,
        .run = pooled,
        .tell = tell_pool,
    },
    {
        .name = "memory_allocation/pooled_touched",
        .axes = {SIZES},
        .t0 = "before the take",
        .t1 = "after a word of each page was written, and the give",
        TOUCHED,
        .setup = setup_pooled,
        .run = pooled_touched,
        .tell = tell_pool,
    },
    {
        .name = "memory_allocation/direct",
        .axes = {SIZES},
        .t0 = "before the malloc",
        .t1 = "after the free of the same",
        UNTOUCHED,
        .setup = setup_direct,
        .run = direct,
    },
    {
        .name = "memory_allocation/direct_touched",
        .axes = {SIZES},
        .t0 = "before the malloc",
        .t1 = "after a word of each page was written, and the free",
        TOUCHED,
        .setup = setup_direct,
        .run = direct_touched,
    },
    {
        .name = "cache_efficiency/repeated_allocations",
        .t0 = "before the give of one of 64 blocks",
        .t1 = "after the take of another, of 64 B to 64 KB, and two marks in it",
        .observer = "the same thread, which finds both marks before it gives a block",
        .setup = setup_mixed,
        .run = replace_each,
        .check = all_kept_their_marks,
        .teardown = blocks_teardown,
        .tell = tell_mixed,
    },
};

const gyre_suite gyre_suite_pool = GYRE_SUITE("pool", benches);
