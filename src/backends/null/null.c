/* SPDX-License-Identifier: Apache-2.0
 *
 * null: two devices that compute on the calling thread, and fail when they are told to. It is the
 * backend to copy from: every slot is filled, and nothing in it is clever.
 *
 * Work is done when it is submitted; what is asynchronous is only time. A stream has a moment from
 * which it counts as drained, and faults move that moment (docs/backends.md has their grammar).
 *
 * Threads   any; see null.h.
 * Owns      two devices, static; what is opened on them is the caller's to close.
 * Not here  code (null_code.c), streams and events (null_stream.c), graphs (null_graph.c), the
 *           faults' grammar (null_faults.c).
 */
#include "backends/null/null.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/settings.h"
#include "dev/backend_no.h"

#define VERSION "null 1"

extern const gyre_backend gyre_backend_null;

static gyre_null_device devices[GYRE_NULL_DEVICES] = {
    {.lock = PTHREAD_MUTEX_INITIALIZER},
    {.lock = PTHREAD_MUTEX_INITIALIZER},
};

static gyre_status probe(uint32_t *out_count, char *text, size_t text_size)
{
    *out_count = GYRE_NULL_DEVICES;
    snprintf(text, text_size, "%s", VERSION);
    return GYRE_OK;
}

/* A priority is taken and changes nothing: no stream ever waits for another's turn. Cooperative is
 * not among the features: blocks run one after the other, and one that waits for the next would
 * wait without end. */
static gyre_status describe(uint32_t index, gyre_device *out_device)
{
    gyre_device *const device = out_device;
    gyre_null_faults setting;

    (void)index;
    device->kind = GYRE_DEVICE_NULL;
    snprintf(device->title, sizeof device->title, "Null device");
    snprintf(device->driver, sizeof device->driver, "%s", VERSION);
    snprintf(device->architecture, sizeof device->architecture, "null");
    device->features = GYRE_FEATURE_FUNCTIONS | GYRE_FEATURE_SOURCE | GYRE_FEATURE_RESIDENCY |
                       GYRE_FEATURE_GRAPHS | GYRE_FEATURE_TIMING | GYRE_FEATURE_HOST_REACH |
                       GYRE_FEATURE_MAPPED | GYRE_FEATURE_PRIORITIES | GYRE_FEATURE_MONITOR |
                       GYRE_FEATURE_F64 | GYRE_FEATURE_ECC | GYRE_FEATURE_FAULTS;
    if (gyre_null_faults_parse(gyre_settings_text(GYRE_SETTING_NULL_FAULTS), &setting) == GYRE_OK &&
        gyre_null_faults_find(&setting, GYRE_NULL_LIMIT, 0))
        device->features |= GYRE_FEATURE_TIME_LIMIT;
    device->memory_bytes = GYRE_NULL_MEMORY_BYTES;
    device->units = GYRE_NULL_UNITS;
    device->lanes = 1;
    device->clock_mhz = 1000;
    device->numa_node = -1;
    device->reach = (1u << GYRE_NULL_DEVICES) - 1;
    device->block_threads_most = GYRE_NULL_BLOCK_THREADS;
    for (int i = 0; i < 3; i++) {
        device->block_most[i] = GYRE_NULL_BLOCK_THREADS;
        device->grid_most[i] = i == 0 ? INT32_MAX : UINT16_MAX;
    }
    device->shared_bytes_most = GYRE_NULL_SHARED_BYTES;
    device->unit_threads_most = GYRE_NULL_BLOCK_THREADS;
    device->parameters_most = 4096;
    return GYRE_OK;
}

static gyre_status compiler(uint32_t index, char *text, size_t text_size)
{
    (void)index;
    snprintf(text, text_size, "%s", VERSION);
    return GYRE_OK;
}

/* What a fault says of the device: of the context opened last, else of the setting. Locked. */
static int64_t told(const gyre_null_device *device, const gyre_null_faults *setting,
                    gyre_null_word word, int64_t otherwise)
{
    const gyre_null_rule *rule = NULL;

    for (const gyre_dev *dev = device->newest; dev && !rule; dev = dev->older)
        rule = gyre_null_faults_find(&dev->faults, word, 0);
    if (!rule)
        rule = gyre_null_faults_find(setting, word, 0);
    return rule ? rule->value : otherwise;
}

