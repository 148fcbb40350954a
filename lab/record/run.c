/* SPDX-License-Identifier: Apache-2.0
 *
 * run: see run.h.
 */
#include "record/run.h"

#include "base/alloc.h"
#include "base/json.h"
#include "gyre/cpu.h"
#include "gyre/library.h"
#include "gyre/settings.h"
#include "record/file.h"

gyre_status gyre_run_create(size_t capacity, gyre_run **out_run)
{
    gyre_run *run;
    gyre_status status;
    void *block;

    *out_run = NULL;
    status = gyre_alloc(NULL, 1, sizeof *run, &block);
    if (status != GYRE_OK)
        return status;
    run = block;
    status = gyre_alloc(NULL, capacity, sizeof run->results[0], &block);
    if (status != GYRE_OK) {
        gyre_run_destroy(run);
        return status;
    }
    run->results = block;
    run->capacity = capacity;
    run->started = time(NULL);
    run->clock.struct_size = sizeof run->clock;
    (void)!gyre_clock_describe(&run->clock);
    (void)!gyre_topology_create(NULL, &run->topology);
    *out_run = run;
    return GYRE_OK;
}

size_t gyre_run_count(const gyre_run *run, gyre_outcome outcome)
{
    size_t count = 0;

    for (size_t i = 0; i < run->count; i++)
        count += run->results[i].outcome == outcome;
    return count;
}

static void write_machine(gyre_json *json, const gyre_run *run)
{
    const gyre_cpu_info *cpu = gyre_cpu_describe();

    gyre_json_begin_object(json, "machine");
    gyre_json_string(json, "cpu", cpu->model_name);
    gyre_json_string(json, "hypervisor", cpu->hypervisor);
    if (run->topology) {
        const gyre_topology_info *info = gyre_topology_describe(run->topology);

        gyre_json_string(json, "kernel", info->kernel_release);
        gyre_json_unsigned(json, "cpus", info->cpu_count);
        gyre_json_unsigned(json, "allowed_cpus", info->allowed_count);
        gyre_json_double(json, "cpu_quota", info->cpu_quota);
        gyre_json_unsigned(json, "memory_bytes", info->memory_bytes);
        gyre_json_string(json, "transparent_huge_pages", gyre_thp_mode_name(info->thp));
    }
    if (run->clock.source) {
        gyre_json_begin_object(json, "clock");
        gyre_json_string(json, "source", run->clock.source);
        gyre_json_double(json, "cost_ns", run->clock.cost_ns);
        gyre_json_double(json, "resolution_ns", run->clock.resolution_ns);
        gyre_json_double(json, "error_ppm", run->clock.error_ppm);
        gyre_json_end(json);
    }
    gyre_json_end(json);
}

static void write_head(gyre_json *json, const gyre_run *run)
{
    const gyre_measure_options *options = &run->options;
    struct tm utc;
    char started[32] = "";

    if (gmtime_r(&run->started, &utc))
        strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    gyre_json_string(json, "schema", "gyre.run/1");
    gyre_json_string(json, "gyre", gyre_version());
    gyre_json_string(json, "build", gyre_build());
    gyre_json_string(json, "started", started);
    gyre_json_double(json, "duration_s", run->duration_s);
    gyre_json_bool(json, "interrupted", run->interrupted);
    gyre_json_begin_array(json, "command");
    for (int i = 0; i < run->argc; i++)
        gyre_json_string(json, NULL, run->argv[i]);
    gyre_json_end(json);
    gyre_json_begin_object(json, "options");
    gyre_json_unsigned(json, "sample_count", options->sample_count);
    gyre_json_unsigned(json, "warm_up_ns", options->warm_up_ns);
    gyre_json_unsigned(json, "measurement_ns", options->measurement_ns);
    gyre_json_double(json, "confidence", options->confidence);
    gyre_json_end(json);
    gyre_json_begin_object(json, "settings");
    for (size_t i = 0; gyre_settings_at(i); i++)
        if (gyre_settings_at(i)->origin != GYRE_ORIGIN_DEFAULT)
            gyre_json_string(json, gyre_settings_at(i)->name, gyre_settings_at(i)->value);
    gyre_json_end(json);
}

static void write_figures(gyre_json *json, const gyre_result *result)
{
    gyre_json_begin_object(json, "time_ns");
    gyre_json_double(json, "median", result->median_ns);
    gyre_json_double(json, "low", result->ns.low);
    gyre_json_double(json, "high", result->ns.high);
    gyre_json_double(json, "coverage", result->ns.coverage);
    gyre_json_double(json, "min", result->min_ns);
    gyre_json_double(json, "max", result->max_ns);
    gyre_json_end(json);
    gyre_json_begin_object(json, "sample");
    gyre_json_string(json, "mode", "flat");
    gyre_json_unsigned(json, "iterations", result->iterations);
    gyre_json_begin_array(json, "times_ns");
    for (size_t i = 0; i < result->sample_count; i++)
        gyre_json_double(json, NULL, result->times_ns[i]);
    gyre_json_end(json);
    gyre_json_end(json);
}

static void write_result(gyre_json *json, const gyre_result *result)
{
    const gyre_bench_case *c = result->c;

    gyre_json_begin_object(json, NULL);
    gyre_json_string(json, "id", c->id);
    gyre_json_string(json, "suite", c->suite->name);
    gyre_json_begin_object(json, "axes");
    for (size_t i = 0; i < GYRE_BENCH_AXES; i++)
        if (c->bench.axes[i].name)
            gyre_json_signed(json, c->bench.axes[i].name, c->values[i]);
    gyre_json_end(json);
    gyre_json_string(json, "t0", c->bench.t0);
    gyre_json_string(json, "t1", c->bench.t1);
    gyre_json_string(json, "observer", c->bench.observer);
    gyre_json_string(json, "outcome", gyre_outcome_name(result->outcome));
    if (result->reason[0])
        gyre_json_string(json, "reason", result->reason);
    if (result->bytes)
        gyre_json_unsigned(json, "bytes_per_iteration", result->bytes);
    if (result->items)
        gyre_json_unsigned(json, "items_per_iteration", result->items);
    if (result->outcome == GYRE_OUTCOME_MEASURED)
        write_figures(json, result);
    gyre_json_end(json);
}

void gyre_run_write(const gyre_run *run, FILE *stream)
{
    gyre_json json = {.stream = stream};

    gyre_json_begin_object(&json, NULL);
    write_head(&json, run);
    write_machine(&json, run);
    gyre_json_begin_array(&json, "benchmarks");
    for (size_t i = 0; i < run->count; i++)
        write_result(&json, &run->results[i]);
    gyre_json_end(&json);
    gyre_json_end(&json);
}

static void write_to(FILE *stream, const void *run)
{
    gyre_run_write(run, stream);
}

gyre_status gyre_run_save(const gyre_run *run, const char *path)
{
    return gyre_file_replace(path, write_to, run);
}

void gyre_run_destroy(gyre_run *run)
{
    if (!run)
        return;
    for (size_t i = 0; i < run->count; i++)
        gyre_result_fini(&run->results[i]);
    gyre_topology_destroy(run->topology);
    gyre_free(NULL, run->results, run->capacity, sizeof run->results[0]);
    gyre_free(NULL, run, 1, sizeof *run);
}
