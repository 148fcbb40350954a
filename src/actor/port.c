/* SPDX-License-Identifier: Apache-2.0
 *
 * port: opening and closing, sending without an answer.
 *
 * Threads   one for a port. Edges: [port-sent] with actor/order.c, [actor-heads].
 * Owns      the wires and their books.
 * Not here  calls (actor/port_call.c), answers that are received (actor/port_ask.c), what a seat
 *           does with it all (actor/loop_single.h, actor/loop_cuda.h).
 */
#include "gyre/port.h"

#include "actor/lookout.h"
#include "actor/order.h"
#include "actor/wire.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "base/options.h"

enum { EAGER = 4096 }; /* looks: some microseconds, as answers over a bus take */

static size_t port_bytes(uint32_t seats)
{
    return sizeof(gyre_port) + seats * sizeof(gyre_wire);
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
        port->combines = actor->bells.by != NULL;
        /* who answers in its place is near: there a look in vain takes the line from him */
        port->eager = shape->in_place ? 0 : EAGER;
        for (uint32_t i = 0; i < shape->seats; i++) {
            unsigned char *const seat = actor->mailbox + i * shape->seat_bytes;
            gyre_wire *const w = &port->wire[i];

            status = gyre_alloc(NULL, shape->capacity, sizeof(gyre_booking), &memory);
            if (status != GYRE_OK)
                return status;
            w->entries = memory;
            w->seat = (gyre_seat *)(void *)seat;
            w->requests = seat + gyre_mailbox_requests_at(shape, p);
            w->replies = seat + gyre_mailbox_replies_at(shape, p);
            w->bell = gyre_bells_of(actor, i, p);
            w->answer = seat + gyre_mailbox_answer_at(shape, p);
            w->passed =
                (uint32_t *)(void *)(seat + GYRE_MAILBOX_PASSED) + (size_t)p * GYRE_MAILBOX_ERRANDS;
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
        gyre_lookout_close(port);
        for (uint32_t i = 0; i < port->wires; i++) {
            gyre_free(NULL, port->wire[i].entries, (size_t)port->mask + 1, sizeof(gyre_booking));
            gyre_free(NULL, port->wire[i].aside, (size_t)port->mask + 1, sizeof(gyre_port_answer));
        }
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

/* Whether they are of use: those of a launch that has ended are there until the next. */
static bool has_ports(gyre_actor *actor)
{
    const gyre_actor_status now = gyre_actor_state(actor);

    return actor->port[0] && now != GYRE_ACTOR_TERMINATED && now != GYRE_ACTOR_FAILED;
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
    status = gyre_actor_hold_patiently(actor);
    if (status != GYRE_OK)
        return status;
    status = has_ports(actor) ? GYRE_AGAIN
                              : gyre_actor_refuse(actor, "it has ports once it is launched");
    for (uint32_t p = 0; status == GYRE_AGAIN && p < actor->shape.ports; p++) {
        gyre_port *const port = actor->port[p];

        if (gyre_port_is_open(port))
            continue;
        port->rejects = o.full == GYRE_PORT_REJECT;
        atomic_store_explicit(&port->open, true, memory_order_relaxed);
        *out_port = port;
        status = GYRE_OK;
    }
    gyre_actor_release(actor);
    return status;
}

void gyre_port_close(gyre_port *port)
{
    if (!port)
        return;
    gyre_lookout_close(port);
    for (uint32_t i = 0; i < port->wires; i++) {
        gyre_wire *const w = &port->wire[i];

        for (uint32_t n = w->oldest; n != w->called; n++)
            if (w->entries[n & port->mask].state != GYRE_BOOKING_DONE)
                w->entries[n & port->mask].state = GYRE_BOOKING_ABANDONED;
        w->asked = w->aside_count = 0;
        w->receive = w->called;
    }
    /* release: the next to open it finds the books as they are */
    atomic_store_explicit(&port->open, false, memory_order_release);
}

gyre_status gyre_port_send_many(gyre_port *port, const gyre_brief *messages, size_t count,
                                uint64_t deadline_ns, size_t *out_count)
{
    gyre_status status = gyre_port_check(port);
    size_t sent = 0;

    *out_count = 0;
    while (status == GYRE_OK && sent < count) {
        gyre_wire *w = gyre_port_choose(port);
        size_t now;

        if (gyre_wire_room(port, w) == 0) {
            status = gyre_wire_await_room(port, &w, false, deadline_ns);
            if (status != GYRE_OK)
                break;
        }
        now = gyre_port_share(port, count - sent);
        now = now < gyre_wire_room(port, w) ? now : gyre_wire_room(port, w);
        now = now < count - sent ? now : count - sent;
        if (now == 1)
            gyre_wire_put(port, w, &messages[sent], 0, 0);
        else
            gyre_wire_put_many(port, w, &messages[sent], now, 0, 0);
        w->one_way = gyre_wire_own(&w->tail);
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

/* Whether everything that was sent is handled, as far as the seat told. */
static bool is_flushed(const gyre_port *port, gyre_wire *w)
{
    /* acquire [actor-heads]: what those messages did can be seen */
    return !gyre_wire_bell_is_due(port, w) &&
           gyre_mailbox_acquire(&w->seat->heads[port->index]) == gyre_wire_own(&w->tail);
}

gyre_status gyre_port_flush(gyre_port *port, uint64_t deadline_ns)
{
    gyre_waiting wait = {.deadline_ns = deadline_ns};
    gyre_status status = gyre_process_check();

    if (status != GYRE_OK)
        return status;
    for (uint32_t i = 0; i < port->wires; i++)
        while (!is_flushed(port, &port->wire[i])) {
            if (status != GYRE_OK)
                return status;
            status = gyre_port_wait_on(port, &wait); /* and once more after bad news */
        }
    return GYRE_OK;
}
