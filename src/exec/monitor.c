/* SPDX-License-Identifier: Apache-2.0
 *
 * monitor: takes samples, keeps them, and calls back. See gyre/monitor.h.
 *
 * A sample asks the drivers without holding the lock of the reports, so that reading a report never
 * waits for a driver; it is put in place as a whole. Samples and their callbacks are one at a time,
 * so a callback sees levels change in the order in which they did.
 *
 * Threads   `turn` is held by whoever samples, callbacks included; `books`, inside it, guards
 *           reports and rings, for moments; `life` guards the thread's handle, and is held while
 *           it is waited for (base/duty.h).
 * Owns      the thread, the rings. Borrows devices and contexts.
 * Not here  what is a reason (monitor_judge.c), where a series is going (monitor_trend.c), what a
 *           context has under way (monitor_context.c).
 */
#include "exec/monitor.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/duty.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/options.h"
#include "base/process.h"
#include "exec/monitor_trend.h"
#include "gyre/clock.h"

enum { TREND = GYRE_MONITOR_TREND_SAMPLES, HISTORY = 60, WORDS = 256 };

typedef struct watch {
    gyre_monitor_report report; /* under `books`; written by whoever samples */
    gyre_monitor_point *ring;   /* owned; `history` of them; under `books` */
    uint64_t count;             /* samples ever; the newest is at (count - 1) % history */
} watch;

struct gyre_monitor {
    gyre_allocator allocator; /* all NULL for malloc */
    gyre_monitor_source source;
    gyre_monitor_limits limits;
    gyre_monitor_callback on_level;
    void *user;
    uint64_t period_ns;
    size_t history;
    pthread_mutex_t turn, books, life;
    gyre_duty duty; /* under `life` */
    size_t watch_count, context_count;
    gyre_context *contexts[GYRE_MONITOR_CONTEXTS];
    size_t context_watch[GYRE_MONITOR_CONTEXTS]; /* the index of its device */
    watch watches[GYRE_MONITOR_DEVICES];
};

/* The monitor whose callback this thread is in. A callback that samples another monitor is in that
 * one's callbacks meanwhile, and back in its own afterwards. */
static _Thread_local const gyre_monitor *calling;

static const gyre_allocator *allocator_of(const gyre_monitor *m)
{
    return m->allocator.allocate ? &m->allocator : NULL;
}

static gyre_status refuse_in_callback(const gyre_monitor *m)
{
    if (calling == m)
        return gyre_fail(GYRE_INVALID, "monitor: a callback may only read reports and history");
    return GYRE_OK;
}

/* The last TREND samples of one value, the newest of which is not in the ring yet. Not known when
 * one of them is missing. */
static gyre_monitor_trend trend_of(const gyre_monitor *m, const watch *w,
                                   const gyre_monitor_point *newest, gyre_concern concern)
{
    const double critical = gyre_monitor_critical(&m->limits, concern, &w->report.state);
    gyre_monitor_trend_point points[TREND];

    if (w->count + 1 < TREND || critical < 0)
        return (gyre_monitor_trend){.critical_in_ns = GYRE_NEVER};
    for (size_t i = 0; i < TREND; i++) {
        const uint64_t index = w->count + 1 - TREND + i;
        const gyre_monitor_point *p = index == w->count ? newest : &w->ring[index % m->history];

        points[i].at_ns = p->sampled_ns;
        points[i].value = concern == GYRE_CONCERN_MEMORY    ? (double)p->memory_used_bytes
                          : concern == GYRE_CONCERN_PENDING ? (double)p->pending
                                                            : p->temperature_c;
        if (points[i].value < 0)
            return (gyre_monitor_trend){.critical_in_ns = GYRE_NEVER};
    }
    return gyre_monitor_trend_fit(points, critical);
}

/* Adds up the contexts of device `index`. */
static void ask_contexts(const gyre_monitor *m, size_t index, gyre_monitor_report *r, char *lost)
{
    for (size_t i = 0; i < m->context_count; i++) {
        gyre_context_statistics s = {.struct_size = sizeof s};

        if (m->context_watch[i] != index)
            continue;
        r->context_count++;
        if (m->source.check(m->contexts[i]) != GYRE_OK && r->lost_count++ == 0)
            snprintf(lost, WORDS, "%s", gyre_error_last()->text);
        if (m->source.describe(m->contexts[i], &s) != GYRE_OK)
            continue;
        if (r->pending < 0)
            r->pending = r->oldest_ns = r->timeouts = 0;
        /* they are counted by others meanwhile, and completed may be the newer of the two */
        if (s.submitted > s.completed)
            r->pending += (int64_t)(s.submitted - s.completed);
        if ((int64_t)s.oldest_ns > r->oldest_ns)
            r->oldest_ns = (int64_t)s.oldest_ns;
        if (s.strikes > r->strikes)
            r->strikes = s.strikes;
        r->timeouts += (int64_t)s.timeouts;
    }
}

