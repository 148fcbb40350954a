/* SPDX-License-Identifier: Apache-2.0
 *
 * wire: what goes between a port and one seat: by a ring there, a ring back, and a bell, with the
 * books of both.
 *
 * Calls are numbered, and the number is the slot of the answer; so an answer is found without
 * looking for it, and the books alone say how many may be under way. They begin with the oldest
 * call that is not over; so that one which nobody receives does not hold up the others, its answer
 * is put aside when they are full, and only one that has not come is waited for. What may be
 * written again in the ring there is known from two sides: the heads that the seat publishes, and
 * answers, each of which says that its request was read.
 *
 * Between seeing an answer and writing the next message there is no locked instruction: those cost
 * as much as the way to another core and back.
 *
 * Threads   one for a port; `tail` and `rung` are read by who gives orders. Edges: [ring-slot] with
 *           the seat, [port-sent] with actor/order.c, [actor-heads].
 * Owns      nothing: wires are their port's.
 * Not here  what a wire is made of, and which of them is taken (actor/port.h).
 */
#ifndef GYRE_ACTOR_WIRE_H
#define GYRE_ACTOR_WIRE_H

#include "actor/port.h"
#include "actor/slot.h"

enum { GYRE_WIRE_AHEAD = 8 }; /* slots that are sent for before they are written, or read */

GYRE_INLINE unsigned char *gyre_wire_slot(const gyre_port *port, unsigned char *ring,
                                          uint32_t sequence)
{
    return ring + (size_t)(sequence & port->mask) *
                      (port->wide ? sizeof(gyre_ring_wide_slot) : sizeof(gyre_ring_slot));
}

GYRE_INLINE bool gyre_wire_read(const gyre_port *port, const unsigned char *slot, uint32_t stamp,
                                gyre_brief *out_brief)
{
    return gyre_slot_read(slot, port->wide, stamp, out_brief) == GYRE_RING_READY;
}

/* What travels of the head that a caller gave. */
GYRE_INLINE uint64_t gyre_wire_head(const gyre_brief *message, uint32_t flags, uint32_t correlation)
{
    const uint32_t theirs = GYRE_BRIEF_REFERS | GYRE_BRIEF_READS | GYRE_BRIEF_DEADLINE;

    return gyre_slot_head(message, flags | (message->flags & theirs), correlation);
}

GYRE_INLINE bool gyre_wire_has_deadline(const gyre_brief *message)
{
    return __builtin_expect((message->flags & GYRE_BRIEF_DEADLINE) != 0, 0);
}

/* A message with its deadline by the clock of the seat that it goes to, in *timed. */
const gyre_brief *gyre_wire_time(const gyre_port *port, gyre_wire *w, const gyre_brief *message,
                                 gyre_brief *timed);

/* The thread's own counts, which others only read. */
GYRE_INLINE uint32_t gyre_wire_own(const _Atomic uint32_t *count)
{
    return atomic_load_explicit(count, memory_order_relaxed);
}

/* Whether the last bell was given up, and its answer has not come since. */
bool gyre_wire_bell_is_due(const gyre_port *port, gyre_wire *w);

/* Learns how much of the ring can be written again. */
void gyre_wire_learn(gyre_port *port, gyre_wire *w);

GYRE_INLINE uint32_t gyre_wire_room(const gyre_port *port, const gyre_wire *w)
{
    return port->mask + 1 - (gyre_wire_own(&w->tail) - w->head);
}

/* Whether a call can be sent at once: the ring has room, and so have the books, also for its answer
 * if that is not received soon. */
GYRE_INLINE bool gyre_wire_has_room_for_call(const gyre_port *port, const gyre_wire *w)
{
    return gyre_wire_room(port, w) > 0 && w->called - w->oldest <= port->mask &&
           w->asked <= port->mask;
}

/* Puts one message into the ring, which has room. */
GYRE_INLINE void gyre_wire_put(const gyre_port *port, gyre_wire *w, const gyre_brief *message,
                               uint32_t flags, uint32_t correlation)
{
    const uint32_t tail = gyre_wire_own(&w->tail);
    gyre_brief timed;

    if (gyre_wire_has_deadline(message))
        message = gyre_wire_time(port, w, message, &timed);
    gyre_slot_write(gyre_wire_slot(port, w->requests, tail), port->wide,
                    gyre_ring_stamp(tail, port->salt), gyre_wire_head(message, flags, correlation),
                    message);
    /* release [port-sent]: pairs with the acquire in gyre_port_sent */
    atomic_store_explicit(&w->tail, tail + 1, memory_order_release);
}

/* Puts many messages into the ring, which has room: calls numbered from `correlation` on, or not.
 */
