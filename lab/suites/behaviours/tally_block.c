/* SPDX-License-Identifier: Apache-2.0
 *
 * tally_block: counts messages, adds up what they carry in front, takes the xor of their last eight
 * bytes and sees whether they come in order, by a block.
 *
 * A block handles one message after another, so each seat has a line of its own, and each of five
 * lanes a word of it, without atomic operations. Other seats have other messages: what a seat can
 * say of the order is that numbers go up.
 */
#include "gyre/behaviour.h"

enum { TALLY_BLOCK_SEATS = 64 };

/* Times the step from one number to the next (suites/actor_message.h), in 32 bits, it is 1. */
enum { TALLY_BLOCK_INVERSE = -0x30406c3f };

typedef struct tally_block_state {
    /* how many, the sum of their first words, the xor of the last two, the first word of the last
     * message, how many were not later than the one before */
    gyre_abi_u32 seat[TALLY_BLOCK_SEATS][32];
} tally_block_state;

typedef struct tally_block_words {
    gyre_abi_u32 word[10];
} tally_block_words;

GYRE_BEHAVIOUR(tally_block, tally_block_state, GYRE_WIDTH_BLOCK)
{
    const gyre_abi_u32 number = GYRE_REQUEST(tally_block_words)->word[0];
    const gyre_abi_u32 low = GYRE_REQUEST(tally_block_words)->word[8];
    const gyre_abi_u32 high = GYRE_REQUEST(tally_block_words)->word[9];
    GYRE_GLOBAL gyre_abi_u32 *const own = state->seat[self->seat % TALLY_BLOCK_SEATS];

    for (gyre_abi_u32 i = self->lane; i < 5; i += self->lanes) {
        const gyre_abi_u32 was = own[i];
        const gyre_abi_u32 ahead = (number - was) * (gyre_abi_u32)TALLY_BLOCK_INVERSE;

        own[i] = i == 0   ? was + 1
                 : i == 1 ? was + number
                 : i == 2 ? was ^ low
                 : i == 3 ? was ^ high
                          : number;
        if (i == 4 && ahead - 1 >= 0x7fffffffu)
            own[5]++;
    }
}
