/* SPDX-License-Identifier: Apache-2.0
 *
 * message_valid: what M_open of gyre/message.h does in line. Not for callers.
 *
 * It takes a message without flags that was written with the very table that the reader has, and
 * refuses everything else: then gyre_message_check decides, and says why. What this takes, that
 * takes too.
 */
#ifndef GYRE_MESSAGE_VALID_H
#define GYRE_MESSAGE_VALID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/message_abi.h"
#include "gyre/message_build.h"

GYRE_BEGIN_DECLS

/* Whether this is the header of a message that an M_open may take in line: nothing but the usual.
 */
GYRE_MESSAGE_FN_ bool gyre_message_plain_(const void *bytes, size_t size, uint32_t type)
{
    const gyre_message *const message = (const gyre_message *)bytes;

    return bytes && ((uintptr_t)bytes & 15) == 0 && size >= sizeof *message &&
           message->magic == GYRE_MESSAGE_MAGIC && message->layout == GYRE_MESSAGE_LAYOUT &&
           message->flags == 0 && message->type == type;
}

/* A part being looked at. Positions are bytes from the message's beginning, of 64 bits: sums of
 * what 32 bits can say do not wrap. */
typedef struct gyre_message_walk_ {
    const gyre_part *part;
    uint64_t begin; /* where the part is */
    uint64_t at;    /* where what comes next ends what was before */
} gyre_message_walk_;

/* Whether a list, a text or a part is where it must be, and goes on behind it. A list is not held
 * against the part's size: what is too large ends behind that, and no position comes back. */
GYRE_MESSAGE_FN_ bool gyre_message_list_fits_(gyre_message_walk_ *w, const gyre_span *span,
                                              uint64_t element)
{
    const uint64_t bytes = span->count * element, place = gyre_message_place_(w->at, bytes);

    w->at = place + ((bytes + 15) & ~UINT64_C(15));
    return span->offset == (bytes ? place - w->begin : 0);
}

GYRE_MESSAGE_FN_ bool gyre_message_text_fits_(gyre_message_walk_ *w, const gyre_span *span)
{
    const uint64_t bytes = (uint64_t)span->count + 1, place = gyre_message_place_(w->at, bytes);
    const uint64_t zero = place - w->begin + span->count;

    if (span->count == 0)
        return span->offset == 0;
    w->at = place + ((bytes + 15) & ~UINT64_C(15));
    return span->offset == place - w->begin && zero < w->part->size &&
           ((const char *)w->part)[zero] == 0;
}

/* The part, which can be looked into; NULL when it is not where it must be. */
GYRE_MESSAGE_FN_ const gyre_part *gyre_message_part_fits_(gyre_message_walk_ *w,
                                                          const gyre_span *span)
{
    const uint64_t place = w->at + sizeof(gyre_part), offset = place - w->begin;

    if (span->count != 1 || span->offset != offset || offset + sizeof(gyre_part) > w->part->size)
        return NULL;
    w->at = place;
    return (const gyre_part *)((const char *)w->part + offset);
}

GYRE_END_DECLS

/* Statements of M_FITS_. */
#define GYRE_MESSAGE_FIT_(M, kind, type, name, since, extra) GYRE_MESSAGE_FIT_##kind##_(type, name)
#define GYRE_MESSAGE_FIT_SCALAR_(type, name)
#define GYRE_MESSAGE_FIT_OPTIONAL_(type, name)
#define GYRE_MESSAGE_FIT_ARRAY_(type, name)
#define GYRE_MESSAGE_FIT_LIST_(type, name)                                                         \
    if (!gyre_message_list_fits_(&w, &m->name##_, sizeof(gyre_abi_##type)))                        \
        return false;
#define GYRE_MESSAGE_FIT_TEXT_(type, name)                                                         \
    if (!gyre_message_text_fits_(&w, &m->name##_))                                                 \
        return false;
#define GYRE_MESSAGE_FIT_PART_(type, name)                                                         \
    if (m->name##_.offset != 0 || m->name##_.count != 0) {                                         \
        const gyre_part *const inner = gyre_message_part_fits_(&w, &m->name##_);                   \
                                                                                                   \
        if (!inner || !type##_FITS_(inner, w.at, part->size - (w.at - begin)))                     \
            return false;                                                                          \
        w.at += inner->size;                                                                       \
    }

#endif
