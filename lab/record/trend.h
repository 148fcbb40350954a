/* SPDX-License-Identifier: Apache-2.0
 *
 * trend: what a series of one benchmark says: where its level changed, and whether it has drifted
 * since.
 *
 * Changes are found by the E-divisive method on the logarithms of the medians, so that they are
 * ratios: 0.05 is 5 % slower. The drift is that of the last level alone, for across a change it
 * would mean little.
 *
 * Threads   one.
 * Owns      nothing; changes belong to the caller's arena.
 * Not here  why: the commit where a level begins may be innocent, for machines change too.
 */
#ifndef GYRE_RECORD_TREND_H
#define GYRE_RECORD_TREND_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/arena.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "record/history.h"

enum { GYRE_TREND_LEAST = 8 }; /* points of a level of which a drift can be told */

typedef struct gyre_trend_change {
    size_t index;               /* first point of the new level */
    double before_ns, after_ns; /* the levels beside it, as geometric means */
    double ratio;               /* of the change: 0.05 is 5 % slower */
    double p;
} gyre_trend_change;

typedef struct gyre_trend {
    gyre_trend_change *changes; /* in order */
    size_t change_count;
    size_t since;            /* first point of the last level; 0 when nothing changed */
    bool known;              /* there are enough points since then */
    double drift, low, high; /* from one run to the next, with its interval of 95 % */
} gyre_trend;

/* Of points with a median above 0, oldest first. GYRE_NO_MEMORY, and then the trend is empty. */
GYRE_MUST_USE gyre_status gyre_trend_find(const gyre_history_points *series, gyre_arena *arena,
                                          gyre_trend *out_trend);

#endif
