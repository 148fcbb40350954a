/* SPDX-License-Identifier: Apache-2.0
 *
 * google: a run as Google Benchmark's JSON, for its compare.py and what else reads it
 * (docs/formats/exports.md).
 *
 * Every sample is a repetition, so that compare.py's U test has something to work on; the
 * aggregates mean, median, stddev and cv follow. A failed benchmark is one entry with
 * error_occurred. A run does not know CPU time: cpu_time repeats real_time.
 *
 * Threads   one.
 * Owns      nothing.
 */
#ifndef GYRE_REPORT_GOOGLE_H
#define GYRE_REPORT_GOOGLE_H

#include <stdio.h>

#include "gyre/common.h"
#include "record/run.h"

/* Errors stay in the stream. */
void gyre_google_write(FILE *stream, const gyre_run *run);

#endif
