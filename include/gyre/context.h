/* SPDX-License-Identifier: Apache-2.0
 *
 * context: a device in use: its memory, and whether it still answers.
 *
 * Everything on a device belongs to a context: streams, events, kernels, memory. They are destroyed
 * before it. There may be several, on one device too; nothing is shared between them.
 *
 * A context is lost when a stream of it has missed its deadline three times without any progress,
 * or when the driver reports a fault after which it answers nothing. Then every call returns
 * GYRE_DEVICE_LOST with the reason; destroying still works, and waits for nothing: what hangs is
 * left where it is, never waited for. Whether a new context on the same device works is found out
 * by creating one: it is tried with a small copy before it is returned. After a fault on a GPU of
 * NVIDIA the driver refuses this device until the process ends.
 *
 * Threads   any.
 * Owns      the driver's context, unless it was adopted.
 * Not here  submitting (gyre/stream.h), sensors (gyre/monitor.h).
 */
#ifndef GYRE_CONTEXT_H
#define GYRE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/alloc.h"
#include "gyre/common.h"
#include "gyre/device.h"
#include "gyre/memory.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

typedef struct gyre_context gyre_context;

/* Zero means default, everywhere. */
typedef struct gyre_context_options {
    size_t struct_size;              /* sizeof(gyre_context_options): lets the struct grow */
    const gyre_allocator *allocator; /* for the books; copied; default malloc */
    const char *name;                /* for logs; copied, cut to 31 bytes; default the device's */
    void *adopt; /* the caller's own CUcontext or cl_context, which must outlive this; default: a
                  * new one */
    uint64_t sync_timeout_ns; /* after which a wait without a deadline of its own is a miss;
                               * default GYRE_SYNC_TIMEOUT, 2 s */
    uint32_t strikes;         /* misses without progress until it is lost; default 3 */
    uint32_t pending_most; /* submissions of a stream that may be under way before the next waits;
                            * default 16; 256 is the most, and what larger numbers mean */
    uint32_t workers;      /* the CPU's threads; default GYRE_CPU_WORKERS, all CPUs */
    const char *faults;    /* what shall go wrong (docs/backends.md); default GYRE_NULL_FAULTS;
                            * GYRE_UNSUPPORTED unless the device has GYRE_FEATURE_FAULTS */
} gyre_context_options;

/* Opens a device. NULL options mean all defaults. GYRE_UNAVAILABLE for a device in trouble, with
 * the reason, and in a forked child; GYRE_DEVICE_LOST when the device does not answer, for
 * GYRE_SYNC_TIMEOUT at least, or the driver has given it up in this process; GYRE_INVALID,
 * GYRE_UNSUPPORTED, GYRE_NO_MEMORY. Blocks in the driver: a tenth of a second and more for a GPU.
 */
GYRE_API GYRE_MUST_USE gyre_status gyre_context_create(const gyre_device *device,
                                                       const gyre_context_options *options,
                                                       gyre_context **out_context);

/* Its device. Never blocks. */
GYRE_API const gyre_device *gyre_context_device(const gyre_context *context);

/* The driver's own: a CUcontext or cl_context, for the caller's own calls; NULL on the CPU. Valid
 * until the context is destroyed. */
GYRE_API void *gyre_context_native(const gyre_context *context);

typedef enum gyre_context_memory_kind {
    GYRE_CONTEXT_DEVICE = 0, /* the device's own: fast there; the host reaches it by copies only,
                              * unless the device has GYRE_FEATURE_HOST_REACH */
    GYRE_CONTEXT_PINNED = 1, /* the host's, which the device copies from and to directly, and
                              * reaches in place with GYRE_FEATURE_MAPPED */
} gyre_context_memory_kind;

/* A source of memory, for gyre_pool_create. Its blocks stay where they are, aligned as asked up to
 * 4096. Giving back may wait for the device to be idle, which is why there is a pool in between.
 * Borrowed until the context is destroyed, which comes after all pools and blocks. NULL for no such
 * kind. Never blocks. */
GYRE_API const gyre_memory *gyre_context_memory(gyre_context *context,
                                                gyre_context_memory_kind kind);

/* Bytes of device memory that are free now, to all processes together, and how many there are.
 * GYRE_UNSUPPORTED where the driver does not tell. May block in the driver. */
GYRE_API GYRE_MUST_USE gyre_status gyre_context_room(gyre_context *context, uint64_t *out_free,
                                                     uint64_t *out_total);

/* GYRE_OK while it works; otherwise GYRE_DEVICE_LOST, and the detail says since what. Asks nobody:
 * what happened meanwhile is found by the next sync or poll of a stream. Never blocks. */
GYRE_API GYRE_MUST_USE gyre_status gyre_context_check(gyre_context *context);

/* What made it lost, with the kernel's name; NULL while it works. Borrowed from the context. Never
 * blocks. */
GYRE_API const gyre_error *gyre_context_fault(const gyre_context *context);

/* Forgets the strikes. A context that was lost because it was slow, and has finished since, works
 * again: GYRE_OK; otherwise, and when something of it was destroyed or given back meanwhile, it
 * stays lost: GYRE_DEVICE_LOST. GYRE_UNAVAILABLE in a forked child. Never blocks for long. */
GYRE_API GYRE_MUST_USE gyre_status gyre_context_reset(gyre_context *context);

/* What all streams together have under way. */
typedef struct gyre_context_statistics {
    size_t struct_size;    /* set by the caller: sizeof(gyre_context_statistics) */
    uint64_t submitted;    /* by all streams there are */
    uint64_t completed;    /* as far as was looked */
    uint64_t oldest_ns;    /* how long the oldest of the rest is under way; 0: there is none */
    uint64_t timeouts;     /* waits that missed their deadline */
    uint64_t blocked_ns;   /* how long submissions waited for room */
    uint32_t streams;      /* there are */
    uint32_t strikes;      /* of the stream that has most */
    uint64_t device_bytes; /* of device memory that are taken from gyre_context_memory */
    uint64_t pinned_bytes; /* likewise */
} gyre_context_statistics;

/* Fills in no more than struct_size bytes. GYRE_INVALID when that is not set, GYRE_UNAVAILABLE in a
 * forked child. May block in a lock. */
GYRE_API GYRE_MUST_USE gyre_status gyre_context_describe(gyre_context *context,
                                                         gyre_context_statistics *out_statistics);

/* Ends it; NULL is a no-op. Its streams, events, kernels and memory are gone before. Waits for work
 * that is under way, but not on a lost one. In a forked child it only frees. */
GYRE_API void gyre_context_destroy(gyre_context *context);

GYRE_END_DECLS

#endif
