/* SPDX-License-Identifier: Apache-2.0
 *
 * loop_cuda: a seat that is a block of a GPU. It comes after the text of the behaviour.
 *
 * Reading the mailbox takes over a microsecond, because it lies in the host's memory; everything
 * here is arranged so that nobody waits for such a read but who needs its result.
 *   narrow   (a quad or a warp to a message) Every warp reads for itself: eight slots of a ring at
 *            once, four lanes to a slot, or a replica of a bell. What it finds it handles.
 *   block    Some warps only read, and put what they find into shared memory; others handle it, one
 *            message after another, and meet at barrier 1; one deals with what goes between them.
 * One warp, the steward, looks at the host's orders and tells how far the seat is.
 *
 * Slots of the ring belong to warps by their sequence: the eight from 8k on to warp k modulo those
 * of the port. How far a warp is, is in `progress`: the first sequence that it has not done; so the
 * least of them is how far the port is.
 *
 * A slot should be read once, when its message is there: what a GPU can read of the host's
 * memory is little, and reading in vain would take most of that. So a warp reads its chunk
 * when it is at the front of the ring, or when the front has passed it; while messages come fast,
 * the steward looks ahead, at one slot of every fourth chunk, and moves the front. Warps that have
 * had nothing to read for a while watch the bell.
 *
 * Threads   see cuda_seat.h. Edge: [actor-order] with the host.
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_LOOP_CUDA_H
#define GYRE_ACTOR_LOOP_CUDA_H

#include "actor/cuda_seat.h"

#include "actor/cuda_slot.h"

#include "actor/cuda_handle.h"

#include "actor/cuda_stage.h"

#include "actor/cuda_narrow.h"

#include "actor/cuda_chunk.h"

#include "actor/cuda_reader.h"

#include "actor/cuda_clerk.h"

#include "actor/cuda_block.h"

#include "actor/cuda_tell.h"

#include "actor/cuda_steward.h"

/* What the seat was when it was parked, or where the host lets it begin. By thread 0. */
static __device__ __forceinline__ void gyre_block_init(gyre_block *block, const gyre_seat *seat,
                                                       gyre_abi_u32 ports)
{
    const gyre_control_device *const device = &seat->control.device;

    for (gyre_abi_u32 port = 0; port < GYRE_MAILBOX_PORTS; port++) {
        const gyre_abi_u32 head = port < ports ? gyre_mailbox_load(&seat->heads[port]) : 0;
        const gyre_abi_u32 rung = port < ports ? gyre_mailbox_load(&seat->rung[port]) : 0;

        block->front[port] = block->published[port] = block->gate[port] = head;
        block->taken[port] = block->handled[port] = block->sure[port] = head;
        block->bell[port] = block->bell_done[port] = block->bell_gate[port] = rung;
    }
    for (gyre_abi_u32 i = 0; i < GYRE_HAND; i++)
        block->hand[i] = GYRE_NONE;
    block->dealt = block->answered = block->finished = block->settled = 0;
    block->gated = 1;
    block->quit = block->hush = block->left = 0;
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
                                                        gyre_abi_u32 others)
{
    const gyre_abi_u8 *bell = 0;

    reader->block = block;
    reader->at = gyre_keep((gyre_abi_u32)__cvta_generic_to_shared(block));
    reader->memory = mailbox + blockIdx.x * shape->seat_bytes;
    reader->salt = gyre_ring_salt(shape->incarnation);
    reader->mask = shape->capacity - 1;
    reader->lane = threadIdx.x % 32;
    reader->readers = blockDim.x / 32 - others - 1; /* the last is the steward */
    reader->warp = threadIdx.x / 32 - others;
    reader->port = reader->warp % shape->ports;
    reader->index = reader->warp / shape->ports;
    /* by a shuffle, or the assembler would find the port again in it, and keep that as well */
    reader->port_at =
        __shfl_sync(GYRE_ALL, reader->at + reader->port * (gyre_abi_u32)sizeof(gyre_abi_u32), 0);
    reader->peers = reader->readers / shape->ports;
    reader->requests_at = (gyre_abi_u32)gyre_mailbox_requests_at(shape, reader->port);
    if (reader->index < shape->replicas && shape->bells)
        bell = (const gyre_abi_u8 *)shape->bells +
               gyre_mailbox_bell_apart(shape, blockIdx.x, reader->port, reader->index);
    else if (reader->index < shape->replicas)
        bell = reader->memory + gyre_mailbox_bell_at(shape, reader->port, reader->index);
    reader->bell = bell ? (const gyre_ring_quarter *)bell + reader->lane : 0;
    reader->untold = 0;
    reader->told_at = gyre_cycle();
    reader->telemetry = shape->telemetry;
    reader->calm = shape->seats > 1 ? GYRE_CALM : 0;
    reader->messages = 0;
    reader->total_ns = reader->max_ns = 0;
    reader->min_ns = GYRE_NONE;
}

