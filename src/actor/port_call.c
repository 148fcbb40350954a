/* SPDX-License-Identifier: Apache-2.0
 *
 * port_call: messages whose sender waits for the answer.
 *
 * Threads   one for a port. Edge: [port-sent] with actor/order.c.
 * Owns      nothing.
 */
#include <string.h>

#include "actor/wire.h"
#include "base/fail.h"
#include "gyre/clock.h"

enum {
    SOME = 32,          /* messages that are sent, or heard, in one go */
    CLOCK_EVERY = 1024, /* answers between two looks at the clock, while they come without a wait */
};

/* What an answer says about its call. */
static gyre_status judge(const gyre_port *port, const gyre_brief *answer)
{
    if (__builtin_expect(!(answer->flags & GYRE_BRIEF_FAILED), 1))
        return GYRE_OK;
    if (answer->body.words[0] == GYRE_ACTOR_TIMEOUT)
        return GYRE_TIMEOUT;
    return gyre_fail_native(GYRE_INVALID, (int32_t)answer->body.words[0],
                            "actor '%s' calls a message of type %u a failure: error %u",
                            port->actor->name, answer->type, answer->body.words[0]);
}

/* Whether the wire has nothing under way, so that its bell may be rung. */
GYRE_INLINE bool is_quiet(const gyre_wire *w)
{
    return gyre_wire_own(&w->tail) == w->head && w->oldest == w->called && !w->bell_due;
}

/* The same, after a look at what has come meanwhile. */
GYRE_APART static bool becomes_quiet(gyre_port *port, gyre_wire *w)
{
    if (!gyre_wire_bell_is_due(port, w))
        gyre_wire_learn(port, w);
    return is_quiet(w);
}

GYRE_INLINE void ring_bell(const gyre_port *port, gyre_wire *w, const gyre_brief *message)
{
    const uint32_t number = gyre_wire_own(&w->rung) + 1;
    const uint32_t stamp = gyre_ring_stamp(2 * (uint64_t)number, port->salt);
    const uint64_t head = gyre_wire_head(message, GYRE_BRIEF_CALL, number);
    gyre_brief timed;

    if (gyre_wire_has_deadline(message))
        message = gyre_wire_time(port, w, message, &timed);
    gyre_slot_write_copies(w->bell, GYRE_MAILBOX_ROW, port->replicas, port->wide, stamp, head,
                           message);
    if (__builtin_expect(port->combines, 0))
        gyre_bells_push();
    /* release [port-sent]: pairs with the acquire in gyre_port_sent */
    atomic_store_explicit(&w->rung, number, memory_order_release);
}

/* Waits for the answer to the bell that was rung last. */
GYRE_INLINE gyre_status await_bell(gyre_port *port, gyre_wire *w, gyre_brief *out_answer,
                                   gyre_waiting *wait)
{
    const uint32_t stamp = gyre_ring_stamp(2 * (uint64_t)gyre_wire_own(&w->rung) + 1, port->salt);

    for (uint32_t left = port->eager; left > 0; left--)
        if (gyre_wire_read(port, w->answer, stamp, out_answer))
            return GYRE_OK;
    while (!gyre_wire_read(port, w->answer, stamp, out_answer)) {
        const gyre_status status = gyre_port_wait_on(port, wait);

        if (__builtin_expect(status == GYRE_OK, 1))
            continue;
        /* it may have come while the bad news was found */
        if (gyre_wire_read(port, w->answer, stamp, out_answer))
            break;
        w->bell_due = true;
        return status;
    }
    return GYRE_OK;
}

GYRE_INLINE gyre_status call_by_bell(gyre_port *port, gyre_wire *w, const gyre_brief *message,
                                     gyre_brief *out_answer, uint64_t deadline_ns)
{
    gyre_waiting wait = {.deadline_ns = deadline_ns};
    gyre_status status;

    ring_bell(port, w, message);
    gyre_pace_keep(&w->pace);
    status = await_bell(port, w, out_answer, &wait);
    if (__builtin_expect(status != GYRE_OK, 0))
        return status;
    gyre_pace_learn(&w->pace, wait.polls);
    return judge(port, out_answer);
}

