/* SPDX-License-Identifier: Apache-2.0
 *
 * stream: checks what is submitted, hands it to the backend and keeps the tickets' books. See
 * exec/stream.h.
 *
 * Threads   any. Edges: [stream-submit], [stream-fault].
 * Owns      see exec/stream.h.
 * Not here  waiting and its consequences (exec/health.c), events (exec/event.c).
 */
#include "exec/stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/lasting.h"
#include "base/log.h"
#include "base/options.h"
#include "base/process.h"
#include "exec/kernel.h"
#include "exec/profile.h"
#include "gyre/atomic.h"
#include "gyre/clock.h"
#include "gyre/trace.h"

static void free_stream(gyre_stream *stream)
{
    gyre_context *const context = stream->context;

    pthread_mutex_destroy(&stream->lock);
    for (uint32_t i = 0; stream->ring && i <= stream->ring_mask; i++)
        gyre_kernel_release(stream->ring[i].kernel);
    gyre_free(gyre_allocator_kept(&context->allocator), stream->ring, (size_t)stream->ring_mask + 1,
              sizeof *stream->ring);
    gyre_free(gyre_allocator_kept(&context->allocator), stream, 1, sizeof *stream);
}

static void join_context(gyre_stream *stream)
{
    gyre_context *const context = stream->context;

    pthread_mutex_lock(&context->lock);
    stream->next = context->streams;
    stream->previous = &context->streams;
    if (stream->next)
        stream->next->previous = &stream->next;
    context->streams = stream;
    pthread_mutex_unlock(&context->lock);
}

static void leave_context(gyre_stream *stream)
{
    gyre_context *const context = stream->context;

    pthread_mutex_lock(&context->lock);
    *stream->previous = stream->next;
    if (stream->next)
        stream->next->previous = stream->previous;
    context->timeouts_before += atomic_load_explicit(&stream->timeouts, memory_order_relaxed);
    context->blocked_before_ns += atomic_load_explicit(&stream->blocked_ns, memory_order_relaxed);
    pthread_mutex_unlock(&context->lock);
}

gyre_status gyre_stream_create(gyre_context *context, const gyre_stream_options *options,
                               gyre_stream **out_stream)
{
    gyre_stream_options o;
    gyre_stream *stream;
    void *memory = NULL;
    uint32_t most, room = 1;
    char name[GYRE_NAME_BYTES];
    gyre_status status = gyre_context_usable(context);

    *out_stream = NULL;
    if (status == GYRE_OK)
        status = GYRE_OPTIONS_READ(o, options);
    if (status == GYRE_OK)
        status = gyre_alloc(gyre_allocator_kept(&context->allocator), 1, sizeof *stream, &memory);
    if (status != GYRE_OK)
        return status;
    stream = memory;
    pthread_mutex_init(&stream->lock, NULL);
    stream->context = context;
    stream->adopted = o.adopt != NULL;
    gyre_name_copy(name, o.name, "stream");
    stream->name = gyre_lasting(name);
    most = o.pending_most ? o.pending_most : context->pending_most;
    stream->pending_most = most > GYRE_PENDING_MOST ? GYRE_PENDING_MOST : most;
    while (room < stream->pending_most)
        room *= 2;
    stream->ring_mask = room - 1;
    status =
        gyre_alloc(gyre_allocator_kept(&context->allocator), room, sizeof *stream->ring, &memory);
    if (status == GYRE_OK) {
        stream->ring = memory;
        status = gyre_context_take_timeline(context, &stream->timeline);
    }
    if (status == GYRE_OK) {
        /* relaxed: who used the timeline before gave it back under the context's lock */
        stream->first = stream->missed_at = stream->marked = stream->settled =
            gyre_load_relaxed(&stream->timeline->completed);
        atomic_store_explicit(&stream->submitted, stream->first, memory_order_relaxed);
        status = context->backend->stream_open(context->dev, o.adopt, o.priority, &stream->native);
        status = gyre_context_heard(context, status);
    }
    if (status != GYRE_OK) {
        if (stream->timeline)
            gyre_context_give_timeline(context, stream->timeline);
        free_stream(stream);
        return status;
    }
    join_context(stream);
    atomic_fetch_add_explicit(&context->objects, 1, memory_order_relaxed);
    *out_stream = stream;
    return GYRE_OK;
}

gyre_status gyre_stream_usable(const gyre_stream *stream)
{
    /* acquire [stream-fault]: pairs with the release in gyre_stream_latch */
    if (__builtin_expect(atomic_load_explicit(&stream->faulted, memory_order_acquire), 0))
        return gyre_fault_again(&stream->fault);
    return gyre_context_usable(stream->context);
}

