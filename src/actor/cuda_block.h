/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_block: messages that a whole block handles, one after another. Warps that read put them into
 * shared memory, the stage; the first warp that handles, the leader, says which is next. See
 * loop_cuda.h.
 *
 * A message costs one barrier while there is another one behind it: the leader has picked that
 * before all have handled the first. Its answer is stored when all have, while the others go on.
 *
 * Threads   an entry of the stage is the reader's while it is free, and the handlers' while it is
 *           full; `state` of it says so.
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_CUDA_BLOCK_H
#define GYRE_ACTOR_CUDA_BLOCK_H

/* The stage: a bell of each port, then GYRE_STAGE messages of each. */
static __device__ __forceinline__ gyre_abi_u32 gyre_stage_at(gyre_abi_u32 port,
                                                             gyre_abi_u32 sequence)
{
    return GYRE_MAILBOX_PORTS + port * GYRE_STAGE + sequence % GYRE_STAGE;
}

static __device__ __forceinline__ void gyre_stage_quarter(gyre_staged *staged, gyre_abi_u32 quarter,
                                                          gyre_ring_quarter mine)
{
    ((volatile gyre_abi_u64 *)staged)[quarter] = mine.eight;
    ((volatile gyre_abi_u32 *)staged)[8 + quarter] = mine.four;
}

/* A bell that this warp has claimed. */
static __device__ __forceinline__ void gyre_stage_bell(gyre_reader *reader, gyre_ring_quarter mine)
{
    gyre_staged *const staged = &reader->stage[reader->port];

    if (reader->lane < 4)
        gyre_stage_quarter(staged, reader->lane, mine);
    gyre_fence();
    __syncwarp();
    if (reader->lane == 0)
        gyre_poke(&reader->block->state[reader->port], GYRE_STAGE_FULL);
}

/* What is ready of a warp's chunk, as soon as there is room for it; which were staged. */
static __device__ __forceinline__ gyre_abi_u32 gyre_stage_ring(gyre_reader *reader,
                                                               gyre_ring_quarter mine,
                                                               gyre_abi_u32 ready)
{
    gyre_block *const block = reader->block;
    const gyre_abi_u32 sequence = reader->base + reader->lane / 4;
    const gyre_abi_u32 at = gyre_stage_at(reader->port, sequence);
    gyre_abi_u32 staged = 0;

    while (staged != ready && !gyre_peek_all(&block->quit)) {
        const int room = gyre_peek(&block->state[at]) == GYRE_STAGE_FREE &&
                         sequence - gyre_peek(&block->handled[reader->port]) < GYRE_STAGE;
        /* lane 0 of a quad decides for it: the answer may change while they ask */
        const int take =
            __shfl_sync(GYRE_ALL, room, 0, 4) && ((ready & ~staged) >> (reader->lane & 28) & 1);
        const int first = take && (reader->lane & 3) == 0;

        if (take)
            gyre_stage_quarter(&reader->stage[at], reader->lane & 3, mine);
        if (first && (gyre_abi_u32)mine.eight >> 30)
            atomicAdd(&block->urgent[reader->port], 1);
        gyre_fence();
        __syncwarp();
        if (first)
            gyre_poke(&block->state[at], GYRE_STAGE_FULL);
        staged |= __ballot_sync(GYRE_ALL, first);
        if (staged != ready)
            __nanosleep(500);
    }
    return staged;
}

/* The first of the highest band among those of a port that are staged without a gap. */
static __device__ __forceinline__ gyre_abi_u32 gyre_pick(gyre_reader *reader, gyre_abi_u32 port,
                                                         gyre_abi_u32 next)
{
    gyre_block *const block = reader->block;
    const gyre_abi_u32 at = gyre_stage_at(port, next + reader->lane);
    const gyre_abi_u32 state = gyre_peek(&block->state[at]);
    const gyre_abi_u32 gaps = __ballot_sync(GYRE_ALL, state == GYRE_STAGE_FREE);
    const int candidate =
        state == GYRE_STAGE_FULL && !(gaps && reader->lane >= (gyre_abi_u32)__ffs(gaps) - 1);
    gyre_abi_u32 band = 0, rank, which;

    gyre_fence();
    if (candidate)
        band = *(volatile gyre_abi_u32 *)&reader->stage[at].brief >> 30;
    rank = gyre_warp_least(candidate ? 3 - band : 3);
    which = __ffs(__ballot_sync(GYRE_ALL, candidate && 3 - band == rank)) - 1;
    if (rank < 3 && reader->lane == 0)
        atomicSub(&block->urgent[port], 1);
    return gyre_stage_at(port, next + which);
}

/* What is next, and in hand from now on: a bell, else of the next port that has something;
 * GYRE_NONE. The leader, whose lanes 0 to 15 look at bells, and the others at rings: *next is where
 * their port is. */
