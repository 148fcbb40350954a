/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_stream: streams and events.
 *
 * A stream is asked whether it is drained, never waited for: asking in a loop is as fast as the
 * driver's own waiting, and deadlines are above.
 *
 * Threads   one at a time for each stream, except poll.
 * Owns      the driver's streams, unless they were lent, and events.
 * Not here  what is submitted (cuda_work.c, cuda_graph.c).
 */
#include "backends/cuda/cuda.h"
#include "base/alloc.h"
#include "base/fail.h"

struct gyre_dev_event {
    gyre_dev *dev;
    gyre_cu_event *event;
};

/* The driver's smaller numbers go first, and none goes after those that have no wish. */
static int priority_of(const gyre_dev *dev, int32_t priority)
{
    const int64_t wanted = -(int64_t)priority;

    if (wanted < dev->priority_greatest)
        return dev->priority_greatest;
    return wanted > dev->priority_least ? dev->priority_least : (int)wanted;
}

/* Under the device's context. */
static gyre_status fill_in(gyre_dev_stream *stream, void *adopt, int32_t priority)
{
    gyre_dev *dev = stream->dev;
    gyre_cu_context *context = NULL;
    int result;

    if (!adopt) {
        result = dev->cu->cuStreamCreateWithPriority(&stream->stream, GYRE_CU_STREAM_NON_BLOCKING,
                                                     priority_of(dev, priority));
        return result == GYRE_CU_SUCCESS ? GYRE_OK : gyre_cuda_fail(dev, result, "cuStreamCreate");
    }
    stream->stream = adopt;
    stream->adopted = true;
    result = dev->cu->cuStreamGetCtx(stream->stream, &context);
    if (result != GYRE_CU_SUCCESS)
        return gyre_cuda_fail(dev, result, "cuStreamGetCtx of the stream to adopt");
    if (context != dev->context)
        return gyre_fail(GYRE_INVALID, "the stream to adopt is one of another context");
    return GYRE_OK;
}

gyre_status gyre_cuda_stream_open(gyre_dev *dev, void *adopt, int32_t priority,
                                  gyre_dev_stream **out_stream)
{
    gyre_dev_stream *stream;
    gyre_status status;
    void *block;
    bool pushed;

    *out_stream = NULL;
    status = gyre_alloc(NULL, 1, sizeof *stream, &block);
    if (status != GYRE_OK)
        return status;
    stream = block;
    stream->dev = dev;
    status = gyre_cuda_enter(dev, &pushed);
    if (status == GYRE_OK) {
        status = fill_in(stream, adopt, priority);
        gyre_cuda_leave(dev, pushed);
    }
    if (status == GYRE_OK)
        *out_stream = stream;
    else
        gyre_free(NULL, stream, 1, sizeof *stream);
    return status;
}

void gyre_cuda_stream_close(gyre_dev_stream *stream)
{
    gyre_dev *dev = stream->dev;
    bool pushed;

    if (!stream->adopted && !gyre_cuda_quiet(dev) && gyre_cuda_enter(dev, &pushed) == GYRE_OK) {
        gyre_cuda_note(dev, dev->cu->cuStreamDestroy_v2(stream->stream));
        gyre_cuda_leave(dev, pushed);
    }
    gyre_free(NULL, stream, 1, sizeof *stream);
}

gyre_status gyre_cuda_poll(gyre_dev_stream *stream)
{
    gyre_dev *dev = stream->dev;
    gyre_status status;
    bool pushed;
    int result;

    status = gyre_cuda_enter(dev, &pushed);
    if (status != GYRE_OK)
        return status;
    result = dev->cu->cuStreamQuery(stream->stream);
    gyre_cuda_leave(dev, pushed);
    return result == GYRE_CU_SUCCESS ? GYRE_OK : gyre_cuda_fail(dev, result, "cuStreamQuery");
}

