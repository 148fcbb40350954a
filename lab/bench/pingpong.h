/* SPDX-License-Identifier: Apache-2.0
 *
 * pingpong: the time one cache line takes to another CPU and back: the floor of every figure with
 * two threads.
 *
 * Threads   starts two for the length of a call.
 * Owns      nothing.
 */
#ifndef GYRE_BENCH_PINGPONG_H
#define GYRE_BENCH_PINGPONG_H

#include <stdint.h>

#include "gyre/common.h"
#include "gyre/status.h"

typedef struct gyre_pingpong {
    double median_ns; /* of a round trip, over batches */
    double low_ns;    /* 10th and 90th percentile of the batches */
    double high_ns;
    uint64_t round_trips; /* that were counted by both sides */
} gyre_pingpong;

/* Bounces a line between two threads pinned to the CPUs for about 20 ms. GYRE_INVALID when a CPU
 * cannot be used or both are the same; GYRE_UNAVAILABLE when they did not run side by side for a
 * second, or the two sides count differently. */
GYRE_MUST_USE gyre_status gyre_pingpong_measure(uint32_t cpu_a, uint32_t cpu_b,
                                                gyre_pingpong *out_result);

#endif
