/* SPDX-License-Identifier: Apache-2.0
 *
 * spans: see spans.h.
 *
 * Spans are written as complete events, with a length: a begin whose end, or an end whose begin, is
 * missing because a ring was full would spoil all that a viewer shows after it.
 */
#include "bench/spans.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/json.h"
#include "gyre/bench.h"
#include "gyre/clock.h"
#include "gyre/context.h"
#include "gyre/profile.h"
#include "gyre/trace.h"

enum { CONTEXTS = 8, DEPTH = 64, LABEL_BYTES = 160, STREAM_THREADS = 1000000000 };

typedef struct moment {
    uint64_t clock_ns, system_ns;
} moment;

/* What a device span needs when its profile is gone. */
typedef struct device_span {
    struct device_span *next;
    uint64_t begin_ns, duration_ns, ticket;
    uint32_t thread;
    char name[LABEL_BYTES], thread_name[LABEL_BYTES];
} device_span;

static struct {
    bool on;
    moment begin, end;
    gyre_context *contexts[CONTEXTS];
    gyre_profile *profiles[CONTEXTS];
    size_t context_count;
    device_span *device, **last;
    uint64_t lost;
    /* while writing */
    FILE *stream;
    bool some;
    uint64_t process;
    uint32_t thread; /* whose spans are open */
    struct {
        const char *name;
        uint64_t begin_ns;
    } open[DEPTH];
    size_t depth;
} now;

static moment read_moment(void)
{
    moment best = {0}, at;
    uint64_t least_ns = UINT64_MAX;

    for (int i = 0; i < 16; i++) { /* the tightest of several */
        const uint64_t before_ns = gyre_clock_now_ns();
        struct timespec system;
        uint64_t gap_ns;

        clock_gettime(CLOCK_MONOTONIC, &system);
        gap_ns = gyre_clock_now_ns() - before_ns;
        at.clock_ns = before_ns + gap_ns / 2;
        at.system_ns = (uint64_t)system.tv_sec * 1000000000 + (uint64_t)system.tv_nsec;
        if (gap_ns < least_ns) {
            least_ns = gap_ns;
            best = at;
        }
    }
    return best;
}

/* A time of gyre/clock.h on the system's clock. */
static uint64_t align(uint64_t time_ns)
{
    const double passed_ns = (double)(int64_t)(time_ns - now.begin.clock_ns);
    const double clock_ns = (double)(now.end.clock_ns - now.begin.clock_ns);
    const double system_ns = (double)(now.end.system_ns - now.begin.system_ns);
    const double rate = clock_ns > 0 ? system_ns / clock_ns : 1;

    return now.begin.system_ns + (uint64_t)(int64_t)(passed_ns * rate);
}

gyre_status gyre_spans_begin(void)
{
    const gyre_status status = gyre_trace_start(NULL);

    if (status != GYRE_OK)
        return status;
    now.on = true;
    now.begin = read_moment();
    now.context_count = 0;
    now.lost = 0;
    now.device = NULL;
    now.last = &now.device;
    return GYRE_OK;
}

void gyre_bench_show(gyre_context *context)
{
    gyre_profile **profile = &now.profiles[now.context_count];

    if (!now.on || !context || now.context_count == CONTEXTS)
        return;
    /* one that cannot be profiled is not shown: the case does not depend on it */
    if (gyre_profile_start(context, NULL, profile) == GYRE_OK)
        now.contexts[now.context_count++] = context;
}

static void keep_span(void *user, const gyre_profile_span *span)
{
    const char *device = user;
    device_span *kept = malloc(sizeof *kept);

    if (!kept) {
        now.lost++;
        return;
    }
    *kept = (device_span){.begin_ns = span->begin_ns, .duration_ns = span->duration_ns};
    kept->ticket = span->ticket;
    snprintf(kept->name, sizeof kept->name, "%s", span->name);
    snprintf(kept->thread_name, sizeof kept->thread_name, "%s %s", device, span->stream);
    kept->thread =
        STREAM_THREADS +
        (uint32_t)(gyre_hash64(kept->thread_name, strlen(kept->thread_name), 0) % STREAM_THREADS);
    *now.last = kept;
    now.last = &kept->next;
}

void gyre_spans_settle(void)
{
    for (size_t i = 0; i < now.context_count; i++) {
        gyre_profile_totals totals = {.struct_size = sizeof totals};
        const gyre_device *device = gyre_context_device(now.contexts[i]);
        char name[LABEL_BYTES / 2];

        snprintf(name, sizeof name, "%s", device->name);
        /* a device that is lost still has the spans of before */
        if (gyre_profile_stop(now.profiles[i]) == GYRE_OK &&
            gyre_profile_visit(now.profiles[i], keep_span, name) == GYRE_OK &&
            gyre_profile_report(now.profiles[i], NULL, NULL, &totals) == GYRE_OK)
            now.lost += totals.dropped;
        gyre_profile_destroy(now.profiles[i]);
    }
    now.context_count = 0;
}

