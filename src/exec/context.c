/* SPDX-License-Identifier: Apache-2.0
 *
 * context: opens a device and tries it, keeps its memory's books, and remembers why it was lost.
 *
 * A device that hangs is left alone until something of it is to be closed: until then it may come
 * back (gyre_context_reset). From then on its backend asks nothing of the driver for it any more.
 *
 * Threads   any. Edge: [context-lost].
 * Owns      the opened device, the timelines of its streams.
 * Not here  how a hang is noticed (exec/health.c).
 */
#include "exec/context.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/options.h"
#include "base/process.h"
#include "base/settings.h"
#include "base/wait.h"
#include "exec/stream.h"
#include "gyre/clock.h"
#include "gyre/pool.h"

enum { STRIKES = 3, PENDING = 16, TRIAL_BYTES = 256 };

void gyre_name_copy(char into[GYRE_NAME_BYTES], const char *name, const char *otherwise)
{
    snprintf(into, GYRE_NAME_BYTES, "%s", name && *name ? name : otherwise);
}

gyre_status gyre_fault_again(const gyre_error *fault)
{
    return gyre_fail_at(fault->status, fault->native, fault->file, fault->line, "%s", fault->text);
}

void gyre_fault_explain(gyre_error *fault, const char *who, const char *suspects)
{
    char whole[2 * sizeof fault->text + GYRE_SUSPECTS_BYTES];

    snprintf(whole, sizeof whole, "%s: %s: %s", who, suspects, fault->text);
    whole[sizeof fault->text - 1] = '\0';
    memcpy(fault->text, whole, sizeof fault->text);
}

gyre_status gyre_context_usable(gyre_context *context)
{
    gyre_status status = gyre_process_check();
    gyre_error fault;

    if (__builtin_expect(status != GYRE_OK, 0))
        return status;
    /* acquire [context-lost]: pairs with the release in gyre_context_lose */
    if (__builtin_expect(
            atomic_load_explicit(&context->lost, memory_order_acquire) == GYRE_LOSS_NONE, 1))
        return GYRE_OK;
    pthread_mutex_lock(&context->lock);
    fault = context->fault;
    pthread_mutex_unlock(&context->lock);
    return gyre_fault_again(&fault);
}

gyre_status gyre_context_lose(gyre_context *context, gyre_loss loss)
{
    gyre_error fault;

    pthread_mutex_lock(&context->lock);
    /* relaxed: only written under the lock */
    if (atomic_load_explicit(&context->lost, memory_order_relaxed) == GYRE_LOSS_NONE) {
        context->fault = *gyre_error_last();
        context->fault.status = GYRE_DEVICE_LOST;
        gyre_log(GYRE_LOG_WARN, GYRE_TOPIC_DEVICE, "%s: lost: %s", context->name,
                 context->fault.text);
    }
    if (loss == GYRE_LOSS_FAULT ||
        atomic_load_explicit(&context->lost, memory_order_relaxed) == GYRE_LOSS_NONE)
        /* release [context-lost]: whoever sees it finds the fault */
        atomic_store_explicit(&context->lost, (uint32_t)loss, memory_order_release);
    fault = context->fault;
    pthread_mutex_unlock(&context->lock);
    return gyre_fault_again(&fault); /* whoever resets it meanwhile */
}

void gyre_context_suspects(gyre_context *context, char *text, size_t size)
{
    size_t used = 0;

    pthread_mutex_lock(&context->lock);
    for (gyre_stream *stream = context->streams; stream && used < size; stream = stream->next) {
        char one[GYRE_SUSPECTS_BYTES];

        if (pthread_mutex_trylock(&stream->lock) != 0)
            continue;
        if (gyre_stream_suspects(stream, one, sizeof one))
            used += (size_t)snprintf(text + used, size - used, "%s%s: %s", used ? "; " : "",
                                     stream->name, one);
        pthread_mutex_unlock(&stream->lock);
    }
    pthread_mutex_unlock(&context->lock);
    if (used == 0)
        snprintf(text, size, "with nothing under way");
}

