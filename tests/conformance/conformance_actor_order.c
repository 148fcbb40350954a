/* SPDX-License-Identifier: Apache-2.0
 *
 * Actors: which message is next, which one is too late, and which has to wait.
 */
#include "conformance_actor.h"

#include "behaviours/echo.c"   /* NOLINT(bugprone-suspicious-include): its types as well */
#include "behaviours/ledger.c" /* NOLINT(bugprone-suspicious-include): its types as well */
#include "behaviours/rank.c"   /* NOLINT(bugprone-suspicious-include): its types as well */

_Static_assert((int)RANK_HANG == LEDGER_HANG && (int)RANK_TELL == LEDGER_LAST &&
                   offsetof(rank_answer, messages) == offsetof(ledger_answer, messages),
               "the same messages for both");

enum {
    HAND = 8,      /* messages among which priorities decide */
    LATE_MS = 200, /* so late that no clock of a device can think otherwise */
    BURST = 4000,  /* more messages than a ring has room for */
};

/* Where message i of these comes, if the highest band goes first and a band in its order. */
static uint32_t place_of(const gyre_brief *messages, size_t i)
{
    uint32_t before = 0;

    for (size_t k = 0; k < HAND; k++) {
        const int sooner = (messages[k].priority >> 6) - (messages[i].priority >> 6);

        before += sooner > 0 || (sooner == 0 && k < i);
    }
    return before;
}

static void ask_all(gyre_port *port, const gyre_brief *messages)
{
    for (size_t i = 0; i < HAND; i++)
        CHECK(ok(gyre_port_ask(port, &messages[i], i, soon())));
}

/* When each was handled, from 0 on, after `before` others. */
static bool hear_all(gyre_port *port, uint32_t before, uint32_t *places)
{
    for (size_t i = 0; i < HAND; i++) {
        gyre_port_answer answer;

        if (!ok(gyre_port_receive(port, &answer, soon())) || answer.cookie != i)
            return false;
        places[i] = answer.brief.body.words[1] - before - 1;
    }
    return true;
}

static void check_order(gyre_port *port, const gyre_brief *messages, uint32_t before)
{
    uint32_t places[HAND];
    size_t wrong = 0;

    REQUIRE(hear_all(port, before, places));
    for (size_t i = 0; i < HAND; i++)
        wrong += places[i] != place_of(messages, i);
    CHECK(wrong == 0);
}

/* A GPU has in hand what it has read at once, which may be fewer: then how often a later message
 * was handled sooner, which it may only if its band is higher. */
static uint32_t count_overtaken(gyre_port *port, const gyre_brief *messages, uint32_t before)
{
    uint32_t places[HAND] = {0}, overtaken = 0, wrong = 0;

    CHECK(hear_all(port, before, places));
    for (size_t i = 0; i < HAND; i++)
        for (size_t k = i + 1; k < HAND; k++)
            if (places[k] < places[i]) {
                overtaken++;
                wrong += messages[k].priority >> 6 <= messages[i].priority >> 6;
            }
    CHECK(wrong == 0);
    return overtaken;
}

static bool is_cuda(void)
{
    return strcmp(on.device->backend, "cuda") == 0;
}

static void draw_priorities(uint64_t *chance, gyre_brief *messages)
{
    for (size_t i = 0; i < HAND; i++)
        messages[i] = (gyre_brief){.type = LEDGER_LAST, .priority = (uint8_t)chance_next(chance)};
}

/* One is in hand and hangs: the eight behind it wait together. */
static void check_hand(const gyre_behaviour *behaviour)
{
    gyre_actor *const actor = actor_new(behaviour, NULL);
    gyre_port *const port = port_new(actor);
    gyre_brief messages[HAND], hang, answer;
    uint64_t chance = 21;
    uint32_t *flag, before = 0;

    NEED_ACTORS();
    REQUIRE(port);
    if (is_cuda()) {
        CHECK(end(actor, port));
        SKIP("a GPU has messages in hand before it comes to them, and other warps have others");
    }
    flag = take(GYRE_CONTEXT_PINNED, 64);
    REQUIRE(flag);
    for (int round = 0; round < 20; round++) {
        const uint64_t until = soon();
        gyre_port_answer first;

        hang = hanging(LEDGER_HANG, flag);
        draw_priorities(&chance, messages);
        CHECK(ok(gyre_port_ask(port, &hang, 99, soon())));
        while (!__atomic_load_n(&flag[1], __ATOMIC_ACQUIRE) && gyre_clock_now_ns() < until)
            ;
        REQUIRE(__atomic_load_n(&flag[1], __ATOMIC_ACQUIRE) == 1);
        ask_all(port, messages);
        __atomic_store_n(&flag[0], 1, __ATOMIC_RELEASE);
        REQUIRE(ok(gyre_port_receive(port, &first, soon())) && first.cookie == 99);
        check_order(port, messages, before + 1);
        before += HAND + 1;
    }
    CHECK(ok(gyre_port_call(port, &(gyre_brief){.type = LEDGER_READ}, &answer, soon())));
    CHECK(answer.body.words[1] == before + 1);
    CHECK(end(actor, port));
    give(GYRE_CONTEXT_PINNED, flag, 64);
}

