/* SPDX-License-Identifier: Apache-2.0
 *
 * measure: one case, from set-up to teardown, and what came of it.
 *
 * Threads   the calling thread drives the case.
 * Owns      a result's samples, until gyre_result_fini.
 * Not here  which cases (bench/case.h), files (record/run.h), printing (report/terminal.h).
 */
#ifndef GYRE_BENCH_MEASURE_H
#define GYRE_BENCH_MEASURE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/case.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "stat/order.h"

enum { GYRE_REASON_BYTES = 320, GYRE_LEAST_SAMPLES = 10, GYRE_MOST_SAMPLES = 100000 };

/* How to measure. Zero means default, everywhere. */
typedef struct gyre_measure_options {
    size_t sample_count;     /* default 100, at least 10 */
    uint64_t warm_up_ns;     /* default 1 s */
    uint64_t measurement_ns; /* default 3 s */
    double confidence;       /* of the interval; default 0.95 */
    bool once;               /* set up, run one iteration, check: no figures */

    uint64_t (*now_ns)(void); /* the clock; default gyre_clock_now_ns */
    /* Told at every change; may be NULL. `left_ns` is an estimate for the phase. */
    void (*progress)(void *user, const gyre_bench_case *c, const char *phase, uint64_t left_ns);
    void *user;
    const volatile sig_atomic_t *interrupted; /* polled between samples; may be NULL */
} gyre_measure_options;

/* The options with every default filled in. */
gyre_measure_options gyre_measure_defaults(const gyre_measure_options *options);

typedef enum gyre_outcome {
    GYRE_OUTCOME_MEASURED = 0,
    GYRE_OUTCOME_CHECKED = 1,     /* with `once`: it ran and its answer was right */
    GYRE_OUTCOME_FAILED = 2,      /* the reason says how */
    GYRE_OUTCOME_SKIPPED = 3,     /* the machine lacks something; the reason says what */
    GYRE_OUTCOME_INTERRUPTED = 4, /* the user stopped it; nothing was judged */
} gyre_outcome;

typedef struct gyre_result {
    const gyre_bench_case *c; /* borrowed from the list of cases */
    gyre_outcome outcome;
    char reason[GYRE_REASON_BYTES]; /* one sentence; empty when measured */
    uint64_t iterations;            /* in each sample */
    size_t sample_count;
    double *times_ns;      /* of each sample, in the order they were taken; owned */
    double median_ns;      /* of one iteration */
    gyre_interval ns;      /* of that median */
    double min_ns, max_ns; /* of one iteration, over the samples */
    uint64_t bytes, items; /* of one iteration; 0 when not declared */
} gyre_result;

/* Measures the case. Returns other than GYRE_OK only when nothing can go on (GYRE_NO_MEMORY), and
 * then the outcome is a failure without samples; whatever the benchmark does wrong is an outcome.
 */
GYRE_MUST_USE gyre_status gyre_measure(const gyre_bench_case *c,
                                       const gyre_measure_options *options,
                                       gyre_result *out_result);
void gyre_result_fini(gyre_result *result);

/* "measured", "failed", ... Borrowed, static. */
const char *gyre_outcome_name(gyre_outcome outcome);

#endif
