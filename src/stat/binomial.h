/* SPDX-License-Identifier: Apache-2.0
 *
 * binomial: how often something happens at most, or at least, when it was seen so many times.
 *
 * Exact bounds of Clopper and Pearson: whatever the true frequency is, a bound misses it with a
 * probability of 1 - confidence at most. One-sided: an interval of both has the risk of both.
 * Trials are independent of each other.
 *
 * Threads   any; pure.
 * Owns      nothing.
 */
#ifndef GYRE_STAT_BINOMIAL_H
#define GYRE_STAT_BINOMIAL_H

#include <stddef.h>

#include "gyre/common.h"

/* The frequency above which so few hits, no more than trials, have a probability of less than 1 -
 * confidence, which is inside (0, 1). 1 when every trial hit, or there was none. */
GYRE_API double gyre_stat_binomial_upper(size_t hits, size_t trials, double confidence);

/* The frequency below which so many hits have a probability of less than that. 0 without hits. */
GYRE_API double gyre_stat_binomial_lower(size_t hits, size_t trials, double confidence);

#endif
