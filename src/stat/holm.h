/* SPDX-License-Identifier: Apache-2.0
 *
 * holm: p values of many questions, corrected for their number.
 *
 * Refusing every hypothesis whose adjusted p is at most alpha makes one or more errors with a
 * probability of alpha at most, however the questions depend on each other (Holm 1979). It is never
 * stricter than multiplying each p by their number.
 *
 * Threads   any; pure.
 * Owns      nothing.
 */
#ifndef GYRE_STAT_HOLM_H
#define GYRE_STAT_HOLM_H

#include <stddef.h>

#include "gyre/common.h"

/* The i-th smallest of n times n + 1 - i, but no less than the one before it and at most 1; in the
 * order of `p`. Equal ones stay equal. p are in [0, 1]; the arrays do not overlap. The time grows
 * with the square of the count. */
GYRE_API void gyre_stat_holm(const double *p, size_t count, double *adjusted);

#endif
