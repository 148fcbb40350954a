/* SPDX-License-Identifier: Apache-2.0
 *
 * regression: the time of one iteration, as the slope of a line through the origin.
 *
 * A sample of no iterations takes no time, so the line has no constant term: slope = sum(xy) /
 * sum(xx), least squares over (iterations, time). Longer samples weigh more.
 *
 * Threads   any; pure.
 * Owns      nothing.
 * Not here  how sure one can be of the slope (bootstrap.h).
 */
#ifndef GYRE_STAT_REGRESSION_H
#define GYRE_STAT_REGRESSION_H

#include <stddef.h>

#include "gyre/common.h"

/* 0 without values or when every x is 0. Values must be finite. */
double gyre_stat_slope(const double *x, const double *y, size_t count);

#endif
