/* SPDX-License-Identifier: Apache-2.0
 *
 * Actors that leave the device when nothing comes, and come back: that nothing is lost on the way,
 * whoever sends at whatever moment, and that their life goes on as if they had stayed. And event
 * loops, which sleep meanwhile.
 */
#include "conformance_actor.h"

#include <poll.h>

#include "behaviours/echo.c"   /* NOLINT(bugprone-suspicious-include): its types as well */
#include "behaviours/ledger.c" /* NOLINT(bugprone-suspicious-include): its types as well */

enum { ROUNDS = 300, SENDERS = 3 };

/* One that leaves after so many microseconds, or NULL. */
static gyre_actor *leaver(const gyre_behaviour *behaviour, uint32_t leave_us, uint32_t seats)
{
    const gyre_actor_launch_options options = {.struct_size = sizeof options,
                                               .seats = seats,
                                               .ports = 4,
                                               .capacity = 32,
                                               .idle = GYRE_ACTOR_LEAVE,
                                               .leave_us = leave_us};

    return actor_new(behaviour, &options);
}

static uint64_t returns_of(gyre_actor *actor)
{
    gyre_actor_statistics statistics = {.struct_size = sizeof statistics};

    return gyre_actor_describe(actor, &statistics) == GYRE_OK ? statistics.returns : 0;
}

static bool leaves(gyre_actor *actor)
{
    return ok(gyre_actor_wait(actor, GYRE_ACTOR_AWAY, soon()));
}

/* After it came back so often: what it was sent may be handled before it says that it is back. */
static bool leaves_after(gyre_actor *actor, uint64_t returns)
{
    const uint64_t deadline_ns = soon();

    while (returns_of(actor) < returns && gyre_clock_now_ns() < deadline_ns)
        ;
    return returns_of(actor) >= returns && leaves(actor);
}

static void every_message_brings_it_back(void)
{
    gyre_actor *const actor = leaver(&ledger, 1000, 1);
    gyre_port *const port = port_new(actor);
    const gyre_brief mix = {.type = LEDGER_MIX, .body.words = {5}};
    const gyre_brief two[2] = {mix, mix};
    gyre_brief answers[2];
    gyre_port_answer heard = {.cookie = 0};
    ledger_state state;
    size_t sent;

    NEED_ACTORS();
    REQUIRE(port);
    CHECK(leaves_after(actor, 0) && returns_of(actor) == 0);
    CHECK(strcmp(gyre_actor_status_name(gyre_actor_state(actor)), "away") == 0);
    CHECK(ok(gyre_port_call(port, &mix, answers, soon())) && answers[0].body.words[1] == 1);
    CHECK(leaves_after(actor, 1));
    CHECK(ok(gyre_port_send(port, &mix, soon())) && ok(gyre_port_flush(port, soon())));
    CHECK(leaves_after(actor, 2));
    CHECK(ok(gyre_port_send_many(port, two, 2, soon(), &sent)) && sent == 2);
    CHECK(ok(gyre_port_flush(port, soon())));
    CHECK(leaves_after(actor, 3));
    CHECK(ok(gyre_port_ask(port, &mix, 7, soon())) && ok(gyre_port_receive(port, &heard, soon())));
    CHECK(heard.cookie == 7 && heard.brief.body.words[1] == 5);
    CHECK(leaves_after(actor, 4));
    CHECK(ok(gyre_port_call_many(port, two, answers, 2, soon())));
    CHECK(answers[1].body.words[1] == 7);
    CHECK(leaves_after(actor, 5));
    CHECK(ok(gyre_actor_read_state(actor, &state, sizeof state)) && state.messages == 7);
    CHECK(end(actor, port));
}

