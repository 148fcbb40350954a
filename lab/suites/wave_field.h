/* SPDX-License-Identifier: Apache-2.0
 *
 * wave_field: what a wave in a cube should be, by plain C: the reference of suites/interactive.c.
 *
 * One block of floats, as devices have it: GYRE_WAVE_HEAD words, whose first counts the steps, then
 * two fields. Field g & 1 is the present one of generation g, the other the one before; a step is
 *     next = 2 now - before + (six neighbours - 6 now) / 4
 * for every cell that is not on a face; those are 0. Sums are made in one order everywhere and
 * without contraction, so a field is equal to the last bit or wrong.
 *
 * Threads   one at a time.
 * Owns      the block.
 */
#ifndef GYRE_SUITES_WAVE_FIELD_H
#define GYRE_SUITES_WAVE_FIELD_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/status.h"

enum {
    GYRE_WAVE_HEAD = 64,
    GYRE_WAVE_MORE = 256, /* bytes behind a block, for those who do its steps together */
    GYRE_WAVE_SIDE_LEAST = 8,
    GYRE_WAVE_SIDE_MOST = 256
};

typedef struct gyre_wave_field {
    uint32_t bits; /* the side is 2^bits cells */
    uint32_t side, cells;
    size_t bytes; /* of the block, without what is behind it */
    float *block;
} gyre_wave_field;

/* Where an impulse goes, and how strong it is. */
typedef struct gyre_wave_impulse {
    uint32_t cell;
    float amplitude;
} gyre_wave_impulse;

/* What a cell is, and of which generation. */
typedef struct gyre_wave_answer {
    float value;
    uint32_t generation;
} gyre_wave_answer;

/* Generation 0: numbers that are not small anywhere. Refused unless `side` is a power of two
 * between the two above. */
GYRE_MUST_USE gyre_status gyre_wave_field_init(gyre_wave_field *field, int64_t side);
void gyre_wave_field_fini(gyre_wave_field *field);

uint32_t gyre_wave_field_generation(const gyre_wave_field *field);

void gyre_wave_field_step(gyre_wave_field *field);

/* What the cell is after the impulse, or as it is. */
gyre_wave_answer gyre_wave_field_inject(gyre_wave_field *field, gyre_wave_impulse impulse);
gyre_wave_answer gyre_wave_field_query(const gyre_wave_field *field, uint32_t cell);

/* The impulse number `n`: of a cell that is not on a face. */
gyre_wave_impulse gyre_wave_impulse_at(const gyre_wave_field *field, uint64_t n);

#endif
