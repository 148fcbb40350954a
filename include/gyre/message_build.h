/* SPDX-License-Identifier: Apache-2.0
 *
 * message_build: what the writers of gyre/message.h are made of. Not for callers.
 *
 * The builder never leaves the function that uses it: nothing here hands out its address, so that
 * its members live in registers, or are constants.
 */
#ifndef GYRE_MESSAGE_BUILD_H
#define GYRE_MESSAGE_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gyre/common.h"
#include "gyre/message_abi.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

typedef enum gyre_message_failure {
    GYRE_MESSAGE_WELL_,
    GYRE_MESSAGE_NO_BUFFER_,
    GYRE_MESSAGE_NO_ROOM_,
    GYRE_MESSAGE_ORDER_,
    GYRE_MESSAGE_OPEN_PART_,
    GYRE_MESSAGE_OTHER_PART_,
} gyre_message_failure;

/* Positions are bytes from the message's beginning; end and capacity are multiples of 16. */
typedef struct gyre_message_builder_ {
    unsigned char *message;
    size_t part; /* where the part that is built begins */
    size_t end;
    size_t capacity;
    uint32_t next; /* index of the first field that may still be added; or of an open part */
    gyre_message_failure failure;
    const char *where; /* the failure was; static */
} gyre_message_builder_;

#define GYRE_MESSAGE_IN_PART_ 0x80000000u /* in `next`: that part is begun and not committed */

GYRE_API gyre_status gyre_message_refuse_(gyre_message_failure failure, const char *where);
GYRE_API void gyre_message_seal_(gyre_message *message);

#define GYRE_MESSAGE_FN_ static inline __attribute__((always_inline, unused))
#define GYRE_MESSAGE_RARE_(condition) __builtin_expect(!!(condition), 0)

GYRE_MESSAGE_FN_ void gyre_message_fail_(gyre_message_builder_ *b, gyre_message_failure failure,
                                         const char *where)
{
    b->failure = failure;
    b->where = where;
}

GYRE_MESSAGE_FN_ gyre_status gyre_message_begin_(gyre_message_builder_ *b, void *buffer,
                                                 size_t capacity, size_t room, const char *where)
{
    b->message = (unsigned char *)buffer;
    b->part = GYRE_MESSAGE_ENVELOPE;
    b->end = room;
    /* a part's size has 32 bits */
    b->capacity = (capacity < 0xfffffff0u ? capacity : 0xfffffff0u) & ~(size_t)15;
    b->next = 0;
    b->failure = GYRE_MESSAGE_WELL_;
    b->where = NULL;
    if (GYRE_MESSAGE_RARE_(!buffer || ((uintptr_t)buffer & 15) != 0))
        gyre_message_fail_(b, GYRE_MESSAGE_NO_BUFFER_, where);
    else if (GYRE_MESSAGE_RARE_(b->capacity < room))
        gyre_message_fail_(b, GYRE_MESSAGE_NO_ROOM_, where);
    if (GYRE_MESSAGE_RARE_(b->failure != GYRE_MESSAGE_WELL_))
        return gyre_message_refuse_(b->failure, where);
    memset(b->message + b->part, 0, room - GYRE_MESSAGE_ENVELOPE);
    return GYRE_OK;
}

/* Field by field, here and in commit: what goes through memory in another width waits for it. */
GYRE_MESSAGE_FN_ void gyre_message_blank_(gyre_message *header)
{
    header->priority = GYRE_MESSAGE_NORMAL;
    header->flags = 0;
    header->id = 0;
    header->correlation = 0;
    header->source = 0;
    header->destination = 0;
    header->deadline_ns = 0;
    header->time = 0;
}

/* Where a list or a text of so many bytes begins when what is before it ends at `at`. */
GYRE_MESSAGE_FN_ uint64_t gyre_message_place_(uint64_t at, uint64_t bytes)
{
    return bytes < GYRE_MESSAGE_LARGE ? at : (at + GYRE_MESSAGE_LINE - 1) & ~UINT64_C(63);
}

/* Whether field `index` may be added now. */
GYRE_MESSAGE_FN_ bool gyre_message_next_(gyre_message_builder_ *b, uint32_t index,
                                         const char *where)
{
    if (GYRE_MESSAGE_RARE_(b->failure != GYRE_MESSAGE_WELL_))
        return false;
    if (GYRE_MESSAGE_RARE_(index < b->next)) {
        gyre_message_fail_(b, GYRE_MESSAGE_ORDER_, where);
        return false;
    }
    return true;
}

/* Room for a list, or a text with one byte more. What is left empty is cleared: before it, and
 * the last 16 bytes that it then ends in, with a text's zero. */
