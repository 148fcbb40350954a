/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/divisive.h"

#include <math.h>
#include <stdbool.h>

#include "stat/moments.h"
#include "stat/series_fake.h"
#include "stat/student.h"
#include "test.h"

enum { MOST = 1000, ROOM = MOST / 2 };

static double series[MOST];
static gyre_change_point points[ROOM];

/* Independent values around 1000 with a standard deviation of 0.58. */
static void noise(size_t count, uint64_t seed)
{
    fake_remembering(series, count, 0, seed);
}

static void raise_from(size_t index, size_t count, double by)
{
    for (size_t i = index; i < count; i++)
        series[i] += by;
}

static size_t changes(const double *values, size_t count)
{
    size_t found = 99;

    CHECK(gyre_stat_change_points(values, count, NULL, points, ROOM, &found) == GYRE_OK);
    return found;
}

static size_t changes_by(gyre_divisive how, size_t count)
{
    size_t found = 99;

    CHECK(gyre_stat_change_points(series, count, &how, points, ROOM, &found) == GYRE_OK);
    return found;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static double mean_distance(const double *a, size_t m, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++)
            sum += fabs(a[i] - b[j]);
    }
    /* a side against itself: each value has no distance to itself, and does not count */
    return sum / ((double)m * (double)(a == b ? n - 1 : n));
}

/* The definition, literally. */
static double slow_energy(const double *x, size_t m, size_t count)
{
    const size_t n = count - m;

    return (double)m * (double)n / (double)count *
           (2 * mean_distance(x, m, x + m, n) - mean_distance(x, m, x, m) -
            mean_distance(x + m, n, x + m, n));
}

static void energy_is_its_definition(void)
{
    for (size_t round = 0; round < 500; round++) {
        const size_t count = 4 + round % 12, least = 2 + round % 2;
        double best = -(double)INFINITY, energy;
        size_t where = 0;

        noise(count, round);
        for (size_t m = least; m + least <= count; m++) {
            if (slow_energy(series, m, count) > best) {
                best = slow_energy(series, m, count);
                where = m;
            }
        }
        CHECK(gyre_stat_energy_split(series, count, least, &energy) == where);
        CHECK(where == 0 || fabs(energy - best) < 1e-9);
    }
}

/* By hand: distances across are 1, inside 0, and 2 * 2 / 4 * 2 * 1. */
static void known_energy(void)
{
    double energy = 0;

    CHECK(gyre_stat_energy_split((double[]){0, 0, 1, 1}, 4, 2, &energy) == 2 && energy == 2);
    CHECK(gyre_stat_energy_split((double[]){0, 0, 1, 1, 0, 0}, 6, 2, &energy) == 2);
    CHECK(gyre_stat_energy_split((double[]){0, 0, 1}, 3, 2, &energy) == 0 && energy == 0);
    CHECK(gyre_stat_energy_split((double[]){0}, 0, 2, &energy) == 0 && energy == 0);
}

/* Of equally large sides both t are the same; else the smaller counts: in the second series the
 * pooled one, in the third that of each side's own variance.
 * Computed with another program. */
static void known_p(void)
{
    const double equal[] = {10, 12, 11, 13, 9, 20, 22, 19, 21, 23};
    const double calm[] = {10, 12, 11, 13, 9, 10, 12, 11, 21, 21.5};
    const double wild[] = {10, 10.5, 10, 10.5, 10, 10.5, 10, 10.5, 20, 22, 24};

    REQUIRE(changes(equal, 10) == 1);
    CHECK(points[0].index == 5 && points[0].before == 11 && points[0].after == 21);
    CHECK(near(points[0].p, 8.488181527628499e-06));
    REQUIRE(changes(calm, 10) == 1);
    CHECK(points[0].index == 8 && points[0].before == 11 && points[0].after == 21.25);
    CHECK(near(points[0].p, 5.759173419625007e-06));
    REQUIRE(changes(wild, 11) == 1);
    CHECK(points[0].index == 8 && points[0].before == 10.25 && points[0].after == 22);
    CHECK(near(points[0].p, 3.181865985610503e-06));
}

/* Ten standard deviations, at every place from the second to the last but one, of series that are
 * shorter and longer than a window. */
static void one_change_is_found_where_it_is(void)
{
    const size_t counts[] = {8, 30, 31, 45, 60, 100};
    size_t missed = 0, places = 0, further = 0;

    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (size_t at = 2; at + 2 <= counts[c]; at++) {
            bool there = false;
            size_t found;

            noise(counts[c], at);
            raise_from(at, counts[c], at % 2 ? 6 : -6);
            found = changes(series, counts[c]);
            for (size_t i = 0; i < found; i++)
                there = there || points[i].index == at;
            missed += !there;
            further += found > 1;
            places++;
        }
    }
    CHECK(places == 256 && missed == 0 && further <= 15);
}

