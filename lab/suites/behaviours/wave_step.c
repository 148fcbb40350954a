/* SPDX-License-Identifier: Apache-2.0
 *
 * wave_step: a wave in a cube, kept by a crew: a step of one slab, an impulse, a question.
 *
 * What a message refers to is a line of WAVE_HEAD words, whose first counts the steps, and behind
 * it two fields of 2^(3 bits) floats. Of generation g, field g & 1 is the present one; the other is
 * the one before, over which a step writes the next. Cells of the faces are 0 for good.
 *
 * A step reads cells that other seats wrote in the last one. Every message here refers to the
 * fields, with GYRE_BRIEF_REFERS: so what a seat wrote can be seen before its answer, the host has
 * all answers before it sends the next step, and a seat acquires at the system's scope before it
 * handles that, which drops what the multiprocessor's first cache held. Plain loads are right then,
 * and neighbours find in that cache what one of them has read. `restrict` would be wrong: it allows
 * the path for data that never changes.
 *
 * Four cells to a lane at a time, which one load of 16 bytes brings. Products stand alone, so that
 * no compiler makes one rounding of two.
 */
#include "gyre/behaviour.h"

enum {
    WAVE_STEP = 1,   /* of slab `place`; answers with the generation that it has reached */
    WAVE_INJECT = 2, /* adds to cell `place`; answers with what it is then */
    WAVE_QUERY = 3,  /* answers with what cell `place` is */
    WAVE_HEAD = 64,  /* words before the fields */
};

typedef struct wave_state {
    gyre_abi_u32 unused;
} wave_state;

typedef struct wave_request { /* the first two are body.reference's */
    gyre_abi_address address;
    gyre_abi_u64 size;
    gyre_abi_u32 bits;       /* the cube's side is 2^bits cells, 8 at least */
    gyre_abi_u32 generation; /* WAVE_STEP: from which */
    gyre_abi_u32 place;
    gyre_abi_u32 slabs;     /* WAVE_STEP: of how many */
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

/* Four cells from `at` on, which are not on a face of rows or planes. */
GYRE_FUNCTION void wave_four_next(const GYRE_GLOBAL gyre_abi_f32 *now, GYRE_GLOBAL gyre_abi_f32 *to,
                                  gyre_abi_u32 at, gyre_abi_u32 side)
{
    const gyre_abi_u32 x = at & (side - 1), plane = side * side;
    const wave_four here = *(const GYRE_GLOBAL wave_four *)(now + at);
    const wave_four low = *(const GYRE_GLOBAL wave_four *)(now + at - side);
    const wave_four high = *(const GYRE_GLOBAL wave_four *)(now + at + side);
    const wave_four near = *(const GYRE_GLOBAL wave_four *)(now + at - plane);
    const wave_four far = *(const GYRE_GLOBAL wave_four *)(now + at + plane);
    const gyre_abi_f32 left = now[at - 1], right = now[at + 4];
    wave_four next = *(const GYRE_GLOBAL wave_four *)(to + at);

    next.at[0] = wave_next(here.at[0], next.at[0],
                           left + here.at[1] + (low.at[0] + high.at[0]) + (near.at[0] + far.at[0]));
    next.at[1] =
        wave_next(here.at[1], next.at[1],
                  here.at[0] + here.at[2] + (low.at[1] + high.at[1]) + (near.at[1] + far.at[1]));
    next.at[2] =
        wave_next(here.at[2], next.at[2],
                  here.at[1] + here.at[3] + (low.at[2] + high.at[2]) + (near.at[2] + far.at[2]));
    next.at[3] =
        wave_next(here.at[3], next.at[3],
                  here.at[2] + right + (low.at[3] + high.at[3]) + (near.at[3] + far.at[3]));
    if (x == 0)
        next.at[0] = 0;
    if (x + 4 == side)
        next.at[3] = 0;
    *(GYRE_GLOBAL wave_four *)(to + at) = next;
}

/* A slab: as many cells as the others have, four by four, in the order in which they lie. */
GYRE_FUNCTION void wave_slab(const GYRE_OWN gyre_self *self, const GYRE_OWN wave_request *request,
                             const GYRE_GLOBAL gyre_abi_f32 *now, GYRE_GLOBAL gyre_abi_f32 *to)
{
    const gyre_abi_u32 bits = request->bits, side = 1u << bits;
    const gyre_abi_u64 fours = (gyre_abi_u64)1 << 3 * bits >> 2;
    const gyre_abi_u32 begin = (gyre_abi_u32)(fours * request->place / request->slabs);
    const gyre_abi_u32 end = (gyre_abi_u32)(fours * (request->place + 1) / request->slabs);

    for (gyre_abi_u32 i = begin + self->lane; i < end; i += self->lanes) {
        const gyre_abi_u32 at = 4 * i, y = at >> bits & (side - 1), z = at >> 2 * bits;

        /* 0 and side - 1 are faces */
        if (y - 1 < side - 2 && z - 1 < side - 2)
            wave_four_next(now, to, at, side);
    }
}

GYRE_BEHAVIOUR(wave_step, wave_state, GYRE_WIDTH_BLOCK)
{
    const wave_request request = *GYRE_REQUEST(wave_request);
    GYRE_GLOBAL gyre_abi_u32 *const count = GYRE_PAYLOAD(gyre_abi_u32);
    GYRE_GLOBAL gyre_abi_f32 *const even = GYRE_PAYLOAD(gyre_abi_f32) + WAVE_HEAD;
    GYRE_GLOBAL gyre_abi_f32 *const odd = even + (1u << 3 * request.bits);

    if (brief->type == WAVE_STEP) {
        const gyre_abi_u32 generation = request.generation;

        wave_slab(self, &request, generation & 1 ? odd : even, generation & 1 ? even : odd);
        if (self->lane == 0) {
            /* only the first slab's seat touches the count during a step */
            if (request.place == 0 && *count != generation)
                gyre_self_fail(self, GYRE_ACTOR_BAD_MESSAGE);
            else if (request.place == 0)
                *count = generation + 1;
            GYRE_ANSWER(wave_answer)->generation = generation + 1;
            GYRE_ANSWER(wave_answer)->place = request.place;
        }
    } else if (self->lane == 0) {
        const gyre_abi_u32 generation = *count;
        GYRE_GLOBAL gyre_abi_f32 *const cell = (generation & 1 ? odd : even) + request.place;

        if (brief->type == WAVE_INJECT)
            *cell += request.amplitude;
        GYRE_ANSWER(wave_answer)->value = *cell;
        GYRE_ANSWER(wave_answer)->generation = generation;
        GYRE_ANSWER(wave_answer)->place = request.place;
    }
}
