/* SPDX-License-Identifier: Apache-2.0
 *
 * Health: deadlines, strikes, what a lost context still does, and what the others do meanwhile.
 */
#include "conformance_hold.h"

#include "gyre/memory.h"

static gyre_stream_statistics statistics_of(gyre_stream *stream)
{
    gyre_stream_statistics statistics = {.struct_size = sizeof statistics};

    CHECK(ok(gyre_stream_describe(stream, &statistics)));
    return statistics;
}

static void a_missed_deadline_is_a_strike_and_progress_clears_it(void)
{
    hold h;
    uint64_t start;

    if (!hold_begin(&h, (gyre_context_options){.sync_timeout_ns = 20 * MS, .strikes = 100},
                    "hang@1+600"))
        return;
    CHECK(ok(hold_submit(&h, 0)) && ok(hold_step(&h, 7)));
    for (uint32_t i = 1; i <= 4; i++) {
        start = gyre_clock_now_ns();
        CHECK(gyre_stream_sync(h.stream) == GYRE_TIMEOUT);
        CHECK(gyre_clock_now_ns() - start >= 20 * MS);
        CHECK(statistics_of(h.stream).strikes == i && statistics_of(h.stream).timeouts == i);
    }
    CHECK(gyre_context_check(h.context) == GYRE_OK && gyre_stream_fault(h.stream) == NULL);
    hold_release(&h);
    hold_drain(&h);
    CHECK(statistics_of(h.stream).strikes == 0 && statistics_of(h.stream).timeouts == 4);
    CHECK(hold_first_word(&h) == 7);
    hold_end(&h);
}

static void a_short_wait_that_misses_is_no_strike(void)
{
    hold h;

    if (!hold_begin(&h, (gyre_context_options){.sync_timeout_ns = 1000 * MS, .strikes = 1},
                    "hang@1+600"))
        return;
    CHECK(ok(hold_submit(&h, 0)));
    for (uint32_t i = 1; i <= 5; i++) {
        CHECK(gyre_stream_wait(h.stream, ticket(h.stream), gyre_clock_after_ns(5 * MS)) ==
              GYRE_TIMEOUT);
        CHECK(statistics_of(h.stream).strikes == 0);
    }
    /* one that has passed already is only a look */
    CHECK(gyre_stream_wait(h.stream, ticket(h.stream), 0) == GYRE_TIMEOUT);
    CHECK(gyre_context_check(h.context) == GYRE_OK);
    hold_release(&h);
    hold_drain(&h);
    hold_end(&h);
}

static void progress_between_misses_keeps_a_context(void)
{
    hold h;

    if (!hold_begin(&h, (gyre_context_options){.sync_timeout_ns = 20 * MS, .strikes = 3},
                    "hang@1..3+600"))
        return;
    for (int round = 0; round < 3; round++) {
        if (h.held.flag)
            gate_close(&h.held);
        CHECK(ok(hold_submit(&h, 0)));
        for (int i = 0; i < 2; i++)
            CHECK(gyre_stream_sync(h.stream) == GYRE_TIMEOUT);
        CHECK(statistics_of(h.stream).strikes == 2);
        hold_release(&h);
        hold_drain(&h);
    }
    CHECK(gyre_context_check(h.context) == GYRE_OK);
    CHECK(ok(hold_step(&h, 3)) && hold_first_word(&h) == 3);
    hold_end(&h);
}

static void declared_work_gets_its_time(void)
{
    hold h;
    uint64_t start;

    if (!hold_begin(&h, (gyre_context_options){.sync_timeout_ns = 20 * MS, .strikes = 1},
                    "hang@1+600"))
        return;
    start = gyre_clock_now_ns();
    CHECK(ok(hold_submit(&h, 30 * MS)) && ok(hold_step(&h, 1)));
    CHECK(gyre_stream_sync(h.stream) == GYRE_DEVICE_LOST); /* one strike is all here */
    CHECK(gyre_clock_now_ns() - start >= 120 * MS);        /* four times what it said */
    hold_release(&h);
    CHECK(hold_reset(&h));
    hold_drain(&h);
    CHECK(hold_first_word(&h) == 1);
    hold_end(&h);
}

