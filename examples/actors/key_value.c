/* SPDX-License-Identifier: Apache-2.0
 *
 * key_value: a table on the device: put, get, remove. Hundreds of messages are handled at once,
 * four lanes each, so each of them changes one word of a place by one atomic operation: whoever
 * gets a key finds a value that somebody put, or none.
 *
 *     cc -O2 key_value.c $(pkg-config --cflags --libs gyre) -o key_value && ./key_value cpu
 */
#include <gyre/behaviour.h>

enum { PUT = 1, GET = 2, REMOVE = 3 };
enum { PLACES = 4096, NOT_FOUND = GYRE_ACTOR_OWN, FULL = GYRE_ACTOR_OWN + 1 };

/* A key keeps its place, also when it is removed: then there is no value. */
typedef struct table {
    gyre_abi_u32 keys[PLACES];   /* 0: free */
    gyre_abi_u32 values[PLACES]; /* 0: none */
} table;

typedef struct pair {
    gyre_abi_u32 key, value; /* neither is 0; an answer to PUT and REMOVE: what was there before */
} pair;

/* Where the key is, or goes if it may claim a place; PLACES: nowhere. */
GYRE_FUNCTION gyre_abi_u32 find(GYRE_GLOBAL table *state, gyre_abi_u32 key, gyre_abi_u32 claims)
{
    const gyre_abi_u32 first = (key * 2654435769u) >> 20;

    for (gyre_abi_u32 i = 0; i < PLACES; i++) {
        const gyre_abi_u32 at = (first + i) % PLACES;
        const gyre_abi_u32 there = claims ? gyre_atomic_swap(&state->keys[at], 0, key)
                                          : gyre_atomic_load(&state->keys[at]);

        if (there == key || (there == 0 && claims))
            return at;
        if (there == 0)
            break;
    }
    return PLACES;
}

GYRE_BEHAVIOUR(key_value, table, GYRE_WIDTH_QUAD)
{
    const gyre_abi_u32 key = GYRE_REQUEST(pair)->key, puts = brief->type == PUT;
    gyre_abi_u32 at, value = puts ? GYRE_REQUEST(pair)->value : 0;

    if (self->lane != 0)
        return;
    if (key == 0 || (puts && value == 0) || brief->type == 0 || brief->type > REMOVE) {
        gyre_self_fail(self, GYRE_ACTOR_BAD_MESSAGE);
        return;
    }
    at = find(state, key, puts);
    if (at < PLACES)
        value = brief->type == GET ? gyre_atomic_load(&state->values[at])
                                   : gyre_atomic_exchange(&state->values[at], value);
    if (puts ? at == PLACES : value == 0) {
        gyre_self_fail(self, puts ? FULL : NOT_FOUND);
        return;
    }
    GYRE_ANSWER(pair)->key = key;
    GYRE_ANSWER(pair)->value = value;
}

#ifdef GYRE_HOST

#include "example.h"

enum { KEYS = 1000, ROUNDS = 20, TOO_MANY = 100 };

/* Other numbers for other numbers, and 0 for 0. */
static uint32_t mixed(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* Whether the answer says what the host's table says: `before`, or the failure. */
static int is_right(const gyre_brief *message, const gyre_brief *answer, uint32_t before)
{
    if (answer->flags & GYRE_BRIEF_FAILED)
        return message->type != PUT && before == 0 && answer->body.words[0] == NOT_FOUND;
    return (message->type == PUT || before != 0) &&
           answer->body.words[0] == message->body.words[0] && answer->body.words[1] == before;
}

/* Random puts, gets and removals of keys that are new in every run, beside a table on the host. One
 * message for each key in a round: no two that are handled at once are about the same. */
static gyre_status use(gyre_port *port, uint32_t seed, uint32_t *out_wrong)
{
    static gyre_brief messages[KEYS], answers[KEYS];
    static uint32_t values[KEYS]; /* the host's table; 0: none */
    uint32_t absent = 0;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        gyre_status status;

        for (uint32_t i = 0; i < KEYS; i++) {
            const uint32_t random = mixed(seed + (round + 1) * 65537u + i * 31u);

            messages[i].type = (uint16_t)(PUT + (round == 1 ? 0 : random % 3));
            messages[i].body.words[0] = mixed(seed + i);
            messages[i].body.words[1] = random | 1;
        }
        status = gyre_port_call_many(port, messages, answers, KEYS, example_soon());
        if (status != GYRE_OK)
            return status;
        for (uint32_t i = 0; i < KEYS; i++) {
            *out_wrong += !is_right(&messages[i], &answers[i], values[i]);
            absent += (answers[i].flags & GYRE_BRIEF_FAILED) != 0;
            if (messages[i].type != GET)
                values[i] = messages[i].type == PUT ? messages[i].body.words[1] : 0;
        }
    }
    printf("%d keys, %d rounds, %u answers wrong; %s\n", KEYS, ROUNDS, *out_wrong,
           absent > 0 ? "some keys were not there" : "every key was there");
    return GYRE_OK;
}

/* Every place has a key of its own in the end, and what comes then finds none. */
static gyre_status fill(gyre_port *port, uint32_t seed, uint32_t *out_wrong)
{
    enum { MORE = PLACES - KEYS + TOO_MANY };
    static gyre_brief messages[MORE], answers[MORE];
    uint32_t full = 0;
    gyre_status status;

    for (uint32_t i = 0; i < MORE; i++) {
        messages[i].type = PUT;
        messages[i].body.words[0] = mixed(seed + KEYS + i);
        messages[i].body.words[1] = 1;
    }
    status = gyre_port_call_many(port, messages, answers, MORE, example_soon());
    if (status != GYRE_OK)
        return status;
    for (uint32_t i = 0; i < MORE; i++)
        full += (answers[i].flags & GYRE_BRIEF_FAILED) && answers[i].body.words[0] == FULL;
    printf("%d more keys, %u of them found the table full\n", MORE, full);
    *out_wrong += full != TOO_MANY;
    return GYRE_OK;
}

int main(int argc, char **argv)
{
    const uint32_t seed = 1 + (uint32_t)gyre_clock_now_ns() % 4000000000u; /* no key becomes 0 */
    uint32_t wrong = 0;
    example it;
    gyre_status status = example_begin(&it, &key_value, argc > 1 ? argv[1] : "cpu");

    if (status == GYRE_OK)
        status = use(it.port, seed, &wrong);
    if (status == GYRE_OK)
        status = fill(it.port, seed, &wrong);
    if (wrong > 0)
        fprintf(stderr, "key_value: wrong with seed %u\n", seed);
    example_tell("key_value", status);
    example_end(&it);
    return status != GYRE_OK || wrong > 0;
}

#endif
