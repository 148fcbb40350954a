/* SPDX-License-Identifier: Apache-2.0
 *
 * message: flat messages: built where they will travel, validated once, read in place.
 *
 * gyre/message_abi.h tells how a message is declared and read. For each message M this header adds
 * what a host does with it; a field is called x here:
 *
 *     M_builder b;
 *     GYRE_OK == M_begin(&b, buffer, capacity)   the message will lie in `buffer`
 *     b.header.id = gyre_message_id_next();      likewise correlation, source, destination,
 *                                                deadline_ns, time, priority (default normal) and
 *                                                flags (GYRE_MESSAGE_CRC: commit computes it)
 *     M_set_x(&b, value)                         SCALAR and OPTIONAL; ARRAY: from a pointer
 *     type *to = M_add_x(&b, count)              LIST and TEXT: where to write count elements
 *     M_copy_x(&b, from, count)                  the same, and copies them there
 *     T_builder part;                            PART of message T:
 *     M_begin_x(&b, &part) ... M_commit_x(&b, &part)
 *     GYRE_OK == M_commit(&b, &size)             the first `size` bytes of the buffer are it
 *
 *     const M *m;
 *     GYRE_OK == M_open(bytes, size, &m)         validated: no read through m leaves the message
 *     M_x(m)
 *     M_print(bytes, size, stream)               validated, for people; M_json likewise, as JSON
 *
 * The buffer is aligned to 16 and capacity is counted down to a multiple of 16. Lists, texts and
 * parts are added in the order of the table, each at most once; scalars are set at any time. What
 * is not set or added is 0 or empty. Between begin and commit of a part, only scalars of the
 * message around it can be set. A builder that failed does nothing any more, returns NULL from
 * M_add_x, and M_commit says what happened: GYRE_NO_MEMORY when the buffer is too small, else
 * GYRE_INVALID.
 *
 * M_open takes hostile bytes, in memory that nobody changes meanwhile. Bytes after the message are
 * not its own and not looked at. GYRE_INVALID: NULL, or not aligned to 16; GYRE_NOT_FOUND: a
 * message of another type; GYRE_UNSUPPORTED: of a newer layout; GYRE_CORRUPT: anything else.
 * Messages of older and newer tables are opened. Not checked: values, and bytes that no field has.
 *
 * All of these are thread-safe as plain data is, never block (M_print and M_json block as the
 * stream does), and are not for signal handlers. Fields cannot be called begin, commit, open,
 * trust, message, print, json, schema or builder.
 *
 * Threads   as plain data.
 * Owns      nothing; the buffer is the caller's.
 * Not here  moving messages (gyre/channel.h), memory for them (gyre/bytes.h).
 */
#ifndef GYRE_MESSAGE_H
#define GYRE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gyre/common.h"
#include "gyre/message_abi.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

/* A table as data, M_schema: for programs that handle messages they were not written for. */
typedef enum gyre_message_kind {
    GYRE_MESSAGE_SCALAR,
    GYRE_MESSAGE_OPTIONAL,
    GYRE_MESSAGE_ARRAY,
    GYRE_MESSAGE_LIST,
    GYRE_MESSAGE_TEXT,
    GYRE_MESSAGE_PART,
} gyre_message_kind;

/* Named by the words of the table. */
typedef enum gyre_message_scalar {
    GYRE_MESSAGE_u8,
    GYRE_MESSAGE_u16,
    GYRE_MESSAGE_u32,
    GYRE_MESSAGE_u64,
    GYRE_MESSAGE_i8,
    GYRE_MESSAGE_i16,
    GYRE_MESSAGE_i32,
    GYRE_MESSAGE_i64,
    GYRE_MESSAGE_f32,
    GYRE_MESSAGE_f64,
    GYRE_MESSAGE_char,
} gyre_message_scalar;

typedef struct gyre_message_schema gyre_message_schema;