/* Waits for the answer to one call; it is over then, or abandoned. */
static gyre_status await_answer(gyre_port *port, gyre_wire *w, uint32_t number,
                                gyre_brief *out_answer, gyre_waiting *wait)
{
    const unsigned char *const slot = gyre_wire_slot(port, w->replies, number);
    const uint32_t stamp = gyre_ring_stamp(number, port->salt);

    while (!gyre_wire_read(port, slot, stamp, out_answer)) {
        const gyre_status status = gyre_port_wait_on(port, wait);

        if (status == GYRE_OK)
            continue;
        /* it may have come while the bad news was found */
        if (gyre_wire_read(port, slot, stamp, out_answer))
            break;
        w->entries[number & port->mask].state = GYRE_BOOKING_ABANDONED;
        return status;
    }
    w->entries[number & port->mask].state = GYRE_BOOKING_DONE;
    if (number == w->oldest)
        w->oldest++;
    return GYRE_OK;
}

GYRE_APART static gyre_status call_by_ring(gyre_port *port, gyre_wire *w, const gyre_brief *message,
                                           gyre_brief *out_answer, uint64_t deadline_ns)
{
    gyre_waiting wait = {.deadline_ns = deadline_ns};
    gyre_status status = GYRE_OK;
    uint32_t number;

    if (!gyre_wire_has_room_for_call(port, w))
        status = gyre_wire_await_room(port, &w, true, deadline_ns);
    if (status != GYRE_OK)
        return status;
    number = gyre_wire_book(port, w, GYRE_BOOKING_CALLED, 0);
    gyre_wire_put(port, w, message, GYRE_BRIEF_CALL, number);
    status = await_answer(port, w, number, out_answer, &wait);
    return status == GYRE_OK ? judge(port, out_answer) : status;
}

gyre_status gyre_port_call(gyre_port *port, const gyre_brief *message, gyre_brief *out_answer,
                           uint64_t deadline_ns)
{
    const gyre_status status = gyre_port_check(port);
    gyre_wire *w;

    if (__builtin_expect(status != GYRE_OK, 0))
        return status;
    w = gyre_port_choose(port);
    if (port->replicas && (is_quiet(w) || becomes_quiet(port, w)))
        return call_by_bell(port, w, message, out_answer, deadline_ns);
    return call_by_ring(port, w, message, out_answer, deadline_ns);
}

/* Sends as many as there is room for, message i to seat (start + i) modulo the seats. */
static size_t call_some(gyre_port *port, const gyre_brief *messages, size_t count, uint32_t start,
                        size_t sent)
{
    const uint32_t wires = port->wires;
    size_t i;

    assert(wires > 0);
    for (i = sent; i < count; i++) {
        gyre_wire *const w = &port->wire[(start + i) % wires];

        if (__builtin_expect(!gyre_wire_has_room_for_call(port, w), 0)) {
            gyre_wire_learn(port, w);
            if (!gyre_wire_has_room_for_call(port, w))
                break;
        }
        gyre_wire_put(port, w, &messages[i], GYRE_BRIEF_CALL,
                      gyre_wire_book(port, w, GYRE_BOOKING_CALLED, i));
    }
    return i;
}

/* Those that nobody waits for any more. */
static void abandon_calls(gyre_port *port)
{
    for (uint32_t i = 0; i < port->wires; i++) {
        gyre_wire *const w = &port->wire[i];

        for (uint32_t n = w->oldest; n != w->called; n++)
            if (w->entries[n & port->mask].state == GYRE_BOOKING_CALLED)
                w->entries[n & port->mask].state = GYRE_BOOKING_ABANDONED;
    }
}

/* The number of a wire's oldest call that somebody waits for. */
static uint32_t first_called(const gyre_port *port, const gyre_wire *w)
{
    uint32_t number = w->oldest;

    while (w->entries[number & port->mask].state != GYRE_BOOKING_CALLED)
        number++;
    return number;
}

/* After answers were heard, of which there were `before`: those who wait look at the clock, but
 * while answers come nobody waits. */
