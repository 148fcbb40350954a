/* SPDX-License-Identifier: Apache-2.0
 *
 * spans: what happens in a case, on the host and on devices, as trace events
 * (docs/formats/trace.md).
 *
 * While a case is recorded, the library's recorder (gyre/trace.h) is on, and the suite adds what
 * only it knows (gyre_bench_span). Times are put on CLOCK_MONOTONIC by two readings
 * of both clocks, because each process calibrates gyre/clock.h for itself and they drift apart by
 * some millionths.
 *
 * Threads   the one that drives the case; what others record is read when it is over.
 * Owns      what the suite adds, from begin to end.
 * Not here  joining cases into a file (main/trace_file.h).
 */
#ifndef GYRE_BENCH_SPANS_H
#define GYRE_BENCH_SPANS_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/status.h"

/* Starts to record. GYRE_INVALID when the program records already, GYRE_NO_MEMORY. */
GYRE_MUST_USE gyre_status gyre_spans_begin(void);

typedef struct gyre_spans_text {
    char *json; /* an array of events; free() it */
    size_t length;
    uint64_t lost; /* events that were overwritten, or had no place */
} gyre_spans_text;

/* Stops and hands over the events, under that number of a process; `name` is the whole span's.
 * GYRE_NO_MEMORY. */
GYRE_MUST_USE gyre_status gyre_spans_end(const char *name, uint64_t process,
                                         gyre_spans_text *out_text);

#endif
