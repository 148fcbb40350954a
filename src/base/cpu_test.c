/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cpu.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "test.h"

#define BIT(n) (UINT64_C(1) << (n))

enum { THREADS = 8, LINE_BYTES = 8192 };

static const struct {
    gyre_cpu_feature feature, implied;
} implications[] = {
    {GYRE_CPU_AVX2, GYRE_CPU_AVX},
    {GYRE_CPU_FMA, GYRE_CPU_AVX},
    {GYRE_CPU_F16C, GYRE_CPU_AVX},
    {GYRE_CPU_AVX512F, GYRE_CPU_AVX2},
    {GYRE_CPU_AVX512BW, GYRE_CPU_AVX512F},
    {GYRE_CPU_AVX512DQ, GYRE_CPU_AVX512F},
    {GYRE_CPU_AVX512VL, GYRE_CPU_AVX512F},
    {GYRE_CPU_AVX512CD, GYRE_CPU_AVX512F},
    {GYRE_CPU_AVX512_FP16, GYRE_CPU_AVX512F},
    {GYRE_CPU_AMX_INT8, GYRE_CPU_AMX_TILE},
    {GYRE_CPU_AMX_BF16, GYRE_CPU_AMX_TILE},
    {GYRE_CPU_AVX, GYRE_CPU_SSE4_2},
    {GYRE_CPU_SVE2, GYRE_CPU_SVE},
    {GYRE_CPU_ILRCPC, GYRE_CPU_LRCPC},
};

/* Names that kernels before 5.12 did not all have. */
static const gyre_cpu_feature named_late[] = {
    GYRE_CPU_AVX512_BF16, GYRE_CPU_AVX512_FP16, GYRE_CPU_AVX_VNNI, GYRE_CPU_AMX_TILE,
    GYRE_CPU_AMX_INT8,    GYRE_CPU_AMX_BF16,    GYRE_CPU_WAITPKG,  GYRE_CPU_MOVDIR64B,
    GYRE_CPU_MOVDIRI,     GYRE_CPU_FSRM,        GYRE_CPU_WFXT,
};

static bool kernel_knows(gyre_cpu_feature feature)
{
    struct utsname system;
    char *rest;
    unsigned long major, minor = 0;

    for (size_t i = 0; i < sizeof named_late / sizeof named_late[0]; i++) {
        if (named_late[i] != feature)
            continue;
        if (uname(&system) != 0)
            return false;
        major = strtoul(system.release, &rest, 10);
        if (*rest == '.')
            minor = strtoul(rest + 1, NULL, 10);
        return major > 5 || (major == 5 && minor >= 12);
    }
    return true;
}

/* The first line of /proc/cpuinfo that lists features, with a space before and after each; "" when
 * there is none. */
static void read_kernel_flags(char line[LINE_BYTES])
{
    FILE *file = fopen("/proc/cpuinfo", "re");

    line[0] = '\0';
    if (!file)
        return;
    while (fgets(line, LINE_BYTES - 1, file)) {
        if (strncmp(line, "flags\t", 6) == 0 || strncmp(line, "Features\t", 9) == 0) {
            line[strcspn(line, "\n")] = ' ';
            fclose(file);
            return;
        }
    }
    line[0] = '\0';
    fclose(file);
}

static void every_reported_feature_is_in_proc_cpuinfo(void)
{
    static char flags[LINE_BYTES];

    read_kernel_flags(flags);
    if (flags[0] == '\0')
        SKIP("/proc/cpuinfo has no readable list of features");
    /* Only this way round: valgrind, for one, hides features that the kernel lists. */
    for (int f = 0; f < GYRE_CPU_FEATURE_COUNT; f++) {
        const gyre_cpu_feature feature = (gyre_cpu_feature)f;
        const char *name =
            feature == GYRE_CPU_INVARIANT_TSC ? "nonstop_tsc" : gyre_cpu_feature_name(feature);
        char word[40];

        snprintf(word, sizeof word, " %s ", name);
        if (gyre_cpu_has(feature) && kernel_knows(feature) && !strstr(flags, word))
            test_fail(__FILE__, __LINE__, name);
    }
}

static void compiler_runtime_agrees(void)
{
#if defined(__x86_64__)
#define AGREES(id, name) CHECK(gyre_cpu_has(GYRE_CPU_##id) == !!__builtin_cpu_supports(name))
    __builtin_cpu_init();
    AGREES(SSE4_2, "sse4.2");
    AGREES(POPCNT, "popcnt");
    AGREES(AES, "aes");
    AGREES(PCLMULQDQ, "pclmul");
    AGREES(AVX, "avx");
    AGREES(FMA, "fma");
    AGREES(BMI1, "bmi");
    AGREES(BMI2, "bmi2");
    AGREES(AVX2, "avx2");
    AGREES(GFNI, "gfni");
    AGREES(VPCLMULQDQ, "vpclmulqdq");
    AGREES(AVX512F, "avx512f");
    AGREES(AVX512DQ, "avx512dq");
    AGREES(AVX512BW, "avx512bw");
    AGREES(AVX512VL, "avx512vl");
    AGREES(AVX512CD, "avx512cd");
    AGREES(AVX512IFMA, "avx512ifma");
    AGREES(AVX512VBMI, "avx512vbmi");
    AGREES(AVX512_VNNI, "avx512vnni");
    AGREES(AVX512_BF16, "avx512bf16");
#undef AGREES
#else
    SKIP("the compiler has no oracle on this architecture");
#endif
}

