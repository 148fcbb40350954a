/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/axis.h"

#include "test.h"

static gyre_axis axis;

static gyre_status choose(const char *text)
{
    const gyre_axis numbers = GYRE_AXIS("n", 1, 2);
    gyre_axis_choice choice;
    const gyre_status status = gyre_axis_choice_parse(text, &choice);

    axis = numbers;
    if (status != GYRE_OK)
        return status;
    return gyre_axis_choice_names(&choice, "n") ? gyre_axis_choose(&choice, &axis) : GYRE_NOT_FOUND;
}

static bool holds(size_t count, const int64_t *values)
{
    return axis.count == count && memcmp(axis.values, values, count * sizeof values[0]) == 0;
}

static void values_are_listed_or_ranged(void)
{
    REQUIRE(choose("n=5") == GYRE_OK);
    CHECK(holds(1, (int64_t[]){5}));
    REQUIRE(choose("n=[5,-6,7]") == GYRE_OK);
    CHECK(holds(3, (int64_t[]){5, -6, 7}));
    REQUIRE(choose("n=[1:4]") == GYRE_OK);
    CHECK(holds(4, (int64_t[]){1, 2, 3, 4}));
    REQUIRE(choose("n=[1:8:3]") == GYRE_OK);
    CHECK(holds(3, (int64_t[]){1, 4, 7}));
    REQUIRE(choose("n[pow2]=[8:20:4]") == GYRE_OK);
    CHECK(holds(4, (int64_t[]){256, 4096, 65536, 1048576}));
    REQUIRE(choose("n[pow2]=[0,3,62]") == GYRE_OK);
    CHECK(holds(3, (int64_t[]){1, 8, INT64_C(1) << 62}));
}

static void ends_of_the_number_line_are_no_trap(void)
{
    REQUIRE(choose("n=[9223372036854775806:9223372036854775807]") == GYRE_OK);
    CHECK(holds(2, (int64_t[]){INT64_MAX - 1, INT64_MAX}));
    REQUIRE(choose("n=[-9223372036854775808:9223372036854775807:9223372036854775807]") == GYRE_OK);
    CHECK(axis.count == 3 && axis.values[2] == INT64_MAX - 1);
    CHECK(choose("n=9223372036854775808") == GYRE_INVALID);
}

static void malformed_choice_is_refused(void)
{
    static const char *const bad[] = {
        "",           "n",      "n=",       "=5",        "n=[]",        "n=[5",       "n=5]",
        "n=[5,]",     "n=[,5]", "n=[5,,6]", "n=[a]",     "n=[1:2:3:4]", "n=[4:1]",    "n=[1:4:0]",
        "n=[1:4:-1]", "n=[1:]", "n=[:4]",   "n=[:]",     "n=[[5]]",     "n[pow2]=63", "n[pow2]=-1",
        "n[pow3]=5",  "n=1.5",  "n=0x10",   "n=[1:100]", "[pow2]=[1:2]"};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(choose(bad[i]) != GYRE_OK);
        CHECK(axis.count == 2 && axis.values[1] == 2); /* as it was */
    }
}

static void what_an_axis_has_is_told(void)
{
    gyre_axis words = GYRE_AXIS_WORDS("device", "cpu", "cuda"), many = {.name = "m", .count = 32};
    gyre_axis_choice choice;

    REQUIRE(gyre_axis_choice_parse("device=cuda:0", &choice) == GYRE_OK);
    CHECK(gyre_axis_choose(&choice, &words) == GYRE_INVALID);
    CHECK(strcmp(gyre_error_last()->text,
                 "axis 'device' has no value 'cuda:0'; it has cpu, cuda") == 0);
    for (size_t i = 0; i < many.count; i++)
        many.words[i] = "a_word_of_some_letters";
    CHECK(gyre_axis_choose(&choice, &many) == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "...") != NULL);
    CHECK(choose("n=x") == GYRE_INVALID);
    CHECK(strcmp(gyre_error_last()->text, "axis 'n' has no value 'x': it takes whole numbers") ==
          0);
}

static const test_case cases[] = {
    TEST(values_are_listed_or_ranged),
    TEST(ends_of_the_number_line_are_no_trap),
    TEST(malformed_choice_is_refused),
    TEST(what_an_axis_has_is_told),
};
TEST_MAIN(cases)
