/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_reader: the warps that read the mailbox, the ring and the bell, and when they rest. See
 * loop_cuda.h.
 *
 * Threads   all lanes of a warp together.
 * Owns      nothing.
 * Not here  what a look at the ring finds (cuda_chunk.h).
 */
#ifndef GYRE_ACTOR_CUDA_READER_H
#define GYRE_ACTOR_CUDA_READER_H

enum {
    GYRE_FAST = 5,   /* slots of a chunk that were found full: messages come fast, */
    GYRE_VAIN = 4,   /* until a warp has looked for them so many times in vain */
    GYRE_WARM = 128, /* looks at the front before a warp that had messages watches the bell again */
    /* What a lane counts for itself, most, since all add to the same words: messages, and their
     * time, for which it has 32 bits. */
    GYRE_COUNTED = 512,
    GYRE_COUNTED_NS = 1 << 29,
};

/* Chunks that the front has passed: up to three are read at once, and then handled one after the
 * other. Reading takes several times as long as handling. The next could be read while one is
 * handled: but the compiler copies what was read, and waits for it, before it goes on. */
static __device__ __forceinline__ void gyre_read_passed(gyre_reader *reader, gyre_self *self,
                                                        gyre_behaviour_state *state)
{
    const gyre_abi_u32 stride = GYRE_CHUNK * reader->peers;
    int whole;

    do {
        const gyre_abi_u32 front = gyre_peek_all(GYRE_PORT_WORD(front));
        const int second = (int)(front - reader->base - stride) >= GYRE_CHUNK;
        const int third = (int)(front - reader->base - 2 * stride) >= GYRE_CHUNK;
        gyre_ring_quarter mine = gyre_load_chunk_if(reader, reader->base, 1);
        gyre_ring_quarter next = gyre_load_chunk_if(reader, reader->base + stride, second);
        const gyre_ring_quarter last = gyre_load_chunk_if(reader, reader->base + 2 * stride, third);

#pragma unroll 1
        for (int left = second + third;; left--) {
            (void)gyre_take_chunk(reader, self, state, mine, GYRE_CHUNK, 1);
            /* a host may write its slots in another order: then it is left to the next look */
            whole = gyre_next_chunk(reader) && !gyre_peek_all(GYRE_WORD(gated));
            if (++reader->untold * 4 * stride > reader->mask)
                gyre_tell_progress(reader);
            if (reader->messages >= GYRE_COUNTED || reader->total_ns >= GYRE_COUNTED_NS ||
                gyre_is_silent(reader))
                gyre_tell_block(reader);
            if (!whole || !left)
                break;
            mine = next;
            next = last;
        }
    } while (whole && gyre_is_passed(reader, reader->base));
}

/* Waits for the front to come to the warp's chunk, for a while; whether it did. */
static __device__ __forceinline__ int gyre_await_front(gyre_reader *reader)
{
    for (gyre_abi_u32 looks = 0; looks < GYRE_WARM; looks++) {
        if ((int)(gyre_peek_all(GYRE_PORT_WORD(front)) - reader->base) >= 0 ||
            gyre_peek_all(GYRE_WORD(gated)))
            return 1;
        if (looks == GYRE_WARM / 8 && reader->untold)
            gyre_tell_progress(reader);
        __nanosleep(20);
    }
    return 0;
}

/* Reads its replica of the bell; 1: this warp has answered it, or staged it. */
static __device__ __forceinline__ int gyre_read_bell(gyre_reader *reader, gyre_self *self,
                                                     gyre_behaviour_state *state,
                                                     gyre_ring_quarter bell, gyre_abi_u32 number)
{
    gyre_abi_u32 won = 0;

    if (!__all_sync(GYRE_ALL,
                    reader->lane >= 4 || bell.stamp == gyre_ring_stamp(2 * number, reader->salt)))
        return 0;
    if (reader->lane == 0) {
        const gyre_abi_u32 was = gyre_swap(GYRE_PORT_WORD(bell), number - 1, number);
        /* as for rings: the claim first, and then the gate once more */
        const gyre_abi_u32 gated = gyre_peek(GYRE_WORD(gated));

        won = was == number - 1;
        if (won && gated && (int)(number - gyre_peek(GYRE_PORT_WORD(bell_gate))) > 0) {
            gyre_poke(GYRE_PORT_WORD(bell), number - 1);
            won = 0;
        }
    }
    if (!__shfl_sync(GYRE_ALL, won, 0))
        return 0;
    __syncwarp(); /* what four lanes have acquired all have */
    if (GYRE_BEHAVIOUR_WIDTH == GYRE_WIDTH_BLOCK) {
        gyre_stage_bell(reader, bell);
    } else {
        gyre_handle_one(reader, self, state, bell, 0, 1);
        gyre_fence();
        __syncwarp();
        /* The next bell may be answered by another warp before this one comes here: so they are
         * counted, where a number would go back, and whoever awaits the last one would for ever. */
        if (reader->lane == 0)
            (void)gyre_add_one(GYRE_PORT_WORD(bell_done));
    }
    return 1;
}

