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
static uint64_t prepared;       /* iterations, and not used yet */
static uint64_t largest_batch;
static int set_ups, teardowns, tells;
static bool answer = true, answer_says_why;
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
    if (!answer && answer_says_why)
        (void)gyre_bench_refuse(GYRE_INVALID, "it gave up");
    return answer && *(const uint64_t *)fixture == iterations;
}

static void tell(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    tells += *(const uint64_t *)fixture == iterations;
    gyre_bench_count(facts, "lost", 1);
    gyre_bench_count(facts, "lost", 3);
    gyre_bench_note(facts, "kernel", "plain");
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

#define A_BENCH(body)                                                                              \
    .name = "g/f", .t0 = "a", .t1 = "b", .observer = "c", .setup = setup, .run = body,             \
    .check = check, .teardown = teardown, .items = seven, .tell = tell, .tags = GYRE_TAG_CPU

static const gyre_bench_case a_case = {.suite = "s", .bench = {A_BENCH(run)}, .id = "g/f"};

static const gyre_method usual = {.sampling = GYRE_SAMPLING_FLAT,
                                  .sample_count = 20,
                                  .warm_up_ns = 100000,
                                  .measurement_ns = 2000000,
                                  .resamples = 200};
static const gyre_watch watch = {.now_ns = now_ns, .interrupted = &interrupted};

static gyre_result result;

static gyre_status measure(const gyre_bench_case *c, const gyre_method *method)
{
    gyre_result_fini(&result);
    return gyre_measure(c, method, &watch, &result);
}

static void reset(void)
{
    gyre_result_fini(&result);
    cost_ns = 100;
    set_ups = teardowns = tells = 0;
    prepared = largest_batch = 0;
    answer = true;
    answer_says_why = false;
    setup_status = GYRE_OK;
    interrupted = 0;
    interrupt_at = 0;
}

static void flat_samples_fill_the_time(void)
{
    reset();
    REQUIRE(measure(&a_case, &usual) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_MEASURED);
    REQUIRE(result.time.samples.count == 20 && !result.time.samples.linear);
    for (size_t i = 0; i < 20; i++)
        CHECK(result.time.samples.times_ns[i] == 100000 &&
              result.time.samples.iterations[i] == 1000); /* 2 ms / 20 samples / 100 ns */
    CHECK(result.time.median_ns == 100 && result.time.ns.low == 100 && result.time.ns.high == 100);
    CHECK(result.mean.point == 100 && result.std_dev.point == 0 && result.min_ns == 100);
    CHECK(result.items == 7 && result.bytes == 0 && result.threads == 1);
    CHECK(set_ups == 1 && teardowns == 1);
}

static void linear_samples_grow_by_one_step(void)
{
    gyre_method method = usual;

    reset();
    method.sampling = GYRE_SAMPLING_LINEAR;
    REQUIRE(measure(&a_case, &method) == GYRE_OK);
    REQUIRE(result.time.samples.count == 20 && result.time.samples.linear);
    /* 2 ms / 100 ns / (20 * 21 / 2) = 95.2 */
    for (size_t i = 0; i < 20; i++)
        CHECK(result.time.samples.iterations[i] == 96 * (i + 1));
    CHECK(result.slope.point == 100 && result.slope.low == 100);
}

static void auto_is_flat_where_linear_would_take_too_long(void)
{
    gyre_method method = usual;

    reset();
    method.sampling = GYRE_SAMPLING_AUTO;
    REQUIRE(measure(&a_case, &method) == GYRE_OK);
    CHECK(result.time.samples.linear);
    reset();
    cost_ns = 20000; /* 210 of them are twice the time: still allowed */
    REQUIRE(measure(&a_case, &method) == GYRE_OK);
    CHECK(!result.time.samples.linear);
}

static void warm_up_lasts_as_long_as_asked(void)
{
    reset();
    REQUIRE(measure(&a_case, &usual) == GYRE_OK);
    /* batches of 1, 2, 4, ... until 100 us are spent: 1023 iterations; then 20 samples of 1000 */
    CHECK(iterations_run == 1023 + 20 * 1000);
}

static uint64_t hiccup_ns; /* taken from the first call */

static void run_with_a_hiccup(void *fixture, uint64_t iterations)
{
    clock_ns += hiccup_ns;
    hiccup_ns = 0;
    run(fixture, iterations);
}

static void interruption_does_not_set_the_pace(void)
{
    const gyre_bench_case c = {.suite = "s", .bench = {A_BENCH(run_with_a_hiccup)}, .id = "g/f"};

    reset();
    hiccup_ns = 4000000; /* longer than the whole warm-up: forty times */
    REQUIRE(measure(&c, &usual) == GYRE_OK);
    CHECK(result.time.samples.count == 20 && result.time.samples.iterations[0] == 1000);
}

static uint64_t now_in_microseconds(void)
{
    return clock_ns / 1000 * 1000;
}

static void hiccup_while_warming_up(void *user, const char *phase, uint64_t left_ns)
{
    (void)user;
    (void)left_ns;
    if (strcmp(phase, "warming up") != 0)
        return;
    clock_ns += hiccup_ns;
    hiccup_ns = 0;
}

static void batches_too_short_to_be_timed_do_not_end_the_warm_up(void)
{
    const gyre_watch coarse = {.now_ns = now_in_microseconds,
                               .progress = hiccup_while_warming_up,
                               .interrupted = &interrupted};

    reset();
    clock_ns = 0;
    hiccup_ns =
        4000000; /* the warm-up is over before batches of 1, 2 and 4, and these take 700 ns */
    REQUIRE(gyre_measure(&a_case, &usual, &coarse, &result) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_MEASURED && result.time.samples.count == 20);
    CHECK(result.time.samples.iterations[0] <= 2000); /* 1000 by a clock that is not coarse */
}

static void slow_benchmark_gets_fewer_samples(void)
{
    reset();
    cost_ns = 150000; /* longer than one sample's share of 100 us */
    REQUIRE(measure(&a_case, &usual) == GYRE_OK);
    CHECK(result.time.samples.iterations[0] == 1 && result.time.samples.count == 13);
    reset();
    cost_ns = 5000000; /* longer than everything */
    REQUIRE(measure(&a_case, &usual) == GYRE_OK);
    CHECK(result.time.samples.count == GYRE_LEAST_SAMPLES);
}

static void precision_ends_sampling_early_when_it_is_reached(void)
{
    gyre_method method = usual;

    reset();
    method.sample_count = 100;
    method.precision = 0.01;
    REQUIRE(measure(&a_case, &method) == GYRE_OK); /* the fake clock is as precise as can be */
    CHECK(result.time.samples.count == 32 && !result.time.samples.linear);
    CHECK(result.warning_count == 0);
}

/* Iterations cost 100 or 300, by a generator that is always the same: no interval is narrow. */
static void run_unsteadily(void *fixture, uint64_t iterations)
{
    static uint32_t state = 1;

    state = state * 1664525 + 1013904223;
    *(uint64_t *)fixture += iterations;
    clock_ns += iterations * (state >> 31 ? 100 : 300);
}

static void precision_that_is_not_reached_is_said(void)
{
    const gyre_bench_case c = {.suite = "s", .bench = {A_BENCH(run_unsteadily)}, .id = "g/f"};
    gyre_method method = usual;

    reset();
    method.precision = 0.0001;
    REQUIRE(measure(&c, &method) == GYRE_OK);
    CHECK(result.time.samples.count == 200); /* ten times as many, and no more */
    REQUIRE(result.warning_count > 0);
    CHECK(strstr(result.warnings[result.warning_count - 1], "either side, not 0.01 %") != NULL);
}

static void unsteady_samples_are_warned_about(void)
{
    const gyre_bench_case c = {.suite = "s", .bench = {A_BENCH(run_unsteadily)}, .id = "g/f"};

    reset();
    REQUIRE(measure(&c, &usual) == GYRE_OK);
    REQUIRE(result.warning_count == 1);
    CHECK(strncmp(result.warnings[0], "the samples vary by ", 20) == 0);
}

static void wrong_answer_fails(void)
{
    reset();
    answer = false;
    REQUIRE(measure(&a_case, &usual) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_FAILED);
    CHECK(strstr(result.reason, "answer is wrong") != NULL);
    CHECK(teardowns == 1 && tells == 0);
}

static void run_that_takes_no_time_fails(void)
{
    reset();
    cost_ns = 0;
    REQUIRE(measure(&a_case, &usual) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_FAILED);
    CHECK(strstr(result.reason, "nothing was timed") != NULL);
    CHECK(teardowns == 1);
}

static void run_that_gives_up_fails_with_the_reason_of_its_check(void)
{
    reset();
    cost_ns = 0;
    answer = false;
    answer_says_why = true;
    REQUIRE(measure(&a_case, &usual) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_FAILED);
    CHECK(strcmp(result.reason, "the check says that its answer is wrong: it gave up") == 0);
    CHECK(teardowns == 1 && tells == 0);
}

/* In turns with a side that has arrived and waits. */
static void measure_in_turns(void)
{
    const gyre_method method = {.purpose = GYRE_PURPOSE_TURNS};
    gyre_turns turns = {.side = GYRE_TURN_OLD};
    const gyre_watch both = {.now_ns = now_ns, .interrupted = &interrupted, .turns = &turns};
    int fd;

    REQUIRE(gyre_baton_create(0, &fd, &turns.baton) == GYRE_OK);
    close(fd);
    gyre_baton_arrive(turns.baton, GYRE_TURN_NEW);
    gyre_result_fini(&result);
    REQUIRE(gyre_measure(&a_case, &method, &both, &result) == GYRE_OK);
    CHECK(turns.baton->turn == GYRE_TURN_OVER);
    gyre_baton_close(turns.baton);
}

static void in_turns_the_check_is_asked_first_as_well(void)
{
    reset();
    cost_ns = 0;
    measure_in_turns();
    CHECK(result.outcome == GYRE_OUTCOME_FAILED);
    CHECK(strstr(result.reason, "nothing was timed") != NULL);
    reset();
    cost_ns = 0;
    answer = false;
    answer_says_why = true;
    measure_in_turns();
    CHECK(result.outcome == GYRE_OUTCOME_FAILED);
    CHECK(strstr(result.reason, "it gave up") != NULL);
    CHECK(teardowns == 1 && tells == 0);
}

static void absent_device_skips_with_the_reason(void)
{
    reset();
    setup_status = GYRE_UNAVAILABLE;
    REQUIRE(measure(&a_case, &usual) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_SKIPPED);
    CHECK(strcmp(result.reason, "no such thing here") == 0);
    CHECK(teardowns == 0);
}

static void failed_setup_fails_with_the_reason(void)
{
    reset();
    setup_status = GYRE_IO;
    REQUIRE(measure(&a_case, &usual) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_FAILED);
    CHECK(strcmp(result.reason, "set-up failed: no such thing here") == 0);
    setup_says_why = false; /* and the reason of the case before is not taken for its own */
    REQUIRE(measure(&a_case, &usual) == GYRE_OK);
    CHECK(strcmp(result.reason, "set-up failed: i/o") == 0);
    setup_says_why = true;
}

static void interrupt_ends_the_case_and_tears_down(void)
{
    reset();
    interrupt_at = 1; /* while warming up */
    REQUIRE(measure(&a_case, &usual) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_INTERRUPTED && teardowns == 1);
    reset();
    interrupt_at = 3000; /* while sampling */
    REQUIRE(measure(&a_case, &usual) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_INTERRUPTED && teardowns == 1);
    CHECK(strstr(result.reason, "sampling") != NULL);
}

static void interrupt_during_the_last_sample_is_no_wrong_answer(void)
{
    gyre_method method = usual;

    reset();
    method.purpose = GYRE_PURPOSE_CHECK;
    interrupt_at = 1;
    answer = false;
    REQUIRE(measure(&a_case, &method) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_INTERRUPTED && teardowns == 1);
}

/* With hardly any address space left the samples find no room. */
static void want_of_memory_is_a_failure_without_samples(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    SKIP("a sanitizer needs the address space for itself");
#else
    gyre_method method = usual;
    struct rlimit before, tight;
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    gyre_status status;

    reset();
    REQUIRE(statm && fscanf(statm, "%lu", &pages) == 1);
    fclose(statm);
    method.sample_count = GYRE_MOST_SAMPLES; /* 800 KB */
    REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
    tight = before;
    tight.rlim_cur = (pages + 64) * (unsigned long)sysconf(_SC_PAGESIZE);
    REQUIRE(setrlimit(RLIMIT_AS, &tight) == 0);
    status = measure(&a_case, &method);
    REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
    CHECK(status == GYRE_NO_MEMORY);
    CHECK(result.outcome == GYRE_OUTCOME_FAILED && strstr(result.reason, "out of memory"));
    CHECK(result.time.samples.count == 0 && teardowns == 1);
#endif
}

static void check_runs_one_iteration(void)
{
    gyre_method method = usual;

    reset();
    method.purpose = GYRE_PURPOSE_CHECK;
    REQUIRE(measure(&a_case, &method) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_CHECKED && iterations_run == 1);
    answer = false;
    REQUIRE(measure(&a_case, &method) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_FAILED);
}

static void profile_runs_for_the_time_and_keeps_nothing(void)
{
    gyre_method method = usual;

    reset();
    method.purpose = GYRE_PURPOSE_PROFILE;
    method.profile_ns = 50000000;
    REQUIRE(measure(&a_case, &method) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_CHECKED && result.time.samples.count == 0);
    CHECK(iterations_run * 100 >= 50000000 && iterations_run * 100 < 100000000);
}

static void benchmark_tells_numbers_and_texts(void)
{
    reset();
    REQUIRE(measure(&a_case, &usual) == GYRE_OK);
    REQUIRE(result.facts.count == 2 && tells == 1);
    CHECK(strcmp(result.facts.fact[0].name, "lost") == 0 && result.facts.fact[0].number == 3);
    CHECK(strcmp(result.facts.fact[1].text, "plain") == 0);
}

static void prepare(void *fixture, uint64_t iterations)
{
    (void)fixture;
    prepared += iterations;
    largest_batch = iterations > largest_batch ? iterations : largest_batch;
    clock_ns += 10 * iterations; /* it takes as long as the work, and is not timed */
}

static void run_prepared(void *fixture, uint64_t iterations)
{
    answer = answer && prepared == iterations;
    prepared -= iterations;
    run(fixture, iterations);
}

static void preparing_is_not_timed_and_comes_in_batches(void)
{
    gyre_bench_case c = {
        .suite = "s", .bench = {A_BENCH(run_prepared), .prepare = prepare}, .id = "g/f"};

    reset();
    cost_ns = 10; /* samples of 5000 iterations: preparing has its share of the time */
    REQUIRE(measure(&c, &usual) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_MEASURED);
    CHECK(result.time.median_ns == 10 && largest_batch == 500);
    reset();
    cost_ns = 10;
    c.bench.batch = GYRE_BATCH_LARGE;
    REQUIRE(measure(&c, &usual) == GYRE_OK);
    CHECK(largest_batch == 5 && result.outcome == GYRE_OUTCOME_MEASURED);
    reset();
    c.bench.batch = GYRE_BATCH_EACH;
    REQUIRE(measure(&c, &usual) == GYRE_OK);
    CHECK(largest_batch == 1 && result.outcome == GYRE_OUTCOME_MEASURED);
}

/* A call costs 100 ns, every hundredth 10 us. */
static void run_with_a_tail(void *fixture, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++)
        clock_ns += ++*(uint64_t *)fixture % 100 == 0 ? 10000 : 100;
}

