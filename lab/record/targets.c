/* SPDX-License-Identifier: Apache-2.0
 *
 * targets: see targets.h.
 */
#include "record/targets.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "record/pattern.h"

enum { MOST_BYTES = 1 << 20, ID_BYTES = 255, WORDS_BYTES = 500 };

static const char schema[] = "gyre.targets/1";

static const char *const quantity_names[] = {
    "median_ns",   "p99_ns", "items_per_s", "bytes_per_s",
    "allocations", "ratio",  "counter",     "more_ns",
};

/* Where in which text the reader is; target 0 is the whole. */
typedef struct reader {
    const char *name;
    size_t number;
    gyre_targets *targets;
} reader;

static gyre_status refuse(const reader *r, const char *what, const char *word)
{
    char where[32] = "";

    if (r->number)
        snprintf(where, sizeof where, ", target %zu", r->number);
    return gyre_fail(GYRE_CORRUPT, "'%.*s'%s: %s%s%.*s%s", gyre_text_cut(strlen(r->name)), r->name,
                     where, what, word ? " '" : "", gyre_text_cut(word ? strlen(word) : 0),
                     word ? word : "", word ? "'" : "");
}

static gyre_status refuse_unknown(const reader *r, json_t *object, const char *const *known)
{
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        size_t i = 0;

        while (known[i] && strcmp(known[i], key) != 0)
            i++;
        if (!known[i])
            return refuse(r, "there is no member", key);
    }
    return GYRE_OK;
}

/* A text of 1 to `most` bytes; `fallback` where it is absent, which is an error when that is NULL.
 */
static gyre_status read_text(const reader *r, const json_t *object, const char *key, size_t most,
                             const char *fallback, const char **out_text)
{
    const json_t *value = json_object_get(object, key);
    const size_t length = json_string_length(value);

    *out_text = fallback;
    if (!value && fallback)
        return GYRE_OK;
    if (!value)
        return refuse(r, "it lacks a", key);
    if (!json_is_string(value) || length == 0 || length > most)
        return refuse(r, "empty, too long or no text:", key);
    *out_text = gyre_arena_bytes(&r->targets->arena, json_string_value(value), length);
    return GYRE_OK;
}

static gyre_status read_id(const reader *r, const json_t *object, const char *key,
                           const char **out_id)
{
    gyre_status status = read_text(r, object, key, ID_BYTES, NULL, out_id);

    if (status == GYRE_OK && (*out_id)[strspn(*out_id, gyre_id_characters)])
        return refuse(r, "this is no benchmark's id:", *out_id);
    return status;
}

static gyre_status compile(const reader *r, gyre_target *target)
{
    char why[96];

    if (!gyre_pattern_compile(target->id, &target->compiled, why, sizeof why))
        return gyre_fail(GYRE_CORRUPT, "'%.*s', target %zu: pattern '%.*s': %s",
                         gyre_text_cut(strlen(r->name)), r->name, r->number,
                         gyre_text_cut(strlen(target->id)), target->id, why);
    target->is_pattern = true; /* from here on there is something to free */
    return GYRE_OK;
}

static gyre_status read_what(const reader *r, const json_t *object, gyre_target *target)
{
    const bool id = json_object_get(object, "id") != NULL;
    const bool match = json_object_get(object, "match") != NULL;
    gyre_status status;

    if (id == match)
        return refuse(r, "it needs either an 'id' or a 'match'", NULL);
    if (id)
        return read_id(r, object, "id", &target->id);
    status = read_text(r, object, "match", GYRE_PATTERN_BYTES, NULL, &target->id);
    return status == GYRE_OK ? compile(r, target) : status;
}

static gyre_status read_quantity(const reader *r, const json_t *object, gyre_target *target)
{
    const size_t count = sizeof quantity_names / sizeof quantity_names[0];
    const char *name;
    gyre_status status = read_text(r, object, "quantity", WORDS_BYTES, NULL, &name);
    size_t i = 0;

    if (status != GYRE_OK)
        return status;
    while (i < count && strcmp(quantity_names[i], name) != 0)
        i++;
    if (i == count)
        return refuse(r, "there is no quantity", name);
    target->quantity = (gyre_target_quantity)i;
    if (target->quantity == GYRE_TARGET_RATIO || target->quantity == GYRE_TARGET_MORE_NS)
        status = read_id(r, object, "to", &target->other);
    else if (json_object_get(object, "to"))
        status = refuse(r, "only ratio and more_ns have a", "to");
    if (status != GYRE_OK)
        return status;
    if (target->quantity == GYRE_TARGET_COUNTER)
        return read_text(r, object, "counter", ID_BYTES, NULL, &target->counter);
    return json_object_get(object, "counter") ? refuse(r, "only a counter has a", "counter")
                                              : GYRE_OK;
}

static gyre_status read_limit(const reader *r, const json_t *object, gyre_target *target)
{
    const json_t *most = json_object_get(object, "at_most");
    const json_t *least = json_object_get(object, "at_least");
    const json_t *limit = most ? most : least;

    if (!most == !least)
        return refuse(r, "it needs either 'at_most' or 'at_least'", NULL);
    if (!json_is_number(limit) || !(json_number_value(limit) >= 0) ||
        !isfinite(json_number_value(limit)))
        return refuse(r, "not a number from 0 on:", most ? "at_most" : "at_least");
    target->at_least = least != NULL;
    target->limit = json_number_value(limit);
    return GYRE_OK;
}

