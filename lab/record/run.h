/* SPDX-License-Identifier: Apache-2.0
 *
 * run: everything one `gyre bench` did, and its file (gyre.run/1, docs/formats/run.md).
 *
 * Threads   one.
 * Owns      its results. Borrows the cases and the command line.
 * Not here  reading a run, comparing two.
 */
#ifndef GYRE_RECORD_RUN_H
#define GYRE_RECORD_RUN_H

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "bench/measure.h"
#include "gyre/clock.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "gyre/topology.h"

typedef struct gyre_run {
    time_t started;
    double duration_s;
    int argc; /* the command line that asked for it; borrowed */
    char *const *argv;
    gyre_measure_options options;
    gyre_result *results; /* one for each case, in the order they were run; owned */
    size_t capacity;      /* of `results` */
    size_t count;         /* of those that have come to an end */
    bool interrupted;
    gyre_topology *topology; /* of the machine, when the run began; NULL when unknown; owned */
    gyre_clock_info clock;   /* likewise; source is NULL when unknown */
} gyre_run;

/* An empty run with room for `capacity` results, starting now on this machine. */
GYRE_MUST_USE gyre_status gyre_run_create(size_t capacity, gyre_run **out_run);
size_t gyre_run_count(const gyre_run *run, gyre_outcome outcome);

/* The run as JSON, with every sample. Errors stay in the stream. */
void gyre_run_write(const gyre_run *run, FILE *stream);

/* Replaces `path` by the run. GYRE_IO with the reason, and then an older file is as it was. */
GYRE_MUST_USE gyre_status gyre_run_save(const gyre_run *run, const char *path);
void gyre_run_destroy(gyre_run *run);

#endif
