/* SPDX-License-Identifier: Apache-2.0
 *
 * loop_single: a seat with one lane: takes messages, has them handled, answers. For threads of the
 * CPU (actor/seat_cpu.c) and for OpenCL, where it comes after the text of the behaviour.
 *
 * Each round takes up to eight messages that are there, from all ports in turn, and handles those
 * of the highest band first. Between rounds it looks at the host's orders, when idle or now and
 * then, and publishes how far it is.
 *
 * A message's time is from the look that found it, or from the end of the one before, to its own
 * end: one reading of the clock for each, after the answer is out.
 *
 * Who includes it defines
 *   GYRE_LOOP_OWN                               fields that it needs itself, in gyre_loop;
 *   GYRE_LOOP_HANDLE(loop, self, state, brief)  has one message handled;
 *   GYRE_LOOP_NOW()                             nanoseconds, or 0 where there is no clock;
 *   GYRE_LOOP_TIME(loop)                        the host's clock, by which messages are late;
 *   GYRE_LOOP_REST(loop, idle)                  after that many rounds without a message, and
 *                                               after 0 when there was nothing but a bell.
 *
 * Threads   one. Edges: [ring-slot] with the port, [actor-order] with actor/order.c.
 * Owns      nothing.
 * Not here  what the seat knows, obeys and tells (actor/seat_single.h).
 */
#ifndef GYRE_ACTOR_LOOP_SINGLE_H
#define GYRE_ACTOR_LOOP_SINGLE_H

#ifndef GYRE_ACTOR_SEAT_SINGLE_H
#include "actor/seat_single.h"
#endif
#ifndef GYRE_ACTOR_SLOT_H
#include "actor/slot.h"
#endif
#ifndef GYRE_BEHAVIOUR_H
#include "gyre/behaviour.h"
#endif

enum { GYRE_LOOP_HAND = 8, GYRE_LOOP_ORDERS = 64 };

/* A message in hand, and what becomes of its answer. */
typedef struct gyre_loop_taken {
    gyre_brief brief;
    gyre_abi_u32 port;
    gyre_abi_u32 is_bell; /* it did not come by the ring; */
    gyre_abi_u32 bell;    /* then its number */
} gyre_loop_taken;

GYRE_RING_INLINE gyre_abi_u64 gyre_loop_slot(const GYRE_RING_OWN gyre_loop *loop, gyre_abi_u64 ring,
                                             gyre_abi_u32 sequence)
{
    return ring + (gyre_abi_u64)(sequence & (loop->shape.capacity - 1)) *
                      gyre_mailbox_slot_bytes(&loop->shape);
}

/* Takes the bell of a port, or what its ring has. */
GYRE_RING_INLINE gyre_abi_u32 gyre_loop_take(GYRE_RING_OWN gyre_loop *loop, gyre_abi_u32 port,
                                             GYRE_RING_OWN gyre_loop_taken *hand,
                                             gyre_abi_u32 count)
{
    const gyre_abi_u64 ring = gyre_mailbox_requests_at(&loop->shape, port);

    if (loop->shape.replicas && !gyre_loop_shut(loop, loop->rung[port], loop->bell_gate[port])) {
        const gyre_abi_u32 bell = loop->rung[port] + 1;

        if (gyre_slot_read(loop->bells + port * gyre_mailbox_slot_bytes(&loop->shape),
                           loop->shape.wide, gyre_ring_stamp(2 * bell, loop->salt),
                           &hand[count].brief)) {
            hand[count].port = port;
            hand[count].is_bell = 1;
            hand[count++].bell = bell;
            loop->rung[port] = bell;
            return count; /* whoever rings has nothing in the ring */
        }
    }
    while (count < GYRE_LOOP_HAND && !gyre_loop_shut(loop, loop->head[port], loop->gate[port]) &&
           gyre_slot_read(loop->memory + gyre_loop_slot(loop, ring, loop->head[port]),
                          loop->shape.wide, gyre_ring_stamp(loop->head[port], loop->salt),
                          &hand[count].brief)) {
        hand[count].port = port;
        hand[count++].is_bell = 0;
        loop->head[port]++;
    }
    return count;
}

GYRE_RING_INLINE void gyre_loop_answer(GYRE_RING_OWN gyre_loop *loop,
                                       const GYRE_RING_OWN gyre_loop_taken *taken,
                                       GYRE_RING_OWN gyre_self *self)
{
    const GYRE_RING_OWN gyre_brief *const brief = &taken->brief;
    gyre_abi_u64 at;
    gyre_abi_u32 stamp, flags = 0;

    if (self->error) {
        flags = GYRE_BRIEF_FAILED;
        self->answer.body.words[0] = self->error;
    } else if (!self->answered) {
        flags = GYRE_BRIEF_EMPTY;
    }
    if (taken->is_bell) {
        at = gyre_mailbox_answer_at(&loop->shape, taken->port);
        stamp = gyre_ring_stamp(2 * taken->bell + 1, loop->salt);
    } else {
        at = gyre_loop_slot(loop, gyre_mailbox_replies_at(&loop->shape, taken->port),
                            brief->correlation);
        stamp = gyre_ring_stamp(brief->correlation, loop->salt);
    }
    gyre_slot_write(loop->memory + at, loop->shape.wide, stamp,
                    gyre_slot_head(brief, flags, brief->correlation), &self->answer);
}

