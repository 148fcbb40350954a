/* SPDX-License-Identifier: Apache-2.0
 *
 * monitor: whether devices are well, and whether they will be.
 *
 * A monitor samples devices and the contexts on them: memory, temperature, power, throttling,
 * errors, pending tickets and their age. What reaches a threshold is a reason, and a device's level
 * is its worst reason. What nobody tells is no reason. A device may be warned about early: when a
 * line through the last ten samples of its memory, temperature or pending tickets meets the
 * critical threshold within the horizon.
 *
 * Samples are taken by gyre_monitor_sample, or by a thread between start and stop. No device is
 * opened by it, and nothing that a device is busy with is waited for.
 *
 * Threads   any, but for create and destroy.
 * Owns      its thread, reports and history. Borrows the contexts, which outlive it.
 * Not here  strikes and giving a device up (gyre/context.h), showing it (`gyre top`).
 */
#ifndef GYRE_MONITOR_H
#define GYRE_MONITOR_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/alloc.h"
#include "gyre/common.h"
#include "gyre/context.h"
#include "gyre/device.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

typedef struct gyre_monitor gyre_monitor;

enum {
    GYRE_MONITOR_DEVICES = 16,      /* that one monitor watches, at most */
    GYRE_MONITOR_CONTEXTS = 16,     /* likewise */
    GYRE_MONITOR_REASONS = 16,      /* of one device: there is room for all that can be */
    GYRE_MONITOR_REASON_BYTES = 96, /* of a reason's text */
    GYRE_MONITOR_TREND_SAMPLES = 10,
    GYRE_MONITOR_HISTORY_MOST = 86400,
};

/* Values are frozen. */
typedef enum gyre_level {
    GYRE_LEVEL_HEALTHY = 0,
    GYRE_LEVEL_WARNING = 1,  /* look at it */
    GYRE_LEVEL_CRITICAL = 2, /* act now */
} gyre_level;

/* What a reason is about. Values are frozen. */
typedef enum gyre_concern {
    GYRE_CONCERN_LOST = 1, /* a context is lost, or the device does not answer */
    GYRE_CONCERN_XID = 2,  /* the driver reported a fault */
    GYRE_CONCERN_ECC = 3,  /* uncorrected errors of memory */
    GYRE_CONCERN_MEMORY = 4,
    GYRE_CONCERN_TEMPERATURE = 5,
    GYRE_CONCERN_POWER = 6,
    GYRE_CONCERN_THROTTLE = 7,
    GYRE_CONCERN_PENDING = 8, /* tickets that are not completed */
    GYRE_CONCERN_AGE = 9,     /* of the oldest of them */
} gyre_concern;

typedef struct gyre_monitor_reason {
    gyre_level level;
    gyre_concern concern;
    uint32_t early; /* 1: not yet so, but it will be by the trend */
    char text[GYRE_MONITOR_REASON_BYTES];
} gyre_monitor_reason;

/* The line through the last GYRE_MONITOR_TREND_SAMPLES samples, if all of them told the value. */
typedef struct gyre_monitor_trend {
    uint32_t known;          /* 0: there is none */
    uint32_t rising;         /* 1: steadily, that is more than its scatter and not by one step */
    double per_second;       /* of memory in bytes, of the temperature in degrees, of tickets */
    uint64_t critical_in_ns; /* until the line meets the threshold; GYRE_NEVER: it does not */
} gyre_monitor_trend;

/* How a device was when it was sampled last. A negative number is one that nobody tells. */
typedef struct gyre_monitor_report {
    size_t struct_size;        /* set by the caller: sizeof(gyre_monitor_report) */
    const gyre_device *device; /* */
    uint64_t sampled_ns;       /* when (gyre/clock.h); 0: not yet */
    uint64_t sample_count;     /* so far */
    gyre_status looked;        /* what gyre_device_look returned */
    gyre_level level;          /* the worst of the reasons; healthy when there are none */
    uint32_t reason_count;     /* */
    uint32_t context_count;    /* watched contexts on it */
    uint32_t lost_count;       /* of them */
    uint32_t strikes;          /* of the stream that has most */
    int64_t pending;           /* tickets of them that are not completed; -1 without contexts */
    int64_t oldest_ns;         /* how long the oldest of those is under way; likewise */
    int64_t timeouts;          /* waits that missed their deadline; likewise */
    gyre_monitor_trend memory, temperature, pending_trend;
    gyre_monitor_reason reasons[GYRE_MONITOR_REASONS]; /* the worst first */
    gyre_device_state state;                           /* the last, for it may grow */
} gyre_monitor_report;

/* One sample of the past. Negative: nobody told. */
typedef struct gyre_monitor_point {
    uint64_t sampled_ns;
    int64_t memory_used_bytes;
    int64_t pending;
    int32_t temperature_c;
    int32_t power_mw;
    int32_t busy_percent;
    gyre_level level;
} gyre_monitor_point;

/* A device's level has changed from `before`; the report is valid during the call. Called by
 * whoever sampled: the monitor's thread, which has all signals blocked, or gyre_monitor_sample. One
 * at a time, in order. It may call gyre_monitor_report_at and _history of this monitor; sampling,
 * starting and stopping are refused, destroying is not allowed. The next sample waits for it. */