/* All of a state that nobody tells. */
static void forget(gyre_device_state *state)
{
    memset(state, 0xff, sizeof *state); /* -1, in every field */
    state->struct_size = sizeof *state;
}

/* Asks about device `index`; true when its level has changed. Under `turn`, so nobody else writes
 * reports and rings; `books` is for those who read them. */
static bool sample_watch(gyre_monitor *m, size_t index, gyre_level *out_before)
{
    watch *w = &m->watches[index];
    char unwell[WORDS] = "", lost[WORDS] = "";
    gyre_monitor_point point;
    gyre_monitor_report r = {.struct_size = sizeof r, .device = w->report.device};

    r.sample_count = w->count + 1;
    r.pending = r.oldest_ns = r.timeouts = -1;
    forget(&r.state);
    r.looked = m->source.look(r.device, &r.state);
    if (r.looked != GYRE_OK) {
        snprintf(unwell, sizeof unwell, "%s", gyre_error_last()->text);
        forget(&r.state);
    }
    ask_contexts(m, index, &r, lost);
    r.sampled_ns = m->source.now_ns();
    point = (gyre_monitor_point){
        r.sampled_ns,     r.state.memory_used_bytes, r.pending,         r.state.temperature_c,
        r.state.power_mw, r.state.busy_percent,      GYRE_LEVEL_HEALTHY};
    r.memory = r.temperature = r.pending_trend = (gyre_monitor_trend){.critical_in_ns = GYRE_NEVER};

    pthread_mutex_lock(&m->books);
    *out_before = w->report.level;
    w->report = r;
    w->report.memory = trend_of(m, w, &point, GYRE_CONCERN_MEMORY);
    w->report.temperature = trend_of(m, w, &point, GYRE_CONCERN_TEMPERATURE);
    w->report.pending_trend = trend_of(m, w, &point, GYRE_CONCERN_PENDING);
    gyre_monitor_judge(&m->limits, unwell, lost, &w->report);
    point.level = w->report.level;
    w->ring[w->count++ % m->history] = point;
    pthread_mutex_unlock(&m->books);
    return w->report.level != *out_before;
}

/* Says and calls back that the level of a device has changed. */
static void tell(gyre_monitor *m, size_t index, gyre_level before)
{
    const gyre_monitor *outer = calling;
    const gyre_monitor_report report = m->watches[index].report; /* nobody else writes it now */
    const char *why = report.reason_count ? report.reasons[0].text : "nothing is wrong any more";

    gyre_log(GYRE_LOG_INFO, GYRE_TOPIC_DEVICE, "%s is %s, was %s: %s", report.device->name,
             gyre_level_name(report.level), gyre_level_name(before), why);
    if (!m->on_level)
        return;
    calling = m;
    m->on_level(m->user, &report, before);
    calling = outer;
}

gyre_status gyre_monitor_sample(gyre_monitor *monitor)
{
    gyre_status status = gyre_process_check();
    gyre_level before;

    if (status == GYRE_OK)
        status = refuse_in_callback(monitor);
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&monitor->turn);
    for (size_t i = 0; i < monitor->watch_count; i++)
        if (sample_watch(monitor, i, &before))
            tell(monitor, i, before);
    pthread_mutex_unlock(&monitor->turn);
    return GYRE_OK;
}

/* A sample that takes longer than the period is followed by a whole period of rest: a monitor must
 * not keep a driver busy that is slow already. */
static void run_thread(void *arg)
{
    gyre_monitor *m = arg;
    uint64_t next_ns = gyre_clock_now_ns(), now_ns;

    do {
        (void)!gyre_monitor_sample(m); /* refused in callbacks only */
        now_ns = gyre_clock_now_ns();
        next_ns = now_ns - next_ns < m->period_ns && m->period_ns < GYRE_NEVER - next_ns
                      ? next_ns + m->period_ns
                      : gyre_clock_after_ns(m->period_ns);
    } while (gyre_duty_rest(&m->duty, 0, next_ns)); /* nothing else wakes it */
}

