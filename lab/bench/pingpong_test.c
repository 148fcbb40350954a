/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pingpong.h"

#include <sched.h>

#include "test.h"

static void two_cpus_return_every_ball(void)
{
    gyre_pingpong result;
    cpu_set_t set;
    uint32_t cpus[2], found = 0;

    REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
    for (uint32_t i = 0; i < CPU_SETSIZE && found < 2; i++)
        if (CPU_ISSET(i, &set))
            cpus[found++] = i;
    if (found < 2)
        SKIP("this process may use one CPU only");
    REQUIRE(gyre_pingpong_measure(cpus[0], cpus[1], &result) == GYRE_OK);
    CHECK(result.round_trips > 0);
    CHECK(result.low_ns > 0 && result.low_ns <= result.median_ns &&
          result.median_ns <= result.high_ns);
}

static void one_cpu_is_not_two(void)
{
    gyre_pingpong result;

    CHECK(gyre_pingpong_measure(0, 0, &result) == GYRE_INVALID);
}

static void unusable_cpu_is_a_status(void)
{
    gyre_pingpong result;

    CHECK(gyre_pingpong_measure(0, 65000, &result) == GYRE_INVALID);
    CHECK(gyre_pingpong_measure(65000, 0, &result) == GYRE_INVALID);
}

static const test_case cases[] = {
    TEST(two_cpus_return_every_ball),
    TEST(one_cpu_is_not_two),
    TEST(unusable_cpu_is_a_status),
};
TEST_MAIN(cases)
