/* SPDX-License-Identifier: Apache-2.0
 *
 * Order: within a stream, across streams by events, and what tickets promise.
 */
#include "conformance.h"

#include "gyre/clock.h"

enum { N = 256, BYTES = N * 4 };

static uint32_t spin_random(uint64_t *state)
{
    return chance_below(state, 4) == 0 ? (uint32_t)chance_below(state, 50000) : 0;
}

static bool all_are(const uint32_t *words, uint32_t value)
{
    for (size_t i = 0; i < N; i++)
        if (words[i] != value)
            return false;
    return true;
}

static void a_chain_of_kernels_runs_in_order(void)
{
    gyre_stream *const stream = stream_new();
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, BYTES);
    uint64_t seed = chance_seed(), state = seed;
    uint32_t host[N] = {0}, want = 0;

    REQUIRE(stream && data && kernel_of(KERNEL_STEP));
    CHECK(put(stream, data, host, BYTES));
    for (int i = 0; i < 200; i++) {
        const uint32_t multiply = (uint32_t)chance_next(&state) | 1;
        const uint32_t add = (uint32_t)chance_next(&state);

        CHECK(ok(step(stream, (step_parameters){data, N, multiply, add, spin_random(&state)})));
        want = want * multiply + add;
    }
    CHECK(put(stream, host, data, BYTES));
    if (!all_are(host, want)) {
        CHECK(!"the sum of a chain");
        fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
    }
    give(GYRE_CONTEXT_DEVICE, data, BYTES);
    gyre_stream_destroy(stream);
}

/* Two areas of the device, what should be in them, and something random done to both. */
typedef struct areas {
    uint32_t *at[2];
    uint32_t want[2][N];
    uint32_t *pinned;
} areas;

static gyre_status areas_work(areas *a, gyre_stream *stream, uint64_t *state)
{
    const uint32_t which = (uint32_t)chance_below(state, 2);
    const uint32_t from = (uint32_t)chance_below(state, N), count = N - from;
    uint32_t *const at = a->at[which], *const want = a->want[which];
    const uint32_t value = (uint32_t)chance_next(state);
    gyre_fill fill = {.to = at + from, .pattern_size = 4, .count = count};

    switch (chance_below(state, 4)) {
    case 0:
        for (uint32_t i = 0; i < N; i++)
            want[i] = want[i] * value + 3;
        return step(stream, (step_parameters){at, N, value, 3, spin_random(state)});
    case 1:
        memcpy(want + from, a->want[1 - which] + from, (size_t)count * 4);
        return gyre_stream_copy(stream, at + from, a->at[1 - which] + from, (size_t)count * 4);
    case 2:
        memcpy(fill.pattern, &value, 4);
        for (uint32_t i = from; i < N; i++)
            want[i] = value;
        return gyre_stream_fill(stream, &fill);
    default: /* through pinned memory, which is not read by the host before the end */
        memcpy(want + from, a->want[1 - which] + from, (size_t)count * 4);
        if (gyre_stream_copy(stream, a->pinned, a->at[1 - which] + from, (size_t)count * 4) !=
            GYRE_OK)
            return GYRE_INTERNAL;
        return gyre_stream_copy(stream, at + from, a->pinned, (size_t)count * 4);
    }
}

static void kernels_copies_and_fills_keep_their_order(void)
{
    gyre_stream *const stream = stream_new();
    uint64_t seed = chance_seed(), state = seed;
    static areas a;
    uint32_t back[N];

    REQUIRE(stream && kernel_of(KERNEL_STEP));
    a.pinned = take(GYRE_CONTEXT_PINNED, BYTES);
    REQUIRE(a.pinned);
    for (int i = 0; i < 2; i++) {
        a.at[i] = take(GYRE_CONTEXT_DEVICE, BYTES);
        REQUIRE(a.at[i]);
        fill_random(&state, a.want[i], BYTES);
        CHECK(put(stream, a.at[i], a.want[i], BYTES));
    }
    for (int i = 0; i < 300; i++)
        CHECK(ok(areas_work(&a, stream, &state)));
    for (int i = 0; i < 2; i++) {
        CHECK(put(stream, back, a.at[i], BYTES));
        if (memcmp(back, a.want[i], BYTES) != 0) {
            CHECK(!"what a mix of submissions leaves");
            fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        }
        give(GYRE_CONTEXT_DEVICE, a.at[i], BYTES);
    }
    give(GYRE_CONTEXT_PINNED, a.pinned, BYTES);
    gyre_stream_destroy(stream);
}

