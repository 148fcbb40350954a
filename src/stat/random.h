/* SPDX-License-Identifier: Apache-2.0
 *
 * random: numbers that a seed determines, for resampling and shuffling.
 *
 * xoshiro256** of Blackman and Vigna, its state filled by splitmix64. The sequence of a seed is
 * part of what a run file promises: replaying a run gives the same intervals bit for bit, so it
 * never changes. Not for secrets.
 *
 * Threads   one thread per state.
 * Owns      nothing; the state is the caller's.
 * Not here  where seeds come from.
 */
#ifndef GYRE_STAT_RANDOM_H
#define GYRE_STAT_RANDOM_H

#include <stdint.h>

#include "gyre/common.h"

typedef struct gyre_stat_random {
    uint64_t state[4]; /* not all zero: that state never changes */
} gyre_stat_random;

/* Every seed is good, 0 too. */
GYRE_API void gyre_stat_random_seed(gyre_stat_random *random, uint64_t seed);

/* All 64 bits. */
GYRE_API uint64_t gyre_stat_random_next(gyre_stat_random *random);

/* One of 0, ..., n - 1, each equally likely; 0 when n is 0. */
GYRE_API uint64_t gyre_stat_random_below(gyre_stat_random *random, uint64_t n);

/* A multiple of 2^-53 in [0, 1). */
double gyre_stat_random_unit(gyre_stat_random *random);

#endif
