/* SPDX-License-Identifier: Apache-2.0
 *
 * order: quantiles of a sample, and how sure one can be of them.
 *
 * The interval of a quantile is made of two order statistics and assumes nothing about the
 * distribution: that the true quantile lies between the i-th and the j-th of n values has a
 * binomial probability. It assumes that values are independent of each other.
 *
 * Threads   any; pure.
 * Owns      nothing.
 */
#ifndef GYRE_STAT_ORDER_H
#define GYRE_STAT_ORDER_H

#include <stddef.h>

#include "gyre/common.h"

typedef struct gyre_interval {
    double low, high;
    double coverage; /* the probability it really has; below the one asked for in small samples */
} gyre_interval;

/* Ascending, in place. Values must not be NaN. */
GYRE_API void gyre_stat_sort(double *values, size_t count);

/* How many values of a sorted sample are smaller than `value`. */
size_t gyre_stat_rank(const double *sorted, size_t count, double value);

/* Quantile `p` in [0, 1] of a sorted sample of at least one value, interpolated linearly. */
GYRE_API double gyre_stat_quantile(const double *sorted, size_t count, double p);

/* Two order statistics around quantile `p` in (0, 1), no more than (1 - level) / 2 outside on each
 * side; the whole sample when it is too small for that. */
GYRE_API gyre_interval gyre_stat_quantile_interval(const double *sorted, size_t count, double p,
                                                   double level);

#endif
