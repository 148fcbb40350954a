/* SPDX-License-Identifier: Apache-2.0
 *
 * Pools over a context's memory: a block that a stream still uses is handed out to nobody but those
 * who are ordered behind.
 */
#include "conformance.h"

#include "gyre/pool.h"

enum { N = 1024, BYTES = N * 4 };

static gyre_pool *pool_new(gyre_context *context, gyre_context_memory_kind kind)
{
    const gyre_pool_options options = {.struct_size = sizeof options,
                                       .source = gyre_context_memory(context, kind)};
    gyre_pool *pool;

    return ok(gyre_pool_create(&options, &pool)) ? pool : NULL;
}

static const uint64_t *timeline_of(gyre_stream *stream)
{
    return gyre_stream_ticket(stream).completed;
}

static bool all_are(const uint32_t *words, uint32_t value)
{
    for (size_t i = 0; i < N; i++)
        if (words[i] != value)
            return false;
    return true;
}

/* Whether `block` is among the next few that the pool hands out. All are given back. */
static bool handed_out(gyre_pool *pool, const void *block, const uint64_t *timeline)
{
    enum { TAKES = 40 };
    void *blocks[TAKES];
    bool found = false;

    for (int i = 0; i < TAKES; i++) {
        CHECK(ok(timeline ? gyre_pool_take_ordered(pool, BYTES, 64, timeline, &blocks[i])
                          : gyre_pool_take(pool, BYTES, &blocks[i])));
        found = found || blocks[i] == block;
    }
    for (int i = TAKES; i-- > 0;)
        gyre_pool_give(pool, blocks[i], BYTES);
    return found;
}

static void blocks_are_usable_memory(void)
{
    gyre_stream *const stream = stream_new();
    uint32_t host[N];

    REQUIRE(stream && kernel_of(KERNEL_STEP));
    for (int kind = 0; kind < 2; kind++) {
        gyre_pool *const pool = pool_new(on.context, (gyre_context_memory_kind)kind);
        uint32_t *blocks[20];

        REQUIRE(pool);
        for (uint32_t i = 0; i < 20; i++) {
            REQUIRE(ok(gyre_pool_take(pool, BYTES, (void **)&blocks[i])));
            for (uint32_t n = 0; n < N; n++)
                host[n] = i;
            CHECK(put(stream, blocks[i], host, BYTES));
        }
        for (uint32_t i = 0; i < 20; i++) {
            CHECK(put(stream, host, blocks[i], BYTES));
            CHECK(all_are(host, i));
            gyre_pool_give(pool, blocks[i], BYTES);
        }
        gyre_pool_destroy(pool);
    }
    gyre_stream_destroy(stream);
}

static void a_block_waits_for_its_ticket(void)
{
    gyre_stream *const stream = stream_new(), *const other = stream_new();
    gyre_pool *const pool = pool_new(on.context, GYRE_CONTEXT_DEVICE);
    uint32_t *block, host[N];
    gate held;

    if (!gates_exist()) {
        gyre_pool_destroy(pool);
        gyre_stream_destroy(stream);
        gyre_stream_destroy(other);
        SKIP("kernels of this device cannot be held up");
    }
    REQUIRE(stream && other && pool && gate_init(&held, on.context) && kernel_of(KERNEL_GATE));
    REQUIRE(ok(gyre_pool_take(pool, BYTES, (void **)&block)));
    CHECK(ok(gate_submit(&held, stream, kernel_of(KERNEL_GATE))));
    CHECK(ok(step(stream, (step_parameters){block, N, 0, 5, 0})));
    CHECK(ok(gyre_pool_give_after(pool, block, BYTES, 64, gyre_stream_ticket(stream))));
    CHECK(!handed_out(pool, block, NULL));
    CHECK(!handed_out(pool, block, timeline_of(other)));
    CHECK(gyre_stream_poll(stream) == GYRE_AGAIN);
    { /* for the same stream it is free at once, and what that does comes behind */
        void *again;

        CHECK(ok(gyre_pool_take_ordered(pool, BYTES, 64, timeline_of(stream), &again)));
        CHECK(again == block);
        CHECK(ok(step(stream, (step_parameters){again, N, 10, 1, 0})));
        gate_open(&held);
        CHECK(put(stream, host, again, BYTES));
        CHECK(all_are(host, 51));
        CHECK(ok(gyre_pool_give_after(pool, again, BYTES, 64, gyre_stream_ticket(stream))));
    }
    CHECK(ok(gyre_stream_sync(stream)));
    CHECK(handed_out(pool, block, NULL)); /* nothing is lost either */
    gyre_pool_destroy(pool);
    gate_fini(&held);
    gyre_stream_destroy(stream);
    gyre_stream_destroy(other);
}

