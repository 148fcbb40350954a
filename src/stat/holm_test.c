/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/holm.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "stat/order.h"
#include "stat/random.h"
#include "test.h"

static bool adjusts(const double *p, const double *expected, size_t count)
{
    double got[8];

    gyre_stat_holm(p, count, got);
    for (size_t i = 0; i < count; i++) {
        if (fabs(got[i] - expected[i]) > 1e-15)
            return false;
    }
    return true;
}

/* By hand: 0.005 * 4, 0.01 * 3, 0.03 * 2, and 0.04 * 1 raised to the one before. */
static void known_values(void)
{
    CHECK(adjusts((double[]){0.01, 0.04, 0.03, 0.005}, (double[]){0.03, 0.06, 0.06, 0.02}, 4));
    CHECK(adjusts((double[]){0.7}, (double[]){0.7}, 1));
    CHECK(adjusts((double[]){1, 0}, (double[]){1, 0}, 2));
}

static void adjusted_is_at_most_one(void)
{
    CHECK(adjusts((double[]){0.9, 0.4, 0.5}, (double[]){1, 1, 1}, 3));
}

/* The first of two equal ones has the larger factor, and the second may not fall below it. */
static void equal_values_stay_equal(void)
{
    CHECK(adjusts((double[]){0.02, 0.01, 0.01, 0.5}, (double[]){0.04, 0.04, 0.04, 0.5}, 4));
    CHECK(adjusts((double[]){0.3, 0.3, 0.3}, (double[]){0.9, 0.9, 0.9}, 3));
    CHECK(adjusts((double[]){0, 0, 0.25}, (double[]){0, 0, 0.25}, 3));
}

/* The definition, literally: sorted, multiplied, the running maximum. */
static void adjusted_is_its_definition(void)
{
    gyre_stat_random random;
    size_t wrong = 0;

    gyre_stat_random_seed(&random, 3);
    for (size_t round = 0; round < 300; round++) {
        const uint64_t distinct = round % 2 ? 10 : 1 << 20;
        const size_t count = round % 64;
        double p[64], sorted[64], got[64];

        for (size_t i = 0; i < count; i++)
            p[i] = sorted[i] = (double)gyre_stat_random_below(&random, distinct) /
                               (double)distinct / (1 + (double)(round % 5) * 20);
        gyre_stat_sort(sorted, count);
        gyre_stat_holm(p, count, got);
        for (size_t i = 0; i < count; i++) {
            double most = 0;

            for (size_t j = 0; j < count && sorted[j] <= p[i]; j++)
                most = fmax(most, (double)(count - j) * sorted[j]);
            wrong += got[i] != fmin(1, most);
        }
    }
    CHECK(wrong == 0);
}

/* Twenty questions without an effect, two thousand times. */
static void one_error_in_a_suite_is_as_rare_as_said(void)
{
    enum { SUITES = 2000, QUESTIONS = 20 };
    gyre_stat_random random;
    int wrong = 0, uncorrected = 0;

    gyre_stat_random_seed(&random, 4);
    for (int suite = 0; suite < SUITES; suite++) {
        double p[QUESTIONS], adjusted[QUESTIONS], least = 1, raw = 1;

        for (size_t i = 0; i < QUESTIONS; i++)
            p[i] = gyre_stat_random_unit(&random);
        gyre_stat_holm(p, QUESTIONS, adjusted);
        for (size_t i = 0; i < QUESTIONS; i++) {
            least = fmin(least, adjusted[i]);
            raw = fmin(raw, p[i]);
        }
        wrong += least <= 0.05;
        uncorrected += raw <= 0.05;
    }
    CHECK(wrong > 0.03 * SUITES && wrong < 0.065 * SUITES);
    CHECK(uncorrected > 0.6 * SUITES);
}

static const test_case cases[] = {
    TEST(known_values),
    TEST(adjusted_is_at_most_one),
    TEST(equal_values_stay_equal),
    TEST(adjusted_is_its_definition),
    TEST(one_error_in_a_suite_is_as_rare_as_said),
};
TEST_MAIN(cases)
