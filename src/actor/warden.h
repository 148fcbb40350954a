/* SPDX-License-Identifier: Apache-2.0
 *
 * warden: decides when actors that were launched with GYRE_ACTOR_LEAVE leave the device, and brings
 * them back for messages that nobody else brings them back for (actor/away.h). And it minds those
 * of any kind whose seats are to end, or to begin again, by an order that nobody may wait for any
 * more (gyre_order_stands).
 *
 * A thread looks at each of them, four times in the time after which it is to leave; at one that is
 * away every millisecond at first, and then less and less often, every 50 ms at last: what slips in
 * does so in the first moments, or by a thread that was held up long. Where the driver ends kernels
 * that run for seconds, an actor leaves every half second, however busy, and comes back at once if
 * there are messages. One with an order that stands is looked at as one that is away. The thread
 * begins with the first such actor and ends when the last one is destroyed.
 *
 * Threads   any. Locks, from the outside: an actor's, `life`, `books`. The thread only tries the
 *           lock of an actor: who has it changes the actor's life, or waits for that.
 * Owns      the thread. Borrows the actors, until they are forgotten.
 */
#ifndef GYRE_ACTOR_WARDEN_H
#define GYRE_ACTOR_WARDEN_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/actor.h"
#include "gyre/common.h"

/* What the warden knows of an actor, in it. */
typedef struct gyre_warden_place {
    gyre_actor *next; /* under `books`, as what follows */
    bool listed;
    uint64_t due_ns; /* when it is looked at next; GYRE_NEVER: not before its next launch */
    /* Under the lock of the actor. */
    uint64_t leave_ns;  /* 0: it does not leave */
    uint64_t processed; /* messages handled when it was last seen to move, */
    uint64_t moved_ns;  /* and when that was */
    uint32_t seen;      /* its status when it was last looked at, */
    uint64_t since_ns;  /* and since when it is that, as far as was seen */
    bool stranded;      /* there was no place to come back to, and the log says so */
    bool gone;          /* it is forgotten for good */
} gyre_warden_place;

/* A launch begins; nothing for one that stays on the device. With the lock of the actor. */
GYRE_MUST_USE gyre_status gyre_warden_watch(gyre_actor *actor);

/* An order stands. With the lock of the actor. Nothing for one that is forgotten. */
void gyre_warden_mind(gyre_actor *actor);

/* Before an actor goes; nothing for one that is not there. Without its lock. May wait for the
 * thread. */
void gyre_warden_forget(gyre_actor *actor);

#endif