GYRE_INLINE gyre_status check_clock(size_t before, size_t heard, uint64_t deadline_ns)
{
    if (__builtin_expect(before / CLOCK_EVERY == heard / CLOCK_EVERY, 1))
        return GYRE_OK;
    return gyre_clock_now_ns() < deadline_ns ? GYRE_OK : GYRE_TIMEOUT;
}

/* Calls to wires on which nothing else is under way: they are heard in the order of sending, so
 * that nothing needs to be booked. Each seat in turn gets its share of them. */
typedef struct run {
    const gyre_brief *messages;
    gyre_brief *answers;
    size_t count, sent, heard;
    size_t share;
    uint32_t to, from; /* wires of the next one to send, and to hear */
} run;

GYRE_INLINE uint32_t next_wire(const gyre_port *port, uint32_t wire)
{
    return wire + 1 < port->wires ? wire + 1 : 0;
}

/* Sends the next few, as far as there is room. */
static void send_some(const gyre_port *port, gyre_wire *wires, run *r)
{
    const size_t until = r->count - r->sent < SOME ? r->count : r->sent + SOME;

    while (r->sent < until) {
        gyre_wire *const w = &wires[r->to];
        const size_t room = port->mask + 1 - (w->called - w->oldest);
        const size_t left = r->share - r->sent % r->share;
        size_t now = until - r->sent < left ? until - r->sent : left;

        now = now < room ? now : room;
        if (now == 0)
            break;
        gyre_wire_put_many(port, w, &r->messages[r->sent], now, GYRE_BRIEF_CALL, w->called);
        w->called += (uint32_t)now;
        r->sent += now;
        if (now == left)
            r->to = next_wire(port, r->to);
    }
}

/* Hears answers of one wire, as far as they are there and at most so many; how many those were.
 * Reading a slot orders memory, after which everything in it would be loaded anew: so what does not
 * change, and what counts, is kept in variables. */
static size_t hear_wire(const gyre_port *port, gyre_wire *w, gyre_brief *answers, size_t most)
{
    const uint32_t mask = port->mask, salt = port->salt;
    const bool wide = port->wide;
    const size_t bytes = wide ? sizeof(gyre_ring_wide_slot) : sizeof(gyre_ring_slot);
    const unsigned char *const replies = w->replies;
    uint32_t number = w->oldest;
    size_t heard;

    for (heard = 0; heard < most; heard++, number++) {
        __builtin_prefetch(replies + ((number + GYRE_WIRE_AHEAD) & mask) * bytes);
        if (gyre_slot_read(replies + (number & mask) * bytes, wide, gyre_ring_stamp(number, salt),
                           &answers[heard]) != GYRE_RING_READY)
            break;
    }
    w->oldest = number;
    return heard;
}

/* Hears the next few, as far as they are there; how many those were. */
static size_t hear_some(const gyre_port *port, gyre_wire *wires, run *r)
{
    const size_t before = r->heard;
    const size_t until = r->sent - r->heard < SOME ? r->sent : r->heard + SOME;
    size_t left = r->share - r->heard % r->share;

    while (r->heard < until) {
        const size_t most = until - r->heard < left ? until - r->heard : left;
        const size_t heard = hear_wire(port, &wires[r->from], &r->answers[r->heard], most);

        r->heard += heard;
        left -= heard;
        if (heard < most)
            break;
        if (left == 0) {
            left = r->share;
            r->from = next_wire(port, r->from);
        }
    }
    return r->heard - before;
}

