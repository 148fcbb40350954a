/* SPDX-License-Identifier: Apache-2.0
 *
 * The harness under a clock that the benchmark itself moves, so every number is known.
 */
#include "bench/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "test.h"

static uint64_t clock_ns;       /* what the harness reads */
static uint64_t cost_ns = 100;  /* of one iteration */
static uint64_t iterations_run; /* since set-up */
static int set_ups, teardowns;
static bool answer = true;
static gyre_status setup_status;
static bool setup_says_why = true;
static volatile sig_atomic_t interrupted;
static uint64_t interrupt_at; /* iterations; 0 never */

static uint64_t now_ns(void)
{
    return clock_ns;
}

static gyre_status setup(const gyre_bench_case *c, void **out_fixture)
{
    (void)c;
    iterations_run = 0;
    set_ups++;
    *out_fixture = &iterations_run;
    if (setup_status != GYRE_OK && setup_says_why)
        return gyre_bench_refuse(setup_status, "no such thing %s", "here");
    return setup_status;
}

static void run(void *fixture, uint64_t iterations)
{
    *(uint64_t *)fixture += iterations;
    clock_ns += iterations * cost_ns;
    if (interrupt_at && iterations_run >= interrupt_at)
        interrupted = 1;
}

static bool check(const void *fixture, uint64_t iterations)
{
    return answer && *(const uint64_t *)fixture == iterations;
}

static void teardown(void *fixture)
{
    (void)fixture;
    teardowns++;
}

static uint64_t seven(const gyre_bench_case *c)
{
    (void)c;
    return 7;
}

static const gyre_suite suite = {sizeof(gyre_bench), "s", NULL, 0};
static const gyre_bench_case a_case = {
    .suite = &suite,
    .bench = {.name = "g/f",
              .t0 = "a",
              .t1 = "b",
              .observer = "c",
              .setup = setup,
              .run = run,
              .check = check,
              .teardown = teardown,
              .items = seven},
    .id = "g/f",
};

static const gyre_measure_options usual = {.sample_count = 20,
                                           .warm_up_ns = 100000,
                                           .measurement_ns = 2000000,
                                           .now_ns = now_ns,
                                           .interrupted = &interrupted};

static gyre_result result;

static void reset(void)
{
    gyre_result_fini(&result);
    cost_ns = 100;
    set_ups = teardowns = 0;
    answer = true;
    setup_status = GYRE_OK;
    interrupted = 0;
    interrupt_at = 0;
}

static void samples_are_flat_and_fill_the_time(void)
{
    reset();
    REQUIRE(gyre_measure(&a_case, &usual, &result) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_MEASURED);
    CHECK(result.sample_count == 20);
    CHECK(result.iterations == 1000); /* 2 ms / 20 samples / 100 ns */
    for (size_t i = 0; i < result.sample_count; i++)
        CHECK(result.times_ns[i] == 100000);
    CHECK(result.median_ns == 100 && result.ns.low == 100 && result.ns.high == 100);
    CHECK(result.ns.coverage >= 0.95);
    CHECK(result.items == 7 && result.bytes == 0);
    CHECK(set_ups == 1 && teardowns == 1);
}

static void warm_up_lasts_as_long_as_asked(void)
{
    reset();
    REQUIRE(gyre_measure(&a_case, &usual, &result) == GYRE_OK);
    /* batches of 1, 2, 4, ... until 100 us are spent: 1023 iterations; then 20 samples of 1000 */
    CHECK(iterations_run == 1023 + 20 * 1000);
}

static void slow_benchmark_gets_fewer_samples(void)
{
    reset();
    cost_ns = 150000; /* longer than one sample's share of 100 us */
    REQUIRE(gyre_measure(&a_case, &usual, &result) == GYRE_OK);
    CHECK(result.iterations == 1 && result.sample_count == 13);
    reset();
    cost_ns = 5000000; /* longer than everything */
    REQUIRE(gyre_measure(&a_case, &usual, &result) == GYRE_OK);
    CHECK(result.iterations == 1 && result.sample_count == GYRE_LEAST_SAMPLES);
}

static void wrong_answer_fails(void)
{
    reset();
    answer = false;
    REQUIRE(gyre_measure(&a_case, &usual, &result) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_FAILED);
    CHECK(strstr(result.reason, "answer is wrong") != NULL);
    CHECK(teardowns == 1);
}

