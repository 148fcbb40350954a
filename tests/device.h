/* SPDX-License-Identifier: Apache-2.0
 *
 * device: headers as devices get them: their text, put before a kernel's, and compiled at run time.
 * What NVRTC makes can be looked at; what OpenCL makes is run.
 *
 * A test is compiled with SOURCE_ROOT, the folder that paths start from.
 */
#ifndef TEST_DEVICE_H
#define TEST_DEVICE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dynlib.h"

typedef enum device_result {
    DEVICE_DONE,
    DEVICE_ABSENT, /* no library or no device here */
    DEVICE_FAILED, /* and the compiler's complaints are on stdout */
} device_result;

/* Never closed: what they have allocated and started stays theirs to the end. */
static gyre_dynlib *device_nvrtc, *device_opencl;

/* The text of the files, up to a NULL, and then `kernel`; the caller frees it. NULL when one cannot
 * be read. */
static inline char *device_source(const char *const *paths, const char *kernel)
{
    enum { ROOM = 1 << 17 };
    char *const text = calloc(1, ROOM);
    size_t length = 0;

    for (; text && *paths; paths++) {
        char path[1024];
        FILE *file;

        snprintf(path, sizeof path, "%s/%s", SOURCE_ROOT, *paths);
        file = fopen(path, "rb");
        if (!file) {
            free(text);
            return NULL;
        }
        length += fread(text + length, 1, ROOM - 1 - length, file);
        fclose(file);
    }
    if (text)
        snprintf(text + length, ROOM - length, "%s", kernel);
    return text;
}

/* NVRTC, as far as it is used here, in the order of device_nvrtc_symbols. */
typedef struct device_nvrtc_api {
    int (*create)(void **, const char *, const char *, int, const char *const *,
                  const char *const *);
    int (*compile)(void *, int, const char *const *);
    int (*log)(void *, char *);
    int (*log_size)(void *, size_t *);
    int (*ptx)(void *, char *);
    int (*ptx_size)(void *, size_t *);
    int (*destroy)(void **);
    int (*version)(int *, int *);
} device_nvrtc_api;

static const char *const device_nvrtc_files[] = {"libnvrtc.so.13", "libnvrtc.so.12",
                                                 "/usr/local/cuda/lib64/libnvrtc.so", NULL};
static const char *const device_nvrtc_symbols[] = {
    "nvrtcCreateProgram",     "nvrtcCompileProgram", "nvrtcGetProgramLog",
    "nvrtcGetProgramLogSize", "nvrtcGetPTX",         "nvrtcGetPTXSize",
    "nvrtcDestroyProgram",    "nvrtcVersion",        NULL};

/* The PTX of a source, after NVRTC's assembler has taken it; the caller frees it. *out_version is
 * NVRTC's, as 1203 for 12.3. */
static inline device_result device_ptx(const char *source, char **out_ptx, int *out_version)
{
    static const char *const options[] = {"--gpu-architecture=sm_80"};
    void *table[sizeof(device_nvrtc_api) / sizeof(void *)];
    int major = 0, minor = 0;
    device_nvrtc_api nvrtc;
    char *text = NULL;
    void *program = NULL;
    size_t size = 0;

    *out_ptx = NULL;
    if (gyre_dynlib_open(device_nvrtc_files, device_nvrtc_symbols, table, &device_nvrtc) != GYRE_OK)
        return DEVICE_ABSENT;
    memcpy(&nvrtc, table, sizeof nvrtc);
    if (nvrtc.version(&major, &minor) != 0 ||
        nvrtc.create(&program, source, "test.cu", 0, NULL, NULL) != 0)
        return DEVICE_FAILED;
    *out_version = major * 100 + minor;
    if (nvrtc.compile(program, 1, options) == 0) {
        if (nvrtc.ptx_size(program, &size) == 0 && (text = calloc(1, size + 1)))
            nvrtc.ptx(program, text);
        *out_ptx = text;
    } else if (nvrtc.log_size(program, &size) == 0 && (text = calloc(1, size + 1))) {
        nvrtc.log(program, text);
        printf("%s\n", text);
        free(text);
    }
    nvrtc.destroy(&program);
    return *out_ptx ? DEVICE_DONE : DEVICE_FAILED;
}

/* OpenCL, likewise. */
typedef struct device_opencl_api {
    int (*platforms)(unsigned, void **, unsigned *);
    int (*devices)(void *, unsigned long, unsigned, void **, unsigned *);
    void *(*context)(const long *, unsigned, void *const *, void (*)(void), void *, int *);
    void *(*queue)(void *, void *, unsigned long, int *);
    void *(*buffer)(void *, unsigned long, size_t, void *, int *);
    void *(*program)(void *, unsigned, const char **, const size_t *, int *);
    int (*build)(void *, unsigned, void *const *, const char *, void (*)(void), void *);
    int (*build_info)(void *, void *, unsigned, size_t, void *, size_t *);
    void *(*kernel)(void *, const char *, int *);
    int (*argument)(void *, unsigned, size_t, const void *);
    int (*task)(void *, void *, unsigned, const size_t *, const size_t *, const size_t *, unsigned,
                void *const *, void **);
    int (*read)(void *, void *, unsigned, size_t, size_t, void *, unsigned, void *const *, void **);
    int (*release_kernel)(void *);
    int (*release_program)(void *);
    int (*release_buffer)(void *);
    int (*release_queue)(void *);
    int (*release_context)(void *);
} device_opencl_api;

