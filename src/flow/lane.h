/* SPDX-License-Identifier: Apache-2.0
 *
 * lane: the slots of a channel, and the two words that say whose turn it is.
 *
 * It works as gyre/mpmc.h explains, with three differences. A slot's stamp lies in the line of the
 * item, so that a small item costs its receiver one line and not two. There may be more slots than
 * items are let in, so that a capacity can be any number: the tail has a limit, up to which senders
 * need not ask how far the other side has come. And the words have marks and can be held (turn.h).
 *
 * A stamp is 2 * lap + 1 when the slot holds the item of that lap. In a lane to ONE it is 2 * lap
 * when the slot is free for that lap; in a lane to ALL items stay until they are overwritten, and
 * what may be overwritten is for the limit to say.
 *
 * Threads   any. Edges: [lane-publish], [lane-reuse].
 * Owns      nothing: the slots are the channel's.
 * Not here  policies, bands and waiting (channel_one.c, channel_all.c).
 */
#ifndef GYRE_FLOW_LANE_H
#define GYRE_FLOW_LANE_H

#include <stddef.h>

#include "flow/turn.h"

typedef struct gyre_slot {
    _Atomic uint32_t stamp;
    uint32_t size;  /* of the item; 0: there never was one */
    uint64_t reply; /* its ticket, or 0 */
    unsigned char item[];
} gyre_slot;

typedef struct gyre_lane {
    gyre_turn tail;                    /* the next to fill */
    gyre_turn head;                    /* the next to empty; ONE only */
    alignas(128) unsigned char *slots; /* constant after init, like all that follows */
    size_t stride;                     /* of a slot */
    uint64_t mask;                     /* there are mask + 1 of them, */
    uint32_t shift;                    /* 2^shift */
} gyre_lane;

/* What the stamp of a position can say, added to twice its lap. */
typedef enum gyre_phase {
    GYRE_LANE_OVERWRITE = -1, /* ALL: the item of the lap before is there */
    GYRE_LANE_FREE = 0,       /* ONE: to be filled */
    GYRE_LANE_FILLED = 1,     /* to be read */
    GYRE_LANE_FREE_NEXT = 2,  /* ONE: to be filled a lap later */
} gyre_phase;

GYRE_INLINE uint32_t gyre_lane_stamp(const gyre_lane *lane, uint64_t position, gyre_phase phase)
{
    return 2 * (uint32_t)(position >> lane->shift) + (uint32_t)phase;
}

GYRE_INLINE gyre_slot *gyre_lane_slot(const gyre_lane *lane, uint64_t position)
{
    return (gyre_slot *)(void *)(lane->slots + (position & lane->mask) * lane->stride);
}

/* Whether the slot of this position is in that phase.
 * acquire [lane-publish], [lane-reuse]: pairs with gyre_lane_hand_over. What the other side did to
 * the slot is visible. */
GYRE_INLINE bool gyre_lane_is(const gyre_lane *lane, uint64_t position, gyre_phase phase)
{
    return atomic_load_explicit(&gyre_lane_slot(lane, position)->stamp, memory_order_acquire) ==
           gyre_lane_stamp(lane, position, phase);
}

/* Brings a slot, of this position, into that phase.
 * release [lane-publish], [lane-reuse]: pairs with gyre_lane_is. What we did to the slot is visible
 * before the stamp that hands it over. */
GYRE_INLINE void gyre_lane_hand_over(const gyre_lane *lane, gyre_slot *slot, uint64_t position,
                                     gyre_phase phase)
{
    atomic_store_explicit(&slot->stamp, gyre_lane_stamp(lane, position, phase),
                          memory_order_release);
}

/* Moves the turn past up to `wanted` slots before its limit that are in that phase: these are ours,
 * from *out_word on, whose marks are those that were there. 0: there is none, or the mark CLOSED is
 * set in *out_word. */
GYRE_INLINE uint64_t gyre_lane_claim(const gyre_lane *lane, gyre_turn *turn, gyre_phase phase,
                                     uint64_t wanted, uint64_t *out_word)
{
    for (;;) {
        const gyre_move move = gyre_turn_begin(turn);
        const uint64_t position = gyre_turn_position(move.word);
        /* acquire [turn-limit]: whoever found out did so after the other side was done */
        const uint64_t limit = atomic_load_explicit(&turn->limit, memory_order_acquire);
        uint64_t run = 0;

        if (!(move.word & GYRE_TURN_CLOSED))
            while (run < wanted && position + run < limit &&
                   gyre_lane_is(lane, position + run, phase))
                run++;
        *out_word = move.word;
        if (gyre_turn_end(turn, move, run))
            return run;
    }
}

/* The same by the one who holds the turn, for one slot: the way of nearly every item. NULL: by the
 * other way. */
GYRE_INLINE gyre_slot *gyre_lane_claim_held(const gyre_lane *lane, gyre_turn *turn,
                                            gyre_phase phase, uint64_t *out_position)
{
    _Atomic uint8_t *const busy = gyre_turn_enter(turn);
    uint64_t word, position;
    gyre_slot *slot;

    if (!busy)
        return NULL;
    word = atomic_load_explicit(&turn->word, memory_order_relaxed); /* relaxed: it is ours */
    position = gyre_turn_position(word);
    slot = gyre_lane_slot(lane, position);
    /* acquire, both: as in gyre_lane_claim */
    if (position >= atomic_load_explicit(&turn->limit, memory_order_acquire) ||
        atomic_load_explicit(&slot->stamp, memory_order_acquire) !=
            gyre_lane_stamp(lane, position, phase)) {
        gyre_turn_leave(turn, busy, word);
        return NULL;
    }
    gyre_turn_leave(turn, busy, word + GYRE_TURN_STEP);
    *out_position = position;
    return slot;
}

/* The processor fetches the line for writing, while we do something else. */
static inline void gyre_prefetch_line(const void *line)
{
#if defined(__x86_64__)
    /* every x86-64 processor decodes it, older ones as nothing */
    __asm__ volatile("prefetchw %0" : : "m"(*(const unsigned char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

#endif
