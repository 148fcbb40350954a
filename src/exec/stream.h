/* SPDX-License-Identifier: Apache-2.0
 *
 * stream: what the rooms of exec share of a stream. See gyre/stream.h for the contract.
 *
 * A ticket's entry is kept until the ticket is through and another needs it: so who launches the
 * same kernel again and again finds it held. How far the device is becomes known in two
 * ways: the stream is drained, then everything is; or a mark is reached, an event that was recorded
 * behind every so many tickets, because one behind each would slow the device down.
 *
 * Threads   the fields of the first group never change; those of the second under the lock, though
 *           some are read without it; the third are counters. Edges: [stream-done],
 *           [stream-submit], [stream-fault].
 * Owns      the backend's stream, the marks, the entries; one holder of a kernel for each entry.
 */
#ifndef GYRE_EXEC_STREAM_H
#define GYRE_EXEC_STREAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dev/backend.h"
#include "exec/context.h"
#include "gyre/stream.h"

enum {
    GYRE_MARKS = 8,
    GYRE_YIELD_NS = 1000000, /* who has waited for so long sleeps instead of letting others run */
};

/* What one submission can be expected to take: several times the sum of all under way is still a
 * number. */
#define GYRE_EXPECTED_MOST_NS (UINT64_MAX / ((uint64_t)8 * GYRE_PENDING_MOST))

/* A submission: one that is not known to be through, or the last that had the entry. */
typedef struct gyre_pending {
    gyre_kernel *kernel; /* held, until another ticket has the entry; NULL: not a launch */
    const char *what;    /* static or lasting */
    uint64_t submitted_ns;
    uint64_t expected_ns;
} gyre_pending;

typedef struct gyre_mark {
    gyre_dev_event *event; /* made when first needed */
    uint64_t value;        /* tickets up to this are through when it is reached */
} gyre_mark;

/* A submission that a profile looks at, from begin to commit. */
typedef struct gyre_profile_mark {
    struct gyre_profile *profile; /* NULL: none does */
    uint64_t begin_ns;
    uint32_t sample; /* its pair of events, + 1; 0: no device span */
} gyre_profile_mark;

struct gyre_stream {
    gyre_context *context;
    gyre_dev_stream *native;
    gyre_timeline *timeline;
    const char *name;      /* lasting */
    uint64_t first;        /* the timeline's value when this stream began */
    uint32_t pending_most; /* */
    uint32_t ring_mask;
    gyre_pending *ring; /* by ticket */
    bool adopted;       /* others may submit to it too */

    pthread_mutex_t lock;
    _Atomic uint64_t submitted;   /* written under the lock */
    uint64_t settled;             /* tickets up to this are out of the books */
    uint64_t marked;              /* the last ticket that a mark covers */
    _Atomic uint64_t expected_ns; /* of all that is under way */
    uint64_t missed_at;           /* how far it was at the last miss, */
    uint64_t missed_ns;           /* and when that was */
    gyre_profile_mark profiled;
    uint64_t profiled_count; /* submissions that a profile has seen */
    gyre_mark marks[GYRE_MARKS];
    uint32_t first_mark, mark_count;
    gyre_error fault;       /* once `faulted` */
    _Atomic bool faulted;   /* */
    gyre_stream *next;      /* of the context's; under its lock */
    gyre_stream **previous; /* likewise */

    _Atomic uint64_t timeouts, blocked, blocked_ns;
    _Atomic uint32_t strikes;
};

/* What is submitted, for the books. */
typedef struct gyre_submission {
    const char *what;
    gyre_kernel *kernel; /* NULL: not a launch */
    uint64_t expected_ns;
} gyre_submission;

/* A submission begins: GYRE_OK, and the lock is held until gyre_stream_commit; otherwise it is not
 * and nothing may be submitted. Waits for room. `what` is static or lasting, in both. */
GYRE_MUST_USE gyre_status gyre_stream_begin(gyre_stream *stream, const char *what);

/* It ends: with GYRE_OK there is a ticket more. Returns what the caller's call returns. */
GYRE_MUST_USE gyre_status gyre_stream_commit(gyre_stream *stream, gyre_status status,
                                             const gyre_submission *submission);

/* Looks how far it is. The lock is held. GYRE_OK: drained; GYRE_AGAIN; or a failure, which is
 * latched. */
GYRE_MUST_USE gyre_status gyre_stream_look(gyre_stream *stream);

/* Looks whether everything up to a ticket of a usable stream is done, which takes the lock unless
 * the ticket is the last: GYRE_OK, GYRE_AGAIN, or a failure, which is latched. */
GYRE_MUST_USE gyre_status gyre_stream_look_for(gyre_stream *stream, uint64_t value);

/* Takes what is known to be through out of the books. The lock is held. */
void gyre_stream_settle(gyre_stream *stream);

/* Records a mark behind everything so far. The lock is held. Where it cannot, drained is the only
 * mark. */
void gyre_stream_mark(gyre_stream *stream);

/* Keeps this thread's detail as the stream's fault, unless it has one; loses the context when that
 * is what happened. Returns the status. The lock is held. */
gyre_status gyre_stream_latch(gyre_stream *stream, gyre_status status);

/* GYRE_OK, or the fault that was latched, or why the context is lost. */
GYRE_MUST_USE gyre_status gyre_stream_usable(const gyre_stream *stream);

/* Waits with the deadline that waits without one of their own have: a miss is a strike. */
GYRE_MUST_USE gyre_status gyre_stream_await(gyre_stream *stream, uint64_t value);

/* Which of what is under way it may be that hangs or has failed: "in 'relu'"; false when nothing
 * is. The lock is held. */
bool gyre_stream_suspects(const gyre_stream *stream, char *text, size_t size);

/* For who looks instead of waiting, since then: GYRE_AGAIN while a wait would go on, afterwards
 * what one would return that misses its deadline, with the strike. */
GYRE_MUST_USE gyre_status gyre_stream_overdue(gyre_stream *stream, uint64_t value,
                                              uint64_t since_ns);

/* The statistics, whole. Never blocks. */
void gyre_stream_count(gyre_stream *stream, gyre_stream_statistics *out_statistics);

struct gyre_event {
    gyre_context *context;
    gyre_dev_event *native;
    _Atomic bool recorded;
    bool timed;
};

#endif
