/* SPDX-License-Identifier: Apache-2.0
 *
 * What CUDA's compilers make of arithmetic, of lanes that do things together and of blocks that
 * meet gives the answers that it should, and what may not be done is found. Nearly all of it holds
 * on any GPU: with the driver of NVIDIA this looks at the claims themselves. Without NVRTC it is
 * skipped.
 */
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gyre/context.h"
#include "gyre/kernel.h"
#include "gyre/stream.h"
#include "test.h"

__extension__ typedef unsigned __int128 u128;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;

/* What the compilers of either side call by other names. */
#define MULTIPLY_HIGH(a, b) ((u64)((u128)(a) * (b) >> 64))
#define ONES(a) ((u32)__builtin_popcount(a))
#define ONES64(a) ((u32)__builtin_popcountll(a))
#define LEADING(a) ((a) ? (u32)__builtin_clz(a) : 32)
#define LEADING64(a) ((a) ? (u32)__builtin_clzll(a) : 64)
#define FIRST(a) ((u32)__builtin_ffs((int)(a)))

static u32 turned(u32 value)
{
    u32 out = 0;

    for (int i = 0; i < 32; i++)
        out |= (value >> i & 1) << (31 - i);
    return out;
}

static u32 picked(u32 a, u32 b, u32 choice)
{
    const u64 both = (u64)b << 32 | a;
    u32 out = 0;

    for (int i = 0; i < 4; i++)
        out |= (u32)(both >> 8 * (choice >> 4 * i & 7) & 255) << 8 * i;
    return out;
}

#define TURNED(a) turned(a)
#define PICKED(a, b, c) picked(a, b, (c)&0x7777)
#define FUNNEL(a, b, c) ((c)&31 ? (b) << ((c)&31) | (a) >> (32 - ((c)&31)) : (b))

#define FUSED(a, b, c) fmaf(a, b, c)
#define ROOT(a) sqrtf(a)
#define SMALLER(a, b) (isnan(b) || a < b || (a == b && signbit(a)) ? a : b)
#define LARGER(a, b) (isnan(b) || a > b || (a == b && signbit(b)) ? a : b)
#define ABSOLUTE(a) fabsf(a)

#include "ptx_expressions.h"

typedef union number {
    u16 of_u16;
    u32 of_u32;
    u64 of_u64;
    f32 of_f32;
    f64 of_f64;
} number;

#define ONE_MORE(type, ...) +1

enum {
    N = 4096,
    WHOLES = EXPRESSIONS(ONE_MORE),
    FLOATINGS = FLOATS(ONE_MORE),
    THREADS = 128,
    BLOCK = 4096
};

static gyre_context *context;
static gyre_stream *stream;
static const char *why_not;
static char kernels[1 << 14], expressions[1 << 14];

static bool good(gyre_status status)
{
    if (status != GYRE_OK)
        fprintf(stderr, "%s: %s\n%s", gyre_status_name(status), gyre_error_last()->text,
                status == GYRE_BUILD ? gyre_kernel_build_log() : "");
    return status == GYRE_OK;
}

static bool read_text(const char *name, char *text, size_t room)
{
    char path[1024];
    FILE *file;

    snprintf(path, sizeof path, "%s/tests/ptx/%s", SOURCE_ROOT, name);
    file = fopen(path, "rb");
    if (file) {
        text[fread(text, 1, room - 1, file)] = '\0';
        fclose(file);
    }
    return file && text[0];
}

/* Each case, and each child, has a context of its own. */
static bool begin(void)
{
    const gyre_device *const device = gyre_device_find("cuda");

    why_not = !device || device->trouble[0]                   ? "there is no device of CUDA"
              : !gyre_device_has(device, GYRE_FEATURE_SOURCE) ? "there is no NVRTC"
                                                              : NULL;
    if (why_not)
        return false;
    return read_text("ptx_test.cu", kernels, sizeof kernels) &&
           read_text("ptx_expressions.h", expressions, sizeof expressions) &&
           good(gyre_context_create(device, NULL, &context)) &&
           good(gyre_stream_create(context, NULL, &stream));
}

