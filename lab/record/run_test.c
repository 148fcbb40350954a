/* SPDX-License-Identifier: Apache-2.0
 *
 * What is written is looked at with jansson, apart from record/read.c; that both agree is for
 * read_test.c.
 */
#include "record/run.h"

#include <jansson.h>
#include <math.h>
#include <unistd.h>

#include "record/run_fake.h"
#include "test.h"

static json_t *written(const gyre_run *run, size_t most_samples)
{
    char *text = fake_text(run, most_samples);
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

    free(text);
    return root;
}

/* The value at "benchmarks 0 sample", keys and indices; NULL when there is none. */
static const json_t *at(const json_t *root, const char *path)
{
    char words[128], *rest = words;

    snprintf(words, sizeof words, "%s", path);
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        root = json_is_array(root) ? json_array_get(root, strtoul(word, NULL, 10))
                                   : json_object_get(root, word);
    return root;
}

static double number(const json_t *root, const char *path)
{
    const json_t *value = at(root, path);

    return json_is_number(value) ? json_number_value(value) : nan("");
}

static bool says(const json_t *root, const char *path, const char *text)
{
    const char *value = json_string_value(at(root, path));

    return value && strcmp(value, text) == 0;
}

static void everything_is_in_the_file(void)
{
    gyre_run *run = fake_full_run();
    json_t *root = written(run, 0);

    gyre_run_destroy(run);
    REQUIRE(root != NULL);
    CHECK(says(root, "schema", "gyre.run/1") && says(root, "started", "2009-02-13T23:31:30Z"));
    CHECK(says(root, "command 2", "sum") && says(root, "settings GYRE_LOG", "info"));
    CHECK(number(root, "options resamples") == 14 && says(root, "options order", "random"));
    CHECK(number(root, "machine clock cost_ns") == 20.5 && says(root, "machine kernel", "6.1"));
    CHECK(says(root, "commit id", "1a2b3c") && says(root, "commit branch", "topic"));
    CHECK(json_is_true(at(root, "commit dirty")));
    CHECK(says(root, "benchmarks 0 t0", "a \"quoted\" start"));
    CHECK(says(root, "benchmarks 0 axes policy", "block"));
    CHECK(json_integer_value(at(root, "benchmarks 0 axes bytes")) == INT64_MIN);
    CHECK(says(root, "benchmarks 0 tags 0", "gpu") && says(root, "benchmarks 0 tags 1", "slow"));
    CHECK(number(root, "benchmarks 0 counters share") == -0.125);
    CHECK(says(root, "benchmarks 0 notes kernel", "avx512"));
    CHECK(number(root, "benchmarks 0 time_ns median") == 15.25);
    CHECK(number(root, "benchmarks 0 estimates slope low") == 4.5);
    CHECK(number(root, "benchmarks 0 outliers high_severe") == 4);
    CHECK(number(root, "benchmarks 0 sample iterations 19") == 200);
    CHECK(number(root, "benchmarks 0 sample steal_ticks 3") == 3);
    CHECK(number(root, "benchmarks 0 device cold median") == 30);
    CHECK(number(root, "benchmarks 0 device hot sample iterations") == 10); /* flat: one number */
    CHECK(says(root, "benchmarks 0 latency arrivals", "open"));
    CHECK(number(root, "benchmarks 0 latency quantiles 3 ns") == 6);
    CHECK(number(root, "benchmarks 0 latency calls_ns 3") == 1.5);
    CHECK(number(root, "benchmarks 0 memory allocations") == 1.5);
    CHECK(number(root, "benchmarks 0 instructions cycles_per_iteration") == 456);
    CHECK(says(root, "benchmarks 0 change verdict", "regressed"));
    CHECK(says(root, "benchmarks 2 reason", "no GPU"));
    json_decref(root);
}

static void what_does_not_apply_is_absent(void)
{
    static const char *const optional[] = {
        "tags",
        "threads",
        "reason",
        "last_words",
        "warnings",
        "bytes_per_iteration",
        "counters",
        "notes",
        "time_ns",
        "estimates",
        "sample",
        "items_per_iteration",
        "outliers",
        "device",
        "latency",
        "instructions",
        "memory",
        "change",
        "operations_per_iteration",
    };
    gyre_run *run = fake_run();
    json_t *root;

    fake_add(run, fake_result("g/f", GYRE_OUTCOME_CHECKED));
    root = written(run, 0);
    gyre_run_destroy(run);
    REQUIRE(root != NULL);
    CHECK(says(root, "benchmarks 0 outcome", "checked"));
    for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++)
        CHECK(!json_object_get(at(root, "benchmarks 0"), optional[i]));
    json_decref(root);
}

