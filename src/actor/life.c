/* SPDX-License-Identifier: Apache-2.0
 *
 * life: changes of an actor's life. Each is an order, which every seat reads when it has time and
 * says when it is carried out.
 *
 * Threads   any, by the lock of the actor.
 * Owns      nothing.
 * Not here  orders (actor/order.c), the launch (actor/actor.c).
 */
#include <stddef.h>

#include "actor/away.h"
#include "actor/order.h"
#include "base/fail.h"
#include "base/log.h"
#include "gyre/clock.h"

/* A change, by those statuses that it starts from, and those that it leaves as they are. */
typedef struct change {
    uint32_t from, already; /* bits */
    gyre_status (*make)(gyre_actor *actor, gyre_actor_status now, uint64_t deadline_ns);
    const char *otherwise; /* why not */
} change;

#define BIT(status_) (1U << (status_))

static gyre_status make(gyre_actor *actor, const change *what, uint64_t deadline_ns)
{
    gyre_actor_status now;
    gyre_status status = gyre_actor_hold(actor, &now);

    if (status != GYRE_OK)
        return status;
    if (what->from & BIT(now))
        status = what->make(actor, now, deadline_ns);
    else if (!(what->already & BIT(now)))
        status = gyre_actor_refuse(actor, what->otherwise);
    pthread_mutex_unlock(&actor->lock);
    return status;
}

static gyre_status activate(gyre_actor *actor, gyre_actor_status now, uint64_t deadline_ns)
{
    (void)now, (void)deadline_ns;
    gyre_order_give(actor, (gyre_order){.active = true});
    gyre_actor_become(actor, GYRE_ACTOR_ACTIVE);
    return GYRE_OK;
}

gyre_status gyre_actor_activate(gyre_actor *actor)
{
    static const change c = {BIT(GYRE_ACTOR_LAUNCHED),
                             BIT(GYRE_ACTOR_ACTIVE) | BIT(GYRE_ACTOR_AWAY), activate,
                             "it cannot be activated"};

    return make(actor, &c, 0);
}

static gyre_status resume(gyre_actor *actor, gyre_actor_status now, uint64_t deadline_ns)
{
    const bool ending = actor->ending;
    gyre_status status = GYRE_OK;

    gyre_order_give(actor, (gyre_order){.active = true});
    if (now == GYRE_ACTOR_PARKED)
        status = gyre_actor_come_to_life(actor, false);
    else if (ending) /* by a park that was not over in time: they may end yet */
        status = gyre_order_await(actor, deadline_ns);
    if (gyre_actor_state(actor) != GYRE_ACTOR_FAILED)
        gyre_actor_become(actor, status == GYRE_OK ? GYRE_ACTOR_ACTIVE : now);
    return status;
}

gyre_status gyre_actor_resume(gyre_actor *actor)
{
    static const change c = {BIT(GYRE_ACTOR_PAUSED) | BIT(GYRE_ACTOR_PARKED),
                             BIT(GYRE_ACTOR_ACTIVE) | BIT(GYRE_ACTOR_AWAY), resume,
                             "it cannot resume"};

    return make(actor, &c, gyre_clock_after_ns(actor->launched.handshake_ns));
}

enum {
    STAYS = BIT(GYRE_ACTOR_ACTIVE) | BIT(GYRE_ACTOR_PAUSED) | BIT(GYRE_ACTOR_LAUNCHED),
    RESIDENT = STAYS | BIT(GYRE_ACTOR_DRAINING),
    OFF = BIT(GYRE_ACTOR_PARKED) | BIT(GYRE_ACTOR_AWAY),
};

/* An order to go up to the gates, where one that is paused stays where it is. */
static gyre_order up_to_gates(gyre_actor_status now, uint32_t terminate)
{
    return (gyre_order){.keep_gates = now != GYRE_ACTOR_ACTIVE, .terminate = terminate};
}

/* One that is away comes back, because there is something to do on the device. */
static gyre_status fetch(gyre_actor *actor, gyre_actor_status *now)
{
    const gyre_status status = *now == GYRE_ACTOR_AWAY ? gyre_actor_come_back(actor) : GYRE_OK;

    *now = gyre_actor_state(actor);
    if (status == GYRE_AGAIN)
        return gyre_fail(GYRE_UNAVAILABLE,
                         "actor '%s' is away, and its device is kept free for a moment; try again",
                         actor->name);
    return status;
}

static gyre_status halt(gyre_actor *actor, gyre_actor_status now, uint64_t deadline_ns)
{
    const gyre_status status = fetch(actor, &now);

    if (status != GYRE_OK)
        return status;
    gyre_order_give(actor, up_to_gates(now, 0));
    gyre_actor_become(actor, GYRE_ACTOR_PAUSED);
    return gyre_order_await(actor, deadline_ns);
}

gyre_status gyre_actor_pause(gyre_actor *actor, uint64_t deadline_ns)
{
    static const change c = {STAYS | BIT(GYRE_ACTOR_AWAY), 0, halt, "it cannot pause"};

    return make(actor, &c, deadline_ns);
}

static gyre_status park(gyre_actor *actor, gyre_actor_status now, uint64_t deadline_ns)
{
    gyre_status status;

    if (now == GYRE_ACTOR_AWAY && gyre_actor_waiting(actor) == 0) {
        gyre_actor_become(actor, GYRE_ACTOR_PARKED);
        return GYRE_OK;
    }
    status = fetch(actor, &now);
    if (status != GYRE_OK)
        return status;
    gyre_order_give(actor, up_to_gates(now, 2));
    gyre_actor_become(actor, GYRE_ACTOR_PAUSED);
    return gyre_order_await_end(actor, GYRE_ACTOR_PARKED, deadline_ns);
}

