/* SPDX-License-Identifier: Apache-2.0
 *
 * order: see order.h.
 */
#include "stat/order.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void gyre_stat_sort(double *values, size_t count)
{
    if (count > 1)
        qsort(values, count, sizeof values[0], ascending);
}

size_t gyre_stat_rank(const double *sorted, size_t count, double value)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (sorted[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double gyre_stat_quantile(const double *sorted, size_t count, double p)
{
    const double position = p * (double)(count - 1);
    const size_t below = (size_t)position;
    const double part = position - (double)below;

    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

/* ln of the binomial probability of exactly k successes among n. */
static double log_binomial(size_t n, size_t k, double p)
{
    int sign;

    return lgamma_r((double)n + 1, &sign) - lgamma_r((double)k + 1, &sign) -
           lgamma_r((double)(n - k) + 1, &sign) + (double)k * log(p) + (double)(n - k) * log1p(-p);
}

/* With B values below the quantile (B is binomial), it lies between the i-th and the j-th value
 * (counted from 1) exactly when i <= B < j. So i is the largest with P(B < i) <= tail, and j the
 * smallest with P(B >= j) <= tail. */
gyre_interval gyre_stat_quantile_interval(const double *sorted, size_t count, double p,
                                          double level)
{
    const double tail = (1 - level) / 2;
    double below = 0, above = 0, next;
    size_t i = 0, j = count + 1;

    while (i < count && below + (next = exp(log_binomial(count, i, p))) <= tail) {
        below += next;
        i++;
    }
    while (j > 1 && above + (next = exp(log_binomial(count, j - 1, p))) <= tail) {
        above += next;
        j--;
    }
    if (i == 0) { /* no value is low enough: the smallest is the best there is */
        i = 1;
        below = exp(log_binomial(count, 0, p));
    }
    if (j == count + 1) {
        j = count;
        above = exp(log_binomial(count, count, p));
    }
    return (gyre_interval){sorted[i - 1], sorted[j - 1], 1 - below - above};
}
