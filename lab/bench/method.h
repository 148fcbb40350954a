/* SPDX-License-Identifier: Apache-2.0
 *
 * method: how a case is to be measured. Plain data, recorded in the run file.
 *
 * Threads   none; values.
 */
#ifndef GYRE_BENCH_METHOD_H
#define GYRE_BENCH_METHOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/bench.h"
#include "gyre/common.h"

enum { GYRE_LEAST_SAMPLES = 10, GYRE_MOST_SAMPLES = 100000, GYRE_MOST_CALLS = 20000 };

typedef enum gyre_sampling {
    GYRE_SAMPLING_AUTO = 0,   /* linear, unless that would take twice the measurement time */
    GYRE_SAMPLING_LINEAR = 1, /* the k-th sample has k times the iterations of the first */
    GYRE_SAMPLING_FLAT = 2,   /* every sample has the same number of iterations */
} gyre_sampling;

/* What is wanted of a case. Counting disturbs timing, so each is a visit of its own. */
typedef enum gyre_purpose {
    GYRE_PURPOSE_TIME = 0,
    GYRE_PURPOSE_CHECK = 1,        /* run one iteration and check the answer */
    GYRE_PURPOSE_PROFILE = 2,      /* run for profile_ns, for a profiler that watches */
    GYRE_PURPOSE_MEMORY = 3,       /* peak and allocations */
    GYRE_PURPOSE_INSTRUCTIONS = 4, /* by hardware counters, or for callgrind to count */
    GYRE_PURPOSE_LIST = 5,         /* say which cases there are, and run none */
    GYRE_PURPOSE_TURNS = 6,        /* run in turns with another version of the program */
} gyre_purpose;

/* Zero means default, everywhere. */
typedef struct gyre_method {
    gyre_purpose purpose;
    gyre_sampling sampling;
    size_t sample_count;     /* default 100, at least 10 */
    uint64_t warm_up_ns;     /* default 1 s */
    uint64_t measurement_ns; /* default 3 s */
    double precision;        /* sample on until the interval is within this share either side of the
                              * median, at most ten times the measurement time; 0: do not */
    double confidence;       /* of the intervals; default 0.95 */
    size_t resamples;        /* of the bootstrap; default 10000 */
    double noise_threshold;  /* changes below it are noise; default 0.01 */
    double significance;     /* of a change; default 0.05 */
    uint64_t seed;           /* of resampling and of random order */
    bool latency;            /* time every call */
    double rate_hz;          /* of calls, by intended start times; 0: one after another */
    uint64_t profile_ns;
    gyre_health skip_when; /* the guard's word at which cases are skipped; default critical */
} gyre_method;

/* The method with every default filled in. */
gyre_method gyre_method_defaults(const gyre_method *method);

/* "auto", "linear", "flat". Borrowed, static. */
const char *gyre_sampling_name(gyre_sampling sampling);

#endif
