/* SPDX-License-Identifier: Apache-2.0
 *
 * Our declarations beside the toolkit's, where the build machine has one: cuda.h is never needed
 * otherwise.
 */
#include "backends/cuda/cuda_api.h"

#include "test.h"

#if defined(__has_include)
#if __has_include(<cuda.h>)
#include <cuda.h>
#define HAVE_CUDA_H 1
#endif
#endif

#ifdef HAVE_CUDA_H

static void constants_have_the_values_of_cuda_h(void)
{
    int wrong = 0;

/* the header may be older than a constant, and these are enumerators, so each needs its version */
#if CUDA_VERSION >= 13000
#define ROW(ours, theirs, value)                                                                   \
    if ((long)(ours) != (long)(theirs)) {                                                          \
        fprintf(stderr, "%s\n", #theirs);                                                          \
        wrong++;                                                                                   \
    }
    GYRE_CU_CONSTANTS(ROW)
#undef ROW
#else
    SKIP("cuda.h is older than CUDA 13.0");
#endif
    CHECK(wrong == 0);
}

/* together with the size of the whole, that says the size of each */
#define SAME(ours, our_field, theirs, their_field)                                                 \
    CHECK(offsetof(ours, our_field) == offsetof(theirs, their_field))

static void boxes_are_laid_out_as_in_cuda_h(void)
{
    CHECK(sizeof(gyre_cu_box) == sizeof(CUDA_MEMCPY3D_v2));
    SAME(gyre_cu_box, from.x_bytes, CUDA_MEMCPY3D_v2, srcXInBytes);
    SAME(gyre_cu_box, from.y, CUDA_MEMCPY3D_v2, srcY);
    SAME(gyre_cu_box, from.z, CUDA_MEMCPY3D_v2, srcZ);
    SAME(gyre_cu_box, from.lod, CUDA_MEMCPY3D_v2, srcLOD);
    SAME(gyre_cu_box, from.memory_type, CUDA_MEMCPY3D_v2, srcMemoryType);
    SAME(gyre_cu_box, from.host, CUDA_MEMCPY3D_v2, srcHost);
    SAME(gyre_cu_box, from.device, CUDA_MEMCPY3D_v2, srcDevice);
    SAME(gyre_cu_box, from.array, CUDA_MEMCPY3D_v2, srcArray);
    SAME(gyre_cu_box, from.reserved, CUDA_MEMCPY3D_v2, reserved0);
    SAME(gyre_cu_box, from.pitch, CUDA_MEMCPY3D_v2, srcPitch);
    SAME(gyre_cu_box, from.height, CUDA_MEMCPY3D_v2, srcHeight);
    SAME(gyre_cu_box, to.x_bytes, CUDA_MEMCPY3D_v2, dstXInBytes);
    SAME(gyre_cu_box, to.memory_type, CUDA_MEMCPY3D_v2, dstMemoryType);
    SAME(gyre_cu_box, to.device, CUDA_MEMCPY3D_v2, dstDevice);
    SAME(gyre_cu_box, to.pitch, CUDA_MEMCPY3D_v2, dstPitch);
    SAME(gyre_cu_box, to.height, CUDA_MEMCPY3D_v2, dstHeight);
    SAME(gyre_cu_box, width_bytes, CUDA_MEMCPY3D_v2, WidthInBytes);
    SAME(gyre_cu_box, height, CUDA_MEMCPY3D_v2, Height);
    SAME(gyre_cu_box, depth, CUDA_MEMCPY3D_v2, Depth);
}

static void nodes_are_laid_out_as_in_cuda_h(void)
{
    CHECK(sizeof(gyre_cu_kernel_node) == sizeof(CUDA_KERNEL_NODE_PARAMS_v1));
    SAME(gyre_cu_kernel_node, function, CUDA_KERNEL_NODE_PARAMS_v1, func);
    SAME(gyre_cu_kernel_node, grid[0], CUDA_KERNEL_NODE_PARAMS_v1, gridDimX);
    SAME(gyre_cu_kernel_node, grid[2], CUDA_KERNEL_NODE_PARAMS_v1, gridDimZ);
    SAME(gyre_cu_kernel_node, block[0], CUDA_KERNEL_NODE_PARAMS_v1, blockDimX);
    SAME(gyre_cu_kernel_node, block[2], CUDA_KERNEL_NODE_PARAMS_v1, blockDimZ);
    SAME(gyre_cu_kernel_node, shared_bytes, CUDA_KERNEL_NODE_PARAMS_v1, sharedMemBytes);
    SAME(gyre_cu_kernel_node, parameters, CUDA_KERNEL_NODE_PARAMS_v1, kernelParams);
    SAME(gyre_cu_kernel_node, extra, CUDA_KERNEL_NODE_PARAMS_v1, extra);
    CHECK(sizeof(gyre_cu_fill_node) == sizeof(CUDA_MEMSET_NODE_PARAMS_v1));
    SAME(gyre_cu_fill_node, to, CUDA_MEMSET_NODE_PARAMS_v1, dst);
    SAME(gyre_cu_fill_node, pitch, CUDA_MEMSET_NODE_PARAMS_v1, pitch);
    SAME(gyre_cu_fill_node, value, CUDA_MEMSET_NODE_PARAMS_v1, value);
    SAME(gyre_cu_fill_node, element_bytes, CUDA_MEMSET_NODE_PARAMS_v1, elementSize);
    SAME(gyre_cu_fill_node, width, CUDA_MEMSET_NODE_PARAMS_v1, width);
    SAME(gyre_cu_fill_node, height, CUDA_MEMSET_NODE_PARAMS_v1, height);
}

static void words_are_laid_out_as_in_cuda_h(void)
{
    CHECK(sizeof(gyre_cu_word) == sizeof(CUstreamBatchMemOpParams));
    SAME(gyre_cu_word, one.operation, CUstreamBatchMemOpParams, waitValue.operation);
    SAME(gyre_cu_word, one.address, CUstreamBatchMemOpParams, waitValue.address);
    SAME(gyre_cu_word, one.value, CUstreamBatchMemOpParams, waitValue.value);
    SAME(gyre_cu_word, one.flags, CUstreamBatchMemOpParams, waitValue.flags);
    SAME(gyre_cu_word, one.alias, CUstreamBatchMemOpParams, waitValue.alias);
    SAME(gyre_cu_word, one.address, CUstreamBatchMemOpParams, writeValue.address);
    SAME(gyre_cu_word, one.value, CUstreamBatchMemOpParams, writeValue.value);
    SAME(gyre_cu_word, one.flags, CUstreamBatchMemOpParams, writeValue.flags);
}

static void handles_and_addresses_are_of_pointer_size(void)
{
    CHECK(sizeof(CUdeviceptr) == sizeof(void *) && sizeof(CUcontext) == sizeof(void *));
    CHECK(sizeof(CUresult) == sizeof(int) && sizeof(CUdevice) == sizeof(int));
    CHECK(sizeof(CUjit_option) == sizeof(int));
    CHECK(sizeof(gyre_cu_attribute) == sizeof(CUlaunchAttributeValue));
}

#else

static void constants_have_the_values_of_cuda_h(void)
{
    SKIP("there is no cuda.h here");
}
#define boxes_are_laid_out_as_in_cuda_h constants_have_the_values_of_cuda_h
#define nodes_are_laid_out_as_in_cuda_h constants_have_the_values_of_cuda_h
#define words_are_laid_out_as_in_cuda_h constants_have_the_values_of_cuda_h
#define handles_and_addresses_are_of_pointer_size constants_have_the_values_of_cuda_h

#endif

static const test_case cases[] = {
    TEST(constants_have_the_values_of_cuda_h),       TEST(boxes_are_laid_out_as_in_cuda_h),
    TEST(nodes_are_laid_out_as_in_cuda_h),           TEST(words_are_laid_out_as_in_cuda_h),
    TEST(handles_and_addresses_are_of_pointer_size),
};
TEST_MAIN(cases)