static void end(void)
{
    gyre_stream_destroy(stream);
    gyre_context_destroy(context);
}

#define BEGIN()                                                                                    \
    do {                                                                                           \
        const bool begun = begin();                                                                \
                                                                                                   \
        if (why_not)                                                                               \
            SKIP(why_not);                                                                         \
        REQUIRE(begun);                                                                            \
    } while (0)

/* Pinned memory of zeros, which ends with the context. */
static void *memory(size_t bytes)
{
    const gyre_memory *const pinned = gyre_context_memory(context, GYRE_CONTEXT_PINNED);
    void *block = NULL;

    return good(pinned->take(pinned, bytes, 64, &block)) ? memset(block, 0, bytes) : NULL;
}

static void give(void *block, size_t bytes)
{
    const gyre_memory *const pinned = gyre_context_memory(context, GYRE_CONTEXT_PINNED);

    if (block)
        pinned->give(pinned, block, bytes, 64);
}

static gyre_status run(const char *entry, const char *signature, uint32_t blocks, uint32_t threads,
                       const void *parameters, size_t size)
{
    static const char *const options[] = {"-fmad=false", NULL};
    static const gyre_include includes[] = {{"ptx_expressions.h", expressions}, {NULL, NULL}};
    static const gyre_program program = {.struct_size = sizeof program,
                                         .name = "ptx_test.cu",
                                         .cuda = kernels,
                                         .includes = includes,
                                         .options = options};
    const gyre_launch launch = {.grid = {blocks, 1, 1},
                                .block = {threads, 1, 1},
                                .shared_bytes = threads * 4,
                                .parameters = parameters,
                                .parameters_size = size};
    gyre_kernel *kernel;
    gyre_status status = gyre_kernel_create(context, &program, entry, signature, NULL, &kernel);

    if (status != GYRE_OK)
        return status;
    status = gyre_stream_launch(stream, kernel, &launch);
    if (status == GYRE_OK)
        status = gyre_stream_sync(stream);
    gyre_kernel_release(kernel);
    return status;
}

typedef struct compute_parameters {
    u64 *out;
    const u64 *in;
    u32 n;
} compute_parameters;

/* Now and then something at a limit. */
static u64 next(u64 *state)
{
    static const u64 odd[] = {0,          1,          2,         31,
                              32,         0x7fff,     0x8000,    0x7fffffff,
                              0x80000000, UINT32_MAX, INT64_MAX, UINT64_C(1) << 63,
                              UINT64_MAX};

    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 60) < 4 ? odd[(*state >> 32) % (sizeof odd / sizeof odd[0])]
                              : *state ^ *state >> 29;
}

static const char *const whole_texts[] = {
#define ROW(type, ...) #type ": " #__VA_ARGS__,
    EXPRESSIONS(ROW)};
static const char *const float_texts[] = {FLOATS(ROW)
#undef ROW
};

#define HOST(type, ...)                                                                            \
    {                                                                                              \
        const type a = as.of_##type, b = bs.of_##type, c = cs.of_##type;                           \
        number r = {.of_u64 = 0};                                                                  \
                                                                                                   \
        (void)a, (void)b, (void)c;                                                                 \
        r.of_##type = (type)(__VA_ARGS__);                                                         \
        out[k++] = r.of_u64;                                                                       \
    }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion" /* short numbers are, in expressions, int */
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#pragma GCC diagnostic ignored "-Wshift-negative-value"

static void compute_whole(number as, number bs, number cs, u64 *out)
{
    size_t k = 0;

    EXPRESSIONS(HOST)
}

static void compute_floats(number as, number bs, number cs, u64 *out)
{
    size_t k = 0;

    FLOATS(HOST)
}

#pragma GCC diagnostic pop

