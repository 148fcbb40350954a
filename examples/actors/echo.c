/* SPDX-License-Identifier: Apache-2.0
 *
 * echo: a first actor: it counts what comes, and gives it back. On a thread, or on the device that
 * is named, from the same lines.
 *
 *     cc -O2 echo.c $(pkg-config --cflags --libs gyre) -o echo && ./echo && ./echo cuda
 */
#include <gyre/behaviour.h>

typedef struct tally {
    gyre_abi_u32 count;
} tally;

typedef struct greeting {
    gyre_abi_u32 number, count;
} greeting;

/* Four lanes to a message, and many messages at once: so the state is changed by atomics. */
GYRE_BEHAVIOUR(echo, tally, GYRE_WIDTH_QUAD)
{
    if (self->lane == 0) {
        GYRE_ANSWER(greeting)->number = GYRE_REQUEST(greeting)->number;
        GYRE_ANSWER(greeting)->count = gyre_atomic_add(&state->count, 1) + 1;
    }
}

#ifdef GYRE_HOST

#include <gyre/clock.h>
#include <gyre/kernel.h>
#include <gyre/port.h>
#include <stdio.h>
#include <string.h>

static gyre_status talk(gyre_port *port)
{
    gyre_status status = GYRE_OK;
    gyre_brief message, answer;

    memset(&message, 0, sizeof message);
    for (uint32_t i = 100; i < 105 && status == GYRE_OK; i++) {
        message.body.words[0] = i;
        status = gyre_port_call(port, &message, &answer, gyre_clock_after_ns(1000000000));
        if (status == GYRE_OK)
            printf("sent %u, got %u, which was message %u\n", i, answer.body.words[0],
                   answer.body.words[1]);
    }
    return status;
}

int main(int argc, char **argv)
{
    const gyre_device *const device = gyre_device_find(argc > 1 ? argv[1] : "cpu");
    gyre_context *context = NULL;
    gyre_actor *actor = NULL;
    gyre_port *port = NULL;
    gyre_status status = device ? gyre_context_create(device, NULL, &context) : GYRE_NOT_FOUND;

    if (status == GYRE_OK)
        status = gyre_actor_create(context, &echo, NULL, &actor);
    if (status == GYRE_OK)
        status = gyre_actor_launch(actor, NULL);
    if (status == GYRE_OK)
        status = gyre_port_open(actor, NULL, &port);
    if (status == GYRE_OK)
        status = talk(port);
    if (status == GYRE_TIMEOUT) /* the one that leaves no text */
        fprintf(stderr, "echo: no answer within a second\n");
    else if (status != GYRE_OK)
        fprintf(stderr, "echo: %s\n%s", gyre_error_last()->text,
                status == GYRE_BUILD ? gyre_kernel_build_log() : "");
    gyre_port_close(port);
    gyre_actor_destroy(actor);
    gyre_context_destroy(context);
    return status != GYRE_OK;
}

#endif
