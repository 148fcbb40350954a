/* SPDX-License-Identifier: Apache-2.0
 *
 * order: see order.h. Every wait has a deadline, after which the order stands.
 */
#include "actor/order.h"

#include <time.h>

#include "actor/board.h"
#include "actor/print.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/process.h"
#include "base/wait.h"
#include "gyre/clock.h"

gyre_status gyre_actor_hold(gyre_actor *actor, uint64_t deadline_ns, gyre_actor_status *out_now)
{
    gyre_status status = gyre_process_check();

    if (status == GYRE_OK)
        status = gyre_latch_take(&actor->lock, deadline_ns);
    if (status == GYRE_OK)
        *out_now = gyre_actor_state(actor);
    return status;
}

gyre_status gyre_actor_refuse_held(const gyre_actor *actor)
{
    return gyre_fail(GYRE_UNAVAILABLE,
                     "actor '%s': somebody else changes its life, and has for %llu s; try again, "
                     "or terminate it",
                     actor->name, (unsigned long long)(GYRE_ACTOR_KEPT_NS / 1000000000));
}

gyre_status gyre_actor_hold_patiently(gyre_actor *actor)
{
    gyre_actor_status now;
    const gyre_status status =
        gyre_actor_hold(actor, gyre_clock_after_ns(GYRE_ACTOR_KEPT_NS), &now);

    return status == GYRE_TIMEOUT ? gyre_actor_refuse_held(actor) : status;
}

bool gyre_actor_is_barred(const gyre_actor *actor)
{
    return actor->resident.backend && gyre_resident_is_barred(&actor->resident);
}

gyre_status gyre_actor_hold_free(gyre_actor *actor, uint64_t deadline_ns,
                                 gyre_actor_status *out_now)
{
    uint32_t rounds = 0;
    gyre_status status;

    while ((status = gyre_actor_hold(actor, deadline_ns, out_now)) == GYRE_OK) {
        if (!actor->before && !gyre_actor_is_barred(actor))
            break;
        gyre_actor_release(actor);
        if (gyre_clock_now_ns() >= deadline_ns)
            return gyre_fail(GYRE_UNAVAILABLE,
                             "actor '%s': its device is kept free, for a kernel that is loaded or "
                             "the like; try again",
                             actor->name);
        gyre_actor_doze(&rounds);
    }
    return status;
}

void gyre_actor_become(gyre_actor *actor, gyre_actor_status status)
{
    const bool ended = status == GYRE_ACTOR_TERMINATED || status == GYRE_ACTOR_FAILED;

    /* release [actor-status]: whoever sees it finds what belongs to it. seq_cst [actor-errand]: who
     * has a stream wait sees that it has ended, or is found below. */
    atomic_store(&actor->status, (uint32_t)status);
    if (ended)
        gyre_streams_release(actor);
    if (status == GYRE_ACTOR_CREATED || ended)
        gyre_board_end(actor);
    else if (status == GYRE_ACTOR_PARKED || status == GYRE_ACTOR_AWAY)
        gyre_board_add(actor); /* again, where it did not come back */
}

bool gyre_actor_is_resident(gyre_actor_status status)
{
    return status == GYRE_ACTOR_LAUNCHED || status == GYRE_ACTOR_ACTIVE ||
           status == GYRE_ACTOR_PAUSED || status == GYRE_ACTOR_DRAINING;
}

gyre_status gyre_actor_refuse(gyre_actor *actor, const char *what)
{
    return gyre_fail(GYRE_INVALID, "actor '%s' is %s: %s", actor->name,
                     gyre_actor_status_name(gyre_actor_state(actor)), what);
}

gyre_status gyre_actor_fail(gyre_actor *actor, gyre_status status)
{
    actor->fault = *gyre_error_last();
    actor->fault.status = status;
    gyre_log(GYRE_LOG_WARN, GYRE_TOPIC_DEVICE, "actor '%s' failed: %s", actor->name,
             actor->fault.text);
    /* seats that come back after all shall end */
    if (actor->mailbox)
        gyre_order_give(actor, (gyre_order){.keep_gates = true, .terminate = 1});
    actor->ending = false;
    actor->before = 0;
    actor->residence->leave(actor);
    gyre_actor_become(actor, GYRE_ACTOR_FAILED);
    return status;
}

