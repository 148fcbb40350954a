/* SPDX-License-Identifier: Apache-2.0
 *
 * image: see image.h.
 *
 * The version is in the kernels' names: the driver finds them or does not. Width and size of the
 * state are written down by a kernel of one thread, which is run once: a seat of another width
 * would wait for lanes that are not there, and one with a larger state write beyond it.
 */
#include "actor/image.h"

#include "base/fail.h"

typedef struct parameters {
    gyre_mailbox_about *about;
} parameters;

static gyre_status ask(gyre_actor *actor, gyre_kernel *kernel, gyre_mailbox_about *about)
{
    const parameters values = {about};
    const gyre_launch launch = {
        .grid = {1}, .block = {1}, .parameters = &values, .parameters_size = sizeof values};
    gyre_status status = gyre_stream_launch(actor->copies, kernel, &launch);

    return status == GYRE_OK ? gyre_stream_sync(actor->copies) : status;
}

static gyre_status compare(const gyre_behaviour *behaviour, const gyre_mailbox_about *about)
{
    if (about->width == behaviour->width && about->state_bytes == behaviour->state_bytes)
        return GYRE_OK;
    return gyre_fail(GYRE_INVALID,
                     "behaviour '%s': its image is of one with width %llu and a state of %llu "
                     "bytes, and not %u and %zu; make it of this one's text",
                     behaviour->name, (unsigned long long)about->width,
                     (unsigned long long)about->state_bytes, behaviour->width,
                     behaviour->state_bytes);
}

gyre_status gyre_image_check(gyre_actor *actor, const gyre_program *program)
{
    const gyre_memory *const memory = gyre_context_memory(actor->context, GYRE_CONTEXT_PINNED);
    const gyre_behaviour *const behaviour = actor->behaviour;
    const char *const name = GYRE_IMAGE_NAME(GYRE_MAILBOX_ABOUT);
    gyre_kernel *kernel;
    void *about = NULL;
    gyre_status status =
        gyre_kernel_create(actor->context, program, name, "pointer", NULL, &kernel);

    if (status == GYRE_NOT_FOUND)
        return gyre_fail(GYRE_NOT_FOUND,
                         "behaviour '%s': its image has no kernel '%s': it was made by another "
                         "version of Gyre, or is none of a behaviour; make it anew, of what "
                         "'gyre behaviour' prints",
                         behaviour->name, name);
    if (status == GYRE_OK)
        status = memory->take(memory, sizeof(gyre_mailbox_about), 64, &about);
    if (status == GYRE_OK)
        status = ask(actor, kernel, about);
    if (status == GYRE_OK)
        status = compare(behaviour, about);
    if (about)
        memory->give(memory, about, sizeof(gyre_mailbox_about), 64);
    gyre_kernel_release(kernel);
    return status;
}