/* Everything says GYRE_DEVICE_LOST, and why. */
static void all_is_lost(hold *h, const char *kernel_name)
{
    const gyre_memory *const memory = gyre_context_memory(h->context, GYRE_CONTEXT_DEVICE);
    gyre_stream *stream = (gyre_stream *)&on;
    gyre_event *event = (gyre_event *)&on;
    gyre_kernel *kernel = (gyre_kernel *)&on;
    uint32_t word = 0;
    void *block = &word;
    const gyre_error *const fault = gyre_context_fault(h->context);

    CHECK(gyre_context_check(h->context) == GYRE_DEVICE_LOST);
    CHECK(gyre_error_last()->status == GYRE_DEVICE_LOST && gyre_error_last()->text[0]);
    CHECK(fault && fault->status == GYRE_DEVICE_LOST);
    CHECK(fault && strstr(fault->text, kernel_name));
    if (fault && !strstr(fault->text, kernel_name))
        fprintf(stderr, "no '%s' in: %s\n", kernel_name, fault->text);
    CHECK(gyre_stream_sync(h->stream) == GYRE_DEVICE_LOST);
    CHECK(gyre_stream_poll(h->stream) == GYRE_DEVICE_LOST);
    CHECK(gyre_stream_wait(h->stream, ticket(h->stream), GYRE_NEVER) == GYRE_DEVICE_LOST);
    CHECK(hold_step(h, 1) == GYRE_DEVICE_LOST);
    CHECK(gyre_stream_copy(h->stream, &word, h->data, 4) == GYRE_DEVICE_LOST);
    CHECK(gyre_stream_fill(h->stream, &(gyre_fill){.to = h->data, .pattern_size = 1, .count = 1}) ==
          GYRE_DEVICE_LOST);
    CHECK(gyre_stream_create(h->context, NULL, &stream) == GYRE_DEVICE_LOST && !stream);
    CHECK(gyre_event_create(h->context, GYRE_EVENT_ORDER, &event) == GYRE_DEVICE_LOST && !event);
    CHECK(gyre_kernel_create(h->context, &conformance_program, "mark", "pointer", NULL, &kernel) ==
              GYRE_DEVICE_LOST &&
          !kernel);
    CHECK(memory->take(memory, 64, 64, &block) == GYRE_DEVICE_LOST && !block);
    CHECK(gyre_context_fault(h->context) == fault); /* the first stays */
}

static void the_last_strike_loses_the_context(void)
{
    gyre_stream *const mine = stream_new();
    const char *const name = gyre_device_has(on.device, GYRE_FEATURE_FAULTS) ? "nothing" : "gate";
    uint32_t in = 8, out = 0;
    gyre_context *fresh = NULL;
    void *block;
    hold h;

    if (!mine || !hold_begin(&h, (gyre_context_options){.sync_timeout_ns = 20 * MS}, "hang@1")) {
        gyre_stream_destroy(mine);
        return;
    }
    CHECK(ok(hold_submit(&h, 0)) && ok(hold_step(&h, 1)));
    CHECK(gyre_stream_sync(h.stream) == GYRE_TIMEOUT);
    CHECK(gyre_stream_sync(h.stream) == GYRE_TIMEOUT);
    CHECK(gyre_stream_sync(h.stream) == GYRE_DEVICE_LOST);
    all_is_lost(&h, name);
    CHECK(gyre_context_reset(h.context) == GYRE_DEVICE_LOST); /* it still hangs */
    all_is_lost(&h, name);
    /* the other contexts of the device go on */
    block = take(GYRE_CONTEXT_DEVICE, 4);
    CHECK(block && put(mine, block, &in, 4) && put(mine, &out, block, 4) && out == 8);
    give(GYRE_CONTEXT_DEVICE, block, 4);
    gyre_stream_destroy(mine);
    /* and a new one works */
    if (ok(gyre_context_create(on.device, NULL, &fresh)))
        gyre_context_destroy(fresh);
    else
        CHECK(!"a new context after one that was lost");
    /* all of this returns while the kernel still runs; the flag it looks at is left to it */
    gyre_stream_destroy(h.stream);
    gyre_kernel_release(h.gate_kernel);
    gyre_kernel_release(h.step_kernel);
    CHECK(!h.held.flag || __atomic_load_n(h.held.flag, __ATOMIC_ACQUIRE) == 0);
    if (h.held.flag)
        gate_open(&h.held);
    sleep_ns(20 * MS); /* so that it sees it before the memory may go */
    if (h.held.flag)
        gate_fini(&h.held);
    give_in(h.context, GYRE_CONTEXT_DEVICE, h.data, BYTES);
    gyre_context_destroy(h.context);
}

