/* SPDX-License-Identifier: Apache-2.0
 *
 * trace: rings of events, one writer each, readable at any time.
 *
 * A slot carries a stamp. The writer clears it, stores the fields with release, then stores the
 * event's number; a reader that sees one new field therefore also sees the stamp gone, and drops
 * the slot. So a reader needs nothing from the writer, and no fences are used.
 *
 * Rings are never freed: a thread that passed the check of gyre_trace_on may be about to write.
 * Numbers only grow; a session begins, in each ring, after the number it found there.
 *
 * Threads   any. A ring belongs to one thread at a time; [trace-ring] hands it on at thread exit.
 * Owns      the recorder.
 */
#include "gyre/trace.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/options.h"
#include "base/process.h"
#include "base/settings.h"
#include "gyre/clock.h"

enum { DEFAULT_THREADS = 64, MOST_EVENTS = 1 << 20, MOST_THREADS = 1 << 16 };

typedef struct slot {
    _Atomic uint64_t stamp; /* number of the event, from 1; 0 while it is being written */
    _Atomic uint64_t time_ns;
    const char *_Atomic name;
    _Atomic uint64_t value;
    _Atomic uint64_t kind_thread; /* kind in the upper half */
} slot;

typedef struct ring {
    _Alignas(64) _Atomic uint32_t owner; /* the thread's id; 0: free */
    _Atomic uint64_t written;            /* events ever written; the owner's */
    _Atomic uint64_t before;             /* how many of them an earlier session wrote */
    slot *slots;
} ring;

typedef struct recorder {
    uint64_t mask; /* events per ring, less one */
    uint32_t threads;
    ring *rings;
} recorder;

_Static_assert(sizeof(gyre_trace_event) == 32, "layout is public");

uint32_t gyre_trace_on; /* shared, through gyre/atomic.h */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* start against start */
static recorder the;                                      /* constant after the first start */
static _Atomic bool allocated;                            /* publishes `the` */
static _Atomic uint64_t refused;
static pthread_key_t exit_key;
static bool have_exit_key; /* constant after the first start */
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;
static _Thread_local ring *mine;

static void leave(void *r)
{
    mine = NULL; /* an event of a later destructor takes a ring again, and gives it back again */
    /* release [trace-ring]: pairs with the acquire in claim; the next owner sees `written` */
    atomic_store_explicit(&((ring *)r)->owner, 0, memory_order_release);
}

static void make_exit_key(void)
{
    /* Without a key rings are not handed on, and later threads may find none. */
    have_exit_key = pthread_key_create(&exit_key, leave) == 0;
}

static ring *claim(void)
{
    const uint32_t self = (uint32_t)gettid();

    for (uint32_t i = 0; i < the.threads; i++) {
        uint32_t free_ring = 0;

        /* acquire [trace-ring]: pairs with the release in leave */
        if (atomic_compare_exchange_strong_explicit(&the.rings[i].owner, &free_ring, self,
                                                    memory_order_acquire, memory_order_relaxed)) {
            if (have_exit_key)
                (void)pthread_setspecific(exit_key, &the.rings[i]);
            return &the.rings[i];
        }
    }
    return NULL;
}

void gyre_trace_record(gyre_trace_kind kind, const char *name, uint64_t value)
{
    uint64_t number;
    slot *s;

    /* acquire [trace-rings]: pairs with the release in allocate; `the` is whole */
    if (!atomic_load_explicit(&allocated, memory_order_acquire))
        return;
    if (!mine)
        mine = claim();
    if (!mine) {
        /* relaxed: a tally */
        atomic_fetch_add_explicit(&refused, 1, memory_order_relaxed);
        return;
    }
    /* relaxed: only this thread writes it */
    number = atomic_load_explicit(&mine->written, memory_order_relaxed) + 1;
    s = &mine->slots[(number - 1) & the.mask];
    /* relaxed, then release [trace-slot]: whoever sees a field below sees the stamp cleared */
    atomic_store_explicit(&s->stamp, 0, memory_order_relaxed);
    atomic_store_explicit(&s->time_ns, gyre_clock_now_ns(), memory_order_release);
    atomic_store_explicit(&s->name, name, memory_order_release);
    atomic_store_explicit(&s->value, value, memory_order_release);
    atomic_store_explicit(&s->kind_thread,
                          (uint64_t)kind << 32 |
                              atomic_load_explicit(&mine->owner, memory_order_relaxed),
                          memory_order_release);
    /* release [trace-slot]: pairs with the acquire in read_slot; the fields are whole */
    atomic_store_explicit(&s->stamp, number, memory_order_release);
    /* release [trace-slot]: the stamp is there before the count that leads a reader to it */
    atomic_store_explicit(&mine->written, number, memory_order_release);
}

static gyre_status allocate(const gyre_trace_options *options, uint64_t events, uint32_t threads)
{
    gyre_status status = gyre_allocator_check(options->allocator);
    void *rings = NULL, *slots = NULL;

    if (status == GYRE_OK)
        status = gyre_alloc(options->allocator, threads, sizeof(ring), &rings);
    if (status == GYRE_OK)
        status = gyre_alloc(options->allocator, events * threads, sizeof(slot), &slots);
    if (status != GYRE_OK) {
        gyre_free(options->allocator, rings, threads, sizeof(ring));
        return status;
    }
    the = (recorder){.mask = events - 1, .threads = threads, .rings = rings};
    for (uint32_t i = 0; i < threads; i++)
        the.rings[i].slots = (slot *)slots + i * events;
    pthread_once(&exit_once, make_exit_key);
    /* release [trace-rings]: pairs with the acquire in gyre_trace_record and gyre_trace_read */
    atomic_store_explicit(&allocated, true, memory_order_release);
    return GYRE_OK;
}