static void its_life_goes_on_from_away(void)
{
    gyre_actor *const actor = leaver(&ledger, 1000, 1);
    gyre_port *const port = port_new(actor);
    const gyre_brief mix = {.type = LEDGER_MIX, .body.words = {5}};
    gyre_brief answer;

    NEED_ACTORS();
    REQUIRE(port);
    CHECK(leaves(actor) && ok(gyre_actor_activate(actor)) && ok(gyre_actor_resume(actor)));
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_AWAY);
    CHECK(gyre_actor_launch(actor, NULL) == GYRE_INVALID);
    CHECK(ok(gyre_actor_pause(actor, soon())) && gyre_actor_state(actor) == GYRE_ACTOR_PAUSED);
    CHECK(gyre_port_call(port, &mix, &answer, gyre_clock_after_ns(20 * MS)) == GYRE_TIMEOUT);
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_PAUSED);
    CHECK(ok(gyre_actor_resume(actor)) && ok(gyre_port_flush(port, soon())));
    CHECK(leaves(actor));
    CHECK(ok(gyre_actor_park(actor, soon())) && gyre_actor_state(actor) == GYRE_ACTOR_PARKED);
    /* nobody brings back one that was parked but who parked it */
    CHECK(gyre_port_call(port, &mix, &answer, gyre_clock_after_ns(20 * MS)) == GYRE_TIMEOUT);
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_PARKED);
    CHECK(ok(gyre_actor_resume(actor)) && ok(gyre_port_flush(port, soon())));
    CHECK(ok(gyre_port_call(port, &mix, &answer, soon())) && answer.body.words[1] == 3);
    CHECK(leaves(actor));
    CHECK(ok(gyre_actor_drain(actor, soon())));
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_TERMINATED);
    CHECK(gyre_port_call(port, &mix, &answer, soon()) == GYRE_CLOSED);
    CHECK(end(actor, port));
}

static void one_that_is_away_can_go(void)
{
    gyre_actor *actor, *other;
    gyre_port *port;

    if (under_sanitizer())
        SKIP("the sanitizer lets no two kernels run at once");
    actor = leaver(&ledger, 1000, 1);
    NEED_ACTORS();
    other = leaver(&ledger, 1000, 1);
    port = port_new(actor);
    REQUIRE(port && other);
    CHECK(leaves(actor) && leaves(other));
    gyre_actor_destroy(other);
    CHECK(end(actor, port));
}

/* Where seats take whole units, all but one of them are all there is. */
static void others_may_take_its_place(void)
{
    gyre_actor_launch_options all = {.struct_size = sizeof all, .seats = on.device->units - 1};
    const gyre_brief mix = {.type = LEDGER_MIX, .body.words = {5}};
    gyre_actor *actor, *other;
    gyre_brief answer;
    gyre_port *port;

    if (strcmp(on.device->backend, "opencl") != 0)
        SKIP("how many seats are all depends on the kernel, or there is no limit");
    actor = leaver(&ledger, 1000, 1);
    NEED_ACTORS();
    port = port_new(actor);
    REQUIRE(port && leaves(actor) && ok(gyre_actor_create(on.context, &echo, NULL, &other)));
    REQUIRE(ok(gyre_actor_launch(other, &all)));
    CHECK(gyre_port_call(port, &mix, &answer, soon()) == GYRE_NO_MEMORY);
    CHECK(gyre_port_send(port, &mix, soon()) == GYRE_NO_MEMORY);
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_AWAY);
    CHECK(ok(gyre_actor_terminate(other, soon())));
    CHECK(ok(gyre_port_call(port, &mix, &answer, soon())) && answer.body.words[1] == 1);
    gyre_actor_destroy(other);
    CHECK(end(actor, port));
}

static void a_crew_leaves_together(void)
{
    gyre_actor *const actor = leaver(&echo, 1000, 3);
    gyre_port *const port = port_new(actor);
    gyre_brief requests[40] = {{.type = 1}}, answers[40];
    echo_state state;

    NEED_ACTORS();
    REQUIRE(port);
    for (int round = 0; round < 5; round++) {
        CHECK(leaves(actor));
        for (uint32_t i = 0; i < COUNT(requests); i++)
            requests[i].body.words[0] = i;
        CHECK(ok(gyre_port_call_many(port, requests, answers, COUNT(requests), soon())));
        for (uint32_t i = 0; i < COUNT(requests); i++)
            CHECK(answers[i].body.words[0] == i + 1);
    }
    CHECK(leaves(actor) && ok(gyre_actor_read_state(actor, &state, sizeof state)));
    CHECK(state.count == 5 * COUNT(requests));
    CHECK(end(actor, port));
}

