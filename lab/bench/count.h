/* SPDX-License-Identifier: Apache-2.0
 *
 * count: allocations and instructions of a benchmark, in a process that was started for that.
 *
 * Allocations are counted where the program was started with the counting library of lab/preload in
 * front of it. Instructions are counted by the processor where it lets us, else by callgrind, which
 * then runs this process and collects inside gyre_bench_counted_run only; its answer is in its own
 * file, so nothing is reported here.
 *
 * Threads   the caller's, and those that the benchmark starts.
 * Owns      nothing.
 */
#ifndef GYRE_BENCH_COUNT_H
#define GYRE_BENCH_COUNT_H

#include "bench/drive.h"
#include "bench/result.h"
#include "gyre/common.h"
#include "gyre/status.h"

/* The function whose costs callgrind collects. */
#define GYRE_COUNTED_FUNCTION "gyre_bench_counted_run"

/* How many iterations callgrind saw: as a fact of the result, for whoever reads its file. */
#define GYRE_COUNTED_FACT "counted_iterations"

/* Into result->memory. */
void gyre_count_memory(gyre_drive *drive, gyre_result *result);

/* Into result->instructions by the processor; under callgrind leaves the fact instead. */
void gyre_count_instructions(gyre_drive *drive, gyre_result *result);

/* 0 when the processor counts instructions for us, else errno. */
int gyre_count_probe(void);

#endif
