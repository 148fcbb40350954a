/* SPDX-License-Identifier: Apache-2.0
 *
 * waiter: four lanes to a message. Counts, answers with the count, and waits if it is told to.
 */
#include "gyre/behaviour.h"

enum {
    WAITER_COUNT = 1,
    WAITER_HANG = 2, /* sets the second word that it refers to, and waits for the first */
};

typedef struct waiter_state {
    gyre_abi_u32 count;
} waiter_state;

typedef struct waiter_answer {
    gyre_abi_u32 count, seat;
} waiter_answer;

GYRE_BEHAVIOUR(waiter, waiter_state, GYRE_WIDTH_QUAD)
{
    if (self->lane == 0 && brief->type == WAITER_HANG) {
        gyre_atomic_exchange(GYRE_PAYLOAD(gyre_abi_u32) + 1, 1);
        while (gyre_atomic_load(GYRE_PAYLOAD(gyre_abi_u32)) == 0)
            ;
    }
    if (self->lane == 0)
        GYRE_ANSWER(waiter_answer)->count = gyre_atomic_add(&state->count, 1) + 1;
    GYRE_ANSWER(waiter_answer)->seat = self->seat;
}