static void events_order_two_streams(void)
{
    gyre_stream *const streams[2] = {stream_new(), stream_new()};
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, BYTES);
    uint64_t seed = chance_seed(), state = seed;
    uint32_t host[N] = {0}, want = 0;
    gyre_event *event;

    REQUIRE(streams[0] && streams[1] && data && kernel_of(KERNEL_STEP));
    REQUIRE(ok(gyre_event_create(on.context, GYRE_EVENT_ORDER, &event)));
    CHECK(put(streams[0], data, host, BYTES));
    for (uint32_t i = 0; i < 60; i++) { /* one after the other, by an event that is used again */
        gyre_stream *const stream = streams[i & 1];
        const uint32_t multiply = (uint32_t)chance_next(&state) | 1;

        CHECK(ok(step(stream, (step_parameters){data, N, multiply, i, spin_random(&state)})));
        CHECK(ok(gyre_event_record(event, stream)));
        CHECK(ok(gyre_stream_wait_event(streams[1 - (i & 1)], event)));
        want = want * multiply + i;
    }
    CHECK(put(streams[0], host, data, BYTES));
    if (!all_are(host, want)) {
        CHECK(!"what two streams leave that wait for each other");
        fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
    }
    CHECK(ok(gyre_stream_sync(streams[1])));
    gyre_event_destroy(event);
    give(GYRE_CONTEXT_DEVICE, data, BYTES);
    gyre_stream_destroy(streams[0]);
    gyre_stream_destroy(streams[1]);
}

static void a_stream_can_wait_for_many(void)
{
    enum { ARMS = 4 };
    gyre_stream *const root = stream_new();
    gyre_stream *arms[ARMS];
    gyre_event *forked, *joined[ARMS];
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, (size_t)ARMS * BYTES);
    uint32_t host[ARMS * N];

    REQUIRE(root && data && kernel_of(KERNEL_STEP));
    REQUIRE(ok(gyre_event_create(on.context, GYRE_EVENT_ORDER, &forked)));
    for (uint32_t a = 0; a < ARMS; a++)
        REQUIRE((arms[a] = stream_new()) &&
                ok(gyre_event_create(on.context, GYRE_EVENT_ORDER, &joined[a])));
    for (uint32_t round = 0; round < 10; round++) {
        CHECK(ok(step(root, (step_parameters){data, ARMS * N, 0, round, 30000})));
        CHECK(ok(gyre_event_record(forked, root)));
        for (uint32_t a = 0; a < ARMS; a++) {
            CHECK(ok(gyre_stream_wait_event(arms[a], forked)));
            CHECK(ok(step(arms[a], (step_parameters){data + (size_t)a * N, N, 10, a, a * 20000})));
            CHECK(ok(gyre_event_record(joined[a], arms[a])));
            CHECK(ok(gyre_stream_wait_event(root, joined[a])));
        }
        CHECK(put(root, host, data, sizeof host));
        for (uint32_t a = 0; a < ARMS; a++)
            CHECK(all_are(host + (size_t)a * N, round * 10 + a));
    }
    for (uint32_t a = 0; a < ARMS; a++) {
        gyre_stream_destroy(arms[a]);
        gyre_event_destroy(joined[a]);
    }
    gyre_event_destroy(forked);
    give(GYRE_CONTEXT_DEVICE, data, (size_t)ARMS * BYTES);
    gyre_stream_destroy(root);
}

/* Random work on random streams: who reads or writes an area waits for all that used it before. */
static void any_web_of_events_keeps_its_order(void)
{
    enum { STREAMS = 4, AREAS = 3, STEPS = 150 };
    gyre_stream *streams[STREAMS];
    gyre_event *last[AREAS]; /* the end of the last work on an area */
    uint32_t *at[AREAS], want[AREAS] = {0}, host[N] = {0};
    uint64_t seed = chance_seed(), state = seed;

    REQUIRE(kernel_of(KERNEL_STEP));
    for (int i = 0; i < STREAMS; i++)
        REQUIRE((streams[i] = stream_new()));
    for (int i = 0; i < AREAS; i++) {
        REQUIRE((at[i] = take(GYRE_CONTEXT_DEVICE, BYTES)) &&
                ok(gyre_event_create(on.context, GYRE_EVENT_ORDER, &last[i])));
        CHECK(put(streams[0], at[i], host, BYTES) && ok(gyre_event_record(last[i], streams[0])));
    }
    for (uint32_t i = 0; i < STEPS; i++) {
        gyre_stream *const stream = streams[chance_below(&state, STREAMS)];
        const size_t to = chance_below(&state, AREAS), from = chance_below(&state, AREAS);

        CHECK(ok(gyre_stream_wait_event(stream, last[to])));
        if (from != to) {
            CHECK(ok(gyre_stream_wait_event(stream, last[from])));
            CHECK(ok(gyre_stream_copy(stream, at[to], at[from], BYTES)));
            want[to] = want[from];
        }
        CHECK(ok(step(stream, (step_parameters){at[to], N, 5, i, spin_random(&state)})));
        want[to] = want[to] * 5 + i;
        CHECK(ok(gyre_event_record(last[to], stream)) && ok(gyre_event_record(last[from], stream)));
    }
    for (int i = 0; i < STREAMS; i++)
        CHECK(ok(gyre_stream_sync(streams[i])));
    for (int i = 0; i < AREAS; i++) {
        CHECK(put(streams[i], host, at[i], BYTES));
        if (!all_are(host, want[i])) {
            CHECK(!"what a web of events leaves");
            fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        }
        gyre_event_destroy(last[i]);
        give(GYRE_CONTEXT_DEVICE, at[i], BYTES);
    }
    for (int i = 0; i < STREAMS; i++)
        gyre_stream_destroy(streams[i]);
}

