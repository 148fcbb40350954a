/* SPDX-License-Identifier: Apache-2.0
 *
 * print_single: a print by a seat with one lane. For threads of the CPU (actor/print.c) and for
 * OpenCL.
 *
 * Threads   the seat's. Edges: [ring-slot], [print-read] with actor/print.c.
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_PRINT_SINGLE_H
#define GYRE_ACTOR_PRINT_SINGLE_H

#ifndef GYRE_ACTOR_ANNEX_ABI_H
#include "actor/annex_abi.h"
#endif
#ifndef GYRE_ACTOR_MAILBOX_WORDS_H
#include "actor/mailbox_words.h"
#endif
#ifndef GYRE_ACTOR_SLOT_H
#include "actor/slot.h"
#endif
#ifndef GYRE_BEHAVIOUR_H
#include "gyre/behaviour.h"
#endif

GYRE_RING_INLINE void gyre_print_put(GYRE_GLOBAL gyre_annex *annex, const GYRE_LITERAL char *text,
                                     gyre_abi_u32 length, gyre_abi_u32 kind, gyre_abi_u64 value)
{
    const gyre_abi_u32 number = gyre_mailbox_load(&annex->seat.claimed);
    const gyre_abi_u32 capacity = gyre_mailbox_load(&annex->host.capacity);
    const gyre_abi_u32 wide = gyre_mailbox_load(&annex->host.wide);
    gyre_brief brief;

    /* acquire [print-read]: pairs with the release in actor/print.c; the host has done with the
     * slot */
    if (number - gyre_mailbox_acquire(&annex->host.read) >= capacity) {
        gyre_mailbox_store(&annex->seat.lost, gyre_mailbox_load(&annex->seat.lost) + 1);
        return;
    }
    for (gyre_abi_u32 i = 0; i <= GYRE_PRINT_TEXT; i++)
        brief.body.bytes[i] = i < length && i < GYRE_PRINT_TEXT ? (gyre_abi_u8)text[i] : 0;
    brief.body.longs[GYRE_PRINT_VALUE] = value;
    gyre_slot_write((GYRE_MAILBOX_BYTE *)annex + gyre_annex_slot_at(number, capacity, wide), wide,
                    gyre_ring_stamp(number, gyre_mailbox_load(&annex->host.salt)), kind, &brief);
    gyre_mailbox_store(&annex->seat.claimed, number + 1);
}

#endif
