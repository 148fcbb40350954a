/* SPDX-License-Identifier: Apache-2.0
 *
 * loop_cuda: a seat that is a block of a GPU. It comes after the text of the behaviour.
 *
 * Reading the mailbox takes over a microsecond, because it lies in the host's memory; everything
 * here is arranged so that nobody waits for such a read but who needs its result.
 *   narrow   (a quad or a warp to a message) Every warp reads for itself: eight slots of a ring at
 *            once, four lanes to a slot, or a replica of a bell. What it finds it handles.
 *   block    Some warps only read, and put what they find into shared memory; the others handle it,
 *            one message after another, and meet at barrier 1.
 * The last warp that reads is the steward as well: it looks at the host's orders and tells how far
 * the seat is.
 *
 * Slots of the ring belong to warps by their sequence: the eight from 8k on to warp k modulo those
 * of the port. How far a warp is, is in `progress`: the first sequence that it has not done; so the
 * least of them is how far the port is.
 *
 * Two temperatures. While messages come one at a time, one warp watches the slots at the front of
 * the ring and the others the bell: many more reads would make each take longer. A look that finds
 * most of its slots full heats the port: all its warps read the ring, and nothing else, each until
 * it has looked in vain for a few times; then for a while both, so that a host which is a little
 * slower than the device does not find it cold.
 *
 * Threads   see cuda_slot.h. Edge: [actor-order] with the host.
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_LOOP_CUDA_H
#define GYRE_ACTOR_LOOP_CUDA_H

#include "actor/cuda_slot.h"

#include "actor/cuda_block.h"
#include "actor/cuda_narrow.h"
#include "actor/cuda_steward.h"

enum {
    GYRE_WARM = 5,   /* full slots of a chunk that heat the port */
    GYRE_COOL = 3,   /* looks in vain after which a warp is not hot any more, */
    GYRE_TEPID = 12, /* and so many more until it is cold */
    GYRE_EVERY = 16, /* hot rounds between two looks of the steward at the orders */
};

/* Where a warp begins: at its first chunk that holds something from `first` on. */
static __device__ __forceinline__ void gyre_begin(gyre_reader *reader, gyre_abi_u32 first)
{
    const gyre_abi_u32 chunk = first / GYRE_CHUNK;
    const gyre_abi_u32 wait =
        (reader->index + reader->peers - chunk % reader->peers) % reader->peers;

    reader->base = (chunk + wait) * GYRE_CHUNK;
    reader->done = wait == 0 ? GYRE_QUADS & ((1u << 4 * (first % GYRE_CHUNK)) - 1) : 0;
    if (reader->lane == 0)
        gyre_poke(&reader->block->progress[reader->warp], wait == 0 ? first : reader->base);
}

/* Tells how far the ring has been seen, by which the warp at its front is found. Never back. */
static __device__ __forceinline__ void gyre_push_front(gyre_reader *reader, gyre_abi_u32 seen)
{
    gyre_abi_u32 *const front = &reader->block->front[reader->port];

    if (reader->lane == 0)
        for (gyre_abi_u32 was = gyre_peek(front), now; (int)(seen - was) > 0; was = now) {
            now = atomicCAS(front, was, seen);
            if (now == was)
                break;
        }
    __syncwarp();
}

/* Reads the warp's chunk and handles or stages what is there; which slots those were. */
static __device__ __forceinline__ gyre_abi_u32 gyre_read_ring(gyre_reader *reader, gyre_self *self,
                                                              gyre_behaviour_state *state,
                                                              int gated, gyre_abi_u32 gate)
{
    const gyre_abi_u32 sequence = reader->base + reader->lane / 4;
    const gyre_ring_quarter mine = gyre_ring_load_quarter(
        &gyre_slot_of(reader, reader->requests_at, sequence)->quarter[reader->lane & 3]);
    gyre_abi_u32 ready =
        __ballot_sync(GYRE_ALL, mine.stamp == gyre_ring_stamp(sequence, reader->salt) &&
                                    !(gated && (int)(sequence - gate) >= 0));

    ready &= ready >> 1;
    ready &= ready >> 2;
    ready &= GYRE_QUADS & ~reader->done; /* all four lanes, and not done yet */
    if (!ready)
        return 0;
    if (GYRE_BEHAVIOUR_WIDTH == GYRE_WIDTH_QUAD)
        gyre_handle_quads(reader, self, state, mine, ready);
    else if (GYRE_BEHAVIOUR_WIDTH == GYRE_WIDTH_WARP)
        gyre_handle_warp(reader, self, state, mine, ready);
    else {
        /* who waits for room keeps nobody from reading what comes before */
        gyre_push_front(reader, reader->base + (35 - __clz(ready)) / 4);
        ready = gyre_stage_ring(reader, mine, ready);
    }
    reader->done |= ready;
    return ready;
}

