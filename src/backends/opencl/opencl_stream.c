/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl_stream: in-order queues, and what they are given.
 *
 * Each command waits for the event of the one before it, though the queue keeps their order
 * anyway: so a command that fails makes all later ones fail, and the last event tells of all.
 *
 * A queue that tells the time costs more with every command, on NVIDIA's driver much more. So a
 * stream has one from when time is first asked of it, or its queue is handed out. All that it is
 * given then waits, by the last event, for what the queue before it was given.
 *
 * A queue that was adopted may have been given work by its owner as well. Polling puts a marker at
 * its end, one at a time, and it counts as drained once the marker is reached.
 *
 * Threads   `last` and `mark` are under the stream's lock, because any thread may poll. No driver
 *           call that may take long is made under it.
 * Owns      one queue or two, or a reference to an adopted one.
 * Not here  kernels' arguments (opencl_kernel.c), events of our own (opencl_event.c).
 */
#include <string.h>

#include "backends/opencl/opencl.h"
#include "base/alloc.h"
#include "base/fail.h"

static gyre_status adopt(gyre_dev_stream *stream, cl_queue *queue)
{
    cl_context *context = NULL;
    cl_device *id = NULL;
    uint64_t properties = 0;
    gyre_status status;

    status = gyre_cl_check(
        gyre_cl.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(void *), &context, NULL),
        "clGetCommandQueueInfo");
    if (status == GYRE_OK)
        status = gyre_cl_check(
            gyre_cl.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(void *), &id, NULL),
            "clGetCommandQueueInfo");
    if (status == GYRE_OK)
        status = gyre_cl_check(gyre_cl.clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES,
                                                             sizeof properties, &properties, NULL),
                               "clGetCommandQueueInfo");
    if (status != GYRE_OK)
        return status;
    if (context != stream->dev->context || id != stream->dev->found->id)
        return gyre_fail(GYRE_INVALID, "the adopted queue is of another context or device");
    if (properties & CL_QUEUE_OUT_OF_ORDER)
        return gyre_fail(GYRE_INVALID, "the adopted queue runs its commands out of order");
    status = gyre_cl_check(gyre_cl.clRetainCommandQueue(queue), "clRetainCommandQueue");
    if (status == GYRE_OK)
        stream->queue = queue;
    stream->adopted = true;
    return status;
}

static gyre_status make_queue(const gyre_dev *dev, bool timed, cl_queue **out_queue)
{
    const uint64_t properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING, 0};
    int32_t code = CL_SUCCESS;

    *out_queue = gyre_cl.clCreateCommandQueueWithProperties(dev->context, dev->found->id,
                                                            timed ? properties : NULL, &code);
    return gyre_cl_check(code, "clCreateCommandQueueWithProperties");
}

gyre_status gyre_cl_stream_time(gyre_dev_stream *stream)
{
    gyre_status status;
    cl_queue *queue;

    if (stream->adopted || stream->before || !stream->dev->found->profiling)
        return GYRE_OK;
    status = make_queue(stream->dev, true, &queue);
    if (status == GYRE_OK) {
        stream->before = stream->queue;
        stream->queue = queue;
    }
    return status;
}

gyre_status gyre_cl_stream_open(gyre_dev *dev, void *adopted, int32_t priority,
                                gyre_dev_stream **out_stream)
{
    gyre_dev_stream *stream;
    gyre_status status;
    void *block;

    (void)priority;
    *out_stream = NULL;
    status = gyre_alloc(NULL, 1, sizeof *stream, &block);
    if (status != GYRE_OK)
        return status;
    stream = block;
    stream->dev = dev;
    pthread_mutex_init(&stream->lock, NULL);
    status = adopted ? adopt(stream, adopted) : make_queue(dev, false, &stream->queue);
    if (status != GYRE_OK) {
        pthread_mutex_destroy(&stream->lock);
        gyre_free(NULL, stream, 1, sizeof *stream);
        return status;
    }
    pthread_mutex_lock(&dev->lock);
    stream->next = dev->streams;
    if (stream->next)
        stream->next->previous = stream;
    dev->streams = stream;
    pthread_mutex_unlock(&dev->lock);
    *out_stream = stream;
    return GYRE_OK;
}

