/* SPDX-License-Identifier: Apache-2.0
 *
 * clock: nanoseconds since some moment before the program started.
 *
 * Reads the processor's own counter where it ticks at a constant rate and the kernel trusts it
 * (x86-64: invariant TSC, calibrated against CLOCK_MONOTONIC at the first reading; aarch64:
 * cntvct_el0, whose rate the machine states), and clock_gettime(CLOCK_MONOTONIC) otherwise.
 * GYRE_CLOCK chooses by hand. Never goes backwards on one thread. It starts at CLOCK_MONOTONIC's
 * value and then runs on its own, so do not mix readings of the two: they part by error_ppm.
 *
 * Threads   any.
 * Owns      the calibration, one for the process.
 * Not here  timing of benchmarks (lab/bench/), device clocks.
 */
#ifndef GYRE_CLOCK_H
#define GYRE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

/* No deadline: what a waiting call takes for "for ever". */
#define GYRE_NEVER UINT64_MAX

/* Nanoseconds. Not ordered with the instructions around it: a reading may slip by as long as they
 * take. Thread-safe; the first call calibrates and blocks for about 2 ms, later ones never block
 * and may be made from a signal handler. */
GYRE_API uint64_t gyre_clock_now_ns(void);

/* The moment `delay_ns` from now, GYRE_NEVER when that lies beyond the clock. As
 * gyre_clock_now_ns. */
GYRE_API uint64_t gyre_clock_after_ns(uint64_t delay_ns);

typedef struct gyre_clock_info {
    size_t struct_size;   /* set by the caller: sizeof(gyre_clock_info) */
    const char *source;   /* "tsc", "cntvct" or "clock_gettime"; static */
    const char *reason;   /* why that one, in words; static */
    double ticks_per_ns;  /* of the counter; 0 for clock_gettime */
    double error_ppm;     /* bound of the calibration's error; 0 when the rate was not measured */
    double resolution_ns; /* smallest step seen between two readings; measured by the call */
    double cost_ns;       /* of one reading; median of batches; measured by the call */
} gyre_clock_info;

/* Describes the clock and measures it, for about 1 ms. Writes no more than struct_size bytes.
 * GYRE_INVALID when that is not set, GYRE_UNAVAILABLE in a forked child. Thread-safe; blocks for
 * that time; not for signal handlers. */
GYRE_API GYRE_MUST_USE gyre_status gyre_clock_describe(gyre_clock_info *out_info);

GYRE_END_DECLS

#endif
