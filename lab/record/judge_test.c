/* SPDX-License-Identifier: Apache-2.0 */
#include "record/judge.h"

#include <math.h>

#include "stat/random.h"
#include "test.h"

static const gyre_rule rule = {.margin = 0.01, .alpha = 0.01};

/* 12 launches about 3 % slower, 16 that hardly differ, and 20 that begin 3 % faster and then
 * scatter. The expectations below are SciPy's: t.sf, t.ppf, and numpy's median of all means of
 * pairs. */
static const double slower[] = {0.0313, 0.0287, 0.0301, 0.0342, 0.0296, 0.0318,
                                0.0275, 0.0330, 0.0309, 0.0322, 0.0291, 0.0306};
static const double quiet[] = {0.0011, -0.0007, 0.0004, 0.0013,  -0.0012, 0.0002,  0.0009, -0.0005,
                               0.0006, -0.0001, 0.0008, -0.0003, 0.0010,  -0.0009, 0.0003, 0.0000};
static const double drifting[] = {-0.031, -0.029, -0.032, -0.030, -0.028, -0.033, -0.030,
                                  -0.029, 0.05,   -0.08,  0.02,   0.06,   -0.05,  0.01,
                                  -0.04,  0.03,   0.07,   -0.06,  0.00,   0.04};

enum { SLOWER = 12, QUIET = 16, DRIFTING = 20 };

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static void word_is_the_median_log_ratio(void)
{
    const double old_ns[] = {100, 100, 200, 100}, new_ns[] = {110, 100, 240, 400};

    CHECK(gyre_judge_launch(old_ns, new_ns, 1) == log(110) - log(100));
    CHECK(near(gyre_judge_launch(old_ns, new_ns, 3), log(1.1)));
    CHECK(near(gyre_judge_launch(old_ns, new_ns, 4), (log(1.1) + log(1.2)) / 2));
    CHECK(gyre_judge_launch(new_ns, old_ns, 3) == -gyre_judge_launch(old_ns, new_ns, 3));
}

static void word_of_extreme_times_is_finite(void)
{
    CHECK(isfinite(gyre_judge_launch(&(double){5e-324}, &(double){1e300}, 1)));
    CHECK(isfinite(gyre_judge_launch(&(double){1e300}, &(double){5e-324}, 1)));
}

static void looks_are_after_8_16_32_and_48(void)
{
    size_t looks = 0;

    for (size_t n = 0; n <= GYRE_JUDGE_LAUNCHES; n++)
        looks += gyre_judge_is_look(n);
    CHECK(looks == GYRE_JUDGE_LOOKS);
    CHECK(gyre_judge_next_look(0) == 8 && gyre_judge_next_look(7) == 8);
    CHECK(gyre_judge_next_look(8) == 16 && gyre_judge_next_look(16) == 32);
    CHECK(gyre_judge_next_look(32) == 48 && gyre_judge_next_look(47) == 48);
    CHECK(gyre_judge_next_look(48) == 48);
}

static void slower_is_as_computed_elsewhere(void)
{
    const gyre_judgement j = gyre_judge(slower, SLOWER, &rule);

    CHECK(j.launches == SLOWER && j.verdict == GYRE_AB_SLOWER);
    CHECK(near(j.change, 0.031227664741787092));
    CHECK(near(j.low, 0.02925084406424379) && near(j.high, 0.03320828218084262));
    CHECK(near(j.hodges_lehmann, 0.031201884372424507));
    CHECK(near(j.sd, 0.0019009566969387718));
    CHECK(near(j.mde, 0.012650894540598805));
    CHECK(near(j.p_slower, 1.0419215483072417e-12));
    CHECK(j.p_faster == 1 && j.p_equivalent == 1);
}

static void equivalent_is_as_computed_elsewhere(void)
{
    const gyre_judgement j = gyre_judge(quiet, QUIET, &rule);

    CHECK(j.verdict == GYRE_AB_EQUIVALENT);
    CHECK(near(j.change, 0.00018126642677368594));
    CHECK(near(j.low, -0.00043940078398779504) && near(j.high, 0.0008023190346654825));
    CHECK(near(j.mde, 0.010871546330957578));
    CHECK(near(j.p_equivalent, 5.0939781589178266e-18));
    CHECK(j.p_slower == 1 && j.p_faster == 1);
}