static void latency_has_percentiles_of_single_calls(void)
{
    const gyre_bench_case c = {.suite = "s", .bench = {A_BENCH(run_with_a_tail)}, .id = "g/f"};
    gyre_method method = usual;

    reset();
    method.latency = true;
    REQUIRE(measure(&c, &method) == GYRE_OK);
    REQUIRE(result.outcome == GYRE_OUTCOME_MEASURED && result.latency.quantile_count == 4);
    CHECK(result.latency.count > 5000 && result.latency.rate_hz == 0);
    CHECK(result.latency.quantile[0].p == 0.5 && result.latency.quantile[0].ns == 100);
    CHECK(result.latency.quantile[1].ns == 100 && result.latency.quantile[3].ns == 10000);
    CHECK(result.latency.quantile[3].interval.low == 10000 && result.latency.max_ns == 10000);
}

static void latency_leaves_preparing_out(void)
{
    const gyre_bench_case c = {
        .suite = "s", .bench = {A_BENCH(run_prepared), .prepare = prepare}, .id = "g/f"};
    gyre_method method = usual;

    reset();
    method.latency = true;
    REQUIRE(measure(&c, &method) == GYRE_OK);
    REQUIRE(result.outcome == GYRE_OUTCOME_MEASURED && result.latency.count > 1000);
    CHECK(result.latency.quantile[0].ns == 100 && result.latency.max_ns == 100);
}

