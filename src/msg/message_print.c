/* SPDX-License-Identifier: Apache-2.0
 *
 * message_print: messages for people and for other programs, by their table.
 *
 * Both forms validate first and show what is in the message: fields that its writer did not have
 * are left out. A text is shown up to its first zero. For people long lists are cut and control
 * characters replaced; JSON is whole, with null for an optional without a value, for a part that is
 * not there, and for numbers that JSON does not have.
 *
 * Threads   as plain data; the stream's for the stream.
 * Owns      nothing. Borrows the stream.
 */
#include <inttypes.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/text.h"
#include "msg/message.h"

enum { SHOWN = 8 }; /* elements of a list */

typedef struct number {
    enum { SIGNED, UNSIGNED, REAL } is;
    int64_t integer;
    uint64_t natural;
    double real;
} number;

static number natural(uint64_t value)
{
    return (number){.is = UNSIGNED, .natural = value};
}

static number integer(int64_t value)
{
    return (number){.is = SIGNED, .integer = value};
}

static number real(double value)
{
    return (number){.is = REAL, .real = value};
}

static number number_at(const void *at, uint8_t scalar)
{
    switch (scalar) {
    case GYRE_MESSAGE_u8:
        return natural(*(const uint8_t *)at);
    case GYRE_MESSAGE_u16:
        return natural(*(const uint16_t *)at);
    case GYRE_MESSAGE_u32:
        return natural(*(const uint32_t *)at);
    case GYRE_MESSAGE_u64:
        return natural(*(const uint64_t *)at);
    case GYRE_MESSAGE_i8:
        return integer(*(const int8_t *)at);
    case GYRE_MESSAGE_i16:
        return integer(*(const int16_t *)at);
    case GYRE_MESSAGE_i32:
        return integer(*(const int32_t *)at);
    case GYRE_MESSAGE_i64:
        return integer(*(const int64_t *)at);
    case GYRE_MESSAGE_f32:
        return real((double)*(const float *)at);
    default:
        return real(*(const double *)at);
    }
}

/* The field of a part whose writer had it. */
typedef struct place {
    const gyre_message_field *field;
    const char *fixed;  /* where it is in the fixed part */
    const void *behind; /* a list's elements, a text, a part; NULL for none */
    uint32_t count;     /* elements of an array or a list */
} place;

static place place_of(const gyre_part *part, const gyre_message_field *field)
{
    place at = {field, (const char *)part + field->offset, NULL, 0};

    if (field->kind == GYRE_MESSAGE_ARRAY) {
        at.behind = at.fixed;
        at.count = field->size / field->element;
    } else if (field->kind >= GYRE_MESSAGE_LIST) {
        const gyre_span *const span = (const gyre_span *)at.fixed;

        at.count = span->count;
        at.behind = span->count ? (const char *)part + span->offset : NULL;
    }
    return at;
}

static bool has_value(const place *p)
{
    return p->field->kind != GYRE_MESSAGE_OPTIONAL || p->fixed[p->field->size - 1] != 0;
}

static void json_number(gyre_json *json, const char *key, number value)
{
    if (value.is == SIGNED)
        gyre_json_signed(json, key, value.integer);
    else if (value.is == UNSIGNED)
        gyre_json_unsigned(json, key, value.natural);
    else
        gyre_json_double(json, key, value.real);
}

static void json_part(gyre_json *json, const char *key, const gyre_message_schema *schema,
                      const gyre_part *part);

static void json_field(gyre_json *json, const place *p)
{
    const gyre_message_field *const field = p->field;

    switch (field->kind) {
    case GYRE_MESSAGE_ARRAY:
    case GYRE_MESSAGE_LIST:
        gyre_json_begin_array(json, field->name);
        for (uint32_t i = 0; i < p->count; i++)
            json_number(
                json, NULL,
                number_at((const char *)p->behind + (size_t)i * field->element, field->scalar));
        gyre_json_end(json);
        break;
    case GYRE_MESSAGE_TEXT:
        gyre_json_string(json, field->name, p->behind ? p->behind : "");
        break;
    case GYRE_MESSAGE_PART:
        if (p->behind)
            json_part(json, field->name, field->part, p->behind);
        else
            gyre_json_string(json, field->name, NULL);
        break;
    default:
        if (has_value(p))
            json_number(json, field->name, number_at(p->fixed, field->scalar));
        else
            gyre_json_string(json, field->name, NULL);
    }
}

