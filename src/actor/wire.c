/* SPDX-License-Identifier: Apache-2.0
 *
 * wire: see wire.h.
 */
#include "actor/wire.h"

#include <sched.h>
#include <time.h>

#include "actor/away.h"
#include "actor/lookout.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "base/wait.h"
#include "gyre/clock.h"

enum {
    CLOCK_EVERY = 32,        /* polls between two looks at the clock */
    LOOK_AFTER_NS = 200000,  /* a wait that takes longer asks how the actor is, */
    LOOK_EVERY_NS = 5000000, /* and again */
    YIELD_AFTER_NS = 20000,  /* lets others have the CPU between looks, */
    NAP_AFTER_NS = 1000000,  /* and sleeps between looks, */
    NAP_NS = 50000,          /* that long */
    CHOICES = 4,             /* seats among which a message picks its own */
    LOOK = 16,               /* messages that it gives a seat before it looks how far that is */
};

/* At the deadline: nothing will come of one that has ended, and then there is a reason. */
static gyre_status give_up(gyre_port *port)
{
    const gyre_status status = gyre_actor_why_ended(port->actor);

    return status == GYRE_OK ? GYRE_TIMEOUT : status;
}

/* How the actor is; that it has ended is known also while somebody holds its lock. */
static gyre_status look(gyre_port *port)
{
    const gyre_status status = gyre_actor_look(port->actor);

    return status == GYRE_OK ? gyre_actor_why_ended(port->actor) : status;
}

const gyre_brief *gyre_wire_time(const gyre_port *port, gyre_wire *w, const gyre_brief *message,
                                 gyre_brief *timed)
{
    *timed = *message;
    timed->body.reference.deadline_ns =
        gyre_actor_deadline(port->actor, w->seat, message->body.reference.deadline_ns);
    w->timed = true;
    return timed;
}

/* For seats that go by the host's time, while somebody waits for them. */
static void tell_time(gyre_port *port, uint64_t now_ns)
{
    for (uint32_t i = 0; i < port->wires; i++)
        if (port->wire[i].timed)
            gyre_mailbox_store64(&port->wire[i].seat->control.host.time, now_ns);
}

/* One more look was in vain: whether it is time for more than another, and what time it is. */
GYRE_INLINE bool is_time(gyre_waiting *w, uint64_t *out_now_ns)
{
    if (++w->polls % CLOCK_EVERY != 0) {
        gyre_relax();
        return false;
    }
    *out_now_ns = gyre_clock_now_ns();
    if (w->since_ns == 0)
        w->since_ns = w->looked_ns = *out_now_ns;
    return true;
}

static bool is_look_due(const gyre_waiting *w, uint64_t now_ns)
{
    return now_ns - w->since_ns > LOOK_AFTER_NS &&
           (w->looked_ns == w->since_ns || now_ns - w->looked_ns > LOOK_EVERY_NS);
}

/* What is to be done for a port at that time. */
static gyre_status attend(gyre_port *port, const gyre_waiting *w, uint64_t now_ns)
{
    tell_time(port, now_ns);
    if (now_ns >= w->deadline_ns)
        return give_up(port);
    return is_look_due(w, now_ns) ? look(port) : GYRE_OK;
}

/* After all ports. */
static void go_on(gyre_waiting *w, uint64_t now_ns)
{
    if (is_look_due(w, now_ns))
        w->looked_ns = now_ns;
    if (now_ns - w->since_ns > NAP_AFTER_NS) {
        w->polls |= CLOCK_EVERY - 1; /* and the clock after each */
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    } else if (now_ns - w->since_ns > YIELD_AFTER_NS) {
        sched_yield(); /* a seat that is a thread may be waiting for this CPU */
    }
}

gyre_status gyre_port_wait_on(gyre_port *port, gyre_waiting *w)
{
    gyre_status status;
    uint64_t now_ns;

    if (!is_time(w, &now_ns))
        return GYRE_OK;
    status = attend(port, w, now_ns);
    if (status == GYRE_OK)
        go_on(w, now_ns);
    return status;
}

gyre_status gyre_ports_wait_on(gyre_port *const *ports, size_t count, gyre_waiting *w,
                               size_t *out_index)
{
    gyre_status status = GYRE_OK;
    uint64_t now_ns;

    *out_index = 0;
    if (!is_time(w, &now_ns))
        return GYRE_OK;
    for (size_t i = 0; i < count && (status == GYRE_OK || status == GYRE_TIMEOUT); i++) {
        const gyre_status here =
            gyre_port_due(ports[i]) > 0 ? attend(ports[i], w, now_ns) : GYRE_OK;

        if (here == GYRE_OK)
            continue;
        status = here;
        *out_index = here == GYRE_TIMEOUT ? 0 : i;
    }
    if (status == GYRE_OK)
        go_on(w, now_ns);
    return status;
}

gyre_status gyre_port_refuse(gyre_port *port, uint32_t status)
{
    if (status == GYRE_ACTOR_DRAINING)
        return gyre_fail(GYRE_CLOSED, "actor '%s' is ending", port->actor->name);
    if (status == GYRE_ACTOR_AWAY)
        return gyre_actor_recall(port->actor);
    return gyre_actor_why_ended(port->actor);
}

