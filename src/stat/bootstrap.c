/* SPDX-License-Identifier: Apache-2.0
 *
 * bootstrap: see bootstrap.h.
 *
 * The values are sorted once. A resample is then a tally of ranks, and reading the tally off gives
 * the resample in ascending order: median and median distance cost no sorting of their own.
 */
#include "stat/bootstrap.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "stat/moments.h"
#include "stat/order.h"
#include "stat/regression.h"

/* A series prepared for drawing. */
typedef struct urn {
    size_t count, block;
    double *sorted; /* owned, with `drawn` behind it */
    double *drawn;  /* the last resample, ascending */
    size_t *ranks;  /* in the order of time; owned, with the two below behind it */
    size_t *tally;  /* by rank; all zero between two draws */
    size_t *places; /* in time, of the last resample */
} urn;

static gyre_status check(const gyre_series *series, const gyre_resampling *how)
{
    if (series->count < 1)
        return gyre_fail(GYRE_INVALID, "nothing to resample");
    if (series->block < 1 || series->block > series->count)
        return gyre_fail(GYRE_INVALID, "blocks of %zu in a series of %zu", series->block,
                         series->count);
    if (how->resamples < 1)
        return gyre_fail(GYRE_INVALID, "no resamples were asked for");
    if (!(how->level > 0 && how->level < 1))
        return gyre_fail(GYRE_INVALID, "confidence level %g is not between 0 and 1", how->level);
    return GYRE_OK;
}

/* Fills `places` with blocks of neighbours in a circle of `count`. */
static void draw_places(gyre_stat_random *random, size_t count, size_t block, size_t *places)
{
    size_t place = 0, left = 0;

    for (size_t i = 0; i < count; i++) {
        if (left == 0) {
            place = (size_t)gyre_stat_random_below(random, count);
            left = block;
        } else if (++place == count) {
            place = 0;
        }
        places[i] = place;
        left--;
    }
}

static void urn_fini(urn *u)
{
    gyre_free(NULL, u->sorted, u->count, 2 * sizeof(double));
    gyre_free(NULL, u->ranks, u->count, 3 * sizeof(size_t));
}

static gyre_status urn_init(urn *u, const gyre_series *series)
{
    void *values, *places = NULL;
    gyre_status status;

    *u = (urn){.count = series->count, .block = series->block};
    status = gyre_alloc(NULL, u->count, 2 * sizeof(double), &values);
    u->sorted = values;
    if (status == GYRE_OK)
        status = gyre_alloc(NULL, u->count, 3 * sizeof(size_t), &places);
    u->ranks = places;
    if (status != GYRE_OK) {
        urn_fini(u);
        *u = (urn){0};
        return status;
    }
    u->drawn = u->sorted + u->count;
    u->tally = u->ranks + u->count;
    u->places = u->tally + u->count;
    memcpy(u->sorted, series->values, u->count * sizeof(double));
    gyre_stat_sort(u->sorted, u->count);
    for (size_t i = 0; i < u->count; i++)
        u->ranks[i] = gyre_stat_rank(u->sorted, u->count, series->values[i]);
    return GYRE_OK;
}

/* Equal values share the rank of the first of them, which has their value too. */
static void urn_draw(urn *u, gyre_stat_random *random)
{
    double *next = u->drawn;

    draw_places(random, u->count, u->block, u->places);
    for (size_t i = 0; i < u->count; i++)
        u->tally[u->ranks[u->places[i]]]++;
    for (size_t rank = 0; rank < u->count; rank++) {
        for (; u->tally[rank] > 0; u->tally[rank]--)
            *next++ = u->sorted[rank];
    }
}

/* Sorts the figures of the resamples. */
static gyre_estimate estimate(double point, double *figures, const gyre_resampling *how)
{
    const double tail = (1 - how->level) / 2;
    gyre_estimate out = {.point = point};

    gyre_stat_sort(figures, how->resamples);
    out.low = gyre_stat_quantile(figures, how->resamples, tail);
    out.high = gyre_stat_quantile(figures, how->resamples, 1 - tail);
    out.standard_error = gyre_stat_std_dev(figures, how->resamples);
    return out;
}

