/* SPDX-License-Identifier: Apache-2.0
 *
 * Actors that share a device with somebody who needs it for himself for a moment: they go and come
 * back, whatever their users do meanwhile, and whatever keeps them.
 *
 * Seats that are threads are in nobody's way; here they are made to be, so that all of it is tried
 * with them too.
 */
#include "conformance_busy.h"

#include "actor/away.h"
#include "actor/order.h"
#include "actor/wire.h"
#include "dev/resident.h"
#include "dev/word.h"

enum {
    SEATS = 2,
    MEMBERS = 38,
    EACH = 2 * SEATS,
    MANY = 1000,
    STALL_MS = 300,
    SHORT_MS = 50,
    LONG_MS = 5000
};

static bool is_threads(void)
{
    return gyre_device_has(on.device, GYRE_FEATURE_FUNCTIONS);
}

/* One that has not been launched, or NULL. */
static gyre_actor *sharer_new(void)
{
    const gyre_actor_options options = {.struct_size = sizeof options, .stall_ns = STALL_MS * MS};
    gyre_actor *actor = NULL;
    const gyre_status status = gyre_actor_create(on.context, &waiter, &options, &actor);

    no_actors = status == GYRE_UNSUPPORTED;
    if (no_actors || !ok(status))
        return NULL;
    if (is_threads())
        actor->resident = (gyre_resident){.backend = on.device->backend,
                                          .index = on.device->index,
                                          .units = 1,
                                          .room = {.units = 100},
                                          .name = actor->name,
                                          .suspend = gyre_actor_suspend,
                                          .restore = gyre_actor_restore};
    return actor;
}

static gyre_actor *sharer(uint32_t seats, gyre_actor_idle idle)
{
    const gyre_actor_launch_options options = {
        .struct_size = sizeof options, .seats = seats, .idle = idle, .leave_us = 1000};
    gyre_actor *const actor = sharer_new();

    return actor && ok(gyre_actor_launch(actor, &options)) ? actor : NULL;
}

static void drop(gyre_actor *actor, gyre_port *port)
{
    gyre_port_close(port);
    if (actor && is_threads()) {
        CHECK(ok(gyre_actor_terminate(actor, soon())));
        gyre_resident_forget(&actor->resident);
    }
    gyre_actor_destroy(actor);
}

/* Each seat, as often. */
static bool answers(gyre_port *port)
{
    const gyre_brief message = {.type = WAITER_COUNT};
    const gyre_brief messages[EACH] = {message, message, message, message};
    gyre_brief replies[EACH];

    return port && ok(gyre_port_call_many(port, messages, replies, EACH, soon()));
}

static gyre_status suspend_all(void)
{
    return gyre_residents_suspend(on.device->backend, on.device->index);
}

static bool is_taken(void)
{
    return gyre_resident_on(on.device->backend, on.device->index);
}

static gyre_status give_up(gyre_actor *actor)
{
    drop(actor, NULL);
    return GYRE_OK;
}

static void one_that_is_parked_comes_back_later(void)
{
    gyre_actor *parked, *first, *second;
    gyre_port *ports[3];
    deed d;

    if (under_sanitizer())
        SKIP("the sanitizer lets no two kernels run at once");
    parked = sharer(1, GYRE_ACTOR_BACK_OFF);
    first = sharer(1, GYRE_ACTOR_BACK_OFF);
    second = sharer(1, GYRE_ACTOR_BACK_OFF);
    NEED_ACTORS();
    ports[0] = port_new(parked);
    ports[1] = port_new(first);
    ports[2] = port_new(second);
    REQUIRE(ports[0] && ports[1] && ports[2] && ok(gyre_actor_park(parked, soon())));
    REQUIRE(ok(suspend_all()) && !is_taken());
    REQUIRE(begin(&d, parked, resume));
    CHECK(waits(&d) && !is_taken() && gyre_actor_state(parked) == GYRE_ACTOR_PARKED);
    gyre_residents_restore();
    CHECK(is_well_done(&d));
    CHECK(answers(ports[0]) && answers(ports[1]) && answers(ports[2]));
    drop(parked, ports[0]);
    drop(first, ports[1]);
    drop(second, ports[2]);
}

