/* SPDX-License-Identifier: Apache-2.0
 *
 * latency: see latency.h.
 */
#include "bench/latency.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "stat/order.h"

enum { SLEEP_NS = 200000, TELL_EVERY = 256, STILL = 1000 };

static const double quantiles[GYRE_RESULT_QUANTILES] = {0.5, 0.9, 0.99, 0.999};

/* Sleeps while the moment is far away, then spins. A clock that stands still, as in tests, is not
 * waited for. */
static void wait_until(const gyre_drive *drive, double due_ns)
{
    uint64_t last_ns = 0;
    uint32_t still = 0;

    for (;;) {
        const uint64_t now_ns = drive->now_ns();
        const double left_ns = due_ns - (double)now_ns;

        still = now_ns == last_ns ? still + 1 : 0;
        if (left_ns <= 0 || still > STILL || gyre_drive_stopped(drive))
            return;
        last_ns = now_ns;
        if (left_ns > SLEEP_NS) {
            const struct timespec pause = {.tv_nsec = SLEEP_NS / 2};

            gyre_drive_tell(drive, "waiting for the next call", (uint64_t)left_ns);
            nanosleep(&pause, NULL);
        }
    }
}

/* One call, and how long it took; what prepares it and what gathers a team is not part of it. */
static gyre_status call_once(gyre_drive *drive, double *out_ns)
{
    if (drive->c->clock)
        return gyre_drive_clocked(drive, 1, GYRE_CLOCKED_END_TO_END, out_ns);
    *out_ns = (double)gyre_drive_run_prepared(drive, 1);
    return GYRE_OK;
}

/* Calls that were due and never made would have been the slowest. */
static void warn_if_behind(gyre_result *result, double spent_ns)
{
    const double due = spent_ns / 1e9 * result->latency.rate_hz;

    if (result->latency.rate_hz > 0 && (double)result->latency.count < 0.95 * due)
        gyre_result_warn(
            result,
            "only %zu of %.0f calls that were due could be made: the rate is more than "
            "it can do, and the percentiles grow with the time of measuring",
            result->latency.count, due);
}

gyre_status gyre_latency_take(gyre_drive *drive, const gyre_method *method, gyre_result *result)
{
    gyre_latency *latency = &result->latency;
    const double interval_ns = method->rate_hz > 0 ? 1e9 / method->rate_hz : 0;
    const double start_ns = (double)drive->now_ns();
    const double end_ns = start_ns + (double)method->measurement_ns;

    latency->rate_hz = method->rate_hz;
    latency->calls_ns =
        gyre_arena_array(&result->arena, GYRE_MOST_CALLS, sizeof latency->calls_ns[0]);
    if (!latency->calls_ns)
        return GYRE_NO_MEMORY;
    while (latency->count < GYRE_MOST_CALLS && !gyre_drive_stopped(drive)) {
        const double now_ns = (double)drive->now_ns();
        const double due_ns = start_ns + (double)latency->count * interval_ns;
        double late_ns = 0, call_ns;
        gyre_status status;

        if (now_ns >= end_ns || due_ns >= end_ns)
            break;
        if (latency->count % TELL_EVERY == 0)
            gyre_drive_tell(drive, "timing calls", (uint64_t)(end_ns - now_ns));
        if (!drive->c->clock) /* whose calls prepare for themselves */
            gyre_drive_prepare(drive, 1);
        if (interval_ns > 0) {
            wait_until(drive, due_ns);
            late_ns = fmax(0, (double)drive->now_ns() - due_ns);
        }
        status = call_once(drive, &call_ns);
        if (status != GYRE_OK)
            return status;
        latency->calls_ns[latency->count++] = late_ns + call_ns;
    }
    warn_if_behind(result, (double)drive->now_ns() - start_ns);
    return GYRE_OK;
}

gyre_status gyre_latency_judge(gyre_latency *latency, double confidence)
{
    double *sorted;
    void *block;
    gyre_status status;

    if (latency->count == 0)
        return GYRE_OK;
    status = gyre_alloc(NULL, latency->count, sizeof sorted[0], &block);
    if (status != GYRE_OK)
        return status;
    sorted = block;
    memcpy(sorted, latency->calls_ns, latency->count * sizeof sorted[0]);
    gyre_stat_sort(sorted, latency->count);
    latency->max_ns = sorted[latency->count - 1];
    latency->quantile_count = 0;
    for (size_t i = 0; i < GYRE_RESULT_QUANTILES; i++) {
        latency->quantile[i].p = quantiles[i];
        latency->quantile[i].ns = gyre_stat_quantile(sorted, latency->count, quantiles[i]);
        latency->quantile[i].interval =
            gyre_stat_quantile_interval(sorted, latency->count, quantiles[i], confidence);
        latency->quantile_count++;
    }
    gyre_free(NULL, sorted, latency->count, sizeof sorted[0]);
    return GYRE_OK;
}
