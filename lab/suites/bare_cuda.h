/* SPDX-License-Identifier: Apache-2.0
 *
 * bare_cuda: the CUDA driver without Gyre: the floor beside what Gyre does with it.
 *
 * A context that spins while it waits, a stream, and the kernels `count` and `relu` as suites have
 * them (suites/device_kernels.h), from PTX. Calls are made through the table, with nothing in
 * between; what fails is counted, so that a check can refuse the figure.
 *
 * Threads   the one that opened it: the context is current there until it is closed.
 * Owns      the library, context, stream and module.
 */
#ifndef GYRE_SUITES_BARE_CUDA_H
#define GYRE_SUITES_BARE_CUDA_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/bench.h"

/* The driver's types, as its headers have them. */
typedef int gyre_cu_result; /* 0: well */
typedef uint64_t gyre_cu_pointer;
typedef struct gyre_cu_context_ *gyre_cu_context;
typedef struct gyre_cu_stream_ *gyre_cu_stream;
typedef struct gyre_cu_module_ *gyre_cu_module;
typedef struct gyre_cu_function_ *gyre_cu_function;
typedef struct gyre_cu_event_ *gyre_cu_event;
typedef struct gyre_cu_graph_ *gyre_cu_graph;
typedef struct gyre_cu_exec_ *gyre_cu_exec;

/* Every call: X(member, symbol, parameters). */
/* clang-format off */
#define GYRE_BARE_CUDA(X)                                                                          \
    X(init, "cuInit", (unsigned flags))                                                            \
    X(device_get, "cuDeviceGet", (int *device, int ordinal))                                       \
    X(context_create, "cuCtxCreate_v2", (gyre_cu_context *context, unsigned flags, int device))    \
    X(context_destroy, "cuCtxDestroy_v2", (gyre_cu_context context))                               \
    X(context_set, "cuCtxSetCurrent", (gyre_cu_context context))                                   \
    X(module_load, "cuModuleLoadData", (gyre_cu_module *module, const void *image))                \
    X(module_unload, "cuModuleUnload", (gyre_cu_module module))                                    \
    X(function_get, "cuModuleGetFunction",                                                         \
      (gyre_cu_function *function, gyre_cu_module module, const char *name))                       \
    X(stream_create, "cuStreamCreate", (gyre_cu_stream *stream, unsigned flags))                   \
    X(stream_destroy, "cuStreamDestroy_v2", (gyre_cu_stream stream))                               \
    X(stream_sync, "cuStreamSynchronize", (gyre_cu_stream stream))                                 \
    X(launch, "cuLaunchKernel",                                                                    \
      (gyre_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,               \
       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,                \
       gyre_cu_stream stream, void **parameters, void **extra))                                    \
    X(memory_take, "cuMemAlloc_v2", (gyre_cu_pointer *pointer, size_t size))                       \
    X(memory_give, "cuMemFree_v2", (gyre_cu_pointer pointer))                                      \
    X(pinned_take, "cuMemHostAlloc", (void **pointer, size_t size, unsigned flags))                \
    X(pinned_give, "cuMemFreeHost", (void *pointer))                                               \
    X(copy_in, "cuMemcpyHtoD_v2", (gyre_cu_pointer to, const void *from, size_t size))             \
    X(copy_out, "cuMemcpyDtoH_v2", (void *to, gyre_cu_pointer from, size_t size))                  \
    X(copy_in_async, "cuMemcpyHtoDAsync_v2",                                                       \
      (gyre_cu_pointer to, const void *from, size_t size, gyre_cu_stream stream))                  \
    X(copy_out_async, "cuMemcpyDtoHAsync_v2",                                                      \
      (void *to, gyre_cu_pointer from, size_t size, gyre_cu_stream stream))                        \
    X(event_create, "cuEventCreate", (gyre_cu_event *event, unsigned flags))                       \
    X(event_destroy, "cuEventDestroy_v2", (gyre_cu_event event))                                   \
    X(event_record, "cuEventRecord", (gyre_cu_event event, gyre_cu_stream stream))                 \
    X(event_sync, "cuEventSynchronize", (gyre_cu_event event))                                     \
    X(capture_begin, "cuStreamBeginCapture_v2", (gyre_cu_stream stream, int mode))                 \
    X(capture_end, "cuStreamEndCapture", (gyre_cu_stream stream, gyre_cu_graph *graph))            \
    X(graph_instantiate, "cuGraphInstantiateWithFlags",                                            \
      (gyre_cu_exec *exec, gyre_cu_graph graph, unsigned long long flags))                         \
    X(graph_launch, "cuGraphLaunch", (gyre_cu_exec exec, gyre_cu_stream stream))                   \
    X(exec_destroy, "cuGraphExecDestroy", (gyre_cu_exec exec))                                     \
    X(graph_destroy, "cuGraphDestroy", (gyre_cu_graph graph))                                      \
    X(pool_take, "cuMemAllocAsync", (gyre_cu_pointer *pointer, size_t size, gyre_cu_stream stream))\
    X(pool_give, "cuMemFreeAsync", (gyre_cu_pointer pointer, gyre_cu_stream stream))               \
    X(error_name, "cuGetErrorName", (gyre_cu_result result, const char **name))
/* clang-format on */

/* An element of .axes: bare cases are named by their device as Gyre's beside them are. */
#define GYRE_BARE_CUDA_AXIS GYRE_AXIS_WORDS("device", "cuda")

/* Flags: an event that tells no time, a stream that does not wait for the default one. */
enum { GYRE_CU_EVENT_NO_TIMING = 2, GYRE_CU_STREAM_NON_BLOCKING = 1 };

typedef struct gyre_bare_cuda {
#define GYRE_BARE_CUDA_MEMBER(member, symbol, parameters) gyre_cu_result(*member) parameters;
    GYRE_BARE_CUDA(GYRE_BARE_CUDA_MEMBER)
#undef GYRE_BARE_CUDA_MEMBER
    void *library;
    const char *title; /* of the device; static */
    gyre_cu_context context;
    gyre_cu_stream stream;
    gyre_cu_module module;
    gyre_cu_function count; /* (pointer to u64) */
    gyre_cu_function relu;  /* (pointer, pointer, u32) */
    uint64_t failures;      /* of the calls that gyre_bare_cuda_did was asked about */
} gyre_bare_cuda;

/* GYRE_UNAVAILABLE with the reason where Gyre has no CUDA device either. What was opened before a
 * failure is closed again. */
GYRE_MUST_USE gyre_status gyre_bare_cuda_open(gyre_bare_cuda *cuda);

/* Ends an open one, or half of one. */
void gyre_bare_cuda_close(gyre_bare_cuda *cuda);

/* For set-ups: GYRE_OK, or a refusal that names the call and the driver's error. */
GYRE_MUST_USE gyre_status gyre_bare_cuda_checked(const gyre_bare_cuda *cuda, const char *call,
                                                 gyre_cu_result result);

/* For what is timed: counts a failure, and goes on. */
GYRE_INLINE void gyre_bare_cuda_did(gyre_bare_cuda *cuda, gyre_cu_result result)
{
    cuda->failures += result != 0;
}

/* Reports which device it was. */
void gyre_bare_cuda_tell(const gyre_bare_cuda *cuda, gyre_bench_facts *facts);

#endif
