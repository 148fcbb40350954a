/* SPDX-License-Identifier: Apache-2.0
 *
 * team: threads that run a benchmark together, again and again.
 *
 * The calling thread is number 0. In each round all threads gather, start at one moment, and the
 * round has lasted until the last of them has returned. Threads sleep between rounds.
 *
 * Threads   as many as asked for; one caller drives the rounds.
 * Owns      its threads, from start to stop.
 * Not here  what they run (bench/drive.h).
 */
#ifndef GYRE_BENCH_TEAM_H
#define GYRE_BENCH_TEAM_H

#include <stdint.h>

#include "gyre/common.h"
#include "gyre/status.h"

enum { GYRE_TEAM_MOST = 1024 };

typedef struct gyre_team gyre_team;

/* Starts `count` - 1 threads that wait; `count` is 1 to GYRE_TEAM_MOST. */
GYRE_MUST_USE gyre_status gyre_team_start(uint32_t count, gyre_team **out_team);

/* Lets every thread call run(fixture, iterations) once, and says how long that took from their
 * common start until the last had returned, by `now_ns`. Blocks. */
uint64_t gyre_team_round(gyre_team *team, void (*run)(void *fixture, uint64_t iterations),
                         void *fixture, uint64_t iterations, uint64_t (*now_ns)(void));

/* Ends the threads; NULL is a no-op. */
void gyre_team_stop(gyre_team *team);

#endif
