/* SPDX-License-Identifier: Apache-2.0
 *
 * correlation: how long a series of measurements remembers.
 *
 * Neighbouring samples share the weather: frequency, temperature, what else runs. With an
 * integrated autocorrelation time of tau, n of them say as much as n / tau independent ones. It is
 * the sum of the autocorrelations over all lags, cut off by Geyer's initial monotone sequence:
 * sums of two neighbouring lags are positive and fall in theory, so where they cease to be positive
 * is noise, and one that rises counts as much as the one before.
 *
 * Threads   any; pure.
 * Owns      nothing.
 * Not here  resampling by blocks (bootstrap.h).
 */
#ifndef GYRE_STAT_CORRELATION_H
#define GYRE_STAT_CORRELATION_H

#include <stddef.h>

#include "gyre/common.h"
#include "gyre/status.h"

/* tau of values in the order of time, which must be finite: about 1 when they are independent,
 * never less, exactly 1 when they are equal or fewer than two. The larger of that of the values and
 * that of their ranks: one spike makes the former blind to a drift, and a burst of spikes hardly
 * shows in the latter. A series much shorter than 50 tau gives too small a value. Lags up to a
 * fifth of the series are looked at, so the time it takes is between count and count^2 / 5.
 * GYRE_NO_MEMORY; *out_tau is 1 then. */
GYRE_API GYRE_MUST_USE gyre_status gyre_stat_correlation_time(const double *values, size_t count,
                                                              double *out_tau);

/* How many neighbours to resample together: twice tau, rounded up, and more in a long series, where
 * there is room (it grows with the cube root of count); but no more than a fifth of the series, so
 * that a resample has several blocks, and at least 1. A tau under 1 counts as 1. */
GYRE_API size_t gyre_stat_block_length(double tau, size_t count);

#endif
