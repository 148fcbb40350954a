/* SPDX-License-Identifier: Apache-2.0
 *
 * lane: the slots of a channel, and the two words that say whose turn it is.
 *
 * It works as gyre/mpmc.h explains, with three differences. A slot's stamp lies in the line of the
 * item, so that a small item costs its receiver one line and not two. The capacity is any number: a
 * word counts laps and an index. And two low bits of each word are marks, which whoever moves the
 * word sees in the same compare-and-swap:
 *
 *   WANTED   somebody on the other side sleeps, or is about to. The swap clears it, and the one who
 *            did it wakes a sleeper once its slot is handed over. So the way of an item needs no
 *            fence: a sleeper sets the mark in a word that says there is nothing, and from then on
 *            nothing can come without the mark being seen.
 *   CLOSED   in the tail only: no position is claimed any more.
 *
 * A stamp is 2 * lap + 1 when the slot holds the item of that lap. In a lane to ONE it is 2 * lap
 * when the slot is free for that lap; in a lane to ALL items stay until they are overwritten, and
 * what may be overwritten is the sender's business.
 *
 * Threads   any. Edges: [lane-publish], [lane-reuse], [lane-mark].
 * Owns      nothing: the slots are the channel's.
 * Not here  policies, bands and waiting (channel_one.c, channel_all.c).
 */
#ifndef GYRE_FLOW_LANE_H
#define GYRE_FLOW_LANE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gyre/common.h"

enum { GYRE_LANE_CLOSED = 1, GYRE_LANE_WANTED = 2, GYRE_LANE_MARKS = 3, GYRE_LANE_STEP = 4 };

/* Where a slot's stamp stands when a claim may take it, added to 2 * lap. */
enum {
    GYRE_LANE_OVERWRITE = -1, /* ALL: the item of the lap before is there */
    GYRE_LANE_FREE = 0,       /* ONE: to be filled */
    GYRE_LANE_FILLED = 1,     /* to be read */
    GYRE_LANE_FREE_NEXT = 2,  /* ONE: to be filled on the next lap */
};

typedef struct gyre_slot {
    _Atomic uint32_t stamp;
    uint32_t size;  /* of the item; 0: there never was one */
    uint64_t reply; /* its ticket, or 0 */
    unsigned char item[];
} gyre_slot;

typedef struct gyre_lane {
    alignas(128) _Atomic uint64_t tail; /* the next to fill */
    alignas(128) _Atomic uint64_t head; /* the next to empty; ONE only */
    alignas(128) unsigned char *slots;  /* constant after init, like all that follows */
    size_t stride;                      /* of a slot */
    uint64_t capacity;
    uint32_t index_bits;
} gyre_lane;

/* Parts of a word: lap, index, marks. */

static inline uint64_t gyre_lane_lap(const gyre_lane *lane, uint64_t word)
{
    return word >> 2 >> lane->index_bits;
}

static inline uint64_t gyre_lane_index(const gyre_lane *lane, uint64_t word)
{
    return (word >> 2) & ((UINT64_C(1) << lane->index_bits) - 1);
}

static inline uint64_t gyre_lane_word(const gyre_lane *lane, uint64_t lap, uint64_t index)
{
    return (lap << lane->index_bits | index) << 2;
}

/* How many positions lie before the word's. */
static inline uint64_t gyre_lane_count(const gyre_lane *lane, uint64_t word)
{
    return gyre_lane_lap(lane, word) * lane->capacity + gyre_lane_index(lane, word);
}

/* The word of that many positions, without marks. */
static inline uint64_t gyre_lane_at(const gyre_lane *lane, uint64_t count)
{
    return gyre_lane_word(lane, count / lane->capacity, count % lane->capacity);
}

/* The word `count` positions on, at most a lap, without marks. */
static inline uint64_t gyre_lane_next(const gyre_lane *lane, uint64_t word, uint64_t count)
{
    const uint64_t index = gyre_lane_index(lane, word) + count;

    if (index < lane->capacity)
        return (word & ~(uint64_t)GYRE_LANE_MARKS) + count * GYRE_LANE_STEP;
    return gyre_lane_word(lane, gyre_lane_lap(lane, word) + 1, index - lane->capacity);
}

static inline gyre_slot *gyre_lane_slot(const gyre_lane *lane, uint64_t word)
{
    return (gyre_slot *)(void *)(lane->slots + gyre_lane_index(lane, word) * lane->stride);
}

