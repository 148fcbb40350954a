/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/pace.h"

#include "test.h"

static void a_look_just_too_early_makes_it_slower(void)
{
    gyre_pace pace = {0};
    const uint32_t before = pace.parts;

    gyre_pace_learn(&pace, 1);
    CHECK(pace.parts > before);
}

static void a_first_look_that_finds_it_makes_it_quicker(void)
{
    gyre_pace pace = {.parts = 4 * GYRE_PACE_ONE};

    gyre_pace_learn(&pace, 0);
    CHECK(pace.parts < 4 * GYRE_PACE_ONE);
    for (int i = 0; i < 1000; i++)
        gyre_pace_learn(&pace, 0);
    CHECK(pace.parts < GYRE_PACE_ONE); /* not one pause */
}

static void a_long_wait_says_nothing(void)
{
    gyre_pace pace = {.parts = 3 * GYRE_PACE_ONE};

    gyre_pace_learn(&pace, GYRE_PACE_SOON);
    gyre_pace_learn(&pace, UINT32_MAX);
    CHECK(pace.parts == 3 * GYRE_PACE_ONE);
}

static void it_never_waits_long(void)
{
    gyre_pace pace = {0};

    for (int i = 0; i < 10000; i++)
        gyre_pace_learn(&pace, 1);
    CHECK(pace.parts <= GYRE_PACE_MOST + GYRE_PACE_ONE);
    gyre_pace_keep(&pace);
}

static const test_case cases[] = {
    TEST(a_look_just_too_early_makes_it_slower),
    TEST(a_first_look_that_finds_it_makes_it_quicker),
    TEST(a_long_wait_says_nothing),
    TEST(it_never_waits_long),
};
TEST_MAIN(cases)
