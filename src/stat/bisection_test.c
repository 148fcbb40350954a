/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/bisection.h"

#include <float.h>
#include <math.h>

#include "test.h"

static int asked;

static bool at_least(const void *about, double x)
{
    asked++;
    return x >= *(const double *)about;
}

static bool never(const void *about, double x)
{
    (void)about;
    (void)x;
    return false;
}

static double first_from(double truth, double low, double high)
{
    return gyre_stat_bisect(at_least, &truth, low, high);
}

static void every_double_is_found_to_the_last_bit(void)
{
    const double truths[] = {-DBL_MAX,      -1e300, -1,           -0.1,        -DBL_MIN,
                             -DBL_TRUE_MIN, 0,      DBL_TRUE_MIN, DBL_MIN / 3, DBL_MIN,
                             1e-300,        0.1,    0.5,          1,           3,
                             1e300,         DBL_MAX};

    for (size_t i = 0; i < sizeof truths / sizeof truths[0]; i++) {
        asked = 0;
        CHECK(first_from(truths[i], -DBL_MAX, DBL_MAX) == truths[i]);
        CHECK(asked <= 64);
    }
}

static void answer_stays_between_the_ends(void)
{
    CHECK(first_from(-5, 1, 2) == 1);
    CHECK(first_from(5, 1, 2) == 2);
    CHECK(first_from(-5, -2, -1) == -2);
    CHECK(first_from(5, -2, -1) == -1);
    CHECK(first_from(5, 3, 3) == 3);
    CHECK(gyre_stat_bisect(never, NULL, 0, 1) == 1);
}

static void zero_has_no_sign(void)
{
    CHECK(!signbit(first_from(0, -1, 1)));
    CHECK(!signbit(first_from(-1, -0.0, 1)));
    CHECK(!signbit(first_from(1, -1, -0.0)));
}

static const test_case cases[] = {
    TEST(every_double_is_found_to_the_last_bit),
    TEST(answer_stays_between_the_ends),
    TEST(zero_has_no_sign),
};
TEST_MAIN(cases)
