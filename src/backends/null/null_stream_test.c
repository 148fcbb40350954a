/* SPDX-License-Identifier: Apache-2.0
 *
 * The null device's streams: order, time, and every fault that work can meet.
 */
#include "backends/null/null_fake.h"
#include "gyre/atomic.h"
#include "gyre/clock.h"
#include "gyre/thread.h"
#include "test.h"

static const uint64_t MS = 1000000;

/* Until it is no longer busy. */
static gyre_status drain(gyre_dev_stream *stream)
{
    gyre_status status;

    while ((status = null->poll(stream)) == GYRE_AGAIN)
        ;
    return status;
}

static void blocks_run_for_the_whole_grid(void)
{
    gyre_dev_launch launch = {.grid = {2, 2, 2}, .block = {1, 1, 1}};
    add_parameters parameters = {.value = 5};
    fake f;

    REQUIRE(fake_open(&f, 0, ""));
    launch.kernel = f.kernel;
    launch.parameters = &parameters;
    parameters.sums = f.sums;
    CHECK(null->launch(f.stream, &launch) == GYRE_OK && drain(f.stream) == GYRE_OK);
    for (int i = 0; i < 8; i++)
        CHECK(f.sums[i] == 5);
    fake_close(&f, false);
}

static void use_shared(const gyre_block *block, const void *parameters)
{
    bool *const right = *(bool *const *)parameters;

    *right = block->shared && (uintptr_t)block->shared % 64 == 0 && block->shared_bytes == 48 << 10;
    if (*right)
        memset(block->shared, 1, block->shared_bytes);
}

static void blocks_have_the_shared_memory_they_ask_for(void)
{
    const gyre_entry functions[] = {{"use", use_shared}, {NULL, NULL}};
    const gyre_dev_code code = {.functions = functions};
    const gyre_dev_kernel_request request = {"use", fake_arguments, 1, 8};
    gyre_dev_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .shared_bytes = 48 << 10};
    gyre_dev_kernel_facts facts;
    gyre_dev_module *module;
    bool right = false, *parameters = &right;
    fake f;

    REQUIRE(fake_open(&f, 0, ""));
    REQUIRE(null->module_open(f.dev, &code, &module) == GYRE_OK);
    REQUIRE(null->kernel_open(module, &request, &facts, &launch.kernel) == GYRE_OK);
    launch.parameters = &parameters;
    CHECK(null->launch(f.stream, &launch) == GYRE_OK && right);
    null->module_close(module);
    fake_close(&f, false);
}

