/* SPDX-License-Identifier: Apache-2.0
 *
 * health: decides how far a stream is, how long to wait for it, and when it has stopped answering.
 *
 * A wait that misses its deadline is a strike against the ticket that holds everything up. If the
 * stream has moved since the last miss, that ticket is another one and the strikes begin anew. The
 * last strike loses the context. Several, not one, because the first launch after a build may stall
 * for good reasons; for the same reason threads that wait at the same time are one strike; and
 * deadlines grow with what the launches under way said they would take.
 *
 * Waiting asks the backend again and again: for GYRE_SPIN without a pause, up to a millisecond
 * letting others run in between, then with pauses of a thirty-second of the time that has passed,
 * at most a tenth of a millisecond: so a long wait is late by that part, and by what the system
 * adds to a sleep, which would be much for a short one.
 *
 * Threads   any. Edges: [stream-done], [stream-submit].
 * Owns      nothing.
 * Not here  what follows from a loss (exec/context.c).
 */
#include <inttypes.h>
#include <sched.h>
#include <time.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/settings.h"
#include "base/wait.h"
#include "exec/kernel.h"
#include "exec/stream.h"
#include "gyre/atomic.h"
#include "gyre/clock.h"
#include "gyre/trace.h"

enum {
    PATIENCE = 4,
    PAUSE_PART = 32,
    PAUSE_MOST_NS = 100000,
    LOOKS = 16, /* between two readings of the clock, which costs as much as some */
};

/* Moves the timeline on to `value`. Needs no lock. */
static void reach(gyre_stream *stream, uint64_t value)
{
    uint64_t seen = gyre_load_relaxed(&stream->timeline->completed); /* relaxed: the swap decides */

    /* release [stream-done]: pairs with the acquire in gyre_stream_wait, gyre_stream_settle and the
     * pool. What the tickets wrote is there for whoever sees that they are through. */
    while (seen < value && !gyre_swap_acq_rel(&stream->timeline->completed, &seen, value))
        ;
    /* relaxed: a figure; strikes are against one ticket, which missed_at tells */
    if (__builtin_expect(atomic_load_explicit(&stream->strikes, memory_order_relaxed) != 0, 0))
        atomic_store_explicit(&stream->strikes, 0, memory_order_relaxed);
}

void gyre_stream_settle(gyre_stream *stream)
{
    /* acquire [stream-done]: pairs with the release in reach, on any thread */
    const uint64_t completed = gyre_load_acquire(&stream->timeline->completed);

    /* marks that have nothing more to tell make room for others */
    while (stream->mark_count > 0 && stream->marks[stream->first_mark].value <= completed) {
        stream->first_mark = (stream->first_mark + 1) % GYRE_MARKS;
        stream->mark_count--;
    }
    for (; stream->settled < completed; stream->settled++) {
        const uint64_t expected_ns =
            stream->ring[(stream->settled + 1) & stream->ring_mask].expected_ns;

        if (expected_ns > 0) /* relaxed: written under the lock */
            atomic_fetch_sub_explicit(&stream->expected_ns, expected_ns, memory_order_relaxed);
    }
}

static void advance(gyre_stream *stream, uint64_t value)
{
    reach(stream, value);
    gyre_stream_settle(stream);
}

void gyre_stream_mark(gyre_stream *stream)
{
    const gyre_context *const context = stream->context;
    gyre_mark *mark = &stream->marks[(stream->first_mark + stream->mark_count) % GYRE_MARKS];

    if (stream->mark_count == GYRE_MARKS)
        return;
    if (!mark->event && context->backend->event_open(context->dev, false, &mark->event) != GYRE_OK)
        return;
    if (context->backend->event_record(mark->event, stream->native) != GYRE_OK)
        return;
    mark->value = stream->marked = atomic_load_explicit(&stream->submitted, memory_order_relaxed);
    stream->mark_count++;
}

gyre_status gyre_stream_look(gyre_stream *stream)
{
    const gyre_backend *const backend = stream->context->backend;
    gyre_status status = backend->poll(stream->native);

    if (status == GYRE_OK) {
        advance(stream, atomic_load_explicit(&stream->submitted, memory_order_relaxed));
        return GYRE_OK;
    }
    while (status == GYRE_AGAIN && stream->mark_count > 0) {
        gyre_mark *const mark = &stream->marks[stream->first_mark];

        status = backend->event_poll(mark->event);
        if (status == GYRE_AGAIN)
            break;
        if (status == GYRE_OK) {
            advance(stream, mark->value);
            status = GYRE_AGAIN;
        }
    }
    return status == GYRE_AGAIN ? status : gyre_stream_latch(stream, status);
}

