/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include "test.h"

static void distance_counts_edits(void)
{
    CHECK(gyre_text_distance("bench", "bench") == 0);
    CHECK(gyre_text_distance("bnech", "bench") == 1); /* a swap */
    CHECK(gyre_text_distance("ben", "bench") == 2);
    CHECK(gyre_text_distance("", "bench") == 5);
    CHECK(gyre_text_distance("bench", "") == 5);
    CHECK(gyre_text_distance("kitten", "sitting") == 3);
}

static void words_of_any_length_are_safe(void)
{
    char word[5000];

    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    CHECK(gyre_text_distance(word, word) == 0);
    CHECK(gyre_text_distance(word, "bench") > 50);
}

static const char *name_at(const void *names, size_t index)
{
    return ((const char *const *)names)[index];
}

static void nearest_name_differs_by_a_third_at_most(void)
{
    static const char *const names[] = {"GYRE_CLOCK", "GYRE_COLOR", "bench", "env", NULL};

    CHECK(strcmp(gyre_text_nearest("GYRE_COLR", name_at, names), "GYRE_COLOR") == 0);
    CHECK(strcmp(gyre_text_nearest("bnch", name_at, names), "bench") == 0);
    CHECK(gyre_text_nearest("dance", name_at, names) == NULL);
    CHECK(gyre_text_nearest("x", name_at, names) == NULL);
}

static void choices_are_whole_words(void)
{
    CHECK(gyre_text_choice("a|bc|d", "a") == 0);
    CHECK(gyre_text_choice("a|bc|d", "bc") == 1);
    CHECK(gyre_text_choice("a|bc|d", "b") == -1);
    CHECK(gyre_text_choice("a|bc|d", "a|bc") == -1);
    CHECK(gyre_text_choice("a|bc|d", "") == -1);
}

static void durations_are_read(void)
{
    double ns;

    CHECK(gyre_text_duration("3", &ns) && ns == 3e9);
    CHECK(gyre_text_duration("0.5s", &ns) && ns == 5e8);
    CHECK(gyre_text_duration("250 ms", &ns) && ns == 2.5e8);
    CHECK(gyre_text_duration("2m", &ns) && ns == 120e9);
    CHECK(gyre_text_duration(".5us", &ns) && ns == 500);
}

static void what_is_no_duration_is_refused(void)
{
    static const char *const bad[] = {"",       " 1s", "-1s", "+1s", "inf", "nan",   "0x10s",
                                      "1e400s", "1h",  "s",   ".",   "1s ", "1 s s", "1e300"};
    double ns;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(!gyre_text_duration(bad[i], &ns));
}

static void counts_are_bounded(void)
{
    long long n;

    CHECK(gyre_text_count("10", 10, 20, &n) && n == 10);
    CHECK(gyre_text_count("-3", -5, 5, &n) && n == -3);
    CHECK(!gyre_text_count("9", 10, 20, &n));
    CHECK(!gyre_text_count("21", 10, 20, &n));
    CHECK(!gyre_text_count("12a", 10, 20, &n));
    CHECK(!gyre_text_count("", 10, 20, &n));
    CHECK(!gyre_text_count("99999999999999999999", 0, 1LL << 62, &n));
}

static void control_characters_are_replaced(void)
{
    char text[] = "a\033[2Jb\x7f\n\xC2\x9Bm\xC3\xA9", printed[32] = "";
    FILE *stream = fmemopen(printed, sizeof printed, "w");

    REQUIRE(stream != NULL);
    gyre_text_print(stream, text);
    fclose(stream);
    gyre_text_plain(text);
    CHECK(strcmp(text, "a?[2Jb????m\xC3\xA9") == 0); /* the control of two bytes, not the letter */
    CHECK(strcmp(printed, "a?[2Jb???m\xC3\xA9") == 0);
}

static const test_case cases[] = {
    TEST(distance_counts_edits),
    TEST(words_of_any_length_are_safe),
    TEST(nearest_name_differs_by_a_third_at_most),
    TEST(choices_are_whole_words),
    TEST(durations_are_read),
    TEST(what_is_no_duration_is_refused),
    TEST(counts_are_bounded),
    TEST(control_characters_are_replaced),
};
TEST_MAIN(cases)
