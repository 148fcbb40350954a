/* SPDX-License-Identifier: Apache-2.0
 *
 * monitor_trend: where a series of samples is going.
 *
 * Threads   any; pure.
 * Owns      nothing.
 * Not here  statistics that are fit for judging benchmarks (stat/regression.h).
 */
#ifndef GYRE_EXEC_MONITOR_TREND_H
#define GYRE_EXEC_MONITOR_TREND_H

#include <stdint.h>

#include "gyre/monitor.h"

/* One sample: when, and what. */
typedef struct gyre_monitor_trend_point {
    uint64_t at_ns;
    double value;
} gyre_monitor_trend_point;

/* The least-squares line through the points, the oldest first, and when it meets `critical`, as
 * seen from the last point: 0 when it has. Not known when the points have no extent in time. */
gyre_monitor_trend
gyre_monitor_trend_fit(const gyre_monitor_trend_point points[GYRE_MONITOR_TREND_SAMPLES],
                       double critical);

#endif