/* What is done is told, and when the chunk is done the next begins. */
static __device__ __forceinline__ void gyre_advance(gyre_reader *reader)
{
    gyre_abi_u32 first;

    if (reader->done == GYRE_QUADS) {
        reader->base += GYRE_CHUNK * reader->peers;
        reader->done = 0;
    }
    first = reader->base + (__ffs(GYRE_QUADS & ~reader->done) - 1) / 4;
    gyre_fence(); /* what was done is seen before that it was */
    __syncwarp();
    if (reader->lane == 0)
        gyre_poke(&reader->block->progress[reader->warp], first);
}

/* Sequence behind the last slot that the warp has done. */
static __device__ __forceinline__ gyre_abi_u32 gyre_seen(const gyre_reader *reader)
{
    if (!reader->done)
        return reader->base - GYRE_CHUNK * (reader->peers - 1);
    return reader->base + (35 - __clz(reader->done)) / 4;
}

/* A hot port: the ring and nothing else, until it was in vain for a few times. */
static __device__ __forceinline__ void gyre_read_hot(gyre_reader *reader, gyre_self *self,
                                                     gyre_behaviour_state *state,
                                                     const gyre_mailbox_shape *shape,
                                                     gyre_steward *steward)
{
    gyre_block *const block = reader->block;
    const int steward_here = reader->warp == reader->readers - 1;
    gyre_abi_u32 vain = 0, round = 0;

    while (vain < GYRE_COOL && !gyre_peek_all(&block->gated)) {
        const gyre_abi_u32 ready = gyre_read_ring(reader, self, state, 0, 0);

        vain = ready ? 0 : vain + 1;
        round++;
        if (ready)
            gyre_advance(reader);
        if (steward_here) {
            gyre_publish(reader, shape->ports, shape->capacity / 4);
            if (round % GYRE_EVERY == 0)
                gyre_obey(reader, steward, shape->ports);
        }
        if (round % 64 == 0)
            gyre_tell_block(reader);
    }
    if (round > vain)
        gyre_push_front(reader, gyre_seen(reader));
}

/* Reads its replica of the bell; 1: this warp has answered it, or staged it. */
static __device__ __forceinline__ int gyre_read_bell(gyre_reader *reader, gyre_self *self,
                                                     gyre_behaviour_state *state,
                                                     gyre_ring_quarter bell, gyre_abi_u32 number)
{
    gyre_block *const block = reader->block;
    gyre_abi_u32 won = 0;

    if (!__all_sync(GYRE_ALL,
                    reader->lane >= 4 || bell.stamp == gyre_ring_stamp(2 * number, reader->salt)))
        return 0;
    if (reader->lane == 0)
        won = atomicCAS(&block->bell[reader->port], number - 1, number) == number - 1;
    if (!__shfl_sync(GYRE_ALL, won, 0))
        return 0;
    if (GYRE_BEHAVIOUR_WIDTH == GYRE_WIDTH_BLOCK) {
        gyre_stage_bell(reader, bell);
    } else {
        gyre_handle_one(reader, self, state, bell, 0, 1);
        gyre_fence();
        __syncwarp();
        if (reader->lane == 0)
            gyre_poke(&block->bell_done[reader->port], number);
    }
    return 1;
}

