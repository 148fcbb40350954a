/* SPDX-License-Identifier: Apache-2.0
 *
 * seat_kernel: seats that are the blocks of a kernel that does not end.
 *
 * The program is the text of the behaviour, under its own name and with its own lines, and the loop
 * of the device behind it. It is compiled and loaded when the actor is created: the first launch of
 * a kernel that is not loaded yet would wait for every resident one to end.
 *
 * Threads   those of actor/actor.c, which hold the actor's lock.
 * Owns      the kernel, the stream that it runs on, one for copies, the state.
 * Not here  the loops (actor/loop_cuda.h, actor/loop_opencl.h).
 */
#include <stdio.h>
#include <string.h>

#include "actor/actor.h"
#include "actor/image.h"
#include "actor/order.h"
#include "actor/stage_abi.h"
#include "actor/text.h"
#include "actor/trial.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "exec/context.h"
#include "gyre/clock.h"

enum {
    WARP = 32,
    REPLICAS = 16, /* of a bell, before anything is known */
    POLLERS = 128, /* replicas of all seats on a device: more would fill PCIe with looking */
    KERNELS = 120, /* resident ones: a GPU runs 128 at once, and others want to run too */
    SPIN_US = 10000,
    TOLD_BYTES = 64,
    INCLUDES_OWN = 15, /* of a behaviour */
    INCLUDES_MOST = GYRE_ACTOR_TEXTS_MOST + INCLUDES_OWN + 1,
};

#define COMPILE_NS UINT64_C(60000000000)

typedef struct parameters {
    unsigned char *mailbox;
    void *state;
    gyre_mailbox_shape shape;
} parameters;

_Static_assert(sizeof(parameters) == 88, "what the kernel's signature says");

static bool is_cuda(const gyre_actor *actor)
{
    return strcmp(gyre_context_device(actor->context)->backend, "cuda") == 0;
}

/* The behaviour's includes after ours. */
static gyre_status gather_includes(const gyre_behaviour *behaviour,
                                   gyre_include into[INCLUDES_MOST])
{
    size_t count = 0, ours;

    for (const gyre_include *i = gyre_actor_texts; i->name; i++)
        into[count++] = *i;
    ours = count;
    for (const gyre_include *i = behaviour->includes; i && i->name; i++) {
        if (count - ours == INCLUDES_OWN)
            return gyre_fail(GYRE_INVALID, "behaviour '%s' has more than %d includes",
                             behaviour->name, INCLUDES_OWN);
        into[count++] = *i;
    }
    into[count] = (gyre_include){NULL, NULL};
    return GYRE_OK;
}

static gyre_status build(gyre_actor *actor, const char *text)
{
    const gyre_behaviour *const behaviour = actor->behaviour;
    const bool cuda = is_cuda(actor);
    static const char *const exact[] = {"-fmad=false", NULL};
    gyre_include includes[INCLUDES_MOST];
    char missing[128];
    const gyre_program program = {.struct_size = sizeof program,
                                  .name = behaviour->file ? behaviour->file : behaviour->name,
                                  .cuda_image = behaviour->image,
                                  .cuda_image_bytes = behaviour->image_bytes,
                                  .cuda = cuda ? text : NULL,
                                  .opencl = cuda ? NULL : text,
                                  .defines = behaviour->defines,
                                  .includes = includes,
                                  .options = behaviour->options ? behaviour->options : exact,
                                  .cl_options = behaviour->cl_options};
    gyre_status status = gather_includes(behaviour, includes);

    if (status != GYRE_OK)
        return status;
    if (cuda && behaviour->image)
        status = gyre_image_check(actor, &program);
    if (status != GYRE_OK)
        return status;
    status = gyre_kernel_create(actor->context, &program, GYRE_IMAGE_NAME(GYRE_MAILBOX_KERNEL),
                                cuda ? "pointer pointer bytes72" : "pointer pointer bytes72 shared",
                                NULL, &actor->kernel);
    if (status == GYRE_BUILD &&
        gyre_actor_text_misses(behaviour, gyre_kernel_build_log(), missing, sizeof missing))
        return gyre_fail(GYRE_BUILD,
                         "behaviour '%s' includes '%s', which compilers of devices cannot find: "
                         "put its text into the behaviour's `includes`",
                         behaviour->name, missing);
    return status;
}

