/* SPDX-License-Identifier: Apache-2.0
 *
 * bare_opencl: the OpenCL driver without Gyre, as its users know it: buffers, a queue in order, and
 * clFinish. The floor beside what Gyre does on the same device in `kernel_latency` and
 * `memory_transfer`.
 *
 * Threads   the one that runs the case, and the driver's.
 * Owns      a fixture per case, with the library and everything from it.
 * Not here  the same for CUDA (suites/bare_cuda.h).
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "suites/copy_words.h"
#include "suites/device_clock.h"
#include "suites/device_kernels.h"
#include "suites/suites.h"

/* The driver's handles, codes and bits that are needed here. */
typedef void *handle;
typedef int32_t code;
enum { ALL_TYPES = -1, DEVICE_NAME = 0x102B, READ_WRITE = 1 };

#define ORDER uint32_t waits, const handle *wait_list, handle *event
#define CALLS(X)                                                                                   \
    X(code, clGetPlatformIDs, (uint32_t room, handle * platforms, uint32_t * count))               \
    X(code, clGetDeviceIDs,                                                                        \
      (handle platform, uint64_t type, uint32_t room, handle * devices, uint32_t * count))         \
    X(code, clGetDeviceInfo,                                                                       \
      (handle device, uint32_t what, size_t room, void *value, size_t *size))                      \
    X(handle, clCreateContext,                                                                     \
      (const intptr_t *properties, uint32_t count, const handle *devices, void (*notify)(void),    \
       void *arg, code *result))                                                                   \
    X(code, clReleaseContext, (handle context))                                                    \
    X(handle, clCreateCommandQueueWithProperties,                                                  \
      (handle context, handle device, const uint64_t *properties, code *result))                   \
    X(code, clReleaseCommandQueue, (handle queue))                                                 \
    X(handle, clCreateProgramWithSource,                                                           \
      (handle context, uint32_t count, const char **texts, const size_t *lengths, code *result))   \
    X(code, clBuildProgram,                                                                        \
      (handle program, uint32_t count, const handle *devices, const char *options,                 \
       void (*notify)(void), void *arg))                                                           \
    X(code, clReleaseProgram, (handle program))                                                    \
    X(handle, clCreateKernel, (handle program, const char *name, code *result))                    \
    X(code, clReleaseKernel, (handle kernel))                                                      \
    X(code, clSetKernelArg, (handle kernel, uint32_t index, size_t size, const void *value))       \
    X(handle, clCreateBuffer,                                                                      \
      (handle context, uint64_t flags, size_t size, void *host, code *result))                     \
    X(code, clReleaseMemObject, (handle buffer))                                                   \
    X(code, clEnqueueNDRangeKernel,                                                                \
      (handle queue, handle kernel, uint32_t dimensions, const size_t *offset,                     \
       const size_t *global, const size_t *local, ORDER))                                          \
    X(code, clEnqueueWriteBuffer,                                                                  \
      (handle queue, handle buffer, uint32_t blocking, size_t offset, size_t size,                 \
       const void *from, ORDER))                                                                   \
    X(code, clEnqueueReadBuffer,                                                                   \
      (handle queue, handle buffer, uint32_t blocking, size_t offset, size_t size, void *to,       \
       ORDER))                                                                                     \
    X(code, clFlush, (handle queue))                                                               \
    X(code, clFinish, (handle queue))

typedef struct calls {
#define MEMBER(result, name, parameters) result(*name) parameters;
    CALLS(MEMBER)
#undef MEMBER
} calls;

typedef struct bare {
    calls cl;
    void *library;
    const char *title; /* static */
    handle device, context, queue, program, kernel, buffer;
    size_t size;    /* of the buffer, and of */
    uint64_t *here; /* which is pageable */
    uint64_t number, right, failures;
} bare;

static void teardown(void *fixture)
{
    bare *const b = fixture;

    if (b->buffer)
        b->cl.clReleaseMemObject(b->buffer);
    if (b->kernel)
        b->cl.clReleaseKernel(b->kernel);
    if (b->program)
        b->cl.clReleaseProgram(b->program);
    if (b->queue)
        b->cl.clReleaseCommandQueue(b->queue);
    if (b->context)
        b->cl.clReleaseContext(b->context);
    if (b->library)
        dlclose(b->library);
    free(b->here);
    free(b);
}

static gyre_status checked(const char *call, code result)
{
    return result == 0 ? GYRE_OK : gyre_bench_refuse(GYRE_DEVICE_LOST, "%s: %d", call, (int)result);
}

static bool find_symbols(bare *b)
{
#define NAME(result, name, parameters) #name,
    static const char *const names[] = {CALLS(NAME)};
#undef NAME
    enum { COUNT = sizeof names / sizeof names[0] };
    void *table[COUNT];
    calls found;

    _Static_assert(sizeof table == sizeof found, "one address a member");
    b->library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!b->library)
        return false;
    for (size_t i = 0; i < COUNT; i++) {
        table[i] = dlsym(b->library, names[i]);
        if (!table[i])
            return false;
    }
    memcpy(&found, table, sizeof table);
    b->cl = found;
    return true;
}