gyre_status gyre_actor_park(gyre_actor *actor, uint64_t deadline_ns)
{
    static const change c = {STAYS | BIT(GYRE_ACTOR_AWAY), BIT(GYRE_ACTOR_PARKED), park,
                             "it cannot be parked"};

    return make(actor, &c, deadline_ns);
}

static gyre_actor *actor_of(gyre_resident *resident)
{
    return (gyre_actor *)(void *)((char *)resident - offsetof(gyre_actor, resident));
}

/* An order to go on as it was before it was suspended. */
static gyre_order as_before(const gyre_actor *actor)
{
    return (gyre_order){.active = actor->before == GYRE_ACTOR_ACTIVE, .keep_gates = true};
}

/* Back to what it was; the lock is held. */
static void come_back(gyre_actor *actor)
{
    gyre_order_give(actor, as_before(actor));
    if (gyre_actor_come_to_life(actor, false) == GYRE_OK)
        gyre_actor_become(actor, (gyre_actor_status)actor->before);
    else
        gyre_log(GYRE_LOG_WARN, GYRE_TOPIC_DEVICE, "actor '%s' did not come back: %s", actor->name,
                 gyre_error_last()->text);
}

gyre_status gyre_actor_suspend(gyre_resident *resident)
{
    gyre_actor *const actor = actor_of(resident);
    gyre_status status = GYRE_OK;

    pthread_mutex_lock(&actor->lock);
    actor->before = gyre_actor_state(actor);
    if (gyre_actor_is_resident((gyre_actor_status)actor->before)) {
        gyre_order_give(actor, up_to_gates((gyre_actor_status)actor->before, 2));
        status =
            gyre_order_await_end(actor, GYRE_ACTOR_PARKED, gyre_clock_after_ns(actor->stall_ns));
    }
    if (status == GYRE_TIMEOUT) {
        /* it goes on as it was */
        gyre_order_give(actor, as_before(actor));
        status = gyre_fail(GYRE_UNAVAILABLE,
                           "actor '%s' is resident and did not leave the device within %llu ms",
                           actor->name, (unsigned long long)(actor->stall_ns / 1000000));
    } else if (status != GYRE_OK) {
        status = GYRE_OK; /* it has failed, and is not in the way */
        actor->before = GYRE_ACTOR_FAILED;
    } else if (gyre_actor_state(actor) == GYRE_ACTOR_PARKED && gyre_streams_wait(actor)) {
        /* who wants the device would wait for them, and they for it */
        if (gyre_actor_is_resident((gyre_actor_status)actor->before))
            come_back(actor);
        status = gyre_fail(GYRE_UNAVAILABLE,
                           "a stream waits for an answer of actor '%s', which would be off the "
                           "device",
                           actor->name);
    }
    pthread_mutex_unlock(&actor->lock);
    return status;
}

void gyre_actor_restore(gyre_resident *resident)
{
    gyre_actor *const actor = actor_of(resident);

    pthread_mutex_lock(&actor->lock);
    if (gyre_actor_state(actor) == GYRE_ACTOR_PARKED &&
        gyre_actor_is_resident((gyre_actor_status)actor->before))
        come_back(actor);
    pthread_mutex_unlock(&actor->lock);
}

/* Ends it, `how` the seats are told. */
static gyre_status end(gyre_actor *actor, uint32_t how, uint64_t deadline_ns)
{
    gyre_order_give(actor, (gyre_order){.terminate = how});
    gyre_actor_become(actor, GYRE_ACTOR_DRAINING);
    return gyre_order_await_end(actor, GYRE_ACTOR_TERMINATED, deadline_ns);
}

static gyre_status drain(gyre_actor *actor, gyre_actor_status now, uint64_t deadline_ns)
{
    gyre_status status;

    if (now == GYRE_ACTOR_CREATED || (now == GYRE_ACTOR_AWAY && gyre_actor_waiting(actor) == 0)) {
        gyre_actor_become(actor, GYRE_ACTOR_TERMINATED);
        return GYRE_OK;
    }
    if (now == GYRE_ACTOR_PARKED) /* it comes back for what is left to do */
        status = gyre_actor_come_to_life(actor, false);
    else
        status = fetch(actor, &now);
    return status == GYRE_OK ? end(actor, 2, deadline_ns) : status;
}

gyre_status gyre_actor_drain(gyre_actor *actor, uint64_t deadline_ns)
{
    static const change c = {RESIDENT | OFF | BIT(GYRE_ACTOR_CREATED), BIT(GYRE_ACTOR_TERMINATED),
                             drain, "it cannot drain"};

    return make(actor, &c, deadline_ns);
}

static gyre_status terminate(gyre_actor *actor, gyre_actor_status now, uint64_t deadline_ns)
{
    if (RESIDENT & BIT(now))
        return end(actor, 1, deadline_ns);
    gyre_actor_become(actor, GYRE_ACTOR_TERMINATED);
    return GYRE_OK;
}

gyre_status gyre_actor_terminate(gyre_actor *actor, uint64_t deadline_ns)
{
    static const change c = {RESIDENT | OFF | BIT(GYRE_ACTOR_CREATED),
                             BIT(GYRE_ACTOR_TERMINATED) | BIT(GYRE_ACTOR_FAILED), terminate, NULL};

    return make(actor, &c, deadline_ns);
}
