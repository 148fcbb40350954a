/* SPDX-License-Identifier: Apache-2.0
 *
 * message: what is done out of line: ids, checksums, and what a builder failed of. See
 * gyre/message.h.
 *
 * Threads   ids: each thread takes a block of them at a time from one counter.
 * Owns      the counter of ids.
 * Not here  validation (message_check.c), printing (message_print.c).
 */
#include "msg/message.h"

#include <stdatomic.h>

#include "base/crc32c.h"
#include "base/fail.h"

enum { ID_BLOCK = 4096, CRC_AT = offsetof(gyre_message, crc32c) };

uint64_t gyre_message_id_next(void)
{
    static _Atomic uint64_t next_block = 0;
    static _Thread_local uint64_t last = 0; /* a multiple of the block's size: it is used up */

    /* relaxed: ids differ, and say nothing about when */
    if (last % ID_BLOCK == 0)
        last = atomic_fetch_add_explicit(&next_block, ID_BLOCK, memory_order_relaxed);
    return ++last;
}

uint32_t gyre_message_crc(const gyre_message *message)
{
    static const unsigned char zero[sizeof message->crc32c];
    const unsigned char *const bytes = (const unsigned char *)message;
    const size_t behind = CRC_AT + sizeof zero;
    const uint32_t crc = gyre_crc32c(zero, sizeof zero, gyre_crc32c(bytes, CRC_AT, 0));

    return gyre_crc32c(bytes + behind, GYRE_MESSAGE_ENVELOPE + (size_t)message->part.size - behind,
                       crc);
}

void gyre_message_seal_(gyre_message *message)
{
    message->crc32c = gyre_message_crc(message);
}

gyre_status gyre_message_refuse_(gyre_message_failure failure, const char *where)
{
    switch (failure) {
    case GYRE_MESSAGE_NO_BUFFER_:
        return gyre_fail(GYRE_INVALID, "message %s: the buffer is NULL or not aligned to %d", where,
                         GYRE_MESSAGE_ALIGNMENT);
    case GYRE_MESSAGE_NO_ROOM_:
        return gyre_fail(GYRE_NO_MEMORY, "message: the buffer is too small for %s", where);
    case GYRE_MESSAGE_ORDER_:
        return gyre_fail(GYRE_INVALID,
                         "message: %s was added a second time, after a later field, or inside of a "
                         "part",
                         where);
    case GYRE_MESSAGE_OPEN_PART_:
        return gyre_fail(GYRE_INVALID, "message: %s was committed before a part of it", where);
    case GYRE_MESSAGE_OTHER_PART_:
        return gyre_fail(GYRE_INVALID, "message: %s was committed, but another was begun", where);
    case GYRE_MESSAGE_WELL_:
        break;
    }
    return gyre_fail(GYRE_INVALID, "message %s: the builder was not begun", where);
}
