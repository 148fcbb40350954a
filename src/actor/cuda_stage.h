/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_stage: messages on their way from the warps that read them to those that handle them as a
 * block, and answers on their way back, in shared memory. See cuda_block.h.
 *
 * Slots are as in the mailbox: each quarter arrives whole and carries its stamp, so nothing needs
 * to be ordered. PTX's model has four accesses where these are of 16 bytes; a multiprocessor does
 * an aligned one at once.
 *
 * Threads   one writer of a slot at a time: it is the readers' when its last message is handled.
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_CUDA_STAGE_H
#define GYRE_ACTOR_CUDA_STAGE_H

/* While a message is handled that refers to memory there is a hush: nobody of the seat reads the
 * host's memory. For its answer is released, which waits for all such reads of the GPU. One of the
 * others of a crew is often about to release its own, so there the hush goes on for as long as the
 * message took. */
enum {
    GYRE_HUSHED = 20000, /* cycles, most: a seat that is not heard does not answer either */
    GYRE_CALM = 4000,    /* cycles for which it goes on, most */
};

enum {
    GYRE_HAND_PLACE = 0x3fff,   /* of a message on the stage; this one itself ends it all */
    GYRE_HAND_CALL = 0x4000,    /* it is to be answered */
    GYRE_HAND_SPECIAL = 0x8000, /* there is more to it than handling it */
};

/* A slot of the stage (actor/stage_abi.h), by its place there. */
static __device__ __forceinline__ gyre_abi_u32 gyre_stage_slot(const gyre_reader *reader,
                                                               gyre_abi_u32 place)
{
    return reader->stage + place * (gyre_abi_u32)sizeof(gyre_ring_slot);
}

static __device__ __forceinline__ int gyre_staged_bell(gyre_abi_u32 place)
{
    return place < GYRE_MAILBOX_PORTS;
}

static __device__ __forceinline__ gyre_abi_u32 gyre_staged_port(gyre_abi_u32 place)
{
    return gyre_staged_bell(place) ? place : (place - gyre_stage_at(0, 0)) / GYRE_STAGE;
}

static __device__ __forceinline__ gyre_abi_u32 gyre_staged_answer(const gyre_reader *reader,
                                                                  gyre_abi_u32 number)
{
    return gyre_stage_slot(reader, GYRE_MAILBOX_PORTS + number % GYRE_HAND);
}

static __device__ __forceinline__ void gyre_stage_quarter(gyre_abi_u32 slot, gyre_abi_u32 quarter,
                                                          gyre_ring_quarter mine)
{
    asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(slot + 16 * quarter), "r"((gyre_abi_u32)mine.eight),
                   "r"((gyre_abi_u32)(mine.eight >> 32)), "r"(mine.four), "r"(mine.stamp)
                 : "memory");
}

static __device__ __forceinline__ gyre_ring_quarter gyre_staged_quarter(gyre_abi_u32 slot,
                                                                        gyre_abi_u32 quarter)
{
    gyre_ring_quarter mine;
    gyre_abi_u32 low, high;

    asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(low), "=r"(high), "=r"(mine.four), "=r"(mine.stamp)
                 : "r"(slot + 16 * quarter)
                 : "memory");
    mine.eight = (gyre_abi_u64)high << 32 | low;
    return mine;
}

/* Stamps that nothing has which comes to the slot: of another answer, of another sequence. What an
 * earlier launch left there may have the right ones. By all threads. */
static __device__ __forceinline__ void gyre_stage_init(gyre_reader *reader, gyre_abi_u32 ports)
{
    const gyre_abi_u32 first = gyre_stage_at(0, 0);

    for (gyre_abi_u32 i = threadIdx.x; i < 4 * gyre_stage_at(ports, 0); i += blockDim.x) {
        const gyre_abi_u32 slot = i / 4;
        gyre_ring_quarter none = {0, 0, 0};

        none.stamp = slot < first ? GYRE_NONE
                                  : gyre_ring_stamp((slot - first) % GYRE_STAGE ^ 1, reader->salt);
        gyre_stage_quarter(gyre_stage_slot(reader, slot), i % 4, none);
    }
}

/* Puts a message into the hand. */
static __device__ __forceinline__ void gyre_put_in_hand(const gyre_reader *reader,
                                                        gyre_abi_u32 number, gyre_abi_u32 entry)
{
    gyre_poke(GYRE_WORD(hand[number % GYRE_HAND]), number << 16 | entry);
}

/* A bell that this warp has claimed goes into the hand at once: who rings it waits, and has sent
 * nothing else. The one before it is answered, or it would not have come. */
static __device__ __forceinline__ void gyre_stage_bell(gyre_reader *reader, gyre_ring_quarter mine)
{
    if (reader->lane < 4)
        gyre_stage_quarter(gyre_stage_slot(reader, reader->port), reader->lane, mine);
    gyre_fence(); /* what was acquired, and this, is seen before the entry */
    __syncwarp();
    if (reader->lane == 0) {
        const gyre_abi_u32 number = gyre_add_one(GYRE_WORD(dealt));

        while (number - gyre_peek(GYRE_WORD(answered)) >= GYRE_HAND)
            ;
        gyre_put_in_hand(reader, number, GYRE_HAND_SPECIAL | GYRE_HAND_CALL | reader->port);
    }
}

/* What is ready of a warp's chunk, as soon as there is room for it; which were staged. */
static __device__ __forceinline__ gyre_abi_u32 gyre_stage_ring(gyre_reader *reader,
                                                               gyre_ring_quarter mine,
                                                               gyre_abi_u32 ready)
{
    const gyre_abi_u32 sequence = reader->base + reader->lane / 4;
    gyre_abi_u32 staged = 0;

    while (staged != ready && !gyre_peek_all(GYRE_WORD(quit))) {
        const gyre_abi_u32 handled = gyre_peek_all(GYRE_PORT_WORD(handled));
        const int take =
            sequence - handled < GYRE_STAGE && ((ready & ~staged) >> (reader->lane & 28) & 1);

        if (take)
            gyre_stage_quarter(gyre_stage_slot(reader, gyre_stage_at(reader->port, sequence)),
                               reader->lane & 3, mine);
        staged |= __ballot_sync(GYRE_ALL, take) & GYRE_QUADS;
        if (staged != ready)
            __nanosleep(500);
    }
    return staged;
}

#endif
