/* SPDX-License-Identifier: Apache-2.0
 *
 * warps: how the threads of a block are shared out. Only CUDA has warps; but what it must refuse is
 * refused everywhere, so that who tries an actor on a CPU learns it there.
 *
 * Threads   any, by the lock of the actor.
 * Owns      nothing.
 */
#include "actor/actor.h"
#include "base/fail.h"

enum {
    WARP = 32,
    THREADS_MOST = 1024,
    BLOCK_LANES = 256, /* of GYRE_WIDTH_BLOCK, by default */
    READERS = 16,      /* warps that read for GYRE_WIDTH_BLOCK */
};

uint32_t gyre_actor_other_warps(const gyre_actor *actor)
{
    return actor->behaviour->width == GYRE_WIDTH_BLOCK ? actor->shape.lanes / WARP + 2 : 1;
}

/* Each port has as many readers as the others, and at least one: so many threads may be asked for,
 * at least or at most. */
static gyre_status refuse(const gyre_actor *actor)
{
    const uint32_t threads = actor->launched.threads, ports = actor->shape.ports;

    if (actor->behaviour->width == GYRE_WIDTH_BLOCK)
        return gyre_fail(GYRE_INVALID,
                         "actor '%s': %u threads that handle a message leave none of a block to "
                         "read %u ports; %u at most",
                         actor->name, threads, ports, THREADS_MOST - (2 + ports) * WARP);
    return gyre_fail(GYRE_INVALID,
                     "actor '%s': a block of %u threads has none to read %u ports; %u at least",
                     actor->name, threads, ports, (1 + ports) * WARP);
}

gyre_status gyre_actor_plan_warps(gyre_actor *actor)
{
    gyre_mailbox_shape *const shape = &actor->shape;
    const bool is_block = actor->behaviour->width == GYRE_WIDTH_BLOCK;
    const uint32_t threads = actor->launched.threads;
    uint32_t warps, others;

    if (threads % WARP != 0 || threads > THREADS_MOST)
        return gyre_fail(GYRE_INVALID, "actor '%s': %u threads; multiples of %d up to %d",
                         actor->name, threads, WARP, THREADS_MOST);
    shape->lanes = !is_block ? actor->behaviour->width : threads ? threads : BLOCK_LANES;
    warps = is_block ? THREADS_MOST / WARP : (threads ? threads : THREADS_MOST) / WARP;
    others = gyre_actor_other_warps(actor);
    actor->readers = warps > others ? warps - others : 0;
    if (is_block && actor->readers > READERS)
        actor->readers = READERS;
    actor->readers = actor->readers / shape->ports * shape->ports;
    return actor->readers ? GYRE_OK : refuse(actor);
}