gyre_status gyre_context_heard(gyre_context *context, gyre_status status)
{
    char suspects[GYRE_SUSPECTS_BYTES];
    gyre_error fault;

    if (status != GYRE_DEVICE_LOST)
        return status;
    fault = *gyre_error_last();
    fault.status = status;
    gyre_context_suspects(context, suspects, sizeof suspects);
    gyre_fault_explain(&fault, context->name, suspects);
    status = gyre_fault_again(&fault);
    return status == GYRE_OK ? status : gyre_context_lose(context, GYRE_LOSS_FAULT);
}

void gyre_context_leave(gyre_context *context)
{
    /* acquire [context-lost] */
    if (atomic_load_explicit(&context->lost, memory_order_acquire) == GYRE_LOSS_NONE)
        return;
    pthread_mutex_lock(&context->lock);
    /* relaxed: only written under the lock; it may have been reset meanwhile */
    if (atomic_load_explicit(&context->lost, memory_order_relaxed) != GYRE_LOSS_NONE &&
        !context->abandoned) {
        context->backend->abandon(context->dev);
        context->abandoned = true;
    }
    pthread_mutex_unlock(&context->lock);
}

gyre_status gyre_context_take_timeline(gyre_context *context, gyre_timeline **out_timeline)
{
    gyre_timeline *timeline;
    void *memory = NULL;
    gyre_status status = GYRE_OK;

    pthread_mutex_lock(&context->lock);
    timeline = context->timelines;
    if (timeline) {
        context->timelines = timeline->next;
    } else {
        status = gyre_alloc(gyre_allocator_kept(&context->allocator), 1, sizeof *timeline, &memory);
        timeline = memory;
        if (timeline) {
            timeline->next_made = context->timelines_made;
            context->timelines_made = timeline;
        }
    }
    pthread_mutex_unlock(&context->lock);
    *out_timeline = timeline;
    return status;
}

void gyre_context_give_timeline(gyre_context *context, gyre_timeline *timeline)
{
    pthread_mutex_lock(&context->lock);
    timeline->next = context->timelines;
    context->timelines = timeline;
    pthread_mutex_unlock(&context->lock);
}

static gyre_dev_memory kind_of(const gyre_context *context, const gyre_memory *memory)
{
    return memory == &context->pinned_memory ? GYRE_DEV_MEMORY_PINNED : GYRE_DEV_MEMORY_DEVICE;
}

static _Atomic uint64_t *bytes_of(gyre_context *context, const gyre_memory *memory)
{
    return memory == &context->pinned_memory ? &context->pinned_bytes : &context->device_bytes;
}

static gyre_status take_memory(const gyre_memory *memory, size_t size, size_t alignment,
                               void **out_block)
{
    gyre_context *const context = memory->user;
    gyre_status status = gyre_context_usable(context);

    *out_block = NULL;
    if (status != GYRE_OK)
        return status;
    if (size == 0 || alignment == 0 || (alignment & (alignment - 1)) != 0 ||
        alignment > GYRE_POOL_ALIGNMENT_MOST)
        return gyre_fail(GYRE_INVALID, "%s: a block of %zu bytes, aligned to %zu", context->name,
                         size, alignment);
    status =
        context->backend->take(context->dev, kind_of(context, memory), size, alignment, out_block);
    if (status == GYRE_OK) /* relaxed: a figure */
        atomic_fetch_add_explicit(bytes_of(context, memory), size, memory_order_relaxed);
    return gyre_context_heard(context, status);
}

static void give_memory(const gyre_memory *memory, void *block, size_t size, size_t alignment)
{
    gyre_context *const context = memory->user;

    (void)alignment;
    if (!block || gyre_process_check() != GYRE_OK)
        return;
    gyre_context_leave(context);
    context->backend->give(context->dev, kind_of(context, memory), block, size);
    atomic_fetch_sub_explicit(bytes_of(context, memory), size, memory_order_relaxed);
}