/* Moves the gates of a seat's ports. */
static void move_gates(const gyre_actor *actor, uint32_t i, bool here)
{
    gyre_seat *const seat = gyre_actor_seat(actor, i);

    for (uint32_t p = 0; p < actor->shape.ports; p++) {
        uint32_t requests = gyre_mailbox_load(&seat->heads[p]);
        uint32_t bells = gyre_mailbox_load(&seat->rung[p]);

        if (!here)
            gyre_port_sent(actor->port[p], i, &requests, &bells);
        gyre_mailbox_store(&seat->gates[p], requests);
        gyre_mailbox_store(&seat->bell_gates[p], bells);
    }
}

/* Whether a seat has seen that number: it would take an order of that number for an old one. Only
 * where somebody else has written into the mailbox. */
static bool was_seen(const gyre_actor *actor, uint32_t order)
{
    for (uint32_t i = 0; i < actor->shape.seats; i++) {
        const gyre_seat *const seat = gyre_actor_seat(actor, i);

        if (gyre_mailbox_load(&seat->control.host.order) == order ||
            gyre_mailbox_load(&seat->control.device.order) == order)
            return true;
    }
    return false;
}

static void issue(gyre_actor *actor, gyre_order o)
{
    do
        actor->order++;
    while (was_seen(actor, actor->order));
    actor->ending = o.terminate != 0;
    for (uint32_t i = 0; i < actor->shape.seats; i++) {
        gyre_seat *const seat = gyre_actor_seat(actor, i);

        if (!o.active && !o.keep_gates)
            move_gates(actor, i, o.here);
        gyre_mailbox_store64(&seat->control.host.time, gyre_clock_now_ns());
        gyre_mailbox_store_order(&seat->control.host, o.active, o.terminate);
        /* release [actor-order]: pairs with the acquire in the seat's loop */
        gyre_mailbox_release(&seat->control.host.order, actor->order);
    }
}

void gyre_order_give(gyre_actor *actor, gyre_order o)
{
    issue(actor, o);
    actor->told = o;
    actor->told.keep_gates = true; /* when it is given again */
    actor->gathers = false;
}

gyre_actor_status gyre_order_end_of(gyre_actor_status now)
{
    return now == GYRE_ACTOR_ACTIVE     ? GYRE_ACTOR_AWAY
           : now == GYRE_ACTOR_DRAINING ? GYRE_ACTOR_TERMINATED
                                        : GYRE_ACTOR_PARKED;
}

static bool order_done(const gyre_actor *actor)
{
    for (uint32_t i = 0; i < actor->shape.seats; i++)
        /* acquire [actor-order]: pairs with the release in the seat's loop */
        if (gyre_mailbox_acquire(&gyre_actor_seat(actor, i)->control.device.order) != actor->order)
            return false;
    return !actor->gathers;
}

static bool all_alive(const gyre_actor *actor)
{
    for (uint32_t i = 0; i < actor->shape.seats; i++)
        /* acquire [actor-order] */
        if (gyre_mailbox_acquire(&gyre_actor_seat(actor, i)->control.device.incarnation) !=
            actor->shape.incarnation)
            return false;
    return true;
}

/* How many seats have ended. */
static uint32_t count_ended(const gyre_actor *actor)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < actor->shape.seats; i++)
        /* acquire [actor-order] */
        if (gyre_mailbox_acquire(&gyre_actor_seat(actor, i)->control.device.has_terminated))
            count++;
    return count;
}

static bool all_ended(const gyre_actor *actor)
{
    return count_ended(actor) == actor->shape.seats;
}

void gyre_actor_doze(uint32_t *rounds)
{
    struct timespec pause = {.tv_sec = 0};

    if (++*rounds < 64) {
        gyre_relax();
        return;
    }
    pause.tv_nsec = *rounds < 128 ? 1000 : *rounds < 512 ? 20000 : 500000;
    nanosleep(&pause, NULL);
}

/* Whether all have ended by the last order. What was to be handled does not matter to one that was
 * to end at once. */
static bool ended_in_order(const gyre_actor *actor)
{
    return all_ended(actor) &&
           (order_done(actor) || (actor->told.terminate == 1 && !actor->gathers));
}

static gyre_status begin(gyre_actor *actor, bool fresh);

/* The seats have ended. */
static void let_go(gyre_actor *actor)
{
    actor->residence->finish(actor);
    gyre_resident_remove(&actor->resident);
}

bool gyre_order_stands(gyre_actor *actor)
{
    return gyre_actor_is_resident(gyre_actor_state(actor)) &&
           (actor->ending || actor->gathers || count_ended(actor) > 0);
}

