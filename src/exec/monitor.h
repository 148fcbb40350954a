/* SPDX-License-Identifier: Apache-2.0
 *
 * monitor: what the monitor's parts know of each other: thresholds, judging, and where samples
 * come from. See gyre/monitor.h.
 *
 * Threads   judging is pure; a source's functions are called by whoever samples.
 * Owns      nothing.
 */
#ifndef GYRE_EXEC_MONITOR_H
#define GYRE_EXEC_MONITOR_H

#include <stdint.h>

#include "gyre/context.h"
#include "gyre/device.h"
#include "gyre/monitor.h"

/* Thresholds without defaults: negative is never. Of the temperature 0 is the device's own. */
typedef struct gyre_monitor_limits {
    int32_t memory_percent[2]; /* warning, critical; like all */
    int32_t temperature_c[2];
    int32_t power_percent; /* warning only */
    int32_t pending[2];
    int64_t age_ns[2];
    uint64_t horizon_ns; /* UINT64_MAX: trends are no reason */
} gyre_monitor_limits;

/* GYRE_INVALID, with a sentence, when a warning threshold is above its critical one. */
GYRE_MUST_USE gyre_status gyre_monitor_limits_read(const gyre_monitor_options *options,
                                                   gyre_monitor_limits *out_limits);

/* From which value on the device is critical; a negative number when there is none. What the device
 * itself tells is in `state`. */
double gyre_monitor_critical(const gyre_monitor_limits *limits, gyre_concern concern,
                             const gyre_device_state *state);

/* Fills in reasons and level from all the rest of the report. `unwell` says what is wrong with a
 * device that does not answer, `lost` with a context that is lost. */
void gyre_monitor_judge(const gyre_monitor_limits *limits, const char *unwell, const char *lost,
                        gyre_monitor_report *report);

/* As gyre_context_describe, but asks streams that seem to be behind; bytes are not filled in. */
GYRE_MUST_USE gyre_status gyre_monitor_describe(gyre_context *context,
                                                gyre_context_statistics *out_statistics);

/* Where samples come from: tests have one of their own. */
typedef struct gyre_monitor_source {
    gyre_status (*look)(const gyre_device *device, gyre_device_state *out_state);
    gyre_status (*describe)(gyre_context *context, gyre_context_statistics *out_statistics);
    gyre_status (*check)(gyre_context *context);
    const gyre_device *(*device)(const gyre_context *context);
    uint64_t (*now_ns)(void);
} gyre_monitor_source;

/* gyre_monitor_create over another source, which is copied. */
GYRE_MUST_USE gyre_status gyre_monitor_create_over(const gyre_monitor_source *source,
                                                   const gyre_monitor_options *options,
                                                   gyre_monitor **out_monitor);

#endif
