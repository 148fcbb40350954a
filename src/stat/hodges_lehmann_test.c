/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/hodges_lehmann.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "stat/order.h"
#include "stat/random.h"
#include "stat/series_fake.h"
#include "test.h"

static double estimate(const double *values, size_t count)
{
    double out = (double)NAN;

    CHECK(gyre_stat_hodges_lehmann(values, count, &out) == GYRE_OK);
    return out;
}

/* By hand: of 1, 2, 6 the averages are 1, 1.5, 2, 3.5, 4, 6; of 0, 1, 5, 9 they are 0, 0.5, 1, 2.5,
 * 3, 4.5, 5, 5, 7, 9. */
static void known_values(void)
{
    CHECK(estimate((double[]){7}, 1) == 7);
    CHECK(estimate((double[]){1, 4}, 2) == 2.5);
    CHECK(estimate((double[]){6, 1, 2}, 3) == 2.75);
    CHECK(estimate((double[]){9, 0, 5, 1}, 4) == 3.75);
    CHECK(estimate((double[]){-6, -1, -2}, 3) == -2.75);
}

/* The definition, literally. */
static double slow_estimate(const double *values, size_t count)
{
    static double averages[64 * 65 / 2];
    size_t pairs = 0;

    for (size_t i = 0; i < count; i++) {
        for (size_t j = i; j < count; j++)
            averages[pairs++] = (values[i] + values[j]) / 2;
    }
    gyre_stat_sort(averages, pairs);
    return (averages[(pairs - 1) / 2] + averages[pairs / 2]) / 2;
}

/* Few distinct values make ties, many make none. */
static void estimate_is_its_definition(void)
{
    gyre_stat_random random;
    size_t wrong = 0;

    gyre_stat_random_seed(&random, 6);
    for (size_t round = 0; round < 3000; round++) {
        const size_t count = 1 + round % 64;
        const double scale = round % 3 ? 6 : 1e9, step = round % 2 ? 1 : 0.1;
        double x[64];

        for (size_t i = 0; i < count; i++)
            x[i] = step * floor(scale * (gyre_stat_random_unit(&random) - 0.5));
        wrong += estimate(x, count) != slow_estimate(x, count);
    }
    CHECK(wrong == 0);
}

static void equal_values_are_their_own_estimate(void)
{
    double x[100];

    for (size_t i = 0; i < 100; i++)
        x[i] = 0.1;
    for (size_t count = 1; count <= 100; count++)
        CHECK(estimate(x, count) == 0.1);
}

static void fourth_of_the_sample_may_be_outliers(void)
{
    double x[100];

    fake_remembering(x, 100, 0, 1);
    for (size_t i = 0; i < 25; i++)
        x[4 * i] = 1e9;
    CHECK(fabs(estimate(x, 100) - 1000) < 2);
}

/* The variance of the mean is 3 % less than that of the estimate, that of the median 57 % more. */
static void nearly_as_exact_as_the_mean(void)
{
    enum { SAMPLES = 2000, COUNT = 48 };
    double squares = 0;

    for (uint64_t seed = 0; seed < SAMPLES; seed++) {
        double x[COUNT], off;

        fake_remembering(x, COUNT, 0, seed);
        off = estimate(x, COUNT) - 1000;
        squares += off * off;
    }
    /* four uniform numbers: a variance of a third */
    CHECK(fabs(squares / SAMPLES * COUNT * 3 - 1) < 0.12);
}

static void largest_doubles_have_a_middle(void)
{
    CHECK(estimate((double[]){DBL_MAX, DBL_MAX, DBL_MAX}, 3) == DBL_MAX);
    CHECK(estimate((double[]){-DBL_MAX, DBL_MAX}, 2) == 0);
    CHECK(!signbit(estimate((double[]){-0.0, -0.0}, 2)));
}

static void input_is_left_as_it_is(void)
{
    double x[] = {3, 1, 2};

    CHECK(estimate(x, 3) == 2);
    CHECK(x[0] == 3 && x[1] == 1 && x[2] == 2);
}

static void bad_input_is_refused(void)
{
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    double out = 1;

    CHECK(gyre_stat_hodges_lehmann(bad, 0, &out) == GYRE_INVALID && out == 0);
    for (size_t i = 0; i < 3; i++) {
        out = 1;
        CHECK(gyre_stat_hodges_lehmann((double[]){1, bad[i], 2}, 3, &out) == GYRE_INVALID);
        CHECK(out == 0);
    }
}

static const test_case cases[] = {
    TEST(known_values),
    TEST(estimate_is_its_definition),
    TEST(equal_values_are_their_own_estimate),
    TEST(fourth_of_the_sample_may_be_outliers),
    TEST(nearly_as_exact_as_the_mean),
    TEST(largest_doubles_have_a_middle),
    TEST(input_is_left_as_it_is),
    TEST(bad_input_is_refused),
};
TEST_MAIN(cases)
