/* SPDX-License-Identifier: Apache-2.0
 *
 * sample: see sample.h.
 *
 * Linear sampling gives the k-th of n samples k*d iterations, so that in the slope of time
 * over iterations what every sample costs once weighs little. Flat sampling gives all the same
 * number. A case whose one iteration outlasts a sample's share gets fewer samples instead, at least
 * ten.
 */
#include "bench/sample.h"

#include <math.h>
#include <string.h>

#include "bench/analyse.h"
#include "bench/beside.h"
#include "bench/usage.h"

/* More iterations than that in one batch mean that `run` ignores its argument. */
static const uint64_t MOST_ITERATIONS = UINT64_C(1) << 40;

enum {
    FIRST_LOOK = 32,        /* samples after which precision is asked for the first time */
    MOST_TIMES_LONGER = 10, /* than the measurement time, for the sake of precision */
    HOT_BATCHES = 30,
    LONG_BATCH_NS = 250000000,
    PACES = 3,            /* batches that say how long an iteration takes */
    SURELY_NS = 50000000, /* so long is tried to get them, however short the warm-up is to be */
};

typedef struct plan {
    size_t count;
    uint64_t iterations; /* of the first sample, and of all when flat */
    bool linear;
} plan;

/* The least of the last batches: one that was interrupted says nothing about the pace. */
static gyre_pace pace_of(const gyre_pace *last, uint32_t batches)
{
    gyre_pace least = last[0];

    for (uint32_t i = 1; i < batches && i < PACES; i++) {
        least.timed_ns = fmin(least.timed_ns, last[i].timed_ns);
        least.spent_ns = fmin(least.spent_ns, last[i].spent_ns);
    }
    return least;
}

gyre_status gyre_sample_warm_up(gyre_drive *drive, uint64_t warm_up_ns, gyre_pace *out_pace)
{
    const uint64_t start_ns = drive->now_ns();
    const uint64_t patience_ns = 4 * warm_up_ns > SURELY_NS ? 4 * warm_up_ns : SURELY_NS;
    gyre_pace last[PACES];
    uint64_t batch = 1, batch_start_ns = start_ns;

    *out_pace = (gyre_pace){0};
    gyre_drive_tell(drive, "warming up", warm_up_ns);
    for (uint32_t batches = 1;; batches++) {
        gyre_pace *pace = &last[(batches - 1) % PACES], least;
        uint64_t now_ns, batch_ns, spent_ns;
        bool told;

        if (drive->c->clock) {
            const gyre_status status =
                gyre_drive_clocked(drive, batch, GYRE_CLOCKED_HOT, &pace->timed_ns);

            if (status != GYRE_OK)
                return status;
        } else {
            pace->timed_ns = (double)gyre_drive_run(drive, batch);
        }
        now_ns = drive->now_ns();
        batch_ns = now_ns - batch_start_ns;
        spent_ns = now_ns - start_ns;
        pace->timed_ns /= (double)batch;
        pace->spent_ns = (double)batch_ns / (double)batch;
        least = pace_of(last, batches);
        /* where the CPU was taken away early, the last batches may be too short to take any time */
        told = least.timed_ns > 0 || batch_ns >= LONG_BATCH_NS;
        if (gyre_drive_stopped(drive) ||
            (told && spent_ns >= warm_up_ns && (batches >= PACES || spent_ns >= patience_ns))) {
            *out_pace = least;
            return GYRE_OK;
        }
        if (batch >= MOST_ITERATIONS)
            return GYRE_OK; /* it returns at once whatever it is asked for */
        gyre_drive_tell(drive, "warming up", spent_ns < warm_up_ns ? warm_up_ns - spent_ns : 0);
        /* longer batches would look like a hang, and are not needed once the time is spent */
        if (batch_ns < LONG_BATCH_NS && (!told || spent_ns < warm_up_ns))
            batch *= 2;
        batch_start_ns = now_ns;
    }
}

static plan plan_flat(const gyre_method *method, double iteration_ns)
{
    const double share_ns = (double)method->measurement_ns / (double)method->sample_count;
    plan p = {.count = method->sample_count, .iterations = 1};

    if (iteration_ns <= share_ns) {
        p.iterations = (uint64_t)ceil(share_ns / iteration_ns);
    } else {
        const double fit = (double)method->measurement_ns / iteration_ns;

        p.count = fit > GYRE_LEAST_SAMPLES ? (size_t)fit : GYRE_LEAST_SAMPLES;
    }
    return p;
}