static void boxes_and_patterns_land_where_they_should(void)
{
    const unsigned char from[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const unsigned char wanted[16] = {1, 2, 0, 4, 5, 0, 0, 0, 7, 8, 0, 10, 11};
    unsigned char to[16] = {0};
    uint16_t filled[4] = {0};
    const gyre_dev_copy copy = {.to = to,
                                .from = from,
                                .width = 2,
                                .height = 2,
                                .depth = 2,
                                .to_pitch = 3,
                                .to_slice = 8,
                                .from_pitch = 3,
                                .from_slice = 6};
    const gyre_dev_fill fill = {
        .to = filled, .pattern = {0xcd, 0xab}, .pattern_size = 2, .count = 3};
    fake f;

    REQUIRE(fake_open(&f, 1, ""));
    CHECK(null->copy(f.stream, &copy) == GYRE_OK && null->fill(f.stream, &fill) == GYRE_OK);
    CHECK(drain(f.stream) == GYRE_OK);
    CHECK(memcmp(to, wanted, sizeof to) == 0);
    CHECK(filled[0] == 0xabcd && filled[2] == 0xabcd && filled[3] == 0);
    fake_close(&f, false);
}

static void slow_work_is_not_done_before_its_time(void)
{
    const uint64_t start = gyre_clock_now_ns();
    fake f;

    REQUIRE(fake_open(&f, 0, "slow=5000"));
    CHECK(null->poll(f.stream) == GYRE_OK);
    for (int i = 0; i < 4; i++)
        CHECK(fake_launch(&f, f.stream, 1) == GYRE_OK);
    CHECK(drain(f.stream) == GYRE_OK && gyre_clock_now_ns() - start >= 20 * MS);
    fake_close(&f, false);
}

static void closing_waits_for_slow_work_unless_abandoned(void)
{
    uint64_t start;
    fake f;

    REQUIRE(fake_open(&f, 0, "slow=20000"));
    start = gyre_clock_now_ns();
    CHECK(fake_launch(&f, f.stream, 1) == GYRE_OK);
    fake_close(&f, false);
    CHECK(gyre_clock_now_ns() - start >= 20 * MS);
    /* an hour, which the test's own limit would end */
    REQUIRE(fake_open(&f, 0, "hang@1+3600000"));
    CHECK(fake_launch(&f, f.stream, 1) == GYRE_OK);
    fake_close(&f, true);
}

static void a_hang_holds_what_comes_after_it(void)
{
    gyre_dev_stream *other;
    uint32_t zero = 0;
    fake f;

    REQUIRE(fake_open(&f, 0, "hang@2"));
    REQUIRE(null->stream_open(f.dev, NULL, 0, &other) == GYRE_OK);
    CHECK(fake_launch(&f, f.stream, 1) == GYRE_OK && drain(f.stream) == GYRE_OK);
    CHECK(fake_launch(&f, f.stream, 10) == GYRE_OK);
    CHECK(fake_copy(f.stream, f.sums, &zero, sizeof zero) == GYRE_OK);
    CHECK(null->poll(f.stream) == GYRE_AGAIN && f.sums[0] == 1);
    CHECK(fake_launch(&f, other, 100) == GYRE_OK && drain(other) == GYRE_OK);
    CHECK(f.sums[0] == 101 && null->poll(f.stream) == GYRE_AGAIN);
    null->stream_close(other);
    fake_close(&f, false); /* nor does it hold this */
}

static void a_hang_with_an_end_recovers(void)
{
    uint64_t start;
    fake f;

    REQUIRE(fake_open(&f, 0, "hang@1+30"));
    start = gyre_clock_now_ns();
    CHECK(fake_launch(&f, f.stream, 1) == GYRE_OK && drain(f.stream) == GYRE_OK);
    CHECK(gyre_clock_now_ns() - start >= 30 * MS && f.sums[0] == 1);
    CHECK(fake_launch(&f, f.stream, 1) == GYRE_OK && drain(f.stream) == GYRE_OK);
    fake_close(&f, false);
}

static void a_silent_device_completes_nothing(void)
{
    uint32_t value = 1;
    fake f;

    REQUIRE(fake_open(&f, 0, "silent"));
    CHECK(null->poll(f.stream) == GYRE_OK);
    CHECK(fake_copy(f.stream, f.sums, &value, sizeof value) == GYRE_OK);
    CHECK(null->poll(f.stream) == GYRE_AGAIN && f.sums[0] == 0);
    fake_close(&f, true);
}

static void a_fault_is_found_by_a_poll_and_loses_the_device(void)
{
    gyre_dev_stream *other, *none;
    gyre_dev_event *event;
    uint64_t left, total;
    void *block;
    fake f, g;

    REQUIRE(fake_open(&f, 0, "fault@2") && fake_open(&g, 0, ""));
    REQUIRE(null->stream_open(f.dev, NULL, 0, &other) == GYRE_OK);
    REQUIRE(null->event_open(f.dev, false, &event) == GYRE_OK);
    CHECK(fake_launch(&f, f.stream, 1) == GYRE_OK && drain(f.stream) == GYRE_OK);
    CHECK(fake_launch(&f, f.stream, 1) == GYRE_OK); /* it is not known yet */
    CHECK(fake_launch(&f, f.stream, 1) == GYRE_OK && null->poll(other) == GYRE_OK);
    CHECK(drain(f.stream) == GYRE_DEVICE_LOST && f.sums[0] == 1);
    CHECK(gyre_error_last()->native != 0 && strstr(gyre_error_last()->text, "launch 2"));
    CHECK(null->poll(other) == GYRE_DEVICE_LOST);
    CHECK(fake_launch(&f, other, 1) == GYRE_DEVICE_LOST);
    CHECK(null->event_record(event, other) == GYRE_DEVICE_LOST);
    CHECK(null->event_poll(event) == GYRE_DEVICE_LOST);
    CHECK(null->room(f.dev, &left, &total) == GYRE_DEVICE_LOST);
    CHECK(null->take(f.dev, GYRE_DEV_MEMORY_DEVICE, 64, 64, &block) == GYRE_DEVICE_LOST && !block);
    CHECK(null->stream_open(f.dev, NULL, 0, &none) == GYRE_DEVICE_LOST && !none);
    CHECK(fake_launch(&g, g.stream, 1) == GYRE_OK && drain(g.stream) == GYRE_OK);
    null->event_close(event);
    null->abandon(f.dev);
    null->stream_close(other);
    fake_close(&f, true);
    fake_close(&g, false);
    REQUIRE(fake_open(&f, 0, ""));
    fake_close(&f, false);
}

static void a_fault_spreads_through_events(void)
{
    gyre_dev_stream *other;
    gyre_dev_event *event;
    fake f;

    REQUIRE(fake_open(&f, 0, "fault@1"));
    REQUIRE(null->stream_open(f.dev, NULL, 0, &other) == GYRE_OK);
    REQUIRE(null->event_open(f.dev, false, &event) == GYRE_OK);
    CHECK(fake_launch(&f, f.stream, 1) == GYRE_OK);
    CHECK(null->event_record(event, f.stream) == GYRE_OK);
    CHECK(null->event_wait(other, event) == GYRE_OK);
    CHECK(fake_launch(&f, other, 1) == GYRE_OK && f.sums[0] == 0);
    CHECK(drain(other) == GYRE_DEVICE_LOST);
    null->event_close(event);
    null->abandon(f.dev);
    null->stream_close(other);
    fake_close(&f, true);
}

static void the_told_submission_is_refused(void)
{
    uint32_t value = 1;
    fake f;

    REQUIRE(fake_open(&f, 0, "refuse@2"));
    CHECK(fake_copy(f.stream, f.sums, &value, sizeof value) == GYRE_OK);
    CHECK(fake_launch(&f, f.stream, 1) == GYRE_NO_MEMORY && gyre_error_last()->native != 0);
    CHECK(fake_launch(&f, f.stream, 1) == GYRE_OK && drain(f.stream) == GYRE_OK);
    CHECK(f.sums[0] == 2);
    fake_close(&f, false);
}

static void events_carry_time_from_stream_to_stream(void)
{
    gyre_dev_event *start, *end;
    gyre_dev_stream *other;
    double between = -1;
    fake f;

    REQUIRE(fake_open(&f, 0, "slow=10000"));
    REQUIRE(null->stream_open(f.dev, NULL, 0, &other) == GYRE_OK);
    REQUIRE(null->event_open(f.dev, true, &start) == GYRE_OK);
    REQUIRE(null->event_open(f.dev, true, &end) == GYRE_OK);
    CHECK(null->event_record(start, f.stream) == GYRE_OK);
    CHECK(null->event_poll(start) == GYRE_OK);
    CHECK(fake_launch(&f, f.stream, 1) == GYRE_OK);
    CHECK(null->event_record(end, f.stream) == GYRE_OK);
    CHECK(null->event_wait(other, end) == GYRE_OK);
    CHECK(drain(other) == GYRE_OK && null->event_poll(end) == GYRE_OK);
    CHECK(null->event_between(start, end, &between) == GYRE_OK && between >= 10e6);
    CHECK(null->event_between(end, start, &between) == GYRE_OK && between <= -10e6);
    null->event_close(start);
    null->event_close(end);
    null->stream_close(other);
    fake_close(&f, false);
}

static void a_stream_that_waits_for_a_hang_hangs(void)
{
    gyre_dev_stream *other;
    gyre_dev_event *event;
    double between;
    fake f;

    REQUIRE(fake_open(&f, 0, "hang@1"));
    REQUIRE(null->stream_open(f.dev, NULL, 0, &other) == GYRE_OK);
    REQUIRE(null->event_open(f.dev, true, &event) == GYRE_OK);
    CHECK(fake_launch(&f, f.stream, 1) == GYRE_OK);
    CHECK(null->event_record(event, f.stream) == GYRE_OK);
    CHECK(null->event_poll(event) == GYRE_AGAIN);
    CHECK(null->event_between(event, event, &between) == GYRE_AGAIN);
    CHECK(null->event_wait(other, event) == GYRE_OK);
    CHECK(fake_launch(&f, other, 1) == GYRE_OK);
    CHECK(null->poll(other) == GYRE_AGAIN && f.sums[0] == 0);
    null->event_close(event);
    null->abandon(f.dev);
    null->stream_close(other);
    fake_close(&f, true);
}

static void graphs_keep_their_own_parameters(void)
{
    add_parameters parameters = {.value = 3};
    uint32_t copied = 0;
    gyre_dev_node nodes[2] = {
        {.kind = GYRE_DEV_NODE_LAUNCH,
         .as.launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .parameters = &parameters}},
        {.kind = GYRE_DEV_NODE_COPY,
         .as.copy = {.to = &copied, .width = 4, .height = 1, .depth = 1},
         .after = &(uint32_t){0},
         .after_count = 1},
    };
    gyre_dev_graph *graph;
    fake f;

    REQUIRE(fake_open(&f, 0, "refuse@3 fault@3"));
    parameters.sums = f.sums;
    nodes[0].as.launch.kernel = f.kernel;
    nodes[1].as.copy.from = f.sums;
    REQUIRE(null->graph_open(f.dev, nodes, 2, &graph) == GYRE_OK);
    parameters.value = 100;
    CHECK(null->graph_submit(f.stream, graph) == GYRE_OK && copied == 3);
    CHECK(null->graph_update(graph, 0, &nodes[0].as.launch) == GYRE_OK);
    parameters.value = 0;
    CHECK(null->graph_submit(f.stream, graph) == GYRE_OK && copied == 103);
    CHECK(null->graph_submit(f.stream, graph) == GYRE_NO_MEMORY && copied == 103);
    CHECK(drain(f.stream) == GYRE_OK);
    CHECK(null->graph_submit(f.stream, graph) == GYRE_OK && copied == 103);
    CHECK(drain(f.stream) == GYRE_DEVICE_LOST);
    CHECK(null->graph_open(f.dev, nodes, 2, &(gyre_dev_graph *){NULL}) == GYRE_DEVICE_LOST);
    null->graph_close(graph);
    fake_close(&f, true);
}

