/* SPDX-License-Identifier: Apache-2.0
 *
 * sum_payload: adds up the words that the message refers to, by all lanes of a block, a power of
 * two, each of which has a word of the block's own memory.
 */
#include "gyre/behaviour.h"

typedef struct sum_payload_state {
    gyre_abi_u32 unused;
} sum_payload_state;

typedef struct sum_payload_answer {
    gyre_abi_u32 sum;
} sum_payload_answer;

GYRE_BEHAVIOUR(sum_payload, sum_payload_state, GYRE_WIDTH_BLOCK)
{
    GYRE_LOCAL gyre_abi_u32 *const partial = (GYRE_LOCAL gyre_abi_u32 *)self->shared;
    GYRE_GLOBAL gyre_abi_u32 *const words = GYRE_PAYLOAD(gyre_abi_u32);
    const gyre_abi_u32 count = (gyre_abi_u32)(GYRE_PAYLOAD_BYTES / 4);
    gyre_abi_u32 sum = 0;

    for (gyre_abi_u32 i = self->lane; i < count; i += self->lanes)
        sum += words[i];
    partial[self->lane] = sum;
    for (gyre_abi_u32 step = self->lanes / 2; step > 0; step /= 2) {
        gyre_self_barrier(self);
        if (self->lane < step)
            partial[self->lane] += partial[self->lane + step];
    }
    GYRE_ANSWER(sum_payload_answer)->sum = partial[0];
}
