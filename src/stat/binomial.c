/* SPDX-License-Identifier: Apache-2.0
 *
 * binomial: see binomial.h.
 *
 * More than h hits among n have the probability I_f(h + 1, n - h) when each has the frequency f.
 */
#include "stat/binomial.h"

#include "stat/beta.h"

double gyre_stat_binomial_upper(size_t hits, size_t trials, double confidence)
{
    if (hits >= trials)
        return 1;
    return gyre_stat_beta_quantile(confidence, (double)hits + 1, (double)(trials - hits));
}

double gyre_stat_binomial_lower(size_t hits, size_t trials, double confidence)
{
    if (hits == 0)
        return 0;
    return gyre_stat_beta_quantile(1 - confidence, (double)hits, (double)(trials - hits) + 1);
}
