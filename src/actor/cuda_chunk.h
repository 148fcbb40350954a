/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_chunk: a ring in chunks of eight slots, each of which one warp reads: which ones are its
 * own, how far the ring is filled, and what becomes of the messages of a chunk. See loop_cuda.h.
 *
 * Threads   all lanes of a warp together; `progress` has a word for each warp, `front` is moved by
 *           any.
 * Owns      nothing.
 * Not here  when a warp looks at which (cuda_reader.h), the looks ahead (cuda_steward.h).
 */
#ifndef GYRE_ACTOR_CUDA_CHUNK_H
#define GYRE_ACTOR_CUDA_CHUNK_H

/* Where a warp begins: at its first chunk that holds something from `first` on. */
static __device__ __forceinline__ void gyre_begin(gyre_reader *reader, gyre_abi_u32 first)
{
    const gyre_abi_u32 chunk = first / GYRE_CHUNK;
    const gyre_abi_u32 wait =
        (reader->index + reader->peers - chunk % reader->peers) % reader->peers;

    reader->base = (chunk + wait) * GYRE_CHUNK;
    reader->done = wait == 0 ? GYRE_QUADS & ((1u << 4 * (first % GYRE_CHUNK)) - 1) : 0;
    if (reader->lane == 0)
        gyre_poke(GYRE_WORD(progress[reader->warp]), wait == 0 ? first : reader->base);
}

/* Tells how far the ring has been seen, by which the warp at its front is found. Never back. */
static __device__ __forceinline__ void gyre_move_front(gyre_abi_u32 front, gyre_abi_u32 seen)
{
    for (gyre_abi_u32 was = gyre_peek(front), now; (int)(seen - was) > 0; was = now) {
        now = gyre_swap(front, was, seen);
        if (now == was)
            break;
    }
}

static __device__ __forceinline__ void gyre_push_front(gyre_reader *reader, gyre_abi_u32 seen)
{
    if (reader->lane == 0)
        gyre_move_front(GYRE_PORT_WORD(front), seen);
    __syncwarp();
}

/* A lane's quarter of the chunk that begins at `base`, if `when`. */
static __device__ __forceinline__ gyre_ring_quarter gyre_load_chunk_if(const gyre_reader *reader,
                                                                       gyre_abi_u32 base, int when)
{
    return gyre_load_quarter_if(&gyre_slot_of(reader, reader->requests_at, base + reader->lane / 4)
                                     ->quarter[reader->lane & 3],
                                when);
}

/* What is done is told. The fence waits for what the warp has under way. */
static __device__ __forceinline__ void gyre_tell_progress(gyre_reader *reader)
{
    if (GYRE_BEHAVIOUR_WIDTH != GYRE_WIDTH_BLOCK) /* where it was read only */
        gyre_fence();                             /* what was done is seen before that it was */
    __syncwarp();
    if (reader->lane == 0)
        gyre_poke(GYRE_WORD(progress[reader->warp]),
                  reader->base + (__ffs(GYRE_QUADS & ~reader->done) - 1) / 4);
    reader->untold = 0;
}

/* Whether the front has passed the chunk that begins at `base`. */
static __device__ __forceinline__ int gyre_is_passed(const gyre_reader *reader, gyre_abi_u32 base)
{
    return (int)(gyre_peek_all(GYRE_PORT_WORD(front)) - base) >= GYRE_CHUNK;
}

/* Handles or stages what of the warp's chunk is there; which slots those were. The front has passed
 * it or not. */
static __device__ __forceinline__ gyre_abi_u32 gyre_take_chunk(gyre_reader *reader, gyre_self *self,
                                                               gyre_behaviour_state *state,
                                                               gyre_ring_quarter mine,
                                                               gyre_abi_u32 below, int passed)
{
    const int is_block = GYRE_BEHAVIOUR_WIDTH == GYRE_WIDTH_BLOCK;
    const gyre_abi_u32 sequence = reader->base + reader->lane / 4;
    gyre_abi_u32 ready = gyre_whole_quads(mine.stamp == gyre_ring_stamp(sequence, reader->salt) &&
                                          sequence - reader->base < below);
    gyre_abi_u32 missing;

    /* those before the first that is not there: an order waits for all before the last one taken */
    ready &= ~reader->done;
    missing = GYRE_QUADS & ~reader->done & ~ready;
    if (missing)
        ready &= (missing & -missing) - 1;
    if (!ready)
        return 0;
    /* The front first, and then the gate once more: who raises that afterwards knows of what is
     * taken here. And who waits for room keeps nobody from reading what comes before. */
    if (!passed) {
        const gyre_abi_u32 behind = reader->base + (35 - __clz(ready)) / 4;

        gyre_push_front(reader, behind);
        if (!is_block && gyre_peek_all(GYRE_WORD(gated)) &&
            (int)(behind - gyre_peek_all(GYRE_PORT_WORD(gate))) > 0)
            return 0;
    }
    if (GYRE_BEHAVIOUR_WIDTH == GYRE_WIDTH_QUAD)
        gyre_handle_quads(reader, self, state, mine, ready);
    else if (GYRE_BEHAVIOUR_WIDTH == GYRE_WIDTH_WARP)
        gyre_handle_warp(reader, self, state, mine, ready);
    else {
        if (reader->untold) /* nor from hearing of what was done */
            gyre_tell_progress(reader);
        ready = gyre_stage_ring(reader, mine, ready);
    }
    reader->done |= ready;
    return ready;
}

/* When the chunk is done the next begins. */
static __device__ __forceinline__ int gyre_next_chunk(gyre_reader *reader)
{
    if (reader->done != GYRE_QUADS)
        return 0;
    reader->base += GYRE_CHUNK * reader->peers;
    reader->done = 0;
    return 1;
}

#endif
