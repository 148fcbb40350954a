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
#include "gyre/trace.h"

enum { DEPTH = 64, LABEL_BYTES = 128, FIRST_TRACK = 1000000000 };

typedef struct moment {
    uint64_t clock_ns, system_ns;
} moment;

/* What the suite added. */
typedef struct added {
    struct added *next;
    uint64_t begin_ns, duration_ns;
    char track[LABEL_BYTES], name[LABEL_BYTES];
} added;

static struct {
    bool on;
    moment begin, end;
    added *first, **last;
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
    now.lost = 0;
    now.first = NULL;
    now.last = &now.first;
    return GYRE_OK;
}

bool gyre_bench_traced(void)
{
    return now.on;
}

void gyre_bench_span(const char *track, const char *name, uint64_t begin_ns, uint64_t duration_ns)
{
    added *span = now.on ? malloc(sizeof *span) : NULL;

    now.lost += now.on && !span;
    if (!span)
        return;
    *span = (added){.begin_ns = begin_ns, .duration_ns = duration_ns};
    snprintf(span->track, sizeof span->track, "%s", track);
    snprintf(span->name, sizeof span->name, "%s", name);
    *now.last = span;
    now.last = &span->next;
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

static void write_added(void)
{
    uint64_t named = 0;

    while (now.first) {
        added *span = now.first;
        const uint64_t thread =
            FIRST_TRACK + gyre_hash64(span->track, strlen(span->track), 0) % FIRST_TRACK;

        if (thread != named)
            write_thread_name(thread, span->track);
        named = thread;
        write_span(span->name, thread, span->begin_ns, span->begin_ns + span->duration_ns);
        now.first = span->next;
        free(span);
    }
}

gyre_status gyre_spans_end(const char *name, uint64_t process, gyre_spans_text *out_text)
{
    gyre_trace_totals totals = {0};
    bool whole;

    *out_text = (gyre_spans_text){0};
    gyre_trace_stop();
    now.on = false;
    now.end = read_moment();
    now.process = process;
    now.some = false;
    now.thread = 0;
    now.depth = 0;
    now.stream = open_memstream(&out_text->json, &out_text->length);
    if (!now.stream) /* what was added is left, in a process that cannot go on */
        return gyre_fail(GYRE_NO_MEMORY, "out of memory for the trace");
    fputs("[", now.stream);
    write_thread_name((uint64_t)gettid(), "benchmark");
    write_span(name, (uint64_t)gettid(), now.begin.clock_ns, now.end.clock_ns);
    gyre_trace_read(visit_event, NULL, &totals);
    close_spans(0, now.end.clock_ns);
    write_added();
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
