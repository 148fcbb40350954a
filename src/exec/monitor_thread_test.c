/* SPDX-License-Identifier: Apache-2.0
 *
 * The monitor's thread: callbacks once for each change, stopping in the middle of things, readers
 * beside it.
 */
#include <sched.h>
#include <stdatomic.h>

#include "exec/monitor_fake.h"
#include "gyre/clock.h"
#include "gyre/thread.h"

enum { READERS = 3, READS = 200, CALLS_MOST = 64 };

static struct {
    gyre_monitor *monitor;
    size_t count;
    gyre_level before[CALLS_MOST], after[CALLS_MOST];
    const gyre_device *device[CALLS_MOST];
    gyre_status sampled, started, stopped, read;
    size_t history;
} calls; /* by callbacks, which are one at a time */

static void note(void *user, const gyre_monitor_report *report, gyre_level before)
{
    CHECK(user == &calls);
    if (calls.count < CALLS_MOST) {
        calls.before[calls.count] = before;
        calls.after[calls.count] = report->level;
        calls.device[calls.count] = report->device;
    }
    calls.count++;
}

/* Does what a callback may, and what it may not. */
static void meddle(void *user, const gyre_monitor_report *report, gyre_level before)
{
    gyre_monitor_report again = {.struct_size = sizeof again};
    gyre_monitor_point point;

    note(user, report, before);
    calls.read = gyre_monitor_report_at(calls.monitor, 0, &again);
    CHECK(again.level == report->level);
    calls.history = gyre_monitor_history(calls.monitor, 0, &point, 1);
    calls.sampled = gyre_monitor_sample(calls.monitor);
    calls.started = gyre_monitor_start(calls.monitor);
    calls.stopped = gyre_monitor_stop(calls.monitor);
}

/* Waits until `counter` is more than `than`. */
static void await(const _Atomic uint64_t *counter, uint64_t than)
{
    while (atomic_load(counter) <= than)
        sched_yield();
}

static void level_that_changes_is_called_back_once(void)
{
    const int32_t temperatures[] = {20, 20, 83, 84, 90, 90, 83, 20, 20};
    const gyre_level levels[] = {GYRE_LEVEL_HEALTHY, GYRE_LEVEL_WARNING, GYRE_LEVEL_CRITICAL,
                                 GYRE_LEVEL_WARNING, GYRE_LEVEL_HEALTHY};
    gyre_monitor *monitor;

    fake_reset();
    memset(&calls, 0, sizeof calls);
    fake_states[0].temperature_limit_c = 87;
    monitor = fake_monitor((gyre_monitor_options){.on_level = note, .user = &calls}, 0);
    REQUIRE(monitor);
    for (size_t i = 0; i < sizeof temperatures / sizeof temperatures[0]; i++) {
        fake_states[0].temperature_c = temperatures[i];
        (void)fake_sample(monitor);
    }
    CHECK(calls.count == 4);
    for (size_t i = 0; i < 4; i++) {
        CHECK(calls.before[i] == levels[i] && calls.after[i] == levels[i + 1]);
        CHECK(calls.device[i] == &fake_devices[0]);
    }
    gyre_monitor_destroy(monitor);
}

static void callback_may_read_and_nothing_else(void)
{
    fake_reset();
    memset(&calls, 0, sizeof calls);
    calls.monitor = fake_monitor((gyre_monitor_options){.on_level = meddle, .user = &calls}, 1);
    REQUIRE(calls.monitor);
    fake_contexts[0].lost = true;
    (void)fake_sample(calls.monitor);
    CHECK(calls.count == 1 && calls.after[0] == GYRE_LEVEL_CRITICAL);
    CHECK(calls.read == GYRE_OK && calls.history == 1);
    CHECK(calls.sampled == GYRE_INVALID && calls.started == GYRE_INVALID);
    CHECK(calls.stopped == GYRE_INVALID);
    CHECK(gyre_monitor_sample(calls.monitor) == GYRE_OK); /* afterwards it may again */
    gyre_monitor_destroy(calls.monitor);
}

static _Atomic uint64_t looks, looks_done;
static _Atomic bool hold;

/* Looks for as long as it is held. */
static gyre_status slow_look(const gyre_device *device, gyre_device_state *out_state)
{
    atomic_fetch_add(&looks, 1);
    while (atomic_load(&hold))
        sched_yield();
    (void)!fake_look(device, out_state);
    atomic_fetch_add(&looks_done, 1);
    return GYRE_OK;
}

static gyre_monitor *slow_monitor(uint64_t period_ns)
{
    const gyre_monitor_source source = {slow_look, fake_describe, fake_check, fake_device,
                                        gyre_clock_now_ns};
    const gyre_monitor_options options = {.struct_size = sizeof options,
                                          .devices = fake_list,
                                          .device_count = 2,
                                          .contexts = fake_context_list,
                                          .context_count = 1,
                                          .period_ns = period_ns};
    gyre_monitor *monitor = NULL;

    fake_reset();
    atomic_store(&looks, 0);
    atomic_store(&looks_done, 0);
    CHECK(gyre_monitor_create_over(&source, &options, &monitor) == GYRE_OK);
    return monitor;
}

