/* SPDX-License-Identifier: Apache-2.0
 *
 * profile: counts submissions, and gives some of them device spans. See gyre/profile.h.
 *
 * A sample is a pair of events around one submission. Samples that were submitted wait in a ring,
 * oldest first; the oldest is read as soon as the device has passed it. The driver tells only
 * differences of events, and in a short float, so each span is placed by its distance from the one
 * read before it, whose events are kept until then; the first by its distance from an anchor.
 *
 * Who submits announces himself (profile_inside) before he looks whether profiling is on, and stop
 * waits for those who did after it has turned it off: so a profile is never used after its stop.
 * [profile-handshake]
 *
 * Threads   any; the lock is taken after a stream's.
 * Owns      the samples' events, the rows, the spans; a stream for the anchors.
 * Not here  the file (exec/profile_write.c).
 */
#include "gyre/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/options.h"
#include "base/process.h"
#include "base/wait.h"
#include "exec/profile.h"
#include "gyre/clock.h"

enum {
    SAMPLES = 256,
    ROWS = 256,
    SPANS = 65536,
    SPANS_MOST = 1 << 24,
    EVERY = 64,
};

typedef struct sample {
    gyre_dev_event *begin, *end; /* made when first needed */
    gyre_profile_span span;
} sample;

/* A moment on both clocks. */
typedef struct anchor {
    double device_ns; /* since the first anchor */
    uint64_t host_ns;
    uint64_t round_trip_ns;
} anchor;

struct gyre_profile {
    gyre_context *context;
    gyre_allocator allocator;
    uint32_t every; /* UINT32_MAX: no device spans */
    bool stopped;
    gyre_stream *stream; /* for anchors */
    uint64_t began_ns, ended_ns;
    anchor first, last;

    pthread_mutex_t lock;
    sample samples[SAMPLES];
    uint32_t waiting[SAMPLES]; /* a ring of samples on their way */
    uint32_t waiting_first, waiting_count;
    uint32_t idle[SAMPLES]; /* a stack */
    uint32_t idle_count;
    uint32_t reference; /* the sample that was read last; its times are known */
    double reference_ns;
    gyre_profile_row rows[ROWS];
    uint32_t row_count;
    gyre_profile_span *spans; /* begin_ns is on the device's clock until stop */
    double *begins;           /* those, exactly */
    uint32_t span_count, span_room;
    uint64_t submissions, dropped, uncounted;
};

static const gyre_allocator *memory_of(const gyre_profile *profile)
{
    return gyre_allocator_kept(&profile->allocator);
}

static gyre_profile_row *row_of(gyre_profile *profile, const char *name, const char *stream)
{
    gyre_profile_row *row;

    for (uint32_t i = 0; i < profile->row_count; i++)
        if (profile->rows[i].name == name && profile->rows[i].stream == stream)
            return &profile->rows[i];
    if (profile->row_count == ROWS)
        return NULL;
    row = &profile->rows[profile->row_count++];
    *row = (gyre_profile_row){.name = name, .stream = stream};
    return row;
}

/* Reads the oldest sample on its way, if the device has passed it. Locked. */
static gyre_status read_oldest(gyre_profile *profile)
{
    const gyre_backend *const backend = profile->context->backend;
    const uint32_t index = profile->waiting[profile->waiting_first];
    sample *const s = &profile->samples[index];
    gyre_profile_row *row;
    double distance_ns, duration_ns;
    gyre_status status = backend->event_poll(s->end);

    if (status == GYRE_OK)
        status = backend->event_between(profile->samples[profile->reference].begin, s->begin,
                                        &distance_ns);
    if (status == GYRE_OK)
        status = backend->event_between(s->begin, s->end, &duration_ns);
    if (status != GYRE_OK)
        return status;
    profile->waiting_first = (profile->waiting_first + 1) % SAMPLES;
    profile->waiting_count--;
    profile->idle[profile->idle_count++] = profile->reference;
    profile->reference = index;
    profile->reference_ns += distance_ns;
    s->span.duration_ns = duration_ns > 0 ? (uint64_t)duration_ns : 0;
    row = row_of(profile, s->span.name, s->span.stream);
    if (row) {
        row->spans++;
        row->device_ns += s->span.duration_ns;
        if (row->spans == 1 || s->span.duration_ns < row->device_least_ns)
            row->device_least_ns = s->span.duration_ns;
        if (s->span.duration_ns > row->device_most_ns)
            row->device_most_ns = s->span.duration_ns;
    }
    if (profile->span_count < profile->span_room) {
        profile->begins[profile->span_count] = profile->reference_ns;
        profile->spans[profile->span_count++] = s->span;
    } else {
        profile->dropped++;
    }
    return GYRE_OK;
}