static gyre_status read_target(const reader *r, json_t *object, gyre_target *target)
{
    static const char *const known[] = {"id", "match",   "quantity", "at_most", "at_least",
                                        "to", "counter", "source",   "note",    NULL};
    gyre_status status;

    if (!json_is_object(object))
        return refuse(r, "not an object", NULL);
    status = refuse_unknown(r, object, known);
    if (status == GYRE_OK)
        status = read_what(r, object, target);
    if (status == GYRE_OK)
        status = read_quantity(r, object, target);
    if (status == GYRE_OK)
        status = read_limit(r, object, target);
    if (status == GYRE_OK)
        status = read_text(r, object, "source", WORDS_BYTES, "", &target->source);
    if (status == GYRE_OK)
        status = read_text(r, object, "note", WORDS_BYTES, "", &target->note);
    return status;
}

static gyre_status read_all(reader *r, json_t *root)
{
    static const char *const known[] = {"schema", "targets", NULL};
    gyre_targets *targets = r->targets;
    const char *word = json_string_value(json_object_get(root, "schema"));
    json_t *list = json_object_get(root, "targets");
    gyre_status status;

    if (!word || strcmp(word, schema) != 0)
        return refuse(r, "its 'schema' is not", schema);
    status = refuse_unknown(r, root, known);
    if (status != GYRE_OK)
        return status;
    if (!json_is_array(list) || json_array_size(list) == 0)
        return refuse(r, "its 'targets' are not an array of one or more", NULL);
    targets->items =
        gyre_arena_array(&targets->arena, json_array_size(list), sizeof targets->items[0]);
    if (!targets->items)
        return gyre_fail(GYRE_NO_MEMORY, "%zu targets", json_array_size(list));
    while (status == GYRE_OK && targets->count < json_array_size(list)) {
        r->number = ++targets->count; /* counted first: what is half read is freed with the rest */
        status =
            read_target(r, json_array_get(list, r->number - 1), &targets->items[r->number - 1]);
    }
    if (status == GYRE_OK && targets->arena.exhausted)
        status = gyre_fail(GYRE_NO_MEMORY, "the texts of %zu targets", targets->count);
    return status;
}

gyre_status gyre_targets_parse(const char *text, size_t size, const char *name,
                               gyre_targets **out_targets)
{
    reader r = {.name = name};
    json_error_t error;
    json_t *root = NULL;
    gyre_status status;
    void *block;

    *out_targets = NULL;
    status = gyre_alloc(NULL, 1, sizeof *r.targets, &block);
    if (status != GYRE_OK)
        return status;
    r.targets = block;
    root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        status = gyre_fail(GYRE_CORRUPT, "'%.*s', line %d: %.100s", gyre_text_cut(strlen(name)),
                           name, error.line, error.text);
        goto fail;
    }
    status = read_all(&r, root);
    json_decref(root);
    if (status != GYRE_OK)
        goto fail;
    *out_targets = r.targets;
    return GYRE_OK;
fail:
    gyre_targets_destroy(r.targets);
    return status;
}

gyre_status gyre_targets_load(const char *path, gyre_targets **out_targets)
{
    FILE *file = fopen(path, "rb");
    gyre_status status;
    size_t size;
    bool failed;
    void *text;

    *out_targets = NULL;
    if (!file)
        return gyre_fail_native(GYRE_IO, errno, "cannot read '%.*s': %s",
                                gyre_text_cut(strlen(path)), path, strerror(errno));
    status = gyre_alloc(NULL, MOST_BYTES, 1, &text);
    if (status != GYRE_OK) {
        fclose(file);
        return status;
    }
    errno = 0;
    size = fread(text, 1, MOST_BYTES, file);
    failed = ferror(file) != 0;
    if (failed)
        status = gyre_fail_native(GYRE_IO, errno, "cannot read '%.*s': %s",
                                  gyre_text_cut(strlen(path)), path, strerror(errno));
    else if (size == MOST_BYTES)
        status = gyre_fail(GYRE_CORRUPT, "'%.*s' is longer than a table of targets may be, 1 MiB",
                           gyre_text_cut(strlen(path)), path);
    else
        status = gyre_targets_parse(text, size, path, out_targets);
    fclose(file);
    gyre_free(NULL, text, MOST_BYTES, 1);
    return status;
}

/* POSIX finds the longest of the leftmost matches: when the whole id matches, that is the one. */
bool gyre_target_concerns(const gyre_target *target, const char *id)
{
    regmatch_t match;

    if (!target->is_pattern)
        return strcmp(target->id, id) == 0;
    return regexec(&target->compiled, id, 1, &match, 0) == 0 && match.rm_so == 0 &&
           id[match.rm_eo] == '\0';
}

void gyre_targets_destroy(gyre_targets *targets)
{
    if (!targets)
        return;
    for (size_t i = 0; i < targets->count; i++)
        if (targets->items[i].is_pattern)
            regfree(&targets->items[i].compiled);
    gyre_arena_fini(&targets->arena);
    gyre_free(NULL, targets, 1, sizeof *targets);
}

const char *gyre_target_quantity_name(gyre_target_quantity quantity)
{
    return (size_t)quantity < sizeof quantity_names / sizeof quantity_names[0]
               ? quantity_names[quantity]
               : "unknown";
}
