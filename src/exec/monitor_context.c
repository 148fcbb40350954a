/* SPDX-License-Identifier: Apache-2.0
 *
 * monitor_context: what a context has under way, as it is and not as it was last looked at.
 *
 * The books of a stream move when somebody syncs or polls it. Of one that has finished since, they
 * tell of tickets that are pending and grow old, which would be a false alarm. So a stream that
 * is behind is asked whether it is drained. Nothing of it is changed by that: a fault that is found
 * so is left to the stream's next sync, which knows whose it is.
 *
 * Threads   any; the lock of the context keeps its streams from leaving meanwhile.
 * Owns      nothing.
 */
#include "exec/monitor.h"
#include "exec/stream.h"

gyre_status gyre_monitor_describe(gyre_context *context, gyre_context_statistics *out_statistics)
{
    const bool usable = gyre_context_usable(context) == GYRE_OK;
    gyre_context_statistics *s = out_statistics;

    *s = (gyre_context_statistics){.struct_size = sizeof *s};
    pthread_mutex_lock(&context->lock);
    s->timeouts = context->timeouts_before;
    for (gyre_stream *stream = context->streams; stream; stream = stream->next) {
        gyre_stream_statistics one = {.struct_size = sizeof one};

        gyre_stream_count(stream, &one);
        if (one.completed != one.submitted && usable && !context->abandoned &&
            context->backend->poll(stream->native) == GYRE_OK) {
            one.completed = one.submitted; /* which were counted before it was asked */
            one.oldest_ns = 0;
        }
        s->submitted += one.submitted;
        s->completed += one.completed;
        s->timeouts += one.timeouts;
        s->oldest_ns = one.oldest_ns > s->oldest_ns ? one.oldest_ns : s->oldest_ns;
        s->strikes = one.strikes > s->strikes ? one.strikes : s->strikes;
        s->streams++;
    }
    pthread_mutex_unlock(&context->lock);
    return GYRE_OK;
}
