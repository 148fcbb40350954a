/* SPDX-License-Identifier: Apache-2.0
 *
 * soak_order: a block to a message. Numbers must come in their order; answers with how many did
 * not.
 */
#include "gyre/behaviour.h"

typedef struct order_state {
    gyre_abi_u32 next, disorder, mix;
} order_state;

typedef struct order_request {
    gyre_abi_u32 number, value;
} order_request;

GYRE_BEHAVIOUR(soak_order, order_state, GYRE_WIDTH_BLOCK)
{
    if (self->lane == 0) {
        state->disorder += GYRE_REQUEST(order_request)->number != state->next;
        state->next++;
        state->mix = state->mix * 31u + GYRE_REQUEST(order_request)->value;
    }
    gyre_self_barrier(self);
    GYRE_ANSWER(order_state)->next = state->next;
    GYRE_ANSWER(order_state)->disorder = state->disorder;
    GYRE_ANSWER(order_state)->mix = state->mix;
}
