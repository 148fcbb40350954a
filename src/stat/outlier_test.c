/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/outlier.h"

#include "test.h"

/* Quartiles 100 and 108 in all of these, so the fences are at 76, 88, 120 and 132. */
static void fences_are_those_of_tukey(void)
{
    const gyre_outliers got = gyre_stat_outliers((double[]){96, 100, 104, 108, 112}, 5);

    CHECK(got.fences.low_severe == 76 && got.fences.low_mild == 88);
    CHECK(got.fences.high_mild == 120 && got.fences.high_severe == 132);
    CHECK(got.low_severe == 0 && got.low_mild == 0 && got.high_mild == 0 && got.high_severe == 0);
}

static void each_kind_is_counted_apart(void)
{
    /* twenty-five values, the quartiles at places 6 and 18 */
    const double x[] = {1,   2,   80,  100, 100, 100, 100, 104, 104, 104, 104, 104, 104,
                        104, 104, 104, 104, 104, 108, 108, 121, 125, 131, 133, 1e9};
    const gyre_outliers got = gyre_stat_outliers(x, 25);

    CHECK(got.fences.low_severe == 76 && got.fences.high_severe == 132);
    CHECK(got.low_severe == 2 && got.low_mild == 1);
    CHECK(got.high_mild == 3 && got.high_severe == 2);
}

static void value_on_a_fence_is_inside(void)
{
    const double mild[] = {88, 100, 100, 104, 104, 108, 108, 120};
    const double severe[] = {76, 100, 100, 104, 104, 108, 108, 132};
    gyre_outliers got = gyre_stat_outliers(mild, 8);

    REQUIRE(got.fences.low_mild == 88 && got.fences.high_mild == 120);
    CHECK(got.low_mild == 0 && got.high_mild == 0);
    got = gyre_stat_outliers(severe, 8);
    REQUIRE(got.fences.low_severe == 76 && got.fences.high_severe == 132);
    CHECK(got.low_mild == 1 && got.high_mild == 1);
    CHECK(got.low_severe == 0 && got.high_severe == 0);
}

static void few_or_equal_values_have_no_outliers(void)
{
    const double x[] = {5, 5, 5, 5, 5, 5};

    for (size_t count = 0; count <= 6; count++) {
        const gyre_outliers got = gyre_stat_outliers(x, count);

        CHECK(got.low_severe + got.low_mild + got.high_mild + got.high_severe == 0);
        CHECK(got.fences.low_severe == (count ? 5 : 0) &&
              got.fences.high_severe == (count ? 5 : 0));
    }
}

static const test_case cases[] = {
    TEST(fences_are_those_of_tukey),
    TEST(each_kind_is_counted_apart),
    TEST(value_on_a_fence_is_inside),
    TEST(few_or_equal_values_have_no_outliers),
};
TEST_MAIN(cases)