static void one_that_drains_comes_back_later(void)
{
    gyre_actor *const actor = sharer(1, GYRE_ACTOR_BACK_OFF);
    gyre_port *const port = port_new(actor);
    const gyre_brief message = {.type = WAITER_COUNT};
    waiter_state state = {0};
    deed d;

    NEED_ACTORS();
    REQUIRE(port && ok(gyre_actor_park(actor, soon())));
    REQUIRE(ok(gyre_port_send(port, &message, soon())));
    REQUIRE(ok(suspend_all()) && begin(&d, actor, drain));
    CHECK(waits(&d) && !is_taken());
    gyre_residents_restore();
    CHECK(is_well_done(&d) && gyre_actor_state(actor) == GYRE_ACTOR_TERMINATED);
    CHECK(ok(gyre_actor_read_state(actor, &state, sizeof state)) && state.count == 1);
    drop(actor, port);
}

static void a_launch_waits(void)
{
    gyre_actor *const actor = sharer_new();
    gyre_port *port;
    deed d;

    NEED_ACTORS();
    REQUIRE(actor && ok(suspend_all()) && begin(&d, actor, launch));
    CHECK(waits(&d) && !is_taken() && gyre_actor_state(actor) == GYRE_ACTOR_CREATED);
    gyre_residents_restore();
    CHECK(is_well_done(&d));
    port = port_new(actor);
    CHECK(answers(port));
    drop(actor, port);
}

/* It is parked for the other's sake, which is not what its user meant. */
static void who_changes_its_life_meanwhile_waits(void)
{
    static const struct {
        gyre_status (*what)(gyre_actor *actor);
        gyre_actor_status then;
    } deeds[] = {{pause_it, GYRE_ACTOR_PAUSED},
                 {resume, GYRE_ACTOR_ACTIVE},
                 {park, GYRE_ACTOR_PARKED},
                 {resume, GYRE_ACTOR_ACTIVE}};
    gyre_actor *const actor = sharer(1, GYRE_ACTOR_BACK_OFF);
    gyre_port *const port = port_new(actor);

    NEED_ACTORS();
    REQUIRE(port);
    for (size_t i = 0; i < COUNT(deeds); i++) {
        deed d;

        REQUIRE(ok(suspend_all()) && begin(&d, actor, deeds[i].what));
        CHECK(waits(&d));
        CHECK(gyre_actor_pause(actor, gyre_clock_after_ns(MS)) == GYRE_UNAVAILABLE);
        gyre_residents_restore();
        CHECK(is_well_done(&d) && gyre_actor_state(actor) == deeds[i].then);
    }
    CHECK(answers(port));
    drop(actor, port);
}

static void one_that_ends_meanwhile_stays_so(void)
{
    gyre_actor *const actor = sharer(1, GYRE_ACTOR_BACK_OFF);
    gyre_port *const port = port_new(actor);

    NEED_ACTORS();
    REQUIRE(port && ok(suspend_all()));
    CHECK(ok(gyre_actor_terminate(actor, soon())));
    gyre_residents_restore();
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_TERMINATED && !is_taken());
    drop(actor, port);
}

static void one_that_is_destroyed_meanwhile_is_gone(void)
{
    gyre_actor *const actor = sharer(1, GYRE_ACTOR_BACK_OFF);
    deed d;

    NEED_ACTORS();
    REQUIRE(actor && ok(suspend_all()) && begin(&d, actor, give_up));
    CHECK(waits(&d));
    gyre_residents_restore();
    CHECK(is_well_done(&d) && !is_taken());
}

/* A message slipped in when it left: the stream waits for it, and who keeps the device free would
 * wait for the stream, and so keep it from coming back. */
static void one_that_is_away_may_be_waited_for(void)
{
    gyre_actor *const actor = sharer(1, GYRE_ACTOR_LEAVE);
    gyre_port *const port = port_new(actor);
    gyre_wire *w;

    NEED_ACTORS();
    REQUIRE(port && ok(gyre_actor_wait(actor, GYRE_ACTOR_AWAY, soon())) && !is_taken());
    w = &port->wire[0];
    atomic_store(&w->errand[0], UINT64_C(1) << 32);
    CHECK(suspend_all() == GYRE_UNAVAILABLE);
    CHECK(strstr(gyre_error_last()->text, "a stream waits"));
    gyre_word_store(&w->passed[0], 1);
    CHECK(ok(suspend_all()));
    gyre_residents_restore();
    CHECK(answers(port));
    drop(actor, port);
}

