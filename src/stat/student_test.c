/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/student.h"

#include <math.h>
#include <stdbool.h>

#include "test.h"

static bool near(double a, double b, double part)
{
    return fabs(a - b) <= part * fabs(b);
}

/* Computed with 40 digits. */
static void known_tails(void)
{
    static const struct {
        double t, freedom, p;
    } known[] = {
        {0.1, 1, 0.46827448256944643},        {1, 1.5, 0.22556768363835516},
        {2.5, 2.7, 0.048539707221467335},     {3.7, 7, 3.8274956856056637e-3},
        {12.9, 7, 1.9539862930855506e-6},     {1.7, 47, 0.04787027048396732},
        {4, 47, 1.1140308689845942e-4},       {25, 47, 4.2535693473285346e-29},
        {14, 100, 1.3262036051922346e-25},    {12, 331.5, 4.2582711484469605e-28},
        {200, 15, 2.0404062607772118e-27},    {1e6, 5, 9.4901672454606804e-30},
        {11.5, 1500, 1.0806971395279869e-29}, {11, 1e6, 1.9177808801974228e-28},
        {3, 1e9, 1.3498980648689578e-3},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        CHECK(near(gyre_stat_t_tail(known[i].t, known[i].freedom), known[i].p, 1e-12));
        CHECK(near(gyre_stat_t_tail(-known[i].t, known[i].freedom), 1 - known[i].p, 1e-15));
    }
}

/* 1 degree: half minus atan(t) / pi, which is atan(1 / t) / pi. 2 degrees: half of 1 - t / sqrt(2 +
 * t^2), which is 1 / (s (s + t)) with s that root. */
static void one_and_two_degrees_have_a_closed_form(void)
{
    for (int i = -25; i < 87; i++) {
        const double t = pow(1.7, i), s = sqrt(2 + t * t);

        CHECK(near(gyre_stat_t_tail(t, 1), atan(1 / t) / acos(-1), 1e-13));
        CHECK(near(gyre_stat_t_tail(t, 2), 1 / (s * (s + t)), 1e-13));
    }
}

static void many_degrees_are_the_normal_distribution(void)
{
    for (int i = 0; i < 44; i++) {
        const double t = i / 4.0, normal = erfc(t / sqrt(2)) / 2;

        CHECK(near(gyre_stat_t_tail(t, (double)INFINITY), normal, 1e-14));
        CHECK(near(gyre_stat_t_tail(t, 1e17), normal, 1e-12));
        CHECK(near(gyre_stat_t_tail(t, 1e16), normal, 1e-12));
    }
    CHECK(near(gyre_stat_t_quantile(0.975, (double)INFINITY), 1.959963984540054, 1e-14));
    CHECK(near(gyre_stat_t_quantile(0.4, (double)INFINITY), -0.2533471031357997, 1e-14));
}

static void ends_are_zero_a_half_and_one(void)
{
    const double freedom[] = {1, 2.5, 47, 1e9, 1e17, (double)INFINITY};

    for (size_t i = 0; i < sizeof freedom / sizeof freedom[0]; i++) {
        CHECK(gyre_stat_t_tail((double)INFINITY, freedom[i]) == 0);
        CHECK(gyre_stat_t_tail(-(double)INFINITY, freedom[i]) == 1);
        CHECK(gyre_stat_t_tail(0, freedom[i]) == 0.5);
        CHECK(gyre_stat_t_tail(-0.0, freedom[i]) == 0.5);
        CHECK(isnan(gyre_stat_t_tail((double)NAN, freedom[i])));
        CHECK(gyre_stat_t_tail(1e200, freedom[i]) < 1e-150);
        CHECK(gyre_stat_t_quantile(0.5, freedom[i]) == 0);
        CHECK(!signbit(gyre_stat_t_quantile(0.5, freedom[i])));
    }
}

/* Computed with 40 digits. */
static void known_quantiles(void)
{
    static const struct {
        double p, freedom, t;
    } known[] = {
        {0.975, 1, 12.706204736174693},      {0.975, 7, 2.3646242515927847},
        {0.9975, 7, 4.0293371776425018},     {0.9975, 47, 2.9456300537673354},
        {0.9975, 15, 3.2860385709462346},    {0.6, 3.5, 0.27326545405577962},
        {0.5001, 10, 2.5699780660494993e-4}, {1e-12, 31, -11.200207192884789},
        {1 - 1e-9, 2.5, 3489.5834348468523}, {0.1, 1000, -1.2823987214609244},
        {0.26, 12, -0.6627788109623266},     {0.74, 12, 0.6627788109623266},
        {0.24, 12, -0.72898055360270606},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        CHECK(near(gyre_stat_t_quantile(known[i].p, known[i].freedom), known[i].t, 1e-12));
}

/* 1 degree: tan(pi (p - 1/2)). */
static void quantile_next_to_the_middle_has_all_its_digits(void)
{
    for (int i = -50; i < -1; i++) {
        const double away = ldexp(1, i), t = tan(acos(-1) * away);

        CHECK(near(gyre_stat_t_quantile(0.5 + away, 1), t, 1e-13));
        CHECK(near(gyre_stat_t_quantile(0.5 - away, 1), -t, 1e-13));
    }
}

static void quantile_is_the_inverse(void)
{
    for (int i = 0; i < 17; i++) {
        const double freedom = pow(2.3, i);

        for (int j = -60; j < -3; j += 3) {
            const double p = pow(10, j), t = gyre_stat_t_quantile(p, freedom);

            CHECK(near(gyre_stat_t_tail(-t, freedom), p, 1e-11));
        }
        for (int percent = 2; percent < 99; percent += 4) {
            const double p = percent / 100.0, t = gyre_stat_t_quantile(p, freedom);

            CHECK(near(gyre_stat_t_tail(t, freedom), 1 - p, 1e-13));
            CHECK(near(gyre_stat_t_quantile(1 - p, freedom), -t, 1e-10));
        }
    }
}

static void same_input_gives_the_same_bits(void)
{
    const double tail = gyre_stat_t_tail(2.345, 15), t = gyre_stat_t_quantile(0.9975, 15);

    for (int i = 1; i < 50; i++) {
        CHECK(gyre_stat_t_tail(i, i) < 0.5);
        CHECK(gyre_stat_t_tail(2.345, 15) == tail && gyre_stat_t_quantile(0.9975, 15) == t);
    }
}

static const test_case cases[] = {
    TEST(known_tails),
    TEST(one_and_two_degrees_have_a_closed_form),
    TEST(many_degrees_are_the_normal_distribution),
    TEST(ends_are_zero_a_half_and_one),
    TEST(known_quantiles),
    TEST(quantile_next_to_the_middle_has_all_its_digits),
    TEST(quantile_is_the_inverse),
    TEST(same_input_gives_the_same_bits),
};
TEST_MAIN(cases)