/* A warp that reads: to the end of the seat's life. */
static __device__ __forceinline__ void gyre_read_loop(gyre_reader *reader, gyre_self *self,
                                                      gyre_behaviour_state *state,
                                                      const gyre_mailbox_shape *shape)
{
    gyre_block *const block = reader->block;
    const int steward_here = reader->warp == reader->readers - 1;
    gyre_abi_u32 idle = 0, heat = 0, tepid = 0;
    gyre_abi_u64 since = 0;
    gyre_steward steward;

    steward.order = steward.obeyed = gyre_mailbox_load(&gyre_seat_of(reader)->control.device.order);
    steward.ends = 0;
    steward.told = block->processed;
    while (!gyre_peek_all(&block->quit)) {
        const gyre_abi_u32 gated = gyre_peek_all(&block->gated);
        const gyre_abi_u32 gate = gyre_peek_all(&block->gate[reader->port]);
        const gyre_abi_u32 front = gyre_peek_all(&block->front[reader->port]);
        const gyre_abi_u32 number = gyre_peek_all(&block->bell[reader->port]) + 1;
        const gyre_abi_u32 heated = gyre_peek_all(&block->heat[reader->port]);
        const int reads_bell =
            reader->bell_at &&
            !(gated && (int)(number - 1 - gyre_peek_all(&block->bell_gate[reader->port])) >= 0);
        const int reads_ring =
            (int)(reader->base - front) < GYRE_CHUNK && !(gated && (int)(reader->base - gate) >= 0);
        gyre_ring_quarter bell = {0, 0, 0};
        gyre_abi_u32 ready = 0;
        int found = 0;

        if (heated != heat && !gated) {
            gyre_read_hot(reader, self, state, shape, &steward);
            heat = heated;
            tepid = GYRE_TEPID;
            idle = 0;
            continue;
        }
        if (reads_bell && reader->lane < 4)
            bell = gyre_ring_load_quarter(
                (const gyre_ring_quarter *)(reader->memory + reader->bell_at) + reader->lane);
        if (reads_ring) {
            ready = gyre_read_ring(reader, self, state, (int)gated, gate);
            if (ready) {
                gyre_push_front(reader, gyre_seen(reader));
                gyre_advance(reader);
                if (__popc(ready) >= GYRE_WARM && reader->lane == 0)
                    atomicAdd(&block->heat[reader->port], 1);
                heat = tepid ? heat - 1 : heat; /* this one is hot at once */
                found = 1;
            }
            tepid -= tepid > 0;
        }
        if (reads_bell)
            found |= gyre_read_bell(reader, self, state, bell, number);
        idle = found ? 0 : idle + 1;
        if (idle == 1)
            gyre_tell_block(reader);
        if (steward_here) {
            gyre_obey(reader, &steward, shape->ports);
            gyre_publish(reader, shape->ports, 1);
            gyre_tell_host(reader, shape->ports, &steward);
        } else if (!reads_bell && !reads_ring) {
            __nanosleep(400);
        }
        if (shape->idle == GYRE_SEAT_BACKS_OFF && (idle & 15) == 15) {
            const gyre_abi_u64 now = gyre_device_now(); /* lanes may differ: they meet above */

            if (idle == 15)
                since = now;
            else if (now - since > (gyre_abi_u64)shape->spin_us * 1000)
                __nanosleep(shape->nap_us < 1000 ? shape->nap_us * 1000 : 1000000);
        }
    }
    gyre_tell_block(reader);
}

/* What the seat was when it was parked, or where the host lets it begin. By thread 0. */
static __device__ __forceinline__ void gyre_block_init(gyre_block *block, const gyre_seat *seat,
                                                       gyre_abi_u32 ports)
{
    const gyre_control_device *const device = &seat->control.device;

    for (gyre_abi_u32 port = 0; port < GYRE_MAILBOX_PORTS; port++) {
        const gyre_abi_u32 head = port < ports ? gyre_mailbox_load(&seat->heads[port]) : 0;
        const gyre_abi_u32 rung = port < ports ? gyre_mailbox_load(&seat->rung[port]) : 0;

        block->heat[port] = 0;
        block->front[port] = block->handled[port] = block->published[port] = head;
        block->taken[port] = head;
        block->gate[port] = head;
        block->bell[port] = block->bell_done[port] = block->bell_gate[port] = rung;
    }
    block->over = 0;
    block->gated = 1;
    block->quit = 0;
    block->order = gyre_mailbox_load(&device->order);
    block->processed = gyre_mailbox_load64(&device->processed);
    block->errors = gyre_mailbox_load64(&device->error_count);
    block->last_error = gyre_mailbox_load(&device->last_error);
    block->dropped = gyre_mailbox_load64(&seat->telemetry.dropped);
    block->total_ns = gyre_mailbox_load64(&seat->telemetry.total_latency_ns);
    block->min_ns = gyre_mailbox_load64(&seat->telemetry.min_latency_ns);
    block->max_ns = gyre_mailbox_load64(&seat->telemetry.max_latency_ns);
}

