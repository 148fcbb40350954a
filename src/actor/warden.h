/* SPDX-License-Identifier: Apache-2.0
 *
 * warden: decides when actors that were launched with GYRE_ACTOR_LEAVE leave the device, and brings
 * them back for messages that nobody else brings them back for (actor/away.h).
 *
 * A thread looks at each of them, four times in the time after which it is to leave; at one that is
 * away every millisecond at first, and then less and less often, every 50 ms at last: what slips in
 * does so in the first moments, or by a thread that was held up long. Where the driver ends kernels
 * that run for seconds, an actor leaves every half second, however busy, and comes back at once if
 * there are messages. The thread begins with the first such launch and ends when the last such
 * actor is destroyed.
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
    uint64_t away_ns;   /* since when it is away */
    bool stranded;      /* there was no place to come back to, and the log says so */
} gyre_warden_place;

/* A launch begins; nothing for one that stays on the device. With the lock of the actor. */
GYRE_MUST_USE gyre_status gyre_warden_watch(gyre_actor *actor);

/* Before an actor goes; nothing for one that is not there. Without its lock. May wait for the
 * thread. */
void gyre_warden_forget(gyre_actor *actor);

#endif