GYRE_INLINE void gyre_wire_put_many(const gyre_port *port, gyre_wire *w, const gyre_brief *messages,
                                    size_t count, uint32_t flags, uint32_t correlation)
{
    /* in variables, since writing a slot orders memory: they would be loaded anew for each */
    const uint32_t mask = port->mask, salt = port->salt;
    const bool wide = port->wide;
    const size_t bytes = wide ? sizeof(gyre_ring_wide_slot) : sizeof(gyre_ring_slot);
    unsigned char *const requests = w->requests;
    uint32_t tail = gyre_wire_own(&w->tail);

    for (size_t i = 0; i < count; i++, tail++) {
        const gyre_brief *message = &messages[i];
        gyre_brief timed;

        __builtin_prefetch(requests + ((tail + GYRE_WIRE_AHEAD) & mask) * bytes, 1);
        if (gyre_wire_has_deadline(message))
            message = gyre_wire_time(port, w, message, &timed);
        gyre_slot_write_one(requests + (tail & mask) * bytes, wide, gyre_ring_stamp(tail, salt),
                            gyre_wire_head(message, flags, correlation + (uint32_t)i), message);
    }
    /* release [port-sent]: pairs with the acquire in gyre_port_sent */
    atomic_store_explicit(&w->tail, tail, memory_order_release);
}

/* A call's place in the books. */
GYRE_INLINE uint32_t gyre_wire_book(const gyre_port *port, gyre_wire *w, gyre_booking_state state,
                                    uint64_t cookie)
{
    const uint32_t number = w->called++;
    gyre_booking *const e = &w->entries[number & port->mask];

    e->cookie = cookie;
    e->state = (uint16_t)state;
    e->errand = 0;
    return number;
}

/* The same for a call that is to be received. */
GYRE_INLINE uint32_t gyre_wire_book_asked(const gyre_port *port, gyre_wire *w, uint64_t cookie)
{
    const uint32_t number = gyre_wire_book(port, w, GYRE_BOOKING_ASKED, cookie);

    /* there may have been any number of calls since the last: too many to compare */
    if (w->asked++ == w->aside_count)
        w->receive = number;
    return number;
}

/* The number of the call that is to be received next; one is, and its answer is not aside. */
GYRE_INLINE uint32_t gyre_wire_next_asked(const gyre_port *port, gyre_wire *w)
{
    if ((int32_t)(w->receive - w->oldest) < 0)
        w->receive = w->oldest;
    while (w->entries[w->receive & port->mask].state != GYRE_BOOKING_ASKED)
        w->receive++;
    return w->receive;
}

/* Where the next answer to be received will be. */
typedef struct gyre_sight {
    const unsigned char *slot; /* NULL: none is due, or it was put aside */
    uint32_t stamp;
    bool aside;
} gyre_sight;

GYRE_INLINE gyre_sight gyre_wire_sight(const gyre_port *port, gyre_wire *w)
{
    uint32_t number;

    if (w->asked == 0 || w->aside_count > 0)
        return (gyre_sight){.aside = w->aside_count > 0};
    number = gyre_wire_next_asked(port, w);
    return (gyre_sight){.slot = gyre_wire_slot(port, w->replies, number),
                        .stamp = gyre_ring_stamp(number, port->salt)};
}

/* Whether it is there. Any thread that has the sight. */
GYRE_INLINE bool gyre_sight_is_there(const gyre_port *port, const gyre_sight *sight)
{
    gyre_brief ignored;

    if (sight->aside)
        return true;
    return sight->slot && gyre_wire_read(port, sight->slot, sight->stamp, &ignored);
}

/* Whether a stream has gone on that waited for an answer. */
bool gyre_wire_has_passed(const gyre_wire *w, uint32_t errand);

/* Sends writes to write-combining memory on their way, which C's orders do not know. */
GYRE_INLINE void gyre_bells_push(void)
{
#if defined(__x86_64__)
    __asm__ volatile("sfence" ::: "memory");
#elif defined(__aarch64__)
    __asm__ volatile("dsb st" ::: "memory");
#endif
}

/* Before something is asked: a place for answers that are put aside. */
GYRE_MUST_USE gyre_status gyre_wire_prepare(const gyre_port *port, gyre_wire *w);

/* Whether one more message can be sent at once, or called. */
GYRE_INLINE bool gyre_wire_has_room(const gyre_port *port, const gyre_wire *w, bool call)
{
    return call ? gyre_wire_has_room_for_call(port, w) : gyre_wire_room(port, w) > 0;
}

/* Waits until there is: on that wire, or on any other of a crew, which it is then. */
GYRE_MUST_USE gyre_status gyre_wire_await_room(gyre_port *port, gyre_wire **inout_wire, bool call,
                                               uint64_t deadline_ns);

#endif
