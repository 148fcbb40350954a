/* SPDX-License-Identifier: Apache-2.0
 *
 * run_fake: runs for the tests of this folder: one with every member set, and small ones.
 */
#ifndef GYRE_RECORD_RUN_FAKE_H
#define GYRE_RECORD_RUN_FAKE_H

#include <stdlib.h>
#include <string.h>

#include "record/run.h"

enum { FAKE_SAMPLES = 20 };

/* Times of about `ns` an iteration; the same every time. */
static inline void fake_samples(gyre_result *result, gyre_samples *samples, size_t count, double ns)
{
    if (!gyre_samples_init(result, samples, count))
        abort();
    for (size_t i = 0; i < count; i++) {
        samples->iterations[i] = 10;
        samples->times_ns[i] = 10 * ns * (1 + 0.0001 * (double)(i * 7 % 5));
    }
}

static inline gyre_result fake_result(const char *id, gyre_outcome outcome)
{
    gyre_result result = {
        .outcome = outcome, .reason = "", .last_words = "", .started = 1000000000};

    result.id = gyre_arena_text(&result.arena, id);
    result.suite = "s";
    result.t0 = "a \"quoted\" start";
    result.t1 = "b\n\x7f";
    result.observer = "no UTF-8: \xff";
    return result;
}

static inline gyre_result fake_measured(const char *id, double ns)
{
    gyre_result result = fake_result(id, GYRE_OUTCOME_MEASURED);

    fake_samples(&result, &result.time.samples, FAKE_SAMPLES, ns);
    result.time.median_ns = ns;
    result.time.ns = (gyre_interval){ns, ns, 0.95};
    return result;
}

static inline void fake_figure(gyre_result *result, gyre_figure *figure, double ns)
{
    figure->median_ns = ns;
    figure->ns = (gyre_interval){ns - 0.1, ns + 1 / 3.0, 0.95};
    fake_samples(result, &figure->samples, FAKE_SAMPLES, ns);
    figure->samples.steal_ticks = gyre_arena_array(&result->arena, FAKE_SAMPLES, sizeof(uint32_t));
    figure->samples.switches = gyre_arena_array(&result->arena, FAKE_SAMPLES, sizeof(uint32_t));
    for (uint32_t i = 0; i < FAKE_SAMPLES; i++) {
        figure->samples.steal_ticks[i] = i;
        figure->samples.switches[i] = 100 + i;
    }
}

static inline void fake_latency(gyre_result *result)
{
    static double calls[] = {3, 1, 4, 1.5, 9};
    gyre_latency *latency = &result->latency;

    latency->count = sizeof calls / sizeof calls[0];
    latency->calls_ns = calls;
    latency->rate_hz = 1000.5;
    latency->max_ns = 9;
    latency->quantile_count = GYRE_RESULT_QUANTILES;
    for (size_t i = 0; i < GYRE_RESULT_QUANTILES; i++) {
        latency->quantile[i].p = 0.5 + 0.1 * (double)i;
        latency->quantile[i].ns = 3 + (double)i;
        latency->quantile[i].interval = (gyre_interval){1, 4, 0.9};
    }
}

