/* SPDX-License-Identifier: Apache-2.0
 *
 * monitor_trend: a line through ten samples. See monitor_trend.h.
 *
 * A warning that comes too often is read by nobody, so a line counts as rising only when it is
 * like the samples: over the window it climbs by more than twice their scatter around it, and the
 * climb is no single step, which is what an allocation looks like.
 */
#include "exec/monitor_trend.h"

#include <math.h>

#include "gyre/clock.h"

enum { COUNT = GYRE_MONITOR_TREND_SAMPLES, RISES = 3 };

gyre_monitor_trend
gyre_monitor_trend_fit(const gyre_monitor_trend_point points[GYRE_MONITOR_TREND_SAMPLES],
                       double critical)
{
    const uint64_t last_ns = points[COUNT - 1].at_ns;
    double at[COUNT], mean_at = 0, mean = 0, aa = 0, av = 0, vv = 0;
    gyre_monitor_trend trend = {.critical_in_ns = GYRE_NEVER};
    double slope, now, scatter, seconds;
    int rises = 0;

    for (int i = 0; i < COUNT; i++) {
        at[i] = -((double)last_ns - (double)points[i].at_ns) / 1e9;
        mean_at += at[i] / COUNT;
        mean += points[i].value / COUNT;
        rises += i > 0 && points[i].value > points[i - 1].value;
    }
    for (int i = 0; i < COUNT; i++) {
        aa += (at[i] - mean_at) * (at[i] - mean_at);
        av += (at[i] - mean_at) * (points[i].value - mean);
        vv += (points[i].value - mean) * (points[i].value - mean);
    }
    if (!(aa > 0))
        return trend;
    slope = av / aa;
    now = mean - slope * mean_at; /* the line at the last sample, which is time 0 */
    scatter = sqrt(fmax(vv - slope * av, 0) / (COUNT - 2));
    trend.known = 1;
    trend.per_second = slope;
    trend.rising = rises >= RISES && slope * -at[0] > 2 * scatter;
    if (now >= critical) {
        trend.critical_in_ns = 0;
    } else if (slope > 0) {
        seconds = (critical - now) / slope;
        if (seconds < 1e9) /* 30 years are never */
            trend.critical_in_ns = (uint64_t)(seconds * 1e9);
    }
    return trend;
}