void gyre_cl_stream_close(gyre_dev_stream *stream)
{
    if (!stream)
        return;
    pthread_mutex_lock(&stream->dev->lock);
    if (stream->next)
        stream->next->previous = stream->previous;
    if (stream->previous)
        stream->previous->next = stream->next;
    else
        stream->dev->streams = stream->next;
    pthread_mutex_unlock(&stream->dev->lock);
    if (!gyre_cl_abandoned(stream->dev)) {
        if (stream->last)
            gyre_cl.clReleaseEvent(stream->last);
        if (stream->mark)
            gyre_cl.clReleaseEvent(stream->mark);
        gyre_cl.clReleaseCommandQueue(stream->queue);
        if (stream->before)
            gyre_cl.clReleaseCommandQueue(stream->before);
    }
    pthread_mutex_destroy(&stream->lock);
    gyre_free(NULL, stream, 1, sizeof *stream);
}

cl_event *gyre_cl_stream_last(gyre_dev_stream *stream)
{
    cl_event *last;

    pthread_mutex_lock(&stream->lock);
    last = stream->last;
    if (last)
        gyre_cl.clRetainEvent(last);
    pthread_mutex_unlock(&stream->lock);
    return last;
}

void gyre_cl_stream_replace(gyre_dev_stream *stream, cl_event *event)
{
    cl_event *before;

    pthread_mutex_lock(&stream->lock);
    before = stream->last;
    stream->last = event;
    pthread_mutex_unlock(&stream->lock);
    if (before)
        gyre_cl.clReleaseEvent(before);
}

gyre_status gyre_cl_stream_submitted(gyre_dev_stream *stream, cl_event *event)
{
    gyre_cl_stream_replace(stream, event);
    return gyre_cl_check(gyre_cl.clFlush(stream->queue), "clFlush");
}

gyre_status gyre_cl_event_state(cl_event *event)
{
    int32_t state = 0;
    gyre_status status;

    status = gyre_cl_check(gyre_cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                                  sizeof state, &state, NULL),
                           "clGetEventInfo");
    if (status != GYRE_OK)
        return status;
    if (state > 0)
        return GYRE_AGAIN;
    if (state == 0) /* does not wait: only this call, not the state, promises that memory is seen */
        return gyre_cl_check(gyre_cl.clWaitForEvents(1, &event), "clWaitForEvents");
    return gyre_fail_native(GYRE_DEVICE_LOST, state, "a command ended with %s (%d)",
                            gyre_cl_name(state), (int)state);
}

/* Whether an adopted queue is at its end; under the lock. */
static gyre_status poll_mark(gyre_dev_stream *stream)
{
    gyre_status status = GYRE_OK;

    if (!stream->mark) {
        status = gyre_cl_check(
            gyre_cl.clEnqueueMarkerWithWaitList(stream->queue, 0, NULL, &stream->mark),
            "clEnqueueMarkerWithWaitList");
        if (status == GYRE_OK)
            status = gyre_cl_check(gyre_cl.clFlush(stream->queue), "clFlush");
    }
    if (status == GYRE_OK)
        status = gyre_cl_event_state(stream->mark);
    if (status != GYRE_AGAIN && stream->mark) {
        gyre_cl.clReleaseEvent(stream->mark);
        stream->mark = NULL;
    }
    return status;
}

gyre_status gyre_cl_poll(gyre_dev_stream *stream)
{
    gyre_status status;

    pthread_mutex_lock(&stream->lock);
    status = stream->last ? gyre_cl_event_state(stream->last) : GYRE_OK;
    if (status == GYRE_OK && stream->adopted)
        status = poll_mark(stream);
    pthread_mutex_unlock(&stream->lock);
    return status;
}

gyre_status gyre_cl_launch(gyre_dev_stream *stream, const gyre_dev_launch *launch)
{
    cl_event *const wait = stream->last; /* only submissions change it, and this is one */
    const gyre_status status = gyre_cl_kernel_submit(stream, launch, wait);

    return status == GYRE_OK ? gyre_cl_check(gyre_cl.clFlush(stream->queue), "clFlush") : status;
}

static gyre_status copy_bytes(gyre_dev_stream *stream, char *to, const char *from, size_t size)
{
    cl_event *const wait = stream->last;
    cl_event *event = NULL;
    gyre_status status;

    status = gyre_cl_check(gyre_cl.clEnqueueSVMMemcpy(stream->queue, 0, to, from, size,
                                                      wait ? 1 : 0, wait ? &wait : NULL, &event),
                           "clEnqueueSVMMemcpy");
    if (status == GYRE_OK)
        gyre_cl_stream_replace(stream, event);
    return status;
}

