/* SPDX-License-Identifier: Apache-2.0
 *
 * trends: the series of a run's benchmarks from the history, for the page of the run.
 *
 * Each benchmark that was measured in the run gets its last runs on the same machine, if there are
 * enough of them, with the changes of its level. The page is small: a run is named once, and
 * numbers have the digits that a chart can show.
 *
 * Threads   one.
 * Owns      the series, until gyre_trends_fini.
 * Not here  what changed (record/trend.h), drawing (web/report_trend.js).
 */
#ifndef GYRE_REPORT_TRENDS_H
#define GYRE_REPORT_TRENDS_H

#include <stddef.h>
#include <stdio.h>

#include "gyre/common.h"
#include "gyre/status.h"
#include "record/history.h"
#include "record/run.h"
#include "record/trend.h"

enum { GYRE_TRENDS_LEAST = 3, GYRE_TRENDS_MOST = 100 }; /* runs of a benchmark */

typedef struct gyre_trends_series {
    gyre_history_points points;
    gyre_trend trend;
} gyre_trends_series;

/* Zero is none. */
typedef struct gyre_trends {
    char machine[GYRE_MACHINE_KEY_BYTES];
    gyre_trends_series *series;
    size_t count, capacity;
    gyre_arena arena; /* of the changes */
} gyre_trends;

/* Reads them from FOLDER's history. Statuses as gyre_history_open; there are none then, and nothing
 * to fini. */
GYRE_MUST_USE gyre_status gyre_trends_read(const char *folder, const gyre_run *run,
                                           gyre_trends *out_trends);
void gyre_trends_fini(gyre_trends *trends);

/* One JSON object, as docs/formats/history.md says. Errors stay in the stream. */
void gyre_trends_write(FILE *stream, const gyre_trends *trends);

#endif