/* Locked. */
static uint64_t used_bytes(const gyre_null_device *device, const gyre_null_faults *setting)
{
    const uint64_t percent = (uint64_t)told(device, setting, GYRE_NULL_MEMORY, 0);
    const uint64_t told_bytes = GYRE_NULL_MEMORY_BYTES * percent / 100;

    return told_bytes > device->taken_bytes ? told_bytes : device->taken_bytes;
}

static gyre_status look(uint32_t index, gyre_device_state *out_state)
{
    gyre_null_device *const device = &devices[index];
    gyre_device_state *const state = out_state;
    gyre_null_faults setting;
    const gyre_status status =
        gyre_null_faults_parse(gyre_settings_text(GYRE_SETTING_NULL_FAULTS), &setting);

    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&device->lock);
    state->memory_total_bytes = GYRE_NULL_MEMORY_BYTES;
    state->memory_used_bytes = (int64_t)used_bytes(device, &setting);
    state->busy_percent = 0;
    state->temperature_c = (int32_t)told(device, &setting, GYRE_NULL_TEMPERATURE, 40);
    state->temperature_limit_c = 90;
    state->power_mw = (int32_t)(told(device, &setting, GYRE_NULL_POWER, 50) * 1000);
    state->power_limit_mw = 300000;
    state->clock_mhz = 1000;
    state->clock_most_mhz = 1000;
    state->throttle = told(device, &setting, GYRE_NULL_THROTTLE, 0);
    state->ecc_corrected = 0;
    state->ecc_uncorrected = told(device, &setting, GYRE_NULL_ECC, 0);
    state->xid = told(device, &setting, GYRE_NULL_XID, 0);
    state->xid_count = state->xid != 0;
    pthread_mutex_unlock(&device->lock);
    return GYRE_OK;
}

gyre_status gyre_null_lost(const gyre_dev *dev)
{
    if (dev->lost_by != 0)
        return gyre_fail_native(GYRE_DEVICE_LOST, GYRE_NULL_ERROR_FAULT,
                                "null:%u: NULL_ERROR_FAULT: launch %u has faulted", dev->index,
                                dev->lost_by);
    return GYRE_OK;
}

void gyre_null_lose(gyre_dev *dev, uint32_t launch)
{
    dev->lost_by = launch;
    if (gyre_null_faults_find(&dev->faults, GYRE_NULL_STICKY, 0))
        dev->device->lost = true;
}

gyre_status gyre_null_enter(gyre_dev *dev)
{
    gyre_status status;

    pthread_mutex_lock(&dev->device->lock);
    status = gyre_null_lost(dev);
    if (status != GYRE_OK)
        pthread_mutex_unlock(&dev->device->lock);
    return status;
}

void gyre_null_leave(gyre_dev *dev)
{
    pthread_mutex_unlock(&dev->device->lock);
}

static gyre_status open(uint32_t index, const gyre_dev_options *options, gyre_dev **out_dev)
{
    gyre_null_device *const device = &devices[index];
    gyre_null_faults faults;
    gyre_status status;
    void *block;
    gyre_dev *dev;
    bool lost;

    *out_dev = NULL;
    status = gyre_null_faults_parse(options->faults, &faults);
    if (status != GYRE_OK)
        return status;
    if (options->adopt)
        return gyre_fail(GYRE_UNSUPPORTED, "null:%u: there is no context to adopt", index);
    status = gyre_alloc(NULL, 1, sizeof *dev, &block);
    if (status != GYRE_OK)
        return status;
    dev = block;
    dev->device = device;
    dev->index = index;
    dev->faults = faults;
    pthread_mutex_lock(&device->lock);
    lost = device->lost || gyre_null_faults_find(&faults, GYRE_NULL_OPEN, 0);
    if (!lost) {
        dev->older = device->newest;
        device->newest = dev;
    }
    pthread_mutex_unlock(&device->lock);
    if (lost) {
        gyre_free(NULL, dev, 1, sizeof *dev);
        return gyre_fail_native(GYRE_DEVICE_LOST, GYRE_NULL_ERROR_NO_ANSWER,
                                "null:%u: NULL_ERROR_NO_ANSWER: it does not open", index);
    }
    *out_dev = dev;
    return GYRE_OK;
}

static void abandon(gyre_dev *dev)
{
    dev->abandoned = true;
}

static void close(gyre_dev *dev)
{
    gyre_null_device *const device = dev->device;
    gyre_dev **link = &device->newest;

    pthread_mutex_lock(&device->lock);
    while (*link != dev)
        link = &(*link)->older;
    *link = dev->older;
    device->taken_bytes -= dev->taken_bytes;
    pthread_mutex_unlock(&device->lock);
    gyre_free(NULL, dev, 1, sizeof *dev);
}

