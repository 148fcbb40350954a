/* SPDX-License-Identifier: Apache-2.0
 *
 * buffers: memory by number, in a pool that has seen the work before.
 *
 * The seeds create their pool inside the loop; here it is made and warmed by the set-up. What is
 * allocated alone is deallocated between the timed runs, and the other way round. Allocating a
 * mebibyte touches none of it, but for the zeroed one.
 *
 * Threads   one.
 * Owns      a fixture per case.
 * Not here  the pool itself (suites/pool.c).
 */
#include "gyre/buffers.h"

#include <stdlib.h>
#include <string.h>

#include "gyre/bench.h"
#include "suites/suites.h"

enum { KIB = 1024, MIB = 1 << 20, PATTERNS = 4, DIRT = 0xa5 };

typedef struct store {
    gyre_pool *pool;
    gyre_buffers *buffers;
    size_t size; /* of each buffer */
    gyre_buffer_content content;
    uint64_t *ids; /* of those that there are */
    uint64_t count, room;
    uint64_t right;    /* calls that did as they should */
    uint64_t verified; /* buffers that were found to be as they should, between the runs */
    uint64_t done;
    unsigned char patterns[PATTERNS][KIB];
    unsigned char into[KIB];
    unsigned char *scratch; /* of `size` bytes */
    unsigned char *block;   /* the floor's, as large */
} store;

static void store_teardown(void *fixture)
{
    store *s = fixture;

    gyre_buffers_destroy(s->buffers);
    gyre_pool_destroy(s->pool);
    free(s->ids);
    free(s->scratch);
    free(s->block);
    free(s);
}

static gyre_status store_setup(size_t size, gyre_buffer_content content, void **out_fixture)
{
    gyre_pool_options pool = {.struct_size = sizeof pool, .track = GYRE_POOL_TRACK_OFF};
    gyre_buffers_options options = {.struct_size = sizeof options, .most_count = 1 << 20};
    store *s = calloc(1, sizeof *s);
    gyre_status status;

    *out_fixture = NULL;
    if (!s)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    s->size = size;
    s->content = content;
    for (int p = 0; p < PATTERNS; p++)
        for (int i = 0; i < KIB; i++)
            s->patterns[p][i] = (unsigned char)(i * (2 * p + 3) + p);
    s->scratch = malloc(size);
    s->block = calloc(1, size);
    status = s->scratch && s->block ? gyre_pool_create(&pool, &s->pool)
                                    : gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    options.pool = s->pool;
    if (status == GYRE_OK)
        status = gyre_buffers_create(&options, &s->buffers);
    if (status != GYRE_OK) {
        store_teardown(s);
        return status;
    }
    *out_fixture = s;
    return GYRE_OK;
}

static gyre_status setup_1kb(const gyre_bench_case *c, void **out_fixture)
{
    (void)c;
    return store_setup(KIB, GYRE_BUFFER_ANY, out_fixture);
}

static gyre_status setup_1mb(const gyre_bench_case *c, void **out_fixture)
{
    (void)c;
    return store_setup(MIB, GYRE_BUFFER_ANY, out_fixture);
}

static gyre_status setup_1mb_zeroed(const gyre_bench_case *c, void **out_fixture)
{
    (void)c;
    return store_setup(MIB, GYRE_BUFFER_ZEROED, out_fixture);
}

static void allocate(store *s, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations && s->count < s->room; i++) {
        if (gyre_buffer_allocate(s->buffers, s->size, s->content, &s->ids[s->count]) != GYRE_OK)
            break; /* the check will miss it */
        s->count++;
    }
}

static void deallocate(store *s)
{
    for (; s->count > 0; s->count--)
        s->right += gyre_buffer_deallocate(s->buffers, s->ids[s->count - 1]) == GYRE_OK;
}

/* Room for so many ids, and as many blocks in the pool, all of them dirty. */
static void warm(store *s, uint64_t count)
{
    const uint64_t right = s->right;
    uint64_t *ids;

    if (count <= s->room)
        return;
    ids = realloc(s->ids, count * sizeof *ids);
    if (!ids)
        return; /* the check will miss them */
    s->ids = ids;
    s->room = count;
    allocate(s, count);
    memset(s->scratch, DIRT, s->size);
    for (uint64_t i = 0; i < s->count; i++)
        (void)!gyre_buffer_write(s->buffers, s->ids[i], 0, s->scratch, s->size);
    deallocate(s);
    s->right = right;
}

