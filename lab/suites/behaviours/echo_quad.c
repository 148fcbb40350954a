/* SPDX-License-Identifier: Apache-2.0
 *
 * echo_quad: gives back what came, by four lanes.
 */
#include "gyre/behaviour.h"

typedef struct echo_quad_state {
    gyre_abi_u32 unused;
} echo_quad_state;

typedef struct echo_quad_words {
    gyre_abi_u64 word[5];
} echo_quad_words;

GYRE_BEHAVIOUR(echo_quad, echo_quad_state, GYRE_WIDTH_QUAD)
{
    *GYRE_ANSWER(echo_quad_words) = *GYRE_REQUEST(echo_quad_words);
}
