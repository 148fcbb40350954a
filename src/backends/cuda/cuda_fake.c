/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_fake: see cuda_fake.h. Devices, contexts, memory, streams and events. Device memory is the
 * host's, work is done when it is submitted.
 *
 * Built with FAKE_INIT as cuInit's answer, FAKE_OLD without a function that is needed, and
 * FAKE_BARE without those that are not.
 *
 * Not here  kernels, copies and fills (cuda_fake_work.c), graphs (cuda_fake_graph.c).
 */
#include "backends/cuda/cuda_fake_driver.h"

#include <stdio.h>
#include <stdlib.h>

#ifndef FAKE_INIT
#define FAKE_INIT 0
#endif

cuda_fake_state cuda_fake;

enum { DEVICES = 2, DEPTH = 8 };

static _Thread_local gyre_cu_context *stack[DEPTH];
static _Thread_local int depth;

void *fake_make(size_t size)
{
    void *block = calloc(1, size);

    if (!block)
        abort();
    return block;
}

gyre_cu_context *fake_current(void)
{
    return depth > 0 ? stack[depth - 1] : NULL;
}

int cuInit(unsigned flags)
{
    return flags == 0 ? FAKE_INIT : 1;
}

int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

int cuGetErrorName(int error, const char **name)
{
    switch (error) {
#define ERROR(ours, theirs, value)                                                                 \
    case value:                                                                                    \
        *name = #theirs;                                                                           \
        return 0;
        ERROR(GYRE_CU_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, 2)
        ERROR(GYRE_CU_NO_DEVICE, CUDA_ERROR_NO_DEVICE, 100)
        ERROR(GYRE_CU_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE, 200)
        ERROR(GYRE_CU_NOT_FOUND, CUDA_ERROR_NOT_FOUND, 500)
        ERROR(GYRE_CU_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS, 700)
#undef ERROR
    default:
        return 1;
    }
}

int cuDeviceGetCount(int *count)
{
    *count = DEVICES;
    return 0;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return ordinal >= 0 && ordinal < DEVICES ? 0 : 101;
}

int cuDeviceGetName(char *name, int size, int device)
{
    snprintf(name, (size_t)size, "Fake %d", device);
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    static const int values[][2] = {
        {GYRE_CU_DEVICE_THREADS, 1024},      {GYRE_CU_DEVICE_SHARED, 49152},
        {GYRE_CU_DEVICE_WARP, 32},           {GYRE_CU_DEVICE_UNITS, 4},
        {GYRE_CU_DEVICE_CLOCK_KHZ, 1980000}, {GYRE_CU_DEVICE_UNIFIED, 1},
        {GYRE_CU_DEVICE_MAJOR, 9},           {GYRE_CU_DEVICE_MAPS_HOST, 1},
        {GYRE_CU_DEVICE_COOPERATIVE, 1},     {GYRE_CU_DEVICE_SHARED_OPT_IN, 232448},
        {GYRE_CU_DEVICE_BLOCK_X, 1024},      {GYRE_CU_DEVICE_GRID_X + 2, 65535},
    };

    (void)device;
    *value = attribute == GYRE_CU_DEVICE_COMPUTE_MODE ? cuda_fake.compute_mode : 0;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (values[i][0] == attribute)
            *value = values[i][1];
    return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = (size_t)1 << 30;
    return 0;
}

int cuDeviceGetPCIBusId(char *text, int size, int device)
{
    snprintf(text, (size_t)size, "0000:A%d:00.0", device);
    return 0;
}

int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = device != peer;
    return 0;
}

int cuCtxCreate_v2(gyre_cu_context **context, unsigned flags, int device)
{
    (void)flags;
    if (cuda_fake.create_result)
        return cuda_fake.create_result;
    *context = fake_make(sizeof **context);
    (*context)->device = device;
    cuda_fake.contexts++;
    return cuCtxPushCurrent_v2(*context);
}

int cuCtxDestroy_v2(gyre_cu_context *context)
{
    free(context);
    cuda_fake.contexts--;
    cuda_fake.destroyed++;
    return 0;
}

int cuCtxPushCurrent_v2(gyre_cu_context *context)
{
    if (depth == DEPTH)
        return 201;
    stack[depth++] = context;
    return 0;
}

