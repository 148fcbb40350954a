/* SPDX-License-Identifier: Apache-2.0
 *
 * value: see value.h.
 */
#include "record/value.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "record/moment.h"

enum { PATH_BYTES = 72 };

/* Appends the path to what is in the buffer, cut at its end. A key may be any text. */
static void print_path(const gyre_value *value, char *path, size_t size)
{
    size_t used;

    if (value->in)
        print_path(value->in, path, size);
    used = strlen(path);
    if (value->key)
        snprintf(path + used, size - used, "%s%.32s", used ? "." : "", value->key);
    else if (value->in)
        snprintf(path + used, size - used, "[%zu]", value->index);
}

void gyre_value_refuse(const gyre_value *value, const char *format, ...)
{
    char path[PATH_BYTES] = "", what[56];
    va_list values;

    if (value->complaint->text[0])
        return;
    print_path(value, path, sizeof path);
    va_start(values, format);
    vsnprintf(what, sizeof what, format, values);
    va_end(values);
    snprintf(value->complaint->text, sizeof value->complaint->text, "%s%s%s", path,
             path[0] ? " " : "it ", what);
}

gyre_value gyre_value_get(const gyre_value *object, const char *key)
{
    json_t *json = json_object_get(object->json, key);

    return (gyre_value){.json = json_is_null(json) ? NULL : json,
                        .in = object,
                        .key = key,
                        .complaint = object->complaint};
}

gyre_value gyre_value_need(const gyre_value *object, const char *key)
{
    const gyre_value value = gyre_value_get(object, key);

    if (object->json && !value.json)
        gyre_value_refuse(&value, "is missing");
    return value;
}

gyre_value gyre_value_object(gyre_value value)
{
    if (value.json && !json_is_object(value.json)) {
        gyre_value_refuse(&value, "is not an object");
        value.json = NULL;
    }
    return value;
}

gyre_value gyre_value_array(gyre_value value, size_t most)
{
    if (value.json && !json_is_array(value.json)) {
        gyre_value_refuse(&value, "is not an array");
        value.json = NULL;
    } else if (json_array_size(value.json) > most) {
        gyre_value_refuse(&value, "has more than %zu elements", most);
        value.json = NULL;
    }
    return value;
}

void gyre_value_members(const gyre_value *object, const char *names)
{
    const char *key;
    json_t *json;

    json_object_foreach(object->json, key, json)
    {
        const gyre_value member = {
            .json = json, .in = object, .key = key, .complaint = object->complaint};

        if (gyre_text_choice(names, key) < 0)
            gyre_value_refuse(&member, "is not known here");
    }
}

size_t gyre_value_size(const gyre_value *array)
{
    return json_array_size(array->json);
}

gyre_value gyre_value_at(const gyre_value *array, size_t index)
{
    return (gyre_value){.json = json_array_get(array->json, index),
                        .in = array,
                        .index = index,
                        .complaint = array->complaint};
}

double gyre_value_number(gyre_value value, double low, double high)
{
    const double number = json_number_value(value.json);

    if (!value.json)
        return 0;
    if (!json_is_number(value.json))
        gyre_value_refuse(&value, "is not a number");
    else if (!(number >= low && number <= high))
        gyre_value_refuse(&value, "cannot be %g", number);
    else
        return number;
    return 0;
}

int64_t gyre_value_integer(gyre_value value, int64_t low, int64_t high)
{
    const int64_t number = json_integer_value(value.json);

    if (!value.json)
        return 0;
    if (!json_is_integer(value.json))
        gyre_value_refuse(&value, "is not a whole number");
    else if (number < low || number > high)
        gyre_value_refuse(&value, "cannot be %" PRId64, number);
    else
        return number;
    return 0;
}

bool gyre_value_bool(gyre_value value)
{
    if (value.json && !json_is_boolean(value.json))
        gyre_value_refuse(&value, "is neither true nor false");
    return json_is_true(value.json);
}

/* Refuses all but a string. */
static const char *string_of(const gyre_value *value)
{
    if (value->json && !json_is_string(value->json))
        gyre_value_refuse(value, "is not a string");
    return json_string_value(value->json);
}

const char *gyre_value_text(gyre_value value, gyre_arena *arena)
{
    return gyre_arena_text(arena, string_of(&value));
}

time_t gyre_value_moment(gyre_value value)
{
    const char *text = string_of(&value);
    time_t moment = 0;

    if (text && !gyre_moment_parse(text, &moment))
        gyre_value_refuse(&value, "is not like 2026-11-15T05:54:52Z");
    return moment;
}

uint64_t gyre_value_bits(gyre_value value)
{
    const char *text = string_of(&value);

    if (!text)
        return 0;
    if (strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16)
        return strtoull(text, NULL, 16);
    gyre_value_refuse(&value, "is not 16 hexadecimal digits");
    return 0;
}

int gyre_value_choice(gyre_value value, const char *choices)
{
    const char *text = string_of(&value);
    const int choice = text ? gyre_text_choice(choices, text) : 0;

    if (choice >= 0)
        return choice;
    gyre_value_refuse(&value, "is not one of %s", choices);
    return 0;
}

uint64_t gyre_value_count(const gyre_value *object, const char *key)
{
    return (uint64_t)gyre_value_integer(gyre_value_get(object, key), 0, INT64_MAX);
}