gyre_status gyre_stat_bootstrap(const gyre_series *series, const gyre_resampling *how,
                                gyre_estimates *out_estimates)
{
    enum { FIGURES = 4 };
    double *mean, *median, *std_dev, *median_abs_dev;
    gyre_status status;
    void *figures = NULL;
    urn u = {0};

    *out_estimates = (gyre_estimates){0};
    status = check(series, how);
    if (status != GYRE_OK)
        return status;
    status = gyre_alloc(NULL, how->resamples, FIGURES * sizeof(double), &figures);
    if (status == GYRE_OK)
        status = urn_init(&u, series);
    if (status != GYRE_OK)
        goto done;
    mean = figures;
    median = mean + how->resamples;
    std_dev = median + how->resamples;
    median_abs_dev = std_dev + how->resamples;
    for (size_t i = 0; i < how->resamples; i++) {
        urn_draw(&u, how->random);
        mean[i] = gyre_stat_mean(u.drawn, u.count);
        median[i] = gyre_stat_quantile(u.drawn, u.count, 0.5);
        std_dev[i] = gyre_stat_std_dev(u.drawn, u.count);
        median_abs_dev[i] = gyre_stat_median_abs_dev(u.drawn, u.count);
    }
    *out_estimates = (gyre_estimates){
        .mean = estimate(gyre_stat_mean(u.sorted, u.count), mean, how),
        .median = estimate(gyre_stat_quantile(u.sorted, u.count, 0.5), median, how),
        .std_dev = estimate(gyre_stat_std_dev(u.sorted, u.count), std_dev, how),
        .median_abs_dev =
            estimate(gyre_stat_median_abs_dev(u.sorted, u.count), median_abs_dev, how),
    };
done:
    urn_fini(&u);
    gyre_free(NULL, figures, how->resamples, FIGURES * sizeof(double));
    return status;
}

gyre_status gyre_stat_bootstrap_slope(const double *iterations, const gyre_series *times,
                                      const gyre_resampling *how, gyre_estimate *out_slope)
{
    const size_t count = times->count;
    void *figures = NULL, *pairs = NULL, *drawn = NULL;
    double *slopes, *x, *y;
    size_t *places;
    gyre_status status;

    *out_slope = (gyre_estimate){0};
    status = check(times, how);
    if (status != GYRE_OK)
        return status;
    status = gyre_alloc(NULL, how->resamples, sizeof(double), &figures);
    if (status == GYRE_OK)
        status = gyre_alloc(NULL, count, 2 * sizeof(double), &pairs);
    if (status == GYRE_OK)
        status = gyre_alloc(NULL, count, sizeof(size_t), &drawn);
    if (status != GYRE_OK)
        goto done;
    slopes = figures;
    x = pairs;
    y = x + count;
    places = drawn;
    for (size_t i = 0; i < how->resamples; i++) {
        draw_places(how->random, count, times->block, places);
        for (size_t j = 0; j < count; j++) {
            x[j] = iterations[places[j]];
            y[j] = times->values[places[j]];
        }
        slopes[i] = gyre_stat_slope(x, y, count);
    }
    *out_slope = estimate(gyre_stat_slope(iterations, times->values, count), slopes, how);
done:
    gyre_free(NULL, drawn, count, sizeof(size_t));
    gyre_free(NULL, pairs, count, 2 * sizeof(double));
    gyre_free(NULL, figures, how->resamples, sizeof(double));
    return status;
}

static double median_of_next(urn *u, gyre_stat_random *random)
{
    urn_draw(u, random);
    return gyre_stat_quantile(u->drawn, u->count, 0.5);
}

static double two_sided_p(const double *changes, size_t count)
{
    size_t down = 0, up = 0, rarer;

    for (size_t i = 0; i < count; i++) {
        down += changes[i] <= 0;
        up += changes[i] >= 0;
    }
    rarer = down < up ? down : up;
    return fmin(1, 2 * (1 + (double)rarer) / (1 + (double)count));
}

gyre_status gyre_stat_change(const gyre_series *a, const gyre_series *b, const gyre_resampling *how,
                             gyre_change *out_change)
{
    urn of_a = {0}, of_b = {0};
    void *figures = NULL;
    gyre_status status;
    double *changes;

    *out_change = (gyre_change){0};
    status = check(a, how);
    if (status == GYRE_OK)
        status = check(b, how);
    if (status != GYRE_OK)
        return status;
    status = gyre_alloc(NULL, how->resamples, sizeof(double), &figures);
    if (status == GYRE_OK)
        status = urn_init(&of_a, a);
    if (status == GYRE_OK)
        status = urn_init(&of_b, b);
    if (status == GYRE_OK && !(of_a.sorted[0] > 0))
        status = gyre_fail(GYRE_INVALID, "no relative change from %g", of_a.sorted[0]);
    if (status != GYRE_OK)
        goto done;
    changes = figures;
    for (size_t i = 0; i < how->resamples; i++) {
        const double from = median_of_next(&of_a, how->random);

        changes[i] = median_of_next(&of_b, how->random) / from - 1;
    }
    out_change->p = two_sided_p(changes, how->resamples);
    out_change->relative = estimate(gyre_stat_quantile(of_b.sorted, of_b.count, 0.5) /
                                            gyre_stat_quantile(of_a.sorted, of_a.count, 0.5) -
                                        1,
                                    changes, how);
done:
    urn_fini(&of_b);
    urn_fini(&of_a);
    gyre_free(NULL, figures, how->resamples, sizeof(double));
    return status;
}