gyre_status gyre_monitor_start(gyre_monitor *monitor)
{
    const gyre_thread_options options = {
        .struct_size = sizeof options, .name = "gyre-monitor", .allocator = allocator_of(monitor)};
    gyre_status status = gyre_process_check();

    if (status == GYRE_OK)
        status = refuse_in_callback(monitor);
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&monitor->life);
    if (monitor->duty.thread) {
        status = gyre_fail(GYRE_INVALID, "monitor: it is started already; stop it first");
    } else {
        status = gyre_duty_start(&monitor->duty, run_thread, monitor, &options);
    }
    pthread_mutex_unlock(&monitor->life);
    return status;
}

gyre_status gyre_monitor_stop(gyre_monitor *monitor)
{
    gyre_status status = gyre_process_check();

    if (status == GYRE_OK)
        status = refuse_in_callback(monitor);
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&monitor->life);
    gyre_duty_stop(&monitor->duty);
    pthread_mutex_unlock(&monitor->life);
    return GYRE_OK;
}

size_t gyre_monitor_count(const gyre_monitor *monitor)
{
    return monitor->watch_count;
}

gyre_status gyre_monitor_report_at(gyre_monitor *monitor, size_t index,
                                   gyre_monitor_report *out_report)
{
    const size_t size = out_report->struct_size;
    gyre_status status = gyre_process_check();

    if (status != GYRE_OK)
        return status;
    if (size < sizeof size)
        return gyre_fail(GYRE_INVALID, "monitor: struct_size of the report is not set");
    if (index >= monitor->watch_count)
        return gyre_fail(GYRE_INVALID, "monitor: there is no device %zu, only %zu", index,
                         monitor->watch_count);
    pthread_mutex_lock(&monitor->books);
    memcpy(out_report, &monitor->watches[index].report,
           size < sizeof *out_report ? size : sizeof *out_report);
    pthread_mutex_unlock(&monitor->books);
    out_report->struct_size = size;
    return GYRE_OK;
}

size_t gyre_monitor_history(gyre_monitor *monitor, size_t index, gyre_monitor_point *points,
                            size_t most)
{
    const watch *w;
    size_t count;

    if (index >= monitor->watch_count || gyre_process_check() != GYRE_OK)
        return 0;
    w = &monitor->watches[index];
    pthread_mutex_lock(&monitor->books);
    count = w->count < monitor->history ? (size_t)w->count : monitor->history;
    count = count < most ? count : most;
    for (size_t i = 0; i < count; i++)
        points[i] = w->ring[(w->count - count + i) % monitor->history];
    pthread_mutex_unlock(&monitor->books);
    return count;
}

/* The index of the device among those watched, which it joins; SIZE_MAX when there is no room. */
static size_t watch_device(gyre_monitor *m, const gyre_device *device)
{
    gyre_monitor_report *r;

    for (size_t i = 0; i < m->watch_count; i++)
        if (m->watches[i].report.device == device)
            return i;
    if (m->watch_count == GYRE_MONITOR_DEVICES)
        return SIZE_MAX;
    r = &m->watches[m->watch_count].report;
    *r = (gyre_monitor_report){.struct_size = sizeof *r, .device = device};
    r->pending = r->oldest_ns = r->timeouts = -1;
    r->memory = r->temperature = r->pending_trend =
        (gyre_monitor_trend){.critical_in_ns = GYRE_NEVER};
    forget(&r->state);
    return m->watch_count++;
}

static gyre_status take_devices(gyre_monitor *m, const gyre_monitor_options *o)
{
    const gyre_device *device;

    if (o->device_count > GYRE_MONITOR_DEVICES || (o->device_count && !o->devices))
        return gyre_fail(GYRE_INVALID, "monitor: %zu devices; it watches %d at most",
                         o->devices ? o->device_count : 0, GYRE_MONITOR_DEVICES);
    if (o->context_count > GYRE_MONITOR_CONTEXTS || (o->context_count && !o->contexts))
        return gyre_fail(GYRE_INVALID, "monitor: %zu contexts; it watches %d at most",
                         o->contexts ? o->context_count : 0, GYRE_MONITOR_CONTEXTS);
    for (size_t i = 0; i < o->device_count; i++)
        if (!o->devices[i] || watch_device(m, o->devices[i]) != i)
            return gyre_fail(GYRE_INVALID, "monitor: device %zu of the list is %s", i,
                             o->devices[i] ? "there twice" : "NULL");
    for (size_t i = 0; i < o->context_count; i++) {
        for (size_t k = 0; k < i; k++)
            if (o->contexts[k] == o->contexts[i])
                return gyre_fail(GYRE_INVALID, "monitor: context %zu of the list is there twice",
                                 i);
        if (!o->contexts[i])
            return gyre_fail(GYRE_INVALID, "monitor: context %zu of the list is NULL", i);
        m->contexts[i] = o->contexts[i];
        m->context_watch[i] = watch_device(m, m->source.device(o->contexts[i]));
        if (m->context_watch[i] == SIZE_MAX)
            return gyre_fail(GYRE_INVALID, "monitor: more than %d devices, with the contexts'",
                             GYRE_MONITOR_DEVICES);
        m->context_count++;
    }
    for (size_t i = 0; o->device_count == 0 && o->context_count == 0 &&
                       m->watch_count < GYRE_MONITOR_DEVICES && (device = gyre_device_at(i));
         i++)
        if (!device->trouble[0] && device->kind != GYRE_DEVICE_NULL)
            (void)watch_device(m, device);
    return GYRE_OK;
}