/* What the first look saw counts, though the last sees nothing. */
static void smallest_p_of_the_looks_counts(void)
{
    const gyre_judgement j = gyre_judge(drifting, DRIFTING, &rule);

    CHECK(near(j.p_faster, 9.09654329620661e-09));
    CHECK(j.p_slower == 1 && j.p_equivalent == 1);
    CHECK(near(j.change, -0.009554067102783989));
    CHECK(near(j.low, -0.03867418909702051) && near(j.high, 0.020448150737982118));
    CHECK(j.verdict == GYRE_AB_FASTER);
}

static void questions_are_as_computed_elsewhere(void)
{
    CHECK(near(gyre_judge_ask(slower, SLOWER, 0.02).p_above, 1.0983512890446676e-09));
    CHECK(gyre_judge_ask(slower, SLOWER, 0.02).p_below == 1);
    CHECK(near(gyre_judge_ask(slower, SLOWER, 0.03).p_above, 0.10542328877943109));
    CHECK(gyre_judge_ask(slower, SLOWER, 0.05).p_above == 1);
    CHECK(near(gyre_judge_ask(slower, SLOWER, 0.05).p_below, 4.923787009185662e-12));
}

/* 20 launches: the last look is at 20, though 32 would have been the next. By the looks before, the
 * answer would be another. */
static void below_is_asked_of_the_last_look_alone(void)
{
    CHECK(gyre_judge_ask(drifting, DRIFTING, 0.0).p_below > 0.5);
    CHECK(gyre_judge_ask(drifting, 8, 0.0).p_below < 1e-6);
}

static void verdicts_turn_with_the_versions(void)
{
    double turned[SLOWER];
    gyre_judgement a, b;

    for (size_t i = 0; i < SLOWER; i++)
        turned[i] = -slower[i];
    a = gyre_judge(slower, SLOWER, &rule);
    b = gyre_judge(turned, SLOWER, &rule);
    CHECK(b.verdict == GYRE_AB_FASTER);
    CHECK(b.p_faster == a.p_slower && b.p_slower == a.p_faster && b.mde == a.mde);
    CHECK(near((1 + a.change) * (1 + b.change), 1) && near((1 + a.low) * (1 + b.high), 1));
}

static void fewer_than_two_launches_decide_nothing(void)
{
    const gyre_judgement none = gyre_judge(NULL, 0, &rule), one = gyre_judge(slower, 1, &rule);

    CHECK(none.verdict == GYRE_AB_UNDECIDED && none.change == 0 && none.launches == 0);
    CHECK(one.verdict == GYRE_AB_UNDECIDED && near(one.change, expm1(slower[0])));
    CHECK(one.low == -1 && isinf(one.high) && isinf(one.mde));
    CHECK(one.p_slower == 1 && one.p_faster == 1 && one.p_equivalent == 1);
    CHECK(gyre_judge_ask(slower, 1, 0.001).p_above == 1);
    CHECK(gyre_judge_ask(slower, 1, 0.5).p_below == 1);
    CHECK(gyre_judge_ask(NULL, 0, 0).p_above == 1);
}

/* Equal words leave no spread: certain, but for the limit itself. */
static void launches_that_agree_are_certain(void)
{
    double words[8];

    for (size_t i = 0; i < 8; i++)
        words[i] = log1p(0.05);
    CHECK(gyre_judge(words, 8, &rule).verdict == GYRE_AB_SLOWER);
    CHECK(gyre_judge(words, 8, &rule).p_slower == 0);
    CHECK(gyre_judge_ask(words, 8, 0.05).p_above == 1);
    CHECK(gyre_judge_ask(words, 8, 0.05).p_below == 1);
    CHECK(gyre_judge_ask(words, 8, 0.04).p_above == 0 &&
          gyre_judge_ask(words, 8, 0.06).p_below == 0);
    for (size_t i = 0; i < 8; i++)
        words[i] = 0;
    CHECK(gyre_judge(words, 8, &rule).verdict == GYRE_AB_EQUIVALENT);
    CHECK(gyre_judge(words, 8, &rule).p_equivalent == 0);
    CHECK(gyre_judge(words, 8, &rule).low == 0 && gyre_judge(words, 8, &rule).high == 0);
}

