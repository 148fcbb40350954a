/* SPDX-License-Identifier: Apache-2.0
 *
 * abi: words and assertions for headers that hosts and devices share.
 *
 * Compiles as C11, C++17, CUDA C (nvcc and NVRTC) and OpenCL C 1.2, so it includes nothing. A
 * program for a device is text: that of this header comes first, then that of the header that
 * needs it, which includes this one only when it is not there yet.
 *
 * Threads   nothing here is data.
 * Owns      nothing.
 */
#ifndef GYRE_ABI_H
#define GYRE_ABI_H

#if defined(__OPENCL_VERSION__)
typedef uchar gyre_abi_u8;
typedef ushort gyre_abi_u16;
typedef uint gyre_abi_u32;
typedef ulong gyre_abi_u64;
typedef char gyre_abi_i8;
typedef long gyre_abi_i64;
#else
typedef unsigned char gyre_abi_u8;
typedef unsigned short gyre_abi_u16;
typedef unsigned int gyre_abi_u32;
typedef signed char gyre_abi_i8;
#if defined(__UINT64_TYPE__) /* what stdint.h calls uint64_t */
typedef __UINT64_TYPE__ gyre_abi_u64;
typedef __INT64_TYPE__ gyre_abi_i64;
#else
typedef unsigned long long gyre_abi_u64;
typedef long long gyre_abi_i64;
#endif
#endif
#if defined(__OPENCL_VERSION__) /* where the address space would have to be named */
typedef ulong gyre_abi_address;
#else
typedef void *gyre_abi_address;
#endif
typedef short gyre_abi_i16;
typedef int gyre_abi_i32;
typedef float gyre_abi_f32;
typedef char gyre_abi_char;
#if !defined(__OPENCL_VERSION__) || defined(cl_khr_fp64)
typedef double gyre_abi_f64;
#else
typedef ulong gyre_abi_f64; /* its bits */
#endif

/* NVRTC has neither _Static_assert nor offsetof: an array of -1 chars, and its own operator. */
#define GYRE_ABI_ASSERT(name, holds) typedef char gyre_abi_##name##_[(holds) ? 1 : -1]
#if defined(__CUDACC_RTC__)
#define GYRE_ABI_OFFSET(type, field) __INTADDR__(&((type *)0)->field)
#else
#define GYRE_ABI_OFFSET(type, field) __builtin_offsetof(type, field)
#endif

GYRE_ABI_ASSERT(u8_size, sizeof(gyre_abi_u8) == 1);
GYRE_ABI_ASSERT(u16_size, sizeof(gyre_abi_u16) == 2);
GYRE_ABI_ASSERT(u32_size, sizeof(gyre_abi_u32) == 4);
GYRE_ABI_ASSERT(u64_size, sizeof(gyre_abi_u64) == 8);
GYRE_ABI_ASSERT(address_size, sizeof(gyre_abi_address) == 8);

#endif
