/* SPDX-License-Identifier: Apache-2.0
 *
 * echo_block: gives back what came, by all lanes of a block.
 */
#include "gyre/behaviour.h"

typedef struct echo_block_state {
    gyre_abi_u32 unused;
} echo_block_state;

typedef struct echo_block_words {
    gyre_abi_u64 word[5];
} echo_block_words;

GYRE_BEHAVIOUR(echo_block, echo_block_state, GYRE_WIDTH_BLOCK)
{
    *GYRE_ANSWER(echo_block_words) = *GYRE_REQUEST(echo_block_words);
}
