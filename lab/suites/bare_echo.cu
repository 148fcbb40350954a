/* SPDX-License-Identifier: Apache-2.0
 *
 * bare_echo: the least that a resident kernel of CUDA can do with stamped lines in the host's
 * memory. Knows nothing of Gyre, and includes nothing.
 *
 * bare_echo: as many warps as there are replicas of a request, 4 KiB apart, each of which watches
 * one by four lanes. The first to see it whole writes it back as the reply.
 *
 * bare_block: the same, but the first to see it hands it to 256 threads more through shared memory
 * and a barrier. They add up the words of a payload, if there is one, 16 bytes at once and four
 * times before they add, and after another barrier four of them write the reply.
 *
 * bare_rate: 32 warps of each block, and a ring of requests for each of `rings` threads of the
 * host: the eight slots from 8k on belong to warp k of those of the ring, and four lanes to a slot.
 * A warp reads three of its eights at once. A request is written back to its slot of the ring of
 * replies; or, one way, counted and added up, and each warp tells now and then, and when it idles,
 * how far it is.
 *
 * All end when they see the stamp that is all ones.
 */
typedef unsigned int u32;
typedef unsigned long long u64;

struct alignas(16) quarter {
    u64 eight;
    u32 four;
    u32 stamp;
};

struct alignas(64) line {
    quarter q[4];
};

/* Of a warp; a line of its own. */
struct alignas(64) progress {
    u64 count, sum, mix;
    u32 first; /* that it has not done */
};

static const u32 ALL = 0xffffffffu, QUADS = 0x11111111u, QUIT = 0xffffffffu;
static const u32 CHUNK = 8, AT_ONCE = 3, OFTEN = 8;

#define LOAD(kind)                                                                                 \
    quarter q;                                                                                     \
    u64 low, high;                                                                                 \
                                                                                                   \
    asm volatile("{ .reg .b128 q; ld." kind ".sys.b128 q, [%2]; mov.b128 {%0, %1}, q; }"           \
                 : "=l"(low), "=l"(high)                                                           \
                 : "l"(from)                                                                       \
                 : "memory");                                                                      \
    q.eight = low;                                                                                 \
    q.four = (u32)high;                                                                            \
    q.stamp = (u32)(high >> 32);                                                                   \
    return q

static __device__ __forceinline__ quarter load(const quarter *from)
{
    LOAD("relaxed");
}

/* What the host wrote before it can be read after it. */
static __device__ __forceinline__ quarter acquire(const quarter *from)
{
    LOAD("acquire");
}

static __device__ __forceinline__ void store(quarter *to, quarter q)
{
    const u64 low = q.eight, high = (u64)q.stamp << 32 | q.four;

    asm volatile("{ .reg .b128 q; mov.b128 q, {%1, %2}; st.relaxed.sys.b128 [%0], q; }"
                 :
                 : "l"(to), "l"(low), "l"(high)
                 : "memory");
}

extern "C" __global__ void __launch_bounds__(1024) bare_echo(char *requests, line *reply)
{
    __shared__ u32 answered;
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const quarter *const mine = ((const line *)(requests + warp * 4096))->q + lane % 4;

    if (threadIdx.x == 0)
        answered = 0;
    __syncthreads();
    for (;;) {
        const u32 number = __shfl_sync(ALL, *(volatile u32 *)&answered, 0) + 1;
        quarter q = {0, 0, number};
        u32 won = 0;

        if (lane < 4)
            q = load(mine);
        if (__any_sync(ALL, q.stamp == QUIT))
            return;
        if (!__all_sync(ALL, q.stamp == number))
            continue;
        if (lane == 0)
            won = atomicCAS(&answered, number - 1, number) == number - 1;
        if (__shfl_sync(ALL, won, 0) && lane < 4)
            store(&reply->q[lane], q);
    }
}

static const u32 LANES = 256;

/* Barriers of a part of the block: 1 from a reader to those that handle, 2 among these. */
static __device__ __forceinline__ void hand_over(void)
{
    asm volatile("bar.arrive 1, %0;" : : "n"(256 + 32) : "memory");
}

static __device__ __forceinline__ void take_over(void)
{
    asm volatile("bar.sync 1, %0;" : : "n"(256 + 32) : "memory");
}

static __device__ __forceinline__ void meet(void)
{
    asm volatile("bar.sync 2, %0;" : : "n"(256) : "memory");
}

/* What is handed over; the next request comes after the reply to this one. */
struct handed {
    quarter q[4];
    u32 answered, sum, quit;
};

/* A reader's part: it watches its replica until all is over. */
static __device__ void watch(const quarter *mine, handed *to, u32 lane)
{
    for (;;) {
        const u32 number = __shfl_sync(ALL, *(volatile u32 *)&to->answered, 0) + 1;
        quarter q = {0, 0, number};
        u32 won = 0, quit;

        if (lane < 4)
            q = acquire(mine);
        quit = __any_sync(ALL, q.stamp == QUIT);
        if (!quit && !__all_sync(ALL, q.stamp == number))
            continue;
        if (lane == 0)
            won = quit ? atomicExch(&to->quit, 1) == 0
                       : atomicCAS(&to->answered, number - 1, number) == number - 1;
        if (__shfl_sync(ALL, won, 0)) {
            if (lane < 4)
                to->q[lane] = q;
            if (lane == 0)
                to->sum = 0;
            __syncwarp();
            hand_over();
        }
        if (quit)
            return;
    }
}