static void rate_that_cannot_be_kept_is_said(void)
{
    gyre_method method = usual;

    reset();
    method.rate_hz = 1e8;
    method.latency = true;
    REQUIRE(measure(&a_case, &method) == GYRE_OK);
    REQUIRE(result.warning_count == 1);
    CHECK(strstr(result.warnings[0], "calls that were due could be made") != NULL);
}

static void rate_too_low_for_the_time_is_no_hang(void)
{
    gyre_method method = usual;

    reset();
    method.rate_hz = 1;
    method.latency = true;
    REQUIRE(measure(&a_case, &method) == GYRE_OK);
    CHECK(result.latency.count == 1 && result.outcome == GYRE_OUTCOME_MEASURED);
}

/* Calls are due every 100 ns and take 150: the n-th is late by n * 50 before it begins. */
static void open_loop_counts_from_when_a_call_was_due(void)
{
    gyre_method method = usual;

    reset();
    method.latency = true;
    method.rate_hz = 1e7;
    method.measurement_ns = 15000;
    cost_ns = 150;
    REQUIRE(measure(&a_case, &method) == GYRE_OK);
    REQUIRE(result.latency.count == 100);
    for (size_t i = 0; i < 100; i++)
        CHECK(result.latency.calls_ns[i] == 150 + 50 * (double)i);
}

