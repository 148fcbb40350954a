/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/regression.h"

#include <math.h>

#include "stat/random.h"
#include "test.h"

/* sum xx = 14, sum xy = 2 + 6 + 15 = 23, sum yy = 38; the fit explains 23^2 / 14 of 38. */
static void known_values(void)
{
    const double x[] = {1, 2, 3}, y[] = {2, 3, 5};

    CHECK(fabs(gyre_stat_slope(x, y, 3) - 23.0 / 14) < 1e-15);
    CHECK(fabs(gyre_stat_r_squared(x, y, 3) - 529.0 / 14 / 38) < 1e-15);
}

static void exact_line_fits_exactly(void)
{
    const double x[] = {1, 2, 4, 8}, y[] = {3, 6, 12, 24};

    CHECK(gyre_stat_slope(x, y, 4) == 3);
    CHECK(gyre_stat_r_squared(x, y, 4) == 1);
}

/* Where x does not vary the slope is the mean of y / x. Around the mean of y nothing would be left
 * to explain; around 0 the line explains 4 * 100^2 of the squares. */
static void flat_sampling_has_a_slope(void)
{
    const double x[] = {10, 10, 10, 10}, y[] = {90, 110, 90, 110};

    CHECK(gyre_stat_slope(x, y, 4) == 10);
    CHECK(fabs(gyre_stat_r_squared(x, y, 4) - 40000.0 / 40400) < 1e-12);
}

static void useless_line_explains_nothing(void)
{
    const double x[] = {1, 1}, y[] = {1, -1};

    CHECK(gyre_stat_slope(x, y, 2) == 0);
    CHECK(gyre_stat_r_squared(x, y, 2) == 0);
}

/* The squared cosine between x and y is the same number by another way. */
static void r_squared_is_the_squared_cosine(void)
{
    gyre_stat_random random;

    gyre_stat_random_seed(&random, 6);
    for (size_t round = 0; round < 100; round++) {
        double x[30], y[30], xx = 0, xy = 0, yy = 0;

        for (size_t i = 0; i < 30; i++) {
            x[i] = (double)(i + 1);
            y[i] = x[i] * (1 + gyre_stat_random_unit(&random)) - (double)(round % 50);
            xx += x[i] * x[i];
            xy += x[i] * y[i];
            yy += y[i] * y[i];
        }
        CHECK(fabs(gyre_stat_r_squared(x, y, 30) - xy / xx * xy / yy) < 1e-12);
    }
}

/* y made perpendicular to x: what is left of the squares may exceed the total by rounding. */
static void r_squared_is_never_negative(void)
{
    gyre_stat_random random;

    gyre_stat_random_seed(&random, 7);
    for (size_t round = 0; round < 1000; round++) {
        double x[3], y[3], slope, r_squared;

        for (size_t i = 0; i < 3; i++) {
            x[i] = gyre_stat_random_unit(&random) + 0.1;
            y[i] = gyre_stat_random_unit(&random) - 0.5;
        }
        slope = gyre_stat_slope(x, y, 3);
        for (size_t i = 0; i < 3; i++)
            y[i] -= slope * x[i];
        r_squared = gyre_stat_r_squared(x, y, 3);
        CHECK(r_squared >= 0 && r_squared < 1e-12);
    }
}

static void nothing_has_no_slope(void)
{
    const double zero[] = {0, 0}, one[] = {1, 1};

    CHECK(gyre_stat_slope(one, one, 0) == 0 && gyre_stat_r_squared(one, one, 0) == 1);
    CHECK(gyre_stat_slope(zero, one, 2) == 0 && gyre_stat_r_squared(zero, one, 2) == 0);
    CHECK(gyre_stat_slope(one, zero, 2) == 0 && gyre_stat_r_squared(one, zero, 2) == 1);
    CHECK(gyre_stat_slope((double[]){4}, (double[]){6}, 1) == 1.5);
}

static const test_case cases[] = {
    TEST(known_values),
    TEST(exact_line_fits_exactly),
    TEST(flat_sampling_has_a_slope),
    TEST(useless_line_explains_nothing),
    TEST(r_squared_is_the_squared_cosine),
    TEST(r_squared_is_never_negative),
    TEST(nothing_has_no_slope),
};
TEST_MAIN(cases)
