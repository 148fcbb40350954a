/* SPDX-License-Identifier: Apache-2.0
 *
 * Ports against a seat that the test plays itself, word by word: what a race leaves to chance comes
 * here at the worst moment each time.
 */
#include <stdlib.h>
#include <string.h>

#include "actor/order.h"
#include "actor/wire.h"
#include "base/fail.h"
#include "gyre/clock.h"
#include "test.h"

enum { CAPACITY = 16, CROWD = 40 };
#define FIRST UINT32_C(0xfffffff8) /* so that sequences wrap */
#define MS UINT64_C(1000000)

/* What the seat does when somebody asks how it is; then it is gone. */
typedef enum last_deed { NOTHING, ANSWERS_BELL, ANSWERS_CALL, PUBLISHES } last_deed;

static last_deed deed;
static gyre_residence residence;

/* An actor whose seat is this test. */
typedef struct stage {
    gyre_actor actor;
    gyre_port *port;
    gyre_wire *wire;
    gyre_seat *seat;
    gyre_seat_watch watch;
    uint32_t looks; /* how it is */
} stage;

static stage s, crowd[CROWD];

static uint64_t soon(void)
{
    return gyre_clock_after_ns(20000 * MS);
}

static uint64_t in_vain(void)
{
    return gyre_clock_after_ns(3 * MS);
}

static void answer_slot(unsigned char *slot, uint64_t sequence, uint32_t word)
{
    gyre_brief brief = {.type = 1, .body.words = {word}};

    gyre_slot_write(slot, s.port->wide, gyre_ring_stamp(sequence, s.port->salt),
                    gyre_slot_head(&brief, 0, (uint32_t)sequence), &brief);
}

static void answer_call(uint32_t number, uint32_t word)
{
    answer_slot(gyre_wire_slot(s.port, s.wire->replies, number), number, word);
}

static void publish(uint32_t head)
{
    gyre_mailbox_release(&s.seat->heads[0], head);
}

static gyre_status look(gyre_actor *actor)
{
    const uint32_t number = s.wire->called - 1;

    (void)actor;
    if (deed == NOTHING)
        return GYRE_AGAIN;
    if (deed == ANSWERS_BELL)
        answer_slot(s.wire->answer, 2 * (uint64_t)gyre_wire_own(&s.wire->rung) + 1, 77);
    if (deed == ANSWERS_CALL)
        answer_call(number, 77);
    if (deed == PUBLISHES)
        publish(gyre_wire_own(&s.wire->tail));
    return gyre_fail(GYRE_DEVICE_LOST, "the test has ended it");
}

static void leave(gyre_actor *actor)
{
    (void)actor;
}

static uint32_t capacity = CAPACITY;

static bool stage_raise(stage *at, uint32_t replicas)
{
    gyre_mailbox_shape *const shape = &at->actor.shape;

    memset(at, 0, sizeof *at);
    residence.look = look;
    residence.leave = leave;
    deed = NOTHING;
    at->actor.residence = &residence;
    at->actor.stall_ns = UINT64_MAX;
    at->actor.watch = &at->watch;
    *shape = (gyre_mailbox_shape){.seats = 1,
                                  .ports = 1,
                                  .capacity = capacity,
                                  .replicas = replicas,
                                  .incarnation = 1,
                                  .wide = 1,
                                  .in_place = 1};
    shape->prints = 16;
    shape->seat_bytes = gyre_annex_seat_bytes(shape);
    at->actor.mailbox = aligned_alloc(4096, shape->seat_bytes);
    if (!at->actor.mailbox)
        return false;
    memset(at->actor.mailbox, 0, shape->seat_bytes);
    at->seat = gyre_actor_seat(&at->actor, 0);
    at->seat->heads[0] = at->seat->rung[0] = FIRST;
    atomic_store(&at->actor.status, GYRE_ACTOR_ACTIVE);
    if (gyre_ports_create(&at->actor, FIRST) != GYRE_OK ||
        gyre_port_open(&at->actor, NULL, &at->port) != GYRE_OK)
        return false;
    at->wire = &at->port->wire[0];
    return true;
}

