/* SPDX-License-Identifier: Apache-2.0
 *
 * message_check: whether bytes are a message of a table, and if not, why. See
 * docs/formats/message.md.
 *
 * This is the whole rule, of which M_open has the usual case in line: the same table on both sides
 * and no checksum. Everything lies where it must: a part's contents follow its fields in the order
 * of the table, as close as alignment allows, so each offset is compared with the one position it
 * can have, and nothing can lie outside, twice, or around itself.
 *
 * Nothing is read before it is known to be inside. Positions are bytes from the message's
 * beginning, of 64 bits: sums of what 32 bits can say do not wrap. A part begins 8 behind a
 * multiple of 16 and ends at one; so do lists and texts with what they leave empty.
 *
 * Threads   as plain data.
 * Owns      nothing.
 */
#include "base/fail.h"
#include "msg/message.h"

/* The part being looked at. `at` is where what comes next may begin, and never behind `end`. */
typedef struct walk {
    const gyre_message_schema *schema;
    const gyre_part *part;
    uint64_t begin, end, at;
} walk;

static gyre_status check_part(const gyre_message_schema *schema, const gyre_part *part,
                              uint64_t begin, uint64_t room);

static gyre_status check_header(const void *bytes, size_t size)
{
    const gyre_message *const message = bytes;

    if (!bytes || ((uintptr_t)bytes & (GYRE_MESSAGE_ALIGNMENT - 1)) != 0)
        return gyre_fail(GYRE_INVALID, "message: the bytes are at NULL or not aligned to %d",
                         GYRE_MESSAGE_ALIGNMENT);
    if (size < sizeof *message)
        return gyre_fail(GYRE_CORRUPT, "message: %zu bytes are too few for its header", size);
    if (message->magic != GYRE_MESSAGE_MAGIC)
        return gyre_fail(GYRE_CORRUPT, "message: it begins with %08x, not with %08x",
                         message->magic, GYRE_MESSAGE_MAGIC);
    if (message->layout == 0)
        return gyre_fail(GYRE_CORRUPT, "message: its layout has no version");
    if (message->layout > GYRE_MESSAGE_LAYOUT)
        return gyre_fail(GYRE_UNSUPPORTED, "message: version %u of the layout; known are 1 to %d",
                         message->layout, GYRE_MESSAGE_LAYOUT);
    if ((message->flags & ~GYRE_MESSAGE_CRC) != 0)
        return gyre_fail(GYRE_UNSUPPORTED, "message: flags %02x are not known", message->flags);
    if (message->part.size < sizeof(gyre_part) || message->part.size > size - GYRE_MESSAGE_ENVELOPE)
        return gyre_fail(GYRE_CORRUPT, "message: %zu bytes, where its header says %llu", size,
                         GYRE_MESSAGE_ENVELOPE + (unsigned long long)message->part.size);
    return GYRE_OK;
}

/* `place` is the only one where it can be. */
static gyre_status misplaced(const walk *w, const char *field, const gyre_span *span,
                             uint64_t place)
{
    return gyre_fail(GYRE_CORRUPT, "message %s: %s is said to be %u at %u, and can be at %llu only",
                     w->schema->name, field, span->count, span->offset,
                     (unsigned long long)(span->count ? place - w->begin : 0));
}

static gyre_status outside(const walk *w, const char *field)
{
    return gyre_fail(GYRE_CORRUPT, "message %s: %s goes on behind the part's %u bytes",
                     w->schema->name, field, w->part->size);
}

static gyre_status check_list(walk *w, const gyre_message_field *field, const gyre_span *span)
{
    const bool text = field->kind == GYRE_MESSAGE_TEXT;
    const uint64_t bytes = (uint64_t)span->count * field->element + (text ? 1 : 0);
    const uint64_t place = gyre_message_place_(w->at, bytes);

    if (span->count == 0)
        return span->offset == 0 ? GYRE_OK : misplaced(w, field->name, span, place);
    if (span->offset != place - w->begin)
        return misplaced(w, field->name, span, place);
    if (place > w->end || bytes > w->end - place)
        return outside(w, field->name);
    if (text && ((const char *)w->part)[span->offset + (size_t)span->count] != 0)
        return gyre_fail(GYRE_CORRUPT, "message %s: no zero ends %s", w->schema->name, field->name);
    w->at = place + GYRE_MESSAGE_UP_(bytes); /* what was left is a multiple of 16 */
    return GYRE_OK;
}