/* One that is over is forgotten: the clock comes round again, in seconds. A new one that comes just
 * then is lost with it, which costs no more than time. */
static __device__ __forceinline__ int gyre_is_hushed(const gyre_reader *reader)
{
    const gyre_abi_u32 until = gyre_peek(GYRE_WORD(hush));

    if (!until)
        return 0;
    if (until - gyre_cycle() < GYRE_HUSHED)
        return 1;
    gyre_poke(GYRE_WORD(hush), 0);
    return 0;
}

/* Whether the seat's life is over; after the hush. */
static __device__ __forceinline__ int gyre_is_over(const gyre_reader *reader)
{
    if (GYRE_BEHAVIOUR_WIDTH == GYRE_WIDTH_BLOCK)
        while (__any_sync(GYRE_ALL, gyre_is_hushed(reader)))
            __nanosleep(40);
    return (int)gyre_peek_all(GYRE_WORD(quit));
}

/* What a warp does that has looked in vain for a while. */
static __device__ __forceinline__ void gyre_rest(const gyre_mailbox_shape *shape, gyre_abi_u32 idle,
                                                 gyre_abi_u32 *since)
{
    if (shape->idle == GYRE_SEAT_BACKS_OFF && (idle & 15) == 15) {
        /* in 1024 ns; lanes may differ: they meet later */
        const gyre_abi_u32 now = (gyre_abi_u32)(gyre_device_now() >> 10);

        if (idle == 15)
            *since = now;
        else if (now - *since > shape->spin_us)
            __nanosleep(shape->nap_us < 1000 ? shape->nap_us * 1000 : 1000000);
    }
}

/* Looks at the warp's own chunk, which is at the front; whether something was there. */
static __device__ __forceinline__ int gyre_read_front(gyre_reader *reader, gyre_self *self,
                                                      gyre_behaviour_state *state,
                                                      gyre_ring_quarter mine, gyre_abi_u32 below)
{
    const gyre_abi_u32 ready = gyre_take_chunk(reader, self, state, mine, below, 0);

    if (!ready)
        return 0;
    (void)gyre_next_chunk(reader);
    reader->untold++;
    return __popc(ready);
}

/* A warp that reads: to the end of the seat's life. */
static __device__ __forceinline__ void gyre_read_loop(gyre_reader *reader, gyre_self *self,
                                                      gyre_behaviour_state *state,
                                                      const gyre_mailbox_shape *shape)
{
    gyre_abi_u32 idle = 0, warm = 0, since = 0;

    while (!gyre_is_over(reader)) {
        const gyre_abi_u32 gated = gyre_peek_all(GYRE_WORD(gated));
        const gyre_abi_u32 gate = gyre_peek_all(GYRE_PORT_WORD(gate));
        const gyre_abi_u32 front = gyre_peek_all(GYRE_PORT_WORD(front));
        const gyre_abi_u32 number = gyre_peek_all(GYRE_PORT_WORD(bell)) + 1;
        const int reads_bell =
            reader->bell &&
            !(gated && (int)(number - 1 - gyre_peek_all(GYRE_PORT_WORD(bell_gate))) >= 0);
        const int reads_ring =
            (int)(reader->base - front) <= 0 && !(gated && (int)(reader->base - gate) >= 0);
        gyre_ring_quarter bell, ring;
        int found = 0;

        if ((int)(front - reader->base) >= GYRE_CHUNK && !gated) {
            gyre_read_passed(reader, self, state);
            warm = GYRE_VAIN;
            idle = 0;
            continue;
        }
        if (warm && !reads_ring && !gated) {
            warm = gyre_await_front(reader) ? warm : 0;
            continue;
        }
        if (reader->untold && !warm)
            gyre_tell_progress(reader);
        /* both are under way at once: what comes behind an acquire waits for it */
        ring = gyre_load_chunk_if(reader, reader->base, reads_ring);
        bell = gyre_acquire_quarter_if(reader->bell, reads_bell && reader->lane < 4);
        if (reads_ring)
            found = gyre_read_front(reader, self, state, ring,
                                    gated ? gate - reader->base : GYRE_CHUNK);
        warm = !found ? warm - (warm > 0) : found >= GYRE_FAST ? GYRE_VAIN : 0;
        if (reads_bell)
            found |= gyre_read_bell(reader, self, state, bell, number);
        idle = found ? 0 : idle + 1;
        if (!found && reader->untold)
            gyre_tell_progress(reader);
        if (reader->messages && (idle == 1 || gyre_is_silent(reader)))
            gyre_tell_block(reader);
        if (!reads_bell && !reads_ring)
            __nanosleep(400);
        gyre_rest(shape, idle, &since);
    }
    if (reader->untold)
        gyre_tell_progress(reader);
    gyre_tell_block(reader);
}

#endif
