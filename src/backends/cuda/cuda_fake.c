/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_fake: see cuda_fake.h. Device memory is the host's, work is done when it is submitted, and
 * the only kernel is "add", which two pointers and a u32 are given to.
 *
 * Built with FAKE_INIT as cuInit's answer, FAKE_OLD without a function that is needed, and
 * FAKE_BARE without those that are not.
 */
#include "backends/cuda/cuda_fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/cuda_api.h"
#include "gyre/common.h"

#ifndef FAKE_INIT
#define FAKE_INIT 0
#endif

#define ROW(name, parameters) GYRE_API int name parameters;
GYRE_CU_REQUIRED(ROW)
GYRE_CU_OPTIONAL(ROW)
#undef ROW

GYRE_API extern cuda_fake_state cuda_fake;
cuda_fake_state cuda_fake;

enum { DEVICES = 2, DEPTH = 8, NODES = 32 };

struct gyre_cu_context {
    int device;
};

struct gyre_cu_stream {
    gyre_cu_context *context;
};

struct gyre_cu_event {
    int recorded;
};

struct gyre_cu_module {
    int unused;
};

struct gyre_cu_function {
    int unused;
};

struct gyre_cu_graph_node {
    enum { KERNEL, COPY, FILL } kind;
    gyre_cu_box box;
    gyre_cu_fill_node fill;
    uint64_t arguments[3];
};

struct gyre_cu_graph {
    gyre_cu_graph_node nodes[NODES];
    size_t count;
};

struct gyre_cu_graph_exec {
    gyre_cu_graph *graph;
};

static _Thread_local gyre_cu_context *stack[DEPTH];
static _Thread_local int depth;
static gyre_cu_function add;

static void *make(size_t size)
{
    void *block = calloc(1, size);

    if (!block)
        abort();
    return block;
}

static gyre_cu_context *current(void)
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
    *context = make(sizeof **context);
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
    *context = current();
    return 0;
}

int cuCtxGetDevice(int *device)
{
    if (!current())
        return 201;
    *device = current()->device;
    return 0;
}

int cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return current() ? 0 : 201;
}

int cuCtxEnablePeerAccess(gyre_cu_context *peer, unsigned flags)
{
    (void)flags;
    return peer && current() ? 0 : 201;
}

int cuMemGetInfo_v2(size_t *available, size_t *total)
{
    *available = (size_t)1 << 29;
    *total = (size_t)1 << 30;
    return current() ? 0 : 201;
}

