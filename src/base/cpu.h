/* SPDX-License-Identifier: Apache-2.0
 *
 * cpu: from the words a processor answers with to feature bits and names. See cpu.c.
 *
 * Both architectures are decoded on both, so that the rules are tested wherever the tests run.
 * Pure functions: any thread, no blocking.
 */
#ifndef GYRE_BASE_CPU_H
#define GYRE_BASE_CPU_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/cpu.h"

/* Registers of CPUID, by leaf (and subleaf). */
typedef enum gyre_cpuid_word {
    GYRE_CPUID_1_ECX,
    GYRE_CPUID_7_EBX,
    GYRE_CPUID_7_ECX,
    GYRE_CPUID_7_EDX,
    GYRE_CPUID_7_1_EAX,
    GYRE_CPUID_80000001_EDX,
    GYRE_CPUID_80000007_EDX,
    GYRE_CPUID_WORD_COUNT
} gyre_cpuid_word;

#define GYRE_CPUID_1_ECX_OSXSAVE (UINT32_C(1) << 27) /* XGETBV may be executed */

/* Features of an x86-64 with these registers whose operating system saves the state components in
 * `xcr0` (0 without OSXSAVE). */
uint64_t gyre_cpu_decode_x86(const uint32_t word[GYRE_CPUID_WORD_COUNT], uint64_t xcr0);

/* Family, model and stepping from leaf 1's EAX. */
void gyre_cpu_decode_signature(uint32_t eax, gyre_cpu_info *info);

/* What a hypervisor that signs with these 12 bytes is called; `out` holds at least 16. */
void gyre_cpu_decode_hypervisor(const char signature[12], char *out, size_t out_size);

/* Features of an aarch64 whose kernel says so in AT_HWCAP and AT_HWCAP2. */
uint64_t gyre_cpu_decode_aarch64(uint64_t hwcap, uint64_t hwcap2);

/* Vendor, family, model and stepping from MIDR_EL1. */
void gyre_cpu_decode_midr(uint64_t midr, gyre_cpu_info *info);

#endif
