/* SPDX-License-Identifier: Apache-2.0
 *
 * ledger: a block to a message, one message after another: what each does depends on all before.
 */
#include "gyre/behaviour.h"

enum {
    LEDGER_MIX = 1,    /* hash = hash * 31 + amount; answers with the hash */
    LEDGER_SILENT = 2, /* the same without an answer */
    LEDGER_READ = 3,   /* answers with everything */
    LEDGER_FAIL = 4,   /* fails with the amount */
    LEDGER_SUM = 5,    /* of the words that the message refers to, by all lanes */
    LEDGER_HANG = 6,   /* sets the second word that it refers to, and waits for the first */
    LEDGER_LAST = 7,   /* keeps the amount, by its priority */
};

typedef struct ledger_state {
    gyre_abi_u32 hash, messages, partial, last[4];
} ledger_state;

typedef struct ledger_request {
    gyre_abi_u32 amount;
} ledger_request;

typedef struct ledger_answer {
    gyre_abi_u32 hash, messages, sum, last[4];
} ledger_answer;

GYRE_BEHAVIOUR(ledger, ledger_state, GYRE_WIDTH_BLOCK)
{
    if (self->lane == 0) {
        state->messages++;
        state->partial = 0;
        if (brief->type == LEDGER_MIX || brief->type == LEDGER_SILENT)
            state->hash = state->hash * 31u + GYRE_REQUEST(ledger_request)->amount;
        if (brief->type == LEDGER_LAST)
            state->last[brief->priority >> 6] = state->messages;
        if (brief->type == LEDGER_FAIL)
            gyre_self_fail(self, GYRE_REQUEST(ledger_request)->amount);
        if (brief->type == LEDGER_HANG) {
            gyre_atomic_exchange(GYRE_PAYLOAD(gyre_abi_u32) + 1, 1);
            while (gyre_atomic_load(GYRE_PAYLOAD(gyre_abi_u32)) == 0)
                ;
        }
    }
    gyre_self_barrier(self);
    if (brief->type == LEDGER_SUM) {
        GYRE_GLOBAL gyre_abi_u32 *const words = GYRE_PAYLOAD(gyre_abi_u32);
        const gyre_abi_u32 count = (gyre_abi_u32)(GYRE_PAYLOAD_BYTES / 4);
        gyre_abi_u32 sum = 0;

        for (gyre_abi_u32 i = self->lane; i < count; i += self->lanes)
            sum += words[i];
        gyre_atomic_add(&state->partial, sum);
        gyre_self_barrier(self);
    }
    if (brief->type != LEDGER_SILENT) {
        GYRE_ANSWER(ledger_answer)->hash = state->hash;
        GYRE_ANSWER(ledger_answer)->messages = state->messages;
        GYRE_ANSWER(ledger_answer)->sum = state->partial;
        for (int i = 0; i < 4; i++)
            GYRE_ANSWER(ledger_answer)->last[i] = state->last[i];
    }
}
