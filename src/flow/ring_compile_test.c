/* SPDX-License-Identifier: Apache-2.0
 *
 * ring_abi.h as devices get it: its text, put before a kernel's, and compiled at run time. What
 * NVRTC makes is looked at; what OpenCL makes is run, and its slots are the host's.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/dynlib.h"
#include "flow/ring_abi.h"
#include "test.h"

/* Never closed: what they have allocated and started stays theirs to the end. */
static gyre_dynlib *nvrtc_library, *opencl_library;

/* The header's text and then `kernel`; the caller frees it. NULL when it cannot be read. */
static char *with_header(const char *kernel)
{
    enum { ROOM = 1 << 16 };
    FILE *const file = fopen(RING_ABI_PATH, "rb");
    char *text = NULL;

    if (file && (text = calloc(1, ROOM))) {
        const size_t length = fread(text, 1, ROOM - 1, file);

        snprintf(text + length, ROOM - length, "%s", kernel);
    }
    if (file)
        fclose(file);
    return text;
}

/* NVRTC, as far as it is used here, in the order of nvrtc_symbols. */
typedef struct nvrtc_api {
    int (*create)(void **, const char *, const char *, int, const char *const *,
                  const char *const *);
    int (*compile)(void *, int, const char *const *);
    int (*log)(void *, char *);
    int (*log_size)(void *, size_t *);
    int (*ptx)(void *, char *);
    int (*ptx_size)(void *, size_t *);
    int (*destroy)(void **);
    int (*version)(int *, int *);
} nvrtc_api;

static const char *const nvrtc_files[] = {"libnvrtc.so.13", "libnvrtc.so.12",
                                          "/usr/local/cuda/lib64/libnvrtc.so", NULL};
static const char *const nvrtc_symbols[] = {
    "nvrtcCreateProgram",     "nvrtcCompileProgram", "nvrtcGetProgramLog",
    "nvrtcGetProgramLogSize", "nvrtcGetPTX",         "nvrtcGetPTXSize",
    "nvrtcDestroyProgram",    "nvrtcVersion",        NULL};

static const char cuda_kernel[] =
    "\nextern \"C\" __global__ void echo(gyre_ring_slot *slot, gyre_ring_wide_slot *wide,\n"
    "                                    gyre_ring_u64 sequence) {\n"
    "    const gyre_ring_u32 stamp = gyre_ring_stamp(sequence, gyre_ring_salt(1));\n"
    "    gyre_ring_payload payload;\n"
    "    if (gyre_ring_wide_read(wide, stamp, &payload) == GYRE_RING_READY)\n"
    "        gyre_ring_wide_write(wide + 1, stamp, &payload);\n"
    "#if GYRE_RING_HAS_QUARTERS\n"
    "    if (gyre_ring_read(slot, stamp, &payload) == GYRE_RING_READY)\n"
    "        gyre_ring_write(slot + 1, stamp, &payload);\n"
    "#endif\n"
    "}\n";

/* The PTX of the kernel, after its assembler has taken it; the caller frees it. NULL, and the
 * compiler's complaints on stdout, when it was refused. */
static char *compile_ptx(const nvrtc_api *nvrtc, const char *source)
{
    static const char *const options[] = {"--gpu-architecture=sm_80"};
    char *text = NULL;
    void *program = NULL;
    size_t size = 0;

    if (nvrtc->create(&program, source, "ring_abi.cu", 0, NULL, NULL) != 0)
        return NULL;
    if (nvrtc->compile(program, 1, options) == 0) {
        if (nvrtc->ptx_size(program, &size) == 0 && (text = calloc(1, size + 1)))
            nvrtc->ptx(program, text);
    } else if (nvrtc->log_size(program, &size) == 0 && (text = calloc(1, size + 1))) {
        nvrtc->log(program, text);
        printf("%s\n", text);
        free(text);
        text = NULL;
    }
    nvrtc->destroy(&program);
    return text;
}

static void nvrtc_compiles_it_to_whole_accesses(void)
{
    void *table[sizeof(nvrtc_api) / sizeof(void *)];
    int major = 0, minor = 0;
    char *source, *ptx;
    nvrtc_api nvrtc;

    if (gyre_dynlib_open(nvrtc_files, nvrtc_symbols, table, &nvrtc_library) != GYRE_OK)
        SKIP("there is no NVRTC");
    memcpy(&nvrtc, table, sizeof nvrtc);
    source = with_header(cuda_kernel);
    REQUIRE(source);
    ptx = compile_ptx(&nvrtc, source);
    free(source);
    REQUIRE(ptx);
    CHECK(strstr(ptx, "ld.relaxed.sys.b64") && strstr(ptx, "st.relaxed.sys.b64"));
    CHECK(nvrtc.version(&major, &minor) == 0);
    if (major * 100 + minor >= 1203)
        CHECK(strstr(ptx, "ld.relaxed.sys.b128") && strstr(ptx, "st.relaxed.sys.b128"));
    free(ptx);
}

