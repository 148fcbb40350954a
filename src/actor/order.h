/* SPDX-License-Identifier: Apache-2.0
 *
 * order: what seats are told, and waiting until they have done it. The lock of the actor is held by
 * whoever calls this, except where it is said.
 *
 * Threads   one at a time, by the lock. Edges: [actor-order] with the seats, [actor-status].
 * Owns      nothing.
 * Not here  which change needs which order (actor/life.c).
 */
#ifndef GYRE_ACTOR_ORDER_H
#define GYRE_ACTOR_ORDER_H

#include "actor/actor.h"

/* How long a device may be kept free, or a lock be held, for who has no deadline of his own. */
#define GYRE_ACTOR_KEPT_NS UINT64_C(10000000000)

/* An order to go up to the gates, where one that is paused stays where it is. */
GYRE_INLINE gyre_order gyre_order_up_to_gates(gyre_actor_status now, uint32_t terminate)
{
    return (gyre_order){.keep_gates = now != GYRE_ACTOR_ACTIVE, .terminate = terminate};
}

/* Before a change of its life: the lock is taken with GYRE_OK, and it is what *out_now says.
 * GYRE_TIMEOUT: somebody else had it until the deadline. */
GYRE_MUST_USE gyre_status gyre_actor_hold(gyre_actor *actor, uint64_t deadline_ns,
                                          gyre_actor_status *out_now);

/* The same for who has no deadline of his own: GYRE_UNAVAILABLE after GYRE_ACTOR_KEPT_NS. */
GYRE_MUST_USE gyre_status gyre_actor_hold_patiently(gyre_actor *actor);

/* That GYRE_UNAVAILABLE, with the reason. */
GYRE_MUST_USE gyre_status gyre_actor_refuse_held(const gyre_actor *actor);

/* Gives the lock back. Somebody who terminates it and could not wait has left that to the caller:
 * then it is done first. What stands after that is the warden's. In life.c. */
void gyre_actor_release(gyre_actor *actor);

/* As gyre_actor_hold, when its device is not kept free of residents: what it is while it is off the
 * device for somebody else is not what it is. GYRE_UNAVAILABLE: it was until the deadline. */
GYRE_MUST_USE gyre_status gyre_actor_hold_free(gyre_actor *actor, uint64_t deadline_ns,
                                               gyre_actor_status *out_now);

/* Whether its device is kept free. */
bool gyre_actor_is_barred(const gyre_actor *actor);

/* The status that all see. */
void gyre_actor_become(gyre_actor *actor, gyre_actor_status status);

/* Whether seats are on the device, as far as orders go. */
bool gyre_actor_is_resident(gyre_actor_status status);

/* GYRE_INVALID: what it is does not allow what was asked. */
GYRE_MUST_USE gyre_status gyre_actor_refuse(gyre_actor *actor, const char *what);

/* It has failed, with this thread's last error as the reason. Returns `status`. */
gyre_status gyre_actor_fail(gyre_actor *actor, gyre_status status);

/* An order stands until the next one. One to end may be taken back by any other, but for one to end
 * at once. */
void gyre_order_give(gyre_actor *actor, gyre_order order);

/* Whether an order stands that takes more than the seats: they are to end, or have ended and are to
 * begin again, and somebody has to look for that. */
bool gyre_order_stands(gyre_actor *actor);

/* How the seats are. GYRE_AGAIN: they are at it; GYRE_OK: they have ended as they were told;
 * GYRE_NO_MEMORY: they were to begin again, and others have their place, so it is parked or away;
 * else it has failed, by this call or before. */
GYRE_MUST_USE gyre_status gyre_order_look(gyre_actor *actor);

/* What one becomes that was told to end and is `now`. */
gyre_actor_status gyre_order_end_of(gyre_actor_status now);

/* Waits until all seats have carried out the last. Failing seats end it. GYRE_TIMEOUT, before the
 * deadline too when the actor `yields` and somebody terminates it. */
GYRE_MUST_USE gyre_status gyre_order_await(gyre_actor *actor, uint64_t deadline_ns);

/* They were told to end: then it is `then`. Otherwise the same. */
GYRE_MUST_USE gyre_status gyre_order_await_end(gyre_actor *actor, gyre_actor_status then,
                                               uint64_t deadline_ns);

/* The same, by whatever order they end. */
GYRE_MUST_USE gyre_status gyre_order_await_off(gyre_actor *actor, gyre_actor_status then,
                                               uint64_t deadline_ns);

/* Until when seats must be gone that nobody has use for: they may be as slow to end as the caller
 * said that they may be to begin, but have two seconds even where that was none. */
uint64_t gyre_order_gone_by(const gyre_actor *actor);

/* The seats begin, `fresh` with the first state, and have to answer within handshake_ns.
 * GYRE_AGAIN: not now, its device is kept free for somebody. */
GYRE_MUST_USE gyre_status gyre_actor_come_to_life(gyre_actor *actor, bool fresh);

/* The same for one that has been there before: with any status but GYRE_OK, GYRE_AGAIN and
 * GYRE_NO_MEMORY it has failed. */
GYRE_MUST_USE gyre_status gyre_actor_come_again(gyre_actor *actor);

/* Sleeps a little longer each time, from a microsecond to half a millisecond. Without the lock
 * too. */
void gyre_actor_doze(uint32_t *rounds);

#endif
