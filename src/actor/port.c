/* SPDX-License-Identifier: Apache-2.0
 *
 * port: sending, calling and receiving.
 *
 * A wire is what a port has with one seat: a ring there, a ring back, a bell, and the books of
 * both. Calls are numbered, and the number is the slot of the answer; so an answer is found without
 * looking for it, and the books alone say how many may be under way. What may be written again in
 * the ring there is known from two sides: the heads that the seat publishes, and answers, each of
 * which says that its request was read.
 *
 * Between seeing an answer and writing the next message there is no locked instruction: those cost
 * as much as the way to another core and back.
 *
 * Threads   one for a port; `tail` and `rung` are read by who gives orders. Edges: [ring-slot] with
 *           the seat, [port-sent] with actor/actor.c, [actor-heads].
 * Owns      the wires and their books.
 * Not here  what a seat does with it (actor/loop_single.h, actor/loop_cuda.h).
 */
#include "gyre/port.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "actor/actor.h"
#include "actor/pace.h"
#include "actor/slot.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "base/options.h"
#include "base/process.h"
#include "base/wait.h"
#include "gyre/clock.h"

enum {
    CLOCK_EVERY = 32,        /* polls between two looks at the clock */
    LOOK_AFTER_NS = 200000,  /* a wait that takes longer asks how the actor is, */
    LOOK_EVERY_NS = 5000000, /* and again */
    NAP_AFTER_NS = 1000000,  /* and sleeps between looks, */
    NAP_NS = 50000,          /* that long */
    CHOICES = 4,             /* seats among which a message picks its own */
};

typedef enum entry_state {
    ENTRY_DONE = 0,  /* or never used */
    ENTRY_CALLED,    /* somebody waits for this one */
    ENTRY_ASKED,     /* to be received */
    ENTRY_ABANDONED, /* nobody wants it any more */
} entry_state;

/* A call, by its number modulo the capacity. */
typedef struct entry {
    uint64_t cookie;
    uint32_t sequence; /* of its request */
    uint32_t state;    /* entry_state */
} entry;

typedef struct wire {
    unsigned char *requests, *replies, *bell, *answer;
    gyre_seat *seat;
    entry *entries;        /* owned */
    uint32_t head;         /* requests that are known to be read */
    uint32_t one_way;      /* behind the last request without an answer, */
    bool one_ways;         /* as long as that is not known to be read */
    uint32_t called;       /* the next call's number */
    uint32_t oldest;       /* call that is not over */
    uint32_t receive;      /* call to be received next, or before one that is */
    uint32_t asked;        /* calls to be received */
    gyre_pace pace;        /* of bells */
    bool bell_due;         /* the last bell was given up before it was answered */
    _Atomic uint32_t tail; /* requests sent [port-sent] */
    _Atomic uint32_t rung; /* bells rung [port-sent] */
} wire;

struct gyre_port {
    gyre_actor *actor;
    uint32_t index, wires, mask, salt;
    uint32_t replicas;
    bool wide, in_place;
    bool rejects;
    _Atomic bool open;
    uint32_t next;       /* seat to begin with */
    uint32_t next_heard; /* seat whose answers are looked at first */
    wire wire[];
};

/* A wait, from its first vain look on. */
typedef struct waiting {
    uint64_t deadline_ns;
    uint64_t since_ns, looked_ns;
    uint32_t polls;
} waiting;

static size_t port_bytes(uint32_t seats)
{
    return sizeof(gyre_port) + seats * sizeof(wire);
}

