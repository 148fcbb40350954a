/* SPDX-License-Identifier: Apache-2.0
 *
 * moments: see moments.h.
 */
#include "stat/moments.h"

#include <math.h>

#include "stat/order.h"

/* 1 over the third quartile of the standard normal distribution. */
static const double NORMAL_SCALE = 1.4826;

/* Measured from the first value: nothing is rounded when all are equal, and little when they are
 * close to each other and far from 0. */
double gyre_stat_mean(const double *values, size_t count)
{
    double sum = 0;

    if (count == 0)
        return 0;
    for (size_t i = 1; i < count; i++)
        sum += values[i] - values[0];
    return values[0] + sum / (double)count;
}

double gyre_stat_std_dev(const double *values, size_t count)
{
    const double mean = gyre_stat_mean(values, count);
    double squares = 0;

    if (count < 2)
        return 0;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return sqrt(squares / (double)(count - 1));
}

/* The k-th smallest distance from the centre, 1 <= k <= count. The k values nearest to it stand
 * next to each other; `low` is where they begin. A window beginning at `middle` lies too far to the
 * left when its first value is farther away than the one that follows its last. */
static double nearest(const double *sorted, size_t count, double centre, size_t k)
{
    size_t low = 0, high = count - k;
    double left, right;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (centre - sorted[middle] > sorted[middle + k] - centre)
            low = middle + 1;
        else
            high = middle;
    }
    left = centre - sorted[low];
    right = sorted[low + k - 1] - centre;
    return left > right ? left : right;
}

double gyre_stat_median_abs_dev(const double *sorted, size_t count)
{
    double median, lower, upper;

    if (count == 0)
        return 0;
    median = gyre_stat_quantile(sorted, count, 0.5);
    lower = nearest(sorted, count, median, (count + 1) / 2);
    upper = count % 2 == 1 ? lower : nearest(sorted, count, median, count / 2 + 1);
    return NORMAL_SCALE * (lower + 0.5 * (upper - lower));
}

double gyre_stat_variation(const double *values, size_t count)
{
    const double width = gyre_stat_std_dev(values, count);

    return width == 0 ? 0 : width / fabs(gyre_stat_mean(values, count));
}
