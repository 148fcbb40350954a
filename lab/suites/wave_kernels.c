/* SPDX-License-Identifier: Apache-2.0
 *
 * wave_kernels: see wave_kernels.h.
 */
#include "suites/wave_kernels.h"

enum { BLOCK = 128 }; /* threads of a step: 64^3 cells are 512 blocks */

static float next_of(const float *now, float before, uint32_t side)
{
    const size_t plane = (size_t)side * side;
    const float sum =
        *(now - 1) + now[1] + (*(now - side) + now[side]) + (*(now - plane) + now[plane]);
    const float six = 6.0F * *now;
    const float rise = 0.25F * (sum - six);

    return *now + *now - before + rise;
}

static void wave_step(const gyre_block *block, const void *parameters)
{
    const gyre_wave_step_parameters *p = parameters;
    const uint32_t side = 1U << p->bits, cells = side * side * side;
    const uint32_t begin = 4 * block->index[0] * block->threads[0];
    const uint32_t most = begin + 4 * block->threads[0], end = most < cells ? most : cells;

    for (uint32_t row = begin / side; row * side < end; row++) {
        const uint32_t y = row % side, z = row / side;
        const uint32_t first = row * side + 1, last = row * side + side - 1;

        if (y == 0 || y == side - 1 || z == 0 || z == side - 1)
            continue;
        for (uint32_t at = first > begin ? first : begin; at < (last < end ? last : end); at++)
            p->to[at] = next_of(p->now + at, p->to[at], side);
    }
    if (begin == 0)
        *p->count += 1;
}

static float *cell_of(const gyre_wave_command_parameters *p, uint32_t *out_generation)
{
    const uint32_t *count = (const uint32_t *)(const void *)p->block;

    *out_generation = *count;
    return p->block + GYRE_WAVE_HEAD + ((size_t)(*count & 1) << 3 * p->bits) + p->command->cell;
}

static void wave_inject(const gyre_block *block, const void *parameters)
{
    const gyre_wave_command_parameters *p = parameters;
    float *const cell = cell_of(p, &p->answer->generation);

    (void)block;
    *cell += p->command->amplitude;
    p->answer->value = *cell;
}

static void wave_query(const gyre_block *block, const void *parameters)
{
    const gyre_wave_command_parameters *p = parameters;

    (void)block;
    p->answer->value = *cell_of(p, &p->answer->generation);
}

static const gyre_entry functions[] = {
    {"wave_step", wave_step},
    {"wave_inject", wave_inject},
    {"wave_query", wave_query},
    {NULL, NULL},
};

/* Both languages: NEXT(now, before, sum) and what a thread does, by macros of the few words that
 * differ. */