/* The one that Gyre would take, by its name. */
static gyre_status find_device(bare *b)
{
    enum { MOST = 16 };
    handle platforms[MOST], devices[MOST];
    uint32_t platform_count = 0, device_count;
    char name[256];

    if (b->cl.clGetPlatformIDs(MOST, platforms, &platform_count) != 0)
        platform_count = 0;
    for (uint32_t p = 0; p < platform_count && p < MOST; p++) {
        if (b->cl.clGetDeviceIDs(platforms[p], (uint64_t)(uint32_t)ALL_TYPES, MOST, devices,
                                 &device_count) != 0)
            continue;
        for (uint32_t d = 0; d < device_count && d < MOST; d++) {
            if (b->cl.clGetDeviceInfo(devices[d], DEVICE_NAME, sizeof name, name, NULL) != 0 ||
                !strstr(name, b->title))
                continue;
            b->device = devices[d];
            return GYRE_OK;
        }
    }
    return gyre_bench_refuse(GYRE_UNAVAILABLE, "OpenCL has no device '%s'", b->title);
}

static gyre_status make_queue(bare *b)
{
    code result = 0;

    b->context = b->cl.clCreateContext(NULL, 1, &b->device, NULL, NULL, &result);
    if (result == 0)
        b->queue = b->cl.clCreateCommandQueueWithProperties(b->context, b->device, NULL, &result);
    if (result == 0)
        b->buffer = b->cl.clCreateBuffer(b->context, READ_WRITE, b->size, NULL, &result);
    return checked("a context with a queue and a buffer", result);
}

static gyre_status make_kernel(bare *b)
{
    const char *text = gyre_bench_program.opencl;
    code result = 0;

    b->program = b->cl.clCreateProgramWithSource(b->context, 1, &text, NULL, &result);
    if (result == 0)
        result = b->cl.clBuildProgram(b->program, 1, &b->device, NULL, NULL, NULL);
    if (result == 0)
        b->kernel = b->cl.clCreateKernel(b->program, "count", &result);
    if (result == 0)
        result = b->cl.clSetKernelArg(b->kernel, 0, sizeof b->buffer, &b->buffer);
    return checked("a kernel", result);
}

/* The device has the words and the host something else, or the other way round. */
static gyre_status furnish(bare *b, bool words_there)
{
    const size_t count = b->size / sizeof b->here[0];
    gyre_status status;

    b->here = aligned_alloc(64, b->size < 64 ? 64 : b->size);
    if (!b->here)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for the copies");
    for (size_t i = 0; i < count; i++)
        b->here[i] = words_there ? gyre_copy_word(i) : 0;
    status = checked(
        "clEnqueueWriteBuffer",
        b->cl.clEnqueueWriteBuffer(b->queue, b->buffer, 1, 0, b->size, b->here, 0, NULL, NULL));
    for (size_t i = 0; i < count; i++)
        b->here[i] = words_there ? 0 : gyre_copy_word(i);
    return status;
}

static gyre_status begin(bare *b, bool words_there)
{
    gyre_status status = find_device(b);

    if (status == GYRE_OK)
        status = make_queue(b);
    if (status == GYRE_OK)
        status = make_kernel(b);
    return status == GYRE_OK ? furnish(b, words_there) : status;
}

static gyre_status set_up(size_t size, bool words_there, void **out_fixture)
{
    const gyre_device *found;
    gyre_status status = gyre_bench_device_find("opencl", &found);
    bare *b;

    *out_fixture = NULL;
    if (status != GYRE_OK)
        return status;
    b = calloc(1, sizeof *b);
    if (!b)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    b->size = size;
    b->title = found->title;
    status = find_symbols(b) ? begin(b, words_there)
                             : gyre_bench_refuse(GYRE_UNAVAILABLE,
                                                 "libOpenCL.so.1 cannot be opened, or is old");
    if (status != GYRE_OK) {
        teardown(b); /* accepts a half-built one */
        return status;
    }
    *out_fixture = b;
    return GYRE_OK;
}

static gyre_status counter_setup(const gyre_bench_case *c, void **out_fixture)
{
    (void)c;
    return set_up(sizeof(uint64_t), false, out_fixture);
}

static uint64_t size_of(const gyre_bench_case *c)
{
    return (uint64_t)gyre_bench_axis(c, "size");
}

static gyre_status sized_setup(const gyre_bench_case *c, bool words_there, void **out_fixture)
{
    const uint64_t size = size_of(c);

    *out_fixture = NULL;
    if (size < 64 || size > 1 << 30 || size % 64 != 0)
        return gyre_bench_refuse(GYRE_INVALID, "the size is a multiple of 64, at most a GiB");
    return set_up((size_t)size, words_there, out_fixture);
}

GYRE_SETUP_WITH(in_setup, sized_setup, false)
GYRE_SETUP_WITH(out_setup, sized_setup, true)

static void tell(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    (void)iterations;
    gyre_bench_note(facts, "device", ((const bare *)fixture)->title);
}

