/* SPDX-License-Identifier: Apache-2.0 */
#include "report/terminal.h"

#include <stdlib.h>

#include "test.h"

static const gyre_suite suite = {sizeof(gyre_bench), "s", NULL, 0};
static gyre_bench_case a_case = {
    .suite = &suite,
    .bench = {.t0 = "the push", .t1 = "the pop", .observer = "the popper"},
    .id = "queue/push",
};

static char *text;

/* The result as printed to a stream that is no terminal. */
static const char *print(const gyre_result *result, bool brief)
{
    size_t size;
    FILE *stream;

    free(text);
    stream = open_memstream(&text, &size);
    gyre_terminal_result(stream, result, brief);
    fclose(stream);
    return text;
}

static void measured_result_has_criterions_shape(void)
{
    const gyre_result result = {.c = &a_case, .median_ns = 50, .ns = {40, 60, 0.95}, .items = 1};

    CHECK(
        strcmp(
            print(&result, false),
            "queue/push              time:   [40.000 ns 50.000 ns 60.000 ns]\n"
            "                        thrpt:  [16.667 Melem/s 20.000 Melem/s 25.000 Melem/s]\n"
            "                        clock:  from the push until the pop; seen by the popper\n") ==
        0);
}

static void brief_leaves_out_the_words(void)
{
    const gyre_result result = {.c = &a_case, .median_ns = 50, .ns = {40, 60, 0.95}};

    CHECK(strstr(print(&result, true), "clock:") == NULL);
}

static void long_id_has_a_line_of_its_own(void)
{
    const gyre_result result = {.c = &a_case, .median_ns = 50, .ns = {40, 60, 0.95}};

    snprintf(a_case.id, sizeof a_case.id, "a_group/with_a_long_function");
    CHECK(strncmp(print(&result, true),
                  "a_group/with_a_long_function\n                        time:", 58) == 0);
    snprintf(a_case.id, sizeof a_case.id, "queue/push");
}

static void failure_and_skip_say_why(void)
{
    const gyre_result failed = {.c = &a_case, .outcome = GYRE_OUTCOME_FAILED, .reason = "wrong"};
    const gyre_result skipped = {.c = &a_case, .outcome = GYRE_OUTCOME_SKIPPED, .reason = "no GPU"};

    CHECK(strstr(print(&failed, false), "FAILED: wrong\n") != NULL);
    CHECK(strstr(print(&skipped, false), "skipped: no GPU\n") != NULL);
}

static void summary_counts_and_lists(void)
{
    gyre_result results[] = {
        {.c = &a_case, .outcome = GYRE_OUTCOME_MEASURED},
        {.c = &a_case, .outcome = GYRE_OUTCOME_FAILED, .reason = "wrong"},
        {.c = &a_case, .outcome = GYRE_OUTCOME_SKIPPED, .reason = "no GPU"},
    };
    const gyre_run run = {.results = results, .capacity = 4, .count = 3, .interrupted = true};
    size_t size;
    FILE *stream;

    free(text);
    stream = open_memstream(&text, &size);
    gyre_terminal_summary(stream, &run);
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
    TEST(brief_leaves_out_the_words),
    TEST(long_id_has_a_line_of_its_own),
    TEST(failure_and_skip_say_why),
    TEST(summary_counts_and_lists),
};
TEST_MAIN(cases)