/* Waits for a stream of the backend's, from the outside of everything else. */
static gyre_status drain(const gyre_backend *backend, gyre_dev_stream *stream, uint64_t deadline_ns)
{
    gyre_status status;

    while ((status = backend->poll(stream)) == GYRE_AGAIN) {
        if (gyre_clock_now_ns() >= deadline_ns)
            return GYRE_TIMEOUT;
        gyre_relax();
    }
    return status;
}

/* Some bytes to the device and back. GYRE_TIMEOUT when it does not answer. */
static gyre_status try_device(const gyre_backend *backend, gyre_dev *dev, uint64_t timeout_ns)
{
    gyre_dev_stream *stream = NULL;
    void *there = NULL, *here = NULL;
    gyre_status status = backend->stream_open(dev, NULL, 0, &stream);

    if (status == GYRE_OK)
        status = backend->take(dev, GYRE_DEV_MEMORY_DEVICE, TRIAL_BYTES, 64, &there);
    if (status == GYRE_OK)
        status = backend->take(dev, GYRE_DEV_MEMORY_PINNED, (size_t)2 * TRIAL_BYTES, 64, &here);
    if (status == GYRE_OK) {
        unsigned char *const sent = here;
        gyre_dev_copy copy = {.to = there, .from = sent, .width = TRIAL_BYTES, .height = 1};

        for (int i = 0; i < TRIAL_BYTES; i++)
            sent[i] = (unsigned char)(i * 7 + 1);
        copy.depth = 1;
        copy.to_pitch = copy.to_slice = copy.from_pitch = copy.from_slice = TRIAL_BYTES;
        status = backend->copy(stream, &copy);
        copy.from = there;
        copy.to = sent + TRIAL_BYTES;
        if (status == GYRE_OK)
            status = backend->copy(stream, &copy);
        if (status == GYRE_OK)
            status = drain(backend, stream, gyre_clock_after_ns(timeout_ns));
        if (status == GYRE_OK && memcmp(sent, sent + TRIAL_BYTES, TRIAL_BYTES) != 0)
            status = gyre_fail(GYRE_DEVICE_LOST, "what was copied there came back changed");
    }
    if (status == GYRE_TIMEOUT || status == GYRE_DEVICE_LOST)
        backend->abandon(dev);
    if (here)
        backend->give(dev, GYRE_DEV_MEMORY_PINNED, here, (size_t)2 * TRIAL_BYTES);
    if (there)
        backend->give(dev, GYRE_DEV_MEMORY_DEVICE, there, TRIAL_BYTES);
    if (stream)
        backend->stream_close(stream);
    return status;
}

static void set_memory(gyre_context *context, gyre_memory *memory, const char *name, uint32_t reach)
{
    *memory = (gyre_memory){.struct_size = sizeof *memory,
                            .name = name,
                            .reach = reach,
                            .take = take_memory,
                            .give = give_memory,
                            .user = context};
}

/* What a device's backend is opened with. */
static gyre_status open_device(gyre_context *context, const gyre_context_options *options)
{
    const gyre_device *const device = context->device;
    const bool faulty = gyre_device_has(device, GYRE_FEATURE_FAULTS);
    const int64_t workers = gyre_settings_number(GYRE_SETTING_CPU_WORKERS);
    /* everything is new: no reason to be as strict as a caller who knows his kernels */
    const uint64_t usual_ns = (uint64_t)gyre_settings_number(GYRE_SETTING_SYNC_TIMEOUT);
    const uint64_t trial_ns =
        context->sync_timeout_ns > usual_ns ? context->sync_timeout_ns : usual_ns;
    gyre_dev_options with = {.adopt = options->adopt, .faults = "", .workers = options->workers};
    gyre_status status;

    if (options->faults && !faulty)
        return gyre_fail(GYRE_UNSUPPORTED, "%s: nothing can be made to go wrong on it",
                         device->name);
    if (faulty)
        with.faults =
            options->faults ? options->faults : gyre_settings_text(GYRE_SETTING_NULL_FAULTS);
    if (with.workers == 0)
        with.workers = workers > 0 ? (uint32_t)workers : device->units;
    status = context->backend->open(device->index, &with, &context->dev);
    if (status != GYRE_OK || options->adopt) /* an adopted one is in use, and tried thereby */
        return status;
    status = try_device(context->backend, context->dev, trial_ns);
    if (status == GYRE_TIMEOUT)
        status = gyre_fail(GYRE_DEVICE_LOST,
                           "%s: opened, but a copy of %d bytes did not end in "
                           "%.3g s",
                           device->name, TRIAL_BYTES, (double)trial_ns * 1e-9);
    return status;
}

