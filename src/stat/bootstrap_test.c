/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/bootstrap.h"

#include <math.h>
#include <stdbool.h>

#include "stat/correlation.h"
#include "stat/moments.h"
#include "stat/order.h"
#include "stat/regression.h"
#include "stat/series_fake.h"
#include "test.h"

enum { MOST = 1000 };

static double series[MOST], iterations[MOST], times[MOST];
static gyre_stat_random state;

/* A resampling with a fresh state, the same for the same seed. */
static gyre_resampling seeded(uint64_t seed, size_t resamples, double level)
{
    gyre_stat_random_seed(&state, seed);
    return (gyre_resampling){resamples, level, &state};
}

static const double *remembering(size_t count, double rho, uint64_t seed)
{
    fake_remembering(series, count, rho, seed);
    return series;
}

/* The k-th sample has k iterations of that time. */
static void sample_linearly(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        iterations[i] = (double)(i + 1);
        times[i] = values[i] * iterations[i];
    }
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static bool ordinary(gyre_estimate e)
{
    return e.low < e.point && e.point < e.high && e.standard_error > 0;
}

static bool holds(gyre_estimate e, double truth)
{
    return e.low <= truth && truth <= e.high;
}

static bool same(gyre_estimate a, gyre_estimate b)
{
    return a.point == b.point && a.low == b.low && a.high == b.high &&
           a.standard_error == b.standard_error;
}

static bool all_same(gyre_estimates a, gyre_estimates b)
{
    return same(a.mean, b.mean) && same(a.median, b.median) && same(a.std_dev, b.std_dev) &&
           same(a.median_abs_dev, b.median_abs_dev);
}

static bool same_as_figures(gyre_estimate e, double *figures, size_t count, double level)
{
    const double error = gyre_stat_std_dev(figures, count);

    gyre_stat_sort(figures, count);
    return near(e.low, gyre_stat_quantile(figures, count, (1 - level) / 2)) &&
           near(e.high, gyre_stat_quantile(figures, count, (1 + level) / 2)) &&
           fabs(e.standard_error - error) <= 1e-9 * error;
}

/* Blocks drawn, wrapped and cut as the header says, each figure from a resample that is really
 * there. */
static void estimates_are_those_of_the_slow_way(void)
{
    enum { COUNT = 37, BLOCK = 5, RESAMPLES = 300 };
    static double mean[RESAMPLES], median[RESAMPLES], std_dev[RESAMPLES], mad[RESAMPLES];
    gyre_resampling how = seeded(11, RESAMPLES, 0.9);
    gyre_stat_random slow = state;
    gyre_estimates got;

    remembering(COUNT, 0.5, 1);
    series[3] = series[4] = series[20]; /* ties */
    REQUIRE(gyre_stat_bootstrap(&(gyre_series){series, COUNT, BLOCK}, &how, &got) == GYRE_OK);
    for (size_t r = 0; r < RESAMPLES; r++) {
        double drawn[COUNT];
        size_t start = 0;

        for (size_t i = 0; i < COUNT; i++) {
            if (i % BLOCK == 0)
                start = (size_t)gyre_stat_random_below(&slow, COUNT);
            drawn[i] = series[(start + i % BLOCK) % COUNT];
        }
        mean[r] = gyre_stat_mean(drawn, COUNT);
        std_dev[r] = gyre_stat_std_dev(drawn, COUNT);
        gyre_stat_sort(drawn, COUNT);
        median[r] = gyre_stat_quantile(drawn, COUNT, 0.5);
        mad[r] = gyre_stat_median_abs_dev(drawn, COUNT);
    }
    CHECK(same_as_figures(got.mean, mean, RESAMPLES, 0.9));
    CHECK(same_as_figures(got.median, median, RESAMPLES, 0.9));
    CHECK(same_as_figures(got.std_dev, std_dev, RESAMPLES, 0.9));
    CHECK(same_as_figures(got.median_abs_dev, mad, RESAMPLES, 0.9));
    CHECK(memcmp(&slow, &state, sizeof slow) == 0);
}

