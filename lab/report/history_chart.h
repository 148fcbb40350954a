/* SPDX-License-Identifier: Apache-2.0
 *
 * history_chart: the series of one benchmark as text: medians with their intervals over the runs,
 * where the level changed, and the drift since. It fits 80 columns.
 *
 * Threads   one.
 * Owns      nothing.
 * Not here  what changed (record/trend.h).
 */
#ifndef GYRE_REPORT_HISTORY_CHART_H
#define GYRE_REPORT_HISTORY_CHART_H

#include <stdio.h>

#include "gyre/common.h"
#include "record/history.h"
#include "record/trend.h"

/* Of at least one point. Of a long series the last runs are drawn; changes are told of all. */
void gyre_history_chart(FILE *stream, const gyre_history_points *series, const gyre_trend *trend);

#endif
