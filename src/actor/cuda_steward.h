/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_steward: the warp that looks at the host's orders and tells how far the seat is. All lanes
 * of it come here together. See loop_cuda.h.
 *
 * Threads   one warp. Edges: [actor-order], [actor-heads] with the host.
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_CUDA_STEWARD_H
#define GYRE_ACTOR_CUDA_STEWARD_H

typedef struct gyre_steward {
    gyre_abi_u32 order, obeyed, ends;
    gyre_abi_u64 told; /* messages of which the host knows */
} gyre_steward;

/* How far a port is: the least progress of its warps, counted from `last`. */
static __device__ __forceinline__ gyre_abi_u32 gyre_port_head(const gyre_reader *reader,
                                                              gyre_abi_u32 ports, gyre_abi_u32 port,
                                                              gyre_abi_u32 last)
{
    gyre_abi_u32 ahead = 0x7fffffff;

    if (reader->lane < reader->readers && reader->lane % ports == port)
        ahead = gyre_peek(&reader->block->progress[reader->lane]) - last;
    return last + gyre_warp_least(ahead);
}

/* Publishes heads that are due: by so many slots. */
static __device__ __forceinline__ void gyre_publish(gyre_reader *reader, gyre_abi_u32 ports,
                                                    gyre_abi_u32 due)
{
    gyre_block *const block = reader->block;

#pragma unroll 1
    for (gyre_abi_u32 port = 0; port < ports; port++) {
        const gyre_abi_u32 last = gyre_peek_all(&block->published[port]);
        gyre_abi_u32 head = gyre_port_head(reader, ports, port, last);

        if (GYRE_BEHAVIOUR_WIDTH == GYRE_WIDTH_BLOCK) {
            /* read is not handled */
            const gyre_abi_u32 handled = gyre_peek_all(&block->handled[port]);

            if ((int)(handled - head) < 0)
                head = handled;
        }
        if (head - last >= due && reader->lane == 0) {
            gyre_poke(&block->published[port], head);
            /* release [actor-heads] */
            gyre_mailbox_release(&gyre_seat_of(reader)->heads[port], head);
        }
    }
    __syncwarp();
}

/* Tells the host how the seat fares. */
static __device__ __forceinline__ void gyre_tell_host(const gyre_reader *reader, gyre_abi_u32 ports,
                                                      gyre_steward *steward)
{
    gyre_block *const block = reader->block;
    gyre_seat *const seat = gyre_seat_of(reader);
    gyre_control_device *const device = &seat->control.device;
    const gyre_abi_u64 processed = *(volatile gyre_abi_u64 *)&block->processed;

    if (reader->lane == 0 && processed != steward->told) {
        steward->told = processed;
        for (gyre_abi_u32 port = 0; port < ports; port++)
            gyre_mailbox_store(&seat->rung[port], gyre_peek(&block->bell_done[port]));
        gyre_mailbox_store(&device->last_error, gyre_peek(&block->last_error));
        gyre_mailbox_store64(&device->error_count, *(volatile gyre_abi_u64 *)&block->errors);
        gyre_mailbox_store64(&device->input_head, processed);
        gyre_mailbox_store64(&device->processed, processed);
        if (reader->telemetry) {
            gyre_telemetry *const telemetry = &seat->telemetry;

            gyre_mailbox_store64(&telemetry->dropped, *(volatile gyre_abi_u64 *)&block->dropped);
            gyre_mailbox_store64(&telemetry->total_latency_ns,
                                 *(volatile gyre_abi_u64 *)&block->total_ns);
            gyre_mailbox_store64(&telemetry->min_latency_ns,
                                 *(volatile gyre_abi_u64 *)&block->min_ns);
            gyre_mailbox_store64(&telemetry->max_latency_ns,
                                 *(volatile gyre_abi_u64 *)&block->max_ns);
            gyre_mailbox_store(&telemetry->last_error, gyre_peek(&block->last_error));
            gyre_mailbox_store64(&telemetry->processed, processed);
        }
    }
    __syncwarp();
}

/* A new order, for all warps to see. */
static __device__ __forceinline__ void gyre_take_order(gyre_reader *reader, gyre_steward *steward,
                                                       gyre_abi_u32 ports, gyre_abi_u32 order)
{
    gyre_block *const block = reader->block;
    gyre_seat *const seat = gyre_seat_of(reader);
    const gyre_abi_u64 words = gyre_mailbox_load_order(&seat->control.host);
    const gyre_abi_u32 gated = !(gyre_abi_u32)words;

    steward->order = order;
    steward->ends = __shfl_sync(GYRE_ALL, (gyre_abi_u32)(words >> 32), 0);
    if (reader->lane < ports) {
        gyre_poke(&block->gate[reader->lane], gyre_mailbox_load(&seat->gates[reader->lane]));
        gyre_poke(&block->bell_gate[reader->lane],
                  gyre_mailbox_load(&seat->bell_gates[reader->lane]));
    }
    gyre_fence();
    __syncwarp();
    if (reader->lane == 0) {
        gyre_poke(&block->order, order);
        gyre_poke(&block->gated, gated);
    }
    __syncwarp();
}

/* Looks for orders and carries them out. */
static __device__ __forceinline__ void gyre_obey(gyre_reader *reader, gyre_steward *steward,
                                                 gyre_abi_u32 ports)
{
    gyre_block *const block = reader->block;
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
    if (steward->ends != 1 && gyre_peek_all(&block->gated)) {
        gyre_publish(reader, ports, 1);
        for (gyre_abi_u32 port = 0; port < ports; port++)
            there =
                there && /* it may have gone beyond before it saw the order */
                (int)(gyre_peek(&block->published[port]) - gyre_peek(&block->gate[port])) >= 0 &&
                (int)(gyre_peek(&block->bell_done[port]) - gyre_peek(&block->bell_gate[port])) >= 0;
        there = __shfl_sync(GYRE_ALL, there, 0);
    }
    if (!there)
        return;
    steward->obeyed = order;
    if (steward->ends) {
        if (reader->lane == 0)
            gyre_poke(&block->quit, 1);
        return;
    }
    gyre_tell_host(reader, ports, steward);
    /* release [actor-order] */
    if (reader->lane == 0)
        gyre_mailbox_release(&seat->control.device.order, order);
}

#endif
