/* SPDX-License-Identifier: Apache-2.0
 *
 * random: see random.h.
 */
#include "stat/random.h"

__extension__ typedef unsigned __int128 wide;

static uint64_t rotate_left(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

/* splitmix64: a counter with a scrambled output, so that seeds next to each other give states that
 * have nothing in common. */
void gyre_stat_random_seed(gyre_stat_random *random, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        uint64_t z = seed += 0x9e3779b97f4a7c15;

        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        random->state[i] = z ^ z >> 31;
    }
}

uint64_t gyre_stat_random_next(gyre_stat_random *random)
{
    uint64_t *s = random->state;
    const uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    const uint64_t shifted = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

/* The high half of next * n is the answer. 2^64 is no multiple of n, so some answers own one more
 * value of next than others; the surplus lies where the low half is under 2^64 mod n, and is drawn
 * again. The remainder, which costs a division, is needed only when the low half is under n. */
uint64_t gyre_stat_random_below(gyre_stat_random *random, uint64_t n)
{
    wide product = (wide)gyre_stat_random_next(random) * n;

    if ((uint64_t)product < n) {
        const uint64_t surplus = (0 - n) % n; /* 2^64 mod n */

        while ((uint64_t)product < surplus)
            product = (wide)gyre_stat_random_next(random) * n;
    }
    return (uint64_t)(product >> 64);
}

double gyre_stat_random_unit(gyre_stat_random *random)
{
    return (double)(gyre_stat_random_next(random) >> 11) * 0x1p-53;
}
