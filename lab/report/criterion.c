/* SPDX-License-Identifier: Apache-2.0
 *
 * criterion: see criterion.h.
 */
#include "report/criterion.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/text.h"
#include "bench/arena.h"
#include "record/file.h"
#include "stat/order.h"
#include "stat/outlier.h"

enum { PART_BYTES = 64, TITLE_BYTES = 100, SUFFIX_BYTES = 24 };

/* Where one benchmark goes. */
typedef struct place {
    const gyre_run *run;
    const gyre_result *result;
    const char *function, *value; /* in the id; NULL: none */
    size_t group_length, function_length;
    gyre_fences fences;
    char directory[3 * (PART_BYTES + 1) + SUFFIX_BYTES];
} place;

/* `most`, or a little less where that would cut a character of UTF-8 in two. */
static size_t cut(const char *text, size_t length, size_t most)
{
    if (length <= most)
        return length;
    while (most > 0 && ((unsigned char)text[most] & 0xC0) == 0x80)
        most--;
    return most;
}

static void append_part(place *p, const char *text, size_t length)
{
    static const char unsafe[] = "?\"/\\*<>:|^";
    char *out = p->directory + strlen(p->directory);

    if (p->directory[0])
        *out++ = '/';
    length = cut(text, length, PART_BYTES);
    memcpy(out, text, length);
    out[length] = '\0';
    for (char *odd = strpbrk(out, unsafe); odd; odd = strpbrk(odd, unsafe))
        *odd = '_';
}

/* Nothing that means another place: no empty part, none of dots alone, no control characters. */
static bool is_safe(const char *id)
{
    const char *part = id;

    for (;;) {
        const size_t length = strcspn(part, "/");

        if (length == 0 || (length <= 2 && strspn(part, ".") >= length))
            return false;
        for (size_t i = 0; i < length; i++)
            if ((unsigned char)part[i] < 0x20 || part[i] == 0x7f)
                return false;
        if (!part[length])
            return true;
        part += length + 1;
    }
}

static bool is_taken(const place *places, const place *p)
{
    for (const place *other = places; other < p; other++)
        if (strcmp(other->directory, p->directory) == 0)
            return true;
    return false;
}

/* Names what became equal by cutting or replacing as Criterion does: x, x_2, x_3. */
static void make_unique(const place *places, place *p)
{
    const size_t length = strlen(p->directory);

    for (size_t i = 2; is_taken(places, p); i++)
        snprintf(p->directory + length, SUFFIX_BYTES, "_%zu", i);
}

/* The id behind its n-th slash; NULL when it has fewer. */
static const char *behind_slash(const char *id, size_t n)
{
    for (; n > 0 && id; n--) {
        id = strchr(id, '/');
        id = id ? id + 1 : NULL;
    }
    return id;
}

/* The last parts of an id are the values of the axes, as many as there are. */
static void split(place *p)
{
    const char *id = p->result->id, *rest;
    size_t parts = 1, axes = 0, first_value = 2;

    for (const char *c = id; *c; c++)
        parts += *c == '/';
    for (size_t i = 0; i < GYRE_BENCH_AXES; i++)
        axes += p->result->axes[i].name != NULL;
    if (axes > 0 && axes < parts)
        first_value = parts - axes;
    p->group_length = strcspn(id, "/");
    p->value = behind_slash(id, first_value);
    rest = behind_slash(id, 1);
    if (!rest || rest == p->value)
        return;
    p->function = rest;
    p->function_length = p->value ? (size_t)(p->value - 1 - rest) : strlen(rest);
}

static gyre_status find_place(const place *places, place *p)
{
    const char *id = p->result->id;

    if (!id || !is_safe(id))
        return gyre_fail(GYRE_INVALID, "'%.*s' cannot be the name of a folder",
                         gyre_text_cut(id ? strlen(id) : 0), id ? id : "");
    split(p);
    append_part(p, id, p->group_length);
    if (p->function)
        append_part(p, p->function, p->function_length);
    if (p->value)
        append_part(p, p->value, strlen(p->value));
    make_unique(places, p);
    return GYRE_OK;
}

