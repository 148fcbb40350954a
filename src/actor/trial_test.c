/* SPDX-License-Identifier: Apache-2.0
 *
 * The trial against seats, a clock and devices that the test plays: a call takes as long as it
 * says.
 */
#include "actor/trial.h"

#include "actor/order.h"
#include "actor/port.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/options.h"
#include "gyre/clock.h"
#include "gyre/device.h"
#include "test.h"

enum { LIMIT_NS = 40000000, MOST = GYRE_MAILBOX_REPLICAS };

static uint64_t played_now_ns = 1000;
static gyre_device played_device;

/* What calls do, and what was done. */
static struct {
    uint64_t call_ns[MOST + 1]; /* by replicas; 0: no answer comes */
    uint32_t most;              /* replicas that the seat has at most; 0: all */
    bool stays;                 /* the seat does not end, */
    uint32_t lingers;           /* or when it was asked so often */
    uint32_t launches, calls;
    uint64_t began_ns, last_call_ns, last_deadline_ns;
    bool left;
} play;

static uint64_t played_now(void)
{
    return played_now_ns;
}

static const gyre_device *played_device_of(const gyre_context *context)
{
    (void)context;
    return &played_device;
}

static gyre_status played_call(gyre_port *port, const gyre_brief *message, gyre_brief *out_answer,
                               uint64_t deadline_ns)
{
    const uint64_t took_ns = play.call_ns[port->replicas];

    play.calls++;
    play.last_call_ns = played_now_ns;
    play.last_deadline_ns = deadline_ns;
    if (took_ns == 0 || played_now_ns + took_ns > deadline_ns) {
        played_now_ns = deadline_ns;
        return GYRE_TIMEOUT;
    }
    played_now_ns += took_ns;
    *out_answer = (gyre_brief){.type = message->type, .flags = GYRE_BRIEF_EMPTY};
    return GYRE_OK;
}

/* The trial, of which the library has another. */
#define gyre_trial_make trial_make
#define gyre_trial_found trial_found
#define gyre_trial_words trial_words
#define gyre_clock_now_ns played_now
#define gyre_context_device played_device_of
#define gyre_port_call played_call
uint32_t trial_found(const gyre_actor *actor);
const char *trial_words(const gyre_actor *actor);
void trial_make(gyre_actor *actor, const gyre_actor_launch_options *options);
#include "actor/trial.c" /* NOLINT(bugprone-suspicious-include): with those names */
#undef gyre_port_call
#undef gyre_context_device
#undef gyre_clock_now_ns

static gyre_status plan(gyre_actor *actor, const gyre_actor_launch_options *options)
{
    gyre_mailbox_shape *const shape = &actor->shape;

    shape->lanes = shape->in_place = shape->wide = 1;
    shape->replicas = play.most && options->replicas > play.most ? play.most : options->replicas;
    return GYRE_OK;
}

/* Comes to life at once, */
static gyre_status start(gyre_actor *actor, bool fresh)
{
    gyre_seat *const seat = gyre_actor_seat(actor, 0);

    (void)fresh;
    play.launches++;
    gyre_mailbox_store(&seat->control.device.incarnation, actor->shape.incarnation);
    return GYRE_OK;
}

/* and ends when it is asked how it is, if it was told to. */
static gyre_status look(gyre_actor *actor)
{
    gyre_seat *const seat = gyre_actor_seat(actor, 0);

    if (play.stays || !gyre_mailbox_load(&seat->control.host.should_terminate))
        return GYRE_AGAIN;
    if (play.lingers > 0) {
        play.lingers--;
        return GYRE_AGAIN;
    }
    gyre_mailbox_store(&seat->control.device.order, actor->order);
    gyre_mailbox_store(&seat->control.device.has_terminated, 1);
    return GYRE_OK;
}

static void finish(gyre_actor *actor)
{
    (void)actor;
}

static void leave(gyre_actor *actor)
{
    (void)actor;
    play.left = true;
}

static const gyre_residence played = {
    .plan = plan, .start = start, .look = look, .finish = finish, .leave = leave};

static gyre_context *context;
static gyre_actor *actor;
static const gyre_residence *real;

