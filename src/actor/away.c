/* SPDX-License-Identifier: Apache-2.0
 *
 * away: see away.h.
 */
#include "actor/away.h"

#include "actor/order.h"
#include "gyre/clock.h"

gyre_status gyre_actor_leave(gyre_actor *actor, uint64_t deadline_ns)
{
    if (!actor->ending)
        gyre_order_give(actor, (gyre_order){.terminate = 2});
    return gyre_order_await_end(actor, GYRE_ACTOR_AWAY, deadline_ns);
}

/* Until let_go nobody has the device free of residents for himself. It cannot be waited for: the
 * lock of the actor is held, and may be what the other waits for. */
static bool try_hold(const gyre_actor *actor)
{
    return actor->residence != &gyre_residence_kernel || gyre_residents_try_hold();
}

static void let_go(const gyre_actor *actor)
{
    if (actor->residence == &gyre_residence_kernel)
        gyre_residents_let_go();
}

/* Onto the device again, to do what it is told, and then it is `then`; or else `otherwise`. */
static gyre_status come(gyre_actor *actor, gyre_order order, gyre_actor_status then,
                        gyre_actor_status otherwise)
{
    gyre_status status;

    gyre_order_give(actor, order);
    status = gyre_actor_come_to_life(actor, false);
    if (status == GYRE_OK) {
        actor->watched_ns = gyre_clock_now_ns();
        gyre_actor_become(actor, then);
        /* release [actor-status]: whoever counts it does not see the status from before */
        atomic_fetch_add_explicit(&actor->returns, 1, memory_order_release);
    } else if (gyre_actor_state(actor) != GYRE_ACTOR_FAILED) {
        if (status != GYRE_NO_MEMORY)
            return gyre_actor_fail(actor, status);
        gyre_actor_become(actor, otherwise);
    }
    return status;
}

gyre_status gyre_actor_come_back(gyre_actor *actor)
{
    gyre_status status;

    if (!try_hold(actor))
        return GYRE_AGAIN;
    status = come(actor, (gyre_order){.active = true}, GYRE_ACTOR_ACTIVE, GYRE_ACTOR_AWAY);
    let_go(actor);
    return status;
}

gyre_status gyre_actor_step_out(gyre_actor *actor, uint64_t deadline_ns)
{
    const gyre_actor_status now = gyre_actor_state(actor);
    gyre_status status;

    if (!try_hold(actor))
        return GYRE_AGAIN;
    gyre_order_give(actor, (gyre_order){.keep_gates = true, .terminate = 2});
    status = gyre_order_await_end(actor, GYRE_ACTOR_PARKED, deadline_ns);
    if (status == GYRE_OK)
        status = come(actor, (gyre_order){.keep_gates = true}, now, GYRE_ACTOR_PARKED);
    let_go(actor);
    return status;
}

gyre_status gyre_actor_recall(gyre_actor *actor)
{
    gyre_status status = GYRE_OK;

    /* whoever has the lock sends it away, and looks for messages after that, or calls it back */
    if (pthread_mutex_trylock(&actor->lock) != 0)
        return GYRE_OK;
    if (gyre_actor_state(actor) == GYRE_ACTOR_AWAY)
        status = gyre_actor_come_back(actor);
    pthread_mutex_unlock(&actor->lock);
    return status == GYRE_AGAIN ? GYRE_OK : status;
}