static __device__ __forceinline__ gyre_abi_u32 gyre_find(gyre_reader *reader, gyre_abi_u32 ports,
                                                         gyre_abi_u32 *turn, gyre_abi_u32 *next)
{
    gyre_block *const block = reader->block;
    const gyre_abi_u32 port = reader->lane % GYRE_MAILBOX_PORTS;
    const int ring = reader->lane >= GYRE_MAILBOX_PORTS;
    gyre_abi_u32 state = GYRE_STAGE_FREE, there, after, found;

    if (port < ports) {
        state = gyre_peek(&block->state[ring ? gyre_stage_at(port, *next) : port]);
        while (ring && state >= GYRE_STAGE_TAKEN)
            state = gyre_peek(&block->state[gyre_stage_at(port, ++*next)]);
    }
    there = __ballot_sync(GYRE_ALL, state == GYRE_STAGE_FULL);
    if (!there)
        return GYRE_NONE;
    gyre_fence();
    if (there & 0xffff) {
        found = __ffs(there & 0xffff) - 1;
    } else {
        there >>= 16;
        after = there & ~((2u << *turn) - 1);
        *turn = __ffs(after ? after : there) - 1;
        found = __shfl_sync(GYRE_ALL, *next, 16 + *turn);
        found = gyre_peek_all(&block->urgent[*turn]) ? gyre_pick(reader, *turn, found)
                                                     : gyre_stage_at(*turn, found);
    }
    if (reader->lane == 0)
        gyre_poke(&block->state[found], GYRE_STAGE_TAKEN);
    __syncwarp();
    return found;
}

/* What was handled may be written again; lane 0 of the leader. */
static __device__ __forceinline__ void gyre_free_stage(gyre_block *block, gyre_abi_u32 port)
{
    gyre_abi_u32 next = gyre_peek(&block->handled[port]);

    while (gyre_peek(&block->state[gyre_stage_at(port, next)]) == GYRE_STAGE_DONE)
        gyre_poke(&block->state[gyre_stage_at(port, next++)], GYRE_STAGE_FREE);
    gyre_fence();
    gyre_poke(&block->handled[port], next);
}

/* Answers what was handled, by the leader's warp, whose lane 0 has the answer in `self`. */
static __device__ __forceinline__ void gyre_answer_staged(gyre_reader *reader, gyre_self *self,
                                                          gyre_abi_u32 current, gyre_brief brief,
                                                          gyre_abi_u32 before)
{
    gyre_block *const block = reader->block;
    const int is_bell = current < GYRE_MAILBOX_PORTS;
    const gyre_abi_u32 port = is_bell ? current : (current - GYRE_MAILBOX_PORTS) / GYRE_STAGE;
    gyre_mailbox_message answer;
    gyre_ring_quarter back;
    gyre_ring_slot *slot;

    gyre_conclude(self, &brief);
    answer.brief = self->answer;
    back = gyre_scatter(&answer, reader->lane, 32);
    if (is_bell) {
        /* before its answer, after which it may be rung again */
        if (reader->lane == 0)
            gyre_poke(&block->state[current], GYRE_STAGE_FREE);
        gyre_fence();
        __syncwarp();
        slot = (gyre_ring_slot *)(reader->memory + sizeof(gyre_seat)) + port;
        back.stamp = gyre_ring_stamp(2 * brief.correlation + 1, reader->salt);
    } else {
        slot = gyre_slot_of(reader,
                            reader->replies_at + 2 * port * (reader->mask + 1) *
                                                     (gyre_abi_u32)sizeof(gyre_ring_slot),
                            brief.correlation);
        back.stamp = gyre_ring_stamp(brief.correlation, reader->salt);
    }
    if (reader->lane < 4 && (brief.flags & GYRE_BRIEF_CALL))
        gyre_store_answer(slot, reader->lane, back, brief.flags & GYRE_BRIEF_REFERS);
    if (reader->lane == 0) {
        gyre_count(reader, self, before);
        if (is_bell) {
            gyre_poke(&block->bell_done[port], brief.correlation);
        } else {
            gyre_poke(&block->state[current], GYRE_STAGE_DONE);
            gyre_free_stage(block, port);
        }
    }
    __syncwarp();
}

/* All lanes that handle meet, and get what the leader says. */
static __device__ __forceinline__ gyre_abi_u32 gyre_agree(const gyre_self *self, gyre_abi_u32 *word,
                                                          int says, gyre_abi_u32 value)
{
    if (says)
        gyre_poke(word, value);
    asm volatile("bar.sync 1, %0;" : : "r"(self->lanes) : "memory");
    return gyre_peek(word);
}

/* A warp that handles the messages of a block, to the end of the seat's life. */
static __device__ __forceinline__ void gyre_handle_loop(gyre_reader *reader, gyre_self *self,
                                                        gyre_behaviour_state *state,
                                                        gyre_abi_u32 ports)
{
    gyre_block *const block = reader->block;
    const int leads = threadIdx.x < 32;
    gyre_abi_u32 turn = 0, current = GYRE_NONE, slot = 0;
    gyre_abi_u32 place = block->handled[reader->lane % GYRE_MAILBOX_PORTS];

    for (;;) {
        gyre_abi_u32 before, next = GYRE_NONE;
        gyre_brief brief;

        if (current == GYRE_NONE) {
            if (leads) {
                gyre_abi_u32 quit = 0;

                gyre_tell_block(reader);
                while (next == GYRE_NONE && !quit) {
                    next = gyre_find(reader, ports, &turn, &place);
                    quit = gyre_peek_all(&block->quit);
                }
            }
            current = gyre_agree(self, &block->next[slot], leads && reader->lane == 0, next);
            slot ^= 1;
            next = GYRE_NONE;
            if (current == GYRE_NONE)
                break;
        }
        before = gyre_tick(reader);
        brief = reader->stage[current].brief;
        gyre_handle(self, state, &brief);
        /* behind a bell there is nothing, as a rule, and its caller waits */
        if (leads && current >= GYRE_MAILBOX_PORTS) {
            __syncwarp();
            next = gyre_find(reader, ports, &turn, &place);
        }
        next = gyre_agree(self, &block->next[slot], leads && reader->lane == 0, next);
        slot ^= 1;
        if (leads)
            gyre_answer_staged(reader, self, current, brief, before);
        current = next;
    }
    gyre_tell_block(reader);
}

#endif
