/* SPDX-License-Identifier: Apache-2.0 */
#include "report/selftest_table.h"

#include <stdlib.h>

#include "record/selftest_fake.h"
#include "test.h"

/* The table as text; freed by the caller. */
static char *printed(const gyre_selftest *selftest)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        abort();
    gyre_selftest_table_print(stream, selftest);
    fclose(stream);
    return text;
}

static bool says(const char *text, const char *words)
{
    const bool there = strstr(text, words) != NULL;

    if (!there)
        fprintf(stderr, "nothing is '%s' in:\n%s\n", words, text);
    return there;
}

static void full_one_tells_rows_and_targets(void)
{
    gyre_selftest *selftest = fake_selftest(GYRE_SELFTEST_FULL, 0);
    char *text;

    fake_success(selftest);
    text = printed(selftest);
    CHECK(says(text, "full, 2200 trials in 100 s; margin 1 %, alpha 1 %, seed 0fedcba987654321"));
    CHECK(says(text, "\n  A/A              400     0.0 [ 0.0,   0.7]"));
    CHECK(says(text, "\n  +2 %             200   100.0 [98.5, 100.0]"));
    CHECK(says(text, "+2.000\n"));
    CHECK(says(text, "  met                 judge/alu     A/A false alarms          at most 1 %, "
                     "bound at most 2 %      0.00 %, at most 0.75 % (0 of 400)\n"));
    CHECK(says(text, "  met                 judge/memory  A/A MDE, median           at most 4 %"));
    CHECK(says(text, "the whole self-test       at most 4500 s                      100.0 s\n"));
    CHECK(says(text, "\npassed\n"));
    free(text);
    gyre_selftest_destroy(selftest);
}

static void missed_target_fails(void)
{
    gyre_selftest *selftest = fake_selftest(GYRE_SELFTEST_CUSTOM, 30);
    char *text;

    fake_success(selftest);
    for (size_t i = 0; i < selftest->count; i++)
        if (selftest->trials[i].row == GYRE_SELFTEST_5)
            selftest->trials[i].verdict = selftest->trials[i].second = GYRE_AB_FASTER;
    text = printed(selftest);
    CHECK(says(text, "  missed              judge/alu     +5 % found"));
    CHECK(says(text, "30 more confirmed as faster, with work added"));
    CHECK(says(text, "  not enough trials   judge/alu     A/A false alarms"));
    CHECK(says(text, "\nfailed: 1 of 15 targets are missed\n"));
    CHECK(!strstr(text, "whole self-test")); /* it has no limit */
    free(text);
    gyre_selftest_destroy(selftest);
}

static void few_trials_say_that_they_are_few(void)
{
    gyre_selftest *selftest = fake_selftest(GYRE_SELFTEST_CUSTOM, 1);
    char *text;

    fake_success(selftest);
    text = printed(selftest);
    CHECK(says(text, "\npassed, as far as so few trials can say; 'gyre selftest --full'"));
    free(text);
    gyre_selftest_destroy(selftest);
}

static void what_is_not_proved_says_why_once(void)
{
    gyre_selftest *selftest = fake_selftest(GYRE_SELFTEST_CUSTOM, 1);
    char *text;

    fake_success(selftest);
    for (size_t i = 0; i < GYRE_SELFTEST_ROWS; i++)
        if (gyre_selftest_extra(selftest->rows[i].kind) > 0)
            selftest->rows[i].proof = (gyre_selftest_proof){.reason = "no valgrind\x1b[31m"};
    text = printed(selftest);
    CHECK(says(text, "judge/alu +1 % is not proved: no valgrind?[31m\n"));
    CHECK(!strstr(text, "+2 % is not proved"));
    CHECK(says(text, "  not measured        judge/alu     added work is off by"));
    CHECK(says(text, "the added work is not proved"));
    free(text);
    gyre_selftest_destroy(selftest);
}

static void what_is_missing_is_told(void)
{
    gyre_selftest *selftest = fake_selftest(GYRE_SELFTEST_QUICK, 0);
    char *text;

    fake_trials(selftest, 0, 1, GYRE_AB_EQUIVALENT, GYRE_AB_EQUIVALENT);
    text = printed(selftest);
    CHECK(says(text, "1 of 144 trials were taken, then the time was up"));
    free(text);
    selftest->head->interrupted = true;
    text = printed(selftest);
    CHECK(says(text, "interrupted after 1 of 144 trials; nothing is kept"));
    CHECK(!strstr(text, "time was up") && !strstr(text, "passed"));
    free(text);
    gyre_selftest_destroy(selftest);
}

static const test_case cases[] = {
    TEST(full_one_tells_rows_and_targets),  TEST(missed_target_fails),
    TEST(few_trials_say_that_they_are_few), TEST(what_is_not_proved_says_why_once),
    TEST(what_is_missing_is_told),
};
TEST_MAIN(cases)
