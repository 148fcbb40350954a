/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/order.h"

#include <math.h>

#include "test.h"

enum { MOST = 200 };

/* 1, 2, ..., n: an order statistic is its own index. */
static double ladder[MOST];

static const double *ladder_to(size_t n)
{
    for (size_t i = 0; i < n; i++)
        ladder[i] = (double)(i + 1);
    return ladder;
}

static void sort_is_ascending(void)
{
    double x[] = {3, -1, 2, 2, 0};

    gyre_stat_sort(x, 5);
    CHECK(x[0] == -1 && x[1] == 0 && x[2] == 2 && x[3] == 2 && x[4] == 3);
    gyre_stat_sort(x, 0);
}

static void rank_counts_the_smaller_ones(void)
{
    const double x[] = {1, 2, 2, 2, 5};

    CHECK(gyre_stat_rank(x, 5, 0) == 0 && gyre_stat_rank(x, 5, 1) == 0);
    CHECK(gyre_stat_rank(x, 5, 2) == 1 && gyre_stat_rank(x, 5, 3) == 4);
    CHECK(gyre_stat_rank(x, 5, 5) == 4 && gyre_stat_rank(x, 5, 6) == 5);
    CHECK(gyre_stat_rank(x, 0, 6) == 0);
}

static void quantiles_interpolate(void)
{
    CHECK(gyre_stat_quantile(ladder_to(5), 5, 0.5) == 3);
    CHECK(gyre_stat_quantile(ladder_to(4), 4, 0.5) == 2.5);
    CHECK(gyre_stat_quantile(ladder_to(5), 5, 0) == 1);
    CHECK(gyre_stat_quantile(ladder_to(5), 5, 1) == 5);
    CHECK(gyre_stat_quantile(ladder_to(1), 1, 0.7) == 1);
}

/* Textbook values for the median at 95 %. */
static void median_interval_matches_tables(void)
{
    static const struct {
        size_t n;
        double low, high, coverage;
    } known[] = {{6, 1, 6, 0.96875},
                 {10, 2, 9, 0.978516},
                 {20, 6, 15, 0.958611},
                 {30, 10, 21, 0.957226},
                 {100, 40, 61, 0.964800}};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const gyre_interval got =
            gyre_stat_quantile_interval(ladder_to(known[i].n), known[i].n, 0.5, 0.95);

        CHECK(got.low == known[i].low && got.high == known[i].high);
        CHECK(fabs(got.coverage - known[i].coverage) < 1e-5);
    }
}

static void small_sample_gives_what_it_has(void)
{
    const gyre_interval got = gyre_stat_quantile_interval(ladder_to(3), 3, 0.5, 0.95);

    CHECK(got.low == 1 && got.high == 3);
    CHECK(fabs(got.coverage - 0.75) < 1e-12); /* 1 - 2 * (1/2)^3: less than asked, and said */
}

/* Counted over every outcome of n coin tosses: the quantile lies inside as often as it says. */
static void coverage_is_exact(void)
{
    for (size_t n = 1; n <= 12; n++) {
        const gyre_interval got = gyre_stat_quantile_interval(ladder_to(n), n, 0.5, 0.9);
        size_t inside = 0;

        for (size_t outcome = 0; outcome < (size_t)1 << n; outcome++) {
            const double below = (double)__builtin_popcountll(outcome);

            inside += below >= got.low && below < got.high;
        }
        CHECK(fabs((double)inside / (double)((size_t)1 << n) - got.coverage) < 1e-9);
    }
}

static const test_case cases[] = {
    TEST(sort_is_ascending),
    TEST(rank_counts_the_smaller_ones),
    TEST(quantiles_interpolate),
    TEST(median_interval_matches_tables),
    TEST(small_sample_gives_what_it_has),
    TEST(coverage_is_exact),
};
TEST_MAIN(cases)
