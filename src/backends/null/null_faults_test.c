/* SPDX-License-Identifier: Apache-2.0
 *
 * The faults' grammar.
 */
#include "backends/null/null_faults.h"

#include <stdbool.h>

#include "test.h"

static const gyre_null_rule *find(const gyre_null_faults *faults, gyre_null_word word,
                                  uint32_t number)
{
    return gyre_null_faults_find(faults, word, number);
}

static void no_text_is_no_fault(void)
{
    gyre_null_faults faults;

    CHECK(gyre_null_faults_parse(NULL, &faults) == GYRE_OK && faults.count == 0);
    CHECK(gyre_null_faults_parse("", &faults) == GYRE_OK && faults.count == 0);
    CHECK(gyre_null_faults_parse(" \t\n", &faults) == GYRE_OK && faults.count == 0);
}

static void words_are_separated_by_blanks(void)
{
    gyre_null_faults faults;

    REQUIRE(gyre_null_faults_parse(" hang@3\tslow=20  sticky\nlimit", &faults) == GYRE_OK);
    CHECK(faults.count == 4 && find(&faults, GYRE_NULL_LIMIT, 0));
    REQUIRE(find(&faults, GYRE_NULL_HANG, 3));
    CHECK(find(&faults, GYRE_NULL_HANG, 3)->value == -1);
    CHECK(!find(&faults, GYRE_NULL_HANG, 2) && !find(&faults, GYRE_NULL_HANG, 4));
    REQUIRE(find(&faults, GYRE_NULL_SLOW, 0));
    CHECK(find(&faults, GYRE_NULL_SLOW, 0)->value == 20);
    CHECK(find(&faults, GYRE_NULL_STICKY, 0) && !find(&faults, GYRE_NULL_OPEN, 0));
}

static void numbers_come_as_lists_and_ranges(void)
{
    gyre_null_faults faults;

    REQUIRE(gyre_null_faults_parse("fault@2,5..7,20..", &faults) == GYRE_OK);
    for (uint32_t i = 1; i < 30; i++) {
        const bool hit = i == 2 || (i >= 5 && i <= 7) || i >= 20;

        CHECK((find(&faults, GYRE_NULL_FAULT, i) != NULL) == hit);
    }
}

static void a_hang_may_end(void)
{
    gyre_null_faults faults;

    REQUIRE(gyre_null_faults_parse("hang@1,4..+250 hang@9", &faults) == GYRE_OK);
    CHECK(find(&faults, GYRE_NULL_HANG, 1)->value == 250);
    CHECK(find(&faults, GYRE_NULL_HANG, 8)->value == 250);
    CHECK(find(&faults, GYRE_NULL_HANG, 9)->value == -1);
}

static void memory_is_taken_or_a_number(void)
{
    gyre_null_faults faults;

    REQUIRE(gyre_null_faults_parse("memory@2 memory=97", &faults) == GYRE_OK);
    CHECK(find(&faults, GYRE_NULL_TAKE, 2) && !find(&faults, GYRE_NULL_TAKE, 1));
    CHECK(find(&faults, GYRE_NULL_MEMORY, 0)->value == 97);
}

static void the_last_of_a_word_counts(void)
{
    gyre_null_faults faults;

    REQUIRE(gyre_null_faults_parse("slow=1 slow=2", &faults) == GYRE_OK);
    CHECK(find(&faults, GYRE_NULL_SLOW, 0)->value == 2);
}

static void malformed_words_are_named(void)
{
    static const char *const bad[] = {"hang",
                                      "hang@",
                                      "hang@0",
                                      "hang@x",
                                      "hang@1,",
                                      "hang@1+",
                                      "hang@1.",
                                      "hang@7..3",
                                      "fault@1+5",
                                      "slow",
                                      "slow=",
                                      "slow=-1",
                                      "slow@1",
                                      "open=1",
                                      "open@1",
                                      "opening",
                                      "memory=101",
                                      "power=1000001",
                                      "slow=99999999999999999999",
                                      "@",
                                      "=",
                                      "hang@1 1"};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        gyre_null_faults faults;
        char text[64];
        const char *const last = strrchr(bad[i], ' ');

        snprintf(text, sizeof text, "slow=1 %s", bad[i]);
        CHECK(gyre_null_faults_parse(text, &faults) == GYRE_INVALID && faults.count == 0);
        snprintf(text, sizeof text, "'%s'", last ? last + 1 : bad[i]);
        CHECK(strstr(gyre_error_last()->text, text));
    }
}

static void more_rules_than_there_is_room_for_are_refused(void)
{
    gyre_null_faults faults;
    char text[256];
    int length = snprintf(text, sizeof text, "refuse@1");

    for (int i = 1; i < GYRE_NULL_RULES; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, ",1");
    CHECK(gyre_null_faults_parse(text, &faults) == GYRE_OK && faults.count == GYRE_NULL_RULES);
    snprintf(text + length, sizeof text - (size_t)length, " open");
    CHECK(gyre_null_faults_parse(text, &faults) == GYRE_INVALID && faults.count == 0);
    CHECK(strstr(gyre_error_last()->text, "'open'"));
}

static const test_case cases[] = {
    TEST(no_text_is_no_fault),
    TEST(words_are_separated_by_blanks),
    TEST(numbers_come_as_lists_and_ranges),
    TEST(a_hang_may_end),
    TEST(memory_is_taken_or_a_number),
    TEST(the_last_of_a_word_counts),
    TEST(malformed_words_are_named),
    TEST(more_rules_than_there_is_room_for_are_refused),
};
TEST_MAIN(cases)