/* The block is `misalign` bytes into what malloc gave, which is one page before it. */
int cuMemAlloc_v2(void **address, size_t bytes)
{
    const size_t room = (bytes + cuda_fake.misalign + 4095) / 4096 * 4096;
    char *block;

    if (!current())
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
    if (!current())
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

static int in_place(const gyre_cu_stream *stream)
{
    return stream && stream->context == current();
}

int cuMemcpyAsync(void *to, const void *from, size_t bytes, gyre_cu_stream *stream)
{
    if (!in_place(stream))
        return 400;
    memcpy(to, from, bytes);
    cuda_fake.rows++;
    return 0;
}

int cuMemcpyPeerAsync(void *to, gyre_cu_context *to_context, const void *from,
                      gyre_cu_context *from_context, size_t bytes, gyre_cu_stream *stream)
{
    if (!in_place(stream) || to_context != current() || !from_context)
        return 400;
    memcpy(to, from, bytes);
    cuda_fake.peers++;
    return 0;
}

static void copy_box(const gyre_cu_box *box)
{
    for (size_t z = 0; z < box->depth; z++)
        for (size_t y = 0; y < box->height; y++) {
            char *to;
            const char *from =
                (const char *)box->from.device + (z * box->from.height + y) * box->from.pitch;

            memcpy(&to, &box->to.device, sizeof to);
            memcpy(to + (z * box->to.height + y) * box->to.pitch, from, box->width_bytes);
        }
    cuda_fake.boxes++;
}

static int sound(const gyre_cu_box *box)
{
    return box->from.memory_type == GYRE_CU_MEMORY_UNIFIED &&
           box->to.memory_type == GYRE_CU_MEMORY_UNIFIED && box->from.pitch >= box->width_bytes &&
           box->to.pitch >= box->width_bytes && box->height > 0 && box->depth > 0;
}

int cuMemcpy3DAsync_v2(const gyre_cu_box *box, gyre_cu_stream *stream)
{
    if (!in_place(stream) || !sound(box))
        return 1;
    copy_box(box);
    return 0;
}

static void fill(const gyre_cu_fill_node *node)
{
    for (size_t y = 0; y < node->height; y++)
        for (size_t x = 0; x < node->width; x++)
            memcpy((char *)node->to + y * node->pitch + x * node->element_bytes, &node->value,
                   node->element_bytes);
}

int cuMemsetD8Async(void *to, unsigned char value, size_t count, gyre_cu_stream *stream)
{
    fill(&(gyre_cu_fill_node){to, 0, value, 1, count, 1});
    return in_place(stream) ? 0 : 400;
}

int cuMemsetD16Async(void *to, unsigned short value, size_t count, gyre_cu_stream *stream)
{
    fill(&(gyre_cu_fill_node){to, 0, value, 2, count, 1});
    return in_place(stream) ? 0 : 400;
}

int cuMemsetD32Async(void *to, unsigned value, size_t count, gyre_cu_stream *stream)
{
    fill(&(gyre_cu_fill_node){to, 0, value, 4, count, 1});
    return in_place(stream) ? 0 : 400;
}

int cuMemsetD2D32Async(void *to, size_t pitch, unsigned value, size_t width, size_t height,
                       gyre_cu_stream *stream)
{
    fill(&(gyre_cu_fill_node){to, pitch, value, 4, width, height});
    cuda_fake.two_d++;
    return in_place(stream) ? 0 : 400;
}

int cuStreamCreateWithPriority(gyre_cu_stream **stream, unsigned flags, int priority)
{
    if (!current() || flags != 1)
        return 1;
    *stream = make(sizeof **stream);
    (*stream)->context = current();
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
    return in_place(stream) ? cuda_fake.stream_result : 400;
}

int cuStreamGetCtx(gyre_cu_stream *stream, gyre_cu_context **context)
{
    *context = stream->context;
    return 0;
}

int cuStreamWaitEvent(gyre_cu_stream *stream, gyre_cu_event *event, unsigned flags)
{
    return in_place(stream) && event && flags == 0 ? 0 : 400;
}

int cuEventCreate(gyre_cu_event **event, unsigned flags)
{
    if (!current() || (flags != 0 && flags != 2))
        return 1;
    *event = make(sizeof **event);
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
    return in_place(stream) ? 0 : 400;
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

int cuModuleLoadDataEx(gyre_cu_module **module, const void *image, unsigned count, int *options,
                       void **values)
{
    size_t room;

    memcpy(&room, &values[1], sizeof room);
    if (count != 2 || options[0] != 5 || options[1] != 6 || room < 100)
        return 1;
    if (strncmp(image, "FAKE", 4) != 0 && strncmp(image, "\177ELF", 4) != 0) {
        snprintf(values[0], room, "ptxas: this is no PTX");
        return strncmp(image, "OTHER", 5) == 0 ? 209 : 200;
    }
    *module = make(sizeof **module);
    cuda_fake.modules++;
    return 0;
}

int cuModuleUnload(gyre_cu_module *module)
{
    free(module);
    cuda_fake.modules--;
    return 0;
}

int cuModuleGetFunction(gyre_cu_function **function, gyre_cu_module *module, const char *name)
{
    *function = &add;
    return module && strcmp(name, "add") == 0 ? 0 : 500;
}

int cuFuncGetAttribute(int *value, int attribute, gyre_cu_function *function)
{
    static const int values[] = {1024, 1024, 0, 16, 40};

    *value = attribute >= 0 && attribute <= 4 ? values[attribute] : 0;
    return function ? 0 : 400;
}

int cuFuncSetAttribute(gyre_cu_function *function, int attribute, int value)
{
    if (attribute == GYRE_CU_FUNCTION_DYNAMIC)
        cuda_fake.dynamic_shared = value;
    return function ? 0 : 400;
}

static void read_arguments(const void **parameters, uint64_t arguments[3])
{
    uint32_t count;

    memcpy(&arguments[0], parameters[0], 8);
    memcpy(&arguments[1], parameters[1], 8);
    memcpy(&count, parameters[2], 4);
    arguments[2] = count;
}

/* NOLINTNEXTLINE(readability-function-size): as many parameters as the driver's */
int cuLaunchKernel(gyre_cu_function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   gyre_cu_stream *stream, const void **parameters, void **extra)
{
    if (!function || !in_place(stream) || extra)
        return 400;
    if (cuda_fake.launch_result)
        return cuda_fake.launch_result;
    cuda_fake.grid[0] = grid_x, cuda_fake.grid[1] = grid_y, cuda_fake.grid[2] = grid_z;
    cuda_fake.block[0] = block_x, cuda_fake.block[1] = block_y, cuda_fake.block[2] = block_z;
    cuda_fake.shared_bytes = shared_bytes;
    read_arguments(parameters, cuda_fake.arguments);
    return 0;
}

/* NOLINTNEXTLINE(readability-function-size): as many parameters as the driver's */
int cuLaunchCooperativeKernel(gyre_cu_function *function, unsigned grid_x, unsigned grid_y,
                              unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                              unsigned shared_bytes, gyre_cu_stream *stream,
                              const void **parameters)
{
    cuda_fake.cooperative++;
    return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                          stream, parameters, NULL);
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, gyre_cu_function *function,
                                                int threads, size_t shared_bytes)
{
    *blocks = threads > 0 && shared_bytes <= 232448 ? 2048 / threads : 0;
    return function ? 0 : 400;
}

int cuGraphCreate(gyre_cu_graph **graph, unsigned flags)
{
    *graph = make(sizeof **graph);
    cuda_fake.graphs++;
    return (int)flags;
}

int cuGraphDestroy(gyre_cu_graph *graph)
{
    free(graph);
    cuda_fake.graphs--;
    return 0;
}

/* What a node waits for is there, and is named once. */
static gyre_cu_graph_node *node_after(gyre_cu_graph *graph, gyre_cu_graph_node *const *after,
                                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (after[i] < graph->nodes || after[i] >= graph->nodes + graph->count)
            return NULL;
        for (size_t j = 0; j < i; j++)
            if (after[i] == after[j])
                return NULL;
    }
    return graph->count < NODES ? &graph->nodes[graph->count++] : NULL;
}

