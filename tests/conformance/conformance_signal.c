/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams and actors: what a stream wakes an actor with comes behind its work, and a stream that
 * waits for an answer goes on with it, or without when there will be none.
 */
#include "conformance.h"

#include "gyre/actor.h"
#include "gyre/clock.h"
#include "gyre/port.h"

#include "behaviours/blend.c"  /* NOLINT(bugprone-suspicious-include): its types as well */
#include "behaviours/ledger.c" /* NOLINT(bugprone-suspicious-include): its types as well */

enum { N = 1000, BYTES = N * 4 };

static uint64_t soon(void)
{
    return gyre_clock_after_ns(20000 * MS);
}

/* Whether a stream can be held up beside an actor. */
static bool holds_exist(void)
{
    return gates_exist() && !under_sanitizer();
}

/* An actor with two ports, and a stream that may be held up. */
typedef struct scene {
    gyre_actor *actor;
    gyre_port *port, *other;
    gyre_stream *stream;
    uint32_t *data; /* pinned, N of them */
    gate held;
} scene;

static bool scene_begin(scene *s, const gyre_behaviour *behaviour, uint32_t capacity)
{
    const gyre_actor_options options = {.struct_size = sizeof options, .stall_ns = 200 * MS};
    const gyre_actor_launch_options launch = {
        .struct_size = sizeof launch, .ports = 2, .capacity = capacity};
    const gyre_stream_options roomy = {.struct_size = sizeof roomy, .pending_most = 64};
    gyre_status status;

    *s = (scene){0};
    /* kernels are loaded before: to load one the actor would be parked, and wait for the stream */
    if (holds_exist() && !kernel_of(KERNEL_GATE))
        return false;
    status = gyre_actor_create(on.context, behaviour, &options, &s->actor);
    if (status == GYRE_UNSUPPORTED) {
        test_skip_reason = "this device has no actors";
        return false;
    }
    CHECK(ok(gyre_stream_create(on.context, &roomy, &s->stream)));
    s->data = take(GYRE_CONTEXT_PINNED, BYTES);
    CHECK(ok(status) && s->stream && s->data && gate_init(&s->held, on.context) &&
          ok(gyre_actor_launch(s->actor, &launch)) &&
          ok(gyre_port_open(s->actor, NULL, &s->port)) &&
          ok(gyre_port_open(s->actor, NULL, &s->other)));
    if (s->data)
        memset(s->data, 0, BYTES);
    return s->other && s->data;
}

static void scene_end(scene *s)
{
    gate_open(&s->held);
    CHECK(ok(gyre_stream_sync(s->stream)));
    CHECK(ok(gyre_actor_terminate(s->actor, soon())));
    gyre_port_close(s->port);
    gyre_port_close(s->other);
    gyre_actor_destroy(s->actor);
    gyre_stream_destroy(s->stream);
    give(GYRE_CONTEXT_PINNED, s->data, BYTES);
    gate_fini(&s->held);
}

/* Holds the stream up, where that can be. */
static bool hold(scene *s)
{
    return holds_exist() && ok(gate_submit(&s->held, s->stream, kernel_of(KERNEL_GATE)));
}

/* Has the stream fill the data with a word. */
static bool fill(scene *s, const void *word)
{
    gyre_fill it = {.to = s->data, .pattern_size = 4, .count = N};

    memcpy(it.pattern, word, 4);
    return ok(gyre_stream_fill(s->stream, &it));
}

static uint32_t messages(scene *s)
{
    const gyre_brief read = {.type = LEDGER_READ};
    gyre_brief answer = {.type = 0};

    CHECK(ok(gyre_port_call(s->other, &read, &answer, soon())));
    return answer.body.words[1];
}

static gyre_brief refer(uint16_t type, void *to, size_t size)
{
    gyre_brief brief = {.type = type, .flags = GYRE_BRIEF_REFERS};

    brief.body.reference.address = to;
    brief.body.reference.size = size;
    return brief;
}

