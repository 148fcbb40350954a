/* SPDX-License-Identifier: Apache-2.0
 *
 * port_stream: messages that streams wake an actor with, and answers that streams wait for.
 *
 * A held message is in its slot but for one stamp, the last, which the stream writes when it comes
 * there. Until the stream has been given that to do, no stamp of the slot is right: when it
 * refuses, nothing was sent, and the next message may have the slot.
 *
 * A stream that waits looks at the last stamp of the slot where the answer will be. That is the
 * stamp until another call has the slot. So the books keep the slot until the stream says, in a
 * word of its own behind the wait, that it has gone on: an errand. That word is the last thing of
 * the mailbox that it touches; and a held message's stamp, in its slot, says the same. So it is
 * known when the mailbox can be given back.
 *
 * Who ends an actor writes the stamps that streams still wait for. A port that begins an errand at
 * that moment looks at the status behind it: one of the two sees the other.
 *
 * Threads   one for a port; the end of an actor is another's. Edges: [actor-errand], [stream-word],
 *           [port-sent].
 * Owns      nothing.
 */
#include "actor/lookout.h"
#include "actor/order.h"
#include "actor/wire.h"
#include "base/fail.h"
#include "dev/word.h"
#include "exec/stream.h"
#include "gyre/clock.h"

_Static_assert(sizeof(gyre_seat) + GYRE_MAILBOX_PORTS * sizeof(gyre_ring_wide_slot) <=
                       GYRE_MAILBOX_PASSED &&
                   GYRE_MAILBOX_PASSED + 4 * GYRE_MAILBOX_PORTS * GYRE_MAILBOX_ERRANDS <=
                       GYRE_MAILBOX_ROW,
               "behind the answers to bells, before the bells");

enum { AFTER = 1, BEFORE = 2, ANSWERED = 4 };

/* What is sent, and how it hangs together with the stream. */
typedef struct errand {
    gyre_stream *stream;
    const gyre_brief *message;
    uint32_t how; /* bits */
    uint64_t cookie;
} errand;

/* The stamp of a slot that is written last. */
static uint32_t *last_stamp(const gyre_port *port, unsigned char *slot)
{
    return (uint32_t *)(void *)(slot + (port->wide ? 8 * GYRE_RING_WORDS : 64) - 4);
}

static uint32_t turn_of(uint64_t what)
{
    return (uint32_t)(what >> 32);
}

bool gyre_wire_has_passed(const gyre_wire *w, uint32_t k)
{
    /* relaxed: this thread's own, or one that nobody changes any more */
    return gyre_word_is(&w->passed[k],
                        turn_of(atomic_load_explicit(&w->errand[k], memory_order_relaxed)));
}

bool gyre_port_is_held(const gyre_port *port, uint32_t seat, uint32_t sequence)
{
    unsigned char *const slot = gyre_wire_slot(port, port->wire[seat].requests, sequence);
    /* acquire [port-sent] */
    const uint32_t tail = atomic_load_explicit(&port->wire[seat].tail, memory_order_acquire);

    /* the slot is another message's by now: this one was answered, and the seat has not told */
    if (tail - sequence > port->mask + 1)
        return false;
    return !gyre_word_is(last_stamp(port, slot), gyre_ring_stamp(sequence, port->salt));
}

void gyre_streams_release(gyre_actor *actor)
{
    for (uint32_t p = 0; p < actor->shape.ports && actor->port[p]; p++) {
        gyre_port *const port = actor->port[p];

        for (uint32_t i = 0; i < port->wires * GYRE_MAILBOX_ERRANDS; i++) {
            gyre_wire *const w = &port->wire[i / GYRE_MAILBOX_ERRANDS];
            const uint32_t k = i % GYRE_MAILBOX_ERRANDS;
            /* seq_cst [actor-errand]: pairs with begin */
            const uint64_t what = atomic_load(&w->errand[k]);

            if (!gyre_word_is(&w->passed[k], turn_of(what)))
                gyre_word_store(last_stamp(port, gyre_wire_slot(port, w->replies, (uint32_t)what)),
                                gyre_ring_stamp((uint32_t)what, port->salt));
        }
    }
}