static void several_changes_are_found(void)
{
    noise(300, 1);
    raise_from(20, 300, 5);
    raise_from(75, 300, 5);
    raise_from(90, 300, -8);
    raise_from(195, 300, 4);
    raise_from(296, 300, 9);
    REQUIRE(changes(series, 300) == 5);
    CHECK(points[0].index == 20 && points[1].index == 75 && points[2].index == 90);
    CHECK(points[3].index == 195 && points[4].index == 296);
    for (size_t i = 0; i < 5; i++) {
        const size_t begin = i == 0 ? 0 : points[i - 1].index;
        const size_t end = i == 4 ? 300 : points[i + 1].index;

        CHECK(near(points[i].before, gyre_stat_mean(series + begin, points[i].index - begin)));
        CHECK(
            near(points[i].after, gyre_stat_mean(series + points[i].index, end - points[i].index)));
    }
}

/* Shorter than a window, so that nothing but splitting again finds the second one; it is on the
 * shorter side or on the longer one. */
static void both_sides_are_split_again(void)
{
    const size_t at[][2] = {{4, 8}, {16, 20}, {4, 14}, {10, 20}};

    for (size_t i = 0; i < 4; i++) {
        for (int step = -20; step <= 20; step += 40) {
            noise(24, i);
            raise_from(at[i][0], 24, step);
            raise_from(at[i][1], 24, step);
            REQUIRE(changes(series, 24) == 2);
            CHECK(points[0].index == at[i][0] && points[1].index == at[i][1]);
        }
    }
}

/* Up a little with each of twenty values: steps upwards, however many, and none outside. */
static void gradual_change_is_steps_in_one_direction(void)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        size_t found;

        noise(100, seed);
        for (size_t i = 40; i < 60; i++)
            series[i] += (double)(i - 39) * 0.5;
        raise_from(60, 100, 10);
        found = changes(series, 100);
        CHECK(found >= 1);
        for (size_t i = 0; i < found; i++)
            CHECK(points[i].after > points[i].before && points[i].index > 38 &&
                  points[i].index < 62);
    }
}

static size_t alarms(size_t count, size_t rounds)
{
    size_t out = 0;

    for (uint64_t seed = 0; seed < rounds; seed++) {
        noise(count, 5000 + seed);
        out += changes(series, count) > 0;
    }
    return out;
}

static void noise_has_few_changes(void)
{
    CHECK(alarms(30, 1000) <= 20);
    CHECK(alarms(100, 1000) <= 20);
    CHECK(alarms(1000, 100) <= 10);
}

static void single_outlier_is_no_level(void)
{
    size_t split = 0;

    for (size_t at = 0; at < 60; at++) {
        for (int i = 0; i < 9; i++) {
            noise(60, 7);
            series[at] += (at % 2 ? 3 : -3) * pow(10, i);
            split += changes(series, 60) > 0;
        }
    }
    CHECK(split == 0);
}

/* Recomputed from the values, by the words of the header. */
static double slow_p(const double *a, size_t m, const double *b, size_t n)
{
    const double s = pow(gyre_stat_std_dev(a, m), 2), t = pow(gyre_stat_std_dev(b, n), 2);
    const double size_m = (double)m, size_n = (double)n, freedom = size_m + size_n - 2;
    const double both = ((size_m - 1) * s + (size_n - 1) * t) / freedom;
    const double apart = fabs(gyre_stat_mean(a, m) - gyre_stat_mean(b, n));

    return fmin(1, 2 * gyre_stat_t_tail(fmin(apart / sqrt(both * (1 / size_m + 1 / size_n)),
                                             apart / sqrt(s / size_m + t / size_n)),
                                        freedom));
}

/* Series that remember wander from level to level, and much is found that does not last. */
static void neighbours_differ_by_the_test(void)
{
    size_t wrong = 0, close = 0, all = 0;

    for (uint64_t seed = 0; seed < 100; seed++) {
        size_t found;

        fake_remembering(series, 200, 0.9, seed);
        found = changes(series, 200);
        for (size_t i = 0; i < found; i++) {
            const size_t begin = i == 0 ? 0 : points[i - 1].index, at = points[i].index;
            const size_t end = i + 1 == found ? 200 : points[i + 1].index;
            const double p = slow_p(series + begin, at - begin, series + at, end - at);

            wrong += !(p <= 0.001 * (1 + 1e-9)) || fabs(p - points[i].p) > 1e-6 * p;
            close += at - begin < 2 || end - at < 2;
            all++;
        }
    }
    CHECK(wrong == 0 && close == 0);
    CHECK(all > 300);
}