/* It was to begin again, and others have its place. */
static gyre_status strand(gyre_actor *actor)
{
    const bool leaves = actor->launched.idle == GYRE_ACTOR_LEAVE && actor->told.active;

    gyre_log(GYRE_LOG_WARN, GYRE_TOPIC_DEVICE, "actor '%s' cannot begin again, and is %s: %s",
             actor->name, leaves ? "away" : "parked", gyre_error_last()->text);
    actor->ending = false;
    gyre_actor_become(actor, leaves ? GYRE_ACTOR_AWAY : GYRE_ACTOR_PARKED);
    return GYRE_NO_MEMORY;
}

/* All have ended, and not by the last order: they begin again to carry that out. GYRE_AGAIN: they
 * do, or will, when their device is not kept free any more, or has room for one that drains. */
static gyre_status begin_again(gyre_actor *actor)
{
    gyre_status status;

    let_go(actor);
    gyre_order_give(actor, actor->told); /* in the place of what they ended by */
    actor->looked_ns = 0;                /* they could not handle anything until now */
    status = begin(actor, false);
    if (status == GYRE_NO_MEMORY && gyre_actor_state(actor) != GYRE_ACTOR_DRAINING)
        return strand(actor);
    return status == GYRE_OK || status == GYRE_NO_MEMORY ? GYRE_AGAIN : status;
}

/* Seats that were told to end, and then something else, may have ended by the first. One alone
 * comes back; of several the others have to end too, since they begin together. */
gyre_status gyre_order_look(gyre_actor *actor)
{
    gyre_status status = actor->residence->look(actor);
    const uint32_t ended = count_ended(actor);
    const bool ends = actor->told.terminate && !actor->gathers;

    if (status == GYRE_AGAIN && ended > 0 && !actor->ending) {
        issue(actor, (gyre_order){.keep_gates = !actor->told.active,
                                  .here = actor->told.active,
                                  .terminate = 2});
        actor->gathers = true;
    }
    if (status == GYRE_OK && (ended < actor->shape.seats || (!ends && order_done(actor))))
        status = gyre_fail(GYRE_CLOSED, "actor '%s' ended unasked", actor->name);
    else if (status == GYRE_OK && !(ends && ended_in_order(actor)))
        status = begin_again(actor);
    if (status != GYRE_OK && status != GYRE_AGAIN && status != GYRE_NO_MEMORY &&
        gyre_actor_state(actor) != GYRE_ACTOR_FAILED)
        status = gyre_actor_fail(actor, status);
    return status;
}

/* Whether who waits has waited for long enough. */
static bool is_over(const gyre_actor *actor, uint64_t deadline_ns)
{
    return gyre_clock_now_ns() >= deadline_ns ||
           (actor->yields && gyre_latch_is_pressed(&actor->lock));
}

/* Waits for what the seats say; the lock is held. Failing seats end it, and hanging ones, if they
 * are watched. */
static gyre_status await(gyre_actor *actor, bool (*done)(const gyre_actor *actor), bool watches,
                         uint64_t deadline_ns)
{
    uint32_t rounds = 0;

    while (!done(actor)) {
        gyre_status status = GYRE_AGAIN;

        if (rounds % 64 == 63) {
            gyre_prints_overhear(actor);
            status = gyre_order_look(actor);
        }
        /* not only now and then: on a busy machine that would not be often enough */
        if (status == GYRE_AGAIN && watches && rounds >= 63)
            status = gyre_actor_watch(actor);
        if (status != GYRE_OK && status != GYRE_AGAIN)
            return status;
        if (is_over(actor, deadline_ns))
            return done(actor) ? GYRE_OK : GYRE_TIMEOUT;
        gyre_actor_doze(&rounds);
    }
    gyre_prints_hear(actor);
    return GYRE_OK;
}

gyre_status gyre_order_await(gyre_actor *actor, uint64_t deadline_ns)
{
    return await(actor, order_done, actor->watches, deadline_ns);
}

/* They were told to end: waits until they have, as `done` says. */
static gyre_status await_gone(gyre_actor *actor, bool (*done)(const gyre_actor *actor),
                              uint64_t deadline_ns)
{
    gyre_status status = await(actor, done, actor->watches, deadline_ns);
    uint32_t rounds = 0;

    while (status == GYRE_OK && (status = actor->residence->look(actor)) == GYRE_AGAIN) {
        status = is_over(actor, deadline_ns) ? GYRE_TIMEOUT : GYRE_OK;
        gyre_actor_doze(&rounds);
    }
    /* it may have been sent what its sender has not counted yet, and then it was handled */
    while (status == GYRE_OK && actor->told.terminate == 2 && gyre_actor_is_beyond(actor)) {
        status = gyre_actor_watch(actor);
        if (status == GYRE_OK && is_over(actor, deadline_ns))
            status = GYRE_TIMEOUT;
        gyre_actor_doze(&rounds);
    }
    if (status == GYRE_OK) {
        let_go(actor);
        actor->ending = false;
    } else if (status != GYRE_TIMEOUT && status != GYRE_NO_MEMORY &&
               gyre_actor_state(actor) != GYRE_ACTOR_FAILED) {
        status = gyre_actor_fail(actor, status);
    }
    return status;
}

