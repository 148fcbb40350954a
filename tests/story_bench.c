/* SPDX-License-Identifier: Apache-2.0
 *
 * The story that the seeds tell of a suite whose last group failed because of what the first had
 * left behind: a heavy matrix product first, then small operations, and twenty tiny launches last.
 * Compiled with FAULTY there is one more group after the first, in which everything goes wrong that
 * can: a kernel that never ends, a crash, memory that is not there, a wild address. The other
 * groups must pass (tests/cli/story_test.sh), with the same figures (tools/gpu-check).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gyre/bench.h"
#include "gyre/kernel.h"
#include "suites/device_clock.h"

enum { TILE = 16, SMALL = 256, SMALLS = 20, ELEMENTS = 1 << 20, BLOCK = 256 };

typedef struct matmul_parameters {
    const float *a, *b;
    float *c;
    uint32_t n;
} matmul_parameters;

typedef struct unary_parameters {
    float *x;
    uint32_t n;
} unary_parameters;

static void matmul(const gyre_block *block, const void *parameters)
{
    const matmul_parameters *const p = parameters;
    const size_t n = p->n, row = (size_t)block->index[1] * TILE;
    const size_t column = (size_t)block->index[0] * TILE;
    float sums[TILE][TILE] = {{0}};

    for (size_t k = 0; k < n; k++)
        for (size_t y = 0; y < TILE; y++)
            for (size_t x = 0; x < TILE; x++)
                sums[y][x] += p->a[(row + y) * n + k] * p->b[k * n + column + x];
    for (size_t y = 0; y < TILE; y++)
        memcpy(&p->c[(row + y) * n + column], sums[y], sizeof sums[y]);
}

static void relu(const gyre_block *block, const void *parameters)
{
    const unary_parameters *const p = parameters;
    const size_t first = (size_t)block->index[0] * block->threads[0];

    for (size_t i = first; i < first + block->threads[0] && i < p->n; i++)
        p->x[i] = p->x[i] > 0 ? p->x[i] : 0;
}

static void hang(const gyre_block *block, const void *parameters)
{
    const unary_parameters *const p = parameters;

    (void)block;
    while (__atomic_load_n((const uint32_t *)(const void *)p->x, __ATOMIC_RELAXED) != p->n)
        continue;
}

static void wild(const gyre_block *block, const void *parameters)
{
    const unary_parameters *const p = parameters;

    p->x[block->index[0]] = 1;
}

static const gyre_entry functions[] = {
    {"matmul", matmul}, {"relu", relu}, {"hang", hang}, {"wild", wild}, {0}};

static const char cuda_text[] =
    "extern \"C\" __global__ void matmul(const float *a, const float *b, float *c, unsigned n)\n"
    "{\n"
    "    __shared__ float s[16][16], t[16][16];\n"
    "    unsigned x = threadIdx.x, y = threadIdx.y;\n"
    "    size_t row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;\n"
    "    float sum = 0;\n"
    "    for (unsigned k = 0; k < n; k += 16) {\n"
    "        s[y][x] = a[row * n + k + x];\n"
    "        t[y][x] = b[(size_t)(k + y) * n + column];\n"
    "        __syncthreads();\n"
    "        for (unsigned i = 0; i < 16; i++)\n"
    "            sum += s[y][i] * t[i][x];\n"
    "        __syncthreads();\n"
    "    }\n"
    "    c[row * n + column] = sum;\n"
    "}\n"
    "extern \"C\" __global__ void relu(float *x, unsigned n)\n"
    "{\n"
    "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        x[i] = x[i] > 0 ? x[i] : 0;\n"
    "}\n"
    "extern \"C\" __global__ void hang(float *x, unsigned n)\n"
    "{\n"
    "    while (*(volatile unsigned *)x != n)\n"
    "        ;\n"
    "}\n"
    "extern \"C\" __global__ void wild(float *x, unsigned n)\n"
    "{\n"
    "    x[blockIdx.x] = 1;\n"
    "}\n";

static const char opencl_text[] =
    "kernel void matmul(global const float *a, global const float *b, global float *c, uint n)\n"
    "{\n"
    "    size_t column = get_global_id(0), row = get_global_id(1);\n"
    "    float sum = 0;\n"
    "    for (uint k = 0; k < n; k++)\n"
    "        sum += a[row * n + k] * b[(size_t)k * n + column];\n"
    "    c[row * n + column] = sum;\n"
    "}\n"
    "kernel void relu(global float *x, uint n)\n"
    "{\n"
    "    size_t i = get_global_id(0);\n"
    "    if (i < n)\n"
    "        x[i] = x[i] > 0 ? x[i] : 0;\n"
    "}\n"
    "kernel void hang(global float *x, uint n)\n"
    "{\n"
    "    while (*(volatile global uint *)x != n)\n"
    "        ;\n"
    "}\n"
    "kernel void wild(global float *x, uint n)\n"
    "{\n"
    "    x[get_group_id(0)] = 1;\n"
    "}\n";

static const gyre_program program = {.struct_size = sizeof program,
                                     .name = "story",
                                     .functions = functions,
                                     .cuda = cuda_text,
                                     .opencl = opencl_text};

typedef struct story {
    gyre_bench_device device; /* first: the clock's */
    gyre_kernel *kernel;
    float *there[3];
    float *here[3];
    size_t bytes;
    uint32_t n;
    gyre_status failed; /* the first that did not work, */
    char why[320];      /* and why */
} story;

