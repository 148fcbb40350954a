/* SPDX-License-Identifier: Apache-2.0
 *
 * analyse: see analyse.h.
 */
#include "bench/analyse.h"

#include <string.h>

#include "base/alloc.h"
#include "stat/bootstrap.h"
#include "stat/correlation.h"
#include "stat/moments.h"
#include "stat/random.h"

static const double UNSTEADY = 0.2; /* variation above which figures are doubtful */
static const double DEPENDENT = 5;  /* samples that remember longer than that say little */

/* Times of one iteration, in the order of time and sorted. */
typedef struct rates {
    double *in_time, *sorted;
    size_t count;
} rates;

static void rates_fini(rates *r)
{
    gyre_free(NULL, r->in_time, r->count, sizeof r->in_time[0]);
    gyre_free(NULL, r->sorted, r->count, sizeof r->sorted[0]);
}

static gyre_status rates_init(rates *r, const gyre_samples *samples)
{
    void *block;
    gyre_status status;

    *r = (rates){.count = samples->count};
    status = gyre_alloc(NULL, r->count, sizeof r->in_time[0], &block);
    if (status != GYRE_OK)
        return status;
    r->in_time = block;
    status = gyre_alloc(NULL, r->count, sizeof r->sorted[0], &block);
    if (status != GYRE_OK) {
        rates_fini(r);
        return status;
    }
    r->sorted = block;
    for (size_t i = 0; i < r->count; i++)
        r->in_time[i] = samples->times_ns[i] / (double)samples->iterations[i];
    memcpy(r->sorted, r->in_time, r->count * sizeof r->sorted[0]);
    gyre_stat_sort(r->sorted, r->count);
    return GYRE_OK;
}

/* Correlation, blocks and estimates of a series. */
static gyre_status estimate(const rates *r, const gyre_method *method, double *out_tau,
                            size_t *out_block, gyre_estimates *out_estimates)
{
    gyre_stat_random random;
    const gyre_resampling how = {
        .resamples = method->resamples, .level = method->confidence, .random = &random};
    gyre_series series = {.values = r->in_time, .count = r->count};
    gyre_status status = gyre_stat_correlation_time(r->in_time, r->count, out_tau);

    if (status != GYRE_OK)
        return status;
    series.block = *out_block = gyre_stat_block_length(*out_tau, r->count);
    gyre_stat_random_seed(&random, method->seed);
    return gyre_stat_bootstrap(&series, &how, out_estimates);
}

/* The pairs of samples that were taken in turns, each as one value; `minus`: the difference. */
static gyre_status estimate_pairs(const gyre_result *result, const gyre_method *method, bool minus,
                                  gyre_estimate *out_median)
{
    gyre_estimates estimates;
    double tau;
    size_t block;
    rates r;
    gyre_status status = rates_init(&r, &result->time.samples);

    if (status != GYRE_OK)
        return status;
    for (size_t i = 0; i < r.count; i++) {
        const double other_ns =
            result->beside.times_ns[i] / (double)result->time.samples.iterations[i];

        r.in_time[i] = minus ? r.in_time[i] - other_ns : r.in_time[i] / other_ns;
    }
    status = estimate(&r, method, &tau, &block, &estimates);
    rates_fini(&r);
    if (status == GYRE_OK)
        *out_median = estimates.median;
    return status;
}

static gyre_status analyse_beside(gyre_result *result, const gyre_method *method)
{
    gyre_status status;

    for (size_t i = 0; i < result->time.samples.count; i++) {
        if (!(result->beside.times_ns[i] > 0)) {
            gyre_result_warn(result, "'%s' beside it returns at once: there is no ratio",
                             result->beside.id);
            result->beside = (gyre_ratio){0};
            return GYRE_OK;
        }
    }
    status = estimate_pairs(result, method, false, &result->beside.times);
    return status == GYRE_OK ? estimate_pairs(result, method, true, &result->beside.more_ns)
                             : status;
}

gyre_status gyre_analyse_figure(gyre_figure *figure, const gyre_method *method)
{
    gyre_estimates estimates;
    double tau;
    size_t block;
    rates r;
    gyre_status status = rates_init(&r, &figure->samples);

    if (status != GYRE_OK)
        return status;
    status = estimate(&r, method, &tau, &block, &estimates);
    rates_fini(&r);
    if (status != GYRE_OK)
        return status;
    figure->median_ns = estimates.median.point;
    figure->ns = (gyre_interval){estimates.median.low, estimates.median.high, method->confidence};
    return GYRE_OK;
}

static gyre_status estimate_slope(gyre_result *result, const gyre_method *method)
{
    const gyre_samples *samples = &result->time.samples;
    const gyre_series times = {
        .values = samples->times_ns, .count = samples->count, .block = result->block};
    gyre_stat_random random;
    const gyre_resampling how = {
        .resamples = method->resamples, .level = method->confidence, .random = &random};
    double *iterations;
    gyre_status status;
    void *block;

    status = gyre_alloc(NULL, samples->count, sizeof iterations[0], &block);
    if (status != GYRE_OK)
        return status;
    iterations = block;
    for (size_t i = 0; i < samples->count; i++)
        iterations[i] = (double)samples->iterations[i];
    gyre_stat_random_seed(&random, method->seed);
    status = gyre_stat_bootstrap_slope(iterations, &times, &how, &result->slope);
    gyre_free(NULL, block, samples->count, sizeof iterations[0]);
    return status;
}