static void the_highest_band_in_hand_is_first(void)
{
    check_hand(&ledger);
}

static void the_highest_band_of_a_warp_is_first(void)
{
    check_hand(&rank);
}

/* Those that wait through a pause have an order among them as well. Eight at a time from the first
 * on: on a GPU one warp reads them. */
static void check_pauses(const gyre_behaviour *behaviour)
{
    gyre_actor *const actor = actor_new(behaviour, NULL);
    gyre_port *const port = port_new(actor);
    gyre_brief messages[HAND];
    uint32_t overtaken = 0;
    uint64_t chance = 22;

    NEED_ACTORS();
    REQUIRE(port);
    for (uint32_t round = 0; round < 50; round++) {
        CHECK(ok(gyre_actor_pause(actor, soon())));
        draw_priorities(&chance, messages);
        ask_all(port, messages);
        CHECK(ok(gyre_actor_resume(actor)));
        if (is_cuda())
            overtaken += count_overtaken(port, messages, round * HAND);
        else
            check_order(port, messages, round * HAND);
    }
    CHECK(!is_cuda() || overtaken > 0);
    CHECK(end(actor, port));
}

static void priorities_hold_after_a_pause(void)
{
    check_pauses(&ledger);
}

static void priorities_of_a_warp_hold_after_a_pause(void)
{
    check_pauses(&rank);
}

static gyre_brief read_by(uint64_t deadline_ns)
{
    gyre_brief message = {.type = LEDGER_READ, .flags = GYRE_BRIEF_DEADLINE};

    message.body.reference.deadline_ns = deadline_ns;
    return message;
}

static uint64_t dropped(gyre_actor *actor)
{
    gyre_actor_statistics statistics = {.struct_size = sizeof statistics};

    CHECK(ok(gyre_actor_pause(actor, soon())) && ok(gyre_actor_describe(actor, &statistics)) &&
          ok(gyre_actor_resume(actor)));
    return statistics.dropped;
}

/* A deadline is of the host's clock, whatever clock the device has. */
static void only_what_is_late_is_let_go(void)
{
    gyre_actor *const actor = actor_new(&ledger, NULL);
    gyre_port *const port = port_new(actor);
    gyre_brief message, answer;

    NEED_ACTORS();
    REQUIRE(port);
    for (uint32_t i = 0; i < 50; i++) {
        message = read_by(i % 10 == 0 ? GYRE_NEVER : gyre_clock_after_ns(10000 * MS));
        REQUIRE(ok(gyre_port_call(port, &message, &answer, soon())));
        CHECK(answer.body.words[1] == i + 1);
        message = read_by(i % 10 == 0 ? 0 : gyre_clock_now_ns() - LATE_MS * MS);
        CHECK(gyre_port_call(port, &message, &answer, soon()) == GYRE_TIMEOUT);
        CHECK(answer.flags == GYRE_BRIEF_FAILED && answer.body.words[0] == GYRE_ACTOR_TIMEOUT);
    }
    CHECK(dropped(actor) == 50);
    CHECK(end(actor, port));
}

