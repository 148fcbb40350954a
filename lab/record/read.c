/* SPDX-License-Identifier: Apache-2.0
 *
 * read: see read.h.
 */
#include "record/read.h"

#include "base/fail.h"
#include "record/document.h"
#include "record/head.h"
#include "record/read_result.h"
#include "record/value.h"

enum { REASON_BYTES = 112 };

static const double MOST = 1e18; /* of what has no limit of its own */
static const gyre_document_kind kind = {"gyre.run/", "a run file", NULL};

/* Older files have fewer options; those keep the value that they have. */
static uint64_t count_or(const gyre_value *object, const char *key, uint64_t otherwise)
{
    return gyre_value_get(object, key).json ? gyre_value_count(object, key) : otherwise;
}

static double number_or(const gyre_value *object, const char *key, double high, double otherwise)
{
    const gyre_value value = gyre_value_get(object, key);

    return value.json ? gyre_value_number(value, 0, high) : otherwise;
}

static void take_options(const gyre_value *root, gyre_run *run)
{
    const gyre_value options = gyre_value_object(gyre_value_get(root, "options"));
    gyre_method *m = &run->method;

    m->sample_count = count_or(&options, "sample_count", m->sample_count);
    m->warm_up_ns = count_or(&options, "warm_up_ns", m->warm_up_ns);
    m->measurement_ns = count_or(&options, "measurement_ns", m->measurement_ns);
    m->confidence = number_or(&options, "confidence", 1, m->confidence);
    m->resamples = count_or(&options, "resamples", m->resamples);
    m->noise_threshold = number_or(&options, "noise_threshold", MOST, m->noise_threshold);
    m->significance = number_or(&options, "significance", 1, m->significance);
    m->precision = number_or(&options, "precision", MOST, m->precision);
    m->seed = count_or(&options, "seed", m->seed);
    m->sampling =
        (gyre_sampling)gyre_value_choice(gyre_value_get(&options, "sampling"), "auto|linear|flat");
    run->isolate =
        (gyre_isolation)gyre_value_choice(gyre_value_get(&options, "isolate"), "group|bench|none");
    run->order =
        (gyre_order)gyre_value_choice(gyre_value_get(&options, "order"), "declared|light|random");
}

static gyre_status check_ids(const gyre_run *run, gyre_complaint *complaint)
{
    gyre_arena arena = {0};
    const char **ids = gyre_arena_array(&arena, run->count + 1, sizeof ids[0]);

    for (size_t i = 0; ids && i < run->count; i++)
        ids[i] = run->results[i].id;
    if (ids)
        gyre_document_check_ids(ids, run->count, complaint);
    gyre_arena_fini(&arena);
    return ids ? GYRE_OK : gyre_fail(GYRE_NO_MEMORY, "out of memory for %zu ids", run->count);
}

static gyre_status take_results(const gyre_value *benchmarks, gyre_run *run)
{
    gyre_status status = GYRE_OK;

    for (size_t i = 0; i < gyre_value_size(benchmarks) && status == GYRE_OK; i++) {
        const gyre_value value = gyre_value_at(benchmarks, i);
        gyre_result result;

        status = gyre_result_take(&value, &run->method, &result);
        if (status != GYRE_OK)
            return status;
        if (result.started == 0)
            result.started = run->started;
        gyre_run_add(run, &result);
    }
    return check_ids(run, benchmarks->complaint);
}

static gyre_status take_run(json_t *json, const char *name, gyre_run **out_run)
{
    gyre_complaint complaint = {""};
    const gyre_value root = {.json = json, .complaint = &complaint};
    const gyre_value benchmarks =
        gyre_value_array(gyre_value_need(&root, "benchmarks"), GYRE_RUN_BENCHMARKS);
    gyre_run *run;
    gyre_status status = gyre_run_create_blank(gyre_value_size(&benchmarks), &run);

    if (status != GYRE_OK)
        return status;
    gyre_head_take(&root, run);
    take_options(&root, run);
    status = take_results(&benchmarks, run);
    if (status == GYRE_OK && run->arena.exhausted)
        status = gyre_fail(GYRE_NO_MEMORY, "out of memory reading '%s'", gyre_document_tail(name));
    if (complaint.text[0])
        status = gyre_document_damaged(&kind, name, complaint.text);
    if (status != GYRE_OK) {
        gyre_run_destroy(run);
        return status;
    }
    *out_run = run;
    return GYRE_OK;
}

gyre_status gyre_run_parse(const char *bytes, size_t length, const char *name, gyre_run **out_run)
{
    json_t *root;
    gyre_status status = gyre_document_parse(&kind, bytes, length, name, &root);

    *out_run = NULL;
    if (status == GYRE_OK)
        status = take_run(root, name, out_run);
    json_decref(root);
    return status;
}

gyre_status gyre_run_read(const char *path, gyre_run **out_run)
{
    json_t *root;
    gyre_status status = gyre_document_read(&kind, path, &root);

    *out_run = NULL;
    if (status == GYRE_OK)
        status = take_run(root, path, out_run);
    json_decref(root);
    return status;
}

gyre_status gyre_result_parse(const char *bytes, size_t length, gyre_result *out_result)
{
    gyre_complaint complaint = {""};
    json_error_t error;
    gyre_status status;
    gyre_value value = {.complaint = &complaint};

    *out_result = (gyre_result){0};
    value.json = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &error);
    if (!value.json && json_error_code(&error) == json_error_out_of_memory)
        return gyre_fail(GYRE_NO_MEMORY, "out of memory for a result");
    if (!value.json)
        return gyre_fail(GYRE_CORRUPT, "what should be a result is not JSON: line %d: %.*s",
                         error.line, REASON_BYTES, error.text);
    status = gyre_result_take(&value, NULL, out_result);
    json_decref(value.json);
    if (complaint.text[0])
        return gyre_fail(GYRE_CORRUPT, "what should be a result is not: %s", complaint.text);
    return status;
}
