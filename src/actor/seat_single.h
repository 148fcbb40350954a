/* SPDX-License-Identifier: Apache-2.0
 *
 * seat_single: what a seat with one lane knows, where it begins, and what it has to do with the
 * host beside messages: obeys its orders, and tells it how far it is. For actor/loop_single.h,
 * which says what GYRE_LOOP_OWN and GYRE_LOOP_NOW are.
 *
 * Threads   one. Edges: [actor-order] with actor/order.c, [actor-heads] the counts that it
 *           publishes.
 * Owns      nothing.
 * Not here  messages (actor/loop_single.h).
 */
#ifndef GYRE_ACTOR_SEAT_SINGLE_H
#define GYRE_ACTOR_SEAT_SINGLE_H

#ifndef GYRE_ACTOR_ANNEX_ABI_H
#include "actor/annex_abi.h"
#endif
#ifndef GYRE_ACTOR_MAILBOX_WORDS_H
#include "actor/mailbox_words.h"
#endif
#ifndef GYRE_ACTOR_PRINT_SINGLE_H
#include "actor/print_single.h"
#endif
#ifndef GYRE_BEHAVIOUR_H
#include "gyre/behaviour.h"
#endif

typedef struct gyre_loop {
    GYRE_MAILBOX_BYTE *memory; /* of the seat */
    GYRE_MAILBOX_BYTE *bells;  /* its first row */
    GYRE_GLOBAL gyre_seat *seat;
    GYRE_GLOBAL gyre_annex *annex;
    gyre_prints prints;
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
    gyre_abi_u32 last_error;
    gyre_abi_u64 processed, dropped, errors;
    gyre_abi_u64 since_ns; /* of the message in hand: when it was looked for, the last one done */
    gyre_abi_u64 total_ns, min_ns, max_ns;
    gyre_abi_u64 told; /* what `processed` was when all the rest was told */
    GYRE_LOOP_OWN
} gyre_loop;

GYRE_RING_INLINE void gyre_loop_init(GYRE_RING_OWN gyre_loop *loop, GYRE_MAILBOX_BYTE *mailbox,
                                     gyre_mailbox_shape shape, gyre_abi_u32 seat)
{
    loop->memory = mailbox + seat * shape.seat_bytes;
    loop->bells = loop->memory + gyre_mailbox_bell_at(&shape, 0, 0);
    loop->seat = (GYRE_GLOBAL gyre_seat *)loop->memory;
    loop->annex = (GYRE_GLOBAL gyre_annex *)(loop->memory + gyre_mailbox_annex_at(&shape));
    gyre_prints_init(&loop->prints, loop->annex, &shape);
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
    loop->errors = gyre_mailbox_load64(&loop->seat->control.device.error_count);
    loop->last_error = gyre_mailbox_load(&loop->seat->control.device.last_error);
    loop->processed = loop->told = gyre_mailbox_load64(&loop->seat->control.device.processed);
    loop->dropped = gyre_mailbox_load64(&loop->seat->telemetry.dropped);
    loop->total_ns = gyre_mailbox_load64(&loop->seat->telemetry.total_latency_ns);
    loop->min_ns = gyre_mailbox_load64(&loop->seat->telemetry.min_latency_ns);
    loop->max_ns = gyre_mailbox_load64(&loop->seat->telemetry.max_latency_ns);
    loop->since_ns = GYRE_LOOP_NOW();
}

/* Whether a gate is shut: it may have gone beyond before it saw the order. */
GYRE_RING_INLINE int gyre_loop_shut(const GYRE_RING_OWN gyre_loop *loop, gyre_abi_u32 count,
                                    gyre_abi_u32 gate)
{
    return loop->gated && (gyre_abi_i32)(count - gate) >= 0;
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
    gyre_mailbox_store(&device->last_error, loop->last_error);
    gyre_mailbox_store64(&device->error_count, loop->errors);
    gyre_mailbox_store64(&device->input_head, loop->processed);
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

#endif
