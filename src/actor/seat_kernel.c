/* SPDX-License-Identifier: Apache-2.0
 *
 * seat_kernel: seats that are the blocks of a kernel that does not end.
 */
#include "actor/actor.h"
#include "base/fail.h"

static gyre_status prepare(gyre_actor *actor)
{
    return gyre_fail(GYRE_UNSUPPORTED, "%s has no actors",
                     gyre_context_device(actor->context)->name);
}

static gyre_status plan(gyre_actor *actor, const gyre_actor_launch_options *options)
{
    (void)options;
    return prepare(actor);
}

static gyre_status start(gyre_actor *actor, bool fresh)
{
    (void)fresh;
    return prepare(actor);
}

static void nothing(gyre_actor *actor)
{
    (void)actor;
}

static gyre_status read_state(gyre_actor *actor, void *into, size_t size)
{
    (void)into;
    (void)size;
    return prepare(actor);
}

const gyre_residence gyre_residence_kernel = {
    .prepare = prepare,
    .plan = plan,
    .start = start,
    .look = prepare,
    .finish = nothing,
    .leave = nothing,
    .read_state = read_state,
    .destroy = nothing,
};