#define BODY                                                                                       \
    "static FUNCTION float next_of(float now, float before, float sum)\n"                          \
    "{\n"                                                                                          \
    "    const float six = 6.0f * now;\n"                                                          \
    "    const float rise = 0.25f * (sum - six);\n"                                                \
    "    return now + now - before + rise;\n"                                                      \
    "}\n"                                                                                          \
    "static FUNCTION void step(unsigned i, GLOBAL unsigned *count, GLOBAL const float *now,\n"     \
    "                          GLOBAL float *to, unsigned bits)\n"                                 \
    "{\n"                                                                                          \
    "    const unsigned side = 1u << bits, at = 4 * i, x = at & (side - 1);\n"                     \
    "    const unsigned y = at >> bits & (side - 1), z = at >> 2 * bits;\n"                        \
    "    if (i == 0)\n"                                                                            \
    "        *count += 1;\n"                                                                       \
    "    if (y - 1 < side - 2 && z - 1 < side - 2) {\n"                                            \
    "        const float4 here = FOUR(now + at), low = FOUR(now + at - side);\n"                   \
    "        const float4 high = FOUR(now + at + side), near = FOUR(now + at - side * side);\n"    \
    "        const float4 far = FOUR(now + at + side * side);\n"                                   \
    "        const float left = now[at - 1], right = now[at + 4];\n"                               \
    "        float4 next = FOUR(to + at);\n"                                                       \
    "        next.x = next_of(here.x, next.x,\n"                                                   \
    "                         left + here.y + (low.x + high.x) + (near.x + far.x));\n"             \
    "        next.y = next_of(here.y, next.y,\n"                                                   \
    "                         here.x + here.z + (low.y + high.y) + (near.y + far.y));\n"           \
    "        next.z = next_of(here.z, next.z,\n"                                                   \
    "                         here.y + here.w + (low.z + high.z) + (near.z + far.z));\n"           \
    "        next.w = next_of(here.w, next.w,\n"                                                   \
    "                         here.z + right + (low.w + high.w) + (near.w + far.w));\n"            \
    "        if (x == 0)\n"                                                                        \
    "            next.x = 0;\n"                                                                    \
    "        if (x + 4 == side)\n"                                                                 \
    "            next.w = 0;\n"                                                                    \
    "        *(GLOBAL float4 *)(to + at) = next;\n"                                                \
    "    }\n"                                                                                      \
    "}\n"                                                                                          \
    "static FUNCTION void tell(GLOBAL float *block, GLOBAL const impulse *command,\n"              \
    "                          GLOBAL answer *told, unsigned bits, int adds)\n"                    \
    "{\n"                                                                                          \
    "    const unsigned generation = *(GLOBAL const unsigned *)block;\n"                           \
    "    GLOBAL float *const cell = block + 64 + ((generation & 1) << 3 * bits) + "                \
    "command->cell;\n"                                                                             \
    "    const float value = adds ? *cell + command->amplitude : *cell;\n"                         \
    "    if (adds)\n"                                                                              \
    "        *cell = value;\n"                                                                     \
    "    told->value = value;\n"                                                                   \
    "    told->generation = generation;\n"                                                         \
    "}\n"                                                                                          \
    "KERNEL wave_step(GLOBAL unsigned *count, GLOBAL const float *now, GLOBAL float *to,\n"        \
    "                 unsigned bits)\n"                                                            \
    "{\n"                                                                                          \
    "    if (INDEX < 1u << 3 * bits >> 2)\n"                                                       \
    "        step(INDEX, count, now, to, bits);\n"                                                 \
    "}\n"                                                                                          \
    "KERNEL wave_inject(GLOBAL float *block, GLOBAL const impulse *command,\n"                     \
    "                   GLOBAL answer *told, unsigned bits)\n"                                     \
    "{\n"                                                                                          \
    "    tell(block, command, told, bits, 1);\n"                                                   \
    "}\n"                                                                                          \
    "KERNEL wave_query(GLOBAL float *block, GLOBAL const impulse *command,\n"                      \
    "                  GLOBAL answer *told, unsigned bits)\n"                                      \
    "{\n"                                                                                          \
    "    tell(block, command, told, bits, 0);\n"                                                   \
    "}\n"

#define TYPES                                                                                      \
    "typedef struct { unsigned cell; float amplitude; } impulse;\n"                                \
    "typedef struct { float value; unsigned generation; } answer;\n"

static const char cuda[] = "#define GLOBAL\n"
                           "#define FUNCTION __device__ __forceinline__\n"
                           "#define KERNEL extern \"C\" __global__ void\n"
                           "#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)\n"
                           "#define FOUR(at) (*(const float4 *)(at))\n" TYPES BODY;

static const char opencl[] = "#pragma OPENCL FP_CONTRACT OFF\n"
                             "#define GLOBAL __global\n"
                             "#define FUNCTION\n"
                             "#define KERNEL __kernel void\n"
                             "#define INDEX ((unsigned)get_global_id(0))\n"
                             "#define FOUR(at) (*(__global const float4 *)(at))\n" TYPES BODY;

static const char *const exact[] = {"-fmad=false", NULL};

const gyre_program gyre_wave_program = {
    .struct_size = sizeof(gyre_program),
    .name = "gyre_wave",
    .functions = functions,
    .cuda = cuda,
    .opencl = opencl,
    .options = exact,
};

gyre_launch gyre_wave_step_launch(const gyre_wave_step_parameters *parameters)
{
    const uint32_t threads = 1U << 3 * parameters->bits >> 2;

    return (gyre_launch){
        .grid = {(threads + BLOCK - 1) / BLOCK},
        .block = {BLOCK},
        .parameters = parameters,
        .parameters_size = sizeof *parameters,
    };
}
