/* SPDX-License-Identifier: Apache-2.0
 *
 * port: what a port is made of, a wire to each seat, and what it does as a whole: whether messages
 * make sense, which seat gets the next, and waiting. See gyre/port.h for the contract.
 *
 * Threads   one for a port; others read what is atomic. Edges: [port-sent] with actor/order.c,
 *           [actor-errand] with who ends the actor.
 * Owns      its wires, and their books.
 * Not here  what goes over a wire (actor/wire.h).
 */
#ifndef GYRE_ACTOR_PORT_H
#define GYRE_ACTOR_PORT_H

#include <assert.h>
#include <stdatomic.h>

#include "actor/actor.h"
#include "actor/pace.h"
#include "base/process.h"

typedef struct gyre_post gyre_post;

enum { GYRE_PORT_SHARE = 32 }; /* messages that one of a crew gets of many */

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

/* What a port has with one seat. */
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
    uint32_t asked;        /* calls to be received, `capacity` at most */
    gyre_pace pace;        /* of bells */
    bool bell_due;         /* the last bell was given up before it was answered */
    bool timed;            /* messages with deadlines were sent */
    uint32_t *passed;      /* words of the errands */
    _Atomic uint32_t tail; /* requests sent [port-sent] */
    _Atomic uint32_t rung; /* bells rung [port-sent] */
    gyre_errand errand[GYRE_MAILBOX_ERRANDS];
    /* Answers whose places in the books others needed: the first of those to be received. */
    gyre_port_answer *aside; /* owned; `capacity` of them; NULL: nothing was asked */
    uint32_t aside_first, aside_count;
} gyre_wire;

struct gyre_port {
    gyre_actor *actor;
    gyre_post *post; /* owned; NULL: it has no descriptor (actor/lookout.h) */
    uint32_t index, wires, mask, salt;
    uint32_t replicas;
    uint32_t eager; /* looks at the answer to a bell without a pause between them */
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

/* One more look was in vain. GYRE_OK: look again. */
GYRE_MUST_USE gyre_status gyre_port_wait_on(gyre_port *port, gyre_waiting *w);

/* The same for all ports that have answers due: one that sees less of its actor than the others
 * does not find out that it hangs. With another status than GYRE_OK and GYRE_TIMEOUT, *out_index is
 * whose it is; 0 otherwise. */
GYRE_MUST_USE gyre_status gyre_ports_wait_on(gyre_port *const *ports, size_t count, gyre_waiting *w,
                                             size_t *out_index);

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
    return count >= (size_t)2 * GYRE_PORT_SHARE * port->wires ? GYRE_PORT_SHARE : 1;
}

#endif