static void slope_is_that_of_the_slow_way(void)
{
    enum { COUNT = 37, BLOCK = 5, RESAMPLES = 300 };
    static double slopes[RESAMPLES];
    gyre_resampling how = seeded(12, RESAMPLES, 0.9);
    gyre_stat_random slow = state;
    gyre_estimate got;

    sample_linearly(remembering(COUNT, 0.5, 1), COUNT);
    REQUIRE(gyre_stat_bootstrap_slope(iterations, &(gyre_series){times, COUNT, BLOCK}, &how,
                                      &got) == GYRE_OK);
    for (size_t r = 0; r < RESAMPLES; r++) {
        double xx = 0, xy = 0;
        size_t start = 0;

        for (size_t i = 0; i < COUNT; i++) {
            size_t at;

            if (i % BLOCK == 0)
                start = (size_t)gyre_stat_random_below(&slow, COUNT);
            at = (start + i % BLOCK) % COUNT;
            xx += iterations[at] * iterations[at];
            xy += iterations[at] * times[at];
        }
        slopes[r] = xy / xx;
    }
    CHECK(same_as_figures(got, slopes, RESAMPLES, 0.9));
    CHECK(got.point == gyre_stat_slope(iterations, times, COUNT));
}

/* Independent values: the error of a mean is known. */
static void error_of_the_mean_is_the_textbooks(void)
{
    gyre_resampling how = seeded(13, 4000, 0.95);
    gyre_estimates got;
    double expected;

    remembering(400, 0, 2);
    expected = gyre_stat_std_dev(series, 400) / sqrt(400);
    REQUIRE(gyre_stat_bootstrap(&(gyre_series){series, 400, 1}, &how, &got) == GYRE_OK);
    CHECK(fabs(got.mean.standard_error / expected - 1) < 0.05);
    CHECK(fabs((got.mean.high - got.mean.low) / (2 * 1.96 * expected) - 1) < 0.05);
}

static void intervals_hold_their_points(void)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        gyre_resampling how = seeded(seed, 1000, 0.95);
        gyre_estimate slope;
        gyre_estimates got;
        double sorted[100];

        sample_linearly(remembering(100, 0.3, seed), 100);
        memcpy(sorted, series, sizeof sorted);
        gyre_stat_sort(sorted, 100);
        REQUIRE(gyre_stat_bootstrap(&(gyre_series){series, 100, 4}, &how, &got) == GYRE_OK);
        REQUIRE(gyre_stat_bootstrap_slope(iterations, &(gyre_series){times, 100, 4}, &how,
                                          &slope) == GYRE_OK);
        CHECK(ordinary(got.mean) && ordinary(got.median) && ordinary(got.std_dev));
        CHECK(ordinary(got.median_abs_dev) && ordinary(slope));
        CHECK(near(got.mean.point, gyre_stat_mean(series, 100)));
        CHECK(near(got.std_dev.point, gyre_stat_std_dev(series, 100)));
        CHECK(got.median.point == gyre_stat_quantile(sorted, 100, 0.5));
        CHECK(got.median_abs_dev.point == gyre_stat_median_abs_dev(sorted, 100));
    }
}

static void higher_level_is_wider(void)
{
    gyre_estimates narrow, wide;
    gyre_resampling how = seeded(14, 2000, 0.5);

    remembering(100, 0, 3);
    REQUIRE(gyre_stat_bootstrap(&(gyre_series){series, 100, 1}, &how, &narrow) == GYRE_OK);
    how = seeded(14, 2000, 0.99);
    REQUIRE(gyre_stat_bootstrap(&(gyre_series){series, 100, 1}, &how, &wide) == GYRE_OK);
    CHECK(wide.mean.low < narrow.mean.low && narrow.mean.high < wide.mean.high);
    CHECK(wide.mean.standard_error == narrow.mean.standard_error);
}

