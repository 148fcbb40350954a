/* SPDX-License-Identifier: Apache-2.0
 *
 * park: waiting for a condition: spin for a while, then sleep until woken.
 *
 * A gyre_park is a place to sleep; the condition is the caller's. Waking costs one load while
 * nobody sleeps. A sleep and its wake cost many times what a spin costs, which is the time of one
 * cache line, so a wait spins first, up to GYRE_SPIN, for as long as that pays: a gyre_spin, one
 * for each thread and place, remembers. After three spins in vain waits sleep at once, and only
 * every sixteenth tries a spin again.
 *
 * The rule that prevents a lost wake: the waker changes the condition with a seq_cst operation and
 * then calls gyre_park_wake; `ready` reads it with a seq_cst load. [park-handshake]
 *
 * Threads   any number of waiters and wakers.
 * Owns      nothing: both structs are the caller's; zero is ready for use, and there is no fini. A
 *           park must outlive every call of gyre_park_wake, which reads it after the change.
 * Not here  queues (gyre/channel.h).
 */
#ifndef GYRE_PARK_H
#define GYRE_PARK_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

typedef struct gyre_park {
    uint32_t epoch;    /* shared; changes with every wake, and sleepers watch it */
    uint32_t sleepers; /* shared; threads that sleep or are about to */
} gyre_park;

typedef struct gyre_spin {
    uint32_t waits;    /* that were not over at once */
    uint32_t sleeps;   /* how many of them had to sleep */
    uint32_t failures; /* spins in vain since the last one that paid */
} gyre_spin;

/* Waits until `ready(arg)` returns true. GYRE_TIMEOUT when the deadline (gyre/clock.h, GYRE_NEVER
 * for none) passes first; never earlier than the deadline, and `ready` is asked once more before
 * that. `spin` may be NULL: sleep at once. May wake spuriously inside, never returns so.
 * GYRE_UNAVAILABLE instead of sleeping in a forked child. Blocks; thread-safe; not for signal
 * handlers. */
GYRE_API GYRE_MUST_USE gyre_status gyre_park_wait(gyre_park *park, gyre_spin *spin,
                                                  bool (*ready)(void *arg), void *arg,
                                                  uint64_t deadline_ns);

/* Lets up to `count` sleepers look again; UINT32_MAX for all. Call it after the change.
 * Thread-safe, never blocks, may be called from a signal handler. */
GYRE_API void gyre_park_wake(gyre_park *park, uint32_t count);

GYRE_END_DECLS

#endif