static void compare(const char *entry, const char *const *texts, size_t count,
                    void (*compute)(number as, number bs, number cs, u64 *out), bool floats)
{
    u64 *in, *out, host[512], state = 7;

    BEGIN();
    in = memory((size_t)3 * N * 8);
    out = memory(count * N * 8);
    REQUIRE(in && out && count <= sizeof host / sizeof host[0]);
    for (size_t i = 0; i < (size_t)3 * N; i++) {
        number value = {.of_u64 = next(&state)};

        if (floats && i % 3) /* of a size that meets the others */
            value.of_f64 = (double)(s64)value.of_u64 / 1e13;
        if (floats && i % 3 == 1)
            value = (number){.of_f32 = (float)value.of_f64};
        in[i] = value.of_u64;
    }
    REQUIRE(good(run(entry, "pointer pointer u32", N / 256, 256, &(compute_parameters){out, in, N},
                     sizeof(compute_parameters))));
    for (size_t i = 0; i < N; i++) {
        compute((number){.of_u64 = in[i]}, (number){.of_u64 = in[N + i]},
                (number){.of_u64 = in[(size_t)2 * N + i]}, host);
        for (size_t k = 0; k < count; k++) {
            const number got = {.of_u64 = out[k * N + i]}, want = {.of_u64 = host[k]};
            const bool single = texts[k][1] == '3';
            const bool neither = floats && (single ? isnan(got.of_f32) && isnan(want.of_f32)
                                                   : isnan(got.of_f64) && isnan(want.of_f64));

            if (neither || got.of_u64 == want.of_u64)
                continue;
            fprintf(stderr, "%s of %#llx, %#llx, %#llx: %#llx, not %#llx\n", texts[k],
                    (unsigned long long)in[i], (unsigned long long)in[N + i],
                    (unsigned long long)in[(size_t)2 * N + i], (unsigned long long)got.of_u64,
                    (unsigned long long)want.of_u64);
            CHECK(!"the same");
            return;
        }
    }
    give(in, (size_t)3 * N * 8);
    give(out, count * N * 8);
    end();
}

static void whole_numbers_are_as_in_c(void)
{
    compare("whole", whole_texts, WHOLES, compute_whole, false);
}

static void floats_are_as_in_c(void)
{
    compare("floats", float_texts, FLOATINGS, compute_floats, true);
}

/* What lane t of the warp that begins at `x` gets. */
static void expect_together(const u32 *x, u32 t, u32 *out)
{
    u32 odd = 0, none = 1, any_is = 0, same = 0, sum = 0, least = UINT32_MAX, xor_even = 0,
        two_of_odd = 0, zero_even = 0;
    s32 most = INT32_MIN;

    for (u32 i = 0; i < 32; i++) {
        odd |= (x[i] & 1) << i;
        any_is |= x[i] == 12345;
        none &= x[i] != 12345;
        same |= (u32)(x[i] % 4 == x[t] % 4) << i;
        sum += x[i];
        least = x[i] < least ? x[i] : least;
        most = (s32)x[i] > most ? (s32)x[i] : most;
        xor_even ^= i % 2 ? 0 : x[i];
        zero_even |= i % 2 == 0 && x[i] == 0;
        two_of_odd |= i % 2 && (x[i] & 2) ? 1u << i : 0;
    }
    *out++ = x[x[t] % 32];
    *out++ = x[t / 8 * 8 + x[t] % 8];
    *out++ = t < 3 ? x[t] : x[t - 3];
    *out++ = t % 16 + 5 < 16 ? x[t + 5] : x[t];
    *out++ = x[t ^ 9];
    *out++ = odd;
    *out++ = any_is + 2 * none;
    *out++ = same;
    *out++ = sum;
    *out++ = least;
    *out++ = (u32)most;
    *out++ = 1;
    *out++ = t % 2 ? x[7] + two_of_odd : xor_even + zero_even;
}

typedef struct together_parameters {
    u32 *out;
    const u32 *in;
    u32 n;
} together_parameters;

