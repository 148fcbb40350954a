/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels: the program of all conformance tests, in three languages, with the same names and
 * arguments. It is one program, so that a driver compiles once.
 *
 * A spin is a loop whose end depends on what it computes: no compiler leaves it out. One thread of
 * each block spins, as the C functions do once for all of theirs.
 */
#include <sched.h>

#include "conformance.h"
#include "gyre/clock.h"

static uint32_t spun(uint32_t x, uint32_t spin)
{
    for (uint32_t i = 0; i < spin; i++)
        x = x * 1664525u + 1013904223u + (x >> 16);
    return x;
}

static uint32_t threads_of(const gyre_block *block)
{
    return block->threads[0] * block->threads[1] * block->threads[2];
}

/* Of the block, in its grid. */
static uint32_t number_of(const gyre_block *block)
{
    return (block->index[2] * block->grid[1] + block->index[1]) * block->grid[0] + block->index[0];
}

static void mark(const gyre_block *block, const void *parameters)
{
    const mark_parameters *const p = parameters;
    uint32_t *const cells = p->cells + (size_t)number_of(block) * threads_of(block);

    for (uint32_t t = 0; t < threads_of(block); t++)
        __atomic_fetch_add(&cells[t], 1, __ATOMIC_RELAXED); /* relaxed: the ticket orders */
}

static void advance(const gyre_block *block, const void *parameters)
{
    const step_parameters *const p = parameters;
    const uint32_t threads = threads_of(block);
    const uint32_t extra = spun(p->n, p->spin) == 7 && p->spin == UINT32_MAX;

    for (uint32_t t = 0; t < threads; t++) {
        const uint32_t i = number_of(block) * threads + t;

        if (i < p->n)
            p->data[i] = p->data[i] * p->multiply + p->add + extra;
    }
}

static void types(const gyre_block *block, const void *parameters)
{
    const types_parameters *const p = parameters;
    uint64_t *const out = p->out;

    (void)block;
    out[0] = (uint64_t)(int64_t)p->a;
    out[1] = p->b;
    out[2] = (uint64_t)(int64_t)p->c;
    out[3] = p->d;
    out[4] = (uint64_t)(int64_t)p->e;
    out[5] = p->f;
    out[6] = (uint64_t)(int64_t)(p->g * 4.0f);
    out[7] = (uint64_t)p->h;
    out[8] = p->i;
    out[9] = (uint64_t)(int64_t)(p->j * 8.0);
    for (int n = 0; n < 3; n++)
        out[10 + n] = p->k.x[n];
    out[13] = p->l;
}

static void turn(const gyre_block *block, const void *parameters)
{
    const turn_parameters *const p = parameters;
    const uint32_t threads = threads_of(block);
    uint32_t *const tile = block->shared;
    uint32_t *const data = p->data + (size_t)number_of(block) * threads;

    if (block->shared_bytes < threads * sizeof(uint32_t) || ((uintptr_t)tile & 63) != 0)
        return;
    for (uint32_t t = 0; t < threads; t++)
        tile[t] = data[t];
    for (uint32_t t = 0; t < threads; t++)
        data[t] = tile[threads - 1 - t];
}

static void each_of(const gyre_block *block, const each_parameters *p)
{
    const uint32_t threads = threads_of(block);
    const uint32_t extra = spun(p->n, p->spin) == 7 && p->spin == UINT32_MAX;

    for (uint32_t t = 0; t < threads; t++) {
        const uint32_t i = block->index[0] * threads + t;

        if (i < p->n)
            p->data[i] += p->k + extra;
    }
}

static void each(const gyre_block *block, const void *parameters)
{
    each_of(block, parameters);
}

static void each_many(const gyre_block *block, const void *parameters)
{
    const struct {
        const each_parameters *list;
        uint32_t count;
    } *const p = parameters;

    if (block->index[2] < p->count && block->grid[2] == p->count)
        each_of(block, &p->list[block->index[2]]);
}

static void meet(const gyre_block *block, const void *parameters)
{
    const meet_parameters *const p = parameters;
    const uint32_t blocks = block->grid[0] * block->grid[1] * block->grid[2];
    const uint64_t deadline = gyre_clock_after_ns(10000 * MS);
    uint32_t seen;

    __atomic_fetch_add(p->counter, 1, __ATOMIC_ACQ_REL);
    while ((seen = __atomic_load_n(p->counter, __ATOMIC_ACQUIRE)) < blocks &&
           gyre_clock_now_ns() < deadline)
        sched_yield();
    p->out[number_of(block)] = seen;
}

