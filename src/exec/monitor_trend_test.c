/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines through ten samples: exact ones, steps, noise, and times that are not evenly spaced.
 */
#include "exec/monitor_trend.h"

#include "gyre/clock.h"
#include "test.h"

enum { COUNT = GYRE_MONITOR_TREND_SAMPLES };

static gyre_monitor_trend fit(const double values[COUNT], double critical)
{
    gyre_monitor_trend_point points[COUNT];

    for (size_t i = 0; i < COUNT; i++)
        points[i] = (gyre_monitor_trend_point){(5 + i) * UINT64_C(1000000000), values[i]};
    return gyre_monitor_trend_fit(points, critical);
}

static bool about(double value, double expected)
{
    return value > expected * 0.999999 && value < expected * 1.000001;
}

static void line_meets_the_threshold_when_it_does(void)
{
    const gyre_monitor_trend t = fit((double[]){10, 12, 14, 16, 18, 20, 22, 24, 26, 28}, 90);

    CHECK(t.known && t.rising);
    CHECK(about(t.per_second, 2));
    CHECK(about((double)t.critical_in_ns, 31e9));
}

static void level_series_goes_nowhere(void)
{
    const gyre_monitor_trend t = fit((double[]){50, 50, 50, 50, 50, 50, 50, 50, 50, 50}, 90);

    CHECK(t.known && !t.rising && t.per_second == 0 && t.critical_in_ns == GYRE_NEVER);
}

static void falling_series_never_gets_there(void)
{
    const gyre_monitor_trend t = fit((double[]){80, 79, 78, 77, 76, 75, 74, 73, 72, 71}, 90);

    CHECK(t.known && !t.rising && t.per_second < 0 && t.critical_in_ns == GYRE_NEVER);
}

static void series_beyond_the_threshold_is_there(void)
{
    const gyre_monitor_trend t = fit((double[]){90, 91, 92, 93, 94, 95, 96, 97, 98, 99}, 90);

    CHECK(t.known && t.rising && t.critical_in_ns == 0);
}

static void step_is_no_rise(void)
{
    CHECK(!fit((double[]){40, 40, 40, 40, 40, 70, 70, 70, 70, 70}, 90).rising);
    CHECK(!fit((double[]){40, 40, 40, 40, 40, 40, 40, 40, 40, 41}, 90).rising);
}

static void noise_is_no_rise(void)
{
    CHECK(!fit((double[]){50, 55, 49, 56, 50, 54, 51, 56, 50, 55}, 90).rising);
}

static void coarse_sensor_that_climbs_is_a_rise(void)
{
    CHECK(fit((double[]){70, 70, 71, 71, 72, 72, 73, 73, 74, 74}, 90).rising);
}

static void spacing_of_samples_counts(void)
{
    gyre_monitor_trend_point points[COUNT];
    gyre_monitor_trend t;

    for (size_t i = 0; i < COUNT; i++) /* a degree a second, at squares */
        points[i] = (gyre_monitor_trend_point){i * i * UINT64_C(1000000000), (double)(i * i)};
    t = gyre_monitor_trend_fit(points, 90);
    CHECK(about(t.per_second, 1) && about((double)t.critical_in_ns, 9e9));
}

static void samples_of_one_moment_have_no_line(void)
{
    gyre_monitor_trend_point points[COUNT];

    for (size_t i = 0; i < COUNT; i++)
        points[i] = (gyre_monitor_trend_point){7, (double)i};
    CHECK(!gyre_monitor_trend_fit(points, 90).known);
    CHECK(gyre_monitor_trend_fit(points, 90).critical_in_ns == GYRE_NEVER);
}

static const test_case cases[] = {
    TEST(line_meets_the_threshold_when_it_does),
    TEST(level_series_goes_nowhere),
    TEST(falling_series_never_gets_there),
    TEST(series_beyond_the_threshold_is_there),
    TEST(step_is_no_rise),
    TEST(noise_is_no_rise),
    TEST(coarse_sensor_that_climbs_is_a_rise),
    TEST(spacing_of_samples_counts),
    TEST(samples_of_one_moment_have_no_line),
};
TEST_MAIN(cases)
