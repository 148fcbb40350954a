/* SPDX-License-Identifier: Apache-2.0
 *
 * result: what came of one case, wherever it was measured: here, in a worker process, or in the run
 * that a file remembers.
 *
 * A result stands on its own: it borrows nothing from the table that declared the benchmark. Texts
 * and arrays belong to it and go with it. Members are those of docs/formats/run.md.
 *
 * Threads   one at a time.
 * Owns      everything it points to, until gyre_result_fini.
 * Not here  measuring (bench/measure.h), judging samples (bench/analyse.h), JSON (record/).
 */
#ifndef GYRE_BENCH_RESULT_H
#define GYRE_BENCH_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "bench/arena.h"
#include "gyre/bench.h"
#include "gyre/common.h"
#include "stat/bootstrap.h"
#include "stat/order.h"
#include "stat/outlier.h"

enum { GYRE_RESULT_QUANTILES = 4, GYRE_RESULT_FACTS = 32, GYRE_RESULT_WARNINGS = 8 };

typedef enum gyre_outcome {
    GYRE_OUTCOME_MEASURED = 0,
    GYRE_OUTCOME_CHECKED = 1,     /* run once: its answer was right */
    GYRE_OUTCOME_FAILED = 2,      /* the reason says how */
    GYRE_OUTCOME_SKIPPED = 3,     /* the machine lacks something; the reason says what */
    GYRE_OUTCOME_INTERRUPTED = 4, /* the user stopped it; nothing was judged */
} gyre_outcome;

/* Samples in the order they were taken. */
typedef struct gyre_samples {
    size_t count;
    bool linear;           /* the k-th sample has k times the first's iterations; else all alike */
    double *times_ns;      /* of each whole sample */
    uint64_t *iterations;  /* in each sample */
    uint32_t *steal_ticks; /* taken by the hypervisor meanwhile; NULL when not known */
    uint32_t *switches;    /* times the thread lost its CPU; NULL when not known */
} gyre_samples;

/* A figure: the median time of one iteration, its interval, and where it came from. */
typedef struct gyre_figure {
    double median_ns;
    gyre_interval ns;
    gyre_samples samples;
} gyre_figure;

typedef struct gyre_result_axis {
    const char *name; /* NULL: unused */
    const char *word; /* NULL: the value is a number */
    int64_t value;
} gyre_result_axis;

typedef struct gyre_fact {
    const char *name;
    const char *text; /* NULL: `number` */
    double number;
} gyre_fact;

struct gyre_bench_facts {
    struct gyre_result *owner;
    size_t count;
    gyre_fact fact[GYRE_RESULT_FACTS];
};

typedef struct gyre_latency {
    size_t count; /* calls; 0: not measured */
    double *calls_ns;
    double rate_hz; /* 0: closed loop, each call follows the one before */
    struct {
        double p, ns;
        gyre_interval interval;
    } quantile[GYRE_RESULT_QUANTILES];
    size_t quantile_count;
    double max_ns;
} gyre_latency;

typedef enum gyre_verdict {
    GYRE_VERDICT_NONE = 0,  /* no change was detected */
    GYRE_VERDICT_NOISE = 1, /* a change, but within the noise threshold */
    GYRE_VERDICT_IMPROVED = 2,
    GYRE_VERDICT_REGRESSED = 3,
} gyre_verdict;

/* Against a baseline: 0.05 is 5 % slower. */
typedef struct gyre_comparison {
    const char *baseline; /* NULL: not compared */
    double point, low, high, p;
    gyre_verdict verdict;
} gyre_comparison;

/* Against a case whose samples were taken in turns with these, of as many iterations each. */
typedef struct gyre_ratio {
    const char *id;        /* NULL: there was none */
    double *times_ns;      /* of the other's samples */
    gyre_estimate times;   /* how many times as long an iteration takes: the median of the pairs, */
    gyre_estimate more_ns; /* and how much longer */
} gyre_ratio;

typedef struct gyre_result {
    const char *id, *suite, *t0, *t1, *observer;
    gyre_result_axis axes[GYRE_BENCH_AXES];
    uint32_t tags;    /* GYRE_TAG_... */
    uint32_t threads; /* 0 and 1: one */
    time_t started;
    gyre_outcome outcome;
    const char *reason;     /* one sentence; "" when measured or checked */
    const char *last_words; /* "" when there are none */
    const char *warnings[GYRE_RESULT_WARNINGS];
    size_t warning_count;
    uint64_t bytes, items, operations; /* of one iteration; 0 when not declared */
    gyre_bench_facts facts;

    gyre_figure time; /* host time; without samples unless measured */
    double min_ns, max_ns;
    gyre_estimate mean, median, std_dev, mad, slope; /* slope only where sampling was linear */
    double autocorrelation;                          /* in samples; 1 when independent */
    size_t block;                                    /* resampled at once */
    gyre_outliers outliers;

    const char *device_clock; /* NULL: none; cold is without samples when it cannot flush */
    gyre_figure cold, hot;
    gyre_latency latency;
    gyre_ratio beside;
    struct {
        uint64_t peak_rss_bytes;             /* 0: not measured */
        bool counted;                        /* the next two are known */
        double allocations, allocated_bytes; /* of one iteration */
    } memory;
    struct {
        const char *source; /* NULL: not counted */
        double per_iteration, cycles;
    } instructions;
    gyre_comparison change;

    gyre_arena arena; /* every text and array above */
} gyre_result;

/* `(gyre_result){0}` is a result of nothing, whose texts are NULL. */

/* The figure that rates are of: the device's own time in a batch, where there is one. */
const gyre_figure *gyre_result_work_time(const gyre_result *result);

/* Room for `count` samples; false when there is no memory. */
GYRE_MUST_USE bool gyre_samples_init(gyre_result *result, gyre_samples *samples, size_t count);

void gyre_result_warn(gyre_result *result, const char *format, ...) GYRE_PRINTF(2, 3);
void gyre_result_fini(gyre_result *result);

/* "measured", "failed", ...; "none", "noise", ... Borrowed, static. */
const char *gyre_outcome_name(gyre_outcome outcome);
const char *gyre_verdict_name(gyre_verdict verdict);
const char *gyre_tag_name(uint32_t tag);

#endif