static void one_that_is_busy_stays(void)
{
    uint32_t *const flag = flag_new();
    gyre_actor *const actor = leaver(&ledger, 5000, 1);
    gyre_port *const port = port_new(actor);
    gyre_brief hang;
    uint64_t until;

    NEED_ACTORS_FOR(flag);
    REQUIRE(port && flag);
    hang = hanging(LEDGER_HANG, flag);
    CHECK(ok(gyre_port_send(port, &hang, soon())));
    CHECK(ok(gyre_actor_wait(actor, GYRE_ACTOR_ACTIVE, soon())));
    until = gyre_clock_after_ns(100 * MS);
    while (gyre_clock_now_ns() < until)
        CHECK(gyre_actor_state(actor) == GYRE_ACTOR_ACTIVE);
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    CHECK(leaves(actor));
    CHECK(end(actor, port));
    flag_give(flag);
}

static void doze(uint64_t *chance, uint64_t most_ns)
{
    sleep_ns(chance_next(chance) % most_ns);
}

/* Without any call that waits, which would find out by itself. */
static bool is_handled(gyre_actor *actor, uint64_t count)
{
    gyre_actor_statistics statistics = {.struct_size = sizeof statistics};
    const uint64_t deadline_ns = soon();

    do
        (void)!gyre_actor_describe(actor, &statistics);
    while (statistics.processed < count && gyre_clock_now_ns() < deadline_ns);
    return statistics.processed == count;
}

static void who_only_sends_is_heard(void)
{
    gyre_actor *const actor = leaver(&ledger, 20, 1);
    gyre_port *const port = port_new(actor);
    const gyre_brief silent = {.type = LEDGER_SILENT, .body.words = {1}};
    uint64_t chance = 3, count = 0;

    NEED_ACTORS();
    REQUIRE(port);
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t until = gyre_clock_after_ns(chance_next(&chance) % 400000);

        while (gyre_clock_now_ns() < until)
            ;
        CHECK(ok(gyre_port_send(port, &silent, soon())));
        REQUIRE(is_handled(actor, ++count));
    }
    CHECK(end(actor, port));
}

static gyre_port *ports[SENDERS];
static gyre_actor *restless;
static uint32_t sent_by[SENDERS];
static uint32_t senders_left; /* shared */

/* Whatever comes to mind, with pauses of about the time after which it leaves, and on a slow device
 * longer ones until it has left once. */
static void send_now_and_then(size_t number)
{
    gyre_port *const port = ports[number];
    const uint64_t limit_ns = soon();
    uint64_t chance = number + 11;

    for (int i = 0; i < ROUNDS || (returns_of(restless) == 0 && gyre_clock_now_ns() < limit_ns);
         i++) {
        gyre_brief some[8] = {{.type = 1}}, answers[8];
        gyre_port_answer heard;
        const size_t count = 1 + chance_next(&chance) % COUNT(some);
        size_t sent = 1;

        for (size_t k = 0; k < count; k++)
            some[k] = (gyre_brief){.type = 1, .body.words = {(uint32_t)i}};
        switch (chance_next(&chance) % 5) {
        case 0:
            CHECK(ok(gyre_port_send_many(port, some, count, soon(), &sent)));
            break;
        case 1:
            CHECK(ok(gyre_port_call(port, some, answers, soon())));
            CHECK(answers[0].body.words[0] == (uint32_t)i + 1);
            break;
        case 2:
            CHECK(ok(gyre_port_ask(port, some, (uint64_t)i, soon())));
            CHECK(ok(gyre_port_receive(port, &heard, soon())) && heard.cookie == (uint64_t)i);
            break;
        case 3:
            CHECK(ok(gyre_port_call_many(port, some, answers, count, soon())));
            CHECK(answers[count - 1].body.words[0] == (uint32_t)i + 1);
            sent = count;
            break;
        default:
            CHECK(ok(gyre_port_send(port, some, soon())));
            CHECK(ok(gyre_port_flush(port, soon())));
        }
        sent_by[number] += (uint32_t)sent;
        doze(&chance, i < ROUNDS ? 400000 : 20 * MS);
    }
    CHECK(ok(gyre_port_flush(port, soon())));
    __atomic_fetch_sub(&senders_left, 1, __ATOMIC_RELEASE);
}

