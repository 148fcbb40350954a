/* SPDX-License-Identifier: Apache-2.0
 *
 * wave_step: a wave in a cube, kept by a leader and those who follow: a step, an impulse, a
 * question.
 *
 * What a message refers to is a line of WAVE_HEAD words, whose first counts the steps, and behind
 * it two fields of 2^(3 bits) floats. Of generation g, field g & 1 is the present one; the other is
 * the one before, over which a step writes the next. Cells of the faces are 0 for good. Behind the
 * fields are words of those who do the steps together.
 *
 * The host talks to the leader alone. Who follows has one message for good, WAVE_FOLLOW, and waits
 * in it for the leader's turns, in the device's own memory, which is nearer than the host's. In
 * each turn it does its slab and counts itself; the leader does the first slab, waits for all, and
 * answers, which releases what all have written.
 *
 * Whoever has acquired a turn or a message has dropped what the multiprocessor's first cache held:
 * plain loads are right then, and neighbours find in that cache what one of them has read.
 * `restrict` would be wrong: it allows the path for data that never changes.
 *
 * Eight cells to a lane at a time, four of one row and four of the next: a load of 16 bytes brings
 * four, and all loads are under way before the first store, behind which they could not go.
 * Products stand alone, so that no compiler makes one rounding of two.
 */
#include "gyre/behaviour.h"

enum {
    WAVE_STEP = 1,   /* answers with the generation that all cells have reached */
    WAVE_INJECT = 2, /* adds to cell `place`; answers with what it is then */
    WAVE_QUERY = 3,  /* answers with what cell `place` is */
    WAVE_FOLLOW = 4, /* does slab `place` in every turn, and is not answered before they end */
    WAVE_BEGIN = 5,  /* there were no turns yet */
    WAVE_END = 6,    /* there are no more turns */
    WAVE_HEAD = 64,  /* words before the fields */
};

/* Words behind the fields. */
enum {
    WAVE_TURN = 0,   /* how many there were */
    WAVE_OVER = 1,   /* no more */
    WAVE_DONE = 32,  /* who follows and has done the slab of this turn */
    WAVE_WORDS = 64, /* of memory */
};

typedef struct wave_state {
    gyre_abi_u32 unused;
} wave_state;

typedef struct wave_request { /* the first two are body.reference's */
    gyre_abi_address address;
    gyre_abi_u64 size;
    gyre_abi_u32 bits;      /* the cube's side is 2^bits cells, 8 at least */
    gyre_abi_u32 place;     /* a cell, or a slab; the leader has slab 0 */
    gyre_abi_u32 slabs;     /* WAVE_STEP, WAVE_FOLLOW: how many there are */
    gyre_abi_f32 amplitude; /* WAVE_INJECT */
} wave_request;

typedef struct wave_answer {
    gyre_abi_f32 value;
    gyre_abi_u32 generation; /* that it is of */
    gyre_abi_u32 place;
} wave_answer;

typedef struct __attribute__((aligned(16))) wave_four {
    gyre_abi_f32 at[4];
} wave_four;

GYRE_FUNCTION gyre_abi_f32 wave_next(gyre_abi_f32 now, gyre_abi_f32 before, gyre_abi_f32 sum)
{
    const gyre_abi_f32 six = 6.0F * now;
    const gyre_abi_f32 rise = 0.25F * (sum - six);

    return now + now - before + rise;
}

typedef struct wave_row { /* four cells of one, and what they need of its own */
    wave_four here, before, near, far;
    gyre_abi_f32 left, right;
} wave_row;

GYRE_FUNCTION wave_four wave_load(const GYRE_GLOBAL gyre_abi_f32 *field, gyre_abi_u32 at)
{
    return *(const GYRE_GLOBAL wave_four *)(field + at);
}

GYRE_FUNCTION void wave_load_row(const GYRE_GLOBAL gyre_abi_f32 *now,
                                 const GYRE_GLOBAL gyre_abi_f32 *to, gyre_abi_u32 at,
                                 gyre_abi_u32 plane, GYRE_OWN wave_row *row)
{
    row->here = wave_load(now, at);
    row->near = wave_load(now, at - plane);
    row->far = wave_load(now, at + plane);
    row->before = wave_load(to, at);
    row->left = now[at - 1];
    row->right = now[at + 4];
}

/* The next of four cells, between the rows below and above. */
GYRE_FUNCTION wave_four wave_four_next(const GYRE_OWN wave_row *row, const GYRE_OWN wave_four *low,
                                       const GYRE_OWN wave_four *high)
{
    const GYRE_OWN gyre_abi_f32 *const here = row->here.at;
    wave_four next;

    for (int i = 0; i < 4; i++) {
        const gyre_abi_f32 left = i > 0 ? here[i - 1] : row->left;
        const gyre_abi_f32 right = i < 3 ? here[i + 1] : row->right;

        next.at[i] = wave_next(here[i], row->before.at[i],
                               left + right + (low->at[i] + high->at[i]) +
                                   (row->near.at[i] + row->far.at[i]));
    }
    return next;
}

/* Four cells from `at` on in each of two rows, of which the first has an even number; neither is in
 * a face of planes. */