static void a_lost_context_that_was_only_slow_can_be_reset(void)
{
    const char *const name = gyre_device_has(on.device, GYRE_FEATURE_FAULTS) ? "nothing" : "gate";
    hold h;

    if (!hold_begin(&h, (gyre_context_options){.sync_timeout_ns = 20 * MS}, "hang@1+600"))
        return;
    CHECK(ok(hold_submit(&h, 0)) && ok(hold_step(&h, 5)));
    while (gyre_stream_sync(h.stream) == GYRE_TIMEOUT)
        ;
    all_is_lost(&h, name);
    CHECK(gyre_context_reset(h.context) == GYRE_DEVICE_LOST);
    hold_release(&h);
    CHECK(hold_reset(&h));
    CHECK(gyre_context_check(h.context) == GYRE_OK && gyre_context_fault(h.context) == NULL);
    hold_drain(&h);
    CHECK(statistics_of(h.stream).strikes == 0);
    CHECK(hold_first_word(&h) == 5);
    CHECK(ok(hold_step(&h, 6)) && hold_first_word(&h) == 11);
    hold_end(&h);
}

static void resetting_forgets_strikes(void)
{
    hold h;

    CHECK(ok(gyre_context_reset(on.context))); /* nothing to forget */
    if (!hold_begin(&h, (gyre_context_options){.sync_timeout_ns = 20 * MS, .strikes = 3},
                    "hang@1+600"))
        return;
    CHECK(ok(hold_submit(&h, 0)));
    for (int round = 0; round < 3; round++) {
        CHECK(gyre_stream_sync(h.stream) == GYRE_TIMEOUT);
        CHECK(gyre_stream_sync(h.stream) == GYRE_TIMEOUT);
        CHECK(statistics_of(h.stream).strikes == 2);
        CHECK(ok(gyre_context_reset(h.context)));
        CHECK(statistics_of(h.stream).strikes == 0);
    }
    hold_release(&h);
    hold_drain(&h);
    hold_end(&h);
}

static void too_many_pending_make_the_next_wait(void)
{
    hold h;

    if (!hold_begin(
            &h,
            (gyre_context_options){.sync_timeout_ns = 20 * MS, .strikes = 100, .pending_most = 4},
            "hang@1+600"))
        return;
    CHECK(statistics_of(h.stream).blocked == 0);
    CHECK(ok(hold_submit(&h, 0)));
    for (int i = 0; i < 3; i++)
        CHECK(ok(hold_step(&h, 1)));
    CHECK(statistics_of(h.stream).blocked == 0 && submitted(h.stream) == 5);
    CHECK(hold_step(&h, 1) == GYRE_TIMEOUT); /* and nothing was submitted */
    CHECK(submitted(h.stream) == 5);
    CHECK(statistics_of(h.stream).blocked == 1 && statistics_of(h.stream).blocked_ns >= 20 * MS);
    hold_release(&h);
    hold_drain(&h);
    for (int i = 0; i < 20; i++)
        CHECK(ok(hold_step_at_last(&h, 1)));
    CHECK(hold_first_word(&h) == 23);
    hold_end(&h);
}

