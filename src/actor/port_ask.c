/* SPDX-License-Identifier: Apache-2.0
 *
 * port_ask: messages whose answers are received later.
 *
 * Threads   one for a port.
 * Owns      nothing.
 */
#include "actor/lookout.h"
#include "actor/wire.h"
#include "base/fail.h"

gyre_status gyre_port_ask(gyre_port *port, const gyre_brief *message, uint64_t cookie,
                          uint64_t deadline_ns)
{
    gyre_status status = gyre_port_check(port);
    gyre_wire *w;

    if (status != GYRE_OK)
        return status;
    w = gyre_port_choose(port);
    if (!gyre_wire_has_room_for_call(port, w))
        status = gyre_wire_await_room(port, &w, true, deadline_ns);
    if (status == GYRE_OK && __builtin_expect(!w->aside, 0))
        status = gyre_wire_prepare(port, w);
    if (status != GYRE_OK)
        return status;
    gyre_wire_put(port, w, message, GYRE_BRIEF_CALL, gyre_wire_book_asked(port, w, cookie));
    if (__builtin_expect(port->post != NULL, 0) && w->asked == 1)
        gyre_lookout_note(port);
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
static bool hear(gyre_port *port, gyre_wire *w, gyre_port_answer *out_answer)
{
    gyre_booking *e;

    if (w->asked == 0)
        return false;
    if (w->aside_count > 0) {
        *out_answer = w->aside[w->aside_first++ & port->mask];
        w->aside_count--;
        w->asked--;
        return true;
    }
    e = &w->entries[gyre_wire_next_asked(port, w) & port->mask];
    if (!gyre_wire_read(port, gyre_wire_slot(port, w->replies, w->receive),
                        gyre_ring_stamp(w->receive, port->salt), &out_answer->brief))
        return false;
    out_answer->cookie = e->cookie;
    e->state = GYRE_BOOKING_DONE;
    w->asked--;
    if (w->receive == w->oldest && !e->errand)
        w->oldest++;
    w->receive++;
    return true;
}

/* Those that are there, beginning with another seat each time. */
static size_t hear_some(gyre_port *port, gyre_port_answer *out_answers, size_t count)
{
    size_t heard = 0;

    for (uint32_t i = 0; i < port->wires && heard < count; i++) {
        gyre_wire *const w = &port->wire[(port->next_heard + i) % port->wires];

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
    gyre_waiting wait = {.deadline_ns = deadline_ns};
    gyre_status status = gyre_process_check();

    *out_count = 0;
    if (status != GYRE_OK || count == 0)
        return status;
    if (gyre_port_due(port) == 0)
        return gyre_fail(GYRE_NOT_FOUND, "nothing was asked of actor '%s'", port->actor->name);
    while ((*out_count = hear_some(port, out_answers, count)) == 0 && status == GYRE_OK)
        status = gyre_port_wait_on(port, &wait); /* and once more after bad news */
    if (__builtin_expect(port->post != NULL, 0))
        gyre_lookout_note(port);
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
    for (uint32_t i = 0; i < port->wires; i++) {
        const gyre_sight sight = gyre_wire_sight(port, &port->wire[i]);

        if (gyre_sight_is_there(port, &sight))
            return true;
    }
    return false;
}

gyre_status gyre_port_wait_any(gyre_port *const *ports, size_t count, uint64_t deadline_ns,
                               size_t *out_index)
{
    gyre_waiting wait = {.deadline_ns = deadline_ns};
    gyre_status status = gyre_process_check();
    size_t due = 0, bad = 0;
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
        *out_index = bad;
        if (status != GYRE_OK)
            return status;
        status = gyre_ports_wait_on(ports, count, &wait, &bad); /* and once more after bad news */
    }
}
