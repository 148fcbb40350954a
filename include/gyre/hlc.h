/* SPDX-License-Identifier: Apache-2.0
 *
 * hlc: a hybrid logical clock: times that respect what caused what, and stay near the wall clock.
 *
 * A time is 64 bits: the upper 48 of the wall clock's nanoseconds since 1970 and a counter of 16,
 * so that times are compared as numbers. Each one that a clock gives is later than all that it gave
 * and received before, whichever thread asked, even when the wall clock is set back.
 *
 * Threads   any, on one clock.
 * Owns      nothing; the clock is one word, the caller's. Zero is a clock.
 * Not here  durations and deadlines (gyre/clock.h).
 */
#ifndef GYRE_HLC_H
#define GYRE_HLC_H

#include <stdint.h>

#include "gyre/common.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

typedef struct gyre_hlc {
    uint64_t last; /* shared */
} gyre_hlc;

/* How far the times of others may be ahead of this machine's, by default. */
#define GYRE_HLC_AHEAD_NS UINT64_C(1000000000)

/* The time of something that happens here: what to put into a message. Never 0. Thread-safe, never
 * blocks, may be called from a signal handler. */
GYRE_API uint64_t gyre_hlc_now(gyre_hlc *clock);

/* The time of a receipt, later than `remote`, which is the message's. GYRE_INVALID when that is
 * more than `ahead_ns` (0: GYRE_HLC_AHEAD_NS) ahead of the wall clock here, or past 2262: the clock
 * is left alone then, since it would run ahead for as long, and *out_time is 0. Thread-safe, never
 * blocks, not for signal handlers. */
GYRE_API GYRE_MUST_USE gyre_status gyre_hlc_receive(gyre_hlc *clock, uint64_t remote,
                                                    uint64_t ahead_ns, uint64_t *out_time);

/* The wall clock's nanoseconds in a time, down to 65536. */
GYRE_INLINE uint64_t gyre_hlc_wall_ns(uint64_t time)
{
    return time & ~UINT64_C(0xffff);
}

GYRE_END_DECLS

#endif
