/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_seat: what the warps of a seat on a GPU share and know, the words by which they tell each
 * other, and their clocks. See loop_cuda.h.
 *
 * Threads   words of shared memory have one writer, or atomic operations.
 * Owns      nothing.
 * Not here  messages and their slots (cuda_slot.h), the stage (cuda_stage.h).
 */
#ifndef GYRE_ACTOR_CUDA_SEAT_H
#define GYRE_ACTOR_CUDA_SEAT_H

#include "actor/mailbox_abi.h"

#include "actor/mailbox_words.h"

#include "actor/stage_abi.h"

enum {
    GYRE_WARPS = 32,   /* of a block, most */
    GYRE_CHUNK = 8,    /* slots that a warp reads at once */
    GYRE_BATCHES = 16, /* block: batches of messages in hand that the host does not know of */
};

#define GYRE_ALL 0xffffffffu   /* lanes of a warp */
#define GYRE_QUADS 0x11111111u /* the first lane of each four */
#define GYRE_NONE 0xffffffffu

/* What the warps of a block share. */
typedef struct gyre_block {
    gyre_abi_u32 progress[GYRE_WARPS];          /* of the warps that read */
    gyre_abi_u32 front[GYRE_MAILBOX_PORTS];     /* sequence behind the highest that was seen */
    gyre_abi_u32 bell[GYRE_MAILBOX_PORTS];      /* bells that were claimed, */
    gyre_abi_u32 bell_done[GYRE_MAILBOX_PORTS]; /* and how many are answered, for all to see */
    gyre_abi_u32 published[GYRE_MAILBOX_PORTS]; /* heads as the host knows them; the steward's */
    gyre_abi_u32 gate[GYRE_MAILBOX_PORTS], bell_gate[GYRE_MAILBOX_PORTS];
    gyre_abi_u32 gated, quit, order;
    gyre_abi_u32 left; /* warps that have nothing to do any more */
    gyre_abi_u32 hush; /* the cycle in which it is over, an odd one; 0: there is none */
    gyre_abi_u32 last_error;
    gyre_abi_u64 processed, dropped, errors, total_ns, min_ns, max_ns;

    /* GYRE_WIDTH_BLOCK; see cuda_block.h. Messages of each port's ring: */
    gyre_abi_u32 taken[GYRE_MAILBOX_PORTS];               /* in hand, or handled, */
    gyre_abi_u32 handled[GYRE_MAILBOX_PORTS];             /* handled, */
    gyre_abi_u32 sure[GYRE_MAILBOX_PORTS];                /* and for all to see */
    gyre_abi_u32 batch[GYRE_BATCHES][GYRE_MAILBOX_PORTS]; /* taken with the last few batches, */
    gyre_abi_u32 batch_end[GYRE_BATCHES];                 /* messages of the hand up to there */
    gyre_abi_u32 hand[GYRE_HAND]; /* what to handle: its number, and below that GYRE_HAND_... */
    gyre_abi_u32 dealt;           /* numbers of the hand that are given out, */
    gyre_abi_u32 answered;        /* and those of messages that need nothing more */
    gyre_abi_u32 finished;        /* messages of the hand that were handled, */
    gyre_abi_u32 settled;         /* and for all to see */
} gyre_block;

/* What a warp knows. Places are in bytes from the beginning of the seat. */
typedef struct gyre_reader {
    gyre_block *block;             /* for what is added up, */
    gyre_abi_u32 at;               /* and its address in shared memory, which is at hand */
    gyre_abi_u32 port_at;          /* that and the place of the port among words of ports */
    gyre_abi_u32 stage;            /* block: likewise */
    gyre_abi_u8 *memory;           /* of the seat */
    const gyre_ring_quarter *bell; /* the first four lanes' quarters; NULL: it reads none */
    gyre_abi_u32 salt, mask;
    gyre_abi_u32 lane, warp, readers; /* the warp, among those that read */
    gyre_abi_u32 port, index, peers;  /* the port that it serves, as which of how many */
    gyre_abi_u32 base, done;          /* its chunk, and slots of it that are done, as GYRE_QUADS */
    gyre_abi_u32 untold;              /* chunks since it told its progress */
    gyre_abi_u32 told_at;             /* when it last told what it handled, by gyre_cycle */
    gyre_abi_u32 requests_at;         /* the ring of its port; behind it that of the answers */
    gyre_abi_u32 telemetry;
    gyre_abi_u32 calm;                     /* cycles that a hush outlasts its message, most */
    gyre_abi_u32 messages;                 /* this lane's since it told the block, */
    gyre_abi_u32 total_ns, min_ns, max_ns; /* like these */
} gyre_reader;