static void a_copy_to_the_host_keeps_its_pinned_block(void)
{
    gyre_stream *const stream = stream_new();
    gyre_pool *const pool = pool_new(on.context, GYRE_CONTEXT_PINNED);
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, BYTES);
    uint32_t *mine[8];

    REQUIRE(stream && pool && data && kernel_of(KERNEL_STEP));
    for (uint32_t round = 0; round < 30; round++) {
        uint32_t *block;

        REQUIRE(ok(gyre_pool_take(pool, BYTES, (void **)&block)));
        CHECK(ok(step(stream, (step_parameters){data, N, 0, round, 100000})));
        CHECK(ok(gyre_stream_copy(stream, block, data, BYTES)));
        CHECK(ok(gyre_pool_give_after(pool, block, BYTES, 64, gyre_stream_ticket(stream))));
        for (uint32_t i = 0; i < 8; i++) { /* the host writes what it is given */
            REQUIRE(ok(gyre_pool_take(pool, BYTES, (void **)&mine[i])));
            for (uint32_t n = 0; n < N; n++)
                mine[i][n] = 1000 + i;
        }
        CHECK(ok(gyre_stream_sync(stream)));
        for (uint32_t i = 0; i < 8; i++) {
            CHECK(all_are(mine[i], 1000 + i));
            gyre_pool_give(pool, mine[i], BYTES);
        }
    }
    gyre_pool_destroy(pool);
    give(GYRE_CONTEXT_DEVICE, data, BYTES);
    gyre_stream_destroy(stream);
}

enum { ARMS = 4, ROUNDS = 80 };

static gyre_pool *shared_pool;

/* One stream's work with blocks of a pool that others use: each is set, changed and copied out, and
 * would tell if anybody else had it in between. */
static void use_blocks(size_t number)
{
    gyre_stream *const stream = stream_new();
    uint32_t *const out = take(GYRE_CONTEXT_PINNED, (size_t)ROUNDS * 64);
    uint64_t state = chance_seed() + number;

    CHECK(stream && out);
    for (uint32_t i = 0; stream && out && i < ROUNDS; i++) {
        const uint32_t tag = (uint32_t)number * 100000 + i * 10;
        const bool plain = chance_below(&state, 4) == 0;
        const uint32_t spin = (uint32_t)chance_below(&state, 20000);
        uint32_t *block;

        CHECK(ok(plain ? gyre_pool_take(shared_pool, BYTES, (void **)&block)
                       : gyre_pool_take_ordered(shared_pool, BYTES, 64, timeline_of(stream),
                                                (void **)&block)));
        CHECK(ok(step(stream, (step_parameters){block, N, 0, tag, spin})));
        CHECK(ok(step(stream, (step_parameters){block, N, 1, 7, 0})));
        CHECK(ok(gyre_stream_copy(stream, out + (size_t)i * 16, block + N - 16, 64)));
        if (plain && chance_below(&state, 2) == 0) {
            CHECK(ok(gyre_stream_sync(stream)));
            gyre_pool_give(shared_pool, block, BYTES);
        } else {
            CHECK(ok(
                gyre_pool_give_after(shared_pool, block, BYTES, 64, gyre_stream_ticket(stream))));
        }
    }
    CHECK(ok(gyre_stream_sync(stream)));
    for (uint32_t i = 0; out && i < ROUNDS; i++)
        for (int n = 0; n < 16; n++)
            if (out[i * 16 + n] != (uint32_t)number * 100000 + i * 10 + 7) {
                CHECK(!"a block that nobody else wrote");
                fprintf(stderr, "thread %zu, round %u: %u\n", number, i, out[i * 16 + n]);
                n = 16;
            }
    give(GYRE_CONTEXT_PINNED, out, (size_t)ROUNDS * 64);
    gyre_stream_destroy(stream);
}

static void streams_of_many_threads_share_a_pool(void)
{
    gyre_pool_statistics statistics = {.struct_size = sizeof statistics};

    shared_pool = pool_new(on.context, GYRE_CONTEXT_DEVICE);
    REQUIRE(shared_pool && kernel_of(KERNEL_STEP));
    if (under_sanitizer()) /* whose racecheck hangs when several threads are in cuStreamQuery */
        for (size_t i = 0; i < ARMS; i++)
            use_blocks(i);
    else
        CHECK(together(ARMS, use_blocks));
    CHECK(ok(gyre_pool_describe(shared_pool, &statistics)));
    CHECK(statistics.blocks_out == 0 && statistics.takes == (uint64_t)ARMS * ROUNDS);
    CHECK(statistics.misses < statistics.takes / 2); /* they are used again */
    gyre_pool_destroy(shared_pool);
}

