/* SPDX-License-Identifier: Apache-2.0
 *
 * divisive: see divisive.h.
 */
#include "stat/divisive.h"

#include <math.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "stat/moments.h"
#include "stat/student.h"

enum { DEFAULT_WINDOW = 30, DEFAULT_LEAST = 2 };

static const double DEFAULT_P = 0.001;
static const double LARGEST_SIZE = 1e100; /* squares and their sums stay doubles */

/* A stretch of the series between two changes. */
typedef struct level {
    size_t begin, count;
    double mean;
    double squares; /* of the distances from the mean, their sum */
    double p;       /* that the level before it is the same */
} level;

static gyre_status check(const double *values, size_t count, const gyre_divisive *how)
{
    if (!(how->p > 0 && how->p < 1))
        return gyre_fail(GYRE_INVALID, "p %g is not between 0 and 1", how->p);
    if (how->least < 2)
        return gyre_fail(GYRE_INVALID, "a level of one value has no width");
    if (how->window / 2 < how->least)
        return gyre_fail(GYRE_INVALID, "a window of %zu does not hold two levels of %zu",
                         how->window, how->least);
    for (size_t i = 0; i < count; i++) {
        if (!(fabs(values[i]) <= LARGEST_SIZE))
            return gyre_fail(GYRE_INVALID, "value %zu is %g", i, values[i]);
    }
    return GYRE_OK;
}

static double pairs(size_t count)
{
    return 0.5 * (double)count * (double)(count - 1);
}

/* Values change sides one by one, and with each the sums of distances inside the left side, inside
 * the right one and across. */
size_t gyre_stat_energy_split(const double *values, size_t count, size_t least, double *out_energy)
{
    double left = 0, right = 0, across = 0;
    size_t best = 0;

    *out_energy = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++)
            right += fabs(values[i] - values[j]);
    }
    for (size_t on_left = 1; on_left + least <= count; on_left++) {
        const size_t moved = on_left - 1, on_right = count - on_left;
        const double product = (double)on_left * (double)on_right;
        double to_left = 0, to_right = 0, energy;

        for (size_t i = 0; i < moved; i++)
            to_left += fabs(values[moved] - values[i]);
        for (size_t i = moved + 1; i < count; i++)
            to_right += fabs(values[moved] - values[i]);
        left += to_left;
        right -= to_right;
        across += to_right - to_left;
        if (on_left < least)
            continue;
        energy = product / (double)count *
                 (2 * across / product - left / pairs(on_left) - right / pairs(on_right));
        if (best == 0 || energy > *out_energy) {
            best = on_left;
            *out_energy = energy;
        }
    }
    return best;
}

static level level_of(const double *values, size_t begin, size_t end)
{
    level out = {.begin = begin, .count = end - begin};

    out.mean = gyre_stat_mean(values + begin, out.count);
    for (size_t i = begin; i < end; i++)
        out.squares += (values[i] - out.mean) * (values[i] - out.mean);
    return out;
}

/* Two neighbours as one, its p not yet known. Equal means give that mean and add no width. */
static level joined(const level *a, const level *b)
{
    const double apart = b->mean - a->mean;
    const double part = (double)b->count / (double)(a->count + b->count);

    return (level){
        .begin = a->begin,
        .count = a->count + b->count,
        .mean = a->mean + part * apart,
        .squares = a->squares + b->squares + (double)a->count * part * apart * apart,
    };
}

static double p_same(const level *a, const level *b)
{
    const double m = (double)a->count, n = (double)b->count;
    const double pooled = (a->squares + b->squares) / (m + n - 2) * (1 / m + 1 / n);
    const double own = a->squares / (m - 1) / m + b->squares / (n - 1) / n;
    const double apart = fabs(a->mean - b->mean);

    if (apart == 0)
        return 1;
    return fmin(1, 2 * gyre_stat_t_tail(apart / sqrt(fmax(pooled, own)), m + n - 2));
}

/* Marks the first values of new levels inside [begin, end). Recursion is into the shorter side, so
 * it is never deep. */