typedef struct gyre_message_field {
    const char *name;
    uint8_t kind;     /* gyre_message_kind */
    uint8_t scalar;   /* gyre_message_scalar, of elements too; 0 for a part */
    uint16_t since;   /* version of the table that added it */
    uint16_t offset;  /* from the part's beginning */
    uint16_t size;    /* bytes in the fixed part, of an optional with the byte that says has */
    uint32_t element; /* bytes of one; 0 for a part */
    const gyre_message_schema *part;
} gyre_message_field;

struct gyre_message_schema {
    const char *name;
    uint32_t type;
    uint16_t version;
    uint16_t fixed;
    uint32_t field_count;
    const gyre_message_field *fields; /* in the order of the table */
};

/* Another number at each call in this process, on whatever thread, never 0. Thread-safe, never
 * blocks, not for signal handlers. */
GYRE_API uint64_t gyre_message_id_next(void);

/* Whether the bytes begin with the header of a message that is all there; its type says what to
 * open it as. Statuses and terms as from M_open; *out_message is borrowed from the bytes. */
GYRE_API GYRE_MUST_USE gyre_status gyre_message_peek(const void *bytes, size_t size,
                                                     const gyre_message **out_message);

/* What M_open, M_print and M_json do, for any table. */
GYRE_API GYRE_MUST_USE gyre_status gyre_message_check(const gyre_message_schema *schema,
                                                      const void *bytes, size_t size);
GYRE_API GYRE_MUST_USE gyre_status gyre_message_print(const gyre_message_schema *schema,
                                                      const void *bytes, size_t size, FILE *stream);
GYRE_API GYRE_MUST_USE gyre_status gyre_message_json(const gyre_message_schema *schema,
                                                     const void *bytes, size_t size, FILE *stream);

GYRE_END_DECLS

/* The bodies. */
#include "gyre/message_build.h"
#include "gyre/message_valid.h"