/* The other seat may have left when this one would not. */
static void a_crew_that_cannot_go_stays_whole(void)
{
    uint32_t *const flag = flag_new();
    gyre_actor *const actor = sharer(SEATS, GYRE_ACTOR_BACK_OFF);
    gyre_port *const port = port_new(actor);

    NEED_ACTORS_FOR(flag);
    REQUIRE(port && flag && hang_one(port, flag));
    CHECK(suspend_all() == GYRE_UNAVAILABLE);
    CHECK(strstr(gyre_error_last()->text, "did not leave"));
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_ACTIVE);
    let_go(flag);
    CHECK(ok(suspend_all()) && !is_taken()); /* whoever has ended by then, and by what */
    gyre_residents_restore();
    CHECK(answers(port) && gyre_actor_state(actor) == GYRE_ACTOR_ACTIVE);
    drop(actor, port);
    flag_give(flag);
}

/* Likewise by a park that was not over in time. */
static void a_crew_that_resumes_is_whole(void)
{
    uint32_t *const flag = flag_new();
    gyre_actor *const actor = sharer(SEATS, GYRE_ACTOR_BACK_OFF);
    gyre_port *const port = port_new(actor);

    NEED_ACTORS_FOR(flag);
    REQUIRE(port && flag && hang_one(port, flag));
    CHECK(gyre_actor_park(actor, shortly()) == GYRE_TIMEOUT);
    CHECK(gyre_actor_resume(actor) == GYRE_TIMEOUT);
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_ACTIVE);
    let_go(flag);
    CHECK(answers(port) && gyre_actor_state(actor) == GYRE_ACTOR_ACTIVE);
    drop(actor, port);
    flag_give(flag);
}

/* A crew of which a seat has ended, and the other will when its flag is set: all are to begin
 * again.
 */
static bool is_gathering(gyre_actor *actor, gyre_port *port, uint32_t *flag)
{
    return port && flag && hang_one(port, flag) &&
           gyre_actor_park(actor, shortly()) == GYRE_TIMEOUT &&
           gyre_actor_resume(actor) == GYRE_TIMEOUT;
}

static uint64_t processed(gyre_actor *actor)
{
    gyre_actor_statistics facts = {.struct_size = sizeof facts};

    CHECK(ok(gyre_actor_describe(actor, &facts)));
    return facts.processed;
}

static void a_crew_is_whole_again_though_nobody_waits(void)
{
    uint32_t *const flag = flag_new();
    gyre_actor *const actor = sharer(SEATS, GYRE_ACTOR_BACK_OFF);
    gyre_port *const port = port_new(actor);
    const gyre_brief message = {.type = WAITER_COUNT};
    const uint64_t until = soon();

    NEED_ACTORS_FOR(flag);
    REQUIRE(is_gathering(actor, port, flag));
    let_go(flag);
    for (int i = 0; i < EACH; i++)
        CHECK(ok(gyre_port_send(port, &message, soon())));
    while (processed(actor) < 1 + EACH && gyre_clock_now_ns() < until)
        sleep_ns(MS);
    CHECK(processed(actor) == 1 + EACH);
    drop(actor, port);
    flag_give(flag);
}

static void a_crew_whose_place_is_taken_is_parked(void)
{
    uint32_t *const flag = flag_new();
    gyre_actor *const actor = sharer(SEATS, GYRE_ACTOR_BACK_OFF);
    gyre_port *const port = port_new(actor);
    uint32_t units;

    NEED_ACTORS_FOR(flag);
    REQUIRE(is_gathering(actor, port, flag) && ok(gyre_latch_take(&actor->lock, soon())));
    units = actor->resident.room.units;
    actor->resident.room.units = 0;
    gyre_actor_release(actor);
    let_go(flag);
    CHECK(ok(gyre_actor_wait(actor, GYRE_ACTOR_PARKED, soon())) && !is_taken());
    actor->resident.room.units = units;
    CHECK(ok(gyre_actor_resume(actor)) && answers(port));
    drop(actor, port);
    flag_give(flag);
}

static void one_that_has_ended_gives_its_place_though_nobody_waits(void)
{
    gyre_actor *const actor = sharer(1, GYRE_ACTOR_BACK_OFF);
    const uint64_t until = soon();

    NEED_ACTORS();
    REQUIRE(actor && is_taken());
    (void)!gyre_actor_terminate(actor, 0); /* it has hardly read that */
    while (is_taken() && gyre_clock_now_ns() < until)
        sleep_ns(MS);
    CHECK(!is_taken() && gyre_actor_state(actor) == GYRE_ACTOR_TERMINATED);
    drop(actor, NULL);
}