/* Both ways at an early and a late look, with no spread: the estimate says which. */
static void estimate_decides_between_equal_p(void)
{
    gyre_judgement both = {.p_slower = 0, .p_faster = 0, .p_equivalent = 1, .change = 0.2};

    REQUIRE(gyre_judge_suite(&both, 1, 1, &rule) == GYRE_OK);
    CHECK(both.verdict == GYRE_AB_SLOWER);
    both.change = -0.2;
    REQUIRE(gyre_judge_suite(&both, 1, 1, &rule) == GYRE_OK);
    CHECK(both.verdict == GYRE_AB_FASTER);
}

static void settled_only_at_a_look(void)
{
    gyre_judgement j = {.launches = 8, .p_slower = 0.0009, .p_faster = 1, .p_equivalent = 1};

    CHECK(gyre_judge_settled(&j, &rule, 10));
    CHECK(!gyre_judge_settled(&j, &rule, 12));
    j.launches = 9;
    CHECK(!gyre_judge_settled(&j, &rule, 10));
    j = (gyre_judgement){.launches = 16, .p_slower = 1, .p_faster = 0.0009, .p_equivalent = 1};
    CHECK(gyre_judge_settled(&j, &rule, 10));
    j = (gyre_judgement){.launches = 16, .p_slower = 1, .p_faster = 1, .p_equivalent = 0.01};
    CHECK(gyre_judge_settled(&j, &rule, 1000));
    j.p_equivalent = 0.011;
    CHECK(!gyre_judge_settled(&j, &rule, 1));
}

static gyre_judgement with_p(double p_slower, double p_faster, double p_equivalent)
{
    return (gyre_judgement){
        .launches = 8, .p_slower = p_slower, .p_faster = p_faster, .p_equivalent = p_equivalent};
}

/* By hand: of four, sorted 0.002 0.003 0.004 1 becomes 0.008 0.009 0.009 1. */
static void suite_is_corrected_by_holm(void)
{
    gyre_judgement j[] = {with_p(0.004, 1, 1), with_p(1, 0.002, 1), with_p(0.003, 1, 1),
                          with_p(1, 1, 0.001)};

    REQUIRE(gyre_judge_suite(j, 4, 4, &rule) == GYRE_OK);
    CHECK(j[0].verdict == GYRE_AB_SLOWER && j[1].verdict == GYRE_AB_FASTER);
    CHECK(j[2].verdict == GYRE_AB_SLOWER && j[3].verdict == GYRE_AB_EQUIVALENT);
    /* with two more that failed: 0.012 and more */
    REQUIRE(gyre_judge_suite(j, 4, 6, &rule) == GYRE_OK);
    CHECK(j[0].verdict == GYRE_AB_UNDECIDED && j[1].verdict == GYRE_AB_UNDECIDED);
    CHECK(j[2].verdict == GYRE_AB_UNDECIDED && j[3].verdict == GYRE_AB_EQUIVALENT);
    CHECK(gyre_judge_suite(NULL, 0, 5, &rule) == GYRE_OK);
}

/* Found slower at an early look, within the margin at the last: the last word is the wider base. */
static void equivalence_at_the_last_look_comes_first(void)
{
    gyre_judgement j = with_p(0.0001, 1, 0.005);

    REQUIRE(gyre_judge_suite(&j, 1, 1, &rule) == GYRE_OK);
    CHECK(j.verdict == GYRE_AB_EQUIVALENT);
}

static void verdicts_have_names(void)
{
    CHECK(strcmp(gyre_ab_verdict_name(GYRE_AB_UNDECIDED), "undecided") == 0);
    CHECK(strcmp(gyre_ab_verdict_name(GYRE_AB_EQUIVALENT), "equivalent") == 0);
    CHECK(strcmp(gyre_ab_verdict_name(GYRE_AB_FASTER), "faster") == 0);
    CHECK(strcmp(gyre_ab_verdict_name(GYRE_AB_SLOWER), "slower") == 0);
}

static double normal(gyre_stat_random *random)
{
    const double u = 1 - gyre_stat_random_unit(random), v = gyre_stat_random_unit(random);

    return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
}

/* How often each verdict, of `rounds` benchmarks whose launches go on until they are settled. */
static void simulate(double theta, double sd, const gyre_rule *by, size_t rounds, size_t counts[4])
{
    gyre_stat_random random;

    gyre_stat_random_seed(&random, 17);
    memset(counts, 0, 4 * sizeof counts[0]);
    for (size_t round = 0; round < rounds; round++) {
        double words[GYRE_JUDGE_LAUNCHES];
        gyre_judgement j = {0};

        for (size_t n = 0; n < GYRE_JUDGE_LAUNCHES && !gyre_judge_settled(&j, by, 1);) {
            words[n] = theta + sd * normal(&random);
            n++;
            if (gyre_judge_is_look(n))
                j = gyre_judge(words, n, by);
        }
        counts[j.verdict]++;
    }
}