bool gyre_stream_suspects(const gyre_stream *stream, char *text, size_t size)
{
    const uint64_t last = atomic_load_explicit(&stream->submitted, memory_order_relaxed);
    const uint64_t first = gyre_load_relaxed(&stream->timeline->completed) + 1;
    const char *const oldest = stream->ring[first & stream->ring_mask].what;
    const char *const newest = stream->ring[last & stream->ring_mask].what;

    if (first > last)
        snprintf(text, size, "with nothing under way");
    else if (first == last)
        snprintf(text, size, "in '%.60s'", newest);
    else
        snprintf(text, size, "in one of the last %" PRIu64 ", from '%.50s' to '%.50s'",
                 last - first + 1, oldest, newest);
    return first <= last;
}

gyre_status gyre_stream_latch(gyre_stream *stream, gyre_status status)
{
    if (!atomic_load_explicit(&stream->faulted, memory_order_relaxed)) {
        char suspects[GYRE_SUSPECTS_BYTES], who[2 * GYRE_NAME_BYTES];

        stream->fault = *gyre_error_last();
        stream->fault.status = status;
        snprintf(who, sizeof who, "%s, %s", stream->context->name, stream->name);
        if (!gyre_stream_suspects(stream, suspects, sizeof suspects) && status == GYRE_DEVICE_LOST)
            gyre_context_suspects(stream->context, suspects, sizeof suspects);
        gyre_fault_explain(&stream->fault, who, suspects);
        /* release [stream-fault]: whoever sees it finds the fault */
        atomic_store_explicit(&stream->faulted, true, memory_order_release);
    }
    status = gyre_fault_again(&stream->fault);
    return status == GYRE_DEVICE_LOST ? gyre_context_lose(stream->context, GYRE_LOSS_FAULT)
                                      : status;
}

gyre_status gyre_stream_begin(gyre_stream *stream, const char *what)
{
    gyre_status status = gyre_stream_usable(stream);
    uint64_t began_ns = 0;

    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&stream->lock);
    for (;;) {
        /* relaxed: both are written under the lock */
        const uint64_t submitted = atomic_load_explicit(&stream->submitted, memory_order_relaxed);
        const uint64_t completed = gyre_load_relaxed(&stream->timeline->completed);

        if (submitted - completed < stream->pending_most)
            break;
        pthread_mutex_unlock(&stream->lock);
        if (began_ns == 0) {
            began_ns = gyre_clock_now_ns();
            atomic_fetch_add_explicit(&stream->blocked, 1, memory_order_relaxed);
        }
        status = gyre_stream_await(stream, submitted - stream->pending_most + 1);
        if (status != GYRE_OK)
            break;
        pthread_mutex_lock(&stream->lock);
    }
    if (began_ns != 0)
        atomic_fetch_add_explicit(&stream->blocked_ns, gyre_clock_now_ns() - began_ns,
                                  memory_order_relaxed);
    if (status == GYRE_OK) {
        gyre_trace_begin(what);
        gyre_profile_enter(stream);
    }
    return status;
}

/* The last ticket whose end is known, or will be told by a mark: who waits for each launch before
 * the next needs none. */
static uint64_t known_up_to(const gyre_stream *stream)
{
    return stream->marked > stream->settled ? stream->marked : stream->settled;
}

gyre_status gyre_stream_commit(gyre_stream *stream, gyre_status status,
                               const gyre_submission *submission)
{
    gyre_profile_leave(stream, submission->what, status);
    gyre_trace_end(submission->what);
    if (status == GYRE_OK) {
        const uint64_t ticket = atomic_load_explicit(&stream->submitted, memory_order_relaxed) + 1;
        gyre_pending *const entry = &stream->ring[ticket & stream->ring_mask];

        gyre_stream_settle(stream); /* there is room: the entry's last ticket is through */
        if (entry->kernel != submission->kernel) {
            gyre_kernel_release(entry->kernel);
            entry->kernel = gyre_kernel_retain(submission->kernel);
        }
        entry->what = submission->what;
        entry->expected_ns = submission->expected_ns < GYRE_EXPECTED_MOST_NS
                                 ? submission->expected_ns
                                 : GYRE_EXPECTED_MOST_NS;
        /* relaxed: statistics look from other threads */
        __atomic_store_n(&entry->submitted_ns, gyre_clock_now_ns(), __ATOMIC_RELAXED);
        if (entry->expected_ns > 0)
            atomic_fetch_add_explicit(&stream->expected_ns, entry->expected_ns,
                                      memory_order_relaxed);
        /* release [stream-submit]: pairs with the acquire in gyre_stream_wait, which then asks the
         * backend whether everything is done */
        atomic_store_explicit(&stream->submitted, ticket, memory_order_release);
        if (stream->pending_most > 1 && ticket - known_up_to(stream) >= stream->pending_most / 2)
            gyre_stream_mark(stream);
        gyre_log(GYRE_LOG_DEBUG, GYRE_TOPIC_DEVICE, "%s, %s: ticket %llu: %s",
                 stream->context->name, stream->name, (unsigned long long)ticket, entry->what);
    } else if (status == GYRE_DEVICE_LOST) {
        status = gyre_stream_latch(stream, status);
    }
    pthread_mutex_unlock(&stream->lock);
    return status;
}