static gyre_brief blending(scene *s, float scale, float shift)
{
    const blend_request request = {
        .address = s->data, .size = BYTES, .scale = scale, .shift = shift};
    gyre_brief brief = {.type = 1, .flags = GYRE_BRIEF_REFERS};

    memcpy(&brief.body, &request, sizeof request);
    return brief;
}

static void a_stream_wakes_an_actor(void)
{
    gyre_port_answer answer = {.cookie = 0};
    uint32_t count = 0;
    gyre_brief sum;
    scene s;

    if (!scene_begin(&s, &ledger, 0))
        return;
    sum = refer(LEDGER_SUM, s.data, BYTES);
    for (uint32_t round = 1; round <= 20; round++) {
        const bool held = hold(&s);

        CHECK(fill(&s, &round));
        REQUIRE(ok(gyre_port_ask_after(s.port, s.stream, &sum, round, soon())));
        CHECK(gyre_port_due(s.port) == 1);
        if (held) { /* the other port is served; this one's message is not there yet */
            CHECK(messages(&s) == ++count && messages(&s) == ++count);
            CHECK(gyre_port_receive(s.port, &answer, gyre_clock_now_ns()) == GYRE_TIMEOUT);
        }
        gate_open(&s.held);
        REQUIRE(ok(gyre_port_receive(s.port, &answer, soon())));
        CHECK(answer.cookie == round && answer.brief.body.words[1] == ++count);
        CHECK(answer.brief.body.words[2] == N * round);
        CHECK(ok(gyre_stream_sync(s.stream)));
        gate_close(&s.held);
    }
    CHECK(messages(&s) == count + 1);
    scene_end(&s);
}

static void what_is_sent_later_waits_for_the_stream(void)
{
    gyre_brief mix = {.type = LEDGER_MIX, .body.words = {7}};
    gyre_brief answer;
    bool held;
    scene s;

    if (!scene_begin(&s, &ledger, 0))
        return;
    held = hold(&s);
    CHECK(ok(gyre_port_send_after(s.port, s.stream, &mix, soon())));
    mix.body.words[0] = 3;
    if (held)
        CHECK(gyre_port_call(s.port, &mix, &answer, gyre_clock_after_ns(20 * MS)) == GYRE_TIMEOUT);
    else
        CHECK(ok(gyre_port_call(s.port, &mix, &answer, soon())));
    gate_open(&s.held);
    mix.body.words[0] = 5;
    CHECK(ok(gyre_port_call(s.port, &mix, &answer, soon())));
    CHECK(answer.body.words[0] == (7 * 31 + 3) * 31 + 5 && answer.body.words[1] == 3);
    scene_end(&s);
}

/* Two streams and the host take turns, and the ring goes round many times. */
static void held_messages_come_once_and_in_order(void)
{
    enum { MANY = 3000 };
    gyre_stream *const second = stream_new();
    const gyre_brief read = {.type = LEDGER_READ};
    uint64_t chance = 11;
    gyre_brief answer;
    uint32_t hash = 0;
    scene s;

    if (!second || !scene_begin(&s, &ledger, 16)) {
        gyre_stream_destroy(second);
        return;
    }
    for (uint32_t i = 0; i < MANY; i++) {
        const gyre_brief mix = {.type = LEDGER_SILENT, .body.words = {(uint32_t)chance}};
        const uint64_t which = chance_next(&chance) % 4;

        hash = hash * 31 + mix.body.words[0];
        if (which < 2)
            REQUIRE(ok(gyre_port_send(s.port, &mix, soon())));
        else
            REQUIRE(ok(gyre_port_send_after(s.port, which == 2 ? s.stream : second, &mix, soon())));
    }
    CHECK(ok(gyre_port_call(s.port, &read, &answer, soon())));
    CHECK(answer.body.words[0] == hash && answer.body.words[1] == MANY + 1);
    CHECK(ok(gyre_stream_sync(second)));
    gyre_stream_destroy(second);
    scene_end(&s);
}