static void launch(bare *b)
{
    static const size_t one = 1;

    b->failures +=
        b->cl.clEnqueueNDRangeKernel(b->queue, b->kernel, 1, NULL, &one, &one, 0, NULL, NULL) != 0;
}

static void wait_until_idle(void *fixture, uint64_t iterations)
{
    bare *const b = fixture;

    (void)iterations;
    b->failures += b->cl.clFinish(b->queue) != 0;
}

static void enqueue(void *fixture, uint64_t iterations)
{
    bare *const b = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        launch(b);
        b->failures += b->cl.clFlush(b->queue) != 0;
    }
}

static void launch_and_finish(void *fixture, uint64_t iterations)
{
    bare *const b = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        launch(b);
        b->failures += b->cl.clFinish(b->queue) != 0;
    }
}

static bool read_all(const bare *b, uint64_t *words)
{
    return b->cl.clEnqueueReadBuffer(b->queue, b->buffer, 1, 0, b->size, words, 0, NULL, NULL) == 0;
}

static bool all_counted(const void *fixture, uint64_t iterations)
{
    const bare *const b = fixture;
    uint64_t counted = 0;

    return b->failures == 0 && read_all(b, &counted) && counted == iterations;
}

static void copy_in(void *fixture, uint64_t iterations)
{
    bare *const b = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        b->here[0] = ++b->number;
        b->failures += b->cl.clEnqueueWriteBuffer(b->queue, b->buffer, 0, 0, b->size, b->here, 0,
                                                  NULL, NULL) != 0;
        b->failures += b->cl.clFinish(b->queue) != 0;
    }
}

static bool all_arrived(const void *fixture, uint64_t iterations)
{
    const bare *const b = fixture;
    uint64_t *const words = malloc(b->size);
    const bool right = words && b->failures == 0 && read_all(b, words) && words[0] == iterations &&
                       gyre_are_copy_words(words, 0, b->size / sizeof words[0]);

    free(words);
    return right;
}

/* Two words are spoiled before a copy, and looked at after it. */
static void copy_out(void *fixture, uint64_t iterations)
{
    bare *const b = fixture;
    const size_t last = b->size / sizeof b->here[0] - 1;

    for (uint64_t i = 0; i < iterations; i++) {
        b->here[0] = b->here[last] = 0;
        b->failures += b->cl.clEnqueueReadBuffer(b->queue, b->buffer, 0, 0, b->size, b->here, 0,
                                                 NULL, NULL) != 0;
        b->failures += b->cl.clFinish(b->queue) != 0;
        b->right += b->here[0] == gyre_copy_word(0) && b->here[last] == gyre_copy_word(last);
    }
}

static bool all_came_back(const void *fixture, uint64_t iterations)
{
    const bare *const b = fixture;

    return b->failures == 0 && b->right == iterations &&
           gyre_are_copy_words(b->here, 0, b->size / sizeof b->here[0]);
}

#define OPENCL GYRE_AXIS_WORDS("device", "opencl")
#define SIZES GYRE_AXIS("size", 4096, 65536, 1048576, 16777216)
#define ALWAYS .tell = tell, .teardown = teardown, .tags = GYRE_TAG_CPU | GYRE_TAG_GPU
#define COUNTED "the host, which reads the counter at the end"

static const gyre_bench benches[] = {
    {
        .name = "kernel_latency/bare_launch_enqueue",
        .axes = {OPENCL},
        .t0 = "before clEnqueueNDRangeKernel, with nothing under way",
        .t1 = "after clFlush; nothing is waited for",
        .observer = COUNTED,
        .setup = counter_setup,
        .prepare = wait_until_idle,
        .batch = GYRE_BATCH_EACH,
        .run = enqueue,
        .check = all_counted,
        ALWAYS,
    },
    {
        .name = "kernel_latency/bare_launch_sync",
        .axes = {OPENCL},
        .t0 = "before clEnqueueNDRangeKernel",
        .t1 = "after clFinish",
        .observer = COUNTED,
        .setup = counter_setup,
        .run = launch_and_finish,
        .check = all_counted,
        ALWAYS,
    },
    {
        .name = "memory_transfer/bare_to_device_pageable",
        .axes = {OPENCL, SIZES},
        .t0 = "before clEnqueueWriteBuffer",
        .t1 = "after clFinish",
        .observer =
            "the host, which reads the device's bytes back and compares them all at the end",
        .setup = in_setup,
        .run = copy_in,
        .check = all_arrived,
        .bytes = size_of,
        ALWAYS,
    },
    {
        .name = "memory_transfer/bare_from_device_pageable",
        .axes = {OPENCL, SIZES},
        .t0 = "before clEnqueueReadBuffer",
        .t1 = "after clFinish",
        .observer = "the host, which compares two words of every copy, and all bytes of the last",
        .setup = out_setup,
        .run = copy_out,
        .check = all_came_back,
        .bytes = size_of,
        ALWAYS,
    },
};

const gyre_suite gyre_suite_bare_opencl = GYRE_SUITE("bare_opencl", benches);