static gyre_status call_in_a_run(gyre_port *port, run *r, uint64_t deadline_ns)
{
    gyre_waiting wait = {.deadline_ns = deadline_ns};
    gyre_status status = GYRE_OK;

    while (r->heard < r->count) {
        const size_t sent = r->sent, heard = r->heard;

        if (status == GYRE_OK && r->sent < r->count)
            send_some(port, port->wire, r);
        if (hear_some(port, port->wire, r) > 0) {
            wait.polls = 0;
            wait.since_ns = 0;
            if (status == GYRE_OK)
                status = check_clock(heard, r->heard, deadline_ns);
        } else if (status != GYRE_OK) {
            break; /* nor after the bad news */
        } else if (r->sent == sent) {
            status = gyre_port_wait_on(port, &wait);
        }
    }
    for (uint32_t i = 0; i < port->wires; i++) {
        gyre_wire *const w = &port->wire[i];

        for (uint32_t n = w->oldest; n != w->called; n++)
            w->entries[n & port->mask] = (gyre_booking){.state = GYRE_BOOKING_ABANDONED};
        w->head = gyre_wire_own(&w->tail) - (w->called - w->oldest);
    }
    return r->heard == r->count ? GYRE_OK : status;
}

/* Marks answers that did not come; the status as it was. */
static gyre_status mark_missing(gyre_status status, gyre_brief *answers, size_t heard, size_t count)
{
    for (size_t i = heard; i < count; i++)
        answers[i] = (gyre_brief){.flags = GYRE_BRIEF_MISSING};
    return status;
}

/* One to each of so many seats, on whose wires nothing is under way. */
static gyre_status call_by_bells(gyre_port *port, const gyre_brief *messages, gyre_brief *answers,
                                 size_t count, uint64_t deadline_ns)
{
    gyre_waiting wait = {.deadline_ns = deadline_ns};
    uint32_t to = port->next, from = to;
    gyre_status status = GYRE_OK;
    size_t heard = 0;

    for (size_t i = 0; i < count; i++, to = next_wire(port, to))
        ring_bell(port, &port->wire[to], &messages[i]);
    port->next = to;
    for (; heard < count && status == GYRE_OK; from = next_wire(port, from)) {
        status = await_bell(port, &port->wire[from], &answers[heard], &wait);
        heard += status == GYRE_OK;
    }
    for (size_t i = heard + 1; i < count; i++, from = next_wire(port, from))
        port->wire[from].bell_due = true;
    return mark_missing(status, answers, heard, count);
}

/* Whether nothing at all is under way. */
static bool all_quiet(gyre_port *port)
{
    for (uint32_t i = 0; i < port->wires; i++) {
        gyre_wire *const w = &port->wire[i];

        if (!is_quiet(w) && !becomes_quiet(port, w))
            return false;
    }
    return true;
}

gyre_status gyre_port_call_many(gyre_port *port, const gyre_brief *messages,
                                gyre_brief *out_answers, size_t count, uint64_t deadline_ns)
{
    const uint32_t start = port->next, wires = port->wires;
    gyre_status status = gyre_port_check(port);
    gyre_waiting wait = {.deadline_ns = deadline_ns};
    size_t sent = 0, heard = 0;

    assert(wires > 0);
    if (status == GYRE_OK && all_quiet(port)) {
        run r = {messages,    out_answers,  count, .share = gyre_port_share(port, count),
                 .to = start, .from = start};

        if (port->replicas && count <= wires)
            return call_by_bells(port, messages, out_answers, count, deadline_ns);
        port->next = (uint32_t)((start + count) % wires);
        status = call_in_a_run(port, &r, deadline_ns);
        return mark_missing(status, out_answers, r.heard, count);
    }
    for (uint32_t i = 0; status == GYRE_OK && i < port->wires; i++)
        if (port->wire[i].asked > port->mask)
            return mark_missing(GYRE_AGAIN, out_answers, 0, count);
    while (status == GYRE_OK && heard < count) {
        gyre_wire *const w = &port->wire[(start + heard) % wires];

        if (sent < count)
            sent = call_some(port, messages, count, start, sent);
        if (sent == heard) {
            status = gyre_port_wait_on(port, &wait);
            continue;
        }
        wait = (gyre_waiting){.deadline_ns = deadline_ns};
        status = await_answer(port, w, first_called(port, w), &out_answers[heard], &wait);
        heard += status == GYRE_OK;
        if (status == GYRE_OK && heard < count)
            status = check_clock(heard - 1, heard, deadline_ns);
    }
    port->next = (uint32_t)((start + count) % wires);
    if (status != GYRE_OK)
        abandon_calls(port);
    return mark_missing(status, out_answers, heard, count);
}