static gyre_status check_launch(const gyre_stream *stream, gyre_kernel *kernel,
                                const gyre_launch *launch)
{
    if (!kernel || !launch)
        return gyre_fail(GYRE_INVALID, "a launch of no kernel");
    if (gyre_kernel_context(kernel) != stream->context)
        return gyre_fail(GYRE_INVALID, "kernel '%s' is of another context",
                         gyre_kernel_name(kernel));
    return GYRE_OK;
}

gyre_status gyre_stream_launch(gyre_stream *stream, gyre_kernel *kernel, const gyre_launch *launch)
{
    const gyre_backend *const backend = stream->context->backend;
    gyre_launch_room room;
    gyre_dev_launch ready;
    gyre_submission submission;
    gyre_status status = check_launch(stream, kernel, launch);

    if (status == GYRE_OK)
        status = gyre_kernel_ready(kernel, launch, &room, &ready);
    if (status == GYRE_OK)
        status = gyre_stream_begin(stream, gyre_kernel_name(kernel));
    if (status != GYRE_OK)
        return status;
    submission = (gyre_submission){gyre_kernel_name(kernel), kernel, launch->expected_ns};
    return gyre_stream_commit(stream, backend->launch(stream->native, &ready), &submission);
}

gyre_status gyre_box_ready(const gyre_box *box, gyre_dev_copy *out_copy)
{
    gyre_dev_copy c = {.to = box->to, .from = box->from, .width = box->width};
    size_t end;

    c.height = box->height ? box->height : 1;
    c.depth = box->depth ? box->depth : 1;
    c.to_pitch = box->to_pitch ? box->to_pitch : c.width;
    c.from_pitch = box->from_pitch ? box->from_pitch : c.width;
    if (c.to_pitch < c.width || c.from_pitch < c.width)
        return gyre_fail(GYRE_INVALID, "a pitch of %zu and %zu bytes for rows of %zu",
                         box->to_pitch, box->from_pitch, c.width);
    if (!gyre_size_multiply(c.to_pitch, c.height, &c.to_slice) ||
        !gyre_size_multiply(c.from_pitch, c.height, &c.from_slice))
        return gyre_fail(GYRE_INVALID, "%zu rows of %zu bytes", c.height, c.to_pitch);
    if ((box->to_slice && box->to_slice < c.to_slice) ||
        (box->from_slice && box->from_slice < c.from_slice))
        return gyre_fail(GYRE_INVALID, "slices of %zu and %zu bytes for rows of %zu and %zu",
                         box->to_slice, box->from_slice, c.to_slice, c.from_slice);
    c.to_slice = box->to_slice ? box->to_slice : c.to_slice;
    c.from_slice = box->from_slice ? box->from_slice : c.from_slice;
    if (!gyre_size_multiply(c.to_slice, c.depth, &end) ||
        !gyre_size_add((size_t)(uintptr_t)c.to, end, &end) ||
        !gyre_size_multiply(c.from_slice, c.depth, &end) ||
        !gyre_size_add((size_t)(uintptr_t)c.from, end, &end))
        return gyre_fail(GYRE_INVALID, "a box that is larger than memory");
    if (c.width > 0 && (!c.to || !c.from))
        return gyre_fail(GYRE_INVALID, "a copy from or to NULL");
    *out_copy = c;
    return GYRE_OK;
}

static gyre_status submit_copy(gyre_stream *stream, const gyre_dev_copy *copy, const char *what)
{
    gyre_status status = gyre_stream_begin(stream, what);

    if (status != GYRE_OK)
        return status;
    if (copy->width > 0)
        status = stream->context->backend->copy(stream->native, copy);
    return gyre_stream_commit(stream, status, &(gyre_submission){.what = what});
}