static void lanes_do_things_together(void)
{
    enum { ROWS = 13 };
    u32 *in, *out, expected[ROWS];
    u64 state = 5;

    BEGIN();
    in = memory((size_t)THREADS * 4);
    out = memory((size_t)ROWS * THREADS * 4);
    REQUIRE(in && out);
    for (int round = 0; round < 20; round++) {
        for (u32 i = 0; i < THREADS; i++)
            in[i] = i == 40 ? 12345 : (u32)next(&state);
        REQUIRE(good(run("together", "pointer pointer u32", 1, THREADS,
                         &(together_parameters){out, in, THREADS}, sizeof(together_parameters))));
        for (u32 t = 0; t < THREADS; t++) {
            expect_together(&in[t - t % 32], t % 32, expected);
            for (u32 row = 0; row < ROWS; row++) {
                const u32 got = out[(size_t)row * THREADS + t];

                if (got == expected[row])
                    continue;
                fprintf(stderr, "row %u, thread %u: %#x, not %#x\n", row, t, got, expected[row]);
                CHECK(!"the same");
                return;
            }
        }
    }
    give(in, (size_t)THREADS * 4);
    give(out, (size_t)ROWS * THREADS * 4);
    end();
}

typedef struct meet_parameters {
    u32 *out, *counter;
} meet_parameters;

static void threads_meet_and_wait_for_each_other(void)
{
    const size_t bytes = (size_t)7 * THREADS * 4;
    u32 *out, *counter;
    u64 wide;

    BEGIN();
    out = memory(bytes);
    counter = memory(64);
    REQUIRE(out && counter);
    REQUIRE(good(run("meet", "pointer pointer", 1, THREADS, &(meet_parameters){out, counter},
                     sizeof(meet_parameters))));
    memcpy(&wide, counter + 2, sizeof wide);
    CHECK(counter[0] == THREADS && counter[1] == THREADS - 1 && wide == (u64)THREADS << 31);
    for (u32 t = 0; t < THREADS; t++) {
        u32 list[8], sum = 0;

        for (u32 i = 0; i < 8; i++)
            list[(i + t) % 8] = i * t;
        for (u32 i = 0; i < 8; i++)
            sum = sum * 3 + list[i];
        CHECK(out[t] == (THREADS - 1 - t) * 7);
        CHECK(out[THREADS + t] == (THREADS + 2) / 3 && out[2 * THREADS + t] == 1);
        CHECK(out[3 * THREADS + t] == THREADS * (THREADS - 1) / 2);
        CHECK(out[4 * THREADS + t] == t && out[5 * THREADS + t] == sum);
        CHECK(out[6 * THREADS + t] > t && out[6 * THREADS + t] <= THREADS);
    }
    give(out, bytes);
    give(counter, 64);
    end();
}

typedef struct reach_parameters {
    u32 *data;
    u64 at;
    u32 how;
} reach_parameters;

static reach_parameters reaching;

/* Whether what looks for faults is this: a GPU of NVIDIA finds less, and hangs where we find
 * that. */
static bool is_ptx(void)
{
    return strncmp(gyre_device_find("cuda")->title, "PTX", 3) == 0;
}

/* Devices are lost by what these do, and have no use for a fork of who has them open already. So
 * they are each a child's, and come first. */
