/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_narrow: messages that a quad or a warp handles, by the warp that read them. See loop_cuda.h.
 *
 * Threads   all lanes of a warp come here together.
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_CUDA_NARROW_H
#define GYRE_ACTOR_CUDA_NARROW_H

/* Quads: all that are ready at once. */
static __device__ __forceinline__ void gyre_handle_quads(gyre_reader *reader, gyre_self *self,
                                                         gyre_behaviour_state *state,
                                                         gyre_ring_quarter mine, gyre_abi_u32 ready)
{
    const gyre_abi_u32 quarter = reader->lane & 3;
    const int is_ready = ready >> (reader->lane & 28) & 1;
    const gyre_abi_u32 before = gyre_tick(reader);
    gyre_mailbox_message message;
    int calls;

    gyre_gather(mine, 0, 4, &message);
    if (is_ready)
        gyre_handle(self, state, &message.brief, 0);
    calls = is_ready && (message.brief.flags & GYRE_BRIEF_CALL);
    if (__any_sync(GYRE_ALL, calls)) {
        gyre_mailbox_message answer;
        gyre_ring_quarter back;

        gyre_conclude(self, &message.brief);
        answer.brief = self->answer;
        back = gyre_scatter(&answer, quarter, 4);
        back.stamp = gyre_ring_stamp(message.brief.correlation, reader->salt);
        if (calls)
            gyre_store_answer(gyre_reply_slot(reader, 0, message.brief.correlation), quarter, back,
                              gyre_is_released(&message.brief));
    }
    if (is_ready && quarter == 0)
        gyre_count(reader, self, gyre_tick(reader) - before);
}

/* A warp handles one message, of which four lanes from `from` on have the quarters. */
static __device__ __forceinline__ void gyre_handle_one(gyre_reader *reader, gyre_self *self,
                                                       gyre_behaviour_state *state,
                                                       gyre_ring_quarter mine, gyre_abi_u32 from,
                                                       gyre_abi_u32 bell)
{
    const int quad = GYRE_BEHAVIOUR_WIDTH == GYRE_WIDTH_QUAD;
    const gyre_abi_u32 before = gyre_tick(reader);
    gyre_mailbox_message message, answer;
    gyre_ring_quarter back;
    gyre_ring_slot *slot;

    gyre_gather(mine, from, 32, &message);
    if (!quad || reader->lane < 4)
        gyre_handle(self, state, &message.brief, bell);
    __syncwarp();
    gyre_conclude(self, &message.brief);
    answer.brief = self->answer;
    back = gyre_scatter(&answer, reader->lane, 32);
    if (bell) {
        slot = gyre_bell_answer(reader, gyre_own_port(reader));
        back.stamp = gyre_ring_stamp(2 * message.brief.correlation + 1, reader->salt);
    } else {
        slot = gyre_reply_slot(reader, 0, message.brief.correlation);
        back.stamp = gyre_ring_stamp(message.brief.correlation, reader->salt);
    }
    if (reader->lane < 4 && (message.brief.flags & GYRE_BRIEF_CALL))
        gyre_store_answer(slot, reader->lane, back, gyre_is_released(&message.brief));
    if (reader->lane == 0)
        gyre_count(reader, self, gyre_tick(reader) - before);
}

/* Warps: one after another, the highest band first. */
static __device__ __forceinline__ void gyre_handle_warp(gyre_reader *reader, gyre_self *self,
                                                        gyre_behaviour_state *state,
                                                        gyre_ring_quarter mine, gyre_abi_u32 ready)
{
    while (ready) {
        const gyre_abi_u32 band = (gyre_abi_u32)mine.eight >> 30; /* of the priority */
        const int candidate = ready >> reader->lane & 1;
        const gyre_abi_u32 rank = gyre_warp_least(candidate ? 3 - band : 3);
        const gyre_abi_u32 from = __ffs(__ballot_sync(GYRE_ALL, candidate && 3 - band == rank)) - 1;

        gyre_handle_one(reader, self, state, mine, from, 0);
        ready &= ~(1u << from);
        if (gyre_is_silent(reader))
            gyre_tell_block(reader);
    }
}

#endif