/* Orders that nobody waited for to the end stand, and are carried out, by whatever comes next. */
static void what_was_ordered_before_comes_true(void)
{
    for (int i = 0; i < 3; i++) {
        uint32_t *const flag = flag_new();
        gyre_actor *const actor = sharer(1, GYRE_ACTOR_BACK_OFF);
        gyre_port *const port = port_new(actor);
        const gyre_actor_status then = i == 1 ? GYRE_ACTOR_PARKED : GYRE_ACTOR_TERMINATED;

        NEED_ACTORS_FOR(flag);
        REQUIRE(port && flag && hang_one(port, flag));
        if (i == 1)
            CHECK(gyre_actor_park(actor, shortly()) == GYRE_TIMEOUT);
        else
            CHECK(gyre_actor_drain(actor, shortly()) == GYRE_TIMEOUT);
        CHECK(i == 2 || suspend_all() == GYRE_UNAVAILABLE);
        let_go(flag);
        if (i < 2) {
            CHECK(ok(suspend_all()) && gyre_actor_state(actor) == then);
            gyre_residents_restore();
        }
        CHECK(ok(gyre_actor_wait(actor, then, soon())) && !is_taken());
        drop(actor, port);
        flag_give(flag);
    }
}

/* What is in hand is handled; what else was sent is lost, also to who drains it then. */
static void one_that_is_terminated_is_not_drained(void)
{
    uint32_t *const flag = flag_new();
    gyre_actor *const actor = sharer(1, GYRE_ACTOR_BACK_OFF);
    gyre_port *const port = port_new(actor);
    const gyre_brief message = {.type = WAITER_COUNT};
    waiter_state state = {0};
    deed d;

    NEED_ACTORS_FOR(flag);
    REQUIRE(port && flag && hang_one(port, flag));
    for (int i = 0; i < MANY; i++)
        CHECK(ok(gyre_port_send(port, &message, soon())));
    CHECK(gyre_actor_terminate(actor, shortly()) == GYRE_TIMEOUT);
    CHECK(gyre_actor_drain(actor, shortly()) == GYRE_TIMEOUT);
    REQUIRE(begin(&d, actor, drain));
    let_go(flag);
    CHECK(is_well_done(&d) && gyre_actor_state(actor) == GYRE_ACTOR_TERMINATED);
    CHECK(ok(gyre_actor_read_state(actor, &state, sizeof state)));
    if (strcmp(on.device->backend, "cuda") ==
        0) /* other warps may have handled the others before */
        CHECK(state.count >= 1 && state.count <= 1 + MANY);
    else /* a few before it looks at the order */
        CHECK(state.count >= 1 && state.count < 1 + MANY);
    drop(actor, port);
    flag_give(flag);
}

/* Who changes the actor's life keeps it on the device, and is not waited for to the end. */
static void who_changes_its_life_is_not_waited_for(void)
{
    gyre_actor *const actor = sharer(1, GYRE_ACTOR_BACK_OFF);
    gyre_port *const port = port_new(actor);

    NEED_ACTORS();
    REQUIRE(port && gyre_latch_try(&actor->lock));
    CHECK(suspend_all() == GYRE_UNAVAILABLE);
    CHECK(strstr(gyre_error_last()->text, "somebody changes its life"));
    CHECK(gyre_latch_give(&actor->lock) && ok(suspend_all()) && !is_taken());
    gyre_residents_restore();
    CHECK(answers(port));
    drop(actor, port);
}

static gyre_status see_no_end(gyre_actor *actor)
{
    (void)actor;
    return GYRE_AGAIN;
}

static void one_that_steps_out_too_slowly_stays(void)
{
    const gyre_actor_launch_options options = {.struct_size = sizeof options, .not_active = true};
    gyre_actor *const actor = sharer_new();
    const gyre_residence *whole;
    gyre_residence slow;
    gyre_port *port;

    NEED_ACTORS();
    REQUIRE(actor && ok(gyre_actor_launch(actor, &options)));
    port = port_new(actor);
    whole = actor->residence;
    slow = *whole;
    slow.look = see_no_end;
    REQUIRE(gyre_latch_try(&actor->lock));
    actor->residence = &slow;
    CHECK(gyre_actor_step_out(actor, 0) == GYRE_TIMEOUT);
    actor->residence = whole;
    CHECK(gyre_latch_give(&actor->lock));
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_LAUNCHED);
    sleep_ns(20 * MS); /* its seat may have ended */
    CHECK(ok(gyre_actor_activate(actor)) && answers(port));
    drop(actor, port);
}

