/* SPDX-License-Identifier: Apache-2.0
 *
 * run: everything one `gyre bench` did, and its file (gyre.run/1, docs/formats/run.md).
 *
 * A run stands on its own, whether it was just measured or read from a file.
 *
 * Threads   one.
 * Owns      its results, texts and arrays.
 * Not here  reading a run (record/read.h), baselines (record/baseline.h).
 */
#ifndef GYRE_RECORD_RUN_H
#define GYRE_RECORD_RUN_H

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "base/json.h"
#include "bench/arena.h"
#include "bench/method.h"
#include "bench/result.h"
#include "bench/schedule.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "record/commit.h"

/* What is not known is NULL or 0. */
typedef struct gyre_run_machine {
    const char *cpu, *hypervisor, *kernel, *huge_pages;
    uint64_t cpus, allowed_cpus, memory_bytes;
    double cpu_quota;
    const char *clock_source;
    double clock_cost_ns, clock_resolution_ns, clock_error_ppm;
} gyre_run_machine;

typedef struct gyre_run_setting {
    const char *name, *value;
} gyre_run_setting;

typedef struct gyre_run {
    const char *version, *build; /* of the library that measured */
    time_t started;
    double duration_s;
    bool interrupted;
    const char **command; /* the words of the command line */
    size_t command_count;
    gyre_method method;
    gyre_isolation isolate;
    gyre_order order;
    gyre_run_setting *settings; /* those that were not at their default */
    size_t setting_count;
    gyre_run_machine machine;
    gyre_commit commit;
    gyre_result *results; /* one for each case that came to an end, in order */
    size_t count, capacity;
    gyre_arena arena; /* every text and array above but the results' own */
} gyre_run;

/* An empty run with room for `capacity` results, starting now on this machine. */
GYRE_MUST_USE gyre_status gyre_run_create(size_t capacity, int argc, char *const *argv,
                                          gyre_run **out_run);

/* An empty run with room for `capacity` results, of nowhere and no time: for readers. */
GYRE_MUST_USE gyre_status gyre_run_create_blank(size_t capacity, gyre_run **out_run);

/* Moves the result into the run, which has room for it; `result` is empty afterwards. */
void gyre_run_add(gyre_run *run, gyre_result *result);

size_t gyre_run_count(const gyre_run *run, gyre_outcome outcome);

/* The result of that id, or NULL. */
const gyre_result *gyre_run_find(const gyre_run *run, const char *id);

/* The run as JSON, with every sample, at most `most_samples` of each series (0: all). Errors stay
 * in the stream. */
void gyre_run_write(const gyre_run *run, size_t most_samples, FILE *stream);

/* Members of it, alone: an array of words and two objects. */
void gyre_run_write_command(gyre_json *json, const char *key, const gyre_run *run);
void gyre_run_write_options(gyre_json *json, const char *key, const gyre_run *run);
void gyre_run_write_settings(gyre_json *json, const char *key, const gyre_run *run);

/* One result as an element of "benchmarks". */
void gyre_result_write(gyre_json *json, const gyre_result *result, size_t most_samples);

/* Replaces `path` by the run. GYRE_IO with the reason, and then an older file is as it was. */
GYRE_MUST_USE gyre_status gyre_run_save(const gyre_run *run, const char *path);
void gyre_run_destroy(gyre_run *run);

#endif
