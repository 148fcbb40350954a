/* SPDX-License-Identifier: Apache-2.0 */
#include "record/trend.h"

#include <math.h>

#include "stat/random.h"
#include "test.h"

enum { MOST = 200 };

static gyre_history_point points[MOST];
static gyre_arena arena;
static gyre_trend trend;

/* `count` medians: level * (1 + drift)^i, and a little noise. */
static void fill(size_t from, size_t count, double level, double drift)
{
    gyre_stat_random random;

    gyre_stat_random_seed(&random, from + 1);
    for (size_t i = 0; i < count; i++)
        points[from + i].median_ns =
            level * pow(1 + drift, (double)i) * (1 + 0.01 * (gyre_stat_random_unit(&random) - 0.5));
}

static gyre_status find(size_t count)
{
    const gyre_history_points series = {.point = points, .count = count};

    return gyre_trend_find(&series, &arena, &trend);
}

static void step_is_a_ratio_with_its_levels(void)
{
    fill(0, 30, 100, 0);
    fill(30, 30, 120, 0);
    REQUIRE(find(60) == GYRE_OK);
    REQUIRE(trend.change_count == 1);
    CHECK(trend.changes[0].index == 30 && trend.since == 30);
    CHECK(fabs(trend.changes[0].ratio - 0.2) < 0.01 && trend.changes[0].p <= 0.01);
    CHECK(fabs(trend.changes[0].before_ns - 100) < 1 && fabs(trend.changes[0].after_ns - 120) < 1);
}

/* The step itself is no drift. */
static void drift_is_that_of_the_last_level(void)
{
    fill(0, 40, 100, 0);
    fill(40, 40, 150, 0);
    REQUIRE(find(80) == GYRE_OK);
    CHECK(trend.known && trend.low < 0 && trend.high > 0 && fabs(trend.drift) < 0.001);
}

/* Of so few that it is not taken for steps. */
static void drift_is_a_ratio_of_one_run(void)
{
    for (size_t i = 0; i < GYRE_TREND_LEAST; i++)
        points[i].median_ns = 100 * pow(1.25, (double)i);
    REQUIRE(find(GYRE_TREND_LEAST) == GYRE_OK);
    CHECK(trend.known && trend.change_count == 0);
    CHECK(fabs(trend.drift - 0.25) < 1e-9 && fabs(trend.low - 0.25) < 1e-9);
    CHECK(fabs(trend.high - 0.25) < 1e-9);
}

static void few_points_have_no_drift(void)
{
    fill(0, GYRE_TREND_LEAST, 100, 0);
    REQUIRE(find(GYRE_TREND_LEAST - 1) == GYRE_OK);
    CHECK(!trend.known && trend.change_count == 0);
    REQUIRE(find(GYRE_TREND_LEAST) == GYRE_OK);
    CHECK(trend.known);
}

static void few_points_since_a_change_have_no_drift(void)
{
    fill(0, 40, 100, 0);
    fill(40, GYRE_TREND_LEAST - 1, 150, 0);
    REQUIRE(find(40 + GYRE_TREND_LEAST - 1) == GYRE_OK);
    CHECK(trend.since == 40 && trend.change_count == 1 && !trend.known);
}

static void nothing_says_nothing(void)
{
    fill(0, 3, 100, 0);
    for (size_t count = 0; count <= 3; count++) {
        REQUIRE(find(count) == GYRE_OK);
        CHECK(trend.change_count == 0 && !trend.known && trend.since == 0);
    }
}

static void quiet_series_has_no_changes(void)
{
    fill(0, 100, 1e-3, 0);
    REQUIRE(find(100) == GYRE_OK);
    CHECK(trend.change_count == 0 && trend.since == 0);
    fill(0, 100, 1e17, 0);
    REQUIRE(find(100) == GYRE_OK);
    CHECK(trend.change_count == 0);
}

static const test_case cases[] = {
    TEST(step_is_a_ratio_with_its_levels),
    TEST(drift_is_that_of_the_last_level),
    TEST(drift_is_a_ratio_of_one_run),
    TEST(few_points_have_no_drift),
    TEST(few_points_since_a_change_have_no_drift),
    TEST(nothing_says_nothing),
    TEST(quiet_series_has_no_changes),
};

int main(int argc, char **argv)
{
    const int code = test_run(cases, sizeof cases / sizeof cases[0], argc > 1 ? argv[1] : NULL);

    gyre_arena_fini(&arena);
    return code;
}