/* The limit is in nanoseconds here, and counts looks at the flag on other devices. */
static void gate_function(const gyre_block *block, const void *parameters)
{
    const gate_parameters *const p = parameters;
    const uint64_t deadline = gyre_clock_after_ns(p->limit);

    (void)block;
    /* acquire [gate]: pairs with the release in gate_open */
    while (!__atomic_load_n(p->flag, __ATOMIC_ACQUIRE) && gyre_clock_now_ns() < deadline)
        sched_yield();
}

static void nothing(const gyre_block *block, const void *parameters)
{
    (void)block, (void)parameters;
}

static const gyre_entry functions[] = {
    {"mark", mark}, {"advance", advance},    {"types", types},
    {"turn", turn}, {"each", each},          {"each_many", each_many},
    {"meet", meet}, {"gate", gate_function}, {"nothing", nothing},
    {NULL, NULL},
};

/* clang-format off */
static const char cuda[] =
"typedef unsigned u32; typedef unsigned long long u64;\n"
"__device__ u32 spun(u32 x, u32 spin)\n"
"{ for (u32 i = 0; i < spin; i++) x = x * 1664525u + 1013904223u + (x >> 16); return x; }\n"
"__device__ u32 threads() { return blockDim.x * blockDim.y * blockDim.z; }\n"
"__device__ u32 number() { return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }\n"
"__device__ u32 thread()\n"
"{ return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }\n"
"extern \"C\" __global__ void mark(u32 *cells)\n"
"{ atomicAdd(cells + (u64)number() * threads() + thread(), 1u); }\n"
"extern \"C\" __global__ void advance(u32 *data, u32 n, u32 multiply, u32 add, u32 spin)\n"
"{ u32 i = number() * threads() + thread();\n"
"  u32 extra = spun(n, thread() ? 0 : spin) == 7 && spin == 0xffffffffu;\n"
"  if (i < n) data[i] = data[i] * multiply + add + extra; }\n"
"struct three { u64 x[3]; };\n"
"extern \"C\" __global__ void types(u64 *out, signed char a, unsigned char b, short c,\n"
"    unsigned short d, int e, u32 f, float g, long long h, u64 i, double j, three k,\n"
"    unsigned char l)\n"
"{ out[0] = (u64)(long long)a; out[1] = b; out[2] = (u64)(long long)c; out[3] = d;\n"
"  out[4] = (u64)(long long)e; out[5] = f; out[6] = (u64)(long long)(g * 4.0f);\n"
"  out[7] = (u64)h; out[8] = i; out[9] = (u64)(long long)(j * 8.0);\n"
"  for (int n = 0; n < 3; n++) out[10 + n] = k.x[n];\n"
"  out[13] = l; }\n"
"extern \"C\" __global__ void turn(u32 *data, u32 n)\n"
"{ extern __shared__ u32 tile[]; u32 i = number() * threads() + thread();\n"
"  tile[thread()] = data[i]; __syncthreads();\n"
"  data[i] = tile[threads() - 1 - thread()]; }\n"
"struct each_one { u32 *data; u32 n, k, spin; };\n"
"__device__ void each_of(const each_one *p)\n"
"{ u32 i = blockIdx.x * threads() + thread();\n"
"  u32 extra = spun(p->n, thread() ? 0 : p->spin) == 7 && p->spin == 0xffffffffu;\n"
"  if (i < p->n) p->data[i] += p->k + extra; }\n"
"extern \"C\" __global__ void each(u32 *data, u32 n, u32 k, u32 spin)\n"
"{ each_one one; one.data = data; one.n = n; one.k = k; one.spin = spin; each_of(&one); }\n"
"extern \"C\" __global__ void each_many(const each_one *list, u32 count)\n"
"{ if (blockIdx.z < count && gridDim.z == count) each_of(list + blockIdx.z); }\n"
"extern \"C\" __global__ void meet(u32 *counter, u32 *out)\n"
"{ u32 seen, blocks = gridDim.x * gridDim.y * gridDim.z; u64 looks = 1ull << 24;\n"
"  if (thread() != 0) return;\n"
"  __threadfence(); atomicAdd(counter, 1u);\n"
"  while ((seen = *(volatile u32 *)counter) < blocks && --looks) {}\n"
"  out[number()] = seen; }\n"
"extern \"C\" __global__ void gate(const u32 *flag, u64 limit)\n"
"{ while (!*(const volatile u32 *)flag && --limit) {} }\n"
"extern \"C\" __global__ void nothing() {}\n";

