/* SPDX-License-Identifier: Apache-2.0
 *
 * away: how an actor leaves the device by itself, and comes back when there is a message.
 *
 * It leaves as it is parked: the gates are moved to what was sent so far, and the seats end there.
 * Ports are not told before they have ended, and no port is ever locked. So a message can slip in:
 *
 *   port                                  who sends it away
 *   reads "active"
 *                                         moves the gates, behind which nothing is
 *                                         waits until the seats have ended
 *                                         writes "away"
 *   writes the message
 *
 * The port could find that out by reading the status once more, after its message and in this
 * order: a locked instruction for every message. Instead whoever sent the actor away goes on
 * looking at what the ports have sent (actor/warden.c), and so does every port that waits for
 * something (gyre_actor_look); either of them brings it back. A port that reads "away" before it
 * writes does that itself at once. tests/models/mailbox_away.pml is about this.
 *
 * While it is away others may take its place on the device: then it cannot come back, and stays
 * away until it can.
 *
 * Others may need the device for a moment (dev/resident.h). For them it is parked, and comes back
 * to what it was; until then its life cannot be changed, except that it can be terminated.
 *
 * Threads   any, by the lock of the actor, except where it is said.
 * Owns      nothing.
 * Not here  when to leave (actor/warden.c).
 */
#ifndef GYRE_ACTOR_AWAY_H
#define GYRE_ACTOR_AWAY_H

#include "actor/actor.h"

/* One that is active leaves. GYRE_TIMEOUT: its seats have not ended yet; it goes on leaving, and
 * this is called again, or another order. */
GYRE_MUST_USE gyre_status gyre_actor_leave(gyre_actor *actor, uint64_t deadline_ns);

/* One that is away becomes active. GYRE_AGAIN: not now, its device is kept free for somebody;
 * GYRE_NO_MEMORY: others have taken its place. Blocks until it is resident, up to handshake_ns. */
GYRE_MUST_USE gyre_status gyre_actor_come_back(gyre_actor *actor);

/* One that is parked for somebody is what it was again. GYRE_AGAIN: not now; GYRE_NO_MEMORY: it is
 * parked for good. */
GYRE_MUST_USE gyre_status gyre_actor_return(gyre_actor *actor);

/* One that rests on the device, launched or paused, leaves it and is back at once, as it was.
 * GYRE_AGAIN: not now; it may be parked until gyre_actor_return. GYRE_TIMEOUT: it did not leave in
 * time, and stays as it was. */
GYRE_MUST_USE gyre_status gyre_actor_step_out(gyre_actor *actor, uint64_t deadline_ns);

/* As gyre_actor_come_back, for who has a message for it, without the lock. GYRE_OK as well when it
 * cannot be done now: the message is seen, sooner or later. */
GYRE_MUST_USE gyre_status gyre_actor_recall(gyre_actor *actor);

#endif