/* tau is 9, so the true error is three times that of independent values. */
static void blocks_widen_the_interval_of_a_series_that_remembers(void)
{
    gyre_resampling how = seeded(15, 1000, 0.95);
    gyre_estimate blocks_slope, single_slope;
    gyre_estimates blocks, single;

    sample_linearly(remembering(MOST, 0.8, 4), MOST);
    REQUIRE(gyre_stat_bootstrap(&(gyre_series){series, MOST, 30}, &how, &blocks) == GYRE_OK);
    REQUIRE(gyre_stat_bootstrap(&(gyre_series){series, MOST, 1}, &how, &single) == GYRE_OK);
    CHECK(blocks.mean.high - blocks.mean.low > 2 * (single.mean.high - single.mean.low));
    CHECK(blocks.median.high - blocks.median.low > 1.5 * (single.median.high - single.median.low));
    REQUIRE(gyre_stat_bootstrap_slope(iterations, &(gyre_series){times, MOST, 30}, &how,
                                      &blocks_slope) == GYRE_OK);
    REQUIRE(gyre_stat_bootstrap_slope(iterations, &(gyre_series){times, MOST, 1}, &how,
                                      &single_slope) == GYRE_OK);
    CHECK(blocks_slope.high - blocks_slope.low > 2 * (single_slope.high - single_slope.low));
}

/* The whole way a run goes: tau, block, interval. Of 200 intervals, 186 hold the mean and 186 the
 * median; drawn one by one, 103 and 117. */
static void coverage_is_near_what_was_asked_for(void)
{
    enum { SERIES = 200 };
    int mean = 0, median = 0, naive_mean = 0, naive_median = 0;

    for (uint64_t seed = 0; seed < SERIES; seed++) {
        gyre_resampling how = seeded(seed, 200, 0.95);
        gyre_estimates blocks, single;
        double tau;

        remembering(MOST, 0.8, 1000 + seed);
        REQUIRE(gyre_stat_correlation_time(series, MOST, &tau) == GYRE_OK);
        REQUIRE(gyre_stat_bootstrap(&(gyre_series){series, MOST, gyre_stat_block_length(tau, MOST)},
                                    &how, &blocks) == GYRE_OK);
        REQUIRE(gyre_stat_bootstrap(&(gyre_series){series, MOST, 1}, &how, &single) == GYRE_OK);
        mean += holds(blocks.mean, 1000);
        median += holds(blocks.median, 1000);
        naive_mean += holds(single.mean, 1000);
        naive_median += holds(single.median, 1000);
    }
    CHECK(mean >= 0.88 * SERIES && mean <= 0.99 * SERIES);
    CHECK(median >= 0.88 * SERIES && median <= 0.99 * SERIES);
    CHECK(naive_mean < 0.65 * SERIES && naive_median < 0.7 * SERIES);
}

static void same_seed_gives_the_same_bits(void)
{
    gyre_estimates first, second, other;
    gyre_resampling how = seeded(16, 500, 0.95);

    remembering(100, 0.5, 5);
    REQUIRE(gyre_stat_bootstrap(&(gyre_series){series, 100, 6}, &how, &first) == GYRE_OK);
    how = seeded(16, 500, 0.95);
    REQUIRE(gyre_stat_bootstrap(&(gyre_series){series, 100, 6}, &how, &second) == GYRE_OK);
    how = seeded(17, 500, 0.95);
    REQUIRE(gyre_stat_bootstrap(&(gyre_series){series, 100, 6}, &how, &other) == GYRE_OK);
    CHECK(all_same(first, second));
    CHECK(!same(first.mean, other.mean) && !same(first.std_dev, other.std_dev));
}

static void one_or_equal_values_have_no_width(void)
{
    const double equal[] = {0.1, 0.1, 0.1, 0.1, 0.1};

    for (size_t count = 1; count <= 5; count++) {
        gyre_resampling how = seeded(18, 100, 0.95);
        const gyre_series in = {equal, count, count};
        gyre_estimates got;
        gyre_change change;

        REQUIRE(gyre_stat_bootstrap(&in, &how, &got) == GYRE_OK);
        CHECK(got.mean.point == 0.1 && got.mean.low == 0.1 && got.mean.high == 0.1);
        CHECK(got.median.low == 0.1 && got.median.high == 0.1 && got.mean.standard_error == 0);
        CHECK(got.std_dev.high == 0 && got.median_abs_dev.high == 0);
        REQUIRE(gyre_stat_change(&in, &in, &how, &change) == GYRE_OK);
        CHECK(change.relative.low == 0 && change.relative.high == 0 && change.p == 1);
    }
}

