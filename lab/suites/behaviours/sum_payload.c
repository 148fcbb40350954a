/* SPDX-License-Identifier: Apache-2.0
 *
 * sum_payload: adds up the words that the message refers to, by all lanes of a block, a power of
 * two, each of which has a word of the block's own memory.
 *
 * A lane loads 16 bytes at once, and four times before it adds: each load may be of the host's
 * memory, which takes a microsecond, and what waits together waits once. A payload that does not
 * begin at 16 is loaded by words.
 */
#include "gyre/behaviour.h"

typedef struct sum_payload_state {
    gyre_abi_u32 unused;
} sum_payload_state;

typedef struct __attribute__((aligned(16))) sum_payload_four {
    gyre_abi_u32 a, b, c, d;
} sum_payload_four;

typedef struct sum_payload_answer {
    gyre_abi_u32 sum;
} sum_payload_answer;

GYRE_FUNCTION gyre_abi_u32 sum_payload_of(sum_payload_four four)
{
    return four.a + four.b + four.c + four.d;
}

/* This lane's share of them. */
GYRE_FUNCTION gyre_abi_u32 sum_payload_fours(const GYRE_GLOBAL sum_payload_four *from,
                                             gyre_abi_u32 count, gyre_abi_u32 lane,
                                             gyre_abi_u32 lanes)
{
    gyre_abi_u32 i = lane, sum = 0;

    for (; i + 3 * lanes < count; i += 4 * lanes) {
        const sum_payload_four first = from[i], second = from[i + lanes];
        const sum_payload_four third = from[i + 2 * lanes], fourth = from[i + 3 * lanes];

        sum += sum_payload_of(first) + sum_payload_of(second) + sum_payload_of(third) +
               sum_payload_of(fourth);
    }
    for (; i < count; i += lanes)
        sum += sum_payload_of(from[i]);
    return sum;
}

GYRE_BEHAVIOUR(sum_payload, sum_payload_state, GYRE_WIDTH_BLOCK)
{
    GYRE_LOCAL gyre_abi_u32 *const partial = (GYRE_LOCAL gyre_abi_u32 *)self->shared;
    GYRE_GLOBAL gyre_abi_u32 *const words = GYRE_PAYLOAD(gyre_abi_u32);
    const gyre_abi_u32 count = (gyre_abi_u32)(GYRE_PAYLOAD_BYTES / 4);
    const gyre_abi_u32 fours = (gyre_abi_u64)words % 16 == 0 ? count / 4 : 0;
    gyre_abi_u32 sum =
        sum_payload_fours(GYRE_PAYLOAD(sum_payload_four), fours, self->lane, self->lanes);

    for (gyre_abi_u32 i = 4 * fours + self->lane; i < count; i += self->lanes)
        sum += words[i];
    partial[self->lane] = sum;
    for (gyre_abi_u32 step = self->lanes / 2; step > 0; step /= 2) {
        gyre_self_barrier(self);
        if (self->lane < step)
            partial[self->lane] += partial[self->lane + step];
    }
    GYRE_ANSWER(sum_payload_answer)->sum = partial[0];
}
