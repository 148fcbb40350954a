/* SPDX-License-Identifier: Apache-2.0
 *
 * sample: warms a case up and takes its samples, of host time and of the suite's own clock.
 *
 * Threads   the caller's.
 * Owns      nothing: samples belong to the result.
 * Not here  one timed run (bench/drive.h), what the samples say (bench/analyse.h).
 */
#ifndef GYRE_BENCH_SAMPLE_H
#define GYRE_BENCH_SAMPLE_H

#include "bench/drive.h"
#include "bench/method.h"
#include "bench/result.h"
#include "gyre/common.h"
#include "gyre/status.h"

/* What one iteration takes, by the last and largest batches of the warm-up. */
typedef struct gyre_pace {
    double timed_ns; /* 0 when nothing could be timed */
    double spent_ns; /* with what is prepared for it, which is not timed but takes its time */
} gyre_pace;

/* Runs batches of doubling size until the warm-up time is spent, at least three where that does not
 * take much longer. A suite's clock, where there is one, waits for each batch. */
GYRE_MUST_USE gyre_status gyre_sample_warm_up(gyre_drive *drive, uint64_t warm_up_ns,
                                              gyre_pace *out_pace);

/* Takes the samples of host time into result->time.samples, and those of the case beside it, where
 * there is one, into result->beside; with a suite's clock one iteration each, and result->cold and
 * hot as well. There are fewer than planned when the user stopped
 * it. GYRE_NO_MEMORY, or what the suite's clock said. */
GYRE_MUST_USE gyre_status gyre_sample_take(gyre_drive *drive, const gyre_method *method,
                                           const gyre_pace *pace, gyre_result *result);

#endif
