/* SPDX-License-Identifier: Apache-2.0 */
#include "report/criterion.h"

#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "sample_run.h"
#include "test.h"

static char root[] = "/tmp/gyre-criterion-test-XXXXXX";
static sample_run sample;

static const char *at(const char *name)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static bool exists(const char *name)
{
    return access(at(name), F_OK) == 0;
}

/* What is in the file, "" when there is none. */
static const char *text_of(const char *name)
{
    static char text[4096];
    FILE *file = fopen(at(name), "r");
    size_t size = 0;

    if (file) {
        size = fread(text, 1, sizeof text - 1, file);
        fclose(file);
    }
    text[size] = '\0';
    return text;
}

static bool holds(const char *name, const char *text)
{
    return strcmp(text_of(name), text) == 0;
}

/* Exports one result of that id, without axes, into `folder`. */
static gyre_status export_as(const char *id, const char *folder)
{
    sample_run_init(&sample, 2, 1);
    sample.results[0].id = id;
    sample.results[0].axes[0].name = NULL;
    sample.run.count = 1;
    return gyre_criterion_export(&sample.run, at(folder), NULL);
}

static void flat_benchmark_is_written_so(void)
{
    sample_run_init(&sample, 2, 1);
    REQUIRE(gyre_criterion_export(&sample.run, at("flat"), NULL) == GYRE_OK);
    CHECK(holds("flat/channel/send/64/new/benchmark.json",
                "{\n"
                "  \"group_id\": \"channel\",\n"
                "  \"function_id\": \"send\",\n"
                "  \"value_str\": \"64\",\n"
                "  \"throughput\": {\n"
                "    \"Bytes\": 64\n"
                "  },\n"
                "  \"full_id\": \"channel/send/64\",\n"
                "  \"directory_name\": \"channel/send/64\",\n"
                "  \"title\": \"channel/send/64\"\n"
                "}\n"));
    CHECK(holds("flat/channel/send/64/new/sample.json", "{\n"
                                                        "  \"sampling_mode\": \"Flat\",\n"
                                                        "  \"iters\": [10, 10],\n"
                                                        "  \"times\": [1000, 1020]\n"
                                                        "}\n"));
    CHECK(holds("flat/channel/send/64/new/tukey.json", "[97.5, 99, 103, 104.5]\n"));
}

static void estimates_are_written_so(void)
{
    static const char mean_to_slope[] = "{\n"
                                        "  \"mean\": {\n"
                                        "    \"confidence_interval\": {\n"
                                        "      \"confidence_level\": 0.95,\n"
                                        "      \"lower_bound\": 100,\n"
                                        "      \"upper_bound\": 102\n"
                                        "    },\n"
                                        "    \"point_estimate\": 101,\n"
                                        "    \"standard_error\": 0.5\n"
                                        "  },\n"
                                        "  \"median\": {\n"
                                        "    \"confidence_interval\": {\n"
                                        "      \"confidence_level\": 0.95,\n"
                                        "      \"lower_bound\": 100,\n"
                                        "      \"upper_bound\": 102\n"
                                        "    },\n"
                                        "    \"point_estimate\": 101,\n"
                                        "    \"standard_error\": 0.5\n"
                                        "  },\n"
                                        "  \"median_abs_dev\": {\n"
                                        "    \"confidence_interval\": {\n"
                                        "      \"confidence_level\": 0.95,\n"
                                        "      \"lower_bound\": 0.5,\n"
                                        "      \"upper_bound\": 2.5\n"
                                        "    },\n"
                                        "    \"point_estimate\": 1.5,\n"
                                        "    \"standard_error\": 0.5\n"
                                        "  },\n"
                                        "  \"slope\": null,\n"
                                        "  \"std_dev\": {\n"
                                        "    \"confidence_interval\": {\n"
                                        "      \"confidence_level\": 0.95,\n"
                                        "      \"lower_bound\": 1,\n"
                                        "      \"upper_bound\": 3\n"
                                        "    },\n"
                                        "    \"point_estimate\": 2,\n"
                                        "    \"standard_error\": 0.5\n"
                                        "  }\n"
                                        "}\n";

    sample_run_init(&sample, 2, 1);
    REQUIRE(gyre_criterion_export(&sample.run, at("estimates"), "main") == GYRE_OK);
    CHECK(holds("estimates/channel/send/64/new/estimates.json", mean_to_slope));
    CHECK(holds("estimates/channel/send/64/main/estimates.json", mean_to_slope));
    CHECK(!exists("estimates/channel/send/64/base"));
}

static void linear_benchmark_has_a_slope_and_its_iterations(void)
{
    sample_run_init(&sample, 3, 1);
    REQUIRE(gyre_criterion_export(&sample.run, at("linear"), NULL) == GYRE_OK);
    CHECK(holds("linear/queue/push/base/sample.json", "{\n"
                                                      "  \"sampling_mode\": \"Linear\",\n"
                                                      "  \"iters\": [1, 2, 3],\n"
                                                      "  \"times\": [1234567.5, 2469135, "
                                                      "3703702.5]\n"
                                                      "}\n"));
    CHECK(strstr(text_of("linear/queue/push/base/estimates.json"), "\"slope\": {\n"));
    CHECK(strstr(text_of("linear/queue/push/base/benchmark.json"), "\"value_str\": null,\n"));
}