static void any_number_may_be_pending(void)
{
    const gyre_stream_options options = {.struct_size = sizeof options, .pending_most = UINT32_MAX};
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, BYTES);
    uint32_t host[N] = {0};
    gyre_stream *stream;

    REQUIRE(data && kernel_of(KERNEL_STEP) &&
            ok(gyre_stream_create(on.context, &options, &stream)));
    CHECK(put(stream, data, host, BYTES));
    for (uint32_t i = 0; i < 3000; i++)
        CHECK(ok(step(stream, (step_parameters){data, N, 1, i, 0})));
    CHECK(put(stream, host, data, BYTES));
    CHECK(all_are(host, 2999 * 1500));
    give(GYRE_CONTEXT_DEVICE, data, BYTES);
    gyre_stream_destroy(stream);
}

static void tickets_count_submissions(void)
{
    gyre_stream *const stream = stream_new();
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, BYTES);
    gyre_stream_statistics statistics = {.struct_size = sizeof statistics};
    uint64_t last = 0, first;

    REQUIRE(stream && data);
    first = ticket(stream);
    CHECK(submitted(stream) == 0 && completed(stream) == first);
    for (uint64_t i = 1; i <= 40; i++) {
        CHECK(ok(step(stream, (step_parameters){data, N, 1, 1, 0})));
        CHECK(ticket(stream) == first + i);
        CHECK(ok(gyre_stream_describe(stream, &statistics)));
        CHECK(statistics.submitted == i && statistics.completed <= i &&
              statistics.completed >= last);
        last = statistics.completed;
    }
    CHECK(ok(gyre_stream_sync(stream)));
    CHECK(ok(gyre_stream_describe(stream, &statistics)));
    CHECK(statistics.completed == 40 && statistics.submitted == 40 && statistics.oldest_ns == 0);
    CHECK(statistics.timeouts == 0 && statistics.strikes == 0);
    CHECK(completed(stream) == first + 40);
    give(GYRE_CONTEXT_DEVICE, data, BYTES);
    gyre_stream_destroy(stream);
}

static void what_a_ticket_wrote_is_seen_when_it_is_through(void)
{
    gyre_stream *const stream = stream_new();
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, BYTES);
    uint32_t *const pinned = take(GYRE_CONTEXT_PINNED, BYTES);

    REQUIRE(stream && data && pinned);
    for (uint32_t i = 0; i < 50; i++) {
        uint64_t value;

        CHECK(ok(step(stream, (step_parameters){data, N, 0, i, i * 300})));
        CHECK(ok(gyre_stream_copy(stream, pinned, data, BYTES)));
        value = ticket(stream);
        CHECK(ok(step(stream, (step_parameters){data, N, 0, 77, 0})));
        CHECK(ok(gyre_stream_wait(stream, value, gyre_clock_after_ns(2000 * MS))));
        CHECK(completed(stream) >= value);
        CHECK(all_are(pinned, i));
    }
    CHECK(ok(gyre_stream_sync(stream)));
    give(GYRE_CONTEXT_DEVICE, data, BYTES);
    give(GYRE_CONTEXT_PINNED, pinned, BYTES);
    gyre_stream_destroy(stream);
}

