/* SPDX-License-Identifier: Apache-2.0
 *
 * conformance_busy: for programs in which several threads want something of one actor, or a seat
 * is at a message for as long as the program likes.
 */
#ifndef GYRE_CONFORMANCE_BUSY_H
#define GYRE_CONFORMANCE_BUSY_H

#include <stdatomic.h>

#include "conformance_actor.h"
#include "gyre/thread.h"

#include "behaviours/waiter.c" /* NOLINT(bugprone-suspicious-include): its types as well */

/* What a user does on a thread of his own. */
typedef struct deed {
    gyre_status (*what)(gyre_actor *actor);
    gyre_actor *actor;
    gyre_status status;
    gyre_thread *thread;
    _Atomic bool done;
} deed;

static inline void do_it(void *arg)
{
    deed *const d = arg;

    d->status = d->what(d->actor);
    atomic_store(&d->done, true);
}

static inline bool begin(deed *d, gyre_actor *actor, gyre_status (*what)(gyre_actor *actor))
{
    d->actor = actor;
    d->what = what;
    atomic_store(&d->done, false);
    return ok(gyre_thread_start(do_it, d, NULL, &d->thread));
}

static inline bool is_well_done(deed *d)
{
    gyre_thread_stop(d->thread);
    return ok(d->status);
}

/* Those that wait would have done it by now. */
static inline bool waits(deed *d)
{
    sleep_ns(30 * MS);
    return !atomic_load(&d->done);
}

static inline gyre_status resume(gyre_actor *actor)
{
    return gyre_actor_resume(actor);
}

static inline gyre_status pause_it(gyre_actor *actor)
{
    return gyre_actor_pause(actor, soon());
}

static inline gyre_status park(gyre_actor *actor)
{
    return gyre_actor_park(actor, soon());
}

static inline gyre_status drain(gyre_actor *actor)
{
    return gyre_actor_drain(actor, soon());
}

static inline gyre_status launch(gyre_actor *actor)
{
    return gyre_actor_launch(actor, NULL);
}

/* One of the seats is at a message until flag[0] is set. */
static inline bool hang_one(gyre_port *port, uint32_t *flag)
{
    const gyre_brief hang = hanging(WAITER_HANG, flag);
    const uint64_t until = soon();

    if (!port || !ok(gyre_port_send(port, &hang, soon())))
        return false;
    while (!__atomic_load_n(&flag[1], __ATOMIC_ACQUIRE) && gyre_clock_now_ns() < until)
        sleep_ns(MS);
    return __atomic_load_n(&flag[1], __ATOMIC_ACQUIRE) == 1;
}

static inline void let_go(uint32_t *flag)
{
    __atomic_store_n(&flag[0], 1, __ATOMIC_RELEASE);
}

static inline uint64_t shortly(void)
{
    return gyre_clock_after_ns(50 * MS);
}

#endif
