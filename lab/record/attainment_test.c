/* SPDX-License-Identifier: Apache-2.0 */
#include "record/attainment.h"

#include "sample_run.h"
#include "test.h"

/* channel/send/64 of the sample: 101 ns, from 100 to 102.5. */
static sample_run sample;

static gyre_attainment judge(gyre_target target)
{
    return gyre_attainment_judge(&target, &sample.run, &sample.results[0]);
}

static gyre_attained judge_time(double limit, bool at_least)
{
    return judge((gyre_target){.limit = limit, .at_least = at_least}).attained;
}

static void the_whole_interval_counts(void)
{
    sample_run_init(&sample, 2, 1);
    CHECK(judge_time(102.5, false) == GYRE_ATTAINED_MET);
    CHECK(judge_time(102.4, false) == GYRE_ATTAINED_UNCLEAR);
    CHECK(judge_time(100, false) == GYRE_ATTAINED_UNCLEAR);
    CHECK(judge_time(99.9, false) == GYRE_ATTAINED_MISSED);
    CHECK(judge_time(100, true) == GYRE_ATTAINED_MET);
    CHECK(judge_time(100.1, true) == GYRE_ATTAINED_UNCLEAR);
    CHECK(judge_time(102.5, true) == GYRE_ATTAINED_UNCLEAR);
    CHECK(judge_time(102.6, true) == GYRE_ATTAINED_MISSED);
}

static void rates_are_of_the_work_declared(void)
{
    gyre_attainment a;

    sample_run_init(&sample, 2, 1);
    a = judge((gyre_target){.quantity = GYRE_TARGET_ITEMS_PER_S, .at_least = true, .limit = 9e6});
    CHECK(a.attained == GYRE_ATTAINED_MET);
    CHECK(a.low == 1e9 / 102.5 && a.point == 1e9 / 101 && a.high == 1e9 / 100);
    a = judge((gyre_target){.quantity = GYRE_TARGET_BYTES_PER_S, .at_least = true, .limit = 1e9});
    CHECK(a.attained == GYRE_ATTAINED_MISSED && a.high == 64e9 / 100);
    sample.results[0].items = 0;
    a = judge((gyre_target){.quantity = GYRE_TARGET_ITEMS_PER_S, .at_least = true, .limit = 1});
    CHECK(a.attained == GYRE_ATTAINED_NOT_MEASURED && strstr(a.why, "declares no items"));
}

static void ratios_have_the_widest_interval(void)
{
    gyre_target target = {.quantity = GYRE_TARGET_RATIO, .other = "queue/push", .limit = 0.001};
    gyre_attainment a;

    sample_run_init(&sample, 2, 1);
    sample.results[1].time.median_ns = 202;
    sample.results[1].time.ns = (gyre_interval){200, 205, 0.95};
    a = judge(target);
    CHECK(a.attained == GYRE_ATTAINED_MISSED && a.point == 0.5);
    CHECK(a.low == 100 / 205.0 && a.high == 102.5 / 200);
    target.other = "queue/none";
    a = judge(target);
    CHECK(a.attained == GYRE_ATTAINED_NOT_MEASURED && strstr(a.why, "is not here") && !a.reason);
    target.other = "queue/wrong";
    a = judge(target);
    CHECK(a.attained == GYRE_ATTAINED_NOT_MEASURED && strstr(a.why, "was not measured"));
    CHECK(a.reason == sample.results[2].reason);
}

static void differences_have_the_widest_interval(void)
{
    const gyre_target target = {
        .quantity = GYRE_TARGET_MORE_NS, .other = "queue/push", .limit = 10};
    gyre_attainment a;

    sample_run_init(&sample, 2, 1);
    sample.results[1].time.median_ns = 90;
    sample.results[1].time.ns = (gyre_interval){85, 95, 0.95};
    a = judge(target);
    CHECK(a.attained == GYRE_ATTAINED_UNCLEAR && a.point == 11 && a.low == 5 && a.high == 17.5);
    sample.results[1].time.median_ns = 202;
    sample.results[1].time.ns = (gyre_interval){200, 205, 0.95};
    a = judge(target);
    CHECK(a.attained == GYRE_ATTAINED_MET && a.point == -101);
}

