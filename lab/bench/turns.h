/* SPDX-License-Identifier: Apache-2.0
 *
 * turns: one side of a benchmark that is run in turns with another version of itself.
 *
 * Both sides find their pace, agree on how many iterations make an epoch, and run epochs of the
 * same number of iterations by turns. After the baton has changed hands one batch is run untimed:
 * the caches belonged to the other.
 *
 * Threads   the calling thread, and a team's inside a call.
 * Owns      nothing.
 * Not here  whose turn it is (bench/baton.h), set-up and check (bench/measure.h).
 */
#ifndef GYRE_BENCH_TURNS_H
#define GYRE_BENCH_TURNS_H

#include "bench/baton.h"
#include "bench/drive.h"
#include "gyre/common.h"
#include "gyre/status.h"

typedef struct gyre_turns {
    gyre_baton *baton;
    gyre_turn side; /* GYRE_TURN_OLD or GYRE_TURN_NEW */
} gyre_turns;

/* Takes all its turns. GYRE_CLOSED when it was ended before that, GYRE_CANCELLED when the user
 * stops it, GYRE_INVALID when the benchmark has nothing to time, or what its own clock says. It is
 * over then for the other side too. */
GYRE_MUST_USE gyre_status gyre_turns_take(gyre_drive *drive, const gyre_turns *turns);

#endif
