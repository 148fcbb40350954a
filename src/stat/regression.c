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
