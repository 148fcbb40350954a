/* SPDX-License-Identifier: Apache-2.0
 *
 * mailbox_abi: where everything lies in the memory through which a host and its actor talk.
 *
 * An actor has one or more seats, each of them a block of a device or a thread, and each seat has a
 * mailbox of its own: a crew is several seats of which the host picks one for each message. A seat
 * serves up to 16 ports, one for each host thread, and a port has with each seat
 *   requests  a ring to the seat, whose slots carry the sequence of the message as their stamp;
 *   replies   a ring from the seat. The host numbers its calls: the answer to call n lies in slot n
 *             modulo the capacity. So the host alone knows how much room there is, and the seat
 *             never waits for any;
 *   a bell    one slot for the call of a port that has nothing else under way. It may be
 *             written several times over, in replicas 4 KiB apart: readers of one address wait for
 *             each other on a GPU, those of several see the call sooner. Whoever sees it first
 *             answers. Bell n has stamp 2n, its answer 2n + 1.
 *
 * Lines of a seat, by who writes them:
 *   control   gyre/actor_abi.h: one line the host's, one the seat's
 *   telemetry the seat's
 *   heads     the seat's: requests of each port that were handled, all up to there; the host may
 *             write as many slots again
 *   rung      the seat's: bells of each port that were answered
 *   gates     the host's: how many requests and bells of each port may be taken while an order says
 *             that the actor is to pause, or to drain
 *
 * Behind the rings is the annex (actor/annex_abi.h): what the seat prints, and its histogram.
 *
 * An order is: the gates, `active` and `should_terminate`, then the number of the order, released.
 * The seat looks at that number when it is idle, and now and then when it is not; so it may be
 * beyond a gate already when it reads it. A seat that ends leaves the number of the order that it
 * ended by: one that was told to end, and then something else, may have ended by the first.
 *
 * Compiles as C11, C++17, CUDA C (nvcc and NVRTC) and OpenCL C 1.2.
 *
 * Threads   one writer of a word, as said.
 * Owns      nothing.
 * Not here  reading and writing these words (actor/mailbox_words.h), slots (flow/ring_abi.h).
 */
#ifndef GYRE_ACTOR_MAILBOX_ABI_H
#define GYRE_ACTOR_MAILBOX_ABI_H

#ifndef GYRE_ACTOR_ABI_H
#include "gyre/actor_abi.h"
#endif
#ifndef GYRE_FLOW_RING_ABI_H
#include "flow/ring_abi.h"
#endif

/* The kernels of a device's seats: what runs them, and what tells of which behaviour it is. The
 * number goes up with every change of what host and seats must agree on: an image that was made
 * before then has no kernel of that name, and is refused. */
#define GYRE_MAILBOX_KERNEL gyre_actor_v2
#define GYRE_MAILBOX_ABOUT gyre_actor_about_v2

enum {
    GYRE_MAILBOX_PORTS = 16,      /* most */
    GYRE_MAILBOX_REPLICAS = 32,   /* most, of a bell */
    GYRE_MAILBOX_ROW = 4096,      /* bytes from one replica to the next */
    GYRE_MAILBOX_CAPACITY = 1024, /* slots of a ring, by default */
};

/* What a seat begins with. Everything has a line of its own. */
typedef struct __attribute__((aligned(128))) gyre_seat {
    gyre_control_block control;
    gyre_telemetry telemetry;
    gyre_abi_u32 heads[GYRE_MAILBOX_PORTS];
    gyre_abi_u32 rung[GYRE_MAILBOX_PORTS];
    gyre_abi_u32 gates[GYRE_MAILBOX_PORTS];
    gyre_abi_u32 bell_gates[GYRE_MAILBOX_PORTS];
} gyre_seat;

/* What a seat does when there is nothing to do. */
enum {
    GYRE_SEAT_SPINS = 1,
    GYRE_SEAT_BACKS_OFF = 2, /* looks less and less often */
};

/* What it keeps of the times of messages; the second not without the first. */
enum {
    GYRE_SEAT_TELEMETRY = 1,
    GYRE_SEAT_HISTOGRAM = 2,
};

/* How an actor was launched: the same for all seats, and passed by value. */
typedef struct gyre_mailbox_shape {
    gyre_abi_u64 seat_bytes; /* from one seat to the next */
    gyre_abi_u64 bells;      /* where rows of bells are, for the device; 0: in the mailbox */
    gyre_abi_u32 seats;
    gyre_abi_u32 ports;    /* a power of two */
    gyre_abi_u32 capacity; /* slots of a ring, a power of two */
    gyre_abi_u32 replicas; /* of each bell; 0: there are no bells */
    gyre_abi_u32 incarnation;
    gyre_abi_u32 wide;      /* slots are gyre_ring_wide_slot */
    gyre_abi_u32 lanes;     /* that handle a message */
    gyre_abi_u32 in_place;  /* a bell is answered in its own slot, the first replica */
    gyre_abi_u32 idle;      /* GYRE_SEAT_... */
    gyre_abi_u32 spin_us;   /* how long it looks without pause, before it does that */
    gyre_abi_u32 nap_us;    /* the longest pause */
    gyre_abi_u32 telemetry; /* bits: GYRE_SEAT_TELEMETRY, GYRE_SEAT_HISTOGRAM */
    gyre_abi_u32 prints;    /* slots of the annex, a power of two */
    gyre_abi_u32 reserved;
} gyre_mailbox_shape;

