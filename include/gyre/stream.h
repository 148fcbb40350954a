/* SPDX-License-Identifier: Apache-2.0
 *
 * stream: work for a device, done in the order in which it was submitted.
 *
 * Every submission has a ticket, a number one above the last. A ticket is through when its work is
 * done and what it wrote can be seen. How far the stream is becomes known when it is drained, and
 * at marks behind every half of pending_most tickets, since a mark costs the device time: so a
 * ticket with others behind it may be known to be through only when those are. An event (below)
 * marks its place exactly; so does pending_most = 2 for every ticket. Submitting returns at once,
 * unless so many are pending that the next must wait (pending_most). Waiting has a deadline,
 * always: without one of its own it is the context's sync_timeout_ns, or four times what the
 * pending launches declared as `expected_ns` where that is longer. A wait that misses its deadline
 * returns GYRE_TIMEOUT and is a strike, one for all that wait at the same time; any progress since
 * the last miss clears the earlier ones; the last strike loses the context.
 *
 * A fault that the device finds while it works is kept: every later call of the stream returns it,
 * and gyre_stream_fault names the kernel.
 *
 * Threads   any; submissions of one stream are serialised by a lock. A wait holds no lock.
 * Owns      the driver's stream, unless it was adopted.
 * Not here  the three strikes' consequences (gyre/context.h).
 */
#ifndef GYRE_STREAM_H
#define GYRE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/context.h"
#include "gyre/kernel.h"
#include "gyre/pool.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

typedef struct gyre_stream gyre_stream;
typedef struct gyre_event gyre_event;

/* Zero means default, everywhere. */
typedef struct gyre_stream_options {
    size_t struct_size;    /* sizeof(gyre_stream_options): lets the struct grow */
    const char *name;      /* for logs; copied, cut to 31 bytes; default "stream" */
    void *adopt;           /* the caller's own CUstream or in-order cl_command_queue, of the same
                            * context, which must outlive this; default: a new one */
    int32_t priority;      /* above 0: before others; below: after them; where there are such */
    uint32_t pending_most; /* default the context's */
} gyre_stream_options;

/* NULL options mean all defaults. GYRE_INVALID, GYRE_UNSUPPORTED for an adoption that the backend
 * does not know, GYRE_NO_MEMORY, GYRE_DEVICE_LOST. May block in the driver. */
GYRE_API GYRE_MUST_USE gyre_status gyre_stream_create(gyre_context *context,
                                                      const gyre_stream_options *options,
                                                      gyre_stream **out_stream);

/* One launch of a kernel. */
typedef struct gyre_launch {
    uint32_t grid[3];       /* blocks; zeros count as 1 */
    uint32_t block[3];      /* threads; zeros count as 1 */
    uint32_t shared_bytes;  /* of each block, beside what the kernel declares itself */
    bool cooperative;       /* all blocks are resident at once */
    const void *parameters; /* laid out as the kernel's signature says; copied */
    size_t parameters_size; /* with or without padding at the end */
    uint64_t expected_ns;   /* how long it should take; 0: not said */
} gyre_launch;

/* Submits a launch. GYRE_INVALID when it is not within the device's or kernel's limits, or the
 * parameters' size is not the signature's; GYRE_UNSUPPORTED for a cooperative one where there are
 * none; GYRE_NO_MEMORY; GYRE_TIMEOUT when there was no room before the deadline;
 * GYRE_DEVICE_LOST. Nothing was submitted then. Blocks for room only; like all submissions. */
GYRE_API GYRE_MUST_USE gyre_status gyre_stream_launch(gyre_stream *stream, gyre_kernel *kernel,
                                                      const gyre_launch *launch);

/* Submits a copy of `size` bytes, 0 being none. Either side may be memory of this context or of the
 * host; host memory that is not pinned must stay valid and unchanged until the ticket is through,
 * and may make the call wait for the copy. */
GYRE_API GYRE_MUST_USE gyre_status gyre_stream_copy(gyre_stream *stream, void *to, const void *from,
                                                    size_t size);

/* Rows of `width` bytes, `height` of them in a slice, `depth` slices: `*_pitch` bytes from row to
 * row and `*_slice` from slice to slice on each side; 0 means dense. */
typedef struct gyre_box {
    void *to;
    const void *from;
    size_t width, height, depth; /* height and depth 0 count as 1 */
    size_t to_pitch, to_slice;
    size_t from_pitch, from_slice;
} gyre_box;

/* The same for a box. GYRE_INVALID for a pitch below the width, a slice below its rows, or sizes
 * that overflow. */
GYRE_API GYRE_MUST_USE gyre_status gyre_stream_copy_box(gyre_stream *stream, const gyre_box *box);

/* The same from memory of `from_context` to memory of the stream's own: directly where the devices
 * reach each other, else through the host, and then it has happened on return. What was submitted
 * to other streams is not waited for. */
GYRE_API GYRE_MUST_USE gyre_status gyre_stream_copy_from(gyre_stream *stream, void *to,
                                                         gyre_context *from_context,
                                                         const void *from, size_t size);

/* A pattern of 1, 2, 4 or 8 bytes, `count` times, from `to` on, which is aligned to it. */
typedef struct gyre_fill {
    void *to;
    unsigned char pattern[8];
    size_t pattern_size;
    size_t count;
} gyre_fill;

/* Submits a fill. */
GYRE_API GYRE_MUST_USE gyre_status gyre_stream_fill(gyre_stream *stream, const gyre_fill *fill);

/* What a stream does with a word. Values are frozen. */
typedef enum gyre_word_act {
    GYRE_WORD_WRITE = 0, /* `value`, after everything before */
    GYRE_WORD_WAIT = 1,  /* until it is `value`; what comes later waits */
} gyre_word_act;

