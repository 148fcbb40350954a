/* SPDX-License-Identifier: Apache-2.0
 *
 * vector_add: a request by reference: the message says where two vectors are, in memory that host
 * and device reach, and the actor's lanes add them there. A whole block to a message, because there
 * is work for all of its lanes.
 *
 *     cc -O2 vector_add.c $(pkg-config --cflags --libs gyre) -o vector_add && ./vector_add cpu
 */
#include <gyre/behaviour.h>

typedef struct nothing {
    gyre_abi_u32 unused;
} nothing;

/* The message refers to `count` triples a, b, sum, one array after the other. */
typedef struct added {
    gyre_abi_u32 count;
} added;

GYRE_BEHAVIOUR(vector_add, nothing, GYRE_WIDTH_BLOCK)
{
    const gyre_abi_u32 count = (gyre_abi_u32)(GYRE_PAYLOAD_BYTES / 12);
    GYRE_GLOBAL gyre_abi_f32 *const a = GYRE_PAYLOAD(gyre_abi_f32);

    for (gyre_abi_u32 i = self->lane; i < count; i += self->lanes)
        a[2 * count + i] = a[i] + a[count + i];
    GYRE_ANSWER(added)->count = count;
}

#ifdef GYRE_HOST

#include "example.h"

enum { COUNT = 1000, BYTES = 3 * COUNT * 4 };

static gyre_status add(gyre_port *port, float *vectors, uint32_t *out_wrong)
{
    gyre_brief message, answer;
    gyre_status status;

    for (int i = 0; i < COUNT; i++) {
        vectors[i] = (float)i;
        vectors[COUNT + i] = 0.5f;
        vectors[2 * COUNT + i] = -1;
    }
    memset(&message, 0, sizeof message);
    message.flags = GYRE_BRIEF_REFERS;
    message.body.reference.address = vectors;
    message.body.reference.size = BYTES;
    status = gyre_port_call(port, &message, &answer, example_soon());
    if (status != GYRE_OK)
        return status;
    for (int i = 0; i < COUNT; i++)
        *out_wrong += vectors[2 * COUNT + i] != (float)i + 0.5f;
    printf("%u sums, %u of them wrong\n", answer.body.words[0], *out_wrong);
    return GYRE_OK;
}

int main(int argc, char **argv)
{
    uint32_t wrong = 0;
    example it;
    gyre_status status = example_begin(&it, &vector_add, argc > 1 ? argv[1] : "cpu");

    if (status == GYRE_OK) {
        const gyre_memory *const memory = gyre_context_memory(it.context, GYRE_CONTEXT_PINNED);
        void *vectors = NULL;

        status = memory->take(memory, BYTES, 64, &vectors);
        if (status == GYRE_OK)
            status = add(it.port, (float *)vectors, &wrong);
        example_leave(&it); /* before the memory: a call that was given up may still be handled */
        if (vectors)
            memory->give(memory, vectors, BYTES, 64);
    }
    example_tell("vector_add", status);
    example_end(&it);
    return status != GYRE_OK || wrong > 0;
}

#endif