static const char opencl[] =
"typedef uint u32; typedef ulong u64;\n"
"u32 spun(u32 x, u32 spin)\n"
"{ for (u32 i = 0; i < spin; i++) x = x * 1664525u + 1013904223u + (x >> 16); return x; }\n"
"u32 threads(void) { return get_local_size(0) * get_local_size(1) * get_local_size(2); }\n"
"u32 number(void)\n"
"{ return (get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0)\n"
"      + get_group_id(0); }\n"
"u32 thread(void)\n"
"{ return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0)\n"
"      + get_local_id(0); }\n"
"__kernel void mark(__global u32 *cells)\n"
"{ atomic_inc((volatile __global u32 *)cells + (u64)number() * threads() + thread()); }\n"
"__kernel void advance(__global u32 *data, u32 n, u32 multiply, u32 add, u32 spin)\n"
"{ u32 i = number() * threads() + thread();\n"
"  u32 extra = spun(n, thread() ? 0 : spin) == 7 && spin == 0xffffffffu;\n"
"  if (i < n) data[i] = data[i] * multiply + add + extra; }\n"
"typedef struct three { u64 x[3]; } three;\n"
"__kernel void types(__global u64 *out, char a, uchar b, short c, ushort d, int e, u32 f, float g,\n"
"    long h, u64 i, double j, three k, uchar l)\n"
"{ out[0] = (u64)(long)a; out[1] = b; out[2] = (u64)(long)c; out[3] = d; out[4] = (u64)(long)e;\n"
"  out[5] = f; out[6] = (u64)(long)(g * 4.0f); out[7] = (u64)h; out[8] = i;\n"
"  out[9] = (u64)(long)(j * 8.0);\n"
"  for (int n = 0; n < 3; n++) out[10 + n] = k.x[n];\n"
"  out[13] = l; }\n"
"__kernel void turn(__global u32 *data, u32 n, __local u32 *tile)\n"
"{ u32 i = number() * threads() + thread();\n"
"  tile[thread()] = data[i]; barrier(CLK_LOCAL_MEM_FENCE);\n"
"  data[i] = tile[threads() - 1 - thread()]; }\n"
"typedef struct each_one { __global u32 *data; u32 n, k, spin; } each_one;\n"
"void each_of(__global u32 *data, u32 n, u32 k, u32 spin)\n"
"{ u32 i = get_group_id(0) * threads() + thread();\n"
"  u32 extra = spun(n, thread() ? 0 : spin) == 7 && spin == 0xffffffffu;\n"
"  if (i < n) data[i] += k + extra; }\n"
"__kernel void each(__global u32 *data, u32 n, u32 k, u32 spin) { each_of(data, n, k, spin); }\n"
"__kernel void each_many(__global const each_one *list, u32 count)\n"
"{ __global const each_one *p = list + get_group_id(2);\n"
"  if (get_group_id(2) < count && get_num_groups(2) == count)\n"
"      each_of(p->data, p->n, p->k, p->spin); }\n"
"__kernel void meet(__global u32 *counter, __global u32 *out)\n"
"{ u32 seen, blocks = get_num_groups(0) * get_num_groups(1) * get_num_groups(2);\n"
"  u64 looks = 1ul << 24;\n"
"  if (thread() != 0) return;\n"
"  atomic_inc((volatile __global u32 *)counter);\n"
"  while ((seen = atomic_add((volatile __global u32 *)counter, 0u)) < blocks && --looks) {}\n"
"  out[number()] = seen; }\n"
"__kernel void gate(__global const u32 *flag, u64 limit)\n"
"{ while (!*(volatile __global const u32 *)flag && --limit) {} }\n"
"__kernel void nothing(void) {}\n";
/* clang-format on */

const gyre_program conformance_program = {
    .struct_size = sizeof(gyre_program),
    .name = "conformance",
    .functions = functions,
    .cuda = cuda,
    .opencl = opencl,
};

const char *const conformance_entries[KERNELS] = {"mark", "advance", "types", "turn",
                                                  "each", "meet",    "gate",  "nothing"};

const char *const conformance_signatures[KERNELS] = {
    "pointer",
    "pointer u32 u32 u32 u32",
    "pointer i8 u8 i16 u16 i32 u32 f32 i64 u64 f64 bytes24 u8",
    "pointer u32 shared",
    "pointer u32 u32 u32",
    "pointer pointer",
    "pointer u64",
    "",
};