/* A residence whose seats do not come to life, and end when they are told. */
static gyre_status start_nothing(gyre_actor *actor, bool fresh)
{
    (void)actor, (void)fresh;
    return GYRE_OK;
}

static gyre_status look_at_nothing(gyre_actor *actor)
{
    gyre_seat *const seat = gyre_actor_seat(actor, 0);

    if (!gyre_mailbox_load(&seat->control.host.should_terminate))
        return GYRE_AGAIN;
    gyre_mailbox_store(&seat->control.device.order, gyre_mailbox_load(&seat->control.host.order));
    gyre_mailbox_release(&seat->control.device.has_terminated, 1);
    return GYRE_OK;
}

static void one_that_cannot_come_back_stays_parked(void)
{
    gyre_actor *const actor = sharer(1, GYRE_ACTOR_BACK_OFF);
    gyre_port *const port = port_new(actor);
    const gyre_brief message = {.type = WAITER_COUNT};
    const gyre_residence *whole;
    gyre_residence lame;

    NEED_ACTORS();
    REQUIRE(port);
    whole = actor->residence;
    lame = *whole;
    lame.start = start_nothing;
    lame.look = look_at_nothing;
    for (int i = 0; i < 3; i++) {
        if (i < 2)
            CHECK(ok(gyre_actor_park(actor, shortly())));
        else
            CHECK(ok(suspend_all()));
        CHECK(ok(gyre_port_send(port, &message, soon())));
        actor->residence = &lame;
        actor->launched.handshake_ns = SHORT_MS * MS;
        if (i == 0)
            CHECK(gyre_actor_resume(actor) == GYRE_NO_MEMORY);
        else if (i == 1)
            CHECK(gyre_actor_drain(actor, soon()) == GYRE_NO_MEMORY);
        else
            gyre_residents_restore();
        CHECK(gyre_actor_state(actor) == GYRE_ACTOR_PARKED && !is_taken());
        actor->residence = whole;
        actor->launched.handshake_ns = LONG_MS * MS;
        CHECK(ok(gyre_actor_resume(actor)) && answers(port));
    }
    drop(actor, port);
}

static uint64_t until_ns; /* seat 1 has messages in hand */

static gyre_status start_both(gyre_actor *actor, bool fresh)
{
    (void)fresh;
    for (uint32_t i = 0; i < SEATS; i++)
        gyre_mailbox_release(&gyre_actor_seat(actor, i)->control.device.incarnation,
                             actor->shape.incarnation);
    return GYRE_OK;
}

/* One seat ends as soon as it is told, and the other handles what it has first. */
static gyre_status end_one_by_one(gyre_actor *actor)
{
    uint32_t ended = 0;

    for (uint32_t i = 0; i < SEATS; i++) {
        gyre_control_device *const device = &gyre_actor_seat(actor, i)->control.device;
        const gyre_control_host *const host = &gyre_actor_seat(actor, i)->control.host;

        if (!gyre_mailbox_load(&host->should_terminate) ||
            (i == 1 && gyre_clock_now_ns() < until_ns)) {
            gyre_mailbox_store64(&device->processed, gyre_mailbox_load64(&device->processed) + 1);
            continue;
        }
        gyre_mailbox_store(&device->order, gyre_mailbox_load(&host->order));
        gyre_mailbox_release(&device->has_terminated, 1);
        ended++;
    }
    return ended == SEATS ? GYRE_OK : GYRE_AGAIN;
}

/* What it leaves is never handled, and that is no stall. */
static void a_seat_that_has_ended_does_not_hang(void)
{
    gyre_actor *const actor = sharer(SEATS, GYRE_ACTOR_BACK_OFF);
    gyre_port *const port = port_new(actor);
    const gyre_brief message = {.type = WAITER_COUNT};
    const gyre_residence *whole;
    gyre_residence slow;

    NEED_ACTORS();
    REQUIRE(port && ok(gyre_actor_park(actor, soon())));
    whole = actor->residence;
    slow = *whole;
    slow.start = start_both;
    slow.look = end_one_by_one;
    actor->residence = &slow;
    CHECK(ok(gyre_actor_resume(actor)));
    for (int i = 0; i < MANY / 10; i++)
        CHECK(ok(gyre_port_send(port, &message, soon())));
    until_ns = gyre_clock_after_ns(STALL_MS * MS * 4);
    CHECK(ok(gyre_actor_terminate(actor, soon())));
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_TERMINATED && !is_taken());
    actor->residence = whole;
    drop(actor, port);
}

