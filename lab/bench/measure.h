/* SPDX-License-Identifier: Apache-2.0
 *
 * measure: one visit to a case, from set-up to teardown, and what came of it.
 *
 * Threads   the calling thread drives the case.
 * Owns      nothing: the result is the caller's, to be ended with gyre_result_fini.
 * Not here  which cases (bench/case.h), files (record/run.h), printing (report/terminal.h).
 */
#ifndef GYRE_BENCH_MEASURE_H
#define GYRE_BENCH_MEASURE_H

#include <signal.h>
#include <stdint.h>

#include "bench/case.h"
#include "bench/drive.h"
#include "bench/method.h"
#include "bench/result.h"
#include "bench/turns.h"
#include "gyre/common.h"
#include "gyre/status.h"

/* Who looks on. Zero is nobody. */
typedef struct gyre_watch {
    uint64_t (*now_ns)(void); /* the clock; default gyre_clock_now_ns */
    gyre_progress *progress;  /* told at every change */
    void *user;
    const volatile sig_atomic_t *interrupted; /* polled between samples */
    const gyre_turns *turns;                  /* with whom turns are taken; NULL: nobody */
} gyre_watch;

/* Visits the case for the method's purpose; NULL for either is all defaults. Returns other than
 * GYRE_OK only when nothing can go on (GYRE_NO_MEMORY), and then the outcome is a failure without
 * samples; whatever the benchmark does wrong is an outcome. */
GYRE_MUST_USE gyre_status gyre_measure(const gyre_bench_case *c, const gyre_method *method,
                                       const gyre_watch *watch, gyre_result *out_result);

/* Fills in what is known of a case without running any of the suite's code. */
void gyre_result_begin(gyre_result *result, const gyre_bench_case *c);

#endif