static uint64_t device_ns; /* handed in since begin */
static int flushes;
static uint64_t flush_ns; /* what one costs */
static gyre_status clock_status;

static gyre_status device_begin(void *fixture)
{
    (void)fixture;
    clock_ns += 3000; /* holding the device back costs the host, and is nobody's time */
    device_ns = 0;
    return GYRE_OK;
}

static gyre_status device_end(void *fixture)
{
    (void)fixture;
    return GYRE_OK;
}

static gyre_status device_read(void *fixture, double *out_ns)
{
    (void)fixture;
    clock_ns += 5000 + device_ns; /* waiting, and what it costs to wait */
    *out_ns = (double)device_ns;
    device_ns = 0;
    return clock_status == GYRE_OK ? GYRE_OK : gyre_bench_refuse(clock_status, "it fell off");
}

static bool cold;

static gyre_status device_flush(void *fixture)
{
    (void)fixture;
    cold = true;
    flushes++;
    clock_ns += flush_ns;
    return GYRE_OK;
}

static void run_on_device(void *fixture, uint64_t iterations)
{
    *(uint64_t *)fixture += iterations;
    device_ns += iterations * 1000 + (cold ? 700 : 0);
    cold = false;
    clock_ns += 50 * iterations; /* handing in */
}

static const gyre_bench_clock device_clock = {"fake events", device_begin, device_end, device_read,
                                              device_flush};

