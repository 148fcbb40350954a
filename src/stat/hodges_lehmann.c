/* SPDX-License-Identifier: Apache-2.0
 *
 * hodges_lehmann: see hodges_lehmann.h.
 *
 * The averages are never listed. How many of them are at most x is counted in one walk along the
 * sorted sample, and the k-th is the smallest x that has k of them.
 */
#include "stat/hodges_lehmann.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "stat/bisection.h"
#include "stat/order.h"

typedef struct averages {
    const double *sorted;
    size_t count;
    size_t k; /* wanted, from 1 */
} averages;

/* Halves first: the sum of two large values has no double. */
static double average(double a, double b)
{
    return 0.5 * a + 0.5 * b;
}

/* The larger the first of a pair, the fewer partners: `end` only falls. */
static bool has_enough(const void *about, double x)
{
    const averages *all = about;
    size_t end = all->count, found = 0;

    for (size_t i = 0; i < end; i++) {
        while (end > i && average(all->sorted[i], all->sorted[end - 1]) > x)
            end--;
        found += end - i;
    }
    return found >= all->k;
}

static double smallest(const double *sorted, size_t count, size_t k)
{
    const averages all = {sorted, count, k};

    return gyre_stat_bisect(has_enough, &all, sorted[0], sorted[count - 1]);
}

gyre_status gyre_stat_hodges_lehmann(const double *values, size_t count, double *out_estimate)
{
    const size_t pairs = count % 2 ? (count + 1) / 2 * count : count / 2 * (count + 1);
    gyre_status status;
    double *sorted;
    void *copy;

    *out_estimate = 0;
    if (count < 1)
        return gyre_fail(GYRE_INVALID, "no values to estimate from");
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            return gyre_fail(GYRE_INVALID, "value %zu is %g", i, values[i]);
    }
    status = gyre_alloc(NULL, count, sizeof(double), &copy);
    if (status != GYRE_OK)
        return status;
    sorted = copy;
    memcpy(sorted, values, count * sizeof(double));
    gyre_stat_sort(sorted, count);
    *out_estimate =
        average(smallest(sorted, count, (pairs + 1) / 2), smallest(sorted, count, pairs / 2 + 1));
    gyre_free(NULL, copy, count, sizeof(double));
    return GYRE_OK;
}