static void put_time(const char *key, uint64_t ns)
{
    fprintf(now.stream, ", \"%s\": %" PRIu64 ".%03" PRIu64, key, ns / 1000, ns % 1000);
}

static void begin_event(const char *name, const char *phase, uint64_t thread)
{
    gyre_json json = {.stream = now.stream};

    fputs(now.some ? ",\n{\"name\": " : "{\"name\": ", now.stream);
    now.some = true;
    gyre_json_string(&json, NULL, name);
    fprintf(now.stream, ", \"ph\": \"%s\", \"pid\": %" PRIu64 ", \"tid\": %" PRIu64, phase,
            now.process, thread);
}

static void write_thread_name(uint64_t thread, const char *name)
{
    gyre_json json = {.stream = now.stream};

    begin_event("thread_name", "M", thread);
    fputs(", \"args\": {\"name\": ", now.stream);
    gyre_json_string(&json, NULL, name);
    fputs("}}", now.stream);
}

static void write_span(const char *name, uint64_t thread, uint64_t begin_ns, uint64_t end_ns)
{
    const uint64_t from_ns = align(begin_ns), to_ns = align(end_ns);

    begin_event(name, "X", thread);
    put_time("ts", from_ns);
    put_time("dur", to_ns > from_ns ? to_ns - from_ns : 0);
    fputc('}', now.stream);
}

/* Closes open spans down to that depth. */
static void close_spans(size_t depth, uint64_t end_ns)
{
    while (now.depth > depth) {
        now.depth--;
        write_span(now.open[now.depth].name, now.thread, now.open[now.depth].begin_ns, end_ns);
    }
}

static void close_named(const char *name, uint64_t end_ns)
{
    for (size_t i = now.depth; i-- > 0;)
        if (strcmp(now.open[i].name, name) == 0) {
            close_spans(i, end_ns);
            return;
        }
    /* it began before what the ring still has */
}

static void write_value(const gyre_trace_event *event)
{
    const bool count = event->kind == GYRE_TRACE_COUNT;

    begin_event(event->name, count ? "C" : "i", event->thread);
    put_time("ts", align(event->time_ns));
    fprintf(now.stream, "%s, \"args\": {\"value\": %" PRIu64 "}}", count ? "" : ", \"s\": \"t\"",
            event->value);
}

static void visit_event(void *user, const gyre_trace_event *event)
{
    (void)user;
    if (event->thread != now.thread) {
        close_spans(0, now.end.clock_ns);
        now.thread = event->thread;
    }
    if (event->kind == GYRE_TRACE_BEGIN && now.depth < DEPTH) {
        now.open[now.depth].name = event->name;
        now.open[now.depth++].begin_ns = event->time_ns;
    } else if (event->kind == GYRE_TRACE_BEGIN) {
        now.lost++;
    } else if (event->kind == GYRE_TRACE_END) {
        close_named(event->name, event->time_ns);
    } else if (event->kind == GYRE_TRACE_INSTANT || event->kind == GYRE_TRACE_COUNT) {
        write_value(event);
    }
}

static void write_device_spans(void)
{
    uint32_t named = 0;

    while (now.device) {
        device_span *span = now.device;

        if (span->thread != named)
            write_thread_name(span->thread, span->thread_name);
        named = span->thread;
        begin_event(span->name, "X", span->thread);
        put_time("ts", align(span->begin_ns));
        put_time("dur", span->duration_ns);
        fprintf(now.stream, ", \"args\": {\"ticket\": %" PRIu64 "}}", span->ticket);
        now.device = span->next;
        free(span);
    }
}

gyre_status gyre_spans_end(const char *name, uint64_t process, gyre_spans_text *out_text)
{
    gyre_trace_totals totals = {0};
    bool whole;

    *out_text = (gyre_spans_text){0};
    gyre_trace_stop();
    gyre_spans_settle();
    now.on = false;
    now.end = read_moment();
    now.process = process;
    now.some = false;
    now.thread = 0;
    now.depth = 0;
    now.stream = open_memstream(&out_text->json, &out_text->length);
    if (!now.stream)
        return gyre_fail(GYRE_NO_MEMORY, "out of memory for the trace");
    fputs("[", now.stream);
    write_thread_name((uint64_t)gettid(), "benchmark");
    write_span(name, (uint64_t)gettid(), now.begin.clock_ns, now.end.clock_ns);
    gyre_trace_read(visit_event, NULL, &totals);
    close_spans(0, now.end.clock_ns);
    write_device_spans();
    fputs("]", now.stream);
    whole = !ferror(now.stream);
    whole = fclose(now.stream) == 0 && whole;
    out_text->lost = now.lost + totals.overwritten + totals.refused;
    if (whole)
        return GYRE_OK;
    free(out_text->json);
    *out_text = (gyre_spans_text){0};
    return gyre_fail(GYRE_NO_MEMORY, "out of memory for the trace");
}
