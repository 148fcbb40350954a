/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_fake_driver: what the files of the driver that computes nothing share (cuda_fake.h).
 *
 * Threads   those of the test; a current context for each.
 * Owns      nothing.
 */
#ifndef GYRE_BACKENDS_CUDA_FAKE_DRIVER_H
#define GYRE_BACKENDS_CUDA_FAKE_DRIVER_H

#include "backends/cuda/cuda_api.h"
#include "backends/cuda/cuda_fake.h"
#include "gyre/common.h"

enum { FAKE_NODES = 32 };

#define ROW(name, parameters) GYRE_API int name parameters;
GYRE_CU_REQUIRED(ROW)
GYRE_CU_OPTIONAL(ROW)
#undef ROW

GYRE_API extern cuda_fake_state cuda_fake;

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
    enum { FAKE_KERNEL, FAKE_COPY, FAKE_FILL } kind;
    gyre_cu_box box;
    gyre_cu_fill_node fill;
    uint64_t arguments[3];
};

struct gyre_cu_graph {
    gyre_cu_graph_node nodes[FAKE_NODES];
    size_t count;
};

struct gyre_cu_graph_exec {
    gyre_cu_graph *graph;
};

/* Zeros; the test ends when there are none. */
void *fake_make(size_t size);

gyre_cu_context *fake_current(void);

/* Whether it is a stream of the current context. */
int fake_in_place(const gyre_cu_stream *stream);

/* Work, done at once. */
int fake_is_sound(const gyre_cu_box *box);
void fake_copy_box(const gyre_cu_box *box);
void fake_fill(const gyre_cu_fill_node *node);
void fake_read_arguments(const void **parameters, uint64_t arguments[3]);

#endif
