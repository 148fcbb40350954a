/* SPDX-License-Identifier: Apache-2.0
 *
 * echo: the smallest actor: it counts what comes, and gives it back. On a GPU if there is one, on
 * a thread otherwise, from the same lines.
 *
 *     cc -O2 echo.c $(pkg-config --cflags --libs gyre) -o echo && ./echo
 */
#include <gyre/behaviour.h>

typedef struct tally {
    gyre_abi_u32 count;
} tally;

typedef struct greeting {
    gyre_abi_u32 number, count;
} greeting;

GYRE_BEHAVIOUR(echo, tally, GYRE_WIDTH_BLOCK)
{
    if (self->lane == 0)
        state->count++;
    gyre_self_barrier(self);
    GYRE_ANSWER(greeting)->number = GYRE_REQUEST(greeting)->number;
    GYRE_ANSWER(greeting)->count = state->count;
}

#ifdef GYRE_HOST

#include <gyre/clock.h>
#include <gyre/port.h>
#include <stdio.h>

static gyre_status talk(gyre_port *port)
{
    gyre_status status = GYRE_OK;

    for (uint32_t i = 0; i < 5 && status == GYRE_OK; i++) {
        const gyre_brief message = {.type = 1, .body.words = {100 + i}};
        gyre_brief answer;

        status = gyre_port_call(port, &message, &answer, gyre_clock_after_ns(1000000000));
        if (status == GYRE_OK)
            printf("sent %u, got %u, which was message %u\n", 100 + i, answer.body.words[0],
                   answer.body.words[1]);
    }
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
        status = gyre_actor_create(context, &echo, NULL, &actor);
    if (status == GYRE_OK)
        status = gyre_actor_launch(actor, NULL);
    if (status == GYRE_OK)
        status = gyre_port_open(actor, NULL, &port);
    if (status == GYRE_OK)
        status = talk(port);
    if (status != GYRE_OK)
        fprintf(stderr, "%s: %s\n", device->name, gyre_error_last()->text);
    gyre_port_close(port);
    gyre_actor_destroy(actor);
    gyre_context_destroy(context);
    return status != GYRE_OK;
}

#endif
