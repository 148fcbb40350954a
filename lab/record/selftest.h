/* SPDX-License-Identifier: Apache-2.0
 *
 * selftest: how often the judge of this machine is right, and the file of it (gyre.selftest/1,
 * docs/formats/selftest.md).
 *
 * A trial lets the judge compare two programs whose difference is known: none at all, real work
 * more, or the same code at other addresses. When it says slower or faster, it is asked once more,
 * and only what it says twice counts. A row is many trials of one kind on one workload.
 *
 * Figures and targets follow from the trials.
 *
 * Threads   one.
 * Owns      its trials and texts.
 * Not here  taking trials (main/selftest.h), printing (report/selftest_table.h), whether a gate may
 *           rely on it (record/trust.h).
 */
#ifndef GYRE_RECORD_SELFTEST_H
#define GYRE_RECORD_SELFTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/arena.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "record/attainment.h"
#include "record/judge.h"
#include "record/run.h"

typedef enum gyre_selftest_workload {
    GYRE_SELFTEST_ALU = 0,
    GYRE_SELFTEST_MEMORY = 1,
    GYRE_SELFTEST_WORKLOADS = 2,
} gyre_selftest_workload;

/* How the two programs differ. */
typedef enum gyre_selftest_kind {
    GYRE_SELFTEST_SAME = 0, /* not at all: A/A */
    GYRE_SELFTEST_1 = 1,    /* 1 % more work */
    GYRE_SELFTEST_2 = 2,
    GYRE_SELFTEST_5 = 3,
    GYRE_SELFTEST_RELINKED = 4, /* by a function that nobody calls */
    GYRE_SELFTEST_KINDS = 5,
} gyre_selftest_kind;

typedef enum gyre_selftest_mode {
    GYRE_SELFTEST_QUICK = 0,
    GYRE_SELFTEST_FULL = 1,
    GYRE_SELFTEST_CUSTOM = 2, /* as many trials of each row as somebody wanted */
} gyre_selftest_mode;

enum {
    GYRE_SELFTEST_ROWS = GYRE_SELFTEST_WORKLOADS * GYRE_SELFTEST_KINDS,
    GYRE_SELFTEST_MOST = 10000,        /* trials of a row */
    GYRE_SELFTEST_PARTS = 10000,       /* in which extra work is told */
    GYRE_SELFTEST_TARGETS = 2 * 7 + 1, /* seven of each workload, and the time of all */
};

/* The first measurement, and what became of its verdict. */
typedef struct gyre_selftest_trial {
    size_t row;
    uint64_t seed;
    gyre_ab_verdict verdict;
    bool repeated;          /* it was slower or faster, so there is a second measurement, with */
    gyre_ab_verdict second; /* this verdict; else undecided */
    double change, sd, mde; /* see gyre_judgement */
    size_t launches;
    double seconds; /* until the first verdict */
} gyre_selftest_trial;

/* What was counted to show that the extra work is there. */
typedef struct gyre_selftest_proof {
    bool known;
    double old_value, new_value; /* instructions of one iteration */
    const char *reason;          /* why it is not known; "" */
} gyre_selftest_proof;

typedef struct gyre_selftest_row {
    gyre_selftest_workload workload;
    gyre_selftest_kind kind;
    size_t planned, count; /* trials to be, and that were */
    gyre_selftest_proof proof;
} gyre_selftest_row;

typedef struct gyre_selftest {
    gyre_run *head; /* version, build, time, command, settings, machine; without results */
    gyre_selftest_mode mode;
    uint64_t seed;
    gyre_rule rule;
    gyre_selftest_row rows[GYRE_SELFTEST_ROWS];
    gyre_selftest_trial *trials;
    size_t count, capacity;
    double *scratch;  /* room for a number of each trial */
    gyre_arena arena; /* texts of the proofs */
} gyre_selftest;

/* How often something happened, and between what its frequency is: each bound is exact, one-sided,
 * of 95 %. */
typedef struct gyre_selftest_share {
    size_t hits, trials;
    double share, low, high; /* 0 without trials, from 0 to 1 */
} gyre_selftest_share;