static void suites_clock_gives_cold_hot_and_end_to_end(void)
{
    const gyre_bench_case c = {
        .suite = "s", .clock = &device_clock, .bench = {A_BENCH(run_on_device)}, .id = "g/f"};

    reset();
    clock_status = GYRE_OK;
    flushes = 0;
    REQUIRE(measure(&c, &usual) == GYRE_OK);
    REQUIRE(result.outcome == GYRE_OUTCOME_MEASURED);
    CHECK(strcmp(result.device_clock, "fake events") == 0);
    CHECK(result.time.median_ns == 50 + 5000 + 1000);
    CHECK(result.cold.median_ns == 1700 && result.cold.samples.iterations[0] == 1);
    CHECK(result.hot.median_ns == 1000 && result.hot.samples.iterations[0] > 1);
    CHECK(flushes == (int)result.cold.samples.count);
}

static void device_that_is_slow_to_flush_has_fewer_cold_samples(void)
{
    const gyre_bench_case c = {
        .suite = "s", .clock = &device_clock, .bench = {A_BENCH(run_on_device)}, .id = "g/f"};

    reset();
    flushes = 0;
    flush_ns = usual.measurement_ns;
    REQUIRE(measure(&c, &usual) == GYRE_OK);
    flush_ns = 0;
    CHECK(result.outcome == GYRE_OUTCOME_MEASURED && result.cold.median_ns == 1700);
    CHECK(flushes == GYRE_LEAST_SAMPLES && result.cold.samples.count == GYRE_LEAST_SAMPLES);
    CHECK(result.time.samples.count > GYRE_LEAST_SAMPLES);
}

static void clock_that_fails_fails_the_case(void)
{
    const gyre_bench_case c = {
        .suite = "s", .clock = &device_clock, .bench = {A_BENCH(run_on_device)}, .id = "g/f"};

    reset();
    clock_status = GYRE_DEVICE_LOST;
    REQUIRE(measure(&c, &usual) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_FAILED && teardowns == 1);
    CHECK(strcmp(result.reason, "its clock failed: it fell off") == 0);
    clock_status = GYRE_OK;
}

