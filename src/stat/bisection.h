/* SPDX-License-Identifier: Apache-2.0
 *
 * bisection: where a claim about a number begins to be true.
 *
 * The doubles between two ends are halved, not the distance: 64 questions reach the last bit,
 * whether the answer is 1e-300, 0.5 or 1e300, and nothing has to be told about the claim but that
 * it stays true once it is.
 *
 * Threads   any; pure but for the claim.
 * Owns      nothing.
 */
#ifndef GYRE_STAT_BISECTION_H
#define GYRE_STAT_BISECTION_H

#include <stdbool.h>

/* False of small numbers, true of large ones. `about` is what the caller passed. */
typedef bool gyre_stat_claim(const void *about, double x);

/* The smallest double in [low, high] of which the claim is true, never -0; `high` when it is true
 * of none below, without asking about `high` itself. */
double gyre_stat_bisect(gyre_stat_claim *claim, const void *about, double low, double high);

#endif