/* A sample whose events are there, or SAMPLES. Locked. */
static uint32_t take_sample(gyre_profile *profile)
{
    const gyre_backend *const backend = profile->context->backend;
    gyre_dev *const dev = profile->context->dev;
    uint32_t index;
    sample *s;

    while (profile->waiting_count > 0 && read_oldest(profile) == GYRE_OK)
        continue;
    if (profile->idle_count == 0)
        return SAMPLES;
    index = profile->idle[profile->idle_count - 1];
    s = &profile->samples[index];
    if ((!s->begin && backend->event_open(dev, true, &s->begin) != GYRE_OK) ||
        (!s->end && backend->event_open(dev, true, &s->end) != GYRE_OK))
        return SAMPLES;
    profile->idle_count--;
    return index;
}

void gyre_profile_enter(gyre_stream *stream)
{
    gyre_context *const context = stream->context;
    gyre_profile_mark *const mark = &stream->profiled;
    gyre_profile *profile;

    /* relaxed: a switch; a submission more or less around it does not matter */
    if (__builtin_expect(atomic_load_explicit(&context->profiling, memory_order_relaxed) == 0, 1))
        return;
    /* seq_cst [profile-handshake]: first announced, then looked; stop turns it off, then looks */
    atomic_fetch_add(&context->profile_inside, 1);
    if (atomic_load(&context->profiling) == 0) {
        atomic_fetch_sub(&context->profile_inside, 1);
        return;
    }
    profile = context->profile;
    mark->profile = profile;
    mark->sample = 0;
    if (stream != profile->stream && profile->every != UINT32_MAX &&
        stream->profiled_count++ % profile->every == 0) {
        uint32_t index;

        pthread_mutex_lock(&profile->lock);
        index = take_sample(profile);
        if (index < SAMPLES && context->backend->event_record(profile->samples[index].begin,
                                                              stream->native) != GYRE_OK) {
            profile->idle[profile->idle_count++] = index;
            index = SAMPLES;
        }
        profile->dropped += index == SAMPLES;
        mark->sample = index == SAMPLES ? 0 : index + 1;
        pthread_mutex_unlock(&profile->lock);
    }
    mark->begin_ns = gyre_clock_now_ns();
}

void gyre_profile_leave(gyre_stream *stream, const char *name, gyre_status status)
{
    gyre_profile_mark *const mark = &stream->profiled;
    gyre_profile *const profile = mark->profile;
    gyre_profile_row *row;
    uint64_t spent_ns;

    if (__builtin_expect(profile == NULL, 1))
        return;
    mark->profile = NULL;
    spent_ns = gyre_clock_now_ns() - mark->begin_ns;
    pthread_mutex_lock(&profile->lock);
    if (mark->sample > 0) {
        sample *const s = &profile->samples[mark->sample - 1];

        if (status == GYRE_OK &&
            profile->context->backend->event_record(s->end, stream->native) == GYRE_OK) {
            s->span = (gyre_profile_span){
                .name = name,
                .stream = stream->name,
                .ticket = atomic_load_explicit(&stream->submitted, memory_order_relaxed) + 1,
                .submit_ns = mark->begin_ns};
            profile->waiting[(profile->waiting_first + profile->waiting_count++) % SAMPLES] =
                mark->sample - 1;
        } else {
            profile->idle[profile->idle_count++] = mark->sample - 1;
            profile->dropped++;
        }
    }
    if (status == GYRE_OK && stream != profile->stream) {
        profile->submissions++;
        row = row_of(profile, name, stream->name);
        if (row) {
            row->count++;
            row->submit_ns += spent_ns;
        } else {
            profile->uncounted++;
        }
    }
    pthread_mutex_unlock(&profile->lock);
    /* seq_cst [profile-handshake] */
    atomic_fetch_sub(&profile->context->profile_inside, 1);
}

/* A moment on both clocks: an event on an idle stream, seen from here. */
static gyre_status set_anchor(gyre_profile *profile, sample *s, anchor *out_anchor)
{
    const gyre_backend *const backend = profile->context->backend;
    const uint64_t deadline_ns = gyre_clock_after_ns(profile->context->sync_timeout_ns);
    const uint64_t before_ns = gyre_clock_now_ns();
    uint64_t after_ns;
    gyre_status status = backend->event_record(s->begin, profile->stream->native);

    while (status == GYRE_OK && (status = backend->event_poll(s->begin)) == GYRE_AGAIN) {
        if (gyre_clock_now_ns() >= deadline_ns)
            return GYRE_TIMEOUT;
        gyre_relax();
        status = GYRE_OK;
    }
    after_ns = gyre_clock_now_ns();
    out_anchor->host_ns = before_ns + (after_ns - before_ns) / 2;
    out_anchor->round_trip_ns = after_ns - before_ns;
    return status;
}