static void equal_versions_end_equivalent(void)
{
    size_t counts[4];

    simulate(0, 0.005, &rule, 1000, counts);
    CHECK(counts[GYRE_AB_SLOWER] == 0 && counts[GYRE_AB_FASTER] == 0);
    CHECK(counts[GYRE_AB_EQUIVALENT] >= 990);
}

/* At the margin itself any verdict is false. The bounds are alpha and three standard errors; the
 * split over looks that see mostly the same launches leaves some of it unused, but not all. */
static void false_verdicts_at_the_margin_are_rarer_than_alpha(void)
{
    const gyre_rule often = {.margin = 0.01, .alpha = 0.2};
    size_t counts[4];

    simulate(log1p(0.01), 0.005, &rule, 4000, counts);
    CHECK(counts[GYRE_AB_SLOWER] <= 40 + 19 && counts[GYRE_AB_FASTER] == 0);
    CHECK(counts[GYRE_AB_EQUIVALENT] <= 40 + 19);
    simulate(log1p(0.01), 0.005, &often, 4000, counts);
    CHECK(counts[GYRE_AB_SLOWER] <= 800 + 76 && counts[GYRE_AB_SLOWER] >= 300);
    CHECK(counts[GYRE_AB_EQUIVALENT] <= 800 + 76 && counts[GYRE_AB_EQUIVALENT] >= 300);
    simulate(-log1p(0.01), 0.005, &often, 4000, counts);
    CHECK(counts[GYRE_AB_FASTER] <= 800 + 76 && counts[GYRE_AB_FASTER] >= 300);
}

static void two_percent_are_found(void)
{
    size_t counts[4];

    simulate(log1p(0.02), 0.005, &rule, 1000, counts);
    CHECK(counts[GYRE_AB_SLOWER] >= 990 && counts[GYRE_AB_FASTER] == 0);
    simulate(-log1p(0.02), 0.005, &rule, 1000, counts);
    CHECK(counts[GYRE_AB_FASTER] >= 990 && counts[GYRE_AB_SLOWER] == 0);
}

/* The promise of the MDE is kept: of changes as large as it, nine in ten are found by one look. */
static void change_as_large_as_the_mde_is_found(void)
{
    gyre_stat_random random;
    size_t found = 0;

    gyre_stat_random_seed(&random, 23);
    for (size_t round = 0; round < 1000; round++) {
        const double sd = 0.01, error = sd / sqrt(GYRE_JUDGE_LAUNCHES);
        double words[GYRE_JUDGE_LAUNCHES];

        for (size_t n = 0; n < GYRE_JUDGE_LAUNCHES; n++) /* 2.94: t.ppf(1 - 0.01 / 4, 47) */
            words[n] = log1p(rule.margin) + (2.94 + 1.28) * error + sd * normal(&random);
        found += gyre_judge(words, GYRE_JUDGE_LAUNCHES, &rule).verdict == GYRE_AB_SLOWER;
    }
    CHECK(found >= 870);
}

static const test_case cases[] = {
    TEST(word_is_the_median_log_ratio),
    TEST(word_of_extreme_times_is_finite),
    TEST(looks_are_after_8_16_32_and_48),
    TEST(slower_is_as_computed_elsewhere),
    TEST(equivalent_is_as_computed_elsewhere),
    TEST(smallest_p_of_the_looks_counts),
    TEST(questions_are_as_computed_elsewhere),
    TEST(below_is_asked_of_the_last_look_alone),
    TEST(verdicts_turn_with_the_versions),
    TEST(fewer_than_two_launches_decide_nothing),
    TEST(launches_that_agree_are_certain),
    TEST(estimate_decides_between_equal_p),
    TEST(settled_only_at_a_look),
    TEST(suite_is_corrected_by_holm),
    TEST(equivalence_at_the_last_look_comes_first),
    TEST(verdicts_have_names),
    TEST(equal_versions_end_equivalent),
    TEST(false_verdicts_at_the_margin_are_rarer_than_alpha),
    TEST(two_percent_are_found),
    TEST(change_as_large_as_the_mde_is_found),
};
TEST_MAIN(cases)