static void json_part(gyre_json *json, const char *key, const gyre_message_schema *schema,
                      const gyre_part *part)
{
    gyre_json_begin_object(json, key);
    for (uint32_t i = 0; i < schema->field_count; i++)
        if (gyre_message_had(part, &schema->fields[i])) {
            const place at = place_of(part, &schema->fields[i]);

            json_field(json, &at);
        }
    gyre_json_end(json);
}

gyre_status gyre_message_json(const gyre_message_schema *schema, const void *bytes, size_t size,
                              FILE *stream)
{
    const gyre_status status = gyre_message_check(schema, bytes, size);
    const gyre_message *const message = bytes;
    gyre_json json = {.stream = stream};

    if (status != GYRE_OK)
        return status;
    gyre_json_begin_object(&json, NULL);
    gyre_json_string(&json, "message", schema->name);
    gyre_json_unsigned(&json, "type", message->type);
    gyre_json_unsigned(&json, "version", message->part.version);
    gyre_json_unsigned(&json, "size", GYRE_MESSAGE_ENVELOPE + (uint64_t)message->part.size);
    gyre_json_unsigned(&json, "priority", message->priority);
    gyre_json_unsigned(&json, "id", message->id);
    gyre_json_unsigned(&json, "correlation", message->correlation);
    gyre_json_unsigned(&json, "source", message->source);
    gyre_json_unsigned(&json, "destination", message->destination);
    gyre_json_unsigned(&json, "deadline_ns", message->deadline_ns);
    gyre_json_unsigned(&json, "time", message->time);
    json_part(&json, "fields", schema, &message->part);
    gyre_json_end(&json);
    return ferror(stream) ? gyre_fail(GYRE_IO, "message %s: it cannot be written", schema->name)
                          : GYRE_OK;
}

static void print_number(FILE *stream, number value)
{
    if (value.is == SIGNED)
        fprintf(stream, " %" PRId64, value.integer);
    else if (value.is == UNSIGNED)
        fprintf(stream, " %" PRIu64, value.natural);
    else
        fprintf(stream, " %.9g", value.real);
}

static void print_part(FILE *stream, int depth, const gyre_message_schema *schema,
                       const gyre_part *part);

static void print_field(FILE *stream, int depth, const place *p)
{
    const gyre_message_field *const field = p->field;

    fprintf(stream, "%*s%s", 2 * depth, "", field->name);
    switch (field->kind) {
    case GYRE_MESSAGE_ARRAY:
    case GYRE_MESSAGE_LIST:
        fprintf(stream, "[%" PRIu32 "]", p->count);
        for (uint32_t i = 0; i < p->count && i < SHOWN; i++)
            print_number(stream, number_at((const char *)p->behind + (size_t)i * field->element,
                                           field->scalar));
        fputs(p->count > SHOWN ? " ...\n" : "\n", stream);
        break;
    case GYRE_MESSAGE_TEXT:
        fputs(" \"", stream);
        gyre_text_print(stream, p->behind ? p->behind : "");
        fputs("\"\n", stream);
        break;
    case GYRE_MESSAGE_PART:
        fputs(p->behind ? "\n" : " none\n", stream);
        if (p->behind)
            print_part(stream, depth + 1, field->part, p->behind);
        break;
    default:
        if (has_value(p))
            print_number(stream, number_at(p->fixed, field->scalar));
        else
            fputs(" none", stream);
        fputc('\n', stream);
    }
}

static void print_part(FILE *stream, int depth, const gyre_message_schema *schema,
                       const gyre_part *part)
{
    for (uint32_t i = 0; i < schema->field_count; i++)
        if (gyre_message_had(part, &schema->fields[i])) {
            const place at = place_of(part, &schema->fields[i]);

            print_field(stream, depth, &at);
        }
}

gyre_status gyre_message_print(const gyre_message_schema *schema, const void *bytes, size_t size,
                               FILE *stream)
{
    const gyre_status status = gyre_message_check(schema, bytes, size);
    const gyre_message *const message = bytes;

    if (status != GYRE_OK)
        return status;
    fprintf(stream,
            "%s version %u, %llu bytes, priority %u, id %" PRIu64 ", correlation %" PRIu64
            ", from %" PRIu32 " to %" PRIu32 ", deadline %" PRIu64 " ns, time %" PRIu64 "\n",
            schema->name, message->part.version,
            GYRE_MESSAGE_ENVELOPE + (unsigned long long)message->part.size, message->priority,
            message->id, message->correlation, message->source, message->destination,
            message->deadline_ns, message->time);
    print_part(stream, 1, schema, &message->part);
    return ferror(stream) ? gyre_fail(GYRE_IO, "message %s: it cannot be written", schema->name)
                          : GYRE_OK;
}
