/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_work: what is submitted to a stream: launches, copies, fills, words; and how they are told
 * to the driver, for graphs too.
 *
 * Addresses are unified, so the driver finds out itself which side of a copy is the device's. It
 * copies boxes whose slices are whole rows apart; others go slice by slice, and rows that are
 * further apart than it can count, row by row.
 *
 * Threads   one at a time for each stream.
 * Owns      nothing.
 * Not here  streams (cuda_stream.c), graphs (cuda_graph.c).
 */
#include <string.h>

#include "backends/cuda/cuda.h"
#include "base/fail.h"
#include "dev/signature.h"

void gyre_cuda_parameters(const gyre_dev_launch *launch, const void **out_pointers)
{
    const gyre_dev_kernel *kernel = launch->kernel;
    uint32_t count = 0;

    for (uint32_t i = 0; i < kernel->argument_count; i++)
        if (kernel->arguments[i].size > 0)
            out_pointers[count++] = (const char *)launch->parameters + kernel->arguments[i].offset;
}

gyre_status gyre_cuda_launch(gyre_dev_stream *stream, const gyre_dev_launch *launch)
{
    gyre_dev *dev = stream->dev;
    const uint32_t *grid = launch->grid, *block = launch->block;
    gyre_cu_function *function = launch->kernel->function;
    const void *pointers[GYRE_ARGUMENTS_MOST];
    gyre_status status;
    bool pushed;
    int result;

    status = gyre_cuda_enter(dev, &pushed);
    if (status != GYRE_OK)
        return status;
    gyre_cuda_parameters(launch, pointers);
    if (launch->cooperative)
        result = dev->cu->cuLaunchCooperativeKernel(function, grid[0], grid[1], grid[2], block[0],
                                                    block[1], block[2], launch->shared_bytes,
                                                    stream->stream, pointers);
    else
        result =
            dev->cu->cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1],
                                    block[2], launch->shared_bytes, stream->stream, pointers, NULL);
    gyre_cuda_leave(dev, pushed);
    if (result == GYRE_CU_SUCCESS)
        return GYRE_OK;
    return gyre_cuda_fail(dev, result, "cuLaunchKernel of %ux%ux%u blocks of %ux%ux%u", grid[0],
                          grid[1], grid[2], block[0], block[1], block[2]);
}

bool gyre_cuda_box(const gyre_dev_copy *copy, gyre_cu_box *out_box)
{
    size_t height = copy->height, depth = copy->depth;
    size_t to_pitch = copy->to_pitch, from_pitch = copy->from_pitch;

    if (height == 1) { /* slices of one row are rows */
        height = depth;
        to_pitch = copy->to_slice;
        from_pitch = copy->from_slice;
        depth = 1;
    }
    if (height == 1)
        to_pitch = from_pitch = copy->width;
    if (to_pitch > INT32_MAX || from_pitch > INT32_MAX)
        return false;
    if (depth > 1 && (copy->to_slice % to_pitch != 0 || copy->from_slice % from_pitch != 0))
        return false;
    *out_box = (gyre_cu_box){
        .from = {.memory_type = GYRE_CU_MEMORY_UNIFIED,
                 .device = copy->from,
                 .pitch = from_pitch,
                 .height = depth > 1 ? copy->from_slice / from_pitch : height},
        .to = {.memory_type = GYRE_CU_MEMORY_UNIFIED,
               .device = copy->to,
               .pitch = to_pitch,
               .height = depth > 1 ? copy->to_slice / to_pitch : height},
        .width_bytes = copy->width,
        .height = height,
        .depth = depth,
    };
    return true;
}

static int copy_slice(gyre_dev_stream *stream, const gyre_dev_copy *slice)
{
    const gyre_cu_api *cu = stream->dev->cu;
    int result = GYRE_CU_SUCCESS;
    gyre_cu_box box;

    if (gyre_cuda_box(slice, &box))
        return cu->cuMemcpy3DAsync_v2(&box, stream->stream);
    for (size_t y = 0; y < slice->height && result == GYRE_CU_SUCCESS; y++)
        result = cu->cuMemcpyAsync((char *)slice->to + y * slice->to_pitch,
                                   (const char *)slice->from + y * slice->from_pitch, slice->width,
                                   stream->stream);
    return result;
}

static int copy_box(gyre_dev_stream *stream, const gyre_dev_copy *copy)
{
    int result = GYRE_CU_SUCCESS;
    gyre_cu_box box;

    if (gyre_cuda_box(copy, &box))
        return stream->dev->cu->cuMemcpy3DAsync_v2(&box, stream->stream);
    for (size_t z = 0; z < copy->depth && result == GYRE_CU_SUCCESS; z++) {
        gyre_dev_copy slice = *copy;

        slice.to = (char *)copy->to + z * copy->to_slice;
        slice.from = (const char *)copy->from + z * copy->from_slice;
        slice.depth = 1;
        result = copy_slice(stream, &slice);
    }
    return result;
}

/* Lets copies go from one device to the other without the host between them, where they can: what
 * is refused goes the long way. */
static void reach_out(gyre_dev *dev, const gyre_dev *from)
{
    /* relaxed, both: a hint; asking once more than needed is answered with 704 */
    if (from->device == dev->device ||
        __atomic_load_n(&dev->peer, __ATOMIC_RELAXED) == from->context)
        return;
    gyre_cuda_note(dev, dev->cu->cuCtxEnablePeerAccess(from->context, 0));
    __atomic_store_n(&dev->peer, from->context, __ATOMIC_RELAXED);
}

