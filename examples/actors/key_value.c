/* SPDX-License-Identifier: Apache-2.0
 *
 * key_value: a table on the device. Hundreds of messages are handled at once, four lanes each, so
 * the table is changed by atomic operations only.
 *
 *     cc -O2 key_value.c $(pkg-config --cflags --libs gyre) -o key_value && ./key_value
 */
#include <gyre/behaviour.h>

enum { PUT = 1, GET = 2, PLACES = 4096, FULL = GYRE_ACTOR_OWN };

typedef struct table {
    gyre_abi_u32 keys[PLACES]; /* 0: free */
    gyre_abi_u32 values[PLACES];
} table;

typedef struct pair {
    gyre_abi_u32 key, value; /* a key is not 0 */
} pair;

/* Where the key is, or goes; PLACES: nowhere. */
GYRE_FUNCTION gyre_abi_u32 find(GYRE_GLOBAL table *state, gyre_abi_u32 key)
{
    for (gyre_abi_u32 i = 0; i < PLACES; i++) {
        const gyre_abi_u32 at = (key * 2654435769u + i) % PLACES;
        const gyre_abi_u32 there = gyre_atomic_swap(&state->keys[at], 0, key);

        if (there == 0 || there == key)
            return at;
    }
    return PLACES;
}

GYRE_BEHAVIOUR(key_value, table, GYRE_WIDTH_QUAD)
{
    if (self->lane == 0) {
        const gyre_abi_u32 at = find(state, GYRE_REQUEST(pair)->key);

        if (at == PLACES) {
            gyre_self_fail(self, FULL);
        } else {
            if (brief->type == PUT)
                gyre_atomic_exchange(&state->values[at], GYRE_REQUEST(pair)->value);
            GYRE_ANSWER(pair)->key = GYRE_REQUEST(pair)->key;
            GYRE_ANSWER(pair)->value = gyre_atomic_load(&state->values[at]);
        }
    }
}

#ifdef GYRE_HOST

#include <gyre/clock.h>
#include <gyre/port.h>
#include <stdio.h>

enum { COUNT = 1000 };

/* Puts squares, all at once, and gets them back. */
static gyre_status use(gyre_port *port)
{
    static gyre_brief messages[COUNT], answers[COUNT];
    const uint64_t deadline_ns = gyre_clock_after_ns(1000000000);
    gyre_status status;
    uint32_t wrong = 0;

    for (uint32_t i = 0; i < COUNT; i++) {
        messages[i].type = PUT;
        messages[i].body.words[0] = i + 1;
        messages[i].body.words[1] = i * i;
    }
    status = gyre_port_call_many(port, messages, answers, COUNT, deadline_ns);
    for (uint32_t i = 0; i < COUNT; i++)
        messages[i].type = GET;
    if (status == GYRE_OK)
        status = gyre_port_call_many(port, messages, answers, COUNT, deadline_ns);
    for (uint32_t i = 0; i < COUNT && status == GYRE_OK; i++)
        wrong += answers[i].body.words[1] != i * i;
    if (status == GYRE_OK)
        printf("%d keys, %u of them wrong; 31 has %u\n", COUNT, wrong, answers[30].body.words[1]);
    return status;
}

int main(int argc, char **argv)
{
    const gyre_device *device = argc > 1 ? gyre_device_find(argv[1]) : gyre_device_find("cuda");
    gyre_context *context = NULL;
    gyre_actor *actor = NULL;
    gyre_port *port = NULL;
    gyre_status status;

    if (!device || device->trouble[0])
        device = gyre_device_at(0);
    status = gyre_context_create(device, NULL, &context);
    if (status == GYRE_OK)
        status = gyre_actor_create(context, &key_value, NULL, &actor);
    if (status == GYRE_OK)
        status = gyre_actor_launch(actor, NULL);
    if (status == GYRE_OK)
        status = gyre_port_open(actor, NULL, &port);
    if (status == GYRE_OK)
        status = use(port);
    if (status != GYRE_OK)
        fprintf(stderr, "%s: %s\n", device->name, gyre_error_last()->text);
    gyre_port_close(port);
    gyre_actor_destroy(actor);
    gyre_context_destroy(context);
    return status != GYRE_OK;
}

#endif
