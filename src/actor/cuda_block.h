/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_block: messages that a whole block handles, one after another. Warps that read put them into
 * shared memory, the stage; the first warp that handles, the leader, says which is next. See
 * loop_cuda.h.
 *
 * The stage is slots as in the mailbox: each quarter arrives whole and carries its stamp, so
 * nothing needs to be ordered. A fence would wait for every read of the host's memory that the
 * multiprocessor has under way.
 *
 * A message costs one barrier while there is another one behind it: the leader has found that
 * before all have handled the first. Its answer is stored when all have, while the others go on.
 *
 * Threads   a slot of the stage is the readers' when its last message is handled, as `handled`
 * says. Owns      nothing.
 */
#ifndef GYRE_ACTOR_CUDA_BLOCK_H
#define GYRE_ACTOR_CUDA_BLOCK_H

/* The stage: a bell of each port, then GYRE_STAGE messages of each. */
static __device__ __forceinline__ gyre_abi_u32 gyre_stage_at(gyre_abi_u32 port,
                                                             gyre_abi_u32 sequence)
{
    return GYRE_MAILBOX_PORTS + port * GYRE_STAGE + sequence % GYRE_STAGE;
}

static __device__ __forceinline__ void
gyre_stage_quarter(gyre_ring_slot *slot, gyre_abi_u32 quarter, gyre_ring_quarter mine)
{
    asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"((gyre_abi_u32)__cvta_generic_to_shared(&slot->quarter[quarter])),
                   "r"((gyre_abi_u32)mine.eight), "r"((gyre_abi_u32)(mine.eight >> 32)),
                   "r"(mine.four), "r"(mine.stamp)
                 : "memory");
}

static __device__ __forceinline__ gyre_ring_quarter gyre_staged_quarter(const gyre_ring_slot *slot,
                                                                        gyre_abi_u32 quarter)
{
    gyre_ring_quarter mine;
    gyre_abi_u32 low, high;

    asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(low), "=r"(high), "=r"(mine.four), "=r"(mine.stamp)
                 : "r"((gyre_abi_u32)__cvta_generic_to_shared(&slot->quarter[quarter]))
                 : "memory");
    mine.eight = (gyre_abi_u64)high << 32 | low;
    return mine;
}

/* Stamps that no message has which comes to the slot: of an odd bell, of another sequence. What an
 * earlier launch left there may have the right ones. By all threads. */
static __device__ __forceinline__ void gyre_stage_init(gyre_reader *reader, gyre_abi_u32 ports)
{
    for (gyre_abi_u32 i = threadIdx.x; i < 4 * gyre_stage_at(ports, 0); i += blockDim.x) {
        const gyre_abi_u32 slot = i / 4;
        gyre_ring_quarter none = {0, 0, 0};

        none.stamp = gyre_ring_stamp(
            slot < GYRE_MAILBOX_PORTS ? 1 : (slot - GYRE_MAILBOX_PORTS) % GYRE_STAGE ^ 1,
            reader->salt);
        gyre_stage_quarter(&reader->stage[slot], i % 4, none);
    }
}

/* A bell that this warp has claimed. The one before it is answered, or it would not have come. */
static __device__ __forceinline__ void gyre_stage_bell(gyre_reader *reader, gyre_ring_quarter mine)
{
    if (reader->lane < 4)
        gyre_stage_quarter(&reader->stage[reader->port], reader->lane, mine);
}

/* What is ready of a warp's chunk, as soon as there is room for it; which were staged. */
static __device__ __forceinline__ gyre_abi_u32 gyre_stage_ring(gyre_reader *reader,
                                                               gyre_ring_quarter mine,
                                                               gyre_abi_u32 ready)
{
    gyre_block *const block = reader->block;
    const gyre_abi_u32 sequence = reader->base + reader->lane / 4;
    gyre_abi_u32 staged = 0;

    while (staged != ready && !gyre_peek_all(&block->quit)) {
        const gyre_abi_u32 handled = gyre_peek_all(&block->handled[reader->port]);
        const int take =
            sequence - handled < GYRE_STAGE && ((ready & ~staged) >> (reader->lane & 28) & 1);

        if (take)
            gyre_stage_quarter(&reader->stage[gyre_stage_at(reader->port, sequence)],
                               reader->lane & 3, mine);
        staged |= __ballot_sync(GYRE_ALL, take) & GYRE_QUADS;
        if (staged != ready)
            __nanosleep(500);
    }
    return staged;
}

