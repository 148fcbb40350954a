/* SPDX-License-Identifier: Apache-2.0
 *
 * cpu: asks the processor what it can do, once, and turns the answer into feature bits.
 *
 * x86-64 answers by CPUID and XGETBV, in user mode and whatever the kernel knows; a CPUID traps
 * under a hypervisor (tens of microseconds), hence the cache. aarch64 is described by the kernel,
 * in the auxiliary vector. The bit positions below are the architectures', so no header of a newer
 * libc or kernel is needed.
 *
 * Threads   the mask is one word that carries its own "known" bit; the description is written once
 *           under pthread_once.
 * Owns      both, static.
 * Not here  choosing kernels by feature (the modules that have kernels).
 */
#include "base/cpu.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#else
#error "Gyre runs on x86-64 and aarch64"
#endif

#define BIT(n) (UINT64_C(1) << (n))
#define KNOWN BIT(63) /* in the cached mask: the processor was asked */

_Static_assert(GYRE_CPU_FEATURE_COUNT <= 63, "a feature would collide with KNOWN");

static const char *const names[] = {
#define ROW(id, name) [GYRE_CPU_##id] = (name),
    GYRE_CPU_FEATURES(ROW)
#undef ROW
};

/* State components in XCR0 that an instruction's registers live in. */
#define XCR0_AVX (BIT(1) | BIT(2))
#define XCR0_AVX512 (XCR0_AVX | BIT(5) | BIT(6) | BIT(7))
#define XCR0_AMX (BIT(17) | BIT(18))

static const struct x86_row {
    gyre_cpu_feature feature;
    gyre_cpuid_word word;
    uint32_t bit;
    uint64_t state; /* needed in XCR0 */
} x86_rows[] = {
    {GYRE_CPU_PCLMULQDQ, GYRE_CPUID_1_ECX, 1, 0},
    {GYRE_CPU_FMA, GYRE_CPUID_1_ECX, 12, XCR0_AVX},
    {GYRE_CPU_SSE4_2, GYRE_CPUID_1_ECX, 20, 0},
    {GYRE_CPU_POPCNT, GYRE_CPUID_1_ECX, 23, 0},
    {GYRE_CPU_AES, GYRE_CPUID_1_ECX, 25, 0},
    {GYRE_CPU_AVX, GYRE_CPUID_1_ECX, 28, XCR0_AVX},
    {GYRE_CPU_F16C, GYRE_CPUID_1_ECX, 29, XCR0_AVX},
    {GYRE_CPU_HYPERVISOR, GYRE_CPUID_1_ECX, 31, 0},
    {GYRE_CPU_BMI1, GYRE_CPUID_7_EBX, 3, 0},
    {GYRE_CPU_AVX2, GYRE_CPUID_7_EBX, 5, XCR0_AVX},
    {GYRE_CPU_BMI2, GYRE_CPUID_7_EBX, 8, 0},
    {GYRE_CPU_ERMS, GYRE_CPUID_7_EBX, 9, 0},
    {GYRE_CPU_RTM, GYRE_CPUID_7_EBX, 11, 0},
    {GYRE_CPU_AVX512F, GYRE_CPUID_7_EBX, 16, XCR0_AVX512},
    {GYRE_CPU_AVX512DQ, GYRE_CPUID_7_EBX, 17, XCR0_AVX512},
    {GYRE_CPU_AVX512IFMA, GYRE_CPUID_7_EBX, 21, XCR0_AVX512},
    {GYRE_CPU_CLFLUSHOPT, GYRE_CPUID_7_EBX, 23, 0},
    {GYRE_CPU_CLWB, GYRE_CPUID_7_EBX, 24, 0},
    {GYRE_CPU_AVX512CD, GYRE_CPUID_7_EBX, 28, XCR0_AVX512},
    {GYRE_CPU_SHA_NI, GYRE_CPUID_7_EBX, 29, 0},
    {GYRE_CPU_AVX512BW, GYRE_CPUID_7_EBX, 30, XCR0_AVX512},
    {GYRE_CPU_AVX512VL, GYRE_CPUID_7_EBX, 31, XCR0_AVX512},
    {GYRE_CPU_AVX512VBMI, GYRE_CPUID_7_ECX, 1, XCR0_AVX512},
    {GYRE_CPU_WAITPKG, GYRE_CPUID_7_ECX, 5, 0},
    {GYRE_CPU_GFNI, GYRE_CPUID_7_ECX, 8, 0}, /* has a form on SSE registers */
    {GYRE_CPU_VAES, GYRE_CPUID_7_ECX, 9, XCR0_AVX},
    {GYRE_CPU_VPCLMULQDQ, GYRE_CPUID_7_ECX, 10, XCR0_AVX},
    {GYRE_CPU_AVX512_VNNI, GYRE_CPUID_7_ECX, 11, XCR0_AVX512},
    {GYRE_CPU_RDPID, GYRE_CPUID_7_ECX, 22, 0},
    {GYRE_CPU_MOVDIRI, GYRE_CPUID_7_ECX, 27, 0},
    {GYRE_CPU_MOVDIR64B, GYRE_CPUID_7_ECX, 28, 0},
    {GYRE_CPU_FSRM, GYRE_CPUID_7_EDX, 4, 0},
    {GYRE_CPU_AMX_BF16, GYRE_CPUID_7_EDX, 22, XCR0_AMX},
    {GYRE_CPU_AVX512_FP16, GYRE_CPUID_7_EDX, 23, XCR0_AVX512},
    {GYRE_CPU_AMX_TILE, GYRE_CPUID_7_EDX, 24, XCR0_AMX},
    {GYRE_CPU_AMX_INT8, GYRE_CPUID_7_EDX, 25, XCR0_AMX},
    {GYRE_CPU_AVX_VNNI, GYRE_CPUID_7_1_EAX, 4, XCR0_AVX},
    {GYRE_CPU_AVX512_BF16, GYRE_CPUID_7_1_EAX, 5, XCR0_AVX512},
    {GYRE_CPU_RDTSCP, GYRE_CPUID_80000001_EDX, 27, 0},
    {GYRE_CPU_INVARIANT_TSC, GYRE_CPUID_80000007_EDX, 8, 0},
};

