/* SPDX-License-Identifier: Apache-2.0
 *
 * A run file is read back with jansson: every sample, the words, and nothing that is not JSON.
 */
#include "record/run.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "test.h"

static const gyre_suite suite = {sizeof(gyre_bench), "s", NULL, 0};
static const gyre_bench_case a_case = {
    .suite = &suite,
    .bench = {.t0 = "a \"quoted\" start", .t1 = "b", .observer = "c", .axes = {{"bytes", 1, {64}}}},
    .values = {64},
    .id = "g/f/64",
};

static gyre_run *make_run(void)
{
    static char gyre[] = "gyre", bench[] = "bench";
    static char *const command[] = {gyre, bench};
    gyre_run *run;
    void *times;

    if (gyre_run_create(3, &run) != GYRE_OK || gyre_alloc(NULL, 2, sizeof(double), &times))
        return NULL;
    run->argc = 2;
    run->argv = command;
    run->options = gyre_measure_defaults(NULL);
    run->results[0] = (gyre_result){.c = &a_case,
                                    .iterations = 10,
                                    .sample_count = 2,
                                    .times_ns = times,
                                    .median_ns = 15.5,
                                    .ns = {15, 16, 0.5}};
    run->results[0].times_ns[0] = 150;
    run->results[0].times_ns[1] = 160.125;
    run->results[1] =
        (gyre_result){.c = &a_case, .outcome = GYRE_OUTCOME_SKIPPED, .reason = "no GPU"};
    run->count = 2;
    return run;
}

static json_t *read_file(const char *path)
{
    json_error_t error;

    return json_load_file(path, JSON_REJECT_DUPLICATES, &error);
}

static void everything_is_in_the_file(void)
{
    char path[] = "/tmp/gyre-run-test-XXXXXX";
    const int fd = mkstemp(path);
    gyre_run *run = make_run();
    json_t *root, *first, *second;

    REQUIRE(fd >= 0 && run);
    fclose(fdopen(fd, "w"));
    REQUIRE(gyre_run_save(run, path) == GYRE_OK);
    root = read_file(path);
    remove(path);
    gyre_run_destroy(run);
    REQUIRE(root != NULL);
    CHECK(strcmp(json_string_value(json_object_get(root, "schema")), "gyre.run/1") == 0);
    CHECK(json_array_size(json_object_get(root, "command")) == 2);
    CHECK(json_integer_value(json_object_get(json_object_get(root, "options"), "sample_count")) ==
          100);
    CHECK(json_is_object(json_object_get(root, "machine")));
    REQUIRE(json_array_size(json_object_get(root, "benchmarks")) == 2);
    first = json_array_get(json_object_get(root, "benchmarks"), 0);
    second = json_array_get(json_object_get(root, "benchmarks"), 1);
    CHECK(strcmp(json_string_value(json_object_get(first, "id")), "g/f/64") == 0);
    CHECK(strcmp(json_string_value(json_object_get(first, "t0")), "a \"quoted\" start") == 0);
    CHECK(json_integer_value(json_object_get(json_object_get(first, "axes"), "bytes")) == 64);
    CHECK(json_number_value(json_array_get(
              json_object_get(json_object_get(first, "sample"), "times_ns"), 1)) == 160.125);
    CHECK(json_number_value(json_object_get(json_object_get(first, "time_ns"), "median")) == 15.5);
    CHECK(strcmp(json_string_value(json_object_get(second, "reason")), "no GPU") == 0);
    CHECK(!json_object_get(second, "time_ns")); /* nothing measured, no figures */
    json_decref(root);
}

static void outcomes_are_counted(void)
{
    gyre_run *run = make_run();

    REQUIRE(run != NULL);
    CHECK(gyre_run_count(run, GYRE_OUTCOME_MEASURED) == 1);
    CHECK(gyre_run_count(run, GYRE_OUTCOME_SKIPPED) == 1);
    CHECK(gyre_run_count(run, GYRE_OUTCOME_FAILED) == 0);
    gyre_run_destroy(run);
    gyre_run_destroy(NULL);
}

static const test_case cases[] = {TEST(everything_is_in_the_file), TEST(outcomes_are_counted)};
TEST_MAIN(cases)