static void free_context(gyre_context *context)
{
    gyre_allocator allocator = context->allocator;
    gyre_timeline *next;

    for (gyre_timeline *timeline = context->timelines_made; timeline; timeline = next) {
        next = timeline->next_made;
        gyre_free(gyre_allocator_kept(&allocator), timeline, 1, sizeof *timeline);
    }
    pthread_mutex_destroy(&context->lock);
    gyre_free(gyre_allocator_kept(&allocator), context, 1, sizeof *context);
}

gyre_status gyre_context_create(const gyre_device *device, const gyre_context_options *options,
                                gyre_context **out_context)
{
    gyre_context_options o;
    gyre_context *context;
    void *memory;
    gyre_status status = gyre_process_use();

    *out_context = NULL;
    if (status == GYRE_OK)
        status = GYRE_OPTIONS_READ(o, options);
    if (status == GYRE_OK)
        status = gyre_allocator_check(o.allocator);
    if (status != GYRE_OK)
        return status;
    if (!device)
        return gyre_fail(GYRE_INVALID, "no device to open");
    if (device->trouble[0] != '\0')
        return gyre_fail(GYRE_UNAVAILABLE, "%s: %s", device->name, device->trouble);
    status = gyre_alloc(o.allocator, 1, sizeof *context, &memory);
    if (status != GYRE_OK)
        return status;
    context = memory;
    pthread_mutex_init(&context->lock, NULL);
    context->backend = gyre_backend_of(device);
    context->device = device;
    if (o.allocator)
        context->allocator = *o.allocator;
    gyre_name_copy(context->name, o.name, device->name);
    context->sync_timeout_ns = o.sync_timeout_ns
                                   ? o.sync_timeout_ns
                                   : (uint64_t)gyre_settings_number(GYRE_SETTING_SYNC_TIMEOUT);
    context->strikes_most = o.strikes ? o.strikes : STRIKES;
    context->pending_most = o.pending_most ? o.pending_most : PENDING;
    if (context->pending_most > GYRE_PENDING_MOST)
        context->pending_most = GYRE_PENDING_MOST;
    set_memory(context, &context->device_memory, device->name,
               gyre_device_has(device, GYRE_FEATURE_HOST_REACH)
                   ? GYRE_MEMORY_HOST | GYRE_MEMORY_DEVICE
                   : GYRE_MEMORY_DEVICE);
    set_memory(context, &context->pinned_memory, "pinned",
               gyre_device_has(device, GYRE_FEATURE_MAPPED) ? GYRE_MEMORY_HOST | GYRE_MEMORY_DEVICE
                                                            : GYRE_MEMORY_HOST);
    status = open_device(context, &o);
    if (status != GYRE_OK) {
        if (context->dev)
            context->backend->close(context->dev);
        free_context(context);
        return status;
    }
    gyre_log(GYRE_LOG_DEBUG, GYRE_TOPIC_DEVICE, "%s: opened %s, %s", context->name, device->name,
             device->title);
    *out_context = context;
    return GYRE_OK;
}

const gyre_device *gyre_context_device(const gyre_context *context)
{
    return context->device;
}

void *gyre_context_native(const gyre_context *context)
{
    return context->backend->native(context->dev, NULL);
}

const gyre_memory *gyre_context_memory(gyre_context *context, gyre_context_memory_kind kind)
{
    switch (kind) {
    case GYRE_CONTEXT_DEVICE:
        return &context->device_memory;
    case GYRE_CONTEXT_PINNED:
        return &context->pinned_memory;
    }
    return NULL;
}