static plan plan_samples(const gyre_method *method, double iteration_ns)
{
    const double n = (double)method->sample_count, units = n * (n + 1) / 2;
    const double total_ns = (double)method->measurement_ns;
    const double step = fmax(1, ceil(total_ns / iteration_ns / units));

    /* samples that grow cannot go on until a precision is reached */
    if (method->sampling == GYRE_SAMPLING_FLAT || method->precision > 0 ||
        (method->sampling == GYRE_SAMPLING_AUTO && step * units * iteration_ns > 2 * total_ns))
        return plan_flat(method, iteration_ns);
    return (plan){.count = method->sample_count, .iterations = (uint64_t)step, .linear = true};
}

/* Tags are kept only where there is something to tell. */
static void drop_empty_tags(gyre_samples *samples)
{
    uint64_t steal = 0, switches = 0;

    for (size_t i = 0; i < samples->count; i++) {
        steal += samples->steal_ticks[i];
        switches += samples->switches[i];
    }
    if (steal == 0)
        samples->steal_ticks = NULL;
    if (switches == 0)
        samples->switches = NULL;
}

static bool series_init(gyre_result *result, gyre_samples *samples, size_t count)
{
    if (!gyre_samples_init(result, samples, count))
        return false;
    samples->steal_ticks = gyre_arena_array(&result->arena, count, sizeof samples->steal_ticks[0]);
    samples->switches = gyre_arena_array(&result->arena, count, sizeof samples->switches[0]);
    return samples->steal_ticks && samples->switches;
}

static void take_one(gyre_drive *drive, const gyre_usage *usage, gyre_samples *samples, size_t i,
                     uint64_t iterations)
{
    gyre_usage_marks before, after;

    if (drive->beside)
        gyre_beside_turn(drive->beside, GYRE_BESIDE_OWN, iterations);
    before = gyre_usage_read(usage);
    samples->iterations[i] = iterations;
    samples->times_ns[i] = (double)gyre_drive_run(drive, iterations);
    after = gyre_usage_read(usage);
    samples->steal_ticks[i] = (uint32_t)(after.steal_ticks - before.steal_ticks);
    samples->switches[i] = (uint32_t)(after.switches - before.switches);
}

/* The other's sample of as many iterations. */
static double take_other(const gyre_beside *beside, uint64_t iterations)
{
    gyre_beside_turn(beside, GYRE_BESIDE_OTHER, iterations);
    return (double)gyre_drive_run(beside->sides[GYRE_BESIDE_OTHER], iterations);
}

/* The sample, and the other's: neither always goes first. */
static void take_pair(gyre_drive *drive, const gyre_usage *usage, gyre_result *result, size_t i,
                      uint64_t iterations)
{
    const bool first = i % 2 == 0;

    if (drive->beside && !first)
        result->beside.times_ns[i] = take_other(drive->beside, iterations);
    take_one(drive, usage, &result->time.samples, i, iterations);
    if (drive->beside && first)
        result->beside.times_ns[i] = take_other(drive->beside, iterations);
}

/* Whether the samples so far say enough: asked at 32 and then whenever they have doubled. */
static bool precise_enough(const gyre_method *method, const gyre_samples *samples, size_t count)
{
    gyre_samples so_far = *samples;
    gyre_figure figure = {0};

    if (count < FIRST_LOOK || (count & (count - 1)) != 0)
        return false;
    so_far.count = count;
    figure.samples = so_far;
    if (gyre_analyse_figure(&figure, method) != GYRE_OK)
        return false;
    return (figure.ns.high - figure.ns.low) / 2 <= method->precision * figure.median_ns;
}

