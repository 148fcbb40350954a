/* SPDX-License-Identifier: Apache-2.0
 *
 * Two cases that take turns, under a clock that they move themselves.
 */
#include "bench/beside.h"

#include <sched.h>

#include "bench/measure.h"
#include "test.h"

enum { TURNS = 4096 };

/* One side: what its set-up, run and check do, and what became of it. */
typedef struct side {
    char letter;
    uint64_t cost_ns;
    gyre_status setup_status;
    bool wrong;
    int cpu; /* its set-up goes there; -1: stays */
    cpu_set_t before;
    uint64_t iterations;
    int set_ups, teardowns, elsewhere; /* runs on another CPU than its own */
} side;

static uint64_t clock_ns;
static uint64_t pace; /* of the machine: what all iterations cost times that */
static bool changes;  /* every four pairs or so */
static side own, other;
static char order[TURNS + 1]; /* who ran, one letter for each timed or untimed batch */
static size_t turns;

static uint64_t now_ns(void)
{
    return clock_ns;
}

static gyre_status set_up(side *s, void **out_fixture)
{
    cpu_set_t cpus;

    s->set_ups++;
    *out_fixture = s;
    if (s->setup_status != GYRE_OK)
        return gyre_bench_refuse(s->setup_status, "not %c", s->letter);
    sched_getaffinity(0, sizeof s->before, &s->before);
    if (s->cpu >= 0) {
        CPU_ZERO(&cpus);
        CPU_SET((size_t)s->cpu, &cpus);
        sched_setaffinity(0, sizeof cpus, &cpus);
    }
    return GYRE_OK;
}

static gyre_status set_up_own(const gyre_bench_case *c, void **out_fixture)
{
    (void)c;
    return set_up(&own, out_fixture);
}

static gyre_status set_up_other(const gyre_bench_case *c, void **out_fixture)
{
    (void)c;
    return set_up(&other, out_fixture);
}

static void run(void *fixture, uint64_t iterations)
{
    side *s = fixture;

    s->iterations += iterations;
    s->elsewhere += s->cpu >= 0 && sched_getcpu() != s->cpu;
    clock_ns += iterations * s->cost_ns * pace;
    if (turns < TURNS)
        order[turns++] = s->letter;
    if (changes && turns % 16 == 0)
        pace = pace % 7 + 1;
}

static bool check(const void *fixture, uint64_t iterations)
{
    const side *s = fixture;

    return !s->wrong && s->iterations == iterations;
}

static void teardown(void *fixture)
{
    side *s = fixture;

    s->teardowns++;
    sched_setaffinity(0, sizeof s->before, &s->before);
}

#define MEANING .t0 = "a", .t1 = "b", .observer = "c", .run = run, .check = check
static const gyre_bench_case other_case = {
    .suite = "s",
    .bench = {.name = "g/o", MEANING, .setup = set_up_other, .teardown = teardown},
    .id = "g/o"};
static const gyre_bench_case own_case = {
    .suite = "s",
    .bench = {.name = "g/f", MEANING, .setup = set_up_own, .teardown = teardown},
    .id = "g/f",
    .beside = &other_case};

static const gyre_method usual = {.sampling = GYRE_SAMPLING_FLAT,
                                  .sample_count = 20,
                                  .warm_up_ns = 100000,
                                  .measurement_ns = 2000000,
                                  .resamples = 200};

static gyre_result result;

static void reset(void)
{
    gyre_result_fini(&result);
    own = (side){.letter = 'f', .cost_ns = 150, .cpu = -1};
    other = (side){.letter = 'o', .cost_ns = 100, .cpu = -1};
    pace = 1;
    changes = false;
    turns = 0;
    memset(order, 0, sizeof order);
}

static gyre_status measure(gyre_purpose purpose)
{
    const gyre_watch watch = {.now_ns = now_ns};
    gyre_method method = usual;

    method.purpose = purpose;
    return gyre_measure(&own_case, &method, &watch, &result);
}

static void the_ratio_is_that_of_the_pairs(void)
{
    reset();
    REQUIRE(measure(GYRE_PURPOSE_TIME) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_MEASURED && result.warning_count == 0);
    REQUIRE(result.beside.id && strcmp(result.beside.id, "g/o") == 0);
    CHECK(result.beside.times.point == 1.5 && result.beside.times.low == 1.5);
    CHECK(result.beside.more_ns.point == 50 && result.beside.more_ns.high == 50);
    CHECK(result.time.median_ns == 150 && result.time.samples.count == 20);
    CHECK(result.beside.times_ns[19] == 100 * (double)result.time.samples.iterations[19]);
    CHECK(own.set_ups == 1 && own.teardowns == 1 && other.set_ups == 1 && other.teardowns == 1);
}

