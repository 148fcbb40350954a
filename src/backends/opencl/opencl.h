/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl: what the files of this backend share.
 *
 * Locks are taken in this order: a kernel's, the device's, a stream's or event's.
 */
#ifndef GYRE_BACKENDS_OPENCL_H
#define GYRE_BACKENDS_OPENCL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/opencl/opencl_api.h"
#include "dev/backend.h"

/* The driver's functions: constant once probe has returned GYRE_OK. */
extern gyre_cl_api gyre_cl;

/* A device that was found; constant likewise. */
typedef struct gyre_cl_found {
    cl_platform *platform;
    cl_device *id;
    bool fine;            /* memory that host and device share without being told */
    bool atomics;         /* and may synchronise in */
    bool host_reach;      /* device memory is such memory */
    bool profiling;       /* its queues tell the time */
    uint32_t standard;    /* of the language: 120, 200, 300 */
    uint64_t block_bytes; /* the largest block of memory */
} gyre_cl_found;

/* A block of device memory, or of pinned memory that is shared. */
typedef struct gyre_cl_block {
    void *address; /* as it was handed out */
    void *base;    /* as the driver knows it */
    size_t size;   /* from the address on */
} gyre_cl_block;

typedef struct gyre_cl_pinned gyre_cl_pinned;

struct gyre_dev {
    const gyre_cl_found *found; /* static */
    cl_context *context;        /* retained */
    _Atomic bool abandoned;     /* nothing is asked of the driver any more */
    bool declares;              /* kernels are told which blocks they may reach, see declare */
    cl_queue *freeing;          /* frees blocks after the kernels that were told; if it declares */
    cl_queue *mapping;          /* see opencl_pinned.c; likewise */
    pthread_mutex_t lock;       /* for all below */
    gyre_cl_pinned *pinned;     /* chained; if it declares */
    gyre_cl_block *blocks;
    size_t block_count, block_room;
    uint64_t changes;         /* of the blocks; starts at 1 */
    gyre_dev_stream *streams; /* chained */
};

static inline bool gyre_cl_abandoned(const gyre_dev *dev)
{
    return atomic_load_explicit(&dev->abandoned, memory_order_relaxed); /* a flag on its own */
}

struct gyre_dev_stream {
    gyre_dev *dev;
    gyre_dev_stream *next, *previous; /* dev's lock */
    cl_queue *queue;                  /* retained */
    cl_queue *before;                 /* what `queue` was until time was asked; NULL: that */
    bool adopted;
    pthread_mutex_t lock; /* for both below */
    cl_event *last;       /* of what was submitted last, which waits for everything before it */
    cl_event *mark;       /* poll's, at the end of an adopted queue */
};

/* "CL_OUT_OF_RESOURCES", or "an error" for a code that is none of the usual ones. */
const char *gyre_cl_name(int32_t code);

/* GYRE_OK for CL_SUCCESS; else the status for the code, with a detail: "clFlush: CL_... (-5)". */
GYRE_MUST_USE gyre_status gyre_cl_check(int32_t code, const char *what);

/* opencl_device.c */
gyre_status gyre_cl_probe(uint32_t *out_count, char *text, size_t text_size);
gyre_status gyre_cl_describe(uint32_t index, gyre_device *out_device);
gyre_status gyre_cl_compiler(uint32_t index, char *text, size_t text_size);
/* NULL past the last. Not const, so that a test can have a poorer device than there is. */
gyre_cl_found *gyre_cl_found_at(uint32_t index);

/* opencl_memory.c */
gyre_status gyre_cl_open(uint32_t index, const gyre_dev_options *options, gyre_dev **out_dev);
void gyre_cl_abandon(gyre_dev *dev);
void gyre_cl_close(gyre_dev *dev);
gyre_status gyre_cl_room(gyre_dev *dev, uint64_t *out_free, uint64_t *out_total);
gyre_status gyre_cl_take(gyre_dev *dev, gyre_dev_memory kind, size_t size, size_t alignment,
                         void **out_block);
