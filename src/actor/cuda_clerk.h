/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_clerk: the warp between those that read and those that handle as a block. It deals messages
 * out to the hand, up to eight at a time, and stores answers, up to eight at once. See
 * cuda_block.h.
 *
 * Threads   one warp, the only writer of `taken`, `answered`, `batch`, `handled`, `sure`.
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_CUDA_CLERK_H
#define GYRE_ACTOR_CUDA_CLERK_H

enum { GYRE_DROWSY = 4096 }; /* looks in vain before a look is not at once */

/* What the clerk knows. Four lanes look at a message of a ring; where there are more than eight
 * ports, at those of either half in turn. */
typedef struct gyre_clerk {
    gyre_abi_u32 half;             /* which */
    gyre_abi_u32 taken[2];         /* messages, in hand or handled, of the port that it looks at */
    gyre_abi_u32 answered;         /* messages of the hand that need nothing more */
    gyre_abi_u32 batches;          /* dealt, */
    gyre_abi_u32 handled, settled; /* done, and for all to see */
} gyre_clerk;

/* Quads that look at one port's ring. */
static __device__ __forceinline__ gyre_abi_u32 gyre_clerk_each(gyre_abi_u32 ports)
{
    return ports < 8 ? 8 / ports : 1;
}

static __device__ __forceinline__ void gyre_clerk_init(const gyre_reader *reader, gyre_clerk *clerk,
                                                       gyre_abi_u32 ports)
{
    const gyre_abi_u32 port = reader->lane / 4 / gyre_clerk_each(ports);

    clerk->half = 0;
    clerk->taken[0] = gyre_peek(GYRE_WORD(handled[port]));
    clerk->taken[1] = gyre_peek(GYRE_WORD(handled[port + 8]));
    clerk->answered = clerk->batches = clerk->handled = clerk->settled = 0;
}

/* Puts the messages of `quads` into the hand, from `number` on: in the order of their bands, and as
 * they stand. Then the end of this batch is known. */
static __device__ __forceinline__ void gyre_deal_quads(gyre_reader *reader, gyre_clerk *clerk,
                                                       gyre_abi_u32 number, gyre_abi_u32 quads,
                                                       gyre_abi_u32 head, gyre_abi_u32 place)
{
    const int mine = quads >> reader->lane & 1;
    const gyre_abi_u32 flags = head >> 16 & 0xff, band = head >> 30;
    const gyre_abi_u32 before = (1u << reader->lane) - 1;
    const gyre_abi_u32 end = number + __popc(quads);

    if (!__any_sync(GYRE_ALL, mine && band))
        number += __popc(quads & before);
    else
        for (gyre_abi_u32 b = 4; b-- > 0;) {
            const gyre_abi_u32 same = __ballot_sync(GYRE_ALL, mine && band == b);

            number += __popc(band == b ? same & before : band < b ? same : 0);
        }
    if (flags & GYRE_BRIEF_CALL)
        place |= GYRE_HAND_CALL;
    if ((flags & (GYRE_BRIEF_REFERS | GYRE_BRIEF_DEADLINE)) || (head & 0xffff) >= GYRE_BRIEF_OWN)
        place |= GYRE_HAND_SPECIAL;
    if (mine)
        gyre_put_in_hand(reader, number, place);
    if (reader->lane == 0)
        gyre_poke(GYRE_WORD(batch_end[clerk->batches % GYRE_BATCHES]), end);
}

/* Deals what is on the stage of the next few messages of every port's ring, if there is room. */
static __device__ __forceinline__ int gyre_deal(gyre_reader *reader, gyre_abi_u32 ports,
                                                gyre_clerk *clerk)
{
    const gyre_abi_u32 dealt = gyre_peek_all(GYRE_WORD(dealt));
    const gyre_abi_u32 half = clerk->half, each = gyre_clerk_each(ports);
    const gyre_abi_u32 quad = reader->lane / 4, ahead = quad % each;
    const gyre_abi_u32 port = quad / each + 8 * half;
    const gyre_abi_u32 sequence = (half ? clerk->taken[1] : clerk->taken[0]) + ahead;
    const gyre_ring_quarter mine = gyre_staged_quarter(
        gyre_stage_slot(reader, gyre_stage_at(port, sequence)), reader->lane & 3);
    int is_there = port < ports && mine.stamp == gyre_ring_stamp(sequence, reader->salt);
    gyre_abi_u32 quads, first, came;
    int gated, deals = 0;

    if (dealt - clerk->answered > 8)
        return 0;
    clerk->half = ports > 8 ? !half : 0;
    gated = __any_sync(GYRE_ALL, gyre_peek(GYRE_WORD(gated)) != 0);
    if (gated)
        is_there = is_there && (int)(sequence - gyre_peek(GYRE_WORD(gate[port]))) < 0;
    quads = gyre_whole_quads(is_there);
    first = __ballot_sync(GYRE_ALL, ahead == 0) & GYRE_QUADS;
    for (gyre_abi_u32 i = 1; i < each; i++) /* those before the first that is not there */
        quads &= quads << 4 | first;
    if (!quads)
        return 0;
    came = __popc(quads >> 4 * (quad - ahead) & (gyre_abi_u32)((1ull << 4 * each) - 1));
    if (first >> reader->lane & 1)
        gyre_poke(GYRE_WORD(taken[port]), sequence + came);
    __syncwarp();
    /* As gyre_take_chunk: what is taken first, and then the gate once more. Where a bell has come
     * since there was room, there may be none. */
    if (reader->lane == 0 && (gated || !gyre_peek(GYRE_WORD(gated))))
        deals = gyre_swap(GYRE_WORD(dealt), dealt, dealt + __popc(quads)) == dealt;
    if (!__shfl_sync(GYRE_ALL, deals, 0)) {
        if (first >> reader->lane & 1)
            gyre_poke(GYRE_WORD(taken[port]), sequence);
        __syncwarp();
        return 0;
    }
    clerk->taken[0] += half ? 0 : came;
    clerk->taken[1] += half ? came : 0;
    gyre_deal_quads(reader, clerk, dealt, quads, (gyre_abi_u32)mine.eight,
                    gyre_stage_at(port, sequence));
    if (reader->lane % 4 == 0 && ahead == 0) {
        const gyre_abi_u32 batch = clerk->batches % GYRE_BATCHES;

        gyre_poke(GYRE_WORD(batch[batch][port - 8 * half]), clerk->taken[0]);
        if (ports > 8)
            gyre_poke(GYRE_WORD(batch[batch][port - 8 * half + 8]), clerk->taken[1]);
    }
    __syncwarp();
    clerk->batches++;
    return 1;
}

