/* SPDX-License-Identifier: Apache-2.0
 *
 * dispatch: a thread that takes commands from a channel, runs them on a device and answers them.
 *
 * Any thread may send a gyre_command (gyre/command.h) through the channel and wait for the answer;
 * it needs neither the context nor its streams. Commands name kernels and buffers by ids: kernels
 * are registered with gyre_dispatch_kernel, buffers allocated with gyre_dispatch_allocate. A
 * launch's parameters are laid out as the kernel's signature says, with addresses for pointers; who
 * has only the id of a buffer asks once with gyre_dispatch_address.
 *
 * Commands of one stream run in the order in which they come, those of different streams in any. An
 * answer is sent when the work is through, not when it was submitted: a launch's with its failure,
 * a SYNCHRONIZE's when everything of its stream before it is through. A command that is refused (an
 * unknown id, a place outside the buffer, a wrong size of parameters) is answered at once and does
 * nothing. A stream that has `pending_most` commands under way is given no more: the next one for
 * it, and what is behind that, waits in the channel, whose policy tells the senders.
 *
 * Bytes that are sent are released by the dispatcher's thread once the device has them; when it is
 * lost, not before it comes back (gyre_context_reset), since it may still read them.
 *
 * The strikes of gyre/stream.h count here as if somebody waited for each command. When the device
 * is lost, everything under way and every later command is answered with GYRE_DEVICE_LOST.
 *
 * Threads   any, but for stop. Nothing is for signal handlers. A forked child may only stop.
 * Owns      its thread, streams, pools and buffers. Borrows the context and the channel, which
 *           outlive it; closes neither. Holds its kernels.
 * Not here  the channel and its calls (gyre/channel.h, gyre/reply.h).
 */
#ifndef GYRE_DISPATCH_H
#define GYRE_DISPATCH_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/alloc.h"
#include "gyre/buffers.h"
#include "gyre/bytes.h"
#include "gyre/channel.h"
#include "gyre/command.h"
#include "gyre/common.h"
#include "gyre/context.h"
#include "gyre/kernel.h"
#include "gyre/memory.h"
#include "gyre/reply.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

typedef struct gyre_dispatch gyre_dispatch;

/* Zero means default, everywhere. */
typedef struct gyre_dispatch_options {
    size_t struct_size;              /* sizeof(gyre_dispatch_options): lets the struct grow */
    const gyre_allocator *allocator; /* for the books; copied; default malloc */
    const char *name;          /* of its thread, and for logs; copied, cut; default "dispatch" */
    uint32_t streams;          /* a command's `stream` is below this; default 1, at most 64 */
    uint32_t pending_most;     /* commands of a stream under way; default 16, at most 256 */
    const uint32_t *cpus;      /* on which its thread may run; default the starter's */
    size_t cpu_count;          /* how many of them */
    uint64_t spin_ns;          /* how long it looks for the next command before it sleeps; default
                                * GYRE_SPIN; GYRE_NEVER: always, which takes a CPU for itself */
    size_t device_limit_bytes; /* drawn for buffers at most; default: no limit */
    size_t pinned_limit_bytes; /* drawn for what is read, and gyre_dispatch_memory; likewise */
} gyre_dispatch_options;

/* Starts a dispatcher of `channel`, which is one of gyre_command_channel that delivers to ONE, for
 * the device of `context`. NULL options mean all defaults. GYRE_INVALID for another channel,
 * numbers out of range or CPUs that may not be used; GYRE_NO_MEMORY, GYRE_DEVICE_LOST, and
 * GYRE_UNAVAILABLE in a forked child. May block in the driver. */
GYRE_API GYRE_MUST_USE gyre_status gyre_dispatch_start(gyre_context *context, gyre_channel *channel,
                                                       const gyre_dispatch_options *options,
                                                       gyre_dispatch **out_dispatch);

/* Registers a kernel of the same context; it is retained until the stop. Its id is never 0 and
 * never another's. GYRE_INVALID for NULL, GYRE_NO_MEMORY. May block in a lock, as all below. */
GYRE_API GYRE_MUST_USE gyre_status gyre_dispatch_kernel(gyre_dispatch *dispatch,
                                                        gyre_kernel *kernel, uint64_t *out_id);

/* A buffer of `size` bytes of device memory. Its id is never 0, and never valid again once it is
 * deallocated. GYRE_INVALID for size 0, GYRE_AGAIN at the limit, GYRE_NO_MEMORY, GYRE_DEVICE_LOST.
 * Zeroing waits for the device: also GYRE_TIMEOUT, and its faults. */
