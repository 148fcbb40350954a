/* SPDX-License-Identifier: Apache-2.0
 *
 * speaker: a block to a message. Prints what it is asked to, once for each message or many times.
 */
#include "gyre/behaviour.h"

enum {
    SPEAKER_SAY = 1,   /* the amount, by all lanes, of which one is heard; then that it was said */
    SPEAKER_MANY = 2,  /* as often as the amount says, and which time it is */
    SPEAKER_KINDS = 3, /* one of each kind */
};

typedef struct speaker_state {
    gyre_abi_u32 messages;
} speaker_state;

typedef struct speaker_request {
    gyre_abi_u32 amount;
} speaker_request;

GYRE_BEHAVIOUR(speaker, speaker_state, GYRE_WIDTH_BLOCK)
{
    const gyre_abi_u32 amount = GYRE_REQUEST(speaker_request)->amount;

    if (self->lane == 0)
        state->messages++;
    if (brief->type == SPEAKER_SAY) {
        gyre_self_print(self, "amount", amount + self->lane);
        gyre_self_print(self, "said", state->messages);
    }
    if (brief->type == SPEAKER_MANY)
        for (gyre_abi_u32 i = 0; i < amount; i++)
            gyre_self_print(self, "time", i);
    if (brief->type == SPEAKER_KINDS) {
        const gyre_abi_i32 below = -(gyre_abi_i32)amount;
        const gyre_abi_u64 wide = (gyre_abi_u64)amount << 32;

        gyre_self_print(self, "", amount);
        gyre_self_print(self, "31 characters are the most here", wide);
        gyre_self_print(self, "below\tzero", below);
        gyre_self_print_f32(self, "half", (gyre_abi_f32)amount * 0.5f);
    }
    GYRE_ANSWER(speaker_state)->messages = state->messages;
}
