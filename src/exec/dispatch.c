/* SPDX-License-Identifier: Apache-2.0
 *
 * dispatch: the life of a dispatcher, its kernels and its figures. See gyre/dispatch.h, and
 * dispatch.h for the other files.
 *
 * Threads   as gyre/dispatch.h says.
 * Owns      everything but the context and the channel.
 */
#include "exec/dispatch.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/options.h"
#include "base/process.h"
#include "base/settings.h"
#include "flow/channel.h"

enum {
    STREAMS_MOST = 64,
    PENDING = 16,
    PENDING_MOST = 256,
    FIRST_KERNELS = 16,
    KEPT_BYTES = 256 << 10, /* of each size, by a thread */
};

static gyre_status check_numbers(const gyre_dispatch_options *options)
{
    if (options->streams > STREAMS_MOST)
        return gyre_fail(GYRE_INVALID, "dispatch: %u streams; at most %d", options->streams,
                         STREAMS_MOST);
    if (options->pending_most > PENDING_MOST)
        return gyre_fail(GYRE_INVALID, "dispatch: %u commands under way; at most %d",
                         options->pending_most, PENDING_MOST);
    return gyre_allocator_check(options->allocator);
}

static gyre_status check_channel(const gyre_channel *channel)
{
    if (gyre_channel_is_all(channel))
        return gyre_fail(GYRE_INVALID, "dispatch: channel '%s' delivers to ALL, not to ONE",
                         channel->name);
    if (gyre_channel_item_bytes(channel) != sizeof(gyre_command))
        return gyre_fail(GYRE_INVALID,
                         "dispatch: channel '%s' has items of %u bytes, but a command has %zu",
                         channel->name, gyre_channel_item_bytes(channel), sizeof(gyre_command));
    return GYRE_OK;
}

static gyre_status create_pool(gyre_dispatch *dispatch, gyre_context_memory_kind kind,
                               size_t limit_bytes, gyre_pool **out_pool)
{
    const gyre_pool_options options = {
        .struct_size = sizeof options,
        .allocator = gyre_allocator_kept(&dispatch->allocator),
        .source = gyre_context_memory(dispatch->context, kind),
        .name = dispatch->name,
        .limit_bytes = limit_bytes,
        /* One thread takes what others give back: what they keep is not there for it. */
        .thread_bytes = limit_bytes ? 1 : KEPT_BYTES,
    };

    return gyre_pool_create(&options, out_pool);
}

static gyre_status create_stream(gyre_dispatch *dispatch, uint32_t pending_most,
                                 gyre_stream **out_stream, const uint64_t **out_completed)
{
    const gyre_stream_options options = {
        .struct_size = sizeof options, .name = dispatch->name, .pending_most = pending_most};
    const gyre_status status = gyre_stream_create(dispatch->context, &options, out_stream);

    if (status == GYRE_OK)
        *out_completed = gyre_stream_ticket(*out_stream).completed;
    return status;
}

static gyre_status create_lanes(gyre_dispatch *dispatch)
{
    const gyre_allocator *const allocator = gyre_allocator_kept(&dispatch->allocator);
    const size_t records = (size_t)dispatch->stream_count * dispatch->pending_most;
    void *lanes = NULL, *rings = NULL;
    gyre_status status;

    status = gyre_alloc(allocator, dispatch->stream_count, sizeof *dispatch->lanes, &lanes);
    dispatch->lanes = lanes;
    if (status == GYRE_OK)
        status = gyre_alloc(allocator, records, sizeof *dispatch->rings, &rings);
    dispatch->rings = rings;
    for (uint32_t i = 0; i < dispatch->stream_count && status == GYRE_OK; i++) {
        gyre_dispatch_lane *const lane = &dispatch->lanes[i];

        lane->ring = dispatch->rings + (size_t)i * dispatch->pending_most;
        /* as many as the lane: then a submission never waits for room */
        status = create_stream(dispatch, dispatch->pending_most, &lane->stream, &lane->completed);
    }
    return status;
}