/* Stores the answers that are on the stage, a quad to each, and forgets what has none. */
static __device__ __forceinline__ void gyre_send_answers(gyre_reader *reader, gyre_clerk *clerk,
                                                         gyre_abi_u32 finished)
{
    const gyre_abi_u32 number = clerk->answered + reader->lane / 4;
    const int there = (int)(finished - number) > 0;
    const gyre_abi_u32 place = gyre_peek(GYRE_WORD(hand[number % GYRE_HAND])) & GYRE_HAND_PLACE;
    gyre_ring_quarter mine =
        gyre_staged_quarter(gyre_staged_answer(reader, number), reader->lane & 3);
    const gyre_abi_u32 whole = gyre_whole_quads(there && mine.stamp == 2 * number + 1);
    const gyre_abi_u32 none = __ballot_sync(GYRE_ALL, there && mine.stamp == 2 * number);
    const gyre_abi_u32 correlation =
        __shfl_sync(GYRE_ALL, (gyre_abi_u32)(mine.eight >> 32), reader->lane & 28);
    const gyre_abi_u32 over = (whole | none) & GYRE_QUADS;

    if (whole >> (reader->lane & 28) & 1) {
        gyre_ring_slot *const slot = gyre_reply_slot(reader, gyre_staged_port(place), correlation);

        mine.stamp = gyre_ring_stamp(correlation, reader->salt);
        gyre_ring_store_quarter(&slot->quarter[reader->lane & 3], mine);
    }
    clerk->answered += over == GYRE_QUADS ? 8 : (__ffs(~over & GYRE_QUADS) - 1) / 4;
    if (reader->lane == 0)
        gyre_poke(GYRE_WORD(answered), clerk->answered);
}

/* Tells what batches are done, by how many messages are: so that their slots may be used again, or
 * so that the host may be told. Returns how many batches that makes. */
static __device__ __forceinline__ gyre_abi_u32
gyre_close_batches(const gyre_reader *reader, const gyre_clerk *clerk, gyre_abi_u32 ports,
                   gyre_abi_u32 closed, gyre_abi_u32 messages, gyre_abi_u32 heads)
{
    while (closed != clerk->batches &&
           (int)(messages - gyre_peek_all(GYRE_WORD(batch_end[closed % GYRE_BATCHES]))) >= 0) {
        gyre_fence(); /* what the handlers have settled is before what this warp says */
        if (reader->lane < ports)
            gyre_poke(heads + 4 * reader->lane,
                      gyre_peek(GYRE_WORD(batch[closed % GYRE_BATCHES][reader->lane])));
        closed++;
    }
    return closed;
}

/* The clerk, to the end of the seat's life. */
static __device__ __forceinline__ void gyre_clerk_loop(gyre_reader *reader, gyre_abi_u32 ports,
                                                       int drowses)
{
    gyre_abi_u32 idle = 0, round = 0;
    int quits = 0;
    gyre_clerk clerk;

    gyre_clerk_init(reader, &clerk, ports);
    while (!quits || clerk.answered != gyre_peek_all(GYRE_WORD(dealt))) {
        const gyre_abi_u32 finished = gyre_peek_all(GYRE_WORD(finished));

        if (finished != clerk.answered)
            gyre_send_answers(reader, &clerk, finished);
        if (clerk.settled != clerk.batches) {
            const gyre_abi_u32 settled = gyre_peek_all(GYRE_WORD(settled));

            clerk.handled = gyre_close_batches(reader, &clerk, ports, clerk.handled, finished,
                                               GYRE_WORD(handled));
            clerk.settled =
                gyre_close_batches(reader, &clerk, ports, clerk.settled, settled, GYRE_WORD(sure));
        }
        idle++;
        if (++round % 8 == 0)
            quits = (int)gyre_peek_all(GYRE_WORD(quit));
        if (!quits && clerk.batches - clerk.settled < GYRE_BATCHES &&
            gyre_deal(reader, ports, &clerk))
            idle = 0;
        if (drowses && idle > GYRE_DROWSY)
            __nanosleep(200);
    }
    if (reader->lane == 0)
        gyre_put_in_hand(reader, gyre_add_one(GYRE_WORD(dealt)),
                         GYRE_HAND_SPECIAL | GYRE_HAND_PLACE);
    while (clerk.settled != clerk.batches)
        clerk.settled = gyre_close_batches(reader, &clerk, ports, clerk.settled,
                                           gyre_peek_all(GYRE_WORD(settled)), GYRE_WORD(sure));
}

#endif
