/* SPDX-License-Identifier: Apache-2.0
 *
 * comparison: two runs side by side, as text and as JSON (gyre.compare/1, docs/formats/compare.md).
 *
 * Threads   one.
 * Owns      nothing.
 * Not here  the judging (record/compare.h).
 */
#ifndef GYRE_REPORT_COMPARISON_H
#define GYRE_REPORT_COMPARISON_H

#include <stdio.h>

#include "gyre/common.h"
#include "record/compare.h"
#include "record/run.h"

typedef struct gyre_two_runs {
    const gyre_run *base, *run; /* the changes are in `run`'s results */
    const char *base_name, *run_name;
    const gyre_compared *compared;
} gyre_two_runs;

/* How many were measured in the base and failed in the run; prints them unless `stream` is NULL. */
size_t gyre_comparison_broken(const gyre_two_runs *two, FILE *stream);

/* Errors stay in the stream. */
void gyre_comparison_print(FILE *stream, const gyre_two_runs *two);
void gyre_comparison_write(FILE *stream, const gyre_two_runs *two);

#endif
