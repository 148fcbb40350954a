/* SPDX-License-Identifier: Apache-2.0
 *
 * event: places in streams. See gyre/stream.h.
 *
 * Threads   any.
 * Owns      the backend's event.
 */
#include "base/alloc.h"
#include "base/fail.h"
#include "base/process.h"
#include "exec/stream.h"

gyre_status gyre_event_create(gyre_context *context, gyre_event_use use, gyre_event **out_event)
{
    gyre_event *event;
    void *memory = NULL;
    gyre_status status = gyre_context_usable(context);

    *out_event = NULL;
    if (status != GYRE_OK)
        return status;
    if (use == GYRE_EVENT_TIME && !gyre_device_has(context->device, GYRE_FEATURE_TIMING))
        return gyre_fail(GYRE_UNSUPPORTED, "%s: events tell no time there", context->name);
    status = gyre_alloc(gyre_allocator_kept(&context->allocator), 1, sizeof *event, &memory);
    if (status != GYRE_OK)
        return status;
    event = memory;
    event->context = context;
    event->timed = use == GYRE_EVENT_TIME;
    status = context->backend->event_open(context->dev, event->timed, &event->native);
    if (status != GYRE_OK) {
        gyre_free(gyre_allocator_kept(&context->allocator), event, 1, sizeof *event);
        return gyre_context_heard(context, status);
    }
    atomic_fetch_add_explicit(&context->objects, 1, memory_order_relaxed);
    *out_event = event;
    return GYRE_OK;
}

/* Both of one context, and the stream in order: then its lock is held. */
static gyre_status enter(gyre_stream *stream, const gyre_event *event)
{
    gyre_status status = gyre_stream_usable(stream);

    if (status != GYRE_OK)
        return status;
    if (event->context != stream->context)
        return gyre_fail(GYRE_INVALID, "%s, %s: an event of another context", stream->context->name,
                         stream->name);
    pthread_mutex_lock(&stream->lock);
    return GYRE_OK;
}

static gyre_status leave(gyre_stream *stream, gyre_status status)
{
    if (status == GYRE_DEVICE_LOST)
        status = gyre_stream_latch(stream, status);
    pthread_mutex_unlock(&stream->lock);
    return status;
}

gyre_status gyre_event_record(gyre_event *event, gyre_stream *stream)
{
    gyre_status status = enter(stream, event);

    if (status != GYRE_OK)
        return status;
    status = event->context->backend->event_record(event->native, stream->native);
    if (status == GYRE_OK) /* relaxed: who asks after this call sees it, and others may not yet */
        atomic_store_explicit(&event->recorded, true, memory_order_relaxed);
    return leave(stream, status);
}

gyre_status gyre_stream_wait_event(gyre_stream *stream, gyre_event *event)
{
    gyre_status status;

    if (!atomic_load_explicit(&event->recorded, memory_order_relaxed))
        return gyre_fail(GYRE_INVALID, "the event was never recorded");
    status = enter(stream, event);
    if (status != GYRE_OK)
        return status;
    return leave(stream, event->context->backend->event_wait(stream->native, event->native));
}

gyre_status gyre_event_poll(gyre_event *event)
{
    gyre_status status = gyre_context_usable(event->context);

    if (status != GYRE_OK)
        return status;
    if (!atomic_load_explicit(&event->recorded, memory_order_relaxed))
        return gyre_fail(GYRE_INVALID, "the event was never recorded");
    status = event->context->backend->event_poll(event->native);
    return gyre_context_heard(event->context, status);
}

gyre_status gyre_event_between(gyre_event *from, gyre_event *to, double *out_ns)
{
    gyre_status status;

    *out_ns = 0;
    if (from->context != to->context)
        return gyre_fail(GYRE_INVALID, "two events of different contexts");
    if (!from->timed || !to->timed)
        return gyre_fail(GYRE_INVALID, "an event that is not for measuring");
    status = gyre_event_poll(from);
    if (status == GYRE_OK)
        status = gyre_event_poll(to);
    if (status != GYRE_OK)
        return status;
    status = from->context->backend->event_between(from->native, to->native, out_ns);
    return gyre_context_heard(from->context, status);
}

void gyre_event_destroy(gyre_event *event)
{
    gyre_context *context;

    if (!event)
        return;
    context = event->context;
    if (gyre_process_check() == GYRE_OK) {
        gyre_context_leave(context);
        context->backend->event_close(event->native);
        atomic_fetch_sub_explicit(&context->objects, 1, memory_order_relaxed);
    }
    gyre_free(gyre_allocator_kept(&context->allocator), event, 1, sizeof *event);
}