int cuCtxPopCurrent_v2(gyre_cu_context **context)
{
    if (depth == 0)
        return 201;
    *context = stack[--depth];
    return 0;
}

int cuCtxGetCurrent(gyre_cu_context **context)
{
    *context = fake_current();
    return 0;
}

int cuCtxGetDevice(int *device)
{
    if (!fake_current())
        return 201;
    *device = fake_current()->device;
    return 0;
}

int cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return fake_current() ? 0 : 201;
}

int cuCtxEnablePeerAccess(gyre_cu_context *peer, unsigned flags)
{
    (void)flags;
    return peer && fake_current() ? 0 : 201;
}

int cuMemGetInfo_v2(size_t *available, size_t *total)
{
    *available = (size_t)1 << 29;
    *total = (size_t)1 << 30;
    return fake_current() ? 0 : 201;
}

/* The block is `misalign` bytes into what malloc gave, which is one page before it. */
int cuMemAlloc_v2(void **address, size_t bytes)
{
    const size_t room = (bytes + cuda_fake.misalign + 4095) / 4096 * 4096;
    char *block;

    if (!fake_current())
        return 201;
    if (bytes > (size_t)1 << 30)
        return 2;
    if (cuda_fake.alloc_result)
        return cuda_fake.alloc_result;
    block = aligned_alloc(4096, room);
    if (!block)
        return 2;
    *address = block + cuda_fake.misalign;
    cuda_fake.blocks++;
    return 0;
}

int cuMemFree_v2(void *address)
{
    if (!fake_current())
        return 201;
    free((char *)address - cuda_fake.misalign);
    cuda_fake.blocks--;
    return 0;
}

int cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
    return flags == 3 ? cuMemAlloc_v2(address, bytes) : 1;
}

int cuMemFreeHost(void *address)
{
    return cuMemFree_v2(address);
}

int fake_in_place(const gyre_cu_stream *stream)
{
    return stream && stream->context == fake_current();
}

int cuStreamCreateWithPriority(gyre_cu_stream **stream, unsigned flags, int priority)
{
    if (!fake_current() || flags != 1)
        return 1;
    *stream = fake_make(sizeof **stream);
    (*stream)->context = fake_current();
    cuda_fake.priority = priority;
    cuda_fake.streams++;
    return 0;
}

int cuStreamDestroy_v2(gyre_cu_stream *stream)
{
    free(stream);
    cuda_fake.streams--;
    return 0;
}

int cuStreamQuery(gyre_cu_stream *stream)
{
    return fake_in_place(stream) ? cuda_fake.stream_result : 400;
}

int cuStreamGetCtx(gyre_cu_stream *stream, gyre_cu_context **context)
{
    *context = stream->context;
    return 0;
}

int cuStreamWaitEvent(gyre_cu_stream *stream, gyre_cu_event *event, unsigned flags)
{
    return fake_in_place(stream) && event && flags == 0 ? 0 : 400;
}

int cuEventCreate(gyre_cu_event **event, unsigned flags)
{
    if (!fake_current() || (flags != 0 && flags != 2))
        return 1;
    *event = fake_make(sizeof **event);
    cuda_fake.events++;
    return 0;
}

int cuEventDestroy_v2(gyre_cu_event *event)
{
    free(event);
    cuda_fake.events--;
    return 0;
}

int cuEventRecord(gyre_cu_event *event, gyre_cu_stream *stream)
{
    event->recorded = 1;
    return fake_in_place(stream) ? 0 : 400;
}

int cuEventQuery(gyre_cu_event *event)
{
    return event->recorded ? 0 : 600;
}

int cuEventElapsedTime(float *ms, gyre_cu_event *from, gyre_cu_event *to)
{
    *ms = 0.5F;
    return from->recorded && to->recorded ? 0 : 600;
}

#ifndef FAKE_BARE
int cuEventElapsedTime_v2(float *ms, gyre_cu_event *from, gyre_cu_event *to)
{
    return cuEventElapsedTime(ms, from, to);
}

int cuMemGetHandleForAddressRange(void *handle, void *address, size_t size, int type,
                                  unsigned long long flags)
{
    if (!address || size == 0 || type != GYRE_CU_RANGE_DMA_BUF || flags != 0)
        return 1;
    if (cuda_fake.range_result == 0)
        *(int *)handle = cuda_fake.range_fd;
    return cuda_fake.range_result;
}
#endif
