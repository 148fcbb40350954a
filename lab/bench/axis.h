/* SPDX-License-Identifier: Apache-2.0
 *
 * axis: values for an axis as the command line gives them.
 *
 *   NAME=8              one value
 *   NAME=[8,64,256]     several, numbers or the axis's words
 *   NAME=[start:stop]   and [start:stop:stride], both ends included
 *   NAME[pow2]=[3:10]   the same of exponents: 8, 16, ... 1024
 *
 * Threads   any; pure.
 * Owns      nothing; a choice points into its text.
 */
#ifndef GYRE_BENCH_AXIS_H
#define GYRE_BENCH_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/bench.h"
#include "gyre/common.h"
#include "gyre/status.h"

/* One --axis, taken apart. */
typedef struct gyre_axis_choice {
    const char *name; /* not terminated */
    size_t name_length;
    bool pow2;
    const char *values; /* what stands right of '=', the brackets taken off; not terminated */
    size_t values_length;
} gyre_axis_choice;

/* GYRE_INVALID with a sentence when it has none of the forms above. */
GYRE_MUST_USE gyre_status gyre_axis_choice_parse(const char *text, gyre_axis_choice *out_choice);

/* Whether the choice is about the axis of that name. */
GYRE_MUST_USE bool gyre_axis_choice_names(const gyre_axis_choice *choice, const char *name);

/* Puts the chosen values in place of the axis's own. GYRE_INVALID with a sentence, and the axis as
 * it was, when there are more than 32, or a word is not one of the axis's. */
GYRE_MUST_USE gyre_status gyre_axis_choose(const gyre_axis_choice *choice, gyre_axis *axis);

/* The same, but of words those that the axis has: GYRE_INVALID when it has none. A bit of
 * `in_out_found` is set for each word of the choice that it has, in their order, and all of them
 * where the values are numbers. */
GYRE_MUST_USE gyre_status gyre_axis_choose_some(const gyre_axis_choice *choice, gyre_axis *axis,
                                                uint32_t *in_out_found);

/* Whether there is a word of the choice whose bit is not set, and the first of them. */
GYRE_MUST_USE bool gyre_axis_choice_misses(const gyre_axis_choice *choice, uint32_t found,
                                           const char **out_word, size_t *out_length);

#endif
