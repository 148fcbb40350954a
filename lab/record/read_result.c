/* SPDX-License-Identifier: Apache-2.0
 *
 * read_result: see read_result.h.
 */
#include "record/read_result.h"

#include <float.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "bench/analyse.h"

/* Resamples where estimates are missing: enough for a report, and no more than a hostile file may
 * cost. */
enum { FEW_RESAMPLES = 2000 };

static const double MOST_NS = 1e18; /* 31 years: sums and squares of it are finite */

static void take_axes(const gyre_value *value, gyre_result *result)
{
    const gyre_value axes = gyre_value_object(gyre_value_need(value, "axes"));
    const char *name;
    json_t *json;
    size_t count = 0;

    if (json_object_size(axes.json) > GYRE_BENCH_AXES) {
        gyre_value_refuse(&axes, "has more than %d members", GYRE_BENCH_AXES);
        return;
    }
    json_object_foreach(axes.json, name, json)
    {
        const gyre_value member = gyre_value_need(&axes, name);
        gyre_result_axis *axis = &result->axes[count++];

        axis->name = gyre_arena_text(&result->arena, name);
        if (json_is_string(json))
            axis->word = gyre_value_text(member, &result->arena);
        else
            axis->value = gyre_value_integer(member, INT64_MIN, INT64_MAX);
    }
}

static void take_tags(const gyre_value *value, gyre_result *result)
{
    const gyre_value tags = gyre_value_array(gyre_value_get(value, "tags"), 64);

    for (size_t i = 0; i < gyre_value_size(&tags); i++) {
        const gyre_value tag = gyre_value_at(&tags, i);
        const char *text = json_string_value(tag.json);

        if (!text)
            gyre_value_refuse(&tag, "is not a string");
        for (uint32_t bit = GYRE_TAG_CPU; text && bit <= GYRE_TAG_SLOW; bit *= 2)
            if (strcmp(text, gyre_tag_name(bit)) == 0)
                result->tags |= bit;
    }
}

static void take_warnings(const gyre_value *value, gyre_result *result)
{
    const gyre_value warnings =
        gyre_value_array(gyre_value_get(value, "warnings"), GYRE_RESULT_WARNINGS);

    for (size_t i = 0; i < gyre_value_size(&warnings); i++) {
        const char *text = gyre_value_text(gyre_value_at(&warnings, i), &result->arena);

        if (text)
            result->warnings[result->warning_count++] = text;
    }
}

static void take_facts(const gyre_value *value, gyre_result *result)
{
    const gyre_value counters = gyre_value_object(gyre_value_get(value, "counters"));
    const gyre_value notes = gyre_value_object(gyre_value_get(value, "notes"));
    const char *name, *text;
    json_t *json;

    if (json_object_size(counters.json) + json_object_size(notes.json) > GYRE_RESULT_FACTS) {
        gyre_value_refuse(&counters, "and notes have more than %d members", GYRE_RESULT_FACTS);
        return;
    }
    result->facts.owner = result;
    json_object_foreach(counters.json, name, json)
    {
        const double number =
            gyre_value_number(gyre_value_need(&counters, name), -DBL_MAX, DBL_MAX);

        gyre_bench_count(&result->facts, name, number);
    }
    json_object_foreach(notes.json, name, json)
    {
        text = gyre_value_text(gyre_value_need(&notes, name), &result->arena);
        if (text)
            gyre_bench_note(&result->facts, name, text);
    }
}

static void take_identity(const gyre_value *value, gyre_result *result)
{
    gyre_arena *arena = &result->arena;
    const char *text;

    result->id = gyre_value_text(gyre_value_need(value, "id"), arena);
    result->suite = gyre_value_text(gyre_value_need(value, "suite"), arena);
    result->t0 = gyre_value_text(gyre_value_need(value, "t0"), arena);
    result->t1 = gyre_value_text(gyre_value_need(value, "t1"), arena);
    result->observer = gyre_value_text(gyre_value_need(value, "observer"), arena);
    take_axes(value, result);
    take_tags(value, result);
    result->threads = (uint32_t)gyre_value_integer(gyre_value_get(value, "threads"), 0, UINT32_MAX);
    result->started = gyre_value_moment(gyre_value_get(value, "started"));
    result->outcome = (gyre_outcome)gyre_value_choice(
        gyre_value_need(value, "outcome"), "measured|checked|failed|skipped|interrupted");
    text = gyre_value_text(gyre_value_get(value, "reason"), arena);
    result->reason = text ? text : "";
    text = gyre_value_text(gyre_value_get(value, "last_words"), arena);
    result->last_words = text ? text : "";
    take_warnings(value, result);
    result->bytes =
        (uint64_t)gyre_value_integer(gyre_value_get(value, "bytes_per_iteration"), 0, INT64_MAX);
    result->items =
        (uint64_t)gyre_value_integer(gyre_value_get(value, "items_per_iteration"), 0, INT64_MAX);
    result->operations = (uint64_t)gyre_value_integer(
        gyre_value_get(value, "operations_per_iteration"), 0, INT64_MAX);
    take_facts(value, result);
}