static void handle(gyre_self *self, void *state, const gyre_brief *brief)
{
    (void)self;
    (void)state;
    (void)brief;
}

static const gyre_behaviour behaviour = {.struct_size = sizeof behaviour,
                                         .name = "played",
                                         .width = GYRE_WIDTH_QUAD,
                                         .state_bytes = 4,
                                         .handler = handle};

/* An actor on a device of which nothing is known, where each call takes so long. */
static bool begin(uint64_t call_ns)
{
    const gyre_device *const device = gyre_device_find("null");
    static uint32_t devices;

    memset(&play, 0, sizeof play);
    for (uint32_t i = 1; i <= MOST; i++)
        play.call_ns[i] = call_ns;
    if (!device || gyre_context_create(device, NULL, &context) != GYRE_OK ||
        gyre_actor_create(context, &behaviour, NULL, &actor) != GYRE_OK)
        return false;
    played_device = *device;
    played_device.index = devices++;
    real = actor->residence;
    actor->residence = &played;
    return true;
}

static void try_it(uint32_t ports)
{
    const gyre_actor_launch_options options = {.struct_size = sizeof options,
                                               .seats = 3,
                                               .ports = ports,
                                               .capacity = 16,
                                               .handshake_ns = 20000000};
    const uint32_t incarnation = actor->shape.incarnation;

    play.began_ns = played_now_ns;
    play.launches = play.calls = 0;
    gyre_trial_make(actor, &options);
    CHECK(actor->shape.incarnation == incarnation && !actor->mailbox && !actor->port[0]);
}

static void end(void)
{
    actor->residence = real;
    gyre_actor_destroy(actor);
    gyre_context_destroy(context);
}

static void the_fastest_is_found(void)
{
    REQUIRE(begin(20000));
    play.call_ns[8] = 15000;
    play.call_ns[16] = 10000;
    play.call_ns[32] = 12000;
    CHECK(gyre_trial_found(actor) == 0 && gyre_trial_words(actor)[0] == '\0');
    try_it(1);
    CHECK(gyre_trial_found(actor) == 16 && play.launches == 4);
    /* 320 calls of each, and what they do not wait for takes no time here */
    CHECK(strcmp(gyre_trial_words(actor), " (4: 20.00 us, 8: 15.00 us, 16: 10.00 us, 32: 12.00 us; "
                                          "tried in 18.2 ms)") == 0);
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_CREATED);
    end();
}

static void a_tie_takes_fewer(void)
{
    REQUIRE(begin(20000));
    try_it(1);
    CHECK(gyre_trial_found(actor) == 4 && play.launches == 4);
    end();
    REQUIRE(begin(20000)); /* a little faster is as good as equal, */
    play.call_ns[16] = play.call_ns[32] = 19700;
    try_it(1);
    CHECK(gyre_trial_found(actor) == 4);
    end();
    REQUIRE(begin(20000)); /* and some more is not */
    play.call_ns[8] = play.call_ns[16] = 19500;
    try_it(1);
    CHECK(gyre_trial_found(actor) == 8);
    end();
}

static void numbers_that_cannot_be_had_are_not_tried_twice(void)
{
    REQUIRE(begin(20000));
    play.most = 8;
    play.call_ns[8] = 10000;
    try_it(1);
    CHECK(gyre_trial_found(actor) == 8 && play.launches == 3);
    CHECK(strcmp(gyre_trial_words(actor), " (4: 20.00 us, 8: 10.00 us; tried in 12.8 ms)") == 0);
    end();
}

static void where_nothing_answers_nothing_is_found(void)
{
    REQUIRE(begin(0));
    try_it(1);
    CHECK(gyre_trial_found(actor) == 0 && gyre_trial_words(actor)[0] == '\0');
    CHECK(play.launches == 1 && play.calls == 1);
    CHECK(played_now_ns - play.began_ns < LIMIT_NS); /* one call is not given all the time */
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_CREATED);
    for (uint32_t i = 1; i <= MOST; i++) /* so the next launch tries again */
        play.call_ns[i] = 10000;
    try_it(1);
    CHECK(gyre_trial_found(actor) == 4);
    end();
}