typedef struct poller {
    gyre_dev_stream *stream;
    uint32_t *sums;
    uint64_t submitted, stop;
} poller;

/* What was submitted before a poll that says drained can be seen. */
static void poll_body(void *arg)
{
    poller *const p = arg;

    while (!gyre_load_acquire(&p->stop)) {
        /* relaxed: the poll is to order it */
        const uint64_t before = gyre_load_relaxed(&p->submitted);

        if (null->poll(p->stream) == GYRE_OK)
            CHECK(__atomic_load_n(&p->sums[0], __ATOMIC_RELAXED) >= before);
    }
}

static void another_thread_may_poll(void)
{
    gyre_thread *thread;
    poller p = {0};
    fake f;

    REQUIRE(fake_open(&f, 0, ""));
    p.stream = f.stream;
    p.sums = f.sums;
    REQUIRE(gyre_thread_start(poll_body, &p, NULL, &thread) == GYRE_OK);
    for (int i = 0; i < 2000; i++) {
        CHECK(fake_launch(&f, f.stream, 1) == GYRE_OK);
        gyre_store_release(&p.submitted, (uint64_t)i + 1);
    }
    gyre_store_release(&p.stop, 1);
    gyre_thread_stop(thread);
    CHECK(f.sums[0] == 2000);
    fake_close(&f, false);
}

