/* SPDX-License-Identifier: Apache-2.0
 *
 * divisive: where a series of measurements changed its level.
 *
 * E-divisive with a t-test. A window slides over the series in steps of half its length, or to the
 * last change found in it. Inside it, the series is split where the energy distance (Szekely and
 * Rizzo) of the two sides is largest, and each side again, as long as the sides differ by a t-test.
 * Then levels are joined whose neighbours, now seen in full, do not differ, the most alike first,
 * until all do. A level that comes and goes inside one window may be missed.
 *
 * Two t are computed, with the variances pooled and with each side's own, and the smaller counts,
 * with all degrees of freedom. With the pooled one alone, a single outlier next to the end would be
 * a new level of two values; with the other alone, two values that happen to be close would.
 *
 * p is that of one test, but its place was chosen among many: with the defaults, a change is seen
 * in 1 of 100 series of 30 or 100 normal values that have none, and in 1 of 20 of 1000.
 *
 * Threads   any; pure.
 * Owns      nothing.
 */
#ifndef GYRE_STAT_DIVISIVE_H
#define GYRE_STAT_DIVISIVE_H

#include <stddef.h>

#include "gyre/common.h"
#include "gyre/status.h"

typedef struct gyre_change_point {
    size_t index;         /* of the first value of the new level */
    double before, after; /* means of the levels beside it */
    double p;             /* that they are the same; two-sided */
} gyre_change_point;

/* Zero means default, everywhere. */
typedef struct gyre_divisive {
    double p;      /* at most, inside (0, 1); default 0.001 */
    size_t window; /* values looked at together, at least twice `least`; default 30 */
    size_t least;  /* values in a level, at least 2; default 2 */
} gyre_divisive;

/* The changes in values in the order of time, ascending; the last `most` of them when there are
 * more, so count / least is always room enough. NULL `how` means all defaults. Fewer than twice
 * `least` values have none, nor have equal ones; levels without any noise differ when they do.
 * GYRE_INVALID when a value is not finite or its size above 1e100, or `how` is not as said above;
 * GYRE_NO_MEMORY. *out_count is 0 then. The time grows with count * window^2 at worst, and with the
 * square of the number of changes. */
GYRE_API GYRE_MUST_USE gyre_status gyre_stat_change_points(const double *values, size_t count,
                                                           const gyre_divisive *how,
                                                           gyre_change_point *points, size_t most,
                                                           size_t *out_count);

/* How many of the values belong to the left side where the energy distance of the sides, weighted
 * by their sizes, is largest; the first such place, with at least `least` (2 or more) on each side.
 * 0 when there are too few values. */
size_t gyre_stat_energy_split(const double *values, size_t count, size_t least, double *out_energy);

#endif
