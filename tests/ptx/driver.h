/* SPDX-License-Identifier: Apache-2.0
 *
 * driver: a libcuda.so.1 for machines without a GPU, for tests. Kernels are run by ptx.h.
 *
 * A program that finds it in LD_LIBRARY_PATH sees one device, which is newer than NVRTC, so that it
 * gets PTX. Its memory is the host's. Each stream is a thread that does what was submitted in
 * order; kernels of several streams run beside each other, and those that stay do so.
 *
 * Where a driver of NVIDIA waits for resident kernels, so does this one (docs/actors.md has the
 * list): frees, and whatever has to do with modules, wait for all work of the context, and so does
 * the first launch of a function that was loaded beside one; to destroy a context waits for the
 * work of all. So a test of ours hangs here if Gyre makes such a call. A fault ends all kernels,
 * and every later call returns it.
 *
 * Threads   any. One mutex guards everything; kernels run without it.
 * Owns      what its calls create. Threads of streams end with them, or with the process.
 * Not here  several devices, peers, registration of the caller's memory, and everything that Gyre
 *           does not call.
 */
#ifndef GYRE_TESTS_PTX_DRIVER_H
#define GYRE_TESTS_PTX_DRIVER_H

#include <pthread.h>
#include <stdbool.h>

#include "backends/cuda/cuda_api.h"
#include "gyre/common.h"
#include "ptx.h"

#define ROW(name, parameters) GYRE_API int name parameters;
GYRE_CU_REQUIRED(ROW)
GYRE_CU_OPTIONAL(ROW)
#undef ROW

enum {
    DRIVER_UNITS = 40,
    DRIVER_UNIT_THREADS = 2048,
    DRIVER_THREADS = 1024,
    DRIVER_SHARED = 49152,
    DRIVER_SHARED_MOST = 232448,
    DRIVER_MEMORY = 1 << 30,
};

struct gyre_cu_context {
    uint32_t pending; /* work that was submitted and is not done */
    uint32_t running; /* of it, kernels that run */
};

/* Something that a stream does. `run` returns a result of the driver; it is freed afterwards. */
typedef struct driver_work driver_work;

struct driver_work {
    driver_work *next;
    int (*run)(driver_work *work, gyre_cu_stream *stream);
};

struct gyre_cu_stream {
    gyre_cu_context *context;
    driver_work *first, *last;
    uint32_t pending; /* the one that is being done counts */
    bool ends;        /* when there is nothing to do any more */
};

struct gyre_cu_event {
    bool timed;
    bool ends; /* with the last work that names it */
    uint32_t works;
    uint64_t recorded, reached; /* how often */
    uint64_t ns;                /* of the last time that it was reached */
};

struct gyre_cu_function {
    gyre_cu_module *module;
    const ptx_function *code;
    bool late; /* a kernel was there when it was loaded: its first launch waits */
    gyre_cu_function *next;
};

struct gyre_cu_module {
    gyre_cu_context *context;
    ptx_module *code;
    gyre_cu_function *functions;
};

extern struct driver_state {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* something that somebody may wait for has happened */
    uint32_t pending;       /* work of all contexts */
    int fault;
    uint32_t stop; /* shared: kernels end when it is 1 */
} driver;

/* The current context; NULL: none. */
gyre_cu_context *driver_current(void);

/* 0, or what a call returns that cannot go on: no context, or a fault before. */
int driver_ready(void);

/* Waits until everything is done that was submitted to streams of the context, or of any: NULL. */
void driver_await_work(const gyre_cu_context *context);

/* A block of memory for work, of `size` zeros that begin with driver_work; NULL: none. */
void *driver_work_make(size_t size, int (*run)(driver_work *work, gyre_cu_stream *stream));

/* Appends it, or frees it and says why not. */
int driver_submit(gyre_cu_stream *stream, void *made);

/* Waits until the stream has done everything. */
void driver_drain(gyre_cu_stream *stream);

/* How many bytes from `address` on belong to a block that devices reach; 0: none. */
size_t driver_room(const void *address);

/* What graphs have too. Each checks what it was given, and appends it. */
int driver_launch(gyre_cu_stream *stream, const gyre_cu_kernel_node *node, bool cooperative);
int driver_copy(gyre_cu_stream *stream, const gyre_cu_box *box);
int driver_fill(gyre_cu_stream *stream, const gyre_cu_fill_node *node);

#endif
