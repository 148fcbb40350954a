/* SPDX-License-Identifier: Apache-2.0
 *
 * latch: see latch.h.
 */
#include "actor/latch.h"

#include <stddef.h>

#include "gyre/park.h"

/* What is in the word, which is all there is: a count apart from it would be raised for a moment
 * after what was left has been done, and somebody else would see that (tests/models/latch.pml). */
enum {
    TAKEN = 1,
    LEFT = 2,     /* taken, and something was left to the holder */
    PRESSING = 4, /* and up: how many threads wait to terminate */
};

/* Where those of all actors sleep: an actor is freed by who has its latch next, while who gave it
 * back may still be about to wake him. */
static gyre_park waiting;

/* It is the caller's now, who stops `pressing`; false: somebody has it. */
static bool take(gyre_latch *latch, uint32_t pressing)
{
    uint32_t word = atomic_load(&latch->word); /* seq_cst [park-handshake] */

    do
        if (word & TAKEN)
            return false;
    /* seq_cst [actor-lock]: what the last holder did is seen */
    while (!atomic_compare_exchange_weak(&latch->word, &word, (word | TAKEN) - pressing));
    return true;
}

bool gyre_latch_try(gyre_latch *latch)
{
    return take(latch, 0);
}

static bool is_mine(void *latch)
{
    return take(latch, 0);
}

static bool is_mine_at_last(void *latch)
{
    return take(latch, PRESSING);
}

gyre_status gyre_latch_take(gyre_latch *latch, uint64_t deadline_ns)
{
    return gyre_park_wait(&waiting, NULL, is_mine, latch, deadline_ns);
}

/* Stops pressing, and leaves it to the holder; true: there is none any more, and it is the
 * caller's.
 */
static bool leave(gyre_latch *latch)
{
    uint32_t word = atomic_load(&latch->word), next;

    do
        next = (word & TAKEN ? word | LEFT : word | TAKEN) - PRESSING;
    while (!atomic_compare_exchange_weak(&latch->word, &word, next)); /* seq_cst [actor-lock] */
    return !(word & TAKEN);
}

gyre_status gyre_latch_press(gyre_latch *latch, uint64_t deadline_ns)
{
    gyre_status status;

    atomic_fetch_add(&latch->word, PRESSING);
    status = gyre_park_wait(&waiting, NULL, is_mine_at_last, latch, deadline_ns);
    return status == GYRE_TIMEOUT && leave(latch) ? GYRE_OK : status;
}

bool gyre_latch_is_pressed(const gyre_latch *latch)
{
    return atomic_load(&latch->word) > TAKEN;
}

bool gyre_latch_give(gyre_latch *latch)
{
    uint32_t word = atomic_load(&latch->word);

    /* seq_cst [actor-lock]: pairs with who takes it next. [park-handshake] */
    while (!atomic_compare_exchange_weak(&latch->word, &word,
                                         word & (word & LEFT ? ~(uint32_t)LEFT : ~(uint32_t)TAKEN)))
        ;
    if (word & LEFT)
        return false;
    gyre_park_wake(&waiting, UINT32_MAX);
    return true;
}
