/* SPDX-License-Identifier: Apache-2.0
 *
 * The promise of struct_size: callers compiled against older and newer headers both work.
 */
#include "base/options.h"

#include "test.h"

typedef struct today {
    size_t struct_size;
    int first, second;
} today;

typedef struct tomorrow {
    size_t struct_size;
    int first, second, third;
    int fourth;
} tomorrow;

static void null_means_all_defaults(void)
{
    today into = {1, 2, 3};

    CHECK(GYRE_OPTIONS_READ(into, NULL) == GYRE_OK);
    CHECK(into.first == 0 && into.second == 0);
}

static void older_caller_gets_defaults_for_the_rest(void)
{
    const struct {
        size_t struct_size;
        int first, beyond;
    } old = {offsetof(today, second), 7, 99};
    today into;

    CHECK(GYRE_OPTIONS_READ(into, &old) == GYRE_OK);
    CHECK(into.first == 7 && into.second == 0);
}

static void newer_caller_works_while_it_asks_for_nothing_new(void)
{
    const tomorrow quiet = {sizeof quiet, 1, 2, 0, 0}, loud = {sizeof loud, 1, 2, 0, 4};
    today into;

    CHECK(GYRE_OPTIONS_READ(into, &quiet) == GYRE_OK);
    CHECK(into.first == 1 && into.second == 2);
    CHECK(GYRE_OPTIONS_READ(into, &loud) == GYRE_UNSUPPORTED);
}

static void forgotten_or_absurd_size_is_invalid(void)
{
    const today forgotten = {0, 1, 2}, absurd = {(size_t)-1, 1, 2};
    today into;

    CHECK(GYRE_OPTIONS_READ(into, &forgotten) == GYRE_INVALID);
    CHECK(GYRE_OPTIONS_READ(into, &absurd) == GYRE_INVALID);
}

static const test_case cases[] = {
    TEST(null_means_all_defaults),
    TEST(older_caller_gets_defaults_for_the_rest),
    TEST(newer_caller_works_while_it_asks_for_nothing_new),
    TEST(forgotten_or_absurd_size_is_invalid),
};
TEST_MAIN(cases)