/* An array as long as `times_ns`; false when it is not. */
static bool is_as_long(const gyre_value *array, size_t count)
{
    if (array->json && gyre_value_size(array) != count)
        gyre_value_refuse(array, "has %zu elements, not %zu", gyre_value_size(array), count);
    return gyre_value_size(array) == count;
}

static uint32_t *take_per_sample(const gyre_value *sample, const char *key, size_t count,
                                 gyre_arena *arena)
{
    const gyre_value array = gyre_value_array(gyre_value_get(sample, key), GYRE_MOST_SAMPLES);
    uint32_t *values;

    if (!is_as_long(&array, count))
        return NULL;
    values = gyre_arena_array(arena, count, sizeof values[0]);
    for (size_t i = 0; values && i < count; i++)
        values[i] = (uint32_t)gyre_value_integer(gyre_value_at(&array, i), 0, UINT32_MAX);
    return values;
}

static void take_iterations(const gyre_value *sample, gyre_samples *samples)
{
    gyre_value iterations = gyre_value_need(sample, "iterations");
    const bool one = json_is_integer(iterations.json);

    if (!one) {
        iterations = gyre_value_array(iterations, GYRE_MOST_SAMPLES);
        if (!is_as_long(&iterations, samples->count))
            return;
    }
    for (size_t i = 0; i < samples->count; i++)
        samples->iterations[i] = (uint64_t)gyre_value_integer(
            one ? iterations : gyre_value_at(&iterations, i), 1, INT64_MAX);
}

static void take_samples(const gyre_value *value, gyre_result *result, gyre_samples *samples)
{
    const gyre_value sample = gyre_value_object(gyre_value_need(value, "sample"));
    const gyre_value times =
        gyre_value_array(gyre_value_need(&sample, "times_ns"), GYRE_MOST_SAMPLES);
    const size_t count = gyre_value_size(&times);

    if (!times.json)
        return;
    if (count == 0) {
        gyre_value_refuse(&times, "is empty");
        return;
    }
    if (!gyre_samples_init(result, samples, count))
        return;
    samples->linear = gyre_value_choice(gyre_value_need(&sample, "mode"), "flat|linear") == 1;
    for (size_t i = 0; i < count; i++)
        samples->times_ns[i] = gyre_value_number(gyre_value_at(&times, i), 0, MOST_NS);
    take_iterations(&sample, samples);
    samples->steal_ticks = take_per_sample(&sample, "steal_ticks", count, &result->arena);
    samples->switches = take_per_sample(&sample, "switches", count, &result->arena);
}

static double take_ns(const gyre_value *object, const char *key)
{
    return gyre_value_number(gyre_value_need(object, key), 0, 10 * MOST_NS);
}

static void require_order(const gyre_value *object, double low, double high)
{
    if (low > high)
        gyre_value_refuse(object, "has its low above its high");
}

static gyre_interval take_interval(const gyre_value *object)
{
    const gyre_interval interval = {
        .low = take_ns(object, "low"),
        .high = take_ns(object, "high"),
        .coverage = gyre_value_number(gyre_value_need(object, "coverage"), 0, 1),
    };

    require_order(object, interval.low, interval.high);
    return interval;
}

static gyre_estimate take_estimate(const gyre_value *estimates, const char *key, double least)
{
    const gyre_value object = gyre_value_object(gyre_value_need(estimates, key));
    const gyre_estimate estimate = {
        .point = gyre_value_number(gyre_value_need(&object, "point"), least, 10 * MOST_NS),
        .low = gyre_value_number(gyre_value_need(&object, "low"), least, 10 * MOST_NS),
        .high = gyre_value_number(gyre_value_need(&object, "high"), least, 10 * MOST_NS),
        .standard_error = take_ns(&object, "standard_error"),
    };

    require_order(&object, estimate.low, estimate.high);
    return estimate;
}

static size_t take_count(const gyre_value *object, const char *key)
{
    return (size_t)gyre_value_integer(gyre_value_get(object, key), 0, GYRE_MOST_SAMPLES);
}

