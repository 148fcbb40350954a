/* SPDX-License-Identifier: Apache-2.0
 *
 * memory_pressure: a pool over a device's memory that has met its limit of 64 MiB, and a device
 * whose memory has run out.
 *
 * In every iteration a take is refused; what is out stays the caller's and is the device's to
 * write. A source that has nothing is the null device, told so.
 *
 * Threads   one.
 * Owns      a fixture per case.
 * Not here  blocks without pressure (suites/device_memory.c).
 */
#include <stdlib.h>

#include "gyre/pool.h"
#include "suites/device_clock.h"
#include "suites/suites.h"

enum {
    BLOCK = 4096,
    ALIGNMENT = 256,
    PIECE = 1 << 20,
    LIMIT = 64 << 20,
    MOST_HELD = 128,
    LEAST_HELD = 48, /* of 64: a pool draws a little more than its blocks */
};

typedef struct pressed {
    gyre_bench_device device;
    const gyre_memory *memory;
    gyre_pool *pool; /* NULL: direct */
    uint64_t right;
    void *held[MOST_HELD];
    size_t held_count;
} pressed;

static void give_held(pressed *b, size_t size)
{
    while (b->held_count > 0)
        gyre_pool_give(b->pool, b->held[--b->held_count], size);
}

static void pressed_teardown(void *fixture)
{
    pressed *b = fixture;

    if (b->pool)
        give_held(b, PIECE);
    gyre_pool_destroy(b->pool);
    gyre_bench_device_close(&b->device);
    free(b);
}

static gyre_status furnish(pressed *b, bool pooled, const char *backend, const char *faults)
{
    const gyre_context_options context = {.struct_size = sizeof context, .faults = faults};
    gyre_pool_options pool = {
        .struct_size = sizeof pool, .limit_bytes = LIMIT, .track = GYRE_POOL_TRACK_OFF};
    const gyre_status status =
        gyre_bench_device_open_on(&b->device, backend, faults ? &context : NULL);

    if (status != GYRE_OK)
        return status;
    b->memory = gyre_context_memory(b->device.context, GYRE_CONTEXT_DEVICE);
    pool.source = b->memory;
    return pooled ? gyre_pool_create(&pool, &b->pool) : GYRE_OK;
}

static gyre_status pressed_setup(bool pooled, const char *backend, const char *faults,
                                 void **out_fixture)
{
    pressed *b = calloc(1, sizeof *b);
    gyre_status status;

    *out_fixture = NULL;
    if (!b)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    status = furnish(b, pooled, backend, faults);
    if (status != GYRE_OK) {
        pressed_teardown(b); /* accepts a half-built one */
        return status;
    }
    *out_fixture = b;
    return GYRE_OK;
}

static gyre_status setup_limited(const gyre_bench_case *c, void **out_fixture)
{
    return pressed_setup(true, gyre_bench_device_word(c), NULL, out_fixture);
}

/* Takes blocks until the pool refuses one; whether it was the limit that refused. */
static bool fill_up(pressed *b, size_t size)
{
    gyre_status status = GYRE_OK;
    void *block;

    while (status == GYRE_OK && b->held_count < MOST_HELD) {
        status = gyre_pool_take(b->pool, size, &block);
        if (status == GYRE_OK)
            b->held[b->held_count++] = block;
    }
    return status == GYRE_AGAIN && b->held_count * size >= (size_t)LEAST_HELD * PIECE;
}

static gyre_status setup_full(const gyre_bench_case *c, void **out_fixture)
{
    const gyre_status status = setup_limited(c, out_fixture);
    pressed *b = *out_fixture;

    if (status != GYRE_OK || !b || fill_up(b, PIECE))
        return status;
    pressed_teardown(b);
    *out_fixture = NULL;
    return gyre_bench_refuse(GYRE_NO_MEMORY, "the device has no 64 MiB, or no limit was met");
}

static void fill_and_empty(void *fixture, uint64_t iterations)
{
    pressed *b = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        b->right += fill_up(b, PIECE);
        give_held(b, PIECE);
    }
}

/* What is kept of one size must go back to the source before the other size fits. */
static void fill_with_two_sizes(void *fixture, uint64_t iterations)
{
    pressed *b = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        bool right = fill_up(b, PIECE);

        give_held(b, PIECE);
        right = fill_up(b, (size_t)4 * PIECE) && right;
        give_held(b, (size_t)4 * PIECE);
        b->right += right;
    }
}

static void refused_take(void *fixture, uint64_t iterations)
{
    pressed *b = fixture;
    void *block;

    for (uint64_t i = 0; i < iterations; i++)
        b->right += gyre_pool_take(b->pool, PIECE, &block) == GYRE_AGAIN;
}

