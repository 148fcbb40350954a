/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl_event: places in queues: a record is a marker, a wait a barrier on the other queue.
 *
 * Time is when the device passed the marker, on its own clock, in nanoseconds; a queue that was
 * adopted tells it only if its owner made it so.
 *
 * Threads   any: the marker is under the event's lock.
 * Owns      the marker of the last record.
 * Not here  when everything is done (gyre_cl_poll).
 */
#include "backends/opencl/opencl.h"
#include "base/alloc.h"
#include "base/fail.h"

struct gyre_dev_event {
    gyre_dev *dev;
    pthread_mutex_t lock;
    cl_event *marker; /* NULL: never recorded */
};

gyre_status gyre_cl_event_open(gyre_dev *dev, bool timed, gyre_dev_event **out_event)
{
    gyre_status status;
    void *block;

    *out_event = NULL;
    if (timed && !dev->found->profiling)
        return gyre_fail(GYRE_UNSUPPORTED, "the device's queues tell no time");
    status = gyre_alloc(NULL, 1, sizeof **out_event, &block);
    if (status != GYRE_OK)
        return status;
    *out_event = block;
    (*out_event)->dev = dev;
    pthread_mutex_init(&(*out_event)->lock, NULL);
    return GYRE_OK;
}

void gyre_cl_event_close(gyre_dev_event *event)
{
    if (!event)
        return;
    if (event->marker && !gyre_cl_abandoned(event->dev))
        gyre_cl.clReleaseEvent(event->marker);
    pthread_mutex_destroy(&event->lock);
    gyre_free(NULL, event, 1, sizeof *event);
}

gyre_status gyre_cl_event_record(gyre_dev_event *event, gyre_dev_stream *stream)
{
    cl_event *const wait = stream->last;
    cl_event *marker = NULL, *before;
    gyre_status status;

    status = gyre_cl_check(gyre_cl.clEnqueueMarkerWithWaitList(stream->queue, wait ? 1 : 0,
                                                               wait ? &wait : NULL, &marker),
                           "clEnqueueMarkerWithWaitList");
    if (status != GYRE_OK)
        return status;
    gyre_cl.clRetainEvent(marker); /* one for the event, one for the stream */
    pthread_mutex_lock(&event->lock);
    before = event->marker;
    event->marker = marker;
    pthread_mutex_unlock(&event->lock);
    if (before)
        gyre_cl.clReleaseEvent(before);
    return gyre_cl_stream_submitted(stream, marker);
}

/* The marker, retained. */
static gyre_status marker_of(gyre_dev_event *event, cl_event **out_marker)
{
    pthread_mutex_lock(&event->lock);
    *out_marker = event->marker;
    if (*out_marker)
        gyre_cl.clRetainEvent(*out_marker);
    pthread_mutex_unlock(&event->lock);
    return *out_marker ? GYRE_OK : gyre_fail(GYRE_INVALID, "the event was never recorded");
}

gyre_status gyre_cl_event_poll(gyre_dev_event *event)
{
    gyre_status status;
    cl_event *marker;

    status = marker_of(event, &marker);
    if (status != GYRE_OK)
        return status;
    status = gyre_cl_event_state(marker);
    gyre_cl.clReleaseEvent(marker);
    return status;
}

gyre_status gyre_cl_event_wait(gyre_dev_stream *stream, gyre_dev_event *event)
{
    cl_event *waits[2], *barrier = NULL;
    uint32_t count = 1;
    gyre_status status;

    status = marker_of(event, &waits[0]);
    if (status != GYRE_OK)
        return status;
    if (stream->last)
        waits[count++] = stream->last;
    status =
        gyre_cl_check(gyre_cl.clEnqueueBarrierWithWaitList(stream->queue, count, waits, &barrier),
                      "clEnqueueBarrierWithWaitList");
    gyre_cl.clReleaseEvent(waits[0]);
    return status == GYRE_OK ? gyre_cl_stream_submitted(stream, barrier) : status;
}

static gyre_status reached_at(gyre_dev_event *event, uint64_t *out_ns)
{
    gyre_status status;
    cl_event *marker;

    *out_ns = 0;
    status = marker_of(event, &marker);
    if (status != GYRE_OK)
        return status;
    status = gyre_cl_event_state(marker);
    if (status == GYRE_OK)
        status = gyre_cl_check(gyre_cl.clGetEventProfilingInfo(marker, CL_PROFILING_COMMAND_END,
                                                               sizeof *out_ns, out_ns, NULL),
                               "clGetEventProfilingInfo");
    gyre_cl.clReleaseEvent(marker);
    return status;
}

gyre_status gyre_cl_event_between(gyre_dev_event *from, gyre_dev_event *to, double *out_ns)
{
    uint64_t begin, end;
    gyre_status status;

    *out_ns = 0;
    status = reached_at(from, &begin);
    if (status == GYRE_OK)
        status = reached_at(to, &end);
    if (status == GYRE_OK)
        *out_ns = (double)(int64_t)(end - begin);
    return status;
}
