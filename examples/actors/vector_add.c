/* SPDX-License-Identifier: Apache-2.0
 *
 * vector_add: a request by reference: the message says where two vectors are, in memory that host
 * and device reach, and the actor's lanes add them there.
 *
 *     cc -O2 vector_add.c $(pkg-config --cflags --libs gyre) -o vector_add && ./vector_add
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

#include <gyre/clock.h>
#include <gyre/port.h>
#include <stdio.h>

enum { COUNT = 1000, BYTES = 3 * COUNT * 4 };

static gyre_status add(gyre_port *port, float *vectors)
{
    gyre_brief message = {.type = 1, .flags = GYRE_BRIEF_REFERS};
    gyre_brief answer;
    gyre_status status;
    uint32_t wrong = 0;

    for (int i = 0; i < COUNT; i++) {
        vectors[i] = (float)i;
        vectors[COUNT + i] = 0.5f;
    }
    message.body.reference.address = vectors;
    message.body.reference.size = BYTES;
    status = gyre_port_call(port, &message, &answer, gyre_clock_after_ns(1000000000));
    for (int i = 0; i < COUNT && status == GYRE_OK; i++)
        wrong += vectors[2 * COUNT + i] != (float)i + 0.5f;
    if (status == GYRE_OK)
        printf("%u sums, %u of them wrong\n", answer.body.words[0], wrong);
    return status;
}

int main(int argc, char **argv)
{
    const gyre_device *device = argc > 1 ? gyre_device_find(argv[1]) : gyre_device_find("cuda");
    const gyre_memory *memory;
    gyre_context *context = NULL;
    gyre_actor *actor = NULL;
    gyre_port *port = NULL;
    void *vectors = NULL;
    gyre_status status;

    if (!device || device->trouble[0])
        device = gyre_device_at(0);
    status = gyre_context_create(device, NULL, &context);
    if (status == GYRE_OK)
        status = gyre_actor_create(context, &vector_add, NULL, &actor);
    if (status == GYRE_OK)
        status = gyre_actor_launch(actor, NULL);
    if (status == GYRE_OK)
        status = gyre_port_open(actor, NULL, &port);
    if (status == GYRE_OK) {
        memory = gyre_context_memory(context, GYRE_CONTEXT_PINNED);
        status = memory->take(memory, BYTES, 64, &vectors);
        if (status == GYRE_OK)
            status = add(port, vectors);
        if (vectors)
            memory->give(memory, vectors, BYTES, 64);
    }
    if (status != GYRE_OK)
        fprintf(stderr, "%s: %s\n", device->name, gyre_error_last()->text);
    gyre_port_close(port);
    gyre_actor_destroy(actor);
    gyre_context_destroy(context);
    return status != GYRE_OK;
}

#endif
