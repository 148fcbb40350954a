/* SPDX-License-Identifier: Apache-2.0
 *
 * monitor_fake: devices and contexts that tell a monitor whatever a test wants.
 *
 * Time passes by a second with each sample of device 0, so that trends are exact.
 */
#ifndef GYRE_EXEC_MONITOR_FAKE_H
#define GYRE_EXEC_MONITOR_FAKE_H

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "exec/monitor.h"
#include "test.h"

enum { FAKE_DEVICES = 17, FAKE_CONTEXTS = 17, FAKE_SECOND = 1000000000 };

struct gyre_context {
    const gyre_device *device;
    gyre_context_statistics statistics;
    bool lost;
};

static gyre_device fake_devices[FAKE_DEVICES];
static const gyre_device *fake_list[FAKE_DEVICES];
static gyre_device_state fake_states[FAKE_DEVICES]; /* what is told; all unknown at first */
static gyre_status fake_status[FAKE_DEVICES];       /* what looking returns */
static gyre_context fake_contexts[FAKE_CONTEXTS];
static gyre_context *fake_context_list[FAKE_CONTEXTS];
static uint64_t fake_now_ns;

static inline void fake_reset(void)
{
    fake_now_ns = FAKE_SECOND;
    memset(fake_states, 0xff, sizeof fake_states);
    memset(fake_status, 0, sizeof fake_status);
    memset(fake_contexts, 0, sizeof fake_contexts);
    for (size_t i = 0; i < FAKE_DEVICES; i++) {
        fake_devices[i] = (gyre_device){.struct_size = sizeof(gyre_device), .backend = "fake"};
        snprintf(fake_devices[i].name, sizeof fake_devices[i].name, "fake:%zu", i);
        fake_list[i] = &fake_devices[i];
    }
    for (size_t i = 0; i < FAKE_CONTEXTS; i++) {
        fake_contexts[i].device = &fake_devices[0];
        fake_context_list[i] = &fake_contexts[i];
    }
}

static gyre_status fake_look(const gyre_device *device, gyre_device_state *out_state)
{
    const size_t i = (size_t)(device - fake_devices);

    *out_state = fake_states[i];
    if (fake_status[i] == GYRE_OK)
        return GYRE_OK;
    return gyre_fail(fake_status[i], "fake trouble \033[31m of %s", device->name);
}

static gyre_status fake_describe(gyre_context *context, gyre_context_statistics *out_statistics)
{
    *out_statistics = context->statistics;
    return GYRE_OK;
}

static gyre_status fake_check(gyre_context *context)
{
    return context->lost ? gyre_fail(GYRE_DEVICE_LOST, "kernel 'spin' never ended") : GYRE_OK;
}

static const gyre_device *fake_device(const gyre_context *context)
{
    return context->device;
}

static uint64_t fake_now(void)
{
    return fake_now_ns;
}

static const gyre_monitor_source fake_source = {fake_look, fake_describe, fake_check, fake_device,
                                                fake_now};

/* A monitor of one device and, when asked for, one context on it. */
static inline gyre_monitor *fake_monitor(gyre_monitor_options options, size_t contexts)
{
    gyre_monitor *monitor = NULL;

    options.struct_size = sizeof options;
    options.devices = fake_list;
    options.device_count = 1;
    options.contexts = contexts ? fake_context_list : NULL;
    options.context_count = contexts;
    CHECK(gyre_monitor_create_over(&fake_source, &options, &monitor) == GYRE_OK);
    return monitor;
}

/* The report after one more sample, a second later. */
static inline gyre_monitor_report fake_sample(gyre_monitor *monitor)
{
    gyre_monitor_report report = {.struct_size = sizeof report};

    fake_now_ns += FAKE_SECOND;
    CHECK(gyre_monitor_sample(monitor) == GYRE_OK);
    CHECK(gyre_monitor_report_at(monitor, 0, &report) == GYRE_OK);
    return report;
}

#endif
