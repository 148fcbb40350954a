/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verdicts.h"

#include <stdlib.h>

#include "record/ab_fake.h"
#include "report/markdown.h"
#include "test.h"

static char *text;

static const char *printed(const gyre_ab *ab, void (*print)(FILE *, const gyre_ab *))
{
    size_t size;
    FILE *stream;

    free(text);
    stream = open_memstream(&text, &size);
    if (!stream)
        abort();
    print(stream, ab);
    fclose(stream);
    return text;
}

static bool says(const char *words)
{
    const bool found = strstr(text, words) != NULL;

    if (!found)
        fprintf(stderr, "%s\nlacks: %s\n", text, words);
    return found;
}

static void row_says_what_changed_and_how_sure_that_is(void)
{
    gyre_ab *ab = fake_full_ab();

    printed(ab, gyre_verdicts_print);
    CHECK(says("benchmark        old        new     change interval, %      verdict     n      "
               "MDE\n"));
    CHECK(says("g/slower   100.03 ns  112.04 ns   +12.00 % [+11.87 +12.13]  slower     16   1.16 "
               "%\n"));
    CHECK(says("g/faster "));
    CHECK(says("faster      8"));
    CHECK(says("equivalent  8"));
    CHECK(says("g/once "));
    CHECK(says("[-100.00 +inf]"));
    CHECK(!strstr(text, "\x1b"));
    gyre_ab_destroy(ab);
}

static void lines_fit_into_100_columns(void)
{
    gyre_ab *ab = fake_full_ab();
    size_t longest = 0;

    printed(ab, gyre_verdicts_print);
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        longest = strcspn(line, "\n") > longest ? strcspn(line, "\n") : longest;
    CHECK(longest <= 100);
    gyre_ab_destroy(ab);
}

static void everything_else_is_told_below(void)
{
    gyre_ab *ab = fake_full_ab();

    printed(ab, gyre_verdicts_print);
    CHECK(says("  failed g/crashed: new, launch 3: was killed by signal 11\n"
               "    | assertion | failed\n    |   at <x>?[31m\n"));
    CHECK(says("  skipped g/skipped: no GPU\n"));
    CHECK(says("  interrupted g/interrupted: interrupted\n"));
    CHECK(says("  only old: g/gone\n"));
    CHECK(says("  only new: g/added\n  only new: g/added ?[31m\n"));
    CHECK(says("  warning g/slower: taken from: 7 ticks\n"));
    CHECK(says("8 compared: 1 slower, 1 faster, 1 equivalent, 2 undecided, 1 failed, 1 skipped, "
               "1 interrupted\nmargin 1.00 %, alpha 0.01; lock step: n launches of fresh process "
               "pairs on one CPU set\ninterrupted: "));
    gyre_ab_destroy(ab);
}

static void counts_are_shown_with_their_change(void)
{
    gyre_ab *ab = fake_ab();
    gyre_ab_bench *bench = fake_bench(ab, "g/a", 8, 0, 0);

    fake_count(bench, GYRE_AB_PEAK_RSS, 1 << 20, 3 << 19);
    fake_count(bench, GYRE_AB_ALLOCATIONS, 2, 2);
    fake_count(bench, GYRE_AB_INSTRUCTIONS, 0, 10.5);
    printed(ab, gyre_verdicts_print);
    CHECK(says("  counted g/a: peak memory 1 MiB -> 1.5 MiB (+50.00 %)\n"
               "  counted g/a: allocations 2 on both sides\n"
               "  counted g/a: instructions 0 -> 10.5\n"));
    gyre_ab_destroy(ab);
}

static void undecided_ones_say_what_would_help(void)
{
    gyre_ab *ab = fake_ab();
    char advice[GYRE_ADVICE_BYTES];

    fake_bench(ab, "g/short", 12, 0.01, 0.2);
    fake_bench(ab, "g/near", 48, 0.01, 0.025);
    fake_bench(ab, "g/wild", 48, 0, 0.2);
    REQUIRE(gyre_ab_judge(ab) == GYRE_OK);
    printed(ab, gyre_verdicts_print);
    CHECK(says("undecided g/short: it had 12 of 48 launches: more of them would tell"));
    CHECK(says("undecided g/near: the change is too near to the margin of 1.00 %: choose another "
               "margin\n"));
    CHECK(says("undecided g/wild: launches differ by 13.8"));
    CHECK(says("use a quieter machine, or a margin of 6.0"));
    ab->rule.margin = 0.07; /* as advised, and a little more */
    REQUIRE(gyre_ab_judge(ab) == GYRE_OK);
    CHECK(fake_find(ab, "g/wild")->judgement.verdict == GYRE_AB_EQUIVALENT);
    gyre_verdicts_advise(&ab->benches[0], &ab->rule, advice);
    CHECK(strncmp(advice, "it had 12", 9) == 0);
    gyre_ab_destroy(ab);
}

static void commands_say_that_they_are_not_in_lock_step(void)
{
    gyre_ab *ab = fake_ab();

    ab->lock_step = false;
    ab->head->interrupted = false;
    printed(ab, gyre_verdicts_print);
    CHECK(strcmp(text, "0 compared: 0 slower, 0 faster, 0 equivalent, 0 undecided\n"
                       "margin 1.00 %, alpha 0.01; commands: one execution is one sample, without "
                       "lock step,\nso that starting the program counts and small changes are not "
                       "found\n") == 0);
    gyre_ab_destroy(ab);
}

static void markdown_is_a_table(void)
{
    gyre_ab *ab = fake_full_ab();

    printed(ab, gyre_verdicts_markdown);
    CHECK(strncmp(text,
                  "| benchmark | old | new | change | interval, % | verdict | launches | MDE |\n"
                  "|---|--:|--:|--:|---|---|--:|--:|\n"
                  "| g/slower | 100.03 ns | 112.04 ns | +12.00 % | [+11.87 +12.13] | **slower** | "
                  "16 | 1.16 % |\n",
                  200) == 0);
    CHECK(says("| equivalent |"));
    CHECK(says("\n\n- **undecided** g/wild: "));
    CHECK(says("\n- **failed** g/crashed: new, launch 3&#58; was killed"));
    CHECK(says("\n- **only old:** g/gone\n"));
    CHECK(says("\n\n8 compared: "));
    CHECK(!strstr(text, "\x1b"));
    gyre_ab_destroy(ab);
}

static void foreign_text_is_shown_as_it_is(void)
{
    size_t size;
    FILE *stream;

    free(text);
    stream = open_memstream(&text, &size);
    REQUIRE(stream);
    gyre_markdown_text(stream, "a|b <b>&\n@x `y` *z* _w_ [l](u) \\ #1\xc2\x9b\x7f\xc3\xa4");
    fclose(stream);
    CHECK(strcmp(text, "a&#124;b &#60;b&#62;&#38;?&#64;x &#96;y&#96; \\*z\\* \\_w\\_ "
                       "\\[l\\]\\(u\\) \\\\ &#35;1??\xc3\xa4") == 0);
}

static const test_case cases[] = {
    TEST(row_says_what_changed_and_how_sure_that_is),
    TEST(lines_fit_into_100_columns),
    TEST(everything_else_is_told_below),
    TEST(counts_are_shown_with_their_change),
    TEST(undecided_ones_say_what_would_help),
    TEST(commands_say_that_they_are_not_in_lock_step),
    TEST(markdown_is_a_table),
    TEST(foreign_text_is_shown_as_it_is),
};
TEST_MAIN(cases)
