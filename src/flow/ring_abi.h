/* SPDX-License-Identifier: Apache-2.0
 *
 * ring_abi: the slot of a ring that host and device share, and how to read it while it is written.
 *
 * Between a host and a device nothing cheap orders two writes, but some writes arrive whole. So
 * each piece that arrives whole carries a stamp, which says what message it belongs to, and a
 * reader knows the stamp it waits for: unless every piece carries it, the message is not there yet.
 * No piece needs to be ordered with another.
 *
 * A message is 48 bytes, in one of two forms:
 *   quarters  a slot of 64 bytes: 4 x {8 bytes, 4 bytes, stamp}, each moved by one 16-byte access;
 *   words     where there is no such access: 12 x {4 bytes, stamp}, each moved by one 8-byte
 *             access. A line carries 32 bytes of a message then, so the slot has two, 128 bytes.
 * GYRE_RING_HAS_QUARTERS says what this compiler can make, flow/ring_litmus.h what the host keeps.
 *
 * Compiles as C11, C++17, CUDA C (nvcc and NVRTC) and OpenCL C 1.2, so it includes nothing and has
 * types and assertions of its own. Every pointer names its address space: SHARED is the ring's, OWN
 * the thread's.
 *
 * Threads   one writer of a slot, any number of readers. A reader that comes too late sees other
 *           stamps, never parts of two messages.
 * Owns      nothing.
 * Not here  who may write when (sequences and credits of a mailbox), the order of what a message
 *           only points to.
 */
#ifndef GYRE_FLOW_RING_ABI_H
#define GYRE_FLOW_RING_ABI_H

#if defined(__OPENCL_VERSION__)
typedef uint gyre_ring_u32;
typedef ulong gyre_ring_u64;
#define GYRE_RING_INLINE static inline
#define GYRE_RING_SHARED __global
#define GYRE_RING_OWN __private
#else
typedef unsigned int gyre_ring_u32;
typedef unsigned long long gyre_ring_u64;
#if defined(__CUDACC__)
#define GYRE_RING_INLINE static __host__ __device__ __forceinline__
#else
#define GYRE_RING_INLINE static inline
#endif
#define GYRE_RING_SHARED
#define GYRE_RING_OWN
#endif

#if defined(__OPENCL_VERSION__) /* a kernel for the host's own processor is as good as the host */
#if defined(__x86_64__)
#define GYRE_RING_HAS_QUARTERS 1
#else
#define GYRE_RING_HAS_QUARTERS 0
#endif
#elif defined(__CUDA_ARCH__) /* 16 bytes: sm_70 and CUDA 12.3 (PTX 8.3) */
#define GYRE_RING_HAS_QUARTERS                                                                     \
    (__CUDA_ARCH__ >= 700 && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1203)
#elif defined(__x86_64__) || defined(__aarch64__)
#define GYRE_RING_HAS_QUARTERS 1
#else
#define GYRE_RING_HAS_QUARTERS 0
#endif

enum { GYRE_RING_NOT_YET = 0, GYRE_RING_READY = 1 };

/* What a message holds, in its reader's own memory: 48 bytes, of which a head of 8 leaves 40 that
 * lie together. Quarter q carries eight[q] and four[q], so that no field straddles two. */
typedef struct gyre_ring_payload {
    gyre_ring_u64 eight[4];
    gyre_ring_u32 four[4];
} gyre_ring_payload;

typedef struct __attribute__((aligned(16))) gyre_ring_quarter {
    gyre_ring_u64 eight;
    gyre_ring_u32 four;
    gyre_ring_u32 stamp;
} gyre_ring_quarter;

typedef struct __attribute__((aligned(64))) gyre_ring_slot {
    gyre_ring_quarter quarter[4];
} gyre_ring_slot;

enum { GYRE_RING_WORDS = 12 };

/* The same in words, each with the stamp in its upper half and four bytes of the payload in its
 * lower: the first four in word 0, and so on. The last four words carry nothing. */
typedef struct __attribute__((aligned(64))) gyre_ring_wide_slot {
    gyre_ring_u64 word[16];
} gyre_ring_wide_slot;

/* NVRTC has neither _Static_assert nor offsetof: an array of -1 chars, and its own operator. */
#define GYRE_RING_ASSERT_(name, holds) typedef char gyre_ring_##name##_[(holds) ? 1 : -1]
#if defined(__CUDACC_RTC__)
#define GYRE_RING_OFFSET_(type, field) __INTADDR__(&((type *)0)->field)
#else
#define GYRE_RING_OFFSET_(type, field) __builtin_offsetof(type, field)
#endif
#define GYRE_RING_AT_(name, type, field, offset)                                                   \
    GYRE_RING_ASSERT_(name, GYRE_RING_OFFSET_(type, field) == (offset))

