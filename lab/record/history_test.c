/* SPDX-License-Identifier: Apache-2.0
 *
 * What is kept and asked for again. Files that are damaged, locked or somebody else's are
 * history_damage_test.c's affair, writers that meet or are killed history_crash_test.c's.
 */
#include "record/history.h"

#include <math.h>

#include "record/history_fake.h"
#include "test.h"

static const gyre_history_query ALL = {0};

static void run_comes_back_as_it_was(void)
{
    const char *folder = fake_folder();
    gyre_run *run = fake_full_run();
    gyre_history *history;
    gyre_history_runs runs;
    const gyre_history_run *r;
    char key[GYRE_MACHINE_KEY_BYTES];
    uint64_t number;

    REQUIRE(gyre_history_open(folder, GYRE_HISTORY_WRITE, 0, &history) == GYRE_OK);
    REQUIRE(gyre_history_add(history, run, &number) == GYRE_OK);
    CHECK(number == 1);
    REQUIRE(gyre_history_list(history, &ALL, &runs) == GYRE_OK);
    REQUIRE(runs.count == 1);
    r = &runs.run[0];
    gyre_machine_key(&run->machine, key);
    CHECK(r->number == 1 && r->started == 1234567890 && r->duration_s == 65.658465777);
    CHECK(r->interrupted && fake_is(r->gyre, "0.1.0") && fake_is(r->build, "gcc"));
    CHECK(strstr(r->command, "\"sum\"") && strstr(r->options, "\"sample_count\": 11"));
    CHECK(strstr(r->settings, "\"GYRE_LOG\": \"info\""));
    CHECK(fake_is(r->commit, "1a2b3c") && fake_is(r->branch, "topic") && r->dirty);
    CHECK(fake_is(r->machine, key) && fake_is(r->cpu, "cpu") && fake_is(r->hypervisor, "KVM"));
    CHECK(fake_is(r->kernel, "6.1") && r->cpus == 8 && r->allowed_cpus == 4);
    CHECK(r->memory_bytes == 1024 && r->results == 5 && r->measured == 1 && r->failed == 1);
    gyre_history_runs_fini(&runs);
    gyre_history_close(history);
    gyre_run_destroy(run);
}

static void results_come_back_in_their_order(void)
{
    const char *folder = fake_folder();
    gyre_run *run = fake_full_run();
    gyre_history *history;
    gyre_history_points points;
    const gyre_history_point *p;
    uint64_t number;

    gyre_bench_note(&run->results[0].facts, "device", "H200");
    REQUIRE(gyre_history_open(folder, GYRE_HISTORY_WRITE, 0, &history) == GYRE_OK);
    REQUIRE(gyre_history_add(history, run, &number) == GYRE_OK);
    REQUIRE(gyre_history_series(history, &(gyre_history_query){.run = number}, &points) == GYRE_OK);
    REQUIRE(points.count == 5);
    p = points.point;
    CHECK(p->run == 1 && p->started == 1234567890 && fake_is(p->commit, "1a2b3c") && p->dirty);
    CHECK(p->position == 1 && fake_is(p->id, "g/full") && fake_is(p->suite, "s"));
    CHECK(fake_is(p->outcome, "measured") && fake_is(p->reason, NULL));
    CHECK(p->median_ns == 15.25 && p->low_ns == 15.25 - 0.1 && p->high_ns == 15.25 + 1 / 3.0);
    CHECK(p->coverage == 0.95 && p->min_ns == 14 && p->mean_ns == 1 && p->std_dev_ns == 3);
    CHECK(p->samples == FAKE_SAMPLES && p->threads == 4);
    CHECK(fake_is(p->device, "H200") && fake_is(p->device_clock, "CUDA events"));
    CHECK(p->cold_ns == 30 && p->hot_ns == 20 && p->peak_rss_bytes == 4096);
    CHECK(p->allocations == 1.5 && p->allocated_bytes == 96 && p->instructions == 123.5);
    CHECK(fake_is(p[1].id, "g/failed") && fake_is(p[1].outcome, "failed"));
    CHECK(fake_is(p[1].reason, "the check says that its answer is wrong"));
    CHECK(isnan(p[1].median_ns) && isnan(p[1].coverage) && isnan(p[1].cold_ns));
    CHECK(isnan(p[1].allocations) && isnan(p[1].instructions) && fake_is(p[1].device, NULL));
    CHECK(fake_is(p[2].outcome, "skipped") && fake_is(p[3].outcome, "checked"));
    CHECK(fake_is(p[4].outcome, "interrupted") && p[4].position == 5 && p[4].threads == 1);
    gyre_history_points_fini(&points);
    gyre_history_close(history);
    gyre_run_destroy(run);
}