/* Waits for nothing that the device does not finish by its deadlines. */
static void end_lanes(gyre_dispatch *dispatch)
{
    const gyre_allocator *const allocator = gyre_allocator_kept(&dispatch->allocator);
    const bool child = gyre_process_check() != GYRE_OK;

    for (uint32_t i = 0; dispatch->lanes && i < dispatch->stream_count; i++) {
        gyre_dispatch_lane *const lane = &dispatch->lanes[i];

        if (lane->stream && !child) {
            (void)!gyre_stream_poll(lane->stream);
            /* what is not through now hangs, and its bytes are lost with it */
            gyre_dispatch_let_go(dispatch, lane);
        }
        gyre_stream_destroy(lane->stream);
    }
    gyre_stream_destroy(dispatch->fills);
    gyre_free(allocator, dispatch->rings, (size_t)dispatch->stream_count * dispatch->pending_most,
              sizeof *dispatch->rings);
    gyre_free(allocator, dispatch->lanes, dispatch->stream_count, sizeof *dispatch->lanes);
}

/* Ends a dispatcher whose thread does not run, half-built or not. */
static void end(gyre_dispatch *dispatch)
{
    const gyre_allocator allocator = dispatch->allocator;

    end_lanes(dispatch);
    for (uint32_t i = 0; i < dispatch->kernel_count; i++)
        gyre_kernel_release(dispatch->kernels[i]);
    gyre_free(gyre_allocator_kept(&dispatch->allocator), dispatch->kernels, dispatch->kernel_room,
              sizeof(gyre_kernel *));
    gyre_dispatch_end_buffers(dispatch);
    gyre_pool_destroy(dispatch->device);
    gyre_pool_destroy(dispatch->pinned);
    pthread_mutex_destroy(&dispatch->lock);
    gyre_free(gyre_allocator_kept(&allocator), dispatch, 1, sizeof *dispatch);
}

static gyre_status start_thread(gyre_dispatch *dispatch, const gyre_dispatch_options *options)
{
    const gyre_thread_options thread = {
        .struct_size = sizeof thread,
        .name = dispatch->name,
        .allocator = gyre_allocator_kept(&dispatch->allocator),
        .cpus = options->cpus,
        .cpu_count = options->cpu_count,
    };

    return gyre_thread_start(gyre_dispatch_run, dispatch, &thread, &dispatch->thread);
}

gyre_status gyre_dispatch_start(gyre_context *context, gyre_channel *channel,
                                const gyre_dispatch_options *options, gyre_dispatch **out_dispatch)
{
    gyre_dispatch_options o;
    gyre_dispatch *dispatch;
    gyre_status status;
    void *memory;

    *out_dispatch = NULL;
    status = GYRE_OPTIONS_READ(o, options);
    if (status == GYRE_OK)
        status = gyre_process_use();
    if (status == GYRE_OK)
        status = check_numbers(&o);
    if (status == GYRE_OK)
        status = check_channel(channel);
    if (status == GYRE_OK)
        status = gyre_alloc(o.allocator, 1, sizeof *dispatch, &memory);
    if (status != GYRE_OK)
        return status;
    dispatch = memory;
    pthread_mutex_init(&dispatch->lock, NULL);
    dispatch->context = context;
    dispatch->channel = channel;
    if (o.allocator)
        dispatch->allocator = *o.allocator;
    (void)snprintf(dispatch->name, sizeof dispatch->name, "%s", o.name ? o.name : "dispatch");
    dispatch->stream_count = o.streams ? o.streams : 1;
    dispatch->pending_most = o.pending_most ? o.pending_most : PENDING;
    dispatch->spin_ns = o.spin_ns ? o.spin_ns : (uint64_t)gyre_settings_number(GYRE_SETTING_SPIN);
    status = create_lanes(dispatch);
    if (status == GYRE_OK)
        status = create_stream(dispatch, 0, &dispatch->fills, &dispatch->fills_so_far);
    if (status == GYRE_OK)
        status =
            create_pool(dispatch, GYRE_CONTEXT_DEVICE, o.device_limit_bytes, &dispatch->device);
    if (status == GYRE_OK)
        status =
            create_pool(dispatch, GYRE_CONTEXT_PINNED, o.pinned_limit_bytes, &dispatch->pinned);
    if (status == GYRE_OK)
        status = start_thread(dispatch, &o);
    if (status != GYRE_OK) {
        end(dispatch);
        return status;
    }
    *out_dispatch = dispatch;
    return GYRE_OK;
}

