/* SPDX-License-Identifier: Apache-2.0
 *
 * series_fake: a series that remembers, for the tests of those who must notice.
 */
#ifndef GYRE_STAT_SERIES_FAKE_H
#define GYRE_STAT_SERIES_FAKE_H

#include <stddef.h>
#include <stdint.h>

#include "stat/random.h"

/* Around 1000, each value keeping `rho` of the one before: mean and median are 1000, and tau is
 * (1 + rho) / (1 - rho). */
static inline void fake_remembering(double *series, size_t count, double rho, uint64_t seed)
{
    gyre_stat_random random;
    double x = 0;

    gyre_stat_random_seed(&random, seed);
    for (size_t i = 0; i < count + 100; i++) {
        x = rho * x - 2;
        for (int j = 0; j < 4; j++) /* near enough to normal */
            x += gyre_stat_random_unit(&random);
        if (i >= 100) /* the start is forgotten */
            series[i - 100] = 1000 + x;
    }
}

#endif
