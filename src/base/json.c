/* SPDX-License-Identifier: Apache-2.0
 *
 * json: see json.h.
 */
#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the UTF-8 sequence at `p`, or 0 when it is not one (overlong and surrogates included).
 * `p` ends with a zero, which continues no sequence, so nothing behind it is read. */
static int sequence_length(const unsigned char *p)
{
    const int length = p[0] < 0x80 ? 1 : p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;

    if (p[0] > 0xF4)
        return 0;
    for (int i = 1; i < length; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) ||
        (p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F))
        return 0;
    return length;
}

static void put_string(FILE *stream, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;

    fputc('"', stream);
    while (*p) {
        const int length = sequence_length(p);

        if (length == 0)
            fputs("\xEF\xBF\xBD", stream); /* U+FFFD, as it would be written if read back */
        else if (*p == '"' || *p == '\\')
            fprintf(stream, "\\%c", *p);
        else if (*p == '\n')
            fputs("\\n", stream);
        else if (*p < 0x20 || *p == 0x7f)
            fprintf(stream, "\\u%04x", *p);
        else
            fwrite(p, 1, (size_t)length, stream);
        p += length ? length : 1;
    }
    fputc('"', stream);
}

static void new_line(gyre_json *json)
{
    fprintf(json->stream, "\n%*s", 2 * json->depth, "");
}

/* Everything that comes before a value: comma, line or blank, key. */
static void lead(gyre_json *json, const char *key, bool container)
{
    const int inside = json->depth - 1;

    if (inside < 0) {
        assert(!key);
        return;
    }
    assert(json->array[inside] == !key);
    if (json->some[inside])
        fputc(',', json->stream);
    if (key || container) {
        json->lines[inside] = true;
        new_line(json);
    } else if (json->some[inside]) {
        fputc(' ', json->stream);
    }
    json->some[inside] = true;
    if (key) {
        put_string(json->stream, key);
        fputs(": ", json->stream);
    }
}

static void begin(gyre_json *json, const char *key, bool array)
{
    lead(json, key, true);
    assert(json->depth < GYRE_JSON_DEPTH);
    fputc(array ? '[' : '{', json->stream);
    json->array[json->depth] = array;
    json->lines[json->depth] = false;
    json->some[json->depth++] = false;
}

void gyre_json_begin_object(gyre_json *json, const char *key)
{
    begin(json, key, false);
}

void gyre_json_begin_array(gyre_json *json, const char *key)
{
    begin(json, key, true);
}

void gyre_json_end(gyre_json *json)
{
    assert(json->depth > 0);
    json->depth--;
    if (json->lines[json->depth])
        new_line(json);
    fputc(json->array[json->depth] ? ']' : '}', json->stream);
    if (json->depth == 0)
        fputc('\n', json->stream);
}

void gyre_json_string(gyre_json *json, const char *key, const char *value)
{
    lead(json, key, false);
    if (value)
        put_string(json->stream, value);
    else
        fputs("null", json->stream);
}

void gyre_json_signed(gyre_json *json, const char *key, int64_t value)
{
    lead(json, key, false);
    fprintf(json->stream, "%" PRId64, value);
}

void gyre_json_unsigned(gyre_json *json, const char *key, uint64_t value)
{
    lead(json, key, false);
    fprintf(json->stream, "%" PRIu64, value);
}

/* The shortest of 15, 16 or 17 digits that reads back as the same number; -0 would as an integer,
 * which has no such thing, so it gets a fraction. A program that set a locale with a decimal comma
 * still gets a point. */
void gyre_json_double(gyre_json *json, const char *key, double value)
{
    char text[32];
    char *comma;

    lead(json, key, false);
    if (!isfinite(value)) {
        fputs("null", json->stream);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    comma = strchr(text, ',');
    if (comma)
        *comma = '.';
    fputs(value == 0 && signbit(value) ? "-0.0" : text, json->stream);
}

void gyre_json_bool(gyre_json *json, const char *key, bool value)
{
    lead(json, key, false);
    fputs(value ? "true" : "false", json->stream);
}
