/* SPDX-License-Identifier: Apache-2.0
 *
 * regression: see regression.h.
 */
#include "stat/regression.h"

double gyre_stat_slope(const double *x, const double *y, size_t count)
{
    double xx = 0, xy = 0;

    for (size_t i = 0; i < count; i++) {
        xx += x[i] * x[i];
        xy += x[i] * y[i];
    }
    return xx > 0 ? xy / xx : 0;
}

/* From the residuals: in a good fit the shorter (sum xy)^2 / (sum xx * sum yy) loses to rounding
 * all that tells it from 1, and may exceed it. */
double gyre_stat_r_squared(const double *x, const double *y, size_t count)
{
    const double slope = gyre_stat_slope(x, y, count);
    double remaining = 0, total = 0;

    for (size_t i = 0; i < count; i++) {
        const double off = y[i] - slope * x[i];

        remaining += off * off;
        total += y[i] * y[i];
    }
    if (total == 0)
        return 1;
    return remaining < total ? 1 - remaining / total : 0;
}
