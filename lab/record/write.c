/* SPDX-License-Identifier: Apache-2.0
 *
 * write: a run and its results as JSON, member by member in the order of docs/formats/run.md.
 *
 * What is written is what record/read.h reads: a run that was read and is written again gives the
 * same bytes. Hence nothing is written that it would refuse (record/member.h).
 *
 * Threads   one.
 * Owns      nothing.
 * Not here  quotes, commas and digits (base/json.h), the head (record/head.h), replacing a file
 *           (record/file.h).
 */
#include <math.h>

#include "record/head.h"
#include "record/member.h"
#include "record/run.h"

/* Some of a series: spread evenly, the first and the last among them. */
typedef struct choice {
    size_t count, kept;
} choice;

static choice choose(size_t count, size_t most)
{
    return (choice){count, most > 0 && most < count ? most : count};
}

static size_t chosen(choice c, size_t i)
{
    return c.kept < 2 ? 0 : i * (c.count - 1) / (c.kept - 1);
}

static void write_numbers(gyre_json *json, const char *key, const double *values, choice c)
{
    gyre_json_begin_array(json, key);
    for (size_t i = 0; i < c.kept; i++)
        gyre_json_double(json, NULL, values[chosen(c, i)]);
    gyre_json_end(json);
}

/* Not when all are zero: that is what their absence says. */
static void write_tags(gyre_json *json, const char *key, const uint32_t *values, choice c)
{
    bool some = false;

    for (size_t i = 0; values && i < c.kept; i++)
        some |= values[chosen(c, i)] > 0;
    if (!some)
        return;
    gyre_json_begin_array(json, key);
    for (size_t i = 0; i < c.kept; i++)
        gyre_json_unsigned(json, NULL, values[chosen(c, i)]);
    gyre_json_end(json);
}

static void write_iterations(gyre_json *json, const gyre_samples *samples, choice c)
{
    bool alike = !samples->linear;

    for (size_t i = 0; i < c.kept; i++)
        alike &= samples->iterations[chosen(c, i)] == samples->iterations[0];
    if (alike) {
        gyre_member_count(json, "iterations", samples->iterations[0]);
        return;
    }
    gyre_json_begin_array(json, "iterations");
    for (size_t i = 0; i < c.kept; i++)
        gyre_member_count(json, NULL, samples->iterations[chosen(c, i)]);
    gyre_json_end(json);
}

static void write_samples(gyre_json *json, const gyre_samples *samples, size_t most)
{
    const choice c = choose(samples->count, most);

    gyre_json_begin_object(json, "sample");
    gyre_json_string(json, "mode", samples->linear ? "linear" : "flat");
    write_iterations(json, samples, c);
    write_numbers(json, "times_ns", samples->times_ns, c);
    write_tags(json, "steal_ticks", samples->steal_ticks, c);
    write_tags(json, "switches", samples->switches, c);
    gyre_json_end(json);
}

static void write_interval(gyre_json *json, const gyre_interval *interval)
{
    gyre_json_double(json, "low", interval->low);
    gyre_json_double(json, "high", interval->high);
    gyre_json_double(json, "coverage", interval->coverage);
}

static void write_estimate(gyre_json *json, const char *key, const gyre_estimate *estimate)
{
    gyre_json_begin_object(json, key);
    gyre_json_double(json, "point", estimate->point);
    gyre_json_double(json, "low", estimate->low);
    gyre_json_double(json, "high", estimate->high);
    gyre_json_double(json, "standard_error", estimate->standard_error);
    gyre_json_end(json);
}

static void write_time(gyre_json *json, const gyre_result *result, size_t most)
{
    gyre_json_begin_object(json, "time_ns");
    gyre_json_double(json, "median", result->time.median_ns);
    write_interval(json, &result->time.ns);
    gyre_json_double(json, "min", result->min_ns);
    gyre_json_double(json, "max", result->max_ns);
    gyre_json_end(json);
    gyre_json_begin_object(json, "estimates");
    write_estimate(json, "mean", &result->mean);
    write_estimate(json, "median", &result->median);
    write_estimate(json, "std_dev", &result->std_dev);
    write_estimate(json, "median_abs_dev", &result->mad);
    if (result->time.samples.linear)
        write_estimate(json, "slope", &result->slope);
    gyre_json_end(json);
    gyre_json_double(json, "autocorrelation_samples", result->autocorrelation);
    gyre_member_count(json, "block_samples", result->block);
    gyre_json_begin_object(json, "outliers");
    gyre_member_count(json, "low_severe", result->outliers.low_severe);
    gyre_member_count(json, "low_mild", result->outliers.low_mild);
    gyre_member_count(json, "high_mild", result->outliers.high_mild);
    gyre_member_count(json, "high_severe", result->outliers.high_severe);
    gyre_json_end(json);
    write_samples(json, &result->time.samples, most);
}

