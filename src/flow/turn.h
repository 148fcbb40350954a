/* SPDX-License-Identifier: Apache-2.0
 *
 * turn: the word that says whose turn it is on one side of a lane, and who may move it.
 *
 * The word is a position and, in its low bits, marks. Usually anybody moves it, by a
 * compare-and-swap that also sees and clears the marks:
 *
 *   CLOSED   in the tail only: nothing is claimed any more.
 *   WANTED   somebody on the other side sleeps, or is about to. So the way of an item needs no
 *            fence: a sleeper sets the mark in a word that says there is nothing, and from then on
 *            nothing can come without the mark being seen.
 *   HELD     one thread alone moves it, with plain stores.
 *
 * The last is for speed. Most channels have one sender and most queues one receiver, and a
 * compare-and-swap costs that one as much as all the rest. A thread that has moved the word several
 * times in a row holds it. Anybody else who wants to change it, be it to move it or to set a mark,
 * first recalls it, which costs a system call; so after a recall that came soon, it takes longer
 * until the word is held again.
 *
 * The holder says that it is busy and then looks whether it still is the holder; who recalls says
 * that it no longer is, and then looks whether it is busy. One of them sees the other: the light
 * barrier on the one side, the heavy one on the other see to that (base/barrier.h). Where the
 * system has no heavy one, nothing is ever held. tests/models/turn.pml is this protocol for spin.
 *
 * Threads   any. Edges: [lane-mark], [turn-held].
 * Owns      nothing.
 */
#ifndef GYRE_FLOW_TURN_H
#define GYRE_FLOW_TURN_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/barrier.h"
#include "gyre/common.h"

enum {
    GYRE_TURN_CLOSED = 1,
    GYRE_TURN_WANTED = 2,
    GYRE_TURN_HELD = 4,
    GYRE_TURN_MARKS = 7,
    GYRE_TURN_MARK_BITS = 3,
    GYRE_TURN_STEP = 8,  /* one position */
    GYRE_TURN_LOOK = 16, /* positions between two looks at who moves it */
};

enum {
    GYRE_TURN_NOBODY = 0,   /* holds it */
    GYRE_TURN_CHANGING = 1, /* hands: one who holds or recalls it is at work */
};

/* Each thread that ever holds a turn has a place of its own in it, to say that it is busy. One that
 * is late, and says so when it no longer is the holder, must not disturb the next. */
enum { GYRE_TURN_PLACES = 8 };

#define GYRE_TURN_NEVER UINT32_MAX

typedef struct gyre_turn {
    alignas(128) _Atomic uint64_t word;
    _Atomic uint64_t limit;   /* where whoever moves it must look at the other side [turn-limit] */
    _Atomic uintptr_t holder; /* gyre_turn_self of the one who does, plus its place; or as above */
    _Atomic uint8_t busy[GYRE_TURN_PLACES]; /* the thread of that place is moving it */
    _Atomic uint32_t patience;   /* times in a row that a thread must be seen before it holds */
    _Atomic uint32_t streak;     /* how often in a row */
    _Atomic uintptr_t candidate; /* was seen */
    _Atomic uint64_t since;      /* the word when it was held */
    uintptr_t places[GYRE_TURN_PLACES]; /* who has held it; for the hands alone */
} gyre_turn;

_Static_assert(sizeof(gyre_turn) == 128, "two lines, which processors fetch together");

/* Over zeroed memory. A word that several threads move by its nature is better never held. */
void gyre_turn_init(gyre_turn *turn, uint64_t limit, bool may_hold);

/* Out of the way, in turn.c. */
void gyre_turn_recall(gyre_turn *turn);
void gyre_turn_look(gyre_turn *turn);

/* Sets the mark in the word, wherever that has come to. */
void gyre_turn_mark(gyre_turn *turn, uint64_t mark);

/* Sets the mark WANTED if the word still is this one, marks aside; false when it moved. */
bool gyre_turn_want(gyre_turn *turn, uint64_t word);

static inline uint64_t gyre_turn_position(uint64_t word)
{
    return word >> GYRE_TURN_MARK_BITS;
}

