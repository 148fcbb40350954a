/* SPDX-License-Identifier: Apache-2.0
 *
 * keep: what becomes of a run: printed in a format, kept in files, compared with a baseline.
 *
 * Threads   one.
 * Owns      the standards, until gyre_standards_fini.
 * Not here  the files themselves (record/), the formats (report/).
 */
#ifndef GYRE_MAIN_KEEP_H
#define GYRE_MAIN_KEEP_H

#include "gyre/common.h"
#include "gyre/status.h"
#include "main/bench_main.h"
#include "main/options.h"
#include "record/run.h"
#include "record/targets.h"

/* What a run will be held against. Zero is nothing. */
typedef struct gyre_standards {
    gyre_run *base;
    gyre_targets *targets;
} gyre_standards;

/* Finds out, before anything is measured, whether what is asked for can be kept and compared: opens
 * the folders, reads the baseline (NULL when there is none and none is needed) and the targets.
 * GYRE_INVALID when the words are wrong; else the environment is, with what to do. */
GYRE_MUST_USE gyre_status gyre_keep_prepare(const gyre_bench_program *program,
                                            const gyre_request *request,
                                            gyre_standards *out_standards);
void gyre_standards_fini(gyre_standards *standards);

/* Prints and writes everything that is asked for; each that cannot be is said on stderr, and the
 * others are done. Returns an exit status. */
int gyre_keep(const gyre_bench_program *program, const gyre_request *request, const gyre_run *run,
              const gyre_standards *standards);

/* --load-baseline: prints one baseline compared with another. Returns an exit status. */
int gyre_keep_compare_loaded(const gyre_bench_program *program, const gyre_request *request);

#endif