gyre_status gyre_cl_copy(gyre_dev_stream *stream, const gyre_dev_copy *copy)
{
    size_t width = copy->width, height = copy->height, depth = copy->depth;
    gyre_status status = GYRE_OK;
    int32_t code;

    if (copy->from_dev && copy->from_dev != stream->dev && !copy->from_dev->found->host_reach)
        return gyre_fail(GYRE_UNSUPPORTED, "OpenCL copies nothing from one context to another");
    if (copy->to_pitch == width && copy->from_pitch == width) {
        width *= height;
        height = 1;
    }
    if (height == 1 && copy->to_slice == width && copy->from_slice == width) {
        width *= depth;
        depth = 1;
    }
    for (size_t z = 0; status == GYRE_OK && z < depth; z++)
        for (size_t y = 0; status == GYRE_OK && y < height; y++)
            status = copy_bytes(
                stream, (char *)copy->to + z * copy->to_slice + y * copy->to_pitch,
                (const char *)copy->from + z * copy->from_slice + y * copy->from_pitch, width);
    /* also after a failure: the rows before it are under way */
    code = gyre_cl.clFlush(stream->queue);
    return status == GYRE_OK ? gyre_cl_check(code, "clFlush") : status;
}

static gyre_status fill_block(gyre_dev_stream *stream, void *to, const gyre_dev_fill *fill,
                              size_t size)
{
    cl_event *const wait = stream->last;
    cl_event *event = NULL;
    gyre_status status;

    status = gyre_cl_check(gyre_cl.clEnqueueSVMMemFill(stream->queue, to, fill->pattern,
                                                       fill->pattern_size, size, wait ? 1 : 0,
                                                       wait ? &wait : NULL, &event),
                           "clEnqueueSVMMemFill");
    if (status == GYRE_OK)
        gyre_cl_stream_replace(stream, event);
    return status;
}

/* A device that must be told what it shares fills none of the host's memory: the pattern goes into
 * a block, and from there as often as it takes. */
static gyre_status fill_host(gyre_dev_stream *stream, const gyre_dev_fill *fill, size_t size)
{
    enum { PIECE = 1 << 16 }; /* whole patterns */
    const size_t piece = size < PIECE ? size : PIECE;
    gyre_status status;
    void *block;

    status = gyre_cl_take(stream->dev, GYRE_DEV_MEMORY_DEVICE, piece, 1, &block);
    if (status != GYRE_OK)
        return status;
    status = fill_block(stream, block, fill, piece);
    for (size_t at = 0; status == GYRE_OK && at < size; at += piece)
        status =
            copy_bytes(stream, (char *)fill->to + at, block, size - at < piece ? size - at : piece);
    gyre_cl_give(stream->dev, GYRE_DEV_MEMORY_DEVICE, block, piece); /* freed after the copies */
    return status;
}

gyre_status gyre_cl_fill(gyre_dev_stream *stream, const gyre_dev_fill *fill)
{
    const size_t size = fill->pattern_size * fill->count;
    gyre_status status;
    int32_t code;

    if (stream->dev->declares && !gyre_cl_owns(stream->dev, fill->to))
        status = fill_host(stream, fill, size);
    else
        status = fill_block(stream, fill->to, fill, size);
    /* also after a failure: what came before it is under way */
    code = gyre_cl.clFlush(stream->queue);
    return status == GYRE_OK ? gyre_cl_check(code, "clFlush") : status;
}

/* A fill of one word: the commands before it are over, and drivers store it as one. */
gyre_status gyre_cl_words(gyre_dev_stream *stream, const gyre_dev_word *words, uint32_t count)
{
    gyre_status status = GYRE_OK;

    for (uint32_t i = 0; i < count; i++)
        if (words[i].kind != GYRE_DEV_WORD_WRITE)
            return gyre_fail(GYRE_UNSUPPORTED, "OpenCL has no command that waits for a word");
    if (stream->dev->declares)
        return gyre_fail(GYRE_UNSUPPORTED,
                         "this driver shares no memory with the host while commands run");
    for (uint32_t i = 0; i < count && status == GYRE_OK; i++) {
        gyre_dev_fill fill = {.to = words[i].at, .pattern_size = sizeof words[i].value, .count = 1};

        memcpy(fill.pattern, &words[i].value, sizeof words[i].value);
        status = gyre_cl_fill(stream, &fill);
    }
    return status;
}