static void write_figure(gyre_json *json, const char *key, const gyre_figure *figure, size_t most)
{
    if (figure->samples.count == 0)
        return;
    gyre_json_begin_object(json, key);
    gyre_json_double(json, "median", figure->median_ns);
    write_interval(json, &figure->ns);
    write_samples(json, &figure->samples, most);
    gyre_json_end(json);
}

static void write_latency(gyre_json *json, const gyre_latency *latency, size_t most)
{
    gyre_json_begin_object(json, "latency");
    gyre_json_string(json, "arrivals", latency->rate_hz > 0 ? "open" : "closed");
    if (latency->rate_hz > 0)
        gyre_json_double(json, "rate_hz", latency->rate_hz);
    gyre_json_begin_array(json, "quantiles");
    for (size_t i = 0; i < latency->quantile_count; i++) {
        gyre_json_begin_object(json, NULL);
        gyre_json_double(json, "p", latency->quantile[i].p);
        gyre_json_double(json, "ns", latency->quantile[i].ns);
        write_interval(json, &latency->quantile[i].interval);
        gyre_json_end(json);
    }
    gyre_json_end(json);
    gyre_json_double(json, "max_ns", latency->max_ns);
    write_numbers(json, "calls_ns", latency->calls_ns, choose(latency->count, most));
    gyre_json_end(json);
}

static void write_beside(gyre_json *json, const gyre_result *result, size_t most)
{
    const gyre_ratio *beside = &result->beside;

    if (!beside->id)
        return;
    gyre_json_begin_object(json, "beside");
    gyre_json_string(json, "id", beside->id);
    write_estimate(json, "ratio", &beside->times);
    write_estimate(json, "more_ns", &beside->more_ns);
    write_numbers(json, "times_ns", beside->times_ns, choose(result->time.samples.count, most));
    gyre_json_end(json);
}

static void write_figures(gyre_json *json, const gyre_result *result, size_t most)
{
    if (result->time.samples.count == 0)
        return;
    write_time(json, result, most);
    if (result->device_clock) {
        gyre_json_begin_object(json, "device");
        gyre_json_string(json, "clock", result->device_clock);
        write_figure(json, "cold", &result->cold, most);
        write_figure(json, "hot", &result->hot, most);
        gyre_json_end(json);
    }
    if (result->latency.count > 0)
        write_latency(json, &result->latency, most);
    write_beside(json, result, most);
}

static void write_counted(gyre_json *json, const gyre_result *result)
{
    if (result->memory.peak_rss_bytes > 0) {
        gyre_json_begin_object(json, "memory");
        gyre_member_count(json, "peak_rss_bytes", result->memory.peak_rss_bytes);
        if (result->memory.counted) {
            gyre_json_double(json, "allocations", result->memory.allocations);
            gyre_json_double(json, "allocated_bytes", result->memory.allocated_bytes);
        }
        gyre_json_end(json);
    }
    if (result->instructions.source) {
        gyre_json_begin_object(json, "instructions");
        gyre_json_string(json, "source", result->instructions.source);
        gyre_json_double(json, "per_iteration", result->instructions.per_iteration);
        if (result->instructions.cycles > 0)
            gyre_json_double(json, "cycles_per_iteration", result->instructions.cycles);
        gyre_json_end(json);
    }
}

static void write_change(gyre_json *json, const gyre_comparison *change)
{
    if (!change->baseline)
        return;
    gyre_json_begin_object(json, "change");
    gyre_json_string(json, "baseline", change->baseline);
    gyre_json_double(json, "point", change->point);
    gyre_json_double(json, "low", change->low);
    gyre_json_double(json, "high", change->high);
    gyre_json_double(json, "p", change->p);
    gyre_json_string(json, "verdict", gyre_verdict_name(change->verdict));
    gyre_json_end(json);
}

static bool is_counter(const gyre_fact *fact)
{
    return !fact->text && isfinite(fact->number);
}

static void write_facts(gyre_json *json, const gyre_bench_facts *facts)
{
    size_t counters = 0, notes = 0;

    for (size_t i = 0; i < facts->count; i++) {
        counters += is_counter(&facts->fact[i]);
        notes += facts->fact[i].text != NULL;
    }
    if (counters > 0) {
        gyre_json_begin_object(json, "counters");
        for (size_t i = 0; i < facts->count; i++)
            if (is_counter(&facts->fact[i]))
                gyre_json_double(json, facts->fact[i].name, facts->fact[i].number);
        gyre_json_end(json);
    }
    if (notes > 0) {
        gyre_json_begin_object(json, "notes");
        for (size_t i = 0; i < facts->count; i++)
            if (facts->fact[i].text)
                gyre_json_string(json, facts->fact[i].name, facts->fact[i].text);
        gyre_json_end(json);
    }
}