static void a_ticket_outlives_its_stream(void)
{
    gyre_stream *const stream = stream_new();
    gyre_pool *const pool = pool_new(on.context, GYRE_CONTEXT_DEVICE);
    uint32_t *block;

    REQUIRE(stream && pool && kernel_of(KERNEL_STEP));
    REQUIRE(ok(gyre_pool_take(pool, BYTES, (void **)&block)));
    CHECK(ok(step(stream, (step_parameters){block, N, 0, 5, 50000})));
    CHECK(ok(gyre_pool_give_after(pool, block, BYTES, 64, gyre_stream_ticket(stream))));
    gyre_stream_destroy(stream);
    CHECK(handed_out(pool, block, NULL));
    gyre_pool_destroy(pool);
}

/* What a stream did not do before it was destroyed with a lost context is never through. */
static void a_lost_stream_keeps_its_blocks(void)
{
    const gyre_context_options options = {.struct_size = sizeof options,
                                          .faults = "hang@1",
                                          .sync_timeout_ns = 20 * MS,
                                          .strikes = 1};
    const gyre_launch launch = {.grid = {1}};
    gyre_context *context;
    gyre_kernel *kernel;
    gyre_stream *stream;
    gyre_pool *pool;
    void *block, *others[20] = {NULL};

    if (!gyre_device_has(on.device, GYRE_FEATURE_FAULTS))
        SKIP("this device does not fail when it is told to");
    REQUIRE(ok(gyre_context_create(on.device, &options, &context)) &&
            ok(gyre_stream_create(context, NULL, &stream)));
    kernel = kernel_in(context, KERNEL_NOTHING);
    pool = pool_new(context, GYRE_CONTEXT_DEVICE);
    REQUIRE(kernel && pool && ok(gyre_pool_take(pool, BYTES, &block)));
    CHECK(ok(gyre_stream_launch(stream, kernel, &launch)));
    CHECK(ok(gyre_pool_give_after(pool, block, BYTES, 64, gyre_stream_ticket(stream))));
    CHECK(gyre_stream_sync(stream) == GYRE_DEVICE_LOST);
    gyre_stream_destroy(stream);
    for (int i = 0; i < 20; i++) /* a lost source may have no more */
        if (gyre_pool_take(pool, BYTES, &others[i]) == GYRE_OK)
            CHECK(others[i] != block);
    for (int i = 0; i < 20; i++)
        gyre_pool_give(pool, others[i], BYTES);
    gyre_pool_destroy(pool);
    gyre_kernel_release(kernel);
    gyre_context_destroy(context);
}

static void trimming_gives_back_what_is_through(void)
{
    gyre_stream *const stream = stream_new();
    gyre_pool *const pool = pool_new(on.context, GYRE_CONTEXT_DEVICE);
    gyre_pool_statistics statistics = {.struct_size = sizeof statistics};
    uint32_t *blocks[30];

    REQUIRE(stream && pool && kernel_of(KERNEL_STEP));
    for (int i = 0; i < 30; i++) {
        REQUIRE(ok(gyre_pool_take(pool, BYTES, (void **)&blocks[i])));
        CHECK(ok(step(stream, (step_parameters){blocks[i], N, 0, 5, 5000})));
        CHECK(ok(gyre_pool_give_after(pool, blocks[i], BYTES, 64, gyre_stream_ticket(stream))));
    }
    gyre_pool_trim(pool); /* whatever it finds */
    CHECK(ok(gyre_stream_sync(stream)));
    CHECK(ok(gyre_pool_describe(pool, &statistics)) && statistics.blocks_out == 0);
    gyre_pool_trim(pool);
    CHECK(ok(gyre_pool_describe(pool, &statistics)));
    CHECK(statistics.bytes_waiting == 0 && statistics.bytes_drawn == 0);
    gyre_pool_destroy(pool);
    gyre_stream_destroy(stream);
}

static const test_case cases[] = {
    TEST(blocks_are_usable_memory),
    TEST(a_block_waits_for_its_ticket),
    TEST(a_copy_to_the_host_keeps_its_pinned_block),
    TEST(streams_of_many_threads_share_a_pool),
    TEST(a_ticket_outlives_its_stream),
    TEST(a_lost_stream_keeps_its_blocks),
    TEST(trimming_gives_back_what_is_through),
};
CONFORMANCE_MAIN(cases)
