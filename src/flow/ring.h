/* SPDX-License-Identifier: Apache-2.0
 *
 * ring: the slots of a channel, and the two words that say whose turn it is.
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
 * A stamp is 2 * lap + 1 when the slot holds the item of that lap. In a ring to ONE it is 2 * lap
 * when the slot is free for that lap; in a ring to ALL items stay until they are overwritten, and
 * what may be overwritten is the sender's business.
 *
 * Threads   any. Edges: [ring-publish], [ring-reuse], [ring-mark].
 * Owns      nothing: the slots are the channel's.
 * Not here  policies, bands and waiting (channel_one.c, channel_all.c).
 */
#ifndef GYRE_FLOW_RING_H
#define GYRE_FLOW_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gyre/common.h"

enum { GYRE_RING_CLOSED = 1, GYRE_RING_WANTED = 2, GYRE_RING_MARKS = 3, GYRE_RING_STEP = 4 };

/* Where a slot's stamp stands when a claim may take it, added to 2 * lap. */
enum {
    GYRE_RING_OVERWRITE = -1, /* ALL: the item of the lap before is there */
    GYRE_RING_FREE = 0,       /* ONE: to be filled */
    GYRE_RING_FILLED = 1,     /* to be read */
    GYRE_RING_FREE_NEXT = 2,  /* ONE: to be filled on the next lap */
};

typedef struct gyre_slot {
    _Atomic uint32_t stamp;
    uint32_t size;  /* of the item; 0: there never was one */
    uint64_t reply; /* its ticket, or 0 */
    unsigned char item[];
} gyre_slot;

typedef struct gyre_ring {
    alignas(128) _Atomic uint64_t tail; /* the next to fill */
    alignas(128) _Atomic uint64_t head; /* the next to empty; ONE only */
    alignas(128) unsigned char *slots;  /* constant after init, like all that follows */
    size_t stride;                      /* of a slot */
    uint64_t capacity;
    uint32_t index_bits;
} gyre_ring;

/* Parts of a word: lap, index, marks. */

static inline uint64_t gyre_ring_lap(const gyre_ring *ring, uint64_t word)
{
    return word >> 2 >> ring->index_bits;
}

static inline uint64_t gyre_ring_index(const gyre_ring *ring, uint64_t word)
{
    return (word >> 2) & ((UINT64_C(1) << ring->index_bits) - 1);
}

static inline uint64_t gyre_ring_word(const gyre_ring *ring, uint64_t lap, uint64_t index)
{
    return (lap << ring->index_bits | index) << 2;
}

/* How many positions lie before the word's. */
static inline uint64_t gyre_ring_count(const gyre_ring *ring, uint64_t word)
{
    return gyre_ring_lap(ring, word) * ring->capacity + gyre_ring_index(ring, word);
}

/* The word of that many positions, without marks. */
static inline uint64_t gyre_ring_at(const gyre_ring *ring, uint64_t count)
{
    return gyre_ring_word(ring, count / ring->capacity, count % ring->capacity);
}

/* The word `count` positions on, at most a lap, without marks. */
static inline uint64_t gyre_ring_next(const gyre_ring *ring, uint64_t word, uint64_t count)
{
    const uint64_t index = gyre_ring_index(ring, word) + count;

    if (index < ring->capacity)
        return (word & ~(uint64_t)GYRE_RING_MARKS) + count * GYRE_RING_STEP;
    return gyre_ring_word(ring, gyre_ring_lap(ring, word) + 1, index - ring->capacity);
}

static inline gyre_slot *gyre_ring_slot(const gyre_ring *ring, uint64_t word)
{
    return (gyre_slot *)(void *)(ring->slots + gyre_ring_index(ring, word) * ring->stride);
}

static inline uint32_t gyre_ring_stamp(const gyre_ring *ring, uint64_t word, int phase)
{
    return (uint32_t)(2 * gyre_ring_lap(ring, word) + (uint64_t)phase);
}

/* Whether the slot at this word is in that phase of the word's lap.
 * acquire [ring-publish], [ring-reuse]: pairs with gyre_ring_hand_over. What the other side did to
 * the slot is visible. */
static inline bool gyre_ring_is(const gyre_ring *ring, uint64_t word, int phase)
{
    return atomic_load_explicit(&gyre_ring_slot(ring, word)->stamp, memory_order_acquire) ==
           gyre_ring_stamp(ring, word, phase);
}

/* Brings the slot into that phase.
 * release [ring-publish], [ring-reuse]: pairs with gyre_ring_is. What we did to the slot is visible
 * before the stamp that hands it over. */
static inline void gyre_ring_hand_over(const gyre_ring *ring, uint64_t word, int phase)
{
    atomic_store_explicit(&gyre_ring_slot(ring, word)->stamp, gyre_ring_stamp(ring, word, phase),
                          memory_order_release);
}

/* How many slots from the word on, up to `wanted`, are in that phase. */
GYRE_INLINE uint64_t gyre_ring_run(const gyre_ring *ring, uint64_t word, int phase, uint64_t wanted)
{
    uint64_t run = 0;

    while (run < wanted &&
           gyre_ring_is(ring, run == 0 ? word : gyre_ring_next(ring, word, run), phase))
        run++;
    return run;
}

/* Moves the counter from *word past `count` positions and clears its marks; or false, and *word is
 * what stands there now. */
GYRE_INLINE bool gyre_ring_move(const gyre_ring *ring, _Atomic uint64_t *counter, uint64_t *word,
                                uint64_t count)
{
    /* seq_cst [ring-mark]: pairs with gyre_ring_want and gyre_channel_close. Whoever set a mark
     * before is seen here. And [all-reading] in channel_all.c needs it before a load. */
    return atomic_compare_exchange_weak_explicit(counter, word, gyre_ring_next(ring, *word, count),
                                                 memory_order_seq_cst, memory_order_relaxed);
}

/* Moves the counter past up to `wanted` slots that are in that phase: these are ours, from
 * *out_word on, whose marks are those that the swap saw. 0: there is none, or the mark CLOSED is
 * set in *out_word. */
GYRE_INLINE uint64_t gyre_ring_claim(const gyre_ring *ring, _Atomic uint64_t *counter, int phase,
                                     uint64_t wanted, uint64_t *out_word)
{
    /* relaxed, both: the swap checks it */
    uint64_t word = atomic_load_explicit(counter, memory_order_relaxed);

    for (;;) {
        const uint64_t run = word & GYRE_RING_CLOSED ? 0 : gyre_ring_run(ring, word, phase, wanted);

        *out_word = word;
        if (run > 0) {
            if (gyre_ring_move(ring, counter, &word, run))
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
static inline bool gyre_ring_want(_Atomic uint64_t *counter, uint64_t word)
{
    /* seq_cst [ring-mark]: pairs with gyre_ring_claim. Counted as a sleeper before the mark. */
    return (word & GYRE_RING_WANTED) ||
           atomic_compare_exchange_strong_explicit(counter, &word, word | GYRE_RING_WANTED,
                                                   memory_order_seq_cst, memory_order_relaxed);
}

/* Copies an item of at least one byte; those of commands are multiples of 8, and in pieces of 16
 * they cost less than a call of memcpy. */
static inline void gyre_ring_copy(unsigned char *into, const unsigned char *from, size_t size)
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
