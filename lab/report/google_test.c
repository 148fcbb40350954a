/* SPDX-License-Identifier: Apache-2.0
 *
 * That Google's own compare.py takes it is for tests/cli/google_test.sh.
 */
#include "report/google.h"

#include <jansson.h>
#include <stdlib.h>

#include "sample_run.h"
#include "test.h"

static sample_run sample;

static char *print(const gyre_run *run)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    gyre_google_write(stream, run);
    fclose(stream);
    return text;
}

static json_t *print_and_read(const gyre_run *run)
{
    char *text = print(run);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

    free(text);
    return root;
}

static const char *string_at(const json_t *object, const char *key)
{
    const char *string = json_string_value(json_object_get(object, key));

    return string ? string : "";
}

static double number_at(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* Up to the end of the first aggregate. */
static const char beginning[] = "{\n"
                                "  \"context\": {\n"
                                "    \"date\": \"2023-11-14T22:13:20+00:00\",\n"
                                "    \"host_name\": \"\",\n"
                                "    \"executable\": \"/opt/gyre\",\n"
                                "    \"num_cpus\": 2,\n"
                                "    \"mhz_per_cpu\": 0,\n"
                                "    \"cpu_scaling_enabled\": false,\n"
                                "    \"caches\": [],\n"
                                "    \"load_avg\": [],\n"
                                "    \"library_version\": \"0.1.0\",\n"
                                "    \"library_build_type\": \"release\",\n"
                                "    \"cpu\": \"A CPU\",\n"
                                "    \"kernel\": \"6.1.0\",\n"
                                "    \"json_schema_version\": 1\n"
                                "  },\n"
                                "  \"benchmarks\": [\n"
                                "    {\n"
                                "      \"name\": \"channel/send/64\",\n"
                                "      \"family_index\": 0,\n"
                                "      \"per_family_instance_index\": 0,\n"
                                "      \"run_name\": \"channel/send/64\",\n"
                                "      \"run_type\": \"iteration\",\n"
                                "      \"repetitions\": 1,\n"
                                "      \"repetition_index\": 0,\n"
                                "      \"threads\": 1,\n"
                                "      \"iterations\": 10,\n"
                                "      \"real_time\": 100,\n"
                                "      \"cpu_time\": 100,\n"
                                "      \"time_unit\": \"ns\",\n"
                                "      \"bytes_per_second\": 640000000,\n"
                                "      \"items_per_second\": 10000000\n"
                                "    },\n"
                                "    {\n"
                                "      \"name\": \"channel/send/64_mean\",\n"
                                "      \"family_index\": 0,\n"
                                "      \"per_family_instance_index\": 0,\n"
                                "      \"run_name\": \"channel/send/64\",\n"
                                "      \"run_type\": \"aggregate\",\n"
                                "      \"repetitions\": 1,\n"
                                "      \"threads\": 1,\n"
                                "      \"aggregate_name\": \"mean\",\n"
                                "      \"aggregate_unit\": \"time\",\n"
                                "      \"iterations\": 1,\n"
                                "      \"real_time\": 100,\n"
                                "      \"cpu_time\": 100,\n"
                                "      \"time_unit\": \"ns\"\n"
                                "    },\n";

static void one_sample_is_written_so(void)
{
    char *text;

    sample_run_init(&sample, 1, 1);
    sample.run.count = 1;
    text = print(&sample.run);
    CHECK(strncmp(text, beginning, sizeof beginning - 1) == 0);
    free(text);
}

static void samples_are_repetitions_and_aggregates_follow(void)
{
    static const char *const names[] = {"mean", "median", "stddev", "cv"};
    json_t *root, *all;

    sample_run_init(&sample, 12, 1);
    sample.run.count = 1;
    root = print_and_read(&sample.run);
    REQUIRE(root != NULL);
    all = json_object_get(root, "benchmarks");
    CHECK(json_array_size(all) == 16);
    for (size_t i = 0; i < 12; i++) {
        CHECK(number_at(json_array_get(all, i), "repetition_index") == (double)i);
        CHECK(number_at(json_array_get(all, i), "real_time") == 100 + 2 * (double)i);
    }
    for (size_t i = 0; i < 4; i++)
        CHECK(strcmp(string_at(json_array_get(all, 12 + i), "aggregate_name"), names[i]) == 0);
    CHECK(number_at(json_array_get(all, 15), "real_time") == 2 / 111.0);
    CHECK(strcmp(string_at(json_array_get(all, 15), "aggregate_unit"), "percentage") == 0);
    json_decref(root);
}

static void linear_samples_are_times_of_one_iteration(void)
{
    json_t *root, *third;

    sample_run_init(&sample, 3, 1);
    sample.run.results = &sample.results[1];
    sample.run.count = 1;
    root = print_and_read(&sample.run);
    REQUIRE(root != NULL);
    third = json_array_get(json_object_get(root, "benchmarks"), 2);
    CHECK(number_at(third, "iterations") == 3);
    CHECK(number_at(third, "real_time") == 1234567.5);
    CHECK(number_at(third, "threads") == 4);
    CHECK(!json_object_get(third, "bytes_per_second"));
    json_decref(root);
}

static void failures_are_errors_and_what_was_not_run_is_absent(void)
{
    json_t *root, *all, *failed;

    sample_run_init(&sample, 2, 1);
    root = print_and_read(&sample.run);
    REQUIRE(root != NULL);
    all = json_object_get(root, "benchmarks");
    CHECK(json_array_size(all) == 2 * 6 + 1);
    failed = json_array_get(all, 12);
    CHECK(strcmp(string_at(failed, "name"), "queue/wrong") == 0);
    CHECK(json_is_true(json_object_get(failed, "error_occurred")));
    CHECK(strcmp(string_at(failed, "error_message"), "popped \"3\", not 4\n\x1b[31m") == 0);
    json_decref(root);
}

static void an_empty_run_is_whole(void)
{
    const gyre_run run = {.build = "gcc, Debug, sanitizers none"};
    json_t *root = print_and_read(&run);

    REQUIRE(root != NULL);
    CHECK(json_array_size(json_object_get(root, "benchmarks")) == 0);
    CHECK(strcmp(string_at(json_object_get(root, "context"), "library_build_type"), "debug") == 0);
    json_decref(root);
}

static const test_case cases[] = {
    TEST(one_sample_is_written_so),
    TEST(samples_are_repetitions_and_aggregates_follow),
    TEST(linear_samples_are_times_of_one_iteration),
    TEST(failures_are_errors_and_what_was_not_run_is_absent),
    TEST(an_empty_run_is_whole),
};
TEST_MAIN(cases)