GYRE_MESSAGE_FN_ void *gyre_message_add_(gyre_message_builder_ *b, size_t span, uint32_t index,
                                         size_t count, size_t element, size_t more,
                                         const char *where)
{
    size_t bytes, place;

    if (!gyre_message_next_(b, index, where))
        return NULL;
    b->next = index + 1;
    if (count == 0)
        return b->message + b->end;
    bytes = count * element + more;
    place = (size_t)gyre_message_place_(b->end, bytes);
    /* first that nothing wraps; what is left is a multiple of 16, so what fits also fits rounded */
    if (GYRE_MESSAGE_RARE_(count > b->capacity || place > b->capacity ||
                           bytes > b->capacity - place)) {
        gyre_message_fail_(b, GYRE_MESSAGE_NO_ROOM_, where);
        return NULL;
    }
    for (; b->end < place; b->end += 16)
        memset(b->message + b->end, 0, 16);
    b->end = place + ((bytes + 15) & ~(size_t)15);
    if (more || (bytes & 15) != 0)
        memset(b->message + b->end - 16, 0, 16);
    ((gyre_span *)(b->message + b->part + span))->offset = (uint32_t)(place - b->part);
    ((gyre_span *)(b->message + b->part + span))->count = (uint32_t)count;
    return b->message + place;
}

/* By a call unless short: gcc would do a constant number of bytes by `rep movs`, which takes longer
 * to start than the copy. */
GYRE_MESSAGE_FN_ void gyre_message_copy_(void *to, const void *from, size_t bytes)
{
    if (!(__builtin_constant_p(bytes) && bytes <= GYRE_MESSAGE_LARGE))
        __asm__("" : "+r"(bytes));
    memcpy(to, from, bytes);
}

/* `room` is that of the part alone, with 8 bytes before it. */
GYRE_MESSAGE_FN_ void gyre_message_begin_part_(gyre_message_builder_ *b,
                                               gyre_message_builder_ *part, size_t span,
                                               uint32_t index, size_t room, const char *where)
{
    *part = *b;
    if (gyre_message_next_(b, index, where) && GYRE_MESSAGE_RARE_(room > b->capacity - b->end))
        gyre_message_fail_(b, GYRE_MESSAGE_NO_ROOM_, where);
    if (GYRE_MESSAGE_RARE_(b->failure != GYRE_MESSAGE_WELL_)) {
        gyre_message_fail_(part, b->failure, b->where);
        return;
    }
    b->next = index | GYRE_MESSAGE_IN_PART_;
    part->part = b->end + 8;
    part->end = b->end + room;
    part->next = 0;
    memset(b->message + b->end, 0, room);
    ((gyre_span *)(b->message + b->part + span))->offset = (uint32_t)(part->part - b->part);
    ((gyre_span *)(b->message + b->part + span))->count = 1;
}

GYRE_MESSAGE_FN_ gyre_part gyre_message_part_(const gyre_message_builder_ *b, uint16_t fixed,
                                              uint16_t version)
{
    gyre_part part;

    part.size = (uint32_t)(b->end - b->part);
    part.fixed = fixed;
    part.version = version;
    return part;
}

GYRE_MESSAGE_FN_ void gyre_message_commit_part_(gyre_message_builder_ *b,
                                                const gyre_message_builder_ *part, uint32_t index,
                                                gyre_part head, const char *where)
{
    if (GYRE_MESSAGE_RARE_(b->failure != GYRE_MESSAGE_WELL_))
        return;
    if (GYRE_MESSAGE_RARE_(part->failure != GYRE_MESSAGE_WELL_))
        gyre_message_fail_(b, part->failure, part->where);
    else if (GYRE_MESSAGE_RARE_(part->next >= GYRE_MESSAGE_IN_PART_))
        gyre_message_fail_(b, GYRE_MESSAGE_OPEN_PART_, where);
    else if (GYRE_MESSAGE_RARE_(b->next != (index | GYRE_MESSAGE_IN_PART_) ||
                                part->message != b->message || part->part != b->end + 8))
        gyre_message_fail_(b, GYRE_MESSAGE_OTHER_PART_, where);
    else {
        *(gyre_part *)(b->message + part->part) = head;
        b->end = part->end;
        b->next = index + 1;
    }
}

