/* SPDX-License-Identifier: Apache-2.0
 *
 * annex_abi: what a seat has behind its rings: what its behaviour prints on the way to the host,
 * and how long its messages took. The loops do not come here but for those.
 *
 * Prints are numbered. Number n lies in slot n modulo the capacity, with its number as its stamp
 * (flow/ring_abi.h), so the host sees whole ones, in their order. Whoever prints claims the next
 * number, unless the host has not read the one whose slot that is: then it is lost. So nobody ever
 * waits, and there are no holes.
 *
 * A print travels as a brief does: its kind as the type, then 32 bytes of text and 8 of the value.
 *
 * Compiles as C11, C++17, CUDA C (nvcc and NVRTC) and OpenCL C 1.2.
 *
 * Threads   one writer of a line, as said. Edge: [print-read] how far the host has read.
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_ANNEX_ABI_H
#define GYRE_ACTOR_ANNEX_ABI_H

#ifndef GYRE_ACTOR_MAILBOX_ABI_H
#include "actor/mailbox_abi.h"
#endif

enum {
    GYRE_PRINT_TEXT = 31, /* characters, most */
    GYRE_PRINT_VALUE = 4, /* where the value is, among the longs of the body */
    GYRE_PRINTS = 64,     /* slots, by default */
};

/* The host's line. */
typedef struct __attribute__((aligned(64))) gyre_annex_host {
    gyre_abi_u32 read; /* prints that it has read */
} gyre_annex_host;

/* The seat's line, which it reads when it begins. Then it keeps these for itself, and writes them
 * down: one with many lanes when it ends, but for `lost`, which it tells with how it fares. */
typedef struct __attribute__((aligned(64))) gyre_annex_seat {
    gyre_abi_u32 claimed; /* prints that have a slot */
    gyre_abi_u32 lost;    /* and those that found none */
} gyre_annex_seat;

/* The slots are behind it. */
typedef struct __attribute__((aligned(128))) gyre_annex {
    gyre_annex_host host;
    gyre_annex_seat seat;
    gyre_abi_u64 histogram[GYRE_HISTOGRAM_BUCKETS]; /* the seat's */
} gyre_annex;

GYRE_ABI_ASSERT(annex_seat_at, GYRE_ABI_OFFSET(gyre_annex, seat) == 64);
GYRE_ABI_ASSERT(annex_histogram_at, GYRE_ABI_OFFSET(gyre_annex, histogram) == 128);
GYRE_ABI_ASSERT(annex_size, sizeof(gyre_annex) == 1152);

/* Where the slot of a print is, in bytes from the beginning of the annex. */
GYRE_RING_INLINE gyre_abi_u64 gyre_annex_slot_at(gyre_abi_u32 number, gyre_abi_u32 capacity,
                                                 gyre_abi_u32 wide)
{
    return sizeof(gyre_annex) + (gyre_abi_u64)(number & (capacity - 1)) *
                                    (wide ? sizeof(gyre_ring_wide_slot) : sizeof(gyre_ring_slot));
}

/* Up to the next seat, in whole pages. */
GYRE_RING_INLINE gyre_abi_u64 gyre_annex_seat_bytes(const GYRE_RING_OWN gyre_mailbox_shape *shape)
{
    const gyre_abi_u64 bytes = gyre_mailbox_annex_at(shape) + sizeof(gyre_annex) +
                               (gyre_abi_u64)shape->prints * gyre_mailbox_slot_bytes(shape);

    return (bytes + GYRE_MAILBOX_ROW - 1) / GYRE_MAILBOX_ROW * GYRE_MAILBOX_ROW;
}

/* Which bucket counts a time. Up to 4 ns one each; then four for each power of two. */
GYRE_RING_INLINE gyre_abi_u32 gyre_annex_bucket(gyre_abi_u64 ns)
{
    gyre_abi_u32 power, bucket;

    if (ns < 4)
        return (gyre_abi_u32)ns;
#if defined(__OPENCL_VERSION__)
    power = 63 - (gyre_abi_u32)clz(ns);
#elif defined(__CUDA_ARCH__)
    power = 63 - (gyre_abi_u32)__clzll((long long)ns);
#else
    power = 63 - (gyre_abi_u32)__builtin_clzll(ns);
#endif
    bucket = 4 * (power - 1) + ((gyre_abi_u32)(ns >> (power - 2)) & 3);
    return bucket < GYRE_HISTOGRAM_BUCKETS ? bucket : GYRE_HISTOGRAM_BUCKETS - 1;
}

#endif
