/* SPDX-License-Identifier: Apache-2.0
 *
 * away: see away.h.
 */
#include "actor/away.h"

#include <stddef.h>

#include "actor/order.h"
#include "base/fail.h"
#include "base/log.h"
#include "gyre/clock.h"

enum { TAKEN_BACK_NS = 20000000 }; /* until seats should have read that they stay */

gyre_status gyre_actor_leave(gyre_actor *actor, uint64_t deadline_ns)
{
    if (!actor->ending)
        gyre_order_give(actor, (gyre_order){.terminate = 2});
    return gyre_order_await_end(actor, GYRE_ACTOR_AWAY, deadline_ns);
}

/* Onto the device again, to do what it is told, and then it is `then`; or else `otherwise`. */
static gyre_status come(gyre_actor *actor, gyre_order order, gyre_actor_status then,
                        gyre_actor_status otherwise)
{
    gyre_status status;

    gyre_order_give(actor, order);
    status = gyre_actor_come_again(actor);
    if (status == GYRE_OK) {
        actor->looked_ns = 0;
        gyre_actor_become(actor, then);
    } else if (status == GYRE_NO_MEMORY && gyre_actor_state(actor) != GYRE_ACTOR_FAILED) {
        gyre_actor_become(actor, otherwise);
    }
    return status;
}

static void count_return(gyre_actor *actor)
{
    /* release [actor-status]: whoever counts it does not see the status from before */
    atomic_fetch_add_explicit(&actor->returns, 1, memory_order_release);
}

gyre_status gyre_actor_come_back(gyre_actor *actor)
{
    const gyre_status status =
        come(actor, (gyre_order){.active = true}, GYRE_ACTOR_ACTIVE, GYRE_ACTOR_AWAY);

    if (status == GYRE_OK)
        count_return(actor);
    return status;
}

/* To go on as what it was. */
static gyre_order as_before(gyre_actor_status before)
{
    return (gyre_order){.active = before == GYRE_ACTOR_ACTIVE, .keep_gates = true};
}

/* One that was told to leave, and has not, stays as it is. Seats that have left all the same come
 * back, by this wait or by whoever looks at the actor next; one that is at a message for long reads
 * no order before it is done. */
static void take_back(gyre_actor *actor)
{
    gyre_order_give(actor, as_before(gyre_actor_state(actor)));
    (void)!gyre_order_await(actor, gyre_clock_after_ns(TAKEN_BACK_NS));
}

gyre_status gyre_actor_return(gyre_actor *actor)
{
    const gyre_actor_status before = (gyre_actor_status)actor->before;
    const gyre_status status = come(actor, as_before(before), before, GYRE_ACTOR_PARKED);

    if (status != GYRE_AGAIN)
        actor->before = 0;
    if (status == GYRE_NO_MEMORY)
        gyre_log(GYRE_LOG_WARN, GYRE_TOPIC_DEVICE,
                 "actor '%s' did not come back, and is parked: %s", actor->name,
                 gyre_error_last()->text);
    return status;
}

gyre_status gyre_actor_step_out(gyre_actor *actor, uint64_t deadline_ns)
{
    const gyre_actor_status now = gyre_actor_state(actor);
    gyre_status status;

    if (gyre_actor_is_barred(actor))
        return GYRE_AGAIN;
    gyre_order_give(actor, gyre_order_up_to_gates(now, 2));
    status = gyre_order_await_end(actor, GYRE_ACTOR_PARKED, deadline_ns);
    if (status == GYRE_TIMEOUT)
        take_back(actor);
    if (status != GYRE_OK)
        return status;
    actor->before = now;
    status = gyre_actor_return(actor);
    if (status == GYRE_OK)
        count_return(actor);
    return status;
}

static gyre_actor *actor_of(gyre_resident *resident)
{
    return (gyre_actor *)(void *)((char *)resident - offsetof(gyre_actor, resident));
}

/* Off the device; the lock is held. One that was told to end before does so, and stays off. */
static gyre_status suspend(gyre_actor *actor)
{
    const gyre_actor_status now = gyre_actor_state(actor);
    const bool ends = actor->ending && !actor->gathers;
    const uint64_t deadline_ns = gyre_clock_after_ns(actor->stall_ns);
    gyre_status status;

    if (!ends)
        gyre_order_give(actor, gyre_order_up_to_gates(now, 2));
    if (ends) {
        status = gyre_order_await_end(actor, gyre_order_end_of(now), deadline_ns);
    } else {
        /* of a crew some may have ended before, by an order that was taken back */
        status = gyre_order_await_off(actor, GYRE_ACTOR_PARKED, deadline_ns);
        if (status == GYRE_OK)
            actor->before = now;
    }
    if (status != GYRE_TIMEOUT)
        return GYRE_OK; /* one that has failed is not in the way, or counts as one that hangs */
    if (!ends)
        take_back(actor);
    return gyre_fail(GYRE_UNAVAILABLE,
                     "actor '%s' is resident and did not leave the device within %llu ms",
                     actor->name, (unsigned long long)(actor->stall_ns / 1000000));
}

/* Who wants the device would wait for such streams, and they for the actor. */
static gyre_status check_streams(gyre_actor *actor)
{
    const gyre_actor_status now = gyre_actor_state(actor);

    if ((now != GYRE_ACTOR_PARKED && now != GYRE_ACTOR_AWAY) || !gyre_streams_wait(actor))
        return GYRE_OK;
    return gyre_fail(GYRE_UNAVAILABLE,
                     "a stream waits for an answer of actor '%s', which would be off the device",
                     actor->name);
}

gyre_status gyre_actor_suspend(gyre_resident *resident)
{
    gyre_actor *const actor = actor_of(resident);
    const uint64_t deadline_ns = gyre_clock_after_ns(actor->stall_ns);
    gyre_status status = gyre_latch_take(&actor->lock, deadline_ns);

    actor->aside = false;
    if (status == GYRE_TIMEOUT)
        return gyre_fail(GYRE_UNAVAILABLE,
                         "actor '%s' is resident, and somebody changes its life for over %llu ms",
                         actor->name, (unsigned long long)(actor->stall_ns / 1000000));
    if (status != GYRE_OK)
        return status;
    if (gyre_actor_is_resident(gyre_actor_state(actor)))
        status = suspend(actor);
    if (status == GYRE_OK)
        status = check_streams(actor);
    actor->aside = actor->before != 0;
    gyre_actor_release(actor);
    return status;
}

void gyre_actor_restore(gyre_resident *resident)
{
    gyre_actor *const actor = actor_of(resident);

    /* one that is where it was may have a holder who waits for long */
    if (!actor->aside || gyre_latch_take(&actor->lock, GYRE_NEVER) != GYRE_OK)
        return;
    if (actor->before)
        (void)!gyre_actor_return(actor);
    gyre_actor_release(actor);
}

gyre_status gyre_actor_recall(gyre_actor *actor)
{
    gyre_status status = GYRE_OK;

    /* whoever has the lock sends it away, and looks for messages after that, or calls it back */
    if (!gyre_latch_try(&actor->lock))
        return GYRE_OK;
    if (gyre_actor_state(actor) == GYRE_ACTOR_AWAY)
        status = gyre_actor_come_back(actor);
    gyre_actor_release(actor);
    return status == GYRE_AGAIN ? GYRE_OK : status;
}