/* Medians 10 and 12, and every resample's too: the smallest p there is. */
static void change_is_relative_to_the_first(void)
{
    const double ten[] = {10, 10, 10, 10}, twelve[] = {12, 12, 12};
    gyre_resampling how = seeded(19, 999, 0.95);
    gyre_change got;

    REQUIRE(gyre_stat_change(&(gyre_series){ten, 4, 1}, &(gyre_series){twelve, 3, 1}, &how, &got) ==
            GYRE_OK);
    CHECK(near(got.relative.point, 0.2) && near(got.relative.low, 0.2));
    CHECK(near(got.p, 2.0 / 1000));
    REQUIRE(gyre_stat_change(&(gyre_series){twelve, 3, 1}, &(gyre_series){ten, 4, 1}, &how, &got) ==
            GYRE_OK);
    CHECK(near(got.relative.point, -1.0 / 6) && near(got.p, 2.0 / 1000));
}

/* One value against two: a resample of {9, 12} has median 9, 10.5 or 12 with 1/4, 1/2, 1/4. So a
 * quarter lies below 10, and p is near a half. */
static void p_is_twice_the_rarer_side(void)
{
    gyre_resampling how = seeded(20, 20000, 0.95);
    gyre_change got;

    REQUIRE(gyre_stat_change(&(gyre_series){(double[]){10}, 1, 1},
                             &(gyre_series){(double[]){9, 12}, 2, 1}, &how, &got) == GYRE_OK);
    CHECK(fabs(got.p - 0.5) < 0.02);
    CHECK(near(got.relative.point, 0.05));
    CHECK(near(got.relative.low, -0.1) && near(got.relative.high, 0.2));
}

/* 5 % is told from the noise, and two series of the same process hardly ever differ. */
static void change_is_found_where_there_is_one(void)
{
    enum { PAIRS = 100 };
    size_t alarms = 0, found = 0;

    for (uint64_t seed = 0; seed < PAIRS; seed++) {
        gyre_resampling how = seeded(seed, 400, 0.95);
        double a[200], b[200], slower[200];
        gyre_change same, real;

        memcpy(a, remembering(200, 0.3, 2 * seed), sizeof a);
        memcpy(b, remembering(200, 0.3, 2 * seed + 1), sizeof b);
        for (size_t i = 0; i < 200; i++)
            slower[i] = 1.05 * b[i];
        REQUIRE(gyre_stat_change(&(gyre_series){a, 200, 6}, &(gyre_series){b, 200, 6}, &how,
                                 &same) == GYRE_OK);
        REQUIRE(gyre_stat_change(&(gyre_series){a, 200, 6}, &(gyre_series){slower, 200, 6}, &how,
                                 &real) == GYRE_OK);
        alarms += same.p < 0.05;
        found += real.p < 0.05 && holds(real.relative, 0.05);
    }
    CHECK(alarms <= 12);
    CHECK(found >= 88);
}

/* A drifting side alone is enough to widen the interval, whichever it is. */
static void each_side_has_its_own_blocks(void)
{
    double calm[500], drifting[500];
    gyre_change single, of_a, of_b;
    gyre_resampling how = seeded(21, 1000, 0.95);

    memcpy(calm, remembering(500, 0, 8), sizeof calm);
    memcpy(drifting, remembering(500, 0.8, 9), sizeof drifting);
    REQUIRE(gyre_stat_change(&(gyre_series){drifting, 500, 1}, &(gyre_series){calm, 500, 1}, &how,
                             &single) == GYRE_OK);
    REQUIRE(gyre_stat_change(&(gyre_series){drifting, 500, 25}, &(gyre_series){calm, 500, 1}, &how,
                             &of_a) == GYRE_OK);
    REQUIRE(gyre_stat_change(&(gyre_series){calm, 500, 1}, &(gyre_series){drifting, 500, 25}, &how,
                             &of_b) == GYRE_OK);
    CHECK(of_a.relative.standard_error > 1.4 * single.relative.standard_error);
    CHECK(of_b.relative.standard_error > 1.4 * single.relative.standard_error);
}