#define RTM_ALWAYS_ABORT BIT(11) /* in leaf 7's EDX: transactions were disabled by microcode */

static const struct aarch64_row {
    gyre_cpu_feature feature;
    uint8_t hwcap; /* 1: AT_HWCAP, 2: AT_HWCAP2 */
    uint8_t bit;
} aarch64_rows[] = {
    {GYRE_CPU_ASIMD, 1, 1},  {GYRE_CPU_AES, 1, 3},      {GYRE_CPU_PMULL, 1, 4},
    {GYRE_CPU_SHA2, 1, 6},   {GYRE_CPU_CRC32, 1, 7},    {GYRE_CPU_ATOMICS, 1, 8},
    {GYRE_CPU_FPHP, 1, 9},   {GYRE_CPU_ASIMDHP, 1, 10}, {GYRE_CPU_LRCPC, 1, 15},
    {GYRE_CPU_DCPOP, 1, 16}, {GYRE_CPU_ASIMDDP, 1, 20}, {GYRE_CPU_SVE, 1, 22},
    {GYRE_CPU_USCAT, 1, 25}, {GYRE_CPU_ILRCPC, 1, 26},  {GYRE_CPU_SVE2, 2, 1},
    {GYRE_CPU_I8MM, 2, 13},  {GYRE_CPU_BF16, 2, 14},    {GYRE_CPU_WFXT, 2, 31},
};