/* What an image is told by, beside the names of its kernels. */
typedef struct gyre_mailbox_about {
    gyre_abi_u64 width; /* GYRE_WIDTH_... */
    gyre_abi_u64 state_bytes;
} gyre_mailbox_about;

/* A message as the slots carry it, and as behaviours see it. */
typedef union gyre_mailbox_message {
    gyre_ring_payload payload;
    gyre_brief brief;
} gyre_mailbox_message;

GYRE_ABI_ASSERT(seat_size, sizeof(gyre_seat) == 512);
GYRE_ABI_ASSERT(seat_telemetry_at, GYRE_ABI_OFFSET(gyre_seat, telemetry) == 128);
GYRE_ABI_ASSERT(seat_heads_at, GYRE_ABI_OFFSET(gyre_seat, heads) == 192);
GYRE_ABI_ASSERT(seat_rung_at, GYRE_ABI_OFFSET(gyre_seat, rung) == 256);
GYRE_ABI_ASSERT(seat_gates_at, GYRE_ABI_OFFSET(gyre_seat, gates) == 320);
GYRE_ABI_ASSERT(seat_bell_gates_at, GYRE_ABI_OFFSET(gyre_seat, bell_gates) == 384);
GYRE_ABI_ASSERT(order_words, GYRE_ABI_OFFSET(gyre_control_host, active) == 0 &&
                                 GYRE_ABI_OFFSET(gyre_control_host, should_terminate) == 4);
GYRE_ABI_ASSERT(shape_size, sizeof(gyre_mailbox_shape) == 72);
GYRE_ABI_ASSERT(payload_is_a_brief, sizeof(gyre_brief) == sizeof(gyre_ring_payload));

#if defined(__OPENCL_VERSION__)
#define GYRE_MAILBOX_BYTE __global gyre_abi_u8
#else
#define GYRE_MAILBOX_BYTE gyre_abi_u8
#endif

GYRE_RING_INLINE gyre_abi_u32 gyre_mailbox_slot_bytes(const GYRE_RING_OWN gyre_mailbox_shape *shape)
{
    return shape->wide ? (gyre_abi_u32)sizeof(gyre_ring_wide_slot)
                       : (gyre_abi_u32)sizeof(gyre_ring_slot);
}

/* Where, in bytes from the beginning of a seat. Answers to bells, then rows of bells: a row has one
 * slot for each port; then the rings. */
GYRE_RING_INLINE gyre_abi_u64 gyre_mailbox_bell_at(const GYRE_RING_OWN gyre_mailbox_shape *shape,
                                                   gyre_abi_u32 port, gyre_abi_u32 replica)
{
    return (gyre_abi_u64)GYRE_MAILBOX_ROW * (1 + replica) +
           (gyre_abi_u64)port * gyre_mailbox_slot_bytes(shape);
}

/* From the first row of all seats' bells, where they are apart. */
GYRE_RING_INLINE gyre_abi_u64 gyre_mailbox_bell_apart(const GYRE_RING_OWN gyre_mailbox_shape *shape,
                                                      gyre_abi_u32 seat, gyre_abi_u32 port,
                                                      gyre_abi_u32 replica)
{
    return gyre_mailbox_bell_at(shape, port, seat * shape->replicas + replica) - GYRE_MAILBOX_ROW;
}

GYRE_RING_INLINE gyre_abi_u64 gyre_mailbox_answer_at(const GYRE_RING_OWN gyre_mailbox_shape *shape,
                                                     gyre_abi_u32 port)
{
    if (shape->in_place)
        return gyre_mailbox_bell_at(shape, port, 0);
    return sizeof(gyre_seat) + (gyre_abi_u64)port * gyre_mailbox_slot_bytes(shape);
}

GYRE_RING_INLINE gyre_abi_u64 gyre_mailbox_ring_bytes(const GYRE_RING_OWN gyre_mailbox_shape *shape)
{
    return (gyre_abi_u64)shape->capacity * gyre_mailbox_slot_bytes(shape);
}

GYRE_RING_INLINE gyre_abi_u64
gyre_mailbox_requests_at(const GYRE_RING_OWN gyre_mailbox_shape *shape, gyre_abi_u32 port)
{
    return (gyre_abi_u64)GYRE_MAILBOX_ROW * (1 + shape->replicas) +
           2 * port * gyre_mailbox_ring_bytes(shape);
}

GYRE_RING_INLINE gyre_abi_u64 gyre_mailbox_replies_at(const GYRE_RING_OWN gyre_mailbox_shape *shape,
                                                      gyre_abi_u32 port)
{
    return gyre_mailbox_requests_at(shape, port) + gyre_mailbox_ring_bytes(shape);
}

/* Behind the rings, on a page of its own: actor/annex_abi.h. */
GYRE_RING_INLINE gyre_abi_u64 gyre_mailbox_annex_at(const GYRE_RING_OWN gyre_mailbox_shape *shape)
{
    return (gyre_mailbox_requests_at(shape, shape->ports) + GYRE_MAILBOX_ROW - 1) /
           GYRE_MAILBOX_ROW * GYRE_MAILBOX_ROW;
}

#endif