gyre_status gyre_stream_copy(gyre_stream *stream, void *to, const void *from, size_t size)
{
    gyre_dev_copy copy = {0};
    const gyre_status status =
        gyre_box_ready(&(gyre_box){.to = to, .from = from, .width = size}, &copy);

    return status == GYRE_OK ? submit_copy(stream, &copy, "copy") : status;
}

gyre_status gyre_stream_copy_box(gyre_stream *stream, const gyre_box *box)
{
    gyre_dev_copy copy = {0};
    const gyre_status status = gyre_box_ready(box, &copy);

    return status == GYRE_OK ? submit_copy(stream, &copy, "copy of a box") : status;
}

/* Piece by piece through the host, with a stream of the other side's. */
static gyre_status copy_through_host(gyre_stream *stream, void *to, gyre_context *from_context,
                                     const void *from, size_t size)
{
    enum { PIECE = 1 << 20 };
    const gyre_memory *const pinned = &from_context->pinned_memory;
    const size_t piece = size < PIECE ? size : PIECE;
    gyre_stream *other = NULL;
    void *block = NULL;
    gyre_status status = gyre_stream_create(
        from_context,
        &(gyre_stream_options){.struct_size = sizeof(gyre_stream_options), .name = "copy out"},
        &other);

    if (status == GYRE_OK)
        status = pinned->take(pinned, piece, 64, &block);
    for (size_t done = 0, now; done < size && status == GYRE_OK; done += now) {
        now = size - done < piece ? size - done : piece;
        status = gyre_stream_copy(other, block, (const char *)from + done, now);
        if (status == GYRE_OK)
            status = gyre_stream_sync(other);
        if (status == GYRE_OK)
            status = gyre_stream_copy(stream, (char *)to + done, block, now);
        if (status == GYRE_OK && (status = gyre_stream_sync(stream)) != GYRE_OK)
            block = NULL; /* it stays: the device may still read it */
    }
    gyre_stream_destroy(other); /* before the block goes, which it may still write */
    if (block)
        pinned->give(pinned, block, piece, 64);
    return status;
}

gyre_status gyre_stream_copy_from(gyre_stream *stream, void *to, gyre_context *from_context,
                                  const void *from, size_t size)
{
    gyre_context *const context = stream->context;
    gyre_dev_copy copy = {0};
    gyre_status status = gyre_box_ready(&(gyre_box){.to = to, .from = from, .width = size}, &copy);

    if (status == GYRE_OK)
        status = gyre_context_usable(from_context);
    if (status != GYRE_OK || size == 0 || from_context == context)
        return status == GYRE_OK ? submit_copy(stream, &copy, "copy") : status;
    if (gyre_device_has(from_context->device, GYRE_FEATURE_HOST_REACH)) {
        status = submit_copy(stream, &copy, "copy from the host's reach");
        return status == GYRE_OK ? gyre_stream_sync(stream) : status;
    }
    if (!gyre_device_reaches(context->device, from_context->device))
        return copy_through_host(stream, to, from_context, from, size);
    copy.from_dev = from_context->dev;
    status = submit_copy(stream, &copy, "copy from another device");
    if (status == GYRE_UNSUPPORTED) /* the device reaches it, but its driver does not copy it */
        status = copy_through_host(stream, to, from_context, from, size);
    return status;
}

gyre_status gyre_fill_ready(const gyre_fill *fill, gyre_dev_fill *out_fill)
{
    const size_t size = fill->pattern_size;
    size_t bytes;

    if (size != 1 && size != 2 && size != 4 && size != 8)
        return gyre_fail(GYRE_INVALID, "a pattern of %zu bytes; there are 1, 2, 4 and 8", size);
    if (fill->count > 0 && (!fill->to || (uintptr_t)fill->to % size != 0))
        return gyre_fail(GYRE_INVALID, "a pattern of %zu bytes at %p", size, fill->to);
    if (!gyre_size_multiply(fill->count, size, &bytes) ||
        !gyre_size_add((size_t)(uintptr_t)fill->to, bytes, &bytes))
        return gyre_fail(GYRE_INVALID, "%zu patterns of %zu bytes", fill->count, size);
    *out_fill = (gyre_dev_fill){.to = fill->to, .pattern_size = size, .count = fill->count};
    memcpy(out_fill->pattern, fill->pattern, size);
    return GYRE_OK;
}

