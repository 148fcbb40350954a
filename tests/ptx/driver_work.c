/* SPDX-License-Identifier: Apache-2.0
 *
 * driver_work: launches, copies and fills.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

/* --- launches --------------------------------------------------------------------------------- */

typedef struct launch_work {
    driver_work work;
    gyre_cu_function *function;
    uint32_t grid[3], block[3];
    uint32_t shared_bytes;
    bool cooperative;
    uint64_t seed;
    _Alignas(16) uint8_t parameters[];
} launch_work;

static int run_launch(driver_work *work, gyre_cu_stream *stream)
{
    launch_work *const it = (launch_work *)(void *)work;
    gyre_cu_context *const context = stream->context;
    ptx_launch launch = {.module = it->function->module->code,
                         .function = it->function->code,
                         .grid = {it->grid[0], it->grid[1], it->grid[2]},
                         .block = {it->block[0], it->block[1], it->block[2]},
                         .shared_bytes = it->shared_bytes,
                         .parameters = it->parameters,
                         .all_at_once = it->cooperative,
                         .stop = &driver.stop,
                         .seed = it->seed};
    char why[256];
    int result;

    pthread_mutex_lock(&driver.mutex);
    while (it->function->late && context->running > 0)
        pthread_cond_wait(&driver.changed, &driver.mutex);
    it->function->late = false;
    context->running++;
    pthread_mutex_unlock(&driver.mutex);
    result = ptx_run(&launch, why, sizeof why);
    pthread_mutex_lock(&driver.mutex);
    context->running--;
    pthread_cond_broadcast(&driver.changed);
    pthread_mutex_unlock(&driver.mutex);
    if (result)
        fprintf(stderr, "ptx: %s\n", why);
    return result;
}

static bool fits(const gyre_cu_kernel_node *node, bool cooperative)
{
    const uint64_t threads = (uint64_t)node->block[0] * node->block[1] * node->block[2];
    const uint64_t blocks = (uint64_t)node->grid[0] * node->grid[1] * node->grid[2];
    int each = 0;

    if (!cooperative)
        return true;
    (void)cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, node->function, (int)threads,
                                                      node->shared_bytes);
    return blocks <= (uint64_t)each * DRIVER_UNITS;
}

int driver_launch(gyre_cu_stream *stream, const gyre_cu_kernel_node *node, bool cooperative)
{
    static uint64_t launches; /* relaxed: each is another seed, whichever */
    const ptx_function *const code = node->function->code;
    const uint64_t threads = (uint64_t)node->block[0] * node->block[1] * node->block[2];
    const uint64_t blocks = (uint64_t)node->grid[0] * node->grid[1] * node->grid[2];
    launch_work *it;

    if (threads == 0 || blocks == 0 || blocks > UINT32_MAX || threads > code->threads_most ||
        threads > DRIVER_THREADS || node->extra ||
        node->shared_bytes + node->function->module->code->shared_bytes > DRIVER_SHARED_MOST)
        return GYRE_CU_INVALID_VALUE;
    if (!fits(node, cooperative))
        return GYRE_CU_COOPERATIVE_LARGE;
    it = driver_work_make(sizeof *it + code->parameter_bytes, run_launch);
    if (!it)
        return GYRE_CU_OUT_OF_MEMORY;
    it->function = node->function;
    memcpy(it->grid, node->grid, sizeof it->grid);
    memcpy(it->block, node->block, sizeof it->block);
    it->shared_bytes = node->shared_bytes;
    it->cooperative = cooperative;
    it->seed = 0x9e3779b97f4a7c15u * (1 + __atomic_fetch_add(&launches, 1, __ATOMIC_RELAXED));
    for (uint32_t i = 0; i < code->parameter_count; i++)
        memcpy(it->parameters + code->parameters[i].at, node->parameters[i],
               code->parameters[i].bytes);
    return driver_submit(stream, it);
}

/* NOLINTNEXTLINE(readability-function-size): as many parameters as the driver's */
int cuLaunchKernel(gyre_cu_function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   gyre_cu_stream *stream, const void **parameters, void **extra)
{
    return driver_launch(stream,
                         &(gyre_cu_kernel_node){.function = function,
                                                .grid = {grid_x, grid_y, grid_z},
                                                .block = {block_x, block_y, block_z},
                                                .shared_bytes = shared_bytes,
                                                .parameters = parameters,
                                                .extra = extra},
                         false);
}

/* NOLINTNEXTLINE(readability-function-size): as many parameters as the driver's */
int cuLaunchCooperativeKernel(gyre_cu_function *function, unsigned grid_x, unsigned grid_y,
                              unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                              unsigned shared_bytes, gyre_cu_stream *stream,
                              const void **parameters)
{
    return driver_launch(stream,
                         &(gyre_cu_kernel_node){.function = function,
                                                .grid = {grid_x, grid_y, grid_z},
                                                .block = {block_x, block_y, block_z},
                                                .shared_bytes = shared_bytes,
                                                .parameters = parameters},
                         true);
}

/* --- copies and fills ------------------------------------------------------------------------- */

typedef struct copy_work {
    driver_work work;
    gyre_cu_box box;
    uint8_t kept[]; /* what came from memory that only the host reaches */
} copy_work;