static void polling_moves_the_timeline(void)
{
    gyre_stream *const stream = stream_new();
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, BYTES);
    const uint64_t deadline = gyre_clock_after_ns(10000 * MS);
    gyre_status status;
    uint64_t last, first;

    REQUIRE(stream && data);
    CHECK(gyre_stream_poll(stream) == GYRE_OK);
    last = first = ticket(stream);
    for (uint32_t i = 0; i < 10; i++)
        CHECK(ok(step(stream, (step_parameters){data, N, 1, 1, 20000})));
    do {
        uint64_t now;

        status = gyre_stream_poll(stream);
        now = completed(stream);
        CHECK(status == GYRE_OK || status == GYRE_AGAIN);
        CHECK(now >= last && now <= first + 10);
        last = now;
    } while (status == GYRE_AGAIN && gyre_clock_now_ns() < deadline);
    CHECK(status == GYRE_OK && last == first + 10);
    give(GYRE_CONTEXT_DEVICE, data, BYTES);
    gyre_stream_destroy(stream);
}

static void a_wait_ends_with_its_own_ticket(void)
{
    const gyre_stream_options exact = {.struct_size = sizeof exact, .pending_most = 2};
    gyre_stream *stream = NULL;
    uint32_t *const pinned = take(GYRE_CONTEXT_PINNED, BYTES);
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, BYTES);
    uint64_t first;
    gate held;

    REQUIRE(ok(gyre_stream_create(on.context, &exact, &stream)));
    if (!gates_exist()) {
        give(GYRE_CONTEXT_PINNED, pinned, BYTES);
        give(GYRE_CONTEXT_DEVICE, data, BYTES);
        gyre_stream_destroy(stream);
        SKIP("kernels of this device cannot be held up");
    }
    REQUIRE(stream && data && pinned && gate_init(&held, on.context));
    CHECK(ok(step(stream, (step_parameters){data, N, 0, 5, 1000})));
    CHECK(ok(gyre_stream_copy(stream, pinned, data, BYTES)));
    first = ticket(stream);
    CHECK(ok(gate_submit(&held, stream, kernel_of(KERNEL_GATE))));
    CHECK(ok(gyre_stream_wait(stream, first, gyre_clock_after_ns(1500 * MS))));
    CHECK(all_are(pinned, 5));
    CHECK(gyre_stream_poll(stream) == GYRE_AGAIN);
    CHECK(gyre_stream_wait(stream, first + 1, gyre_clock_after_ns(5 * MS)) == GYRE_TIMEOUT);
    CHECK(gyre_stream_wait(stream, 0, gyre_clock_after_ns(5 * MS)) == GYRE_OK);
    gate_open(&held);
    CHECK(ok(gyre_stream_sync(stream)));
    gate_fini(&held);
    give(GYRE_CONTEXT_PINNED, pinned, BYTES);
    give(GYRE_CONTEXT_DEVICE, data, BYTES);
    gyre_stream_destroy(stream);
}

static void a_wait_never_ends_before_its_deadline_in_vain(void)
{
    gyre_stream *const stream = stream_new();
    gyre_stream_statistics statistics = {.struct_size = sizeof statistics};
    uint64_t start;
    gate held;

    if (!gates_exist()) {
        gyre_stream_destroy(stream);
        SKIP("kernels of this device cannot be held up");
    }
    REQUIRE(stream && gate_init(&held, on.context));
    CHECK(ok(gate_submit(&held, stream, kernel_of(KERNEL_GATE))));
    start = gyre_clock_now_ns();
    CHECK(gyre_stream_wait(stream, ticket(stream), gyre_clock_after_ns(30 * MS)) == GYRE_TIMEOUT);
    CHECK(gyre_clock_now_ns() - start >= 30 * MS);
    CHECK(ok(gyre_stream_describe(stream, &statistics)));
    CHECK(statistics.oldest_ns >= 30 * MS);
    /* shorter than the context's own: no strike */
    CHECK(statistics.strikes == 0);
    gate_open(&held);
    CHECK(ok(gyre_stream_sync(stream)));
    gate_fini(&held);
    gyre_stream_destroy(stream);
}

static const test_case cases[] = {
    TEST(a_chain_of_kernels_runs_in_order),
    TEST(kernels_copies_and_fills_keep_their_order),
    TEST(events_order_two_streams),
    TEST(a_stream_can_wait_for_many),
    TEST(any_web_of_events_keeps_its_order),
    TEST(any_number_may_be_pending),
    TEST(tickets_count_submissions),
    TEST(what_a_ticket_wrote_is_seen_when_it_is_through),
    TEST(polling_moves_the_timeline),
    TEST(a_wait_ends_with_its_own_ticket),
    TEST(a_wait_never_ends_before_its_deadline_in_vain),
};
CONFORMANCE_MAIN(cases)