static void names_are_unique_and_in_lower_case(void)
{
    for (int f = 0; f < GYRE_CPU_FEATURE_COUNT; f++) {
        const char *name = gyre_cpu_feature_name((gyre_cpu_feature)f);

        CHECK(name[0] != '\0');
        CHECK(name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0');
        for (int g = 0; g < f; g++)
            CHECK(strcmp(name, gyre_cpu_feature_name((gyre_cpu_feature)g)) != 0);
    }
}

static void outside_the_enum_is_unknown_and_absent(void)
{
    CHECK(strcmp(gyre_cpu_feature_name(GYRE_CPU_FEATURE_COUNT), "unknown") == 0);
    CHECK(strcmp(gyre_cpu_feature_name((gyre_cpu_feature)-1), "unknown") == 0);
    CHECK(!gyre_cpu_has(GYRE_CPU_FEATURE_COUNT));
    CHECK(!gyre_cpu_has((gyre_cpu_feature)-1));
    CHECK(gyre_cpu_features() >> GYRE_CPU_FEATURE_COUNT == 0);
}

static void features_come_with_what_they_imply(void)
{
    for (size_t i = 0; i < sizeof implications / sizeof implications[0]; i++)
        CHECK(!gyre_cpu_has(implications[i].feature) || gyre_cpu_has(implications[i].implied));
}

static void architecture_baseline_is_present(void)
{
#if defined(__aarch64__)
    CHECK(gyre_cpu_has(GYRE_CPU_ASIMD));
    CHECK(!gyre_cpu_has(GYRE_CPU_AVX));
#else
    CHECK(gyre_cpu_describe()->vendor[0] != '\0');
    CHECK(gyre_cpu_describe()->family > 0);
    CHECK(!gyre_cpu_has(GYRE_CPU_ASIMD));
#endif
}

static void hypervisor_is_named_when_the_bit_is_set(void)
{
#if defined(__x86_64__)
    CHECK(gyre_cpu_has(GYRE_CPU_HYPERVISOR) == (gyre_cpu_describe()->hypervisor[0] != '\0'));
#else
    CHECK(gyre_cpu_describe()->hypervisor[0] == '\0');
#endif
}

static void wide_registers_count_only_when_the_kernel_saves_them(void)
{
    const uint64_t avx = BIT(1) | BIT(2), avx512 = avx | BIT(5) | BIT(6) | BIT(7);
    const uint64_t amx = BIT(17) | BIT(18);
    uint32_t word[GYRE_CPUID_WORD_COUNT];
    uint64_t got;

    memset(word, 0xff, sizeof word);
    got = gyre_cpu_decode_x86(word, 0);
    CHECK(got & BIT(GYRE_CPU_SSE4_2));
    CHECK(got & BIT(GYRE_CPU_BMI2)); /* VEX-encoded, but on general registers */
    CHECK(!(got & (BIT(GYRE_CPU_AVX) | BIT(GYRE_CPU_FMA) | BIT(GYRE_CPU_AVX2))));
    CHECK(!(got & (BIT(GYRE_CPU_AVX512F) | BIT(GYRE_CPU_AMX_TILE) | BIT(GYRE_CPU_VAES))));

    CHECK(!(gyre_cpu_decode_x86(word, BIT(1)) & BIT(GYRE_CPU_AVX)));
    got = gyre_cpu_decode_x86(word, avx);
    CHECK(got & BIT(GYRE_CPU_AVX2));
    CHECK(!(got & BIT(GYRE_CPU_AVX512F)));

    CHECK(!(gyre_cpu_decode_x86(word, avx512 & ~BIT(7)) & BIT(GYRE_CPU_AVX512F)));
    got = gyre_cpu_decode_x86(word, avx512);
    CHECK(got & BIT(GYRE_CPU_AVX512_FP16));
    CHECK(!(got & BIT(GYRE_CPU_AMX_TILE)));

    CHECK(gyre_cpu_decode_x86(word, avx512 | amx) & BIT(GYRE_CPU_AMX_INT8));
}

static void transactions_that_always_abort_do_not_count(void)
{
    uint32_t word[GYRE_CPUID_WORD_COUNT] = {[GYRE_CPUID_7_EBX] = 1u << 11};

    CHECK(gyre_cpu_decode_x86(word, 0) == BIT(GYRE_CPU_RTM));
    word[GYRE_CPUID_7_EDX] = 1u << 11;
    CHECK(gyre_cpu_decode_x86(word, 0) == 0);
}

static void every_feature_comes_from_some_bit(void)
{
    uint32_t word[GYRE_CPUID_WORD_COUNT];
    uint64_t both;

    memset(word, 0xff, sizeof word);
    word[GYRE_CPUID_7_EDX] &= ~(1u << 11);
    both = gyre_cpu_decode_x86(word, UINT64_MAX) | gyre_cpu_decode_aarch64(UINT64_MAX, UINT64_MAX);
    CHECK(both == BIT(GYRE_CPU_FEATURE_COUNT) - 1);
}

static void aarch64_words_do_not_mix(void)
{
    /* bit 1 is asimd in the first word and sve2 in the second */
    CHECK(gyre_cpu_decode_aarch64(BIT(1), 0) == BIT(GYRE_CPU_ASIMD));
    CHECK(gyre_cpu_decode_aarch64(0, BIT(1)) == BIT(GYRE_CPU_SVE2));
    CHECK(gyre_cpu_decode_aarch64(BIT(8), BIT(31)) == (BIT(GYRE_CPU_ATOMICS) | BIT(GYRE_CPU_WFXT)));
}

static void signature_uses_the_extended_fields_where_they_count(void)
{
    gyre_cpu_info info = {0};

    gyre_cpu_decode_signature(0x000606a6, &info); /* Ice Lake server */
    CHECK(info.family == 6 && info.model == 106 && info.stepping == 6);
    gyre_cpu_decode_signature(0x00a20f12, &info); /* Zen 3 */
    CHECK(info.family == 25 && info.model == 33 && info.stepping == 2);
    gyre_cpu_decode_signature(0x0fff0513, &info); /* family 5: reserved bits are not read */
    CHECK(info.family == 5 && info.model == 1 && info.stepping == 3);
}

static void hypervisors_are_called_by_their_names(void)
{
    char name[16];

    gyre_cpu_decode_hypervisor("KVMKVMKVM\0\0\0", name, sizeof name);
    CHECK(strcmp(name, "KVM") == 0);
    gyre_cpu_decode_hypervisor("Microsoft Hv", name, sizeof name);
    CHECK(strcmp(name, "Hyper-V") == 0);
    gyre_cpu_decode_hypervisor("NobodyKnows\x01", name, sizeof name);
    CHECK(strcmp(name, "NobodyKnows") == 0);
    gyre_cpu_decode_hypervisor("TwelveLetter", name, sizeof name);
    CHECK(strcmp(name, "TwelveLetter") == 0);
}

static void midr_names_the_implementer(void)
{
    gyre_cpu_info info = {0};

    gyre_cpu_decode_midr(0x413fd0c1, &info); /* Neoverse N1 r3p1 */
    CHECK(strcmp(info.vendor, "ARM") == 0);
    CHECK(info.family == 0x41 && info.model == 0xd0c && info.stepping == 0x31);
    gyre_cpu_decode_midr(0x990f0000, &info);
    CHECK(strcmp(info.vendor, "0x99") == 0);
}

static void *ask(void *out)
{
    *(uint64_t *)out = gyre_cpu_features() ^ (uint64_t)(uintptr_t)gyre_cpu_describe();
    return NULL;
}

static void threads_that_ask_at_once_get_one_answer(void)
{
    pthread_t thread[THREADS];
    uint64_t got[THREADS];
    size_t started = 0;

    while (started < THREADS && pthread_create(&thread[started], NULL, ask, &got[started]) == 0)
        started++;
    for (size_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    REQUIRE(started == THREADS);
    for (size_t i = 1; i < THREADS; i++)
        CHECK(got[i] == got[0]);
}

static const test_case cases[] = {
    /* first, so that the answers are not cached yet */
    TEST(threads_that_ask_at_once_get_one_answer),
    /* this machine */
    TEST(every_reported_feature_is_in_proc_cpuinfo),
    TEST(compiler_runtime_agrees),
    TEST(features_come_with_what_they_imply),
    TEST(architecture_baseline_is_present),
    TEST(hypervisor_is_named_when_the_bit_is_set),
    /* the list */
    TEST(names_are_unique_and_in_lower_case),
    TEST(outside_the_enum_is_unknown_and_absent),
    TEST(every_feature_comes_from_some_bit),
    /* decoding */
    TEST(wide_registers_count_only_when_the_kernel_saves_them),
    TEST(transactions_that_always_abort_do_not_count),
    TEST(aarch64_words_do_not_mix),
    TEST(signature_uses_the_extended_fields_where_they_count),
    TEST(hypervisors_are_called_by_their_names),
    TEST(midr_names_the_implementer),
};
TEST_MAIN(cases)
