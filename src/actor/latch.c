/* SPDX-License-Identifier: Apache-2.0
 *
 * latch: see latch.h.
 */
#include "actor/latch.h"

#include <stddef.h>

#include "gyre/park.h"

/* What the word is. */
enum {
    FREE = 0,
    TAKEN = 1,
    LEFT = 2, /* a bit: taken, and something was left to the holder */
};

/* Where those of all actors sleep: an actor is freed by who has its latch next, while who gave it
 * back may still be about to wake him. */
static gyre_park waiting;

bool gyre_latch_try(gyre_latch *latch)
{
    uint32_t word = FREE;

    /* seq_cst [actor-lock]: what the last holder did is seen. [park-handshake] */
    return atomic_compare_exchange_strong(&latch->word, &word, TAKEN);
}

static bool is_mine(void *latch)
{
    return gyre_latch_try(latch);
}

gyre_status gyre_latch_take(gyre_latch *latch, uint64_t deadline_ns)
{
    return gyre_park_wait(&waiting, NULL, is_mine, latch, deadline_ns);
}

/* Leaves it to the holder; true: there is none any more, and it is the caller's. */
static bool leave(gyre_latch *latch)
{
    uint32_t word = TAKEN, next;

    do
        next = word == FREE ? TAKEN : TAKEN | LEFT;
    while (!atomic_compare_exchange_weak(&latch->word, &word, next)); /* seq_cst [actor-lock] */
    return word == FREE;
}

gyre_status gyre_latch_press(gyre_latch *latch, uint64_t deadline_ns)
{
    gyre_status status;

    atomic_fetch_add(&latch->pressing, 1);
    status = gyre_latch_take(latch, deadline_ns);
    if (status == GYRE_TIMEOUT && leave(latch))
        status = GYRE_OK;
    /* seq_cst [actor-lock]: who sees nobody press any more sees what was left */
    atomic_fetch_sub(&latch->pressing, 1);
    return status;
}

bool gyre_latch_is_pressed(const gyre_latch *latch)
{
    /* seq_cst [actor-lock]: in this order; pairs with gyre_latch_press */
    return atomic_load(&latch->pressing) > 0 || atomic_load(&latch->word) & LEFT;
}

bool gyre_latch_give(gyre_latch *latch)
{
    uint32_t word = TAKEN;

    /* seq_cst [actor-lock]: pairs with who takes it next. [park-handshake] */
    if (!atomic_compare_exchange_strong(&latch->word, &word, FREE)) {
        atomic_store(&latch->word, TAKEN); /* seq_cst [actor-lock] */
        return false;
    }
    gyre_park_wake(&waiting, UINT32_MAX);
    return true;
}
