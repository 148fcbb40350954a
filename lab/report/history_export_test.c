/* SPDX-License-Identifier: Apache-2.0
 *
 * What is written for programs is read back with jansson.
 */
#include "report/history_export.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "record/history_fake.h"
#include "report/trends.h"
#include "test.h"

static char *text;
static size_t size;

static gyre_history_point rows[] = {
    {.run = 3,
     .started = 1000000000,
     .commit = "a,\"b\"",
     .machine = "1be46877",
     .id = "g/f",
     .outcome = "measured",
     .median_ns = 1.5,
     .low_ns = 1.25,
     .high_ns = 2,
     .coverage = 0.95,
     .threads = 1},
    {.run = 4, .id = "=g/\033[2J", .outcome = "failed", .reason = "x\ny", .median_ns = 0},
};
static const gyre_history_points points = {.point = rows, .count = 2};

static const json_t *at(const json_t *root, const char *path)
{
    char words[128], *rest = words;

    snprintf(words, sizeof words, "%s", path);
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        root = json_is_array(root) ? json_array_get(root, strtoul(word, NULL, 10))
                                   : json_object_get(root, word);
    return root;
}

static json_t *parsed(void)
{
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

    if (!root)
        fprintf(stderr, "%d: %s in:\n%s", error.line, error.text, text);
    return root;
}

static void rows_are_objects_with_every_column(void)
{
    gyre_history_run run = {.number = 3, .duration_s = (double)NAN, .command = "[\"a\"]"};
    gyre_json json = {.stream = open_memstream(&text, &size)};
    json_t *root;

    rows[1].median_ns = (double)NAN;
    gyre_history_json_begin(&json);
    gyre_history_json_runs(&json, &(gyre_history_runs){.run = &run, .count = 1});
    gyre_history_json_points(&json, &points);
    gyre_json_end(&json);
    fclose(json.stream);
    root = parsed();
    REQUIRE(root != NULL);
    CHECK(strcmp(json_string_value(at(root, "schema")), "gyre.history/1") == 0);
    CHECK(json_integer_value(at(root, "runs 0 number")) == 3);
    CHECK(json_is_null(at(root, "runs 0 duration_s")) && json_is_null(at(root, "runs 0 commit")));
    CHECK(strcmp(json_string_value(at(root, "runs 0 command")), "[\"a\"]") == 0);
    CHECK(json_real_value(at(root, "results 0 median_ns")) == 1.5);
    CHECK(strcmp(json_string_value(at(root, "results 0 started")), "2001-09-09T01:46:40Z") == 0);
    CHECK(json_is_false(at(root, "results 0 dirty")) &&
          json_is_null(at(root, "results 1 median_ns")));
    CHECK(strcmp(json_string_value(at(root, "results 1 id")), "=g/\033[2J") == 0);
    for (const gyre_history_column *c = gyre_history_point_columns; c->name; c++)
        CHECK(json_object_get(at(root, "results 0"), c->name) != NULL);
    json_decref(root);
    free(text);
}

static void series_has_its_changes_and_drift(void)
{
    gyre_trend_change change = {.index = 1, .before_ns = 1, .after_ns = 2, .ratio = 1, .p = 0.5};
    gyre_trend trend = {.changes = &change, .change_count = 1, .since = 1};
    gyre_json json = {.stream = open_memstream(&text, &size)};
    json_t *root;

    gyre_json_begin_array(&json, NULL);
    gyre_history_json_series(&json, &points, &trend);
    trend = (gyre_trend){.known = true, .drift = 0.25, .low = 0.125, .high = 0.5};
    gyre_history_json_series(&json, &points, &trend);
    gyre_json_end(&json);
    fclose(json.stream);
    root = parsed();
    REQUIRE(root != NULL);
    CHECK(strcmp(json_string_value(at(root, "0 id")), "g/f") == 0);
    CHECK(json_array_size(at(root, "0 results")) == 2);
    CHECK(json_integer_value(at(root, "0 changes 0 run")) == 4);
    CHECK(json_number_value(at(root, "0 changes 0 before_ns")) == 1);
    CHECK(json_number_value(at(root, "0 changes 0 after_ns")) == 2);
    CHECK(json_number_value(at(root, "0 changes 0 change")) == 1);
    CHECK(json_number_value(at(root, "0 changes 0 p")) == 0.5 && json_is_null(at(root, "0 drift")));
    CHECK(json_integer_value(at(root, "1 drift since_run")) == 3);
    CHECK(json_number_value(at(root, "1 drift per_run")) == 0.25);
    CHECK(json_number_value(at(root, "1 drift low")) == 0.125);
    CHECK(json_number_value(at(root, "1 drift high")) == 0.5);
    json_decref(root);
    free(text);
}

