/* SPDX-License-Identifier: Apache-2.0
 *
 * Events: before they are recorded, when they are reached, and when they are recorded again.
 */
#include "conformance.h"

#include "gyre/clock.h"

enum { N = 256, BYTES = N * 4 };

static gyre_event *event_new(void)
{
    gyre_event *event;

    return ok(gyre_event_create(on.context, GYRE_EVENT_ORDER, &event)) ? event : NULL;
}

/* Polls until it is reached, or ten seconds. */
static gyre_status reached(gyre_event *event)
{
    const uint64_t deadline = gyre_clock_after_ns(10000 * MS);
    gyre_status status;

    do {
        status = gyre_event_poll(event);
    } while (status == GYRE_AGAIN && gyre_clock_now_ns() < deadline);
    return status;
}

static void an_event_that_was_never_recorded_is_invalid(void)
{
    gyre_stream *const stream = stream_new();
    gyre_event *const event = event_new(), *const other = event_new();
    double between = 1;

    REQUIRE(stream && event && other);
    CHECK(gyre_event_poll(event) == GYRE_INVALID);
    CHECK(gyre_event_poll(event) == GYRE_INVALID); /* still */
    CHECK(gyre_event_between(event, other, &between) != GYRE_OK);
    /* whatever waiting for it means, the stream goes on */
    if (gyre_stream_wait_event(stream, event) != GYRE_OK)
        CHECK(gyre_error_last()->status == GYRE_INVALID);
    CHECK(ok(gyre_stream_sync(stream)));
    gyre_event_destroy(event);
    gyre_event_destroy(other);
    gyre_event_destroy(NULL);
    gyre_stream_destroy(stream);
}

static void an_event_on_an_idle_stream_is_reached(void)
{
    gyre_stream *const stream = stream_new();
    gyre_event *const event = event_new();

    REQUIRE(stream && event);
    CHECK(ok(gyre_event_record(event, stream)));
    CHECK(reached(event) == GYRE_OK);
    CHECK(gyre_event_poll(event) == GYRE_OK); /* and stays so */
    CHECK(submitted(stream) == 0);
    gyre_event_destroy(event);
    gyre_stream_destroy(stream);
}

static void recording_has_no_ticket(void)
{
    gyre_stream *const stream = stream_new(), *const other = stream_new();
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, BYTES);
    gyre_event *const event = event_new();

    REQUIRE(stream && other && event && data);
    CHECK(ok(step(stream, (step_parameters){data, N, 1, 1, 1000})));
    CHECK(ok(gyre_event_record(event, stream)));
    CHECK(ok(gyre_stream_wait_event(other, event)));
    CHECK(submitted(stream) == 1 && submitted(other) == 0);
    CHECK(ok(gyre_stream_sync(stream)) && ok(gyre_stream_sync(other)));
    CHECK(gyre_event_poll(event) == GYRE_OK);
    gyre_event_destroy(event);
    give(GYRE_CONTEXT_DEVICE, data, BYTES);
    gyre_stream_destroy(stream);
    gyre_stream_destroy(other);
}

/* What the cases below hold up: a gate on a stream, or a reason to skip. */
typedef struct scene {
    gate held;
    gyre_stream *first, *second;
    gyre_event *event;
    uint32_t *data;
} scene;

static bool scene_begin(scene *s)
{
    if (!gates_exist()) {
        test_skip_reason = "kernels of this device cannot be held up";
        return false;
    }
    s->first = stream_new();
    s->second = stream_new();
    s->event = event_new();
    s->data = take(GYRE_CONTEXT_DEVICE, BYTES);
    CHECK(s->first && s->second && s->event && s->data && gate_init(&s->held, on.context) &&
          kernel_of(KERNEL_GATE) && kernel_of(KERNEL_STEP));
    return s->first && s->second && s->event && s->data && s->held.flag;
}

static void scene_end(scene *s)
{
    gate_open(&s->held);
    CHECK(ok(gyre_stream_sync(s->first)) && ok(gyre_stream_sync(s->second)));
    gyre_event_destroy(s->event);
    gyre_stream_destroy(s->second);
    gyre_stream_destroy(s->first);
    give(GYRE_CONTEXT_DEVICE, s->data, BYTES);
    gate_fini(&s->held);
}

static void an_event_is_not_reached_before_its_place(void)
{
    scene s;

    if (!scene_begin(&s))
        return;
    CHECK(ok(gate_submit(&s.held, s.first, kernel_of(KERNEL_GATE))));
    CHECK(ok(gyre_event_record(s.event, s.first)));
    for (int i = 0; i < 100; i++)
        CHECK(gyre_event_poll(s.event) == GYRE_AGAIN);
    gate_open(&s.held);
    CHECK(reached(s.event) == GYRE_OK);
    scene_end(&s);
}