static void note(story *s, gyre_status status)
{
    if (status == GYRE_OK || s->failed != GYRE_OK)
        return;
    s->failed = status;
    snprintf(s->why, sizeof s->why, "%s: %s", gyre_status_name(status),
             status == GYRE_TIMEOUT ? "the device did not end in time" : gyre_error_last()->text);
}

static void teardown(void *fixture)
{
    story *const s = fixture;

    for (int i = 0; i < 3; i++) {
        gyre_bench_device_give(&s->device, GYRE_CONTEXT_DEVICE, s->there[i], s->bytes);
        free(s->here[i]);
    }
    gyre_kernel_release(s->kernel);
    gyre_bench_device_close(&s->device);
    free(s);
}

/* A fixture with `arrays` of `count` numbers on both sides, and the kernel. */
static gyre_status set_up(const gyre_bench_case *c, const char *entry, const char *signature,
                          int arrays, size_t count, story **out_story)
{
    const gyre_context_options options = {.struct_size = sizeof options,
                                          .sync_timeout_ns = 1000000000};
    story *const s = calloc(1, sizeof *s);
    gyre_status status;

    *out_story = NULL;
    if (!s)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    s->bytes = count * sizeof(float);
    status = gyre_bench_device_open(&s->device, c, &options);
    if (status != GYRE_OK) {
        free(s);
        return status;
    }
    status = gyre_kernel_create(s->device.context, &program, entry, signature, NULL, &s->kernel);
    for (int i = 0; i < arrays && status == GYRE_OK; i++) {
        void *block = NULL;

        s->here[i] = malloc(s->bytes);
        status = s->here[i]
                     ? gyre_bench_device_take(&s->device, GYRE_CONTEXT_DEVICE, s->bytes, &block)
                     : gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for %zu bytes", s->bytes);
        if (status != GYRE_OK)
            break;
        s->there[i] = block;
        gyre_bench_device_numbers(s->here[i], count, (uint64_t)i + 1);
        status = gyre_bench_device_copy(&s->device, s->there[i], s->here[i], s->bytes);
    }
    if (status != GYRE_OK) {
        teardown(s);
        return status;
    }
    *out_story = s;
    return GYRE_OK;
}

static bool good(const story *s)
{
    return s->failed == GYRE_OK || gyre_bench_refuse(s->failed, "%s", s->why) == GYRE_OK;
}

/* The heavy one. */
static gyre_status matmul_setup(const gyre_bench_case *c, void **out_fixture)
{
    const uint32_t n = (uint32_t)gyre_bench_axis(c, "n");
    story *s;
    gyre_status status = set_up(c, "matmul", "pointer pointer pointer u32", 3, (size_t)n * n, &s);

    if (s)
        s->n = n;
    *out_fixture = s;
    return status;
}

static void matmul_run(void *fixture, uint64_t iterations)
{
    story *const s = fixture;
    const matmul_parameters p = {s->there[0], s->there[1], s->there[2], s->n};
    const gyre_launch launch = {.grid = {s->n / TILE, s->n / TILE, 1},
                                .block = {TILE, TILE, 1},
                                .parameters = &p,
                                .parameters_size = sizeof p,
                                .expected_ns = 2 * (uint64_t)s->n * s->n * s->n}; /* at 1 GFLOP/s */

    for (uint64_t i = 0; i < iterations && s->failed == GYRE_OK; i++)
        note(s, gyre_stream_launch(s->device.stream, s->kernel, &launch));
    if (s->failed == GYRE_OK)
        note(s, gyre_stream_sync(s->device.stream));
}