gyre_status gyre_ports_create(gyre_actor *actor, uint32_t first)
{
    const gyre_mailbox_shape *const shape = &actor->shape;

    for (uint32_t p = 0; p < shape->ports; p++) {
        void *memory = NULL;
        gyre_port *port;
        gyre_status status = gyre_alloc(NULL, port_bytes(shape->seats), 1, &memory);

        if (status != GYRE_OK)
            return status;
        port = actor->port[p] = memory;
        port->actor = actor;
        port->index = p;
        port->wires = shape->seats;
        port->mask = shape->capacity - 1;
        port->salt = gyre_ring_salt(shape->incarnation);
        port->replicas = shape->replicas;
        port->wide = shape->wide;
        port->in_place = shape->in_place;
        for (uint32_t i = 0; i < shape->seats; i++) {
            unsigned char *const seat = actor->mailbox + i * shape->seat_bytes;
            wire *const w = &port->wire[i];

            status = gyre_alloc(NULL, shape->capacity, sizeof(entry), &memory);
            if (status != GYRE_OK)
                return status;
            w->entries = memory;
            w->seat = (gyre_seat *)(void *)seat;
            w->requests = seat + gyre_mailbox_requests_at(shape, p);
            w->replies = seat + gyre_mailbox_replies_at(shape, p);
            w->bell = seat + gyre_mailbox_bell_at(shape, p, 0);
            w->answer = seat + gyre_mailbox_answer_at(shape, p);
            w->head = w->one_way = w->called = w->oldest = w->receive = first;
            atomic_store_explicit(&w->tail, first, memory_order_relaxed);
            atomic_store_explicit(&w->rung, first, memory_order_relaxed);
        }
    }
    return GYRE_OK;
}

void gyre_ports_destroy(gyre_actor *actor)
{
    for (uint32_t p = 0; p < GYRE_MAILBOX_PORTS; p++) {
        gyre_port *const port = actor->port[p];

        if (!port)
            continue;
        for (uint32_t i = 0; i < port->wires; i++)
            gyre_free(NULL, port->wire[i].entries, (size_t)port->mask + 1, sizeof(entry));
        gyre_free(NULL, port, port_bytes(port->wires), 1);
        actor->port[p] = NULL;
    }
}

void gyre_port_sent(const gyre_port *port, uint32_t seat, uint32_t *out_requests,
                    uint32_t *out_bells)
{
    /* acquire [port-sent]: pairs with the releases below; the messages are in their slots */
    *out_requests = atomic_load_explicit(&port->wire[seat].tail, memory_order_acquire);
    *out_bells = atomic_load_explicit(&port->wire[seat].rung, memory_order_acquire);
}

bool gyre_port_is_open(const gyre_port *port)
{
    return atomic_load_explicit(&port->open, memory_order_acquire);
}

gyre_status gyre_port_open(gyre_actor *actor, const gyre_port_options *options,
                           gyre_port **out_port)
{
    gyre_port_options o;
    gyre_status status = gyre_process_check();

    *out_port = NULL;
    if (status == GYRE_OK)
        status = GYRE_OPTIONS_READ(o, options);
    if (status != GYRE_OK)
        return status;
    if (o.full == GYRE_PORT_DROP_OLDEST)
        return gyre_fail(GYRE_UNSUPPORTED, "a port to an actor cannot drop the oldest message: the "
                                           "device may be reading it");
    if (o.full != GYRE_PORT_BLOCK && o.full != GYRE_PORT_REJECT)
        return gyre_fail(GYRE_INVALID, "a full port that does %d", (int)o.full);
    pthread_mutex_lock(&actor->lock);
    status = actor->port[0] ? GYRE_AGAIN
                            : gyre_fail(GYRE_INVALID, "actor '%s' has no ports before its launch",
                                        actor->name);
    for (uint32_t p = 0; status == GYRE_AGAIN && p < actor->shape.ports; p++) {
        gyre_port *const port = actor->port[p];

        if (gyre_port_is_open(port))
            continue;
        port->rejects = o.full == GYRE_PORT_REJECT;
        atomic_store_explicit(&port->open, true, memory_order_relaxed);
        *out_port = port;
        status = GYRE_OK;
    }
    pthread_mutex_unlock(&actor->lock);
    return status;
}

void gyre_port_close(gyre_port *port)
{
    if (!port)
        return;
    for (uint32_t i = 0; i < port->wires; i++) {
        wire *const w = &port->wire[i];

        for (uint32_t n = w->oldest; n != w->called; n++)
            if (w->entries[n & port->mask].state != ENTRY_DONE)
                w->entries[n & port->mask].state = ENTRY_ABANDONED;
        w->asked = 0;
        w->receive = w->called;
    }
    /* release: the next to open it finds the books as they are */
    atomic_store_explicit(&port->open, false, memory_order_release);
}

GYRE_INLINE unsigned char *slot_at(const gyre_port *port, unsigned char *ring, uint32_t sequence)
{
    return ring + (size_t)(sequence & port->mask) * (port->wide ? 128 : 64);
}

