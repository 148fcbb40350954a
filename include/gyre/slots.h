/* SPDX-License-Identifier: Apache-2.0
 *
 * slots: copies runs of fixed-size slots into and out of a ring, around its end.
 *
 * What gyre/spsc.h and gyre/mpmc.h share: a ring is an array whose length is a power of two, and
 * `position & mask` is a position's slot.
 *
 * Threads   as memcpy: who may touch which slot is the queue's business.
 * Owns      nothing.
 */
#ifndef GYRE_SLOTS_H
#define GYRE_SLOTS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gyre/common.h"

GYRE_BEGIN_DECLS

/* The ring's slots from `position` on are written; `count` is at most mask + 1. */
GYRE_INLINE void gyre_slots_write(unsigned char *ring, uint64_t mask, uint64_t position,
                                  const void *from, size_t slot_size, uint64_t count)
{
    const uint64_t index = position & mask, until_end = mask + 1 - index;
    const uint64_t first = count < until_end ? count : until_end;

    memcpy(ring + index * slot_size, from, first * slot_size);
    if (first < count)
        memcpy(ring, (const unsigned char *)from + first * slot_size, (count - first) * slot_size);
}

/* The ring's slots from `position` on are read. */
GYRE_INLINE void gyre_slots_read(const unsigned char *ring, uint64_t mask, uint64_t position,
                                 void *into, size_t slot_size, uint64_t count)
{
    const uint64_t index = position & mask, until_end = mask + 1 - index;
    const uint64_t first = count < until_end ? count : until_end;

    memcpy(into, ring + index * slot_size, first * slot_size);
    if (first < count)
        memcpy((unsigned char *)into + first * slot_size, ring, (count - first) * slot_size);
}

GYRE_END_DECLS

#endif