static void who_took_turns_with_the_other_has_its_own_ratio(void)
{
    gyre_target target = {.quantity = GYRE_TARGET_RATIO, .other = "queue/push", .limit = 1.2};
    gyre_attainment a;

    sample_run_init(&sample, 2, 1);
    sample.results[0].beside =
        (gyre_ratio){.id = "queue/push", .times = {1.1, 1.05, 1.15, 0}, .more_ns = {-3, -4, 5, 0}};
    a = judge(target);
    CHECK(a.attained == GYRE_ATTAINED_MET && a.point == 1.1 && a.low == 1.05 && a.high == 1.15);
    target.quantity = GYRE_TARGET_MORE_NS;
    a = judge(target);
    CHECK(a.attained == GYRE_ATTAINED_UNCLEAR && a.point == -3 && a.low == -4 && a.high == 5);
    target.other = "queue/none"; /* with which it did not */
    CHECK(judge(target).attained == GYRE_ATTAINED_NOT_MEASURED);
}

static void p99_and_allocations_must_have_been_asked_for(void)
{
    gyre_attainment a;

    sample_run_init(&sample, 2, 1);
    a = judge((gyre_target){.quantity = GYRE_TARGET_P99_NS, .limit = 10});
    CHECK(a.attained == GYRE_ATTAINED_NOT_MEASURED && strstr(a.why, "--latency"));
    a = judge((gyre_target){.quantity = GYRE_TARGET_ALLOCATIONS, .limit = 0});
    CHECK(a.attained == GYRE_ATTAINED_NOT_MEASURED && strstr(a.why, "--memory"));
    sample.results[0].latency = (gyre_latency){
        .quantile = {{0.5, 5, {4, 6, 0.95}}, {0.99, 9, {8, 11, 0.95}}}, .quantile_count = 2};
    sample.results[0].memory.counted = true;
    a = judge((gyre_target){.quantity = GYRE_TARGET_P99_NS, .limit = 10});
    CHECK(a.attained == GYRE_ATTAINED_UNCLEAR && a.point == 9);
    a = judge((gyre_target){.quantity = GYRE_TARGET_ALLOCATIONS, .limit = 0});
    CHECK(a.attained == GYRE_ATTAINED_MET);
}

static void counters_are_numbers_by_name(void)
{
    gyre_target target = {
        .quantity = GYRE_TARGET_COUNTER, .counter = "hits", .at_least = true, .limit = 0.95};

    sample_run_init(&sample, 2, 1);
    CHECK(judge(target).attained == GYRE_ATTAINED_NOT_MEASURED);
    sample.results[0].facts.count = 2;
    sample.results[0].facts.fact[0] = (gyre_fact){.name = "hits", .text = "many"};
    sample.results[0].facts.fact[1] = (gyre_fact){.name = "misses", .number = 1};
    CHECK(judge(target).attained == GYRE_ATTAINED_NOT_MEASURED);
    sample.results[0].facts.fact[0] = (gyre_fact){.name = "hits", .number = 0.95};
    CHECK(judge(target).attained == GYRE_ATTAINED_MET);
    target.limit = 0.96;
    CHECK(judge(target).attained == GYRE_ATTAINED_MISSED);
}

static void what_was_not_measured_says_why(void)
{
    static const char *const whys[] = {"failed", "skipped", "only checked", "interrupted"};
    const gyre_target target = {.limit = 1};
    gyre_attainment a;

    sample_run_init(&sample, 2, 1);
    for (size_t i = 0; i < 4; i++) {
        a = gyre_attainment_judge(&target, &sample.run, &sample.results[2 + i]);
        CHECK(a.attained == GYRE_ATTAINED_NOT_MEASURED && strcmp(a.why, whys[i]) == 0);
        CHECK(a.reason == (i < 2 ? sample.results[2 + i].reason : NULL));
    }
    a = gyre_attainment_judge(&target, &sample.run, NULL);
    CHECK(strcmp(a.why, "no such benchmark here") == 0);
}

static const test_case cases[] = {
    TEST(the_whole_interval_counts),
    TEST(rates_are_of_the_work_declared),
    TEST(ratios_have_the_widest_interval),
    TEST(differences_have_the_widest_interval),
    TEST(who_took_turns_with_the_other_has_its_own_ratio),
    TEST(p99_and_allocations_must_have_been_asked_for),
    TEST(counters_are_numbers_by_name),
    TEST(what_was_not_measured_says_why),
};
TEST_MAIN(cases)
