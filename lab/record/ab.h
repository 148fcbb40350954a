/* SPDX-License-Identifier: Apache-2.0
 *
 * ab: two versions measured side by side, and the file of it (gyre.ab/1, docs/formats/ab.md).
 *
 * It holds the evidence, which is every pair of every launch with the seeds and the environment,
 * and the judgements, which follow from the evidence: gyre_ab_judge makes them, from a fresh
 * measurement and from a file alike.
 *
 * Threads   one.
 * Owns      its benchmarks, texts and arrays.
 * Not here  measuring (main/ab.h), the statistics (record/judge.h), printing (report/verdicts.h).
 */
#ifndef GYRE_RECORD_AB_H
#define GYRE_RECORD_AB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/arena.h"
#include "bench/result.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "record/judge.h"
#include "record/run.h"

/* One fresh pair of processes. The i-th pair took old_ns[i] and new_ns[i], for the same number of
 * iterations. */
typedef struct gyre_ab_launch {
    uint64_t seed;
    uint64_t iterations; /* in each time; 1 for commands */
    int cpu;             /* that both ran on; -1: several, or any */
    size_t pairs;        /* 1 to GYRE_JUDGE_PAIRS */
    const char *order; /* "ABBABAAB...": whose turn it was, two letters a pair; A is the old one */
    double *old_ns, *new_ns; /* above 0, finite */
    uint64_t steal_ticks;    /* taken by the hypervisor meanwhile */
} gyre_ab_launch;

/* What was counted once on each side. */
typedef struct gyre_ab_count {
    bool known;
    double old_value, new_value;
} gyre_ab_count;

typedef enum gyre_ab_counted {
    GYRE_AB_PEAK_RSS = 0,    /* bytes */
    GYRE_AB_ALLOCATIONS = 1, /* of one iteration */
    GYRE_AB_ALLOCATED = 2,   /* bytes, of one iteration */
    GYRE_AB_INSTRUCTIONS = 3,
    GYRE_AB_COUNTS = 4,
} gyre_ab_counted;

typedef struct gyre_ab_bench {
    const char *id;
    const char *clock; /* "host", or the name of the suite's own clock */
    uint32_t threads;
    gyre_outcome outcome; /* MEASURED, FAILED, SKIPPED or INTERRUPTED */
    int side;             /* whose doing that was: 0 old, 1 new; -1 nobody's */
    const char *reason;   /* names the side and the launch: "new, launch 17: was killed by ..." */
    const char *last_words;
    gyre_ab_launch launches[GYRE_JUDGE_LAUNCHES];
    size_t launch_count;
    double spent_s; /* on both sides */
    gyre_ab_count counts[GYRE_AB_COUNTS];
    const char *warnings[GYRE_RESULT_WARNINGS];
    size_t warning_count;
    gyre_judgement judgement; /* when measured */
} gyre_ab_bench;

/* One of the two versions. */
typedef struct gyre_ab_side {
    const char *command;    /* as given */
    const char *path;       /* of the program that it starts */
    uint64_t program_bytes; /* its size, and */
    uint64_t program_hash;  /* gyre_hash64 of its bytes: whether it is the same file */
} gyre_ab_side;

typedef struct gyre_ab {
    gyre_run *head; /* version, build, time, command, settings, machine; without results */
    gyre_ab_side sides[2];
    bool lock_step; /* else one execution of a command is one sample */
    bool again;     /* an independent repeat, to confirm another measurement */
    uint64_t seed;
    gyre_rule rule;
    gyre_ab_bench *benches;
    size_t count, capacity;
    const char **only_old, **only_new; /* ids that the other side does not have */
    size_t only_old_count, only_new_count;
    gyre_arena arena; /* every text and array above */
} gyre_ab;

/* An empty one with this machine and this moment in its head. */
GYRE_MUST_USE gyre_status gyre_ab_create(int argc, char *const *argv, gyre_ab **out_ab);

/* An empty one of nowhere and no time: for readers. */
GYRE_MUST_USE gyre_status gyre_ab_create_blank(gyre_ab **out_ab);

/* Makes room for the benchmarks, once. */
GYRE_MUST_USE gyre_status gyre_ab_reserve(gyre_ab *ab, size_t capacity);

/* The next one, of that id; there is room for it. */
gyre_ab_bench *gyre_ab_add(gyre_ab *ab, const char *id);

/* Room for a launch's pairs in its benchmark, not yet counted in. NULL without memory. */
gyre_ab_launch *gyre_ab_launch_begin(gyre_ab *ab, gyre_ab_bench *bench, size_t pairs);

/* The words of its launches (record/judge.h), into `words`; how many. */
size_t gyre_ab_words(const gyre_ab_bench *bench, double words[GYRE_JUDGE_LAUNCHES]);

/* What one iteration of the old version takes: the median of its launches' medians. There is none
 * of the new one, because it would not agree with the change, which was found pair by pair. */
double gyre_ab_old_ns(const gyre_ab_bench *bench);

/* Makes every judgement anew from the launches; every benchmark counts in the suite. */
GYRE_MUST_USE gyre_status gyre_ab_judge(gyre_ab *ab);

void gyre_ab_destroy(gyre_ab *ab);

/* record/ab_write.c: all of it as JSON. Errors stay in the stream. */
void gyre_ab_write(const gyre_ab *ab, FILE *stream);

/* Replaces `path`, whole or not at all. GYRE_IO with the reason. */
GYRE_MUST_USE gyre_status gyre_ab_save(const gyre_ab *ab, const char *path);

/* record/ab_read.c: as gyre_run_read. Judgements are those of the file, unchecked. */
GYRE_MUST_USE gyre_status gyre_ab_read(const char *path, gyre_ab **out_ab);
GYRE_MUST_USE gyre_status gyre_ab_parse(const char *bytes, size_t length, const char *name,
                                        gyre_ab **out_ab);

/* "peak_rss_bytes", "allocations", "allocated_bytes", "instructions". Borrowed, static. */
const char *gyre_ab_counted_name(gyre_ab_counted counted);

/* Whether two judgements are the same to the last bit. */
bool gyre_judgement_same(const gyre_judgement *a, const gyre_judgement *b);

#endif
