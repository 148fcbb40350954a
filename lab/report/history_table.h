/* SPDX-License-Identifier: Apache-2.0
 *
 * history_table: runs of the history as text: one a line, or one with its figures.
 *
 * What the database holds may have been written by anybody: nothing of it drives the terminal.
 *
 * Threads   one.
 * Owns      nothing.
 * Not here  series (report/history_chart.h), other formats (report/history_export.h).
 */
#ifndef GYRE_REPORT_HISTORY_TABLE_H
#define GYRE_REPORT_HISTORY_TABLE_H

#include <stdio.h>

#include "gyre/common.h"
#include "record/history.h"

/* One a line, the newest first. */
void gyre_history_table(FILE *stream, const gyre_history_runs *runs);

/* One run, and its points. */
void gyre_history_run_print(FILE *stream, const gyre_history_run *run,
                            const gyre_history_points *points);

/* "1a2b3c4d5e6f+", the plus for changes that were not committed; "-" when not known. */
typedef struct gyre_commit_name {
    char text[16];
} gyre_commit_name;
gyre_commit_name gyre_commit_short(const char *commit, bool dirty);

#endif