/* What a row shows. The numbers are 0 without trials. */
typedef struct gyre_selftest_figures {
    size_t trials;
    gyre_selftest_share found; /* confirmed: slower; slower or faster where nothing was added */
    gyre_selftest_share equivalent, undecided, unconfirmed; /* by the first verdict */
    size_t wrong;                                           /* confirmed faster, with extra work */
    double change, change_sd; /* median of the estimates, and their standard deviation */
    double mde, mde_largest;  /* median, largest */
    double seconds, seconds_largest, launches;
} gyre_selftest_figures;

typedef enum gyre_selftest_unit {
    GYRE_SELFTEST_SHARE = 0,  /* of trials */
    GYRE_SELFTEST_CHANGE = 1, /* relative: 0.05 is 5 % */
    GYRE_SELFTEST_SECONDS = 2,
} gyre_selftest_unit;

/* One of the promises, and whether it was kept. GYRE_ATTAINED_UNCLEAR: too few trials to say;
 * GYRE_ATTAINED_NOT_MEASURED: none at all, or not proved. */
typedef struct gyre_selftest_target {
    const char *workload; /* "judge/alu"; "" for all of it */
    const char *what;     /* a phrase; static */
    gyre_selftest_unit unit;
    bool at_least;             /* else at most */
    double limit, value;       /* a limit of 0: none */
    double bound_limit;        /* of a share's upper bound; 0 none */
    gyre_selftest_share share; /* where it is one */
    gyre_attained attained;
} gyre_selftest_target;

/* One without trials, its rows planned by the mode: `trials` of each in GYRE_SELFTEST_CUSTOM, 1 to
 * GYRE_SELFTEST_MOST. The head is its own from now on, also when it fails: GYRE_NO_MEMORY. */
GYRE_MUST_USE gyre_status gyre_selftest_create(gyre_selftest_mode mode, size_t trials,
                                               gyre_run *head, gyre_selftest **out_selftest);
void gyre_selftest_destroy(gyre_selftest *selftest);

/* Rows in the order in which their trials are taken, one for each that is planned: random, by the
 * seed, so that a bad quarter of an hour does not fall on one row alone. */
void gyre_selftest_order(const gyre_selftest *selftest, size_t *rows);

/* There is room for as many as are planned. */
void gyre_selftest_add(gyre_selftest *selftest, const gyre_selftest_trial *trial);

/* Whether both measurements said the same. */
bool gyre_selftest_confirmed(const gyre_selftest_trial *trial);

gyre_selftest_figures gyre_selftest_figure(const gyre_selftest *selftest, size_t row);

/* record/selftest_targets.c: every promise. */
void gyre_selftest_judge(const gyre_selftest *selftest,
                         gyre_selftest_target targets[GYRE_SELFTEST_TARGETS]);

/* Whether all trials of a full one were taken. */
bool gyre_selftest_full(const gyre_selftest *selftest);

/* Whether none was missed. */
bool gyre_selftest_passed(const gyre_selftest_target targets[GYRE_SELFTEST_TARGETS]);

/* Whether all the extra work was counted, and is what it should be. */
bool gyre_selftest_proved(const gyre_selftest *selftest);

/* record/selftest_write.c: all of it as JSON. Errors stay in the stream. */
void gyre_selftest_write(const gyre_selftest *selftest, FILE *stream);

/* Replaces `path`, whole or not at all. GYRE_IO with the reason. */
GYRE_MUST_USE gyre_status gyre_selftest_save(const gyre_selftest *selftest, const char *path);

/* Keeps it as FOLDER/selftest.json and, when it is full, where all projects of this user find it
 * (record/trust.h), if there is such a place. GYRE_IO, GYRE_INVALID for a path that is too long. */
GYRE_MUST_USE gyre_status gyre_selftest_keep(const gyre_selftest *selftest, const char *folder);

/* Parts of GYRE_SELFTEST_PARTS that are added. */
unsigned gyre_selftest_extra(gyre_selftest_kind kind);

/* "A/A", "+1 %", "relinked"; "judge/alu"; "quick". Borrowed, static. */
const char *gyre_selftest_kind_name(gyre_selftest_kind kind);
const char *gyre_selftest_workload_name(gyre_selftest_workload workload);
const char *gyre_selftest_mode_name(gyre_selftest_mode mode);

#endif
