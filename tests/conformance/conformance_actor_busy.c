/* SPDX-License-Identifier: Apache-2.0
 *
 * Several threads change one actor's life: one at a time, and each keeps its own deadline, however
 * long another one waits. Who terminates does not wait for the others. Who has much to do does not
 * hang, and who only counts is in nobody's way.
 */
#include "conformance_busy.h"

#include "actor/order.h"

#include "behaviours/ledger.c" /* NOLINT(bugprone-suspicious-include): its types as well */
#include "behaviours/rank.c"   /* NOLINT(bugprone-suspicious-include): its types as well */

_Static_assert((int)RANK_HANG == LEDGER_HANG, "either hangs by the same message");

enum { SLOW = 6, SLOW_MS = 300, SLOW_STALL_MS = 1000, LAUNCHES = 30, BIG = 1 << 18 };

/* A change that waits, and what the actor is meanwhile. */
static const struct {
    gyre_status (*what)(gyre_actor *actor);
    gyre_actor_status meanwhile;
} waiting[] = {
    {pause_it, GYRE_ACTOR_PAUSED}, {park, GYRE_ACTOR_PAUSED}, {drain, GYRE_ACTOR_DRAINING}};

/* An actor whose seat is at a message for as long as the test likes. */
static struct {
    uint32_t *flag;
    gyre_actor *actor;
    gyre_port *port;
} busy;

static bool is_busy(void)
{
    const gyre_actor_options options = {.struct_size = sizeof options, .stall_ns = 60000 * MS};
    const gyre_status status = gyre_actor_create(on.context, &waiter, &options, &busy.actor);

    no_actors = status == GYRE_UNSUPPORTED;
    busy.flag = flag_new();
    if (no_actors)
        return false;
    busy.port = ok(status) && ok(gyre_actor_launch(busy.actor, NULL)) ? port_new(busy.actor) : NULL;
    return busy.flag && hang_one(busy.port, busy.flag);
}

static bool is_begun(deed *d, size_t which)
{
    return begin(d, busy.actor, waiting[which].what) &&
           ok(gyre_actor_wait(busy.actor, waiting[which].meanwhile, soon()));
}

static gyre_status status_of(deed *d)
{
    gyre_thread_stop(d->thread);
    return d->status;
}

/* All is well with one that has ended: it begins again, and ends again. */
static void finish(void)
{
    const gyre_brief message = {.type = WAITER_COUNT};
    gyre_brief answer;

    CHECK(ok(gyre_actor_wait(busy.actor, GYRE_ACTOR_TERMINATED, soon())));
    gyre_port_close(busy.port);
    CHECK(ok(gyre_actor_launch(busy.actor, NULL)));
    busy.port = port_new(busy.actor);
    REQUIRE(busy.port);
    CHECK(ok(gyre_port_call(busy.port, &message, &answer, soon())) && answer.body.words[0] == 1);
    CHECK(end(busy.actor, busy.port));
    flag_give(busy.flag);
}

static void who_terminates_overrules_who_waits(void)
{
    for (size_t i = 0; i < COUNT(waiting); i++) {
        const bool begun = is_busy();
        const uint64_t late = soon();
        deed d;

        NEED_ACTORS_FOR(busy.flag);
        REQUIRE(begun && is_begun(&d, i));
        CHECK(gyre_actor_terminate(busy.actor, shortly()) == GYRE_TIMEOUT); /* the seat hangs */
        CHECK(status_of(&d) == GYRE_CLOSED);
        CHECK(gyre_clock_now_ns() < late); /* when the other would have given up */
        CHECK(gyre_actor_state(busy.actor) == GYRE_ACTOR_DRAINING);
        let_go(busy.flag);
        finish();
    }
}

/* One that cannot wait at all does not have to, either. */
static void who_terminates_need_not_wait(void)
{
    for (size_t i = 0; i < COUNT(waiting); i++) {
        const bool begun = is_busy();
        deed d;

        NEED_ACTORS_FOR(busy.flag);
        REQUIRE(begun && is_begun(&d, i));
        CHECK(gyre_actor_terminate(busy.actor, 0) == GYRE_TIMEOUT);
        CHECK(status_of(&d) == GYRE_CLOSED);
        CHECK(gyre_actor_state(busy.actor) == GYRE_ACTOR_DRAINING);
        let_go(busy.flag);
        finish();
    }
}

static gyre_status terminate(gyre_actor *actor)
{
    return gyre_actor_terminate(actor, soon());
}