static void refused_then_given(void *fixture, uint64_t iterations)
{
    pressed *b = fixture;
    void *block;

    for (uint64_t i = 0; i < iterations; i++) {
        bool right = gyre_pool_take(b->pool, PIECE, &block) == GYRE_AGAIN;

        gyre_pool_give(b->pool, b->held[--b->held_count], PIECE);
        if (gyre_pool_take(b->pool, PIECE, &block) != GYRE_OK)
            break; /* the check will miss it */
        b->held[b->held_count++] = block;
        b->right += right;
    }
}

/* All went as it should, the pool kept within its limit, and its blocks are the device's. */
static bool kept_within(const void *fixture, uint64_t iterations)
{
    const pressed *b = fixture;
    gyre_pool_statistics pool = {.struct_size = sizeof pool};
    bool right;
    void *block;

    if (b->right != iterations || gyre_pool_describe(b->pool, &pool) != GYRE_OK ||
        pool.peak_bytes > LIMIT || pool.blocks_out != b->held_count || pool.refusals < iterations)
        return false;
    if (b->held_count > 0)
        return gyre_bench_device_writes(&b->device, b->held[0], PIECE);
    if (gyre_pool_take(b->pool, PIECE, &block) != GYRE_OK)
        return false;
    right = gyre_bench_device_writes(&b->device, block, PIECE);
    gyre_pool_give(b->pool, block, PIECE);
    return right;
}

/* The context has tried both kinds of memory: all takes after those fail. */
static gyre_status setup_failing(const gyre_bench_case *c, bool pooled, void **out_fixture)
{
    (void)c;
    return pressed_setup(pooled, "null", "memory@3..", out_fixture);
}

GYRE_SETUP_WITH(setup_failing_direct, setup_failing, false)
GYRE_SETUP_WITH(setup_failing_pool, setup_failing, true)

static void failing_take(void *fixture, uint64_t iterations)
{
    pressed *b = fixture;
    void *block;

    for (uint64_t i = 0; i < iterations; i++)
        b->right +=
            (b->pool ? gyre_pool_take(b->pool, BLOCK, &block)
                     : b->memory->take(b->memory, BLOCK, ALIGNMENT, &block)) == GYRE_NO_MEMORY;
}

static bool failed_and_lives(const void *fixture, uint64_t iterations)
{
    const pressed *b = fixture;

    return b->right == iterations && gyre_context_check(b->device.context) == GYRE_OK;
}

static void tell_device(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const pressed *b = fixture;

    (void)iterations;
    gyre_bench_device_tell(&b->device, facts);
}

static void tell_pool(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const pressed *b = fixture;
    gyre_pool_statistics pool = {.struct_size = sizeof pool};

    tell_device(fixture, iterations, facts);
    if (gyre_pool_describe(b->pool, &pool) != GYRE_OK)
        return;
    gyre_bench_count(facts, "refusals", (double)pool.refusals);
    gyre_bench_count(facts, "misses", (double)pool.misses);
    gyre_bench_count(facts, "peak_bytes", (double)pool.peak_bytes);
}

#define PRESSED                                                                                    \
    .axes = {GYRE_DEVICE_AXIS_NULL}, .check = kept_within, .tell = tell_pool,                      \
    .observer = "the host, which counts refusals, and has the device write to a block at the end", \
    .tags = GYRE_TAG_CPU | GYRE_TAG_GPU, .teardown = pressed_teardown
#define FAILING                                                                                    \
    .t0 = "before the take", .t1 = "after its return",                                             \
    .observer = "the host, which counts GYRE_NO_MEMORY", .run = failing_take,                      \
    .check = failed_and_lives, .tell = tell_device, .teardown = pressed_teardown

static const gyre_bench benches[] = {
    {
        .name = "memory_pressure/fill_and_empty",
        .t0 = "before the first take of 1 MiB from a pool with a limit of 64",
        .t1 = "after one was refused, and all were given back",
        .setup = setup_limited,
        .run = fill_and_empty,
        PRESSED,
    },
    {
        .name = "memory_pressure/fill_with_two_sizes",
        .t0 = "before a pool of 64 MiB is filled with blocks of 1 MiB, which are given back",
        .t1 = "after it was filled with blocks of 4 MiB, for which the others went to the driver",
        .setup = setup_limited,
        .run = fill_with_two_sizes,
        PRESSED,
    },
    {
        .name = "memory_pressure/refused_take",
        .t0 = "before a take of 1 MiB from a pool whose 64 MiB are out",
        .t1 = "after it was refused",
        .setup = setup_full,
        .run = refused_take,
        PRESSED,
    },
    {
        .name = "memory_pressure/recovery",
        .t0 = "before a take that is refused",
        .t1 = "after another block was given, and a take had one",
        .setup = setup_full,
        .run = refused_then_given,
        PRESSED,
    },
    {
        .name = "memory_pressure/failing_take_direct",
        .setup = setup_failing_direct,
        FAILING,
    },
    {
        .name = "memory_pressure/failing_take_pooled",
        .setup = setup_failing_pool,
        FAILING,
    },
};

const gyre_suite gyre_suite_memory_pressure =
    GYRE_DEVICE_SUITE("memory_pressure", benches, NULL, &gyre_device_guard);