bool gyre_streams_wait(gyre_actor *actor)
{
    for (uint32_t p = 0; p < actor->shape.ports && actor->port[p]; p++)
        for (uint32_t i = 0; i < actor->port[p]->wires * GYRE_MAILBOX_ERRANDS; i++) {
            gyre_wire *const w = &actor->port[p]->wire[i / GYRE_MAILBOX_ERRANDS];
            const uint32_t k = i % GYRE_MAILBOX_ERRANDS;

            /* seq_cst [actor-errand]: pairs with begin */
            if (!gyre_word_is(&w->passed[k], turn_of(atomic_load(&w->errand[k]))))
                return true;
        }
    return false;
}

/* Whether no stream will touch the memory of a wire any more. */
static bool is_left_alone(const gyre_port *port, uint32_t seat)
{
    const gyre_wire *const w = &port->wire[seat];
    const uint32_t tail = gyre_wire_own(&w->tail);
    const uint32_t told = gyre_mailbox_load(&w->seat->heads[port->index]);

    for (uint32_t k = 0; k < GYRE_MAILBOX_ERRANDS; k++)
        if (!gyre_wire_has_passed(w, k))
            return false;
    /* a head that is not between would be somebody else's writing */
    for (uint32_t s = tail - told <= tail - w->head ? told : w->head; s != tail; s++)
        if (gyre_port_is_held(port, seat, s))
            return false;
    return true;
}

gyre_status gyre_streams_await(gyre_actor *actor, uint64_t deadline_ns)
{
    uint32_t rounds = 0;

    for (uint32_t p = 0; p < actor->shape.ports && actor->port[p]; p++)
        for (uint32_t i = 0; i < actor->port[p]->wires; i++)
            /* those that a launch came to before it had no memory */
            while (actor->port[p]->wire[i].entries && !is_left_alone(actor->port[p], i)) {
                /* streams of a context that is lost do not come any more */
                if (gyre_clock_now_ns() >= deadline_ns ||
                    gyre_context_check(actor->context) != GYRE_OK)
                    return GYRE_TIMEOUT;
                gyre_actor_doze(&rounds);
            }
    return GYRE_OK;
}

/* Begins an errand, for the next call. GYRE_AGAIN: not while the actor is paused or off the device,
 * when those who wait for the stream would wait for its return. When it has ended, why. */
static gyre_status begin(gyre_port *port, gyre_wire *w, uint32_t k)
{
    /* relaxed: ours */
    const uint32_t turn = turn_of(atomic_load_explicit(&w->errand[k], memory_order_relaxed)) + 1;
    gyre_status status;
    uint32_t now;

    /* seq_cst [actor-errand], both: pair with gyre_actor_become, and with gyre_streams_release and
     * gyre_streams_wait behind it */
    atomic_store(&w->errand[k], (uint64_t)turn << 32 | w->called);
    now = atomic_load(&port->actor->status);
    if (now == GYRE_ACTOR_ACTIVE)
        return GYRE_OK;
    gyre_word_store(&w->passed[k], turn);
    if (now < GYRE_ACTOR_DRAINING)
        return GYRE_AGAIN;
    status = gyre_port_refuse(port, now);
    if (status == GYRE_OK && now == GYRE_ACTOR_AWAY) /* it was called back */
        return GYRE_AGAIN;
    return status != GYRE_OK ? status
                             : gyre_fail(GYRE_CLOSED, "actor '%s' is ending", port->actor->name);
}

