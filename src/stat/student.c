/* SPDX-License-Identifier: Apache-2.0
 *
 * student: see student.h.
 */
#include "stat/student.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "stat/beta.h"
#include "stat/bisection.h"

/* From here on the normal distribution differs by less than t^4 / 4e17. */
static const double NORMAL_FROM = 1e17;

/* P(T >= t) for t from 0. Where the square has no double, `part` is 0 and alone decides. */
static double outside(double t, double freedom)
{
    const double ratio = t * t / freedom, part = 1 / (1 + ratio);

    if (freedom >= NORMAL_FROM)
        return 0.5 * erfc(t / sqrt(2));
    return 0.5 * gyre_stat_beta_parts(part, ratio * part, 0.5 * freedom, 0.5);
}

/* P(0 <= T <= t) for t from 0. */
static double inside(double t, double freedom)
{
    const double ratio = t * t / freedom, part = 1 / (1 + ratio);

    if (freedom >= NORMAL_FROM)
        return 0.5 * erf(t / sqrt(2));
    return 0.5 * gyre_stat_beta_parts(ratio * part, part, 0.5, 0.5 * freedom);
}

double gyre_stat_t_tail(double t, double freedom)
{
    return t < 0 ? 1 - outside(-t, freedom) : outside(t, freedom);
}

typedef struct t_quantile {
    double p, freedom;
} t_quantile;

static bool leaves(const void *about, double t)
{
    const t_quantile *wanted = about;

    return outside(t, wanted->freedom) <= wanted->p;
}

static bool holds(const void *about, double t)
{
    const t_quantile *wanted = about;

    return inside(t, wanted->freedom) >= wanted->p;
}

/* Asked from the side on which p has more digits: in the middle, the distance to a half. */
double gyre_stat_t_quantile(double p, double freedom)
{
    const bool central = p > 0.25 && p < 0.75;
    const t_quantile wanted = {central ? fabs(p - 0.5) : fmin(p, 1 - p), freedom};
    const double t = gyre_stat_bisect(central ? holds : leaves, &wanted, 0, DBL_MAX);

    return p < 0.5 ? -t : t;
}
