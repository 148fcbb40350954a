/* SPDX-License-Identifier: Apache-2.0
 *
 * bells: where they lie. In the mailbox, unless the host can write the GPU's own memory: there the
 * GPU finds them sooner, and one replica is as good as many. Or in host memory of their own, so
 * that what differs is tried where there is no such GPU.
 *
 * Threads   those of a launch, which hold the actor's lock.
 * Owns      nothing: what it takes is the actor's.
 * Not here  how such memory is come by (backends/cuda/cuda_window.c).
 */
#include <stdio.h>
#include <string.h>

#include "actor/actor.h"
#include "base/fail.h"
#include "exec/context.h"

static void say(gyre_actor *actor, const char *what, const char *more)
{
    const size_t said = strlen(actor->scheme);

    snprintf(actor->scheme + said, sizeof actor->scheme - said, "; %s%s", what, more);
}

static size_t bytes_of(const gyre_mailbox_shape *shape)
{
    return (size_t)gyre_mailbox_bell_apart(shape, shape->seats, 0, 0);
}

static gyre_status take_apart(gyre_actor *actor)
{
    const gyre_memory *const memory = gyre_context_memory(actor->context, GYRE_CONTEXT_PINNED);
    const size_t size = bytes_of(&actor->shape);
    void *block = NULL;
    gyre_status status;

    if (!actor->shape.replicas)
        return gyre_fail(GYRE_UNSUPPORTED, "actor '%s' has no bells", actor->name);
    status = memory->take(memory, size, GYRE_MAILBOX_ROW, &block);
    if (status != GYRE_OK)
        return status;
    memset(block, 0, size);
    actor->bells = (gyre_dev_window){.host = block, .device = block, .size = size};
    say(actor, "bells apart from the mailbox", "");
    return GYRE_OK;
}

/* One replica in the device's memory, or none there. */
static void take_window(gyre_actor *actor)
{
    gyre_context *const context = actor->context;
    const uint32_t replicas = actor->shape.replicas;

    actor->shape.replicas = actor->launched.replicas ? replicas : 1;
    if (context->backend->window_open(context->dev, bytes_of(&actor->shape), &actor->bells) ==
        GYRE_OK) {
        say(actor, "requests through the BAR by ", actor->bells.by);
        return;
    }
    actor->shape.replicas = replicas;
    say(actor, "requests in host memory; ", gyre_error_last()->text);
}

gyre_status gyre_bells_take(gyre_actor *actor)
{
    const gyre_device *const device = gyre_context_device(actor->context);
    const bool cuda = strcmp(device->backend, "cuda") == 0;
    gyre_status status = GYRE_OK;

    switch (actor->launched.bells) {
    case GYRE_ACTOR_BELLS_DEFAULT:
        if (cuda && actor->shape.replicas)
            take_window(actor);
        break;
    case GYRE_ACTOR_BELLS_INSIDE:
        break;
    case GYRE_ACTOR_BELLS_APART:
        /* the loop of OpenCL knows one block of memory */
        status = cuda || gyre_device_has(device, GYRE_FEATURE_FUNCTIONS)
                     ? take_apart(actor)
                     : gyre_fail(GYRE_UNSUPPORTED, "actor '%s': bells apart on %s", actor->name,
                                 device->name);
        break;
    default:
        status = gyre_fail(GYRE_INVALID, "actor '%s': bells at place %d", actor->name,
                           (int)actor->launched.bells);
    }
    if (actor->bells.host) {
        memcpy(&actor->shape.bells, &actor->bells.device, sizeof actor->shape.bells);
        actor->shape.in_place = 0; /* the device does not answer where the host does not read */
    }
    return status;
}

void gyre_bells_give(gyre_actor *actor)
{
    gyre_context *const context = actor->context;
    const gyre_memory *const memory = gyre_context_memory(context, GYRE_CONTEXT_PINNED);

    if (actor->bells.host && !actor->hung) {
        if (actor->bells.by)
            context->backend->window_close(context->dev, &actor->bells);
        else
            memory->give(memory, actor->bells.host, actor->bells.size, GYRE_MAILBOX_ROW);
    }
    actor->bells = (gyre_dev_window){0};
}

unsigned char *gyre_bells_of(const gyre_actor *actor, uint32_t seat, uint32_t port)
{
    const gyre_mailbox_shape *const shape = &actor->shape;

    if (actor->bells.host)
        return (unsigned char *)actor->bells.host + gyre_mailbox_bell_apart(shape, seat, port, 0);
    return actor->mailbox + seat * shape->seat_bytes + gyre_mailbox_bell_at(shape, port, 0);
}