/* Of the text, unless there is an image. */
static gyre_status build_text(gyre_actor *actor)
{
    gyre_status status;
    char *text;
    size_t room;

    if (is_cuda(actor) && actor->behaviour->image)
        return build(actor, NULL);
    status = gyre_actor_text(actor->behaviour, is_cuda(actor), &text, &room);
    if (status != GYRE_OK)
        return status;
    status = build(actor, text);
    gyre_free(NULL, text, room, 1);
    return status;
}

/* Until the launch of none is over, with patience. */
static gyre_status await_nobody(gyre_actor *actor)
{
    const uint64_t deadline_ns = gyre_clock_after_ns(COMPILE_NS);
    gyre_status status;
    uint32_t rounds = 0;

    while ((status = gyre_stream_poll(actor->stream)) == GYRE_AGAIN) {
        if (gyre_clock_now_ns() >= deadline_ns)
            return gyre_fail(GYRE_DEVICE_LOST, "behaviour '%s': %s did not launch it within %u s",
                             actor->behaviour->name, gyre_context_device(actor->context)->name,
                             (unsigned)(COMPILE_NS / 1000000000));
        gyre_actor_doze(&rounds);
    }
    return status;
}

/* Drivers of OpenCL compile for a shape when it is launched first, and that takes longer than seats
 * may take to come to life, or a stream to be drained: a launch of none, which tells whether the
 * kernel knows quarters. */
static gyre_status launch_nobody(gyre_actor *actor)
{
    const gyre_memory *const memory = gyre_context_memory(actor->context, GYRE_CONTEXT_PINNED);
    parameters values = {0};
    const gyre_launch launch = {
        .grid = {1}, .block = {1}, .parameters = &values, .parameters_size = sizeof values};
    void *told = NULL;
    gyre_status status = memory->take(memory, TOLD_BYTES, TOLD_BYTES, &told);

    if (status != GYRE_OK)
        return status;
    values.mailbox = values.state = told;
    status = gyre_stream_launch(actor->stream, actor->kernel, &launch);
    if (status == GYRE_OK)
        status = await_nobody(actor);
    if (status != GYRE_OK) /* the memory stays: the kernel may still write it */
        return status;
    actor->quarters = *(const uint32_t *)told != 0;
    memory->give(memory, told, TOLD_BYTES, TOLD_BYTES);
    return GYRE_OK;
}

static gyre_status prepare(gyre_actor *actor)
{
    const gyre_behaviour *const behaviour = actor->behaviour;
    const gyre_device *const device = gyre_context_device(actor->context);
    gyre_status status;

    if (!gyre_device_has(device, GYRE_FEATURE_MAPPED))
        return gyre_fail(GYRE_UNSUPPORTED,
                         "%s cannot have actors: its kernels do not reach the host's memory",
                         device->name);
    if (!(is_cuda(actor) && behaviour->image) && (!behaviour->text || !behaviour->file))
        return gyre_fail(GYRE_UNSUPPORTED, "behaviour '%s' has no text for %s", behaviour->name,
                         device->name);
    actor->resident.backend = device->backend;
    actor->resident.index = device->index;
    actor->resident.name = actor->name;
    actor->resident.room = (gyre_resident_room){.units = device->units, .kernels = KERNELS};
    if (!is_cuda(actor)) /* one is for everything else */
        actor->resident.room = (gyre_resident_room){.units = device->units ? device->units - 1 : 0};
    actor->resident.suspend = gyre_actor_suspend;
    actor->resident.restore = gyre_actor_restore;
    status = gyre_stream_create(actor->context, NULL, &actor->stream);
    if (status == GYRE_OK)
        status = gyre_stream_create(actor->context, NULL, &actor->copies);
    if (status == GYRE_OK)
        status = build_text(actor);
    return status == GYRE_OK && !is_cuda(actor) ? launch_nobody(actor) : status;
}