static void split(const double *values, size_t begin, size_t end, const gyre_divisive *how,
                  unsigned char *marks)
{
    for (;;) {
        double energy;
        const size_t on_left =
            gyre_stat_energy_split(values + begin, end - begin, how->least, &energy);
        const size_t middle = begin + on_left;
        level left, right;

        if (on_left == 0)
            return;
        left = level_of(values, begin, middle);
        right = level_of(values, middle, end);
        if (!(p_same(&left, &right) <= how->p))
            return;
        marks[middle] = 1;
        if (on_left < end - middle) {
            split(values, begin, middle, how, marks);
            begin = middle;
        } else {
            split(values, middle, end, how, marks);
            end = middle;
        }
    }
}

/* Returns how many levels there are. The next window begins at the last change, which is then not
 * found again a place further, or so that it overlaps: a change next to the end of one window is
 * inside the next. */
static size_t mark(const double *values, size_t count, const gyre_divisive *how,
                   unsigned char *marks)
{
    size_t begin = 0, end, levels = 1;

    do {
        size_t last;

        end = count - begin < how->window ? count : begin + how->window;
        split(values, begin, end, how, marks);
        for (last = end - 1; last > begin && !marks[last]; last--)
            ;
        begin += how->window / 2;
        begin = last > begin ? last : begin;
    } while (end < count);
    for (size_t i = 0; i < count; i++)
        levels += marks[i];
    return levels;
}

/* Joins levels until all neighbours differ; returns how many are left. */
static size_t join(level *levels, size_t count, double p)
{
    for (size_t i = 1; i < count; i++)
        levels[i].p = p_same(&levels[i - 1], &levels[i]);
    while (count > 1) {
        size_t weakest = 1;

        for (size_t i = 2; i < count; i++) {
            if (levels[i].p > levels[weakest].p)
                weakest = i;
        }
        if (levels[weakest].p <= p)
            break;
        levels[weakest - 1] = joined(&levels[weakest - 1], &levels[weakest]);
        count--;
        for (size_t i = weakest; i < count; i++)
            levels[i] = levels[i + 1];
        if (weakest > 1)
            levels[weakest - 1].p = p_same(&levels[weakest - 2], &levels[weakest - 1]);
        if (weakest < count)
            levels[weakest].p = p_same(&levels[weakest - 1], &levels[weakest]);
    }
    return count;
}

static gyre_status find(const double *values, size_t count, const gyre_divisive *how,
                        gyre_change_point *points, size_t most, size_t *out_count)
{
    void *marks, *block = NULL;
    size_t levels_found, left, begin = 0;
    gyre_status status;
    level *levels;

    status = gyre_alloc(NULL, count, 1, &marks);
    if (status != GYRE_OK)
        return status;
    levels_found = mark(values, count, how, marks);
    status = gyre_alloc(NULL, levels_found, sizeof(level), &block);
    if (status != GYRE_OK)
        goto done;
    levels = block;
    left = 0;
    for (size_t i = 1; i <= count; i++) {
        if (i == count || ((const unsigned char *)marks)[i]) {
            levels[left++] = level_of(values, begin, i);
            begin = i;
        }
    }
    left = join(levels, left, how->p);
    for (size_t i = left > most ? left - most : 1; i < left; i++) {
        points[(*out_count)++] = (gyre_change_point){
            .index = levels[i].begin,
            .before = levels[i - 1].mean,
            .after = levels[i].mean,
            .p = levels[i].p,
        };
    }
done:
    gyre_free(NULL, block, levels_found, sizeof(level));
    gyre_free(NULL, marks, count, 1);
    return status;
}

gyre_status gyre_stat_change_points(const double *values, size_t count, const gyre_divisive *how,
                                    gyre_change_point *points, size_t most, size_t *out_count)
{
    gyre_divisive all = how ? *how : (gyre_divisive){0};
    gyre_status status;

    *out_count = 0;
    all.p = all.p == 0 ? DEFAULT_P : all.p;
    all.window = all.window == 0 ? DEFAULT_WINDOW : all.window;
    all.least = all.least == 0 ? DEFAULT_LEAST : all.least;
    status = check(values, count, &all);
    if (status != GYRE_OK || count < 2)
        return status;
    return find(values, count, &all, points, most, out_count);
}
