/* SPDX-License-Identifier: Apache-2.0
 *
 * outlier: values far from the middle half of a sample, by Tukey's fences.
 *
 * The fences stand 1.5 (mild) and 3 (severe) times the distance between the quartiles outside of
 * them. Outliers are counted and shown, never dropped: what disturbed the measurement is part of
 * it.
 *
 * Threads   any; pure.
 * Owns      nothing.
 */
#ifndef GYRE_STAT_OUTLIER_H
#define GYRE_STAT_OUTLIER_H

#include <stddef.h>

#include "gyre/common.h"

typedef struct gyre_fences {
    double low_severe, low_mild, high_mild, high_severe;
} gyre_fences;

/* A value on a fence is inside of it, and one beyond a severe fence is not counted as mild. */
typedef struct gyre_outliers {
    gyre_fences fences;
    size_t low_severe, low_mild, high_mild, high_severe;
} gyre_outliers;

/* Of a sorted sample; all zero without values. Values must be finite. */
GYRE_API gyre_outliers gyre_stat_outliers(const double *sorted, size_t count);

#endif
