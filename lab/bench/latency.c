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

enum { SLEEP_NS = 200000, TELL_EVERY = 256 };

static const double quantiles[GYRE_RESULT_QUANTILES] = {0.5, 0.9, 0.99, 0.999};

/* Sleeps while the moment is far away, then spins. A clock that stands still (in tests) is not
 * waited for. */
static void wait_until(const gyre_drive *drive, double due_ns)
{
    uint64_t last_ns = 0;

    for (;;) {
        const uint64_t now_ns = drive->now_ns();
        const double left_ns = due_ns - (double)now_ns;

        if (left_ns <= 0 || now_ns == last_ns || gyre_drive_stopped(drive))
            return;
        last_ns = now_ns;
        if (left_ns > SLEEP_NS) {
            const struct timespec pause = {.tv_nsec = SLEEP_NS / 2};

            nanosleep(&pause, NULL);
        }
    }
}

static gyre_status call_once(gyre_drive *drive)
{
    double ns;

    if (drive->c->clock)
        return gyre_drive_clocked(drive, 1, GYRE_CLOCKED_END_TO_END, &ns);
    (void)gyre_drive_run(drive, 1);
    return GYRE_OK;
}

gyre_status gyre_latency_take(gyre_drive *drive, const gyre_method *method, gyre_result *result)
{
    gyre_latency *latency = &result->latency;
    const double interval_ns = method->rate_hz > 0 ? 1e9 / method->rate_hz : 0;
    const double start_ns = (double)drive->now_ns();
    const double end_ns = start_ns + (double)method->measurement_ns;
    gyre_status status = GYRE_OK;

    latency->rate_hz = method->rate_hz;
    latency->calls_ns =
        gyre_arena_array(&result->arena, GYRE_MOST_CALLS, sizeof latency->calls_ns[0]);
    if (!latency->calls_ns)
        return GYRE_NO_MEMORY;
    while (latency->count < GYRE_MOST_CALLS && !gyre_drive_stopped(drive)) {
        const double now_ns = (double)drive->now_ns();
        double due_ns;

        if (now_ns >= end_ns)
            break;
        if (latency->count % TELL_EVERY == 0)
            gyre_drive_tell(drive, "timing calls", (uint64_t)(end_ns - now_ns));
        if (interval_ns > 0) {
            due_ns = start_ns + (double)latency->count * interval_ns;
            wait_until(drive, due_ns);
        } else {
            due_ns = (double)drive->now_ns();
        }
        status = call_once(drive);
        if (status != GYRE_OK)
            return status;
        latency->calls_ns[latency->count++] = fmax(0, (double)drive->now_ns() - due_ns);
    }
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