typedef void (*gyre_monitor_callback)(void *user, const gyre_monitor_report *report,
                                      gyre_level before);

/* Zero means default, everywhere. A threshold that is negative is never reached; a value that
 * equals its threshold has reached it. */
typedef struct gyre_monitor_options {
    size_t struct_size;              /* sizeof(gyre_monitor_options): lets the struct grow */
    const gyre_allocator *allocator; /* copied; default malloc */

    const gyre_device *const *devices; /* to watch; default those of the contexts, or without any
                                        * the first 16 that are in no trouble, null devices
                                        * left out */
    size_t device_count;
    gyre_context *const *contexts; /* to watch; each outlives the monitor, and its device is watched
                                    * too */
    size_t context_count;

    uint64_t period_ns;             /* between two samples of the thread; default 1 s */
    uint64_t horizon_ns;            /* how far a trend looks; default 60 s; UINT64_MAX: it does
                                     * not */
    gyre_monitor_callback on_level; /* default none */
    void *user;                     /* handed to it */

    uint32_t history;                /* samples that are kept of each device; default 60 */
    int32_t memory_warning_percent;  /* of the device's memory; default 70 */
    int32_t memory_critical_percent; /* default 90 */
    int32_t temperature_warning_c;   /* default 5 degrees below the limit that the device tells, 85
                                      * if it tells none */
    int32_t temperature_critical_c;  /* default the limit, or 95 */
    int32_t power_warning_percent;   /* of the device's limit; default 98 */
    int32_t pending_warning;         /* tickets of all contexts; default 20, far below critical,
                                      * since what is queued cannot be taken back; 50 where bursts
                                      * are usual */
    int32_t pending_critical;        /* default 100 */
    int64_t age_warning_ns;          /* of the oldest ticket; default half of GYRE_SYNC_TIMEOUT */
    int64_t age_critical_ns;         /* default GYRE_SYNC_TIMEOUT */
} gyre_monitor_options;
/* Beside the thresholds: critical is a lost context, a device that has fallen off its bus, any
 * fault that the driver reported and any uncorrected error of memory. A clock that heat or the
 * board lowers is a warning, and critical when both do, for then the board has taken over. That a
 * limit of power, a setting or idleness lowers a clock is none. */

/* Creates a monitor that has not sampled yet. NULL options mean all defaults. GYRE_INVALID for too
 * many or doubled devices or contexts, or a warning threshold above its critical one;
 * GYRE_UNAVAILABLE in a forked child; GYRE_NO_MEMORY. May block as gyre_device_count. */
GYRE_API GYRE_MUST_USE gyre_status gyre_monitor_create(const gyre_monitor_options *options,
                                                       gyre_monitor **out_monitor);

/* Samples every device now, once, and calls back for what has changed before it returns. Waits for
 * a sample that is being taken. GYRE_INVALID in a callback of this monitor, GYRE_UNAVAILABLE in a
 * forked child; that a device does not answer is a reason, and no failure of sampling. Thread-safe;
 * blocks for milliseconds in drivers; not for signal handlers. */
GYRE_API GYRE_MUST_USE gyre_status gyre_monitor_sample(gyre_monitor *monitor);

/* Starts a thread that samples at once and then every period. GYRE_INVALID when there is one
 * already, or in a callback; GYRE_NO_MEMORY, GYRE_UNAVAILABLE. Thread-safe; not for signal
 * handlers. */
GYRE_API GYRE_MUST_USE gyre_status gyre_monitor_start(gyre_monitor *monitor);

/* Ends the thread: when it returns, no callback of it runs any more. Waits for a sample that is
 * being taken, not for the period. GYRE_OK when there is no thread; GYRE_INVALID in a callback.
 * Thread-safe; not for signal handlers. */
GYRE_API GYRE_MUST_USE gyre_status gyre_monitor_stop(gyre_monitor *monitor);

/* How many devices it watches: those that were given, in their order, then those of contexts. Never
 * blocks. */
GYRE_API size_t gyre_monitor_count(const gyre_monitor *monitor);

/* Copies the last report of device `index`, no more than struct_size bytes. GYRE_INVALID when that
 * is not set, or past the last device. Thread-safe; never waits for a driver; not for signal
 * handlers. */
GYRE_API GYRE_MUST_USE gyre_status gyre_monitor_report_at(gyre_monitor *monitor, size_t index,
                                                          gyre_monitor_report *out_report);

/* Copies the newest samples of device `index`, at most `most`, the oldest first; how many. 0 past
 * the last device. As gyre_monitor_report_at. */
GYRE_API size_t gyre_monitor_history(gyre_monitor *monitor, size_t index,
                                     gyre_monitor_point *points, size_t most);

/* "healthy", "warning", "critical"; "memory", "temperature", ...; "unknown" outside the enum.
 * Borrowed, static. Thread-safe, never block, may be called from a signal handler. */
GYRE_API const char *gyre_level_name(gyre_level level);
GYRE_API const char *gyre_concern_name(gyre_concern concern);

/* Stops its thread and frees it; NULL is a no-op. In a forked child it only frees. Not in a
 * callback. */
GYRE_API void gyre_monitor_destroy(gyre_monitor *monitor);

GYRE_END_DECLS

#endif