GYRE_MESSAGE_FN_ gyre_status gyre_message_commit_(gyre_message_builder_ *b,
                                                  const gyre_message *header, uint32_t type,
                                                  gyre_part head, const char *where,
                                                  size_t *out_size)
{
    gyre_message *to;

    *out_size = 0;
    if (GYRE_MESSAGE_RARE_(b->failure == GYRE_MESSAGE_WELL_ && b->next >= GYRE_MESSAGE_IN_PART_))
        gyre_message_fail_(b, GYRE_MESSAGE_OPEN_PART_, where);
    if (GYRE_MESSAGE_RARE_(b->failure != GYRE_MESSAGE_WELL_))
        return gyre_message_refuse_(b->failure, b->where);
    to = (gyre_message *)b->message;
    to->magic = GYRE_MESSAGE_MAGIC;
    to->layout = GYRE_MESSAGE_LAYOUT;
    to->priority = header->priority;
    to->flags = header->flags & GYRE_MESSAGE_CRC;
    to->type = type;
    to->crc32c = 0;
    to->id = header->id;
    to->correlation = header->correlation;
    to->source = header->source;
    to->destination = header->destination;
    to->deadline_ns = header->deadline_ns;
    to->time = header->time;
    to->part = head;
    if ((header->flags & GYRE_MESSAGE_CRC) != 0)
        gyre_message_seal_(to);
    *out_size = b->end;
    return GYRE_OK;
}

GYRE_END_DECLS

/* Writers. */
#define GYRE_MESSAGE_WRITE_(M, kind, type, name, since, extra)                                     \
    GYRE_MESSAGE_WRITE_##kind##_(M, type, name, extra)
#define GYRE_MESSAGE_FIXED_(M) ((M *)(b->at.message + b->at.part))
#define GYRE_MESSAGE_WRITE_SCALAR_(M, type, name, extra)                                           \
    GYRE_MESSAGE_FN_ void M##_set_##name(M##_builder *b, gyre_abi_##type value)                    \
    {                                                                                              \
        if (b->at.failure == GYRE_MESSAGE_WELL_)                                                   \
            GYRE_MESSAGE_FIXED_(M)->name##_ = value;                                               \
    }
#define GYRE_MESSAGE_WRITE_OPTIONAL_(M, type, name, extra)                                         \
    GYRE_MESSAGE_FN_ void M##_set_##name(M##_builder *b, gyre_abi_##type value)                    \
    {                                                                                              \
        if (b->at.failure != GYRE_MESSAGE_WELL_)                                                   \
            return;                                                                                \
        GYRE_MESSAGE_FIXED_(M)->name##_ = value;                                                   \
        GYRE_MESSAGE_FIXED_(M)->has_##name##_ = 1;                                                 \
    }
#define GYRE_MESSAGE_WRITE_ARRAY_(M, type, name, extra)                                            \
    GYRE_MESSAGE_FN_ void M##_set_##name(M##_builder *b, const gyre_abi_##type *values)            \
    {                                                                                              \
        if (b->at.failure == GYRE_MESSAGE_WELL_)                                                   \
            memcpy(GYRE_MESSAGE_FIXED_(M)->name##_, values, (extra) * sizeof *values);             \
    }
#define GYRE_MESSAGE_WRITE_MANY_(M, type, name, more)                                              \
    GYRE_MESSAGE_FN_ gyre_abi_##type *M##_add_##name(M##_builder *b, size_t count)                 \
    {                                                                                              \
        return (gyre_abi_##type *)gyre_message_add_(&b->at, GYRE_MESSAGE_OFFSET_(M, name##_),      \
                                                    M##_##name##_index_, count,                    \
                                                    sizeof(gyre_abi_##type), more, #M "." #name);  \
    }                                                                                              \
    GYRE_MESSAGE_FN_ void M##_copy_##name(M##_builder *b, const gyre_abi_##type *from,             \
                                          size_t count)                                            \
    {                                                                                              \
        gyre_abi_##type *const to = M##_add_##name(b, count);                                      \
                                                                                                   \
        if (to && count > 0)                                                                       \
            gyre_message_copy_(to, from, count * sizeof *to);                                      \
    }
#define GYRE_MESSAGE_WRITE_LIST_(M, type, name, extra) GYRE_MESSAGE_WRITE_MANY_(M, type, name, 0)
#define GYRE_MESSAGE_WRITE_TEXT_(M, type, name, extra) GYRE_MESSAGE_WRITE_MANY_(M, char, name, 1)
#define GYRE_MESSAGE_WRITE_PART_(M, type, name, extra)                                             \
    GYRE_MESSAGE_FN_ void M##_begin_##name(M##_builder *b, type##_builder *part)                   \
    {                                                                                              \
        gyre_message_begin_part_(&b->at, &part->at, GYRE_MESSAGE_OFFSET_(M, name##_),              \
                                 M##_##name##_index_, type##_ROOM - 48, #M "." #name);             \
    }                                                                                              \
    GYRE_MESSAGE_FN_ void M##_commit_##name(M##_builder *b, const type##_builder *part)            \
    {                                                                                              \
        gyre_message_commit_part_(&b->at, &part->at, M##_##name##_index_,                          \
                                  gyre_message_part_(&part->at, type##_FIXED_, type##_VERSION),    \
                                  #M "." #name);                                                   \
    }

#endif
