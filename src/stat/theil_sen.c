/* SPDX-License-Identifier: Apache-2.0
 *
 * theil_sen: see theil_sen.h.
 */
#include "stat/theil_sen.h"

#include <math.h>

#include "base/alloc.h"
#include "base/fail.h"

static const double LEVEL = 0.95, NORMAL = 1.959963984540054; /* its quantile, both sides */

gyre_status gyre_stat_trend(const double *values, size_t count, double *out_slope,
                            gyre_interval *out_interval)
{
    const size_t skipped = count > GYRE_STAT_TREND_MOST ? count - GYRE_STAT_TREND_MOST : 0;
    const size_t n = count - skipped, pairs = n * (n - (n > 0)) / 2;
    const double half = NORMAL * sqrt((double)n * ((double)n - 1) * (2 * (double)n + 5) / 18);
    double *slopes, below, above;
    size_t used = 0;
    gyre_status status;
    void *block;

    *out_slope = 0;
    *out_interval = (gyre_interval){0};
    if (n < GYRE_STAT_TREND_LEAST)
        return gyre_fail(GYRE_INVALID, "a trend needs %d values, not %zu", GYRE_STAT_TREND_LEAST,
                         n);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[skipped + i]))
            return gyre_fail(GYRE_INVALID, "value %zu of a trend is not finite", skipped + i);
    status = gyre_alloc(NULL, pairs, sizeof slopes[0], &block);
    if (status != GYRE_OK)
        return status;
    slopes = block;
    for (size_t i = skipped; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            slopes[used++] = (values[j] - values[i]) / (double)(j - i);
    gyre_stat_sort(slopes, pairs);
    *out_slope = gyre_stat_quantile(slopes, pairs, 0.5);
    /* outwards: the (pairs - half) / 2 -th from below, the one after (pairs + half) / 2 above */
    below = floor(((double)pairs - half) / 2) - 1;
    above = ceil(((double)pairs + half) / 2);
    *out_interval = (gyre_interval){
        .low = slopes[below > 0 ? (size_t)below : 0],
        .high = slopes[above < (double)pairs ? (size_t)above : pairs - 1],
        .coverage = LEVEL,
    };
    gyre_free(NULL, block, pairs, sizeof slopes[0]);
    return GYRE_OK;
}
