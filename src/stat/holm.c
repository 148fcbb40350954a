/* SPDX-License-Identifier: Apache-2.0
 *
 * holm: see holm.h.
 */
#include "stat/holm.h"

#include <math.h>

static size_t smaller_than(const double *p, size_t count, double limit)
{
    size_t smaller = 0;

    for (size_t i = 0; i < count; i++)
        smaller += p[i] < limit;
    return smaller;
}

/* Equal values all take the factor of the first of them: that of the others is smaller, and they
 * may not fall below it. The second pass needs no copy: what it has already raised was raised to a
 * product of something smaller still. */
void gyre_stat_holm(const double *p, size_t count, double *adjusted)
{
    for (size_t i = 0; i < count; i++)
        adjusted[i] = fmin(1, p[i] * (double)(count - smaller_than(p, count, p[i])));
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            if (p[j] < p[i])
                adjusted[i] = fmax(adjusted[i], adjusted[j]);
        }
    }
}