/* A driver may let who submits wait when it has no room, and knows no deadline. */
static void the_most_pending_behind_one_that_hangs_are_no_prison(void)
{
    const bool timed = gyre_device_has(on.device, GYRE_FEATURE_TIMING);
    gyre_event *event = NULL;
    gyre_status status = GYRE_OK;
    uint32_t steps = 0;
    hold h;

    if (!hold_begin(&h,
                    (gyre_context_options){
                        .sync_timeout_ns = 20 * MS, .strikes = 100, .pending_most = UINT32_MAX},
                    "hang@1+600"))
        return;
    REQUIRE(ok(gyre_event_create(h.context, timed ? GYRE_EVENT_TIME : GYRE_EVENT_ORDER, &event)));
    CHECK(ok(hold_submit(&h, 0)));
    while (status == GYRE_OK && steps < 5000) {
        CHECK(ok(gyre_event_record(event, h.stream)));
        status = hold_step(&h, 1);
        steps += status == GYRE_OK;
        CHECK(ok(gyre_event_record(event, h.stream)));
    }
    CHECK(status == GYRE_TIMEOUT && steps >= 64);
    hold_release(&h);
    hold_drain(&h);
    CHECK(hold_first_word(&h) == steps);
    gyre_event_destroy(event);
    hold_end(&h);
}

static void a_stream_may_have_its_own_number_of_pending(void)
{
    const gyre_stream_options one = {.struct_size = sizeof one, .pending_most = 1};
    gyre_stream *stream;
    hold h;

    if (!hold_begin(
            &h,
            (gyre_context_options){.sync_timeout_ns = 20 * MS, .strikes = 100, .pending_most = 8},
            "hang@1+600"))
        return;
    stream = h.stream;
    REQUIRE(ok(gyre_stream_create(h.context, &one, &h.stream)));
    CHECK(ok(hold_submit(&h, 0)));
    CHECK(hold_step(&h, 1) == GYRE_TIMEOUT && submitted(h.stream) == 1);
    hold_release(&h);
    hold_drain(&h);
    CHECK(ok(hold_step(&h, 1)) && ok(hold_step_at_last(&h, 1)) && hold_first_word(&h) == 2);
    gyre_stream_destroy(h.stream);
    h.stream = stream;
    hold_end(&h);
}

static hold retried;

static void retry_or_release(size_t number)
{
    if (number == 0) {
        CHECK(ok(gyre_stream_sync_retry(retried.stream, 30, 2 * MS)));
        return;
    }
    sleep_ns(60 * MS);
    hold_release(&retried);
}

static void a_sync_can_be_tried_again(void)
{
    uint64_t start;

    if (!hold_begin(&retried, (gyre_context_options){.sync_timeout_ns = 20 * MS, .strikes = 100},
                    "hang@1+600"))
        return;
    CHECK(ok(hold_submit(&retried, 0)));
    start = gyre_clock_now_ns();
    CHECK(gyre_stream_sync_retry(retried.stream, 3, 2 * MS) == GYRE_TIMEOUT);
    CHECK(gyre_clock_now_ns() - start >= 60 * MS); /* three waits, and pauses */
    CHECK(statistics_of(retried.stream).timeouts == 3);
    CHECK(together(2, retry_or_release));
    CHECK(statistics_of(retried.stream).strikes == 0);
    hold_end(&retried);
}

static void a_fault_is_kept_with_the_name_of_what_ran(void)
{
    char text[256];
    gyre_stream *other;
    gyre_context *fresh;
    hold h;

    if (!gyre_device_has(on.device, GYRE_FEATURE_FAULTS))
        SKIP("this device does not fail when it is told to");
    if (!hold_begin(&h, (gyre_context_options){0}, "fault@2"))
        return;
    REQUIRE(ok(gyre_stream_create(h.context, NULL, &other)));
    CHECK(gyre_stream_fault(h.stream) == NULL);
    CHECK(ok(hold_submit(&h, 0)));
    CHECK(ok(gyre_stream_sync(h.stream)));
    CHECK(ok(hold_step(&h, 1))); /* found when it is looked for, not now */
    CHECK(gyre_stream_sync(h.stream) == GYRE_DEVICE_LOST);
    REQUIRE(gyre_stream_fault(h.stream));
    CHECK(gyre_stream_fault(h.stream)->status == GYRE_DEVICE_LOST);
    CHECK(strstr(gyre_stream_fault(h.stream)->text, "advance"));
    snprintf(text, sizeof text, "%s", gyre_stream_fault(h.stream)->text);
    all_is_lost(&h, "advance");
    CHECK(strcmp(text, gyre_stream_fault(h.stream)->text) == 0);
    CHECK(gyre_stream_fault(other) == NULL && gyre_stream_sync(other) == GYRE_DEVICE_LOST);
    CHECK(gyre_context_reset(h.context) == GYRE_DEVICE_LOST); /* it was not slow */
    gyre_stream_destroy(other);
    hold_end(&h);
    REQUIRE(ok(gyre_context_create(on.device, NULL, &fresh)));
    gyre_context_destroy(fresh);
}

