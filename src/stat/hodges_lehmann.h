/* SPDX-License-Identifier: Apache-2.0
 *
 * hodges_lehmann: where a sample lies, by the median of the means of all its pairs.
 *
 * Nearly as exact as the mean where values are normally distributed, and unmoved by outliers as
 * long as they are less than 29 % of the sample.
 *
 * Threads   any; pure.
 * Owns      nothing.
 */
#ifndef GYRE_STAT_HODGES_LEHMANN_H
#define GYRE_STAT_HODGES_LEHMANN_H

#include <stddef.h>

#include "gyre/common.h"
#include "gyre/status.h"

/* The median of (values[i] + values[j]) / 2 over all i <= j, in any order. GYRE_INVALID without
 * values or when one is not finite, GYRE_NO_MEMORY; *out_estimate is 0 then. The time and the
 * memory grow as sorting does, not with the pairs. */
GYRE_API GYRE_MUST_USE gyre_status gyre_stat_hodges_lehmann(const double *values, size_t count,
                                                            double *out_estimate);

#endif
