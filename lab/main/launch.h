/* SPDX-License-Identifier: Apache-2.0
 *
 * launch: takes one more launch of a benchmark into its record.
 *
 * Threads   one.
 * Owns      nothing; processes live for as long as a call lasts.
 * Not here  whether one more is needed (main/ab.h), the processes (main/pair.h, main/command.h).
 */
#ifndef GYRE_MAIN_LAUNCH_H
#define GYRE_MAIN_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/topology.h"
#include "bench/baton.h"
#include "bench/usage.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "main/pair.h"
#include "main/program.h"
#include "record/ab.h"
#include "stat/random.h"

/* What all launches have in common. */
typedef struct gyre_launcher {
    gyre_ab *ab;
    const gyre_program *programs; /* both */
    uint64_t ids_hash[GYRE_SIDES];
    gyre_overseer overseer;
    gyre_cpu_set allowed; /* one of them at least */
    bool pinned;          /* commands too are held to `allowed` */
    gyre_stat_random random;
    gyre_usage usage;
} gyre_launcher;

/* One more pair of processes, or some pairs of executions when ab->lock_step is not set. `indices`
 * say where each side lists the benchmark. When it comes to a bad end, that is the outcome of the
 * benchmark. GYRE_IO or GYRE_NO_MEMORY when nothing can go on. */
GYRE_MUST_USE gyre_status gyre_launch(gyre_launcher *launcher, gyre_ab_bench *bench,
                                      const size_t indices[GYRE_SIDES]);

#endif