/* Whether streams wait for words here: otherwise the test is skipped, with the reason. */
static bool streams_wait(scene *s)
{
    const gyre_brief read = {.type = LEDGER_READ};
    const gyre_status status = gyre_port_ask_before(s->other, s->stream, &read, 0, soon());
    gyre_port_answer answer;

    if (status == GYRE_UNSUPPORTED) {
        CHECK(gyre_port_due(s->other) == 0);
        test_skip_reason = gyre_error_last()->text;
        return false;
    }
    return ok(status) && ok(gyre_port_receive(s->other, &answer, soon())) &&
           ok(gyre_stream_sync(s->stream));
}

static void an_actor_is_a_step_of_a_stream(void)
{
    enum { ROUNDS = 200 };
    float *const copy = take(GYRE_CONTEXT_PINNED, BYTES);
    gyre_port_answer answers[16];
    size_t wrong = 0, heard = 0, count;
    scene s;

    if (!scene_begin(&s, &blend, 16)) {
        give(GYRE_CONTEXT_PINNED, copy, BYTES);
        return;
    }
    for (uint32_t round = 0; streams_wait(&s) && round < ROUNDS; round++) {
        const gyre_brief first = blending(&s, 2, (float)round), then = blending(&s, 0.5f, 1);
        const float before = (float)(round % 8);
        const float after = (before * 2 + (float)round) * 0.5f + 1;

        CHECK(fill(&s, &before));
        REQUIRE(ok(gyre_port_ask_between(s.port, s.stream, &first, round, soon())));
        REQUIRE(ok(gyre_port_ask_between(s.port, s.stream, &then, round, soon())));
        CHECK(ok(gyre_stream_copy(s.stream, copy, s.data, BYTES)));
        CHECK(ok(gyre_stream_sync(s.stream)));
        for (size_t i = 0; i < N; i++)
            wrong += copy[i] != after;
        if (gyre_port_due(s.port) > 12) {
            CHECK(ok(gyre_port_receive_many(s.port, answers, 16, soon(), &count)));
            heard += count;
        }
    }
    while (gyre_port_due(s.port) > 0 &&
           ok(gyre_port_receive_many(s.port, answers, 16, soon(), &count)))
        heard += count;
    CHECK(wrong == 0 && (test_skip_reason || heard == (size_t)2 * ROUNDS));
    scene_end(&s);
    give(GYRE_CONTEXT_PINNED, copy, BYTES);
}

/* The wait is on the device: what is submitted behind it comes behind the answer. */
static void a_stream_waits_for_its_answer(void)
{
    uint32_t *const flag = take(GYRE_CONTEXT_PINNED, 64);
    gyre_port_answer answer;
    gyre_brief hang;
    scene s;

    if (!scene_begin(&s, &ledger, 0)) {
        give(GYRE_CONTEXT_PINNED, flag, 64);
        return;
    }
    hang = refer(LEDGER_HANG, flag, 4);
    for (uint32_t round = 1; streams_wait(&s) && round <= 20; round++) {
        __atomic_store_n(flag, 0, __ATOMIC_RELEASE); /* release: for who hangs on it */
        memset(s.data, 0, BYTES);
        REQUIRE(ok(gyre_port_ask_before(s.port, s.stream, &hang, round, soon())));
        CHECK(fill(&s, &round));
        CHECK(gyre_stream_poll(s.stream) == GYRE_AGAIN);
        CHECK(gyre_port_receive(s.port, &answer, gyre_clock_now_ns()) == GYRE_TIMEOUT);
        __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
        CHECK(ok(gyre_stream_sync(s.stream)));
        CHECK(s.data[0] == round && s.data[N - 1] == round);
        CHECK(ok(gyre_port_receive(s.port, &answer, soon())) && answer.cookie == round);
    }
    scene_end(&s);
    give(GYRE_CONTEXT_PINNED, flag, 64);
}

