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
 * Threads   one. Edges: [ring-slot] with the port, [actor-order] with actor/order.c, [actor-heads]
 *           the counts that it publishes.
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_LOOP_SINGLE_H
#define GYRE_ACTOR_LOOP_SINGLE_H

#ifndef GYRE_ACTOR_ANNEX_ABI_H
#include "actor/annex_abi.h"
#endif
#ifndef GYRE_ACTOR_MAILBOX_WORDS_H
#include "actor/mailbox_words.h"
#endif
#ifndef GYRE_ACTOR_SLOT_H
#include "actor/slot.h"
#endif
#ifndef GYRE_BEHAVIOUR_H
#include "gyre/behaviour.h"
#endif

enum { GYRE_LOOP_HAND = 8, GYRE_LOOP_ORDERS = 64 };

typedef struct gyre_loop {
    GYRE_MAILBOX_BYTE *memory; /* of the seat */
    GYRE_MAILBOX_BYTE *bells;  /* its first row */
    GYRE_GLOBAL gyre_seat *seat;
    GYRE_GLOBAL gyre_annex *annex;
    gyre_mailbox_shape shape;
    gyre_abi_u32 salt;
    gyre_abi_u32 head[GYRE_MAILBOX_PORTS];      /* requests handled */
    gyre_abi_u32 published[GYRE_MAILBOX_PORTS]; /* and what the host knows of it */
    gyre_abi_u32 rung[GYRE_MAILBOX_PORTS];      /* bells answered */
    gyre_abi_u32 gate[GYRE_MAILBOX_PORTS];      /* how far it may go, if gated */
    gyre_abi_u32 bell_gate[GYRE_MAILBOX_PORTS];
    gyre_abi_u32 gated;
    gyre_abi_u32 ends;  /* 1: at once; 2: at the gates */
    gyre_abi_u32 order; /* the last that it has seen */
    gyre_abi_u32 errors, last_error;
    gyre_abi_u64 processed, dropped;
    gyre_abi_u64 since_ns; /* of the message in hand: when it was looked for, the last one done */
    gyre_abi_u64 total_ns, min_ns, max_ns;
    gyre_abi_u64 told; /* `processed` as the host knows it */
    GYRE_LOOP_OWN
} gyre_loop;

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