gyre_status gyre_stream_fill(gyre_stream *stream, const gyre_fill *fill)
{
    gyre_dev_fill ready = {0};
    gyre_status status = gyre_fill_ready(fill, &ready);

    if (status == GYRE_OK)
        status = gyre_stream_begin(stream, "fill");
    if (status != GYRE_OK)
        return status;
    if (ready.count > 0)
        status = stream->context->backend->fill(stream->native, &ready);
    return gyre_stream_commit(stream, status, &(gyre_submission){.what = "fill"});
}

gyre_ticket gyre_stream_ticket(gyre_stream *stream)
{
    /* relaxed: the caller's own submissions are in it, others' he cannot mean */
    return (gyre_ticket){&stream->timeline->completed,
                         atomic_load_explicit(&stream->submitted, memory_order_relaxed)};
}

void *gyre_stream_native(gyre_stream *stream)
{
    void *native;

    pthread_mutex_lock(&stream->lock);
    native = stream->context->backend->native(stream->context->dev, stream->native);
    pthread_mutex_unlock(&stream->lock);
    return native;
}

const gyre_error *gyre_stream_fault(const gyre_stream *stream)
{
    /* acquire [stream-fault] */
    return atomic_load_explicit(&stream->faulted, memory_order_acquire) ? &stream->fault : NULL;
}

void gyre_stream_count(gyre_stream *stream, gyre_stream_statistics *s)
{
    /* relaxed, but for one: figures; the completed ones first, so that there are never more */
    const uint64_t completed = gyre_load_relaxed(&stream->timeline->completed);
    /* acquire [stream-submit]: the ticket's entry says when it was submitted */
    const uint64_t submitted = atomic_load_explicit(&stream->submitted, memory_order_acquire);

    s->completed = completed - stream->first;
    s->submitted = submitted - stream->first;
    s->timeouts = atomic_load_explicit(&stream->timeouts, memory_order_relaxed);
    s->blocked = atomic_load_explicit(&stream->blocked, memory_order_relaxed);
    s->blocked_ns = atomic_load_explicit(&stream->blocked_ns, memory_order_relaxed);
    s->strikes = atomic_load_explicit(&stream->strikes, memory_order_relaxed);
    s->oldest_ns = 0;
    if (submitted != completed) {
        const uint64_t now = gyre_clock_now_ns();
        const uint64_t then = __atomic_load_n(
            &stream->ring[(completed + 1) & stream->ring_mask].submitted_ns, __ATOMIC_RELAXED);

        s->oldest_ns = now > then ? now - then : 0;
    }
}

gyre_status gyre_stream_describe(gyre_stream *stream, gyre_stream_statistics *out_statistics)
{
    const size_t size = out_statistics->struct_size;
    gyre_stream_statistics s = {.struct_size = size};

    if (size < sizeof size)
        return gyre_fail(GYRE_INVALID, "statistics without struct_size");
    gyre_stream_count(stream, &s);
    memcpy(out_statistics, &s, size < sizeof s ? size : sizeof s);
    return GYRE_OK;
}

void gyre_stream_destroy(gyre_stream *stream)
{
    gyre_context *context;
    bool drained;

    if (!stream)
        return;
    context = stream->context;
    if (gyre_process_check() != GYRE_OK) {
        free_stream(stream);
        return;
    }
    if (gyre_stream_usable(stream) == GYRE_OK) {
        gyre_status status = gyre_stream_sync(stream);

        if (status == GYRE_OK && !stream->adopted)
            status = gyre_stream_poll(stream); /* waiting for an event has no ticket */
        if ((status == GYRE_TIMEOUT || status == GYRE_AGAIN) &&
            gyre_fail(GYRE_DEVICE_LOST, "%s, %s: destroyed before its work ended", context->name,
                      stream->name) != GYRE_OK)
            gyre_context_lose(context, GYRE_LOSS_HUNG);
    }
    drained = gyre_context_usable(context) == GYRE_OK;
    leave_context(stream);
    gyre_context_leave(context);
    for (int i = 0; i < GYRE_MARKS; i++)
        if (stream->marks[i].event)
            context->backend->event_close(stream->marks[i].event);
    context->backend->stream_close(stream->native);
    if (drained) { /* what a lost device still works on is never through */
        gyre_store_release(&stream->timeline->completed, /* [stream-done] */
                           atomic_load_explicit(&stream->submitted, memory_order_relaxed));
        gyre_context_give_timeline(context, stream->timeline);
    }
    free_stream(stream);
    atomic_fetch_sub_explicit(&context->objects, 1, memory_order_relaxed);
}
