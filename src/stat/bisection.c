/* SPDX-License-Identifier: Apache-2.0
 *
 * bisection: see bisection.h.
 */
#include "stat/bisection.h"

#include <stdint.h>
#include <string.h>

/* Doubles without their sign are ordered as their bits are; below 0 the order is turned around.
 * Both zeros are 0. */
static int64_t place_of(double x)
{
    int64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static double at_place(int64_t place)
{
    const int64_t bits = place < 0 ? INT64_MIN - place : place;
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

double gyre_stat_bisect(gyre_stat_claim *claim, const void *about, double low, double high)
{
    int64_t from = place_of(low), to = place_of(high);

    while (from < to) {
        /* the distance between a negative and a positive place may not fit the signed type */
        const int64_t middle = from + (int64_t)(((uint64_t)to - (uint64_t)from) / 2);

        if (claim(about, at_place(middle)))
            to = middle;
        else
            from = middle + 1;
    }
    return at_place(to);
}
