/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/theil_sen.h"

#include <math.h>

#include "stat/random.h"
#include "test.h"

static double slope;
static gyre_interval interval;

static void line_has_its_slope(void)
{
    double values[20];

    for (size_t i = 0; i < 20; i++)
        values[i] = 3 - 0.25 * (double)i;
    REQUIRE(gyre_stat_trend(values, 20, &slope, &interval) == GYRE_OK);
    CHECK(slope == -0.25 && interval.low == -0.25 && interval.high == -0.25);
    CHECK(interval.coverage == 0.95);
}

static void equal_values_have_none(void)
{
    const double values[10] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7};

    REQUIRE(gyre_stat_trend(values, 10, &slope, &interval) == GYRE_OK);
    CHECK(slope == 0 && interval.low == 0 && interval.high == 0);
}

/* Worked by hand: ten values, 45 slopes, z sqrt(10 * 9 * 25 / 18) = 21.9, so the 11th from below
 * and the 35th. */
static void interval_is_of_two_slopes(void)
{
    const double values[10] = {0.13, 9.71, 1.29, 8.37, 2.41, 7.93, 3.57, 6.11, 4.83, 5.09};
    double slopes[45];
    size_t used = 0;

    for (size_t i = 0; i < 10; i++)
        for (size_t j = i + 1; j < 10; j++)
            slopes[used++] = (values[j] - values[i]) / (double)(j - i);
    gyre_stat_sort(slopes, 45);
    for (size_t i = 1; i < 45; i++)
        REQUIRE(slopes[i - 1] < slopes[i]); /* or the claim would be of any of them */
    REQUIRE(gyre_stat_trend(values, 10, &slope, &interval) == GYRE_OK);
    CHECK(slope == slopes[22]);
    CHECK(interval.low == slopes[10] && interval.high == slopes[34]);
}

static void outliers_do_not_bend_it(void)
{
    double values[40];

    for (size_t i = 0; i < 40; i++)
        values[i] = 0.01 * (double)i + (i % 8 == 3 ? 1000 : 0);
    REQUIRE(gyre_stat_trend(values, 40, &slope, &interval) == GYRE_OK);
    CHECK(fabs(slope - 0.01) < 1e-9);
}

/* Of series without a trend about one in twenty has an interval that excludes 0. */
static void interval_covers_as_often_as_it_says(void)
{
    gyre_stat_random random;
    int excluded = 0;

    gyre_stat_random_seed(&random, 5);
    for (int round = 0; round < 1000; round++) {
        double values[30];

        for (size_t i = 0; i < 30; i++)
            values[i] = gyre_stat_random_unit(&random) + gyre_stat_random_unit(&random);
        if (gyre_stat_trend(values, 30, &slope, &interval) == GYRE_OK)
            excluded += interval.low > 0 || interval.high < 0;
    }
    printf("%d of 1000 intervals exclude 0\n", excluded);
    CHECK(excluded >= 25 && excluded <= 65);
}

static void only_the_last_are_looked_at(void)
{
    static double values[GYRE_STAT_TREND_MOST + 100];

    for (size_t i = 0; i < GYRE_STAT_TREND_MOST + 100; i++)
        values[i] = i < 100 ? 1e9 * (double)i : 2 * (double)i;
    REQUIRE(gyre_stat_trend(values, GYRE_STAT_TREND_MOST + 100, &slope, &interval) == GYRE_OK);
    CHECK(slope == 2 && interval.low == 2 && interval.high == 2);
}

static void too_few_or_not_finite_is_refused(void)
{
    double values[GYRE_STAT_TREND_LEAST] = {0};

    CHECK(gyre_stat_trend(values, 0, &slope, &interval) == GYRE_INVALID);
    CHECK(gyre_stat_trend(values, GYRE_STAT_TREND_LEAST - 1, &slope, &interval) == GYRE_INVALID);
    CHECK(gyre_stat_trend(values, GYRE_STAT_TREND_LEAST, &slope, &interval) == GYRE_OK);
    values[3] = (double)NAN;
    CHECK(gyre_stat_trend(values, GYRE_STAT_TREND_LEAST, &slope, &interval) == GYRE_INVALID);
}

static const test_case cases[] = {
    TEST(line_has_its_slope),
    TEST(equal_values_have_none),
    TEST(interval_is_of_two_slopes),
    TEST(outliers_do_not_bend_it),
    TEST(interval_covers_as_often_as_it_says),
    TEST(only_the_last_are_looked_at),
    TEST(too_few_or_not_finite_is_refused),
};
TEST_MAIN(cases)