/* What the leader knows. */
typedef struct gyre_leader {
    gyre_abi_u32 half;     /* which eight ports it looks at */
    gyre_abi_u32 turn;     /* port that had the last message */
    gyre_abi_u32 sequence; /* of what was found last */
} gyre_leader;

/* Marks a message as in hand; lane 0. With one port, later ones may have been taken before. */
static __device__ __forceinline__ void gyre_mark_taken(gyre_block *block, gyre_abi_u32 port,
                                                       gyre_abi_u32 ahead)
{
    gyre_abi_u32 taken = gyre_peek(&block->taken[port]);
    gyre_abi_u32 over = gyre_peek(&block->over) | 1u << ahead;

    for (; over & 1; over >>= 1)
        taken++;
    gyre_poke(&block->taken[port], taken);
    gyre_poke(&block->over, over);
}

/* What is next, and in hand from now on, as an index of the stage; GYRE_NONE. Eight quads look at
 * as many slots at once: the next eight of the only port, or the next one of each. */
static __device__ __forceinline__ gyre_abi_u32 gyre_find(gyre_reader *reader, gyre_abi_u32 ports,
                                                         gyre_leader *leader)
{
    gyre_block *const block = reader->block;
    const gyre_abi_u32 quad = reader->lane / 4, place = quad + 8 * leader->half;
    const gyre_abi_u32 port = ports == 1 ? 0 : place, ahead = ports == 1 ? quad : 0;
    const int there = port < ports;
    const gyre_abi_u32 sequence = there ? gyre_peek(&block->taken[port]) + ahead : 0;
    const gyre_abi_u32 number = place < ports ? gyre_peek(&block->bell_done[place]) + 1 : 0;
    const int over = ports == 1 && (gyre_peek(&block->over) >> ahead & 1);
    gyre_ring_quarter ring = {0, 0, 0}, bell = {0, 0, 0};
    gyre_abi_u32 bells, rings, band, rank, from;

    leader->half = ports > 8 ? !leader->half : 0;
    if (place < ports)
        bell = gyre_staged_quarter(&reader->stage[place], reader->lane & 3);
    if (there)
        ring = gyre_staged_quarter(&reader->stage[gyre_stage_at(port, sequence)], reader->lane & 3);
    bells = __ballot_sync(GYRE_ALL,
                          place < ports && bell.stamp == gyre_ring_stamp(2 * number, reader->salt));
    rings = __ballot_sync(GYRE_ALL,
                          over || (there && ring.stamp == gyre_ring_stamp(sequence, reader->salt)));
    bells = bells & bells >> 1;
    bells = bells & bells >> 2 & GYRE_QUADS;
    rings = rings & rings >> 1;
    rings = rings & rings >> 2 & GYRE_QUADS;
    if (bells) /* a port, or the one eight above it */
        return __shfl_sync(GYRE_ALL, place, __ffs(bells) - 1);
    if (ports == 1) /* those before the first that is not there */
        rings &= (~rings & GYRE_QUADS) - 1;
    rings &= __ballot_sync(GYRE_ALL, !over);
    if (!rings)
        return GYRE_NONE;
    band = (gyre_abi_u32)ring.eight >> 30;
    rank = gyre_warp_least(rings >> reader->lane & 1 ? 3 - band : 3);
    rings &= __ballot_sync(GYRE_ALL, (rings >> reader->lane & 1) && 3 - band == rank);
    /* of those of a band the first, or of the next port after the last one, round and round */
    from = rings & ~((16u << (leader->turn & 7) * 4) - 1);
    from = __ffs(ports > 1 && from ? from : rings) - 1;
    leader->turn = __shfl_sync(GYRE_ALL, port, from);
    leader->sequence = __shfl_sync(GYRE_ALL, sequence, from);
    if (reader->lane == 0)
        gyre_mark_taken(block, leader->turn, ports == 1 ? from / 4 : 0);
    __syncwarp();
    return gyre_stage_at(leader->turn, leader->sequence);
}

