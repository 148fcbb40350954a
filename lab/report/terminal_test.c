/* SPDX-License-Identifier: Apache-2.0 */
#include "report/terminal.h"

#include <stdlib.h>

#include "test.h"

/* A result that was measured; tests change what they are about. */
static const gyre_result usual = {
    .id = "queue/push",
    .t0 = "the push",
    .t1 = "the pop",
    .observer = "the popper",
    .reason = "",
    .last_words = "",
    .time = {.median_ns = 50, .ns = {40, 60, 0.95}},
};

static const gyre_method method = {.significance = 0.05, .confidence = 0.95};

static gyre_result ended(gyre_outcome outcome, const char *reason)
{
    gyre_result result = usual;

    result.outcome = outcome;
    result.reason = reason;
    return result;
}

static char *text;

/* The result as printed to a stream that is no terminal. */
static const char *print(const gyre_result *result, gyre_detail detail)
{
    size_t size;
    FILE *stream;

    free(text);
    stream = open_memstream(&text, &size);
    gyre_terminal_result(stream, result, &method, detail);
    fclose(stream);
    return text;
}

static void measured_result_has_criterions_shape(void)
{
    gyre_result result = usual;

    result.items = 1;
    CHECK(
        strcmp(
            print(&result, GYRE_DETAIL_USUAL),
            "queue/push              time:   [40.000 ns 50.000 ns 60.000 ns]\n"
            "                        thrpt:  [16.667 Melem/s 20.000 Melem/s 25.000 Melem/s]\n"
            "                        clock:  from the push until the pop; seen by the popper\n") ==
        0);
}

static void who_took_turns_with_another_has_a_ratio(void)
{
    gyre_result result = usual;

    result.beside = (gyre_ratio){.id = "queue/bare", .times = {1.0126, 1.0101, 1.5, 0}};
    CHECK(strstr(print(&result, GYRE_DETAIL_BRIEF),
                 "ratio:  [1.01 1.013 1.5] of queue/bare, in turns\n") != NULL);
}

static void brief_leaves_out_the_words(void)
{
    CHECK(strstr(print(&usual, GYRE_DETAIL_BRIEF), "clock:") == NULL);
}

static void long_id_has_a_line_of_its_own(void)
{
    gyre_result result = usual;

    result.id = "a_group/with_a_long_function";
    CHECK(strncmp(print(&result, GYRE_DETAIL_BRIEF),
                  "a_group/with_a_long_function\n                        time:", 58) == 0);
}

static void failure_and_skip_say_why(void)
{
    const gyre_result failed = ended(GYRE_OUTCOME_FAILED, "wrong");
    const gyre_result skipped = ended(GYRE_OUTCOME_SKIPPED, "no GPU");

    CHECK(strstr(print(&failed, GYRE_DETAIL_USUAL), "FAILED: wrong\n") != NULL);
    CHECK(strstr(print(&skipped, GYRE_DETAIL_USUAL), "skipped: no GPU\n") != NULL);
}

static void last_words_stand_behind_a_bar(void)
{
    gyre_result failed = ended(GYRE_OUTCOME_FAILED, "died");

    failed.last_words = "one\ntwo";
    CHECK(strstr(print(&failed, GYRE_DETAIL_BRIEF),
                 "                        | one\n                        | two\n") != NULL);
}

static void change_has_criterions_words(void)
{
    static const char *const words[] = {"No change in performance detected.",
                                        "Change within noise threshold.",
                                        "Performance has improved.", "Performance has regressed."};
    gyre_result result = usual;

    result.change = (gyre_comparison){"base", 0.05, 0.04, 0.06, 0.001, GYRE_VERDICT_NONE};
    for (int verdict = 0; verdict < 4; verdict++) {
        result.change.verdict = (gyre_verdict)verdict;
        CHECK(strstr(print(&result, GYRE_DETAIL_BRIEF), words[verdict]) != NULL);
    }
    CHECK(strstr(text, "change: [+4.0000% +5.0000% +6.0000%] (p = 0.00 < 0.05)\n") != NULL);
}

static void outliers_are_counted_by_kind(void)
{
    gyre_result result = usual;

    result.outliers = (gyre_outliers){.low_mild = 1, .high_severe = 3};
    result.time.samples.count = 100;
    CHECK(strstr(print(&result, GYRE_DETAIL_USUAL),
                 "Found 4 outliers among 100 measurements (4.00%)\n"
                 "  1 (1.00%) low mild\n  3 (3.00%) high severe\n") != NULL);
}

static void percentiles_counts_and_warnings_have_lines(void)
{
    gyre_result result = usual;

    result.memory.peak_rss_bytes = 2097152;
    result.memory.counted = true;
    result.memory.allocations = 2;
    result.memory.allocated_bytes = 64;
    result.warning_count = 1;
    result.latency.count = 100;
    result.latency.quantile_count = 1;
    result.latency.quantile[0].p = 0.999;
    result.latency.quantile[0].ns = 70;
    result.latency.quantile[0].interval = (gyre_interval){60, 80, 0.95};
    result.latency.max_ns = 90;
    result.instructions.source = "callgrind";
    result.instructions.per_iteration = 12;
    result.warnings[0] = "beware";
    (void)print(&result, GYRE_DETAIL_BRIEF);
    CHECK(strstr(text, "p99.9:  [60.000 ns 70.000 ns 80.000 ns]\n") != NULL);
    CHECK(strstr(text, "max:    90.000 ns of 100 calls\n") != NULL);
    CHECK(strstr(text, "memory: peak 2 MiB; 2 allocations of together 64 B an iteration\n"));
    CHECK(strstr(text, "instr:  12.0 (callgrind)\n") != NULL);
    CHECK(strstr(text, "warning: beware\n") != NULL);
}

static void summary_counts_and_lists(void)
{
    gyre_result results[] = {
        usual,
        ended(GYRE_OUTCOME_FAILED, "wrong"),
        ended(GYRE_OUTCOME_SKIPPED, "no GPU"),
    };
    const gyre_run run = {.results = results, .count = 3, .interrupted = true};
    size_t size;
    FILE *stream;

    free(text);
    stream = open_memstream(&text, &size);
    gyre_terminal_summary(stream, &run, 4);
    fclose(stream);
    CHECK(strstr(text, "1 measured, 1 failed, 1 skipped of 4") != NULL);
    CHECK(strstr(text, "interrupted") != NULL);
    CHECK(strstr(text, "failed queue/push: wrong\n") != NULL);
    CHECK(strstr(text, "skipped queue/push: no GPU\n") != NULL);
    free(text);
    text = NULL;
}

static const test_case cases[] = {
    TEST(measured_result_has_criterions_shape),
    TEST(who_took_turns_with_another_has_a_ratio),
    TEST(brief_leaves_out_the_words),
    TEST(long_id_has_a_line_of_its_own),
    TEST(failure_and_skip_say_why),
    TEST(last_words_stand_behind_a_bar),
    TEST(change_has_criterions_words),
    TEST(outliers_are_counted_by_kind),
    TEST(percentiles_counts_and_warnings_have_lines),
    TEST(summary_counts_and_lists),
};
TEST_MAIN(cases)