void gyre_cl_give(gyre_dev *dev, gyre_dev_memory kind, void *block, size_t size);

/* Whether the address lies in a block that the driver gave. */
bool gyre_cl_owns(gyre_dev *dev, const void *address);

/* Tells a kernel of all blocks unless it knows them: *seen is dev's `changes` when it was told
 * last. The caller holds dev's lock until the kernel is submitted, so that none is freed before. */
GYRE_MUST_USE gyre_status gyre_cl_declare(gyre_dev *dev, cl_kernel *kernel, uint64_t *seen);

/* opencl_pinned.c: of a device that declares. Close accepts one that was not prepared. */
GYRE_MUST_USE gyre_status gyre_cl_pinned_prepare(gyre_dev *dev);
GYRE_MUST_USE gyre_status gyre_cl_pinned_take(gyre_dev *dev, size_t size, size_t alignment,
                                              void **out_block);
void gyre_cl_pinned_give(gyre_dev *dev, void *block);
void gyre_cl_pinned_close(gyre_dev *dev);

/* opencl_program.c */
gyre_status gyre_cl_compile(gyre_dev *dev, const gyre_dev_source *source, void **out_image,
                            size_t *out_size);

/* opencl_kernel.c */
gyre_status gyre_cl_module_open(gyre_dev *dev, const gyre_dev_code *code,
                                gyre_dev_module **out_module);
void gyre_cl_module_close(gyre_dev_module *module);
gyre_status gyre_cl_kernel_open(gyre_dev_module *module, const gyre_dev_kernel_request *request,
                                gyre_dev_kernel_facts *out_facts, gyre_dev_kernel **out_kernel);

/* Submits after `wait`, if any, and makes the launch the stream's last. */
GYRE_MUST_USE gyre_status gyre_cl_kernel_submit(gyre_dev_stream *stream,
                                                const gyre_dev_launch *launch, cl_event *wait);

/* opencl_stream.c */
gyre_status gyre_cl_stream_open(gyre_dev *dev, void *adopt, int32_t priority,
                                gyre_dev_stream **out_stream);
void gyre_cl_stream_close(gyre_dev_stream *stream);
gyre_status gyre_cl_poll(gyre_dev_stream *stream);
gyre_status gyre_cl_launch(gyre_dev_stream *stream, const gyre_dev_launch *launch);
gyre_status gyre_cl_copy(gyre_dev_stream *stream, const gyre_dev_copy *copy);
gyre_status gyre_cl_fill(gyre_dev_stream *stream, const gyre_dev_fill *fill);
gyre_status gyre_cl_words(gyre_dev_stream *stream, const gyre_dev_word *words, uint32_t count);

/* From now on the queue tells the time, if the device can; it stays the same. */
GYRE_MUST_USE gyre_status gyre_cl_stream_time(gyre_dev_stream *stream);

/* The event of what was submitted last, retained; NULL when there is none. */
cl_event *gyre_cl_stream_last(gyre_dev_stream *stream);

/* Makes `event` the stream's last, which owns it from then on. */
void gyre_cl_stream_replace(gyre_dev_stream *stream, cl_event *event);

/* The same, and lets the driver begin. */
GYRE_MUST_USE gyre_status gyre_cl_stream_submitted(gyre_dev_stream *stream, cl_event *event);

/* GYRE_OK when the command is complete, GYRE_AGAIN, or what became of it. */
GYRE_MUST_USE gyre_status gyre_cl_event_state(cl_event *event);

/* opencl_event.c */
gyre_status gyre_cl_event_open(gyre_dev *dev, bool timed, gyre_dev_event **out_event);
void gyre_cl_event_close(gyre_dev_event *event);
gyre_status gyre_cl_event_record(gyre_dev_event *event, gyre_dev_stream *stream);
gyre_status gyre_cl_event_poll(gyre_dev_event *event);
gyre_status gyre_cl_event_wait(gyre_dev_stream *stream, gyre_dev_event *event);
gyre_status gyre_cl_event_between(gyre_dev_event *from, gyre_dev_event *to, double *out_ns);

#endif
