/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/regression.h"

#include <math.h>

#include "test.h"

/* sum xx = 14, sum xy = 2 + 6 + 15 = 23, sum yy = 38; the fit explains 23^2 / 14 of 38. */
static void known_values(void)
{
    const double x[] = {1, 2, 3}, y[] = {2, 3, 5};

    CHECK(fabs(gyre_stat_slope(x, y, 3) - 23.0 / 14) < 1e-15);
}

static void exact_line_fits_exactly(void)
{
    const double x[] = {1, 2, 4, 8}, y[] = {3, 6, 12, 24};

    CHECK(gyre_stat_slope(x, y, 4) == 3);
}

/* Where x does not vary the slope is the mean of y / x. */
static void flat_sampling_has_a_slope(void)
{
    const double x[] = {10, 10, 10, 10}, y[] = {90, 110, 90, 110};

    CHECK(gyre_stat_slope(x, y, 4) == 10);
}

static void opposite_values_have_no_slope(void)
{
    const double x[] = {1, 1}, y[] = {1, -1};

    CHECK(gyre_stat_slope(x, y, 2) == 0);
}

static void nothing_has_no_slope(void)
{
    const double zero[] = {0, 0}, one[] = {1, 1};

    CHECK(gyre_stat_slope(one, one, 0) == 0);
    CHECK(gyre_stat_slope(zero, one, 2) == 0);
    CHECK(gyre_stat_slope(one, zero, 2) == 0);
    CHECK(gyre_stat_slope((double[]){4}, (double[]){6}, 1) == 1.5);
}

static const test_case cases[] = {
    TEST(known_values),
    TEST(exact_line_fits_exactly),
    TEST(flat_sampling_has_a_slope),
    TEST(opposite_values_have_no_slope),
    TEST(nothing_has_no_slope),
};
TEST_MAIN(cases)
