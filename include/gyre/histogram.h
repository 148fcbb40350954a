/* SPDX-License-Identifier: Apache-2.0
 *
 * histogram: how many messages of an actor took how long.
 *
 * Times are counted in buckets: one for each nanosecond below 4, then four of equal width for each
 * power of two, so that a bucket's bounds are within a quarter of each other. The last one has
 * all that took 7.5 seconds or longer.
 *
 * A time is the one whose sum, least and most gyre_actor_describe tells: from when the device took
 * the message to when it was handled. What a caller waits for is longer.
 *
 * Threads   any.
 * Owns      nothing.
 * Not here  how a launch asks for one (gyre/actor.h).
 */
#ifndef GYRE_HISTOGRAM_H
#define GYRE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/actor.h"
#include "gyre/actor_abi.h"
#include "gyre/common.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

typedef struct gyre_histogram {
    size_t struct_size; /* set by the caller: sizeof(gyre_histogram) */
    uint64_t total;     /* messages counted */
    uint64_t count[GYRE_HISTOGRAM_BUCKETS];
} gyre_histogram;

/* Adds up what all seats of an actor have told: every message, once it has ended or is parked; a
 * GPU that is busy tells when it has time. Fills in no more than struct_size bytes. GYRE_INVALID
 * when that is not set, or its launch did not ask for a histogram. Never blocks. */
GYRE_API GYRE_MUST_USE gyre_status gyre_actor_histogram(gyre_actor *actor,
                                                        gyre_histogram *out_histogram);

/* The shortest time that a bucket counts, which is where the one before it ends; from
 * GYRE_HISTOGRAM_BUCKETS on, UINT64_MAX. Pure. */
GYRE_API uint64_t gyre_histogram_bound_ns(uint32_t bucket);

/* A time that at least so many percent of the messages took, at most; it is the longest of its
 * bucket. 0 when there are none. Pure. */
GYRE_API uint64_t gyre_histogram_percentile_ns(const gyre_histogram *histogram, double percent);

GYRE_END_DECLS

#endif