static void recording_again_forgets_the_earlier_place(void)
{
    scene s;

    if (!scene_begin(&s))
        return;
    CHECK(ok(gyre_event_record(s.event, s.first)));
    CHECK(reached(s.event) == GYRE_OK);
    CHECK(ok(gate_submit(&s.held, s.first, kernel_of(KERNEL_GATE))));
    CHECK(ok(gyre_event_record(s.event, s.first)));
    CHECK(gyre_event_poll(s.event) == GYRE_AGAIN);
    /* and on another stream, which is idle, it is reached at once */
    CHECK(ok(gyre_event_record(s.event, s.second)));
    CHECK(reached(s.event) == GYRE_OK);
    scene_end(&s);
}

static void a_stream_waits_on_the_device_only(void)
{
    uint32_t host[N] = {0};
    scene s;

    if (!scene_begin(&s))
        return;
    CHECK(put(s.second, s.data, host, BYTES));
    CHECK(ok(gate_submit(&s.held, s.first, kernel_of(KERNEL_GATE))));
    CHECK(ok(step(s.first, (step_parameters){s.data, N, 0, 3, 0})));
    CHECK(ok(gyre_event_record(s.event, s.first)));
    CHECK(ok(gyre_stream_wait_event(s.second, s.event)));
    CHECK(ok(step(s.second, (step_parameters){s.data, N, 10, 4, 0})));
    for (int i = 0; i < 100; i++)
        CHECK(gyre_stream_poll(s.second) == GYRE_AGAIN);
    gate_open(&s.held);
    CHECK(put(s.second, host, s.data, BYTES));
    CHECK(host[0] == 34 && host[N - 1] == 34);
    scene_end(&s);
}

static void a_wait_is_for_the_place_as_it_was_then(void)
{
    uint32_t host[N] = {0};
    scene s;

    if (under_sanitizer())
        SKIP("compute-sanitizer lets no two kernels run at once");
    if (!scene_begin(&s))
        return;
    CHECK(ok(step(s.first, (step_parameters){s.data, N, 0, 3, 1000})));
    CHECK(ok(gyre_event_record(s.event, s.first)));
    CHECK(ok(gyre_stream_wait_event(s.second, s.event)));
    CHECK(ok(gate_submit(&s.held, s.first, kernel_of(KERNEL_GATE))));
    CHECK(ok(gyre_event_record(s.event, s.first))); /* the second stream does not wait for this */
    CHECK(ok(step(s.second, (step_parameters){s.data, N, 10, 4, 0})));
    CHECK(put(s.second, host, s.data, BYTES));
    CHECK(host[0] == 34 && host[N - 1] == 34);
    CHECK(gyre_event_poll(s.event) == GYRE_AGAIN);
    scene_end(&s);
}

static void an_event_destroyed_early_still_orders(void)
{
    uint32_t host[N] = {0};
    gyre_event *early;
    scene s;

    if (!scene_begin(&s))
        return;
    early = event_new();
    REQUIRE(early);
    CHECK(ok(gate_submit(&s.held, s.first, kernel_of(KERNEL_GATE))));
    CHECK(ok(step(s.first, (step_parameters){s.data, N, 0, 3, 0})));
    CHECK(ok(gyre_event_record(early, s.first)));
    CHECK(ok(gyre_stream_wait_event(s.second, early)));
    CHECK(ok(step(s.second, (step_parameters){s.data, N, 10, 4, 0})));
    gyre_event_destroy(early);
    CHECK(gyre_stream_poll(s.second) == GYRE_AGAIN);
    gate_open(&s.held);
    CHECK(put(s.second, host, s.data, BYTES));
    CHECK(host[0] == 34 && host[N - 1] == 34);
    scene_end(&s);
}

static void times_are_told_where_they_can_be(void)
{
    gyre_stream *const stream = stream_new();
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, BYTES);
    gyre_event *from = (gyre_event *)&on, *to = NULL, *const order = event_new();
    gyre_status status;
    double ns = -1;

    REQUIRE(stream && data && order);
    status = gyre_event_create(on.context, GYRE_EVENT_TIME, &from);
    if (!gyre_device_has(on.device, GYRE_FEATURE_TIMING)) {
        CHECK(status == GYRE_UNSUPPORTED && from == NULL);
    } else {
        REQUIRE(ok(status) && ok(gyre_event_create(on.context, GYRE_EVENT_TIME, &to)));
        CHECK(ok(gyre_event_record(from, stream)));
        for (int i = 0; i < 5; i++)
            CHECK(ok(step(stream, (step_parameters){data, N, 1, 1, 100000})));
        CHECK(ok(gyre_event_record(to, stream)));
        CHECK(ok(gyre_stream_sync(stream)));
        CHECK(ok(gyre_event_between(from, to, &ns)) && ns > 0 && ns < 1e10);
        CHECK(ok(gyre_event_between(from, from, &ns)) && ns == 0);
        CHECK(ok(gyre_event_record(order, stream)));
        CHECK(ok(gyre_stream_sync(stream)));
        CHECK(gyre_event_between(from, order, &ns) != GYRE_OK);
    }
    gyre_event_destroy(from);
    gyre_event_destroy(to);
    gyre_event_destroy(order);
    give(GYRE_CONTEXT_DEVICE, data, BYTES);
    gyre_stream_destroy(stream);
}