static void many_are_late_one_by_one(void)
{
    gyre_actor *const actor = actor_new(&ledger, NULL);
    gyre_port *const port = port_new(actor);
    gyre_brief messages[100], answers[100];
    uint64_t chance = 23;
    uint32_t handled = 0, late = 0;
    bool lates[100];
    size_t sent;

    NEED_ACTORS();
    REQUIRE(port);
    for (int round = 0; round < 5; round++) {
        for (size_t i = 0; i < COUNT(messages); i++) {
            lates[i] = chance_below(&chance, 2);
            messages[i] = read_by(lates[i] ? gyre_clock_now_ns() - LATE_MS * MS
                                           : gyre_clock_after_ns(10000 * MS));
        }
        REQUIRE(ok(gyre_port_call_many(port, messages, answers, COUNT(messages), soon())));
        for (size_t i = 0; i < COUNT(messages); i++) {
            handled += !lates[i];
            late += lates[i];
            CHECK(answers[i].flags == (lates[i] ? GYRE_BRIEF_FAILED : 0));
            CHECK(answers[i].body.words[lates[i] ? 0 : 1] ==
                  (lates[i] ? GYRE_ACTOR_TIMEOUT : handled));
        }
        REQUIRE(ok(gyre_port_send_many(port, messages, COUNT(messages), soon(), &sent)));
        for (size_t i = 0; i < COUNT(messages); i++) {
            handled += !lates[i];
            late += lates[i];
        }
    }
    CHECK(ok(gyre_port_flush(port, soon())) && dropped(actor) == late);
    CHECK(ok(gyre_port_call(port, &(gyre_brief){.type = LEDGER_READ}, answers, soon())));
    CHECK(answers[0].body.words[1] == handled + 1);
    CHECK(end(actor, port));
}

static void what_gets_late_in_a_pause_is_let_go(void)
{
    gyre_actor *const actor = actor_new(&ledger, NULL);
    gyre_port *const port = port_new(actor);
    gyre_brief soon_late, in_time = read_by(gyre_clock_after_ns(60000 * MS)), answer;
    gyre_port_answer late, good;

    NEED_ACTORS();
    REQUIRE(port);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK(ok(gyre_actor_pause(actor, soon())));
        soon_late = read_by(gyre_clock_after_ns(5 * MS));
        CHECK(ok(gyre_port_ask(port, &soon_late, 1, soon())));
        CHECK(ok(gyre_port_ask(port, &in_time, 2, soon())));
        sleep_ns((5 + LATE_MS) * MS);
        CHECK(ok(i % 2 ? gyre_actor_park(actor, soon()) : GYRE_OK));
        CHECK(ok(gyre_actor_resume(actor)));
        REQUIRE(ok(gyre_port_receive(port, &late, soon())) && late.cookie == 1);
        CHECK(late.brief.flags == GYRE_BRIEF_FAILED &&
              late.brief.body.words[0] == GYRE_ACTOR_TIMEOUT);
        REQUIRE(ok(gyre_port_receive(port, &good, soon())) && good.cookie == 2);
        CHECK(good.brief.flags == 0 && good.brief.body.words[1] == i + 1);
    }
    CHECK(dropped(actor) == 3);
    CHECK(ok(gyre_port_call(port, &in_time, &answer, soon())));
    CHECK(end(actor, port));
}

/* Clocks part, so the device's is asked again once a second; that must change nothing. */
static void deadlines_hold_for_seconds(void)
{
    gyre_actor *const actor = actor_new(&ledger, NULL);
    gyre_port *const port = port_new(actor);
    gyre_brief message, answer;

    NEED_ACTORS();
    REQUIRE(port);
    for (int i = 0; i < 25; i++) {
        message = read_by(gyre_clock_after_ns(5000 * MS));
        REQUIRE(ok(gyre_port_call(port, &message, &answer, soon())));
        message = read_by(gyre_clock_now_ns() - LATE_MS * MS);
        CHECK(gyre_port_call(port, &message, &answer, soon()) == GYRE_TIMEOUT);
        sleep_ns(100 * MS);
    }
    CHECK(dropped(actor) == 25);
    CHECK(end(actor, port));
}

/* The device may leave before it could say what time it is: then its clock must not be taken for as
 * far behind as the question came late. */
static void deadlines_hold_across_a_park(void)
{
    gyre_actor *const actor = actor_new(&ledger, NULL);
    gyre_port *const port = port_new(actor);
    gyre_brief message, answer;
    gyre_port_answer heard;

    NEED_ACTORS();
    REQUIRE(port);
    for (uint32_t i = 0; i < 2; i++) {
        sleep_ns(1100 * MS); /* before that it is not asked again */
        message = read_by(gyre_clock_after_ns(60000 * MS));
        REQUIRE(ok(gyre_port_ask(port, &message, 1, soon())));
        CHECK(ok(gyre_actor_park(actor, soon())));
        message = read_by(gyre_clock_after_ns(900 * MS));
        REQUIRE(ok(gyre_port_ask(port, &message, 2, soon())));
        CHECK(ok(gyre_actor_resume(actor)));
        for (uint64_t cookie = 1; cookie <= 2; cookie++) {
            REQUIRE(ok(gyre_port_receive(port, &heard, soon())) && heard.cookie == cookie);
            CHECK(heard.brief.flags == 0);
        }
    }
    CHECK(dropped(actor) == 0);
    CHECK(ok(gyre_port_call(port, &message, &answer, soon())));
    CHECK(end(actor, port));
}

