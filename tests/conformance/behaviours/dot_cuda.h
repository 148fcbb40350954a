/* SPDX-License-Identifier: Apache-2.0
 *
 * dot_cuda: a behaviour for CUDA alone, filled in by hand around a __device__ function that
 * somebody had before: it adds up the products of two vectors, with shuffles between the lanes of a
 * warp.
 */
#ifndef GYRE_TESTS_DOT_CUDA_H
#define GYRE_TESTS_DOT_CUDA_H

#include "gyre/behaviour.h"

static const gyre_include dot_includes[] = {
    {"theirs/dot.cuh",
     "static __device__ float their_dot(const float *a, const float *b, unsigned count)\n"
     "{\n"
     "    float sum = 0;\n"
     "\n"
     "    for (unsigned i = threadIdx.x % warpSize; i < count; i += warpSize)\n"
     "        sum += a[i] * b[i];\n"
     "    for (int offset = warpSize / 2; offset > 0; offset /= 2)\n"
     "        sum += __shfl_xor_sync(0xffffffffu, sum, offset);\n"
     "    return sum;\n"
     "}\n"},
    {NULL, NULL},
};

/* The message refers to both vectors, one behind the other. */
static const gyre_behaviour dot_cuda = {
    .struct_size = sizeof dot_cuda,
    .name = "dot_cuda",
    .width = GYRE_WIDTH_WARP,
    .state_bytes = 4,
    .file = "dot_cuda.cu",
    .includes = dot_includes,
    .text = "#include \"gyre/behaviour.h\"\n"
            "#include \"theirs/dot.cuh\"\n"
            "\n"
            "typedef struct calls { gyre_abi_u32 count; } calls;\n"
            "typedef struct product { gyre_abi_f32 sum; } product;\n"
            "\n"
            "GYRE_BEHAVIOUR(dot_cuda, calls, GYRE_WIDTH_WARP)\n"
            "{\n"
            "    const unsigned count = (unsigned)(GYRE_PAYLOAD_BYTES / 8);\n"
            "    const float *const a = GYRE_PAYLOAD(const float);\n"
            "    const float sum = their_dot(a, a + count, count);\n"
            "\n"
            "    if (self->lane == 0)\n"
            "        gyre_atomic_add(&state->count, 1);\n"
            "    GYRE_ANSWER(product)->sum = sum;\n"
            "}\n",
};

#endif
