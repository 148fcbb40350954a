/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_block: messages that a whole block handles, one after another. See loop_cuda.h.
 *
 * Warps that read put messages into shared memory, the stage (cuda_stage.h). The clerk
 * (cuda_clerk.h) deals them out to the hand, the highest band first; the warps that handle take
 * them from there, and meet once for each. The answer goes back over the
 * stage, and the clerk stores it while the next message is handled. Who waits at a bell, or for
 * what a message refers to, is answered at once.
 *
 * Before the host is told that messages are handled there is a fence: when the hand is empty, and
 * now and then.
 *
 * Threads   the warps that handle; their first lane alone writes `finished`, `settled`,
 *           `hush` and `bell_done`.
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_CUDA_BLOCK_H
#define GYRE_ACTOR_CUDA_BLOCK_H

enum {
    /* While there are more they are made sure after so many, or after one that takes so long: the
     * host takes an actor that is silent for a while for one that hangs. */
    GYRE_SETTLE = 64,
    GYRE_LONG_NS = 16000,
};

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

/* Hands an answer to the clerk. By lane 0, which has it. */
static __device__ __forceinline__ void
gyre_post_answer(gyre_reader *reader, gyre_self *self, const gyre_brief *brief, gyre_abi_u32 number)
{
    const gyre_abi_u32 slot = gyre_staged_answer(reader, number);
    gyre_ring_quarter part = {0, 0, 0};
    gyre_mailbox_message answer;

    gyre_conclude(self, brief);
    answer.brief = self->answer;
    part.stamp = 2 * number + 1;
    GYRE_POST_(3);
    GYRE_POST_(2);
    GYRE_POST_(1);
    GYRE_POST_(0);
}

/* Says that there is none, or that it is out already. */
static __device__ __forceinline__ void gyre_post_nothing(gyre_reader *reader, gyre_abi_u32 number)
{
    gyre_ring_quarter part = {0, 0, 0};

    part.stamp = 2 * number;
    gyre_stage_quarter(gyre_staged_answer(reader, number), 0, part);
}

/* The number of the bell that was handled, whatever the message says: with another one the seat
 * would wait for bells that were answered. */
static __device__ __forceinline__ gyre_abi_u32 gyre_next_bell(const gyre_reader *reader,
                                                              gyre_abi_u32 port)
{
    return gyre_peek(GYRE_WORD(bell_done[port])) + 1;
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
        slot = gyre_bell_answer(reader, port);
        back.stamp = gyre_ring_stamp(2 * gyre_next_bell(reader, port) + 1, reader->salt);
    } else {
        slot = gyre_reply_slot(reader, port, brief->correlation);
        back.stamp = gyre_ring_stamp(brief->correlation, reader->salt);
    }
    if (reader->lane < 4)
        gyre_store_answer(slot, reader->lane, back, gyre_is_released(brief));
}

/* What was handled so far is made sure, by the first lane: others see it before they see that it
 * was. And it is counted. */
static __device__ __forceinline__ void gyre_settle(gyre_reader *reader, gyre_abi_u32 number)
{
    if (gyre_peek(GYRE_WORD(settled)) != number) {
        gyre_fence();
        gyre_poke(GYRE_WORD(settled), number);
    }
    gyre_tell_block(reader);
}

/* Waits for the message of that number to be in hand; its entry. */
static __device__ __forceinline__ gyre_abi_u32 gyre_await_hand(gyre_reader *reader,
                                                               gyre_abi_u32 number,
                                                               gyre_abi_u32 *since, int drowses)
{
    const gyre_abi_u32 word = GYRE_WORD(hand[number % GYRE_HAND]);
    gyre_abi_u32 entry = gyre_peek(word), idle = 0;

    if (!__all_sync(GYRE_ALL, entry >> 16 == (number & 0xffff))) {
        if (threadIdx.x == 0)
            gyre_settle(reader, number);
        while (!__all_sync(GYRE_ALL, (entry = gyre_peek(word)) >> 16 == (number & 0xffff)))
            if (drowses && ++idle > GYRE_DROWSY)
                __nanosleep(200);
        *since = gyre_clock_low();
    }
    return entry & 0xffff;
}