static bool fails_as_it_should(void (*body)(void), bool only_ptx)
{
    enum { NO_DEVICE = 77, ANOTHER = 78 };
    const pid_t child = fork();
    int status;

    if (child == 0) {
        alarm(20); /* a wait that goes on kills it */
        test_failures = 0;
        if (!begin())
            _exit(why_not ? NO_DEVICE : 1);
        if (only_ptx && !is_ptx())
            _exit(ANOTHER);
        reaching.data = memory(BLOCK);
        if (reaching.data)
            body();
        _exit(test_failed() || !reaching.data ? 1 : 0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return false;
    if (WEXITSTATUS(status) == NO_DEVICE)
        test_skip_reason = "there is no device of CUDA, or no NVRTC";
    if (WEXITSTATUS(status) == ANOTHER)
        test_skip_reason = "a GPU looks at pages, and hangs where nobody goes on";
    return WEXITSTATUS(status) == 0 || test_skip_reason;
}

static void reach(void)
{
    const gyre_status status = run("reach", "pointer u64 u32", 1, 1, &reaching, sizeof reaching);
    const char *const what = reaching.at % 4 ? "MISALIGNED" : "ILLEGAL_ADDRESS";

    if (reaching.at + 4 == BLOCK)
        CHECK(good(status));
    else
        CHECK(status == GYRE_DEVICE_LOST && strstr(gyre_error_last()->text, what));
}

static void a_wrong_address_is_a_fault(void)
{
    static const u64 at[] = {BLOCK - 4, 2, UINT64_C(1) << 40};

    for (u32 how = 0; how < 3 && !test_skip_reason; how++)
        for (size_t i = 0; i < 3; i++) {
            reaching = (reach_parameters){NULL, at[i], how};
            CHECK(fails_as_it_should(reach, false));
        }
}

static void the_first_byte_beyond_a_block_is_a_fault(void)
{
    for (u32 how = 0; how < 3 && !test_skip_reason; how++) {
        reaching = (reach_parameters){NULL, BLOCK, how};
        CHECK(fails_as_it_should(reach, true));
    }
}

static void wait_for_ever(void)
{
    CHECK(run("part", "pointer", 1, 64, &reaching.data, sizeof reaching.data) == GYRE_DEVICE_LOST);
}

static void who_waits_for_ever_is_found(void)
{
    CHECK(fails_as_it_should(wait_for_ever, true));
}

typedef struct hand_parameters {
    u32 *late, *words;
    u32 n, fences;
} hand_parameters;

/* How often of so many times a flag was seen, and then not what it stands for. */
static u32 count_late(u32 n, u32 fences)
{
    const hand_parameters p = {memory(64), memory(512), n, fences};
    u32 late = n;

    if (p.late && p.words && good(run("hand_over", "pointer pointer u32 u32", 1, 64, &p, sizeof p)))
        late = *p.late;
    give(p.late, 64);
    give(p.words, 512);
    return late;
}

static void what_is_handed_over_without_fences_may_be_missing(void)
{
    enum { TIMES = 5000 };

    BEGIN();
    CHECK(count_late(TIMES, 3) == 0);
    for (u32 fences = 0; fences < 3 && is_ptx(); fences++) { /* others may be stronger */
        const u32 late = count_late(TIMES, fences);

        CHECK(late > TIMES / 100 && late < TIMES);
    }
    end();
}

static void what_it_does_not_know_is_named_with_its_line(void)
{
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry reach()\n{\n\t.reg .f32 %f<2>;\n"
                               "\tfrobnicate.f32 %f1, %f1;\n\tret;\n}\n";
    const gyre_program odd = {.struct_size = sizeof odd,
                              .name = "odd",
                              .cuda_image = text,
                              .cuda_image_bytes = sizeof text};
    gyre_kernel *kernel;
    gyre_status status;

    BEGIN();
    if (!is_ptx())
        SKIP("this is how we say it");
    status = gyre_kernel_create(context, &odd, "reach", "", NULL, &kernel);
    CHECK(status == GYRE_CORRUPT);
    CHECK(strstr(gyre_error_last()->text, "line 7: no instruction 'frobnicate.f32'") != NULL);
    end();
}

static const test_case cases[] = {
    TEST(a_wrong_address_is_a_fault),
    TEST(the_first_byte_beyond_a_block_is_a_fault),
    TEST(who_waits_for_ever_is_found),
    TEST(whole_numbers_are_as_in_c),
    TEST(floats_are_as_in_c),
    TEST(lanes_do_things_together),
    TEST(threads_meet_and_wait_for_each_other),
    TEST(what_is_handed_over_without_fences_may_be_missing),
    TEST(what_it_does_not_know_is_named_with_its_line),
};
TEST_MAIN(cases)
