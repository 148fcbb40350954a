/* SPDX-License-Identifier: Apache-2.0
 *
 * correlation: see correlation.h.
 */
#include "stat/correlation.h"

#include <math.h>

#include "base/alloc.h"
#include "stat/moments.h"
#include "stat/order.h"

enum { LEAST_BLOCKS = 5 };

/* Sum of the products of values `lag` apart: the autocovariance times count. Longer lags have fewer
 * products and are not scaled up for it, which would let the noise of the longest ones in. */
static double products(const double *centred, size_t count, size_t lag)
{
    double sum = 0;

    for (size_t i = lag; i < count; i++)
        sum += centred[i] * centred[i - lag];
    return sum;
}

static double time_of(double *series, size_t count)
{
    const double mean = gyre_stat_mean(series, count);
    double square, pair, before, sum = 0;

    for (size_t i = 0; i < count; i++)
        series[i] -= mean;
    square = products(series, count, 0);
    if (square == 0)
        return 1;
    before = (double)INFINITY;
    for (size_t lag = 0; lag <= count / LEAST_BLOCKS; lag += 2) {
        pair = products(series, count, lag) + products(series, count, lag + 1);
        if (pair <= 0)
            break;
        before = pair < before ? pair : before;
        sum += before;
    }
    return 2 * sum / square - 1;
}

gyre_status gyre_stat_correlation_time(const double *values, size_t count, double *out_tau)
{
    double *series, *sorted, of_values, of_ranks;
    void *scratch;
    gyre_status status;

    *out_tau = 1;
    if (count < 2)
        return GYRE_OK;
    status = gyre_alloc(NULL, count, 2 * sizeof(double), &scratch);
    if (status != GYRE_OK)
        return status;
    series = scratch;
    sorted = series + count;
    for (size_t i = 0; i < count; i++)
        series[i] = sorted[i] = values[i];
    of_values = time_of(series, count);
    gyre_stat_sort(sorted, count);
    for (size_t i = 0; i < count; i++)
        series[i] = (double)gyre_stat_rank(sorted, count, values[i]);
    of_ranks = time_of(series, count);
    gyre_free(NULL, scratch, count, 2 * sizeof(double));
    *out_tau = fmax(1, fmax(of_values, of_ranks));
    return GYRE_OK;
}

/* A block of n values misses the products that cross its ends, so the variance of a mean comes out
 * too small by the part reach / n; long blocks are few and make it noisy. The cube root balances
 * the two (Politis and White), with the reach of a series whose correlation falls by a constant
 * factor from lag to lag. */
size_t gyre_stat_block_length(double tau, size_t count)
{
    const double clamped = fmax(1, tau);
    const double reach = (clamped * clamped - 1) / (2 * clamped);
    const double length = fmax(2 * clamped, cbrt(1.5 * reach * reach * (double)count));
    const size_t most = count / LEAST_BLOCKS;

    if (most < 1)
        return 1;
    return length < (double)most ? (size_t)ceil(length) : most;
}