/* One more is handled, which is told at once, though there may be no time for more: so that nobody
 * takes a seat that has much to do for one that hangs. The host looks there now and then only, so
 * the line stays here; and after the answer, which should not wait for it. */
GYRE_RING_INLINE void gyre_loop_count(GYRE_RING_OWN gyre_loop *loop,
                                      const GYRE_RING_OWN gyre_loop_taken *taken)
{
    loop->processed++;
    gyre_mailbox_store64(&loop->seat->control.device.processed, loop->processed);
    if (taken->is_bell)
        gyre_mailbox_store(&loop->seat->rung[taken->port], taken->bell);
}

/* Into its bucket, where the host sees it at once. */
GYRE_RING_INLINE void gyre_loop_sort(GYRE_RING_OWN gyre_loop *loop, gyre_abi_u64 took_ns)
{
    GYRE_GLOBAL gyre_abi_u64 *const count = &loop->annex->histogram[gyre_annex_bucket(took_ns)];

    gyre_mailbox_store64(count, gyre_mailbox_load64(count) + 1);
}

GYRE_RING_INLINE void gyre_loop_handle(GYRE_RING_OWN gyre_loop *loop,
                                       GYRE_RING_OWN gyre_loop_taken *taken,
                                       GYRE_RING_OWN gyre_self *self, GYRE_GLOBAL void *state)
{
    const GYRE_RING_OWN gyre_brief *const brief = &taken->brief;
    const gyre_abi_u32 late = (brief->flags & GYRE_BRIEF_DEADLINE) &&
                              GYRE_LOOP_TIME(loop) > brief->body.reference.deadline_ns;

    self->answered = 0;
    self->error = GYRE_ACTOR_NO_ERROR;
    if (late) {
        self->error = GYRE_ACTOR_TIMEOUT;
        loop->dropped++;
    } else if (brief->type < GYRE_BRIEF_OWN) {
        GYRE_LOOP_HANDLE(loop, self, state, brief);
    }
    if (brief->flags & GYRE_BRIEF_CALL)
        gyre_loop_answer(loop, taken, self);
    gyre_loop_count(loop, taken);
    if (self->error) {
        loop->errors += !late;
        loop->last_error = self->error;
    }
    if (loop->shape.telemetry) {
        const gyre_abi_u64 now_ns = GYRE_LOOP_NOW(), took_ns = now_ns - loop->since_ns;

        loop->since_ns = now_ns;
        loop->total_ns += took_ns;
        if (took_ns < loop->min_ns)
            loop->min_ns = took_ns;
        if (took_ns > loop->max_ns)
            loop->max_ns = took_ns;
        if (loop->shape.telemetry & GYRE_SEAT_HISTOGRAM)
            gyre_loop_sort(loop, took_ns);
    }
}

/* The whole life of a seat. */
GYRE_RING_INLINE void gyre_loop_run(GYRE_RING_OWN gyre_loop *loop, GYRE_RING_OWN gyre_self *self,
                                    GYRE_GLOBAL void *state)
{
    gyre_loop_taken hand[GYRE_LOOP_HAND] = {{.port = 0}};
    gyre_abi_u32 idle = 0, rounds = 0, first = 0;

    /* release [actor-order]: the host sees that this launch has come to life */
    gyre_mailbox_release(&loop->seat->control.device.incarnation, loop->shape.incarnation);
    for (;;) {
        gyre_abi_u32 count = 0, rings;

        for (gyre_abi_u32 i = 0; i < loop->shape.ports && count < GYRE_LOOP_HAND; i++)
            count = gyre_loop_take(loop, (first + i) & (loop->shape.ports - 1), hand, count);
        first++;
        for (gyre_abi_u32 band = 4; band-- > 0;)
            for (gyre_abi_u32 i = 0; i < count; i++)
                if (hand[i].brief.priority >> 6 == band)
                    gyre_loop_handle(loop, &hand[i], self, state);
        idle = count ? 0 : idle + 1;
        if (count)
            gyre_loop_publish(loop, loop->shape.capacity / 4);
        rings = count == 1 && hand[0].is_bell;
        if (idle || rings) {
            GYRE_LOOP_REST(loop, idle);
            if (loop->shape.telemetry)
                loop->since_ns = GYRE_LOOP_NOW();
        }
        /* not after each of many looks in vain, nor of bells, whose callers wait; but no more is
         * handled after an order than what was in hand */
        if (++rounds % GYRE_LOOP_ORDERS != 0 && (idle || rings))
            continue;
        if (!gyre_loop_obey(loop))
            break;
        if (idle >= GYRE_LOOP_ORDERS)
            gyre_loop_tell(loop);
    }
    gyre_loop_tell(loop);
    gyre_mailbox_store(&loop->seat->control.device.order, loop->order);
    /* release [actor-order]: the host may take the memory back */
    gyre_mailbox_release(&loop->seat->control.device.has_terminated, 1);
}

#endif
