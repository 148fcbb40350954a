/* SPDX-License-Identifier: Apache-2.0
 *
 * outlier: see outlier.h.
 */
#include "stat/outlier.h"

#include "stat/order.h"

static gyre_fences fences_of(const double *sorted, size_t count)
{
    const double first = gyre_stat_quantile(sorted, count, 0.25);
    const double third = gyre_stat_quantile(sorted, count, 0.75);
    const double between = third - first;

    return (gyre_fences){
        .low_severe = first - 3 * between,
        .low_mild = first - 1.5 * between,
        .high_mild = third + 1.5 * between,
        .high_severe = third + 3 * between,
    };
}

gyre_outliers gyre_stat_outliers(const double *sorted, size_t count)
{
    gyre_outliers out = {0};

    if (count == 0)
        return out;
    out.fences = fences_of(sorted, count);
    for (size_t i = 0; i < count; i++) {
        if (sorted[i] < out.fences.low_severe)
            out.low_severe++;
        else if (sorted[i] < out.fences.low_mild)
            out.low_mild++;
        else if (sorted[i] > out.fences.high_severe)
            out.high_severe++;
        else if (sorted[i] > out.fences.high_mild)
            out.high_mild++;
    }
    return out;
}