extern "C" __global__ void __launch_bounds__(1024)
    GYRE_MAILBOX_KERNEL(gyre_abi_u8 *mailbox, void *state_memory, gyre_mailbox_shape shape)
{
    extern __shared__ __align__(16) gyre_abi_u8 gyre_shared[];
    __shared__ gyre_block block;
    const int is_block = GYRE_BEHAVIOUR_WIDTH == GYRE_WIDTH_BLOCK;
    const gyre_abi_u32 handlers = is_block ? shape.lanes / 32 : 0;
    const gyre_abi_u32 others = is_block ? handlers + 1 : 0; /* warps that do not read */
    const int warp = (int)(threadIdx.x / 32), reads = warp >= (int)others;
    const int stewards = threadIdx.x / 32 == blockDim.x / 32 - 1;
    const int drowses = shape.idle != GYRE_SEAT_SPINS;
    gyre_behaviour_state *const state = (gyre_behaviour_state *)state_memory;
    gyre_reader reader;
    gyre_abi_u64 told = ~0ull; /* so that all of it is told in the end */
    gyre_self self;
    gyre_seat *seat;

    gyre_reader_init(&reader, &block, mailbox, &shape, others);
    reader.stage = gyre_keep((gyre_abi_u32)__cvta_generic_to_shared(gyre_shared));
    seat = gyre_seat_of(&reader);
    self.lanes = is_block ? gyre_keep(shape.lanes) : GYRE_BEHAVIOUR_WIDTH;
    self.lane = is_block ? threadIdx.x : reader.lane % self.lanes;
    self.seat = blockIdx.x;
    self.seats = shape.seats;
    self.shared =
        gyre_shared + (is_block ? gyre_stage_at(shape.ports, 0) : 0) * sizeof(gyre_ring_slot);
    self.runtime = 0;
    gyre_books_init((gyre_annex *)(reader.memory + gyre_mailbox_annex_at(&shape)), &shape);
    if (threadIdx.x == 0)
        gyre_block_init(&block, seat, shape.ports);
    if (is_block)
        gyre_stage_init(&reader, shape.ports);
    __syncthreads();
    if (reads && !stewards) {
        gyre_begin(&reader, block.front[reader.port]);
    } else {
        reader.requests_at = (gyre_abi_u32)gyre_mailbox_requests_at(&shape, 0);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        gyre_mailbox_store64(&seat->control.device.time, gyre_device_now());
        /* release [actor-order]: the host sees that this launch has come to life */
        gyre_mailbox_release(&seat->control.device.incarnation, shape.incarnation);
    }
    if (stewards)
        gyre_steward_loop(&reader, &shape, blockDim.x / 32 - 1);
    else if (reads)
        gyre_read_loop(&reader, &self, state, &shape);
    else if (warp == (int)handlers)
        gyre_clerk_loop(&reader, shape.ports, drowses);
    else
        gyre_handle_loop(&reader, &self, state, drowses);
    gyre_leave(&reader);
    __syncthreads();
    if (threadIdx.x >= 32)
        return;
    gyre_publish(&reader, shape.ports, 1);
    gyre_tell_host(&reader, shape.ports, &told);
    if (threadIdx.x == 0) {
        gyre_books_end();
        gyre_mailbox_store64(&seat->control.device.time, gyre_device_now());
        /* release [actor-order]: the time is there, of no earlier order */
        gyre_mailbox_release(&seat->control.device.order, block.order);
        /* release [actor-order]: the host may take the memory back */
        gyre_mailbox_release(&seat->control.device.has_terminated, 1);
    }
}

/* For an image, which may be any. */
extern "C" __global__ void GYRE_MAILBOX_ABOUT(gyre_mailbox_about *about)
{
    about->width = GYRE_BEHAVIOUR_WIDTH;
    about->state_bytes = sizeof(gyre_behaviour_state);
}

#endif