gyre_status gyre_cuda_event_open(gyre_dev *dev, bool timed, gyre_dev_event **out_event)
{
    gyre_dev_event *event;
    gyre_status status;
    void *block;
    bool pushed;
    int result;

    *out_event = NULL;
    status = gyre_alloc(NULL, 1, sizeof *event, &block);
    if (status != GYRE_OK)
        return status;
    event = block;
    event->dev = dev;
    status = gyre_cuda_enter(dev, &pushed);
    if (status == GYRE_OK) {
        result = dev->cu->cuEventCreate(&event->event, timed ? 0 : GYRE_CU_EVENT_NO_TIMING);
        gyre_cuda_leave(dev, pushed);
        if (result != GYRE_CU_SUCCESS)
            status = gyre_cuda_fail(dev, result, "cuEventCreate");
    }
    if (status == GYRE_OK)
        *out_event = event;
    else
        gyre_free(NULL, event, 1, sizeof *event);
    return status;
}

void gyre_cuda_event_close(gyre_dev_event *event)
{
    gyre_dev *dev = event->dev;
    bool pushed;

    if (!gyre_cuda_quiet(dev) && gyre_cuda_enter(dev, &pushed) == GYRE_OK) {
        gyre_cuda_note(dev, dev->cu->cuEventDestroy_v2(event->event));
        gyre_cuda_leave(dev, pushed);
    }
    gyre_free(NULL, event, 1, sizeof *event);
}

gyre_status gyre_cuda_event_record(gyre_dev_event *event, gyre_dev_stream *stream)
{
    gyre_dev *dev = stream->dev;
    gyre_status status;
    bool pushed;
    int result;

    status = gyre_cuda_enter(dev, &pushed);
    if (status != GYRE_OK)
        return status;
    result = dev->cu->cuEventRecord(event->event, stream->stream);
    gyre_cuda_leave(dev, pushed);
    return result == GYRE_CU_SUCCESS ? GYRE_OK : gyre_cuda_fail(dev, result, "cuEventRecord");
}

gyre_status gyre_cuda_event_poll(gyre_dev_event *event)
{
    gyre_dev *dev = event->dev;
    gyre_status status;
    bool pushed;
    int result;

    status = gyre_cuda_enter(dev, &pushed);
    if (status != GYRE_OK)
        return status;
    result = dev->cu->cuEventQuery(event->event);
    gyre_cuda_leave(dev, pushed);
    return result == GYRE_CU_SUCCESS ? GYRE_OK : gyre_cuda_fail(dev, result, "cuEventQuery");
}

gyre_status gyre_cuda_event_wait(gyre_dev_stream *stream, gyre_dev_event *event)
{
    gyre_dev *dev = stream->dev;
    gyre_status status;
    bool pushed;
    int result;

    status = gyre_cuda_enter(dev, &pushed);
    if (status != GYRE_OK)
        return status;
    result = dev->cu->cuStreamWaitEvent(stream->stream, event->event, 0);
    gyre_cuda_leave(dev, pushed);
    return result == GYRE_CU_SUCCESS ? GYRE_OK : gyre_cuda_fail(dev, result, "cuStreamWaitEvent");
}

gyre_status gyre_cuda_event_between(gyre_dev_event *from, gyre_dev_event *to, double *out_ns)
{
    gyre_dev *dev = from->dev;
    gyre_status status;
    float ms = 0;
    bool pushed;
    int result;

    *out_ns = 0;
    status = gyre_cuda_enter(dev, &pushed);
    if (status != GYRE_OK)
        return status;
    result = dev->cu->cuEventElapsedTime_v2
                 ? dev->cu->cuEventElapsedTime_v2(&ms, from->event, to->event)
                 : dev->cu->cuEventElapsedTime(&ms, from->event, to->event);
    gyre_cuda_leave(dev, pushed);
    if (result != GYRE_CU_SUCCESS)
        return gyre_cuda_fail(dev, result, "cuEventElapsedTime");
    *out_ns = (double)ms * 1e6;
    return GYRE_OK;
}