/* The same, as soon as there is one that is over and the actor is active. */
static gyre_status await_errand(gyre_port *port, gyre_wire *w, uint64_t deadline_ns,
                                uint32_t *out_errand)
{
    gyre_waiting wait = {.deadline_ns = deadline_ns};
    gyre_status status = GYRE_AGAIN;

    while (status == GYRE_AGAIN) {
        gyre_wire_learn(port, w); /* bookings of those that are over forget them */
        for (uint32_t k = 0; k < GYRE_MAILBOX_ERRANDS && status == GYRE_AGAIN; k++)
            if (gyre_wire_has_passed(w, k)) {
                *out_errand = k;
                status = begin(port, w, k);
                break;
            }
        if (status != GYRE_AGAIN || port->rejects)
            return status;
        status = gyre_port_wait_on(port, &wait);
        status = status == GYRE_OK ? GYRE_AGAIN : status;
    }
    return status;
}

/* A message as it will be in its slot. */
static gyre_ring_payload pack(const gyre_brief *message, uint32_t flags, uint32_t correlation)
{
    gyre_mailbox_message whole = {.brief = *message};

    whole.payload.eight[0] = gyre_wire_head(message, flags, correlation);
    return whole.payload;
}

/* Into its slot, with stamps that are not right yet. */
static void write_held(const gyre_port *port, unsigned char *slot, uint32_t stamp,
                       const gyre_ring_payload *payload)
{
#if GYRE_RING_HAS_QUARTERS
    if (!port->wide) {
        gyre_ring_write((gyre_ring_slot *)(void *)slot, ~stamp, payload);
        return;
    }
#endif
    gyre_ring_wide_write((gyre_ring_wide_slot *)(void *)slot, ~stamp, payload);
}

/* The right ones, but for the last. */
static void stamp_held(const gyre_port *port, unsigned char *slot, uint32_t stamp,
                       const gyre_ring_payload *payload)
{
    gyre_ring_wide_slot wide;

#if GYRE_RING_HAS_QUARTERS
    if (!port->wide) {
        gyre_ring_slot copy;

        gyre_ring_pack(payload, stamp, &copy);
        for (int q = 0; q < 3; q++)
            gyre_ring_store_quarter(&((gyre_ring_slot *)(void *)slot)->quarter[q], copy.quarter[q]);
        return;
    }
#endif
    gyre_ring_wide_pack(payload, stamp, &wide);
    for (int i = 0; i < GYRE_RING_WORDS - 1; i++)
        gyre_ring_store_word(&((gyre_ring_wide_slot *)(void *)slot)->word[i], wide.word[i]);
}

/* Gives the stream what is its part, and then sends. There is room for the message, and `k` is its
 * errand, if it has one. */
static gyre_status go(gyre_port *port, gyre_wire *w, const errand *it, uint32_t k)
{
    const uint32_t tail = gyre_wire_own(&w->tail), stamp = gyre_ring_stamp(tail, port->salt);
    const uint32_t flags = it->how & ANSWERED ? GYRE_BRIEF_CALL : 0, number = w->called;
    unsigned char *const slot = gyre_wire_slot(port, w->requests, tail);
    gyre_brief timed;
    const gyre_brief *const message = gyre_wire_has_deadline(it->message)
                                          ? gyre_wire_time(port, w, it->message, &timed)
                                          : it->message;
    const gyre_ring_payload payload = pack(message, flags, flags ? number : 0);
    gyre_word words[3];
    gyre_status status;
    size_t count = 0;

    assert(!(it->how & BEFORE) || (uint32_t)atomic_load(&w->errand[k]) == number);
    if (it->how & AFTER) {
        write_held(port, slot, stamp, &payload);
        words[count++] = (gyre_word){GYRE_WORD_WRITE, stamp, last_stamp(port, slot)};
    }
    if (it->how & BEFORE) {
        words[count++] = (gyre_word){GYRE_WORD_WAIT, gyre_ring_stamp(number, port->salt),
                                     last_stamp(port, gyre_wire_slot(port, w->replies, number))};
        words[count++] = (gyre_word){
            GYRE_WORD_WRITE, turn_of(atomic_load_explicit(&w->errand[k], memory_order_relaxed)),
            &w->passed[k]};
    }
    status = gyre_stream_words(it->stream, words, count);
    if (status != GYRE_OK) {
        if (it->how & BEFORE) /* it is over, by the host */
            gyre_word_store(words[count - 1].at, words[count - 1].value);
        return status;
    }
    if (it->how & ANSWERED) {
        gyre_wire_book_asked(port, w, it->cookie);
        w->entries[number & port->mask].errand = (uint16_t)(it->how & BEFORE ? k + 1 : 0);
    } else {
        w->one_way = tail + 1;
        w->one_ways = true;
    }
    if (it->how & AFTER)
        stamp_held(port, slot, stamp, &payload);
    else
        gyre_slot_write(slot, port->wide, stamp, gyre_wire_head(message, flags, number), message);
    /* release [port-sent]: pairs with the acquire in gyre_port_sent */
    atomic_store_explicit(&w->tail, tail + 1, memory_order_release);
    if ((it->how & ANSWERED) && port->post && w->asked == 1)
        gyre_lookout_note(port);
    return GYRE_OK;
}