static void stage_strike(stage *at)
{
    gyre_ports_destroy(&at->actor);
    free(at->actor.mailbox);
}

static bool stage_init(uint32_t replicas)
{
    return stage_raise(&s, replicas);
}

static void stage_fini(void)
{
    stage_strike(&s);
}

/* The seat answers, ends, and the caller hears of the end first. */
static void an_answer_that_came_before_the_end_is_not_lost(void)
{
    const gyre_brief message = {.type = 1};
    gyre_port_answer heard;
    gyre_brief answer;

    REQUIRE(stage_init(1));
    deed = ANSWERS_BELL;
    CHECK(gyre_port_call(s.port, &message, &answer, soon()) == GYRE_OK);
    CHECK(answer.body.words[0] == 77 && gyre_actor_state(&s.actor) == GYRE_ACTOR_FAILED);
    CHECK(gyre_port_call(s.port, &message, &answer, soon()) == GYRE_DEVICE_LOST);
    stage_fini();

    REQUIRE(stage_init(0)); /* by the ring */
    deed = ANSWERS_CALL;
    CHECK(gyre_port_call(s.port, &message, &answer, soon()) == GYRE_OK);
    CHECK(answer.body.words[0] == 77);
    stage_fini();

    REQUIRE(stage_init(0));
    deed = ANSWERS_CALL;
    CHECK(gyre_port_call_many(s.port, &message, &answer, 1, soon()) == GYRE_OK);
    CHECK(answer.body.words[0] == 77);
    stage_fini();

    REQUIRE(stage_init(0));
    CHECK(gyre_port_ask(s.port, &message, 5, soon()) == GYRE_OK);
    deed = ANSWERS_CALL;
    CHECK(gyre_port_receive(s.port, &heard, soon()) == GYRE_OK);
    CHECK(heard.cookie == 5 && heard.brief.body.words[0] == 77);
    stage_fini();

    REQUIRE(stage_init(0));
    CHECK(gyre_port_send(s.port, &message, soon()) == GYRE_OK);
    deed = PUBLISHES;
    CHECK(gyre_port_flush(s.port, soon()) == GYRE_OK);
    stage_fini();
}

static void an_end_without_an_answer_is_told(void)
{
    const gyre_brief message = {.type = 1};
    gyre_port_answer heard;
    gyre_brief answer;

    REQUIRE(stage_init(1));
    CHECK(gyre_port_call(s.port, &message, &answer, in_vain()) == GYRE_TIMEOUT);
    deed = PUBLISHES;
    CHECK(gyre_port_call(s.port, &message, &answer, soon()) == GYRE_DEVICE_LOST);
    stage_fini();
    REQUIRE(stage_init(0));
    CHECK(gyre_port_ask(s.port, &message, 5, soon()) == GYRE_OK);
    deed = PUBLISHES;
    CHECK(gyre_port_receive(s.port, &heard, soon()) == GYRE_DEVICE_LOST);
    stage_fini();
}

/* As it is while another thread reads the state of one that has ended. */
static void an_end_is_told_whoever_holds_the_actor(void)
{
    static const gyre_status told[] = {GYRE_CLOSED, GYRE_DEVICE_LOST};
    const gyre_brief message = {.type = 1};
    gyre_port_answer heard;
    gyre_brief answer;
    size_t sent;

    for (int fails = 0; fails < 2; fails++) {
        REQUIRE(stage_init(1));
        CHECK(gyre_port_ask(s.port, &message, 5, soon()) == GYRE_OK);
        s.actor.fault = (gyre_error){.status = GYRE_DEVICE_LOST, .native = 7, .text = "it burnt"};
        atomic_store(&s.actor.status, fails ? GYRE_ACTOR_FAILED : GYRE_ACTOR_TERMINATED);
        REQUIRE(gyre_latch_try(&s.actor.lock));
        CHECK(gyre_port_send(s.port, &message, soon()) == told[fails]);
        CHECK(strcmp(gyre_error_last()->text, fails ? "it burnt" : "actor '' has ended") == 0);
        CHECK(gyre_error_last()->native == (fails ? 7 : 0));
        CHECK(gyre_port_send_many(s.port, &message, 1, soon(), &sent) == told[fails]);
        CHECK(gyre_port_call(s.port, &message, &answer, soon()) == told[fails]);
        CHECK(gyre_port_call_many(s.port, &message, &answer, 1, soon()) == told[fails]);
        CHECK(gyre_port_ask(s.port, &message, 6, soon()) == told[fails]);
        CHECK(gyre_wire_own(&s.wire->tail) == FIRST + 1); /* nothing was sent */
        CHECK(gyre_port_receive(s.port, &heard, soon()) == told[fails]);
        CHECK(gyre_port_flush(s.port, soon()) == told[fails]);
        CHECK(gyre_latch_give(&s.actor.lock));
        stage_fini();
    }
}