static void free_profile(gyre_profile *profile)
{
    const gyre_backend *const backend = profile->context->backend;
    const gyre_allocator allocator = profile->allocator;

    if (gyre_process_check() == GYRE_OK) {
        gyre_context_leave(profile->context);
        for (int i = 0; i < SAMPLES; i++) {
            if (profile->samples[i].begin)
                backend->event_close(profile->samples[i].begin);
            if (profile->samples[i].end)
                backend->event_close(profile->samples[i].end);
        }
    }
    gyre_stream_destroy(profile->stream);
    pthread_mutex_destroy(&profile->lock);
    gyre_free(memory_of(profile), profile->spans, profile->span_room, sizeof *profile->spans);
    gyre_free(memory_of(profile), profile->begins, profile->span_room, sizeof *profile->begins);
    gyre_free(gyre_allocator_kept(&allocator), profile, 1, sizeof *profile);
}

/* The stream, the first anchor and room for the spans. */
static gyre_status set_up(gyre_profile *profile)
{
    const gyre_stream_options options = {.struct_size = sizeof options, .name = "profile"};
    gyre_context *const context = profile->context;
    void *memory = NULL;
    gyre_status status;

    if (profile->every == UINT32_MAX)
        return GYRE_OK;
    status = gyre_alloc(memory_of(profile), profile->span_room, sizeof *profile->spans, &memory);
    profile->spans = memory;
    if (status == GYRE_OK) {
        status =
            gyre_alloc(memory_of(profile), profile->span_room, sizeof *profile->begins, &memory);
        profile->begins = status == GYRE_OK ? memory : NULL;
    }
    if (status == GYRE_OK)
        status = gyre_stream_create(context, &options, &profile->stream);
    for (uint32_t i = SAMPLES; i > 0; i--)
        profile->idle[profile->idle_count++] = i - 1;
    if (status == GYRE_OK) {
        profile->reference = take_sample(profile);
        status = profile->reference == SAMPLES
                     ? gyre_error_last()->status
                     : set_anchor(profile, &profile->samples[profile->reference], &profile->first);
        if (status == GYRE_OK) /* the first one came late, because everything was new */
            status = set_anchor(profile, &profile->samples[profile->reference], &profile->first);
        status = gyre_context_heard(context, status);
    }
    return status;
}

gyre_status gyre_profile_start(gyre_context *context, const gyre_profile_options *options,
                               gyre_profile **out_profile)
{
    gyre_profile_options o;
    gyre_profile *profile;
    void *memory = NULL;
    gyre_status status = gyre_context_usable(context);

    *out_profile = NULL;
    if (status == GYRE_OK)
        status = GYRE_OPTIONS_READ(o, options);
    if (status == GYRE_OK)
        status = gyre_allocator_check(o.allocator);
    if (status == GYRE_OK && o.spans > SPANS_MOST)
        status = gyre_fail(GYRE_INVALID, "%u spans; %d is the most", o.spans, SPANS_MOST);
    if (status == GYRE_OK)
        status = gyre_alloc(o.allocator, 1, sizeof *profile, &memory);
    if (status != GYRE_OK)
        return status;
    profile = memory;
    pthread_mutex_init(&profile->lock, NULL);
    profile->context = context;
    if (o.allocator)
        profile->allocator = *o.allocator;
    profile->every = o.device_every ? o.device_every : EVERY;
    if (!gyre_device_has(context->device, GYRE_FEATURE_TIMING))
        profile->every = UINT32_MAX;
    profile->span_room = o.spans ? o.spans : SPANS;
    status = set_up(profile);
    if (status == GYRE_OK) {
        pthread_mutex_lock(&context->lock);
        if (context->profile)
            status = GYRE_AGAIN;
        else
            context->profile = profile;
        pthread_mutex_unlock(&context->lock);
    }
    if (status != GYRE_OK) {
        free_profile(profile);
        return status;
    }
    profile->began_ns = gyre_clock_now_ns();
    atomic_store(&context->profiling, 1); /* seq_cst [profile-handshake] */
    *out_profile = profile;
    return GYRE_OK;
}

/* Reads what is on its way, up to a deadline. */
static gyre_status read_all(gyre_profile *profile)
{
    const uint64_t deadline_ns = gyre_clock_after_ns(profile->context->sync_timeout_ns);
    gyre_status status = GYRE_OK;

    while (profile->waiting_count > 0 && status == GYRE_OK) {
        status = read_oldest(profile);
        if (status == GYRE_AGAIN) {
            status = gyre_clock_now_ns() < deadline_ns ? GYRE_OK : GYRE_TIMEOUT;
            gyre_relax();
        }
    }
    return status;
}

