/* SPDX-License-Identifier: Apache-2.0
 *
 * wire: what a port has with one seat: a ring there, a ring back, a bell, and the books of both.
 *
 * Calls are numbered, and the number is the slot of the answer; so an answer is found without
 * looking for it, and the books alone say how many may be under way. What may be written again in
 * the ring there is known from two sides: the heads that the seat publishes, and answers, each of
 * which says that its request was read.
 *
 * Between seeing an answer and writing the next message there is no locked instruction: those cost
 * as much as the way to another core and back.
 *
 * Threads   one for a port; `tail` and `rung` are read by who gives orders. Edges: [ring-slot] with
 *           the seat, [port-sent] with actor/order.c, [actor-heads].
 * Owns      nothing: wires are their port's.
 */
#ifndef GYRE_ACTOR_WIRE_H
#define GYRE_ACTOR_WIRE_H

#include <assert.h>
#include <stdatomic.h>

#include "actor/actor.h"
#include "actor/pace.h"
#include "actor/slot.h"
#include "base/process.h"

enum {
    GYRE_WIRE_AHEAD = 8,  /* slots that are sent for before they are written, or read */
    GYRE_WIRE_SHARE = 32, /* messages that one of a crew gets of many */
};

/* In row 0 of a seat: words of streams that wait, which no device reads. */
enum {
    GYRE_MAILBOX_ERRANDS = 16,  /* streams that wait for answers of a seat to a port, at once */
    GYRE_MAILBOX_PASSED = 3072, /* where their words are, behind the answers to bells */
};

typedef enum gyre_booking_state {
    GYRE_BOOKING_DONE = 0,  /* or never used */
    GYRE_BOOKING_CALLED,    /* somebody waits for this one */
    GYRE_BOOKING_ASKED,     /* to be received */
    GYRE_BOOKING_ABANDONED, /* nobody wants it any more */
} gyre_booking_state;

/* A call, by its number modulo the capacity. */
typedef struct gyre_booking {
    uint64_t cookie;
    uint16_t state;  /* gyre_booking_state */
    uint16_t errand; /* + 1: a stream waits for the answer, which stays until it has gone on */
} gyre_booking;

/* The last stream that was to wait for an answer: its turn, and below it the number of the call. It
 * is over when the word in the mailbox is the turn. Written by the port, read by who ends the
 * actor [actor-errand]. */
typedef _Atomic uint64_t gyre_errand;

typedef struct gyre_wire {
    unsigned char *requests, *replies, *bell, *answer;
    gyre_seat *seat;
    gyre_booking *entries; /* owned */
    uint32_t head;         /* requests that are known to be read */
    uint32_t one_way;      /* behind the last request without an answer, */
    bool one_ways;         /* as long as that is not known to be read */
    uint32_t called;       /* the next call's number */
    uint32_t oldest;       /* call that is not over */
    uint32_t receive;      /* call to be received next, or before one that is */
    uint32_t asked;        /* calls to be received */
    gyre_pace pace;        /* of bells */
    bool bell_due;         /* the last bell was given up before it was answered */
    bool timed;            /* messages with deadlines were sent */
    uint32_t *passed;      /* words of the errands */
    _Atomic uint32_t tail; /* requests sent [port-sent] */
    _Atomic uint32_t rung; /* bells rung [port-sent] */
    gyre_errand errand[GYRE_MAILBOX_ERRANDS];
} gyre_wire;

typedef struct gyre_post gyre_post;

struct gyre_port {
    gyre_actor *actor;
    gyre_post *post; /* owned; NULL: it has no descriptor (actor/lookout.h) */
    uint32_t index, wires, mask, salt;
    uint32_t replicas;
    bool wide;
    bool combines; /* bells are written to memory that keeps writes back until a fence */
    bool rejects;
    _Atomic bool open;
    uint32_t next;       /* seat to begin with */
    uint32_t next_heard; /* seat whose answers are looked at first */
    gyre_wire wire[];
};

/* A wait, from its first vain look on. */
typedef struct gyre_waiting {
    uint64_t deadline_ns;
    uint64_t since_ns, looked_ns;
    uint32_t polls;
} gyre_waiting;

GYRE_INLINE unsigned char *gyre_wire_slot(const gyre_port *port, unsigned char *ring,
                                          uint32_t sequence)
{
    return ring + (size_t)(sequence & port->mask) * (port->wide ? 128 : 64);
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

/* One more look was in vain. GYRE_OK: look again. */
GYRE_MUST_USE gyre_status gyre_port_wait_on(gyre_port *port, gyre_waiting *w);

/* Why messages make no sense any more; one that is away is called back, and they do. */
GYRE_MUST_USE gyre_status gyre_port_refuse(gyre_port *port, uint32_t status);

/* Whether messages make sense at all. */
GYRE_INLINE gyre_status gyre_port_check(gyre_port *port)
{
    const uint32_t status = atomic_load_explicit(&port->actor->status, memory_order_relaxed);
    const gyre_status forked = gyre_process_check();

    if (__builtin_expect(forked != GYRE_OK, 0))
        return forked;
    return __builtin_expect(status < GYRE_ACTOR_DRAINING, 1) ? GYRE_OK
                                                             : gyre_port_refuse(port, status);
}

/* Whether the last bell was given up, and its answer has not come since. */
bool gyre_wire_bell_is_due(const gyre_port *port, gyre_wire *w);

/* Learns how much of the ring can be written again. */
void gyre_wire_learn(const gyre_port *port, gyre_wire *w);

GYRE_INLINE uint32_t gyre_wire_room(const gyre_port *port, const gyre_wire *w)
{
    return port->mask + 1 - (gyre_wire_own(&w->tail) - w->head);
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
    uint32_t tail = gyre_wire_own(&w->tail);

    for (size_t i = 0; i < count; i++, tail++) {
        const gyre_brief *message = &messages[i];
        gyre_brief timed;

        __builtin_prefetch(gyre_wire_slot(port, w->requests, tail + GYRE_WIRE_AHEAD), 1);
        if (gyre_wire_has_deadline(message))
            message = gyre_wire_time(port, w, message, &timed);
        gyre_slot_write_one(gyre_wire_slot(port, w->requests, tail), port->wide,
                            gyre_ring_stamp(tail, port->salt),
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

/* The number of the call that is to be received next; there is one. */
GYRE_INLINE uint32_t gyre_wire_next_asked(const gyre_port *port, gyre_wire *w)
{
    if ((int32_t)(w->receive - w->oldest) < 0)
        w->receive = w->oldest;
    while (w->entries[w->receive & port->mask].state != GYRE_BOOKING_ASKED)
        w->receive++;
    return w->receive;
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

/* The seat that has least to do, of the next few. */
gyre_wire *gyre_port_choose_of_crew(gyre_port *port);

GYRE_INLINE gyre_wire *gyre_port_choose(gyre_port *port)
{
    assert(port->wires > 0);
    return port->wires > 1 ? gyre_port_choose_of_crew(port) : &port->wire[0];
}

/* How many of so many messages a seat gets before the next one does: one, so that all have
 * something to do; of very many some that lie together, which is less work for both sides. */
GYRE_INLINE size_t gyre_port_share(const gyre_port *port, size_t count)
{
    if (port->wires == 1)
        return SIZE_MAX;
    return count >= (size_t)2 * GYRE_WIRE_SHARE * port->wires ? GYRE_WIRE_SHARE : 1;
}

/* Waits until the ring has room, and the books if it is to be answered. */
GYRE_MUST_USE gyre_status gyre_wire_await_room(gyre_port *port, gyre_wire *w, bool call,
                                               uint64_t deadline_ns);

#endif
