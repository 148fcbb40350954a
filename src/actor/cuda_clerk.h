/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_clerk: the warp between those that read and those that handle as a block. It deals messages
 * out to the hand, up to eight at a time, and stores answers, up to eight at once. See
 * cuda_block.h.
 *
 * Threads   one warp, the only writer of `hand`, `taken`, `bell_taken`, `batch`, `handled`, `sure`.
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_CUDA_CLERK_H
#define GYRE_ACTOR_CUDA_CLERK_H

enum {
    GYRE_HAND_PLACE = 0x3fff,   /* of a message on the stage; this one itself ends it all */
    GYRE_HAND_CALL = 0x4000,    /* it is to be answered */
    GYRE_HAND_SPECIAL = 0x8000, /* there is more to it than handling it */
    GYRE_DROWSY = 4096,         /* looks in vain before a look is not at once */
};

/* What the clerk knows. */
typedef struct gyre_clerk {
    gyre_abi_u32 half;             /* which eight ports it looks at */
    gyre_abi_u32 dealt;            /* messages, to the hand, */
    gyre_abi_u32 answered;         /* and those that need nothing more */
    gyre_abi_u32 batches;          /* dealt, */
    gyre_abi_u32 handled, settled; /* done, and for all to see */
} gyre_clerk;

/* Puts the messages of `quads` into the hand: in the order of their bands, and as they stand. */
static __device__ __forceinline__ void gyre_put_in_hand(gyre_reader *reader, gyre_clerk *clerk,
                                                        gyre_abi_u32 quads, gyre_abi_u32 head,
                                                        gyre_abi_u32 place)
{
    const int mine = quads >> reader->lane & 1, is_bell = gyre_staged_bell(place);
    const gyre_abi_u32 flags = head >> 16 & 0xff, band = is_bell ? 0 : head >> 30;
    gyre_abi_u32 number = clerk->dealt;

    for (gyre_abi_u32 b = 4; b-- > 0;) {
        const gyre_abi_u32 same = __ballot_sync(GYRE_ALL, mine && band == b);

        number += __popc(band == b ? same & ((1u << reader->lane) - 1) : band < b ? same : 0);
    }
    if (flags & GYRE_BRIEF_CALL)
        place |= GYRE_HAND_CALL;
    if (is_bell || (flags & (GYRE_BRIEF_REFERS | GYRE_BRIEF_DEADLINE)) ||
        (head & 0xffff) >= GYRE_BRIEF_OWN)
        place |= GYRE_HAND_SPECIAL;
    if (mine)
        gyre_poke(GYRE_WORD(hand[number % GYRE_HAND]), number << 16 | place);
    clerk->dealt += __popc(quads);
}

/* Deals what is on the stage: bells, or else the next few of every port's ring. Eight quads look at
 * as many slots at once. */
