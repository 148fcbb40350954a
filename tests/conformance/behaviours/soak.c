/* SPDX-License-Identifier: Apache-2.0
 *
 * soak: four lanes to a message. Keeps books of each sender, so that each can check his own while
 * the others go on.
 */
#include "gyre/behaviour.h"

enum {
    SOAK_MIX = 1,   /* counts; answers with every word changed */
    SOAK_WORDS = 2, /* adds 1 to each word that the message refers to; answers with their sum */
    SOAK_BOOKS = 3, /* is not counted; answers with what was, of its sender */
};

enum { SOAK_SENDERS = 16 };

typedef struct soak_state {
    struct {
        gyre_abi_u32 count, sum, mix;
        gyre_abi_u32 fold[16]; /* by exclusive or, all together; several, since each is swapped */
        gyre_abi_u32 rest[13];
    } from[SOAK_SENDERS];
} soak_state;

typedef struct soak_words {
    gyre_abi_u32 sender, word[9];
} soak_words;

typedef struct soak_books {
    gyre_abi_u32 count, sum, mix, fold;
} soak_books;

typedef struct soak_refers { /* the first two are body.reference's */
    gyre_abi_address address;
    gyre_abi_u64 size;
    gyre_abi_u32 sender, sum;
} soak_refers;

/* What becomes of word i. */
GYRE_FUNCTION gyre_abi_u32 soak_changed(gyre_abi_u32 word, gyre_abi_u32 i)
{
    return (word ^ 0x5bd1e995u) * 5u + i;
}

/* What is counted of a message: something of every word. */
GYRE_FUNCTION gyre_abi_u32 soak_mix(const GYRE_OWN gyre_abi_u32 *word)
{
    gyre_abi_u32 mix = 0;

    for (gyre_abi_u32 i = 0; i < 9; i++)
        mix += word[i] * (2 * i + 3);
    return mix;
}

/* Likewise, by exclusive or. */
GYRE_FUNCTION gyre_abi_u32 soak_fold(const GYRE_OWN gyre_abi_u32 *word)
{
    gyre_abi_u32 fold = 0;

    for (gyre_abi_u32 i = 0; i < 9; i++)
        fold ^= word[i];
    return fold;
}

GYRE_FUNCTION void soak_fold_in(GYRE_GLOBAL gyre_abi_u32 *at, gyre_abi_u32 value)
{
    gyre_abi_u32 expected, was = gyre_atomic_load(at);

    do {
        expected = was;
        was = gyre_atomic_swap(at, expected, expected ^ value);
    } while (was != expected);
}

GYRE_BEHAVIOUR(soak, soak_state, GYRE_WIDTH_QUAD)
{
    if (brief->type == SOAK_WORDS) {
        GYRE_GLOBAL gyre_abi_u32 *const words = GYRE_PAYLOAD(gyre_abi_u32);
        const gyre_abi_u32 count = (gyre_abi_u32)(GYRE_PAYLOAD_BYTES / 4);
        const gyre_abi_u32 sender = GYRE_REQUEST(soak_refers)->sender % SOAK_SENDERS;
        gyre_abi_u32 sum = 0;

        if (self->lane == 0)
            for (gyre_abi_u32 i = 0; i < count; i++)
                sum += words[i];
        gyre_self_barrier(self);
        for (gyre_abi_u32 i = self->lane; i < count; i += self->lanes)
            words[i] += 1;
        if (self->lane == 0)
            gyre_atomic_add(&state->from[sender].count, 1);
        GYRE_ANSWER(soak_refers)->sum = sum;
    } else if (brief->type == SOAK_BOOKS) {
        const gyre_abi_u32 sender = GYRE_REQUEST(soak_words)->sender % SOAK_SENDERS;

        GYRE_ANSWER(soak_books)->count = gyre_atomic_load(&state->from[sender].count);
        GYRE_ANSWER(soak_books)->sum = gyre_atomic_load(&state->from[sender].sum);
        GYRE_ANSWER(soak_books)->mix = gyre_atomic_load(&state->from[sender].mix);
        GYRE_ANSWER(soak_books)->fold = 0;
        for (gyre_abi_u32 i = 0; i < 16; i++)
            GYRE_ANSWER(soak_books)->fold ^= gyre_atomic_load(&state->from[sender].fold[i]);
    } else {
        const gyre_abi_u32 sender = GYRE_REQUEST(soak_words)->sender % SOAK_SENDERS;

        if (self->lane == 0) {
            gyre_atomic_add(&state->from[sender].count, 1);
            gyre_atomic_add(&state->from[sender].sum, GYRE_REQUEST(soak_words)->word[0]);
            gyre_atomic_add(&state->from[sender].mix, soak_mix(GYRE_REQUEST(soak_words)->word));
            soak_fold_in(&state->from[sender].fold[GYRE_REQUEST(soak_words)->word[0] >> 28],
                         soak_fold(GYRE_REQUEST(soak_words)->word));
        }
        GYRE_ANSWER(soak_words)->sender = sender;
        for (gyre_abi_u32 i = 0; i < 9; i++)
            GYRE_ANSWER(soak_words)->word[i] = soak_changed(GYRE_REQUEST(soak_words)->word[i], i);
    }
}
