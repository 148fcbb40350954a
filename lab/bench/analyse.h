/* SPDX-License-Identifier: Apache-2.0
 *
 * analyse: what samples say: the median and its interval, the other estimates, outliers, and what
 * makes the figures doubtful.
 *
 * Intervals come from resampling whole blocks of neighbouring samples, at least twice as long as
 * the samples remember: on a shared machine neighbours resemble each other, and resampling them
 * singly would promise too much.
 *
 * Threads   any; on the caller's data.
 * Owns      nothing.
 * Not here  taking samples (bench/sample.h), formulas (stat/).
 */
#ifndef GYRE_BENCH_ANALYSE_H
#define GYRE_BENCH_ANALYSE_H

#include "bench/method.h"
#include "bench/result.h"
#include "gyre/common.h"
#include "gyre/status.h"

/* Median and interval of a figure from its series, which must not be empty. */
GYRE_MUST_USE gyre_status gyre_analyse_figure(gyre_figure *figure, const gyre_method *method);

/* Everything that follows from the result's series. */
GYRE_MUST_USE gyre_status gyre_analyse(gyre_result *result, const gyre_method *method);

/* How `result` has changed against the samples of `base`; both must have been measured. `name` is
 * what the baseline is called. */
GYRE_MUST_USE gyre_status gyre_analyse_change(gyre_result *result, const gyre_result *base,
                                              const char *name, const gyre_method *method);

#endif
