/* SPDX-License-Identifier: Apache-2.0
 *
 * trend: see trend.h.
 */
#include "record/trend.h"

#include <math.h>

#include "base/fail.h"
#include "stat/divisive.h"
#include "stat/theil_sen.h"

_Static_assert((int)GYRE_TREND_LEAST == (int)GYRE_STAT_TREND_LEAST, "as documented");

static gyre_status find_changes(const double *logs, size_t count, gyre_arena *arena,
                                gyre_trend *trend)
{
    gyre_change_point *points = gyre_arena_array(arena, count, sizeof points[0]);
    size_t found = 0;
    gyre_status status;

    if (!points)
        return gyre_fail(GYRE_NO_MEMORY, "out of memory for the changes of a series");
    status = gyre_stat_change_points(logs, count, NULL, points, count, &found);
    if (status != GYRE_OK || found == 0)
        return status;
    trend->changes = gyre_arena_array(arena, found, sizeof trend->changes[0]);
    if (!trend->changes)
        return gyre_fail(GYRE_NO_MEMORY, "out of memory for the changes of a series");
    trend->change_count = found;
    for (size_t i = 0; i < found; i++)
        trend->changes[i] = (gyre_trend_change){
            .index = points[i].index,
            .before_ns = exp(points[i].before),
            .after_ns = exp(points[i].after),
            .ratio = expm1(points[i].after - points[i].before),
            .p = points[i].p,
        };
    trend->since = points[found - 1].index;
    return GYRE_OK;
}

gyre_status gyre_trend_find(const gyre_history_points *series, gyre_arena *arena,
                            gyre_trend *out_trend)
{
    const size_t count = series->count;
    gyre_interval interval;
    gyre_status status;
    double *logs, slope;

    *out_trend = (gyre_trend){0};
    if (count == 0)
        return GYRE_OK;
    logs = gyre_arena_array(arena, count, sizeof logs[0]);
    if (!logs)
        return gyre_fail(GYRE_NO_MEMORY, "out of memory for a series");
    for (size_t i = 0; i < count; i++)
        logs[i] = log(series->point[i].median_ns);
    status = find_changes(logs, count, arena, out_trend);
    if (status == GYRE_OK && count - out_trend->since >= GYRE_TREND_LEAST) {
        status =
            gyre_stat_trend(logs + out_trend->since, count - out_trend->since, &slope, &interval);
        if (status == GYRE_OK) {
            out_trend->known = true;
            out_trend->drift = expm1(slope);
            out_trend->low = expm1(interval.low);
            out_trend->high = expm1(interval.high);
        }
    }
    if (status != GYRE_OK)
        *out_trend = (gyre_trend){0};
    return status;
}
