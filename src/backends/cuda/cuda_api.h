/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_api: as much of the interface of NVIDIA's driver as is used here, declared by us.
 *
 * No toolkit is needed to build, and the names do not clash with cuda.h, so that a test compares
 * the two where there is one (cuda_api_test.c). Functions are those that libcuda.so.1 exports, with
 * the suffix of the version that is meant. Addresses of device memory (CUdeviceptr, an integer of
 * 64 bits) are declared as pointers, which are passed and stored in the same way on every machine
 * we build for, and every handle is a pointer to something unknown.
 *
 * Threads   plain declarations.
 * Owns      nothing.
 * Not here  opening it (cuda_driver.c), NVRTC (cuda_nvrtc.c), NVML (cuda_nvml.c).
 */
#ifndef GYRE_BACKENDS_CUDA_API_H
#define GYRE_BACKENDS_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

_Static_assert(sizeof(void *) == 8, "device addresses are declared as pointers");

typedef struct gyre_cu_context gyre_cu_context;
typedef struct gyre_cu_stream gyre_cu_stream;
typedef struct gyre_cu_event gyre_cu_event;
typedef struct gyre_cu_module gyre_cu_module;
typedef struct gyre_cu_function gyre_cu_function;
typedef struct gyre_cu_graph gyre_cu_graph;
typedef struct gyre_cu_graph_node gyre_cu_graph_node;
typedef struct gyre_cu_graph_exec gyre_cu_graph_exec;