GYRE_RING_ASSERT_(u32_size, sizeof(gyre_ring_u32) == 4);
GYRE_RING_ASSERT_(u64_size, sizeof(gyre_ring_u64) == 8);
GYRE_RING_ASSERT_(payload_size, sizeof(gyre_ring_payload) == 48);
GYRE_RING_AT_(payload_eight, gyre_ring_payload, eight, 0);
GYRE_RING_AT_(payload_four, gyre_ring_payload, four, 32);
GYRE_RING_ASSERT_(quarter_size, sizeof(gyre_ring_quarter) == 16);
GYRE_RING_AT_(quarter_eight, gyre_ring_quarter, eight, 0);
GYRE_RING_AT_(quarter_four, gyre_ring_quarter, four, 8);
GYRE_RING_AT_(quarter_stamp, gyre_ring_quarter, stamp, 12);
GYRE_RING_ASSERT_(slot_size, sizeof(gyre_ring_slot) == 64);
GYRE_RING_AT_(slot_0, gyre_ring_slot, quarter[0], 0);
GYRE_RING_AT_(slot_1, gyre_ring_slot, quarter[1], 16);
GYRE_RING_AT_(slot_2, gyre_ring_slot, quarter[2], 32);
GYRE_RING_AT_(slot_3, gyre_ring_slot, quarter[3], 48);
GYRE_RING_ASSERT_(wide_size, sizeof(gyre_ring_wide_slot) == 128);
GYRE_RING_AT_(wide_0, gyre_ring_wide_slot, word[0], 0);
GYRE_RING_AT_(wide_11, gyre_ring_wide_slot, word[GYRE_RING_WORDS - 1], 88);

/* What stamps are mixed with, another for each time that the ring is started. The top bit keeps the
 * stamps of the first lap from being 0, which is what a zeroed slot holds (up to 2^31 slots). The
 * factor is odd: in one slot, whose sequences have the same low bits, stamps of two incarnations
 * are equal only if the ring's size divides their difference. */
GYRE_RING_INLINE gyre_ring_u32 gyre_ring_salt(gyre_ring_u32 incarnation)
{
    return incarnation * 0x9e3779b1u | 0x80000000u;
}

/* Stamps are equal or not; none is less than another. */
GYRE_RING_INLINE gyre_ring_u32 gyre_ring_stamp(gyre_ring_u64 sequence, gyre_ring_u32 salt)
{
    return (gyre_ring_u32)sequence ^ salt;
}

GYRE_RING_INLINE void gyre_ring_pack(const GYRE_RING_OWN gyre_ring_payload *payload,
                                     gyre_ring_u32 stamp, GYRE_RING_OWN gyre_ring_slot *out_slot)
{
    for (int q = 0; q < 4; q++) {
        out_slot->quarter[q].eight = payload->eight[q];
        out_slot->quarter[q].four = payload->four[q];
        out_slot->quarter[q].stamp = stamp;
    }
}

/* GYRE_RING_READY and the payload; or GYRE_RING_NOT_YET, and it is left alone. */
GYRE_RING_INLINE int gyre_ring_unpack(const GYRE_RING_OWN gyre_ring_slot *slot, gyre_ring_u32 stamp,
                                      GYRE_RING_OWN gyre_ring_payload *out_payload)
{
    for (int q = 0; q < 4; q++)
        if (slot->quarter[q].stamp != stamp)
            return GYRE_RING_NOT_YET;
    for (int q = 0; q < 4; q++) {
        out_payload->eight[q] = slot->quarter[q].eight;
        out_payload->four[q] = slot->quarter[q].four;
    }
    return GYRE_RING_READY;
}

GYRE_RING_INLINE void gyre_ring_wide_pack(const GYRE_RING_OWN gyre_ring_payload *payload,
                                          gyre_ring_u32 stamp,
                                          GYRE_RING_OWN gyre_ring_wide_slot *out_slot)
{
    const gyre_ring_u64 upper = (gyre_ring_u64)stamp << 32;

    for (int q = 0; q < 4; q++) {
        out_slot->word[2 * q] = upper | (gyre_ring_u32)payload->eight[q];
        out_slot->word[2 * q + 1] = upper | payload->eight[q] >> 32;
        out_slot->word[8 + q] = upper | payload->four[q];
    }
    for (int i = GYRE_RING_WORDS; i < 16; i++)
        out_slot->word[i] = 0;
}

