/* SPDX-License-Identifier: Apache-2.0
 *
 * history_export: the history for programs: JSON (gyre.history/1, docs/formats/history.md) and CSV.
 *
 * Threads   one.
 * Owns      nothing.
 * Not here  text for people (report/history_table.h, report/history_chart.h).
 */
#ifndef GYRE_REPORT_HISTORY_EXPORT_H
#define GYRE_REPORT_HISTORY_EXPORT_H

#include <stdio.h>

#include "base/json.h"
#include "gyre/common.h"
#include "record/history.h"
#include "record/trend.h"

/* The object around what follows: "schema" is in it already. The caller ends it. */
void gyre_history_json_begin(gyre_json *json);

/* Members "runs" and "results": arrays of objects, one a row. Errors stay in the stream. */
void gyre_history_json_runs(gyre_json *json, const gyre_history_runs *runs);
void gyre_history_json_points(gyre_json *json, const gyre_history_points *points);

/* An element of an array of series: "id", "results", "changes", "drift". */
void gyre_history_json_series(gyre_json *json, const gyre_history_points *series,
                              const gyre_trend *trend);

/* A line of names, then one for each point. */
void gyre_history_csv(FILE *stream, const gyre_history_points *points);

#endif
