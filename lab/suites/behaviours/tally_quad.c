/* SPDX-License-Identifier: Apache-2.0
 *
 * tally_quad: counts messages and adds up what they carry, by four lanes.
 *
 * Three lanes add to a cell of their own, the cell of a message is that of its number: eight
 * messages in a row lie on a line of 128 bytes, and a warp reaches it by one access.
 */
#include "gyre/behaviour.h"

enum { TALLY_QUAD_CELLS = 64 };

typedef struct tally_quad_state {
    gyre_abi_u32 cell[TALLY_QUAD_CELLS][4]; /* how many, their numbers, the rest, unused */
} tally_quad_state;

typedef struct tally_quad_words {
    gyre_abi_u32 word[10];
} tally_quad_words;

GYRE_BEHAVIOUR(tally_quad, tally_quad_state, GYRE_WIDTH_QUAD)
{
    const gyre_abi_u32 number = GYRE_REQUEST(tally_quad_words)->word[0];
    const gyre_abi_u32 rest = GYRE_REQUEST(tally_quad_words)->word[9];

    for (gyre_abi_u32 i = self->lane; i < 3; i += self->lanes)
        gyre_atomic_add(&state->cell[number % TALLY_QUAD_CELLS][i], i == 0   ? 1
                                                                    : i == 1 ? number
                                                                             : rest);
}
