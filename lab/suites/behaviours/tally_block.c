/* SPDX-License-Identifier: Apache-2.0
 *
 * tally_block: counts messages, adds up what they carry in front, takes the xor of their last eight
 * bytes and sees whether they come in order, by a block.
 *
 * A block handles one message after another, so its counts need no atomic operations, and are in
 * its own shared memory, which is nearer than the device's. It is told to begin, and asked what it
 * has. Other seats have other messages: what a seat can say of the order is that numbers go up.
 */
#include "gyre/behaviour.h"

enum {
    TALLY_BLOCK_BEGIN = 0x100, /* other types are counted */
    TALLY_BLOCK_READ = 0x101,
    TALLY_BLOCK_WORDS = 6,
};

/* Times the step from one number to the next (suites/actor_message.h), in 32 bits, it is 1. */
enum { TALLY_BLOCK_INVERSE = -0x30406c3f };

typedef struct tally_block_state {
    gyre_abi_u32 unused;
} tally_block_state;

/* Of a message; or an answer: how many, the sum of their first words, the xor of the last two, the
 * first word of the last message, how many were not later than the one before, and which seat. */
typedef struct tally_block_words {
    gyre_abi_u32 word[10];
} tally_block_words;

GYRE_FUNCTION gyre_abi_u32 tally_block_next(gyre_abi_u32 place, gyre_abi_u32 was,
                                            const GYRE_OWN tally_block_words *message)
{
    return place == 0   ? was + 1
           : place == 1 ? was + message->word[0]
           : place == 2 ? was ^ message->word[8]
           : place == 3 ? was ^ message->word[9]
                        : message->word[0];
}

GYRE_BEHAVIOUR(tally_block, tally_block_state, GYRE_WIDTH_BLOCK)
{
    GYRE_LOCAL gyre_abi_u32 *const own = (GYRE_LOCAL gyre_abi_u32 *)self->shared;
    const int asks = brief->type == TALLY_BLOCK_BEGIN || brief->type == TALLY_BLOCK_READ;

    for (gyre_abi_u32 i = self->lane; !asks && i < 5; i += self->lanes) {
        const gyre_abi_u32 was = own[i], number = GYRE_REQUEST(tally_block_words)->word[0];
        const gyre_abi_u32 ahead = (number - was) * (gyre_abi_u32)TALLY_BLOCK_INVERSE;

        own[i] = tally_block_next(i, was, GYRE_REQUEST(tally_block_words));
        if (i == 4 && ahead - 1 >= 0x7fffffffu)
            own[5]++;
    }
    if (asks && self->lane == 0) {
        GYRE_OWN tally_block_words *const answer = GYRE_ANSWER(tally_block_words);

        for (gyre_abi_u32 i = 0; i < TALLY_BLOCK_WORDS; i++) {
            own[i] = brief->type == TALLY_BLOCK_BEGIN ? 0 : own[i];
            answer->word[i] = own[i];
        }
        answer->word[TALLY_BLOCK_WORDS] = self->seat;
    }
}
