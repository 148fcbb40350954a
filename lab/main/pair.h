/* SPDX-License-Identifier: Apache-2.0
 *
 * pair: one launch: a fresh process of each version, taking turns on one CPU set.
 *
 * Whatever one of them does (crash, hang, a wrong answer, a turn that was not its own) is found
 * and named with its side; the other is let go, and nothing of either is left running.
 *
 * Threads   one.
 * Owns      the processes, for as long as gyre_pair_launch runs.
 * Not here  how many launches (main/ab.h), what a process does (main/serve.h, bench/turns.h).
 */
#ifndef GYRE_MAIN_PAIR_H
#define GYRE_MAIN_PAIR_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "base/topology.h"
#include "bench/baton.h"
#include "bench/result.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "main/guardian.h"
#include "main/orphans.h"
#include "main/program.h"
#include "main/worker.h"

enum { GYRE_PAIR_REASON_BYTES = 320 };

/* Who watches over processes that are compared. */
typedef struct gyre_overseer {
    const gyre_guardian *guardian;
    const gyre_orphans *orphans;
    uint64_t timeout_ns; /* longest without a sign of life */
    const volatile sig_atomic_t *interrupted;
    void (*tick)(void *user); /* called about ten times a second; NULL: nobody */
    void *user;
} gyre_overseer;

typedef struct gyre_pair {
    const gyre_program *programs[GYRE_SIDES];
    const char *id;                /* of the case, */
    size_t indices[GYRE_SIDES];    /* its place in each side's list, */
    uint64_t ids_hash[GYRE_SIDES]; /* and what the lists hash to */
    uint64_t seed;
    const gyre_cpu_set *cpus; /* NULL: any */
} gyre_pair;

/* How processes came to an end. */
typedef struct gyre_fate {
    gyre_outcome outcome; /* MEASURED, FAILED, SKIPPED or INTERRUPTED */
    int side;             /* whose doing it was: a gyre_turn; -1 both or nobody */
    char reason[GYRE_PAIR_REASON_BYTES];
    char last_words[GYRE_WORDS_BYTES + 1];
} gyre_fate;

/* Starts both, waits for their end, and copies the baton as they left it. GYRE_IO or GYRE_NO_MEMORY
 * when nothing can go on. */
GYRE_MUST_USE gyre_status gyre_pair_launch(const gyre_pair *pair, const gyre_overseer *overseer,
                                           gyre_baton *out_baton, gyre_fate *out_fate);

#endif