/* Room for one more kernel, with the lock held. */
static gyre_status make_room(gyre_dispatch *dispatch)
{
    const gyre_allocator *const allocator = gyre_allocator_kept(&dispatch->allocator);
    const uint32_t room = dispatch->kernel_room ? 2 * dispatch->kernel_room : FIRST_KERNELS;
    gyre_status status;
    void *kernels;

    if (dispatch->kernel_count < dispatch->kernel_room)
        return GYRE_OK;
    status = gyre_alloc(allocator, room, sizeof(gyre_kernel *), &kernels);
    if (status != GYRE_OK)
        return status;
    if (dispatch->kernel_count > 0)
        memcpy(kernels, dispatch->kernels, dispatch->kernel_count * sizeof(gyre_kernel *));
    gyre_free(allocator, dispatch->kernels, dispatch->kernel_room, sizeof(gyre_kernel *));
    dispatch->kernels = kernels;
    dispatch->kernel_room = room;
    return GYRE_OK;
}

gyre_status gyre_dispatch_kernel(gyre_dispatch *dispatch, gyre_kernel *kernel, uint64_t *out_id)
{
    gyre_status status = gyre_process_check();

    *out_id = 0;
    if (status != GYRE_OK)
        return status;
    if (!kernel)
        return gyre_fail(GYRE_INVALID, "dispatch '%s': no kernel to register", dispatch->name);
    pthread_mutex_lock(&dispatch->lock);
    status = make_room(dispatch);
    if (status == GYRE_OK) {
        gyre_kernel_retain(kernel);
        dispatch->kernels[dispatch->kernel_count++] = kernel;
        *out_id = dispatch->kernel_count;
    }
    pthread_mutex_unlock(&dispatch->lock);
    return status;
}

const gyre_memory *gyre_dispatch_memory(gyre_dispatch *dispatch)
{
    return gyre_pool_memory(dispatch->pinned);
}

/* relaxed: figures */
static uint64_t read_number(const _Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

gyre_status gyre_dispatch_describe(gyre_dispatch *dispatch,
                                   gyre_dispatch_statistics *out_statistics)
{
    const size_t size = out_statistics->struct_size;
    const _Atomic uint64_t *const kinds = dispatch->kinds;
    gyre_dispatch_statistics s = {
        .struct_size = size,
        .launches = read_number(&kinds[GYRE_COMMAND_LAUNCH]) +
                    read_number(&kinds[GYRE_COMMAND_LAUNCH_SHARED]),
        .to_device = read_number(&kinds[GYRE_COMMAND_TO_DEVICE]),
        .from_device = read_number(&kinds[GYRE_COMMAND_FROM_DEVICE]),
        .synchronizes = read_number(&kinds[GYRE_COMMAND_SYNCHRONIZE]),
        .corrupt = read_number(&kinds[0]),
        .failures = read_number(&dispatch->failures),
        .unheard = read_number(&dispatch->unheard),
        .late = read_number(&dispatch->late),
        .pending = read_number(&dispatch->pending),
        .worst_ns = read_number(&dispatch->worst_ns),
    };

    const gyre_status status = gyre_process_check(); /* its thread may have held the lock */

    if (status != GYRE_OK)
        return status;
    if (size < sizeof s.struct_size)
        return gyre_fail(GYRE_INVALID, "dispatch: struct_size of the statistics is not set");
    pthread_mutex_lock(&dispatch->lock);
    s.kernels = dispatch->kernel_count;
    s.buffers = dispatch->live;
    s.buffer_bytes = dispatch->live_bytes;
    pthread_mutex_unlock(&dispatch->lock);
    memcpy(out_statistics, &s, size < sizeof s ? size : sizeof s);
    return GYRE_OK;
}

void gyre_dispatch_stop(gyre_dispatch *dispatch)
{
    if (!dispatch)
        return;
    /* relaxed: nothing comes with it */
    atomic_store_explicit(&dispatch->stopping, true, memory_order_relaxed);
    gyre_thread_stop(dispatch->thread);
    end(dispatch);
}