gyre_status gyre_monitor_create_over(const gyre_monitor_source *source,
                                     const gyre_monitor_options *options,
                                     gyre_monitor **out_monitor)
{
    gyre_monitor_options o;
    gyre_monitor_limits limits;
    gyre_status status;
    void *block = NULL;
    gyre_monitor *m;

    *out_monitor = NULL;
    status = gyre_process_use();
    if (status == GYRE_OK)
        status = GYRE_OPTIONS_READ(o, options);
    if (status == GYRE_OK)
        status = gyre_allocator_check(o.allocator);
    if (status == GYRE_OK)
        status = gyre_monitor_limits_read(&o, &limits);
    if (status == GYRE_OK && o.history > GYRE_MONITOR_HISTORY_MOST)
        status = gyre_fail(GYRE_INVALID, "monitor: a history of %u samples; %d at most", o.history,
                           GYRE_MONITOR_HISTORY_MOST);
    if (status == GYRE_OK)
        status = gyre_alloc(o.allocator, 1, sizeof *m, &block);
    if (status != GYRE_OK)
        return status;
    m = block;
    if (o.allocator)
        m->allocator = *o.allocator;
    m->source = *source;
    m->limits = limits;
    m->on_level = o.on_level;
    m->user = o.user;
    m->period_ns = o.period_ns ? o.period_ns : UINT64_C(1000000000);
    m->history = o.history ? o.history : HISTORY;
    if (m->history < TREND) /* the trend needs them whatever was asked for */
        m->history = TREND;
    pthread_mutex_init(&m->turn, NULL);
    pthread_mutex_init(&m->books, NULL);
    pthread_mutex_init(&m->life, NULL);
    status = take_devices(m, &o);
    for (size_t i = 0; status == GYRE_OK && i < m->watch_count; i++) {
        status = gyre_alloc(allocator_of(m), m->history, sizeof *m->watches[i].ring, &block);
        m->watches[i].ring = status == GYRE_OK ? block : NULL;
    }
    if (status != GYRE_OK) {
        gyre_monitor_destroy(m);
        return status;
    }
    *out_monitor = m;
    return GYRE_OK;
}

gyre_status gyre_monitor_create(const gyre_monitor_options *options, gyre_monitor **out_monitor)
{
    static const gyre_monitor_source drivers = {
        .look = gyre_device_look,
        .describe = gyre_monitor_describe,
        .check = gyre_context_check,
        .device = gyre_context_device,
        .now_ns = gyre_clock_now_ns,
    };

    return gyre_monitor_create_over(&drivers, options, out_monitor);
}

void gyre_monitor_destroy(gyre_monitor *monitor)
{
    gyre_allocator allocator;

    if (!monitor)
        return;
    /* in a forked child there is no thread, and a lock may be held by one that does not exist */
    if (gyre_monitor_stop(monitor) == GYRE_OK) {
        pthread_mutex_destroy(&monitor->turn);
        pthread_mutex_destroy(&monitor->books);
        pthread_mutex_destroy(&monitor->life);
    } else {
        gyre_thread_stop(monitor->duty.thread);
    }
    for (size_t i = 0; i < monitor->watch_count; i++)
        gyre_free(allocator_of(monitor), monitor->watches[i].ring, monitor->history,
                  sizeof *monitor->watches[i].ring);
    allocator = monitor->allocator;
    gyre_free(allocator.allocate ? &allocator : NULL, monitor, 1, sizeof *monitor);
}