static struct {
    gyre_actor *actor;
    gyre_port *port;
    size_t state_bytes, count_at; /* where the state counts messages */
    uint16_t type, silent;
    uint32_t sent; /* shared: released after each that was sent */
} busy;

static gyre_status note_sent(gyre_status status)
{
    if (status == GYRE_OK)
        __atomic_fetch_add(&busy.sent, 1, __ATOMIC_RELEASE);
    return status;
}

/* Sends without end: a few that are not answered, or more than the seat gets through meanwhile, and
 * then one that is. */
static void send_without_end(void)
{
    const gyre_brief call = {.type = busy.type}, silent = {.type = busy.silent};
    gyre_status status = GYRE_OK;
    gyre_brief answer;
    uint64_t chance = 3;

    while (status == GYRE_OK) {
        uint64_t left = chance_below(&chance, chance_below(&chance, 4) ? 16 : BURST);

        for (; status == GYRE_OK && left > 0; left--)
            status = note_sent(gyre_port_send(busy.port, &silent, soon()));
        if (status == GYRE_OK)
            status = note_sent(gyre_port_call(busy.port, &call, &answer, soon()));
    }
    CHECK(status == GYRE_CLOSED);
}

/* Number 0 sends; number 1 pauses, and looks at the state twice: what was sent before is in it, and
 * nothing comes to it. */
static void look_in_a_pause(size_t number)
{
    const uint64_t enough_ns = gyre_clock_after_ns(2000 * MS); /* for a slow device */
    unsigned char before[64], after[64];

    if (number == 0) {
        send_without_end();
        return;
    }
    for (int i = 0; i < 200 && (i < 30 || gyre_clock_now_ns() < enough_ns); i++) {
        const uint32_t sent = __atomic_load_n(&busy.sent, __ATOMIC_ACQUIRE);
        uint32_t handled;
        uint64_t until;

        CHECK(ok(gyre_actor_pause(busy.actor, soon())));
        CHECK(ok(gyre_actor_read_state(busy.actor, before, busy.state_bytes)));
        memcpy(&handled, before + busy.count_at, sizeof handled);
        CHECK(handled >= sent);
        until = gyre_clock_after_ns(MS / 10);
        while (gyre_clock_now_ns() < until)
            ;
        CHECK(ok(gyre_actor_read_state(busy.actor, after, busy.state_bytes)));
        CHECK(memcmp(before, after, busy.state_bytes) == 0);
        CHECK(ok(gyre_actor_resume(busy.actor)));
    }
    CHECK(ok(gyre_actor_drain(busy.actor, soon())));
}

static void is_quiet_in_pauses(const gyre_behaviour *behaviour, size_t count_at, uint16_t type,
                               uint16_t silent)
{
    busy.actor = actor_new(behaviour, NULL);
    NEED_ACTORS();
    busy.port = port_new(busy.actor);
    REQUIRE(busy.port);
    busy.state_bytes = behaviour->state_bytes;
    busy.count_at = count_at;
    busy.type = type;
    busy.silent = silent;
    busy.sent = 0;
    CHECK(together(2, look_in_a_pause));
    gyre_port_close(busy.port);
    gyre_actor_destroy(busy.actor);
}

static void nothing_happens_in_a_pause(void)
{
    is_quiet_in_pauses(&ledger, offsetof(ledger_state, messages), LEDGER_MIX, LEDGER_SILENT);
    is_quiet_in_pauses(&echo, offsetof(echo_state, count), ECHO_SLOWLY, ECHO_SLOWLY);
}

static const test_case cases[] = {
    TEST(the_highest_band_in_hand_is_first),   TEST(the_highest_band_of_a_warp_is_first),
    TEST(priorities_hold_after_a_pause),       TEST(priorities_of_a_warp_hold_after_a_pause),
    TEST(only_what_is_late_is_let_go),         TEST(many_are_late_one_by_one),
    TEST(what_gets_late_in_a_pause_is_let_go), TEST(deadlines_hold_for_seconds),
    TEST(deadlines_hold_across_a_park),        TEST(nothing_happens_in_a_pause),
};
CONFORMANCE_MAIN(cases)