static void series_is_of_one_benchmark_oldest_first(void)
{
    const char *folder = fake_folder();
    gyre_history *history;
    gyre_history_points points;

    for (int i = 0; i < 5; i++)
        REQUIRE(fake_history_add(folder, 3, 100 + i, 0) == (uint64_t)i + 1);
    REQUIRE(gyre_history_open(folder, GYRE_HISTORY_READ, 0, &history) == GYRE_OK);
    REQUIRE(gyre_history_series(history, &(gyre_history_query){.id = "g/1"}, &points) == GYRE_OK);
    REQUIRE(points.count == 5);
    for (size_t i = 0; i < 5; i++)
        CHECK(points.point[i].median_ns == 101 + (double)i && points.point[i].run == i + 1);
    gyre_history_points_fini(&points);
    REQUIRE(gyre_history_series(history, &(gyre_history_query){.id = "g/1", .most = 2}, &points) ==
            GYRE_OK);
    REQUIRE(points.count == 2);
    CHECK(points.point[0].run == 4 && points.point[1].run == 5); /* the newest */
    gyre_history_points_fini(&points);
    REQUIRE(gyre_history_series(history, &(gyre_history_query){.id = "g"}, &points) == GYRE_OK);
    CHECK(points.count == 0);
    gyre_history_points_fini(&points);
    REQUIRE(gyre_history_ids(history, &points) == GYRE_OK);
    REQUIRE(points.count == 3);
    CHECK(fake_is(points.point[0].id, "g/0") && fake_is(points.point[2].id, "g/2"));
    gyre_history_points_fini(&points);
    gyre_history_close(history);
}

/* Neighbours of the same text share it, and only those. */
static void names_that_begin_alike_stay_apart(void)
{
    const char *folder = fake_folder();
    gyre_run *run = fake_history_run(4, 10);
    gyre_history_points points;
    gyre_history *history;
    uint64_t number;

    run->results[0].id = "g/a";
    run->results[1].id = "g/ab";
    run->results[2].id = "g/abc";
    run->results[3].id = "g/a ";
    REQUIRE(gyre_history_open(folder, GYRE_HISTORY_WRITE, 0, &history) == GYRE_OK);
    REQUIRE(gyre_history_add(history, run, &number) == GYRE_OK);
    REQUIRE(gyre_history_series(history, &ALL, &points) == GYRE_OK);
    REQUIRE(points.count == 4);
    for (size_t i = 0; i < 4; i++)
        CHECK(fake_is(points.point[i].id, run->results[i].id) &&
              fake_is(points.point[i].suite, "s"));
    gyre_history_points_fini(&points);
    gyre_history_close(history);
    gyre_run_destroy(run);
}

static void only_what_was_measured_is_in_a_measured_series(void)
{
    const char *folder = fake_folder();
    gyre_run *run = fake_full_run();
    gyre_history *history;
    gyre_history_points points;
    uint64_t number;

    fake_samples(&run->results[3], &run->results[3].time.samples, 10, 1);
    run->results[3].outcome = GYRE_OUTCOME_MEASURED; /* in no time: there is no ratio to it */
    REQUIRE(gyre_history_open(folder, GYRE_HISTORY_WRITE, 0, &history) == GYRE_OK);
    REQUIRE(gyre_history_add(history, run, &number) == GYRE_OK);
    REQUIRE(gyre_history_series(history, &(gyre_history_query){.measured = true}, &points) ==
            GYRE_OK);
    CHECK(points.count == 1 && fake_is(points.point[0].id, "g/full"));
    gyre_history_points_fini(&points);
    gyre_history_close(history);
    gyre_run_destroy(run);
}

static void machines_are_kept_apart(void)
{
    const char *folder = fake_folder();
    gyre_run *run = fake_history_run(1, 10);
    char one[GYRE_MACHINE_KEY_BYTES], two[GYRE_MACHINE_KEY_BYTES];
    gyre_history *history;
    gyre_history_runs runs;
    gyre_history_points points;
    uint64_t number;

    REQUIRE(gyre_history_open(folder, GYRE_HISTORY_WRITE, 0, &history) == GYRE_OK);
    REQUIRE(gyre_history_add(history, run, &number) == GYRE_OK);
    gyre_machine_key(&run->machine, one);
    run->machine.cpus = 9;
    run->started += 10;
    gyre_machine_key(&run->machine, two);
    REQUIRE(gyre_history_add(history, run, &number) == GYRE_OK);
    REQUIRE(gyre_history_list(history, &(gyre_history_query){.machine = two}, &runs) == GYRE_OK);
    CHECK(runs.count == 1 && runs.run[0].number == 2);
    gyre_history_runs_fini(&runs);
    REQUIRE(gyre_history_series(history, &(gyre_history_query){.machine = one}, &points) ==
            GYRE_OK);
    CHECK(points.count == 1 && points.point[0].run == 1);
    gyre_history_points_fini(&points);
    REQUIRE(gyre_history_list(history, &(gyre_history_query){.since = run->started}, &runs) ==
            GYRE_OK);
    CHECK(runs.count == 1 && runs.run[0].number == 2);
    gyre_history_runs_fini(&runs);
    gyre_history_close(history);
    gyre_run_destroy(run);
}

