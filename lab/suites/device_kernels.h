/* SPDX-License-Identifier: Apache-2.0
 *
 * device_kernels: the kernels that suites launch, in all languages: so small that what is around
 * them shows, and each leaves something behind that a check can find.
 *
 *   count     one thread adds 1 to a counter: how often it ran
 *   relu      out[i] = in[i] when that is positive, else 0; grid * block >= count
 *   relu_many the same for `many` of them, by the block's z (gyre/kernel.h)
 *
 * Threads   constant.
 * Owns      nothing.
 */
#ifndef GYRE_SUITES_DEVICE_KERNELS_H
#define GYRE_SUITES_DEVICE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/program.h"
#include "gyre/stream.h"

extern const gyre_program gyre_bench_program;

#define GYRE_COUNT_SIGNATURE "pointer"
#define GYRE_RELU_SIGNATURE "pointer pointer u32"

typedef struct gyre_count_parameters {
    uint64_t *counter;
} gyre_count_parameters;

typedef struct gyre_relu_parameters {
    const float *in;
    float *out;
    uint32_t count;
} gyre_relu_parameters;

enum { GYRE_RELU_BLOCK = 256 }; /* threads */

/* A launch of relu with these parameters, which are borrowed. */
gyre_launch gyre_relu_launch(const gyre_relu_parameters *parameters);

/* Whether `out` is what relu makes of `in`. */
GYRE_MUST_USE bool gyre_relu_is(const float *out, const float *in, size_t count);

#endif
