/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/binomial.h"

#include <math.h>
#include <stdbool.h>

#include "test.h"

static bool near(double a, double b, double part)
{
    return fabs(a - b) <= part * fabs(b);
}

/* Computed with 40 digits. */
static void known_bounds(void)
{
    static const struct {
        size_t hits, trials;
        double confidence, lower, upper;
    } known[] = {
        {0, 149, 0.95, 0, 0.019904816220685078},
        {3, 10, 0.95, 0.087264433914150337, 0.60662421610541336},
        {7, 10, 0.95, 0.39337578389458664, 0.91273556608584966},
        {9, 10, 0.99, 0.49564733706919871, 0.99899547129175005},
        {1, 400, 0.95, 1.2822501443890115e-4, 0.011804304453987031},
        {360, 400, 0.975, 0.86632214170931054, 0.9275937058059582},
        {37, 400, 0.5, 0.091591602726232092, 0.094089484667456855},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        CHECK(near(gyre_stat_binomial_lower(known[i].hits, known[i].trials, known[i].confidence),
                   known[i].lower, 1e-12));
        CHECK(near(gyre_stat_binomial_upper(known[i].hits, known[i].trials, known[i].confidence),
                   known[i].upper, 1e-12));
    }
}

static void two_percent_needs_so_many_trials(void)
{
    const size_t trials[] = {149, 236, 313, 386};

    for (size_t hits = 0; hits < 4; hits++) {
        CHECK(gyre_stat_binomial_upper(hits, trials[hits], 0.95) <= 0.02);
        CHECK(gyre_stat_binomial_upper(hits, trials[hits] - 1, 0.95) > 0.02);
    }
}

/* No hits: (1 - f)^n = 1 - confidence; only hits: f^n. */
static void all_or_nothing_has_a_closed_form(void)
{
    for (size_t n = 1; n < 1000000; n = n * 3 + 1) {
        CHECK(near(gyre_stat_binomial_upper(0, n, 0.95), -expm1(log(0.05) / (double)n), 1e-12));
        CHECK(near(gyre_stat_binomial_lower(n, n, 0.95), pow(0.05, 1 / (double)n), 1e-12));
        CHECK(gyre_stat_binomial_lower(0, n, 0.95) == 0);
        CHECK(gyre_stat_binomial_upper(n, n, 0.95) == 1);
    }
    CHECK(gyre_stat_binomial_lower(0, 0, 0.95) == 0 && gyre_stat_binomial_upper(0, 0, 0.95) == 1);
}

static double choose(size_t n, size_t k)
{
    double ways = 1;

    for (size_t i = 1; i <= k; i++)
        ways = ways * (double)(n - k + i) / (double)i;
    return ways;
}

/* Every outcome of twelve trials, for frequencies a hundredth apart. */
static void bounds_miss_no_more_often_than_said(void)
{
    enum { TRIALS = 12 };

    for (int percent = 1; percent < 100; percent++) {
        const double f = percent / 100.0;
        double below = 0, above = 0;

        for (size_t hits = 0; hits <= TRIALS; hits++) {
            const double p =
                choose(TRIALS, hits) * pow(f, (double)hits) * pow(1 - f, (double)(TRIALS - hits));

            if (gyre_stat_binomial_upper(hits, TRIALS, 0.9) < f)
                below += p;
            if (gyre_stat_binomial_lower(hits, TRIALS, 0.9) > f)
                above += p;
        }
        CHECK(below <= 0.1 && above <= 0.1);
    }
}

static void bounds_mirror_each_other(void)
{
    for (size_t hits = 0; hits <= 50; hits++) {
        const double upper = gyre_stat_binomial_upper(hits, 50, 0.95);

        CHECK(fabs(upper + gyre_stat_binomial_lower(50 - hits, 50, 0.95) - 1) < 1e-12);
        CHECK(upper > (double)hits / 50 || hits == 50);
    }
}

static const test_case cases[] = {
    TEST(known_bounds),
    TEST(two_percent_needs_so_many_trials),
    TEST(all_or_nothing_has_a_closed_form),
    TEST(bounds_miss_no_more_often_than_said),
    TEST(bounds_mirror_each_other),
};
TEST_MAIN(cases)
