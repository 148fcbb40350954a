/* SPDX-License-Identifier: Apache-2.0 */
#include "report/csv.h"

#include <stdbool.h>
#include <stdlib.h>

#include "sample_run.h"
#include "test.h"

static sample_run sample;
static char *text;

static const char *print(const gyre_run *run)
{
    size_t size;
    FILE *stream;

    free(text);
    stream = open_memstream(&text, &size);
    gyre_csv_write(stream, run);
    fclose(stream);
    return text;
}

/* The line of that number, from 0, without its end. */
static const char *line(const char *all, int number)
{
    static char one[1024];

    for (; number > 0; number--)
        all = strchr(all, '\n') + 1;
    snprintf(one, sizeof one, "%.*s", (int)strcspn(all, "\n"), all);
    return one;
}

static bool begins(const char *row, const char *expected)
{
    return strncmp(row, expected, strlen(expected)) == 0;
}

/* Commas that no quotes protect. */
static int commas(const char *row)
{
    int count = 0, quoted = 0;

    for (; *row; row++) {
        quoted ^= *row == '"';
        count += *row == ',' && !quoted;
    }
    return count;
}

static void a_row_has_every_figure(void)
{
    const char *all;

    sample_run_init(&sample, 2, 1);
    all = print(&sample.run);
    CHECK(strcmp(line(all, 0),
                 "id,suite,outcome,reason,unit,median,low,high,mean,std_dev,mad,slope,min,max,"
                 "samples,iterations,bytes,items,operations,change,change_low,change_high,p,"
                 "verdict,baseline,threads,device_cold,device_hot,latency_p50,latency_p90,"
                 "latency_p99,latency_p999,latency_max,peak_rss_bytes,allocations,"
                 "allocated_bytes,instructions,warnings") == 0);
    CHECK(strcmp(line(all, 1), "channel/send/64,flow,measured,,ns,101,100,102.5,101,2,1.5,,100,102,"
                               "2,20,64,1,,,,,,,,1,,,,,,,,,,,,") == 0);
    CHECK(strcmp(line(all, 2),
                 "queue/push,flow,measured,,ns,1234567.5,1234467.5,1234623.5,1234567.5,0,0,"
                 "1234567.5,1234567.5,1234567.5,2,3,,,3,0.25,0.125,0.5,0.001,regressed,main,4,"
                 ",,,,,,,,,,,\"the clock ticks every 40 ns; 7 of 10 samples lost time to other "
                 "guests\"") == 0);
}

static void every_row_has_every_column(void)
{
    const char *all;

    sample_run_init(&sample, 2, 1);
    all = print(&sample.run);
    for (int i = 1; i <= SAMPLE_RESULTS; i++)
        CHECK(commas(line(all, i)) == commas(line(all, 0)));
    CHECK(strlen(line(all, SAMPLE_RESULTS + 1)) == 0);
}

static void quotes_are_doubled_and_controls_are_gone(void)
{
    sample_run_init(&sample, 2, 1);
    CHECK(begins(line(print(&sample.run), 3),
                 "queue/wrong,flow,failed,\"popped \"\"3\"\", not 4??[31m\",,"));
}

static void a_formula_is_made_a_text(void)
{
    static const char *const formulas[] = {"=1+1", "+1", "-1", "@SUM(A1)"};
    char expected[64];

    sample_run_init(&sample, 2, 1);
    CHECK(begins(line(print(&sample.run), 4),
                 "gpu/launch,exec,skipped,\"'=HYPERLINK(\"\"http://x\"\")\","));
    for (size_t i = 0; i < sizeof formulas / sizeof formulas[0]; i++) {
        sample.results[3].reason = formulas[i];
        snprintf(expected, sizeof expected, "gpu/launch,exec,skipped,\"'%s\",", formulas[i]);
        CHECK(begins(line(print(&sample.run), 4), expected));
    }
}

static void a_negative_change_stays_a_number(void)
{
    sample_run_init(&sample, 2, 1);
    sample.results[1].change =
        (gyre_comparison){"main", -0.5, -0.75, -0.25, 0.001, GYRE_VERDICT_IMPROVED};
    CHECK(strstr(line(print(&sample.run), 2), ",-0.5,-0.75,-0.25,0.001,improved,main,") != NULL);
}

static void what_was_also_measured_is_there(void)
{
    gyre_result *result = &sample.results[0];

    sample_run_init(&sample, 2, 1);
    result->hot = result->time;
    result->latency = (gyre_latency){.quantile = {{0.5, 5, {4, 6, 0.95}}, {0.99, 9, {8, 10, 0.95}}},
                                     .quantile_count = 2,
                                     .max_ns = 11};
    result->memory.peak_rss_bytes = 4096;
    result->memory.counted = true;
    result->instructions.source = "perf";
    result->instructions.per_iteration = 12.5;
    CHECK(strstr(line(print(&sample.run), 1), ",,,,,,,1,,101,5,,9,,11,4096,0,0,12.5,") != NULL);
}

static void an_empty_run_is_a_header(void)
{
    const gyre_run run = {0};

    CHECK(strcmp(line(print(&run), 1), "") == 0);
    free(text);
    text = NULL;
}

static const test_case cases[] = {
    TEST(a_row_has_every_figure),
    TEST(every_row_has_every_column),
    TEST(quotes_are_doubled_and_controls_are_gone),
    TEST(a_formula_is_made_a_text),
    TEST(a_negative_change_stays_a_number),
    TEST(what_was_also_measured_is_there),
    TEST(an_empty_run_is_a_header),
};
TEST_MAIN(cases)
