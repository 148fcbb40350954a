/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_annex: what a block of a GPU prints and how long its messages took, on the way to the annex
 * of its seat. Atomic operations on the host's memory need a bus that has them, so counts are kept
 * in shared memory.
 *
 * Prints are written by whoever prints. How far the host has read is asked only when there seems to
 * be no room: that takes as long as any read of the host's memory. Buckets are told by the steward.
 *
 * Threads   any of the block; words of shared memory by atomic operations. Edges: [ring-slot],
 *           [print-read] with the host.
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_CUDA_ANNEX_H
#define GYRE_ACTOR_CUDA_ANNEX_H

#include "actor/annex_abi.h"

#include "actor/mailbox_words.h"

/* What the warps of a block share of it. */
typedef struct gyre_annex_books {
    gyre_annex *annex;
    gyre_abi_u32 claimed, lost; /* prints */
    gyre_abi_u32 read;          /* by the host, as far as is known: never more than it has */
    gyre_abi_u32 capacity, salt;
    gyre_abi_u32 low[GYRE_HISTOGRAM_BUCKETS];  /* counts of messages, */
    gyre_abi_u32 high[GYRE_HISTOGRAM_BUCKETS]; /* the upper halves, */
    gyre_abi_u32 told[GYRE_HISTOGRAM_BUCKETS]; /* and the lower ones as the host knows them */
} gyre_annex_books;

__shared__ gyre_annex_books gyre_books;

static __device__ __forceinline__ gyre_abi_u32 gyre_books_peek(const gyre_abi_u32 *word)
{
    return *(const volatile gyre_abi_u32 *)word;
}

static __device__ __forceinline__ void gyre_books_poke(gyre_abi_u32 *word, gyre_abi_u32 value)
{
    *(volatile gyre_abi_u32 *)word = value;
}

/* What they were when the seat was parked. By all threads, which meet afterwards. */
static __device__ __forceinline__ void gyre_books_init(gyre_annex *annex,
                                                       const gyre_mailbox_shape *shape)
{
    if (threadIdx.x == 0) {
        gyre_books.annex = annex;
        gyre_books.claimed = gyre_mailbox_load(&annex->seat.claimed);
        gyre_books.lost = gyre_mailbox_load(&annex->seat.lost);
        gyre_books.read = gyre_mailbox_load(&annex->host.read);
        gyre_books.capacity = shape->prints;
        gyre_books.salt = gyre_ring_salt(shape->incarnation);
    }
    if (shape->telemetry & GYRE_SEAT_HISTOGRAM)
        for (gyre_abi_u32 i = threadIdx.x; i < GYRE_HISTOGRAM_BUCKETS; i += blockDim.x) {
            const gyre_abi_u64 count = gyre_mailbox_load64(&annex->histogram[i]);

            gyre_books.low[i] = gyre_books.told[i] = (gyre_abi_u32)count;
            gyre_books.high[i] = (gyre_abi_u32)(count >> 32);
        }
}

/* Counts a message. */
static __device__ __noinline__ void gyre_books_sort(gyre_abi_u32 took_ns)
{
    const gyre_abi_u32 bucket = gyre_annex_bucket(took_ns);

    if (atomicAdd(&gyre_books.low[bucket], 1) == 0xffffffffu) {
        atomicAdd(&gyre_books.high[bucket], 1);
        /* who tells may have read that before: he tells it again */
        gyre_books_poke(&gyre_books.told[bucket], ~gyre_books_peek(&gyre_books.low[bucket]));
    }
}

/* Tells the host what it does not know, by all lanes of a warp. Apart, as is counting: the loops
 * have no registers to spare. */
static __device__ __noinline__ void gyre_books_tell(gyre_abi_u32 lane, gyre_abi_u32 telemetry)
{
    gyre_annex *const annex = gyre_books.annex;

    if (telemetry & GYRE_SEAT_HISTOGRAM)
        for (gyre_abi_u32 i = lane; i < GYRE_HISTOGRAM_BUCKETS; i += 32) {
            const gyre_abi_u32 low = gyre_books_peek(&gyre_books.low[i]);

            if (low != gyre_books_peek(&gyre_books.told[i])) {
                gyre_books_poke(&gyre_books.told[i], low);
                gyre_mailbox_store64(&annex->histogram[i],
                                     (gyre_abi_u64)gyre_books_peek(&gyre_books.high[i]) << 32 |
                                         low);
            }
        }
    if (lane == 0 && gyre_books_peek(&gyre_books.lost))
        gyre_mailbox_store(&annex->seat.lost, gyre_books_peek(&gyre_books.lost));
}

/* Where the next life begins, by one thread when all are done. */
static __device__ __forceinline__ void gyre_books_end(void)
{
    gyre_mailbox_store(&gyre_books.annex->seat.claimed, gyre_books.claimed);
}

/* The next number; 0 when there is no room for it. */
static __device__ __forceinline__ int gyre_claim_print(gyre_abi_u32 *out_number)
{
    gyre_abi_u32 number = gyre_books_peek(&gyre_books.claimed), now;

    for (;; number = now) {
        /* others may have gone on since: below 0, and the claim fails */
        if ((int)(number - gyre_books_peek(&gyre_books.read)) >= (int)gyre_books.capacity) {
            /* acquire [print-read]: pairs with the release in actor/print.c; the host has done with
             * the slot */
            const gyre_abi_u32 read = gyre_mailbox_acquire(&gyre_books.annex->host.read);

            gyre_books_poke(&gyre_books.read, read);
            if ((int)(number - read) >= (int)gyre_books.capacity) {
                atomicAdd(&gyre_books.lost, 1);
                return 0;
            }
        }
        now = atomicCAS(&gyre_books.claimed, number, number + 1);
        if (now == number)
            break;
    }
    *out_number = number;
    return 1;
}

/* Apart, and without `self`, which stays in registers then. */
static __device__ __noinline__ void gyre_print(const char *text, gyre_abi_u32 length,
                                               gyre_abi_u32 kind, gyre_abi_u64 value)
{
    gyre_mailbox_message message;
    gyre_abi_u32 number;

    if (!gyre_claim_print(&number))
        return;
    message.payload.eight[0] = kind;
    for (gyre_abi_u32 i = 0; i <= GYRE_PRINT_TEXT; i++)
        message.brief.body.bytes[i] = i < length && i < GYRE_PRINT_TEXT ? (gyre_abi_u8)text[i] : 0;
    message.brief.body.longs[GYRE_PRINT_VALUE] = value;
    gyre_ring_write((gyre_ring_slot *)((gyre_abi_u8 *)gyre_books.annex +
                                       gyre_annex_slot_at(number, gyre_books.capacity, 0)),
                    gyre_ring_stamp(number, gyre_books.salt), &message.payload);
}

GYRE_FUNCTION void gyre_self_say(gyre_self *self, const char *text, gyre_abi_u32 length,
                                 gyre_abi_u32 kind, gyre_abi_u64 value)
{
    if (self->lane == 0)
        gyre_print(text, length, kind, value);
}

#endif
