/* SPDX-License-Identifier: Apache-2.0
 *
 * chance: numbers for randomised tests. The seed is new in every run; a test that fails prints it,
 * and compiled with -DCHANCE_SEED=... it goes the same way again.
 */
#ifndef GYRE_CHANCE_H
#define GYRE_CHANCE_H

#include <stdint.h>
#include <time.h>

#ifndef CHANCE_SEED
#define CHANCE_SEED 0
#endif

static inline uint64_t chance_seed(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return CHANCE_SEED ? CHANCE_SEED : (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* splitmix64: every state is good, and counts as a seed. */
static inline uint64_t chance_next(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* One of 0, ..., n - 1, nearly even; n is small and not 0. */
static inline uint64_t chance_below(uint64_t *state, uint64_t n)
{
    return chance_next(state) % n;
}

#endif
