/* SPDX-License-Identifier: Apache-2.0
 *
 * rank: a warp to a message. Answers with how many were handled up to it.
 */
#include "gyre/behaviour.h"

enum {
    RANK_HANG = 6, /* as LEDGER_HANG */
    RANK_TELL = 7, /* as LEDGER_LAST, of which it has the number alone */
};

typedef struct rank_state {
    gyre_abi_u32 messages;
} rank_state;

typedef struct rank_answer { /* as ledger_answer begins */
    gyre_abi_u32 hash, messages;
} rank_answer;

GYRE_BEHAVIOUR(rank, rank_state, GYRE_WIDTH_WARP)
{
    gyre_abi_u32 messages = 0;

    if (self->lane == 0) {
        messages = gyre_atomic_add(&state->messages, 1) + 1;
        if (brief->type == RANK_HANG) {
            gyre_atomic_exchange(GYRE_PAYLOAD(gyre_abi_u32) + 1, 1);
            while (gyre_atomic_load(GYRE_PAYLOAD(gyre_abi_u32)) == 0)
                ;
        }
    }
    gyre_self_barrier(self);
    GYRE_ANSWER(rank_answer)->hash = 0;
    GYRE_ANSWER(rank_answer)->messages = messages;
}
