/* SPDX-License-Identifier: Apache-2.0
 *
 * sample_run: a run that nobody measured: one result of each outcome, hostile words included. For
 * the tests of formats.
 */
#ifndef GYRE_SAMPLE_RUN_H
#define GYRE_SAMPLE_RUN_H

#include "record/run.h"

enum { SAMPLE_MOST = 16, SAMPLE_RESULTS = 6 };

typedef struct sample_run {
    gyre_run run;
    gyre_result results[SAMPLE_RESULTS];
    const char *command[2];
    double flat_ns[SAMPLE_MOST], linear_ns[SAMPLE_MOST];
    uint64_t flat_iterations[SAMPLE_MOST], linear_iterations[SAMPLE_MOST];
} sample_run;

static inline gyre_estimate sample_estimate(double point)
{
    return (gyre_estimate){point, point - 1, point + 1, 0.5};
}

/* 100, 102, ... ns in samples of 10 iterations, times `scale`. */
static inline gyre_result sample_flat(sample_run *s, size_t count, double scale)
{
    const double middle = (99 + (double)count) * scale;

    for (size_t i = 0; i < count; i++) {
        s->flat_ns[i] = (1000 + 20 * (double)i) * scale;
        s->flat_iterations[i] = 10;
    }
    return (gyre_result){
        .id = "channel/send/64",
        .suite = "flow",
        .axes = {{"bytes", NULL, 64}},
        .reason = "",
        .bytes = 64,
        .items = 1,
        .time = {middle,
                 {middle - 1, middle + 1.5, 0.95},
                 {count, false, s->flat_ns, s->flat_iterations, NULL, NULL}},
        .min_ns = 100 * scale,
        .max_ns = (98 + 2 * (double)count) * scale,
        .mean = sample_estimate(middle),
        .median = sample_estimate(middle),
        .std_dev = sample_estimate(2),
        .mad = sample_estimate(1.5),
    };
}

/* 1234567.5 ns in samples of 1, 2, ... iterations; slower than it was. */
static inline gyre_result sample_linear(sample_run *s, size_t count, double scale)
{
    const double ns = 1234567.5 * scale;

    for (size_t i = 0; i < count; i++) {
        s->linear_iterations[i] = i + 1;
        s->linear_ns[i] = ns * (double)(i + 1);
    }
    return (gyre_result){
        .id = "queue/push",
        .suite = "flow",
        .threads = 4,
        .reason = "",
        .warnings = {"the clock ticks every 40 ns", "7 of 10 samples lost time to other guests"},
        .warning_count = 2,
        .operations = 3,
        .time = {ns,
                 {ns - 100, ns + 56, 0.95},
                 {count, true, s->linear_ns, s->linear_iterations, NULL, NULL}},
        .min_ns = ns,
        .max_ns = ns,
        .mean = sample_estimate(ns),
        .median = sample_estimate(ns),
        .std_dev = sample_estimate(0),
        .mad = sample_estimate(0),
        .slope = sample_estimate(ns),
        .change = {"main", 0.25, 0.125, 0.5, 0.001, GYRE_VERDICT_REGRESSED},
    };
}

static inline void sample_run_init(sample_run *s, size_t count, double scale)
{
    s->results[0] = sample_flat(s, count, scale);
    s->results[1] = sample_linear(s, count, scale);
    s->results[2] = (gyre_result){.id = "queue/wrong",
                                  .suite = "flow",
                                  .outcome = GYRE_OUTCOME_FAILED,
                                  .reason = "popped \"3\", not 4\n\x1b[31m"};
    s->results[3] = (gyre_result){.id = "gpu/launch",
                                  .suite = "exec",
                                  .outcome = GYRE_OUTCOME_SKIPPED,
                                  .reason = "=HYPERLINK(\"http://x\")"};
    s->results[4] = (gyre_result){
        .id = "base/clock", .suite = "base", .outcome = GYRE_OUTCOME_CHECKED, .reason = ""};
    s->results[5] = (gyre_result){.id = "base/park",
                                  .suite = "base",
                                  .outcome = GYRE_OUTCOME_INTERRUPTED,
                                  .reason = "interrupted"};
    s->command[0] = "/opt/gyre";
    s->command[1] = "bench";
    s->run = (gyre_run){
        .version = "0.1.0",
        .build = "gcc 12.2.0, Release, sanitizers none",
        .started = 1700000000,
        .duration_s = 12.345,
        .command = s->command,
        .command_count = 2,
        .machine = {.cpu = "A CPU", .kernel = "6.1.0", .cpus = 2, .allowed_cpus = 2},
        .results = s->results,
        .count = SAMPLE_RESULTS,
        .capacity = SAMPLE_RESULTS,
    };
}

#endif