static void long_series_are_thinned_evenly(void)
{
    gyre_run *run = fake_full_run();
    json_t *root = written(run, 5);

    gyre_run_destroy(run);
    REQUIRE(root != NULL);
    CHECK(json_array_size(at(root, "benchmarks 0 sample times_ns")) == 5);
    for (size_t i = 0; i < 5; i++) { /* in all of them */
        static const double places[] = {0, 4, 9, 14, 19};
        const double place = places[i];
        char path[64];

        snprintf(path, sizeof path, "benchmarks 0 sample iterations %zu", i);
        CHECK(number(root, path) == 10 * (place + 1));
        snprintf(path, sizeof path, "benchmarks 0 sample steal_ticks %zu", i);
        CHECK(number(root, path) == place);
        snprintf(path, sizeof path, "benchmarks 0 device hot sample switches %zu", i);
        CHECK(number(root, path) == 100 + place);
    }
    CHECK(json_array_size(at(root, "benchmarks 0 latency calls_ns")) == 5); /* not longer than 5 */
    json_decref(root);
}

static void one_sample_of_a_series_can_be_asked_for(void)
{
    gyre_run *run = fake_full_run();
    json_t *root = written(run, 1);

    gyre_run_destroy(run);
    REQUIRE(root != NULL);
    CHECK(json_array_size(at(root, "benchmarks 0 sample times_ns")) == 1);
    CHECK(json_array_size(at(root, "benchmarks 0 latency calls_ns")) == 1);
    json_decref(root);
}

static void numbers_that_readers_lack_are_not_written(void)
{
    gyre_run *run = fake_run();
    json_t *root;

    fake_add(run, fake_result("g/f", GYRE_OUTCOME_CHECKED));
    run->results[0].bytes = UINT64_MAX;
    run->results[0].facts.owner = &run->results[0];
    gyre_bench_count(&run->results[0].facts, "ratio", nan(""));
    root = written(run, 0);
    gyre_run_destroy(run);
    REQUIRE(root != NULL);
    CHECK(json_integer_value(at(root, "benchmarks 0 bytes_per_iteration")) == INT64_MAX);
    CHECK(!at(root, "benchmarks 0 counters"));
    json_decref(root);
}

static void outcomes_are_counted_and_ids_found(void)
{
    gyre_run *run = fake_full_run();

    CHECK(gyre_run_count(run, GYRE_OUTCOME_MEASURED) == 1);
    CHECK(gyre_run_count(run, GYRE_OUTCOME_SKIPPED) == 1);
    CHECK(gyre_run_find(run, "g/skipped") == &run->results[2]);
    CHECK(gyre_run_find(run, "g/skip") == NULL);
    gyre_run_destroy(run);
    gyre_run_destroy(NULL);
}

static void results_move_into_the_run(void)
{
    gyre_run *run = fake_run();
    gyre_result result = fake_measured("g/f", 1);

    fake_facts(&result);
    gyre_run_add(run, &result);
    CHECK(result.id == NULL && result.arena.blocks == NULL);
    REQUIRE(run->count == 1);
    CHECK(run->results[0].facts.owner == &run->results[0]);
    gyre_bench_count(&run->results[0].facts, "later", 1);
    CHECK(run->results[0].facts.count == 4);
    gyre_run_destroy(run);
}

static void run_describes_this_machine(void)
{
    static char gyre[] = "gyre", word[] = "bench";
    static char *const argv[] = {gyre, word, NULL};
    gyre_run *run;

    REQUIRE(gyre_run_create(0, 2, argv, &run) == GYRE_OK);
    CHECK(run->count == 0 && run->command_count == 2 && strcmp(run->command[1], "bench") == 0);
    CHECK(run->command[1] != word); /* stands on its own */
    CHECK(run->machine.cpus > 0 && run->machine.kernel[0] && run->machine.clock_source[0]);
    CHECK(run->started > 1700000000 && run->version[0] && run->method.sample_count == 100);
    gyre_run_destroy(run);
}

static const test_case cases[] = {
    TEST(everything_is_in_the_file),
    TEST(what_does_not_apply_is_absent),
    TEST(long_series_are_thinned_evenly),
    TEST(one_sample_of_a_series_can_be_asked_for),
    TEST(numbers_that_readers_lack_are_not_written),
    TEST(outcomes_are_counted_and_ids_found),
    TEST(results_move_into_the_run),
    TEST(run_describes_this_machine),
};
TEST_MAIN(cases)