/* Whether a buffer holds what it should: its id, which was put there, and zeros if it was to. */
static bool is_zeroed(store *s, uint64_t id)
{
    memset(s->scratch, DIRT, s->size);
    return gyre_buffer_read(s->buffers, id, 0, s->scratch, s->size) == GYRE_OK &&
           s->scratch[0] == 0 && memcmp(s->scratch, s->scratch + 1, s->size - 1) == 0;
}

/* How many of the buffers have the right size and content, and memory of their own. */
static uint64_t verify(store *s)
{
    const size_t end = s->size - sizeof(uint64_t);
    uint64_t count = 0, marks[2];
    size_t size;

    for (uint64_t i = 0; i < s->count; i++)
        if (gyre_buffer_size(s->buffers, s->ids[i], &size) == GYRE_OK && size == s->size &&
            (s->content != GYRE_BUFFER_ZEROED || is_zeroed(s, s->ids[i])))
            count++;
    if (count < s->count)
        return 0;
    memset(s->scratch, DIRT, s->size);
    for (uint64_t i = 0; i < s->count; i++) {
        if (s->content == GYRE_BUFFER_ZEROED)
            (void)!gyre_buffer_write(s->buffers, s->ids[i], 0, s->scratch, s->size);
        (void)!gyre_buffer_write(s->buffers, s->ids[i], 0, &s->ids[i], sizeof s->ids[i]);
        (void)!gyre_buffer_write(s->buffers, s->ids[i], end, &s->ids[i], sizeof s->ids[i]);
    }
    for (uint64_t i = 0; i < s->count; i++)
        count -= gyre_buffer_read(s->buffers, s->ids[i], 0, &marks[0], 8) != GYRE_OK ||
                 gyre_buffer_read(s->buffers, s->ids[i], end, &marks[1], 8) != GYRE_OK ||
                 marks[0] != s->ids[i] || marks[1] != s->ids[i];
    return count;
}

/* Puts back what the last run allocated, after a look at it. */
static void put_back(void *fixture, uint64_t iterations)
{
    store *s = fixture;

    s->verified += verify(s);
    deallocate(s);
    warm(s, iterations);
}

/* Whether there are as many buffers, and blocks out of the pool, as this knows of. */
static bool accounts_hold(const store *s)
{
    gyre_pool_statistics pool = {.struct_size = sizeof pool};

    return gyre_buffers_count(s->buffers) == s->count &&
           gyre_pool_describe(s->pool, &pool) == GYRE_OK && pool.blocks_out == s->count;
}

static void allocate_each(void *fixture, uint64_t iterations)
{
    allocate(fixture, iterations);
}

/* Every one was verified, and all but the last ones were deallocated again. */
static bool all_were_buffers(const void *fixture, uint64_t iterations)
{
    const store *s = fixture;
    store now = *s; /* whose scratch and buffers are the same */

    return s->verified + verify(&now) == iterations && s->right + s->count == iterations &&
           accounts_hold(s);
}

/* As many as the next run deallocates. */
static void lay_out(void *fixture, uint64_t iterations)
{
    store *s = fixture;

    warm(s, iterations);
    allocate(s, iterations);
    s->verified += verify(s);
}

static void deallocate_each(void *fixture, uint64_t iterations)
{
    (void)iterations; /* as many as were laid out */
    deallocate(fixture);
}

/* They were buffers, and are not any more. */
static bool all_are_gone(const void *fixture, uint64_t iterations)
{
    const store *s = fixture;
    size_t size;

    return s->right == iterations && s->verified == iterations && s->count == 0 &&
           accounts_hold(s) && gyre_buffer_size(s->buffers, s->ids[0], &size) == GYRE_NOT_FOUND;
}

static void cycle(void *fixture, uint64_t iterations)
{
    store *s = fixture;
    uint64_t id, last = 0;

    for (uint64_t i = 0; i < iterations; i++) {
        s->right += gyre_buffer_allocate(s->buffers, KIB, GYRE_BUFFER_ANY, &id) == GYRE_OK &&
                    id != last && gyre_buffer_deallocate(s->buffers, id) == GYRE_OK;
        last = id;
    }
}

