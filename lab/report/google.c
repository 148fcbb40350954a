/* SPDX-License-Identifier: Apache-2.0
 *
 * google: see google.h.
 */
#include "report/google.h"

#include <string.h>

#include "base/json.h"

enum { NAME_BYTES = 512 };

/* Members that a run does not know have the value that says least: readers in typed languages need
 * them to be there. */
static void write_context(gyre_json *json, const gyre_run *run)
{
    struct tm utc;
    char date[40] = "";

    if (gmtime_r(&run->started, &utc))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S+00:00", &utc);
    gyre_json_begin_object(json, "context");
    gyre_json_string(json, "date", date);
    gyre_json_string(json, "host_name", "");
    gyre_json_string(json, "executable", run->command_count ? run->command[0] : "");
    gyre_json_unsigned(json, "num_cpus", run->machine.cpus);
    gyre_json_unsigned(json, "mhz_per_cpu", 0);
    gyre_json_bool(json, "cpu_scaling_enabled", false);
    gyre_json_begin_array(json, "caches");
    gyre_json_end(json);
    gyre_json_begin_array(json, "load_avg");
    gyre_json_end(json);
    gyre_json_string(json, "library_version", run->version ? run->version : "");
    gyre_json_string(json, "library_build_type",
                     run->build && strstr(run->build, "Debug") ? "debug" : "release");
    if (run->machine.cpu)
        gyre_json_string(json, "cpu", run->machine.cpu);
    if (run->machine.kernel)
        gyre_json_string(json, "kernel", run->machine.kernel);
    gyre_json_unsigned(json, "json_schema_version", 1);
    gyre_json_end(json);
}

/* What every entry begins with. compare.py sorts by the two indices. */
static void begin_entry(gyre_json *json, const gyre_result *result, size_t index,
                        const char *aggregate)
{
    char name[NAME_BYTES];

    snprintf(name, sizeof name, "%s%s%s", result->id, aggregate ? "_" : "",
             aggregate ? aggregate : "");
    gyre_json_begin_object(json, NULL);
    gyre_json_string(json, "name", name);
    gyre_json_unsigned(json, "family_index", index);
    gyre_json_unsigned(json, "per_family_instance_index", 0);
    gyre_json_string(json, "run_name", result->id);
    gyre_json_string(json, "run_type", aggregate ? "aggregate" : "iteration");
}

static void write_times(gyre_json *json, uint64_t iterations, double ns)
{
    gyre_json_unsigned(json, "iterations", iterations);
    gyre_json_double(json, "real_time", ns);
    gyre_json_double(json, "cpu_time", ns);
    gyre_json_string(json, "time_unit", "ns");
}

static uint64_t threads_of(const gyre_result *result)
{
    return result->threads ? result->threads : 1;
}

static void write_sample(gyre_json *json, const gyre_result *result, size_t index, size_t sample)
{
    const gyre_samples *samples = &result->time.samples;
    const double ns = samples->times_ns[sample] / (double)samples->iterations[sample];

    begin_entry(json, result, index, NULL);
    gyre_json_unsigned(json, "repetitions", samples->count);
    gyre_json_unsigned(json, "repetition_index", sample);
    gyre_json_unsigned(json, "threads", threads_of(result));
    write_times(json, samples->iterations[sample], ns);
    if (result->bytes)
        gyre_json_double(json, "bytes_per_second", (double)result->bytes / ns * 1e9);
    if (result->items)
        gyre_json_double(json, "items_per_second", (double)result->items / ns * 1e9);
    gyre_json_end(json);
}

static void write_aggregate(gyre_json *json, const gyre_result *result, size_t index,
                            const char *name, const char *unit, double value)
{
    const size_t repetitions = result->time.samples.count;

    begin_entry(json, result, index, name);
    gyre_json_unsigned(json, "repetitions", repetitions);
    gyre_json_unsigned(json, "threads", threads_of(result));
    gyre_json_string(json, "aggregate_name", name);
    gyre_json_string(json, "aggregate_unit", unit);
    write_times(json, repetitions, value);
    gyre_json_end(json);
}

static void write_measured(gyre_json *json, const gyre_result *result, size_t index)
{
    const double mean = result->mean.point;

    for (size_t i = 0; i < result->time.samples.count; i++)
        write_sample(json, result, index, i);
    write_aggregate(json, result, index, "mean", "time", mean);
    write_aggregate(json, result, index, "median", "time", result->time.median_ns);
    write_aggregate(json, result, index, "stddev", "time", result->std_dev.point);
    write_aggregate(json, result, index, "cv", "percentage",
                    mean > 0 ? result->std_dev.point / mean : 0);
}

/* With a time of 0, as the original has it: compare.py reads the time of every entry. */
static void write_failed(gyre_json *json, const gyre_result *result, size_t index)
{
    begin_entry(json, result, index, NULL);
    gyre_json_unsigned(json, "repetitions", 1);
    gyre_json_unsigned(json, "repetition_index", 0);
    gyre_json_unsigned(json, "threads", threads_of(result));
    gyre_json_bool(json, "error_occurred", true);
    gyre_json_string(json, "error_message", result->reason ? result->reason : "");
    write_times(json, 0, 0);
    gyre_json_end(json);
}

void gyre_google_write(FILE *stream, const gyre_run *run)
{
    gyre_json json = {.stream = stream};

    gyre_json_begin_object(&json, NULL);
    write_context(&json, run);
    gyre_json_begin_array(&json, "benchmarks");
    for (size_t i = 0; i < run->count; i++) {
        if (run->results[i].outcome == GYRE_OUTCOME_MEASURED)
            write_measured(&json, &run->results[i], i);
        else if (run->results[i].outcome == GYRE_OUTCOME_FAILED)
            write_failed(&json, &run->results[i], i);
    }
    gyre_json_end(&json);
    gyre_json_end(&json);
}