gyre_status gyre_stream_poll(gyre_stream *stream)
{
    gyre_status status = gyre_stream_usable(stream);

    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&stream->lock);
    status = gyre_stream_look(stream);
    pthread_mutex_unlock(&stream->lock);
    return status;
}

/* How long a wait without a deadline of its own may take from now. */
static uint64_t allowance_ns(gyre_stream *stream)
{
    const uint64_t least = stream->context->sync_timeout_ns;
    /* relaxed: the caller's own submissions are in it */
    const uint64_t expected = atomic_load_explicit(&stream->expected_ns, memory_order_relaxed);

    return expected * PATIENCE > least ? expected * PATIENCE : least;
}

/* A deadline was missed, by a wait since then: GYRE_OK when it was through at the last moment after
 * all. */
static gyre_status miss(gyre_stream *stream, uint64_t value, uint64_t since_ns, bool counts)
{
    gyre_context *const context = stream->context;
    uint64_t completed;
    uint32_t strikes;
    gyre_status status;

    pthread_mutex_lock(&stream->lock);
    status = gyre_stream_look(stream);
    completed = gyre_load_relaxed(&stream->timeline->completed);
    if ((status != GYRE_OK && status != GYRE_AGAIN) || completed >= value) {
        pthread_mutex_unlock(&stream->lock);
        return completed >= value ? GYRE_OK : status;
    }
    atomic_fetch_add_explicit(&stream->timeouts, 1, memory_order_relaxed);
    /* somebody else who waited meanwhile has the strike */
    if (!counts || (completed == stream->missed_at && since_ns < stream->missed_ns)) {
        pthread_mutex_unlock(&stream->lock);
        return GYRE_TIMEOUT;
    }
    strikes = completed == stream->missed_at
                  ? atomic_load_explicit(&stream->strikes, memory_order_relaxed) + 1
                  : 1;
    stream->missed_at = completed;
    stream->missed_ns = gyre_clock_now_ns();
    atomic_store_explicit(&stream->strikes, strikes, memory_order_relaxed);
    gyre_log(GYRE_LOG_DEBUG, GYRE_TOPIC_DEVICE,
             "%s, %s: ticket %" PRIu64 " missed, strike %u of %u", context->name, stream->name,
             completed + 1, strikes, context->strikes_most);
    status = GYRE_TIMEOUT;
    if (strikes >= context->strikes_most) {
        const gyre_pending *const oldest = &stream->ring[(completed + 1) & stream->ring_mask];
        char suspects[160];

        gyre_stream_suspects(stream, suspects, sizeof suspects);
        status =
            gyre_fail(GYRE_DEVICE_LOST, "%s, %s: %s: no progress for %.3g s, %u deadlines missed",
                      context->name, stream->name, suspects,
                      (double)(gyre_clock_now_ns() - oldest->submitted_ns) * 1e-9, strikes);
        status = status == GYRE_OK ? status : gyre_context_lose(context, GYRE_LOSS_HUNG);
    }
    pthread_mutex_unlock(&stream->lock);
    return status;
}

gyre_status gyre_stream_overdue(gyre_stream *stream, uint64_t value, uint64_t since_ns)
{
    if (gyre_clock_now_ns() - since_ns < allowance_ns(stream))
        return GYRE_AGAIN;
    return miss(stream, value, since_ns, true);
}

