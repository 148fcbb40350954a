/* SPDX-License-Identifier: Apache-2.0
 *
 * The ends of a device: abandoned while a launch hangs, closed with work that never began.
 */
#include "backends/cpu/cpu_fake.h"

/* What a launch that never ends leaves behind; it ends at last, so that it can be seen freed. */
static void abandoned_device_is_left_at_once_and_starts_nothing(void)
{
    rig r = rig_open(1), next;
    gyre_dev_stream *hung = fake_stream(&r), *other = fake_stream(&r);
    uint32_t log[4], count = 0;
    wide_parameters wide_one;
    uint64_t sum = 0;
    static gate g; /* outlives the worker */

    memset(&wide_one, 1, sizeof wide_one);
    wide_one.sum = &sum;
    fake_hold(&r, hung, &g);
    fake_submit(hung, r.wide, &wide_one);
    fake_append(&r, other, &(append_parameters){log, &count, 1});
    fake_await(&g.entered, 1);
    CHECK(cpu->poll(hung) == GYRE_AGAIN && cpu->poll(other) == GYRE_AGAIN);
    cpu->abandon(r.dev);
    cpu->stream_close(hung);
    cpu->stream_close(other);
    cpu->module_close(r.module);
    cpu->close(r.dev);
    next = rig_open(1); /* is not held up by it */
    other = fake_stream(&next);
    fake_append(&next, other, &(append_parameters){log, &count, 2});
    fake_drain(other);
    cpu->stream_close(other);
    fake_open(&g);
    usleep(100000);
    rig_close(&next); /* and frees the other by and by */
    CHECK(count == 1 && log[0] == 2 && sum == 0);
}

static void abandoned_launch_begins_no_further_block(void)
{
    for (uint32_t workers = 1; workers <= 3; workers++) {
        static gate gates[4]; /* outlive the workers */
        gate *g = &gates[workers];
        rig r = rig_open(workers);
        gyre_dev_stream *stream = fake_stream(&r);
        gyre_dev_launch launch = fake_launch(r.hold, &g);

        launch.grid[0] = 100;
        CHECK(cpu->launch(stream, &launch) == GYRE_OK);
        fake_await(&g->entered, 1);
        cpu->abandon(r.dev);
        cpu->stream_close(stream);
        cpu->module_close(r.module);
        cpu->close(r.dev);
        fake_open(g);
        usleep(100000);
        CHECK(__atomic_load_n(&g->entered, __ATOMIC_ACQUIRE) <= workers);
    }
}

static void close_drops_what_was_never_started(void)
{
    rig r = rig_open(1);
    gyre_dev_stream *hung = fake_stream(&r), *waiting = fake_stream(&r);
    gyre_dev_event *event = fake_event(&r, true);
    wide_parameters p = {0};
    static gate g; /* outlives the worker */

    fake_hold(&r, hung, &g);
    CHECK(cpu->event_record(event, hung) == GYRE_OK);
    CHECK(cpu->event_wait(waiting, event) == GYRE_OK);
    CHECK(cpu->event_record(event, waiting) == GYRE_OK);
    fake_submit(waiting, r.wide, &p);
    cpu->event_close(event);
    cpu->module_close(r.module);
    cpu->abandon(r.dev);
    cpu->stream_close(waiting);
    cpu->stream_close(hung);
    cpu->close(r.dev);
    fake_open(&g);
    usleep(100000);
    r = rig_open(1);
    rig_close(&r);
}

static void full_ring_behind_a_hung_launch_is_no_prison(void)
{
    rig r = rig_open(1);
    gyre_dev_stream *stream = fake_stream(&r);
    const gyre_dev_launch launch = fake_launch(r.nothing, NULL);
    gyre_dev_event *event = fake_event(&r, true);
    gyre_status status = GYRE_OK;
    uint32_t submitted = 1;
    gate g = {0};

    fake_hold(&r, stream, &g);
    while (status == GYRE_OK && submitted <= 2 * GYRE_CPU_RING) {
        status = cpu->launch(stream, &launch);
        submitted += status == GYRE_OK;
    }
    CHECK(status == GYRE_TIMEOUT && submitted == GYRE_CPU_RING);
    CHECK(submitted >= 3 * 256); /* tickets that exec lets be under way, each with two events */
    CHECK(cpu->event_record(event, stream) == GYRE_TIMEOUT);
    CHECK(cpu->event_poll(event) == GYRE_OK); /* it was never recorded */
    fake_open(&g);
    fake_drain(stream);
    CHECK(cpu->launch(stream, &launch) == GYRE_OK && cpu->event_record(event, stream) == GYRE_OK);
    fake_drain(stream);
    cpu->event_close(event);
    cpu->stream_close(stream);
    rig_close(&r);
}

static const test_case cases[] = {
    TEST(abandoned_device_is_left_at_once_and_starts_nothing),
    TEST(abandoned_launch_begins_no_further_block),
    TEST(close_drops_what_was_never_started),
    TEST(full_ring_behind_a_hung_launch_is_no_prison),
};
TEST_MAIN(cases)