static void take_time(const gyre_value *value, gyre_result *result)
{
    const gyre_value time = gyre_value_object(gyre_value_need(value, "time_ns"));
    const gyre_value estimates = gyre_value_object(gyre_value_need(value, "estimates"));
    const gyre_value outliers = gyre_value_object(gyre_value_get(value, "outliers"));

    result->time.median_ns = take_ns(&time, "median");
    result->time.ns = take_interval(&time);
    result->min_ns = take_ns(&time, "min");
    result->max_ns = take_ns(&time, "max");
    result->mean = take_estimate(&estimates, "mean", 0);
    result->median = take_estimate(&estimates, "median", 0);
    result->std_dev = take_estimate(&estimates, "std_dev", 0);
    result->mad = take_estimate(&estimates, "median_abs_dev", 0);
    if (result->time.samples.linear)
        result->slope = take_estimate(&estimates, "slope", 0);
    result->autocorrelation =
        gyre_value_number(gyre_value_get(value, "autocorrelation_samples"), 0, MOST_NS);
    result->block = take_count(value, "block_samples");
    result->outliers.low_severe = take_count(&outliers, "low_severe");
    result->outliers.low_mild = take_count(&outliers, "low_mild");
    result->outliers.high_mild = take_count(&outliers, "high_mild");
    result->outliers.high_severe = take_count(&outliers, "high_severe");
}

static void take_figure(const gyre_value *device, const char *key, gyre_result *result,
                        gyre_figure *figure)
{
    const gyre_value object = gyre_value_object(gyre_value_get(device, key));

    if (!object.json)
        return;
    figure->median_ns = take_ns(&object, "median");
    figure->ns = take_interval(&object);
    take_samples(&object, result, &figure->samples);
}

static void take_device(const gyre_value *value, gyre_result *result)
{
    const gyre_value device = gyre_value_object(gyre_value_get(value, "device"));

    result->device_clock = gyre_value_text(gyre_value_need(&device, "clock"), &result->arena);
    take_figure(&device, "cold", result, &result->cold);
    take_figure(&device, "hot", result, &result->hot);
}

static void take_latency(const gyre_value *value, gyre_result *result)
{
    const gyre_value object = gyre_value_object(gyre_value_get(value, "latency"));
    const gyre_value calls =
        gyre_value_array(gyre_value_need(&object, "calls_ns"), GYRE_MOST_SAMPLES);
    const gyre_value quantiles =
        gyre_value_array(gyre_value_need(&object, "quantiles"), GYRE_RESULT_QUANTILES);
    gyre_latency *latency = &result->latency;

    if (gyre_value_choice(gyre_value_need(&object, "arrivals"), "closed|open") == 1)
        latency->rate_hz = gyre_value_number(gyre_value_need(&object, "rate_hz"), DBL_MIN, DBL_MAX);
    latency->max_ns = gyre_value_number(gyre_value_need(&object, "max_ns"), 0, MOST_NS);
    for (size_t i = 0; i < gyre_value_size(&quantiles); i++) {
        const gyre_value quantile = gyre_value_object(gyre_value_at(&quantiles, i));

        latency->quantile[i].p = gyre_value_number(gyre_value_need(&quantile, "p"), 0, 1);
        latency->quantile[i].ns = take_ns(&quantile, "ns");
        latency->quantile[i].interval = take_interval(&quantile);
        latency->quantile_count++;
    }
    if (gyre_value_size(&calls) == 0)
        return;
    latency->calls_ns =
        gyre_arena_array(&result->arena, gyre_value_size(&calls), sizeof latency->calls_ns[0]);
    if (!latency->calls_ns)
        return;
    latency->count = gyre_value_size(&calls);
    for (size_t i = 0; i < latency->count; i++)
        latency->calls_ns[i] = gyre_value_number(gyre_value_at(&calls, i), 0, MOST_NS);
}

/* As many samples as the benchmark itself has. */
static void take_beside(const gyre_value *value, gyre_result *result)
{
    const gyre_value object = gyre_value_object(gyre_value_get(value, "beside"));
    const gyre_value times =
        gyre_value_array(gyre_value_need(&object, "times_ns"), GYRE_MOST_SAMPLES);
    const size_t count = result->time.samples.count;
    gyre_ratio *beside = &result->beside;

    if (!object.json || !is_as_long(&times, count))
        return;
    beside->times_ns = gyre_arena_array(&result->arena, count, sizeof beside->times_ns[0]);
    for (size_t i = 0; beside->times_ns && i < count; i++)
        beside->times_ns[i] = gyre_value_number(gyre_value_at(&times, i), 0, MOST_NS);
    beside->times = take_estimate(&object, "ratio", 0);
    beside->more_ns = take_estimate(&object, "more_ns", -10 * MOST_NS);
    beside->id = gyre_value_text(gyre_value_need(&object, "id"), &result->arena);
}

