/* SPDX-License-Identifier: Apache-2.0
 *
 * axis: see axis.h.
 */
#include "bench/axis.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"

enum { NUMBER_BYTES = 32, WORDS_BYTES = 160, MOST_EXPONENT = 62 };

static gyre_status malformed(const char *text)
{
    return gyre_fail(GYRE_INVALID,
                     "'%.*s' is no choice of values: NAME=[a,b,...], NAME=[start:stop:stride] or "
                     "NAME[pow2]=[start:stop]",
                     gyre_text_cut(strlen(text)), text);
}

gyre_status gyre_axis_choice_parse(const char *text, gyre_axis_choice *out_choice)
{
    static const char pow2[] = "[pow2]";
    const char *equals = strchr(text, '=');
    const size_t suffix = sizeof pow2 - 1;
    gyre_axis_choice c = {.name = text};

    *out_choice = c;
    if (!equals || equals == text || equals[1] == '\0')
        return malformed(text);
    c.name_length = (size_t)(equals - text);
    if (c.name_length > suffix && memcmp(equals - suffix, pow2, suffix) == 0) {
        c.pow2 = true;
        c.name_length -= suffix;
    }
    c.values = equals + 1;
    c.values_length = strlen(c.values);
    if (c.values[0] == '[') {
        if (c.values_length < 3 || c.values[c.values_length - 1] != ']')
            return malformed(text);
        c.values++;
        c.values_length -= 2;
    }
    if (memchr(c.name, '[', c.name_length) || memchr(c.values, '[', c.values_length) ||
        memchr(c.values, ']', c.values_length))
        return malformed(text);
    *out_choice = c;
    return GYRE_OK;
}

bool gyre_axis_choice_names(const gyre_axis_choice *choice, const char *name)
{
    return strlen(name) == choice->name_length &&
           memcmp(name, choice->name, choice->name_length) == 0;
}

/* What an axis of words has is listed; one of numbers takes any. */
static gyre_status bad_value(const gyre_axis *axis, const char *text, size_t length)
{
    char words[WORDS_BYTES] = "";
    size_t used = 0;

    if (!axis->words[0])
        return gyre_fail(GYRE_INVALID, "axis '%s' has no value '%.*s': it takes whole numbers",
                         axis->name, gyre_text_cut(length), text);
    for (size_t i = 0; i < axis->count && used < sizeof words; i++)
        used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", i ? ", " : "",
                                 axis->words[i]);
    return gyre_fail(GYRE_INVALID, "axis '%s' has no value '%.*s'; it has %s%s", axis->name,
                     gyre_text_cut(length), text, words, used < sizeof words ? "" : "...");
}