/* One of the crowd; the last is gone when it is looked at for the third time. */
static gyre_status look_at_crowd(gyre_actor *actor)
{
    stage *const at = (stage *)(void *)actor; /* it begins with the actor */

    if (++at->looks < 3 || at != &crowd[CROWD - 1])
        return GYRE_AGAIN;
    return gyre_fail(GYRE_DEVICE_LOST, "the test has ended it");
}

/* To find out that one hangs, it must not be looked at more seldom because there are others. */
static void who_waits_for_many_looks_at_all_of_them(void)
{
    static gyre_residence counting;
    const gyre_brief message = {.type = 1};
    gyre_port *ports[CROWD];
    size_t index;

    for (size_t i = 0; i < CROWD; i++) {
        REQUIRE(stage_raise(&crowd[i], 0));
        ports[i] = crowd[i].port;
        counting = *crowd[i].actor.residence;
        counting.look = look_at_crowd;
        crowd[i].actor.residence = &counting;
        if (i != 5)
            CHECK(gyre_port_ask(ports[i], &message, i, soon()) == GYRE_OK);
    }
    CHECK(gyre_port_wait_any(ports, CROWD, in_vain(), &index) == GYRE_TIMEOUT && index == 0);
    for (size_t i = 0; i < CROWD; i++)
        crowd[i].looks = 0;
    CHECK(gyre_port_wait_any(ports, CROWD, soon(), &index) == GYRE_DEVICE_LOST);
    CHECK(index == CROWD - 1);
    for (size_t i = 0; i < CROWD; i++)
        CHECK(crowd[i].looks == (i == 5 ? 0 : 3)); /* nothing is due of that one */
    CHECK(gyre_port_wait_any(ports, CROWD, 0, &index) == GYRE_DEVICE_LOST && index == CROWD - 1);
    for (size_t i = 0; i < CROWD; i++)
        stage_strike(&crowd[i]);
}

/* Asks as often as the ring has slots, and answers all, without telling heads. */
static size_t ask_and_answer(void)
{
    const gyre_brief message = {.type = 1};
    gyre_port_answer heard;
    size_t asked = 0;

    for (uint32_t i = 0; i < CAPACITY; i++) {
        if (gyre_port_ask(s.port, &message, i, in_vain()) != GYRE_OK)
            break;
        asked++;
        answer_call(s.wire->called - 1, i);
        CHECK(gyre_port_receive(s.port, &heard, in_vain()) == GYRE_OK && heard.cookie == i);
    }
    return asked;
}

/* An answer says that its request was read, and nothing of one before it that has none. */
static void answers_give_no_room_for_what_has_none(void)
{
    const gyre_brief message = {.type = 2};

    REQUIRE(stage_init(0));
    CHECK(gyre_port_send(s.port, &message, soon()) == GYRE_OK);
    CHECK(ask_and_answer() == CAPACITY - 1); /* the slot of the first is not free */
    publish(FIRST + 1);
    CHECK(ask_and_answer() == CAPACITY && ask_and_answer() == CAPACITY);
    stage_fini();
}