static bool refused(gyre_series in, size_t resamples, double level)
{
    const gyre_estimate none = {0};
    const gyre_series good = {series, 10, 2};
    gyre_resampling how = seeded(22, resamples, level);
    gyre_estimates estimates = {.mean.point = 1};
    gyre_estimate slope = {.point = 1};
    gyre_change change = {.p = 1}, reversed = {.p = 1};

    return gyre_stat_bootstrap(&in, &how, &estimates) == GYRE_INVALID &&
           gyre_stat_bootstrap_slope(iterations, &in, &how, &slope) == GYRE_INVALID &&
           gyre_stat_change(&in, &good, &how, &change) == GYRE_INVALID &&
           gyre_stat_change(&good, &in, &how, &reversed) == GYRE_INVALID &&
           all_same(estimates, (gyre_estimates){0}) && same(slope, none) &&
           same(change.relative, none) && change.p == 0 && same(reversed.relative, none) &&
           reversed.p == 0;
}

static void bad_input_is_refused(void)
{
    const double with_zero[] = {1, 0, 2};
    gyre_resampling how = seeded(23, 10, 0.95);
    gyre_change change;

    sample_linearly(remembering(10, 0, 10), 10);
    CHECK(refused((gyre_series){series, 0, 1}, 10, 0.95));
    CHECK(refused((gyre_series){series, 10, 0}, 10, 0.95));
    CHECK(refused((gyre_series){series, 10, 11}, 10, 0.95));
    CHECK(refused((gyre_series){series, 10, 1}, 0, 0.95));
    CHECK(refused((gyre_series){series, 10, 1}, 10, 0));
    CHECK(refused((gyre_series){series, 10, 1}, 10, 1));
    CHECK(refused((gyre_series){series, 10, 1}, 10, (double)NAN));
    CHECK(gyre_stat_change(&(gyre_series){with_zero, 3, 1}, &(gyre_series){series, 10, 1}, &how,
                           &change) == GYRE_INVALID);
    CHECK(gyre_stat_change(&(gyre_series){series, 10, 1}, &(gyre_series){with_zero, 3, 1}, &how,
                           &change) == GYRE_OK);
}

static void want_of_memory_is_said(void)
{
    gyre_resampling how = seeded(24, SIZE_MAX / 2, 0.95);
    gyre_estimates estimates;
    gyre_estimate slope;
    gyre_change change;
    const gyre_series in = {series, 10, 1};

    CHECK(gyre_stat_bootstrap(&in, &how, &estimates) == GYRE_NO_MEMORY);
    CHECK(gyre_stat_bootstrap_slope(iterations, &in, &how, &slope) == GYRE_NO_MEMORY);
    CHECK(gyre_stat_change(&in, &in, &how, &change) == GYRE_NO_MEMORY);
}

static const test_case cases[] = {
    TEST(estimates_are_those_of_the_slow_way),
    TEST(slope_is_that_of_the_slow_way),
    TEST(error_of_the_mean_is_the_textbooks),
    TEST(intervals_hold_their_points),
    TEST(higher_level_is_wider),
    TEST(blocks_widen_the_interval_of_a_series_that_remembers),
    TEST(coverage_is_near_what_was_asked_for),
    TEST(same_seed_gives_the_same_bits),
    TEST(one_or_equal_values_have_no_width),
    TEST(change_is_relative_to_the_first),
    TEST(p_is_twice_the_rarer_side),
    TEST(change_is_found_where_there_is_one),
    TEST(each_side_has_its_own_blocks),
    TEST(bad_input_is_refused),
    TEST(want_of_memory_is_said),
};
TEST_MAIN(cases)
