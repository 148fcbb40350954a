/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_steward: the warp that looks at the host's orders, looks ahead while messages come fast, and
 * has the host told how far the seat is. All lanes of it come here together. See loop_cuda.h.
 *
 * Threads   one warp. Edge: [actor-order] with the host.
 * Owns      nothing.
 * Not here  what the host is told (cuda_tell.h).
 */
#ifndef GYRE_ACTOR_CUDA_STEWARD_H
#define GYRE_ACTOR_CUDA_STEWARD_H

enum {
    GYRE_SAMPLES = 16, /* slots of a port that it looks at, most */
    GYRE_BUSY = 16,    /* looks in vain before it is not busy any more */
    GYRE_EVERY = 16,   /* looks between two at the orders, while it is busy */
    /* Cycles between two times that it tells the host how the seat fares, least. Each word of that
     * is a write over PCIe, and what is read after it comes after it. */
    GYRE_OFTEN = 40000,
};

typedef struct gyre_steward {
    gyre_abi_u32 order, obeyed, ends;
    gyre_abi_u32 apart; /* how many more messages are counted than heads and bells make */
    gyre_abi_u64 told;  /* messages of which the host knows */
} gyre_steward;

static __device__ __forceinline__ gyre_abi_u32 gyre_warp_sum(gyre_abi_u32 value)
{
    for (int by = 16; by > 0; by /= 2)
        value += __shfl_xor_sync(GYRE_ALL, value, by);
    return value;
}

/* A new order, for all warps to see. */
static __device__ __forceinline__ void gyre_take_order(gyre_reader *reader, gyre_steward *steward,
                                                       gyre_abi_u32 ports, gyre_abi_u32 order)
{
    gyre_seat *const seat = gyre_seat_of(reader);
    const gyre_abi_u64 words = gyre_mailbox_load_order(&seat->control.host);
    const gyre_abi_u32 gated = !(gyre_abi_u32)words;

    steward->order = order;
    steward->ends = __shfl_sync(GYRE_ALL, (gyre_abi_u32)(words >> 32), 0);
    if (reader->lane < ports) {
        gyre_poke(GYRE_WORD(gate[reader->lane]), gyre_mailbox_load(&seat->gates[reader->lane]));
        gyre_poke(GYRE_WORD(bell_gate[reader->lane]),
                  gyre_mailbox_load(&seat->bell_gates[reader->lane]));
    }
    gyre_fence();
    __syncwarp();
    if (reader->lane == 0) {
        gyre_poke(GYRE_WORD(order), order);
        gyre_poke(GYRE_WORD(gated), gated);
    }
    __syncwarp();
}

/* Warps handle what the front has passed, in any order, and what was in hand when the order came.
 * So the gates go there: when they are reached nothing is handled behind something that is not, nor
 * is anything begun, and who begins again there handles nothing twice. */
static __device__ __forceinline__ void gyre_raise_gates(gyre_reader *reader, gyre_abi_u32 ports)
{
    if (reader->lane < ports) {
        const gyre_abi_u32 taken =
            gyre_peek(GYRE_BEHAVIOUR_WIDTH == GYRE_WIDTH_BLOCK ? GYRE_WORD(taken[reader->lane])
                                                               : GYRE_WORD(front[reader->lane]));
        const gyre_abi_u32 bell = gyre_peek(GYRE_WORD(bell[reader->lane]));

        if ((int)(taken - gyre_peek(GYRE_WORD(gate[reader->lane]))) > 0)
            gyre_poke(GYRE_WORD(gate[reader->lane]), taken);
        if ((int)(bell - gyre_peek(GYRE_WORD(bell_gate[reader->lane]))) > 0)
            gyre_poke(GYRE_WORD(bell_gate[reader->lane]), bell);
    }
    __syncwarp();
}

/* Whether all that rings and bells say is done has been counted: warps tell the block later. */
static __device__ __forceinline__ int
gyre_all_counted(const gyre_reader *reader, const gyre_steward *steward, gyre_abi_u32 ports)
{
    gyre_abi_u32 done = 0;

    if (reader->lane < ports)
        done = gyre_peek(GYRE_WORD(published[reader->lane])) +
               gyre_peek(GYRE_WORD(bell_done[reader->lane]));
    done = gyre_warp_sum(done);
    return gyre_peek_all(GYRE_WORD(processed)) - done == steward->apart;
}

/* Looks for orders and carries them out. */
static __device__ __forceinline__ void gyre_obey(gyre_reader *reader, gyre_steward *steward,
                                                 gyre_abi_u32 ports)
{
    gyre_seat *const seat = gyre_seat_of(reader);
    gyre_abi_u32 order = 0, there = 1;

    /* acquire [actor-order] */
    if (reader->lane == 0)
        order = gyre_mailbox_acquire(&seat->control.host.order);
    order = __shfl_sync(GYRE_ALL, order, 0);
    if (order != steward->order)
        gyre_take_order(reader, steward, ports, order);
    if (steward->obeyed == order)
        return;
    if (steward->ends != 1 && gyre_peek_all(GYRE_WORD(gated))) {
        gyre_raise_gates(reader, ports);
        gyre_publish(reader, ports, 1);
        for (gyre_abi_u32 port = 0; port < ports; port++)
            there = there && /* it may have gone beyond before it saw the order */
                    (int)(gyre_peek(GYRE_WORD(published[port])) -
                          gyre_peek(GYRE_WORD(gate[port]))) >= 0 &&
                    (int)(gyre_peek(GYRE_WORD(bell_done[port])) -
                          gyre_peek(GYRE_WORD(bell_gate[port]))) >= 0;
        there = __shfl_sync(GYRE_ALL, there, 0);
        there = there && gyre_all_counted(reader, steward, ports);
    }
    if (!there)
        return;
    steward->obeyed = order;
    if (steward->ends) {
        if (reader->lane == 0)
            gyre_poke(GYRE_WORD(quit), 1);
        return;
    }
    steward->told = ~0ull; /* so that all of it is told */
    gyre_tell_host(reader, ports, &steward->told);
    if (reader->lane == 0) {
        gyre_mailbox_store64(&seat->control.device.time, gyre_device_now());
        /* release [actor-order] */
        gyre_mailbox_release(&seat->control.device.order, order);
    }
}