static __device__ __forceinline__ u32 sum_of(uint4 four)
{
    return four.x + four.y + four.z + four.w;
}

/* A thread's share of the words, which begin at 16. */
static __device__ __forceinline__ u32 add_up(const u32 *words, u32 count, u32 me)
{
    const uint4 *const from = (const uint4 *)words;
    const u32 fours = count / 4;
    u32 i = me, sum = 0;

    for (; i + 3 * LANES < fours; i += 4 * LANES) {
        const uint4 first = from[i], second = from[i + LANES];
        const uint4 third = from[i + 2 * LANES], fourth = from[i + 3 * LANES];

        sum += sum_of(first) + sum_of(second) + sum_of(third) + sum_of(fourth);
    }
    for (; i < fours; i += LANES)
        sum += sum_of(from[i]);
    for (i = 4 * fours + me; i < count; i += LANES)
        sum += words[i];
    return sum;
}

extern "C" __global__ void __launch_bounds__(1024)
    bare_block(char *requests, line *reply, const u32 *payload, u32 words, u32 readers)
{
    __shared__ handed to;
    const u32 warp = threadIdx.x / 32, me = threadIdx.x - readers * 32;

    if (threadIdx.x == 0) {
        to.answered = 0;
        to.quit = 0;
    }
    __syncthreads();
    if (warp < readers) {
        watch(((const line *)(requests + warp * 4096))->q + threadIdx.x % 4, &to, threadIdx.x % 32);
        return;
    }
    for (;;) {
        u32 sum;

        take_over();
        if (*(volatile u32 *)&to.quit)
            return;
        sum = add_up(payload, words, me);
        for (int by = 16; by > 0; by /= 2)
            sum += __shfl_xor_sync(ALL, sum, by);
        if (words && threadIdx.x % 32 == 0)
            atomicAdd(&to.sum, sum);
        meet();
        if (me < 4) {
            quarter q = to.q[me];

            if (words && me == 0)
                q.eight = *(volatile u32 *)&to.sum;
            store(&reply->q[me], q);
        }
    }
}

static __device__ __forceinline__ u64 total(u64 value, int exclusive)
{
    for (int by = 16; by > 0; by /= 2) {
        const u64 other = __shfl_xor_sync(ALL, value, by);

        value = exclusive ? value ^ other : value + other;
    }
    return value;
}

static __device__ __forceinline__ void tell(progress *told, progress all, u32 lane)
{
    all.count = total(all.count, 0);
    all.sum = total(all.sum, 0);
    all.mix = total(all.mix, 1);
    if (lane != 0)
        return;
    *(volatile u64 *)&told->count = all.count;
    *(volatile u64 *)&told->sum = all.sum;
    *(volatile u64 *)&told->mix = all.mix;
    asm volatile("st.release.sys.b32 [%0], %1;" : : "l"(&told->first), "r"(all.first) : "memory");
}

/* What a warp of bare_rate has done: of its chunk, and in all. */
struct work {
    u32 base, done, fresh;
    progress own;
};

/* Does what is there of the chunk that was read; whether that is all of it. */
static __device__ __forceinline__ int do_chunk(work *w, quarter q, line *to, u32 mask, u32 answers)
{
    const u32 lane = threadIdx.x % 32, quad = lane % 4, number = w->base + lane / 4;
    u32 ready = __ballot_sync(ALL, q.stamp == number + 1);

    ready &= ready >> 1;
    ready &= ready >> 2;
    ready &= QUADS & ~w->done; /* all four lanes, and not done yet */
    if (ready >> (lane & 28) & 1) {
        if (answers)
            store(&to[number & mask].q[quad], q);
        w->own.count += quad == 0;
        w->own.sum += quad == 0 ? q.eight : 0;
        w->own.mix ^= quad == 3 ? q.eight : 0;
    }
    w->done |= ready;
    w->fresh += ready != 0;
    return w->done == QUADS;
}

extern "C" __global__ void __launch_bounds__(1024)
    bare_rate(line *requests, line *replies, progress *told, u32 mask, u32 rings, u32 answers)
{
    const u32 lane = threadIdx.x % 32;
    const u32 warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    const u32 stride = gridDim.x * (blockDim.x / 32) / rings * CHUNK;
    const line *const from = requests + (u64)(warp % rings) * (mask + 1);
    line *const to = replies + (u64)(warp % rings) * (mask + 1);
    work w = {warp / rings * CHUNK, 0, 0, {0, 0, 0, 0}};

    for (;;) {
        const u32 had = w.fresh;
        quarter q[AT_ONCE];

        for (u32 i = 0; i < AT_ONCE; i++)
            q[i] = load(&from[(w.base + i * stride + lane / 4) & mask].q[lane % 4]);
        if (__any_sync(ALL, q[0].stamp == QUIT))
            return;
        for (u32 i = 0; i < AT_ONCE; i++) {
            if (!do_chunk(&w, q[i], to, mask, answers))
                break;
            w.base += stride;
            w.done = 0;
        }
        if (!answers && w.fresh && (w.fresh == had || w.fresh >= OFTEN)) {
            w.own.first = w.base + (__ffs(QUADS & ~w.done) - 1) / 4;
            tell(&told[warp], w.own, lane);
            w.fresh = 0;
        }
    }
}
