/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_slot: how a message goes from the four lanes that read its quarters to those that handle it,
 * and its answer back to its slot. See loop_cuda.h.
 *
 * Memory. Stamps of rings are read relaxed, those of bells acquired at the system's scope. A
 * message of a ring that refers to memory is acquired before it is handled (cuda_handle.h), by one
 * lane, and a barrier hands that on. Its answer is released: barrier, then one releasing store of a
 * quarter, without which the answer is not whole. That, like any fence of the system's scope, waits
 * for all reads of the host's memory that the multiprocessor has under way; so there should be
 * none.
 *
 * Threads   all lanes of a warp together, where they exchange quarters. Edge: [ring-slot].
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_CUDA_SLOT_H
#define GYRE_ACTOR_CUDA_SLOT_H

/* A slot of a ring. Places in a seat have 32 bits, and are added before the memory is: otherwise
 * the compiler keeps the address of each ring, for which there are no registers. */
static __device__ __forceinline__ gyre_ring_slot *
gyre_slot_of(const gyre_reader *reader, gyre_abi_u32 ring_at, gyre_abi_u32 sequence)
{
    return (gyre_ring_slot *)(reader->memory +
                              (ring_at +
                               (sequence & reader->mask) * (gyre_abi_u32)sizeof(gyre_ring_slot)));
}

/* The slot of an answer of this or a later port. */
static __device__ __forceinline__ gyre_ring_slot *
gyre_reply_slot(const gyre_reader *reader, gyre_abi_u32 ports_on, gyre_abi_u32 sequence)
{
    const gyre_abi_u32 ring_bytes = (reader->mask + 1) * (gyre_abi_u32)sizeof(gyre_ring_slot);

    return gyre_slot_of(reader, reader->requests_at + (2 * ports_on + 1) * ring_bytes, sequence);
}

/* The port that the warp serves, of what is at hand where a message is handled. */
static __device__ __forceinline__ gyre_abi_u32 gyre_own_port(const gyre_reader *reader)
{
    return (gyre_keep(reader->port_at) - reader->at) / (gyre_abi_u32)sizeof(gyre_abi_u32);
}

/* Where bells of a port are answered; its place is not kept either. */
static __device__ __forceinline__ gyre_ring_slot *gyre_bell_answer(const gyre_reader *reader,
                                                                   gyre_abi_u32 port)
{
    return (gyre_ring_slot *)(reader->memory + sizeof(gyre_seat) +
                              port * (gyre_abi_u32)sizeof(gyre_ring_slot));
}

/* From four lanes, each with a quarter, the whole message to all lanes of `width`. Quarter by
 * quarter, not in a loop: the message stays in registers then. */
#define GYRE_GATHER_(q)                                                                            \
    out->payload.eight[q] =                                                                        \
        (gyre_abi_u64)__shfl_sync(GYRE_ALL, (gyre_abi_u32)(own.eight >> 32), from + (q), width)    \
            << 32 |                                                                                \
        __shfl_sync(GYRE_ALL, (gyre_abi_u32)own.eight, from + (q), width);                         \
    out->payload.four[q] = __shfl_sync(GYRE_ALL, own.four, from + (q), width)

static __device__ __forceinline__ void gyre_gather(gyre_ring_quarter own, gyre_abi_u32 from,
                                                   int width, gyre_mailbox_message *out)
{
    GYRE_GATHER_(0);
    GYRE_GATHER_(1);
    GYRE_GATHER_(2);
    GYRE_GATHER_(3);
}

/* The other way: what lane 0 of `width` has, a quarter to each of the first four lanes. */
#define GYRE_SCATTER_(q)                                                                           \
    low = __shfl_sync(GYRE_ALL, (gyre_abi_u32)message->payload.eight[q], 0, width);                \
    high = __shfl_sync(GYRE_ALL, (gyre_abi_u32)(message->payload.eight[q] >> 32), 0, width);       \
    four = __shfl_sync(GYRE_ALL, message->payload.four[q], 0, width);                              \
    mine.eight = quarter == (q) ? (gyre_abi_u64)high << 32 | low : mine.eight;                     \
    mine.four = quarter == (q) ? four : mine.four

static __device__ __forceinline__ gyre_ring_quarter
gyre_scatter(const gyre_mailbox_message *message, gyre_abi_u32 quarter, int width)
{
    gyre_ring_quarter mine = {0, 0, 0};
    gyre_abi_u32 low, high, four;

    GYRE_SCATTER_(0);
    GYRE_SCATTER_(1);
    GYRE_SCATTER_(2);
    GYRE_SCATTER_(3);
    return mine;
}

/* Loads a quarter if `when`, or nothing: zeros. By one instruction with a predicate, because behind
 * a branch the compiler copies what was loaded, for which it waits at once. */
#define GYRE_LOAD_IF_(kind)                                                                        \
    gyre_ring_quarter own;                                                                         \
                                                                                                   \
    asm volatile("{ .reg .pred p; .reg .b64 h; .reg .b128 q; setp.ne.s32 p, %4, 0; "               \
                 "mov.b64 h, 0; mov.b128 q, {h, h}; @p ld." kind ".sys.b128 q, [%3]; "             \
                 "mov.b128 {%0, h}, q; mov.b64 {%1, %2}, h; }"                                     \
                 : "=l"(own.eight), "=r"(own.four), "=r"(own.stamp)                                \
                 : "l"(from), "r"(when)                                                            \
                 : "memory");                                                                      \
    return own

static __device__ __forceinline__ gyre_ring_quarter
gyre_load_quarter_if(const gyre_ring_quarter *from, int when)
{
    GYRE_LOAD_IF_("relaxed");
}

/* A quarter of a bell is acquired. That costs a lane nothing that waits for it anyway, but drops
 * what the multiprocessor has in its first cache: nothing for rings, which are read all the time.
 */
static __device__ __forceinline__ gyre_ring_quarter
gyre_acquire_quarter_if(const gyre_ring_quarter *from, int when)
{
    GYRE_LOAD_IF_("acquire");
}

static __device__ __forceinline__ void gyre_release_quarter(gyre_ring_quarter *to,
                                                            gyre_ring_quarter quarter)
{
    const gyre_abi_u64 low = quarter.eight, high = (gyre_abi_u64)quarter.stamp << 32 | quarter.four;

    asm volatile("{ .reg .b128 q; mov.b128 q, {%1, %2}; st.release.sys.b128 [%0], q; }"
                 :
                 : "l"(to), "l"(low), "l"(high)
                 : "memory");
}

/* The lanes that have a quarter store it: the last one releases what the message refers to. */
static __device__ __forceinline__ void gyre_store_answer(gyre_ring_slot *slot, gyre_abi_u32 quarter,
                                                         gyre_ring_quarter mine, int releases)
{
    if (releases && quarter == 3)
        gyre_release_quarter(&slot->quarter[3], mine);
    else
        gyre_ring_store_quarter(&slot->quarter[quarter], mine);
}

#endif