gyre_status gyre_wire_prepare(const gyre_port *port, gyre_wire *w)
{
    void *memory = NULL;
    const gyre_status status =
        w->aside ? GYRE_OK : gyre_alloc(NULL, (size_t)port->mask + 1, sizeof *w->aside, &memory);

    if (memory)
        w->aside = memory;
    return status;
}

/* Puts the answer to the oldest call aside, if it has come and its place is needed: not when as
 * many are due as may be, since then the caller has to receive first. */
static bool put_aside(const gyre_port *port, gyre_wire *w, const gyre_booking *e)
{
    gyre_port_answer *const to = &w->aside[(w->aside_first + w->aside_count) & port->mask];

    if (w->called - w->oldest <= port->mask || w->asked > port->mask ||
        !gyre_wire_read(port, gyre_wire_slot(port, w->replies, w->oldest),
                        gyre_ring_stamp(w->oldest, port->salt), &to->brief))
        return false;
    to->cookie = e->cookie;
    w->aside_count++;
    return true;
}

/* Calls that are over at the old end of the books are forgotten. */
static void settle(gyre_port *port, gyre_wire *w)
{
    const uint32_t aside = w->aside_count;
    gyre_brief ignored;

    while (w->oldest != w->called) {
        gyre_booking *const e = &w->entries[w->oldest & port->mask];

        if (e->state == GYRE_BOOKING_ABANDONED &&
            gyre_wire_read(port, gyre_wire_slot(port, w->replies, w->oldest),
                           gyre_ring_stamp(w->oldest, port->salt), &ignored))
            e->state = GYRE_BOOKING_DONE;
        if (e->state == GYRE_BOOKING_ASKED && put_aside(port, w, e))
            e->state = GYRE_BOOKING_DONE;
        if (e->errand && gyre_wire_has_passed(w, e->errand - 1U))
            e->errand = 0;
        if (e->state != GYRE_BOOKING_DONE || e->errand)
            break;
        w->oldest++;
    }
    if ((int32_t)(w->receive - w->oldest) < 0)
        w->receive = w->oldest;
    if (w->aside_count != aside && port->post)
        gyre_lookout_note(port); /* its slot will be another's */
}

bool gyre_wire_bell_is_due(const gyre_port *port, gyre_wire *w)
{
    gyre_brief ignored;

    if (w->bell_due &&
        gyre_wire_read(port, w->answer,
                       gyre_ring_stamp(2 * (uint64_t)gyre_wire_own(&w->rung) + 1, port->salt),
                       &ignored))
        w->bell_due = false;
    return w->bell_due;
}

void gyre_wire_learn(gyre_port *port, gyre_wire *w)
{
    /* acquire [actor-heads]: what those messages did can be seen */
    const uint32_t told = gyre_mailbox_acquire(&w->seat->heads[port->index]);
    const uint32_t tail = gyre_wire_own(&w->tail);

    settle(port, w);
    /* a head beyond the tail would be somebody else's writing */
    if (tail - told <= tail - w->head)
        w->head = told;
    if (w->one_ways && (int32_t)(w->head - w->one_way) >= 0)
        w->one_ways = false;
    if (!w->one_ways) {
        /* what is not known to be read are calls, and nothing else */
        const uint32_t by_calls = tail - (w->called - w->oldest);

        if ((int32_t)(by_calls - w->head) > 0)
            w->head = by_calls;
    }
}

gyre_wire *gyre_port_choose_of_crew(gyre_port *port)
{
    gyre_wire *best = &port->wire[port->next];
    const uint32_t choices = port->wires < CHOICES ? port->wires : CHOICES;

    assert(port->wires > 0);
    for (uint32_t i = 0; i < choices; i++) {
        gyre_wire *const w = &port->wire[(port->next + i) % port->wires];

        if ((gyre_wire_own(&w->tail) - w->head) % LOOK == LOOK - 1 || gyre_wire_room(port, w) == 0)
            gyre_wire_learn(port, w);
        if (gyre_wire_own(&w->tail) - w->head < gyre_wire_own(&best->tail) - best->head)
            best = w;
    }
    port->next = ((uint32_t)(best - port->wire) + 1) % port->wires;
    return best;
}

/* NULL: neither that wire has room nor one of the next few. */
static gyre_wire *find_room(gyre_port *port, gyre_wire *w, bool call)
{
    const uint32_t others = port->wires == 1 ? 0 : port->wires < CHOICES ? port->wires : CHOICES;

    for (uint32_t i = 0;; i++) {
        gyre_wire_learn(port, w);
        if (gyre_wire_has_room(port, w, call))
            return w;
        if (i == others)
            return NULL;
        w = &port->wire[port->next];
        port->next = (port->next + 1) % port->wires;
    }
}

gyre_status gyre_wire_await_room(gyre_port *port, gyre_wire **inout_wire, bool call,
                                 uint64_t deadline_ns)
{
    gyre_waiting wait = {.deadline_ns = deadline_ns};

    for (;;) {
        gyre_wire *const found = find_room(port, *inout_wire, call);
        gyre_status status;

        if (found) {
            *inout_wire = found;
            return GYRE_OK;
        }
        if (port->rejects || (call && (*inout_wire)->asked > port->mask))
            return GYRE_AGAIN; /* in the second case the caller has to receive first */
        status = gyre_port_wait_on(port, &wait);
        if (status != GYRE_OK)
            return status;
    }
}
