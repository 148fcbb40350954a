/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads: everything but destroying may be done by any number of them at once.
 */
#include "conformance.h"

#include "gyre/clock.h"
#include "gyre/memory.h"

enum { N = 64, BYTES = N * 4, THREADS = 4, ROUNDS = 60 };

/* What the threads of a case share. */
static gyre_stream *shared;
static uint32_t *shared_data;

static void add_to_shared(size_t number)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const step_parameters p = {shared_data, N, 1, (uint32_t)number + 1, i % 7 * 500};
        const gyre_launch launch = launch_of(1, N, &p, sizeof p);

        CHECK(ok(gyre_stream_launch(shared, on.kernels[KERNEL_STEP], &launch)));
        if (i % 16 == number)
            CHECK(ok(gyre_stream_sync(shared)));
        if (i % 5 == 0) {
            const gyre_status status = gyre_stream_poll(shared);

            CHECK(status == GYRE_OK || status == GYRE_AGAIN);
        }
    }
}

static void threads_share_a_stream(void)
{
    uint32_t host[N] = {0}, want = 0;

    shared = stream_new();
    shared_data = take(GYRE_CONTEXT_DEVICE, BYTES);
    REQUIRE(shared && shared_data && kernel_of(KERNEL_STEP));
    CHECK(put(shared, shared_data, host, BYTES));
    CHECK(together(THREADS, add_to_shared));
    for (uint32_t t = 0; t < THREADS; t++)
        want += (t + 1) * ROUNDS;
    CHECK(submitted(shared) == 1 + THREADS * ROUNDS);
    CHECK(put(shared, host, shared_data, BYTES));
    CHECK(host[0] == want && host[N - 1] == want);
    give(GYRE_CONTEXT_DEVICE, shared_data, BYTES);
    gyre_stream_destroy(shared);
}

static void chain_alone(size_t number)
{
    gyre_stream *const stream = stream_new();
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, BYTES);
    uint32_t host[N] = {0}, want = 0;

    CHECK(stream && data);
    if (!stream || !data)
        return;
    CHECK(put(stream, data, host, BYTES));
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const step_parameters p = {data, N, 3, i + (uint32_t)number, i % 5 * 1000};
        const gyre_launch launch = launch_of(1, N, &p, sizeof p);

        CHECK(ok(gyre_stream_launch(stream, on.kernels[KERNEL_STEP], &launch)));
        want = want * 3 + i + (uint32_t)number;
    }
    CHECK(put(stream, host, data, BYTES));
    CHECK(host[0] == want && host[N - 1] == want);
    give(GYRE_CONTEXT_DEVICE, data, BYTES);
    gyre_stream_destroy(stream);
}

static void threads_have_streams_of_their_own(void)
{
    REQUIRE(kernel_of(KERNEL_STEP));
    CHECK(together(THREADS, chain_alone));
}

static void make_and_end(size_t number)
{
    const gyre_launch launch = {.grid = {1}};

    for (uint32_t i = 0; i < 12; i++) {
        gyre_context_statistics statistics = {.struct_size = sizeof statistics};
        gyre_stream *const stream = stream_new();
        gyre_kernel *const kernel = gyre_kernel_retain(on.kernels[KERNEL_NOTHING]);
        void *const block = take(GYRE_CONTEXT_DEVICE, 1000 * (number + 1));
        void *const pinned = take(GYRE_CONTEXT_PINNED, 1000 * (number + 1));
        gyre_event *event = NULL;

        CHECK(stream && kernel && block && pinned);
        CHECK(ok(gyre_event_create(on.context, GYRE_EVENT_ORDER, &event)));
        CHECK(ok(gyre_stream_launch(stream, kernel, &launch)));
        CHECK(ok(gyre_event_record(event, stream)));
        CHECK(ok(gyre_context_describe(on.context, &statistics)));
        CHECK(statistics.streams >= 1 && statistics.streams <= THREADS);
        CHECK(statistics.device_bytes >= 1000 * (number + 1));
        CHECK(gyre_context_check(on.context) == GYRE_OK);
        gyre_stream_destroy(stream);
        gyre_event_destroy(event);
        gyre_kernel_release(kernel);
        give(GYRE_CONTEXT_DEVICE, block, 1000 * (number + 1));
        give(GYRE_CONTEXT_PINNED, pinned, 1000 * (number + 1));
    }
}

