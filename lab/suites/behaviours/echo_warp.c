/* SPDX-License-Identifier: Apache-2.0
 *
 * echo_warp: gives back what came, by a warp.
 */
#include "gyre/behaviour.h"

typedef struct echo_warp_state {
    gyre_abi_u32 unused;
} echo_warp_state;

typedef struct echo_warp_words {
    gyre_abi_u64 word[5];
} echo_warp_words;

GYRE_BEHAVIOUR(echo_warp, echo_warp_state, GYRE_WIDTH_WARP)
{
    *GYRE_ANSWER(echo_warp_words) = *GYRE_REQUEST(echo_warp_words);
}
