/* SPDX-License-Identifier: Apache-2.0
 *
 * targets_table: targets beside what a run measured, as text.
 *
 * A line for each target, or for each benchmark that a pattern concerns: verdict, benchmark, limit,
 * and the figure with its interval or why there is none. Lines of one source stand under its name.
 *
 * Threads   one.
 * Owns      nothing.
 * Not here  who is met and who is not (record/attainment.h).
 */
#ifndef GYRE_REPORT_TARGETS_TABLE_H
#define GYRE_REPORT_TARGETS_TABLE_H

#include <stddef.h>
#include <stdio.h>

#include "bench/case.h"
#include "gyre/common.h"
#include "record/run.h"
#include "record/targets.h"

/* Lines of each verdict. */
typedef struct gyre_targets_tally {
    size_t met, missed, unclear, not_measured;
} gyre_targets_tally;

/* `all` is what there is to choose from, NULL when that is not known: a benchmark of it that the
 * run lacks was not chosen. Errors stay in the stream. */
gyre_targets_tally gyre_targets_table_write(FILE *stream, const gyre_targets *targets,
                                            const gyre_run *run, const gyre_case_list *all);

#endif
