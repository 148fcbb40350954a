/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_slot: what the warps of a seat on a GPU share and know, and how a message goes from the four
 * lanes that read its quarters to those that handle it, and its answer back. See loop_cuda.h.
 *
 * Memory. Stamps of rings are read relaxed, those of bells acquired at the system's scope. A
 * message of a ring that refers to memory is acquired before it is handled, by one lane, and a
 * barrier hands that on. Its answer is released: barrier, then one releasing store of a quarter,
 * without which the answer is not whole. That, like any fence of the system's scope, waits for all
 * reads of the host's memory that the multiprocessor has under way; so there should be none.
 *
 * Threads   words of shared memory have one writer, or atomic operations. Edge: [ring-slot].
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_CUDA_SLOT_H
#define GYRE_ACTOR_CUDA_SLOT_H

#include "actor/mailbox_abi.h"

#include "actor/stage_abi.h"

#include "actor/cuda_annex.h"

enum {
    GYRE_WARPS = 32,   /* of a block, most */
    GYRE_CHUNK = 8,    /* slots that a warp reads at once */
    GYRE_BATCHES = 16, /* block: batches of messages in hand that the host does not know of */
    GYRE_LATE = 2,     /* as `answered`: it was let go, which no behaviour says */
};

#define GYRE_ALL 0xffffffffu   /* lanes of a warp */
#define GYRE_QUADS 0x11111111u /* the first lane of each four */
#define GYRE_NONE 0xffffffffu