static gyre_status take_host(gyre_drive *drive, const gyre_method *method, const plan *p,
                             gyre_result *result)
{
    const double first_ns = (double)method->measurement_ns / (double)p->count;
    gyre_samples *samples = &result->time.samples;
    size_t room = p->count, taken = 0;
    double spent_ns = 0;
    gyre_usage usage;

    if (method->precision > 0)
        room *= MOST_TIMES_LONGER;
    room = room < GYRE_MOST_SAMPLES ? room : GYRE_MOST_SAMPLES;
    if (!series_init(result, samples, room)) {
        *samples = (gyre_samples){0};
        return GYRE_NO_MEMORY;
    }
    if (drive->beside) {
        result->beside.times_ns =
            gyre_arena_array(&result->arena, room, sizeof result->beside.times_ns[0]);
        if (!result->beside.times_ns)
            return GYRE_NO_MEMORY;
    }
    samples->linear = p->linear;
    gyre_usage_open(&usage);
    for (; taken < room && !gyre_drive_stopped(drive); taken++) {
        const double left = p->linear ? (double)(room * (room + 1) - taken * (taken + 1)) /
                                            (double)(room * (room + 1)) * (double)room
                                      : (double)(room - taken);

        if (method->precision > 0 && precise_enough(method, samples, taken))
            break;
        gyre_drive_tell(drive, "sampling",
                        (uint64_t)(left * (taken ? spent_ns / ((double)room - left) : first_ns)));
        take_pair(drive, &usage, result, taken,
                  p->linear ? p->iterations * (taken + 1) : p->iterations);
        spent_ns += samples->times_ns[taken];
        if (drive->beside)
            spent_ns += result->beside.times_ns[taken];
    }
    gyre_usage_close(&usage);
    if (drive->beside)
        gyre_beside_go(drive->beside, GYRE_BESIDE_OWN);
    samples->count = taken;
    drop_empty_tags(samples);
    return GYRE_OK;
}

/* As many as there is room for. What takes longer than planned, because the device's caches take a
 * while to be emptied, is taken less often; `limit_ns` 0: is not. */
static gyre_status take_clocked(gyre_drive *drive, const char *phase, gyre_clocked figure,
                                uint64_t iterations, double limit_ns, gyre_samples *samples)
{
    const size_t count = samples->count;
    const uint64_t start_ns = drive->now_ns();

    samples->count = 0;
    for (size_t i = 0; i < count && !gyre_drive_stopped(drive); i++) {
        const double spent_ns = (double)(drive->now_ns() - start_ns);
        const double each_ns = i ? spent_ns / (double)i : 0;
        gyre_status status;

        if (limit_ns > 0 && i >= GYRE_LEAST_SAMPLES && spent_ns >= limit_ns)
            break;
        status = gyre_drive_clocked(drive, iterations, figure, &samples->times_ns[i]);
        if (status != GYRE_OK)
            return status;
        samples->iterations[i] = iterations;
        samples->count = i + 1;
        gyre_drive_tell(drive, phase, (uint64_t)(each_ns * (double)(count - i)));
    }
    return GYRE_OK;
}

static gyre_status take_device(gyre_drive *drive, const gyre_method *method, const gyre_pace *pace,
                               gyre_result *result)
{
    const double share_ns = (double)method->measurement_ns / 3;
    const double iteration_ns = pace->spent_ns, fit = share_ns / iteration_ns;
    const size_t count = fit < GYRE_LEAST_SAMPLES             ? GYRE_LEAST_SAMPLES
                         : fit < (double)method->sample_count ? (size_t)fit
                                                              : method->sample_count;
    const bool can_flush = drive->c->clock->flush != NULL;
    const uint64_t batch = (uint64_t)fmax(1, ceil(share_ns / HOT_BATCHES / iteration_ns));
    gyre_status status = GYRE_OK;

    result->device_clock = gyre_arena_text(&result->arena, drive->c->clock->name);
    if (!gyre_samples_init(result, &result->time.samples, count) ||
        !gyre_samples_init(result, &result->hot.samples, HOT_BATCHES) ||
        (can_flush && !gyre_samples_init(result, &result->cold.samples, count)))
        return GYRE_NO_MEMORY;
    status = take_clocked(drive, "sampling end to end", GYRE_CLOCKED_END_TO_END, 1, 0,
                          &result->time.samples);
    if (status == GYRE_OK && can_flush)
        status = take_clocked(drive, "sampling cold", GYRE_CLOCKED_COLD, 1, share_ns,
                              &result->cold.samples);
    if (status == GYRE_OK)
        status =
            take_clocked(drive, "sampling hot", GYRE_CLOCKED_HOT, batch, 0, &result->hot.samples);
    return status;
}

gyre_status gyre_sample_take(gyre_drive *drive, const gyre_method *method, const gyre_pace *pace,
                             gyre_result *result)
{
    plan p;

    if (drive->c->clock)
        return take_device(drive, method, pace, result);
    p = plan_samples(method, pace->spent_ns);
    return take_host(drive, method, &p, result);
}
