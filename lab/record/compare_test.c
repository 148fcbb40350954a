/* SPDX-License-Identifier: Apache-2.0 */
#include "record/compare.h"

#include "record/run_fake.h"
#include "test.h"

static const gyre_method method = {.resamples = 500, .noise_threshold = 0.01, .significance = 0.05};

static void verdicts_are_counted(void)
{
    gyre_run *base = fake_run(), *run = fake_run();
    gyre_compared compared;

    fake_add(base, fake_measured("g/same", 100));
    fake_add(base, fake_measured("g/slower", 100));
    fake_add(base, fake_measured("g/faster", 100));
    fake_add(base, fake_measured("g/noise", 100));
    fake_add(run, fake_measured("g/noise", 100.5));
    fake_add(run, fake_measured("g/same", 100));
    fake_add(run, fake_measured("g/faster", 80));
    fake_add(run, fake_measured("g/slower", 120));
    REQUIRE(gyre_compare(run, base, "base", &method, GYRE_MISSING_REFUSED, &compared) == GYRE_OK);
    CHECK(compared.count == 4);
    for (int i = 0; i < GYRE_VERDICTS; i++)
        CHECK(compared.verdicts[i] == 1);
    CHECK(compared.only_run.count == 0 && compared.only_base.count == 0);
    CHECK(gyre_run_find(run, "g/noise")->change.verdict == GYRE_VERDICT_NOISE);
    CHECK(gyre_run_find(run, "g/faster")->change.verdict == GYRE_VERDICT_IMPROVED);
    CHECK(gyre_run_find(run, "g/slower")->change.verdict == GYRE_VERDICT_REGRESSED);
    CHECK(gyre_run_find(run, "g/slower")->change.point > 0.19);
    CHECK(strcmp(gyre_run_find(run, "g/same")->change.baseline, "base") == 0);
    CHECK(!gyre_run_find(base, "g/same")->change.baseline);
    gyre_compared_fini(&compared);
    gyre_run_destroy(run);
    gyre_run_destroy(base);
}

static void what_one_of_them_lacks_is_listed(void)
{
    gyre_run *base = fake_run(), *run = fake_run();
    gyre_compared compared;

    fake_add(base, fake_measured("g/both", 100));
    fake_add(base, fake_measured("g/old", 100));
    fake_add(base, fake_measured("g/fails_now", 100));
    fake_add(base, fake_result("g/works_now", GYRE_OUTCOME_FAILED));
    fake_add(run, fake_measured("g/both", 100));
    fake_add(run, fake_measured("g/new", 100));
    fake_add(run, fake_result("g/fails_now", GYRE_OUTCOME_FAILED));
    fake_add(run, fake_measured("g/works_now", 100));
    run->results[1].change = (gyre_comparison){.baseline = "an older one"};
    REQUIRE(gyre_compare(run, base, "base", &method, GYRE_MISSING_SKIPPED, &compared) == GYRE_OK);
    CHECK(compared.count == 1 && compared.verdicts[GYRE_VERDICT_NONE] == 1);
    REQUIRE(compared.only_run.count == 2 && compared.only_base.count == 2);
    CHECK(strcmp(compared.only_run.ids[0], "g/new") == 0);
    CHECK(strcmp(compared.only_run.ids[1], "g/works_now") == 0);
    CHECK(strcmp(compared.only_base.ids[0], "g/old") == 0);
    CHECK(strcmp(compared.only_base.ids[1], "g/fails_now") == 0);
    CHECK(!gyre_run_find(run, "g/new")->change.baseline); /* not what was said of it before */
    gyre_compared_fini(&compared);
    gyre_run_destroy(run);
    gyre_run_destroy(base);
}

static void strictly_what_the_base_lacks_is_an_error(void)
{
    gyre_run *base = fake_run(), *run = fake_run();
    gyre_compared compared;

    fake_add(base, fake_measured("g/a", 100));
    fake_add(base, fake_result("g/b", GYRE_OUTCOME_SKIPPED));
    fake_add(run, fake_measured("g/a", 200));
    CHECK(gyre_compare(run, base, "x", &method, GYRE_MISSING_REFUSED, &compared) == GYRE_OK);
    gyre_compared_fini(&compared);
    run->results[0].change = (gyre_comparison){0};
    fake_add(run, fake_measured("g/b", 100));
    CHECK(gyre_compare(run, base, "x", &method, GYRE_MISSING_REFUSED, &compared) == GYRE_NOT_FOUND);
    CHECK(strstr(gyre_error_last()->text, "baseline 'x' has no 'g/b'") != NULL);
    CHECK(!run->results[0].change.baseline && compared.count == 0); /* nothing was judged */
    gyre_run_destroy(run);
    gyre_run_destroy(base);
}

static void times_of_zero_are_not_judged(void)
{
    gyre_run *base = fake_run(), *run = fake_run();
    gyre_compared compared;

    fake_add(base, fake_measured("g/a", 0));
    fake_add(base, fake_measured("g/b", 1e-300));
    fake_add(base, fake_measured("g/c", 100));
    fake_add(run, fake_measured("g/a", 100));
    fake_add(run, fake_measured("g/b", 1e15));
    fake_add(run, fake_measured("g/c", 100));
    REQUIRE(gyre_compare(run, base, "base", &method, GYRE_MISSING_REFUSED, &compared) == GYRE_OK);
    REQUIRE(compared.unjudged.count == 2 && compared.count == 1);
    CHECK(strcmp(compared.unjudged.ids[0], "g/a") == 0);
    CHECK(!run->results[0].change.baseline && !run->results[1].change.baseline);
    gyre_compared_fini(&compared);
    gyre_run_destroy(run);
    gyre_run_destroy(base);
}

static void empty_runs_can_be_compared(void)
{
    gyre_run *base = fake_run(), *run = fake_run();
    gyre_compared compared;

    CHECK(gyre_compare(run, base, "base", NULL, GYRE_MISSING_REFUSED, &compared) == GYRE_OK);
    CHECK(compared.count == 0);
    gyre_compared_fini(&compared);
    gyre_run_destroy(run);
    gyre_run_destroy(base);
}

static const test_case cases[] = {
    TEST(verdicts_are_counted),
    TEST(what_one_of_them_lacks_is_listed),
    TEST(strictly_what_the_base_lacks_is_an_error),
    TEST(times_of_zero_are_not_judged),
    TEST(empty_runs_can_be_compared),
};
TEST_MAIN(cases)
