/* SPDX-License-Identifier: Apache-2.0
 *
 * message_look: what must hold of any bytes, for tests and fuzz targets: both validators agree, and
 * of a message that they take, every field can be read and lies inside.
 */
#ifndef GYRE_MSG_MESSAGE_LOOK_H
#define GYRE_MSG_MESSAGE_LOOK_H

#include <stdlib.h>
#include <string.h>

#include "msg/message_fake.h"

/* The message being looked at, and what reading it came to, which keeps the reads in the program.
 */
static const unsigned char *look_begin, *look_end;
static volatile uint64_t look_sum;

static inline void look_require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "message_look: not so: %s\n", what);
        abort();
    }
}

/* Read by memcpy, of which sanitizers see the whole range at once. */
static inline void look_at(const void *at, uint64_t bytes, uintptr_t alignment)
{
    static unsigned char copy[4096];
    const unsigned char *next = at;

    look_require(next >= look_begin && bytes <= (uint64_t)(look_end - next), "it lies inside");
    look_require((uintptr_t)at % alignment == 0, "it is aligned");
    while (bytes > 0) {
        const size_t piece = bytes < sizeof copy ? (size_t)bytes : sizeof copy;

        memcpy(copy, next, piece);
        look_sum += copy[piece - 1];
        next += piece;
        bytes -= piece;
    }
}

/* One for each row of a table: calls of its readers. */
#define LOOK_(M, kind, type, name, since, extra) LOOK_##kind##_(M, type, name)
#define LOOK_SCALAR_(M, type, name) look_sum += (uint64_t)(M##_##name(m) != 0);
#define LOOK_OPTIONAL_(M, type, name)                                                              \
    look_sum += (uint64_t)(M##_has_##name(m) + (M##_##name(m) != 0));
#define LOOK_ARRAY_(M, type, name)                                                                 \
    look_require((M##_##name(m) != NULL) == (M##_##name##_count(m) > 0),                           \
                 "arrays are there or not");                                                       \
    if (M##_##name(m))                                                                             \
        look_at(M##_##name(m), M##_##name##_count(m) * sizeof *M##_##name(m),                      \
                sizeof *M##_##name(m));
#define LOOK_LIST_(M, type, name)                                                                  \
    if (M##_##name##_count(m) > 0)                                                                 \
        look_at(M##_##name(m), (uint64_t)M##_##name##_count(m) * sizeof *M##_##name(m), 16);
#define LOOK_TEXT_(M, type, name)                                                                  \
    look_require(M##_##name(m)[M##_##name##_count(m)] == 0, "a zero ends the text");               \
    if (M##_##name##_count(m) > 0)                                                                 \
        look_at(M##_##name(m), (uint64_t)M##_##name##_count(m) + 1, 16);
#define LOOK_PART_(M, type, name)                                                                  \
    if (M##_##name(m))                                                                             \
        look_##type(M##_##name(m));
#define LOOK(M, FIELDS)                                                                            \
    static inline void look_##M(const M *m)                                                        \
    {                                                                                              \
        look_at(m, m->part.fixed, 8);                                                              \
        look_at(m, m->part.size, 8);                                                               \
        FIELDS(LOOK_, M)                                                                           \
    }                                                                                              \
    /* whether the bytes are one, having looked at everything */                                   \
    static inline bool look_into_##M(const unsigned char *bytes, size_t size)                      \
    {                                                                                              \
        const gyre_status slow = gyre_message_check(&M##_schema, bytes, size);                     \
        const bool fast = gyre_message_plain_(bytes, size, M##_TYPE) &&                            \
                          M##_FITS_(&((const gyre_message *)bytes)->part, GYRE_MESSAGE_ENVELOPE,   \
                                    size - GYRE_MESSAGE_ENVELOPE);                                 \
        const gyre_message *message;                                                               \
        const M *m;                                                                                \
                                                                                                   \
        look_require(M##_open(bytes, size, &m) == slow, "open says what check says");              \
        look_require((slow == GYRE_OK) == (m != NULL), "open gives a message or NULL");            \
        look_require(!fast || m, "what is taken in line is taken by the table");                   \
        if (!m)                                                                                    \
            return false;                                                                          \
        look_require(gyre_message_peek(bytes, size, &message) == GYRE_OK, "it has a header");      \
        look_require(fast == look_usual(&M##_schema, message), "the usual is taken in line");      \
        look_begin = bytes;                                                                        \
        look_end = bytes + GYRE_MESSAGE_ENVELOPE + message->part.size;                             \
        look_##M(m);                                                                               \
        return true;                                                                               \
    }

/* Whether a valid part, and those in it, are of the very tables that the reader has. */
static inline bool look_same_tables(const gyre_message_schema *schema, const gyre_part *part)
{
    if (part->version != schema->version)
        return false;
    for (uint32_t i = 0; i < schema->field_count; i++) {
        const gyre_message_field *const field = &schema->fields[i];
        const gyre_span *const span = (const gyre_span *)((const char *)part + field->offset);

        if (field->kind == GYRE_MESSAGE_PART && span->count &&
            !look_same_tables(field->part, (const gyre_part *)((const char *)part + span->offset)))
            return false;
    }
    return true;
}

static inline bool look_usual(const gyre_message_schema *schema, const gyre_message *message)
{
    return message->flags == 0 && look_same_tables(schema, &message->part);
}

LOOK(point, POINT_FIELDS)
LOOK(path, PATH_FIELDS)
LOOK(sample, SAMPLE_FIELDS)
LOOK(vector_add, VECTOR_ADD_FIELDS)
LOOK(nothing, NOTHING_FIELDS)
LOOK(order1, ORDER1_FIELDS)
LOOK(order2, ORDER2_FIELDS)
LOOK(order3, ORDER3_FIELDS)
LOOK(batch1, BATCH1_FIELDS)
LOOK(batch3, BATCH3_FIELDS)

/* By every table of the type that the bytes say they are, and one of another; how many took them.
 */
static inline int look_into_all(const unsigned char *bytes, size_t size)
{
    const gyre_message *message;

    if (gyre_message_peek(bytes, size, &message) != GYRE_OK) {
        look_require(!look_into_sample(bytes, size), "nothing has no header");
        return 0;
    }
    switch (message->type) {
    case sample_TYPE:
        return look_into_sample(bytes, size) + look_into_path(bytes, size);
    case vector_add_TYPE:
        return look_into_vector_add(bytes, size) + look_into_sample(bytes, size);
    case order1_TYPE:
        return look_into_order1(bytes, size) + look_into_order2(bytes, size) +
               look_into_order3(bytes, size) + look_into_batch1(bytes, size);
    case batch1_TYPE:
        return look_into_batch1(bytes, size) + look_into_batch3(bytes, size) +
               look_into_order1(bytes, size);
    default:
        return look_into_nothing(bytes, size) + look_into_path(bytes, size) +
               look_into_point(bytes, size);
    }
}

#endif