static void write_piece(gyre_json *json, const char *key, const char *text, size_t length)
{
    char piece[PATH_MAX];

    snprintf(piece, sizeof piece, "%.*s", (int)cut(text, length, sizeof piece - 1), text);
    gyre_json_string(json, key, piece);
}

static void write_throughput(gyre_json *json, const gyre_result *result)
{
    if (!result->bytes && !result->items) {
        gyre_json_string(json, "throughput", NULL);
        return;
    }
    gyre_json_begin_object(json, "throughput");
    gyre_json_unsigned(json, result->bytes ? "Bytes" : "Elements",
                       result->bytes ? result->bytes : result->items);
    gyre_json_end(json);
}

static void write_benchmark(FILE *stream, const void *arg)
{
    const place *p = arg;
    const char *id = p->result->id;
    const size_t shown = cut(id, strlen(id), TITLE_BYTES);
    gyre_json json = {.stream = stream};
    char title[TITLE_BYTES + sizeof "..."];

    snprintf(title, sizeof title, "%.*s%s", (int)shown, id, id[shown] ? "..." : "");
    gyre_json_begin_object(&json, NULL);
    write_piece(&json, "group_id", id, p->group_length);
    if (p->function)
        write_piece(&json, "function_id", p->function, p->function_length);
    else
        gyre_json_string(&json, "function_id", NULL);
    gyre_json_string(&json, "value_str", p->value);
    write_throughput(&json, p->result);
    gyre_json_string(&json, "full_id", id);
    gyre_json_string(&json, "directory_name", p->directory);
    gyre_json_string(&json, "title", title);
    gyre_json_end(&json);
}

static void write_estimate(gyre_json *json, const char *key, const gyre_estimate *estimate,
                           double level)
{
    gyre_json_begin_object(json, key);
    gyre_json_begin_object(json, "confidence_interval");
    gyre_json_double(json, "confidence_level", level);
    gyre_json_double(json, "lower_bound", estimate->low);
    gyre_json_double(json, "upper_bound", estimate->high);
    gyre_json_end(json);
    gyre_json_double(json, "point_estimate", estimate->point);
    gyre_json_double(json, "standard_error", estimate->standard_error);
    gyre_json_end(json);
}

static void write_estimates(FILE *stream, const void *arg)
{
    const place *p = arg;
    const gyre_result *result = p->result;
    const double level = gyre_method_defaults(&p->run->method).confidence;
    gyre_json json = {.stream = stream};

    gyre_json_begin_object(&json, NULL);
    write_estimate(&json, "mean", &result->mean, level);
    write_estimate(&json, "median", &result->median, level);
    write_estimate(&json, "median_abs_dev", &result->mad, level);
    if (result->time.samples.linear)
        write_estimate(&json, "slope", &result->slope, level);
    else
        gyre_json_string(&json, "slope", NULL);
    write_estimate(&json, "std_dev", &result->std_dev, level);
    gyre_json_end(&json);
}

static void write_sample(FILE *stream, const void *arg)
{
    const gyre_samples *samples = &((const place *)arg)->result->time.samples;
    gyre_json json = {.stream = stream};

    gyre_json_begin_object(&json, NULL);
    gyre_json_string(&json, "sampling_mode", samples->linear ? "Linear" : "Flat");
    gyre_json_begin_array(&json, "iters");
    for (size_t i = 0; i < samples->count; i++)
        gyre_json_double(&json, NULL, (double)samples->iterations[i]);
    gyre_json_end(&json);
    gyre_json_begin_array(&json, "times");
    for (size_t i = 0; i < samples->count; i++)
        gyre_json_double(&json, NULL, samples->times_ns[i]);
    gyre_json_end(&json);
    gyre_json_end(&json);
}