uint64_t gyre_cpu_decode_x86(const uint32_t word[GYRE_CPUID_WORD_COUNT], uint64_t xcr0)
{
    uint64_t features = 0;

    for (size_t i = 0; i < sizeof x86_rows / sizeof x86_rows[0]; i++) {
        const struct x86_row *row = &x86_rows[i];

        if ((word[row->word] & BIT(row->bit)) && (xcr0 & row->state) == row->state)
            features |= BIT(row->feature);
    }
    if (word[GYRE_CPUID_7_EDX] & RTM_ALWAYS_ABORT)
        features &= ~BIT(GYRE_CPU_RTM);
    return features;
}

void gyre_cpu_decode_signature(uint32_t eax, gyre_cpu_info *info)
{
    const uint32_t family = eax >> 8 & 0xf;

    /* The extended fields count for these families only; elsewhere they are reserved. */
    info->family = family == 0xf ? family + (eax >> 20 & 0xff) : family;
    info->model = eax >> 4 & 0xf;
    if (family == 0x6 || family == 0xf)
        info->model |= (eax >> 16 & 0xf) << 4;
    info->stepping = eax & 0xf;
}

void gyre_cpu_decode_hypervisor(const char signature[12], char *out, size_t out_size)
{
    static const struct {
        char signature[13];
        const char *name;
    } known[] = {
        {"KVMKVMKVM\0\0\0", "KVM"}, {"Microsoft Hv", "Hyper-V"},   {"VMwareVMware", "VMware"},
        {"XenVMMXenVMM", "Xen"},    {"TCGTCGTCGTCG", "QEMU"},      {"VBoxVBoxVBox", "VirtualBox"},
        {"bhyve bhyve ", "bhyve"},  {" lrpepyh  vr", "Parallels"}, {"ACRNACRNACRN", "ACRN"},
    };
    size_t length = 0;

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (memcmp(signature, known[i].signature, 12) == 0) {
            snprintf(out, out_size, "%s", known[i].name);
            return;
        }
    }
    while (length < 12 && signature[length] >= ' ' && signature[length] <= '~')
        length++;
    snprintf(out, out_size, "%.*s", (int)length, signature);
}

uint64_t gyre_cpu_decode_aarch64(uint64_t hwcap, uint64_t hwcap2)
{
    uint64_t features = 0;

    for (size_t i = 0; i < sizeof aarch64_rows / sizeof aarch64_rows[0]; i++) {
        const struct aarch64_row *row = &aarch64_rows[i];

        if ((row->hwcap == 1 ? hwcap : hwcap2) & BIT(row->bit))
            features |= BIT(row->feature);
    }
    return features;
}

void gyre_cpu_decode_midr(uint64_t midr, gyre_cpu_info *info)
{
    static const struct {
        uint32_t code;
        const char *name;
    } known[] = {
        {0x41, "ARM"},       {0x42, "Broadcom"},  {0x43, "Cavium"}, {0x46, "Fujitsu"},
        {0x48, "HiSilicon"}, {0x4e, "NVIDIA"},    {0x50, "APM"},    {0x51, "Qualcomm"},
        {0x61, "Apple"},     {0x6d, "Microsoft"}, {0xc0, "Ampere"},
    };

    info->family = midr >> 24 & 0xff;
    info->model = midr >> 4 & 0xfff;
    info->stepping = (uint32_t)(midr >> 20 & 0xf) << 4 | (midr & 0xf);
    snprintf(info->vendor, sizeof info->vendor, "0x%02x", (unsigned)info->family);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].code == info->family)
            snprintf(info->vendor, sizeof info->vendor, "%s", known[i].name);
    }
}

#if defined(__x86_64__)