/* Looks how far the rings are filled: at the last slot of every fourth chunk of the next few
 * of each port. Tells who waits for that; whether there was anything. */
static __device__ __forceinline__ int gyre_scout(const gyre_reader *reader, gyre_abi_u32 ports,
                                                 gyre_abi_u64 ring_bytes)
{
    const gyre_abi_u32 each = 32 / ports, port = reader->lane / each, place = reader->lane % each;
    const gyre_abi_u32 front = gyre_peek(GYRE_WORD(front[port]));
    const gyre_abi_u32 last = (front / GYRE_CHUNK + 4 * (place + 1)) * GYRE_CHUNK - 1;
    gyre_ring_quarter mine = {0, 0, 0};
    gyre_abi_u32 all, there;

    if (place < GYRE_SAMPLES)
        mine = gyre_ring_load_quarter(
            &gyre_slot_of(reader, reader->requests_at + 2 * port * (gyre_abi_u32)ring_bytes, last)
                 ->quarter[3]);
    all = __ballot_sync(GYRE_ALL,
                        place < GYRE_SAMPLES && mine.stamp == gyre_ring_stamp(last, reader->salt));
    there = all >> port * each & (gyre_abi_u32)((1ull << each) - 1); /* of this port */
    if (place == 0 && there)
        gyre_move_front(GYRE_WORD(front[port]),
                        (front / GYRE_CHUNK + 4 * (32 - __clz(there))) * GYRE_CHUNK);
    __syncwarp();
    return all != 0;
}

/* The fronts of all ports, as one sum that changes with each. */
static __device__ __forceinline__ gyre_abi_u32 gyre_fronts(const gyre_reader *reader,
                                                           gyre_abi_u32 ports)
{
    return gyre_warp_sum(reader->lane < ports ? gyre_peek(GYRE_WORD(front[reader->lane])) : 0);
}

/* A warp has nothing to do any more. */
static __device__ __forceinline__ void gyre_leave(const gyre_reader *reader)
{
    if (reader->lane == 0)
        (void)gyre_add_one(GYRE_WORD(left));
}

/* Tells the host how the seat fares, if it has not done so just now. */
static __device__ __forceinline__ void gyre_tell_at_times(gyre_reader *reader,
                                                          gyre_steward *steward, gyre_abi_u32 ports)
{
    const gyre_abi_u64 told = steward->told;

    if (!__shfl_sync(GYRE_ALL, gyre_cycle() - reader->told_at > GYRE_OFTEN, 0))
        return;
    gyre_tell_host(reader, ports, &steward->told);
    if (steward->told != told)
        reader->told_at = gyre_cycle();
}

/* The steward, to the end of the seat's life, which is not before the `others` are done with what
 * they have in hand. While messages come fast it scouts, and has little time for anything else. */
static __device__ __forceinline__ void
gyre_steward_loop(gyre_reader *reader, const gyre_mailbox_shape *shape, gyre_abi_u32 others)
{
    const gyre_seat *const seat = gyre_seat_of(reader);
    gyre_abi_u32 busy = 0, round = 0, idle = 0, fronts = gyre_fronts(reader, shape->ports);
    gyre_abi_u32 done = 0, since = 0;
    gyre_steward steward;
    int over;

    /* as the host has it: of the block others may have moved something already */
    steward.order = steward.obeyed = gyre_mailbox_load(&seat->control.device.order);
    steward.ends = 0;
    steward.told = gyre_mailbox_load64(&seat->control.device.processed);
    if (reader->lane < shape->ports)
        done = gyre_mailbox_load(&seat->heads[reader->lane]) +
               gyre_mailbox_load(&seat->rung[reader->lane]);
    steward.apart = (gyre_abi_u32)steward.told - gyre_warp_sum(done);
    while (!(over = gyre_is_over(reader)) || gyre_peek_all(GYRE_WORD(left)) != others) {
        const gyre_abi_u32 now = gyre_fronts(reader, shape->ports);
        const int moved = now - fronts >= GYRE_CHUNK;

        fronts = now;
        busy = moved ? GYRE_BUSY : busy - (busy > 0);
        idle = busy ? 0 : idle + 1;
        if (busy && !over && !gyre_peek_all(GYRE_WORD(gated))) {
            const int found = gyre_scout(reader, shape->ports, gyre_mailbox_ring_bytes(shape));

            gyre_publish(reader, shape->ports, found ? shape->capacity / 4 : 1);
            if (++round % GYRE_EVERY != 0)
                continue;
        }
        if (!over)
            gyre_obey(reader, &steward, shape->ports);
        gyre_publish(reader, shape->ports, busy ? shape->capacity / 4 : 1);
        gyre_tell_at_times(reader, &steward, shape->ports);
        if (gyre_peek_all(GYRE_WORD(quit)))
            __nanosleep(1000); /* the others are about to leave */
        else
            gyre_rest(shape, idle, &since);
    }
}

#endif
