/* SPDX-License-Identifier: Apache-2.0
 *
 * latch: the lock of an actor, for which others wait no longer than they said.
 *
 * Whoever changes an actor's life holds it, also while he waits for seats, which may be long. Who
 * terminates the actor shall not have to wait for that: he presses, which the holder can see, and
 * when his time is over he leaves what he wants to the holder, who is told when he gives the latch
 * back. So a terminate is carried out, whoever holds what.
 *
 * Threads   any. Edges: [actor-lock], [park-handshake].
 * Owns      nothing: zero is ready for use, and there is no fini. Who has it may free it: nobody
 *           who gave it back looks at it after that.
 * Not here  what is done for who pressed (actor/life.c).
 */
#ifndef GYRE_ACTOR_LATCH_H
#define GYRE_ACTOR_LATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/status.h"

typedef struct gyre_latch {
    _Atomic uint32_t word; /* see latch.c */
} gyre_latch;

/* Whether it is the caller's now. Never blocks. */
GYRE_MUST_USE bool gyre_latch_try(gyre_latch *latch);

/* Sleeps until it is the caller's; GYRE_TIMEOUT at the deadline, if it was not free once. */
GYRE_MUST_USE gyre_status gyre_latch_take(gyre_latch *latch, uint64_t deadline_ns);

/* The same, and meanwhile it is pressed; GYRE_TIMEOUT: what the caller wants is left to the
 * holder. */
GYRE_MUST_USE gyre_status gyre_latch_press(gyre_latch *latch, uint64_t deadline_ns);

/* For the holder: whether somebody presses, or has left what he wants; once it is so, it is until
 * he gives the latch back. Never blocks. */
bool gyre_latch_is_pressed(const gyre_latch *latch);

/* Gives it back. False: not yet, since something was left to the holder, which is his from now on.
 * Never blocks. */
GYRE_MUST_USE bool gyre_latch_give(gyre_latch *latch);

#endif