static void thread_samples_at_once_and_then_every_period(void)
{
    gyre_monitor *monitor = slow_monitor(1000000);
    gyre_monitor_point points[2];

    REQUIRE(monitor && gyre_monitor_start(monitor) == GYRE_OK);
    CHECK(gyre_monitor_start(monitor) == GYRE_INVALID);
    await(&looks_done, 9);
    CHECK(gyre_monitor_stop(monitor) == GYRE_OK);
    CHECK(atomic_load(&looks) == atomic_load(&looks_done));
    CHECK(gyre_monitor_history(monitor, 0, points, 2) == 2);
    CHECK(points[1].sampled_ns > points[0].sampled_ns);
    CHECK(gyre_monitor_stop(monitor) == GYRE_OK);
    gyre_monitor_destroy(monitor);
}

/* With a period of an hour, an end that waited for it would be noticed. */
static void stopping_does_not_wait_for_the_period(void)
{
    gyre_monitor *monitor = slow_monitor(UINT64_C(3600000000000));

    REQUIRE(monitor);
    for (uint64_t i = 0; i < 20; i++) {
        REQUIRE(gyre_monitor_start(monitor) == GYRE_OK);
        if (i % 2)
            await(&looks_done, 2 * i + 1);
        REQUIRE(gyre_monitor_stop(monitor) == GYRE_OK);
        CHECK(atomic_load(&looks_done) == 2 * i + 2); /* one sample of two devices each time */
    }
    REQUIRE(gyre_monitor_start(monitor) == GYRE_OK);
    gyre_monitor_destroy(monitor); /* stops it too */
}

static _Atomic uint64_t stopped;

static void stop_it(void *monitor)
{
    CHECK(gyre_monitor_stop(monitor) == GYRE_OK);
    atomic_fetch_add(&stopped, 1);
}

static void stopping_waits_for_a_sample_being_taken(void)
{
    gyre_monitor *monitor = slow_monitor(1000000);
    gyre_monitor_report r = {.struct_size = sizeof r};
    gyre_thread *stoppers[2];

    REQUIRE(monitor);
    atomic_store(&stopped, 0);
    atomic_store(&hold, true);
    REQUIRE(gyre_monitor_start(monitor) == GYRE_OK);
    await(&looks, 0);
    for (size_t i = 0; i < 2; i++)
        REQUIRE(gyre_thread_start(stop_it, monitor, NULL, &stoppers[i]) == GYRE_OK);
    for (int i = 0; i < 1000; i++) {
        CHECK(atomic_load(&stopped) == 0);
        /* reports are read meanwhile: nobody waits for a driver to read one */
        CHECK(gyre_monitor_report_at(monitor, 0, &r) == GYRE_OK && r.sample_count == 0);
        sched_yield();
    }
    atomic_store(&hold, false);
    for (size_t i = 0; i < 2; i++)
        gyre_thread_stop(stoppers[i]);
    CHECK(atomic_load(&stopped) == 2 && atomic_load(&looks_done) == 2);
    gyre_monitor_destroy(monitor);
}

static void read_along(void *arg)
{
    gyre_monitor *monitor = arg;

    for (int i = 0; i < READS; i++) {
        gyre_monitor_report r = {.struct_size = sizeof r};
        gyre_monitor_point points[8];
        size_t count;

        if (i % 8 == 0)
            CHECK(gyre_monitor_sample(monitor) == GYRE_OK);
        CHECK(gyre_monitor_report_at(monitor, (size_t)i % 2, &r) == GYRE_OK);
        count = gyre_monitor_history(monitor, (size_t)i % 2, points, 8);
        for (size_t k = 1; k < count; k++)
            CHECK(points[k].sampled_ns >= points[k - 1].sampled_ns);
    }
}

static void readers_and_samplers_go_together(void)
{
    gyre_monitor *monitor = slow_monitor(100000);
    gyre_thread *readers[READERS];

    REQUIRE(monitor && gyre_monitor_start(monitor) == GYRE_OK);
    for (size_t i = 0; i < READERS; i++)
        REQUIRE(gyre_thread_start(read_along, monitor, NULL, &readers[i]) == GYRE_OK);
    for (size_t i = 0; i < READERS; i++)
        gyre_thread_stop(readers[i]);
    CHECK(gyre_monitor_stop(monitor) == GYRE_OK);
    gyre_monitor_destroy(monitor);
}

static const test_case cases[] = {
    TEST(level_that_changes_is_called_back_once),       TEST(callback_may_read_and_nothing_else),
    TEST(thread_samples_at_once_and_then_every_period), TEST(stopping_does_not_wait_for_the_period),
    TEST(stopping_waits_for_a_sample_being_taken),      TEST(readers_and_samplers_go_together),
};
TEST_MAIN(cases)
