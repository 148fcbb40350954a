/* SPDX-License-Identifier: Apache-2.0
 *
 * rogue: a block to a message. Answers, and does what no behaviour should when it is told to.
 */
#include "gyre/behaviour.h"

enum {
    ROGUE_STORE = 0xee01, /* writes where the message refers to, without a look at what is there */
    ROGUE_SPIN = 0xee02,  /* does not return */
    ROGUE_PRINT = 0xee03, /* prints */
};

typedef struct rogue_state {
    gyre_abi_u32 messages, never;
} rogue_state;

typedef struct rogue_words {
    gyre_abi_u32 word[10];
} rogue_words;

GYRE_BEHAVIOUR(rogue, rogue_state, GYRE_WIDTH_BLOCK)
{
    if (self->lane == 0) {
        gyre_atomic_add(&state->messages, 1); /* it may be a crew */
        if (brief->type == ROGUE_STORE)
            *GYRE_PAYLOAD(gyre_abi_u32) = 1;
        if (brief->type == ROGUE_SPIN)
            while (gyre_atomic_load(&state->never) == 0)
                ;
    }
    if (brief->type == ROGUE_PRINT)
        gyre_self_print(self, "here", 1);
    gyre_self_barrier(self);
    *GYRE_ANSWER(rogue_words) = *GYRE_REQUEST(rogue_words);
    GYRE_ANSWER(rogue_words)->word[0] += 1;
}