static void write_identity(gyre_json *json, const gyre_result *result)
{
    gyre_member_text(json, "id", result->id);
    gyre_member_text(json, "suite", result->suite);
    gyre_json_begin_object(json, "axes");
    for (size_t i = 0; i < GYRE_BENCH_AXES; i++) {
        const gyre_result_axis *axis = &result->axes[i];

        if (axis->name && axis->word)
            gyre_json_string(json, axis->name, axis->word);
        else if (axis->name)
            gyre_json_signed(json, axis->name, axis->value);
    }
    gyre_json_end(json);
    if (result->tags & (GYRE_TAG_CPU | GYRE_TAG_GPU | GYRE_TAG_SLOW)) {
        gyre_json_begin_array(json, "tags");
        for (uint32_t tag = GYRE_TAG_CPU; tag <= GYRE_TAG_SLOW; tag *= 2)
            if (result->tags & tag)
                gyre_json_string(json, NULL, gyre_tag_name(tag));
        gyre_json_end(json);
    }
    if (result->threads > 1)
        gyre_member_count(json, "threads", result->threads);
    gyre_member_text(json, "t0", result->t0);
    gyre_member_text(json, "t1", result->t1);
    gyre_member_text(json, "observer", result->observer);
}

void gyre_result_write(gyre_json *json, const gyre_result *result, size_t most_samples)
{
    gyre_json_begin_object(json, NULL);
    write_identity(json, result);
    if (result->started)
        gyre_member_moment(json, "started", result->started);
    gyre_json_string(json, "outcome", gyre_outcome_name(result->outcome));
    gyre_member_some(json, "reason", result->reason);
    gyre_member_some(json, "last_words", result->last_words);
    if (result->warning_count > 0) {
        gyre_json_begin_array(json, "warnings");
        for (size_t i = 0; i < result->warning_count; i++)
            gyre_json_string(json, NULL, result->warnings[i]);
        gyre_json_end(json);
    }
    if (result->bytes)
        gyre_member_count(json, "bytes_per_iteration", result->bytes);
    if (result->items)
        gyre_member_count(json, "items_per_iteration", result->items);
    if (result->operations)
        gyre_member_count(json, "operations_per_iteration", result->operations);
    write_facts(json, &result->facts);
    if (result->outcome == GYRE_OUTCOME_MEASURED)
        write_figures(json, result, most_samples);
    write_counted(json, result);
    write_change(json, &result->change);
    gyre_json_end(json);
}

void gyre_run_write_command(gyre_json *json, const char *key, const gyre_run *run)
{
    gyre_json_begin_array(json, key);
    for (size_t i = 0; i < run->command_count; i++)
        gyre_member_text(json, NULL, run->command[i]);
    gyre_json_end(json);
}

void gyre_run_write_settings(gyre_json *json, const char *key, const gyre_run *run)
{
    gyre_json_begin_object(json, key);
    for (size_t i = 0; i < run->setting_count; i++)
        gyre_member_text(json, run->settings[i].name, run->settings[i].value);
    gyre_json_end(json);
}

void gyre_run_write_options(gyre_json *json, const char *key, const gyre_run *run)
{
    const gyre_method *method = &run->method;

    gyre_json_begin_object(json, key);
    gyre_member_count(json, "sample_count", method->sample_count);
    gyre_member_count(json, "warm_up_ns", method->warm_up_ns);
    gyre_member_count(json, "measurement_ns", method->measurement_ns);
    gyre_json_double(json, "confidence", method->confidence);
    gyre_member_count(json, "resamples", method->resamples);
    gyre_json_double(json, "noise_threshold", method->noise_threshold);
    gyre_json_double(json, "significance", method->significance);
    gyre_json_string(json, "sampling", gyre_sampling_name(method->sampling));
    gyre_json_double(json, "precision", method->precision);
    gyre_member_count(json, "seed", method->seed);
    gyre_json_string(json, "isolate", gyre_isolation_name(run->isolate));
    gyre_json_string(json, "order", gyre_order_name(run->order));
    gyre_json_end(json);
}

static void write_head(gyre_json *json, const gyre_run *run)
{
    gyre_json_string(json, "schema", "gyre.run/1");
    gyre_head_write_start(json, run);
    gyre_run_write_options(json, "options", run);
    gyre_head_write_place(json, run);
}

void gyre_run_write(const gyre_run *run, size_t most_samples, FILE *stream)
{
    gyre_json json = {.stream = stream};

    gyre_json_begin_object(&json, NULL);
    write_head(&json, run);
    gyre_json_begin_array(&json, "benchmarks");
    for (size_t i = 0; i < run->count; i++)
        gyre_result_write(&json, &run->results[i], most_samples);
    gyre_json_end(&json);
    gyre_json_end(&json);
}
