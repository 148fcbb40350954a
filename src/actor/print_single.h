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

/* What a seat knows of its prints. Nothing of that is read from the mailbox while it lives, where
 * somebody else might have written. */
typedef struct gyre_prints {
    GYRE_GLOBAL gyre_annex *annex;
    gyre_abi_u32 capacity, wide, salt;
    gyre_abi_u32 claimed, lost;
} gyre_prints;

GYRE_RING_INLINE void gyre_prints_init(GYRE_RING_OWN gyre_prints *prints,
                                       GYRE_GLOBAL gyre_annex *annex,
                                       const GYRE_RING_OWN gyre_mailbox_shape *shape)
{
    prints->annex = annex;
    prints->capacity = shape->prints;
    prints->wide = shape->wide;
    prints->salt = gyre_ring_salt(shape->incarnation);
    prints->claimed = gyre_mailbox_load(&annex->seat.claimed);
    prints->lost = gyre_mailbox_load(&annex->seat.lost);
}

GYRE_RING_INLINE void gyre_prints_put(GYRE_RING_OWN gyre_prints *prints,
                                      const GYRE_LITERAL char *text, gyre_abi_u32 length,
                                      gyre_abi_u32 kind, gyre_abi_u64 value)
{
    GYRE_GLOBAL gyre_annex *const annex = prints->annex;
    const gyre_abi_u32 number = prints->claimed;
    gyre_brief brief;

    /* acquire [print-read]: pairs with the release in actor/print.c; the host has done with the
     * slot */
    if (number - gyre_mailbox_acquire(&annex->host.read) >= prints->capacity) {
        gyre_mailbox_store(&annex->seat.lost, ++prints->lost);
        return;
    }
    for (gyre_abi_u32 i = 0; i <= GYRE_PRINT_TEXT; i++)
        brief.body.bytes[i] = i < length && i < GYRE_PRINT_TEXT ? (gyre_abi_u8)text[i] : 0;
    brief.body.longs[GYRE_PRINT_VALUE] = value;
    gyre_slot_write((GYRE_MAILBOX_BYTE *)annex +
                        gyre_annex_slot_at(number, prints->capacity, prints->wide),
                    prints->wide, gyre_ring_stamp(number, prints->salt), kind, &brief);
    prints->claimed = number + 1;
    gyre_mailbox_store(&annex->seat.claimed, prints->claimed);
}

#endif
