/* SPDX-License-Identifier: Apache-2.0
 *
 * ab: measures two versions side by side.
 *
 * Both commands are asked what they have. Programs built with the lab list their benchmarks; each
 * launch is then a fresh pair of processes on one CPU set that pass a baton (bench/baton.h). Any
 * other command is executed, in turn with the other, and one execution is one sample. Benchmarks
 * take turns too, launch by launch, until each is settled, has had its launches, or its time.
 *
 * Threads   one.
 * Owns      the processes it starts, for as long as it runs.
 * Not here  what the launches say (record/judge.h), one pair (main/pair.h).
 */
#ifndef GYRE_MAIN_AB_H
#define GYRE_MAIN_AB_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/topology.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "record/ab.h"

/* Zero means default, everywhere. */
typedef struct gyre_ab_request {
    const char *commands[2]; /* old and new: a program's path, or words (main/program.h) */
    const char *const *patterns, *const *skip; /* see bench/filter.h */
    size_t pattern_count, skip_count;
    bool exact;
    gyre_rule rule;      /* default 0.01, 0.01 */
    uint64_t seed;       /* 0: one is drawn, and recorded */
    uint64_t limit_ns;   /* for each benchmark, both sides; default 16 s, 60 s for commands */
    uint64_t timeout_ns; /* longest without a sign of life; default 60 s */
    bool plain_commands; /* execute them as commands, even if they are built with the lab */
    bool memory, instructions;
    const gyre_cpu_set *cpus; /* that both may run on; NULL: all allowed */
    bool again;               /* an independent repeat: benchmarks that the other side lacks are
                               * not mentioned */

    /* Told which benchmarks were chosen, before any is measured; what it returns ends it. NULL:
     * nobody. */
    gyre_status (*chosen)(void *user, const gyre_ab *ab);

    /* Whether the launches so far are enough, in a suite of `family`; asked at each look. NULL: by
     * the rule. */
    bool (*settled)(void *user, const gyre_ab_bench *bench, size_t family);
    void *user;

    FILE *progress; /* a line is drawn there when it is a terminal; NULL: none */
    const volatile sig_atomic_t *interrupted; /* NULL: never */
} gyre_ab_request;

/* Measures into an empty `ab`, and judges. What fails, crashes or hangs is an outcome of its
 * benchmark. GYRE_INVALID for a command that cannot be understood or two that cannot be compared,
 * GYRE_NOT_FOUND when no benchmark is on both sides or wanted, GYRE_IO when a command cannot be
 * started, GYRE_UNAVAILABLE when one hangs, GYRE_CORRUPT when its list makes no sense or a program
 * was changed meanwhile, GYRE_NO_MEMORY. An interrupt is no failure: what was measured until then
 * is there, and ab->head->interrupted says so. */
GYRE_MUST_USE gyre_status gyre_ab_measure(const gyre_ab_request *request, gyre_ab *ab);

#endif