/* As gyre_ring_unpack. */
GYRE_RING_INLINE int gyre_ring_wide_unpack(const GYRE_RING_OWN gyre_ring_wide_slot *slot,
                                           gyre_ring_u32 stamp,
                                           GYRE_RING_OWN gyre_ring_payload *out_payload)
{
    for (int i = 0; i < GYRE_RING_WORDS; i++)
        if (slot->word[i] >> 32 != stamp)
            return GYRE_RING_NOT_YET;
    for (int q = 0; q < 4; q++) {
        out_payload->eight[q] = slot->word[2 * q + 1] << 32 | (gyre_ring_u32)slot->word[2 * q];
        out_payload->four[q] = (gyre_ring_u32)slot->word[8 + q];
    }
    return GYRE_RING_READY;
}

/* The accesses. All are relaxed: a piece says itself what it belongs to. On the host a whole slot
 * that is read orders what comes after it, and a whole slot that is written what came before it:
 * what a message refers to is there when the message is [ring-slot]. */
GYRE_RING_INLINE gyre_ring_u64 gyre_ring_load_word(const GYRE_RING_SHARED gyre_ring_u64 *from)
{
#if defined(__OPENCL_VERSION__)
    /* 1.2 has no 64-bit atomics, and does not promise that an aligned ulong moves whole */
    return *(const volatile GYRE_RING_SHARED gyre_ring_u64 *)from;
#elif defined(__CUDA_ARCH__)
    gyre_ring_u64 word;

#if __CUDA_ARCH__ >= 700
    asm volatile("ld.relaxed.sys.b64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
#else
    asm volatile("ld.volatile.b64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
#endif
    return word;
#else
    return __atomic_load_n(from, __ATOMIC_RELAXED);
#endif
}

GYRE_RING_INLINE void gyre_ring_store_word(GYRE_RING_SHARED gyre_ring_u64 *to, gyre_ring_u64 word)
{
#if defined(__OPENCL_VERSION__)
    *(volatile GYRE_RING_SHARED gyre_ring_u64 *)to = word;
#elif defined(__CUDA_ARCH__)
#if __CUDA_ARCH__ >= 700
    asm volatile("st.relaxed.sys.b64 [%0], %1;" : : "l"(to), "l"(word) : "memory");
#else
    asm volatile("st.volatile.b64 [%0], %1;" : : "l"(to), "l"(word) : "memory");
#endif
#else
    __atomic_store_n(to, word, __ATOMIC_RELAXED);
#endif
}

/* The whole slot, word by word; GYRE_RING_NOT_YET as from unpack. */
GYRE_RING_INLINE int gyre_ring_wide_read(const GYRE_RING_SHARED gyre_ring_wide_slot *slot,
                                         gyre_ring_u32 stamp,
                                         GYRE_RING_OWN gyre_ring_payload *out_payload)
{
    gyre_ring_wide_slot copy;

    for (int i = 0; i < GYRE_RING_WORDS - 1; i++)
        copy.word[i] = gyre_ring_load_word(&slot->word[i]);
#if defined(__OPENCL_VERSION__) || defined(__CUDA_ARCH__)
    copy.word[GYRE_RING_WORDS - 1] = gyre_ring_load_word(&slot->word[GYRE_RING_WORDS - 1]);
#if defined(__OPENCL_VERSION__)
    read_mem_fence(CLK_GLOBAL_MEM_FENCE); /* before what the message refers to */
#endif
#else
    /* acquire [ring-slot]: pairs with the release in gyre_ring_wide_write */
    copy.word[GYRE_RING_WORDS - 1] =
        __atomic_load_n(&slot->word[GYRE_RING_WORDS - 1], __ATOMIC_ACQUIRE);
#endif
    return gyre_ring_wide_unpack(&copy, stamp, out_payload);
}

GYRE_RING_INLINE void gyre_ring_wide_write(GYRE_RING_SHARED gyre_ring_wide_slot *slot,
                                           gyre_ring_u32 stamp,
                                           const GYRE_RING_OWN gyre_ring_payload *payload)
{
    gyre_ring_wide_slot copy;

    gyre_ring_wide_pack(payload, stamp, &copy);
    for (int i = 0; i < GYRE_RING_WORDS - 1; i++)
        gyre_ring_store_word(&slot->word[i], copy.word[i]);
#if defined(__OPENCL_VERSION__) || defined(__CUDA_ARCH__)
#if defined(__OPENCL_VERSION__)
    write_mem_fence(CLK_GLOBAL_MEM_FENCE); /* after what it refers to */
#endif
    gyre_ring_store_word(&slot->word[GYRE_RING_WORDS - 1], copy.word[GYRE_RING_WORDS - 1]);
#else
    /* release [ring-slot]: pairs with the acquire in gyre_ring_wide_read */
    __atomic_store_n(&slot->word[GYRE_RING_WORDS - 1], copy.word[GYRE_RING_WORDS - 1],
                     __ATOMIC_RELEASE);
#endif
}

#if GYRE_RING_HAS_QUARTERS

/* One access of 16 bytes. x86-64 promises that it is whole where there is AVX, aarch64 where there
 * is LSE2, both in ordinary (write-back) memory; PTX promises it. */
GYRE_RING_INLINE gyre_ring_quarter
gyre_ring_load_quarter(const GYRE_RING_SHARED gyre_ring_quarter *from)
{
    gyre_ring_quarter quarter;
    gyre_ring_u64 low, high;

#if defined(__CUDA_ARCH__)
    asm volatile("{ .reg .b128 q; ld.relaxed.sys.b128 q, [%2]; mov.b128 {%0, %1}, q; }"
                 : "=l"(low), "=l"(high)
                 : "l"(from)
                 : "memory");
#elif defined(__x86_64__)
    __asm__ volatile("movdqa %2, %%xmm0\n\tmovq %%xmm0, %0\n\tpunpckhqdq %%xmm0, %%xmm0\n\t"
                     "movq %%xmm0, %1"
                     : "=r"(low), "=r"(high)
                     : "m"(*from)
                     : "xmm0");
#else
    __asm__ volatile("ldp %0, %1, %2" : "=r"(low), "=r"(high) : "Q"(*from));
#endif
    quarter.eight = low;
    quarter.four = (gyre_ring_u32)high;
    quarter.stamp = (gyre_ring_u32)(high >> 32);
    return quarter;
}

GYRE_RING_INLINE void gyre_ring_store_quarter(GYRE_RING_SHARED gyre_ring_quarter *to,
                                              gyre_ring_quarter quarter)
{
    const gyre_ring_u64 low = quarter.eight,
                        high = (gyre_ring_u64)quarter.stamp << 32 | quarter.four;

#if defined(__CUDA_ARCH__)
    asm volatile("{ .reg .b128 q; mov.b128 q, {%1, %2}; st.relaxed.sys.b128 [%0], q; }"
                 :
                 : "l"(to), "l"(low), "l"(high)
                 : "memory");
#elif defined(__x86_64__)
    __asm__ volatile("movq %1, %%xmm0\n\tmovq %2, %%xmm1\n\tpunpcklqdq %%xmm1, %%xmm0\n\t"
                     "movdqa %%xmm0, %0"
                     : "=m"(*to)
                     : "r"(low), "r"(high)
                     : "xmm0", "xmm1");
#else
    __asm__ volatile("stp %1, %2, %0" : "=Q"(*to) : "r"(low), "r"(high));
#endif
}

/* Orders quarters with what they tell of: x86-64 does by itself, so only the compiler is told. */
GYRE_RING_INLINE void gyre_ring_order(void)
{
#if defined(__x86_64__) && !defined(__CUDA_ARCH__)
    __asm__ volatile("" ::: "memory");
#elif defined(__aarch64__) && !defined(__CUDA_ARCH__)
    __asm__ volatile("dmb osh" ::: "memory"); /* devices too */
#endif
}

/* The whole slot by one thread; GYRE_RING_NOT_YET as from unpack. Lanes of a device may as well
 * take a quarter each. */
GYRE_RING_INLINE int gyre_ring_read(const GYRE_RING_SHARED gyre_ring_slot *slot,
                                    gyre_ring_u32 stamp,
                                    GYRE_RING_OWN gyre_ring_payload *out_payload)
{
    gyre_ring_slot copy;

    for (int q = 0; q < 4; q++) {
        copy.quarter[q] = gyre_ring_load_quarter(&slot->quarter[q]);
        if (copy.quarter[q].stamp != stamp)
            return GYRE_RING_NOT_YET;
    }
    gyre_ring_order();
    return gyre_ring_unpack(&copy, stamp, out_payload);
}

GYRE_RING_INLINE void gyre_ring_write(GYRE_RING_SHARED gyre_ring_slot *slot, gyre_ring_u32 stamp,
                                      const GYRE_RING_OWN gyre_ring_payload *payload)
{
    gyre_ring_slot copy;

    gyre_ring_pack(payload, stamp, &copy);
    gyre_ring_order();
    for (int q = 0; q < 4; q++)
        gyre_ring_store_quarter(&slot->quarter[q], copy.quarter[q]);
}

#endif

#endif