static void two_may_terminate(void)
{
    const bool begun = is_busy();
    deed d;

    NEED_ACTORS_FOR(busy.flag);
    REQUIRE(begun && begin(&d, busy.actor, terminate));
    REQUIRE(ok(gyre_actor_wait(busy.actor, GYRE_ACTOR_DRAINING, soon())));
    CHECK(gyre_actor_terminate(busy.actor, shortly()) == GYRE_TIMEOUT && !atomic_load(&d.done));
    let_go(busy.flag);
    CHECK(is_well_done(&d) && ok(gyre_actor_terminate(busy.actor, soon())));
    finish();
}

/* Whatever the holder does with it, and he need not wait. */
static void a_terminate_is_left_to_the_holder(void)
{
    const bool begun = is_busy();

    NEED_ACTORS_FOR(busy.flag);
    REQUIRE(begun && gyre_latch_try(&busy.actor->lock));
    CHECK(gyre_actor_terminate(busy.actor, shortly()) == GYRE_TIMEOUT);
    CHECK(gyre_actor_state(busy.actor) == GYRE_ACTOR_ACTIVE);
    gyre_actor_release(busy.actor);
    CHECK(gyre_actor_state(busy.actor) == GYRE_ACTOR_DRAINING);
    let_go(busy.flag);
    finish();
}

static void deadlines_are_kept_while_another_one_waits(void)
{
    for (size_t i = 0; i < COUNT(waiting); i++) {
        static gyre_status (*const changes[])(gyre_actor * actor, uint64_t deadline_ns) = {
            gyre_actor_pause, gyre_actor_park, gyre_actor_drain};
        const bool begun = is_busy();
        gyre_actor_statistics statistics = {.struct_size = sizeof statistics};
        deed d;

        NEED_ACTORS_FOR(busy.flag);
        REQUIRE(begun && is_begun(&d, i));
        for (size_t k = 0; k < COUNT(changes); k++) {
            const uint64_t deadline_ns = shortly();

            CHECK(changes[k](busy.actor, deadline_ns) == GYRE_TIMEOUT);
            CHECK(gyre_clock_now_ns() >= deadline_ns);
        }
        CHECK(gyre_actor_wait(busy.actor, GYRE_ACTOR_ACTIVE, shortly()) == GYRE_TIMEOUT);
        CHECK(gyre_actor_state(busy.actor) == waiting[i].meanwhile); /* nothing was ordered */
        CHECK(ok(gyre_actor_describe(busy.actor, &statistics)));
        CHECK(!atomic_load(&d.done)); /* all of that before the first was over */
        let_go(busy.flag);
        CHECK(is_well_done(&d) && ok(gyre_actor_terminate(busy.actor, soon())));
        finish();
    }
}

static gyre_status read_it(gyre_actor *actor)
{
    waiter_state state;

    return gyre_actor_read_state(actor, &state, sizeof state);
}

static gyre_status open_port(gyre_actor *actor)
{
    gyre_port *port;
    const gyre_status status = gyre_port_open(actor, NULL, &port);

    gyre_port_close(port);
    return status;
}

static gyre_status activate(gyre_actor *actor)
{
    return gyre_actor_activate(actor);
}

/* Those that have no deadline wait for whoever has one, and not for ever. */
static void without_a_deadline_ten_seconds_are_the_most(void)
{
    static gyre_status (*const all[])(gyre_actor * actor) = {launch, activate, resume, read_it,
                                                             open_port};
    const bool begun = is_busy();
    deed first, others[COUNT(all)];

    NEED_ACTORS_FOR(busy.flag);
    REQUIRE(begun && is_begun(&first, 0));
    REQUIRE(begin(&others[0], busy.actor, read_it));
    CHECK(waits(&others[0]));
    let_go(busy.flag);
    CHECK(is_well_done(&first) && is_well_done(&others[0]));
    if (strcmp(on.device->backend, "cpu") == 0) { /* once is enough */
        const uint64_t since_ns = gyre_clock_now_ns();

        REQUIRE(gyre_latch_try(&busy.actor->lock));
        for (size_t i = 0; i < COUNT(all); i++)
            REQUIRE(begin(&others[i], busy.actor, all[i]));
        for (size_t i = 0; i < COUNT(all); i++)
            CHECK(status_of(&others[i]) == GYRE_UNAVAILABLE);
        CHECK(gyre_clock_now_ns() - since_ns >= GYRE_ACTOR_KEPT_NS);
        gyre_actor_release(busy.actor);
    }
    CHECK(ok(gyre_actor_terminate(busy.actor, soon())));
    finish();
}

/* An actor with messages that take so long together that a seat which said nothing all the while
 * would be taken for one that hangs, while somebody does what waits for them. What became of that.
 */
