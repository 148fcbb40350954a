/* SPDX-License-Identifier: Apache-2.0
 *
 * cpu_event: events are places in streams: which stream, and how many of its operations come
 * before.
 *
 * So recording one and asking about it costs the stream nothing, and a record that is replaced
 * while it is under way disturbs nobody who waits for it. A timed one puts an operation into the
 * stream, which writes the time into a stamp of that record alone.
 *
 * Threads   any; the event's lock keeps place and stamp together. Never held while waiting.
 * Owns      an event one holder of its last stamp; the operation the other.
 * Not here  streams that wait (cpu_serve.c).
 */
#include "backends/cpu/cpu.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "base/process.h"
#include "gyre/clock.h"

struct gyre_cpu_stamp {
    _Atomic uint32_t holders;
    uint64_t time_ns; /* handed over with the stream's `done` */
};

typedef struct place {
    gyre_dev_stream *stream; /* NULL: never recorded */
    uint64_t position;
    gyre_cpu_stamp *stamp; /* NULL: not timed */
} place;

struct gyre_dev_event {
    pthread_mutex_t lock;
    place at;
    bool timed;
};

void gyre_cpu_stamp_now(gyre_cpu_stamp *stamp)
{
    stamp->time_ns = gyre_clock_now_ns();
}

void gyre_cpu_stamp_release(gyre_cpu_stamp *stamp)
{
    /* acquire and release [cpu-holders]: the last one sees that the other is through with it */
    if (stamp && atomic_fetch_sub_explicit(&stamp->holders, 1, memory_order_acq_rel) == 1)
        gyre_free(NULL, stamp, 1, sizeof *stamp);
}

gyre_status gyre_cpu_event_open(gyre_dev *dev, bool timed, gyre_dev_event **out_event)
{
    gyre_status status = gyre_process_use();
    void *block;

    (void)dev;
    *out_event = NULL;
    if (status == GYRE_OK)
        status = gyre_alloc(NULL, 1, sizeof **out_event, &block);
    if (status != GYRE_OK)
        return status;
    *out_event = block;
    pthread_mutex_init(&(*out_event)->lock, NULL);
    (*out_event)->timed = timed;
    return GYRE_OK;
}

void gyre_cpu_event_close(gyre_dev_event *event)
{
    gyre_cpu_stamp_release(event->at.stamp);
    gyre_free(NULL, event, 1, sizeof *event);
}

static place read_place(gyre_dev_event *event)
{
    place at;

    pthread_mutex_lock(&event->lock);
    at = event->at;
    pthread_mutex_unlock(&event->lock);
    return at;
}

/* A stamp in the stream, for two holders. */
static gyre_status submit_stamp(gyre_dev_stream *stream, gyre_cpu_stamp **out_stamp)
{
    gyre_cpu_slot *slot;
    gyre_status status;
    void *block;

    *out_stamp = NULL;
    status = gyre_alloc(NULL, 1, sizeof **out_stamp, &block);
    if (status != GYRE_OK)
        return status;
    status = gyre_cpu_begin(stream, &slot);
    if (status != GYRE_OK) {
        gyre_free(NULL, block, 1, sizeof **out_stamp);
        return status;
    }
    *out_stamp = block;
    /* relaxed: nobody else knows it yet */
    atomic_store_explicit(&(*out_stamp)->holders, 2, memory_order_relaxed);
    slot->kind = GYRE_CPU_MARK;
    slot->as.mark = *out_stamp;
    gyre_cpu_commit(stream, slot);
    return GYRE_OK;
}

gyre_status gyre_cpu_event_record(gyre_dev_event *event, gyre_dev_stream *stream)
{
    place at = {.stream = stream};
    gyre_cpu_stamp *before;

    if (event->timed) {
        const gyre_status status = submit_stamp(stream, &at.stamp);

        if (status != GYRE_OK)
            return status;
    }
    /* relaxed: this thread is the only writer */
    at.position = atomic_load_explicit(&stream->tail, memory_order_relaxed);
    pthread_mutex_lock(&event->lock);
    before = event->at.stamp;
    event->at = at;
    pthread_mutex_unlock(&event->lock);
    gyre_cpu_stamp_release(before);
    return GYRE_OK;
}

gyre_status gyre_cpu_event_poll(gyre_dev_event *event)
{
    const place at = read_place(event);

    return !at.stream || gyre_cpu_reached(at.stream, at.position) ? GYRE_OK : GYRE_AGAIN;
}

gyre_status gyre_cpu_event_wait(gyre_dev_stream *stream, gyre_dev_event *event)
{
    const place at = read_place(event);
    gyre_cpu_slot *slot;
    gyre_status status;

    /* what is submitted later comes later in the same stream, too */
    if (!at.stream || at.stream == stream || gyre_cpu_reached(at.stream, at.position))
        return GYRE_OK;
    status = gyre_cpu_begin(stream, &slot);
    if (status != GYRE_OK)
        return status;
    slot->kind = GYRE_CPU_WAIT;
    slot->as.wait.stream = at.stream;
    slot->as.wait.position = at.position;
    gyre_cpu_commit(stream, slot);
    return GYRE_OK;
}

/* The time of the last record; GYRE_AGAIN before it is reached. */
static gyre_status read_time(gyre_dev_event *event, uint64_t *out_ns)
{
    gyre_status status = GYRE_OK;

    /* under the lock, or a new record could free the stamp */
    pthread_mutex_lock(&event->lock);
    if (!event->at.stamp)
        status = GYRE_INVALID;
    else if (!gyre_cpu_reached(event->at.stream, event->at.position))
        status = GYRE_AGAIN;
    else
        *out_ns = event->at.stamp->time_ns;
    pthread_mutex_unlock(&event->lock);
    return status == GYRE_INVALID ? gyre_fail(status, "an event that was not recorded has no time")
                                  : status;
}

gyre_status gyre_cpu_event_between(gyre_dev_event *from, gyre_dev_event *to, double *out_ns)
{
    uint64_t from_ns = 0, to_ns = 0;
    gyre_status status = read_time(from, &from_ns);

    *out_ns = 0;
    if (status == GYRE_OK)
        status = read_time(to, &to_ns);
    if (status != GYRE_OK)
        return status;
    *out_ns = (double)(int64_t)(to_ns - from_ns);
    return GYRE_OK;
}
