/* SPDX-License-Identifier: Apache-2.0
 *
 * null_fake: what the null backend's tests share: a device with faults, a stream, and a kernel
 * that can be seen to have run.
 */
#ifndef GYRE_NULL_FAKE_H
#define GYRE_NULL_FAKE_H

#include <stdint.h>
#include <string.h>

#include "dev/backend.h"

/* The table, as backends.c knows it: the only way in. */
extern const gyre_backend gyre_backend_null;
static const gyre_backend *const null = &gyre_backend_null;

typedef struct add_parameters {
    uint32_t *sums; /* of each block */
    uint32_t value;
} add_parameters;

static inline void fake_add(const gyre_block *block, const void *parameters)
{
    const add_parameters *const p = parameters;
    const size_t row = block->index[1] + (size_t)block->index[2] * block->grid[1];

    /* relaxed: atomic only for a thread that looks while it runs */
    __atomic_fetch_add(&p->sums[block->index[0] + row * block->grid[0]], p->value,
                       __ATOMIC_RELAXED);
}

static const gyre_entry fake_functions[] = {{"add", fake_add}, {NULL, NULL}};
static const gyre_dev_argument fake_arguments[] = {{0, 8, true}, {8, 4, false}};
static const gyre_dev_kernel_request fake_request = {"add", fake_arguments, 2, 12};

typedef struct fake {
    gyre_dev *dev;
    gyre_dev_stream *stream;
    gyre_dev_module *module;
    gyre_dev_kernel *kernel;
    uint32_t sums[8]; /* that the kernel adds to */
} fake;

/* Opens null:`index` with faults; false when that fails, and then nothing is open. */
static inline bool fake_open(fake *f, uint32_t index, const char *faults)
{
    const gyre_dev_options options = {.faults = faults};
    const gyre_dev_code code = {.functions = fake_functions};
    gyre_dev_kernel_facts facts;

    memset(f, 0, sizeof *f);
    if (null->open(index, &options, &f->dev) != GYRE_OK)
        return false;
    return null->stream_open(f->dev, NULL, 0, &f->stream) == GYRE_OK &&
           null->module_open(f->dev, &code, &f->module) == GYRE_OK &&
           null->kernel_open(f->module, &fake_request, &facts, &f->kernel) == GYRE_OK;
}

static inline void fake_close(fake *f, bool abandon)
{
    if (abandon && f->dev)
        null->abandon(f->dev);
    if (f->module)
        null->module_close(f->module);
    if (f->stream)
        null->stream_close(f->stream);
    if (f->dev)
        null->close(f->dev);
}

/* A launch of one block that adds `value` to sums[0]. */
static inline gyre_status fake_launch(fake *f, gyre_dev_stream *stream, uint32_t value)
{
    const add_parameters parameters = {f->sums, value};
    const gyre_dev_launch launch = {
        .kernel = f->kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}, .parameters = &parameters};

    return null->launch(stream, &launch);
}

static inline gyre_status fake_copy(gyre_dev_stream *stream, void *to, const void *from,
                                    size_t size)
{
    const gyre_dev_copy copy = {.to = to,
                                .from = from,
                                .width = size,
                                .height = 1,
                                .depth = 1,
                                .to_pitch = size,
                                .to_slice = size,
                                .from_pitch = size,
                                .from_slice = size};

    return null->copy(stream, &copy);
}

#endif
