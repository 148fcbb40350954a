/* SPDX-License-Identifier: Apache-2.0
 *
 * blend: a warp to a message. y = y * scale + shift over floats that the message refers to.
 */
#include "gyre/behaviour.h"

typedef struct blend_state {
    gyre_abi_u32 messages;
} blend_state;

typedef struct blend_request { /* the first two are body.reference's */
    gyre_abi_address address;
    gyre_abi_u64 size;
    gyre_abi_f32 scale, shift;
} blend_request;

typedef struct blend_answer {
    gyre_abi_u32 count;
} blend_answer;

GYRE_BEHAVIOUR(blend, blend_state, GYRE_WIDTH_WARP)
{
    GYRE_GLOBAL gyre_abi_f32 *const y = GYRE_PAYLOAD(gyre_abi_f32);
    const gyre_abi_u32 count = (gyre_abi_u32)(GYRE_PAYLOAD_BYTES / 4);
    const gyre_abi_f32 scale = GYRE_REQUEST(blend_request)->scale;
    const gyre_abi_f32 shift = GYRE_REQUEST(blend_request)->shift;

    for (gyre_abi_u32 i = self->lane; i < count; i += self->lanes)
        y[i] = y[i] * scale + shift;
    if (self->lane == 0)
        gyre_atomic_add(&state->messages, 1);
    GYRE_ANSWER(blend_answer)->count = count;
}
