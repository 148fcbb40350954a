/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl_api: as much of OpenCL 3.0 as is used here, declared by ourselves, so that nothing of it
 * is needed to build. Values and types are those of the specification.
 *
 * Functions are called through the struct below, whose members are named like them; the list is
 * the only place where one is added.
 */
#ifndef GYRE_BACKENDS_OPENCL_API_H
#define GYRE_BACKENDS_OPENCL_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct cl_platform cl_platform;
typedef struct cl_device cl_device;
typedef struct cl_context cl_context;
typedef struct cl_queue cl_queue;
typedef struct cl_buffer cl_buffer; /* the driver's cl_mem */
typedef struct cl_program cl_program;
typedef struct cl_kernel cl_kernel;
typedef struct cl_event cl_event;

enum {
    CL_SUCCESS = 0,
    CL_DEVICE_NOT_FOUND = -1,
    CL_DEVICE_NOT_AVAILABLE = -2,
    CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    CL_OUT_OF_RESOURCES = -5,
    CL_OUT_OF_HOST_MEMORY = -6,
    CL_PROFILING_INFO_NOT_AVAILABLE = -7,
    CL_MEM_COPY_OVERLAP = -8,
    CL_BUILD_PROGRAM_FAILURE = -11,
    CL_EXEC_STATUS_ERROR_IN_WAIT_LIST = -14,
    CL_COMPILE_PROGRAM_FAILURE = -15,
    CL_LINK_PROGRAM_FAILURE = -17,
    CL_INVALID_BINARY = -42,
    CL_INVALID_BUILD_OPTIONS = -43,
    CL_INVALID_KERNEL_NAME = -46,
    CL_INVALID_KERNEL_DEFINITION = -47,
    CL_INVALID_ARG_INDEX = -49,
    CL_INVALID_ARG_VALUE = -50,
    CL_INVALID_ARG_SIZE = -51,
    CL_INVALID_WORK_GROUP_SIZE = -54,
    CL_INVALID_WORK_ITEM_SIZE = -55,
    CL_INVALID_BUFFER_SIZE = -61,
    CL_INVALID_GLOBAL_WORK_SIZE = -63,
    CL_INVALID_COMPILER_OPTIONS = -66,
    CL_PLATFORM_NOT_FOUND = -1001,
};

enum {
    CL_PLATFORM_VERSION = 0x0901,
    CL_PLATFORM_NAME = 0x0902,

    CL_DEVICE_TYPE = 0x1000,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    CL_DEVICE_MAX_WORK_ITEM_SIZES = 0x1005,
    CL_DEVICE_MAX_CLOCK_FREQUENCY = 0x100C,
    CL_DEVICE_ADDRESS_BITS = 0x100D,
    CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    CL_DEVICE_MAX_PARAMETER_SIZE = 0x1017,
    CL_DEVICE_GLOBAL_MEM_CACHE_SIZE = 0x101E,
    CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
    CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
    CL_DEVICE_ERROR_CORRECTION_SUPPORT = 0x1024,
    CL_DEVICE_AVAILABLE = 0x1027,
    CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
    CL_DEVICE_QUEUE_ON_HOST_PROPERTIES = 0x102A,
    CL_DEVICE_NAME = 0x102B,
    CL_DEVICE_VENDOR = 0x102C,
    CL_DRIVER_VERSION = 0x102D,
    CL_DEVICE_VERSION = 0x102F,
    CL_DEVICE_EXTENSIONS = 0x1030,
    CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
    CL_DEVICE_HOST_UNIFIED_MEMORY = 0x1035,
    CL_DEVICE_SVM_CAPABILITIES = 0x1053,
    CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE = 0x1067,
    CL_DEVICE_PCI_BUS_INFO = 0x410F,

    CL_CONTEXT_DEVICES = 0x1081,
    CL_CONTEXT_PLATFORM = 0x1084,
    CL_QUEUE_CONTEXT = 0x1090,
    CL_QUEUE_DEVICE = 0x1091,
    CL_QUEUE_PROPERTIES = 0x1093,

    CL_PROGRAM_DEVICES = 0x1163,
    CL_PROGRAM_BINARY_SIZES = 0x1165,
    CL_PROGRAM_BINARIES = 0x1166,
    CL_PROGRAM_BUILD_LOG = 0x1183,

