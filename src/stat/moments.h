/* SPDX-License-Identifier: Apache-2.0
 *
 * moments: where a sample lies and how wide it is, in one number each.
 *
 * Values must be finite. Equal values give their own value as mean and exactly 0 as width, however
 * many there are. Without values everything is 0.
 *
 * Threads   any; pure.
 * Owns      nothing.
 * Not here  the median (order.h), how sure one can be of these (bootstrap.h).
 */
#ifndef GYRE_STAT_MOMENTS_H
#define GYRE_STAT_MOMENTS_H

#include <stddef.h>

#include "gyre/common.h"

GYRE_API double gyre_stat_mean(const double *values, size_t count);

/* Standard deviation with the divisor count - 1; 0 for a single value. */
GYRE_API double gyre_stat_std_dev(const double *values, size_t count);

/* Median distance from the median times 1.4826, which makes it the standard deviation where values
 * are normally distributed; half of them may be outliers. The sample is sorted. */
double gyre_stat_median_abs_dev(const double *sorted, size_t count);

/* Standard deviation as a part of the mean's size; infinite when only the mean is 0. */
GYRE_API double gyre_stat_variation(const double *values, size_t count);

#endif
