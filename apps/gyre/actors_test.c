/* SPDX-License-Identifier: Apache-2.0
 *
 * Rates of actors, from rows as boards tell them.
 */
#include "actors.h"

#include "test.h"

#define SECOND_NS UINT64_C(1000000000)

static gyre_board_row row_at(uint64_t told_ns, uint64_t processed)
{
    return (gyre_board_row){.struct_size = sizeof(gyre_board_row),
                            .pid = 7,
                            .launch = 1,
                            .status = GYRE_ACTOR_ACTIVE,
                            .told_ns = told_ns,
                            .processed = processed};
}

static bool is_about(double value, double expected)
{
    return value > expected - 0.001 && value < expected + 0.001;
}

static void first_look_knows_no_rate(void)
{
    const gyre_board_row row = row_at(SECOND_NS, 100);

    CHECK(actors_compare(&row, NULL).per_second < 0);
}

static void rate_is_between_the_times_of_telling(void)
{
    const gyre_board_row first = row_at(SECOND_NS, 100), second = row_at(3 * SECOND_NS, 200);
    const actors_row last = actors_compare(&first, NULL);

    CHECK(is_about(actors_compare(&second, &last).per_second, 50));
}

static void rate_stays_until_the_next_telling(void)
{
    const gyre_board_row first = row_at(SECOND_NS, 100), second = row_at(2 * SECOND_NS, 150);
    actors_row last = actors_compare(&first, NULL);

    CHECK(actors_compare(&first, &last).per_second < 0);
    last = actors_compare(&second, &last);
    CHECK(is_about(actors_compare(&second, &last).per_second, 50));
}

static void idle_actor_has_rate_0(void)
{
    const gyre_board_row first = row_at(SECOND_NS, 100), second = row_at(2 * SECOND_NS, 100),
                         less = row_at(3 * SECOND_NS, 5);
    actors_row last = actors_compare(&first, NULL);

    last = actors_compare(&second, &last);
    CHECK(is_about(last.per_second, 0));
    CHECK(is_about(actors_compare(&less, &last).per_second, 0)); /* which nobody honest tells */
}

static void silent_process_has_no_rate(void)
{
    const gyre_board_row first = row_at(SECOND_NS, 100);
    gyre_board_row second = row_at(2 * SECOND_NS, 200);
    const actors_row last = actors_compare(&first, NULL);
    actors_row now;

    second.age_ns = 3 * SECOND_NS;
    now = actors_compare(&second, &last);
    CHECK(now.silent && now.per_second < 0);
    second.status = GYRE_ACTOR_FAILED;
    CHECK(is_about(actors_compare(&second, &last).per_second, 0));
}

static void look_is_over_when_every_rate_is_known(void)
{
    static actors a;

    CHECK(!actors_are_new(&a));
    a.count = 2;
    a.rows[0].per_second = 5;
    a.rows[1].per_second = -1;
    CHECK(actors_are_new(&a));
    a.rows[1].silent = true;
    CHECK(!actors_are_new(&a));
}

static const test_case cases[] = {
    TEST(first_look_knows_no_rate),          TEST(rate_is_between_the_times_of_telling),
    TEST(rate_stays_until_the_next_telling), TEST(idle_actor_has_rate_0),
    TEST(silent_process_has_no_rate),        TEST(look_is_over_when_every_rate_is_known),
};
TEST_MAIN(cases)