/* What the warps of a block share. */
typedef struct gyre_block {
    gyre_abi_u32 progress[GYRE_WARPS];          /* of the warps that read */
    gyre_abi_u32 front[GYRE_MAILBOX_PORTS];     /* sequence behind the highest that was seen */
    gyre_abi_u32 bell[GYRE_MAILBOX_PORTS];      /* bells that were claimed, */
    gyre_abi_u32 bell_done[GYRE_MAILBOX_PORTS]; /* and answered, for all to see */
    gyre_abi_u32 published[GYRE_MAILBOX_PORTS]; /* heads as the host knows them; the steward's */
    gyre_abi_u32 gate[GYRE_MAILBOX_PORTS], bell_gate[GYRE_MAILBOX_PORTS];
    gyre_abi_u32 gated, quit, order;
    gyre_abi_u32 hush; /* the cycle in which it is over; see gyre_is_over */
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
    gyre_abi_u32 stage;            /* block: likewise */
    gyre_abi_u8 *memory;           /* of the seat */
    const gyre_ring_quarter *bell; /* NULL: it reads none */
    gyre_abi_u32 salt, mask;
    gyre_abi_u32 lane, warp, readers; /* the warp, among those that read */
    gyre_abi_u32 port, index, peers;  /* the port that it serves, as which of how many */
    gyre_abi_u32 base, done;          /* its chunk, and slots of it that are done, as GYRE_QUADS */
    gyre_abi_u32 untold;              /* chunks since it told its progress */
    gyre_abi_u32 settled_at;          /* block: when it last was, by gyre_clock_low */
    gyre_abi_u32 requests_at, replies_at;
    gyre_abi_u32 telemetry;
    gyre_abi_u32 calm; /* cycles that a hush outlasts its message, most */
    gyre_abi_u32 messages, errors, dropped, last_error; /* this lane's since it told the block, */
    gyre_abi_u32 total_ns, min_ns, max_ns;              /* like these */
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

static __device__ __forceinline__ gyre_ring_slot *
gyre_slot_of(const gyre_reader *reader, gyre_abi_u32 ring_at, gyre_abi_u32 sequence)
{
    return (gyre_ring_slot *)(reader->memory + ring_at) + (sequence & reader->mask);
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

/* From four lanes, each with a quarter, the whole message to all lanes of `width`. Quarter by
 * quarter, not in a loop: the message stays in registers then. */
#define GYRE_GATHER_(q)                                                                            \
    out->payload.eight[q] =                                                                        \
        (gyre_abi_u64)__shfl_sync(GYRE_ALL, (gyre_abi_u32)(own.eight >> 32), from + (q), width)    \
            << 32 |                                                                                \
        __shfl_sync(GYRE_ALL, (gyre_abi_u32)own.eight, from + (q), width);                         \
    out->payload.four[q] = __shfl_sync(GYRE_ALL, own.four, from + (q), width)

static __device__ __forceinline__ void gyre_gather(gyre_ring_quarter own, gyre_abi_u32 from,
                                                   int width, gyre_mailbox_message *out)
{
    GYRE_GATHER_(0);
    GYRE_GATHER_(1);
    GYRE_GATHER_(2);
    GYRE_GATHER_(3);
}

/* The other way: what lane 0 of `width` has, a quarter to each of the first four lanes. */
#define GYRE_SCATTER_(q)                                                                           \
    low = __shfl_sync(GYRE_ALL, (gyre_abi_u32)message->payload.eight[q], 0, width);                \
    high = __shfl_sync(GYRE_ALL, (gyre_abi_u32)(message->payload.eight[q] >> 32), 0, width);       \
    four = __shfl_sync(GYRE_ALL, message->payload.four[q], 0, width);                              \
    mine.eight = quarter == (q) ? (gyre_abi_u64)high << 32 | low : mine.eight;                     \
    mine.four = quarter == (q) ? four : mine.four

static __device__ __forceinline__ gyre_ring_quarter
gyre_scatter(const gyre_mailbox_message *message, gyre_abi_u32 quarter, int width)
{
    gyre_ring_quarter mine = {0, 0, 0};
    gyre_abi_u32 low, high, four;

    GYRE_SCATTER_(0);
    GYRE_SCATTER_(1);
    GYRE_SCATTER_(2);
    GYRE_SCATTER_(3);
    return mine;
}

/* A quarter of a bell, acquired. That costs a lane nothing that waits for it anyway, but drops what
 * the multiprocessor has in its first cache: nothing for rings, which are read all the time. */
static __device__ __forceinline__ gyre_ring_quarter
gyre_acquire_quarter(const gyre_ring_quarter *from)
{
    gyre_ring_quarter quarter;
    gyre_abi_u64 high;

    asm volatile("{ .reg .b128 q; ld.acquire.sys.b128 q, [%2]; mov.b128 {%0, %1}, q; }"
                 : "=l"(quarter.eight), "=l"(high)
                 : "l"(from)
                 : "memory");
    quarter.four = (gyre_abi_u32)high;
    quarter.stamp = (gyre_abi_u32)(high >> 32);
    return quarter;
}

static __device__ __forceinline__ void gyre_release_quarter(gyre_ring_quarter *to,
                                                            gyre_ring_quarter quarter)
{
    const gyre_abi_u64 low = quarter.eight, high = (gyre_abi_u64)quarter.stamp << 32 | quarter.four;

    asm volatile("{ .reg .b128 q; mov.b128 q, {%1, %2}; st.release.sys.b128 [%0], q; }"
                 :
                 : "l"(to), "l"(low), "l"(high)
                 : "memory");
}

/* Whether the deadline of a message has passed, as lane 0 sees it: another lane, which looks later,
 * would go another way, and not meet the others at a barrier. */
static __device__ __forceinline__ int gyre_is_late(const gyre_self *self, const gyre_brief *brief)
{
    const int late = self->lane == 0 && gyre_device_now() > brief->body.reference.deadline_ns;
    int all;

    if (self->lanes == 4)
        return __any_sync(0xfu << (threadIdx.x & 28u), late);
    if (self->lanes == 32)
        return __any_sync(GYRE_ALL, late);
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; bar.red.or.pred p, 1, %2, p; "
                 "selp.s32 %0, 1, 0, p; }"
                 : "=r"(all)
                 : "r"(late), "r"(self->lanes)
                 : "memory");
    return all;
}

/* Whether the answer releases what the message refers to. */
static __device__ __forceinline__ int gyre_is_released(const gyre_brief *brief)
{
    return (brief->flags & (GYRE_BRIEF_REFERS | GYRE_BRIEF_READS)) == GYRE_BRIEF_REFERS;
}

/* Has one message handled by the lanes that call this. What came by a bell they have acquired. */
static __device__ __forceinline__ void gyre_handle(gyre_self *self, gyre_behaviour_state *state,
                                                   const gyre_brief *brief, gyre_abi_u32 bell)
{
    self->answered = 0;
    self->error = GYRE_ACTOR_NO_ERROR;
    if ((brief->flags & GYRE_BRIEF_REFERS) && !bell) {
        /* acquire [ring-slot] at the system's scope, and the barrier hands it on */
        if (self->lane == 0)
            asm volatile("fence.acq_rel.sys;" ::: "memory");
        gyre_self_barrier(self);
    }
    if ((brief->flags & GYRE_BRIEF_DEADLINE) && gyre_is_late(self, brief)) {
        self->error = GYRE_ACTOR_TIMEOUT;
        self->answered = GYRE_LATE;
    }
    if (brief->type < GYRE_BRIEF_OWN && !self->error)
        gyre_behaviour_handle(self, state, brief);
    if (gyre_is_released(brief))
        gyre_self_barrier(self);
}

/* What a call gets, by lane 0. */
static __device__ __forceinline__ void gyre_conclude(gyre_self *self, const gyre_brief *brief)
{
    self->answer.type = brief->type;
    self->answer.flags = self->error ? GYRE_BRIEF_FAILED : !self->answered ? GYRE_BRIEF_EMPTY : 0;
    self->answer.priority = brief->priority;
    self->answer.correlation = brief->correlation;
    if (self->error)
        self->answer.body.words[0] = self->error;
}

/* The lanes that have a quarter store it: the last one releases what the message refers to. */
static __device__ __forceinline__ void gyre_store_answer(gyre_ring_slot *slot, gyre_abi_u32 quarter,
                                                         gyre_ring_quarter mine, int releases)
{
    if (releases && quarter == 3)
        gyre_release_quarter(&slot->quarter[3], mine);
    else
        gyre_ring_store_quarter(&slot->quarter[quarter], mine);
}

/* Counts a message and its time, by its lane 0. */
static __device__ __forceinline__ void gyre_count(gyre_reader *reader, const gyre_self *self,
                                                  gyre_abi_u32 took)
{
    reader->messages++;
    if (self->error) {
        reader->errors += self->answered != GYRE_LATE;
        reader->last_error = self->error;
        reader->dropped += self->answered == GYRE_LATE;
    }
    reader->total_ns += took;
    reader->min_ns = min(reader->min_ns, took);
    reader->max_ns = max(reader->max_ns, took);
    if (reader->telemetry & GYRE_SEAT_HISTOGRAM)
        gyre_books_sort(took);
}

/* What its lanes have counted goes to the block. */
static __device__ __forceinline__ void gyre_tell_block(gyre_reader *reader)
{
    gyre_block *const block = reader->block;

    if (!reader->messages)
        return;
    if (reader->telemetry) {
        atomicAdd((unsigned long long *)&block->total_ns, reader->total_ns);
        atomicMin((unsigned long long *)&block->min_ns, reader->min_ns);
        atomicMax((unsigned long long *)&block->max_ns, reader->max_ns);
    }
    if (reader->errors | reader->dropped) {
        atomicAdd((unsigned long long *)&block->errors, reader->errors);
        atomicAdd((unsigned long long *)&block->dropped, reader->dropped);
        gyre_poke(GYRE_WORD(last_error), reader->last_error);
    }
    atomicAdd((unsigned long long *)&block->processed, reader->messages);
    reader->messages = reader->errors = reader->dropped = 0;
    reader->total_ns = reader->max_ns = 0;
    reader->min_ns = GYRE_NONE;
}

#endif