GYRE_API GYRE_MUST_USE gyre_status gyre_dispatch_allocate(gyre_dispatch *dispatch, size_t size,
                                                          gyre_buffer_content content,
                                                          uint64_t *out_id);

/* Its address on the device, for the parameters of launches: as long as it is not deallocated.
 * GYRE_NOT_FOUND for an id that is not, or no longer, a buffer's. */
GYRE_API GYRE_MUST_USE gyre_status gyre_dispatch_address(gyre_dispatch *dispatch, uint64_t id,
                                                         void **out_address);

/* Ends a buffer. Its memory is used for others only after everything is through that was submitted
 * before, on all streams. A command that is taken later does not find it; a launch that is taken
 * later, with its address, reads and writes what may be another's. GYRE_NOT_FOUND as above. */
GYRE_API GYRE_MUST_USE gyre_status gyre_dispatch_deallocate(gyre_dispatch *dispatch, uint64_t id);

/* Pinned memory, for gyre_bytes_take: what is sent to the device from there is copied by the device
 * itself. Any other memory may keep the dispatcher busy for as long as the copy takes. Borrowed
 * until the stop, before which all of its bytes are released. Never blocks. */
GYRE_API const gyre_memory *gyre_dispatch_memory(gyre_dispatch *dispatch);

/* What a gyre_answer holds in its bytes: exactly GYRE_ANSWER_BYTES. The layout is frozen. */
typedef struct gyre_dispatch_answer {
    gyre_bytes bytes; /* the receiver's to release. GYRE_OK: what was read from the device, and
                       * empty for other commands. Otherwise the sentence that says what went
                       * wrong, with the NUL at its end; or empty */
    int32_t status;   /* gyre_status of the command, as in the gyre_answer */
    int32_t native;   /* the driver's code; 0: none */
    uint64_t work_ns; /* from when the command was taken to its answer */
} gyre_dispatch_answer;

/* Sends a command and waits for what comes of it: returns the command's status, and its failure is
 * this thread's detail. Or what gyre_call returns when there was no answer; *out_answer is zero
 * then. It may be NULL, and is released already unless GYRE_OK is returned. What the command refers
 * to is handed over, whatever happens. Bytes that were read are released before the dispatcher is
 * stopped. GYRE_INVALID for what is no command. Needs the channel only. Blocks. */
GYRE_API GYRE_MUST_USE gyre_status gyre_dispatch_call(gyre_channel *channel, uint32_t priority,
                                                      gyre_command *command, uint64_t deadline_ns,
                                                      gyre_dispatch_answer *out_answer);

/* The same for an answer that came by gyre_call or gyre_reply_wait: takes what it holds. The
 * command's status; GYRE_CORRUPT for what is no answer of a dispatcher. Never blocks. */
GYRE_API GYRE_MUST_USE gyre_status gyre_dispatch_read(const gyre_answer *answer,
                                                      gyre_dispatch_answer *out_answer);

/* Exact when nothing is under way. */
typedef struct gyre_dispatch_statistics {
    size_t struct_size;    /* set by the caller: sizeof(gyre_dispatch_statistics) */
    uint64_t launches;     /* commands that were taken, by kind */
    uint64_t to_device;    /* */
    uint64_t from_device;  /* */
    uint64_t synchronizes; /* */
    uint64_t corrupt;      /* taken, and no command */
    uint64_t failures;     /* of all these, those that were not GYRE_OK, and of them */
    uint64_t unheard;      /* those without anybody to tell; the first is logged */
    uint64_t late;         /* answers to callers who had given up */
    uint64_t pending;      /* commands under way now */
    uint64_t worst_ns;     /* the longest from taking a command to its answer */
    uint32_t kernels;      /* registered */
    uint32_t buffers;      /* there are */
    uint64_t buffer_bytes; /* theirs, together */
} gyre_dispatch_statistics;

/* Fills in no more than struct_size bytes. GYRE_INVALID when that is not set. */
GYRE_API GYRE_MUST_USE gyre_status gyre_dispatch_describe(gyre_dispatch *dispatch,
                                                          gyre_dispatch_statistics *out_statistics);

/* Takes no more commands, finishes and answers those that were taken, and ends everything that it
 * owns; NULL is a no-op. What is in the channel stays there. Blocks: for up to 20 ms when nothing
 * is under way, otherwise until that is through, or the device is lost by its strikes. Bytes that a
 * lost device may still touch are never released. When the channel is closed the thread runs what
 * is left in it and ends by itself; stop is still called. Once, when no other call is under way. */
GYRE_API void gyre_dispatch_stop(gyre_dispatch *dispatch);

GYRE_END_DECLS

#endif
