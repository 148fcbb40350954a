/* SPDX-License-Identifier: Apache-2.0
 *
 * read: see read.h.
 */
#include "record/read.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "record/read_result.h"
#include "record/value.h"

enum { NAME_BYTES = 96, REASON_BYTES = 56 };

static const size_t MOST_BYTES = (size_t)1 << 30;
static const double MOST = 1e18; /* of what has no limit of its own */
static const char FAMILY[] = "gyre.run/";

/* The end of a long name says more than its beginning. */
static const char *tail(const char *name)
{
    const size_t length = strlen(name);

    if (length <= NAME_BYTES)
        return name;
    name += length - NAME_BYTES;
    while (((unsigned char)*name & 0xC0) == 0x80) /* not the rest of a character */
        name++;
    return name;
}

static gyre_status damaged(const char *name, const char *what)
{
    return gyre_fail(GYRE_CORRUPT, "'%s': %s; it is damaged: remove it or choose another",
                     tail(name), what);
}

static gyre_status not_json(const char *name, const json_error_t *error)
{
    char what[REASON_BYTES + 32];

    if (json_error_code(error) == json_error_out_of_memory)
        return gyre_fail(GYRE_NO_MEMORY, "out of memory reading '%s'", tail(name));
    snprintf(what, sizeof what, "line %d: %.*s", error->line, REASON_BYTES, error->text);
    return damaged(name, what);
}

static gyre_status check_schema(const json_t *root, const char *name)
{
    const char *schema = json_string_value(json_object_get(root, "schema"));
    char *end;
    unsigned long number;

    if (!schema || strncmp(schema, FAMILY, strlen(FAMILY)) != 0)
        return gyre_fail(GYRE_CORRUPT, "'%s' is not a run file (gyre.run/1); choose another",
                         tail(name));
    number = strtoul(schema + strlen(FAMILY), &end, 10);
    if (strcmp(schema + strlen(FAMILY), "1") == 0)
        return GYRE_OK;
    if (*end == '\0' && number > 1)
        return gyre_fail(
            GYRE_UNSUPPORTED,
            "'%s' was written by a newer Gyre (%.20s): update Gyre, remove the file or "
            "choose another",
            tail(name), schema);
    return gyre_fail(GYRE_CORRUPT, "'%s' is not a run file (gyre.run/1); choose another",
                     tail(name));
}

static uint64_t count_of(const gyre_value *object, const char *key)
{
    return (uint64_t)gyre_value_integer(gyre_value_get(object, key), 0, INT64_MAX);
}