/* Work that is known to lie within a span of the host's time cannot have taken longer. The first
 * round asks the time of a stream that is at work already. */
static void times_are_within_those_of_the_host(void)
{
    enum { ROUNDS = 20 };
    gyre_stream *stream;
    gyre_event *from, *to;
    uint32_t *data;

    if (!gyre_device_has(on.device, GYRE_FEATURE_TIMING))
        SKIP("this device tells no times");
    stream = stream_new();
    data = take(GYRE_CONTEXT_DEVICE, BYTES);
    REQUIRE(stream && data);
    REQUIRE(ok(gyre_event_create(on.context, GYRE_EVENT_TIME, &from)));
    REQUIRE(ok(gyre_event_create(on.context, GYRE_EVENT_TIME, &to)));
    CHECK(ok(step(stream, (step_parameters){data, N, 1, 1, 100000})));
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t began_ns = gyre_clock_now_ns();
        double ns = -1, most;

        CHECK(ok(gyre_event_record(from, stream)));
        CHECK(ok(step(stream, (step_parameters){data, N, 1, 1, 100000})));
        CHECK(ok(gyre_event_record(to, stream)));
        CHECK(reached(to) == GYRE_OK);
        most = (double)(gyre_clock_now_ns() - began_ns);
        CHECK(ok(gyre_event_between(from, to, &ns)));
        CHECK(ns > 0 && ns < 1.01 * most + 1000); /* two clocks, and their ticks */
    }
    CHECK(ok(gyre_stream_sync(stream)));
    gyre_event_destroy(from);
    gyre_event_destroy(to);
    give(GYRE_CONTEXT_DEVICE, data, BYTES);
    gyre_stream_destroy(stream);
}

/* Its time is asked when its work is held up: that must not overtake. */
static void asking_for_time_keeps_the_order(void)
{
    gyre_event *passed;
    scene s;

    if (!gyre_device_has(on.device, GYRE_FEATURE_TIMING))
        SKIP("this device tells no times");
    if (!scene_begin(&s))
        return;
    REQUIRE(ok(gyre_event_create(on.context, GYRE_EVENT_TIME, &passed)));
    CHECK(ok(gate_submit(&s.held, s.first, kernel_of(KERNEL_GATE))));
    CHECK(ok(gyre_event_record(passed, s.first)));
    for (int i = 0; i < 100; i++)
        CHECK(gyre_event_poll(passed) == GYRE_AGAIN);
    gate_open(&s.held);
    CHECK(reached(passed) == GYRE_OK);
    gyre_event_destroy(passed);
    scene_end(&s);
}

static void times_of_what_is_not_reached_are_not_told(void)
{
    gyre_event *from, *to;
    double ns = 0;
    scene s;

    if (!gyre_device_has(on.device, GYRE_FEATURE_TIMING))
        SKIP("this device tells no times");
    if (!scene_begin(&s))
        return;
    REQUIRE(ok(gyre_event_create(on.context, GYRE_EVENT_TIME, &from)));
    REQUIRE(ok(gyre_event_create(on.context, GYRE_EVENT_TIME, &to)));
    CHECK(ok(gyre_event_record(from, s.first)));
    CHECK(ok(gate_submit(&s.held, s.first, kernel_of(KERNEL_GATE))));
    CHECK(ok(gyre_event_record(to, s.first)));
    CHECK(gyre_event_between(from, to, &ns) == GYRE_AGAIN);
    gate_open(&s.held);
    CHECK(reached(to) == GYRE_OK);
    CHECK(ok(gyre_event_between(from, to, &ns)) && ns > 0);
    gyre_event_destroy(from);
    gyre_event_destroy(to);
    scene_end(&s);
}

