/* SPDX-License-Identifier: Apache-2.0
 *
 * life: changes of an actor's life. Each is an order, which every seat reads when it has time and
 * says when it is carried out.
 *
 * Threads   any, by the lock of the actor.
 * Owns      nothing.
 * Not here  orders (actor/order.c), the launch (actor/actor.c).
 */
#include "actor/away.h"
#include "actor/order.h"
#include "base/fail.h"
#include "base/process.h"
#include "gyre/clock.h"

/* A change, by those statuses that it starts from, and those that it leaves as they are. */
typedef struct change {
    uint32_t from, already; /* bits */
    gyre_status (*make)(gyre_actor *actor, gyre_actor_status now, uint64_t deadline_ns);
    const char *otherwise; /* why not */
    bool limited;          /* the deadline is not the caller's own */
} change;

#define BIT(status_) (1U << (status_))

static gyre_status make(gyre_actor *actor, const change *what, uint64_t deadline_ns)
{
    gyre_status status = GYRE_AGAIN; /* its device is kept free */
    gyre_actor_status now;

    while (status == GYRE_AGAIN) {
        status = gyre_actor_hold_free(actor, deadline_ns, &now);
        if (status != GYRE_OK)
            return status == GYRE_TIMEOUT && what->limited ? gyre_actor_refuse_held(actor) : status;
        actor->watches = !what->limited;
        if (what->from & BIT(now))
            status = what->make(actor, now, deadline_ns);
        else if (!(what->already & BIT(now)))
            status = gyre_actor_refuse(actor, what->otherwise);
        if (status == GYRE_TIMEOUT && actor->yields && gyre_latch_is_pressed(&actor->lock))
            status = gyre_fail(GYRE_CLOSED, "actor '%s': somebody else terminates it", actor->name);
        actor->yields = false;
        actor->watches = false;
        gyre_actor_release(actor);
    }
    return status;
}

static gyre_status resume(gyre_actor *actor, gyre_actor_status now, uint64_t deadline_ns)
{
    const bool ending = actor->ending;
    gyre_status status = GYRE_OK;

    (void)deadline_ns;
    gyre_order_give(actor, (gyre_order){.active = true});
    if (now == GYRE_ACTOR_PARKED)
        status = gyre_actor_come_again(actor);
    else if (ending) /* by a park that was not over in time: they may end yet */
        status = gyre_order_await(actor, gyre_clock_after_ns(actor->launched.handshake_ns));
    /* the order stands, if they are there to read it */
    if (status == GYRE_OK || (status == GYRE_TIMEOUT && now != GYRE_ACTOR_PARKED))
        gyre_actor_become(actor, GYRE_ACTOR_ACTIVE);
    return status;
}

gyre_status gyre_actor_activate(gyre_actor *actor)
{
    static const change c = {BIT(GYRE_ACTOR_LAUNCHED),
                             BIT(GYRE_ACTOR_ACTIVE) | BIT(GYRE_ACTOR_AWAY), resume,
                             "it cannot be activated", true};

    return make(actor, &c, gyre_clock_after_ns(GYRE_ACTOR_KEPT_NS));
}

gyre_status gyre_actor_resume(gyre_actor *actor)
{
    static const change c = {BIT(GYRE_ACTOR_PAUSED) | BIT(GYRE_ACTOR_PARKED),
                             BIT(GYRE_ACTOR_ACTIVE) | BIT(GYRE_ACTOR_AWAY), resume,
                             "it cannot resume", true};

    return make(actor, &c, gyre_clock_after_ns(GYRE_ACTOR_KEPT_NS));
}

enum {
    STAYS = BIT(GYRE_ACTOR_ACTIVE) | BIT(GYRE_ACTOR_PAUSED) | BIT(GYRE_ACTOR_LAUNCHED),
    RESIDENT = STAYS | BIT(GYRE_ACTOR_DRAINING),
    OFF = BIT(GYRE_ACTOR_PARKED) | BIT(GYRE_ACTOR_AWAY),
};