    CL_KERNEL_NUM_ARGS = 0x1191,
    CL_KERNEL_ARG_ADDRESS_QUALIFIER = 0x1196,
    CL_KERNEL_ARG_ADDRESS_GLOBAL = 0x119B,
    CL_KERNEL_ARG_ADDRESS_LOCAL = 0x119C,
    CL_KERNEL_ARG_ADDRESS_CONSTANT = 0x119D,
    CL_KERNEL_ARG_ADDRESS_PRIVATE = 0x119E,
    CL_KERNEL_WORK_GROUP_SIZE = 0x11B0,
    CL_KERNEL_LOCAL_MEM_SIZE = 0x11B2,
    CL_KERNEL_PRIVATE_MEM_SIZE = 0x11B4,
    CL_KERNEL_EXEC_INFO_SVM_PTRS = 0x11B6,

    CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11D3,
    CL_PROFILING_COMMAND_END = 0x1283,
};

/* Bits. */
enum {
    CL_DEVICE_TYPE_CPU = 1 << 1,
    CL_DEVICE_TYPE_GPU = 1 << 2,
    CL_DEVICE_TYPE_ACCELERATOR = 1 << 3,
    CL_QUEUE_OUT_OF_ORDER = 1 << 0,
    CL_QUEUE_PROFILING = 1 << 1,
    CL_SVM_COARSE_GRAIN_BUFFER = 1 << 0,
    CL_SVM_FINE_GRAIN_BUFFER = 1 << 1,
    CL_SVM_ATOMICS = 1 << 3,
    CL_MEM_READ_WRITE = 1 << 0,
    CL_MEM_ALLOC_HOST_PTR = 1 << 4,
    CL_MEM_SVM_FINE_GRAIN_BUFFER = 1 << 10,
    CL_MEM_SVM_ATOMICS = 1 << 11,
    CL_MAP_READ = 1 << 0,
    CL_MAP_WRITE = 1 << 1,
};

/* What a command waits for, and its event: the last parameters of all that enqueue. */
#define CL_ORDER uint32_t, cl_event *const *, cl_event **
#define CL_INFO uint32_t, size_t, void *, size_t *
#define CL_NOTIFY void (*)(void), void *