/* A message without an answer that is long over must not be taken for one that is still to come,
 * however many there were since: more than sequences can be compared by their distance. */
static void one_ways_of_long_ago_are_over(void)
{
    static const uint32_t laps[] = {0, 0x7fffffff - CAPACITY, 0x80000010, 0xfffffff0};
    const gyre_brief message = {.type = 2};

    for (size_t i = 0; i < sizeof laps / sizeof laps[0]; i++) {
        REQUIRE(stage_init(0));
        CHECK(gyre_port_send(s.port, &message, soon()) == GYRE_OK);
        publish(FIRST + 1);
        CHECK(ask_and_answer() == CAPACITY);
        gyre_wire_learn(s.port, s.wire);
        /* as if so many calls more had been made and answered */
        s.wire->head += laps[i];
        s.wire->called += laps[i];
        s.wire->oldest += laps[i];
        s.wire->receive += laps[i];
        atomic_store(&s.wire->tail, atomic_load(&s.wire->tail) + laps[i]);
        for (int round = 0; round < 4; round++)
            CHECK(ask_and_answer() == CAPACITY);
        stage_fini();
    }
}

/* Nor is the answer to a question missed that comes behind so many calls. */
static void an_answer_is_found_behind_any_number_of_calls(void)
{
    static const uint32_t laps[] = {0, 0x7fffffff - CAPACITY, 0x80000010, 0xfffffff0};

    for (size_t i = 0; i < sizeof laps / sizeof laps[0]; i++) {
        REQUIRE(stage_init(0));
        CHECK(ask_and_answer() == CAPACITY);
        gyre_wire_learn(s.port, s.wire);
        /* as if so many calls more had been made and answered */
        s.wire->head += laps[i];
        s.wire->called += laps[i];
        s.wire->oldest += laps[i];
        atomic_store(&s.wire->tail, atomic_load(&s.wire->tail) + laps[i]);
        CHECK(ask_and_answer() == CAPACITY);
        stage_fini();
    }
}

static void heads_of_somebody_else_are_not_believed(void)
{
    static const uint32_t wrong[] = {FIRST - 1, FIRST + 17, FIRST + 0x80000000, FIRST - 100};
    const gyre_brief message = {.type = 2};

    REQUIRE(stage_init(0));
    for (uint32_t i = 0; i < CAPACITY; i++)
        CHECK(gyre_port_send(s.port, &message, soon()) == GYRE_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        publish(wrong[i]);
        CHECK(gyre_port_send(s.port, &message, in_vain()) == GYRE_TIMEOUT);
    }
    publish(FIRST + 1);
    CHECK(gyre_port_send(s.port, &message, in_vain()) == GYRE_OK);
    CHECK(gyre_port_send(s.port, &message, in_vain()) == GYRE_TIMEOUT);
    stage_fini();
}

/* Nor are they when the mailbox is to be given back: messages that wait for streams are among those
 * that were sent, and that are not known to be read. */
static void heads_of_somebody_else_hide_no_message(void)
{
    static const uint32_t wrong[] = {FIRST - 1, FIRST + 17, FIRST + 0x80000000, FIRST - 100,
                                     FIRST + 5 - 0x7fffffff};
    const gyre_brief message = {.type = 2};
    uint32_t *stamp;

    REQUIRE(stage_init(0));
    for (uint32_t i = 0; i < 5; i++)
        CHECK(gyre_port_send(s.port, &message, soon()) == GYRE_OK);
    stamp = (uint32_t *)(void *)(gyre_wire_slot(s.port, s.wire->requests, FIRST + 4) +
                                 sizeof(uint64_t) * GYRE_RING_WORDS - sizeof *stamp);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        publish(wrong[i]);
        CHECK(gyre_streams_await(&s.actor, 0) == GYRE_OK);
        *stamp = ~*stamp; /* as if a stream had yet to write it */
        CHECK(gyre_streams_await(&s.actor, 0) == GYRE_TIMEOUT);
        *stamp = ~*stamp;
    }
    *stamp = ~*stamp;
    publish(FIRST + 5);
    CHECK(gyre_streams_await(&s.actor, 0) == GYRE_OK);
    stage_fini();
}

