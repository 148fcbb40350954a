/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_fake_work: the work of a driver that computes nothing (cuda_fake.h): modules, launches,
 * copies, fills and words. The only kernel is "add", which two pointers and a u32 are given to.
 */
#include "backends/cuda/cuda_fake_driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gyre_cu_function add;

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
    *module = fake_make(sizeof **module);
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

void fake_read_arguments(const void **parameters, uint64_t arguments[3])
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
    if (!function || !fake_in_place(stream) || extra)
        return 400;
    if (cuda_fake.launch_result)
        return cuda_fake.launch_result;
    cuda_fake.grid[0] = grid_x, cuda_fake.grid[1] = grid_y, cuda_fake.grid[2] = grid_z;
    cuda_fake.block[0] = block_x, cuda_fake.block[1] = block_y, cuda_fake.block[2] = block_z;
    cuda_fake.shared_bytes = shared_bytes;
    fake_read_arguments(parameters, cuda_fake.arguments);
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

int cuMemcpyAsync(void *to, const void *from, size_t bytes, gyre_cu_stream *stream)
{
    if (!fake_in_place(stream))
        return 400;
    memcpy(to, from, bytes);
    cuda_fake.rows++;
    return 0;
}

int cuMemcpyPeerAsync(void *to, gyre_cu_context *to_context, const void *from,
                      gyre_cu_context *from_context, size_t bytes, gyre_cu_stream *stream)
{
    if (!fake_in_place(stream) || to_context != fake_current() || !from_context)
        return 400;
    memcpy(to, from, bytes);
    cuda_fake.peers++;
    return 0;
}

void fake_copy_box(const gyre_cu_box *box)
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

int fake_is_sound(const gyre_cu_box *box)
{
    return box->from.memory_type == GYRE_CU_MEMORY_UNIFIED &&
           box->to.memory_type == GYRE_CU_MEMORY_UNIFIED && box->from.pitch >= box->width_bytes &&
           box->to.pitch >= box->width_bytes && box->height > 0 && box->depth > 0;
}

int cuMemcpy3DAsync_v2(const gyre_cu_box *box, gyre_cu_stream *stream)
{
    if (!fake_in_place(stream) || !fake_is_sound(box))
        return 1;
    fake_copy_box(box);
    return 0;
}

void fake_fill(const gyre_cu_fill_node *node)
{
    for (size_t y = 0; y < node->height; y++)
        for (size_t x = 0; x < node->width; x++)
            memcpy((char *)node->to + y * node->pitch + x * node->element_bytes, &node->value,
                   node->element_bytes);
}

int cuMemsetD8Async(void *to, unsigned char value, size_t count, gyre_cu_stream *stream)
{
    fake_fill(&(gyre_cu_fill_node){to, 0, value, 1, count, 1});
    return fake_in_place(stream) ? 0 : 400;
}

int cuMemsetD16Async(void *to, unsigned short value, size_t count, gyre_cu_stream *stream)
{
    fake_fill(&(gyre_cu_fill_node){to, 0, value, 2, count, 1});
    return fake_in_place(stream) ? 0 : 400;
}

int cuMemsetD32Async(void *to, unsigned value, size_t count, gyre_cu_stream *stream)
{
    fake_fill(&(gyre_cu_fill_node){to, 0, value, 4, count, 1});
    return fake_in_place(stream) ? 0 : 400;
}

int cuMemsetD2D32Async(void *to, size_t pitch, unsigned value, size_t width, size_t height,
                       gyre_cu_stream *stream)
{
    fake_fill(&(gyre_cu_fill_node){to, pitch, value, 4, width, height});
    cuda_fake.two_d++;
    return fake_in_place(stream) ? 0 : 400;
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

int cuStreamBatchMemOp_v2(gyre_cu_stream *stream, unsigned count, gyre_cu_word *words,
                          unsigned flags)
{
    if (!fake_in_place(stream) || flags != 0)
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
#endif