static bool read_number(const char *text, size_t length, int64_t *out_value)
{
    char copy[NUMBER_BYTES];
    long long value;

    if (length == 0 || length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (!gyre_text_count(copy, INT64_MIN, INT64_MAX, &value))
        return false;
    *out_value = value;
    return true;
}

static gyre_status add_value(const gyre_axis_choice *choice, int64_t value, gyre_axis *into)
{
    if (into->count == GYRE_AXIS_VALUES)
        return gyre_fail(GYRE_INVALID, "axis '%s': more than %d values", into->name,
                         GYRE_AXIS_VALUES);
    if (choice->pow2) {
        if (value < 0 || value > MOST_EXPONENT)
            return gyre_fail(GYRE_INVALID, "axis '%s': 2 to the power %" PRId64 " does not fit",
                             into->name, value);
        value = INT64_C(1) << value;
    }
    into->values[into->count++] = value;
    return GYRE_OK;
}

/* "start:stop" or "start:stop:stride". */
static gyre_status add_range(const gyre_axis_choice *choice, gyre_axis *into)
{
    const char *text = choice->values, *end = text + choice->values_length;
    int64_t part[3] = {0, 0, 1};
    size_t parts = 0;

    while (parts < 3) {
        const char *colon = memchr(text, ':', (size_t)(end - text));
        const char *stop = colon ? colon : end;

        if (!read_number(text, (size_t)(stop - text), &part[parts++]))
            return bad_value(into, choice->values, choice->values_length);
        if (!colon)
            break;
        text = colon + 1;
        if (parts == 3)
            return bad_value(into, choice->values, choice->values_length);
    }
    if (parts < 2 || part[2] <= 0 || part[0] > part[1])
        return gyre_fail(GYRE_INVALID,
                         "axis '%s': a range goes from a start up to a stop by a stride over 0",
                         into->name);
    for (int64_t value = part[0];;) {
        const gyre_status status = add_value(choice, value, into);

        if (status != GYRE_OK)
            return status;
        if ((uint64_t)part[1] - (uint64_t)value < (uint64_t)part[2]) /* the next is beyond */
            return GYRE_OK;
        value += part[2];
    }
}

static gyre_status add_word(const gyre_axis *from, const char *text, size_t length, gyre_axis *into)
{
    for (size_t i = 0; i < from->count; i++) {
        if (strlen(from->words[i]) != length || memcmp(from->words[i], text, length) != 0)
            continue;
        if (into->count == GYRE_AXIS_VALUES)
            return gyre_fail(GYRE_INVALID, "axis '%s': more than %d values", into->name,
                             GYRE_AXIS_VALUES);
        into->words[into->count] = from->words[i];
        into->values[into->count++] = from->values[i];
        return GYRE_OK;
    }
    return bad_value(from, text, length);
}

gyre_status gyre_axis_choose(const gyre_axis_choice *choice, gyre_axis *axis)
{
    const char *text = choice->values, *end = text + choice->values_length;
    gyre_axis chosen = {.name = axis->name};
    gyre_status status = GYRE_OK;

    if (!axis->words[0] && memchr(text, ':', choice->values_length)) {
        status = add_range(choice, &chosen);
    } else {
        for (;;) {
            const char *comma = memchr(text, ',', (size_t)(end - text));
            const size_t length = (size_t)((comma ? comma : end) - text);
            int64_t value;

            if (axis->words[0])
                status = add_word(axis, text, length, &chosen);
            else if (read_number(text, length, &value))
                status = add_value(choice, value, &chosen);
            else
                status = bad_value(axis, text, length);
            if (status != GYRE_OK || !comma)
                break;
            text = comma + 1;
        }
    }
    if (status == GYRE_OK)
        *axis = chosen;
    return status;
}

/* Word `index` of those between commas, not terminated; false behind the last. */
static bool word_at(const gyre_axis_choice *choice, size_t index, const char **out_word,
                    size_t *out_length)
{
    const char *text = choice->values, *const end = text + choice->values_length;

    for (;; index--) {
        const char *const comma = memchr(text, ',', (size_t)(end - text));

        *out_word = text;
        *out_length = (size_t)((comma ? comma : end) - text);
        if (index == 0 || !comma)
            return index == 0;
        text = comma + 1;
    }
}

gyre_status gyre_axis_choose_some(const gyre_axis_choice *choice, gyre_axis *axis,
                                  uint32_t *in_out_found)
{
    gyre_axis chosen = {.name = axis->name};
    gyre_axis_choice word = *choice;

    _Static_assert(GYRE_AXIS_VALUES == 32, "a bit for each");
    if (!axis->words[0] || word_at(choice, GYRE_AXIS_VALUES, &word.values, &word.values_length)) {
        const gyre_status status = gyre_axis_choose(choice, axis);

        *in_out_found |= status == GYRE_OK ? UINT32_MAX : 0;
        return status;
    }
    for (size_t i = 0; word_at(choice, i, &word.values, &word.values_length); i++) {
        gyre_axis one = *axis;

        if (gyre_axis_choose(&word, &one) != GYRE_OK)
            continue;
        *in_out_found |= UINT32_C(1) << i;
        chosen.words[chosen.count] = one.words[0];
        chosen.values[chosen.count++] = one.values[0];
    }
    if (chosen.count == 0)
        return bad_value(axis, choice->values, choice->values_length);
    *axis = chosen;
    return GYRE_OK;
}

bool gyre_axis_choice_misses(const gyre_axis_choice *choice, uint32_t found, const char **out_word,
                             size_t *out_length)
{
    for (size_t i = 0; i < GYRE_AXIS_VALUES; i++)
        if (!word_at(choice, i, out_word, out_length) || (found >> i & 1) == 0)
            return word_at(choice, i, out_word, out_length);
    return false;
}