/* The last one pauses and parks meanwhile. */
static void use_and_order(size_t number)
{
    uint64_t chance = 5;

    if (number < SENDERS) {
        send_now_and_then(number);
        return;
    }
    while (__atomic_load_n(&senders_left, __ATOMIC_ACQUIRE) > 0) {
        doze(&chance, 20 * MS);
        CHECK(ok(chance % 2 ? gyre_actor_pause(restless, soon())
                            : gyre_actor_park(restless, soon())));
        CHECK(ok(gyre_actor_resume(restless)));
    }
}

static void nothing_is_lost(bool ordered)
{
    echo_state state;
    uint32_t sum = 0;

    restless = leaver(&echo, 100, 1);
    NEED_ACTORS();
    REQUIRE(restless);
    for (size_t i = 0; i < SENDERS; i++) {
        ports[i] = port_new(restless);
        sent_by[i] = 0;
        REQUIRE(ports[i]);
    }
    senders_left = SENDERS;
    CHECK(together(SENDERS + ordered, use_and_order));
    CHECK(returns_of(restless) > 0);
    CHECK(ok(gyre_actor_drain(restless, soon())));
    CHECK(ok(gyre_actor_read_state(restless, &state, sizeof state)));
    for (size_t i = 0; i < SENDERS; i++) {
        sum += sent_by[i];
        gyre_port_close(ports[i]);
    }
    CHECK(state.count == sum);
    gyre_actor_destroy(restless);
}

static void what_slips_in_is_not_lost(void)
{
    nothing_is_lost(false);
}

static void nor_while_orders_come(void)
{
    nothing_is_lost(true);
}

static void one_that_stays_never_leaves(void)
{
    const gyre_actor_launch_options stays = {.struct_size = sizeof stays, .leave_us = 1000};
    gyre_actor *const actor = leaver(&echo, 1000, 1);
    uint64_t until;

    NEED_ACTORS();
    REQUIRE(actor);
    CHECK(ok(gyre_actor_terminate(actor, soon())) && ok(gyre_actor_launch(actor, &stays)));
    until = gyre_clock_after_ns(50 * MS);
    while (gyre_clock_now_ns() < until)
        CHECK(gyre_actor_state(actor) == GYRE_ACTOR_ACTIVE);
    gyre_actor_destroy(actor);
}

static void an_event_loop_hears_it(void)
{
    gyre_actor *const actor = leaver(&echo, 200, 1);
    gyre_port *const port = port_new(actor);
    struct pollfd loop = {.events = POLLIN};
    uint64_t chance = 9;

    NEED_ACTORS();
    REQUIRE(port && ok(gyre_port_descriptor(port, &loop.fd)));
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const gyre_brief request = {.type = 1, .body.words = {i}};
        gyre_port_answer heard;

        REQUIRE(ok(gyre_port_ask(port, &request, i, soon())));
        REQUIRE(poll(&loop, 1, 20000) == 1 && loop.revents == POLLIN);
        REQUIRE(ok(gyre_port_receive(port, &heard, 0)));
        CHECK(heard.cookie == i && heard.brief.body.words[0] == i + 1);
        CHECK(poll(&loop, 1, 0) == 0);
        doze(&chance, 400000);
    }
    CHECK(end(actor, port));
}

static const test_case cases[] = {
    TEST(every_message_brings_it_back), TEST(its_life_goes_on_from_away),
    TEST(one_that_is_away_can_go),      TEST(others_may_take_its_place),
    TEST(a_crew_leaves_together),       TEST(one_that_is_busy_stays),
    TEST(who_only_sends_is_heard),      TEST(what_slips_in_is_not_lost),
    TEST(nor_while_orders_come),        TEST(one_that_stays_never_leaves),
    TEST(an_event_loop_hears_it),
};
CONFORMANCE_MAIN(cases)