static bool all_cycles_were_right(const void *fixture, uint64_t iterations)
{
    const store *s = fixture;

    return s->right == iterations && accounts_hold(s);
}

/* One buffer for each pattern. */
static gyre_status setup_patterns(const gyre_bench_case *c, void **out_fixture)
{
    gyre_status status = setup_1kb(c, out_fixture);
    store *s = *out_fixture;

    if (status != GYRE_OK || !s)
        return status;
    warm(s, PATTERNS);
    allocate(s, PATTERNS);
    for (uint64_t p = 0; p < s->count && status == GYRE_OK; p++)
        status = gyre_buffer_write(s->buffers, s->ids[p], 0, s->patterns[p], KIB);
    if (status == GYRE_OK && s->count < PATTERNS)
        status = gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for the buffers");
    if (status != GYRE_OK) {
        store_teardown(s);
        *out_fixture = NULL;
    }
    return status;
}

/* Another pattern each time, and after all of them they have gone one buffer on. */
static uint64_t pattern_of(uint64_t number)
{
    return (number + number / PATTERNS) % PATTERNS;
}

static void write_each(void *fixture, uint64_t iterations)
{
    store *s = fixture;

    for (uint64_t i = 0; i < iterations; i++, s->done++)
        s->right += gyre_buffer_write(s->buffers, s->ids[s->done % PATTERNS], 0,
                                      s->patterns[pattern_of(s->done)], s->size) == GYRE_OK;
}

/* The buffers hold what was written last, every byte. */
static bool all_were_written(const void *fixture, uint64_t iterations)
{
    const store *s = fixture;
    unsigned char held[KIB];
    bool right = s->right == iterations && s->done == iterations;

    for (uint64_t back = 1; back <= PATTERNS && back <= iterations; back++)
        right &= gyre_buffer_read(s->buffers, s->ids[(iterations - back) % PATTERNS], 0, held,
                                  KIB) == GYRE_OK &&
                 memcmp(held, s->patterns[pattern_of(iterations - back)], KIB) == 0;
    return right;
}

static void read_each(void *fixture, uint64_t iterations)
{
    store *s = fixture;

    for (uint64_t i = 0; i < iterations; i++, s->done++) {
        const unsigned char *const expected = s->patterns[s->done % PATTERNS];

        /* the first and the last byte of this read, not of another */
        s->right += gyre_buffer_read(s->buffers, s->ids[s->done % PATTERNS], 0, s->into, s->size) ==
                        GYRE_OK &&
                    s->into[0] == expected[0] && s->into[KIB - 1] == expected[KIB - 1];
    }
}

static bool all_were_read(const void *fixture, uint64_t iterations)
{
    const store *s = fixture;

    return s->right == iterations && s->done == iterations &&
           memcmp(s->into, s->patterns[(iterations - 1) % PATTERNS], KIB) == 0;
}

static void copy_each(void *fixture, uint64_t iterations)
{
    store *s = fixture;

    for (uint64_t i = 0; i < iterations; i++, s->done++) {
        memcpy(s->into, s->patterns[s->done % PATTERNS], s->size);
        gyre_bench_keep(s->into);
        s->right += s->into[0] == s->patterns[s->done % PATTERNS][0];
    }
}

/* Looks at the block, and makes it dirty, as put_back does with buffers: no warmer, no colder. */
static void make_dirty(void *fixture, uint64_t iterations)
{
    store *s = fixture;

    (void)iterations; /* the first of a run finds dirt, the others zeros; each writes all */
    memset(s->scratch, DIRT, s->size);
    memcpy(s->scratch, s->block, s->size);
    s->verified += s->scratch[0] == 0 && memcmp(s->scratch, s->scratch + 1, s->size - 1) == 0;
    memset(s->scratch, DIRT, s->size);
    memcpy(s->block, s->scratch, s->size);
    s->count++;
}

static void clear_each(void *fixture, uint64_t iterations)
{
    store *s = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_bench_keep(s->block);
        memset(s->block, 0, s->size);
        gyre_bench_keep(s->block);
        s->right += s->block[i % MIB] == 0;
    }
}

