/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl_event: places in queues: a record is a marker, a wait a barrier on the other queue.
 *
 * Time is when the device passed a second marker behind the first, on its own clock, in
 * nanoseconds: a marker that waits for an event has times of any other command on NVIDIA's driver,
 * or none, and one that waits for nothing says nothing of what failed before it. A queue that was
 * adopted tells time only if its owner made it so.
 *
 * Threads   any: the markers are under the event's lock.
 * Owns      the markers of the last record.
 * Not here  when everything is done (gyre_cl_poll).
 */
#include "backends/opencl/opencl.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "base/wait.h"
#include "gyre/clock.h"

#define PASSING_NS 10000000 /* for the second marker to be passed after the first */

struct gyre_dev_event {
    gyre_dev *dev;
    pthread_mutex_t lock;
    cl_event *marker; /* NULL: never recorded */
    cl_event *passed; /* the second; NULL: no time is asked */
    bool timed;
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
    (*out_event)->timed = timed;
    pthread_mutex_init(&(*out_event)->lock, NULL);
    return GYRE_OK;
}

static void release(cl_event *event)
{
    if (event)
        gyre_cl.clReleaseEvent(event);
}

void gyre_cl_event_close(gyre_dev_event *event)
{
    if (!event)
        return;
    if (!gyre_cl_abandoned(event->dev)) {
        release(event->marker);
        release(event->passed);
    }
    pthread_mutex_destroy(&event->lock);
    gyre_free(NULL, event, 1, sizeof *event);
}

/* A marker behind everything in the queue, and behind `wait`. */
static gyre_status mark(const gyre_dev_stream *stream, cl_event *wait, cl_event **out_marker)
{
    *out_marker = NULL;
    return gyre_cl_check(gyre_cl.clEnqueueMarkerWithWaitList(stream->queue, wait ? 1 : 0,
                                                             wait ? &wait : NULL, out_marker),
                         "clEnqueueMarkerWithWaitList");
}

gyre_status gyre_cl_event_record(gyre_dev_event *event, gyre_dev_stream *stream)
{
    cl_event *marker = NULL, *passed = NULL, *marker_before, *passed_before;
    gyre_status status = event->timed ? gyre_cl_stream_time(stream) : GYRE_OK;

    if (status == GYRE_OK)
        status = mark(stream, stream->last, &marker);
    if (status == GYRE_OK && event->timed)
        status = mark(stream, NULL, &passed);
    if (status != GYRE_OK) {
        release(marker);
        return status;
    }
    gyre_cl.clRetainEvent(marker); /* one for the event, one for the stream */
    pthread_mutex_lock(&event->lock);
    marker_before = event->marker;
    passed_before = event->passed;
    event->marker = marker;
    event->passed = passed;
    pthread_mutex_unlock(&event->lock);
    release(marker_before);
    release(passed_before);
    return gyre_cl_stream_submitted(stream, marker);
}

/* The markers, retained; the second only if there is one. */
static gyre_status markers_of(gyre_dev_event *event, cl_event **out_marker, cl_event **out_passed)
{
    pthread_mutex_lock(&event->lock);
    *out_marker = event->marker;
    *out_passed = event->passed;
    if (*out_marker)
        gyre_cl.clRetainEvent(*out_marker);
    if (*out_passed)
        gyre_cl.clRetainEvent(*out_passed);
    pthread_mutex_unlock(&event->lock);
    return *out_marker ? GYRE_OK : gyre_fail(GYRE_INVALID, "the event was never recorded");
}

/* The second marker, when the first is reached: there is nothing between them, so it is a matter of
 * moments, and who has seen the stream drained may rely on it. */
static gyre_status passing(cl_event *passed)
{
    const uint64_t deadline_ns = gyre_clock_after_ns(PASSING_NS);
    gyre_status status;

    while ((status = gyre_cl_event_state(passed)) == GYRE_AGAIN &&
           gyre_clock_now_ns() < deadline_ns)
        gyre_relax();
    return status;
}

/* Whether it was passed; when, if that is asked for. */
static gyre_status look(gyre_dev_event *event, uint64_t *out_ns)
{
    cl_event *marker, *passed;
    gyre_status status = markers_of(event, &marker, &passed);

    if (status == GYRE_OK)
        status = gyre_cl_event_state(marker);
    if (status == GYRE_OK && passed)
        status = passing(passed);
    if (status == GYRE_OK && out_ns)
        status = gyre_cl_check(gyre_cl.clGetEventProfilingInfo(passed, CL_PROFILING_COMMAND_END,
                                                               sizeof *out_ns, out_ns, NULL),
                               "clGetEventProfilingInfo");
    release(marker);
    release(passed);
    return status;
}

gyre_status gyre_cl_event_poll(gyre_dev_event *event)
{
    return look(event, NULL);
}

gyre_status gyre_cl_event_wait(gyre_dev_stream *stream, gyre_dev_event *event)
{
    cl_event *waits[2], *barrier = NULL, *passed;
    uint32_t count = 1;
    gyre_status status;

    status = markers_of(event, &waits[0], &passed);
    if (status != GYRE_OK)
        return status;
    if (passed) { /* whose time the event's is: what waits comes after that */
        release(waits[0]);
        waits[0] = passed;
    }
    if (stream->last)
        waits[count++] = stream->last;
    status =
        gyre_cl_check(gyre_cl.clEnqueueBarrierWithWaitList(stream->queue, count, waits, &barrier),
                      "clEnqueueBarrierWithWaitList");
    release(waits[0]);
    return status == GYRE_OK ? gyre_cl_stream_submitted(stream, barrier) : status;
}

gyre_status gyre_cl_event_between(gyre_dev_event *from, gyre_dev_event *to, double *out_ns)
{
    uint64_t begin = 0, end = 0;
    gyre_status status;

    *out_ns = 0;
    status = look(from, &begin);
    if (status == GYRE_OK)
        status = look(to, &end);
    if (status == GYRE_OK)
        *out_ns = (double)(int64_t)(end - begin);
    return status;
}
