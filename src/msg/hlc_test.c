/* SPDX-License-Identifier: Apache-2.0
 *
 * The clock's rules with a wall clock that is given, and its order on several threads.
 */
#include "msg/hlc.h"

#include <stdlib.h>

#include "gyre/thread.h"
#include "test.h"

#define STEP UINT64_C(65536)

static void times_follow_the_wall_clock(void)
{
    gyre_hlc clock = {0};

    CHECK(gyre_hlc_tick(&clock, 10 * STEP + 5, 0) == 10 * STEP);
    CHECK(gyre_hlc_tick(&clock, 12 * STEP, 0) == 12 * STEP);
    CHECK(gyre_hlc_wall_ns(12 * STEP + 7) == 12 * STEP);
}

static void times_increase_while_the_wall_clock_stands(void)
{
    gyre_hlc clock = {0};
    uint64_t last = gyre_hlc_tick(&clock, 10 * STEP, 0);

    /* more often than the counter has values: it carries */
    for (uint64_t i = 0; i < 2 * STEP; i++) {
        const uint64_t next = gyre_hlc_tick(&clock, 10 * STEP, 0);

        if (next <= last)
            REQUIRE(!"a time came after a later one");
        last = next;
    }
    CHECK(gyre_hlc_wall_ns(last) == 12 * STEP);
    CHECK(gyre_hlc_tick(&clock, 20 * STEP, 0) == 20 * STEP);
}

static void times_increase_when_the_wall_clock_is_set_back(void)
{
    gyre_hlc clock = {0};
    const uint64_t before = gyre_hlc_tick(&clock, 1000 * STEP, 0);

    CHECK(gyre_hlc_tick(&clock, 10 * STEP, 0) == before + 1);
    CHECK(gyre_hlc_tick(&clock, 0, 0) == before + 2);
}

static void first_time_of_a_clock_without_a_wall_clock_is_not_0(void)
{
    gyre_hlc clock = {0};

    CHECK(gyre_hlc_tick(&clock, 0, 0) == 1);
}

static void receipt_is_later_than_what_was_sent(void)
{
    gyre_hlc clock = {0};
    const uint64_t remote = 10 * STEP + 41;
    uint64_t time = 0;

    CHECK(gyre_hlc_receive_at(&clock, 9 * STEP, remote, 0, &time) == GYRE_OK);
    CHECK(time == remote + 1 && gyre_hlc_tick(&clock, 9 * STEP, 0) == remote + 2);
    CHECK(gyre_hlc_receive_at(&clock, 11 * STEP, remote, 0, &time) == GYRE_OK);
    CHECK(time == 11 * STEP);
    CHECK(gyre_hlc_receive_at(&clock, 9 * STEP, 3, 0, &time) == GYRE_OK);
    CHECK(time == 11 * STEP + 1);
}

static void time_too_far_ahead_is_refused_and_moves_nothing(void)
{
    gyre_hlc clock = {0};
    const uint64_t wall = 100000 * STEP, allowed = 10 * STEP;
    uint64_t time = 7;

    CHECK(gyre_hlc_receive_at(&clock, wall, wall + allowed + STEP, allowed, &time) == GYRE_INVALID);
    CHECK(time == 0 && clock.last == 0 && strstr(gyre_error_last()->text, "ahead") != NULL);
    CHECK(gyre_hlc_receive_at(&clock, wall, UINT64_MAX, allowed, &time) == GYRE_INVALID);
    CHECK(gyre_hlc_receive_at(&clock, 0, UINT64_MAX, 0, &time) == GYRE_INVALID);
    CHECK(gyre_hlc_receive_at(&clock, wall, wall + allowed, allowed, &time) == GYRE_OK);
    CHECK(gyre_hlc_receive_at(&clock, wall, wall + GYRE_HLC_AHEAD_NS + STEP, 0, &time) ==
          GYRE_INVALID);
    CHECK(gyre_hlc_receive_at(&clock, wall, wall + GYRE_HLC_AHEAD_NS - STEP, 0, &time) == GYRE_OK);
    /* the end of all times has nothing behind it */
    CHECK(gyre_hlc_receive_at(&clock, wall, UINT64_MAX, UINT64_MAX, &time) == GYRE_INVALID);
}

enum { THREADS = 4, TIMES = 20000 };
static gyre_hlc shared;
static uint64_t times[THREADS][TIMES];

static void tick(void *arg)
{
    uint64_t *const mine = arg;

    for (int i = 0; i < TIMES; i++)
        if (i % 3)
            mine[i] = gyre_hlc_now(&shared);
        else
            CHECK(gyre_hlc_receive(&shared, i ? mine[i - 1] : 0, 0, &mine[i]) == GYRE_OK);
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void times_differ_on_all_threads_and_increase_on_each(void)
{
    gyre_thread *threads[THREADS];
    uint64_t *const all = &times[0][0];

    for (int i = 0; i < THREADS; i++)
        REQUIRE(gyre_thread_start(tick, times[i], NULL, &threads[i]) == GYRE_OK);
    for (int i = 0; i < THREADS; i++)
        gyre_thread_stop(threads[i]);
    for (int t = 0; t < THREADS; t++)
        for (int i = 1; i < TIMES; i++)
            if (times[t][i] <= times[t][i - 1])
                REQUIRE(!"a thread's times do not increase");
    qsort(all, (size_t)THREADS * TIMES, sizeof all[0], compare);
    for (size_t i = 1; i < (size_t)THREADS * TIMES; i++)
        if (all[i] == all[i - 1])
            REQUIRE(!"a time came twice");
}

static const test_case cases[] = {
    TEST(times_follow_the_wall_clock),
    TEST(times_increase_while_the_wall_clock_stands),
    TEST(times_increase_when_the_wall_clock_is_set_back),
    TEST(first_time_of_a_clock_without_a_wall_clock_is_not_0),
    TEST(receipt_is_later_than_what_was_sent),
    TEST(time_too_far_ahead_is_refused_and_moves_nothing),
    TEST(times_differ_on_all_threads_and_increase_on_each),
};
TEST_MAIN(cases)