static void take_counted(const gyre_value *value, gyre_result *result)
{
    const gyre_value memory = gyre_value_object(gyre_value_get(value, "memory"));
    const gyre_value instructions = gyre_value_object(gyre_value_get(value, "instructions"));
    const gyre_value allocations = gyre_value_get(&memory, "allocations");

    result->memory.peak_rss_bytes =
        (uint64_t)gyre_value_integer(gyre_value_need(&memory, "peak_rss_bytes"), 0, INT64_MAX);
    if (allocations.json) {
        result->memory.counted = true;
        result->memory.allocations = gyre_value_number(allocations, 0, DBL_MAX);
        result->memory.allocated_bytes =
            gyre_value_number(gyre_value_need(&memory, "allocated_bytes"), 0, DBL_MAX);
    }
    result->instructions.source =
        gyre_value_text(gyre_value_need(&instructions, "source"), &result->arena);
    result->instructions.per_iteration =
        gyre_value_number(gyre_value_need(&instructions, "per_iteration"), 0, DBL_MAX);
    result->instructions.cycles =
        gyre_value_number(gyre_value_get(&instructions, "cycles_per_iteration"), 0, DBL_MAX);
}

static void take_change(const gyre_value *value, gyre_result *result)
{
    const gyre_value object = gyre_value_object(gyre_value_get(value, "change"));
    gyre_comparison *change = &result->change;

    change->baseline = gyre_value_text(gyre_value_need(&object, "baseline"), &result->arena);
    change->point = gyre_value_number(gyre_value_need(&object, "point"), -1, DBL_MAX);
    change->low = gyre_value_number(gyre_value_need(&object, "low"), -1, DBL_MAX);
    change->high = gyre_value_number(gyre_value_need(&object, "high"), -1, DBL_MAX);
    require_order(&object, change->low, change->high);
    change->p = gyre_value_number(gyre_value_need(&object, "p"), 0, 1);
    change->verdict = (gyre_verdict)gyre_value_choice(gyre_value_need(&object, "verdict"),
                                                      "none|noise|improved|regressed");
}

/* The fences are not recorded: they follow from the samples. */
static gyre_status fence(gyre_result *result)
{
    const gyre_samples *samples = &result->time.samples;
    gyre_status status;
    double *rates;
    void *block;

    status = gyre_alloc(NULL, samples->count, sizeof rates[0], &block);
    if (status != GYRE_OK)
        return status;
    rates = block;
    for (size_t i = 0; i < samples->count; i++)
        rates[i] = samples->times_ns[i] / (double)samples->iterations[i];
    gyre_stat_sort(rates, samples->count);
    result->outliers.fences = gyre_stat_outliers(rates, samples->count).fences;
    gyre_free(NULL, rates, samples->count, sizeof rates[0]);
    return GYRE_OK;
}

static gyre_status take_measured(const gyre_value *value, const gyre_method *method,
                                 gyre_result *result)
{
    const bool analysed =
        gyre_value_get(value, "estimates").json && gyre_value_get(value, "time_ns").json;
    gyre_method few = gyre_method_defaults(method);

    take_samples(value, result, &result->time.samples);
    take_device(value, result);
    take_latency(value, result);
    take_beside(value, result);
    if (analysed)
        take_time(value, result);
    if (value->complaint->text[0] || result->arena.exhausted)
        return GYRE_OK; /* and the caller looks at both */
    if (analysed)
        return fence(result);
    few.resamples = few.resamples < FEW_RESAMPLES ? few.resamples : FEW_RESAMPLES;
    return gyre_analyse(result, &few);
}

gyre_status gyre_result_take(const gyre_value *value, const gyre_method *method,
                             gyre_result *out_result)
{
    const gyre_value object = gyre_value_object(*value);
    gyre_status status = GYRE_OK;

    *out_result = (gyre_result){0};
    take_identity(&object, out_result);
    if (object.json && out_result->outcome == GYRE_OUTCOME_MEASURED)
        status = take_measured(&object, method, out_result);
    take_counted(&object, out_result);
    take_change(&object, out_result);
    if (status == GYRE_OK && out_result->arena.exhausted)
        status = gyre_fail(GYRE_NO_MEMORY, "out of memory for a result");
    if (value->complaint->text[0])
        status = GYRE_CORRUPT;
    if (status != GYRE_OK)
        gyre_result_fini(out_result);
    return status;
}
