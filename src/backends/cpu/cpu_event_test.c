/* SPDX-License-Identifier: Apache-2.0
 *
 * Events: places in streams, for others to wait for and to measure between.
 */
#include "backends/cpu/cpu_fake.h"

static void event_is_reached_when_its_place_is(void)
{
    for (int timed = 0; timed < 2; timed++) {
        rig r = rig_open(1);
        gyre_dev_stream *stream = fake_stream(&r);
        gyre_dev_event *event = fake_event(&r, timed), *other = fake_event(&r, timed);
        gate first = {0}, second = {0};

        fake_hold(&r, stream, &first);
        CHECK(cpu->event_record(event, stream) == GYRE_OK);
        fake_hold(&r, stream, &second);
        CHECK(cpu->event_record(other, stream) == GYRE_OK);
        fake_await(&first.entered, 1);
        CHECK(cpu->event_poll(event) == GYRE_AGAIN && cpu->event_poll(other) == GYRE_AGAIN);
        fake_open(&first);
        fake_await(&second.entered, 1);
        CHECK(cpu->event_poll(event) == GYRE_OK && cpu->event_poll(other) == GYRE_AGAIN);
        fake_open(&second);
        fake_drain(stream);
        CHECK(cpu->event_poll(other) == GYRE_OK);
        cpu->event_close(event);
        cpu->event_close(other);
        cpu->stream_close(stream);
        rig_close(&r);
    }
}

static void event_that_is_recorded_anew_forgets_the_old_place(void)
{
    rig r = rig_open(3);
    gyre_dev_stream *slow = fake_stream(&r), *fast = fake_stream(&r), *third = fake_stream(&r);
    gyre_dev_event *event = fake_event(&r, true);
    uint32_t log[1], count = 0;
    gate g = {0};

    fake_hold(&r, slow, &g);
    CHECK(cpu->event_record(event, slow) == GYRE_OK);
    CHECK(cpu->event_wait(third, event) == GYRE_OK);
    fake_append(&r, third, &(append_parameters){log, &count, 1});
    CHECK(cpu->event_record(event, fast) == GYRE_OK);
    fake_drain(fast);
    CHECK(cpu->event_poll(event) == GYRE_OK);
    usleep(1000);
    CHECK(cpu->poll(third) == GYRE_AGAIN); /* which waits for the place as it was */
    fake_open(&g);
    fake_drain(third);
    CHECK(count == 1);
    fake_drain(slow);
    cpu->event_close(event);
    cpu->stream_close(slow);
    cpu->stream_close(fast);
    cpu->stream_close(third);
    rig_close(&r);
}

static void event_may_be_closed_while_under_way(void)
{
    rig r = rig_open(2);
    gyre_dev_stream *stream = fake_stream(&r), *other = fake_stream(&r);
    gyre_dev_event *event = fake_event(&r, true);
    gate g = {0};

    fake_hold(&r, stream, &g);
    CHECK(cpu->event_record(event, stream) == GYRE_OK);
    CHECK(cpu->event_wait(other, event) == GYRE_OK);
    cpu->event_close(event);
    CHECK(cpu->poll(other) == GYRE_AGAIN);
    fake_open(&g);
    fake_drain(other);
    cpu->stream_close(stream);
    cpu->stream_close(other);
    rig_close(&r);
}

static void events_tell_the_time_between_them(void)
{
    rig r = rig_open(1);
    gyre_dev_stream *stream = fake_stream(&r);
    gyre_dev_event *from = fake_event(&r, true), *to = fake_event(&r, true);
    gate g = {0};
    double ns;

    CHECK(cpu->event_between(from, to, &ns) == GYRE_INVALID);
    CHECK(cpu->event_record(from, stream) == GYRE_OK);
    fake_hold(&r, stream, &g);
    CHECK(cpu->event_record(to, stream) == GYRE_OK);
    fake_await(&g.entered, 1);
    CHECK(cpu->event_between(from, to, &ns) == GYRE_AGAIN);
    usleep(2000);
    fake_open(&g);
    fake_drain(stream);
    CHECK(cpu->event_between(from, to, &ns) == GYRE_OK && ns >= 1.9e6);
    CHECK(cpu->event_between(to, from, &ns) == GYRE_OK && ns <= -1.9e6);
    cpu->event_close(from);
    cpu->event_close(to);
    cpu->stream_close(stream);
    rig_close(&r);
}

/* Each waits for the other in turn; with one worker neither may keep it. */
static void streams_that_wait_for_each_other_make_progress(void)
{
    enum { TURNS = 3 * GYRE_CPU_RING };

    for (uint32_t workers = 1; workers <= 3; workers++) {
        rig r = rig_open(workers);
        gyre_dev_stream *streams[2] = {fake_stream(&r), fake_stream(&r)};
        gyre_dev_event *event = fake_event(&r, false);
        static uint32_t log[TURNS];
        uint32_t count = 0;
        gate g = {0};

        fake_hold(&r, streams[0], &g); /* so that the waits are not over before they begin */
        for (uint32_t i = 0; i < TURNS; i++) {
            CHECK(cpu->event_wait(streams[i % 2], event) == GYRE_OK);
            fake_append(&r, streams[i % 2], &(append_parameters){log, &count, i});
            CHECK(cpu->event_record(event, streams[i % 2]) == GYRE_OK);
            if (i == GYRE_CPU_RING / 2)
                fake_open(&g);
        }
        fake_drain(streams[0]);
        fake_drain(streams[1]);
        CHECK(count == TURNS);
        for (uint32_t i = 0; i < TURNS; i++)
            CHECK(log[i] == i);
        cpu->event_close(event);
        cpu->stream_close(streams[0]);
        cpu->stream_close(streams[1]);
        rig_close(&r);
    }
}

static void stream_that_waits_keeps_no_worker(void)
{
    rig r = rig_open(2);
    gyre_dev_stream *held = fake_stream(&r), *free_one = fake_stream(&r), *waiting[8];
    gyre_dev_event *event = fake_event(&r, false);
    uint32_t log[8], count = 0;
    gate g = {0};

    fake_hold(&r, held, &g);
    CHECK(cpu->event_record(event, held) == GYRE_OK);
    for (uint32_t i = 0; i < COUNT(waiting); i++) {
        waiting[i] = fake_stream(&r);
        CHECK(cpu->event_wait(waiting[i], event) == GYRE_OK);
    }
    fake_append(&r, free_one, &(append_parameters){log, &count, 1});
    fake_drain(free_one);
    CHECK(count == 1 && cpu->poll(waiting[0]) == GYRE_AGAIN);
    fake_open(&g);
    for (uint32_t i = 0; i < COUNT(waiting); i++)
        cpu->stream_close(waiting[i]);
    cpu->event_close(event);
    cpu->stream_close(held);
    cpu->stream_close(free_one);
    rig_close(&r);
}

static const test_case cases[] = {
    TEST(event_is_reached_when_its_place_is),
    TEST(event_that_is_recorded_anew_forgets_the_old_place),
    TEST(event_may_be_closed_while_under_way),
    TEST(events_tell_the_time_between_them),
    TEST(streams_that_wait_for_each_other_make_progress),
    TEST(stream_that_waits_keeps_no_worker),
};
TEST_MAIN(cases)