/* Every member set. */
static inline gyre_result fake_full(const char *id)
{
    gyre_result result = fake_result(id, GYRE_OUTCOME_MEASURED);

    result.axes[0] = (gyre_result_axis){.name = "bytes", .value = INT64_MIN};
    result.axes[1] = (gyre_result_axis){.name = "policy", .word = "block"};
    result.tags = GYRE_TAG_GPU | GYRE_TAG_SLOW;
    result.threads = 4;
    result.last_words = "bye";
    gyre_result_warn(&result, "doubtful");
    gyre_result_warn(&result, "very doubtful");
    result.bytes = 64;
    result.items = 2;
    result.operations = 3;
    fake_figure(&result, &result.time, 15.25);
    result.time.samples.linear = true;
    for (size_t i = 0; i < FAKE_SAMPLES; i++)
        result.time.samples.iterations[i] = 10 * (i + 1);
    result.min_ns = 14;
    result.max_ns = 17.125;
    result.mean = (gyre_estimate){1, 0.5, 1.5, 0.01};
    result.median = (gyre_estimate){2, 1.5, 2.5, 0.02};
    result.std_dev = (gyre_estimate){3, 2.5, 3.5, 0.03};
    result.mad = (gyre_estimate){4, 3.5, 4.5, 0.04};
    result.slope = (gyre_estimate){5, 4.5, 5.5, 0.05};
    result.autocorrelation = 2.5;
    result.block = 5;
    result.outliers =
        (gyre_outliers){.low_severe = 1, .low_mild = 2, .high_mild = 3, .high_severe = 4};
    result.device_clock = "CUDA events";
    fake_figure(&result, &result.cold, 30);
    fake_figure(&result, &result.hot, 20);
    fake_latency(&result);
    result.beside = (gyre_ratio){.id = "g/bare",
                                 .times_ns = result.time.samples.times_ns,
                                 .times = {1.5, 1.25, 1.75, 0.1},
                                 .more_ns = {-5, -6.5, 2, 1}};
    result.memory.peak_rss_bytes = 4096;
    result.memory.counted = true;
    result.memory.allocations = 1.5;
    result.memory.allocated_bytes = 96;
    result.instructions.source = "perf";
    result.instructions.per_iteration = 123.5;
    result.instructions.cycles = 456;
    result.change = (gyre_comparison){"base", 0.05, 0.04, 0.06, 0.001, GYRE_VERDICT_REGRESSED};
    return result;
}

/* To be called where the result stays: facts point to it. */
static inline void fake_facts(gyre_result *result)
{
    result->facts.owner = result;
    gyre_bench_note(&result->facts, "kernel", "avx512");
    gyre_bench_count(&result->facts, "lost", 3);
    gyre_bench_count(&result->facts, "share", -0.125);
}

static inline void fake_head(gyre_run *run)
{
    static const char *command[] = {"gyre", "bench", "sum"};
    static gyre_run_setting settings[] = {{"GYRE_LOG", "info"}, {"TERM", ""}};

    run->version = "0.1.0";
    run->build = "gcc";
    run->started = 1234567890;
    run->duration_s = 65.658465777;
    run->interrupted = true;
    run->command = command;
    run->command_count = 3;
    run->method = (gyre_method){
        .sampling = GYRE_SAMPLING_FLAT,
        .sample_count = 11,
        .warm_up_ns = 12,
        .measurement_ns = 13,
        .precision = 0.01,
        .confidence = 0.9,
        .resamples = 14,
        .noise_threshold = 0.02,
        .significance = 0.03,
        .seed = 15,
    };
    run->isolate = GYRE_ISOLATE_NONE;
    run->order = GYRE_ORDER_RANDOM;
    run->settings = settings;
    run->setting_count = 2;
    run->machine = (gyre_run_machine){"cpu", "KVM", "6.1", "madvise", 8,  4,
                                      1024,  1.5,   "tsc", 20.5,      18, 24.04439595359003};
    run->commit = (gyre_commit){"1a2b3c", "topic", true};
}

/* Room for five results; none is in it yet. */
static inline gyre_run *fake_run(void)
{
    gyre_run *run;

    if (gyre_run_create_blank(5, &run) != GYRE_OK)
        abort();
    fake_head(run);
    return run;
}

static inline void fake_add(gyre_run *run, gyre_result result)
{
    gyre_run_add(run, &result);
}

/* One of each kind, and everything set. */
static inline gyre_run *fake_full_run(void)
{
    gyre_run *run = fake_run();

    fake_add(run, fake_full("g/full"));
    fake_facts(&run->results[0]);
    fake_add(run, fake_result("g/failed", GYRE_OUTCOME_FAILED));
    run->results[1].reason = "the check says that its answer is wrong";
    fake_add(run, fake_result("g/skipped", GYRE_OUTCOME_SKIPPED));
    run->results[2].reason = "no GPU";
    fake_add(run, fake_result("g/checked", GYRE_OUTCOME_CHECKED));
    fake_add(run, fake_result("g/interrupted", GYRE_OUTCOME_INTERRUPTED));
    return run;
}

/* The run as text; freed by the caller. */
static inline char *fake_text(const gyre_run *run, size_t most_samples)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        abort();
    gyre_run_write(run, most_samples, stream);
    fclose(stream);
    return text;
}

#endif