static size_t tagged(const uint32_t *tags, size_t count)
{
    size_t found = 0;

    for (size_t i = 0; tags && i < count; i++)
        found += tags[i] > 0;
    return found;
}

static void doubt(gyre_result *result, const gyre_method *method, double variation)
{
    const gyre_samples *samples = &result->time.samples;
    const size_t stolen = tagged(samples->steal_ticks, samples->count);
    const double half = (result->time.ns.high - result->time.ns.low) / 2;

    if (variation > UNSTEADY)
        gyre_result_warn(result,
                         "the samples vary by %.0f %% (standard deviation over mean); 'gyre "
                         "doctor' says what disturbs measurements here",
                         100 * variation);
    if (stolen > 0)
        gyre_result_warn(result, "the hypervisor took CPU time during %zu of %zu samples", stolen,
                         samples->count);
    if (result->autocorrelation > DEPENDENT)
        gyre_result_warn(result,
                         "neighbouring samples resemble each other over %.0f samples: the machine "
                         "changed its pace meanwhile",
                         result->autocorrelation);
    if (method->precision > 0 && !result->device_clock &&
        half > method->precision * result->time.median_ns)
        gyre_result_warn(result,
                         "the interval is %.2g %% either side, not %.2g %%, after %zu "
                         "samples",
                         100 * half / result->time.median_ns, 100 * method->precision,
                         samples->count);
}

gyre_status gyre_analyse(gyre_result *result, const gyre_method *method)
{
    gyre_estimates estimates;
    rates r;
    double variation;
    gyre_status status = rates_init(&r, &result->time.samples);

    if (status != GYRE_OK)
        return status;
    status = estimate(&r, method, &result->autocorrelation, &result->block, &estimates);
    result->outliers = gyre_stat_outliers(r.sorted, r.count);
    result->min_ns = r.sorted[0];
    result->max_ns = r.sorted[r.count - 1];
    variation = gyre_stat_variation(r.in_time, r.count);
    rates_fini(&r);
    if (status == GYRE_OK && result->time.samples.linear)
        status = estimate_slope(result, method);
    if (status != GYRE_OK)
        return status;
    result->mean = estimates.mean;
    result->median = estimates.median;
    result->std_dev = estimates.std_dev;
    result->mad = estimates.median_abs_dev;
    result->time.median_ns = estimates.median.point;
    result->time.ns =
        (gyre_interval){estimates.median.low, estimates.median.high, method->confidence};
    if (result->cold.samples.count > 0)
        status = gyre_analyse_figure(&result->cold, method);
    if (status == GYRE_OK && result->hot.samples.count > 0)
        status = gyre_analyse_figure(&result->hot, method);
    if (status == GYRE_OK && result->beside.times_ns)
        status = analyse_beside(result, method);
    doubt(result, method, variation);
    return status;
}

static gyre_verdict judge(const gyre_change *change, const gyre_method *method)
{
    const double noise = method->noise_threshold;

    if (change->p >= method->significance)
        return GYRE_VERDICT_NONE;
    if (change->relative.high < -noise)
        return GYRE_VERDICT_IMPROVED;
    return change->relative.low > noise ? GYRE_VERDICT_REGRESSED : GYRE_VERDICT_NOISE;
}

gyre_status gyre_analyse_change(gyre_result *result, const gyre_result *base, const char *name,
                                const gyre_method *method)
{
    gyre_stat_random random;
    const gyre_resampling how = {
        .resamples = method->resamples, .level = method->confidence, .random = &random};
    gyre_change change = {0};
    rates old, new;
    double tau;
    gyre_status status = rates_init(&old, &base->time.samples);

    if (status != GYRE_OK)
        return status;
    status = rates_init(&new, &result->time.samples);
    if (status == GYRE_OK) {
        gyre_series a = {.values = old.in_time, .count = old.count};
        gyre_series b = {.values = new.in_time, .count = new.count};

        status = gyre_stat_correlation_time(old.in_time, old.count, &tau);
        a.block = gyre_stat_block_length(tau, old.count);
        if (status == GYRE_OK)
            status = gyre_stat_correlation_time(new.in_time, new.count, &tau);
        b.block = gyre_stat_block_length(tau, new.count);
        gyre_stat_random_seed(&random, method->seed);
        if (status == GYRE_OK)
            status = gyre_stat_change(&a, &b, &how, &change);
        rates_fini(&new);
    }
    rates_fini(&old);
    if (status != GYRE_OK)
        return status;
    result->change = (gyre_comparison){
        .baseline = gyre_arena_text(&result->arena, name),
        .point = change.relative.point,
        .low = change.relative.low,
        .high = change.relative.high,
        .p = change.p,
        .verdict = judge(&change, method),
    };
    return GYRE_OK;
}