static const char *const device_opencl_files[] = {"libOpenCL.so.1", NULL};
static const char *const device_opencl_symbols[] = {
    "clGetPlatformIDs",      "clGetDeviceIDs",         "clCreateContext",
    "clCreateCommandQueue",  "clCreateBuffer",         "clCreateProgramWithSource",
    "clBuildProgram",        "clGetProgramBuildInfo",  "clCreateKernel",
    "clSetKernelArg",        "clEnqueueNDRangeKernel", "clEnqueueReadBuffer",
    "clReleaseKernel",       "clReleaseProgram",       "clReleaseMemObject",
    "clReleaseCommandQueue", "clReleaseContext",       NULL};

/* What a kernel gets: a copy of a buffer, which is read back afterwards, or a value. */
typedef struct device_argument {
    void *bytes;
    size_t size;
    bool by_value;
} device_argument;

enum { DEVICE_ARGUMENTS = 4 };

/* The program of `source`, or NULL and what the compiler says. */
static inline void *device_opencl_build(const device_opencl_api *cl, void *context, void *device,
                                        const char *source)
{
    enum { BUILD_LOG = 0x1183 };
    static char log[1 << 14];
    int error = 0;
    void *const program = cl->program(context, 1, (const char *[]){source}, NULL, &error);

    if (program && cl->build(program, 1, &device, "-Werror", NULL, NULL) != 0) {
        cl->build_info(program, device, BUILD_LOG, sizeof log - 1, log, NULL);
        printf("%s\n", log);
        cl->release_program(program);
        return NULL;
    }
    return program;
}

/* One work item of the kernel `name`, with everything made and released for it. */
static inline bool device_opencl_task(const device_opencl_api *cl, void *context, void *queue,
                                      void *program, const char *name,
                                      const device_argument *arguments)
{
    enum { READ_WRITE = 1 << 0, COPY_HOST = 1 << 5 };
    void *buffers[DEVICE_ARGUMENTS] = {NULL};
    int error = 0;
    void *const kernel = cl->kernel(program, name, &error);
    bool done = kernel != NULL;

    for (unsigned i = 0; done && arguments[i].bytes; i++) {
        const device_argument *const a = &arguments[i];

        if (a->by_value) {
            done = cl->argument(kernel, i, a->size, a->bytes) == 0;
        } else {
            buffers[i] = cl->buffer(context, READ_WRITE | COPY_HOST, a->size, a->bytes, &error);
            done = buffers[i] && cl->argument(kernel, i, sizeof buffers[i], &buffers[i]) == 0;
        }
    }
    done = done && cl->task(queue, kernel, 1, NULL, &(size_t){1}, NULL, 0, NULL, NULL) == 0;
    for (unsigned i = 0; arguments[i].bytes; i++)
        if (buffers[i]) {
            done = done && cl->read(queue, buffers[i], 1, 0, arguments[i].size, arguments[i].bytes,
                                    0, NULL, NULL) == 0;
            cl->release_buffer(buffers[i]);
        }
    if (kernel)
        cl->release_kernel(kernel);
    return done;
}

/* Compiles the source and runs its kernel `name` once. `arguments` end with one of no bytes. */
static inline device_result device_run(const char *source, const char *name,
                                       const device_argument *arguments)
{
    const unsigned long any_device = 0xffffffffu;
    void *table[sizeof(device_opencl_api) / sizeof(void *)];
    void *platform, *device, *context, *queue = NULL, *program = NULL;
    device_opencl_api cl;
    bool done = false;
    int error = 0;

    if (gyre_dynlib_open(device_opencl_files, device_opencl_symbols, table, &device_opencl) !=
        GYRE_OK)
        return DEVICE_ABSENT;
    memcpy(&cl, table, sizeof cl);
    if (cl.platforms(1, &platform, NULL) != 0 ||
        cl.devices(platform, any_device, 1, &device, NULL) != 0)
        return DEVICE_ABSENT;
    context = cl.context(NULL, 1, &device, NULL, NULL, &error);
    if (context && (queue = cl.queue(context, device, 0, &error)) &&
        (program = device_opencl_build(&cl, context, device, source)))
        done = device_opencl_task(&cl, context, queue, program, name, arguments);
    if (program)
        cl.release_program(program);
    if (queue)
        cl.release_queue(queue);
    if (context)
        cl.release_context(context);
    return done ? DEVICE_DONE : DEVICE_FAILED;
}

#endif