/* Whether two words are at the same position. */
static inline bool gyre_turn_same(uint64_t word, uint64_t other)
{
    return gyre_turn_position(word ^ other) == 0;
}

/* Allows moves up to this position, which whoever asked the other side has found out. An old limit
 * is a nearer one. */
static inline void gyre_turn_allow(gyre_turn *turn, uint64_t limit)
{
    /* release [turn-limit]: pairs with gyre_lane_claim */
    atomic_store_explicit(&turn->limit, limit, memory_order_release);
}

/* The calling thread, as distinct from all that live; a multiple of 8. */
static inline uintptr_t gyre_turn_self(void)
{
    return (uintptr_t)__builtin_thread_pointer();
}

/* An attempt to move the word: begun, then ended. Between the two a holder is busy, and others may
 * wait for it: nothing but looks at slots is for there. */
typedef struct gyre_move {
    uint64_t word;
    _Atomic uint8_t *busy; /* NULL: the calling thread does not hold it */
} gyre_move;

/* The beginning of a move by the holder; NULL: that is not the calling thread. */
GYRE_INLINE _Atomic uint8_t *gyre_turn_enter(gyre_turn *turn)
{
    /* relaxed: nobody but this thread makes it the holder */
    const uintptr_t holder = atomic_load_explicit(&turn->holder, memory_order_relaxed);
    const uintptr_t place = holder ^ gyre_turn_self();

    if (place >= GYRE_TURN_PLACES)
        return NULL;
    /* relaxed and acquire [turn-held]: the light barrier in between; pairs with gyre_turn_recall.
     * Still being the holder after saying that we are busy, we are until we say that we are not. */
    atomic_store_explicit(&turn->busy[place], 1, memory_order_relaxed);
    gyre_barrier_light();
    if (atomic_load_explicit(&turn->holder, memory_order_acquire) == holder)
        return &turn->busy[place];
    atomic_store_explicit(&turn->busy[place], 0, memory_order_release);
    return NULL;
}

GYRE_INLINE gyre_move gyre_turn_begin(gyre_turn *turn)
{
    _Atomic uint8_t *const busy = gyre_turn_enter(turn);

    /* seq_cst [park-handshake]: a sender that is about to sleep sees CLOSED, or is seen asleep */
    return (gyre_move){atomic_load(&turn->word), busy};
}

/* The end of a move by the holder: to `next`, which is the word itself when it stays. */
GYRE_INLINE void gyre_turn_leave(gyre_turn *turn, _Atomic uint8_t *busy, uint64_t next)
{
    /* relaxed: what was moved past is handed over by its slot */
    atomic_store_explicit(&turn->word, next, memory_order_relaxed);
    /* release [turn-held]: pairs with the acquire in gyre_turn_recall. The word is moved. */
    atomic_store_explicit(busy, 0, memory_order_release);
}

/* Moves the word on by `count` positions, which may be none, and clears its marks. False: somebody
 * else did something to it meanwhile, and one may begin anew. */
GYRE_INLINE bool gyre_turn_end(gyre_turn *turn, gyre_move move, uint64_t count)
{
    const uint64_t next = (move.word & ~(uint64_t)GYRE_TURN_MARKS) + (count << GYRE_TURN_MARK_BITS);

    if (move.busy) {
        gyre_turn_leave(turn, move.busy, next | GYRE_TURN_HELD);
        return true;
    }
    if (count == 0) /* relaxed: whether we looked at the right slot */
        return atomic_load_explicit(&turn->word, memory_order_relaxed) == move.word;
    if (move.word & GYRE_TURN_HELD) {
        gyre_turn_recall(turn);
        return false;
    }
    /* seq_cst [lane-mark]: pairs with gyre_turn_want and gyre_turn_mark. Whoever set a mark before
     * is seen here. And [all-reading] in channel_all.c needs it before a load. */
    if (!atomic_compare_exchange_weak_explicit(&turn->word, &move.word, next, memory_order_seq_cst,
                                               memory_order_relaxed))
        return false;
    if ((next ^ move.word) & ~(uint64_t)(GYRE_TURN_LOOK * GYRE_TURN_STEP - 1))
        gyre_turn_look(turn);
    return true;
}

#endif
