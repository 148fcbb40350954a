/* SPDX-License-Identifier: Apache-2.0
 *
 * wave_kernels: the wave of suites/wave_field.h as kernels that are launched, in all languages, by
 * the same arithmetic as the behaviour wave_step.
 *
 *   wave_step    the next field, four cells to a thread; grid * block >= cells / 4
 *   wave_inject  one thread adds the command's amplitude to its cell, and answers with what it is
 *   wave_query   one thread answers with what the command's cell is
 *
 * Threads   constant.
 * Owns      nothing.
 */
#ifndef GYRE_SUITES_WAVE_KERNELS_H
#define GYRE_SUITES_WAVE_KERNELS_H

#include <stdint.h>

#include "gyre/program.h"
#include "gyre/stream.h"
#include "suites/wave_field.h"

extern const gyre_program gyre_wave_program;

#define GYRE_WAVE_STEP_SIGNATURE "pointer pointer pointer u32"
#define GYRE_WAVE_COMMAND_SIGNATURE "pointer pointer pointer u32"

typedef struct gyre_wave_step_parameters {
    uint32_t *count; /* of steps: one more in the end */
    const float *now;
    float *to; /* the field before, and then the next */
    uint32_t bits;
} gyre_wave_step_parameters;

typedef struct gyre_wave_command_parameters {
    float *block;
    const gyre_wave_impulse *command;
    gyre_wave_answer *answer;
    uint32_t bits;
} gyre_wave_command_parameters;

/* A launch of wave_step with these parameters, which are borrowed. */
gyre_launch gyre_wave_step_launch(const gyre_wave_step_parameters *parameters);

#endif