/* Who waits for what hangs, who waits for another stream behind it, and who waits for room. */
static hold crowded;
static gyre_stream *crowded_behind;

static void wait_in_vain(size_t number)
{
    gyre_status status = GYRE_TIMEOUT;

    if (number == 0) {
        while (status == GYRE_TIMEOUT)
            status = gyre_stream_sync(crowded.stream); /* its strikes lose the context */
        CHECK(status == GYRE_DEVICE_LOST);
    } else if (number == 1) {
        CHECK(gyre_stream_wait(crowded.stream, ticket(crowded.stream), GYRE_NEVER) ==
              GYRE_DEVICE_LOST);
    } else if (number == 2) {
        CHECK(gyre_stream_wait(crowded_behind, ticket(crowded_behind), GYRE_NEVER) ==
              GYRE_DEVICE_LOST);
    } else {
        while (status == GYRE_TIMEOUT)
            status = hold_step(&crowded, 1);
        CHECK(status == GYRE_DEVICE_LOST);
    }
}

static void everybody_who_waits_hears_of_a_loss(void)
{
    gyre_event *event;

    if (!hold_begin(
            &crowded,
            (gyre_context_options){.sync_timeout_ns = 20 * MS, .strikes = 4, .pending_most = 2},
            "hang@1+600"))
        return;
    REQUIRE(ok(gyre_stream_create(crowded.context, NULL, &crowded_behind)) &&
            ok(gyre_event_create(crowded.context, GYRE_EVENT_ORDER, &event)));
    CHECK(ok(hold_submit(&crowded, 0)) && ok(hold_step(&crowded, 1)) &&
          ok(gyre_event_record(event, crowded.stream)) &&
          ok(gyre_stream_wait_event(crowded_behind, event)));
    CHECK(ok(gyre_stream_fill(crowded_behind,
                              &(gyre_fill){.to = crowded.data, .pattern_size = 4, .count = N})));
    CHECK(together(4, wait_in_vain));
    hold_release(&crowded); /* and when it was only slow, all of it is there after all */
    CHECK(hold_reset(&crowded));
    hold_drain(&crowded);
    gyre_event_destroy(event);
    gyre_stream_destroy(crowded_behind);
    hold_end(&crowded);
}

static void a_fault_in_a_graph_is_kept_too(void)
{
    step_parameters p = {NULL, N, 1, 1, 0};
    const gyre_launch launch = launch_of(1, N, &p, sizeof p);
    gyre_graph *graph;
    uint32_t node;
    hold h;

    if (!gyre_device_has(on.device, GYRE_FEATURE_FAULTS))
        SKIP("this device does not fail when it is told to");
    if (!hold_begin(&h, (gyre_context_options){0}, "fault@3"))
        return;
    p.data = h.data;
    REQUIRE(ok(gyre_graph_create(h.context, NULL, &graph)));
    for (int i = 0; i < 2; i++)
        CHECK(ok(gyre_graph_launch(graph, h.step_kernel, &launch, (gyre_after){NULL, 0}, &node)));
    CHECK(ok(gyre_graph_finish(graph)));
    CHECK(ok(gyre_stream_submit(h.stream, graph)) && hold_first_word(&h) == 2);
    CHECK(ok(gyre_stream_submit(h.stream, graph)));
    CHECK(gyre_stream_sync(h.stream) == GYRE_DEVICE_LOST);
    CHECK(gyre_stream_fault(h.stream) && gyre_context_fault(h.context));
    CHECK(gyre_stream_submit(h.stream, graph) == GYRE_DEVICE_LOST);
    gyre_graph_destroy(graph);
    hold_end(&h);
}