gyre_status gyre_context_room(gyre_context *context, uint64_t *out_free, uint64_t *out_total)
{
    gyre_status status = gyre_context_usable(context);

    *out_free = *out_total = 0;
    if (status != GYRE_OK)
        return status;
    status = context->backend->room(context->dev, out_free, out_total);
    return gyre_context_heard(context, status);
}

gyre_status gyre_context_check(gyre_context *context)
{
    return gyre_context_usable(context);
}

const gyre_error *gyre_context_fault(const gyre_context *context)
{
    /* acquire [context-lost] */
    return atomic_load_explicit(&context->lost, memory_order_acquire) == GYRE_LOSS_NONE
               ? NULL
               : &context->fault;
}

gyre_status gyre_context_reset(gyre_context *context)
{
    const gyre_status status = gyre_process_check(); /* others may have held the lock */
    bool back;

    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&context->lock);
    back = !context->abandoned &&
           atomic_load_explicit(&context->lost, memory_order_relaxed) != GYRE_LOSS_FAULT;
    for (gyre_stream *stream = context->streams; stream && back; stream = stream->next)
        if (context->backend->poll(stream->native) != GYRE_OK)
            back = false;
    if (back || atomic_load_explicit(&context->lost, memory_order_relaxed) == GYRE_LOSS_NONE) {
        for (gyre_stream *stream = context->streams; stream; stream = stream->next)
            /* relaxed: a count of its own */
            atomic_store_explicit(&stream->strikes, 0, memory_order_relaxed);
        atomic_store_explicit(&context->lost, GYRE_LOSS_NONE, memory_order_release);
    }
    pthread_mutex_unlock(&context->lock);
    return gyre_context_usable(context);
}

gyre_status gyre_context_describe(gyre_context *context, gyre_context_statistics *out_statistics)
{
    const size_t size = out_statistics->struct_size;
    gyre_context_statistics s = {.struct_size = size};
    const gyre_status status = gyre_process_check(); /* others may have held the lock */

    if (status != GYRE_OK)
        return status;
    if (size < sizeof size)
        return gyre_fail(GYRE_INVALID, "statistics without struct_size");
    pthread_mutex_lock(&context->lock);
    s.timeouts = context->timeouts_before;
    s.blocked_ns = context->blocked_before_ns;
    for (gyre_stream *stream = context->streams; stream; stream = stream->next) {
        gyre_stream_statistics one = {.struct_size = sizeof one};

        gyre_stream_count(stream, &one);
        s.submitted += one.submitted;
        s.completed += one.completed;
        s.timeouts += one.timeouts;
        s.blocked_ns += one.blocked_ns;
        s.oldest_ns = one.oldest_ns > s.oldest_ns ? one.oldest_ns : s.oldest_ns;
        s.strikes = one.strikes > s.strikes ? one.strikes : s.strikes;
        s.streams++;
    }
    pthread_mutex_unlock(&context->lock);
    s.device_bytes = atomic_load_explicit(&context->device_bytes, memory_order_relaxed);
    s.pinned_bytes = atomic_load_explicit(&context->pinned_bytes, memory_order_relaxed);
    memcpy(out_statistics, &s, size < sizeof s ? size : sizeof s);
    return GYRE_OK;
}

void gyre_context_destroy(gyre_context *context)
{
    uint32_t objects;

    if (!context)
        return;
    if (gyre_process_check() != GYRE_OK) {
        free_context(context); /* the device is the parent's */
        return;
    }
    objects = atomic_load_explicit(&context->objects, memory_order_relaxed);
    if (objects > 0) {
        gyre_log(GYRE_LOG_ERROR, GYRE_TOPIC_DEVICE,
                 "%s: destroyed before %u of its streams, events, kernels or graphs; it stays",
                 context->name, objects);
        return;
    }
    gyre_context_leave(context);
    context->backend->close(context->dev);
    gyre_log(GYRE_LOG_DEBUG, GYRE_TOPIC_DEVICE, "%s: closed", context->name);
    free_context(context);
}
