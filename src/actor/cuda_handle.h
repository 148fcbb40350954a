/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_handle: one message: whether it is late, what its behaviour does with it, what a call gets,
 * and how it is counted. See loop_cuda.h.
 *
 * Threads   the lanes of a message, of any width, together; each counts what it was lane 0 of.
 *           Edge: [ring-slot].
 * Owns      nothing.
 * Not here  which messages, and by which warps (cuda_narrow.h, cuda_block.h).
 */
#ifndef GYRE_ACTOR_CUDA_HANDLE_H
#define GYRE_ACTOR_CUDA_HANDLE_H

#include "actor/cuda_annex.h"

enum {
    GYRE_LATE = 2,         /* as `answered`: it was let go, which no behaviour says */
    GYRE_SILENT = 2000000, /* cycles; see gyre_is_silent */
};

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

/* Nothing is answered yet. Zeros, so that what was answered before needs no registers. */
static __device__ __forceinline__ void gyre_begin_answer(gyre_self *self)
{
    self->answered = 0;
    self->error = GYRE_ACTOR_NO_ERROR;
    for (int i = 0; i < 5; i++)
        self->answer.body.longs[i] = 0;
}

/* Has one message handled by the lanes that call this. What came by a bell they have acquired. */
static __device__ __forceinline__ void gyre_handle(gyre_self *self, gyre_behaviour_state *state,
                                                   const gyre_brief *brief, gyre_abi_u32 bell)
{
    gyre_begin_answer(self);
    if ((brief->flags & GYRE_BRIEF_REFERS) && !bell) {
        /* acquire [ring-slot] at the system's scope, and the barrier hands it on. Narrow messages
         * were read by some of these lanes, so all do it. A block's came through shared memory by
         * plain words: what PTX does not promise then, the multiprocessor does, which has finished
         * the read before it could pass the words on. */
        if (self->lanes <= 32 || self->lane == 0)
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

/* Counts a message and its time, by its lane 0. */
static __device__ __forceinline__ void gyre_count(gyre_reader *reader, const gyre_self *self,
                                                  gyre_abi_u32 took)
{
    reader->messages++;
    if (self->error) {
        gyre_block *const block = reader->block;

        atomicAdd(
            (unsigned long long *)(self->answered == GYRE_LATE ? &block->dropped : &block->errors),
            1);
        gyre_poke(GYRE_WORD(last_error), self->error);
    }
    reader->total_ns += took;
    reader->min_ns = min(reader->min_ns, took);
    reader->max_ns = max(reader->max_ns, took);
    if (reader->telemetry & GYRE_SEAT_HISTOGRAM)
        gyre_books_sort(took);
}

/* Whether it has told nothing for a while. The host takes an actor that is silent for one that
 * hangs, so it hears of each message that took long. */
static __device__ __forceinline__ int gyre_is_silent(const gyre_reader *reader)
{
    return gyre_cycle() - reader->told_at > GYRE_SILENT;
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
    atomicAdd((unsigned long long *)&block->processed, reader->messages);
    reader->told_at = gyre_cycle();
    reader->messages = 0;
    reader->total_ns = reader->max_ns = 0;
    reader->min_ns = GYRE_NONE;
}

#endif