static gyre_health health, health_after_reset;
static int resets;

static gyre_health healthy(char *why, size_t size)
{
    snprintf(why, size, "too hot");
    return health;
}

static gyre_status reset_device(void)
{
    resets++;
    health = health_after_reset;
    return GYRE_OK;
}

static const gyre_bench_guard guard = {healthy, reset_device};

static void unhealthy_guard_resets_or_skips(void)
{
    const gyre_bench_case c = {.suite = "s", .guard = &guard, .bench = {A_BENCH(run)}, .id = "g/f"};
    gyre_method method = usual;

    reset();
    resets = 0;
    health = GYRE_HEALTH_CRITICAL;
    health_after_reset = GYRE_HEALTH_GOOD;
    REQUIRE(measure(&c, &method) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_MEASURED && resets == 1 && result.warning_count == 0);
    health = health_after_reset = GYRE_HEALTH_WARNING;
    REQUIRE(measure(&c, &method) == GYRE_OK); /* skipped when critical, unless asked otherwise */
    CHECK(result.outcome == GYRE_OUTCOME_MEASURED && result.warning_count == 1);
    CHECK(strcmp(result.warnings[0], "the guard says warning: too hot") == 0);
    method.skip_when = GYRE_HEALTH_WARNING;
    set_ups = 0;
    REQUIRE(measure(&c, &method) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_SKIPPED && set_ups == 0);
    CHECK(strcmp(result.reason, "the guard says warning: too hot") == 0);
    health = health_after_reset = GYRE_HEALTH_CRITICAL;
    REQUIRE(measure(&c, &usual) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_SKIPPED);
}

static void defaults_are_filled_in_and_bounded(void)
{
    const gyre_method odd = {.sample_count = 3, .confidence = 7};
    const gyre_method with = gyre_method_defaults(&odd);

    CHECK(with.sample_count == GYRE_LEAST_SAMPLES && with.confidence == 0.95);
    CHECK(with.warm_up_ns > 0 && with.measurement_ns > 0 && with.resamples > 0);
    CHECK(gyre_method_defaults(NULL).sample_count == 100);
    reset();
}

static const test_case cases[] = {
    TEST(flat_samples_fill_the_time),
    TEST(linear_samples_grow_by_one_step),
    TEST(auto_is_flat_where_linear_would_take_too_long),
    TEST(warm_up_lasts_as_long_as_asked),
    TEST(interruption_does_not_set_the_pace),
    TEST(batches_too_short_to_be_timed_do_not_end_the_warm_up),
    TEST(slow_benchmark_gets_fewer_samples),
    TEST(precision_ends_sampling_early_when_it_is_reached),
    TEST(precision_that_is_not_reached_is_said),
    TEST(unsteady_samples_are_warned_about),
    TEST(wrong_answer_fails),
    TEST(run_that_takes_no_time_fails),
    TEST(run_that_gives_up_fails_with_the_reason_of_its_check),
    TEST(in_turns_the_check_is_asked_first_as_well),
    TEST(absent_device_skips_with_the_reason),
    TEST(failed_setup_fails_with_the_reason),
    TEST(interrupt_ends_the_case_and_tears_down),
    TEST(interrupt_during_the_last_sample_is_no_wrong_answer),
    TEST(want_of_memory_is_a_failure_without_samples),
    TEST(check_runs_one_iteration),
    TEST(profile_runs_for_the_time_and_keeps_nothing),
    TEST(benchmark_tells_numbers_and_texts),
    TEST(preparing_is_not_timed_and_comes_in_batches),
    TEST(latency_has_percentiles_of_single_calls),
    TEST(latency_leaves_preparing_out),
    TEST(rate_that_cannot_be_kept_is_said),
    TEST(rate_too_low_for_the_time_is_no_hang),
    TEST(open_loop_counts_from_when_a_call_was_due),
    TEST(suites_clock_gives_cold_hot_and_end_to_end),
    TEST(device_that_is_slow_to_flush_has_fewer_cold_samples),
    TEST(clock_that_fails_fails_the_case),
    TEST(unhealthy_guard_resets_or_skips),
    TEST(defaults_are_filled_in_and_bounded),
};
TEST_MAIN(cases)