static void run_that_takes_no_time_fails(void)
{
    reset();
    cost_ns = 0;
    REQUIRE(gyre_measure(&a_case, &usual, &result) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_FAILED);
    CHECK(strstr(result.reason, "nothing was timed") != NULL);
    CHECK(teardowns == 1);
}

static void absent_device_skips_with_the_reason(void)
{
    reset();
    setup_status = GYRE_UNAVAILABLE;
    REQUIRE(gyre_measure(&a_case, &usual, &result) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_SKIPPED);
    CHECK(strcmp(result.reason, "no such thing here") == 0);
    CHECK(teardowns == 0);
}

static void failed_setup_fails_with_the_reason(void)
{
    reset();
    setup_status = GYRE_IO;
    REQUIRE(gyre_measure(&a_case, &usual, &result) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_FAILED);
    CHECK(strcmp(result.reason, "set-up failed: no such thing here") == 0);
    setup_says_why = false; /* and the reason of the case before is not taken for its own */
    REQUIRE(gyre_measure(&a_case, &usual, &result) == GYRE_OK);
    CHECK(strcmp(result.reason, "set-up failed: i/o") == 0);
    setup_says_why = true;
}

static void interrupt_ends_the_case_and_tears_down(void)
{
    reset();
    interrupt_at = 1; /* while warming up */
    REQUIRE(gyre_measure(&a_case, &usual, &result) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_INTERRUPTED && teardowns == 1);
    reset();
    interrupt_at = 3000; /* while sampling */
    REQUIRE(gyre_measure(&a_case, &usual, &result) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_INTERRUPTED && teardowns == 1);
    CHECK(strstr(result.reason, "sampling") != NULL);
}

static void interrupt_during_the_last_sample_is_no_wrong_answer(void)
{
    gyre_measure_options options = usual;

    reset();
    options.once = true;
    interrupt_at = 1;
    answer = false;
    REQUIRE(gyre_measure(&a_case, &options, &result) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_INTERRUPTED && teardowns == 1);
}

/* With hardly any address space left the samples find no room. */
static void want_of_memory_is_a_failure_without_samples(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    SKIP("a sanitizer needs the address space for itself");
#else
    gyre_measure_options options = usual;
    struct rlimit before, tight;
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    gyre_status status;

    reset();
    REQUIRE(statm && fscanf(statm, "%lu", &pages) == 1);
    fclose(statm);
    options.sample_count = GYRE_MOST_SAMPLES; /* 800 KB */
    REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
    tight = before;
    tight.rlim_cur = (pages + 64) * (unsigned long)sysconf(_SC_PAGESIZE);
    REQUIRE(setrlimit(RLIMIT_AS, &tight) == 0);
    status = gyre_measure(&a_case, &options, &result);
    REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
    CHECK(status == GYRE_NO_MEMORY);
    CHECK(result.outcome == GYRE_OUTCOME_FAILED && strstr(result.reason, "no memory"));
    CHECK(!result.times_ns && result.sample_count == 0 && teardowns == 1);
#endif
}

static void once_runs_one_iteration_and_checks(void)
{
    gyre_measure_options options = usual;

    reset();
    options.once = true;
    REQUIRE(gyre_measure(&a_case, &options, &result) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_CHECKED && iterations_run == 1);
    answer = false;
    REQUIRE(gyre_measure(&a_case, &options, &result) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_FAILED);
    reset();
}

static void defaults_are_filled_in_and_bounded(void)
{
    const gyre_measure_options odd = {.sample_count = 3, .confidence = 7};
    const gyre_measure_options with = gyre_measure_defaults(&odd);

    CHECK(with.sample_count == GYRE_LEAST_SAMPLES && with.confidence == 0.95);
    CHECK(with.warm_up_ns > 0 && with.measurement_ns > 0 && with.now_ns);
    CHECK(gyre_measure_defaults(NULL).sample_count == 100);
}

static const test_case cases[] = {
    TEST(samples_are_flat_and_fill_the_time),
    TEST(warm_up_lasts_as_long_as_asked),
    TEST(slow_benchmark_gets_fewer_samples),
    TEST(wrong_answer_fails),
    TEST(run_that_takes_no_time_fails),
    TEST(absent_device_skips_with_the_reason),
    TEST(failed_setup_fails_with_the_reason),
    TEST(interrupt_ends_the_case_and_tears_down),
    TEST(interrupt_during_the_last_sample_is_no_wrong_answer),
    TEST(want_of_memory_is_a_failure_without_samples),
    TEST(once_runs_one_iteration_and_checks),
    TEST(defaults_are_filled_in_and_bounded),
};
TEST_MAIN(cases)