#undef GYRE_MESSAGE_HOST_
#define GYRE_MESSAGE_HOST_(M, FIELDS)                                                              \
    __attribute__((unused)) static const gyre_message_field M##_FIELDS_[] = {                      \
        FIELDS(GYRE_MESSAGE_DESCRIBE_, M){NULL, 0, 0, 0, 0, 0, 0, NULL}};                          \
    __attribute__((unused)) static const gyre_message_schema M##_schema = {                        \
        #M, M##_TYPE, M##_VERSION, M##_FIXED_, M##_COUNT_, M##_FIELDS_};                           \
    typedef struct M##_builder {                                                                   \
        gyre_message header;                                                                       \
        gyre_message_builder_ at;                                                                  \
    } M##_builder;                                                                                 \
    GYRE_MUST_USE GYRE_MESSAGE_FN_ gyre_status M##_begin(M##_builder *b, void *buffer,             \
                                                         size_t capacity)                          \
    {                                                                                              \
        gyre_message_blank_(&b->header);                                                           \
        return gyre_message_begin_(&b->at, buffer, capacity, M##_ROOM, #M);                        \
    }                                                                                              \
    GYRE_MUST_USE GYRE_MESSAGE_FN_ gyre_status M##_commit(M##_builder *b, size_t *out_size)        \
    {                                                                                              \
        return gyre_message_commit_(&b->at, &b->header, M##_TYPE,                                  \
                                    gyre_message_part_(&b->at, M##_FIXED_, M##_VERSION), #M,       \
                                    out_size);                                                     \
    }                                                                                              \
    /* whether it is a part written with the very table that this is */                            \
    GYRE_MESSAGE_FN_ bool M##_FITS_(const gyre_part *part, uint64_t begin, uint64_t room)          \
    {                                                                                              \
        const M *const m = (const M *)part;                                                        \
        const uint32_t head = M##_ROOM - GYRE_MESSAGE_ENVELOPE;                                    \
        gyre_message_walk_ w = {part, begin, begin + head};                                        \
                                                                                                   \
        (void)m;                                                                                   \
        if (part->fixed != M##_FIXED_ || part->version != M##_VERSION || part->size < head ||      \
            part->size > room)                                                                     \
            return false;                                                                          \
        FIELDS(GYRE_MESSAGE_FIT_, M)                                                               \
        return w.at == begin + part->size;                                                         \
    }                                                                                              \
    GYRE_MUST_USE GYRE_MESSAGE_FN_ gyre_status M##_open(const void *bytes, size_t size,            \
                                                        const M **out_m)                           \
    {                                                                                              \
        gyre_status status = GYRE_OK;                                                              \
                                                                                                   \
        if (GYRE_MESSAGE_RARE_(!gyre_message_plain_(bytes, size, M##_TYPE) ||                      \
                               !M##_FITS_(&((const gyre_message *)bytes)->part,                    \
                                          GYRE_MESSAGE_ENVELOPE, size - GYRE_MESSAGE_ENVELOPE)))   \
            status = gyre_message_check(&M##_schema, bytes, size);                                 \
        *out_m = status == GYRE_OK ? M##_trust(bytes) : NULL;                                      \
        return status;                                                                             \
    }                                                                                              \
    GYRE_MUST_USE GYRE_MESSAGE_FN_ gyre_status M##_print(const void *bytes, size_t size,           \
                                                         FILE *stream)                             \
    {                                                                                              \
        return gyre_message_print(&M##_schema, bytes, size, stream);                               \
    }                                                                                              \
    GYRE_MUST_USE GYRE_MESSAGE_FN_ gyre_status M##_json(const void *bytes, size_t size,            \
                                                        FILE *stream)                              \
    {                                                                                              \
        return gyre_message_json(&M##_schema, bytes, size, stream);                                \
    }                                                                                              \
    FIELDS(GYRE_MESSAGE_WRITE_, M)

/* Rows of M_schema. */
#define GYRE_MESSAGE_DESCRIBE_(M, kind, type, name, since, extra)                                  \
    GYRE_MESSAGE_DESCRIBE_##kind##_(M, type, name, since, extra)
#define GYRE_MESSAGE_ROW_(M, kind, scalar, name, since, last, element, part)                       \
    {#name,                                                                                        \
     kind,                                                                                         \
     scalar,                                                                                       \
     since,                                                                                        \
     GYRE_MESSAGE_OFFSET_(M, name##_),                                                             \
     GYRE_MESSAGE_END_(M, last) - GYRE_MESSAGE_OFFSET_(M, name##_),                                \
     element,                                                                                      \
     part},
#define GYRE_MESSAGE_DESCRIBE_SCALAR_(M, type, name, since, extra)                                 \
    GYRE_MESSAGE_ROW_(M, GYRE_MESSAGE_SCALAR, GYRE_MESSAGE_##type, name, since, name##_,           \
                      sizeof(gyre_abi_##type), NULL)
#define GYRE_MESSAGE_DESCRIBE_OPTIONAL_(M, type, name, since, extra)                               \
    GYRE_MESSAGE_ROW_(M, GYRE_MESSAGE_OPTIONAL, GYRE_MESSAGE_##type, name, since, has_##name##_,   \
                      sizeof(gyre_abi_##type), NULL)
#define GYRE_MESSAGE_DESCRIBE_ARRAY_(M, type, name, since, extra)                                  \
    GYRE_MESSAGE_ROW_(M, GYRE_MESSAGE_ARRAY, GYRE_MESSAGE_##type, name, since, name##_,            \
                      sizeof(gyre_abi_##type), NULL)
#define GYRE_MESSAGE_DESCRIBE_LIST_(M, type, name, since, extra)                                   \
    GYRE_MESSAGE_ROW_(M, GYRE_MESSAGE_LIST, GYRE_MESSAGE_##type, name, since, name##_,             \
                      sizeof(gyre_abi_##type), NULL)
#define GYRE_MESSAGE_DESCRIBE_TEXT_(M, type, name, since, extra)                                   \
    GYRE_MESSAGE_ROW_(M, GYRE_MESSAGE_TEXT, GYRE_MESSAGE_char, name, since, name##_, 1, NULL)
#define GYRE_MESSAGE_DESCRIBE_PART_(M, type, name, since, extra)                                   \
    GYRE_MESSAGE_ROW_(M, GYRE_MESSAGE_PART, 0, name, since, name##_, 0, &type##_schema)

#endif
