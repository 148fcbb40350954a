/* SPDX-License-Identifier: Apache-2.0
 *
 * deadline: when a message is late, for seats that do not read the host's clock.
 *
 * A deadline is stated on the host's clock (gyre/clock.h). Threads of the host compare with that.
 * A GPU of NVIDIA has a clock of its own, which begins elsewhere and runs at its own rate. It
 * tells its time when it comes to life and when it has carried out an order, which was after the
 * host began it or gave the order: so device time less the host's time before is as far as the two
 * clocks are apart, or more by what the way took, and a message is never late too soon. Clocks
 * part, so once a second, if there are deadlines, the last order is given again, which changes
 * nothing but that its time is told. OpenCL 1.2 has no clock: such a seat goes by the time that the
 * host wrote last, at an order, with a message that has a deadline, and while it waits for one.
 *
 * Threads   any. Edge: [actor-order] with the seat.
 * Owns      nothing.
 */
#include "actor/order.h"
#include "gyre/clock.h"

#define AGAIN_NS UINT64_C(1000000000)

void gyre_actor_time_ask(gyre_actor *actor)
{
    actor->time_order = actor->order;
    /* relaxed: for the thread that learns, under the lock or not, any of the last is as good */
    atomic_store_explicit(&actor->time_asked_ns, gyre_clock_now_ns(), memory_order_relaxed);
}

void gyre_actor_time_learn(gyre_actor *actor)
{
    const gyre_abi_u64 told = gyre_mailbox_load64(&gyre_actor_seat(actor, 0)->control.device.time);
    const uint64_t asked_ns = atomic_load_explicit(&actor->time_asked_ns, memory_order_relaxed);

    if (told == 0)
        return; /* it has no clock of its own */
    /* relaxed: a number by itself */
    atomic_store_explicit(&actor->time_apart, told - asked_ns, memory_order_relaxed);
    atomic_store_explicit(&actor->time_known_ns, asked_ns, memory_order_relaxed);
}

/* The lock is held: asks, or learns what was asked. */
static void keep_time(gyre_actor *actor, uint64_t known_ns)
{
    /* acquire [actor-order]: the time was told before */
    const uint32_t done = gyre_mailbox_acquire(&gyre_actor_seat(actor, 0)->control.device.order);

    if (atomic_load_explicit(&actor->time_asked_ns, memory_order_relaxed) != known_ns) {
        if ((int32_t)(done - actor->time_order) >= 0)
            gyre_actor_time_learn(actor);
        return;
    }
    if (gyre_actor_state(actor) != GYRE_ACTOR_ACTIVE || actor->ending)
        return;
    actor->order++;
    gyre_actor_time_ask(actor);
    for (uint32_t i = 0; i < actor->shape.seats; i++)
        /* release [actor-order]: the words and gates are those of the order before */
        gyre_mailbox_release(&gyre_actor_seat(actor, i)->control.host.order, actor->order);
}

uint64_t gyre_actor_deadline(gyre_actor *actor, gyre_seat *seat, uint64_t deadline_ns)
{
    const uint64_t now_ns = gyre_clock_now_ns();
    const uint64_t known_ns = atomic_load_explicit(&actor->time_known_ns, memory_order_relaxed);
    uint64_t apart;

    gyre_mailbox_store64(&seat->control.host.time, now_ns);
    if (known_ns == 0)
        return deadline_ns;
    if (now_ns - known_ns > AGAIN_NS && gyre_latch_try(&actor->lock)) {
        keep_time(actor, known_ns);
        gyre_actor_release(actor);
    }
    apart = atomic_load_explicit(&actor->time_apart, memory_order_relaxed);
    /* the device's clock may be behind the host's: then `apart` is a negative number, and only a
     * deadline that is long past falls below 0 */
    if ((int64_t)apart < 0)
        return deadline_ns < 0 - apart     ? 0
               : deadline_ns == GYRE_NEVER ? GYRE_NEVER
                                           : deadline_ns + apart;
    return deadline_ns > GYRE_NEVER - apart ? GYRE_NEVER : deadline_ns + apart;
}