static void threads_make_and_end_things_in_one_context(void)
{
    gyre_context_statistics statistics = {.struct_size = sizeof statistics};

    REQUIRE(kernel_of(KERNEL_NOTHING));
    CHECK(together(THREADS, make_and_end));
    CHECK(ok(gyre_context_describe(on.context, &statistics)));
    CHECK(statistics.streams == 0 && statistics.device_bytes == 0 && statistics.pinned_bytes == 0);
}

static gate shared_gate;
static uint64_t shared_ticket; /* the gate's */

static void wait_or_submit(size_t number)
{
    if (number < 2) { /* two wait for the gate, up to the context's deadline */
        CHECK(ok(gyre_stream_wait(shared, shared_ticket, gyre_clock_after_ns(1900 * MS))));
        return;
    }
    for (uint32_t i = 0; i < 5; i++) { /* which must not keep others from submitting */
        const step_parameters p = {shared_data, N, 1, 1, 0};
        const gyre_launch launch = launch_of(1, N, &p, sizeof p);

        CHECK(ok(gyre_stream_launch(shared, on.kernels[KERNEL_STEP], &launch)));
    }
    gate_open(&shared_gate);
}

static void a_wait_keeps_nobody_from_submitting(void)
{
    uint32_t host[N] = {0};

    if (!gates_exist())
        SKIP("kernels of this device cannot be held up");
    shared = stream_new();
    shared_data = take(GYRE_CONTEXT_DEVICE, BYTES);
    REQUIRE(shared && shared_data && kernel_of(KERNEL_STEP) && kernel_of(KERNEL_GATE) &&
            gate_init(&shared_gate, on.context));
    CHECK(ok(gate_submit(&shared_gate, shared, kernel_of(KERNEL_GATE))));
    shared_ticket = ticket(shared);
    CHECK(ok(step(shared, (step_parameters){shared_data, N, 0, 0, 0})));
    CHECK(together(3, wait_or_submit));
    CHECK(put(shared, host, shared_data, BYTES));
    CHECK(host[0] == 5 && host[N - 1] == 5);
    give(GYRE_CONTEXT_DEVICE, shared_data, BYTES);
    gyre_stream_destroy(shared);
    gate_fini(&shared_gate);
}

static gyre_kernel *held_kernel;

static void hold_and_launch(size_t number)
{
    gyre_stream *const stream = stream_new();
    const gyre_launch launch = {.grid = {1}};

    (void)number;
    CHECK(stream);
    for (int i = 0; stream && i < 100; i++) {
        gyre_kernel *const mine = gyre_kernel_retain(held_kernel);

        CHECK(ok(gyre_stream_launch(stream, mine, &launch)));
        gyre_kernel_release(mine);
    }
    gyre_kernel_release(held_kernel); /* one of those that the case retained */
    gyre_stream_destroy(stream);
}

static void the_last_thread_unloads_a_kernel(void)
{
    held_kernel = kernel_in(on.context, KERNEL_NOTHING);
    REQUIRE(held_kernel);
    for (int i = 0; i < THREADS; i++)
        CHECK(gyre_kernel_retain(held_kernel) == held_kernel);
    gyre_kernel_release(held_kernel);
    CHECK(together(THREADS, hold_and_launch));
}

static void create_contexts(size_t number)
{
    for (int i = 0; i < 3; i++) {
        gyre_context *context;
        gyre_stream *stream;
        uint32_t out = 0, in = 7 + (uint32_t)number;
        void *block;

        if (!ok(gyre_context_create(on.device, NULL, &context))) {
            CHECK(!"a context for each thread");
            return;
        }
        CHECK(ok(gyre_stream_create(context, NULL, &stream)));
        block = take_in(context, GYRE_CONTEXT_DEVICE, 4);
        CHECK(put(stream, block, &in, 4) && put(stream, &out, block, 4) && out == in);
        give_in(context, GYRE_CONTEXT_DEVICE, block, 4);
        gyre_stream_destroy(stream);
        gyre_context_destroy(context);
    }
}

static void threads_open_the_device_at_once(void)
{
    CHECK(together(3, create_contexts));
}

static const test_case cases[] = {
    TEST(threads_share_a_stream),
    TEST(threads_have_streams_of_their_own),
    TEST(threads_make_and_end_things_in_one_context),
    TEST(a_wait_keeps_nobody_from_submitting),
    TEST(the_last_thread_unloads_a_kernel),
    TEST(threads_open_the_device_at_once),
};
CONFORMANCE_MAIN(cases)