static inline uint32_t gyre_lane_stamp(const gyre_lane *lane, uint64_t word, int phase)
{
    return (uint32_t)(2 * gyre_lane_lap(lane, word) + (uint64_t)phase);
}

/* Whether the slot at this word is in that phase of the word's lap.
 * acquire [lane-publish], [lane-reuse]: pairs with gyre_lane_hand_over. What the other side did to
 * the slot is visible. */
static inline bool gyre_lane_is(const gyre_lane *lane, uint64_t word, int phase)
{
    return atomic_load_explicit(&gyre_lane_slot(lane, word)->stamp, memory_order_acquire) ==
           gyre_lane_stamp(lane, word, phase);
}

/* Brings the slot into that phase.
 * release [lane-publish], [lane-reuse]: pairs with gyre_lane_is. What we did to the slot is visible
 * before the stamp that hands it over. */
static inline void gyre_lane_hand_over(const gyre_lane *lane, uint64_t word, int phase)
{
    atomic_store_explicit(&gyre_lane_slot(lane, word)->stamp, gyre_lane_stamp(lane, word, phase),
                          memory_order_release);
}

/* How many slots from the word on, up to `wanted`, are in that phase. */
GYRE_INLINE uint64_t gyre_lane_run(const gyre_lane *lane, uint64_t word, int phase, uint64_t wanted)
{
    uint64_t run = 0;

    while (run < wanted &&
           gyre_lane_is(lane, run == 0 ? word : gyre_lane_next(lane, word, run), phase))
        run++;
    return run;
}

/* Moves the counter from *word past `count` positions and clears its marks; or false, and *word is
 * what stands there now. */
GYRE_INLINE bool gyre_lane_move(const gyre_lane *lane, _Atomic uint64_t *counter, uint64_t *word,
                                uint64_t count)
{
    /* seq_cst [lane-mark]: pairs with gyre_lane_want and gyre_channel_close. Whoever set a mark
     * before is seen here. And [all-reading] in channel_all.c needs it before a load. */
    return atomic_compare_exchange_weak_explicit(counter, word, gyre_lane_next(lane, *word, count),
                                                 memory_order_seq_cst, memory_order_relaxed);
}

/* Moves the counter past up to `wanted` slots that are in that phase: these are ours, from
 * *out_word on, whose marks are those that the swap saw. 0: there is none, or the mark CLOSED is
 * set in *out_word. */
GYRE_INLINE uint64_t gyre_lane_claim(const gyre_lane *lane, _Atomic uint64_t *counter, int phase,
                                     uint64_t wanted, uint64_t *out_word)
{
    /* relaxed, both: the swap checks it */
    uint64_t word = atomic_load_explicit(counter, memory_order_relaxed);

    for (;;) {
        const uint64_t run = word & GYRE_LANE_CLOSED ? 0 : gyre_lane_run(lane, word, phase, wanted);

        *out_word = word;
        if (run > 0) {
            if (gyre_lane_move(lane, counter, &word, run))
                return run;
        } else {
            const uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);

            if (now == word)
                return 0;
            word = now; /* it was somebody else's slot that we looked at */
        }
    }
}

/* Sets the mark WANTED in the counter if it still is `word`, marks aside; false when it moved. */
static inline bool gyre_lane_want(_Atomic uint64_t *counter, uint64_t word)
{
    /* seq_cst [lane-mark]: pairs with gyre_lane_claim. Counted as a sleeper before the mark. */
    return (word & GYRE_LANE_WANTED) ||
           atomic_compare_exchange_strong_explicit(counter, &word, word | GYRE_LANE_WANTED,
                                                   memory_order_seq_cst, memory_order_relaxed);
}

/* Copies an item of at least one byte; those of commands are multiples of 8, and in pieces of 16
 * they cost less than a call of memcpy. */
static inline void gyre_lane_copy(unsigned char *into, const unsigned char *from, size_t size)
{
    size_t done = 0;

    if (size > 256) {
        memcpy(into, from, size);
        return;
    }
    for (; done + 16 <= size; done += 16)
        memcpy(into + done, from + done, 16);
    if (size & 8) {
        memcpy(into + done, from + done, 8);
        done += 8;
    }
    for (; done < size; done++)
        into[done] = from[done];
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
