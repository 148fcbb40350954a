/* SPDX-License-Identifier: Apache-2.0
 *
 * gate: whether a new version is within a policy, and what is to be said of each benchmark.
 *
 * A margin is crossed when the launches say so with Holm's method over all benchmarks at that
 * margin, and kept when the last look says so; else it is open. Counts are exact and compared as
 * they are. What was measured fails only when an independent repeat fails too.
 *
 * Threads   any; pure functions, but for memory.
 * Owns      the findings and their texts, until gyre_findings_destroy. Ids are borrowed from the
 *           measurement.
 * Not here  the policy's file (record/policy.h), exit statuses and annotations (apps/gyre/).
 */
#ifndef GYRE_RECORD_GATE_H
#define GYRE_RECORD_GATE_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/arena.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "record/ab.h"
#include "record/compare.h"
#include "record/policy.h"
#include "record/run.h"

/* From the gravest on. */
typedef enum gyre_finding_kind {
    GYRE_FINDING_FAIL = 0,
    GYRE_FINDING_WARN = 1,
    GYRE_FINDING_UNDECIDED = 2, /* whether it fails is open */
    GYRE_FINDING_NOTE = 3,      /* worse, but within the policy */
    GYRE_FINDINGS = 4,
} gyre_finding_kind;

typedef enum gyre_finding_about {
    GYRE_ABOUT_TIME = 0,
    GYRE_ABOUT_MEMORY = 1,
    GYRE_ABOUT_INSTRUCTIONS = 2,
    GYRE_ABOUT_OUTCOME = 3, /* it crashed, was wrong, was skipped */
    GYRE_ABOUT_MISSING = 4, /* one side lacks it */
} gyre_finding_about;

typedef struct gyre_finding {
    gyre_finding_kind kind;
    gyre_finding_about about;
    const char *id;
    const char *text;         /* one phrase: "12.00 % slower [11.87 12.13], fails above 10 %" */
    double change, low, high; /* of times and counts; 0 of the others */
    int counted;              /* which count it is about (gyre_ab_counted); -1 none */
    bool repeated;            /* an independent repeat was made, and is told in the text */
} gyre_finding;

typedef struct gyre_findings {
    gyre_finding *items; /* in the order of the benchmarks */
    size_t count, capacity;
    size_t gated; /* benchmarks that no rule ignores */
    gyre_arena arena;
} gyre_findings;

/* What the policy says of a measurement that was judged. GYRE_NO_MEMORY. */
GYRE_MUST_USE gyre_status gyre_gate_evaluate(const gyre_policy *policy, const gyre_ab *ab,
                                             gyre_findings **out_findings);

/* record/gate_runs.c: what it says of two runs of different times (record/compare.h), whose changes
 * are in `run`: times only, by their intervals, and nothing more than advice. */
GYRE_MUST_USE gyre_status gyre_gate_evaluate_runs(const gyre_policy *policy, const gyre_run *run,
                                                  const gyre_compared *compared,
                                                  gyre_findings **out_findings);

/* Keeps those failures that the repeat, evaluated by the same policy, found too, and those of
 * benchmarks that could not be measured again; what the repeat leaves open is undecided, and the
 * others become warnings. `repeat` is NULL when none could be made, and `why` says why: failures
 * stay then. What is missing, crashed or was wrong needs no repeat. */
GYRE_MUST_USE gyre_status gyre_gate_confirm(gyre_findings *findings, const gyre_findings *repeat,
                                            const char *why);

/* Ids, without doubles, of the failures that a repeat can confirm; at most `most`, how many there
 * are. Borrowed. */
size_t gyre_gate_doubtful(const gyre_findings *findings, const char **ids, size_t most);

size_t gyre_findings_count(const gyre_findings *findings, gyre_finding_kind kind);
void gyre_findings_destroy(gyre_findings *findings);

/* Whether the launches so far answer every margin of the benchmark, in a suite of `family`. */
bool gyre_gate_settled(const gyre_policy *policy, double alpha, const gyre_ab_bench *bench,
                       size_t family);

/* For gate_runs.c: one more, for which there is room, and the kind that a policy makes of it. */
gyre_finding *gyre_findings_add(gyre_findings *findings, gyre_finding_kind kind,
                                gyre_finding_about about, const char *id);
gyre_finding_kind gyre_finding_kind_by(gyre_policy_act act, gyre_finding_kind otherwise);

/* "+12.00 % [+11.87 +12.13]"; of counts without the interval. */
const char *gyre_finding_change(gyre_arena *arena, const gyre_finding *finding);

/* "fail", "warn", "undecided", "note"; "time", "memory", ... Borrowed, static. */
const char *gyre_finding_kind_name(gyre_finding_kind kind);
const char *gyre_finding_about_name(gyre_finding_about about);

#endif
