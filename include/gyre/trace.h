/* SPDX-License-Identifier: Apache-2.0
 *
 * trace: a flight recorder: what happened on every thread just before now.
 *
 * Each thread writes events into a ring of its own and overwrites its oldest ones. While the
 * recorder is off, an event costs one load and a branch that is never taken. Names are static
 * strings: only the pointer is kept.
 *
 * Threads   any thread records, starts, stops and reads, at any time. Edges: [trace-on],
 *           [trace-rings], [trace-session], [trace-slot], [trace-ring].
 * Owns      the rings, one set for the process, from the first start to the end of the process.
 * Not here  files (gyre/profile.h, lab/main/trace_file.c), text (gyre/log.h).
 */
#ifndef GYRE_TRACE_H
#define GYRE_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/alloc.h"
#include "gyre/atomic.h"
#include "gyre/common.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

/* Values are frozen. */
typedef enum gyre_trace_kind {
    GYRE_TRACE_BEGIN = 1,   /* a span opens on this thread */
    GYRE_TRACE_END = 2,     /* the innermost span of that name closes */
    GYRE_TRACE_INSTANT = 3, /* something happened; the value says more */
    GYRE_TRACE_COUNT = 4,   /* a quantity has this value now */
} gyre_trace_kind;

typedef struct gyre_trace_event {
    uint64_t time_ns;
    const char *name; /* as given to the recorder */
    uint64_t value;
    uint32_t kind;   /* gyre_trace_kind */
    uint32_t thread; /* the kernel's id of the recording thread */
} gyre_trace_event;

/* Zero means default, everywhere. */
typedef struct gyre_trace_options {
    size_t struct_size;              /* sizeof(gyre_trace_options): lets the struct grow */
    const gyre_allocator *allocator; /* for the rings; used once; default malloc */
    uint32_t events_per_thread; /* a power of two or rounded up to one; default GYRE_TRACE_EVENTS */
    uint32_t threads;           /* threads that can record at one time; default 64 */
} gyre_trace_options;

typedef struct gyre_trace_totals {
    uint64_t visited;     /* events handed to the visitor */
    uint64_t overwritten; /* by newer ones of the same thread, since the start */
    uint64_t refused;     /* of threads that found no free ring, since the start */
} gyre_trace_totals;

/* Starts recording; what an earlier session recorded is forgotten. The first start allocates the
 * rings and fixes their sizes. GYRE_INVALID when it is on, or for other sizes than the first
 * start's; GYRE_UNAVAILABLE in a forked child. NULL options mean all defaults.
 * Thread-safe; may block; not for signal handlers. */
GYRE_API GYRE_MUST_USE gyre_status gyre_trace_start(const gyre_trace_options *options);

/* Stops recording; the events stay readable. A thread in the middle of an event finishes it.
 * Thread-safe, never blocks, may be called from a signal handler. */
GYRE_API void gyre_trace_stop(void);

/* Hands every event since the start to `visit`: in order for each thread, thread after thread.
 * While recording goes on, events overwritten during the call are left out and counted. Totals may
 * be NULL. Thread-safe; never blocks; not for signal handlers. */
GYRE_API void gyre_trace_read(void (*visit)(void *user, const gyre_trace_event *event), void *user,
                              gyre_trace_totals *out_totals);

/* Private: what the inline functions below need. */
GYRE_API extern uint32_t gyre_trace_on;
GYRE_API void gyre_trace_record(gyre_trace_kind kind, const char *name, uint64_t value);

/* Record one event. Thread-safe; never block; not for signal handlers, which could interrupt an
 * event of the same thread. A thread's first event takes a ring for it. */
GYRE_INLINE void gyre_trace(gyre_trace_kind kind, const char *name, uint64_t value)
{
    /* relaxed [trace-on]: a switch; an event more or less around it does not matter */
    if (__builtin_expect(gyre_load_relaxed32(&gyre_trace_on) != 0, 0))
        gyre_trace_record(kind, name, value);
}

GYRE_INLINE void gyre_trace_begin(const char *name)
{
    gyre_trace(GYRE_TRACE_BEGIN, name, 0);
}

GYRE_INLINE void gyre_trace_end(const char *name)
{
    gyre_trace(GYRE_TRACE_END, name, 0);
}

GYRE_END_DECLS

#endif