static void key_is_of_the_processor_and_nothing_that_an_update_changes(void)
{
    gyre_run_machine machine = {.cpu = "a", .hypervisor = "b", .cpus = 2, .kernel = "6.1"};
    char first[GYRE_MACHINE_KEY_BYTES], other[GYRE_MACHINE_KEY_BYTES];

    gyre_machine_key(&machine, first);
    CHECK(strlen(first) == 8 && strspn(first, "0123456789abcdef") == 8);
    machine.kernel = "6.2";
    machine.memory_bytes = 1;
    machine.clock_cost_ns = 3;
    gyre_machine_key(&machine, other);
    CHECK(strcmp(first, other) == 0);
    machine.hypervisor = NULL;
    gyre_machine_key(&machine, other);
    CHECK(strcmp(first, other) != 0);
    machine.cpu = "ab"; /* not the same letters in another place */
    machine.hypervisor = "";
    gyre_machine_key(&machine, other);
    CHECK(strcmp(first, other) != 0);
}

static void same_run_is_found_again(void)
{
    const char *folder = fake_folder();
    gyre_run *run = fake_history_run(2, 10);
    gyre_history *history;
    uint64_t number, found;

    REQUIRE(gyre_history_open(folder, GYRE_HISTORY_WRITE, 0, &history) == GYRE_OK);
    REQUIRE(gyre_history_find(history, run, &found) == GYRE_OK);
    CHECK(found == 0);
    REQUIRE(gyre_history_add(history, run, &number) == GYRE_OK);
    REQUIRE(gyre_history_find(history, run, &found) == GYRE_OK);
    CHECK(found == number);
    run->duration_s += 1e-9;
    REQUIRE(gyre_history_find(history, run, &found) == GYRE_OK);
    CHECK(found == 0);
    gyre_history_close(history);
    gyre_run_destroy(run);
}

static void run_that_does_not_fit_is_not_kept_in_part(void)
{
    char folder[64];
    gyre_run *run = fake_history_run(3, 10);
    gyre_history *history;
    uint64_t number;

    snprintf(folder, sizeof folder, "%s", fake_folder());
    REQUIRE(fake_history_add(folder, 3, 10, 0) == 1);
    run->results[2].id = run->results[0].id; /* twice, which no run has */
    REQUIRE(gyre_history_open(folder, GYRE_HISTORY_WRITE, 0, &history) == GYRE_OK);
    CHECK(gyre_history_add(history, run, &number) == GYRE_IO && number == 0);
    CHECK(fake_error_says("UNIQUE constraint failed"));
    run->results[2].id = "g/2";
    CHECK(gyre_history_add(history, run, &number) == GYRE_OK &&
          number == 2); /* nothing is left open */
    gyre_history_close(history);
    CHECK(fake_runs_in(folder) == 2);
    CHECK(fake_is(fake_sql(fake_db(folder), "SELECT count(*) FROM result"), "6"));
    gyre_run_destroy(run);
}

static void folder_may_look_like_an_address(void)
{
    static const char name[] = "file:odd?mode=memory";
    char before[PATH_MAX];

    REQUIRE(getcwd(before, sizeof before) && chdir(fake_folder()) == 0);
    REQUIRE(mkdir(name, 0777) == 0);
    CHECK(fake_history_add(name, 1, 1, 0) == 1);
    CHECK(fake_runs_in(name) == 1 && access("file:odd?mode=memory/history.db", F_OK) == 0);
    REQUIRE(chdir(before) == 0);
}

static const test_case cases[] = {
    TEST(run_comes_back_as_it_was),
    TEST(results_come_back_in_their_order),
    TEST(series_is_of_one_benchmark_oldest_first),
    TEST(names_that_begin_alike_stay_apart),
    TEST(only_what_was_measured_is_in_a_measured_series),
    TEST(machines_are_kept_apart),
    TEST(key_is_of_the_processor_and_nothing_that_an_update_changes),
    TEST(same_run_is_found_again),
    TEST(run_that_does_not_fit_is_not_kept_in_part),
    TEST(folder_may_look_like_an_address),
};
FAKE_ROOT_MAIN(cases)