static uint64_t read_xcr0(void)
{
    uint32_t low, high;

    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static uint64_t ask_features(void)
{
    uint32_t word[GYRE_CPUID_WORD_COUNT] = {0};
    uint32_t eax, ebx, ecx, edx;
    uint64_t xcr0 = 0;

    /* __get_cpuid_count answers 0 and writes nothing for a leaf the processor does not have. */
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx))
        word[GYRE_CPUID_1_ECX] = ecx;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) {
        const uint32_t last_subleaf = eax;

        word[GYRE_CPUID_7_EBX] = ebx;
        word[GYRE_CPUID_7_ECX] = ecx;
        word[GYRE_CPUID_7_EDX] = edx;
        if (last_subleaf >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx))
            word[GYRE_CPUID_7_1_EAX] = eax;
    }
    if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx))
        word[GYRE_CPUID_80000001_EDX] = edx;
    if (__get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx))
        word[GYRE_CPUID_80000007_EDX] = edx;
    if (word[GYRE_CPUID_1_ECX] & GYRE_CPUID_1_ECX_OSXSAVE)
        xcr0 = read_xcr0();
    return gyre_cpu_decode_x86(word, xcr0);
}

static void ask_names(gyre_cpu_info *info)
{
    uint32_t word[12], eax = 0, ebx = 0, ecx = 0, edx = 0;
    char brand[sizeof word + 1] = "";

    if (__get_cpuid(0, &eax, &ebx, &ecx, &edx)) {
        memcpy(info->vendor, &ebx, 4);
        memcpy(info->vendor + 4, &edx, 4);
        memcpy(info->vendor + 8, &ecx, 4);
    }
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx))
        gyre_cpu_decode_signature(eax, info);
    if ((uint32_t)__get_cpuid_max(0x80000000, NULL) >= 0x80000004) {
        __cpuid(0x80000002, word[0], word[1], word[2], word[3]);
        __cpuid(0x80000003, word[4], word[5], word[6], word[7]);
        __cpuid(0x80000004, word[8], word[9], word[10], word[11]);
        memcpy(brand, word, sizeof word);
        /* Intel right-aligned the string for years. */
        snprintf(info->model_name, sizeof info->model_name, "%s", brand + strspn(brand, " "));
    }
    if (gyre_cpu_has(GYRE_CPU_HYPERVISOR)) {
        /* The hypervisor's leaves lie outside the range that __get_cpuid vouches for. */
        __cpuid(0x40000000, eax, word[0], word[1], word[2]);
        gyre_cpu_decode_hypervisor((const char *)word, info->hypervisor, sizeof info->hypervisor);
    }
}

#else

#define HWCAP_CPUID_BIT BIT(11) /* the kernel emulates reading the identification registers */

static uint64_t ask_features(void)
{
    return gyre_cpu_decode_aarch64(getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
}

static void ask_names(gyre_cpu_info *info)
{
    uint64_t midr;

    if (!(getauxval(AT_HWCAP) & HWCAP_CPUID_BIT))
        return;
    __asm__("mrs %0, MIDR_EL1" : "=r"(midr));
    gyre_cpu_decode_midr(midr, info);
}

#endif

uint64_t gyre_cpu_features(void)
{
    static _Atomic uint64_t cached;
    /* relaxed: the word is the whole message, nothing else is published with it */
    uint64_t features = atomic_load_explicit(&cached, memory_order_relaxed);

    if (!(features & KNOWN)) {
        features = ask_features() | KNOWN;
        /* relaxed: likewise; threads that ask at the same time store the same answer */
        atomic_store_explicit(&cached, features, memory_order_relaxed);
    }
    return features & ~KNOWN;
}

bool gyre_cpu_has(gyre_cpu_feature feature)
{
    return (size_t)feature < GYRE_CPU_FEATURE_COUNT && (gyre_cpu_features() & BIT(feature)) != 0;
}

const char *gyre_cpu_feature_name(gyre_cpu_feature feature)
{
    return (size_t)feature < GYRE_CPU_FEATURE_COUNT ? names[feature] : "unknown";
}

static gyre_cpu_info description; /* written once, by describe */

static void describe(void)
{
    ask_names(&description);
    /* A hypervisor may have written them. */
    gyre_text_plain(description.vendor);
    gyre_text_plain(description.model_name);
}

const gyre_cpu_info *gyre_cpu_describe(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, describe);
    return &description;
}