GYRE_FUNCTION void wave_two_rows(const GYRE_GLOBAL gyre_abi_f32 *now, GYRE_GLOBAL gyre_abi_f32 *to,
                                 gyre_abi_u32 at, gyre_abi_u32 bits)
{
    const gyre_abi_u32 side = 1u << bits, x = at & (side - 1), y = at >> bits & (side - 1);
    const wave_four low = wave_load(now, at - side), high = wave_load(now, at + 2 * side);
    wave_four next[2];
    wave_row row[2];

    wave_load_row(now, to, at, side * side, &row[0]);
    wave_load_row(now, to, at + side, side * side, &row[1]);
    next[0] = wave_four_next(&row[0], &low, &row[1].here);
    next[1] = wave_four_next(&row[1], &row[0].here, &high);
    for (int i = 0; i < 2; i++) {
        if (x == 0)
            next[i].at[0] = 0;
        if (x + 4 == side)
            next[i].at[3] = 0;
    }
    if (y != 0)
        *(GYRE_GLOBAL wave_four *)(to + at) = next[0];
    if (y + 2 != side)
        *(GYRE_GLOBAL wave_four *)(to + at + side) = next[1];
}

/* What the message refers to. */
typedef struct wave_block {
    GYRE_GLOBAL gyre_abi_u32 *count;
    GYRE_GLOBAL gyre_abi_f32 *even, *odd;
    GYRE_GLOBAL gyre_abi_u32 *words;
} wave_block;

/* A slab of the next generation: as many cells as the others have, in the order in which they lie.
 */
GYRE_FUNCTION void wave_slab(const GYRE_OWN gyre_self *self, const GYRE_OWN wave_request *request,
                             const GYRE_OWN wave_block *block, gyre_abi_u32 place)
{
    const gyre_abi_u32 bits = request->bits, side = 1u << bits, across = side / 4;
    const gyre_abi_u64 eights = (gyre_abi_u64)1 << 3 * bits >> 3;
    const gyre_abi_u32 begin = (gyre_abi_u32)(eights * place / request->slabs);
    const gyre_abi_u32 end = (gyre_abi_u32)(eights * (place + 1) / request->slabs);
    const gyre_abi_u32 odd = *block->count & 1;

    for (gyre_abi_u32 i = begin + self->lane; i < end; i += self->lanes) {
        const gyre_abi_u32 at = 4 * (i % across) + (i / across << (bits + 1)), z = at >> 2 * bits;

        if (z - 1 < side - 2) /* 0 and side - 1 are faces */
            wave_two_rows(odd ? block->odd : block->even, odd ? block->even : block->odd, at, bits);
    }
}

/* Turn after turn, until they are over. */
GYRE_FUNCTION void wave_follow(GYRE_OWN gyre_self *self, const GYRE_OWN wave_request *request,
                               const GYRE_OWN wave_block *block)
{
    for (gyre_abi_u32 turn = 0;; turn++) {
        if (self->lane == 0)
            while (gyre_atomic_load_acquire(block->words + WAVE_TURN) == turn)
                ;
        gyre_self_barrier(self);
        if (block->words[WAVE_OVER])
            return;
        wave_slab(self, request, block, request->place);
        gyre_self_barrier(self);
        if (self->lane == 0)
            gyre_atomic_add_release(block->words + WAVE_DONE, 1);
    }
}

/* A step, with all who follow. */
GYRE_FUNCTION void wave_lead(GYRE_OWN gyre_self *self, const GYRE_OWN wave_request *request,
                             const GYRE_OWN wave_block *block)
{
    if (self->lane == 0)
        gyre_atomic_add_release(block->words + WAVE_TURN, 1);
    wave_slab(self, request, block, 0);
    gyre_self_barrier(self);
    if (self->lane != 0)
        return;
    while (gyre_atomic_load_acquire(block->words + WAVE_DONE) != request->slabs - 1)
        ;
    block->words[WAVE_DONE] = 0;
    GYRE_ANSWER(wave_answer)->generation = ++*block->count;
}

/* A cell, by one lane. */
GYRE_FUNCTION void wave_touch(GYRE_OWN gyre_self *self, const GYRE_OWN wave_request *request,
                              const GYRE_OWN wave_block *block, int adds)
{
    const gyre_abi_u32 generation = *block->count;
    GYRE_GLOBAL gyre_abi_f32 *const cell =
        (generation & 1 ? block->odd : block->even) + request->place;

    if (adds)
        *cell += request->amplitude;
    GYRE_ANSWER(wave_answer)->value = *cell;
    GYRE_ANSWER(wave_answer)->generation = generation;
    GYRE_ANSWER(wave_answer)->place = request->place;
}

GYRE_BEHAVIOUR(wave_step, wave_state, GYRE_WIDTH_BLOCK)
{
    const wave_request request = *GYRE_REQUEST(wave_request);
    const gyre_abi_u32 cells = 1u << 3 * request.bits;
    wave_block block;

    block.count = GYRE_PAYLOAD(gyre_abi_u32);
    block.even = GYRE_PAYLOAD(gyre_abi_f32) + WAVE_HEAD;
    block.odd = block.even + cells;
    block.words = block.count + WAVE_HEAD + cells + cells;
    if (brief->type == WAVE_STEP) {
        wave_lead(self, &request, &block);
    } else if (brief->type == WAVE_FOLLOW) {
        wave_follow(self, &request, &block);
    } else if (self->lane == 0 && brief->type == WAVE_BEGIN) {
        block.words[WAVE_TURN] = block.words[WAVE_OVER] = block.words[WAVE_DONE] = 0;
    } else if (self->lane == 0 && brief->type == WAVE_END) {
        block.words[WAVE_OVER] = 1;
        gyre_atomic_add_release(block.words + WAVE_TURN, 1);
    } else if (self->lane == 0) {
        wave_touch(self, &request, &block, brief->type == WAVE_INJECT);
    }
}