/* Answers that came are there, and it can be told which did not: by the run, and beside a question
 * that is due. */
static void calls_that_fail_say_which_answers_came(void)
{
    const gyre_brief messages[3] = {{.type = 2}, {.type = 2}, {.type = 2}};

    for (uint32_t asked = 0; asked < 2; asked++) {
        gyre_brief answers[3] = {{.type = 9}, {.type = 9}, {.type = 9}};

        REQUIRE(stage_init(0));
        if (asked)
            CHECK(gyre_port_ask(s.port, &messages[0], 1, soon()) == GYRE_OK);
        answer_call(FIRST + asked, 5);
        answer_call(FIRST + asked + 1, 6);
        CHECK(gyre_port_call_many(s.port, messages, answers, 3, in_vain()) == GYRE_TIMEOUT);
        CHECK(answers[0].flags == 0 && answers[0].body.words[0] == 5);
        CHECK(answers[1].flags == 0 && answers[1].body.words[0] == 6);
        CHECK(answers[2].flags == GYRE_BRIEF_MISSING && answers[2].body.words[0] == 0);
        stage_fini();
    }
}

static void calls_without_room_send_nothing(void)
{
    const gyre_brief message = {.type = 2};
    gyre_brief answers[2] = {{.type = 9}, {.type = 9}};

    REQUIRE(stage_init(0));
    for (uint32_t i = 0; i < CAPACITY; i++)
        CHECK(gyre_port_ask(s.port, &message, i, soon()) == GYRE_OK);
    CHECK(gyre_port_call_many(s.port, (const gyre_brief[2]){message, message}, answers, 2,
                              soon()) == GYRE_AGAIN);
    CHECK(gyre_wire_own(&s.wire->tail) == FIRST + CAPACITY);
    CHECK(answers[0].flags == GYRE_BRIEF_MISSING && answers[1].flags == GYRE_BRIEF_MISSING);
    CHECK(gyre_port_call(s.port, &message, answers, soon()) == GYRE_AGAIN);
    atomic_store(&s.actor.status, GYRE_ACTOR_DRAINING);
    answers[1].flags = 0;
    CHECK(gyre_port_call_many(s.port, &message, &answers[1], 1, soon()) == GYRE_CLOSED);
    CHECK(answers[1].flags == GYRE_BRIEF_MISSING);
    stage_fini();
}

/* Calls that are answered at once; how many, up to the first that was not. */
static uint32_t call_often(uint32_t times, gyre_status *out_status)
{
    const gyre_brief message = {.type = 2};
    gyre_brief answer;
    uint32_t called;

    *out_status = GYRE_OK;
    for (called = 0; called < times; called++) {
        gyre_wire_learn(s.port, s.wire); /* as the call does, before its slot is written */
        if (s.wire->called - s.wire->oldest < CAPACITY)
            answer_call(s.wire->called, called);
        *out_status = gyre_port_call(s.port, &message, &answer, in_vain());
        if (*out_status != GYRE_OK)
            break;
        CHECK(answer.body.words[0] == called);
    }
    return called;
}