/* One that is away comes back, because there is something to do on the device. */
static gyre_status fetch(gyre_actor *actor, gyre_actor_status *now)
{
    const gyre_status status = *now == GYRE_ACTOR_AWAY ? gyre_actor_come_back(actor) : GYRE_OK;

    *now = gyre_actor_state(actor);
    return status;
}

static gyre_status halt(gyre_actor *actor, gyre_actor_status now, uint64_t deadline_ns)
{
    const gyre_status status = fetch(actor, &now);

    if (status != GYRE_OK)
        return status;
    gyre_order_give(actor, gyre_order_up_to_gates(now, 0));
    gyre_actor_become(actor, GYRE_ACTOR_PAUSED);
    actor->yields = true;
    return gyre_order_await(actor, deadline_ns);
}

gyre_status gyre_actor_pause(gyre_actor *actor, uint64_t deadline_ns)
{
    static const change c = {STAYS | BIT(GYRE_ACTOR_AWAY), 0, halt, "it cannot pause", false};

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
    gyre_order_give(actor, gyre_order_up_to_gates(now, 2));
    gyre_actor_become(actor, GYRE_ACTOR_PAUSED);
    actor->yields = true;
    return gyre_order_await_end(actor, GYRE_ACTOR_PARKED, deadline_ns);
}

gyre_status gyre_actor_park(gyre_actor *actor, uint64_t deadline_ns)
{
    static const change c = {STAYS | BIT(GYRE_ACTOR_AWAY), BIT(GYRE_ACTOR_PARKED), park,
                             "it cannot be parked", false};

    return make(actor, &c, deadline_ns);
}

/* Ends it by `order`. Seats that end at once may have handled some of what was sent and not what
 * came before it: they cannot be told to handle the rest. */
static gyre_status end(gyre_actor *actor, gyre_order order, uint64_t deadline_ns)
{
    if (!actor->ending || actor->told.terminate != 1)
        gyre_order_give(actor, order);
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
        status = gyre_actor_come_again(actor);
    else
        status = fetch(actor, &now);
    actor->yields = status == GYRE_OK;
    return status == GYRE_OK ? end(actor, (gyre_order){.terminate = 2}, deadline_ns) : status;
}

gyre_status gyre_actor_drain(gyre_actor *actor, uint64_t deadline_ns)
{
    static const change c = {RESIDENT | OFF | BIT(GYRE_ACTOR_CREATED), BIT(GYRE_ACTOR_TERMINATED),
                             drain, "it cannot drain", false};

    return make(actor, &c, deadline_ns);
}

/* What it is that can be terminated; one that is off the device for somebody else can be, too. */
enum { LIVES = RESIDENT | OFF | BIT(GYRE_ACTOR_CREATED) };

/* The lock is held. */
static gyre_status terminate(gyre_actor *actor, gyre_actor_status now, uint64_t deadline_ns)
{
    if (!(LIVES & BIT(now)))
        return GYRE_OK;
    actor->before = 0;
    /* one that is paused handles nothing more: warps may know new gates before they know the end */
    if (RESIDENT & BIT(now))
        return end(actor, gyre_order_up_to_gates(now, 1), deadline_ns);
    gyre_actor_become(actor, GYRE_ACTOR_TERMINATED);
    return GYRE_OK;
}

gyre_status gyre_actor_terminate(gyre_actor *actor, uint64_t deadline_ns)
{
    gyre_status status = gyre_process_check();

    if (status == GYRE_OK)
        status = gyre_latch_press(&actor->lock, deadline_ns);
    if (status != GYRE_OK)
        return status;
    actor->watches = true;
    status = terminate(actor, gyre_actor_state(actor), deadline_ns);
    actor->watches = false;
    gyre_actor_release(actor);
    return status;
}

void gyre_actor_release(gyre_actor *actor)
{
    for (;;) {
        if (gyre_order_stands(actor))
            gyre_warden_mind(actor);
        if (gyre_latch_give(&actor->lock))
            return;
        (void)!terminate(actor, gyre_actor_state(actor), 0);
    }
}