/* Keeps a value in a register: the compiler would make it anew each time. */
static __device__ __forceinline__ gyre_abi_u32 gyre_keep(gyre_abi_u32 value)
{
    gyre_abi_u32 kept;

    asm volatile("mov.u32 %0, %1;" : "=r"(kept) : "r"(value));
    return kept;
}

/* A word of the block, for the three below: an address of shared memory. */
#define GYRE_WORD(member) (reader->at + (gyre_abi_u32)(gyre_abi_u64) & ((gyre_block *)0)->member)

/* The same of the reader's own port. */
#define GYRE_PORT_WORD(member)                                                                     \
    (reader->port_at + (gyre_abi_u32)(gyre_abi_u64) & ((gyre_block *)0)->member[0])

static __device__ __forceinline__ gyre_abi_u32 gyre_peek(gyre_abi_u32 word)
{
    gyre_abi_u32 value;

    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(value) : "r"(word) : "memory");
    return value;
}

static __device__ __forceinline__ void gyre_poke(gyre_abi_u32 word, gyre_abi_u32 value)
{
    asm volatile("st.volatile.shared.u32 [%0], %1;" : : "r"(word), "r"(value) : "memory");
}

/* Puts `value` there if it is `expected`; what it was. */
static __device__ __forceinline__ gyre_abi_u32 gyre_swap(gyre_abi_u32 word, gyre_abi_u32 expected,
                                                         gyre_abi_u32 value)
{
    gyre_abi_u32 was;

    asm volatile("atom.shared.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(was)
                 : "r"(word), "r"(expected), "r"(value)
                 : "memory");
    return was;
}

/* Adds one; what it was. */
static __device__ __forceinline__ gyre_abi_u32 gyre_add_one(gyre_abi_u32 word)
{
    gyre_abi_u32 was;

    asm volatile("atom.shared.add.u32 %0, [%1], 1;" : "=r"(was) : "r"(word) : "memory");
    return was;
}

/* What lane 0 sees holds for all: others might see it changed, and go elsewhere. */
static __device__ __forceinline__ gyre_abi_u32 gyre_peek_all(gyre_abi_u32 word)
{
    return __shfl_sync(GYRE_ALL, gyre_peek(word), 0);
}

/* Orders what this lane has done before and does after, for the other warps of the block.
 * __threadfence_block would order it with everybody's, and takes much longer. */
static __device__ __forceinline__ void gyre_fence(void)
{
    asm volatile("fence.acq_rel.cta;" ::: "memory");
}

static __device__ __forceinline__ gyre_abi_u32 gyre_warp_least(gyre_abi_u32 value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(GYRE_ALL, value);
#else
    for (int by = 16; by > 0; by /= 2)
        value = min(value, __shfl_xor_sync(GYRE_ALL, value, by));
    return value;
#endif
}

/* All four lanes of a quad, as its first. */
static __device__ __forceinline__ gyre_abi_u32 gyre_whole_quads(int holds)
{
    gyre_abi_u32 lanes = __ballot_sync(GYRE_ALL, holds);

    lanes &= lanes >> 1;
    return lanes & lanes >> 2 & GYRE_QUADS;
}

static __device__ __forceinline__ gyre_seat *gyre_seat_of(const gyre_reader *reader)
{
    return (gyre_seat *)reader->memory;
}

/* The device's clock, in nanoseconds. */
static __device__ __forceinline__ gyre_abi_u64 gyre_device_now(void)
{
    gyre_abi_u64 now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

/* Its lower half: four seconds are as good as more. */
static __device__ __forceinline__ gyre_abi_u32 gyre_clock_low(void)
{
    gyre_abi_u32 now;

    asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(now));
    return now;
}

/* Cycles of the multiprocessor: at hand sooner, and good for a second. */
static __device__ __forceinline__ gyre_abi_u32 gyre_cycle(void)
{
    gyre_abi_u32 now;

    asm volatile("mov.u32 %0, %%clock;" : "=r"(now));
    return now;
}

/* The same for times of messages. */
static __device__ __forceinline__ gyre_abi_u32 gyre_tick(const gyre_reader *reader)
{
    return reader->telemetry ? gyre_clock_low() : 0;
}

#endif
