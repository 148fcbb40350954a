/* SPDX-License-Identifier: Apache-2.0
 *
 * relu_block: the same as relu_warp by all lanes of a block: for more floats than a warp has lanes
 * for. A message goes through shared memory and barriers first.
 */
#include "gyre/behaviour.h"

typedef struct relu_block_state {
    gyre_abi_u32 unused;
} relu_block_state;

typedef struct relu_block_request { /* the first two are body.reference's: the input */
    gyre_abi_address address;
    gyre_abi_u64 size;
    gyre_abi_u64 further; /* floats from the input to the output */
} relu_block_request;

typedef struct relu_block_answer {
    gyre_abi_u32 count; /* floats that were written */
} relu_block_answer;

GYRE_BEHAVIOUR(relu_block, relu_block_state, GYRE_WIDTH_BLOCK)
{
    const gyre_abi_u32 count = (gyre_abi_u32)(GYRE_PAYLOAD_BYTES / 4);
    const GYRE_GLOBAL gyre_abi_f32 *const in = GYRE_PAYLOAD(gyre_abi_f32);
    GYRE_GLOBAL gyre_abi_f32 *const out =
        GYRE_PAYLOAD(gyre_abi_f32) + GYRE_REQUEST(relu_block_request)->further;
    gyre_abi_u32 i = self->lane;

    /* loads first: a store might be to what is loaded next, for all that a compiler knows */
    for (; i + 3 * self->lanes < count; i += 4 * self->lanes) {
        gyre_abi_f32 x[4];

        for (gyre_abi_u32 k = 0; k < 4; k++)
            x[k] = in[i + k * self->lanes];
        for (gyre_abi_u32 k = 0; k < 4; k++)
            out[i + k * self->lanes] = x[k] > 0 ? x[k] : 0;
    }
    for (; i < count; i += self->lanes)
        out[i] = in[i] > 0 ? in[i] : 0;
    GYRE_ANSWER(relu_block_answer)->count = count;
}