static gyre_status check_nested(walk *w, const gyre_message_field *field, const gyre_span *span)
{
    const uint64_t place = w->at + sizeof(gyre_part);
    const gyre_part *nested;
    gyre_status status;

    if (span->offset == 0 && span->count == 0)
        return GYRE_OK;
    if (span->count != 1 || span->offset != place - w->begin)
        return misplaced(w, field->name, span, place);
    if (w->end - w->at < 2 * sizeof *nested)
        return outside(w, field->name);
    nested = (const gyre_part *)((const char *)w->part + span->offset);
    status = check_part(field->part, nested, place, w->end - place);
    w->at = place + nested->size; /* a part that passed is no larger than its room */
    return status;
}

/* The end of the last field that a table of this version has. */
static uint32_t fixed_of(const gyre_message_schema *schema, uint16_t version)
{
    uint32_t fixed = sizeof(gyre_part);

    for (uint32_t i = 0; i < schema->field_count && schema->fields[i].since <= version; i++)
        fixed = (uint32_t)schema->fields[i].offset + schema->fields[i].size;
    return fixed;
}

/* The prefix: afterwards the fixed fields can be read, which take *out_fixed bytes of the part. */
static gyre_status check_prefix(const gyre_message_schema *schema, const gyre_part *part,
                                uint64_t room, uint64_t *out_fixed)
{
    const bool newer = part->version > schema->version;
    const uint32_t fixed = newer ? schema->fixed : fixed_of(schema, part->version);

    *out_fixed = sizeof *part + GYRE_MESSAGE_UP_((uint64_t)part->fixed - sizeof *part);
    if (part->version == 0)
        return gyre_fail(GYRE_CORRUPT, "message %s: its table has no version", schema->name);
    if (newer ? part->fixed < fixed : part->fixed != fixed)
        return gyre_fail(GYRE_CORRUPT, "message %s: version %u with %u bytes of fields, not %u",
                         schema->name, part->version, part->fixed, fixed);
    if (part->size > room || part->size < *out_fixed || part->size % 16 != 8)
        return gyre_fail(GYRE_CORRUPT, "message %s: a part of %u bytes, with %u of fields in %llu",
                         schema->name, part->size, part->fixed, (unsigned long long)room);
    return GYRE_OK;
}

static gyre_status check_part(const gyre_message_schema *schema, const gyre_part *part,
                              uint64_t begin, uint64_t room)
{
    uint64_t fixed;
    gyre_status status = check_prefix(schema, part, room, &fixed);
    walk w = {schema, part, begin, begin + part->size, begin + fixed};

    for (uint32_t i = 0; i < schema->field_count && status == GYRE_OK; i++) {
        const gyre_message_field *const field = &schema->fields[i];
        const gyre_span *const span = (const gyre_span *)((const char *)part + field->offset);

        if (!gyre_message_had(part, field))
            break;
        if (field->kind == GYRE_MESSAGE_LIST || field->kind == GYRE_MESSAGE_TEXT)
            status = check_list(&w, field, span);
        else if (field->kind == GYRE_MESSAGE_PART)
            status = check_nested(&w, field, span);
    }
    /* behind the contents that this reader knows are those that a newer writer added */
    if (status == GYRE_OK && w.at != w.end && part->version <= schema->version)
        return gyre_fail(GYRE_CORRUPT, "message %s: %llu of a part's %u bytes are of no field",
                         schema->name, (unsigned long long)(w.end - w.at), part->size);
    return status;
}

gyre_status gyre_message_peek(const void *bytes, size_t size, const gyre_message **out_message)
{
    const gyre_status status = check_header(bytes, size);

    *out_message = status == GYRE_OK ? bytes : NULL;
    return status;
}

gyre_status gyre_message_check(const gyre_message_schema *schema, const void *bytes, size_t size)
{
    const gyre_message *message;
    const gyre_status status = gyre_message_peek(bytes, size, &message);

    if (status != GYRE_OK)
        return status;
    if (message->type != schema->type)
        return gyre_fail(GYRE_NOT_FOUND, "message %s: of type %u, not %u", schema->name,
                         message->type, schema->type);
    if ((message->flags & GYRE_MESSAGE_CRC) != 0) {
        const uint32_t crc = gyre_message_crc(message);

        if (message->crc32c != crc)
            return gyre_fail(GYRE_CORRUPT, "message %s: crc32c %08x, where its bytes have %08x",
                             schema->name, message->crc32c, crc);
    }
    return check_part(schema, &message->part, GYRE_MESSAGE_ENVELOPE, size - GYRE_MESSAGE_ENVELOPE);
}