static gyre_status room(gyre_dev *dev, uint64_t *out_free, uint64_t *out_total)
{
    const gyre_null_faults none = {.count = 0};
    const gyre_status status = gyre_null_enter(dev);

    *out_free = *out_total = 0;
    if (status != GYRE_OK)
        return status;
    *out_total = GYRE_NULL_MEMORY_BYTES;
    *out_free = GYRE_NULL_MEMORY_BYTES - used_bytes(dev->device, &none);
    gyre_null_leave(dev);
    return GYRE_OK;
}

/* Counts the block, if there is room for it. */
static gyre_status account(gyre_dev *dev, gyre_dev_memory kind, size_t size)
{
    gyre_status status = gyre_null_enter(dev);
    uint64_t left;

    if (status != GYRE_OK)
        return status;
    left = GYRE_NULL_MEMORY_BYTES - dev->device->taken_bytes;
    if (gyre_null_faults_find(&dev->faults, GYRE_NULL_TAKE, ++dev->takes)) {
        status = gyre_fail_native(GYRE_NO_MEMORY, GYRE_NULL_ERROR_MEMORY,
                                  "null:%u: NULL_ERROR_MEMORY: take %u was told to fail",
                                  dev->index, dev->takes);
    } else if (kind == GYRE_DEV_MEMORY_DEVICE && size > left) {
        status = gyre_fail_native(GYRE_NO_MEMORY, GYRE_NULL_ERROR_MEMORY,
                                  "null:%u: NULL_ERROR_MEMORY: %zu bytes, %llu are free",
                                  dev->index, size, (unsigned long long)left);
    } else if (kind == GYRE_DEV_MEMORY_DEVICE) {
        dev->device->taken_bytes += size;
        dev->taken_bytes += size;
    }
    gyre_null_leave(dev);
    return status;
}

static void unaccount(gyre_dev *dev, gyre_dev_memory kind, size_t size)
{
    if (kind != GYRE_DEV_MEMORY_DEVICE)
        return;
    pthread_mutex_lock(&dev->device->lock);
    dev->device->taken_bytes -= size;
    dev->taken_bytes -= size;
    pthread_mutex_unlock(&dev->device->lock);
}

static gyre_status take(gyre_dev *dev, gyre_dev_memory kind, size_t size, size_t alignment,
                        void **out_block)
{
    const size_t unit = alignment > 64 ? alignment : 64;
    gyre_status status;
    size_t rounded;

    *out_block = NULL;
    status = account(dev, kind, size);
    if (status != GYRE_OK)
        return status;
    if (gyre_size_add(size, unit - 1, &rounded))
        *out_block = aligned_alloc(unit, rounded & ~(unit - 1));
    if (*out_block)
        return GYRE_OK;
    unaccount(dev, kind, size);
    return gyre_fail(GYRE_NO_MEMORY, "null:%u: the host has no %zu bytes", dev->index, size);
}

static void give(gyre_dev *dev, gyre_dev_memory kind, void *block, size_t size)
{
    unaccount(dev, kind, size);
    free(block);
}

const gyre_backend gyre_backend_null = {
    .name = "null",
    .probe = probe,
    .describe = describe,
    .compiler = compiler,
    .look = look,
    .open = open,
    .abandon = abandon,
    .close = close,
    .native = gyre_no_native,
    .room = room,
    .take = take,
    .give = give,
    .window_open = gyre_no_window_open,
    .window_close = gyre_no_window_close,
    .compile = gyre_null_compile,
    .module_open = gyre_null_module_open,
    .module_close = gyre_null_module_close,
    .kernel_open = gyre_null_kernel_open,
    .residency = gyre_null_residency,
    .stream_open = gyre_null_stream_open,
    .stream_close = gyre_null_stream_close,
    .poll = gyre_null_poll,
    .launch = gyre_null_launch,
    .copy = gyre_null_copy,
    .fill = gyre_null_fill,
    .words = gyre_null_words,
    .event_open = gyre_null_event_open,
    .event_close = gyre_null_event_close,
    .event_record = gyre_null_event_record,
    .event_poll = gyre_null_event_poll,
    .event_wait = gyre_null_event_wait,
    .event_between = gyre_null_event_between,
    .graph_open = gyre_null_graph_open,
    .graph_close = gyre_null_graph_close,
    .graph_update = gyre_null_graph_update,
    .graph_submit = gyre_null_graph_submit,
};