/* Answers what was handled, by the leader's warp, whose lane 0 has the answer in `self`. */
static __device__ __forceinline__ void gyre_answer_staged(gyre_reader *reader, gyre_self *self,
                                                          gyre_abi_u32 current,
                                                          const gyre_brief *brief,
                                                          gyre_abi_u32 before)
{
    const int is_bell = current < GYRE_MAILBOX_PORTS;
    const gyre_abi_u32 port = is_bell ? current : (current - GYRE_MAILBOX_PORTS) / GYRE_STAGE;
    gyre_mailbox_message answer;
    gyre_ring_quarter back;
    gyre_ring_slot *slot;

    if (brief->flags & GYRE_BRIEF_CALL) {
        gyre_conclude(self, brief);
        answer.brief = self->answer;
        back = gyre_scatter(&answer, reader->lane, 32);
        if (is_bell) {
            slot = (gyre_ring_slot *)(reader->memory + sizeof(gyre_seat)) + port;
            back.stamp = gyre_ring_stamp(2 * brief->correlation + 1, reader->salt);
        } else {
            slot = gyre_slot_of(reader,
                                reader->replies_at + 2 * port * (reader->mask + 1) *
                                                         (gyre_abi_u32)sizeof(gyre_ring_slot),
                                brief->correlation);
            back.stamp = gyre_ring_stamp(brief->correlation, reader->salt);
        }
        /* a bell may be rung again when its answer is there */
        if (is_bell && reader->lane == 0)
            gyre_poke(&reader->block->bell_done[port], brief->correlation);
        __syncwarp();
        if (reader->lane < 4)
            gyre_store_answer(slot, reader->lane, back, brief->flags & GYRE_BRIEF_REFERS);
    }
    if (reader->lane == 0)
        gyre_count(reader, self, before);
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

#define GYRE_UNSTAGE_(q)                                                                           \
    part = gyre_staged_quarter(slot, q);                                                           \
    out->payload.eight[q] = part.eight;                                                            \
    out->payload.four[q] = part.four

static __device__ __forceinline__ void gyre_unstage(const gyre_ring_slot *slot,
                                                    gyre_mailbox_message *out)
{
    gyre_ring_quarter part;

    GYRE_UNSTAGE_(0);
    GYRE_UNSTAGE_(1);
    GYRE_UNSTAGE_(2);
    GYRE_UNSTAGE_(3);
}

/* A warp that handles the messages of a block, to the end of the seat's life. */
static __device__ __forceinline__ void gyre_handle_loop(gyre_reader *reader, gyre_self *self,
                                                        gyre_behaviour_state *state,
                                                        gyre_abi_u32 ports)
{
    gyre_block *const block = reader->block;
    const int leads = threadIdx.x < 32, speaks = threadIdx.x == 0;
    gyre_leader leader = {0, 0, 0};
    gyre_abi_u32 current = GYRE_NONE, slot = 0;

    for (;;) {
        gyre_abi_u32 before, next = GYRE_NONE;
        gyre_mailbox_message message;

        if (current == GYRE_NONE) {
            if (leads) {
                gyre_abi_u32 quit = 0;

                gyre_tell_block(reader);
                while (next == GYRE_NONE && !quit) {
                    next = gyre_find(reader, ports, &leader);
                    quit = gyre_peek_all(&block->quit);
                }
            }
            current = gyre_agree(self, &block->next[slot], speaks, next);
            slot ^= 1;
            next = GYRE_NONE;
            if (current == GYRE_NONE)
                break;
        }
        before = gyre_tick(reader);
        gyre_unstage(&reader->stage[current], &message);
        gyre_handle(self, state, &message.brief);
        /* behind a bell there is nothing, as a rule, and its caller waits */
        if (leads && current >= GYRE_MAILBOX_PORTS) {
            __syncwarp();
            next = gyre_find(reader, ports, &leader);
        }
        next = gyre_agree(self, &block->next[slot], speaks, next);
        slot ^= 1;
        if (leads) {
            const gyre_abi_u32 port = (current - GYRE_MAILBOX_PORTS) / GYRE_STAGE;

            gyre_answer_staged(reader, self, current, &message.brief, before);
            /* up to what is in hand */
            if (speaks && current >= GYRE_MAILBOX_PORTS) {
                const gyre_abi_u32 taken = gyre_peek(&block->taken[port]);
                const int ours = next != GYRE_NONE && next >= GYRE_MAILBOX_PORTS &&
                                 leader.turn == port && (int)(leader.sequence - taken) < 0;

                gyre_poke(&block->handled[port], ours ? leader.sequence : taken);
            }
            __syncwarp();
        }
        current = next;
    }
    gyre_tell_block(reader);
}

#endif
