/* SPDX-License-Identifier: Apache-2.0
 *
 * latency: how long single calls take, by percentile.
 *
 * Closed loop: each call follows the one before, and its time is from before to after it. Open
 * loop: calls are due at a fixed rate, and a call's time begins when it was due, whether or not the
 * one before had ended: a slow call is charged with the waiting that it caused. Reading the clock
 * is part of each time; preparing a call and gathering a team of threads is not.
 *
 * Threads   the caller's.
 * Owns      nothing.
 */
#ifndef GYRE_BENCH_LATENCY_H
#define GYRE_BENCH_LATENCY_H

#include "bench/drive.h"
#include "bench/method.h"
#include "bench/result.h"
#include "gyre/common.h"
#include "gyre/status.h"

/* Calls for the measurement time, at most GYRE_MOST_CALLS, into result->latency. Fewer when the
 * user stopped it. GYRE_NO_MEMORY, or what the suite's clock said. */
GYRE_MUST_USE gyre_status gyre_latency_take(gyre_drive *drive, const gyre_method *method,
                                            gyre_result *result);

/* Quantiles and their intervals from the calls. */
GYRE_MUST_USE gyre_status gyre_latency_judge(gyre_latency *latency, double confidence);

#endif