static void events_of_another_context_are_refused(void)
{
    gyre_stream *const stream = stream_new();
    gyre_context *other;
    gyre_stream *their;
    gyre_event *event;

    REQUIRE(stream && ok(gyre_context_create(on.device, NULL, &other)));
    REQUIRE(ok(gyre_stream_create(other, NULL, &their)) &&
            ok(gyre_event_create(other, GYRE_EVENT_ORDER, &event)));
    CHECK(gyre_event_record(event, stream) == GYRE_INVALID);
    CHECK(gyre_event_poll(event) == GYRE_INVALID); /* so it was never recorded */
    CHECK(ok(gyre_event_record(event, their)));
    CHECK(gyre_stream_wait_event(stream, event) == GYRE_INVALID);
    CHECK(ok(gyre_stream_sync(stream)) && ok(gyre_stream_sync(their)));
    gyre_event_destroy(event);
    gyre_stream_destroy(their);
    gyre_context_destroy(other);
    gyre_stream_destroy(stream);
}

static void an_event_outlives_its_stream(void)
{
    gyre_stream *const other = stream_new();
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, BYTES);
    gyre_event *const event = event_new();
    uint32_t host[N] = {0};

    REQUIRE(other && data && event && kernel_of(KERNEL_STEP));
    for (uint32_t round = 1; round <= 10; round++) {
        gyre_stream *const stream = stream_new();

        REQUIRE(stream);
        CHECK(ok(step(stream, (step_parameters){data, N, 0, round, 20000})));
        CHECK(ok(gyre_event_record(event, stream)));
        gyre_stream_destroy(stream);
        CHECK(gyre_event_poll(event) == GYRE_OK); /* its work was waited for */
        CHECK(ok(gyre_stream_wait_event(other, event)));
        CHECK(ok(step(other, (step_parameters){data, N, 10, 1, 0})));
        CHECK(put(other, host, data, BYTES));
        CHECK(host[0] == round * 10 + 1 && host[N - 1] == round * 10 + 1);
    }
    CHECK(ok(gyre_event_record(event, other)) && reached(event) == GYRE_OK);
    gyre_event_destroy(event);
    give(GYRE_CONTEXT_DEVICE, data, BYTES);
    gyre_stream_destroy(other);
}

static gyre_event *watched;
static uint32_t watching; /* shared: 1 until the watchers shall end */

static void watch(size_t number)
{
    gyre_stream *stream;
    uint32_t *data;

    if (number > 0) { /* acquire [watch]: pairs with the release below */
        while (__atomic_load_n(&watching, __ATOMIC_ACQUIRE)) {
            const gyre_status status = gyre_event_poll(watched);

            CHECK(status == GYRE_OK || status == GYRE_AGAIN);
        }
        return;
    }
    stream = stream_new();
    data = take(GYRE_CONTEXT_DEVICE, BYTES);
    CHECK(stream && data);
    for (uint32_t i = 0; stream && data && i < 150; i++) {
        CHECK(ok(step(stream, (step_parameters){data, N, 1, 1, i * 20})));
        CHECK(ok(gyre_event_record(watched, stream)));
        if (i % 8 == 0)
            CHECK(reached(watched) == GYRE_OK);
    }
    CHECK(ok(gyre_stream_sync(stream)));
    CHECK(gyre_event_poll(watched) == GYRE_OK);
    __atomic_store_n(&watching, 0, __ATOMIC_RELEASE);
    give(GYRE_CONTEXT_DEVICE, data, BYTES);
    gyre_stream_destroy(stream);
}

static void any_thread_may_poll_an_event(void)
{
    gyre_stream *const stream = stream_new();

    watched = event_new();
    REQUIRE(stream && watched && kernel_of(KERNEL_STEP));
    CHECK(ok(gyre_event_record(watched, stream)));
    watching = 1;
    CHECK(together(3, watch));
    gyre_event_destroy(watched);
    gyre_stream_destroy(stream);
}

static const test_case cases[] = {
    TEST(an_event_that_was_never_recorded_is_invalid),
    TEST(an_event_on_an_idle_stream_is_reached),
    TEST(recording_has_no_ticket),
    TEST(an_event_is_not_reached_before_its_place),
    TEST(recording_again_forgets_the_earlier_place),
    TEST(a_stream_waits_on_the_device_only),
    TEST(a_wait_is_for_the_place_as_it_was_then),
    TEST(an_event_destroyed_early_still_orders),
    TEST(times_are_told_where_they_can_be),
    TEST(times_are_within_those_of_the_host),
    TEST(asking_for_time_keeps_the_order),
    TEST(times_of_what_is_not_reached_are_not_told),
    TEST(events_of_another_context_are_refused),
    TEST(an_event_outlives_its_stream),
    TEST(any_thread_may_poll_an_event),
};
CONFORMANCE_MAIN(cases)
