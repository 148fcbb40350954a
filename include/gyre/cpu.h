/* SPDX-License-Identifier: Apache-2.0
 *
 * cpu: what the processor can do, and what it calls itself.
 *
 * Code is chosen by feature bits; the names are for people who read a report. A feature that needs
 * registers the operating system must save (AVX, AVX-512, AMX) counts only when it saves them.
 * AMX also needs arch_prctl(ARCH_REQ_XCOMP_PERM) in the process, which is the user's affair.
 *
 * Threads   any.
 * Owns      one description, for the process.
 * Not here  how many processors there are and what they share (gyre/topology.h).
 */
#ifndef GYRE_CPU_H
#define GYRE_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/common.h"

GYRE_BEGIN_DECLS

/* Every feature, once: ROW(enumerator, name). The names are those of /proc/cpuinfo, except for
 * invariant_tsc, which Linux calls nonstop_tsc. One list serves both architectures; a processor
 * never has the other's. The order is frozen once released: new rows go last, 63 in all. */
#define GYRE_CPU_FEATURES(ROW)                                                                     \
    ROW(AES, "aes") /* both; the rest as headed */                                                 \
    /* x86-64 */                                                                                   \
    ROW(SSE4_2, "sse4_2")                                                                          \
    ROW(POPCNT, "popcnt")                                                                          \
    ROW(PCLMULQDQ, "pclmulqdq")                                                                    \
    ROW(RDTSCP, "rdtscp")                                                                          \
    ROW(INVARIANT_TSC, "invariant_tsc")                                                            \
    ROW(AVX, "avx")                                                                                \
    ROW(F16C, "f16c")                                                                              \
    ROW(FMA, "fma")                                                                                \
    ROW(BMI1, "bmi1")                                                                              \
    ROW(BMI2, "bmi2")                                                                              \
    ROW(AVX2, "avx2")                                                                              \
    ROW(SHA_NI, "sha_ni")                                                                          \
    ROW(GFNI, "gfni")                                                                              \
    ROW(VAES, "vaes")                                                                              \
    ROW(VPCLMULQDQ, "vpclmulqdq")                                                                  \
    ROW(AVX512F, "avx512f")                                                                        \
    ROW(AVX512DQ, "avx512dq")                                                                      \
    ROW(AVX512BW, "avx512bw")                                                                      \
    ROW(AVX512VL, "avx512vl")                                                                      \
    ROW(AVX512CD, "avx512cd")                                                                      \
    ROW(AVX512IFMA, "avx512ifma")                                                                  \
    ROW(AVX512VBMI, "avx512vbmi")                                                                  \
    ROW(AVX512_VNNI, "avx512_vnni")                                                                \
    ROW(AVX512_BF16, "avx512_bf16")                                                                \
    ROW(AVX512_FP16, "avx512_fp16")                                                                \
    ROW(AVX_VNNI, "avx_vnni")                                                                      \
    ROW(AMX_TILE, "amx_tile")                                                                      \
    ROW(AMX_INT8, "amx_int8")                                                                      \
    ROW(AMX_BF16, "amx_bf16")                                                                      \
    ROW(WAITPKG, "waitpkg")                                                                        \
    ROW(MOVDIR64B, "movdir64b")                                                                    \
    ROW(MOVDIRI, "movdiri")                                                                        \
    ROW(CLFLUSHOPT, "clflushopt")                                                                  \
    ROW(CLWB, "clwb")                                                                              \
    ROW(RDPID, "rdpid")                                                                            \
    ROW(ERMS, "erms")                                                                              \
    ROW(FSRM, "fsrm")                                                                              \
    ROW(RTM, "rtm")                                                                                \
    ROW(HYPERVISOR, "hypervisor")                                                                  \
    /* aarch64 */                                                                                  \
    ROW(ASIMD, "asimd")                                                                            \
    ROW(CRC32, "crc32")                                                                            \
    ROW(PMULL, "pmull")                                                                            \
    ROW(SHA2, "sha2")                                                                              \
    ROW(ATOMICS, "atomics")                                                                        \
    ROW(FPHP, "fphp")                                                                              \
    ROW(ASIMDHP, "asimdhp")                                                                        \
    ROW(ASIMDDP, "asimddp")                                                                        \
    ROW(LRCPC, "lrcpc")                                                                            \
    ROW(ILRCPC, "ilrcpc")                                                                          \
    ROW(USCAT, "uscat")                                                                            \
    ROW(DCPOP, "dcpop")                                                                            \
    ROW(SVE, "sve")                                                                                \
    ROW(SVE2, "sve2")                                                                              \
    ROW(I8MM, "i8mm")                                                                              \
    ROW(BF16, "bf16")                                                                              \
    ROW(WFXT, "wfxt")

typedef enum gyre_cpu_feature {
#define ROW(id, name) GYRE_CPU_##id,
    GYRE_CPU_FEATURES(ROW)
#undef ROW
        GYRE_CPU_FEATURE_COUNT
} gyre_cpu_feature;

/* The processor in its own words. Fields are only ever added at the end. */
typedef struct gyre_cpu_info {
    char vendor[16];     /* "GenuineIntel"; aarch64: the implementer, "ARM", or "0x99" if unknown */
    char model_name[64]; /* the brand string; "" where there is none, as on aarch64 */
    char hypervisor[16]; /* "KVM", "Hyper-V", else as it signs itself; "" when none is seen */
    uint32_t family;     /* aarch64: the implementer's number */
    uint32_t model;      /* aarch64: the part's number */
    uint32_t stepping;   /* aarch64: variant * 16 + revision */
} gyre_cpu_info;

/* The features, feature f as bit 1 << f. Asks the processor once, later calls are one load.
 * Thread-safe, never blocks, may be called from a signal handler. */
GYRE_API uint64_t gyre_cpu_features(void);

/* Whether the processor has `feature`; false outside the enum. As gyre_cpu_features. */
GYRE_API bool gyre_cpu_has(gyre_cpu_feature feature);

/* "avx2", ...; "unknown" outside the enum. Borrowed, static. Thread-safe, never blocks, may be
 * called from a signal handler. */
GYRE_API const char *gyre_cpu_feature_name(gyre_cpu_feature feature);

/* What the processor calls itself. Borrowed; valid until the program ends. Thread-safe; the first
 * call may wait for another thread's first call; not for signal handlers. */
GYRE_API const gyre_cpu_info *gyre_cpu_describe(void);

GYRE_END_DECLS

#endif