static gyre_status start(const gyre_trace_options *options)
{
    const uint64_t wanted = options->events_per_thread
                                ? options->events_per_thread
                                : (uint64_t)gyre_settings_number(GYRE_SETTING_TRACE_EVENTS);
    const uint32_t threads = options->threads ? options->threads : DEFAULT_THREADS;
    uint64_t events = 1;
    gyre_status status = GYRE_OK;

    if (wanted > MOST_EVENTS || threads > MOST_THREADS)
        return gyre_fail(GYRE_INVALID, "trace: at most %d events and %d threads", MOST_EVENTS,
                         MOST_THREADS);
    while (events < wanted)
        events *= 2;
    /* relaxed, all: what changes under the mutex, which we hold, or a count of the past */
    if (gyre_load_relaxed32(&gyre_trace_on))
        return gyre_fail(GYRE_INVALID, "trace: it is on already");
    if (!atomic_load_explicit(&allocated, memory_order_relaxed))
        status = allocate(options, events, threads);
    else if (the.mask != events - 1 || the.threads != threads)
        status = gyre_fail(GYRE_INVALID,
                           "trace: the first start made room for %u threads with "
                           "%lu events each, and that cannot change",
                           the.threads, (unsigned long)(the.mask + 1));
    if (status != GYRE_OK)
        return status;
    atomic_store_explicit(&refused, 0, memory_order_relaxed);
    (void)gyre_clock_now_ns(); /* calibrated here, so that no event waits for it */
    for (uint32_t i = 0; i < the.threads; i++)
        /* release [trace-session]: pairs with the acquire in read_ring, which then sees at least as
         * many events written */
        atomic_store_explicit(&the.rings[i].before,
                              atomic_load_explicit(&the.rings[i].written, memory_order_acquire),
                              memory_order_release);
    /* relaxed [trace-on]: see gyre_trace; recorders learn of the rings by [trace-rings] */
    gyre_store_relaxed32(&gyre_trace_on, 1);
    return GYRE_OK;
}

gyre_status gyre_trace_start(const gyre_trace_options *options)
{
    gyre_trace_options with;
    gyre_status status = GYRE_OPTIONS_READ(with, options);

    if (status == GYRE_OK)
        status = gyre_process_use();
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&mutex);
    status = start(&with);
    pthread_mutex_unlock(&mutex);
    return status;
}

void gyre_trace_stop(void)
{
    /* relaxed [trace-on]: see gyre_trace */
    gyre_store_relaxed32(&gyre_trace_on, 0);
}

/* True and the event when slot `number` still holds it. */
static bool read_slot(slot *s, uint64_t number, gyre_trace_event *out_event)
{
    uint64_t kind_thread;

    /* acquire [trace-slot], all five: pair with the releases in gyre_trace_record. A field of a
     * newer event brings its cleared stamp along, which the last load then sees. */
    if (atomic_load_explicit(&s->stamp, memory_order_acquire) != number)
        return false;
    out_event->time_ns = atomic_load_explicit(&s->time_ns, memory_order_acquire);
    out_event->name = atomic_load_explicit(&s->name, memory_order_acquire);
    out_event->value = atomic_load_explicit(&s->value, memory_order_acquire);
    kind_thread = atomic_load_explicit(&s->kind_thread, memory_order_acquire);
    out_event->kind = (uint32_t)(kind_thread >> 32);
    out_event->thread = (uint32_t)kind_thread;
    /* relaxed: ordered after the loads above, which are acquire */
    return atomic_load_explicit(&s->stamp, memory_order_relaxed) == number;
}

/* Visits what one ring holds of the last session. */
static void read_ring(ring *r, void (*visit)(void *user, const gyre_trace_event *event), void *user,
                      gyre_trace_totals *totals)
{
    /* acquire [trace-session]: pairs with the release in start; read first, so that it is never
     * ahead of `written` */
    const uint64_t before = atomic_load_explicit(&r->before, memory_order_acquire);
    /* acquire [trace-slot]: pairs with the release in gyre_trace_record */
    const uint64_t written = atomic_load_explicit(&r->written, memory_order_acquire);
    const uint64_t kept = written - before <= the.mask ? written - before : the.mask + 1;

    totals->overwritten += written - before - kept;
    for (uint64_t number = written - kept + 1; number <= written; number++) {
        gyre_trace_event event;

        if (read_slot(&r->slots[(number - 1) & the.mask], number, &event)) {
            visit(user, &event);
            totals->visited++;
        } else {
            totals->overwritten++;
        }
    }
}

void gyre_trace_read(void (*visit)(void *user, const gyre_trace_event *event), void *user,
                     gyre_trace_totals *out_totals)
{
    gyre_trace_totals totals = {0};
    /* acquire [trace-rings]: pairs with the release in allocate */
    const bool any = atomic_load_explicit(&allocated, memory_order_acquire);

    /* relaxed: a tally */
    totals.refused = atomic_load_explicit(&refused, memory_order_relaxed);
    for (uint32_t i = 0; any && i < the.threads; i++)
        read_ring(&the.rings[i], visit, user, &totals);
    if (out_totals)
        *out_totals = totals;
}