static void streams_that_wait_are_bounded(void)
{
    const gyre_brief mix = {.type = LEDGER_MIX, .body.words = {1}};
    gyre_port_answer answers[20];
    size_t count, heard = 0;
    scene s;

    if (!holds_exist())
        SKIP("no stream can be held up beside an actor here");
    if (!scene_begin(&s, &ledger, 64))
        return;
    if (streams_wait(&s) && hold(&s)) {
        for (uint64_t i = 0; i < 16; i++)
            CHECK(ok(gyre_port_ask_between(s.port, s.stream, &mix, i, soon())));
        CHECK(gyre_port_ask_between(s.port, s.stream, &mix, 16, gyre_clock_after_ns(20 * MS)) ==
              GYRE_TIMEOUT);
        CHECK(gyre_port_due(s.port) == 16);
        gate_open(&s.held);
        CHECK(ok(gyre_port_ask_between(s.port, s.stream, &mix, 16, soon())));
        while (heard < 17 &&
               ok(gyre_port_receive_many(s.port, answers + heard, 20 - heard, soon(), &count)))
            heard += count;
        for (size_t i = 0; i < heard; i++)
            CHECK(answers[i].cookie == i && answers[i].brief.body.words[1] == i + 2);
    }
    scene_end(&s);
}

/* The stream is the last to know: it writes its stamp and waits for what nobody will answer. */
static void streams_go_on_when_the_actor_ends(void)
{
    const gyre_brief mix = {.type = LEDGER_MIX, .body.words = {1}};
    const uint32_t word = 9;
    gyre_port_answer answer;
    scene s;

    if (!holds_exist())
        SKIP("no stream can be held up beside an actor here");
    if (!scene_begin(&s, &ledger, 0))
        return;
    if (streams_wait(&s) && hold(&s)) {
        CHECK(ok(gyre_port_ask_between(s.port, s.stream, &mix, 1, soon())));
        CHECK(fill(&s, &word));
        CHECK(ok(gyre_actor_terminate(s.actor, soon())));
        CHECK(gyre_port_receive(s.port, &answer, soon()) == GYRE_CLOSED);
        CHECK(gyre_port_ask_before(s.port, s.stream, &mix, 2, soon()) == GYRE_CLOSED);
        CHECK(gyre_stream_poll(s.stream) == GYRE_AGAIN);
        gate_open(&s.held);
        CHECK(ok(gyre_stream_sync(s.stream)) && s.data[N - 1] == word);
    }
    scene_end(&s);
}

/* In a context of its own, to which what hangs is left. */
static void streams_go_on_when_the_actor_fails(void)
{
    const conformance_place before = on;
    const uint32_t word = 9;
    gyre_port_answer answer;
    gyre_brief hang;
    uint32_t *flag;
    scene s;

    if (!gyre_device_has(on.device, GYRE_FEATURE_FUNCTIONS))
        SKIP("a kernel that hangs would take the device with it");
    on = (conformance_place){.device = before.device};
    REQUIRE(ok(gyre_context_create(on.device, NULL, &on.context)));
    flag = take(GYRE_CONTEXT_PINNED, 64);
    if (flag && scene_begin(&s, &ledger, 0)) {
        *flag = 0;
        hang = refer(LEDGER_HANG, flag, 4);
        if (streams_wait(&s)) {
            CHECK(ok(gyre_port_ask_before(s.port, s.stream, &hang, 1, soon())));
            CHECK(fill(&s, &word));
            CHECK(gyre_stream_poll(s.stream) == GYRE_AGAIN);
            CHECK(gyre_port_receive(s.port, &answer, soon()) == GYRE_DEVICE_LOST);
            CHECK(gyre_actor_state(s.actor) == GYRE_ACTOR_FAILED);
            CHECK(ok(gyre_stream_sync(s.stream)) && s.data[N - 1] == word);
            flag = NULL; /* it is looked at for ever */
        }
        scene_end(&s);
    }
    if (flag)
        give(GYRE_CONTEXT_PINNED, flag, 64);
    for (int i = 0; i < KERNELS; i++)
        gyre_kernel_release(on.kernels[i]);
    gyre_context_destroy(on.context);
    on = before;
}