static uint32_t block_threads(const gyre_actor *actor)
{
    if (!is_cuda(actor))
        return 1;
    return (actor->readers + gyre_actor_other_warps(actor)) * WARP;
}

static uint32_t shared_bytes(const gyre_actor *actor)
{
    uint32_t stage = 0;

    if (is_cuda(actor) && actor->behaviour->width == GYRE_WIDTH_BLOCK)
        stage = gyre_stage_at(actor->shape.ports, 0) * (uint32_t)sizeof(gyre_ring_slot);
    return stage + actor->launched.shared_bytes;
}

/* As many as are wished, or as a trial found best and others leave room for: at least as many as if
 * all had the same. */
static void plan_replicas(gyre_actor *actor, uint32_t wished)
{
    const gyre_device *const device = gyre_context_device(actor->context);
    gyre_mailbox_shape *const shape = &actor->shape;
    const uint32_t taken = gyre_resident_units(device->backend, device->index);
    const uint32_t lines = gyre_resident_lines(device->backend, device->index);
    const uint32_t each = shape->seats * shape->ports; /* lines, for one replica */
    const uint32_t left = lines < POLLERS ? (POLLERS - lines) / each : 0;
    const uint32_t equal = POLLERS / (taken + shape->seats), share = left > equal ? left : equal;
    const uint32_t most = actor->readers / shape->ports, known = gyre_trial_found(actor);

    shape->replicas = known ? known : REPLICAS;
    if (shape->replicas > share)
        shape->replicas = share ? share : 1;
    if (wished)
        shape->replicas = wished;
    if (shape->replicas > most)
        shape->replicas = most;
    actor->resident.lines = shape->replicas * each;
}

/* Blocks of a kernel that cannot all be there at once would wait for others that never end. */
static gyre_status plan_residency(gyre_actor *actor)
{
    const gyre_device *const device = gyre_context_device(actor->context);
    uint32_t blocks = 0, each;
    gyre_status status =
        gyre_kernel_residency(actor->kernel, block_threads(actor), shared_bytes(actor), &blocks);

    if (status == GYRE_UNSUPPORTED)
        return GYRE_OK; /* the handshake will tell */
    if (status != GYRE_OK)
        return status;
    each = device->units ? blocks / device->units : 0;
    if (each == 0)
        return gyre_fail(GYRE_NO_MEMORY,
                         "actor '%s': a block of %u threads and %u bytes of shared memory does not "
                         "fit a multiprocessor of %s",
                         actor->name, block_threads(actor), shared_bytes(actor), device->name);
    actor->resident.units = (actor->shape.seats + each - 1) / each;
    return GYRE_OK;
}

static gyre_status plan(gyre_actor *actor, const gyre_actor_launch_options *options)
{
    gyre_mailbox_shape *const shape = &actor->shape;
    gyre_status status = GYRE_OK;

    shape->spin_us = options->spin_us ? options->spin_us : SPIN_US;
    if (!is_cuda(actor) && options->histogram)
        return gyre_fail(GYRE_UNSUPPORTED,
                         "actor '%s': no histogram on %s, since OpenCL has no clock", actor->name,
                         gyre_context_device(actor->context)->name);
    if (!is_cuda(actor)) {
        shape->lanes = 1;
        shape->wide = !(actor->quarters && gyre_actor_quarters());
        shape->replicas = 1;
        shape->in_place = 1;
        snprintf(actor->scheme, sizeof actor->scheme, "work-groups that spin%s, slots in %s",
                 options->idle == GYRE_ACTOR_LEAVE ? " and leave" : "",
                 shape->wide ? "words" : "quarters");
        actor->resident.units = shape->seats; /* each takes one for good */
        return GYRE_OK;
    }
    if (!gyre_actor_quarters())
        return gyre_fail(GYRE_UNSUPPORTED, "this processor does not move 16 bytes at once, as a "
                                           "mailbox that a GPU reads needs");
    plan_replicas(actor, options->replicas);
    status = plan_residency(actor);
    if (status == GYRE_OK)
        snprintf(actor->scheme, sizeof actor->scheme,
                 "%u warps read the host's memory, %u replicas of a bell%s, %s", actor->readers,
                 shape->replicas, gyre_trial_words(actor),
                 options->idle == GYRE_ACTOR_SPIN    ? "spinning"
                 : options->idle == GYRE_ACTOR_LEAVE ? "backing off and leaving"
                                                     : "backing off");
    return status;
}

