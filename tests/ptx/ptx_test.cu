/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of ptx_test.c. Each writes a row for each thing that it does, one column a thread. */
typedef unsigned short u16;
typedef short s16;
typedef unsigned u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;
typedef float f32;
typedef double f64;

#define MULTIPLY_HIGH(a, b) __umul64hi(a, b)
#define ONES(a) (u32) __popc(a)
#define ONES64(a) (u32) __popcll(a)
#define LEADING(a) (u32) __clz(a)
#define LEADING64(a) (u32) __clzll(a)
#define FIRST(a) (u32) __ffs(a)
#define TURNED(a) __brev(a)
#define PICKED(a, b, c) __byte_perm(a, b, (c)&0x7777)
#define FUNNEL(a, b, c) __funnelshift_l(a, b, c)
#define FUSED(a, b, c) fmaf(a, b, c)
#define ROOT(a) sqrtf(a)
#define SMALLER(a, b) fminf(a, b)
#define LARGER(a, b) fmaxf(a, b)
#define ABSOLUTE(a) fabsf(a)

#include "ptx_expressions.h"

union number {
    u16 of_u16;
    u32 of_u32;
    u64 of_u64;
    f32 of_f32;
    f64 of_f64;
};

#define ROW(type, ...)                                                                             \
    {                                                                                              \
        const type a = as.of_##type, b = bs.of_##type, c = cs.of_##type;                           \
        number made;                                                                               \
                                                                                                   \
        (void)a, (void)b, (void)c;                                                                 \
        made.of_u64 = 0;                                                                           \
        made.of_##type = (type)(__VA_ARGS__);                                                      \
        out[k++ * n + i] = made.of_u64;                                                            \
    }

#define COMPUTE(ROWS)                                                                              \
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;                                           \
    number as, bs, cs;                                                                             \
    u32 k = 0;                                                                                     \
                                                                                                   \
    if (i >= n)                                                                                    \
        return;                                                                                    \
    as.of_u64 = in[i];                                                                             \
    bs.of_u64 = in[n + i];                                                                         \
    cs.of_u64 = in[2 * n + i];                                                                     \
    ROWS(ROW)

extern "C" __global__ void whole(u64 *out, const u64 *in, u32 n)
{
    COMPUTE(EXPRESSIONS)
}

extern "C" __global__ void floats(u64 *out, const u64 *in, u32 n)
{
    COMPUTE(FLOATS)
}

/* Lanes of each warp. Halves of one do different things at the same time in the last row. */
extern "C" __global__ void together(u32 *out, const u32 *in, u32 n)
{
    const u32 all = ~0u, t = threadIdx.x, x = in[t];
    u32 k = 0;

    out[k++ * n + t] = __shfl_sync(all, x, x);
    out[k++ * n + t] = __shfl_sync(all, x, x, 8);
    out[k++ * n + t] = __shfl_up_sync(all, x, 3);
    out[k++ * n + t] = __shfl_down_sync(all, x, 5, 16);
    out[k++ * n + t] = __shfl_xor_sync(all, x, 9);
    out[k++ * n + t] = __ballot_sync(all, x & 1);
    out[k++ * n + t] = __any_sync(all, x == 12345) + 2 * __all_sync(all, x != 12345);
    out[k++ * n + t] = __match_any_sync(all, x % 4);
#if __CUDA_ARCH__ >= 800
    const u32 lane = t % 32, odd = 0xaaaaaaaau, even = 0x55555555u;
    u32 met = 0;

    out[k++ * n + t] = __reduce_add_sync(all, x);
    out[k++ * n + t] = __reduce_min_sync(all, x);
    out[k++ * n + t] = (u32)__reduce_max_sync(all, (s32)x);
    if (x & 1)
        met = __ballot_sync(__activemask(), 1);
    out[k++ * n + t] = !(x & 1) || (met >> lane & 1);
    if (lane & 1)
        out[k++ * n + t] = __shfl_sync(odd, x, 7) + __ballot_sync(odd, x & 2);
    else
        out[k++ * n + t] = __reduce_xor_sync(even, x) + __any_sync(even, x == 0);
#endif
}

static __device__ __noinline__ u32 elsewhere(const u32 *list, u32 count)
{
    u32 sum = 0;

    for (u32 i = 0; i < count; i++)
        sum = sum * 3 + list[i];
    return sum;
}

/* One block. In the fifth row each thread waits for the one before it, in its own warp too. */
extern "C" __global__ void meet(u32 *out, u32 *counter)
{
    __shared__ u32 turn, sum;
    extern __shared__ u32 tile[];
    const u32 t = threadIdx.x, n = blockDim.x;
    u32 list[8];

    if (t == 0)
        turn = sum = 0;
    tile[t] = t * 7;
    __syncthreads();
    out[t] = tile[n - 1 - t];
    atomicAdd(&sum, t);
    atomicAdd(counter, 1u);
    atomicMax(counter + 1, t);
    atomicAdd((u64 *)(counter + 2), (u64)1 << 31);
    out[n + t] = __syncthreads_count(t % 3 == 0);
    out[2 * n + t] = !!__syncthreads_or(t == 5) + 2 * !!__syncthreads_and(t != 5);
    out[3 * n + t] = sum;
    while (*(volatile u32 *)&turn != t)
        ;
    out[4 * n + t] = atomicCAS(&turn, t, t + 1);
    for (u32 i = 0; i < 8; i++)
        list[(i + t) % 8] = i * t;
    out[5 * n + t] = elsewhere(list, 8);
    if (t >= 64)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    out[6 * n + t] = *(volatile u32 *)&turn;
}

extern "C" __global__ void reach(u32 *data, u64 at, u32 how)
{
    u32 *const word = (u32 *)((char *)data + at);

    if (how == 0)
        *word = 1;
    else if (how == 1)
        data[0] = *(volatile u32 *)word;
    else
        atomicAdd(word, 1u);
}

/* For ever: two warps at two barriers. */
extern "C" __global__ void part(u32 *data)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("bar.sync 2, 64;" ::: "memory");
    data[0] = 1;
}

/* One block of two warps: the first hands numbers to the second, n times; counts what came late.
 * `fences`: 1 of who hands over, 2 of who takes. */
extern "C" __global__ void hand_over(u32 *late, u32 *words, u32 n, u32 fences)
{
    volatile u32 *const data = words, *const flag = words + 32, *const back = words + 64;
    u32 count = 0;

    if (threadIdx.x % 32 != 0)
        return;
    for (u32 i = 1; i <= n; i++) {
        if (threadIdx.x == 0) {
            *data = i;
            if (fences & 1)
                __threadfence();
            *flag = i;
            while (*back != i)
                ;
        } else {
            while (*flag != i)
                ;
            if (fences & 2)
                __threadfence();
            count += *data != i;
            *back = i;
        }
    }
    if (threadIdx.x != 0)
        *late = count;
}
