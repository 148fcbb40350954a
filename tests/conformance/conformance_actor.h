/* SPDX-License-Identifier: Apache-2.0
 *
 * conformance_actor: what the programs about actors share, as conformance.h does for all.
 */
#ifndef GYRE_CONFORMANCE_ACTOR_H
#define GYRE_CONFORMANCE_ACTOR_H

#include "conformance.h"
#include "gyre/actor.h"
#include "gyre/clock.h"
#include "gyre/port.h"

static bool no_actors;

static inline uint64_t soon(void)
{
    return gyre_clock_after_ns(20000 * MS);
}

/* An actor, launched, or NULL. */
static inline gyre_actor *actor_new(const gyre_behaviour *behaviour,
                                    const gyre_actor_launch_options *options)
{
    gyre_actor *actor;
    const gyre_status status = gyre_actor_create(on.context, behaviour, NULL, &actor);

    no_actors = status == GYRE_UNSUPPORTED;
    if (no_actors || !ok(status))
        return NULL;
    if (ok(gyre_actor_launch(actor, options)))
        return actor;
    gyre_actor_destroy(actor);
    return NULL;
}

static inline gyre_port *port_new(gyre_actor *actor)
{
    gyre_port *port;

    return actor && ok(gyre_port_open(actor, NULL, &port)) ? port : NULL;
}

#define NEED_ACTORS()                                                                              \
    do {                                                                                           \
        if (no_actors)                                                                             \
            SKIP("this device has no actors");                                                     \
    } while (0)

/* A flag for hanging() is taken before the launch: compute-sanitizer lets a kernel use only memory
 * that was there when it began. */
static inline uint32_t *flag_new(void)
{
    return take(GYRE_CONTEXT_PINNED, 64);
}

static inline void flag_give(uint32_t *flag)
{
    give(GYRE_CONTEXT_PINNED, flag, 64);
}

#define NEED_ACTORS_FOR(flag)                                                                      \
    do {                                                                                           \
        if (no_actors)                                                                             \
            flag_give(flag);                                                                       \
        NEED_ACTORS();                                                                             \
    } while (0)

static inline bool end(gyre_actor *actor, gyre_port *port)
{
    const bool good = ok(gyre_actor_terminate(actor, soon()));

    gyre_port_close(port);
    gyre_actor_destroy(actor);
    return good;
}

/* A message that is not handled before flag[0] is set; flag[1] says that it is in hand. */
static inline gyre_brief hanging(uint16_t type, uint32_t *flag)
{
    gyre_brief hang = {.type = type, .flags = GYRE_BRIEF_REFERS};

    __atomic_store_n(&flag[0], 0, __ATOMIC_RELAXED);
    __atomic_store_n(&flag[1], 0, __ATOMIC_RELAXED);
    hang.body.reference.address = flag;
    hang.body.reference.size = 2 * sizeof *flag;
    return hang;
}

#endif