static __device__ __forceinline__ void gyre_reader_init(gyre_reader *reader, gyre_block *block,
                                                        gyre_abi_u8 *mailbox,
                                                        const gyre_mailbox_shape *shape,
                                                        gyre_abi_u32 handlers)
{
    reader->block = block;
    reader->memory = mailbox + blockIdx.x * shape->seat_bytes;
    reader->salt = gyre_ring_salt(shape->incarnation);
    reader->mask = shape->capacity - 1;
    reader->lane = threadIdx.x % 32;
    reader->readers = blockDim.x / 32 - handlers;
    reader->warp = threadIdx.x / 32 - handlers;
    reader->port = reader->warp % shape->ports;
    reader->index = reader->warp / shape->ports;
    reader->peers = reader->readers / shape->ports;
    reader->requests_at = (gyre_abi_u32)gyre_mailbox_requests_at(shape, reader->port);
    reader->replies_at = (gyre_abi_u32)gyre_mailbox_replies_at(shape, reader->port);
    reader->bell_at = 0;
    if (reader->index < shape->replicas)
        reader->bell_at = (gyre_abi_u32)gyre_mailbox_bell_at(shape, reader->port, reader->index);
    reader->telemetry = shape->telemetry;
    reader->messages = reader->errors = reader->dropped = reader->last_error = 0;
    reader->total_ns = reader->max_ns = 0;
    reader->min_ns = GYRE_NONE;
}

extern "C" __global__ void __launch_bounds__(1024)
    gyre_actor(gyre_abi_u8 *mailbox, void *state_memory, gyre_mailbox_shape shape)
{
    extern __shared__ __align__(16) gyre_abi_u8 gyre_shared[];
    __shared__ gyre_block block;
    const int is_block = GYRE_BEHAVIOUR_WIDTH == GYRE_WIDTH_BLOCK;
    const gyre_abi_u32 handlers = is_block ? shape.lanes / 32 : 0; /* warps that do not read */
    const int handles = is_block && threadIdx.x / 32 < handlers;
    gyre_behaviour_state *const state = (gyre_behaviour_state *)state_memory;
    gyre_reader reader;
    gyre_steward last;
    gyre_self self;
    gyre_seat *seat;

    gyre_reader_init(&reader, &block, mailbox, &shape, handlers);
    reader.stage = (gyre_ring_slot *)gyre_shared;
    seat = gyre_seat_of(&reader);
    self.lanes = is_block ? shape.lanes : GYRE_BEHAVIOUR_WIDTH;
    self.lane = is_block ? threadIdx.x : reader.lane % self.lanes;
    self.seat = blockIdx.x;
    self.seats = shape.seats;
    self.shared =
        gyre_shared + (is_block ? gyre_stage_at(shape.ports, 0) : 0) * sizeof(gyre_ring_slot);
    self.seat_memory = reader.memory;
    if (threadIdx.x == 0)
        gyre_block_init(&block, seat, shape.ports);
    if (is_block)
        gyre_stage_init(&reader, shape.ports);
    __syncthreads();
    if (!handles)
        gyre_begin(&reader, block.front[reader.port]);
    __syncthreads();
    /* release [actor-order]: the host sees that this launch has come to life */
    if (threadIdx.x == 0)
        gyre_mailbox_release(&seat->control.device.incarnation, shape.incarnation);
    if (handles) {
        reader.replies_at = (gyre_abi_u32)gyre_mailbox_replies_at(&shape, 0);
        gyre_handle_loop(&reader, &self, state, shape.ports);
    } else {
        gyre_read_loop(&reader, &self, state, &shape);
    }
    __syncthreads();
    if (threadIdx.x >= 32)
        return;
    last.told = ~0ull;
    gyre_publish(&reader, shape.ports, 1);
    gyre_tell_host(&reader, shape.ports, &last);
    if (threadIdx.x == 0) {
        gyre_mailbox_store(&seat->control.device.order, block.order);
        /* release [actor-order]: the host may take the memory back */
        gyre_mailbox_release(&seat->control.device.has_terminated, 1);
    }
}

#endif
