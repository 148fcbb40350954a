/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/correlation.h"

#include <math.h>

#include "stat/series_fake.h"
#include "test.h"

enum { MOST = 2000 };

static double series[MOST];

static const double *remembering(size_t count, double rho, uint64_t seed)
{
    fake_remembering(series, count, rho, seed);
    return series;
}

static double tau_of(const double *values, size_t count)
{
    double tau = 0;

    CHECK(gyre_stat_correlation_time(values, count, &tau) == GYRE_OK);
    return tau;
}

static double mean_tau(size_t count, double rho)
{
    enum { SERIES = 100 };
    double sum = 0;

    for (uint64_t seed = 0; seed < SERIES; seed++)
        sum += tau_of(remembering(count, rho, seed), count);
    return sum / SERIES;
}

static void independent_values_have_tau_one(void)
{
    const double tau = mean_tau(MOST, 0);

    CHECK(tau >= 1 && tau < 1.15);
}

static void tau_is_that_of_the_process(void)
{
    const double third = mean_tau(MOST, 0.5), ninth = mean_tau(MOST, 0.8);

    CHECK(third > 2.7 && third < 3.3);
    CHECK(ninth > 8.1 && ninth < 9.9);
}

/* By hand, lags 0 and 1 only: the mean is 2.5, the squares sum to 5, the products of neighbours to
 * 1.5 * 0.5 - 0.5 * 0.5 + 0.5 * 1.5 = 1.25. So tau is 1 + 2 * 0.25; the ranks are 0, ..., 3. */
static void known_value(void)
{
    CHECK(fabs(tau_of((double[]){1, 2, 3, 4}, 4) - 1.5) < 1e-12);
}

/* The pairs after the first by hand: ten values, so lags 0 to 3. The mean of five ones and five
 * zeros is 0.5 and every product 0.25 or -0.25: lag 0 has 10, lag 1 has 9 - 2, lag 2 has 8 - 4,
 * lag 3 has 7 - 6 of them. tau = 2 * (10 + 7 + 4 + 1) / 10 - 1. */
static void second_pair_counts(void)
{
    CHECK(fabs(tau_of((double[]){1, 1, 1, 1, 1, 0, 0, 0, 0, 0}, 10) - 3.4) < 1e-12);
}

/* Twice the values minus one are 1 and -1, with a mean of 0. Their products sum to 20, 9, 6, 3, 6,
 * 7 at lags 0 to 5, so the pairs are 29, 9 and 13; the last rises and counts as 9. */
static void pair_that_rises_is_held_down(void)
{
    const double x[] = {1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0};

    CHECK(fabs(tau_of(x, 20) - (2 * (29 + 9 + 9) / 20.0 - 1)) < 1e-12);
}

static void one_spike_does_not_hide_a_drift(void)
{
    double spiked[MOST];

    memcpy(spiked, remembering(MOST, 0.8, 7), sizeof spiked);
    spiked[MOST / 2] = 1e6;
    CHECK(tau_of(spiked, MOST) > 6);
}

/* Twenty spikes in a row among 2000 values, which are all that matters for the mean. */
static void burst_of_spikes_is_seen(void)
{
    double burst[MOST];

    memcpy(burst, remembering(MOST, 0, 7), sizeof burst);
    for (size_t i = 500; i < 520; i++)
        burst[i] = 1e6;
    CHECK(tau_of(burst, MOST) > 15);
}

static void alternating_values_do_not_fall_below_one(void)
{
    for (size_t i = 0; i < MOST; i++)
        series[i] = (double)(i % 2);
    CHECK(tau_of(series, MOST) == 1);
}

static void equal_or_few_values_have_tau_one(void)
{
    const double x[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};

    for (size_t count = 0; count <= 7; count++)
        CHECK(tau_of(x, count) == 1);
    CHECK(tau_of((double[]){1, 2}, 2) == 1);
    CHECK(tau_of((double[]){1, 2, 3}, 3) == 1);
}

static void tau_is_finite_for_every_length(void)
{
    for (size_t count = 0; count < 60; count++) {
        const double tau = tau_of(remembering(count, 0.95, count), count);

        CHECK(tau >= 1 && tau <= fmax(1, (double)count));
    }
}

static void block_is_twice_tau(void)
{
    CHECK(gyre_stat_block_length(1, 100) == 2);
    CHECK(gyre_stat_block_length(1.01, 100) == 3);
    CHECK(gyre_stat_block_length(9, 100) == 18);
    CHECK(gyre_stat_block_length(0.2, 100) == 2);
    CHECK(gyre_stat_block_length(0, 100) == 2);
    CHECK(gyre_stat_block_length(1, 100000) == 2);
}

/* tau 9: a reach of 80 / 18; 1.5 * reach^2 * 2000 = 59259, between the cubes of 38 and 39. */
static void block_grows_with_a_long_series(void)
{
    CHECK(gyre_stat_block_length(9, 2000) == 39);
    CHECK(gyre_stat_block_length(9, 16000) == 78);
}

static void block_leaves_several_in_a_series(void)
{
    CHECK(gyre_stat_block_length(11, 100) == 20);
    CHECK(gyre_stat_block_length(1e300, 100) == 20);
    CHECK(gyre_stat_block_length(9, 10) == 2);
    for (size_t count = 0; count < 10; count++)
        CHECK(gyre_stat_block_length(9, count) == 1);
}

static const test_case cases[] = {
    TEST(independent_values_have_tau_one),
    TEST(tau_is_that_of_the_process),
    TEST(known_value),
    TEST(second_pair_counts),
    TEST(pair_that_rises_is_held_down),
    TEST(one_spike_does_not_hide_a_drift),
    TEST(burst_of_spikes_is_seen),
    TEST(alternating_values_do_not_fall_below_one),
    TEST(equal_or_few_values_have_tau_one),
    TEST(tau_is_finite_for_every_length),
    TEST(block_is_twice_tau),
    TEST(block_grows_with_a_long_series),
    TEST(block_leaves_several_in_a_series),
};
TEST_MAIN(cases)