/* A pause between two looks, after `passed_ns`. */
static void pause_for(uint64_t passed_ns, uint64_t left_ns)
{
    uint64_t ns = passed_ns / PAUSE_PART;

    if (passed_ns < GYRE_YIELD_NS) {
        sched_yield();
        return;
    }
    ns = ns > PAUSE_MOST_NS ? PAUSE_MOST_NS : ns;
    ns = ns > left_ns ? left_ns : ns;
    nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

/* Without the lock where everything is what is asked for: then who waits does as little as can be
 * between the end of the work and the next, and the books are settled behind that. */
gyre_status gyre_stream_look_for(gyre_stream *stream, uint64_t value)
{
    /* acquire [stream-submit]: the backend has what was submitted before */
    const bool last = atomic_load_explicit(&stream->submitted, memory_order_acquire) == value;
    gyre_status status = GYRE_OK;

    if (last) {
        status = stream->context->backend->poll(stream->native);
        if (status == GYRE_OK)
            reach(stream, value); /* others may have submitted more since */
        if (status == GYRE_OK || status == GYRE_AGAIN)
            return status;
    }
    pthread_mutex_lock(&stream->lock);
    if (last) {
        status = gyre_stream_latch(stream, status);
    } else {
        if (stream->marked < value) /* nothing would tell before everything is done */
            gyre_stream_mark(stream);
        status = gyre_stream_look(stream);
        if (status == GYRE_AGAIN && gyre_load_relaxed(&stream->timeline->completed) >= value)
            status = GYRE_OK;
    }
    pthread_mutex_unlock(&stream->lock);
    return status;
}

/* `deadline` may be NULL: that of the stream's allowance. */
static gyre_status wait_for(gyre_stream *stream, uint64_t value, const uint64_t *deadline,
                            bool counts)
{
    uint64_t began_ns = 0, spin_ns = 0, deadline_ns = 0;

    for (uint32_t looks = 1;; looks++) {
        gyre_status status = gyre_stream_look_for(stream, value);
        uint64_t now_ns;

        if (status != GYRE_AGAIN)
            return status;
        if (looks % LOOKS != 0)
            continue;
        status = gyre_context_usable(stream->context);
        if (status != GYRE_OK)
            return status;
        now_ns = gyre_clock_now_ns();
        if (began_ns == 0) {
            began_ns = now_ns;
            spin_ns = (uint64_t)gyre_settings_number(GYRE_SETTING_SPIN);
            deadline_ns = deadline ? *deadline : gyre_clock_after_ns(allowance_ns(stream));
        }
        if (now_ns >= deadline_ns)
            return miss(stream, value, began_ns, counts);
        if (now_ns - began_ns >= spin_ns)
            pause_for(now_ns - began_ns, deadline_ns - now_ns);
    }
}

gyre_status gyre_stream_wait(gyre_stream *stream, uint64_t value, uint64_t deadline_ns)
{
    gyre_status status = gyre_stream_usable(stream);
    uint64_t until_ns;

    if (status != GYRE_OK)
        return status;
    /* acquire [stream-done]: pairs with the release in reach */
    if (gyre_load_acquire(&stream->timeline->completed) >= value)
        return GYRE_OK;
    if (value > atomic_load_explicit(&stream->submitted, memory_order_relaxed))
        return gyre_fail(GYRE_INVALID, "%s, %s: ticket %" PRIu64 " was not submitted",
                         stream->context->name, stream->name, value);
    do { /* a wait for longer than is allowed is several, each with its strike */
        const uint64_t now_ns = gyre_clock_now_ns(), allowed_ns = allowance_ns(stream);
        const uint64_t allowed_until_ns = gyre_clock_after_ns(allowed_ns);

        until_ns = deadline_ns < allowed_until_ns ? deadline_ns : allowed_until_ns;
        /* a little less counts too: the caller made his deadline before he called */
        status = wait_for(stream, value, &until_ns,
                          until_ns > now_ns && until_ns - now_ns >= allowed_ns - allowed_ns / 16);
    } while (status == GYRE_TIMEOUT && until_ns < deadline_ns);
    return status;
}

gyre_status gyre_stream_await(gyre_stream *stream, uint64_t value)
{
    gyre_status status;

    gyre_trace_begin("wait");
    status = wait_for(stream, value, NULL, true);
    gyre_trace_end("wait");
    return status;
}

gyre_status gyre_stream_sync(gyre_stream *stream)
{
    const gyre_status status = gyre_stream_usable(stream);

    if (status != GYRE_OK)
        return status;
    return gyre_stream_await(stream,
                             atomic_load_explicit(&stream->submitted, memory_order_relaxed));
}

gyre_status gyre_stream_sync_retry(gyre_stream *stream, uint32_t attempts, uint64_t pause_ns)
{
    gyre_status status = gyre_stream_sync(stream);

    for (uint32_t i = 1; i < attempts && status == GYRE_TIMEOUT; i++) {
        const struct timespec pause = {(time_t)(pause_ns / 1000000000),
                                       (long)(pause_ns % 1000000000)};

        nanosleep(&pause, NULL);
        pause_ns = pause_ns > UINT64_MAX / 2 ? pause_ns : pause_ns * 2;
        status = gyre_stream_sync(stream);
    }
    return status;
}