/* The second anchor, by a sample that nobody uses any more. */
static gyre_status set_last(gyre_profile *profile)
{
    const gyre_backend *const backend = profile->context->backend;
    sample *const s = &profile->samples[profile->idle[profile->idle_count - 1]];
    double distance_ns = 0;
    gyre_status status = GYRE_OK;

    if (!s->begin)
        status = backend->event_open(profile->context->dev, true, &s->begin);
    if (status == GYRE_OK)
        status = set_anchor(profile, s, &profile->last);
    if (status == GYRE_OK)
        status = backend->event_between(profile->samples[profile->reference].begin, s->begin,
                                        &distance_ns);
    if (status == GYRE_OK) /* without it the rate is 1 */
        profile->last.device_ns = profile->reference_ns + distance_ns;
    return status;
}

/* The device's times of all spans on the host's clock. */
static void place_spans(gyre_profile *profile)
{
    const double device_ns = profile->last.device_ns;
    const double host_ns = (double)(profile->last.host_ns - profile->first.host_ns);
    const double rate = device_ns > 0 ? host_ns / device_ns : 1;

    for (uint32_t i = 0; i < profile->span_count; i++) {
        const double at = profile->begins[i] * rate;

        profile->spans[i].begin_ns = profile->first.host_ns + (uint64_t)(at > 0 ? at : 0);
    }
}

gyre_status gyre_profile_stop(gyre_profile *profile)
{
    gyre_context *const context = profile->context;
    gyre_status status = gyre_process_check(); /* those who are inside may not be in a child */

    if (profile->stopped || status != GYRE_OK)
        return status;
    atomic_store(&context->profiling, 0); /* seq_cst [profile-handshake] */
    while (atomic_load(&context->profile_inside) > 0)
        gyre_relax();
    pthread_mutex_lock(&context->lock);
    context->profile = NULL;
    pthread_mutex_unlock(&context->lock);
    profile->stopped = true;
    profile->ended_ns = gyre_clock_now_ns();
    if (profile->every == UINT32_MAX)
        return GYRE_OK;
    status = gyre_context_usable(context);
    if (status == GYRE_OK) {
        status = read_all(profile);
        if (status == GYRE_OK && profile->idle_count > 0)
            status = set_last(profile);
        status = gyre_context_heard(context, status);
    }
    place_spans(profile);
    return status;
}

const gyre_context *gyre_profile_context(const gyre_profile *profile)
{
    return profile->stopped ? profile->context : NULL;
}

gyre_status gyre_profile_visit(const gyre_profile *profile,
                               void (*visit)(void *user, const gyre_profile_span *span), void *user)
{
    if (!profile->stopped)
        return gyre_fail(GYRE_INVALID, "the profile is still on");
    for (uint32_t i = 0; i < profile->span_count; i++)
        visit(user, &profile->spans[i]);
    return GYRE_OK;
}

static int by_weight(const void *left, const void *right)
{
    const gyre_profile_row *const a = left, *const b = right;
    /* what the spans took stands for those that had none */
    const double x = a->spans ? (double)a->device_ns / (double)a->spans * (double)a->count : 0;
    const double y = b->spans ? (double)b->device_ns / (double)b->spans * (double)b->count : 0;

    if (x != y)
        return x > y ? -1 : 1;
    return (a->count < b->count) - (a->count > b->count);
}

gyre_status gyre_profile_report(const gyre_profile *profile,
                                void (*visit)(void *user, const gyre_profile_row *row), void *user,
                                gyre_profile_totals *out_totals)
{
    gyre_profile_row rows[ROWS];
    const uint64_t trips = profile->first.round_trip_ns > profile->last.round_trip_ns
                               ? profile->first.round_trip_ns
                               : profile->last.round_trip_ns;

    if (!profile->stopped)
        return gyre_fail(GYRE_INVALID, "the profile is still on");
    if (out_totals) {
        const size_t size = out_totals->struct_size;
        const gyre_profile_totals totals = {.struct_size = size,
                                            .submissions = profile->submissions,
                                            .spans = profile->span_count,
                                            .dropped = profile->dropped,
                                            .uncounted = profile->uncounted,
                                            .align_ns = (double)trips / 2,
                                            .began_ns = profile->began_ns,
                                            .ended_ns = profile->ended_ns};

        if (size < sizeof size)
            return gyre_fail(GYRE_INVALID, "totals without struct_size");
        memcpy(out_totals, &totals, size < sizeof totals ? size : sizeof totals);
    }
    memcpy(rows, profile->rows, sizeof rows);
    qsort(rows, profile->row_count, sizeof rows[0], by_weight);
    for (uint32_t i = 0; i < profile->row_count && visit; i++)
        visit(user, &rows[i]);
    return GYRE_OK;
}

void gyre_profile_destroy(gyre_profile *profile)
{
    if (!profile)
        return;
    if (gyre_process_check() == GYRE_OK && !profile->stopped &&
        gyre_profile_stop(profile) != GYRE_OK)
        profile->span_count = 0; /* what is missing nobody will ask for */
    free_profile(profile);
}