/* X(result, name, (parameters)) */
#define GYRE_CL_FUNCTIONS(X)                                                                       \
    X(int32_t, clGetPlatformIDs, (uint32_t, cl_platform **, uint32_t *))                           \
    X(int32_t, clGetPlatformInfo, (cl_platform *, CL_INFO))                                        \
    X(int32_t, clGetDeviceIDs, (cl_platform *, uint64_t, uint32_t, cl_device **, uint32_t *))      \
    X(int32_t, clGetDeviceInfo, (cl_device *, CL_INFO))                                            \
    X(cl_context *, clCreateContext,                                                               \
      (const intptr_t *, uint32_t, cl_device *const *, CL_NOTIFY, int32_t *))                      \
    X(int32_t, clRetainContext, (cl_context *))                                                    \
    X(int32_t, clReleaseContext, (cl_context *))                                                   \
    X(int32_t, clGetContextInfo, (cl_context *, CL_INFO))                                          \
    X(void *, clSVMAlloc, (cl_context *, uint64_t, size_t, uint32_t))                              \
    X(void, clSVMFree, (cl_context *, void *))                                                     \
    X(cl_buffer *, clCreateBuffer, (cl_context *, uint64_t, size_t, void *, int32_t *))            \
    X(void *, clEnqueueMapBuffer,                                                                  \
      (cl_queue *, cl_buffer *, uint32_t, uint64_t, size_t, size_t, CL_ORDER, int32_t *))          \
    X(int32_t, clEnqueueUnmapMemObject, (cl_queue *, cl_buffer *, void *, CL_ORDER))               \
    X(int32_t, clReleaseMemObject, (cl_buffer *))                                                  \
    X(cl_queue *, clCreateCommandQueueWithProperties,                                              \
      (cl_context *, cl_device *, const uint64_t *, int32_t *))                                    \
    X(int32_t, clRetainCommandQueue, (cl_queue *))                                                 \
    X(int32_t, clReleaseCommandQueue, (cl_queue *))                                                \
    X(int32_t, clGetCommandQueueInfo, (cl_queue *, CL_INFO))                                       \
    X(int32_t, clFlush, (cl_queue *))                                                              \
    X(int32_t, clFinish, (cl_queue *))                                                             \
    X(int32_t, clEnqueueSVMMemcpy, (cl_queue *, uint32_t, void *, const void *, size_t, CL_ORDER)) \
    X(int32_t, clEnqueueSVMMemFill, (cl_queue *, void *, const void *, size_t, size_t, CL_ORDER))  \
    X(int32_t, clEnqueueSVMFree,                                                                   \
      (cl_queue *, uint32_t, void **, void (*)(cl_queue *, uint32_t, void **, void *), void *,     \
       CL_ORDER))                                                                                  \
    X(int32_t, clEnqueueNDRangeKernel,                                                             \
      (cl_queue *, cl_kernel *, uint32_t, const size_t *, const size_t *, const size_t *,          \
       CL_ORDER))                                                                                  \
    X(int32_t, clEnqueueMarkerWithWaitList, (cl_queue *, CL_ORDER))                                \
    X(int32_t, clEnqueueBarrierWithWaitList, (cl_queue *, CL_ORDER))                               \
    X(int32_t, clGetEventInfo, (cl_event *, CL_INFO))                                              \
    X(int32_t, clGetEventProfilingInfo, (cl_event *, CL_INFO))                                     \
    X(int32_t, clWaitForEvents, (uint32_t, cl_event *const *))                                     \
    X(int32_t, clRetainEvent, (cl_event *))                                                        \
    X(int32_t, clReleaseEvent, (cl_event *))                                                       \
    X(cl_program *, clCreateProgramWithSource,                                                     \
      (cl_context *, uint32_t, const char **, const size_t *, int32_t *))                          \
    X(cl_program *, clCreateProgramWithBinary,                                                     \
      (cl_context *, uint32_t, cl_device *const *, const size_t *, const unsigned char **,         \
       int32_t *, int32_t *))                                                                      \
    X(int32_t, clBuildProgram,                                                                     \
      (cl_program *, uint32_t, cl_device *const *, const char *, CL_NOTIFY))                       \
    X(int32_t, clCompileProgram,                                                                   \
      (cl_program *, uint32_t, cl_device *const *, const char *, uint32_t, cl_program *const *,    \
       const char **, CL_NOTIFY))                                                                  \
    X(cl_program *, clLinkProgram,                                                                 \
      (cl_context *, uint32_t, cl_device *const *, const char *, uint32_t, cl_program *const *,    \
       CL_NOTIFY, int32_t *))                                                                      \
    X(int32_t, clGetProgramInfo, (cl_program *, CL_INFO))                                          \
    X(int32_t, clGetProgramBuildInfo, (cl_program *, cl_device *, CL_INFO))                        \
    X(int32_t, clReleaseProgram, (cl_program *))                                                   \
    X(cl_kernel *, clCreateKernel, (cl_program *, const char *, int32_t *))                        \
    X(int32_t, clReleaseKernel, (cl_kernel *))                                                     \
    X(int32_t, clGetKernelInfo, (cl_kernel *, CL_INFO))                                            \
    X(int32_t, clGetKernelArgInfo, (cl_kernel *, uint32_t, CL_INFO))                               \
    X(int32_t, clGetKernelWorkGroupInfo, (cl_kernel *, cl_device *, CL_INFO))                      \
    X(int32_t, clSetKernelArg, (cl_kernel *, uint32_t, size_t, const void *))                      \
    X(int32_t, clSetKernelArgSVMPointer, (cl_kernel *, uint32_t, const void *))                    \
    X(int32_t, clSetKernelExecInfo, (cl_kernel *, uint32_t, size_t, const void *))

typedef struct gyre_cl_api {
#define GYRE_CL_MEMBER(result, name, parameters) result(*name) parameters;
    GYRE_CL_FUNCTIONS(GYRE_CL_MEMBER)
#undef GYRE_CL_MEMBER
} gyre_cl_api;

#endif
