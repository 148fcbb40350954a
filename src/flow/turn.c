/* SPDX-License-Identifier: Apache-2.0
 *
 * turn: when a word is held, and how it is taken back. See turn.h.
 *
 * Threads   any. Edge: [turn-held].
 * Owns      nothing.
 */
#include "flow/turn.h"

#include <sched.h>
#include <time.h>

#include "base/process.h"

enum {
    WORTH_IT = 1024, /* moves while it was held that pay for the recall many times */
    PATIENCE_MOST = 511,
    YIELDS = 64, /* before a nap */
    NAP_NS = 20000,
};

void gyre_turn_init(gyre_turn *turn, uint64_t limit, bool may_hold)
{
    /* relaxed, both: nobody else knows it yet */
    atomic_store_explicit(&turn->limit, limit, memory_order_relaxed);
    if (!may_hold || !gyre_barrier_is_there())
        atomic_store_explicit(&turn->patience, GYRE_TURN_NEVER, memory_order_relaxed);
}

/* Whether the hands were those of `expected` and are now ours. */
static bool take_hands(gyre_turn *turn, uintptr_t expected)
{
    /* seq_cst [turn-held]: before the heavy barrier; and acquire: what was changed last is seen */
    return atomic_compare_exchange_strong_explicit(&turn->holder, &expected, GYRE_TURN_CHANGING,
                                                   memory_order_seq_cst, memory_order_relaxed);
}

/* Lets the thread run that we wait for. One of real-time priority that yields gets the CPU back at
 * once, so it has to sleep. */
static void let_run(uint32_t *rounds)
{
    const struct timespec nap = {0, NAP_NS};

    if (++*rounds % YIELDS == 0)
        (void)nanosleep(&nap, NULL); /* cut short or not */
    else
        sched_yield();
}

/* In a forked child nobody is left to wait for: whoever was at work is not here. */
static bool is_forked(void)
{
    return gyre_process_check() != GYRE_OK;
}

void gyre_turn_recall(gyre_turn *turn)
{
    uint32_t patience, rounds = 0;
    uintptr_t holder;
    uint64_t word;

    for (;;) {
        /* relaxed, both: take_hands checks the one, who gave the hands back changed the other */
        holder = atomic_load_explicit(&turn->holder, memory_order_relaxed);
        if (holder != GYRE_TURN_NOBODY && holder != GYRE_TURN_CHANGING && take_hands(turn, holder))
            break;
        if (!(atomic_load_explicit(&turn->word, memory_order_relaxed) & GYRE_TURN_HELD))
            return;
        if (is_forked())
            break;
        let_run(&rounds);
    }
    gyre_barrier_heavy();
    /* acquire [turn-held]: pairs with the release in gyre_turn_end */
    while (atomic_load_explicit(&turn->busy[holder % GYRE_TURN_PLACES], memory_order_acquire) &&
           !is_forked())
        let_run(&rounds);
    /* relaxed, all: nobody but us changes them now */
    word = atomic_load_explicit(&turn->word, memory_order_relaxed);
    patience = atomic_load_explicit(&turn->patience, memory_order_relaxed);
    if (word - atomic_load_explicit(&turn->since, memory_order_relaxed) >=
        (uint64_t)WORTH_IT * GYRE_TURN_STEP)
        patience = 1;
    else
        patience = patience < PATIENCE_MOST ? 2 * patience + 1 : patience;
    atomic_store_explicit(&turn->patience, patience, memory_order_relaxed);
    atomic_store_explicit(&turn->streak, 0, memory_order_relaxed);
    /* seq_cst, like every change of a word that is not held */
    atomic_store(&turn->word, word & ~(uint64_t)GYRE_TURN_HELD);
    /* release [turn-held]: pairs with the acquires of take_hands and gyre_turn_enter */
    atomic_store_explicit(&turn->holder, GYRE_TURN_NOBODY, memory_order_release);
}

/* The place of the calling thread; GYRE_TURN_PLACES when there is none left. */
static uint32_t find_place(gyre_turn *turn)
{
    const uintptr_t self = gyre_turn_self();
    uint32_t place = 0;

    while (place < GYRE_TURN_PLACES && turn->places[place] != 0 && turn->places[place] != self)
        place++;
    if (place < GYRE_TURN_PLACES)
        turn->places[place] = self;
    return place;
}

/* The calling thread holds the word from here on, unless somebody left a mark in it. */
static void hold(gyre_turn *turn)
{
    uintptr_t holder = GYRE_TURN_NOBODY;
    uint32_t place;
    uint64_t word;

    if (!take_hands(turn, GYRE_TURN_NOBODY))
        return;
    place = find_place(turn);
    word = atomic_load_explicit(&turn->word, memory_order_relaxed); /* the swap checks it */
    if (place < GYRE_TURN_PLACES && !(word & GYRE_TURN_MARKS) &&
        atomic_compare_exchange_strong(&turn->word, &word, word | GYRE_TURN_HELD)) {
        atomic_store_explicit(&turn->since, word, memory_order_relaxed);
        holder = gyre_turn_self() + place;
    }
    /* release [turn-held]: as in gyre_turn_recall */
    atomic_store_explicit(&turn->holder, holder, memory_order_release);
}

void gyre_turn_look(gyre_turn *turn)
{
    /* relaxed, all: a guess at who will come next */
    const uint32_t patience = atomic_load_explicit(&turn->patience, memory_order_relaxed);
    const uintptr_t self = gyre_turn_self();
    uint32_t streak = 0;

    if (patience == GYRE_TURN_NEVER)
        return;
    if (atomic_load_explicit(&turn->candidate, memory_order_relaxed) == self)
        streak = atomic_load_explicit(&turn->streak, memory_order_relaxed) + 1;
    else
        atomic_store_explicit(&turn->candidate, self, memory_order_relaxed);
    atomic_store_explicit(&turn->streak, streak, memory_order_relaxed);
    if (streak >= patience)
        hold(turn);
}

void gyre_turn_mark(gyre_turn *turn, uint64_t mark)
{
    /* seq_cst, both [lane-mark]: pairs with gyre_turn_end */
    uint64_t word = atomic_load(&turn->word);

    for (;;) {
        if (word & GYRE_TURN_HELD) {
            gyre_turn_recall(turn);
            word = atomic_load(&turn->word);
        } else if (atomic_compare_exchange_strong(&turn->word, &word, word | mark)) {
            return;
        }
    }
}

bool gyre_turn_want(gyre_turn *turn, uint64_t word)
{
    if (word & GYRE_TURN_HELD)
        gyre_turn_recall(turn);
    word &= ~(uint64_t)GYRE_TURN_HELD;
    /* seq_cst [lane-mark]: pairs with gyre_turn_end. Counted as a sleeper before the mark. */
    return (word & GYRE_TURN_WANTED) ||
           atomic_compare_exchange_strong(&turn->word, &word, word | GYRE_TURN_WANTED);
}