/* Last: null:1 is gone for this process then. */
static void a_sticky_fault_lasts(void)
{
    fake f, other;

    REQUIRE(fake_open(&f, 1, "fault@1 sticky") && fake_open(&other, 0, ""));
    CHECK(fake_launch(&f, f.stream, 1) == GYRE_OK && drain(f.stream) == GYRE_DEVICE_LOST);
    fake_close(&f, true);
    CHECK(!fake_open(&f, 1, "") && gyre_error_last()->status == GYRE_DEVICE_LOST);
    CHECK(fake_launch(&other, other.stream, 1) == GYRE_OK && drain(other.stream) == GYRE_OK);
    fake_close(&other, false);
}

static const test_case cases[] = {
    TEST(blocks_run_for_the_whole_grid),
    TEST(blocks_have_the_shared_memory_they_ask_for),
    TEST(boxes_and_patterns_land_where_they_should),
    TEST(slow_work_is_not_done_before_its_time),
    TEST(closing_waits_for_slow_work_unless_abandoned),
    TEST(a_hang_holds_what_comes_after_it),
    TEST(a_hang_with_an_end_recovers),
    TEST(a_silent_device_completes_nothing),
    TEST(a_fault_is_found_by_a_poll_and_loses_the_device),
    TEST(a_fault_spreads_through_events),
    TEST(the_told_submission_is_refused),
    TEST(events_carry_time_from_stream_to_stream),
    TEST(a_stream_that_waits_for_a_hang_hangs),
    TEST(graphs_keep_their_own_parameters),
    TEST(another_thread_may_poll),
    TEST(a_sticky_fault_lasts),
};
TEST_MAIN(cases)
