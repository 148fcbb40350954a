/* SPDX-License-Identifier: Apache-2.0
 *
 * self: who handles a message, and what it can call, in each of the languages of behaviours.
 *
 * gyre/behaviour.h includes this; a behaviour includes that. Atomic operations are on words of the
 * state or of a payload, and order nothing else.
 *
 * Compiles as C11, C++17, CUDA C (nvcc and NVRTC) and OpenCL C 1.2.
 *
 * Threads   each lane has a gyre_self of its own.
 * Owns      nothing.
 * Not here  messages, answers and prints (gyre/behaviour.h).
 */
#ifndef GYRE_SELF_H
#define GYRE_SELF_H

#ifndef GYRE_ACTOR_ABI_H
#include "gyre/actor_abi.h"
#endif

/* Where pointers point to, and what a function of a behaviour's own begins with. */
#if defined(__OPENCL_VERSION__)
#define GYRE_GLOBAL __global
#define GYRE_LOCAL __local
#define GYRE_OWN __private
#define GYRE_LITERAL __constant
#define GYRE_FUNCTION static inline
#elif defined(GYRE_BEHAVIOUR_CUDA) /* said by who compiles it for CUDA */
#define GYRE_GLOBAL
#define GYRE_LOCAL
#define GYRE_OWN
#define GYRE_LITERAL
#define GYRE_FUNCTION static __device__ __forceinline__
#else
#define GYRE_HOST 1
#define GYRE_GLOBAL
#define GYRE_LOCAL
#define GYRE_OWN
#define GYRE_LITERAL
#define GYRE_FUNCTION static inline __attribute__((unused))
#endif

/* Who handles the message. The lanes of a message have one each. */
typedef struct gyre_self {
    gyre_abi_u32 lane, lanes; /* this one, below how many */
    gyre_abi_u32 seat, seats; /* the block of the actor, below how many */
    gyre_abi_u32 answered;    /* by GYRE_ANSWER */
    gyre_abi_u32 error;       /* by gyre_self_fail */
    gyre_brief answer;
    GYRE_LOCAL void *shared; /* launch option shared_bytes of the block's own, at 16; any content */
    GYRE_OWN void *runtime;  /* nothing that a behaviour could use */
} gyre_self;

/* Says that the message failed, with a GYRE_ACTOR_... or a code of the behaviour's own. A call gets
 * that instead of the answer. By lane 0; what others say is not heard. */
GYRE_FUNCTION void gyre_self_fail(GYRE_OWN gyre_self *self, gyre_abi_u32 error)
{
    self->error = error;
}

#if defined(GYRE_HOST)

/* The lanes of this message wait for each other, and see what each has written. All of them reach
 * it. One lane has nobody to wait for. */
GYRE_FUNCTION void gyre_self_barrier(gyre_self *self)
{
    (void)self;
}

