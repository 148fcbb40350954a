/* SPDX-License-Identifier: Apache-2.0
 *
 * context: what the rooms of exec share of an opened device. See gyre/context.h for the contract.
 *
 * Threads   `lost` and the counters by any; lists and the fault under the lock. Edge:
 *           [context-lost].
 * Owns      the opened device, the timelines.
 */
#ifndef GYRE_EXEC_CONTEXT_H
#define GYRE_EXEC_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dev/backend.h"
#include "gyre/alloc.h"
#include "gyre/context.h"
#include "gyre/memory.h"
#include "gyre/status.h"

/* Drivers have room for a limited number of operations of one stream, timed events among them, and
 * let who submits more behind a kernel that hangs wait without end. Each submission may come with
 * two such events. */
enum { GYRE_NAME_BYTES = 32, GYRE_PENDING_MOST = 256, GYRE_SUSPECTS_BYTES = 160 };

/* How far a stream is. It stays where it is to the end of the context, because pools look at it
 * after the stream is gone; the next stream goes on where the last one stopped. */
typedef struct gyre_timeline {
    _Alignas(64) uint64_t completed; /* by atomic builtins: pools read it through a pointer */
    struct gyre_timeline *next;      /* of those that no stream uses */
    struct gyre_timeline *next_made; /* of all */
} gyre_timeline;

typedef enum gyre_loss {
    GYRE_LOSS_NONE = 0,
    GYRE_LOSS_HUNG = 1,  /* it may still come back */
    GYRE_LOSS_FAULT = 2, /* it will not */
} gyre_loss;

struct gyre_context {
    const gyre_backend *backend;
    const gyre_device *device;
    gyre_dev *dev;
    gyre_allocator allocator;
    char name[GYRE_NAME_BYTES];
    uint64_t sync_timeout_ns;
    uint32_t strikes_most;
    uint32_t pending_most;
    gyre_memory device_memory, pinned_memory;
    _Atomic uint64_t device_bytes, pinned_bytes;
    _Atomic uint32_t objects;        /* streams, events, kernels and graphs that there are */
    _Atomic uint32_t lost;           /* gyre_loss */
    _Atomic uint32_t profiling;      /* whether `profile` is to be used */
    _Atomic uint32_t profile_inside; /* submissions that use it */
    struct gyre_profile *profile;    /* constant while profiling */

    pthread_mutex_t lock;          /* what follows; taken after a stream's */
    bool abandoned;                /* the backend was told */
    gyre_error fault;              /* while lost */
    struct gyre_stream *streams;   /* all */
    gyre_timeline *timelines;      /* of no stream */
    gyre_timeline *timelines_made; /* all */
    uint64_t timeouts_before;      /* of streams that are gone, like */
    uint64_t blocked_before_ns;    /* this */
};

/* GYRE_OK, or GYRE_DEVICE_LOST with the reason as this thread's detail. */
GYRE_MUST_USE gyre_status gyre_context_usable(gyre_context *context);

/* Makes it lost, for the reason that is this thread's detail unless one was there before; returns
 * GYRE_DEVICE_LOST. */
gyre_status gyre_context_lose(gyre_context *context, gyre_loss loss);

/* What a call of the backend returned. GYRE_DEVICE_LOST loses the context, and the reason, this
 * thread's detail, gets to know what was under way. Returns the status. */
gyre_status gyre_context_heard(gyre_context *context, gyre_status status);

/* Which of what is under way on all its streams it may be: "stream: in 'relu'". Leaves out those
 * that are locked, so the caller may hold one. */
void gyre_context_suspects(gyre_context *context, char *text, size_t size);

/* Before anything of it is closed or given back: a lost device is abandoned first. */
void gyre_context_leave(gyre_context *context);

/* A timeline that nobody uses, and back. GYRE_NO_MEMORY. */
GYRE_MUST_USE gyre_status gyre_context_take_timeline(gyre_context *context,
                                                     gyre_timeline **out_timeline);
void gyre_context_give_timeline(gyre_context *context, gyre_timeline *timeline);

/* Copies a name, cut to fit. */
void gyre_name_copy(char into[GYRE_NAME_BYTES], const char *name, const char *otherwise);

/* Makes "who: suspects: text" of a fault's text, cut to fit. */
void gyre_fault_explain(gyre_error *fault, const char *who, const char *suspects);

/* Makes `fault` this thread's detail again; returns its status. */
GYRE_MUST_USE gyre_status gyre_fault_again(const gyre_error *fault);

#endif