static void csv_has_a_cell_for_every_column(void)
{
    FILE *stream = open_memstream(&text, &size);
    const char *line;
    size_t columns = 0, commas;

    rows[1].median_ns = (double)NAN;
    gyre_history_csv(stream, &points);
    fclose(stream);
    for (const gyre_history_column *c = gyre_history_point_columns; c->name; c++)
        columns++;
    CHECK(strncmp(text, "run,started,commit,dirty,machine,position,id,suite,", 51) == 0);
    CHECK(strstr(text, "\n3,2001-09-09T01:46:40Z,\"a,\"\"b\"\"\",0,1be46877,,g/f,,measured,,1.5,"));
    CHECK(strstr(text, ",\"'=g/?[2J\",,failed,x?y,,")); /* no formula, no control character */
    line = strrchr(text, '\n');
    while (line > text && line[-1] != '\n')
        line--;
    for (commas = 0; *line && *line != '\n'; line++)
        commas += *line == ',';
    CHECK(commas == columns - 1);
    free(text);
}

/* Three runs with two benchmarks, then one with the first alone, then one of another machine. */
static void page_gets_the_series_of_its_benchmarks(void)
{
    const char *folder = fake_folder();
    gyre_run *run = fake_history_run(2, 10.0000001), *other = fake_history_run(1, 10);
    gyre_history *history;
    gyre_trends trends;
    FILE *stream;
    uint64_t number;
    json_t *root;

    REQUIRE(gyre_history_open(folder, GYRE_HISTORY_WRITE, 0, &history) == GYRE_OK);
    REQUIRE(gyre_history_add(history, other, &number) == GYRE_OK);
    for (int i = 0; i < 3; i++)
        REQUIRE(gyre_history_add(history, run, &number) == GYRE_OK);
    other->machine.cpu = "another";
    REQUIRE(gyre_history_add(history, other, &number) == GYRE_OK);
    gyre_history_close(history);
    REQUIRE(gyre_trends_read(folder, run, &trends) == GYRE_OK);
    stream = open_memstream(&text, &size);
    gyre_trends_write(stream, &trends);
    fclose(stream);
    gyre_trends_fini(&trends);
    root = parsed();
    REQUIRE(root != NULL);
    CHECK(json_array_size(at(root, "runs")) == 4);
    CHECK(json_integer_value(at(root, "runs 0 0")) == 1);
    CHECK(strcmp(json_string_value(at(root, "runs 1 1")), "2009-02-13T23:31:30Z") == 0);
    CHECK(strcmp(json_string_value(at(root, "runs 1 2")), "1a2b3c") == 0);
    CHECK(json_is_true(at(root, "runs 1 3")));
    REQUIRE(json_array_size(at(root, "series")) == 2);
    CHECK(json_array_size(at(root, "series 0 run")) == 4);
    CHECK(json_array_size(at(root, "series 1 run")) == 3);
    CHECK(json_integer_value(at(root, "series 0 run 3")) == 3);
    CHECK(json_integer_value(at(root, "series 1 run 0")) == 1); /* not in the first of the runs */
    CHECK(json_number_value(at(root, "series 0 median 1")) == 10); /* so many digits */
    CHECK(json_number_value(at(root, "series 1 high 2")) == 11);
    CHECK(json_array_size(at(root, "series 0 changes")) == 0);
    CHECK(!at(root, "series 0 drift"));
    json_decref(root);
    free(text);
    gyre_run_destroy(run);
    gyre_run_destroy(other);
}

static void two_runs_are_no_trend(void)
{
    const char *folder = fake_folder();
    gyre_run *run = fake_history_run(1, 10);
    gyre_trends trends;

    CHECK(gyre_trends_read(folder, run, &trends) == GYRE_NOT_FOUND && trends.count == 0);
    for (uint64_t i = 1; i <= GYRE_TRENDS_LEAST; i++) {
        REQUIRE(fake_history_add(folder, 1, 10, 0) == i);
        REQUIRE(gyre_trends_read(folder, run, &trends) == GYRE_OK);
        CHECK(trends.count == (i == GYRE_TRENDS_LEAST));
        gyre_trends_fini(&trends);
    }
    gyre_run_destroy(run);
}

static void long_history_is_cut_at_its_old_end(void)
{
    const char *folder = fake_folder();
    gyre_run *run = fake_history_run(1, 10);
    gyre_history *history;
    gyre_trends trends;
    uint64_t number;

    REQUIRE(gyre_history_open(folder, GYRE_HISTORY_WRITE, 0, &history) == GYRE_OK);
    for (int i = 0; i < GYRE_TRENDS_MOST + 5; i++)
        REQUIRE(gyre_history_add(history, run, &number) == GYRE_OK);
    gyre_history_close(history);
    REQUIRE(gyre_trends_read(folder, run, &trends) == GYRE_OK);
    REQUIRE(trends.count == 1 && trends.series[0].points.count == GYRE_TRENDS_MOST);
    CHECK(trends.series[0].points.point[0].run == 6);
    gyre_trends_fini(&trends);
    gyre_run_destroy(run);
}

static const test_case cases[] = {
    TEST(rows_are_objects_with_every_column),
    TEST(series_has_its_changes_and_drift),
    TEST(csv_has_a_cell_for_every_column),
    TEST(page_gets_the_series_of_its_benchmarks),
    TEST(two_runs_are_no_trend),
    TEST(long_history_is_cut_at_its_old_end),
};
FAKE_ROOT_MAIN(cases)