/* Whether a gate is shut: it may have gone beyond before it saw the order. */
GYRE_RING_INLINE int gyre_loop_shut(const GYRE_RING_OWN gyre_loop *loop, gyre_abi_u32 count,
                                    gyre_abi_u32 gate)
{
    return loop->gated && (gyre_abi_i32)(count - gate) >= 0;
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
    loop->processed++;
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

/* Tells how many slots may be written again: when a quarter of the ring is due, or all. */
GYRE_RING_INLINE void gyre_loop_publish(GYRE_RING_OWN gyre_loop *loop, gyre_abi_u32 due)
{
    for (gyre_abi_u32 port = 0; port < loop->shape.ports; port++)
        if (loop->head[port] - loop->published[port] >= due) {
            loop->published[port] = loop->head[port];
            /* release [actor-heads]: whoever sees it may see what those messages did */
            gyre_mailbox_release(&loop->seat->heads[port], loop->head[port]);
        }
}

GYRE_RING_INLINE void gyre_loop_tell(GYRE_RING_OWN gyre_loop *loop)
{
    GYRE_GLOBAL gyre_control_device *const device = &loop->seat->control.device;
    GYRE_GLOBAL gyre_telemetry *const telemetry = &loop->seat->telemetry;

    if (loop->told == loop->processed)
        return;
    loop->told = loop->processed;
    gyre_loop_publish(loop, 1);
    for (gyre_abi_u32 port = 0; port < loop->shape.ports; port++)
        gyre_mailbox_store(&loop->seat->rung[port], loop->rung[port]);
    gyre_mailbox_store(&device->last_error, loop->last_error);
    gyre_mailbox_store64(&device->error_count, loop->errors);
    gyre_mailbox_store64(&device->input_head, loop->processed);
    gyre_mailbox_store64(&device->processed, loop->processed);
    gyre_mailbox_store64(&telemetry->dropped, loop->dropped);
    if (!loop->shape.telemetry)
        return;
    gyre_mailbox_store64(&telemetry->total_latency_ns, loop->total_ns);
    gyre_mailbox_store64(&telemetry->min_latency_ns, loop->min_ns);
    gyre_mailbox_store64(&telemetry->max_latency_ns, loop->max_ns);
    gyre_mailbox_store(&telemetry->last_error, loop->last_error);
    gyre_mailbox_store64(&telemetry->processed, loop->processed);
}

/* Whether everything up to the gates is handled. */
GYRE_RING_INLINE int gyre_loop_at_gates(const GYRE_RING_OWN gyre_loop *loop)
{
    for (gyre_abi_u32 port = 0; port < loop->shape.ports; port++)
        if (!gyre_loop_shut(loop, loop->head[port], loop->gate[port]) ||
            !gyre_loop_shut(loop, loop->rung[port], loop->bell_gate[port]))
            return 0;
    return 1;
}

/* Looks for a new order, and says when the last one is carried out. False: it is to end. */
GYRE_RING_INLINE int gyre_loop_obey(GYRE_RING_OWN gyre_loop *loop)
{
    GYRE_GLOBAL gyre_seat *const seat = loop->seat;
    /* acquire [actor-order]: pairs with the release in actor/order.c; the words and gates of the
     * order are there */
    const gyre_abi_u32 order = gyre_mailbox_acquire(&seat->control.host.order);

    if (order != loop->order) {
        const gyre_abi_u64 words = gyre_mailbox_load_order(&seat->control.host);

        loop->gated = !(gyre_abi_u32)words;
        loop->ends = (gyre_abi_u32)(words >> 32);
        loop->order = order;
        for (gyre_abi_u32 port = 0; port < loop->shape.ports; port++) {
            loop->gate[port] = gyre_mailbox_load(&seat->gates[port]);
            loop->bell_gate[port] = gyre_mailbox_load(&seat->bell_gates[port]);
        }
    }
    if (loop->ends != 1 && loop->gated && !gyre_loop_at_gates(loop))
        return 1;
    if (loop->ends)
        return 0;
    if (gyre_mailbox_load(&seat->control.device.order) != order) {
        gyre_loop_tell(loop);
        /* release [actor-order]: pairs with the acquire in actor/order.c; what was handled before
         * can be seen */
        gyre_mailbox_release(&seat->control.device.order, order);
    }
    return 1;
}

GYRE_RING_INLINE void gyre_loop_init(GYRE_RING_OWN gyre_loop *loop, GYRE_MAILBOX_BYTE *mailbox,
                                     gyre_mailbox_shape shape, gyre_abi_u32 seat)
{
    loop->memory = mailbox + seat * shape.seat_bytes;
    loop->bells = loop->memory + gyre_mailbox_bell_at(&shape, 0, 0);
    loop->seat = (GYRE_GLOBAL gyre_seat *)loop->memory;
    loop->annex = (GYRE_GLOBAL gyre_annex *)(loop->memory + gyre_mailbox_annex_at(&shape));
    loop->shape = shape;
    loop->salt = gyre_ring_salt(shape.incarnation);
    for (gyre_abi_u32 port = 0; port < shape.ports; port++) {
        /* where this incarnation was before it was parked, or where the host lets it begin */
        loop->head[port] = loop->published[port] = gyre_mailbox_load(&loop->seat->heads[port]);
        loop->rung[port] = gyre_mailbox_load(&loop->seat->rung[port]);
        loop->gate[port] = loop->head[port];
        loop->bell_gate[port] = loop->rung[port];
    }
    loop->gated = 1;
    loop->ends = 0;
    loop->order = gyre_mailbox_load(&loop->seat->control.device.order);
    loop->errors = (gyre_abi_u32)gyre_mailbox_load64(&loop->seat->control.device.error_count);
    loop->last_error = gyre_mailbox_load(&loop->seat->control.device.last_error);
    loop->processed = loop->told = gyre_mailbox_load64(&loop->seat->control.device.processed);
    loop->dropped = gyre_mailbox_load64(&loop->seat->telemetry.dropped);
    loop->total_ns = gyre_mailbox_load64(&loop->seat->telemetry.total_latency_ns);
    loop->min_ns = gyre_mailbox_load64(&loop->seat->telemetry.min_latency_ns);
    loop->max_ns = gyre_mailbox_load64(&loop->seat->telemetry.max_latency_ns);
    loop->since_ns = GYRE_LOOP_NOW();
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
        gyre_abi_u32 count = 0;

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
        if (idle || (count == 1 && hand[0].is_bell)) {
            GYRE_LOOP_REST(loop, idle);
            if (loop->shape.telemetry)
                loop->since_ns = GYRE_LOOP_NOW();
        }
        if (++rounds % GYRE_LOOP_ORDERS != 0)
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
