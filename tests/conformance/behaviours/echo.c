/* SPDX-License-Identifier: Apache-2.0
 *
 * echo: four lanes to a message. Gives back what came, one more in its first word, and counts.
 */
#include "gyre/behaviour.h"

enum { ECHO_SLOWLY = 77 }; /* any other type is as good as another */

typedef struct echo_state {
    gyre_abi_u32 count;
    gyre_abi_u32 sum; /* of first words */
} echo_state;

typedef struct echo_words {
    gyre_abi_u32 word[10];
} echo_words;

GYRE_BEHAVIOUR(echo, echo_state, GYRE_WIDTH_QUAD)
{
    if (self->lane == 0) {
        for (int looks = brief->type == ECHO_SLOWLY ? 500 : 0; looks > 0; looks--)
            (void)gyre_atomic_load(&state->count);
        gyre_atomic_add(&state->count, 1);
        gyre_atomic_add(&state->sum, GYRE_REQUEST(echo_words)->word[0]);
    }
    *GYRE_ANSWER(echo_words) = *GYRE_REQUEST(echo_words);
    GYRE_ANSWER(echo_words)->word[0] += 1;
}
