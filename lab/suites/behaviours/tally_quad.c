/* SPDX-License-Identifier: Apache-2.0
 *
 * tally_quad: counts messages, adds up what they carry in front and takes the xor of their last
 * eight bytes, by four lanes.
 *
 * Each lane has a word of a cell; the cell of a message is that of its sender, which is its type,
 * and of its number: eight messages in a row lie on a line of 128 bytes, and a warp reaches it by
 * two accesses.
 */
#include "gyre/behaviour.h"

enum { TALLY_QUAD_SENDERS = 4, TALLY_QUAD_CELLS = 64 };

typedef struct tally_quad_state {
    /* how many, the sum of their first words, the xor of the last two */
    gyre_abi_u32 cell[TALLY_QUAD_SENDERS][TALLY_QUAD_CELLS][4];
} tally_quad_state;

typedef struct tally_quad_words {
    gyre_abi_u32 word[10];
} tally_quad_words;

GYRE_FUNCTION void tally_quad_xor(GYRE_GLOBAL gyre_abi_u32 *at, gyre_abi_u32 value)
{
#if defined(GYRE_HOST)
    (void)__atomic_fetch_xor(at, value, __ATOMIC_RELAXED); /* as gyre_atomic_add */
#elif defined(__OPENCL_VERSION__)
    (void)atomic_xor((volatile GYRE_GLOBAL gyre_abi_u32 *)at, value);
#else
    (void)atomicXor(at, value);
#endif
}

GYRE_BEHAVIOUR(tally_quad, tally_quad_state, GYRE_WIDTH_QUAD)
{
    const gyre_abi_u32 number = GYRE_REQUEST(tally_quad_words)->word[0];
    const gyre_abi_u32 low = GYRE_REQUEST(tally_quad_words)->word[8];
    const gyre_abi_u32 high = GYRE_REQUEST(tally_quad_words)->word[9];
    GYRE_GLOBAL gyre_abi_u32 *const cell =
        state->cell[(brief->type - 1u) % TALLY_QUAD_SENDERS][number % TALLY_QUAD_CELLS];

    for (gyre_abi_u32 i = self->lane; i < 4; i += self->lanes) {
        if (i < 2)
            gyre_atomic_add(&cell[i], i == 0 ? 1 : number);
        else
            tally_quad_xor(&cell[i], i == 2 ? low : high);
    }
}