static void a_device_that_does_not_answer_is_not_opened(void)
{
    static const char *const faults[] = {"open", "silent", "refuse@1", "memory@1"};
    gyre_context_options options = {.struct_size = sizeof options, .sync_timeout_ns = 20 * MS};

    if (!gyre_device_has(on.device, GYRE_FEATURE_FAULTS))
        SKIP("this device does not fail when it is told to");
    for (size_t i = 0; i < COUNT(faults); i++) {
        gyre_context *context = (gyre_context *)&on;

        options.faults = faults[i];
        CHECK(gyre_context_create(on.device, &options, &context) ==
              (i < 2 ? GYRE_DEVICE_LOST : GYRE_NO_MEMORY));
        CHECK(context == NULL && gyre_error_last()->text[0]);
    }
}

/* Last, because the device is of no use afterwards. */
static void a_fault_that_stays_closes_the_device(void)
{
    gyre_context *fresh = (gyre_context *)&on;
    hold h;

    if (!gyre_device_has(on.device, GYRE_FEATURE_FAULTS))
        SKIP("this device does not fail when it is told to");
    if (!hold_begin(&h, (gyre_context_options){0}, "fault@1 sticky"))
        return;
    CHECK(ok(hold_step(&h, 1)) && gyre_stream_sync(h.stream) == GYRE_DEVICE_LOST);
    hold_end(&h);
    CHECK(gyre_context_create(on.device, NULL, &fresh) == GYRE_DEVICE_LOST && fresh == NULL);
}

/* Last too: an address that nobody has, on a GPU. */
static void a_real_fault_is_named_and_lasts(void)
{
    gyre_context *fresh = (gyre_context *)&on;
    step_parameters p = {NULL, N, 1, 1, 0};
    const gyre_launch launch = launch_of(1, N, &p, sizeof p);
    hold h;

    if (on.device->kind != GYRE_DEVICE_GPU || strcmp(on.device->backend, "cuda") != 0)
        SKIP("a kernel of this device would end the process");
    memset(&p.data, 0xf0, sizeof p.data);
    if (!hold_begin(&h, (gyre_context_options){0}, ""))
        return;
    CHECK(ok(gyre_stream_launch(h.stream, h.step_kernel, &launch)));
    CHECK(gyre_stream_sync(h.stream) == GYRE_DEVICE_LOST);
    all_is_lost(&h, "advance");
    CHECK(gyre_context_fault(h.context) && gyre_context_fault(h.context)->native != 0);
    hold_end(&h);
    CHECK(gyre_context_create(on.device, NULL, &fresh) == GYRE_DEVICE_LOST && fresh == NULL);
}

static const test_case cases[] = {
    TEST(a_missed_deadline_is_a_strike_and_progress_clears_it),
    TEST(a_short_wait_that_misses_is_no_strike),
    TEST(progress_between_misses_keeps_a_context),
    TEST(declared_work_gets_its_time),
    TEST(the_last_strike_loses_the_context),
    TEST(a_lost_context_that_was_only_slow_can_be_reset),
    TEST(resetting_forgets_strikes),
    TEST(too_many_pending_make_the_next_wait),
    TEST(the_most_pending_behind_one_that_hangs_are_no_prison),
    TEST(a_stream_may_have_its_own_number_of_pending),
    TEST(a_sync_can_be_tried_again),
    TEST(a_fault_is_kept_with_the_name_of_what_ran),
    TEST(everybody_who_waits_hears_of_a_loss),
    TEST(a_fault_in_a_graph_is_kept_too),
    TEST(a_device_that_does_not_answer_is_not_opened),
    TEST(a_fault_that_stays_closes_the_device),
    TEST(a_real_fault_is_named_and_lasts),
};
CONFORMANCE_MAIN(cases)
