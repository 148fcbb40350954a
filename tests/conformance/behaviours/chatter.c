/* SPDX-License-Identifier: Apache-2.0
 *
 * chatter: four lanes to a message. Every message prints its amount.
 */
#include "gyre/behaviour.h"

typedef struct chatter_state {
    gyre_abi_u32 messages;
} chatter_state;

typedef struct chatter_request {
    gyre_abi_u32 amount;
} chatter_request;

GYRE_BEHAVIOUR(chatter, chatter_state, GYRE_WIDTH_QUAD)
{
    if (self->lane == 0)
        gyre_atomic_add(&state->messages, 1);
    gyre_self_print(self, "chat", GYRE_REQUEST(chatter_request)->amount);
    GYRE_ANSWER(chatter_request)->amount = GYRE_REQUEST(chatter_request)->amount;
}