static gyre_actor *slow_actor;
static gyre_port *slow_port;

static gyre_status be_slow(const gyre_behaviour *behaviour, gyre_status (*what)(gyre_actor *actor))
{
    const gyre_actor_options options = {.struct_size = sizeof options,
                                        .stall_ns = SLOW_STALL_MS * MS};
    uint32_t *flags[SLOW];
    gyre_status status;
    bool sent = true;
    deed d;

    for (int i = 0; i < SLOW; i++)
        flags[i] = flag_new();
    status = gyre_actor_create(on.context, behaviour, &options, &slow_actor);
    no_actors = status == GYRE_UNSUPPORTED;
    if (status != GYRE_OK) {
        for (int i = 0; i < SLOW; i++)
            flag_give(flags[i]);
        return status;
    }
    slow_port = ok(gyre_actor_launch(slow_actor, NULL)) ? port_new(slow_actor) : NULL;
    for (int i = 0; i < SLOW && sent; i++) {
        sent = slow_port && flags[i];
        if (sent) {
            const gyre_brief hang = hanging(LEDGER_HANG, flags[i]);

            sent = ok(gyre_port_send(slow_port, &hang, soon()));
        }
    }
    if (!sent || !begin(&d, slow_actor, what))
        return GYRE_INTERNAL;
    for (int i = 0; i < SLOW; i++) {
        sleep_ns(SLOW_MS * MS);
        let_go(flags[i]);
    }
    status = status_of(&d);
    for (int i = 0; i < SLOW; i++)
        flag_give(flags[i]);
    return status;
}

static void much_to_do_is_no_stall(void)
{
    for (int i = 0; i < 2; i++) {
        const gyre_status status = be_slow(i ? &rank : &ledger, drain);

        NEED_ACTORS();
        CHECK(ok(status));
        CHECK(end(slow_actor, slow_port));
    }
}

static gyre_status destroy_it(gyre_actor *actor)
{
    gyre_port_close(slow_port);
    gyre_actor_destroy(actor);
    return GYRE_OK;
}

/* What is left there would be found at the end of this program, if not here. */
static void one_with_much_in_hand_is_not_left(void)
{
    for (int i = 0; i < 2; i++) {
        const gyre_status status = be_slow(i ? &rank : &ledger, destroy_it);

        NEED_ACTORS();
        CHECK(ok(status) && ok(gyre_context_check(on.context)));
    }
}

static _Atomic bool counted_enough;

static gyre_status count_on(gyre_actor *actor)
{
    gyre_actor_statistics statistics = {.struct_size = sizeof statistics};
    gyre_status status = GYRE_OK;

    while (status == GYRE_OK && !atomic_load(&counted_enough))
        status = gyre_actor_describe(actor, &statistics);
    return status;
}

static void counts_may_be_read_beside_a_launch(void)
{
    const gyre_actor_launch_options options = {.struct_size = sizeof options, .capacity = BIG};
    gyre_actor *const actor = actor_new(&waiter, &options);
    const gyre_brief message = {.type = WAITER_COUNT};
    const uint64_t enough_ns = gyre_clock_after_ns(4000 * MS); /* for a sanitizer */
    gyre_actor_statistics statistics = {.struct_size = sizeof statistics};
    gyre_brief answer;
    deed d;

    NEED_ACTORS();
    atomic_store(&counted_enough, false);
    REQUIRE(actor && begin(&d, actor, count_on));
    for (int i = 0; i < LAUNCHES && (i < 5 || gyre_clock_now_ns() < enough_ns); i++) {
        gyre_port *const port = port_new(actor);

        CHECK(port && ok(gyre_port_call(port, &message, &answer, soon())));
        gyre_port_close(port);
        CHECK(ok(gyre_actor_terminate(actor, soon())));
        CHECK(ok(gyre_actor_describe(actor, &statistics)) && statistics.processed == 1);
        CHECK(ok(gyre_actor_launch(actor, &options)));
    }
    atomic_store(&counted_enough, true);
    CHECK(is_well_done(&d));
    CHECK(end(actor, NULL));
}

static const test_case cases[] = {
    TEST(who_terminates_overrules_who_waits),
    TEST(who_terminates_need_not_wait),
    TEST(two_may_terminate),
    TEST(a_terminate_is_left_to_the_holder),
    TEST(deadlines_are_kept_while_another_one_waits),
    TEST(without_a_deadline_ten_seconds_are_the_most),
    TEST(much_to_do_is_no_stall),
    TEST(one_with_much_in_hand_is_not_left),
    TEST(counts_may_be_read_beside_a_launch),
};
CONFORMANCE_MAIN(cases)
