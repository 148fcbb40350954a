/* SPDX-License-Identifier: Apache-2.0 */
#include "record/ab.h"

#include <math.h>

#include "record/ab_fake.h"
#include "test.h"

static char *words[] = {(char[]){"gyre"}, (char[]){"ab"}, NULL};

static void fresh_one_knows_machine_and_moment(void)
{
    gyre_ab *ab;

    REQUIRE(gyre_ab_create(2, words, &ab) == GYRE_OK);
    CHECK(ab->count == 0 && ab->head->count == 0);
    CHECK(ab->head->command_count == 2 && strcmp(ab->head->command[1], "ab") == 0);
    CHECK(ab->head->started > 0 && ab->head->machine.cpus > 0);
    CHECK(strcmp(ab->sides[0].command, "") == 0 && strcmp(ab->sides[1].path, "") == 0);
    gyre_ab_destroy(ab);
    gyre_ab_destroy(NULL);
}

static void added_ones_are_found_by_id(void)
{
    gyre_ab *ab;
    char id[] = "g/a";

    REQUIRE(gyre_ab_create_blank(&ab) == GYRE_OK);
    REQUIRE(gyre_ab_reserve(ab, 2) == GYRE_OK);
    gyre_ab_add(ab, id);
    gyre_ab_add(ab, "g/b");
    id[2] = 'x';
    CHECK(ab->count == 2);
    CHECK(gyre_ab_find(ab, "g/a") == &ab->benches[0]);
    CHECK(gyre_ab_find(ab, "g/b") == &ab->benches[1]);
    CHECK(!gyre_ab_find(ab, "g/x"));
    CHECK(ab->benches[0].outcome == GYRE_OUTCOME_MEASURED && ab->benches[0].launch_count == 0);
    CHECK(strcmp(ab->benches[0].clock, "host") == 0 && strcmp(ab->benches[0].reason, "") == 0);
    gyre_ab_destroy(ab);
}

static void begun_launch_is_not_counted_in(void)
{
    gyre_ab *ab = fake_ab();
    gyre_ab_bench *bench = gyre_ab_add(ab, "g/a");
    gyre_ab_launch *launch = gyre_ab_launch_begin(ab, bench, GYRE_JUDGE_PAIRS);

    REQUIRE(launch);
    CHECK(bench->launch_count == 0 && launch == &bench->launches[0]);
    CHECK(launch->pairs == GYRE_JUDGE_PAIRS && launch->iterations == 1 && launch->cpu == -1);
    for (size_t i = 0; i < GYRE_JUDGE_PAIRS; i++) {
        launch->old_ns[i] = 1;
        launch->new_ns[i] = 2;
    }
    for (size_t i = 0; i < GYRE_JUDGE_PAIRS; i++)
        CHECK(launch->old_ns[i] == 1);
    CHECK(gyre_ab_launch_begin(ab, bench, 1) == launch);
    gyre_ab_destroy(ab);
}

static void words_are_those_of_the_launches(void)
{
    gyre_ab *ab = fake_ab();
    const gyre_ab_bench *bench = fake_bench(ab, "g/a", 4, 0.1, 0.01);
    double said[GYRE_JUDGE_LAUNCHES];

    CHECK(gyre_ab_words(bench, said) == 4);
    for (size_t i = 0; i < 4; i++)
        CHECK(fabs(said[i] - log(1.1) - 0.01 * fake_spread(i)) < 1e-12);
    gyre_ab_destroy(ab);
}

static void every_verdict_is_made(void)
{
    gyre_ab *ab = fake_full_ab();

    CHECK(gyre_ab_find(ab, "g/slower")->judgement.verdict == GYRE_AB_SLOWER);
    CHECK(fabs(gyre_ab_find(ab, "g/slower")->judgement.change - 0.12) < 1e-9);
    CHECK(gyre_ab_find(ab, "g/slower")->judgement.launches == 16);
    CHECK(gyre_ab_find(ab, "g/faster")->judgement.verdict == GYRE_AB_FASTER);
    CHECK(gyre_ab_find(ab, "g/same")->judgement.verdict == GYRE_AB_EQUIVALENT);
    CHECK(gyre_ab_find(ab, "g/wild")->judgement.verdict == GYRE_AB_UNDECIDED);
    CHECK(gyre_ab_find(ab, "g/once")->judgement.verdict == GYRE_AB_UNDECIDED);
    CHECK(gyre_ab_find(ab, "g/once")->judgement.launches == 1);
    CHECK(gyre_ab_find(ab, "g/crashed")->judgement.launches == 0);
    gyre_ab_destroy(ab);
}

/* Alone it is slower with p about 0.005; beside two that failed it is not. */
static void what_failed_counts_in_the_suite(void)
{
    gyre_ab *ab = fake_ab();
    const gyre_ab_bench *bench = fake_bench(ab, "g/a", 8, 0.024, 0.0118);

    REQUIRE(gyre_ab_judge(ab) == GYRE_OK);
    CHECK(bench->judgement.verdict == GYRE_AB_SLOWER);
    CHECK(bench->judgement.p_slower > 0.004 && bench->judgement.p_slower < 0.01);
    fake_failed(ab, "g/b", GYRE_OUTCOME_FAILED, "oh");
    fake_failed(ab, "g/c", GYRE_OUTCOME_FAILED, "oh");
    REQUIRE(gyre_ab_judge(ab) == GYRE_OK);
    CHECK(bench->judgement.verdict == GYRE_AB_UNDECIDED);
    gyre_ab_destroy(ab);
}

static void judging_nothing_is_no_failure(void)
{
    gyre_ab *ab = fake_ab();

    CHECK(gyre_ab_judge(ab) == GYRE_OK);
    gyre_ab_destroy(ab);
}

static void same_judgement_is_the_same_to_the_bit(void)
{
    const gyre_judgement a = {8, 1, 2, 3, 4, 5, 6, 7, 8, 9, GYRE_AB_SLOWER};
    gyre_judgement b = a;
    double *const numbers[] = {&b.change, &b.low,      &b.high,     &b.hodges_lehmann, &b.sd,
                               &b.mde,    &b.p_slower, &b.p_faster, &b.p_equivalent};

    CHECK(gyre_judgement_same(&a, &b));
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        *numbers[i] = nextafter(*numbers[i], 0);
        CHECK(!gyre_judgement_same(&a, &b));
        b = a;
    }
    b.launches = 9;
    CHECK(!gyre_judgement_same(&a, &b));
    b = a;
    b.verdict = GYRE_AB_FASTER;
    CHECK(!gyre_judgement_same(&a, &b));
}

static const test_case cases[] = {
    TEST(fresh_one_knows_machine_and_moment),
    TEST(added_ones_are_found_by_id),
    TEST(begun_launch_is_not_counted_in),
    TEST(words_are_those_of_the_launches),
    TEST(every_verdict_is_made),
    TEST(what_failed_counts_in_the_suite),
    TEST(judging_nothing_is_no_failure),
    TEST(same_judgement_is_the_same_to_the_bit),
};
TEST_MAIN(cases)