/* What bells have to share is how much is read of the host's memory, and a crew with one replica
 * each reads little of it, whatever else it takes. */
static void who_reads_little_leaves_others_their_replicas(void)
{
    const gyre_actor_launch_options modest = {
        .struct_size = sizeof modest,
        .seats = MEMBERS,
        .threads = 64,
        .replicas = 1,
        .shared_bytes = on.device->shared_bytes_most / 5 * 3, /* a multiprocessor to each */
    };
    gyre_actor *crew, *one;
    uint32_t alone;

    if (strcmp(on.device->backend, "cuda") != 0)
        SKIP("only on CUDA has a bell replicas");
    if (under_sanitizer())
        SKIP("the sanitizer lets no two kernels run at once");
    one = actor_new(&waiter, NULL);
    REQUIRE(one);
    alone = one->shape.replicas;
    CHECK(ok(gyre_actor_terminate(one, soon())));
    crew = actor_new(&waiter, &modest);
    REQUIRE(crew && crew->resident.units == MEMBERS && crew->resident.lines == MEMBERS);
    CHECK(ok(gyre_actor_launch(one, NULL)) && one->shape.replicas == alone);
    CHECK(end(one, NULL));
    CHECK(end(crew, NULL));
}

/* A block that takes most of a multiprocessor's shared memory has it for itself. */
static void a_launch_is_refused_where_others_left_no_room(void)
{
    const uint32_t most = on.device->shared_bytes_most / 5 * 3;
    gyre_actor_launch_options rest = {
        .struct_size = sizeof rest, .seats = MEMBERS, .threads = 64, .shared_bytes = most};
    gyre_actor_launch_options more = {
        .struct_size = sizeof more, .seats = 1, .threads = 64, .shared_bytes = most};
    gyre_actor *first, *second;
    gyre_status status;

    if (strcmp(on.device->backend, "cuda") != 0)
        SKIP("only CUDA has multiprocessors that blocks share");
    if (under_sanitizer())
        SKIP("the sanitizer lets no two kernels run at once");
    REQUIRE(ok(gyre_actor_create(on.context, &waiter, NULL, &second)));
    first = actor_new(&waiter, &rest);
    REQUIRE(first && first->resident.units == MEMBERS);
    more.seats = on.device->units - MEMBERS + 1;
    status = gyre_actor_launch(second, &more);
    CHECK(status == GYRE_NO_MEMORY && strstr(gyre_error_last()->text, "1 others"));
    CHECK(gyre_actor_state(second) == GYRE_ACTOR_CREATED);
    CHECK(end(first, NULL));
    CHECK(ok(gyre_actor_launch(second, &more))); /* alone it fits */
    CHECK(end(second, NULL));
}

static const test_case cases[] = {
    TEST(one_that_is_parked_comes_back_later),
    TEST(one_that_drains_comes_back_later),
    TEST(a_launch_waits),
    TEST(who_changes_its_life_meanwhile_waits),
    TEST(one_that_ends_meanwhile_stays_so),
    TEST(one_that_is_destroyed_meanwhile_is_gone),
    TEST(one_that_is_away_may_be_waited_for),
    TEST(a_crew_that_cannot_go_stays_whole),
    TEST(a_crew_that_resumes_is_whole),
    TEST(a_crew_is_whole_again_though_nobody_waits),
    TEST(a_crew_whose_place_is_taken_is_parked),
    TEST(one_that_has_ended_gives_its_place_though_nobody_waits),
    TEST(what_was_ordered_before_comes_true),
    TEST(one_that_is_terminated_is_not_drained),
    TEST(who_changes_its_life_is_not_waited_for),
    TEST(one_that_steps_out_too_slowly_stays),
    TEST(one_that_cannot_come_back_stays_parked),
    TEST(a_seat_that_has_ended_does_not_hang),
    TEST(who_reads_little_leaves_others_their_replicas),
    TEST(a_launch_is_refused_where_others_left_no_room),
};
CONFORMANCE_MAIN(cases)