/* a (b x) is c x, for a random x: as sure as the whole product, and n times cheaper. */
static bool matmul_check(const void *fixture, uint64_t iterations)
{
    const story *const s = fixture;
    const size_t n = s->n;
    float *const c = malloc(s->bytes);
    double *const x = calloc(3 * n, sizeof *x), *const bx = x + n, *const cx = x + 2 * n;
    bool right = c && x && good(s) &&
                 gyre_bench_device_copy(&s->device, c, s->there[2], s->bytes) == GYRE_OK;

    (void)iterations;
    for (size_t i = 0; right && i < n; i++)
        x[i] = (double)s->here[0][(i * 7919) % (n * n)];
    for (size_t i = 0; right && i < n; i++)
        for (size_t k = 0; k < n; k++) {
            bx[i] += (double)s->here[1][i * n + k] * x[k];
            cx[i] += (double)c[i * n + k] * x[k];
        }
    for (size_t i = 0; right && i < n; i++) {
        double sum = 0, size = 0;

        for (size_t k = 0; k < n; k++) {
            sum += (double)s->here[0][i * n + k] * bx[k];
            size += fabs((double)s->here[0][i * n + k] * bx[k]);
        }
        right = fabs(sum - cx[i]) <= 1e-4 * size + 1e-3;
    }
    free(x);
    free(c);
    return right;
}

static uint64_t matmul_operations(const gyre_bench_case *c)
{
    const uint64_t n = (uint64_t)gyre_bench_axis(c, "n");

    return 2 * n * n * n;
}

/* One pass over many elements, and twenty over few. */
static gyre_status relu_setup(const gyre_bench_case *c, void **out_fixture)
{
    story *s;
    gyre_status status = set_up(c, "relu", "pointer u32", 1, ELEMENTS, &s);

    *out_fixture = s;
    return status;
}

static void relu_at(story *s, size_t offset, uint32_t n)
{
    const unary_parameters p = {s->there[0] + offset, n};
    const gyre_launch launch = {.grid = {(n + BLOCK - 1) / BLOCK, 1, 1},
                                .block = {BLOCK, 1, 1},
                                .parameters = &p,
                                .parameters_size = sizeof p};

    note(s, gyre_stream_launch(s->device.stream, s->kernel, &launch));
}

static void relu_run(void *fixture, uint64_t iterations)
{
    story *const s = fixture;

    for (uint64_t i = 0; i < iterations && s->failed == GYRE_OK; i++)
        relu_at(s, 0, ELEMENTS);
    note(s, gyre_stream_sync(s->device.stream));
}

static void smalls_run(void *fixture, uint64_t iterations)
{
    story *const s = fixture;

    for (uint64_t i = 0; i < iterations && s->failed == GYRE_OK; i++) {
        for (uint32_t k = 0; k < SMALLS; k++)
            relu_at(s, (size_t)k * SMALL, SMALL);
        note(s, gyre_stream_sync(s->device.stream));
    }
}

static void large_run(void *fixture, uint64_t iterations)
{
    story *const s = fixture;

    for (uint64_t i = 0; i < iterations && s->failed == GYRE_OK; i++) {
        relu_at(s, 0, SMALLS * SMALL);
        note(s, gyre_stream_sync(s->device.stream));
    }
}

static bool relu_check_first(const story *s, size_t count)
{
    float *const x = malloc(s->bytes);
    bool right =
        x && good(s) && gyre_bench_device_copy(&s->device, x, s->there[0], s->bytes) == GYRE_OK;

    for (size_t i = 0; right && i < ELEMENTS; i++)
        right = x[i] == (i < count && s->here[0][i] < 0 ? 0 : s->here[0][i]);
    free(x);
    return right;
}

static bool relu_check(const void *fixture, uint64_t iterations)
{
    (void)iterations;
    return relu_check_first(fixture, ELEMENTS);
}

static bool smalls_check(const void *fixture, uint64_t iterations)
{
    (void)iterations;
    return relu_check_first(fixture, (size_t)SMALLS * SMALL);
}

static void transfer_run(void *fixture, uint64_t iterations)
{
    story *const s = fixture;

    for (uint64_t i = 0; i < iterations && s->failed == GYRE_OK; i++) {
        note(s, gyre_stream_copy(s->device.stream, s->there[0], s->here[0], s->bytes));
        note(s, gyre_stream_sync(s->device.stream));
    }
}

static bool transfer_check(const void *fixture, uint64_t iterations)
{
    (void)iterations;
    return relu_check_first(fixture, 0);
}

#ifdef FAULTY
static gyre_status fault_setup(const gyre_bench_case *c, const char *entry, void **out_fixture)
{
    story *s;
    gyre_status status = set_up(c, entry, "pointer u32", 1, SMALL, &s);

    *out_fixture = s;
    return status;
}

