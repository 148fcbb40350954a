/* SPDX-License-Identifier: Apache-2.0 */
#include "report/targets_table.h"

#include <stdlib.h>

#include "sample_run.h"
#include "test.h"

static const char table[] =
    "{\"schema\": \"gyre.targets/1\", \"targets\": ["
    "{\"source\": \"a paper\", \"id\": \"channel/send/64\", \"quantity\": \"median_ns\","
    " \"at_most\": 110, \"note\": \"on\\u001b another machine\"},"
    "{\"source\": \"a paper\", \"id\": \"channel/send/64\", \"quantity\": \"median_ns\","
    " \"at_most\": 102},"
    "{\"source\": \"a paper\", \"id\": \"channel/send/64\", \"quantity\": \"items_per_s\","
    " \"at_least\": 20000000},"
    "{\"source\": \"b\", \"match\": \"queue/.*\", \"quantity\": \"ratio\", \"at_most\": 2,"
    " \"to\": \"channel/send/64\"},"
    "{\"source\": \"b\", \"match\": \"gpu/.*\", \"quantity\": \"p99_ns\", \"at_most\": 1000},"
    "{\"source\": \"b\", \"id\": \"none/such\", \"quantity\": \"counter\", \"counter\": \"hits\","
    " \"at_least\": 0.95}"
    "]}";

static const char expected[] =
    "a paper\n"
    "  met           channel/send/64                             at most 110.00 ns           "
    "101.00 ns [100.00 ns 102.50 ns]\n"
    "                note: on? another machine\n"
    "  unclear       channel/send/64                             at most 102.00 ns           "
    "101.00 ns [100.00 ns 102.50 ns]\n"
    "  missed        channel/send/64                             at least 20.000 Melem/s     "
    "9.9010 Melem/s [9.7561 Melem/s 10.000 Melem/s]\n"
    "\n"
    "b\n"
    "  missed        queue/push                                  at most 2 times channel/send/64  "
    "1.222e+04 [1.204e+04 1.235e+04]\n"
    "  not measured  queue/wrong                                 at most 2 times channel/send/64  "
    "failed: popped \"3\", not 4??[31m\n"
    "  not measured  gpu/launch                                  p99 at most 1.0000 us       "
    "skipped: =HYPERLINK(\"http://x\")\n"
    "  not measured  none/such                                   hits at least 0.95          "
    "no such benchmark here\n"
    "\n"
    "targets: 1 met, 2 missed, 1 unclear, 3 not measured\n";

static sample_run sample;
static char *text;
static const gyre_case_list *all;

static gyre_targets_tally print(const char *source)
{
    gyre_targets_tally tally = {0};
    gyre_targets *targets;
    size_t size;
    FILE *stream;

    free(text);
    text = NULL;
    if (gyre_targets_parse(source, strlen(source), "table", &targets) != GYRE_OK)
        return tally;
    stream = open_memstream(&text, &size);
    tally = gyre_targets_table_write(stream, targets, &sample.run, all);
    fclose(stream);
    gyre_targets_destroy(targets);
    return tally;
}

static void each_verdict_is_shown_with_its_figures(void)
{
    gyre_targets_tally tally;

    sample_run_init(&sample, 2, 1);
    tally = print(table);
    REQUIRE(text != NULL);
    CHECK(strcmp(text, expected) == 0);
    CHECK(tally.met == 1 && tally.missed == 2 && tally.unclear == 1 && tally.not_measured == 3);
}

static void what_was_left_out_by_a_filter_is_not_chosen(void)
{
    gyre_bench_case cases[1] = {{.id = "none/such"}};
    const gyre_case_list list = {.cases = cases, .count = 1};

    sample_run_init(&sample, 2, 1);
    all = &list;
    CHECK(print(table).not_measured == 3);
    all = NULL;
    REQUIRE(text != NULL);
    CHECK(strstr(text, "hits at least 0.95          not chosen\n") != NULL);
    CHECK(strstr(text, "no such benchmark") == NULL);
}

static void without_a_source_there_is_no_heading(void)
{
    sample_run_init(&sample, 2, 1);
    print("{\"schema\": \"gyre.targets/1\", \"targets\": [{\"id\": \"a/b\", \"quantity\": "
          "\"allocations\", \"at_most\": 0}]}");
    REQUIRE(text != NULL);
    CHECK(strncmp(text, "  not measured  a/b ", 20) == 0);
    CHECK(strstr(text, "allocations at most 0 ") != NULL);
    free(text);
    text = NULL;
}

static const test_case cases[] = {
    TEST(each_verdict_is_shown_with_its_figures),
    TEST(what_was_left_out_by_a_filter_is_not_chosen),
    TEST(without_a_source_there_is_no_heading),
};
TEST_MAIN(cases)
