/* SPDX-License-Identifier: Apache-2.0
 *
 * bootstrap: how far a figure would move if the measurement were repeated.
 *
 * A resample is drawn from the series in blocks of neighbours, so that what neighbours share stays
 * in it; values drawn one by one would pass for independent, and the interval of a drifting
 * benchmark would be several times too narrow. Blocks are circular: one that runs past the end
 * goes on at the beginning. So every value is drawn equally often, where blocks that stop at the
 * end would favour the middle of the series; the price is one false pair of neighbours. The last
 * block is cut to the size of the series. Intervals are percentiles of the figure over the
 * resamples. Blocks of 1 are the ordinary bootstrap.
 *
 * The same input and random state give the same bits.
 *
 * Threads   any; pure but for the random state.
 * Owns      nothing.
 * Not here  how long blocks should be (correlation.h).
 */
#ifndef GYRE_STAT_BOOTSTRAP_H
#define GYRE_STAT_BOOTSTRAP_H

#include <stddef.h>

#include "gyre/common.h"
#include "gyre/status.h"
#include "stat/random.h"

typedef struct gyre_estimate {
    double point;          /* of the series itself */
    double low, high;      /* the interval */
    double standard_error; /* standard deviation over the resamples */
} gyre_estimate;

typedef struct gyre_series {
    const double *values; /* in the order of time, finite */
    size_t count;         /* at least 1 */
    size_t block;         /* neighbours drawn together, from 1 to count */
} gyre_series;

typedef struct gyre_resampling {
    size_t resamples; /* at least 1; thousands for a steady interval */
    double level;     /* of the intervals, inside (0, 1) */
    gyre_stat_random *random;
} gyre_resampling;

typedef struct gyre_estimates {
    gyre_estimate mean, median, std_dev, median_abs_dev;
} gyre_estimates;

typedef struct gyre_change {
    gyre_estimate relative; /* 0.05: b is 5 % more than a */
    double p;               /* two-sided, never 0 */
} gyre_change;

/* All of them fail with GYRE_INVALID when the series or the resampling is not as said above, and
 * with GYRE_NO_MEMORY; what they give is all zero then. */

/* The four figures of moments.h and order.h, over the same resamples. */
GYRE_API GYRE_MUST_USE gyre_status gyre_stat_bootstrap(const gyre_series *series,
                                                       const gyre_resampling *how,
                                                       gyre_estimates *out_estimates);

/* The slope of regression.h through (iterations, times), pairs drawn together. */
GYRE_API GYRE_MUST_USE gyre_status gyre_stat_bootstrap_slope(const double *iterations,
                                                             const gyre_series *times,
                                                             const gyre_resampling *how,
                                                             gyre_estimate *out_slope);

/* median(b) / median(a) - 1, each side resampled on its own. p is twice the part of the resamples
 * on the rarer side of 0, those at 0 and one for the series itself included, and at most 1: it is
 * under 1 - level about when the interval excludes 0. GYRE_INVALID also unless all of a is
 * positive. */
GYRE_API GYRE_MUST_USE gyre_status gyre_stat_change(const gyre_series *a, const gyre_series *b,
                                                    const gyre_resampling *how,
                                                    gyre_change *out_change);

#endif