/* The bits of a float. */
GYRE_FUNCTION gyre_abi_u32 gyre_f32_bits(gyre_abi_f32 value)
{
    gyre_abi_u32 bits;

    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A word that somebody else may be writing, also the host. Orders nothing else. */
GYRE_FUNCTION gyre_abi_u32 gyre_atomic_load(const gyre_abi_u32 *at)
{
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

/* Adds to a word of the state or of a payload; what it was before. Orders nothing else. */
GYRE_FUNCTION gyre_abi_u32 gyre_atomic_add(gyre_abi_u32 *at, gyre_abi_u32 value)
{
    return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}

/* For seats of one actor that wait for each other. Adds after everything that this lane has done,
 * and that others of its message did before a barrier; who loads the sum by the second sees all
 * that. The host sees it with the answer of a message that refers to it. */
GYRE_FUNCTION void gyre_atomic_add_release(gyre_abi_u32 *at, gyre_abi_u32 value)
{
    (void)__atomic_fetch_add(at, value, __ATOMIC_RELEASE);
}

GYRE_FUNCTION gyre_abi_u32 gyre_atomic_load_acquire(const gyre_abi_u32 *at)
{
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

/* Puts `desired` there if it is `expected`; what it was before. Orders nothing else. */
GYRE_FUNCTION gyre_abi_u32 gyre_atomic_swap(gyre_abi_u32 *at, gyre_abi_u32 expected,
                                            gyre_abi_u32 desired)
{
    __atomic_compare_exchange_n(at, &expected, desired, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}

/* Puts `value` there; what it was before. Orders nothing else. */
GYRE_FUNCTION gyre_abi_u32 gyre_atomic_exchange(gyre_abi_u32 *at, gyre_abi_u32 value)
{
    return __atomic_exchange_n(at, value, __ATOMIC_RELAXED);
}

#elif defined(GYRE_BEHAVIOUR_CUDA)

GYRE_FUNCTION void gyre_self_barrier(gyre_self *self)
{
    if (self->lanes == 4)
        __syncwarp(0xfu << (threadIdx.x & 28u));
    else if (self->lanes == 32)
        __syncwarp();
    else /* barrier 0 would wait for the warps that read the mailbox */
        asm volatile("bar.sync 1, %0;" : : "r"(self->lanes) : "memory");
}

GYRE_FUNCTION gyre_abi_u64 gyre_self_now(gyre_self *self)
{
    gyre_abi_u64 now;

    (void)self;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

GYRE_FUNCTION gyre_abi_u32 gyre_f32_bits(gyre_abi_f32 value)
{
    return __float_as_uint(value);
}

GYRE_FUNCTION gyre_abi_u32 gyre_atomic_load(const gyre_abi_u32 *at)
{
    return *(const volatile gyre_abi_u32 *)at;
}

GYRE_FUNCTION gyre_abi_u32 gyre_atomic_add(gyre_abi_u32 *at, gyre_abi_u32 value)
{
    return atomicAdd(at, value);
}

GYRE_FUNCTION void gyre_atomic_add_release(gyre_abi_u32 *at, gyre_abi_u32 value)
{
    asm volatile("red.release.gpu.add.u32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
}

GYRE_FUNCTION gyre_abi_u32 gyre_atomic_load_acquire(const gyre_abi_u32 *at)
{
    gyre_abi_u32 value;

    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

GYRE_FUNCTION gyre_abi_u32 gyre_atomic_swap(gyre_abi_u32 *at, gyre_abi_u32 expected,
                                            gyre_abi_u32 desired)
{
    return atomicCAS(at, expected, desired);
}

GYRE_FUNCTION gyre_abi_u32 gyre_atomic_exchange(gyre_abi_u32 *at, gyre_abi_u32 value)
{
    return atomicExch(at, value);
}

#else

GYRE_FUNCTION void gyre_self_barrier(GYRE_OWN gyre_self *self)
{
    (void)self;
}

GYRE_FUNCTION gyre_abi_u32 gyre_f32_bits(gyre_abi_f32 value)
{
    return as_uint(value);
}

GYRE_FUNCTION gyre_abi_u32 gyre_atomic_load(const GYRE_GLOBAL gyre_abi_u32 *at)
{
    return *(const volatile GYRE_GLOBAL gyre_abi_u32 *)at;
}

GYRE_FUNCTION gyre_abi_u32 gyre_atomic_add(GYRE_GLOBAL gyre_abi_u32 *at, gyre_abi_u32 value)
{
    return atomic_add((volatile GYRE_GLOBAL gyre_abi_u32 *)at, value);
}

GYRE_FUNCTION void gyre_atomic_add_release(GYRE_GLOBAL gyre_abi_u32 *at, gyre_abi_u32 value)
{
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    (void)atomic_add((volatile GYRE_GLOBAL gyre_abi_u32 *)at, value);
}

GYRE_FUNCTION gyre_abi_u32 gyre_atomic_load_acquire(const GYRE_GLOBAL gyre_abi_u32 *at)
{
    const gyre_abi_u32 value = *(const volatile GYRE_GLOBAL gyre_abi_u32 *)at;

    mem_fence(CLK_GLOBAL_MEM_FENCE);
    return value;
}

GYRE_FUNCTION gyre_abi_u32 gyre_atomic_swap(GYRE_GLOBAL gyre_abi_u32 *at, gyre_abi_u32 expected,
                                            gyre_abi_u32 desired)
{
    return atomic_cmpxchg((volatile GYRE_GLOBAL gyre_abi_u32 *)at, expected, desired);
}

GYRE_FUNCTION gyre_abi_u32 gyre_atomic_exchange(GYRE_GLOBAL gyre_abi_u32 *at, gyre_abi_u32 value)
{
    return atomic_xchg((volatile GYRE_GLOBAL gyre_abi_u32 *)at, value);
}

#endif

#endif