static void write_tukey(FILE *stream, const void *arg)
{
    const gyre_fences *fences = &((const place *)arg)->fences;
    gyre_json json = {.stream = stream};

    gyre_json_begin_array(&json, NULL);
    gyre_json_double(&json, NULL, fences->low_severe);
    gyre_json_double(&json, NULL, fences->low_mild);
    gyre_json_double(&json, NULL, fences->high_mild);
    gyre_json_double(&json, NULL, fences->high_severe);
    gyre_json_end(&json);
}

static const struct {
    const char *name;
    void (*write)(FILE *stream, const void *arg);
} files[] = {
    {"benchmark.json", write_benchmark},
    {"sample.json", write_sample},
    {"tukey.json", write_tukey},
    {"estimates.json", write_estimates}, /* last: by its presence critcmp finds the others */
};

static gyre_status write_files(const place *p, const char *folder, const char *baseline)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s/%s", folder, p->directory, baseline);
    gyre_status status;

    if (length < 0 || (size_t)length + sizeof "/estimates.json" > sizeof path)
        return gyre_fail(GYRE_IO, "the path '%.64s...' is too long", path);
    status = gyre_folder_open(path);
    for (size_t i = 0; status == GYRE_OK && i < sizeof files / sizeof files[0]; i++) {
        snprintf(path + length, sizeof path - (size_t)length, "/%s", files[i].name);
        status = gyre_file_replace(path, files[i].write, p);
    }
    return status;
}

/* A run that was read from a file knows how many outliers there were, not where the fences stood.
 */
static gyre_status find_fences(place *p, gyre_arena *arena)
{
    const gyre_samples *samples = &p->result->time.samples;
    double *sorted = gyre_arena_array(arena, samples->count, sizeof sorted[0]);

    if (!sorted)
        return gyre_fail(GYRE_NO_MEMORY, "%zu samples to sort", samples->count);
    for (size_t i = 0; i < samples->count; i++)
        sorted[i] = samples->times_ns[i] / (double)samples->iterations[i];
    gyre_stat_sort(sorted, samples->count);
    p->fences = gyre_stat_outliers(sorted, samples->count).fences;
    return GYRE_OK;
}

/* Finds the places of all before anything is written. */
static gyre_status find_places(const gyre_run *run, gyre_arena *arena, place **out_places,
                               size_t *out_count)
{
    place *places = gyre_arena_array(arena, run->count, sizeof places[0]);

    *out_places = places;
    *out_count = 0;
    if (!places)
        return gyre_fail(GYRE_NO_MEMORY, "%zu benchmarks to export", run->count);
    for (size_t i = 0; i < run->count; i++) {
        const gyre_result *result = &run->results[i];
        place *p = &places[*out_count];
        gyre_status status;

        if (result->outcome != GYRE_OUTCOME_MEASURED || result->time.samples.count == 0)
            continue;
        p->run = run;
        p->result = result;
        status = find_place(places, p);
        if (status == GYRE_OK)
            status = find_fences(p, arena);
        if (status != GYRE_OK)
            return status;
        ++*out_count;
    }
    return GYRE_OK;
}

static bool is_baseline(const char *name)
{
    return !strchr(name, '/') && is_safe(name) && strlen(name) <= PART_BYTES &&
           gyre_text_choice("new|change|report", name) < 0;
}

gyre_status gyre_criterion_export(const gyre_run *run, const char *folder, const char *baseline)
{
    gyre_arena arena = {0};
    place *places;
    size_t count;
    gyre_status status;

    if (!baseline)
        baseline = "base";
    if (!is_baseline(baseline))
        return gyre_fail(GYRE_INVALID, "'%.*s' cannot be the name of a baseline",
                         gyre_text_cut(strlen(baseline)), baseline);
    if (run->count == 0)
        return gyre_folder_open(folder);
    status = find_places(run, &arena, &places, &count);
    if (status == GYRE_OK)
        status = gyre_folder_open(folder);
    for (size_t i = 0; status == GYRE_OK && i < count; i++) {
        status = write_files(&places[i], folder, "new");
        if (status == GYRE_OK)
            status = write_files(&places[i], folder, baseline);
    }
    gyre_arena_fini(&arena);
    return status;
}