typedef struct gyre_word {
    gyre_word_act act;
    uint32_t value;
    uint32_t *at; /* in pinned memory of the context, aligned to 4 */
} gyre_word;

enum { GYRE_WORDS_MOST = 4 };

/* Submits up to GYRE_WORDS_MOST of these, done one after another, with one ticket: all or none.
 * Whoever sees a word that was written sees what the stream did before; the host reads it with
 * acquire. What is submitted behind a wait sees what was done before the word became what is waited
 * for, if that was released. Nobody ends a wait whose word does not come: for the stream's other
 * waits it is work that takes long, up to the loss of the context. GYRE_INVALID; GYRE_UNSUPPORTED
 * where the driver has no such thing: OpenCL and null devices only write. */
GYRE_API GYRE_MUST_USE gyre_status gyre_stream_words(gyre_stream *stream, const gyre_word *words,
                                                     size_t count);

/* Marks a place in the stream, for hosts and other streams to wait for, and to measure between. */
typedef enum gyre_event_use {
    GYRE_EVENT_ORDER = 0, /* waiting only */
    GYRE_EVENT_TIME = 1,  /* and measuring; costs the device more */
} gyre_event_use;

/* GYRE_UNSUPPORTED for GYRE_EVENT_TIME without GYRE_FEATURE_TIMING. */
GYRE_API GYRE_MUST_USE gyre_status gyre_event_create(gyre_context *context, gyre_event_use use,
                                                     gyre_event **out_event);

/* Marks the end of what the stream has been given so far; an earlier mark is forgotten. No ticket
 * of its own. */
GYRE_API GYRE_MUST_USE gyre_status gyre_event_record(gyre_event *event, gyre_stream *stream);

/* GYRE_OK when the event's place is reached, GYRE_AGAIN when not, GYRE_INVALID when it was never
 * recorded. Never blocks. */
GYRE_API GYRE_MUST_USE gyre_status gyre_event_poll(gyre_event *event);

/* What is submitted to `stream` from now on waits, on the device, for the event's place as it is
 * now: recorded on any stream of the same context. */
GYRE_API GYRE_MUST_USE gyre_status gyre_stream_wait_event(gyre_stream *stream, gyre_event *event);

/* Device time from one event to another of the same context, both reached: GYRE_AGAIN otherwise. */
GYRE_API GYRE_MUST_USE gyre_status gyre_event_between(gyre_event *from, gyre_event *to,
                                                      double *out_ns);

/* NULL is a no-op. */
GYRE_API void gyre_event_destroy(gyre_event *event);

/* The ticket of everything that was submitted so far: for gyre_stream_wait and
 * gyre_pool_give_after. It may be used until the context is destroyed. Never blocks. */
GYRE_API gyre_ticket gyre_stream_ticket(gyre_stream *stream);

/* Looks how far the stream is, and moves its timeline: GYRE_OK when everything is done, GYRE_AGAIN
 * when not, or the fault. Never blocks. */
GYRE_API GYRE_MUST_USE gyre_status gyre_stream_poll(gyre_stream *stream);

/* Waits for everything that was submitted before, with the context's deadline. GYRE_TIMEOUT,
 * GYRE_DEVICE_LOST, or the fault. */
GYRE_API GYRE_MUST_USE gyre_status gyre_stream_sync(gyre_stream *stream);

/* Waits until a ticket's value is through, up to a deadline (gyre/clock.h; GYRE_NEVER for none).
 * Each time that the context's own deadline passes meanwhile is a strike, and the last one ends the
 * wait; a deadline that is clearly shorter is none. */
GYRE_API GYRE_MUST_USE gyre_status gyre_stream_wait(gyre_stream *stream, uint64_t value,
                                                    uint64_t deadline_ns);

/* gyre_stream_sync up to `attempts` times while it returns GYRE_TIMEOUT, with a pause in between
 * that starts at `pause_ns` and doubles. */
GYRE_API GYRE_MUST_USE gyre_status gyre_stream_sync_retry(gyre_stream *stream, uint32_t attempts,
                                                          uint64_t pause_ns);

/* The driver's own: a CUstream or cl_command_queue; NULL on the CPU, or when the driver has no
 * memory for one that can be handed out. What is given to it directly has no ticket. */
GYRE_API void *gyre_stream_native(gyre_stream *stream);

/* The first failure that the device found while it worked on this stream, with the name of what was
 * submitted last; NULL: none. Borrowed from the stream. Never blocks. */
GYRE_API const gyre_error *gyre_stream_fault(const gyre_stream *stream);

typedef struct gyre_stream_statistics {
    size_t struct_size;  /* set by the caller: sizeof(gyre_stream_statistics) */
    uint64_t submitted;  /* tickets */
    uint64_t completed;  /* as far as was looked */
    uint64_t oldest_ns;  /* how long the oldest of the rest is under way; 0: there is none */
    uint64_t timeouts;   /* waits that missed their deadline */
    uint64_t blocked;    /* submissions that waited for room, */
    uint64_t blocked_ns; /* and how long together */
    uint32_t strikes;    /* now */
} gyre_stream_statistics;

/* Fills in no more than struct_size bytes. GYRE_INVALID when that is not set. Never blocks. */
GYRE_API GYRE_MUST_USE gyre_status gyre_stream_describe(gyre_stream *stream,
                                                        gyre_stream_statistics *out_statistics);

/* Waits for what is under way, up to the context's deadline, and ends it; NULL is a no-op. No other
 * call may be under way. */
GYRE_API void gyre_stream_destroy(gyre_stream *stream);

GYRE_END_DECLS

#endif
