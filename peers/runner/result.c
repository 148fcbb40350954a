/* SPDX-License-Identifier: Apache-2.0
 *
 * result: see result.h.
 */
#include "peers/runner/result.h"

#include <string.h>

#include "stat/order.h"

const char *peers_verdict_name(peers_verdict verdict)
{
    static const char *const names[] = {"met", "missed", "undecided", "not judged"};

    return names[verdict];
}

static double quantile(const double *values, size_t count, double p)
{
    double sorted[PEERS_SAMPLES];

    memcpy(sorted, values, count * sizeof sorted[0]);
    gyre_stat_sort(sorted, count);
    return gyre_stat_quantile(sorted, count, p);
}

double peers_series_median(const peers_series *series)
{
    return quantile(series->ns, series->count, 0.5);
}

double peers_series_quantile(const peers_series *series, double p)
{
    return quantile(series->ns, series->count, p);
}

double peers_series_pingpong(const peers_series *series)
{
    return quantile(series->pingpong_ns, series->count, 0.5);
}