static char *side(const gyre_cu_box_side *s, size_t y, size_t z)
{
    return (char *)ptx_pointer((uintptr_t)s->device) + (z * s->height + y) * s->pitch;
}

static int run_copy(driver_work *work, gyre_cu_stream *stream)
{
    const gyre_cu_box *const box = &((const copy_work *)(const void *)work)->box;

    (void)stream;
    for (size_t z = 0; z < box->depth; z++)
        for (size_t y = 0; y < box->height; y++)
            memmove(side(&box->to, y, z), side(&box->from, y, z), box->width_bytes);
    return 0;
}

/* All that a side spans. */
static size_t span(const gyre_cu_box_side *s, const gyre_cu_box *box)
{
    return (size_t)(side(s, box->height - 1, box->depth - 1) - side(s, 0, 0)) + box->width_bytes;
}

/* A driver takes what only the host reaches along when it is called, and waits for what goes there.
 */
int driver_copy(gyre_cu_stream *stream, const gyre_cu_box *box)
{
    const size_t from_room = driver_room(box->from.device), to_room = driver_room(box->to.device);
    size_t from_span, kept = 0;
    copy_work *it;
    int result;

    if (box->from.memory_type != GYRE_CU_MEMORY_UNIFIED ||
        box->to.memory_type != GYRE_CU_MEMORY_UNIFIED || box->from.pitch < box->width_bytes ||
        box->to.pitch < box->width_bytes)
        return GYRE_CU_INVALID_VALUE;
    if (box->width_bytes == 0 || box->height == 0 || box->depth == 0)
        return driver_ready();
    from_span = span(&box->from, box);
    if ((from_room && from_span > from_room) || (to_room && span(&box->to, box) > to_room))
        return GYRE_CU_INVALID_VALUE;
    if (!from_room)
        kept = from_span;
    it = driver_work_make(sizeof *it + kept, run_copy);
    if (!it)
        return GYRE_CU_OUT_OF_MEMORY;
    it->box = *box;
    if (kept) {
        memcpy(it->kept, box->from.device, kept);
        it->box.from.device = it->kept;
    }
    result = driver_submit(stream, it);
    if (!result && !to_room)
        driver_drain(stream);
    return result;
}

int cuMemcpyAsync(void *to, const void *from, size_t bytes, gyre_cu_stream *stream)
{
    return driver_copy(stream, &(gyre_cu_box){.from = {.memory_type = GYRE_CU_MEMORY_UNIFIED,
                                                       .device = from,
                                                       .pitch = bytes,
                                                       .height = 1},
                                              .to = {.memory_type = GYRE_CU_MEMORY_UNIFIED,
                                                     .device = to,
                                                     .pitch = bytes,
                                                     .height = 1},
                                              .width_bytes = bytes,
                                              .height = 1,
                                              .depth = 1});
}

int cuMemcpyPeerAsync(void *to, gyre_cu_context *to_context, const void *from,
                      gyre_cu_context *from_context, size_t bytes, gyre_cu_stream *stream)
{
    if (!to_context || !from_context)
        return GYRE_CU_INVALID_CONTEXT;
    return cuMemcpyAsync(to, from, bytes, stream);
}

int cuMemcpy3DAsync_v2(const gyre_cu_box *box, gyre_cu_stream *stream)
{
    return driver_copy(stream, box);
}

typedef struct fill_work {
    driver_work work;
    gyre_cu_fill_node node;
} fill_work;

static int run_fill(driver_work *work, gyre_cu_stream *stream)
{
    const gyre_cu_fill_node *const node = &((const fill_work *)(const void *)work)->node;

    (void)stream;
    for (size_t y = 0; y < node->height; y++)
        for (size_t x = 0; x < node->width; x++)
            memcpy((char *)node->to + y * node->pitch + x * node->element_bytes, &node->value,
                   node->element_bytes);
    return 0;
}

int driver_fill(gyre_cu_stream *stream, const gyre_cu_fill_node *node)
{
    const size_t row = node->width * node->element_bytes;
    fill_work *it;

    if (row == 0 || node->height == 0)
        return driver_ready();
    if (driver_room(node->to) < (node->height - 1) * node->pitch + row)
        return GYRE_CU_INVALID_VALUE;
    it = driver_work_make(sizeof *it, run_fill);
    if (it)
        it->node = *node;
    return driver_submit(stream, it);
}

int cuMemsetD8Async(void *to, unsigned char value, size_t count, gyre_cu_stream *stream)
{
    return driver_fill(stream, &(gyre_cu_fill_node){to, 0, value, 1, count, 1});
}

int cuMemsetD16Async(void *to, unsigned short value, size_t count, gyre_cu_stream *stream)
{
    return driver_fill(stream, &(gyre_cu_fill_node){to, 0, value, 2, count, 1});
}

int cuMemsetD32Async(void *to, unsigned value, size_t count, gyre_cu_stream *stream)
{
    return driver_fill(stream, &(gyre_cu_fill_node){to, 0, value, 4, count, 1});
}

int cuMemsetD2D32Async(void *to, size_t pitch, unsigned value, size_t width, size_t height,
                       gyre_cu_stream *stream)
{
    return driver_fill(stream, &(gyre_cu_fill_node){to, pitch, value, 4, width, height});
}
