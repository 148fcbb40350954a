/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/beta.h"

#include <math.h>
#include <stdbool.h>

#include "stat/random.h"
#include "test.h"

static bool near(double a, double b, double part)
{
    return fabs(a - b) <= part * fabs(b);
}

/* Computed with 40 digits. */
static void known_values(void)
{
    static const struct {
        double x, a, b, value;
    } known[] = {
        {0.3, 2.5, 1.5, 0.088943723170665592},   {0.9, 2.5, 1.5, 0.90211935705862024},
        {0.001, 0.5, 0.5, 0.020135041633377491}, {0.02, 1, 149, 0.9507183456699104},
        {0.5, 20, 30, 0.92379611401926098},      {0.1, 200, 1000, 7.171068577337286e-13},
        {0.999, 40, 3.25, 0.99999633335794844},  {1e-5, 12, 7, 1.8562971863867721e-56},
        {0.25, 9.5, 10.5, 0.01636934055337417},  {0.35, 50, 0.75, 5.4350225570926647e-24},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        CHECK(near(gyre_stat_beta(known[i].x, known[i].a, known[i].b), known[i].value, 2e-13));
}

/* P(B >= k) among n, added up from the smallest term. */
static double binomial_from(int n, int k, double p)
{
    double sum = 0;

    for (int i = n; i >= k; i--)
        sum += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0)) * pow(p, i) *
               pow(1 - p, n - i);
    return sum;
}

static void whole_numbers_add_up_binomial_terms(void)
{
    const double p[] = {0.001, 0.1, 0.37, 0.5, 0.8, 0.99};
    size_t wrong = 0;

    for (int n = 1; n <= 40; n++) {
        for (int k = 1; k <= n; k++) {
            for (size_t i = 0; i < sizeof p / sizeof p[0]; i++)
                wrong +=
                    !near(gyre_stat_beta(p[i], k, n - k + 1), binomial_from(n, k, p[i]), 1e-12);
        }
    }
    CHECK(wrong == 0);
}

/* I_x(a, 1) is x^a, and I_x(1, b) is 1 - (1 - x)^b. */
static void powers_are_powers(void)
{
    for (int i = 0; i < 13; i++) {
        const double a = 0.5 * pow(3, i);

        CHECK(near(gyre_stat_beta(0.999, a, 1), pow(0.999, a), 1e-12));
        CHECK(near(gyre_stat_beta(1e-3, 1, a), -expm1(a * log1p(-1e-3)), 1e-12));
    }
}

/* 1 - 1e-18 is no double. */
static void rest_may_be_known_better_than_x(void)
{
    CHECK(near(gyre_stat_beta_parts(1, 1e-18, 1e18, 1), exp(-1), 1e-12));
    CHECK(near(gyre_stat_beta_parts(1e-18, 1, 1, 1e18), -expm1(-1), 1e-12));
}

static void ends_are_zero_and_one(void)
{
    CHECK(gyre_stat_beta(0, 2, 3) == 0 && gyre_stat_beta(-1, 2, 3) == 0);
    CHECK(gyre_stat_beta(1, 2, 3) == 1 && gyre_stat_beta(2, 2, 3) == 1);
    CHECK(isnan(gyre_stat_beta((double)NAN, 2, 3)));
    CHECK(gyre_stat_beta_quantile(0, 2, 3) == 0 && gyre_stat_beta_quantile(1, 2, 3) <= 1);
}

static double between(gyre_stat_random *random, double low, double high)
{
    return low * pow(high / low, gyre_stat_random_unit(random));
}

/* I_x(a, b) = x I_x(a - 1, b) + (1 - x) I_x(a, b - 1), on both sides of the middle and across. */
static void neighbours_agree(void)
{
    gyre_stat_random random;
    size_t outside = 0, different = 0;

    gyre_stat_random_seed(&random, 1);
    for (size_t round = 0; round < 30000; round++) {
        const double a = 1 + between(&random, 1e-2, 1e5), b = 1 + between(&random, 1e-2, 1e5);
        const double middle = a / (a + b), nearby = fmin(1, middle * between(&random, 0.99, 1.01));
        const double x = round % 2 ? gyre_stat_random_unit(&random) : nearby;
        const double p = gyre_stat_beta(x, a, b);
        const double q = x * gyre_stat_beta(x, a - 1, b) + (1 - x) * gyre_stat_beta(x, a, b - 1);

        outside += !(p >= 0 && p <= 1);
        different += !near(p, q, 1e-10) && q > 1e-300;
    }
    CHECK(outside == 0);
    CHECK(different == 0);
}

static void middle_of_a_symmetric_one_is_a_half(void)
{
    for (int i = -1; i < 10; i++)
        CHECK(near(gyre_stat_beta(0.5, pow(10, i), pow(10, i)), 0.5, 1e-13));
}

/* The double before it is too small. */
static void quantile_is_the_first_that_reaches(void)
{
    const double p[] = {1e-30, 1e-9, 0.01, 0.3, 0.5, 0.9, 0.999};
    const double a[] = {0.5, 1, 3, 47, 1000};

    for (size_t i = 0; i < sizeof p / sizeof p[0]; i++) {
        for (size_t j = 0; j < 25; j++) {
            const double x = gyre_stat_beta_quantile(p[i], a[j / 5], a[j % 5]);

            CHECK(gyre_stat_beta(x, a[j / 5], a[j % 5]) >= p[i]);
            CHECK(gyre_stat_beta(nextafter(x, 0), a[j / 5], a[j % 5]) < p[i]);
        }
    }
    CHECK(near(gyre_stat_beta_quantile(1e-100, 2, 1), 1e-50, 1e-12));
}

static void same_input_gives_the_same_bits(void)
{
    const double first = gyre_stat_beta(0.123, 4.5, 67.8);

    for (int i = 0; i < 100; i++) {
        CHECK(gyre_stat_beta((double)i / 100, i + 0.5, 7) >= 0);
        CHECK(gyre_stat_beta(0.123, 4.5, 67.8) == first);
    }
}

static const test_case cases[] = {
    TEST(known_values),
    TEST(whole_numbers_add_up_binomial_terms),
    TEST(powers_are_powers),
    TEST(rest_may_be_known_better_than_x),
    TEST(ends_are_zero_and_one),
    TEST(neighbours_agree),
    TEST(middle_of_a_symmetric_one_is_a_half),
    TEST(quantile_is_the_first_that_reaches),
    TEST(same_input_gives_the_same_bits),
};
TEST_MAIN(cases)
