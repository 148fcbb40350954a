/* SPDX-License-Identifier: Apache-2.0
 *
 * beside: a case and another one, both set up, that take turns on one thread.
 *
 * Two set-ups may pin the thread to different CPUs: each side runs where its own has left it. Who
 * gets the turn runs a part of its iterations untimed, because the caches were the other's.
 *
 * Threads   the one that has called both set-ups.
 * Owns      nothing: bench/measure.c sets up and tears down.
 * Not here  two versions of one case in two processes (bench/turns.h).
 */
#ifndef GYRE_BENCH_BESIDE_H
#define GYRE_BENCH_BESIDE_H

#include <sched.h>
#include <stdint.h>

#include "bench/drive.h"
#include "gyre/common.h"

typedef struct gyre_beside {
    gyre_drive *sides[2]; /* the case's own, the other's */
    cpu_set_t cpus[2];
    bool placed[2]; /* the set of CPUs is known */
} gyre_beside;

enum { GYRE_BESIDE_OWN = 0, GYRE_BESIDE_OTHER = 1 };

/* Remembers where the thread may run now, for that side. */
void gyre_beside_place(gyre_beside *beside, int side);

/* The thread goes to where the side's set-up has left it. */
void gyre_beside_go(const gyre_beside *beside, int side);

/* The side gets the turn for so many iterations: the thread goes there, and some are run untimed.
 */
void gyre_beside_turn(const gyre_beside *beside, int side, uint64_t iterations);

#endif
