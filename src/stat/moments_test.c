/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/moments.h"

#include <math.h>

#include "stat/order.h"
#include "stat/random.h"
#include "test.h"

static int near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

/* By hand: mean 5, squares of the distances sum to 32. */
static void known_values(void)
{
    const double x[] = {2, 4, 4, 4, 5, 5, 7, 9};

    CHECK(gyre_stat_mean(x, 8) == 5);
    CHECK(near(gyre_stat_std_dev(x, 8), sqrt(32.0 / 7)));
    CHECK(near(gyre_stat_variation(x, 8), sqrt(32.0 / 7) / 5));
    /* median 4.5; distances 0.5 0.5 0.5 0.5 0.5 2.5 2.5 4.5 */
    CHECK(near(gyre_stat_median_abs_dev(x, 8), 1.4826 * 0.5));
}

static void variation_is_of_the_size_of_the_mean(void)
{
    CHECK(near(gyre_stat_variation((double[]){-1, -3}, 2), sqrt(2.0) / 2));
    CHECK(isinf(gyre_stat_variation((double[]){-1, 1}, 2)));
    CHECK(gyre_stat_variation((double[]){0, 0}, 2) == 0);
}

static void median_abs_dev_ignores_outliers(void)
{
    CHECK(near(gyre_stat_median_abs_dev((double[]){1, 2, 3, 4, 1e9}, 5), 1.4826));
    CHECK(near(gyre_stat_median_abs_dev((double[]){-1e9, 1, 2, 3, 4}, 5), 1.4826));
    CHECK(near(gyre_stat_median_abs_dev((double[]){1, 2}, 2), 1.4826 * 0.5));
}

/* The definition, literally: distances, sorted, their median. */
static double slow_median_abs_dev(const double *sorted, size_t count)
{
    const double median = gyre_stat_quantile(sorted, count, 0.5);
    double away[64];

    for (size_t i = 0; i < count; i++)
        away[i] = fabs(sorted[i] - median);
    gyre_stat_sort(away, count);
    return 1.4826 * gyre_stat_quantile(away, count, 0.5);
}

/* Few distinct values make ties, many make none. */
static void median_abs_dev_is_its_definition(void)
{
    gyre_stat_random random;
    size_t wrong = 0;

    gyre_stat_random_seed(&random, 5);
    for (size_t round = 0; round < 4000; round++) {
        const size_t count = 1 + round % 40;
        const uint64_t distinct = round % 3 ? 6 : 1000000;
        double x[64];

        for (size_t i = 0; i < count; i++)
            x[i] = (double)gyre_stat_random_below(&random, distinct);
        gyre_stat_sort(x, count);
        wrong += gyre_stat_median_abs_dev(x, count) != slow_median_abs_dev(x, count);
    }
    CHECK(wrong == 0);
}

/* 0.1 has no exact sum: (0.1 + 0.1 + 0.1) / 3 is not 0.1. */
static void equal_values_have_no_width(void)
{
    double x[1000];

    for (size_t i = 0; i < 1000; i++)
        x[i] = 0.1;
    for (size_t count = 1; count <= 1000; count++) {
        CHECK(gyre_stat_mean(x, count) == 0.1);
        CHECK(gyre_stat_std_dev(x, count) == 0);
        CHECK(gyre_stat_median_abs_dev(x, count) == 0);
        CHECK(gyre_stat_variation(x, count) == 0);
    }
}

/* The same distances a million million further on: the textbook difference of sums of squares has
 * no digit left there. */
static void width_survives_a_large_offset(void)
{
    const double x[] = {1e12 + 2, 1e12 + 4, 1e12 + 4, 1e12 + 4,
                        1e12 + 5, 1e12 + 5, 1e12 + 7, 1e12 + 9};

    CHECK(gyre_stat_mean(x, 8) == 1e12 + 5);
    CHECK(near(gyre_stat_std_dev(x, 8), sqrt(32.0 / 7)));
}

static void nothing_gives_zero(void)
{
    const double x[] = {7};

    CHECK(gyre_stat_mean(x, 0) == 0 && gyre_stat_std_dev(x, 0) == 0);
    CHECK(gyre_stat_median_abs_dev(x, 0) == 0 && gyre_stat_variation(x, 0) == 0);
    CHECK(gyre_stat_mean(x, 1) == 7 && gyre_stat_std_dev(x, 1) == 0);
    CHECK(gyre_stat_median_abs_dev(x, 1) == 0 && gyre_stat_variation(x, 1) == 0);
}

static const test_case cases[] = {
    TEST(known_values),
    TEST(variation_is_of_the_size_of_the_mean),
    TEST(median_abs_dev_ignores_outliers),
    TEST(median_abs_dev_is_its_definition),
    TEST(equal_values_have_no_width),
    TEST(width_survives_a_large_offset),
    TEST(nothing_gives_zero),
};
TEST_MAIN(cases)