static gyre_status run(gyre_port *port, const errand *it, uint64_t deadline_ns)
{
    const bool call = it->how & ANSWERED;
    const gyre_device *const device = gyre_context_device(port->actor->context);
    gyre_status status = gyre_port_check(port);
    uint32_t k = 0;
    gyre_wire *w;

    if (status != GYRE_OK)
        return status;
    if (!it->stream || it->stream->context != port->actor->context)
        return gyre_fail(GYRE_INVALID, "actor '%s' and the stream are not of one context",
                         port->actor->name);
    if ((it->how & AFTER) && gyre_device_has(device, GYRE_FEATURE_TIME_LIMIT))
        return gyre_fail(GYRE_UNSUPPORTED,
                         "actor '%s' has to leave %s in time, whose driver ends kernels that run "
                         "for seconds, and could not while a message waits for a stream; send it "
                         "when the stream has come there",
                         port->actor->name, device->name);
    /* at once, and not after a wait for an actor that is not active */
    if ((it->how & BEFORE) && !gyre_device_has(device, GYRE_FEATURE_WAITS))
        return gyre_fail(GYRE_UNSUPPORTED, "streams of %s wait for no answers", device->name);
    w = gyre_port_choose(port);
    if (!gyre_wire_has_room(port, w, call))
        status = gyre_wire_await_room(port, &w, call, deadline_ns);
    if (status == GYRE_OK && call)
        status = gyre_wire_prepare(port, w);
    if (status == GYRE_OK && (it->how & BEFORE))
        status = await_errand(port, w, deadline_ns, &k);
    return status == GYRE_OK ? go(port, w, it, k) : status;
}

gyre_status gyre_port_send_after(gyre_port *port, gyre_stream *stream, const gyre_brief *message,
                                 uint64_t deadline_ns)
{
    return run(port, &(errand){stream, message, AFTER, 0}, deadline_ns);
}

gyre_status gyre_port_ask_after(gyre_port *port, gyre_stream *stream, const gyre_brief *message,
                                uint64_t cookie, uint64_t deadline_ns)
{
    return run(port, &(errand){stream, message, AFTER | ANSWERED, cookie}, deadline_ns);
}

gyre_status gyre_port_ask_before(gyre_port *port, gyre_stream *stream, const gyre_brief *message,
                                 uint64_t cookie, uint64_t deadline_ns)
{
    return run(port, &(errand){stream, message, BEFORE | ANSWERED, cookie}, deadline_ns);
}

gyre_status gyre_port_ask_between(gyre_port *port, gyre_stream *stream, const gyre_brief *message,
                                  uint64_t cookie, uint64_t deadline_ns)
{
    return run(port, &(errand){stream, message, AFTER | BEFORE | ANSWERED, cookie}, deadline_ns);
}