static __device__ __forceinline__ void gyre_meet(const gyre_self *self)
{
    asm volatile("bar.sync 1, %0;" : : "r"(self->lanes) : "memory");
}

/* One is done, by the first lane. */
static __device__ __forceinline__ void gyre_finish(gyre_reader *reader, const gyre_self *self,
                                                   gyre_abi_u32 number, gyre_abi_u32 *since)
{
    const gyre_abi_u32 now = gyre_clock_low(), took = now - *since;

    gyre_poke(GYRE_WORD(finished), number + 1);
    gyre_count(reader, self, took);
    *since = now;
    if ((number + 1) % GYRE_SETTLE == 0 || took > GYRE_LONG_NS)
        gyre_settle(reader, number + 1);
}

/* A message that is to be answered at once, is late, refers to something, or is the runtime's. */
static __device__ __forceinline__ void gyre_handle_special(gyre_reader *reader, gyre_self *self,
                                                           gyre_behaviour_state *state,
                                                           gyre_abi_u32 number, gyre_abi_u32 entry)
{
    const gyre_abi_u32 place = entry & GYRE_HAND_PLACE;
    gyre_mailbox_message message;
    gyre_abi_u32 since = 0;
    int hushes;

    gyre_unstage(gyre_stage_slot(reader, place), &message);
    if (gyre_staged_bell(place))
        gyre_fence(); /* with gyre_stage_bell's: what the reader has acquired this lane has too */
    hushes = gyre_is_released(&message.brief) ||
             (reader->calm && (message.brief.flags & GYRE_BRIEF_REFERS));
    if (hushes && threadIdx.x == 0) {
        since = gyre_cycle();
        gyre_poke(GYRE_WORD(hush), (since + GYRE_HUSHED - 2) | 1);
    }
    gyre_handle(self, state, &message.brief, gyre_staged_bell(place));
    gyre_meet(self);
    if (threadIdx.x >= 32)
        return;
    if (entry & GYRE_HAND_CALL)
        gyre_answer_now(reader, self, &message.brief, place);
    if (reader->lane != 0)
        return;
    if (hushes) {
        const gyre_abi_u32 now = gyre_cycle();

        gyre_poke(GYRE_WORD(hush), (now + min(now - since, reader->calm)) | 1);
    }
    gyre_post_nothing(reader, number);
    if (gyre_staged_bell(place)) {
        gyre_fence(); /* what was done is seen before that it was */
        gyre_poke(GYRE_WORD(bell_done[place]), gyre_next_bell(reader, place));
    }
}

/* Any other. */
static __device__ __forceinline__ void gyre_handle_plain(gyre_reader *reader, gyre_self *self,
                                                         gyre_behaviour_state *state,
                                                         gyre_abi_u32 number, gyre_abi_u32 entry)
{
    gyre_mailbox_message message;

    gyre_unstage(gyre_stage_slot(reader, entry & GYRE_HAND_PLACE), &message);
    gyre_begin_answer(self);
    gyre_behaviour_handle(self, state, &message.brief);
    gyre_meet(self);
    if (threadIdx.x == 0) {
        if (entry & GYRE_HAND_CALL)
            gyre_post_answer(reader, self, &message.brief, number);
        else
            gyre_post_nothing(reader, number);
    }
}

/* A warp that handles the messages of a block, to the end of the seat's life. A message's time is
 * from when it was found, or from the end of the one before. */
static __device__ __forceinline__ void gyre_handle_loop(gyre_reader *reader, gyre_self *self,
                                                        gyre_behaviour_state *state, int drowses)
{
    const gyre_abi_u32 last = GYRE_HAND_SPECIAL | GYRE_HAND_PLACE;
    gyre_abi_u32 number = 0, entry, since = 0;

    while ((entry = gyre_await_hand(reader, number, &since, drowses)) != last) {
        if (entry & GYRE_HAND_SPECIAL)
            gyre_handle_special(reader, self, state, number, entry);
        else
            gyre_handle_plain(reader, self, state, number, entry);
        if (threadIdx.x == 0)
            gyre_finish(reader, self, number, &since);
        number++;
    }
    if (threadIdx.x == 0)
        gyre_settle(reader, number);
}

#endif