/* Older files have fewer options; those keep the value that they have. */
static uint64_t count_or(const gyre_value *object, const char *key, uint64_t otherwise)
{
    return gyre_value_get(object, key).json ? count_of(object, key) : otherwise;
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

static void take_command(const gyre_value *root, gyre_run *run)
{
    const gyre_value command = gyre_value_array(gyre_value_get(root, "command"), SIZE_MAX);
    const size_t count = gyre_value_size(&command);

    if (count == 0)
        return;
    run->command = gyre_arena_array(&run->arena, count, sizeof run->command[0]);
    for (size_t i = 0; run->command && i < count; i++)
        run->command[run->command_count++] =
            gyre_value_text(gyre_value_at(&command, i), &run->arena);
}

static void take_settings(const gyre_value *root, gyre_run *run)
{
    const gyre_value settings = gyre_value_object(gyre_value_get(root, "settings"));
    const size_t count = json_object_size(settings.json);
    const char *name;
    json_t *json;

    if (count == 0)
        return;
    run->settings = gyre_arena_array(&run->arena, count, sizeof run->settings[0]);
    if (!run->settings)
        return;
    json_object_foreach(settings.json, name, json)
    {
        gyre_run_setting *setting = &run->settings[run->setting_count++];

        setting->name = gyre_arena_text(&run->arena, name);
        setting->value = gyre_value_text(gyre_value_need(&settings, name), &run->arena);
    }
}

static void take_machine(const gyre_value *root, gyre_run *run)
{
    const gyre_value object = gyre_value_object(gyre_value_get(root, "machine"));
    const gyre_value clock = gyre_value_object(gyre_value_get(&object, "clock"));
    gyre_run_machine *machine = &run->machine;
    gyre_arena *arena = &run->arena;

    machine->cpu = gyre_value_text(gyre_value_get(&object, "cpu"), arena);
    machine->hypervisor = gyre_value_text(gyre_value_get(&object, "hypervisor"), arena);
    machine->kernel = gyre_value_text(gyre_value_get(&object, "kernel"), arena);
    machine->huge_pages = gyre_value_text(gyre_value_get(&object, "transparent_huge_pages"), arena);
    machine->cpus = count_of(&object, "cpus");
    machine->allowed_cpus = count_of(&object, "allowed_cpus");
    machine->memory_bytes = count_of(&object, "memory_bytes");
    machine->cpu_quota = number_or(&object, "cpu_quota", MOST, 0);
    machine->clock_source = gyre_value_text(gyre_value_get(&clock, "source"), arena);
    machine->clock_cost_ns = number_or(&clock, "cost_ns", MOST, 0);
    machine->clock_resolution_ns = number_or(&clock, "resolution_ns", MOST, 0);
    machine->clock_error_ppm = number_or(&clock, "error_ppm", MOST, 0);
}

/* Without an id there is none. */
static void take_commit(const gyre_value *root, gyre_run *run)
{
    const gyre_value object = gyre_value_object(gyre_value_get(root, "commit"));
    const gyre_commit commit = {
        .id = gyre_value_text(gyre_value_get(&object, "id"), &run->arena),
        .branch = gyre_value_text(gyre_value_get(&object, "branch"), &run->arena),
        .dirty = gyre_value_bool(gyre_value_get(&object, "dirty")),
    };

    run->commit = commit.id ? commit : (gyre_commit){0};
}

static void take_head(const gyre_value *root, gyre_run *run)
{
    const char *version = gyre_value_text(gyre_value_get(root, "gyre"), &run->arena);
    const char *build = gyre_value_text(gyre_value_get(root, "build"), &run->arena);

    run->version = version ? version : "";
    run->build = build ? build : "";
    run->started = gyre_value_moment(gyre_value_get(root, "started"));
    run->duration_s = number_or(root, "duration_s", MOST, 0);
    run->interrupted = gyre_value_bool(gyre_value_get(root, "interrupted"));
    take_command(root, run);
    take_options(root, run);
    take_settings(root, run);
    take_machine(root, run);
    take_commit(root, run);
}

static int by_letters(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;

    return strcmp(*a, *b);
}

/* Sorted, because a file may hold many with long ids that begin alike. */
static gyre_status check_ids(const gyre_run *run, gyre_complaint *complaint)
{
    const char **ids;
    gyre_status status;
    void *block;

    if (run->count < 2)
        return GYRE_OK;
    status = gyre_alloc(NULL, run->count, sizeof ids[0], &block);
    if (status != GYRE_OK)
        return status;
    ids = block;
    for (size_t i = 0; i < run->count; i++)
        ids[i] = run->results[i].id;
    qsort(ids, run->count, sizeof ids[0], by_letters);
    for (size_t i = 1; i < run->count && !complaint->text[0]; i++)
        if (strcmp(ids[i - 1], ids[i]) == 0)
            snprintf(complaint->text, sizeof complaint->text, "the id '%.64s' is there twice",
                     ids[i]);
    gyre_free(NULL, block, run->count, sizeof ids[0]);
    return GYRE_OK;
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
    gyre_status status = check_schema(json, name);

    if (status == GYRE_OK)
        status = gyre_run_create_blank(gyre_value_size(&benchmarks), &run);
    if (status != GYRE_OK)
        return status;
    take_head(&root, run);
    status = take_results(&benchmarks, run);
    if (status == GYRE_OK && run->arena.exhausted)
        status = gyre_fail(GYRE_NO_MEMORY, "out of memory reading '%s'", tail(name));
    if (complaint.text[0])
        status = damaged(name, complaint.text);
    if (status != GYRE_OK) {
        gyre_run_destroy(run);
        return status;
    }
    *out_run = run;
    return GYRE_OK;
}

gyre_status gyre_run_parse(const char *bytes, size_t length, const char *name, gyre_run **out_run)
{
    json_error_t error;
    gyre_status status;
    json_t *root;

    *out_run = NULL;
    root = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return not_json(name, &error);
    status = take_run(root, name, out_run);
    json_decref(root);
    return status;
}

typedef struct source {
    FILE *stream;
    size_t left; /* bytes that may still come */
    bool large;  /* more came */
    int error;   /* errno of a read that failed */
} source;

static size_t give_bytes(void *buffer, size_t size, void *arg)
{
    source *from = arg;
    const size_t got = fread(buffer, 1, size, from->stream);

    if (ferror(from->stream))
        from->error = errno ? errno : EIO;
    from->large = got > from->left;
    if (from->error || from->large)
        return (size_t)-1;
    from->left -= got;
    return got;
}

static gyre_status cannot_read(const char *path, int error)
{
    if (error == ENOENT || error == ENOTDIR)
        return gyre_fail_native(GYRE_NOT_FOUND, error, "there is no file '%s'", tail(path));
    return gyre_fail_native(GYRE_IO, error, "cannot read '%s': %s", tail(path), strerror(error));
}

/* Says so before a gigabyte is read, where that can be known. */
static bool is_large(FILE *stream)
{
    struct stat about;

    return fstat(fileno(stream), &about) == 0 && S_ISREG(about.st_mode) &&
           (uintmax_t)about.st_size > MOST_BYTES;
}

gyre_status gyre_run_read(const char *path, gyre_run **out_run)
{
    source from = {.stream = fopen(path, "rbe"), .left = MOST_BYTES};
    json_error_t error;
    gyre_status status;
    json_t *root = NULL;

    *out_run = NULL;
    if (!from.stream)
        return cannot_read(path, errno);
    from.large = is_large(from.stream);
    if (!from.large)
        root = json_load_callback(give_bytes, &from, JSON_REJECT_DUPLICATES, &error);
    if (root)
        status = take_run(root, path, out_run);
    else if (from.error)
        status = cannot_read(path, from.error);
    else if (from.large)
        status =
            gyre_fail(GYRE_UNSUPPORTED, "'%s' is larger than 1 GiB: choose another", tail(path));
    else
        status = not_json(path, &error);
    json_decref(root);
    fclose(from.stream);
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
                         error.line, 2 * REASON_BYTES, error.text);
    status = gyre_result_take(&value, NULL, out_result);
    json_decref(value.json);
    if (complaint.text[0])
        return gyre_fail(GYRE_CORRUPT, "what should be a result is not: %s", complaint.text);
    return status;
}
