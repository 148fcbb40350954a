/* SPDX-License-Identifier: Apache-2.0
 *
 * bare_cuda: see bare_cuda.h.
 */
#include "suites/bare_cuda.h"

#include <dlfcn.h>
#include <string.h>

#include "suites/device_clock.h"

enum { SCHEDULE_SPIN = 1 };

static const char ptx[] =
    ".version 6.4\n"
    ".target sm_60\n"
    ".address_size 64\n"
    ".visible .entry count(.param .u64 counter)\n"
    "{\n"
    "    .reg .u64 %p, %n;\n"
    "    ld.param.u64 %p, [counter];\n"
    "    cvta.to.global.u64 %p, %p;\n"
    "    ld.global.u64 %n, [%p];\n"
    "    add.u64 %n, %n, 1;\n"
    "    st.global.u64 [%p], %n;\n"
    "    ret;\n"
    "}\n"
    ".visible .entry relu(.param .u64 in, .param .u64 out, .param .u32 count)\n"
    "{\n"
    "    .reg .pred %past;\n"
    "    .reg .u32 %i, %most, %block, %threads;\n"
    "    .reg .u64 %from, %to, %at;\n"
    "    .reg .f32 %x;\n"
    "    ld.param.u64 %from, [in];\n"
    "    ld.param.u64 %to, [out];\n"
    "    ld.param.u32 %most, [count];\n"
    "    mov.u32 %block, %ctaid.x;\n"
    "    mov.u32 %threads, %ntid.x;\n"
    "    mov.u32 %i, %tid.x;\n"
    "    mad.lo.u32 %i, %block, %threads, %i;\n"
    "    setp.ge.u32 %past, %i, %most;\n"
    "    @%past ret;\n"
    "    cvta.to.global.u64 %from, %from;\n"
    "    cvta.to.global.u64 %to, %to;\n"
    "    mul.wide.u32 %at, %i, 4;\n"
    "    add.u64 %from, %from, %at;\n"
    "    add.u64 %to, %to, %at;\n"
    "    ld.global.f32 %x, [%from];\n"
    "    max.f32 %x, %x, 0f00000000;\n"
    "    st.global.f32 [%to], %x;\n"
    "    ret;\n"
    "}\n";

gyre_status gyre_bare_cuda_checked(const gyre_bare_cuda *cuda, const char *call,
                                   gyre_cu_result result)
{
    const char *name = NULL;

    if (result == 0)
        return GYRE_OK;
    if (cuda->error_name(result, &name) != 0 || !name)
        name = "an error without a name";
    return gyre_bench_refuse(GYRE_DEVICE_LOST, "%s: %s (%d)", call, name, result);
}

static gyre_status find_symbols(gyre_bare_cuda *cuda)
{
    void *symbol;

    cuda->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!cuda->library)
        return gyre_bench_refuse(GYRE_UNAVAILABLE, "libcuda.so.1 cannot be opened");
#define FIND(member, name, parameters)                                                             \
    symbol = dlsym(cuda->library, name);                                                           \
    if (!symbol)                                                                                   \
        return gyre_bench_refuse(GYRE_UNAVAILABLE, "libcuda.so.1 has no " name);                   \
    memcpy(&cuda->member, &symbol, sizeof symbol);
    GYRE_BARE_CUDA(FIND)
#undef FIND
    return GYRE_OK;
}

static gyre_status load(gyre_bare_cuda *cuda)
{
    gyre_status status =
        gyre_bare_cuda_checked(cuda, "cuModuleLoadData", cuda->module_load(&cuda->module, ptx));

    if (status == GYRE_OK)
        status = gyre_bare_cuda_checked(cuda, "cuModuleGetFunction",
                                        cuda->function_get(&cuda->count, cuda->module, "count"));
    if (status == GYRE_OK)
        status = gyre_bare_cuda_checked(cuda, "cuModuleGetFunction",
                                        cuda->function_get(&cuda->relu, cuda->module, "relu"));
    return status;
}

static gyre_status open_device(gyre_bare_cuda *cuda, const gyre_device *found)
{
    int device = 0;
    gyre_status status = gyre_bare_cuda_checked(cuda, "cuInit", cuda->init(0));

    if (status == GYRE_OK)
        status = gyre_bare_cuda_checked(cuda, "cuDeviceGet",
                                        cuda->device_get(&device, (int)found->index));
    if (status == GYRE_OK)
        status = gyre_bare_cuda_checked(
            cuda, "cuCtxCreate", cuda->context_create(&cuda->context, SCHEDULE_SPIN, device));
    if (status == GYRE_OK)
        status =
            gyre_bare_cuda_checked(cuda, "cuStreamCreate",
                                   cuda->stream_create(&cuda->stream, GYRE_CU_STREAM_NON_BLOCKING));
    return status == GYRE_OK ? load(cuda) : status;
}

gyre_status gyre_bare_cuda_open(gyre_bare_cuda *cuda)
{
    const gyre_device *found;
    gyre_status status;

    *cuda = (gyre_bare_cuda){0};
    status = gyre_bench_device_find("cuda", &found);
    if (status != GYRE_OK)
        return status;
    cuda->title = found->title;
    status = find_symbols(cuda);
    if (status == GYRE_OK)
        status = open_device(cuda, found);
    if (status != GYRE_OK)
        gyre_bare_cuda_close(cuda); /* accepts a half-built one */
    return status;
}

void gyre_bare_cuda_close(gyre_bare_cuda *cuda)
{
    if (cuda->module)
        cuda->module_unload(cuda->module);
    if (cuda->stream)
        cuda->stream_destroy(cuda->stream);
    if (cuda->context)
        cuda->context_destroy(cuda->context);
    if (cuda->library)
        dlclose(cuda->library);
    *cuda = (gyre_bare_cuda){0};
}

void gyre_bare_cuda_tell(const gyre_bare_cuda *cuda, gyre_bench_facts *facts)
{
    gyre_bench_note(facts, "device", cuda->title);
}
