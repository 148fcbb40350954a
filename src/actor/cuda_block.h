/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_block: messages that a whole block handles, one after another. See loop_cuda.h.
 *
 * Warps that read put messages into shared memory, the stage (cuda_stage.h). The clerk
 * (cuda_clerk.h) deals them out to the hand, the highest band first; the warps that handle take
 * them from there, and meet once for each. The answer goes back over the stage, and the clerk
 * stores it while the next message is handled. Who waits at a bell, or for what a message refers
 * to, is answered at once.
 *
 * Before the host is told that messages are handled there is a fence: when the hand is empty, and
 * now and then.
 *
 * Threads   the warps that handle; the first of them alone writes `finished`, `settled` and
 *           `bell_done`.
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_CUDA_BLOCK_H
#define GYRE_ACTOR_CUDA_BLOCK_H

enum { GYRE_SETTLE = 32 }; /* messages after which they are made sure while there are more */

#define GYRE_UNSTAGE_(q)                                                                           \
    part = gyre_staged_quarter(slot, q);                                                           \
    out->payload.eight[q] = part.eight;                                                            \
    out->payload.four[q] = part.four

static __device__ __forceinline__ void gyre_unstage(gyre_abi_u32 slot, gyre_mailbox_message *out)
{
    gyre_ring_quarter part;

    GYRE_UNSTAGE_(0);
    GYRE_UNSTAGE_(1);
    GYRE_UNSTAGE_(2);
    GYRE_UNSTAGE_(3);
}

#define GYRE_POST_(q)                                                                              \
    part.eight = answer.payload.eight[q];                                                          \
    part.four = answer.payload.four[q];                                                            \
    gyre_stage_quarter(slot, q, part)

/* Hands an answer to the clerk, or says that there is none. By lane 0, which has it. */
static __device__ __forceinline__ void gyre_post_answer(gyre_reader *reader, gyre_self *self,
                                                        const gyre_brief *brief,
                                                        gyre_abi_u32 number, int posts)
{
    const gyre_abi_u32 slot = gyre_staged_answer(reader, number);
    gyre_ring_quarter part = {0, 0, 0};
    gyre_mailbox_message answer;

    part.stamp = 2 * number;
    if (posts) {
        gyre_conclude(self, brief);
        answer.brief = self->answer;
        part.stamp++;
        GYRE_POST_(3);
        GYRE_POST_(2);
        GYRE_POST_(1);
        GYRE_POST_(0);
    } else {
        gyre_stage_quarter(slot, 0, part);
    }
}

/* Answers at once, by the first warp, whose lane 0 has the answer. */
static __device__ __forceinline__ void gyre_answer_now(gyre_reader *reader, gyre_self *self,
                                                       const gyre_brief *brief, gyre_abi_u32 place)
{
    const gyre_abi_u32 port = gyre_staged_port(place);
    gyre_mailbox_message answer;
    gyre_ring_quarter back;
    gyre_ring_slot *slot;

    gyre_conclude(self, brief);
    answer.brief = self->answer;
    back = gyre_scatter(&answer, reader->lane, 32);
    if (gyre_staged_bell(place)) {
        slot = (gyre_ring_slot *)(reader->memory + sizeof(gyre_seat)) + port;
        back.stamp = gyre_ring_stamp(2 * brief->correlation + 1, reader->salt);
    } else {
        slot = gyre_slot_of(reader,
                            reader->replies_at + 2 * port * (reader->mask + 1) *
                                                     (gyre_abi_u32)sizeof(gyre_ring_slot),
                            brief->correlation);
        back.stamp = gyre_ring_stamp(brief->correlation, reader->salt);
    }
    if (reader->lane < 4)
        gyre_store_answer(slot, reader->lane, back, brief->flags & GYRE_BRIEF_REFERS);
}

/* What was handled so far is made sure, by the first warp: others see it before they see that it
 * was. And it is counted. */
static __device__ __forceinline__ void gyre_settle(gyre_reader *reader, gyre_abi_u32 number)
{
    if (reader->lane == 0 && gyre_peek(GYRE_WORD(settled)) != number) {
        gyre_fence();
        gyre_poke(GYRE_WORD(settled), number);
    }
    gyre_tell_block(reader);
    __syncwarp();
}

/* Waits for the message of that number to be dealt; its place. */
static __device__ __forceinline__ gyre_abi_u32 gyre_await_hand(gyre_reader *reader,
                                                               gyre_abi_u32 number, int drowses)
{
    const gyre_abi_u32 next = GYRE_WORD(hand[number % GYRE_HAND]);
    gyre_abi_u32 entry = gyre_peek(next), idle = 0;

    if (__builtin_expect(__any_sync(GYRE_ALL, entry >> 16 != (number & 0xffff)) ||
                             number % GYRE_SETTLE == 0,
                         0)) {
        if (threadIdx.x < 32)
            gyre_settle(reader, number);
        while ((entry = gyre_peek_all(next)) >> 16 != (number & 0xffff))
            if (drowses && ++idle > GYRE_DROWSY)
                __nanosleep(200);
    }
    return entry & 0xffff;
}

/* A warp that handles the messages of a block, to the end of the seat's life. */
static __device__ __forceinline__ void gyre_handle_loop(gyre_reader *reader, gyre_self *self,
                                                        gyre_behaviour_state *state, int drowses)
{
    const int leads = threadIdx.x < 32;
    gyre_abi_u32 number = 0, place;

    while ((place = gyre_await_hand(reader, number, drowses)) != GYRE_LAST) {
        const gyre_abi_u32 before = gyre_tick(reader);
        gyre_mailbox_message message;

        gyre_unstage(gyre_stage_slot(reader, place), &message);
        gyre_handle(self, state, &message.brief);
        asm volatile("bar.sync 1, %0;" : : "r"(self->lanes) : "memory");
        if (leads) {
            const int calls = message.brief.flags & GYRE_BRIEF_CALL;
            const int now = gyre_staged_bell(place) || (message.brief.flags & GYRE_BRIEF_REFERS);

            if (__builtin_expect(calls && now, 0))
                gyre_answer_now(reader, self, &message.brief, place);
            if (reader->lane == 0) {
                gyre_post_answer(reader, self, &message.brief, number, calls && !now);
                gyre_poke(GYRE_WORD(finished), number + 1);
                gyre_count(reader, self, before);
            }
            if (__builtin_expect(gyre_staged_bell(place), 0)) {
                gyre_settle(reader, number + 1);
                if (reader->lane == 0)
                    gyre_poke(GYRE_WORD(bell_done[place]), message.brief.correlation);
            }
        }
        number++;
    }
    if (leads)
        gyre_settle(reader, number);
}

#endif
