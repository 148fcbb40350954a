/* SPDX-License-Identifier: Apache-2.0
 *
 * profile_write: device spans and host events as one list of trace events. See
 * docs/formats/trace.md.
 *
 * A device's stream is a thread of a process of its own, numbered from 1 on by its name; the host's
 * threads have the kernel's numbers in process 0. Times are microseconds of gyre/clock.h.
 *
 * Threads   any, on stopped profiles.
 * Owns      nothing.
 */
#include "base/fail.h"
#include "base/json.h"
#include "exec/profile.h"
#include "gyre/profile.h"
#include "gyre/trace.h"

enum { STREAMS = 64 };

typedef struct writer {
    gyre_json json;
    uint64_t process; /* 0: the host */
    const char *streams[STREAMS];
    uint32_t stream_count;
} writer;

static void write_name(writer *w, const char *what, uint64_t thread, const char *name)
{
    gyre_json_begin_object(&w->json, NULL);
    gyre_json_string(&w->json, "name", what);
    gyre_json_string(&w->json, "ph", "M");
    gyre_json_unsigned(&w->json, "pid", w->process);
    gyre_json_unsigned(&w->json, "tid", thread);
    gyre_json_begin_object(&w->json, "args");
    gyre_json_string(&w->json, "name", name);
    gyre_json_end(&w->json);
    gyre_json_end(&w->json);
}

/* The number of a stream's name; all beyond the last share that. */
static uint32_t thread_of(writer *w, const char *stream)
{
    uint32_t i = 0;

    while (i < w->stream_count && w->streams[i] != stream)
        i++;
    if (i == w->stream_count && i < STREAMS) {
        w->streams[w->stream_count++] = stream;
        write_name(w, "thread_name", i + 1, stream);
    }
    return i < STREAMS ? i + 1 : STREAMS;
}

static void begin_event(writer *w, const char *name, const char *phase, uint64_t thread,
                        uint64_t time_ns)
{
    gyre_json_begin_object(&w->json, NULL);
    gyre_json_string(&w->json, "name", name);
    gyre_json_string(&w->json, "ph", phase);
    gyre_json_unsigned(&w->json, "pid", w->process);
    gyre_json_unsigned(&w->json, "tid", thread);
    gyre_json_double(&w->json, "ts", (double)time_ns / 1000);
}

static void write_span(void *user, const gyre_profile_span *span)
{
    writer *const w = user;
    const uint32_t thread = thread_of(w, span->stream);

    begin_event(w, span->name, "X", thread, span->begin_ns);
    gyre_json_double(&w->json, "dur", (double)span->duration_ns / 1000);
    gyre_json_begin_object(&w->json, "args");
    gyre_json_unsigned(&w->json, "ticket", span->ticket);
    gyre_json_double(&w->json, "submitted_us", (double)span->submit_ns / 1000);
    gyre_json_end(&w->json);
    gyre_json_end(&w->json);
}

static void write_host(void *user, const gyre_trace_event *event)
{
    writer *const w = user;

    switch ((gyre_trace_kind)event->kind) {
    case GYRE_TRACE_BEGIN:
    case GYRE_TRACE_END:
        begin_event(w, event->name, event->kind == GYRE_TRACE_BEGIN ? "B" : "E", event->thread,
                    event->time_ns);
        break;
    case GYRE_TRACE_INSTANT:
        begin_event(w, event->name, "i", event->thread, event->time_ns);
        gyre_json_string(&w->json, "s", "t");
        gyre_json_begin_object(&w->json, "args");
        gyre_json_unsigned(&w->json, "value", event->value);
        gyre_json_end(&w->json);
        break;
    case GYRE_TRACE_COUNT:
        begin_event(w, event->name, "C", event->thread, event->time_ns);
        gyre_json_begin_object(&w->json, "args");
        gyre_json_unsigned(&w->json, "value", event->value);
        gyre_json_end(&w->json);
        break;
    default:
        return; /* of a newer library */
    }
    gyre_json_end(&w->json);
}

gyre_status gyre_profile_write(const gyre_profile *const *profiles, size_t count, FILE *stream)
{
    writer w = {.json = {.stream = stream}};

    for (size_t i = 0; i < count; i++)
        if (gyre_profile_context(profiles[i]) == NULL)
            return gyre_fail(GYRE_INVALID, "profile %zu is still on", i);
    gyre_json_begin_object(&w.json, NULL);
    gyre_json_string(&w.json, "displayTimeUnit", "ns");
    gyre_json_begin_array(&w.json, "traceEvents");
    write_name(&w, "process_name", 0, "host");
    gyre_trace_read(write_host, &w, NULL);
    for (size_t i = 0; i < count; i++) {
        const gyre_context *const context = gyre_profile_context(profiles[i]);
        gyre_status status;

        w.process = i + 1;
        w.stream_count = 0;
        write_name(&w, "process_name", 0, context->name);
        status = gyre_profile_visit(profiles[i], write_span, &w);
        if (status != GYRE_OK)
            return status;
    }
    gyre_json_end(&w.json);
    gyre_json_end(&w.json);
    if (fflush(stream) != 0 || ferror(stream))
        return gyre_fail(GYRE_IO, "the trace could not be written");
    return GYRE_OK;
}