static void equal_values_have_no_change(void)
{
    double x[100];

    for (size_t i = 0; i < 100; i++)
        x[i] = 0.1;
    for (size_t count = 0; count <= 100; count++)
        CHECK(changes(x, count) == 0);
}

static void levels_without_noise_differ(void)
{
    for (size_t count = 4; count < 70; count++) {
        for (size_t at = 2; at + 2 <= count; at++) {
            for (size_t i = 0; i < count; i++)
                series[i] = i < at ? 0.1 : 0.3;
            REQUIRE(changes(series, count) == 1);
            CHECK(points[0].index == at && points[0].p == 0);
            CHECK(points[0].before == 0.1 && points[0].after == 0.3);
        }
    }
}

static void fewer_than_four_values_have_no_change(void)
{
    CHECK(changes((double[]){1, 1, 9}, 3) == 0);
    CHECK(changes((double[]){1, 9}, 2) == 0);
    CHECK(changes((double[]){1}, 1) == 0);
    CHECK(changes(NULL, 0) == 0);
    CHECK(changes((double[]){1, 1, 9, 9}, 4) == 1);
}

static void options_are_heard(void)
{
    size_t found;

    noise(200, 3);
    raise_from(100, 200, 0.4);
    CHECK(changes_by((gyre_divisive){0}, 200) == 0);
    CHECK(changes_by((gyre_divisive){.window = 200}, 200) == 1);
    CHECK(changes_by((gyre_divisive){.window = 200, .p = 1e-9}, 200) == 0);
    CHECK(changes_by((gyre_divisive){.p = 0.2}, 200) > 1);
    noise(100, 4);
    raise_from(40, 100, 9);
    raise_from(44, 100, -9);
    CHECK(changes(series, 100) == 2 && points[0].index == 40 && points[1].index == 44);
    found = changes_by((gyre_divisive){.least = 7, .p = 0.2}, 100);
    CHECK(found > 0);
    for (size_t i = 0; i <= found; i++) {
        const size_t begin = i == 0 ? 0 : points[i - 1].index;

        CHECK((i == found ? 100 : points[i].index) - begin >= 7);
    }
}

static void last_ones_are_kept_when_room_is_short(void)
{
    gyre_change_point few[3] = {{.index = 77}, {.index = 77}, {.index = 77}};
    size_t found = 99;

    for (size_t i = 0; i < 100; i++)
        series[i] = floor((double)i / 20);
    REQUIRE(changes(series, 100) == 4);
    CHECK(gyre_stat_change_points(series, 100, NULL, few, 2, &found) == GYRE_OK);
    CHECK(found == 2 && few[0].index == 60 && few[1].index == 80 && few[2].index == 77);
    CHECK(few[0].before == 2 && few[0].after == 3);
    CHECK(gyre_stat_change_points(series, 100, NULL, NULL, 0, &found) == GYRE_OK && found == 0);
}

static bool refused(gyre_divisive how, double value)
{
    size_t found = 99;

    noise(20, 1);
    series[19] = value;
    return gyre_stat_change_points(series, 20, &how, points, ROOM, &found) == GYRE_INVALID &&
           found == 0;
}

static void bad_input_is_refused(void)
{
    CHECK(refused((gyre_divisive){0}, (double)NAN));
    CHECK(refused((gyre_divisive){0}, (double)INFINITY));
    CHECK(refused((gyre_divisive){0}, -(double)INFINITY));
    CHECK(refused((gyre_divisive){0}, -2e100));
    CHECK(refused((gyre_divisive){.p = -1}, 1000));
    CHECK(refused((gyre_divisive){.p = 1}, 1000));
    CHECK(refused((gyre_divisive){.p = (double)NAN}, 1000));
    CHECK(refused((gyre_divisive){.least = 1}, 1000));
    CHECK(refused((gyre_divisive){.window = 3}, 1000));
    CHECK(refused((gyre_divisive){.least = 16}, 1000));
    CHECK(!refused((gyre_divisive){.least = 15}, 1000));
    CHECK(!refused((gyre_divisive){.window = (size_t)-1, .p = 0.999}, 1e100));
}

static const test_case cases[] = {
    TEST(energy_is_its_definition),
    TEST(known_energy),
    TEST(known_p),
    TEST(one_change_is_found_where_it_is),
    TEST(several_changes_are_found),
    TEST(both_sides_are_split_again),
    TEST(gradual_change_is_steps_in_one_direction),
    TEST(noise_has_few_changes),
    TEST(single_outlier_is_no_level),
    TEST(neighbours_differ_by_the_test),
    TEST(equal_values_have_no_change),
    TEST(levels_without_noise_differ),
    TEST(fewer_than_four_values_have_no_change),
    TEST(options_are_heard),
    TEST(last_ones_are_kept_when_room_is_short),
    TEST(bad_input_is_refused),
};
TEST_MAIN(cases)