/* The stream has yet to look at the answer, which is therefore where it came to. */
static void an_answer_stays_until_the_stream_has_gone_on(void)
{
    gyre_brief mix = {.type = LEDGER_MIX, .body.words = {1}}, answer;
    gyre_port_answer heard;
    gyre_status status = GYRE_OK;
    const uint32_t word = 9;
    uint32_t calls = 0;
    scene s;

    if (!holds_exist())
        SKIP("no stream can be held up beside an actor here");
    if (!scene_begin(&s, &ledger, 16))
        return;
    if (streams_wait(&s) && hold(&s)) {
        CHECK(ok(gyre_port_ask_before(s.port, s.stream, &mix, 1, soon())));
        CHECK(fill(&s, &word));
        for (; status == GYRE_OK && calls < 40; calls += status == GYRE_OK)
            status = gyre_port_call(s.port, &mix, &answer, gyre_clock_after_ns(20 * MS));
        CHECK(status == GYRE_TIMEOUT && calls < 16 && gyre_port_due(s.port) == 1);
        gate_open(&s.held);
        CHECK(ok(gyre_stream_sync(s.stream)) && s.data[N - 1] == word);
        for (int i = 0; i < 40; i++)
            CHECK(ok(gyre_port_call(s.port, &mix, &answer, soon())));
        CHECK(ok(gyre_port_receive(s.port, &heard, soon())) && heard.cookie == 1);
        CHECK(heard.brief.body.words[1] == 2);
    }
    scene_end(&s);
}

static void a_message_that_is_held_is_no_stall(void)
{
    const gyre_brief mix = {.type = LEDGER_MIX, .body.words = {1}};
    gyre_port_answer answer;
    scene s;

    if (!holds_exist())
        SKIP("no stream can be held up beside an actor here");
    if (!scene_begin(&s, &ledger, 0))
        return;
    CHECK(hold(&s) && ok(gyre_port_ask_after(s.port, s.stream, &mix, 1, soon())));
    CHECK(ok(gyre_port_send(s.port, &mix, soon())));
    /* twice as long as messages may wait */
    CHECK(gyre_port_receive(s.port, &answer, gyre_clock_after_ns(400 * MS)) == GYRE_TIMEOUT);
    CHECK(gyre_actor_state(s.actor) == GYRE_ACTOR_ACTIVE);
    /* and it is sent: a pause waits for it */
    CHECK(gyre_actor_pause(s.actor, gyre_clock_after_ns(20 * MS)) == GYRE_TIMEOUT);
    gate_open(&s.held);
    CHECK(ok(gyre_actor_pause(s.actor, soon())));
    CHECK(ok(gyre_port_receive(s.port, &answer, soon())) && answer.brief.body.words[1] == 1);
    CHECK(ok(gyre_actor_resume(s.actor)) && messages(&s) == 3);
    scene_end(&s);
}

static void a_stream_waits_for_none_that_is_paused(void)
{
    const gyre_brief mix = {.type = LEDGER_MIX, .body.words = {1}};
    gyre_port_answer answer;
    scene s;

    if (!scene_begin(&s, &ledger, 0))
        return;
    if (streams_wait(&s)) {
        CHECK(ok(gyre_actor_pause(s.actor, soon())));
        CHECK(gyre_port_ask_before(s.port, s.stream, &mix, 1, gyre_clock_after_ns(20 * MS)) ==
              GYRE_TIMEOUT);
        CHECK(gyre_port_due(s.port) == 0 && gyre_stream_poll(s.stream) == GYRE_OK);
        CHECK(ok(gyre_actor_park(s.actor, soon())));
        CHECK(gyre_port_ask_between(s.port, s.stream, &mix, 1, gyre_clock_after_ns(20 * MS)) ==
              GYRE_TIMEOUT);
        CHECK(ok(gyre_actor_resume(s.actor)));
        CHECK(ok(gyre_port_ask_between(s.port, s.stream, &mix, 2, soon())));
        CHECK(ok(gyre_port_receive(s.port, &answer, soon())) && answer.cookie == 2);
        CHECK(answer.brief.body.words[1] == 2); /* with the one that found out about streams */
    }
    scene_end(&s);
}

