/* SPDX-License-Identifier: Apache-2.0
 *
 * mailbox_words: how a word of a mailbox is read and written: whole, alone or after everything that
 * was done before.
 *
 * Compiles as C11, C++17, CUDA C (nvcc and NVRTC) and OpenCL C 1.2.
 *
 * Threads   one writer of a word; any number of readers. Whoever releases or acquires names the
 *           edge.
 * Owns      nothing.
 * Not here  which words there are (actor/mailbox_abi.h, actor/annex_abi.h).
 */
#ifndef GYRE_ACTOR_MAILBOX_WORDS_H
#define GYRE_ACTOR_MAILBOX_WORDS_H

#ifndef GYRE_ACTOR_ABI_H
#include "gyre/actor_abi.h"
#endif
#ifndef GYRE_FLOW_RING_ABI_H
#include "flow/ring_abi.h"
#endif

/* One word of a seat, whole. Relaxed: a count says nothing about other words, except orders. */
GYRE_RING_INLINE gyre_abi_u32 gyre_mailbox_load(const GYRE_RING_SHARED gyre_abi_u32 *from)
{
#if defined(__OPENCL_VERSION__)
    return *(const volatile GYRE_RING_SHARED gyre_abi_u32 *)from;
#elif defined(__CUDA_ARCH__)
    gyre_abi_u32 word;

    asm volatile("ld.relaxed.sys.b32 %0, [%1];" : "=r"(word) : "l"(from) : "memory");
    return word;
#else
    return __atomic_load_n(from, __ATOMIC_RELAXED);
#endif
}

GYRE_RING_INLINE void gyre_mailbox_store(GYRE_RING_SHARED gyre_abi_u32 *to, gyre_abi_u32 word)
{
#if defined(__OPENCL_VERSION__)
    *(volatile GYRE_RING_SHARED gyre_abi_u32 *)to = word;
#elif defined(__CUDA_ARCH__)
    asm volatile("st.relaxed.sys.b32 [%0], %1;" : : "l"(to), "r"(word) : "memory");
#else
    __atomic_store_n(to, word, __ATOMIC_RELAXED);
#endif
}

/* Likewise of 64 bits. */
GYRE_RING_INLINE gyre_abi_u64 gyre_mailbox_load64(const GYRE_RING_SHARED gyre_abi_u64 *from)
{
    return gyre_ring_load_word((const GYRE_RING_SHARED gyre_ring_u64 *)from);
}

GYRE_RING_INLINE void gyre_mailbox_store64(GYRE_RING_SHARED gyre_abi_u64 *to, gyre_abi_u64 word)
{
    gyre_ring_store_word((GYRE_RING_SHARED gyre_ring_u64 *)to, word);
}

/* `active` and, above it, `should_terminate`: together, because they mean something together. */
GYRE_RING_INLINE gyre_abi_u64
gyre_mailbox_load_order(const GYRE_RING_SHARED gyre_control_host *host)
{
    return gyre_mailbox_load64(
        (const GYRE_RING_SHARED gyre_abi_u64 *)(const GYRE_RING_SHARED void *)host);
}

GYRE_RING_INLINE void gyre_mailbox_store_order(GYRE_RING_SHARED gyre_control_host *host,
                                               gyre_abi_u32 active, gyre_abi_u32 should_terminate)
{
    gyre_mailbox_store64((GYRE_RING_SHARED gyre_abi_u64 *)(GYRE_RING_SHARED void *)host,
                         (gyre_abi_u64)should_terminate << 32 | active);
}

/* The same after everything before, for counts and orders that say that something is done. */
GYRE_RING_INLINE gyre_abi_u32 gyre_mailbox_acquire(const GYRE_RING_SHARED gyre_abi_u32 *from)
{
#if defined(__OPENCL_VERSION__)
    const gyre_abi_u32 word = gyre_mailbox_load(from);

    mem_fence(CLK_GLOBAL_MEM_FENCE);
    return word;
#elif defined(__CUDA_ARCH__)
    gyre_abi_u32 word;

    asm volatile("ld.acquire.sys.b32 %0, [%1];" : "=r"(word) : "l"(from) : "memory");
    return word;
#else
    return __atomic_load_n(from, __ATOMIC_ACQUIRE);
#endif
}

GYRE_RING_INLINE void gyre_mailbox_release(GYRE_RING_SHARED gyre_abi_u32 *to, gyre_abi_u32 word)
{
#if defined(__OPENCL_VERSION__)
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    gyre_mailbox_store(to, word);
#elif defined(__CUDA_ARCH__)
    asm volatile("st.release.sys.b32 [%0], %1;" : : "l"(to), "r"(word) : "memory");
#else
    __atomic_store_n(to, word, __ATOMIC_RELEASE);
#endif
}

#endif