/* X(our name, the driver's name, value) */
/* clang-format off */
#define GYRE_CU_CONSTANTS(X)                                                                       \
    X(GYRE_CU_SUCCESS, CUDA_SUCCESS, 0)                                                            \
    X(GYRE_CU_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE, 1)                                          \
    X(GYRE_CU_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, 2)                                          \
    X(GYRE_CU_NOT_INITIALIZED, CUDA_ERROR_NOT_INITIALIZED, 3)                                      \
    X(GYRE_CU_DEINITIALIZED, CUDA_ERROR_DEINITIALIZED, 4)                                          \
    X(GYRE_CU_STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY, 34)                                           \
    X(GYRE_CU_NEWER_DRIVER, CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, 36)                             \
    X(GYRE_CU_DEVICE_UNAVAILABLE, CUDA_ERROR_DEVICE_UNAVAILABLE, 46)                               \
    X(GYRE_CU_NO_DEVICE, CUDA_ERROR_NO_DEVICE, 100)                                                \
    X(GYRE_CU_INVALID_DEVICE, CUDA_ERROR_INVALID_DEVICE, 101)                                      \
    X(GYRE_CU_NOT_LICENSED, CUDA_ERROR_DEVICE_NOT_LICENSED, 102)                                   \
    X(GYRE_CU_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE, 200)                                        \
    X(GYRE_CU_INVALID_CONTEXT, CUDA_ERROR_INVALID_CONTEXT, 201)                                    \
    X(GYRE_CU_NO_BINARY_FOR_GPU, CUDA_ERROR_NO_BINARY_FOR_GPU, 209)                                \
    X(GYRE_CU_ECC_UNCORRECTABLE, CUDA_ERROR_ECC_UNCORRECTABLE, 214)                                \
    X(GYRE_CU_INVALID_PTX, CUDA_ERROR_INVALID_PTX, 218)                                            \
    X(GYRE_CU_NVLINK_UNCORRECTABLE, CUDA_ERROR_NVLINK_UNCORRECTABLE, 220)                          \
    X(GYRE_CU_JIT_NOT_FOUND, CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221)                               \
    X(GYRE_CU_PTX_VERSION, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)                                \
    X(GYRE_CU_JIT_DISABLED, CUDA_ERROR_JIT_COMPILATION_DISABLED, 223)                              \
    X(GYRE_CU_CONTAINED, CUDA_ERROR_CONTAINED, 226)                                                \
    X(GYRE_CU_INVALID_SOURCE, CUDA_ERROR_INVALID_SOURCE, 300)                                      \
    X(GYRE_CU_OPERATING_SYSTEM, CUDA_ERROR_OPERATING_SYSTEM, 304)                                  \
    X(GYRE_CU_INVALID_HANDLE, CUDA_ERROR_INVALID_HANDLE, 400)                                      \
    X(GYRE_CU_NOT_FOUND, CUDA_ERROR_NOT_FOUND, 500)                                                \
    X(GYRE_CU_NOT_READY, CUDA_ERROR_NOT_READY, 600)                                                \
    X(GYRE_CU_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS, 700)                                    \
    X(GYRE_CU_OUT_OF_RESOURCES, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701)                           \
    X(GYRE_CU_LAUNCH_TIMEOUT, CUDA_ERROR_LAUNCH_TIMEOUT, 702)                                      \
    X(GYRE_CU_PEER_ALREADY_ENABLED, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704)                   \
    X(GYRE_CU_CONTEXT_DESTROYED, CUDA_ERROR_CONTEXT_IS_DESTROYED, 709)                             \
    X(GYRE_CU_ASSERT, CUDA_ERROR_ASSERT, 710)                                                      \
    X(GYRE_CU_HARDWARE_STACK, CUDA_ERROR_HARDWARE_STACK_ERROR, 714)                                \
    X(GYRE_CU_ILLEGAL_INSTRUCTION, CUDA_ERROR_ILLEGAL_INSTRUCTION, 715)                            \
    X(GYRE_CU_MISALIGNED, CUDA_ERROR_MISALIGNED_ADDRESS, 716)                                      \
    X(GYRE_CU_ADDRESS_SPACE, CUDA_ERROR_INVALID_ADDRESS_SPACE, 717)                                \
    X(GYRE_CU_INVALID_PC, CUDA_ERROR_INVALID_PC, 718)                                              \
    X(GYRE_CU_LAUNCH_FAILED, CUDA_ERROR_LAUNCH_FAILED, 719)                                        \
    X(GYRE_CU_COOPERATIVE_LARGE, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720)                     \
    X(GYRE_CU_TENSOR_LEAK, CUDA_ERROR_TENSOR_MEMORY_LEAK, 721)                                     \
    X(GYRE_CU_NOT_PERMITTED, CUDA_ERROR_NOT_PERMITTED, 800)                                        \
    X(GYRE_CU_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED, 801)                                        \
    X(GYRE_CU_SYSTEM_NOT_READY, CUDA_ERROR_SYSTEM_NOT_READY, 802)                                  \
    X(GYRE_CU_DRIVER_MISMATCH, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803)                             \
    X(GYRE_CU_COMPAT, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804)                              \
    X(GYRE_CU_MPS_CONNECTION, CUDA_ERROR_MPS_CONNECTION_FAILED, 805)                               \
    X(GYRE_CU_MPS_RPC, CUDA_ERROR_MPS_RPC_FAILURE, 806)                                            \
    X(GYRE_CU_MPS_NOT_READY, CUDA_ERROR_MPS_SERVER_NOT_READY, 807)                                 \
    X(GYRE_CU_MPS_CLIENTS, CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, 808)                                \
    X(GYRE_CU_MPS_CONNECTIONS, CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED, 809)                        \
    X(GYRE_CU_MPS_TERMINATED, CUDA_ERROR_MPS_CLIENT_TERMINATED, 810)                               \
    X(GYRE_CU_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900)                     \
    X(GYRE_CU_CAPTURE_THREAD, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908)                         \
    X(GYRE_CU_EXTERNAL_DEVICE, CUDA_ERROR_EXTERNAL_DEVICE, 911)                                    \
    X(GYRE_CU_UNKNOWN, CUDA_ERROR_UNKNOWN, 999)                                                    \
    X(GYRE_CU_DEVICE_THREADS, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1)                        \
    X(GYRE_CU_DEVICE_BLOCK_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 2)                              \
    X(GYRE_CU_DEVICE_GRID_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 5)                                \
    X(GYRE_CU_DEVICE_SHARED, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 8)                   \
    X(GYRE_CU_DEVICE_WARP, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10)                                      \
    X(GYRE_CU_DEVICE_CLOCK_KHZ, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 13)                                \
    X(GYRE_CU_DEVICE_UNITS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                          \
    X(GYRE_CU_DEVICE_TIME_LIMIT, CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, 17)                      \
    X(GYRE_CU_DEVICE_INTEGRATED, CU_DEVICE_ATTRIBUTE_INTEGRATED, 18)                               \
    X(GYRE_CU_DEVICE_MAPS_HOST, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 19)                       \
    X(GYRE_CU_DEVICE_COMPUTE_MODE, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, 20)                           \
    X(GYRE_CU_DEVICE_ECC, CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 32)                                     \
    X(GYRE_CU_DEVICE_L2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38)                                    \
    X(GYRE_CU_DEVICE_UNIT_THREADS, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 39)         \
    X(GYRE_CU_DEVICE_UNIFIED, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 41)                          \
    X(GYRE_CU_DEVICE_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                      \
    X(GYRE_CU_DEVICE_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                      \
    X(GYRE_CU_DEVICE_PRIORITIES, CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 78)              \
    X(GYRE_CU_DEVICE_COOPERATIVE, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 95)                      \
    X(GYRE_CU_DEVICE_SHARED_OPT_IN, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)     \
    X(GYRE_CU_COMPUTE_PROHIBITED, CU_COMPUTEMODE_PROHIBITED, 2)                                    \
    X(GYRE_CU_FUNCTION_THREADS, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)                        \
    X(GYRE_CU_FUNCTION_SHARED, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                             \
    X(GYRE_CU_FUNCTION_LOCAL, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3)                               \
    X(GYRE_CU_FUNCTION_REGISTERS, CU_FUNC_ATTRIBUTE_NUM_REGS, 4)                                   \
    X(GYRE_CU_FUNCTION_DYNAMIC, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)                \
    X(GYRE_CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BUFFER, 5)                                           \
    X(GYRE_CU_JIT_ERROR_LOG_BYTES, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)                          \
    X(GYRE_CU_CONTEXT_SPIN, CU_CTX_SCHED_SPIN, 1)                                                  \
    X(GYRE_CU_CONTEXT_MAP_HOST, CU_CTX_MAP_HOST, 8)                                                \
    X(GYRE_CU_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING, 1)                                      \
    X(GYRE_CU_EVENT_NO_TIMING, CU_EVENT_DISABLE_TIMING, 2)                                         \
    X(GYRE_CU_HOST_PORTABLE, CU_MEMHOSTALLOC_PORTABLE, 1)                                          \
    X(GYRE_CU_HOST_MAPPED, CU_MEMHOSTALLOC_DEVICEMAP, 2)                                           \
    X(GYRE_CU_MEMORY_UNIFIED, CU_MEMORYTYPE_UNIFIED, 4)                                            \
    X(GYRE_CU_NODE_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 2)                                \
    X(GYRE_CU_WORD_WAIT, CU_STREAM_MEM_OP_WAIT_VALUE_32, 1)                                        \
    X(GYRE_CU_WORD_WRITE, CU_STREAM_MEM_OP_WRITE_VALUE_32, 2)                                      \
    X(GYRE_CU_WORD_EQUAL, CU_STREAM_WAIT_VALUE_EQ, 1)                                              \
    X(GYRE_CU_WORD_IN_ORDER, CU_STREAM_WRITE_VALUE_DEFAULT, 0)                                     \
    X(GYRE_CU_RANGE_DMA_BUF, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 1)
/* clang-format on */

enum {
#define ROW(ours, theirs, value) ours = (value),
    GYRE_CU_CONSTANTS(ROW)
#undef ROW
};

/* CUDA_MEMCPY3D_v2 */
typedef struct gyre_cu_box_side {
    size_t x_bytes, y, z, lod;
    uint32_t memory_type;
    const void *host;
    const void *device;
    void *array;
    void *reserved;
    size_t pitch;
    size_t height;
} gyre_cu_box_side;

typedef struct gyre_cu_box {
    gyre_cu_box_side from, to;
    size_t width_bytes, height, depth;
} gyre_cu_box;

/* CUDA_KERNEL_NODE_PARAMS_v1: what the functions without a suffix take. */
typedef struct gyre_cu_kernel_node {
    gyre_cu_function *function;
    uint32_t grid[3], block[3];
    uint32_t shared_bytes;
    const void **parameters;
    void **extra;
} gyre_cu_kernel_node;

/* CUDA_MEMSET_NODE_PARAMS_v1 */
typedef struct gyre_cu_fill_node {
    void *to;
    size_t pitch;
    uint32_t value;
    uint32_t element_bytes;
    size_t width;
    size_t height;
} gyre_cu_fill_node;

/* CUlaunchAttributeValue */
typedef union gyre_cu_attribute {
    char pad[64];
    int cooperative;
    uint64_t aligned;
} gyre_cu_attribute;

/* CUstreamBatchMemOpParams_v1, of a wait or a write of 32 bits */
typedef union gyre_cu_word {
    struct {
        uint32_t operation;
        void *address;
        uint64_t value; /* the lower half of it */
        uint32_t flags;
        void *alias; /* the driver's */
    } one;
    uint64_t pad[6];
} gyre_cu_word;

/* X(name, parameters): all return a CUresult. */
/* clang-format off */
#define GYRE_CU_REQUIRED(X)                                                                        \
    X(cuInit, (unsigned flags))                                                                    \
    X(cuDriverGetVersion, (int *version))                                                          \
    X(cuGetErrorName, (int error, const char **name))                                              \
    X(cuDeviceGetCount, (int *count))                                                              \
    X(cuDeviceGet, (int *device, int ordinal))                                                     \
    X(cuDeviceGetName, (char *name, int size, int device))                                         \
    X(cuDeviceGetAttribute, (int *value, int attribute, int device))                               \
    X(cuDeviceTotalMem_v2, (size_t *bytes, int device))                                            \
    X(cuDeviceGetPCIBusId, (char *text, int size, int device))                                     \
    X(cuDeviceCanAccessPeer, (int *can, int device, int peer))                                     \
    X(cuCtxCreate_v2, (gyre_cu_context **context, unsigned flags, int device))                     \
    X(cuCtxDestroy_v2, (gyre_cu_context *context))                                                 \
    X(cuCtxPushCurrent_v2, (gyre_cu_context *context))                                             \
    X(cuCtxPopCurrent_v2, (gyre_cu_context **context))                                             \
    X(cuCtxGetCurrent, (gyre_cu_context **context))                                                \
    X(cuCtxGetDevice, (int *device))                                                               \
    X(cuCtxGetStreamPriorityRange, (int *least, int *greatest))                                    \
    X(cuCtxEnablePeerAccess, (gyre_cu_context *peer, unsigned flags))                              \
    X(cuMemGetInfo_v2, (size_t *available, size_t *total))                                         \
    X(cuMemAlloc_v2, (void **address, size_t bytes))                                               \
    X(cuMemFree_v2, (void *address))                                                               \
    X(cuMemHostAlloc, (void **address, size_t bytes, unsigned flags))                              \
    X(cuMemFreeHost, (void *address))                                                              \
    X(cuMemcpyAsync, (void *to, const void *from, size_t bytes, gyre_cu_stream *stream))           \
    X(cuMemcpyPeerAsync, (void *to, gyre_cu_context *to_context, const void *from,                 \
                          gyre_cu_context *from_context, size_t bytes, gyre_cu_stream *stream))    \
    X(cuMemcpy3DAsync_v2, (const gyre_cu_box *box, gyre_cu_stream *stream))                        \
    X(cuMemsetD8Async, (void *to, unsigned char value, size_t count, gyre_cu_stream *stream))      \
    X(cuMemsetD16Async, (void *to, unsigned short value, size_t count, gyre_cu_stream *stream))    \
    X(cuMemsetD32Async, (void *to, unsigned value, size_t count, gyre_cu_stream *stream))          \
    X(cuMemsetD2D32Async, (void *to, size_t pitch, unsigned value, size_t width, size_t height,    \
                           gyre_cu_stream *stream))                                                \
    X(cuStreamCreateWithPriority, (gyre_cu_stream **stream, unsigned flags, int priority))         \
    X(cuStreamDestroy_v2, (gyre_cu_stream *stream))                                                \
    X(cuStreamQuery, (gyre_cu_stream *stream))                                                     \
    X(cuStreamGetCtx, (gyre_cu_stream *stream, gyre_cu_context **context))                         \
    X(cuStreamWaitEvent, (gyre_cu_stream *stream, gyre_cu_event *event, unsigned flags))           \
    X(cuEventCreate, (gyre_cu_event **event, unsigned flags))                                      \
    X(cuEventDestroy_v2, (gyre_cu_event *event))                                                   \
    X(cuEventRecord, (gyre_cu_event *event, gyre_cu_stream *stream))                               \
    X(cuEventQuery, (gyre_cu_event *event))                                                        \
    X(cuEventElapsedTime, (float *ms, gyre_cu_event *from, gyre_cu_event *to))                     \
    X(cuModuleLoadDataEx, (gyre_cu_module **module, const void *image, unsigned count,             \
                           int *options, void **values))                                           \
    X(cuModuleUnload, (gyre_cu_module *module))                                                    \
    X(cuModuleGetFunction, (gyre_cu_function **function, gyre_cu_module *module,                   \
                            const char *name))                                                     \
    X(cuFuncGetAttribute, (int *value, int attribute, gyre_cu_function *function))                 \
    X(cuFuncSetAttribute, (gyre_cu_function *function, int attribute, int value))                  \
    X(cuLaunchKernel, (gyre_cu_function *function, unsigned grid_x, unsigned grid_y,               \
                       unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,      \
                       unsigned shared_bytes, gyre_cu_stream *stream, const void **parameters,     \
                       void **extra))                                                              \
    X(cuLaunchCooperativeKernel, (gyre_cu_function *function, unsigned grid_x, unsigned grid_y,    \
                                  unsigned grid_z, unsigned block_x, unsigned block_y,             \
                                  unsigned block_z, unsigned shared_bytes,                         \
                                  gyre_cu_stream *stream, const void **parameters))                \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, gyre_cu_function *function,       \
                                                    int threads, size_t shared_bytes))             \
    X(cuGraphCreate, (gyre_cu_graph **graph, unsigned flags))                                      \
    X(cuGraphDestroy, (gyre_cu_graph *graph))                                                      \
    X(cuGraphAddKernelNode, (gyre_cu_graph_node **node, gyre_cu_graph *graph,                      \
                             gyre_cu_graph_node *const *after, size_t after_count,                 \
                             const gyre_cu_kernel_node *parameters))                               \
    X(cuGraphAddMemcpyNode, (gyre_cu_graph_node **node, gyre_cu_graph *graph,                      \
                             gyre_cu_graph_node *const *after, size_t after_count,                 \
                             const gyre_cu_box *box, gyre_cu_context *context))                    \
    X(cuGraphAddMemsetNode, (gyre_cu_graph_node **node, gyre_cu_graph *graph,                      \
                             gyre_cu_graph_node *const *after, size_t after_count,                 \
                             const gyre_cu_fill_node *what, gyre_cu_context *context))             \
    X(cuGraphInstantiateWithFlags, (gyre_cu_graph_exec **exec, gyre_cu_graph *graph,               \
                                    unsigned long long flags))                                     \
    X(cuGraphExecKernelNodeSetParams, (gyre_cu_graph_exec *exec, gyre_cu_graph_node *node,         \
                                       const gyre_cu_kernel_node *parameters))                     \
    X(cuGraphLaunch, (gyre_cu_graph_exec *exec, gyre_cu_stream *stream))                           \
    X(cuGraphExecDestroy, (gyre_cu_graph_exec *exec))

/* What a driver of CUDA 11.4 may lack; NULL then. */
#define GYRE_CU_OPTIONAL(X)                                                                        \
    X(cuFuncLoad, (gyre_cu_function *function))                                                    \
    X(cuFuncGetParamInfo, (gyre_cu_function *function, size_t index, size_t *offset,               \
                           size_t *size))                                                          \
    X(cuGraphKernelNodeSetAttribute, (gyre_cu_graph_node *node, int attribute,                     \
                                      const gyre_cu_attribute *value))                             \
    X(cuEventElapsedTime_v2, (float *ms, gyre_cu_event *from, gyre_cu_event *to))                  \
    X(cuStreamBatchMemOp_v2, (gyre_cu_stream *stream, unsigned count, gyre_cu_word *words,         \
                              unsigned flags))                                                     \
    X(cuMemGetHandleForAddressRange, (void *handle, void *address, size_t size, int type,          \
                                      unsigned long long flags))
/* clang-format on */

/* Function pointers only, in the order of the lists. */
typedef struct gyre_cu_api {
#define ROW(name, parameters) int(*name) parameters;
    GYRE_CU_REQUIRED(ROW)
    GYRE_CU_OPTIONAL(ROW)
#undef ROW
} gyre_cu_api;

#endif