/* Each turn is an untimed batch and a timed one: f o, o f, f o, ... */
static void neither_always_goes_first(void)
{
    char expected[81] = "";

    reset();
    REQUIRE(measure(GYRE_PURPOSE_TIME) == GYRE_OK);
    for (size_t i = 0; i < 10; i++)
        memcpy(expected + 8 * i, "ffooooff", 9);
    REQUIRE(turns > 80);
    CHECK(strcmp(order + turns - 80, expected) == 0);
}

static void a_machine_that_changes_its_pace_does_not_change_the_ratio(void)
{
    reset();
    changes = true;
    REQUIRE(measure(GYRE_PURPOSE_TIME) == GYRE_OK);
    CHECK(result.max_ns > 2 * result.min_ns);
    CHECK(result.beside.times.point == 1.5);
}

static void one_that_is_absent_is_left_out(void)
{
    reset();
    other.setup_status = GYRE_UNAVAILABLE;
    REQUIRE(measure(GYRE_PURPOSE_TIME) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_MEASURED && !result.beside.id);
    CHECK(result.warning_count == 0 && other.teardowns == 0 && own.teardowns == 1);
}

static void trouble_with_the_other_is_a_warning(void)
{
    reset();
    other.setup_status = GYRE_IO;
    REQUIRE(measure(GYRE_PURPOSE_TIME) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_MEASURED && !result.beside.id);
    REQUIRE(result.warning_count == 1);
    CHECK(strstr(result.warnings[0], "'g/o' beside it cannot be set up: not o") != NULL);
    reset();
    other.wrong = true;
    REQUIRE(measure(GYRE_PURPOSE_TIME) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_MEASURED && !result.beside.id && other.teardowns == 1);
    REQUIRE(result.warning_count == 1);
    CHECK(strstr(result.warnings[0], "'g/o' beside it gave a wrong answer") != NULL);
    reset();
    other.cost_ns = 0;
    REQUIRE(measure(GYRE_PURPOSE_TIME) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_MEASURED && !result.beside.id && other.teardowns == 1);
    REQUIRE(result.warning_count == 1);
    CHECK(strstr(result.warnings[0], "returns at once") != NULL);
}

static void only_who_is_timed_has_somebody_beside_it(void)
{
    reset();
    REQUIRE(measure(GYRE_PURPOSE_CHECK) == GYRE_OK);
    CHECK(result.outcome == GYRE_OUTCOME_CHECKED && other.set_ups == 0);
}

/* Two CPUs that this thread may use; false when there are none. */
static bool find_cpus(int *out_first, int *out_second)
{
    cpu_set_t cpus;
    int found = 0;

    sched_getaffinity(0, sizeof cpus, &cpus);
    for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
        if (CPU_ISSET((size_t)i, &cpus))
            *(found++ == 0 ? out_first : out_second) = i;
    return found == 2;
}

static void each_runs_where_its_set_up_has_pinned_it(void)
{
    cpu_set_t before, after;

    reset();
    if (!find_cpus(&own.cpu, &other.cpu))
        SKIP("there is one CPU");
    sched_getaffinity(0, sizeof before, &before);
    REQUIRE(measure(GYRE_PURPOSE_TIME) == GYRE_OK);
    CHECK(own.elsewhere == 0 && other.elsewhere == 0 && result.beside.id);
    CHECK(CPU_EQUAL(&other.before, &before)); /* not what the first set-up had chosen */
    sched_getaffinity(0, sizeof after, &after);
    CHECK(CPU_EQUAL(&before, &after));
    gyre_result_fini(&result);
}

static const test_case cases[] = {
    TEST(the_ratio_is_that_of_the_pairs),
    TEST(neither_always_goes_first),
    TEST(a_machine_that_changes_its_pace_does_not_change_the_ratio),
    TEST(one_that_is_absent_is_left_out),
    TEST(trouble_with_the_other_is_a_warning),
    TEST(only_who_is_timed_has_somebody_beside_it),
    TEST(each_runs_where_its_set_up_has_pinned_it),
};
TEST_MAIN(cases)