/* Before the kernel, on its stream. */
static gyre_status send_state(gyre_actor *actor)
{
    const gyre_memory *const memory = gyre_context_memory(actor->context, GYRE_CONTEXT_DEVICE);
    gyre_status status = GYRE_OK;

    if (!actor->state)
        status = memory->take(memory, gyre_actor_state_bytes(actor), 256, &actor->state);
    if (status == GYRE_OK && actor->first_state)
        return gyre_stream_copy(actor->stream, actor->state, actor->first_state,
                                actor->behaviour->state_bytes);
    if (status == GYRE_OK) {
        const gyre_fill fill = {
            .to = actor->state, .pattern_size = 1, .count = gyre_actor_state_bytes(actor)};

        status = gyre_stream_fill(actor->stream, &fill);
    }
    return status;
}

static gyre_status start(gyre_actor *actor, bool fresh)
{
    parameters values = {.mailbox = actor->mailbox, .shape = actor->shape};
    const gyre_launch launch = {.grid = {actor->shape.seats},
                                .block = {block_threads(actor)},
                                .shared_bytes = shared_bytes(actor),
                                .parameters = &values,
                                .parameters_size = sizeof values};
    gyre_status status = fresh ? send_state(actor) : GYRE_OK;

    if (status == GYRE_OK && fresh)
        status = gyre_stream_sync(actor->stream); /* the state is the caller's until then */
    if (status != GYRE_OK)
        return status;
    values.state = actor->state;
    gyre_actor_time_ask(actor);
    return gyre_stream_launch(actor->stream, actor->kernel, &launch);
}

static gyre_status look(gyre_actor *actor)
{
    return gyre_stream_poll(actor->stream);
}

/* The kernel took nothing that it does not give back itself. */
static void finish(gyre_actor *actor)
{
    (void)actor;
}

/* A kernel that goes on cannot be stopped: its context is lost, with the stream and the memory, and
 * whatever would wait for the device does not any more. */
static void leave(gyre_actor *actor)
{
    const gyre_status status = gyre_stream_poll(actor->stream);

    if (status != GYRE_AGAIN) {
        gyre_resident_remove(&actor->resident);
        actor->hung = status != GYRE_OK;
        return;
    }
    actor->hung = true;
    gyre_resident_hang(&actor->resident);
    if (gyre_fail(GYRE_DEVICE_LOST, "%s", actor->fault.text) != GYRE_OK)
        gyre_context_lose(actor->context, GYRE_LOSS_HUNG);
}

static gyre_status read_state(gyre_actor *actor, void *into, size_t size)
{
    gyre_status status = GYRE_OK;

    if (gyre_device_has(gyre_context_device(actor->context), GYRE_FEATURE_HOST_REACH)) {
        memcpy(into, actor->state, size);
        return GYRE_OK;
    }
    status = gyre_stream_copy(actor->copies, into, actor->state, size);
    return status == GYRE_OK ? gyre_stream_sync(actor->copies) : status;
}

static void destroy(gyre_actor *actor)
{
    const gyre_memory *const memory = gyre_context_memory(actor->context, GYRE_CONTEXT_DEVICE);

    gyre_resident_forget(&actor->resident);
    gyre_stream_destroy(actor->copies);
    gyre_stream_destroy(actor->stream);
    if (actor->state)
        memory->give(memory, actor->state, gyre_actor_state_bytes(actor), 256);
    gyre_kernel_release(actor->kernel);
}

const gyre_residence gyre_residence_kernel = {
    .prepare = prepare,
    .plan = plan,
    .tries = is_cuda,
    .start = start,
    .look = look,
    .finish = finish,
    .leave = leave,
    .read_state = read_state,
    .destroy = destroy,
};