/* OpenCL, likewise. */
typedef struct opencl_api {
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
} opencl_api;

static const char *const opencl_files[] = {"libOpenCL.so.1", NULL};
static const char *const opencl_symbols[] = {
    "clGetPlatformIDs",      "clGetDeviceIDs",         "clCreateContext",
    "clCreateCommandQueue",  "clCreateBuffer",         "clCreateProgramWithSource",
    "clBuildProgram",        "clGetProgramBuildInfo",  "clCreateKernel",
    "clSetKernelArg",        "clEnqueueNDRangeKernel", "clEnqueueReadBuffer",
    "clReleaseKernel",       "clReleaseProgram",       "clReleaseMemObject",
    "clReleaseCommandQueue", "clReleaseContext",       NULL};
#define ANY_DEVICE 0xffffffffu
enum { READ_WRITE = 1 << 0, COPY_HOST = 1 << 5, BUILD_LOG = 0x1183 };

static const char opencl_kernel[] =
    "\n__kernel void echo(__global gyre_ring_wide_slot *wide, ulong sequence) {\n"
    "    const uint stamp = gyre_ring_stamp(sequence, gyre_ring_salt(1));\n"
    "    gyre_ring_payload payload;\n"
    "    if (gyre_ring_wide_read(wide, stamp, &payload) == GYRE_RING_READY) {\n"
    "        payload.eight[3]++;\n"
    "        gyre_ring_wide_write(wide + 1, stamp, &payload);\n"
    "    }\n"
    "}\n";

static void opencl_reads_and_writes_what_the_host_does(void)
{
    const gyre_ring_payload sent = {{1, 2, 3, 0xffffffff}, {4, 5, 6, 7}};
    const gyre_ring_u64 sequence = 0x1234567800000009;
    const gyre_ring_u32 stamp = gyre_ring_stamp(sequence, gyre_ring_salt(1));
    gyre_ring_wide_slot wide[2] = {{{0}}, {{0}}};
    void *table[sizeof(opencl_api) / sizeof(void *)];
    void *platform, *device, *context, *queue, *buffer, *program, *kernel;
    gyre_ring_payload got = {{0}, {0}};
    char *source;
    char log[4096] = "";
    opencl_api cl;
    int error = 0;

    if (gyre_dynlib_open(opencl_files, opencl_symbols, table, &opencl_library) != GYRE_OK)
        SKIP("there is no libOpenCL");
    memcpy(&cl, table, sizeof cl);
    if (cl.platforms(1, &platform, NULL) != 0 ||
        cl.devices(platform, ANY_DEVICE, 1, &device, NULL) != 0)
        SKIP("there is no OpenCL device");
    gyre_ring_wide_pack(&sent, stamp, &wide[0]);
    source = with_header(opencl_kernel);
    context = cl.context(NULL, 1, &device, NULL, NULL, &error);
    REQUIRE(source && context);
    queue = cl.queue(context, device, 0, &error);
    buffer = cl.buffer(context, READ_WRITE | COPY_HOST, sizeof wide, wide, &error);
    program = cl.program(context, 1, (const char *[]){source}, NULL, &error);
    REQUIRE(queue && buffer && program);
    if (cl.build(program, 1, &device, "-Werror", NULL, NULL) != 0) {
        cl.build_info(program, device, BUILD_LOG, sizeof log - 1, log, NULL);
        printf("%s\n", log);
        REQUIRE(!"OpenCL C takes it");
    }
    kernel = cl.kernel(program, "echo", &error);
    REQUIRE(kernel && cl.argument(kernel, 0, sizeof buffer, &buffer) == 0 &&
            cl.argument(kernel, 1, sizeof sequence, &sequence) == 0);
    CHECK(cl.task(queue, kernel, 1, NULL, &(size_t){1}, NULL, 0, NULL, NULL) == 0);
    CHECK(cl.read(queue, buffer, 1, 0, sizeof wide, wide, 0, NULL, NULL) == 0);
    CHECK(gyre_ring_wide_unpack(&wide[1], stamp, &got) == GYRE_RING_READY);
    CHECK(got.eight[3] == 0x100000000 && got.eight[0] == 1 && got.four[3] == 7);

    cl.release_kernel(kernel);
    cl.release_program(program);
    cl.release_buffer(buffer);
    cl.release_queue(queue);
    cl.release_context(context);
    free(source);
}

static const test_case cases[] = {
    TEST(nvrtc_compiles_it_to_whole_accesses),
    TEST(opencl_reads_and_writes_what_the_host_does),
};
TEST_MAIN(cases)