/* Not only once the actor is active, for which it would be waited. */
static void streams_that_cannot_wait_say_so_at_once(void)
{
    const gyre_brief mix = {.type = LEDGER_MIX, .body.words = {1}};
    gyre_status expected;
    scene s;

    if (!scene_begin(&s, &ledger, 0))
        return;
    expected = streams_wait(&s) ? GYRE_TIMEOUT : GYRE_UNSUPPORTED;
    test_skip_reason = NULL;
    CHECK(ok(gyre_actor_pause(s.actor, soon())));
    CHECK(gyre_port_ask_before(s.port, s.stream, &mix, 1, gyre_clock_after_ns(20 * MS)) ==
          expected);
    CHECK(gyre_port_ask_between(s.port, s.stream, &mix, 1, gyre_clock_after_ns(20 * MS)) ==
          expected);
    CHECK(gyre_port_due(s.port) == 0);
    CHECK(ok(gyre_actor_resume(s.actor)));
    scene_end(&s);
}

static void what_a_stream_refuses_was_not_sent(void)
{
    const gyre_context_options options = {.struct_size = sizeof options, .faults = "refuse@20..22"};
    const gyre_brief mix = {.type = LEDGER_MIX, .body.words = {1}};
    gyre_context *context;
    gyre_stream *stream;
    gyre_actor *actor;
    gyre_port *port;
    gyre_brief answer;
    uint32_t sent = 0;

    if (!gyre_device_has(on.device, GYRE_FEATURE_FAULTS))
        SKIP("this device does not fail when it is told to");
    REQUIRE(ok(gyre_context_create(on.device, &options, &context)) &&
            ok(gyre_stream_create(context, NULL, &stream)) &&
            ok(gyre_actor_create(context, &ledger, NULL, &actor)) &&
            ok(gyre_actor_launch(actor, NULL)) && ok(gyre_port_open(actor, NULL, &port)));
    for (int i = 0; i < 40; i++)
        sent += gyre_port_send_after(port, stream, &mix, soon()) == GYRE_OK;
    CHECK(sent == 37);
    CHECK(gyre_port_ask_between(port, stream, &mix, 1, soon()) == GYRE_UNSUPPORTED);
    CHECK(gyre_port_due(port) == 0);
    CHECK(ok(gyre_port_call(port, &mix, &answer, soon())) && answer.body.words[1] == sent + 1);
    gyre_port_close(port);
    gyre_actor_destroy(actor);
    gyre_stream_destroy(stream);
    gyre_context_destroy(context);
}

static void streams_of_another_context_are_refused(void)
{
    const gyre_brief mix = {.type = LEDGER_MIX, .body.words = {1}};
    gyre_context *context;
    gyre_stream *their;
    scene s;

    if (!scene_begin(&s, &ledger, 0))
        return;
    REQUIRE(ok(gyre_context_create(on.device, NULL, &context)) &&
            ok(gyre_stream_create(context, NULL, &their)));
    CHECK(gyre_port_send_after(s.port, their, &mix, soon()) == GYRE_INVALID);
    CHECK(gyre_port_send_after(s.port, NULL, &mix, soon()) == GYRE_INVALID);
    CHECK(gyre_port_ask_before(s.port, their, &mix, 1, soon()) == GYRE_INVALID);
    CHECK(messages(&s) == 1);
    gyre_stream_destroy(their);
    scene_end(&s);
    gyre_context_destroy(context); /* which would wait for a resident kernel */
}

static const test_case cases[] = {
    TEST(a_stream_wakes_an_actor),
    TEST(what_is_sent_later_waits_for_the_stream),
    TEST(held_messages_come_once_and_in_order),
    TEST(an_actor_is_a_step_of_a_stream),
    TEST(a_stream_waits_for_its_answer),
    TEST(streams_that_wait_are_bounded),
    TEST(streams_go_on_when_the_actor_ends),
    TEST(an_answer_stays_until_the_stream_has_gone_on),
    TEST(a_message_that_is_held_is_no_stall),
    TEST(a_stream_waits_for_none_that_is_paused),
    TEST(streams_that_cannot_wait_say_so_at_once),
    TEST(what_a_stream_refuses_was_not_sent),
    TEST(streams_of_another_context_are_refused),
    TEST(streams_go_on_when_the_actor_fails), /* last: it leaves a thread that spins */
};
CONFORMANCE_MAIN(cases)