GYRE_INLINE bool read_slot(const gyre_port *port, const unsigned char *slot, uint32_t stamp,
                           gyre_brief *out_brief)
{
    return gyre_slot_read(slot, port->wide, stamp, out_brief) == GYRE_RING_READY;
}

/* Writes what travels of what a caller gave. */
GYRE_INLINE void write_slot(const gyre_port *port, unsigned char *slot, uint32_t stamp,
                            const gyre_brief *message, uint32_t flags, uint32_t correlation)
{
    flags |= message->flags & (GYRE_BRIEF_REFERS | GYRE_BRIEF_DEADLINE);
    gyre_slot_write(slot, port->wide, stamp, gyre_slot_head(message, flags, correlation), message);
}

/* The thread's own counts, which others only read. */
GYRE_INLINE uint32_t own(const _Atomic uint32_t *count)
{
    return atomic_load_explicit(count, memory_order_relaxed);
}

/* One more look was in vain. GYRE_OK: look again. */
static gyre_status wait_on(gyre_port *port, waiting *w)
{
    uint64_t now_ns;

    if (++w->polls % CLOCK_EVERY != 0) {
        gyre_relax();
        return GYRE_OK;
    }
    now_ns = gyre_clock_now_ns();
    if (w->since_ns == 0)
        w->since_ns = w->looked_ns = now_ns;
    if (now_ns >= w->deadline_ns)
        return GYRE_TIMEOUT;
    if (now_ns - w->since_ns > LOOK_AFTER_NS &&
        (w->looked_ns == w->since_ns || now_ns - w->looked_ns > LOOK_EVERY_NS)) {
        const gyre_status status = gyre_actor_look(port->actor);

        w->looked_ns = now_ns;
        if (status != GYRE_OK)
            return status;
    }
    if (now_ns - w->since_ns > NAP_AFTER_NS) {
        w->polls |= CLOCK_EVERY - 1; /* and the clock after each */
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
    return GYRE_OK;
}

/* Why messages make no sense any more. */
GYRE_APART static gyre_status refuse(gyre_port *port, uint32_t status)
{
    if (status == GYRE_ACTOR_DRAINING)
        return gyre_fail(GYRE_CLOSED, "actor '%s' is ending", port->actor->name);
    return gyre_actor_look(port->actor);
}

/* Whether messages make sense at all. */
GYRE_INLINE gyre_status check(gyre_port *port)
{
    const uint32_t status = atomic_load_explicit(&port->actor->status, memory_order_relaxed);
    const gyre_status forked = gyre_process_check();

    if (__builtin_expect(forked != GYRE_OK, 0))
        return forked;
    return __builtin_expect(status < GYRE_ACTOR_DRAINING, 1) ? GYRE_OK : refuse(port, status);
}

/* Calls that are over at the old end of the books are forgotten. */
static void settle(const gyre_port *port, wire *w)
{
    gyre_brief ignored;

    while (w->oldest != w->called) {
        entry *const e = &w->entries[w->oldest & port->mask];

        if (e->state == ENTRY_ABANDONED &&
            read_slot(port, slot_at(port, w->replies, w->oldest),
                      gyre_ring_stamp(w->oldest, port->salt), &ignored))
            e->state = ENTRY_DONE;
        if (e->state != ENTRY_DONE)
            break;
        w->oldest++;
    }
    if ((int32_t)(w->receive - w->oldest) < 0)
        w->receive = w->oldest;
}

/* Learns how much of the ring can be written again. */
static void learn(const gyre_port *port, wire *w)
{
    /* acquire [actor-heads]: what those messages did can be seen */
    const uint32_t told = gyre_mailbox_acquire(&w->seat->heads[port->index]);
    const uint32_t tail = own(&w->tail);

    settle(port, w);
    /* a head beyond the tail would be somebody else's writing */
    if (tail - told <= tail - w->head)
        w->head = told;
    if (w->one_ways && (int32_t)(w->head - w->one_way) >= 0)
        w->one_ways = false;
    if (!w->one_ways) {
        const uint32_t by_calls =
            w->oldest == w->called ? tail : w->entries[w->oldest & port->mask].sequence;

        if ((int32_t)(by_calls - w->head) > 0)
            w->head = by_calls;
    }
}

GYRE_INLINE uint32_t room(const gyre_port *port, const wire *w)
{
    return port->mask + 1 - (own(&w->tail) - w->head);
}

/* Puts one message into the ring, which has room. */
GYRE_INLINE void put(const gyre_port *port, wire *w, const gyre_brief *message, uint32_t flags,
                     uint32_t correlation)
{
    const uint32_t tail = own(&w->tail);

    write_slot(port, slot_at(port, w->requests, tail), gyre_ring_stamp(tail, port->salt), message,
               flags, correlation);
    /* release [port-sent]: pairs with the acquire in gyre_port_sent */
    atomic_store_explicit(&w->tail, tail + 1, memory_order_release);
}

/* A call's place in the books. */
GYRE_INLINE uint32_t book(const gyre_port *port, wire *w, entry_state state, uint64_t cookie)
{
    const uint32_t number = w->called++;
    entry *const e = &w->entries[number & port->mask];

    e->cookie = cookie;
    e->sequence = own(&w->tail);
    e->state = state;
    return number;
}

/* The seat that has least to do, of the next few. */
GYRE_APART static wire *choose_of_crew(gyre_port *port)
{
    wire *best = &port->wire[port->next];
    const uint32_t choices = port->wires < CHOICES ? port->wires : CHOICES;

    for (uint32_t i = 0; i < choices; i++) {
        wire *const w = &port->wire[(port->next + i) % port->wires];

        if (own(&w->tail) - w->head < own(&best->tail) - best->head)
            best = w;
    }
    port->next = ((uint32_t)(best - port->wire) + 1) % port->wires;
    return best;
}

GYRE_INLINE wire *choose(gyre_port *port)
{
    assert(port->wires > 0);
    return port->wires > 1 ? choose_of_crew(port) : &port->wire[0];
}

/* Waits until the ring has room, and the books if it is to be answered. */
static gyre_status await_room(gyre_port *port, wire *w, bool call, uint64_t deadline_ns)
{
    waiting wait = {.deadline_ns = deadline_ns};

    for (;;) {
        gyre_status status;

        learn(port, w);
        if (call && w->called - w->oldest > port->mask && w->asked > 0)
            return GYRE_AGAIN; /* the caller has to receive first */
        if (room(port, w) > 0 && !(call && w->called - w->oldest > port->mask))
            return GYRE_OK;
        if (port->rejects)
            return GYRE_AGAIN;
        status = wait_on(port, &wait);
        if (status != GYRE_OK)
            return status;
    }
}

gyre_status gyre_port_send_many(gyre_port *port, const gyre_brief *messages, size_t count,
                                uint64_t deadline_ns, size_t *out_count)
{
    gyre_status status = check(port);
    size_t sent = 0;

    *out_count = 0;
    while (status == GYRE_OK && sent < count) {
        wire *const w = choose(port);
        size_t now;

        if (room(port, w) == 0) {
            status = await_room(port, w, false, deadline_ns);
            if (status != GYRE_OK)
                break;
        }
        /* a crew takes one each, so that all have something to do */
        now = port->wires > 1 ? 1 : room(port, w);
        now = now < count - sent ? now : count - sent;
        for (size_t i = 0; i < now; i++)
            put(port, w, &messages[sent + i], 0, 0);
        w->one_way = own(&w->tail);
        w->one_ways = true;
        sent += now;
    }
    *out_count = sent;
    return status;
}

gyre_status gyre_port_send(gyre_port *port, const gyre_brief *message, uint64_t deadline_ns)
{
    size_t sent;

    return gyre_port_send_many(port, message, 1, deadline_ns, &sent);
}

/* What an answer says about its call. */
static gyre_status judge(const gyre_port *port, const gyre_brief *answer)
{
    if (__builtin_expect(!(answer->flags & GYRE_BRIEF_FAILED), 1))
        return GYRE_OK;
    if (answer->body.words[0] == GYRE_ACTOR_TIMEOUT)
        return GYRE_TIMEOUT;
    return gyre_fail(GYRE_INVALID, "actor '%s' calls a message of type %u a failure: error %u",
                     port->actor->name, answer->type, answer->body.words[0]);
}

/* Whether the wire has nothing under way, so that its bell may be rung. */
GYRE_INLINE bool is_quiet(const wire *w)
{
    return own(&w->tail) == w->head && w->oldest == w->called && !w->bell_due;
}

/* The same, after a look at what has come meanwhile. */
GYRE_APART static bool becomes_quiet(const gyre_port *port, wire *w)
{
    gyre_brief ignored;

    if (w->bell_due &&
        read_slot(port, w->answer, gyre_ring_stamp(2 * (uint64_t)own(&w->rung) + 1, port->salt),
                  &ignored))
        w->bell_due = false;
    if (!w->bell_due)
        learn(port, w);
    return is_quiet(w);
}

GYRE_INLINE gyre_status ring_bell(gyre_port *port, wire *w, const gyre_brief *message,
                                  gyre_brief *out_answer, uint64_t deadline_ns)
{
    const uint32_t number = own(&w->rung) + 1;
    const uint32_t stamp = gyre_ring_stamp(2 * (uint64_t)number, port->salt);
    const uint32_t answer_stamp = gyre_ring_stamp(2 * (uint64_t)number + 1, port->salt);
    waiting wait = {.deadline_ns = deadline_ns};

    for (uint32_t i = 0; i < port->replicas; i++)
        write_slot(port, w->bell + (size_t)i * GYRE_MAILBOX_ROW, stamp, message, GYRE_BRIEF_CALL,
                   number);
    /* release [port-sent]: pairs with the acquire in gyre_port_sent */
    atomic_store_explicit(&w->rung, number, memory_order_release);
    gyre_pace_keep(&w->pace);
    while (!read_slot(port, w->answer, answer_stamp, out_answer)) {
        const gyre_status status = wait_on(port, &wait);

        if (__builtin_expect(status == GYRE_OK, 1))
            continue;
        /* it may have come while the bad news was found */
        if (read_slot(port, w->answer, answer_stamp, out_answer))
            break;
        w->bell_due = true;
        return status;
    }
    gyre_pace_learn(&w->pace, wait.polls);
    return judge(port, out_answer);
}

/* Waits for the answer to one call; it is over then, or abandoned. */
static gyre_status await_answer(gyre_port *port, wire *w, uint32_t number, gyre_brief *out_answer,
                                waiting *wait)
{
    const unsigned char *const slot = slot_at(port, w->replies, number);
    const uint32_t stamp = gyre_ring_stamp(number, port->salt);

    while (!read_slot(port, slot, stamp, out_answer)) {
        const gyre_status status = wait_on(port, wait);

        if (status == GYRE_OK)
            continue;
        /* it may have come while the bad news was found */
        if (read_slot(port, slot, stamp, out_answer))
            break;
        w->entries[number & port->mask].state = ENTRY_ABANDONED;
        return status;
    }
    w->entries[number & port->mask].state = ENTRY_DONE;
    if (number == w->oldest)
        w->oldest++;
    return GYRE_OK;
}

GYRE_APART static gyre_status call_by_ring(gyre_port *port, wire *w, const gyre_brief *message,
                                           gyre_brief *out_answer, uint64_t deadline_ns)
{
    waiting wait = {.deadline_ns = deadline_ns};
    gyre_status status = GYRE_OK;
    uint32_t number;

    if (room(port, w) == 0 || w->called - w->oldest > port->mask)
        status = await_room(port, w, true, deadline_ns);
    if (status != GYRE_OK)
        return status;
    number = book(port, w, ENTRY_CALLED, 0);
    put(port, w, message, GYRE_BRIEF_CALL, number);
    status = await_answer(port, w, number, out_answer, &wait);
    return status == GYRE_OK ? judge(port, out_answer) : status;
}

gyre_status gyre_port_call(gyre_port *port, const gyre_brief *message, gyre_brief *out_answer,
                           uint64_t deadline_ns)
{
    const gyre_status status = check(port);
    wire *w;

    if (__builtin_expect(status != GYRE_OK, 0))
        return status;
    w = choose(port);
    if (port->replicas && (is_quiet(w) || becomes_quiet(port, w)))
        return ring_bell(port, w, message, out_answer, deadline_ns);
    return call_by_ring(port, w, message, out_answer, deadline_ns);
}

/* Sends as many as there is room for, message i to seat (start + i) modulo the seats. */
static size_t call_some(gyre_port *port, const gyre_brief *messages, size_t count, uint32_t start,
                        size_t sent)
{
    size_t i;

    for (i = sent; i < count; i++) {
        wire *const w = &port->wire[(start + i) % port->wires];

        if (__builtin_expect(room(port, w) == 0 || w->called - w->oldest > port->mask, 0)) {
            learn(port, w);
            if (room(port, w) == 0 || w->called - w->oldest > port->mask)
                break;
        }
        put(port, w, &messages[i], GYRE_BRIEF_CALL, book(port, w, ENTRY_CALLED, i));
    }
    return i;
}

/* Those that nobody waits for any more. */
static void abandon_calls(gyre_port *port)
{
    for (uint32_t i = 0; i < port->wires; i++) {
        wire *const w = &port->wire[i];

        for (uint32_t n = w->oldest; n != w->called; n++)
            if (w->entries[n & port->mask].state == ENTRY_CALLED)
                w->entries[n & port->mask].state = ENTRY_ABANDONED;
    }
}

/* The number of a wire's oldest call that somebody waits for. */
static uint32_t first_called(const gyre_port *port, const wire *w)
{
    uint32_t number = w->oldest;

    while (w->entries[number & port->mask].state != ENTRY_CALLED)
        number++;
    return number;
}

gyre_status gyre_port_call_many(gyre_port *port, const gyre_brief *messages,
                                gyre_brief *out_answers, size_t count, uint64_t deadline_ns)
{
    const uint32_t start = port->next;
    gyre_status status = check(port);
    waiting wait = {.deadline_ns = deadline_ns};
    size_t sent = 0, heard = 0;

    assert(port->wires > 0);
    for (uint32_t i = 0; status == GYRE_OK && i < port->wires; i++)
        if (port->wire[i].asked > port->mask)
            return GYRE_AGAIN;
    while (status == GYRE_OK && heard < count) {
        wire *const w = &port->wire[(start + heard) % port->wires];

        if (sent < count)
            sent = call_some(port, messages, count, start, sent);
        if (sent == heard) {
            status = wait_on(port, &wait);
            continue;
        }
        wait = (waiting){.deadline_ns = deadline_ns};
        status = await_answer(port, w, first_called(port, w), &out_answers[heard], &wait);
        heard += status == GYRE_OK;
    }
    port->next = (uint32_t)((start + count) % port->wires);
    if (status != GYRE_OK)
        abandon_calls(port);
    return status;
}

gyre_status gyre_port_ask(gyre_port *port, const gyre_brief *message, uint64_t cookie,
                          uint64_t deadline_ns)
{
    gyre_status status = check(port);
    wire *w;

    if (status != GYRE_OK)
        return status;
    w = choose(port);
    if (room(port, w) == 0 || w->called - w->oldest > port->mask) {
        status = await_room(port, w, true, deadline_ns);
        if (status != GYRE_OK)
            return status;
    }
    put(port, w, message, GYRE_BRIEF_CALL, book(port, w, ENTRY_ASKED, cookie));
    w->asked++;
    return GYRE_OK;
}

size_t gyre_port_due(const gyre_port *port)
{
    size_t due = 0;

    for (uint32_t i = 0; i < port->wires; i++)
        due += port->wire[i].asked;
    return due;
}

/* The next answer of a wire, if it is there. */
static bool hear(gyre_port *port, wire *w, gyre_port_answer *out_answer)
{
    entry *e;

    if (w->asked == 0)
        return false;
    if ((int32_t)(w->receive - w->oldest) < 0)
        w->receive = w->oldest;
    while ((e = &w->entries[w->receive & port->mask])->state != ENTRY_ASKED)
        w->receive++;
    if (!read_slot(port, slot_at(port, w->replies, w->receive),
                   gyre_ring_stamp(w->receive, port->salt), &out_answer->brief))
        return false;
    out_answer->cookie = e->cookie;
    e->state = ENTRY_DONE;
    w->asked--;
    if (w->receive == w->oldest)
        w->oldest++;
    w->receive++;
    return true;
}

/* Those that are there, beginning with another seat each time. */
static size_t hear_some(gyre_port *port, gyre_port_answer *out_answers, size_t count)
{
    size_t heard = 0;

    for (uint32_t i = 0; i < port->wires && heard < count; i++) {
        wire *const w = &port->wire[(port->next_heard + i) % port->wires];

        while (heard < count && hear(port, w, &out_answers[heard]))
            heard++;
    }
    if (heard)
        port->next_heard = (port->next_heard + 1) % port->wires;
    return heard;
}

gyre_status gyre_port_receive_many(gyre_port *port, gyre_port_answer *out_answers, size_t count,
                                   uint64_t deadline_ns, size_t *out_count)
{
    waiting wait = {.deadline_ns = deadline_ns};
    gyre_status status = gyre_process_check();

    *out_count = 0;
    if (status != GYRE_OK || count == 0)
        return status;
    if (gyre_port_due(port) == 0)
        return gyre_fail(GYRE_NOT_FOUND, "nothing was asked of actor '%s'", port->actor->name);
    while ((*out_count = hear_some(port, out_answers, count)) == 0 && status == GYRE_OK)
        status = wait_on(port, &wait); /* and once more after bad news */
    return *out_count > 0 ? GYRE_OK : status;
}

gyre_status gyre_port_receive(gyre_port *port, gyre_port_answer *out_answer, uint64_t deadline_ns)
{
    size_t count;

    return gyre_port_receive_many(port, out_answer, 1, deadline_ns, &count);
}

/* Whether there is an answer to receive. */
static bool has_answer(gyre_port *port)
{
    gyre_brief ignored;

    for (uint32_t i = 0; i < port->wires; i++) {
        wire *const w = &port->wire[i];

        if (w->asked == 0)
            continue;
        if ((int32_t)(w->receive - w->oldest) < 0)
            w->receive = w->oldest;
        while (w->entries[w->receive & port->mask].state != ENTRY_ASKED)
            w->receive++;
        if (read_slot(port, slot_at(port, w->replies, w->receive),
                      gyre_ring_stamp(w->receive, port->salt), &ignored))
            return true;
    }
    return false;
}

gyre_status gyre_port_wait_any(gyre_port *const *ports, size_t count, uint64_t deadline_ns,
                               size_t *out_index)
{
    waiting wait = {.deadline_ns = deadline_ns};
    gyre_status status = gyre_process_check();
    size_t due = 0, asked = 0;
    static _Thread_local uint32_t turn;

    *out_index = 0;
    for (size_t i = 0; i < count; i++)
        due += gyre_port_due(ports[i]);
    if (status != GYRE_OK)
        return status;
    if (due == 0)
        return gyre_fail(GYRE_NOT_FOUND, "nothing was asked of any of %zu ports", count);
    turn++;
    for (;;) {
        for (size_t i = 0; i < count; i++) {
            *out_index = (turn + i) % count;
            if (has_answer(ports[*out_index]))
                return GYRE_OK;
        }
        /* each of them in turn is asked how it is */
        do
            asked = (asked + 1) % count;
        while (gyre_port_due(ports[asked]) == 0);
        if (status != GYRE_OK) {
            *out_index = asked;
            return status;
        }
        status = wait_on(ports[asked], &wait); /* and all once more after bad news */
    }
}

/* Whether everything that was sent is handled, as far as the seat told. */
static bool is_flushed(const gyre_port *port, const wire *w)
{
    /* acquire [actor-heads], both: what those messages did can be seen */
    return gyre_mailbox_acquire(&w->seat->heads[port->index]) == own(&w->tail) &&
           gyre_mailbox_acquire(&w->seat->rung[port->index]) == own(&w->rung);
}

gyre_status gyre_port_flush(gyre_port *port, uint64_t deadline_ns)
{
    waiting wait = {.deadline_ns = deadline_ns};
    gyre_status status = gyre_process_check();

    if (status != GYRE_OK)
        return status;
    for (uint32_t i = 0; i < port->wires; i++)
        while (!is_flushed(port, &port->wire[i])) {
            if (status != GYRE_OK)
                return status;
            status = wait_on(port, &wait); /* and once more after bad news */
        }
    return GYRE_OK;
}
