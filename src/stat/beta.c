/* SPDX-License-Identifier: Apache-2.0
 *
 * beta: see beta.h.
 */
#include "stat/beta.h"

#include <math.h>
#include <stdbool.h>

#include "stat/bisection.h"

enum {
    STIRLING_FROM = 10,  /* from here on the series below is exact to the last bits */
    MOST_STEPS = 100000, /* 5346 are taken where a and b are 1e9, about 20 mostly */
};

/* A step of the fraction that changes less than this is its last. */
static const double NEGLIGIBLE = 1e-15;

static const double TWO_PI = 6.283185307179586;

/* What lgamma(x) has beyond (x - 1/2) ln x - x + ln(2 pi) / 2. */
static double stirling_rest(double x)
{
    const double u = 1 / (x * x);

    return (1.0 / 12 - u * (1.0 / 360 - u * (1.0 / 1260 - u * (1.0 / 1680 - u / 1188)))) / x;
}

static double log_gamma(double x)
{
    int sign;

    return lgamma_r(x, &sign);
}

/* ln B(a, b), not both large. The difference of two large lgamma would leave few digits of it, so
 * that of their expansions is taken. */
static double log_complete(double a, double b)
{
    const double small = fmin(a, b), large = fmax(a, b);

    if (large < STIRLING_FROM)
        return log_gamma(a) + log_gamma(b) - log_gamma(a + b);
    return log_gamma(small) - (large - 0.5) * log1p(small / large) - small * log(large + small) +
           small + stirling_rest(large) - stirling_rest(large + small);
}

/* The logarithm of x, of which x - 1 is known too. */
static double log_near_one(double x, double above)
{
    return x < 0.5 || x > 2 ? log(x) : log1p(above);
}

/* ln of x^a (1 - x)^b / B(a, b). Where both are large it is the difference of large terms again, so
 * all of them are taken at once, relative to the middle of the distribution. */
static double log_front(double x, double rest, double a, double b)
{
    const double sum = a + b, off = a * rest - b * x;

    if (fmin(a, b) < STIRLING_FROM)
        return a * log_near_one(x, -rest) + b * log_near_one(rest, -x) - log_complete(a, b);
    return a * log_near_one(x * sum / a, -off / a) + b * log_near_one(rest * sum / b, off / b) +
           0.5 * log(a / sum * b / TWO_PI) + stirling_rest(sum) - stirling_rest(a) -
           stirling_rest(b);
}

/* I_x(a, b) for x below the middle, by the even part of the continued fraction of DLMF 8.17.22,
 * which has no differences of nearly equal terms. */
static double fraction(double x, double rest, double a, double b)
{
    const double past = a * rest - b * x + 1;
    double above = a * past / (a + 1), below = 0, value = above, change = 2;

    /* Lentz: `above` and `below` are ratios of neighbouring numerators and denominators */
    for (int step = 1; step < MOST_STEPS && fabs(change - 1) > NEGLIGIBLE; step++) {
        const double n = step, odd = a + 2 * n - 1, turn = n * (b - n) * x;
        const double over = (a + n - 1) / odd * ((a + b + n - 1) / odd) * turn * x;
        const double plus = n + turn / odd + (a + n) / (odd + 2) * (past + n * (1 + rest));

        below = 1 / (plus + over * below);
        above = plus + over / above;
        change = above * below;
        value *= change;
    }
    return exp(log_front(x, rest, a, b)) / value;
}

double gyre_stat_beta_parts(double x, double rest, double a, double b)
{
    if (x <= 0)
        return 0;
    if (rest <= 0)
        return 1;
    if (x > (a + 1) / (a + b + 2))
        return 1 - fraction(rest, x, b, a);
    return fraction(x, rest, a, b);
}

double gyre_stat_beta(double x, double a, double b)
{
    return gyre_stat_beta_parts(x, 1 - x, a, b);
}

typedef struct beta_quantile {
    double p, a, b;
} beta_quantile;

static bool reaches(const void *about, double x)
{
    const beta_quantile *wanted = about;

    return gyre_stat_beta(x, wanted->a, wanted->b) >= wanted->p;
}

double gyre_stat_beta_quantile(double p, double a, double b)
{
    const beta_quantile wanted = {p, a, b};

    return gyre_stat_bisect(reaches, &wanted, 0, 1);
}
