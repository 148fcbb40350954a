/* SPDX-License-Identifier: Apache-2.0
 *
 * theil_sen: by how much a series rises from one value to the next, and how sure one can be of it.
 *
 * The slope is the median of the slopes of all pairs (Theil, Sen), so that a quarter of the values
 * may be anything; its interval is made of two of those slopes (Sen, 1968), by Kendall's statistic,
 * which assumes nothing about the distribution. It assumes that values are independent of each
 * other but for the trend.
 *
 * Threads   any; pure.
 * Owns      nothing.
 * Not here  steps (divisive.h): a series with a step has a slope, and it means little.
 */
#ifndef GYRE_STAT_THEIL_SEN_H
#define GYRE_STAT_THEIL_SEN_H

#include <stddef.h>

#include "gyre/common.h"
#include "gyre/status.h"
#include "stat/order.h"

enum {
    GYRE_STAT_TREND_LEAST = 8,  /* values; with fewer no interval excludes anything */
    GYRE_STAT_TREND_MOST = 500, /* that are looked at, the last ones: pairs grow with the square */
};

/* The slope and its interval of 95 %. GYRE_INVALID for fewer values than the least, or one that is
 * not finite; GYRE_NO_MEMORY. */
GYRE_API GYRE_MUST_USE gyre_status gyre_stat_trend(const double *values, size_t count,
                                                   double *out_slope, gyre_interval *out_interval);

#endif