int cuGraphAddKernelNode(gyre_cu_graph_node **node, gyre_cu_graph *graph,
                         gyre_cu_graph_node *const *after, size_t after_count,
                         const gyre_cu_kernel_node *parameters)
{
    *node = node_after(graph, after, after_count);
    if (!*node || !parameters->function)
        return 1;
    (*node)->kind = KERNEL;
    read_arguments(parameters->parameters, (*node)->arguments);
    return 0;
}

int cuGraphAddMemcpyNode(gyre_cu_graph_node **node, gyre_cu_graph *graph,
                         gyre_cu_graph_node *const *after, size_t after_count,
                         const gyre_cu_box *box, gyre_cu_context *context)
{
    *node = node_after(graph, after, after_count);
    if (!*node || context != current() || !sound(box))
        return 1;
    (*node)->kind = COPY;
    (*node)->box = *box;
    return 0;
}

#ifndef FAKE_OLD
int cuGraphAddMemsetNode(gyre_cu_graph_node **node, gyre_cu_graph *graph,
                         gyre_cu_graph_node *const *after, size_t after_count,
                         const gyre_cu_fill_node *what, gyre_cu_context *context)
{
    *node = node_after(graph, after, after_count);
    if (!*node || context != current())
        return 1;
    (*node)->kind = FILL;
    (*node)->fill = *what;
    return 0;
}
#endif

int cuGraphInstantiateWithFlags(gyre_cu_graph_exec **exec, gyre_cu_graph *graph,
                                unsigned long long flags)
{
    *exec = make(sizeof **exec);
    (*exec)->graph = graph;
    cuda_fake.execs++;
    return (int)flags;
}

int cuGraphExecKernelNodeSetParams(gyre_cu_graph_exec *exec, gyre_cu_graph_node *node,
                                   const gyre_cu_kernel_node *parameters)
{
    read_arguments(parameters->parameters, node->arguments);
    return exec && node->kind == KERNEL ? 0 : 1;
}

int cuGraphLaunch(gyre_cu_graph_exec *exec, gyre_cu_stream *stream)
{
    if (!in_place(stream))
        return 400;
    for (size_t i = 0; i < exec->graph->count; i++) {
        const gyre_cu_graph_node *node = &exec->graph->nodes[i];

        cuda_fake.submitted_nodes++;
        if (node->kind == COPY)
            copy_box(&node->box);
        else if (node->kind == FILL)
            fill(&node->fill);
        else
            memcpy(cuda_fake.arguments, node->arguments, sizeof node->arguments);
    }
    return 0;
}

int cuGraphExecDestroy(gyre_cu_graph_exec *exec)
{
    free(exec);
    cuda_fake.execs--;
    return 0;
}

#ifndef FAKE_BARE
int cuFuncLoad(gyre_cu_function *function)
{
    cuda_fake.loaded++;
    return function ? 0 : 400;
}

int cuFuncGetParamInfo(gyre_cu_function *function, size_t index, size_t *offset, size_t *size)
{
    if (!function || index > 2)
        return 1;
    *offset = index * 8;
    *size = index == 2 ? 4 : 8;
    return 0;
}

int cuGraphKernelNodeSetAttribute(gyre_cu_graph_node *node, int attribute,
                                  const gyre_cu_attribute *value)
{
    if (attribute == GYRE_CU_NODE_COOPERATIVE && value->cooperative == 1)
        cuda_fake.cooperative++;
    return node->kind == KERNEL ? 0 : 1;
}

int cuEventElapsedTime_v2(float *ms, gyre_cu_event *from, gyre_cu_event *to)
{
    return cuEventElapsedTime(ms, from, to);
}

int cuStreamBatchMemOp_v2(gyre_cu_stream *stream, unsigned count, gyre_cu_word *words,
                          unsigned flags)
{
    if (!in_place(stream) || flags != 0)
        return 400;
    for (unsigned i = 0; i < count; i++) {
        if (words[i].one.operation == GYRE_CU_WORD_WAIT) {
            cuda_fake.awaited += words[i].one.flags == GYRE_CU_WORD_EQUAL;
        } else if (words[i].one.operation == GYRE_CU_WORD_WRITE && words[i].one.flags == 0) {
            *(uint32_t *)words[i].one.address = (uint32_t)words[i].one.value;
            cuda_fake.written++;
        } else {
            return 1;
        }
    }
    return 0;
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