static __device__ __forceinline__ int gyre_deal(gyre_reader *reader, gyre_abi_u32 ports,
                                                gyre_clerk *clerk)
{
    const gyre_abi_u32 each = ports < 8 ? 8 / ports : 1;
    const gyre_abi_u32 quad = reader->lane / 4, place = quad + 8 * clerk->half;
    const gyre_abi_u32 port = quad / each + 8 * clerk->half, ahead = quad % each;
    const gyre_abi_u32 sequence = gyre_peek(GYRE_WORD(taken[port])) + ahead;
    const gyre_abi_u32 number = gyre_peek(GYRE_WORD(bell_taken[place])) + 1;
    const gyre_abi_u32 first = __ballot_sync(GYRE_ALL, ahead == 0) & GYRE_QUADS;
    const int gated = (int)gyre_peek_all(GYRE_WORD(gated));
    const int is_open = !gated || (int)(sequence - gyre_peek(GYRE_WORD(gate[port]))) < 0;
    const int is_bell_open = !gated || (int)(number - gyre_peek(GYRE_WORD(bell_gate[place]))) <= 0;
    const gyre_ring_quarter bell =
        gyre_staged_quarter(gyre_stage_slot(reader, place), reader->lane & 3);
    const gyre_ring_quarter ring = gyre_staged_quarter(
        gyre_stage_slot(reader, gyre_stage_at(port, sequence)), reader->lane & 3);
    const gyre_abi_u32 bells = gyre_whole_quads(
        place < ports && is_bell_open && bell.stamp == gyre_ring_stamp(2 * number, reader->salt));
    gyre_abi_u32 rings =
        gyre_whole_quads(is_open && ring.stamp == gyre_ring_stamp(sequence, reader->salt));

    clerk->half = ports > 8 ? !clerk->half : 0;
    if (bells) {
        if (bells >> reader->lane & 1)
            gyre_poke(GYRE_WORD(bell_taken[place]), number);
        gyre_put_in_hand(reader, clerk, bells, (gyre_abi_u32)bell.eight, place);
    } else {
        for (gyre_abi_u32 i = 1; i < each; i++) /* those before the first that is not there */
            rings &= rings << 4 | first;
        if (!rings)
            return 0;
        if (first >> reader->lane & 1)
            gyre_poke(GYRE_WORD(taken[port]),
                      sequence + __popc(rings >> reader->lane & ((1ull << 4 * each) - 1)));
        gyre_put_in_hand(reader, clerk, rings, (gyre_abi_u32)ring.eight,
                         gyre_stage_at(port, sequence));
    }
    __syncwarp();
    if (reader->lane < ports)
        gyre_poke(GYRE_WORD(batch[clerk->batches % GYRE_BATCHES][reader->lane]),
                  gyre_peek(GYRE_WORD(taken[reader->lane])));
    if (reader->lane == 0)
        gyre_poke(GYRE_WORD(batch_end[clerk->batches % GYRE_BATCHES]), clerk->dealt);
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
        gyre_ring_slot *const slot =
            gyre_slot_of(reader,
                         reader->replies_at + 2 * gyre_staged_port(place) * (reader->mask + 1) *
                                                  (gyre_abi_u32)sizeof(gyre_ring_slot),
                         correlation);

        mine.stamp = gyre_ring_stamp(correlation, reader->salt);
        gyre_ring_store_quarter(&slot->quarter[reader->lane & 3], mine);
    }
    clerk->answered += over == GYRE_QUADS ? 8 : (__ffs(~over & GYRE_QUADS) - 1) / 4;
}

/* Tells what batches are done, by how many messages are: so that their slots may be used again, or
 * so that the host may be told. Returns how many batches that makes. */
static __device__ __forceinline__ gyre_abi_u32
gyre_close_batches(const gyre_reader *reader, const gyre_clerk *clerk, gyre_abi_u32 ports,
                   gyre_abi_u32 closed, gyre_abi_u32 messages, gyre_abi_u32 heads)
{
    while (closed != clerk->batches &&
           (int)(messages - gyre_peek_all(GYRE_WORD(batch_end[closed % GYRE_BATCHES]))) >= 0) {
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
    gyre_clerk clerk = {0, 0, 0, 0, 0, 0};
    gyre_abi_u32 idle = 0, round = 0;
    int quits = 0;

    while (!quits || clerk.answered != clerk.dealt) {
        if (clerk.settled != clerk.batches) {
            const gyre_abi_u32 finished = gyre_peek_all(GYRE_WORD(finished));
            const gyre_abi_u32 settled = gyre_peek_all(GYRE_WORD(settled));

            if (finished != clerk.answered)
                gyre_send_answers(reader, &clerk, finished);
            clerk.handled = gyre_close_batches(reader, &clerk, ports, clerk.handled, finished,
                                               GYRE_WORD(handled));
            clerk.settled =
                gyre_close_batches(reader, &clerk, ports, clerk.settled, settled, GYRE_WORD(sure));
        }
        idle++;
        if (++round % 8 == 0)
            quits = (int)gyre_peek_all(GYRE_WORD(quit));
        if (!quits && clerk.batches - clerk.settled < GYRE_BATCHES &&
            clerk.dealt - clerk.answered <= 8 && gyre_deal(reader, ports, &clerk))
            idle = 0;
        if (drowses && idle > GYRE_DROWSY)
            __nanosleep(200);
    }
    if (reader->lane == 0)
        gyre_poke(GYRE_WORD(hand[clerk.dealt % GYRE_HAND]),
                  clerk.dealt << 16 | GYRE_HAND_SPECIAL | GYRE_HAND_PLACE);
    while (clerk.settled != clerk.batches)
        clerk.settled = gyre_close_batches(reader, &clerk, ports, clerk.settled,
                                           gyre_peek_all(GYRE_WORD(settled)), GYRE_WORD(sure));
}

#endif