static void it_is_done_once_for_each_of_a_kind(void)
{
    REQUIRE(begin(10000));
    for (uint32_t ports = 1; ports <= GYRE_MAILBOX_PORTS; ports *= 2) {
        actor->given.width = GYRE_WIDTH_QUAD;
        try_it(ports);
        CHECK(play.launches == 4);
        try_it(ports);
        CHECK(play.launches == 0 && play.calls == 0);
        actor->given.width = GYRE_WIDTH_WARP; /* as narrow */
        try_it(ports);
        CHECK(play.launches == 0);
        actor->given.width = GYRE_WIDTH_BLOCK;
        try_it(ports);
        CHECK(play.launches == 4);
        try_it(ports);
        CHECK(play.launches == 0);
    }
    played_device.index++;
    try_it(1);
    CHECK(play.launches == 4);
    played_device.index = 1000; /* there is no place to note it */
    try_it(1);
    CHECK(play.launches == 0 && gyre_trial_found(actor) == 0);
    end();
}

static void who_wishes_a_number_needs_no_trial(void)
{
    const gyre_actor_launch_options wishes = {.struct_size = sizeof wishes, .replicas = 5};
    const gyre_actor_launch_options bad[] = {{.struct_size = sizeof *bad, .ports = 3},
                                             {.struct_size = sizeof *bad, .ports = 32},
                                             {.struct_size = 0}};

    REQUIRE(begin(10000));
    gyre_trial_make(actor, &wishes);
    CHECK(play.launches == 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        gyre_trial_make(actor, &bad[i]); /* the launch will say what is wrong */
        CHECK(play.launches == 0);
    }
    gyre_trial_make(actor, NULL);
    CHECK(play.launches == 4);
    end();
}

static void calls_stop_at_the_limit(void)
{
    REQUIRE(begin(1000000)); /* a millisecond each: not even the first number comes to its end */
    try_it(1);
    CHECK(gyre_trial_found(actor) == 0 && play.launches == 1);
    CHECK(play.calls == LIMIT_NS / 1000000);
    CHECK(play.last_call_ns < play.began_ns + LIMIT_NS);
    CHECK(play.last_deadline_ns <= play.began_ns + LIMIT_NS);
    end();
    REQUIRE(begin(10000)); /* the second does not */
    play.call_ns[8] = play.call_ns[4] * 20;
    try_it(1);
    CHECK(gyre_trial_found(actor) == 4 && play.launches == 2);
    CHECK(strncmp(gyre_trial_words(actor), " (4: 10.00 us; tried in ", 24) == 0);
    CHECK(play.last_call_ns < play.began_ns + LIMIT_NS);
    end();
}

static void one_that_does_not_end_has_failed(void)
{
    REQUIRE(begin(10000));
    play.stays = true;
    try_it(1);
    CHECK(gyre_trial_found(actor) == 0 && play.launches == 1 && play.left);
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_FAILED);
    CHECK(gyre_actor_fault(actor) && strstr(gyre_actor_fault(actor)->text, "does not end"));
    end();
}

static void who_may_begin_at_once_only_may_still_end_later(void)
{
    const gyre_actor_launch_options hasty = {.struct_size = sizeof hasty, .handshake_ns = 1};

    REQUIRE(begin(10000));
    play.lingers = 5;
    gyre_trial_make(actor, &hasty);
    CHECK(play.lingers == 0 && play.launches == 4 && !play.left);
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_CREATED);
    end();
}

static const test_case cases[] = {
    TEST(the_fastest_is_found),
    TEST(a_tie_takes_fewer),
    TEST(numbers_that_cannot_be_had_are_not_tried_twice),
    TEST(where_nothing_answers_nothing_is_found),
    TEST(it_is_done_once_for_each_of_a_kind),
    TEST(who_wishes_a_number_needs_no_trial),
    TEST(calls_stop_at_the_limit),
    TEST(one_that_does_not_end_has_failed),
    TEST(who_may_begin_at_once_only_may_still_end_later),
};
TEST_MAIN(cases)
