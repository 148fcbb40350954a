/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_tell: what the host is told of a seat: how much of each ring may be written again, and how
 * it fares. The steward does that while the seat lives, the first warp at its end. See loop_cuda.h.
 *
 * Threads   all lanes of one warp together. Edge: [actor-heads] with the host.
 * Owns      nothing.
 * Not here  prints and the histogram (cuda_annex.h).
 */
#ifndef GYRE_ACTOR_CUDA_TELL_H
#define GYRE_ACTOR_CUDA_TELL_H

/* How far a port is: the least progress of its warps, counted from `last`. */
static __device__ __forceinline__ gyre_abi_u32 gyre_port_head(const gyre_reader *reader,
                                                              gyre_abi_u32 ports, gyre_abi_u32 port,
                                                              gyre_abi_u32 last)
{
    gyre_abi_u32 ahead = 0x7fffffff;

    if (reader->lane < reader->readers && reader->lane % ports == port)
        ahead = gyre_peek(GYRE_WORD(progress[reader->lane])) - last;
    return last + gyre_warp_least(ahead);
}

/* Publishes heads that are due: by so many slots. While more is to come it says one less than is
 * done, so that nobody takes it for all of it, and what was done need not be seen yet: to release
 * takes as long as all of the multiprocessor's reads of the host's memory. */
static __device__ __forceinline__ void gyre_publish(gyre_reader *reader, gyre_abi_u32 ports,
                                                    gyre_abi_u32 due)
{
#pragma unroll 1
    for (gyre_abi_u32 port = 0; port < ports; port++) {
        const gyre_abi_u32 last = gyre_peek_all(GYRE_WORD(published[port]));
        gyre_abi_u32 head = gyre_port_head(reader, ports, port, last);

        if (GYRE_BEHAVIOUR_WIDTH == GYRE_WIDTH_BLOCK) {
            /* read is not handled */
            const gyre_abi_u32 sure = gyre_peek_all(GYRE_WORD(sure[port]));

            if ((int)(sure - head) < 0)
                head = sure;
        }
        if (due <= 1) { /* what all lanes have seen of others' work is before what lane 0 says */
            gyre_fence();
            __syncwarp();
        }
        if (head - last >= due && reader->lane == 0) {
            gyre_abi_u32 *const to = &gyre_seat_of(reader)->heads[port];

            gyre_poke(GYRE_WORD(published[port]), due > 1 ? head - 1 : head);
            if (due > 1)
                gyre_mailbox_store(to, head - 1);
            else
                gyre_mailbox_release(to, head); /* release [actor-heads] */
        }
    }
    __syncwarp();
}

/* Tells the host how the seat fares, unless it knows of as many messages: *told. */
static __device__ __forceinline__ void gyre_tell_host(const gyre_reader *reader, gyre_abi_u32 ports,
                                                      gyre_abi_u64 *told)
{
    gyre_block *const block = reader->block;
    gyre_seat *const seat = gyre_seat_of(reader);
    gyre_control_device *const device = &seat->control.device;
    const gyre_abi_u64 processed = *(volatile gyre_abi_u64 *)&block->processed;

    if (reader->lane == 0 && processed != *told) {
        *told = processed;
        for (gyre_abi_u32 port = 0; port < ports; port++)
            gyre_mailbox_store(&seat->rung[port], gyre_peek(GYRE_WORD(bell_done[port])));
        gyre_mailbox_store(&device->last_error, gyre_peek(GYRE_WORD(last_error)));
        gyre_mailbox_store64(&device->error_count, *(volatile gyre_abi_u64 *)&block->errors);
        gyre_mailbox_store64(&device->input_head, processed);
        gyre_mailbox_store64(&device->processed, processed);
        gyre_mailbox_store64(&seat->telemetry.dropped, *(volatile gyre_abi_u64 *)&block->dropped);
        if (reader->telemetry) {
            gyre_telemetry *const telemetry = &seat->telemetry;

            gyre_mailbox_store64(&telemetry->total_latency_ns,
                                 *(volatile gyre_abi_u64 *)&block->total_ns);
            gyre_mailbox_store64(&telemetry->min_latency_ns,
                                 *(volatile gyre_abi_u64 *)&block->min_ns);
            gyre_mailbox_store64(&telemetry->max_latency_ns,
                                 *(volatile gyre_abi_u64 *)&block->max_ns);
            gyre_mailbox_store(&telemetry->last_error, gyre_peek(GYRE_WORD(last_error)));
            gyre_mailbox_store64(&telemetry->processed, processed);
        }
    }
    gyre_books_tell(reader->lane, reader->telemetry);
    __syncwarp();
}

#endif