/* After every run it was clear. */
static bool all_were_cleared(const void *fixture, uint64_t iterations)
{
    const store *s = fixture;

    return s->right == iterations && s->verified == s->count && s->block[0] == 0 &&
           memcmp(s->block, s->block + 1, s->size - 1) == 0;
}

static void tell_hits(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const store *s = fixture;
    gyre_pool_statistics pool = {.struct_size = sizeof pool};

    (void)iterations;
    if (gyre_pool_describe(s->pool, &pool) == GYRE_OK && pool.takes > 0)
        gyre_bench_count(facts, "hit_rate", (double)pool.hits / (double)pool.takes);
}

static uint64_t one_kib(const gyre_bench_case *c)
{
    (void)c;
    return KIB;
}

static uint64_t one_mib(const gyre_bench_case *c)
{
    (void)c;
    return MIB;
}

#define ALLOCATED(set_up)                                                                          \
    .t0 = "before the allocation", .t1 = "after it",                                               \
    .observer = "the same thread, which marks them all, finds the marks and deallocates between "  \
                "the timed runs",                                                                  \
    .setup = set_up, .run = allocate_each, .check = all_were_buffers, .teardown = store_teardown,  \
    .tell = tell_hits, .prepare = put_back, .batch = GYRE_BATCH_LARGE

static const gyre_bench benches[] = {
    {.name = "memory_pool/allocate_1kb", ALLOCATED(setup_1kb)},
    {.name = "memory_pool/allocate_1mb", ALLOCATED(setup_1mb)},
    {.name = "memory_pool/allocate_1mb_zeroed", .bytes = one_mib, ALLOCATED(setup_1mb_zeroed)},
    {
        .name = "memory_pool/deallocate_1kb",
        .t0 = "before the deallocation",
        .t1 = "after it",
        .observer = "the same thread, which had marked them all; at the end there are none",
        .setup = setup_1kb,
        .run = deallocate_each,
        .check = all_are_gone,
        .teardown = store_teardown,
        .tell = tell_hits,
        .prepare = lay_out,
        .batch = GYRE_BATCH_LARGE,
    },
    {
        .name = "memory_pool/write_1kb",
        .t0 = "before the write",
        .t1 = "after it",
        .observer = "the same thread, which reads the last ones back and compares every byte",
        .setup = setup_patterns,
        .run = write_each,
        .check = all_were_written,
        .teardown = store_teardown,
        .bytes = one_kib,
    },
    {
        .name = "memory_pool/read_1kb",
        .t0 = "before the read",
        .t1 = "after a look at the first and the last byte",
        .observer = "the same thread, which compares them, and every byte of the last",
        .setup = setup_patterns,
        .run = read_each,
        .check = all_were_read,
        .teardown = store_teardown,
        .bytes = one_kib,
    },
    {
        .name = "memory_pool/alloc_dealloc_cycle",
        .t0 = "before the allocation of 1 KB",
        .t1 = "after the deallocation of the same",
        .observer = "the same thread, which compares the id with the one before",
        .setup = setup_1kb,
        .run = cycle,
        .check = all_cycles_were_right,
        .teardown = store_teardown,
        .tell = tell_hits,
    },
    {
        .name = "memory_pool/floor_copy_1kb",
        .t0 = "before a memcpy of 1 KB",
        .t1 = "after a look at the first byte",
        .observer = "the same thread, which compares it, and every byte of the last",
        .setup = setup_patterns,
        .run = copy_each,
        .check = all_were_read,
        .teardown = store_teardown,
        .bytes = one_kib,
    },
    {
        .name = "memory_pool/floor_clear_1mb",
        .t0 = "before a memset of 1 MB",
        .t1 = "after it",
        .observer = "the same thread, which looks at all of it between the timed runs, and makes "
                    "it dirty",
        .setup = setup_1mb,
        .run = clear_each,
        .check = all_were_cleared,
        .teardown = store_teardown,
        .bytes = one_mib,
        .prepare = make_dirty,
        .batch = GYRE_BATCH_LARGE,
    },
};

const gyre_suite gyre_suite_buffers = GYRE_SUITE("buffers", benches);
