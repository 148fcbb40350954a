/* SPDX-License-Identifier: Apache-2.0
 *
 * example: what the mains of these examples have in common: an actor on the device that the first
 * argument names, a port to it, and what went wrong.
 */
#ifndef GYRE_EXAMPLE_H
#define GYRE_EXAMPLE_H

#include <gyre/clock.h>
#include <gyre/kernel.h>
#include <gyre/port.h>
#include <stdio.h>
#include <string.h>

typedef struct example {
    gyre_context *context;
    gyre_actor *actor;
    gyre_port *port;
} example;

/* Every wait of the examples ends by then. */
static inline uint64_t example_soon(void)
{
    return gyre_clock_after_ns(1000000000);
}

/* Says what went wrong. TIMEOUT and AGAIN leave no text, and a failed build leaves a log as well.
 */
static inline void example_tell(const char *name, gyre_status status)
{
    const int has_text = status != GYRE_TIMEOUT && status != GYRE_AGAIN;

    if (status != GYRE_OK)
        fprintf(stderr, "%s: %s%s%s\n%s", name, gyre_status_name(status), has_text ? ": " : "",
                has_text ? gyre_error_last()->text : "",
                status == GYRE_BUILD ? gyre_kernel_build_log() : "");
}

/* An actor in the context, resident, and a port to it. */
static inline gyre_status example_launch(example *it, const gyre_behaviour *behaviour)
{
    gyre_status status = gyre_actor_create(it->context, behaviour, NULL, &it->actor);

    if (status == GYRE_OK)
        status = gyre_actor_launch(it->actor, NULL);
    if (status == GYRE_OK)
        status = gyre_port_open(it->actor, NULL, &it->port);
    return status;
}

/* The same on the device of that name: "cpu", "cuda", "opencl". After a failure too there is
 * example_end. */
static inline gyre_status example_begin(example *it, const gyre_behaviour *behaviour,
                                        const char *name)
{
    const gyre_device *const device = gyre_device_find(name);
    gyre_status status;

    memset(it, 0, sizeof *it);
    status = device ? gyre_context_create(device, NULL, &it->context) : GYRE_NOT_FOUND;
    return status == GYRE_OK ? example_launch(it, behaviour) : status;
}

/* Ends the actor: nobody uses what messages referred to any more. */
static inline void example_leave(example *it)
{
    gyre_port_close(it->port);
    gyre_actor_destroy(it->actor);
    it->port = NULL;
    it->actor = NULL;
}

static inline void example_end(example *it)
{
    example_leave(it);
    gyre_context_destroy(it->context);
}

#endif
