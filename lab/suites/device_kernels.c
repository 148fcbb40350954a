/* SPDX-License-Identifier: Apache-2.0
 *
 * device_kernels: see device_kernels.h.
 */
#include "suites/device_kernels.h"

#include <string.h>

static void count(const gyre_block *block, const void *parameters)
{
    const gyre_count_parameters *p = parameters;

    (void)block;
    *p->counter += 1;
}

/* By its sign: compilers make a branch of a comparison, and how that is guessed would be measured.
 */
static float positive(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    bits &= (bits >> 31) - 1;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void relu_block(const gyre_block *block, const gyre_relu_parameters *p)
{
    const uint32_t begin = block->index[0] * block->threads[0];
    const uint32_t end =
        p->count - begin < block->threads[0] ? p->count : begin + block->threads[0];
    const float *const in = p->in;
    float *const out = p->out;

    if (begin >= p->count)
        return;
    for (uint32_t i = begin; i < end; i++)
        out[i] = positive(in[i]);
}

static void relu(const gyre_block *block, const void *parameters)
{
    relu_block(block, parameters);
}

static void relu_many(const gyre_block *block, const void *parameters)
{
    const struct {
        const gyre_relu_parameters *rows;
        uint32_t count;
    } *p = parameters;

    if (block->index[2] < p->count)
        relu_block(block, &p->rows[block->index[2]]);
}

static const gyre_entry functions[] = {
    {"count", count},
    {"relu", relu},
    {"relu_many", relu_many},
    {NULL, NULL},
};

static const char cuda[] =
    "struct relu_parameters { const float *in; float *out; unsigned count; };\n"
    "extern \"C\" __global__ void count(unsigned long long *counter) { *counter += 1; }\n"
    "static __device__ void relu_one(const float *in, float *out, unsigned count)\n"
    "{\n"
    "    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < count)\n"
    "        out[i] = in[i] > 0 ? in[i] : 0;\n"
    "}\n"
    "extern \"C\" __global__ void relu(const float *in, float *out, unsigned count)\n"
    "{\n"
    "    relu_one(in, out, count);\n"
    "}\n"
    "extern \"C\" __global__ void relu_many(const relu_parameters *rows, unsigned count)\n"
    "{\n"
    "    if (blockIdx.z < count)\n"
    "        relu_one(rows[blockIdx.z].in, rows[blockIdx.z].out, rows[blockIdx.z].count);\n"
    "}\n";

/* A struct in a buffer may have no pointers there: they are numbers, which shared virtual memory
 * makes addresses of. */
static const char opencl[] =
    "typedef struct { ulong in, out; uint count; } relu_parameters;\n"
    "__kernel void count(__global ulong *counter) { *counter += 1; }\n"
    "static void relu_one(__global const float *in, __global float *out, uint count)\n"
    "{\n"
    "    const uint i = get_global_id(0);\n"
    "    if (i < count)\n"
    "        out[i] = in[i] > 0 ? in[i] : 0;\n"
    "}\n"
    "__kernel void relu(__global const float *in, __global float *out, uint count)\n"
    "{\n"
    "    relu_one(in, out, count);\n"
    "}\n"
    "__kernel void relu_many(__global const relu_parameters *rows, uint count)\n"
    "{\n"
    "    if (get_group_id(2) < count) {\n"
    "        __global const relu_parameters *row = rows + get_group_id(2);\n"
    "        relu_one((__global const float *)row->in, (__global float *)row->out, row->count);\n"
    "    }\n"
    "}\n";

const gyre_program gyre_bench_program = {
    .struct_size = sizeof(gyre_program),
    .name = "gyre_bench",
    .functions = functions,
    .cuda = cuda,
    .opencl = opencl,
};

gyre_launch gyre_relu_launch(const gyre_relu_parameters *parameters)
{
    return (gyre_launch){
        .grid = {(parameters->count + GYRE_RELU_BLOCK - 1) / GYRE_RELU_BLOCK},
        .block = {GYRE_RELU_BLOCK},
        .parameters = parameters,
        .parameters_size = sizeof *parameters,
    };
}

bool gyre_relu_is(const float *out, const float *in, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(out[i] == (in[i] > 0 ? in[i] : 0)))
            return false;
    return true;
}