static void answers_that_nobody_receives_hold_up_no_call(void)
{
    const gyre_brief message = {.type = 1};
    gyre_port_answer heard[CAPACITY];
    uint32_t number[CAPACITY];
    gyre_status status;
    size_t count, index;

    REQUIRE(stage_init(0));
    for (uint32_t i = 0; i < CAPACITY; i++) {
        CHECK(gyre_port_ask(s.port, &message, 100 + i, soon()) == GYRE_OK);
        number[i] = s.wire->called - 1;
        answer_call(number[i], 200 + i);
        CHECK(gyre_port_due(s.port) == i + 1);
        if (i < CAPACITY - 1)
            CHECK(call_often(3 * CAPACITY, &status) == 3 * CAPACITY);
        CHECK(gyre_port_wait_any(&s.port, 1, 0, &index) == GYRE_OK);
    }
    CHECK(number[CAPACITY - 1] - number[0] > 2 * CAPACITY);
    CHECK(gyre_port_ask(s.port, &message, 1, soon()) == GYRE_AGAIN);
    CHECK(call_often(1, &status) == 0 && status == GYRE_AGAIN);
    CHECK(gyre_port_receive_many(s.port, heard, CAPACITY, in_vain(), &count) == GYRE_OK);
    REQUIRE(count == CAPACITY && gyre_port_due(s.port) == 0);
    for (uint32_t i = 0; i < CAPACITY; i++)
        CHECK(heard[i].cookie == 100 + i && heard[i].brief.body.words[0] == 200 + i);
    CHECK(gyre_port_receive(s.port, heard, in_vain()) == GYRE_NOT_FOUND);
    CHECK(call_often(3 * CAPACITY, &status) == 3 * CAPACITY);
    stage_fini();
}

/* Its slot is the seat's until it comes: there is no other room than behind it. */
static void an_answer_that_has_not_come_is_waited_for(void)
{
    const gyre_brief message = {.type = 1};
    gyre_port_answer heard;
    gyre_status status;

    REQUIRE(stage_init(0));
    CHECK(gyre_port_ask(s.port, &message, 5, soon()) == GYRE_OK);
    CHECK(call_often(CAPACITY, &status) == CAPACITY - 1 && status == GYRE_TIMEOUT);
    CHECK(gyre_port_ask(s.port, &message, 6, in_vain()) == GYRE_TIMEOUT);
    CHECK(gyre_port_due(s.port) == 1);
    answer_call(FIRST, 55);
    CHECK(call_often(3 * CAPACITY, &status) == 3 * CAPACITY);
    CHECK(gyre_port_receive(s.port, &heard, in_vain()) == GYRE_OK);
    CHECK(heard.cookie == 5 && heard.brief.body.words[0] == 55);
    stage_fini();
}

static void what_was_put_aside_is_closed_with_the_port(void)
{
    const gyre_brief message = {.type = 1};
    gyre_port_answer heard;
    gyre_status status;

    REQUIRE(stage_init(0));
    CHECK(gyre_port_ask(s.port, &message, 5, soon()) == GYRE_OK);
    answer_call(FIRST, 55);
    CHECK(call_often(2 * CAPACITY, &status) == 2 * CAPACITY);
    gyre_port_close(s.port);
    REQUIRE(gyre_port_open(&s.actor, NULL, &s.port) == GYRE_OK);
    CHECK(gyre_port_due(s.port) == 0);
    CHECK(gyre_port_receive(s.port, &heard, in_vain()) == GYRE_NOT_FOUND);
    CHECK(ask_and_answer() == CAPACITY && ask_and_answer() == CAPACITY);
    stage_fini();
}

/* All answers are there before they are looked for: nobody waits, and still it ends. By the run,
 * and beside a question that is due. */
static void calls_end_at_their_deadline_while_answers_come(void)
{
    enum { MANY = 8192 };
    gyre_brief *const messages = calloc(MANY, sizeof *messages);
    gyre_brief *const answers = calloc(MANY, sizeof *answers);

    REQUIRE(messages && answers);
    for (uint32_t asked = 0; asked < 2; asked++) {
        bool raised;
        size_t heard = 0;

        capacity = 2 * MANY;
        raised = stage_init(0);
        capacity = CAPACITY;
        REQUIRE(raised);
        if (asked)
            CHECK(gyre_port_ask(s.port, &messages[0], 1, soon()) == GYRE_OK);
        for (uint32_t i = 0; i < MANY; i++)
            answer_call(FIRST + asked + i, i);
        CHECK(gyre_port_call_many(s.port, messages, answers, MANY, 0) == GYRE_TIMEOUT);
        for (; heard < MANY && !(answers[heard].flags & GYRE_BRIEF_MISSING); heard++)
            CHECK(answers[heard].body.words[0] == heard);
        CHECK(heard < MANY && answers[MANY - 1].flags == GYRE_BRIEF_MISSING);
        stage_fini();
    }
    free(messages);
    free(answers);
}

