/* SPDX-License-Identifier: Apache-2.0
 *
 * null: what the files of the null backend share: an opened device, and its slots.
 *
 * Threads   one lock for each device there is guards all counts, times and faults of what is open
 *           on it. It is never held while a kernel runs.
 * Owns      a gyre_dev owns nothing but itself; the memory taken from it is its taker's.
 * Not here  the table (null.c), which is all that the rest of the library sees.
 */
#ifndef GYRE_NULL_H
#define GYRE_NULL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/null/null_faults.h"
#include "dev/backend.h"

enum {
    GYRE_NULL_DEVICES = 2,
    GYRE_NULL_UNITS = 4,
    GYRE_NULL_BLOCK_THREADS = 1024,
    GYRE_NULL_SHARED_BYTES = 48 << 10,
    GYRE_NULL_MEMORY_BYTES = 256 << 20,
};

/* What this driver calls its errors. */
enum {
    GYRE_NULL_ERROR_FAULT = 1,
    GYRE_NULL_ERROR_REFUSED = 2,
    GYRE_NULL_ERROR_MEMORY = 3,
    GYRE_NULL_ERROR_NO_ANSWER = 4,
};

/* A device as it is in the machine, opened or not. */
typedef struct gyre_null_device {
    pthread_mutex_t lock; /* for what follows, and for every gyre_dev of it */
    uint64_t taken_bytes; /* by all who have opened it */
    bool lost;            /* to the end of the process */
    gyre_dev *newest;     /* of those that are open */
} gyre_null_device;

struct gyre_dev {
    gyre_null_device *device;
    gyre_dev *older; /* opened before this one, on the same device */
    uint32_t index;
    gyre_null_faults faults; /* constant */
    uint32_t launches, submissions, takes, builds;
    uint32_t lost_by;     /* the launch whose fault was found; 0: it works */
    uint64_t taken_bytes; /* of device memory */
    bool abandoned;       /* nothing is waited for any more */
};

/* Locks the device, or GYRE_DEVICE_LOST, and then it is not locked. */
GYRE_MUST_USE gyre_status gyre_null_enter(gyre_dev *dev);
void gyre_null_leave(gyre_dev *dev);

/* What every call returns from now on, and how it comes to that. Locked. */
GYRE_MUST_USE gyre_status gyre_null_lost(const gyre_dev *dev);
void gyre_null_lose(gyre_dev *dev, uint32_t launch);

/* Code: null_code.c. */
gyre_status gyre_null_compile(gyre_dev *dev, const gyre_dev_source *source, void **out_image,
                              size_t *out_size);
gyre_status gyre_null_module_open(gyre_dev *dev, const gyre_dev_code *code,
                                  gyre_dev_module **out_module);
void gyre_null_module_close(gyre_dev_module *module);
gyre_status gyre_null_kernel_open(gyre_dev_module *module, const gyre_dev_kernel_request *request,
                                  gyre_dev_kernel_facts *out_facts, gyre_dev_kernel **out_kernel);
gyre_status gyre_null_residency(gyre_dev_kernel *kernel, uint32_t block_threads,
                                uint32_t shared_bytes, uint32_t *out_blocks);
uint32_t gyre_null_parameters_bytes(const gyre_dev_kernel *kernel);

/* Runs all blocks, here and now; `shared` has room for the launch's. */
void gyre_null_run(const gyre_dev_launch *launch, void *shared);

/* Streams and events: null_stream.c. */
gyre_status gyre_null_stream_open(gyre_dev *dev, void *adopt, int32_t priority,
                                  gyre_dev_stream **out_stream);
void gyre_null_stream_close(gyre_dev_stream *stream);
gyre_status gyre_null_poll(gyre_dev_stream *stream);
gyre_status gyre_null_launch(gyre_dev_stream *stream, const gyre_dev_launch *launch);
gyre_status gyre_null_copy(gyre_dev_stream *stream, const gyre_dev_copy *copy);
gyre_status gyre_null_fill(gyre_dev_stream *stream, const gyre_dev_fill *fill);
gyre_status gyre_null_words(gyre_dev_stream *stream, const gyre_dev_word *words, uint32_t count);
gyre_status gyre_null_event_open(gyre_dev *dev, bool timed, gyre_dev_event **out_event);
void gyre_null_event_close(gyre_dev_event *event);
gyre_status gyre_null_event_record(gyre_dev_event *event, gyre_dev_stream *stream);
gyre_status gyre_null_event_poll(gyre_dev_event *event);
gyre_status gyre_null_event_wait(gyre_dev_stream *stream, gyre_dev_event *event);
gyre_status gyre_null_event_between(gyre_dev_event *from, gyre_dev_event *to, double *out_ns);

/* Submits nodes in their order, as one submission. */
GYRE_MUST_USE gyre_status gyre_null_submit(gyre_dev_stream *stream, const gyre_dev_node *nodes,
                                           uint32_t count);

/* Graphs: null_graph.c. */
gyre_status gyre_null_graph_open(gyre_dev *dev, const gyre_dev_node *nodes, uint32_t count,
                                 gyre_dev_graph **out_graph);
void gyre_null_graph_close(gyre_dev_graph *graph);
gyre_status gyre_null_graph_update(gyre_dev_graph *graph, uint32_t node,
                                   const gyre_dev_launch *launch);
gyre_status gyre_null_graph_submit(gyre_dev_stream *stream, gyre_dev_graph *graph);

#endif