static void only_what_was_measured_is_exported(void)
{
    sample_run_init(&sample, 2, 1);
    REQUIRE(gyre_criterion_export(&sample.run, at("outcomes"), NULL) == GYRE_OK);
    CHECK(exists("outcomes/queue/push/base/tukey.json"));
    CHECK(!exists("outcomes/queue/wrong"));
    CHECK(!exists("outcomes/gpu"));
    CHECK(!exists("outcomes/base"));
}

static void axes_decide_what_is_function_and_what_is_value(void)
{
    sample_run_init(&sample, 2, 1);
    sample.run.count = 1;
    sample.results[0].id = "bytes_clone/1024";
    sample.results[0].items = sample.results[0].bytes = 0;
    REQUIRE(gyre_criterion_export(&sample.run, at("axes"), NULL) == GYRE_OK);
    CHECK(holds("axes/bytes_clone/1024/new/benchmark.json",
                "{\n"
                "  \"group_id\": \"bytes_clone\",\n"
                "  \"function_id\": null,\n"
                "  \"value_str\": \"1024\",\n"
                "  \"throughput\": null,\n"
                "  \"full_id\": \"bytes_clone/1024\",\n"
                "  \"directory_name\": \"bytes_clone/1024\",\n"
                "  \"title\": \"bytes_clone/1024\"\n"
                "}\n"));
    sample.results[0].id = "queue/push/64/block";
    sample.results[0].axes[1].name = "policy";
    REQUIRE(gyre_criterion_export(&sample.run, at("axes"), NULL) == GYRE_OK);
    CHECK(exists("axes/queue/push/64_block/new/benchmark.json"));
    CHECK(export_as("alone", "axes") == GYRE_OK);
    CHECK(exists("axes/alone/new/benchmark.json"));
}

static void odd_characters_become_underscores(void)
{
    REQUIRE(export_as("g/a?\"\\*<>:|^b", "odd") == GYRE_OK);
    CHECK(exists("odd/g/a_________b/new/benchmark.json"));
}

static void long_names_are_cut_and_stay_apart(void)
{
    static char first[80], second[80]; /* the sample keeps pointing to them */
    char expected[128];

    snprintf(first, sizeof first, "g/%064dA", 0);
    snprintf(second, sizeof second, "g/%064dB", 0);
    sample_run_init(&sample, 2, 1);
    sample.results[0].id = first;
    sample.results[0].axes[0].name = NULL;
    sample.results[1].id = second;
    REQUIRE(gyre_criterion_export(&sample.run, at("long"), NULL) == GYRE_OK);
    snprintf(expected, sizeof expected, "long/g/%064d/new/benchmark.json", 0);
    CHECK(exists(expected));
    snprintf(expected, sizeof expected, "long/g/%064d_2/new/benchmark.json", 0);
    CHECK(exists(expected));
}

static void ids_that_lead_elsewhere_are_refused(void)
{
    static const char *const ids[] = {"",       "/abs",   "g//f", "g/",     "../g",
                                      "g/../h", "g/f/..", ".",    "g/a\nb", NULL};

    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        CHECK(export_as(ids[i], "refused") == GYRE_INVALID);
    CHECK(!exists("refused")); /* nothing was written */
}

static void baselines_that_mean_something_else_are_refused(void)
{
    static const char *const names[] = {"", "..", "a/b", "/", "new", "change", "report"};

    sample_run_init(&sample, 2, 1);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        CHECK(gyre_criterion_export(&sample.run, at("refused"), names[i]) == GYRE_INVALID);
    CHECK(!exists("refused"));
}

static void unwritable_folder_is_a_status(void)
{
    sample_run_init(&sample, 2, 1);
    CHECK(gyre_criterion_export(&sample.run, "/proc/gyre", NULL) == GYRE_IO);
    sample.run.count = 0;
    CHECK(gyre_criterion_export(&sample.run, "/proc/gyre", NULL) == GYRE_IO);
    CHECK(gyre_criterion_export(&sample.run, at("empty"), NULL) == GYRE_OK);
}

static int remove_entry(const char *name, const struct stat *about, int kind, struct FTW *place)
{
    (void)about, (void)kind, (void)place;
    return remove(name);
}

static const test_case cases[] = {
    TEST(flat_benchmark_is_written_so),
    TEST(estimates_are_written_so),
    TEST(linear_benchmark_has_a_slope_and_its_iterations),
    TEST(only_what_was_measured_is_exported),
    TEST(axes_decide_what_is_function_and_what_is_value),
    TEST(odd_characters_become_underscores),
    TEST(long_names_are_cut_and_stay_apart),
    TEST(ids_that_lead_elsewhere_are_refused),
    TEST(baselines_that_mean_something_else_are_refused),
    TEST(unwritable_folder_is_a_status),
};

int main(void)
{
    int code;

    if (!mkdtemp(root))
        return 1;
    code = test_run(cases, sizeof cases / sizeof cases[0], NULL);
    (void)nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    return code;
}