/* The seats' clock is ahead of the host's, or behind it; theirs is what they are told. */
static void deadlines_are_told_by_the_seats_clock(void)
{
    REQUIRE(stage_init(0));
    CHECK(gyre_actor_deadline(&s.actor, s.seat, 12345) == 12345); /* it has none */
    CHECK(s.seat->control.host.time > 0);
    s.actor.order = 1;
    for (int behind = 0; behind < 2; behind++) {
        const uint64_t apart = behind ? 0 - 500 * MS : 5000 * MS;
        uint64_t asked_ns;

        gyre_actor_time_ask(&s.actor);
        asked_ns = atomic_load(&s.actor.time_asked_ns);
        s.seat->control.device.time = asked_ns + apart;
        gyre_actor_time_learn(&s.actor);
        CHECK(gyre_actor_deadline(&s.actor, s.seat, asked_ns) == asked_ns + apart);
        CHECK(gyre_actor_deadline(&s.actor, s.seat, GYRE_NEVER) == GYRE_NEVER);
        CHECK(gyre_actor_deadline(&s.actor, s.seat, GYRE_NEVER - 1) >= GYRE_NEVER - 501 * MS);
        CHECK(gyre_actor_deadline(&s.actor, s.seat, 1) == (behind ? 0 : 5000 * MS + 1));
    }
    stage_fini();
}

static void the_seats_clock_is_asked_again(void)
{
    uint64_t asked_ns;

    REQUIRE(stage_init(0));
    s.actor.order = 7;
    gyre_actor_time_ask(&s.actor);
    s.seat->control.device.time = atomic_load(&s.actor.time_asked_ns) + 1000;
    s.seat->control.device.order = 7;
    gyre_actor_time_learn(&s.actor);
    (void)gyre_actor_deadline(&s.actor, s.seat, 5);
    CHECK(s.actor.order == 7); /* not yet */
    /* a second and a half later */
    atomic_fetch_sub(&s.actor.time_asked_ns, 1500 * MS);
    atomic_fetch_sub(&s.actor.time_known_ns, 1500 * MS);
    CHECK(gyre_actor_deadline(&s.actor, s.seat, 5) == 1005);
    CHECK(s.actor.order == 8 && s.seat->control.host.order == 8);
    asked_ns = atomic_load(&s.actor.time_asked_ns);
    s.seat->control.device.time = asked_ns + 3000; /* of which nothing is known before the order */
    CHECK(gyre_actor_deadline(&s.actor, s.seat, 5) == 1005 && s.actor.order == 8);
    gyre_mailbox_release(&s.seat->control.device.order, 9); /* or a later one */
    CHECK(gyre_actor_deadline(&s.actor, s.seat, 5) == 3005);
    CHECK(s.actor.order == 8);
    stage_fini();
}

static const test_case cases[] = {
    TEST(an_answer_that_came_before_the_end_is_not_lost),
    TEST(an_end_without_an_answer_is_told),
    TEST(an_end_is_told_whoever_holds_the_actor),
    TEST(who_waits_for_many_looks_at_all_of_them),
    TEST(answers_give_no_room_for_what_has_none),
    TEST(one_ways_of_long_ago_are_over),
    TEST(an_answer_is_found_behind_any_number_of_calls),
    TEST(calls_that_fail_say_which_answers_came),
    TEST(calls_end_at_their_deadline_while_answers_come),
    TEST(calls_without_room_send_nothing),
    TEST(answers_that_nobody_receives_hold_up_no_call),
    TEST(an_answer_that_has_not_come_is_waited_for),
    TEST(what_was_put_aside_is_closed_with_the_port),
    TEST(heads_of_somebody_else_are_not_believed),
    TEST(heads_of_somebody_else_hide_no_message),
    TEST(deadlines_are_told_by_the_seats_clock),
    TEST(the_seats_clock_is_asked_again),
};
TEST_MAIN(cases)