static gyre_status await_become(gyre_actor *actor, bool (*done)(const gyre_actor *actor),
                                gyre_actor_status then, uint64_t deadline_ns)
{
    const gyre_status status = await_gone(actor, done, deadline_ns);

    if (status == GYRE_OK)
        gyre_actor_become(actor, then);
    return status;
}

uint64_t gyre_order_gone_by(const gyre_actor *actor)
{
    const uint64_t least_ns = 2000000000, slow_ns = actor->launched.handshake_ns;

    return gyre_clock_after_ns(slow_ns > least_ns ? slow_ns : least_ns);
}

gyre_status gyre_order_await_end(gyre_actor *actor, gyre_actor_status then, uint64_t deadline_ns)
{
    return await_become(actor, ended_in_order, then, deadline_ns);
}

gyre_status gyre_order_await_off(gyre_actor *actor, gyre_actor_status then, uint64_t deadline_ns)
{
    return await_become(actor, all_ended, then, deadline_ns);
}

/* The residence is told to begin; GYRE_AGAIN: nothing was done. */
static gyre_status begin(gyre_actor *actor, bool fresh)
{
    gyre_status status = actor->resident.backend ? gyre_resident_add(&actor->resident) : GYRE_OK;

    if (status != GYRE_OK)
        return status;
    for (uint32_t i = 0; i < actor->shape.seats; i++) {
        gyre_control_device *const device = &gyre_actor_seat(actor, i)->control.device;

        gyre_mailbox_store(&device->incarnation, 0);
        gyre_mailbox_store(&device->has_terminated, 0);
    }
    actor->began_ns = gyre_clock_now_ns();
    status = actor->residence->start(actor, fresh);
    if (status == GYRE_OK)
        return GYRE_OK;
    gyre_resident_remove(&actor->resident);
    for (uint32_t i = 0; i < actor->shape.seats; i++) /* as they were: some may try again */
        gyre_mailbox_store(&gyre_actor_seat(actor, i)->control.device.has_terminated, 1);
    return status;
}

gyre_status gyre_actor_come_to_life(gyre_actor *actor, bool fresh)
{
    const uint64_t handshake_ns = actor->launched.handshake_ns;
    gyre_status status = begin(actor, fresh);

    if (status == GYRE_TIMEOUT) /* nothing was launched */
        status = gyre_fail(GYRE_NO_MEMORY,
                           "actor '%s': %s is at other work, and did not take its "
                           "state in time; try again",
                           actor->name, gyre_context_device(actor->context)->name);
    if (status != GYRE_OK)
        return status;
    status = await(actor, all_alive, false, gyre_clock_after_ns(handshake_ns));
    if (status == GYRE_OK)
        gyre_actor_time_learn(actor);
    if (status != GYRE_TIMEOUT)
        return status;
    /* those that came to life make room for the others, which end as soon as they begin; not in
     * the middle of what was sent, which waits for the next time */
    gyre_order_give(actor, (gyre_order){.here = true, .terminate = 2});
    status = await_gone(actor, ended_in_order, gyre_order_gone_by(actor));
    if (status == GYRE_OK)
        return gyre_fail(GYRE_NO_MEMORY,
                         "actor '%s': %s did not have all of %u seats resident within %llu ms",
                         actor->name, gyre_context_device(actor->context)->name, actor->shape.seats,
                         (unsigned long long)(actor->launched.handshake_ns / 1000000));
    if (status == GYRE_TIMEOUT)
        status = gyre_actor_fail(
            actor, gyre_fail(GYRE_DEVICE_LOST, "actor '%s' neither began nor ended", actor->name));
    return status;
}

gyre_status gyre_actor_come_again(gyre_actor *actor)
{
    const gyre_status status = gyre_actor_come_to_life(actor, false);
    const bool may_yet = status == GYRE_OK || status == GYRE_AGAIN || status == GYRE_NO_MEMORY;

    if (may_yet || gyre_actor_state(actor) == GYRE_ACTOR_FAILED)
        return status;
    return gyre_actor_fail(actor, status);
}