static gyre_status hang_setup(const gyre_bench_case *c, void **out_fixture)
{
    return fault_setup(c, "hang", out_fixture);
}

static gyre_status wild_setup(const gyre_bench_case *c, void **out_fixture)
{
    return fault_setup(c, "wild", out_fixture);
}

static void fault_run(void *fixture, uint64_t iterations)
{
    story *const s = fixture;

    (void)iterations;
    if (s->failed == GYRE_OK)
        relu_at(s, 0, 1); /* whatever the kernel is */
    for (int i = 0; i < 4 && s->failed != GYRE_DEVICE_LOST; i++) {
        s->failed = GYRE_OK;
        note(s, gyre_stream_sync(s->device.stream));
    }
}

static void wild_run(void *fixture, uint64_t iterations)
{
    story *const s = fixture;
    float *const right = s->there[0];

    memset(&s->there[0], 0x10, sizeof s->there[0]); /* nobody's address */
    fault_run(fixture, iterations);
    s->there[0] = right;
}

static void crash_run(void *fixture, uint64_t iterations)
{
    (void)fixture, (void)iterations;
    abort();
}

static gyre_status greedy_setup(const gyre_bench_case *c, void **out_fixture)
{
    story *s;
    void *block;
    gyre_status status = set_up(c, "relu", "pointer u32", 1, SMALL, &s);

    *out_fixture = NULL;
    if (!s)
        return status;
    status = gyre_bench_device_take(&s->device, GYRE_CONTEXT_DEVICE, (size_t)1 << 50, &block);
    if (status == GYRE_OK) /* then it is no fault */
        gyre_bench_device_give(&s->device, GYRE_CONTEXT_DEVICE, block, (size_t)1 << 50);
    teardown(s);
    return status == GYRE_OK ? gyre_bench_refuse(GYRE_INTERNAL, "a petabyte was there") : status;
}

static bool never(const void *fixture, uint64_t iterations)
{
    (void)iterations;
    return good(fixture) && gyre_bench_refuse(GYRE_INTERNAL, "nothing went wrong") == GYRE_OK;
}
#endif

#define OBSERVED                                                                                   \
    .t0 = "before the first is handed in", .t1 = "after the sync of the last",                     \
    .observer = "the host, which reads everything back afterwards"

static const gyre_bench benches[] = {
    {.name = "matmul/f32",
     .axes = {GYRE_DEVICE_AXIS, GYRE_AXIS("n", 256, 2048)},
     OBSERVED,
     .setup = matmul_setup,
     .run = matmul_run,
     .check = matmul_check,
     .teardown = teardown,
     .operations = matmul_operations},
#ifdef FAULTY
    {.name = "fault/hang",
     .axes = {GYRE_DEVICE_AXIS},
     OBSERVED,
     .setup = hang_setup,
     .run = fault_run,
     .check = never,
     .teardown = teardown},
    {.name = "fault/crash",
     .axes = {GYRE_DEVICE_AXIS},
     OBSERVED,
     .setup = relu_setup,
     .run = crash_run,
     .check = never,
     .teardown = teardown},
    {.name = "fault/memory",
     .axes = {GYRE_DEVICE_AXIS},
     OBSERVED,
     .setup = greedy_setup,
     .run = fault_run,
     .check = never,
     .teardown = teardown},
    {.name = "fault/address",
     .axes = {GYRE_DEVICE_AXIS},
     OBSERVED,
     .setup = wild_setup,
     .run = wild_run,
     .check = never,
     .teardown = teardown},
#endif
    {.name = "unary_ops/relu",
     .axes = {GYRE_DEVICE_AXIS},
     OBSERVED,
     .setup = relu_setup,
     .run = relu_run,
     .check = relu_check,
     .teardown = teardown},
    {.name = "memory_transfer/to_device",
     .axes = {GYRE_DEVICE_AXIS},
     OBSERVED,
     .setup = relu_setup,
     .run = transfer_run,
     .check = transfer_check,
     .teardown = teardown},
    {.name = "gpu_batch_processing/single_large_op",
     .axes = {GYRE_DEVICE_AXIS},
     OBSERVED,
     .setup = relu_setup,
     .run = large_run,
     .check = smalls_check,
     .teardown = teardown},
    {.name = "gpu_batch_processing/many_small_ops",
     .axes = {GYRE_DEVICE_AXIS},
     OBSERVED,
     .setup = relu_setup,
     .run = smalls_run,
     .check = smalls_check,
     .teardown = teardown},
};

static const gyre_suite suite = GYRE_SUITE("story", benches);

int main(int argc, char **argv)
{
    return gyre_bench_main(argc, argv, (const gyre_suite *const[]){&suite, NULL});
}