gyre_status gyre_cuda_copy(gyre_dev_stream *stream, const gyre_dev_copy *copy)
{
    gyre_dev *dev = stream->dev;
    const bool row = copy->height == 1 && copy->depth == 1;
    gyre_status status;
    bool pushed;
    int result;

    status = gyre_cuda_enter(dev, &pushed);
    if (status != GYRE_OK)
        return status;
    if (copy->from_dev)
        reach_out(dev, copy->from_dev);
    if (row && copy->from_dev)
        result = dev->cu->cuMemcpyPeerAsync(copy->to, dev->context, copy->from,
                                            copy->from_dev->context, copy->width, stream->stream);
    else if (row)
        result = dev->cu->cuMemcpyAsync(copy->to, copy->from, copy->width, stream->stream);
    else
        result = copy_box(stream, copy);
    gyre_cuda_leave(dev, pushed);
    if (result == GYRE_CU_SUCCESS)
        return GYRE_OK;
    return gyre_cuda_fail(dev, result, "cuMemcpy of %zux%zux%zu bytes", copy->width, copy->height,
                          copy->depth);
}

gyre_cuda_pattern gyre_cuda_pattern_of(const gyre_dev_fill *fill)
{
    gyre_cuda_pattern pattern = {.bytes = 4, .count = fill->count};
    uint16_t half;

    switch (fill->pattern_size) {
    case 1:
        pattern.bytes = 1;
        pattern.value[0] = fill->pattern[0];
        break;
    case 2:
        memcpy(&half, fill->pattern, sizeof half);
        pattern.bytes = 2;
        pattern.value[0] = half;
        break;
    case 4:
        memcpy(&pattern.value[0], fill->pattern, 4);
        break;
    default:
        memcpy(pattern.value, fill->pattern, 8);
        pattern.two = pattern.value[0] != pattern.value[1];
        if (!pattern.two)
            pattern.count *= 2;
        break;
    }
    return pattern;
}

gyre_status gyre_cuda_fill(gyre_dev_stream *stream, const gyre_dev_fill *fill)
{
    const gyre_cuda_pattern pattern = gyre_cuda_pattern_of(fill);
    gyre_dev *dev = stream->dev;
    gyre_status status;
    bool pushed;
    int result;

    status = gyre_cuda_enter(dev, &pushed);
    if (status != GYRE_OK)
        return status;
    if (pattern.two) { /* two columns of a table that is two words wide */
        result = dev->cu->cuMemsetD2D32Async(fill->to, 8, pattern.value[0], 1, pattern.count,
                                             stream->stream);
        if (result == GYRE_CU_SUCCESS)
            result = dev->cu->cuMemsetD2D32Async((char *)fill->to + 4, 8, pattern.value[1], 1,
                                                 pattern.count, stream->stream);
    } else if (pattern.bytes == 1) {
        result = dev->cu->cuMemsetD8Async(fill->to, (unsigned char)pattern.value[0], pattern.count,
                                          stream->stream);
    } else if (pattern.bytes == 2) {
        result = dev->cu->cuMemsetD16Async(fill->to, (unsigned short)pattern.value[0],
                                           pattern.count, stream->stream);
    } else {
        result =
            dev->cu->cuMemsetD32Async(fill->to, pattern.value[0], pattern.count, stream->stream);
    }
    gyre_cuda_leave(dev, pushed);
    if (result == GYRE_CU_SUCCESS)
        return GYRE_OK;
    return gyre_cuda_fail(dev, result, "cuMemset of %zu times %zu bytes", fill->count,
                          fill->pattern_size);
}

/* The front end of the GPU does these itself, without a multiprocessor: a device that is full of
 * residents does them too. */
gyre_status gyre_cuda_words(gyre_dev_stream *stream, const gyre_dev_word *words, uint32_t count)
{
    gyre_dev *dev = stream->dev;
    gyre_cu_word theirs[GYRE_DEV_WORDS_MOST] = {0};
    gyre_status status;
    bool pushed;
    int result;

    if (!dev->cu->cuStreamBatchMemOp_v2)
        return gyre_fail(GYRE_UNSUPPORTED, "this driver's streams write and wait for no words; "
                                           "those of CUDA 11.7 and later do");
    for (uint32_t i = 0; i < count; i++) {
        const bool waits = words[i].kind == GYRE_DEV_WORD_WAIT;

        theirs[i].one.operation = waits ? GYRE_CU_WORD_WAIT : GYRE_CU_WORD_WRITE;
        theirs[i].one.address = words[i].at; /* pinned memory is where the host has it */
        theirs[i].one.value = words[i].value;
        theirs[i].one.flags = waits ? GYRE_CU_WORD_EQUAL : GYRE_CU_WORD_IN_ORDER;
    }
    status = gyre_cuda_enter(dev, &pushed);
    if (status != GYRE_OK)
        return status;
    result = dev->cu->cuStreamBatchMemOp_v2(stream->stream, count, theirs, 0);
    gyre_cuda_leave(dev, pushed);
    if (result == GYRE_CU_SUCCESS)
        return GYRE_OK;
    return gyre_cuda_fail(dev, result, "cuStreamBatchMemOp of %u words", count);
}
