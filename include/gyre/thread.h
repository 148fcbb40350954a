/* SPDX-License-Identifier: Apache-2.0
 *
 * thread: threads as the library starts them: named, placed, and deaf to signals.
 *
 * Signals belong to the program that embeds the library, so a thread started here blocks all of
 * them for its whole life.
 *
 * Threads   any thread may start one; the one that stops it must be another than the thread itself.
 * Owns      the thread until it is stopped. Borrows the argument.
 * Not here  waiting (gyre/park.h), how many CPUs there are (gyre/topology.h).
 */
#ifndef GYRE_THREAD_H
#define GYRE_THREAD_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/alloc.h"
#include "gyre/common.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

typedef struct gyre_thread gyre_thread;

/* Zero means default, everywhere. */
typedef struct gyre_thread_options {
    size_t struct_size;              /* sizeof(gyre_thread_options): lets the struct grow */
    const char *name;                /* seen in ps and debuggers, cut to 15 bytes; default "gyre" */
    const gyre_allocator *allocator; /* for the handle; copied; default malloc */
    size_t stack_bytes;              /* rounded up to what the system needs; default the system's */
    const uint32_t *cpus;            /* CPUs it may run on; default the starter's */
    size_t cpu_count;                /* how many of them */
} gyre_thread_options;

/* Starts a thread that runs `body(arg)`. NULL options mean all defaults. GYRE_INVALID when none of
 * the CPUs may be used, for an impossible stack or no struct_size; GYRE_NO_MEMORY when the system
 * has no thread to give; GYRE_UNAVAILABLE in a forked child. Thread-safe; may block; not for signal
 * handlers. */
GYRE_API GYRE_MUST_USE gyre_status gyre_thread_start(void (*body)(void *arg), void *arg,
                                                     const gyre_thread_options *options,
                                                     gyre_thread **out_thread);

/* Waits until the body has returned, then frees the handle; NULL is a no-op. In a forked child,
 * where the thread does not exist, only frees. Once for each thread, by any other thread; blocks;
 * not for signal handlers. */
GYRE_API void gyre_thread_stop(gyre_thread *thread);

/* Lets the calling thread run on these CPUs only. GYRE_INVALID when none of them may be used,
 * GYRE_UNAVAILABLE in a forked child. Thread-safe; does not block; not for signal handlers. */
GYRE_API GYRE_MUST_USE gyre_status gyre_thread_pin_self(const uint32_t *cpus, size_t cpu_count);

GYRE_END_DECLS

#endif
