/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "record/selftest.h"
#include "record/selftest_fake.h"
#include "test.h"

enum { TARGETS_EACH = 7 };

/* In the order of a workload's targets. */
enum { ALARMS, EQUIVALENT, FOUND_2, FOUND_5, MDE, LONGEST, DEVIATION };

static const size_t AA = GYRE_SELFTEST_SAME, PLUS_2 = GYRE_SELFTEST_2, PLUS_5 = GYRE_SELFTEST_5;

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static void full_success_passes(void)
{
    gyre_selftest_target targets[GYRE_SELFTEST_TARGETS];
    gyre_selftest *selftest = fake_selftest(GYRE_SELFTEST_FULL, 0);

    fake_success(selftest);
    gyre_selftest_judge(selftest, targets);
    for (size_t i = 0; i < GYRE_SELFTEST_TARGETS; i++)
        CHECK(targets[i].attained == GYRE_ATTAINED_MET && targets[i].limit > 0);
    CHECK(gyre_selftest_passed(targets) && gyre_selftest_proved(selftest));
    CHECK(gyre_selftest_full(selftest));
    selftest->count--;
    CHECK(!gyre_selftest_full(selftest));
    gyre_selftest_destroy(selftest);
}

/* A full one whose trial 0 up to `count` of a row end otherwise; the target that it is about. */
static gyre_attained with_bad(size_t row, size_t count, gyre_ab_verdict verdict, size_t target)
{
    gyre_selftest_target targets[GYRE_SELFTEST_TARGETS];
    gyre_selftest *selftest = fake_selftest(GYRE_SELFTEST_FULL, 0);
    gyre_attained attained;

    fake_success(selftest);
    for (size_t i = 0; i < selftest->count && count > 0; i++)
        if (selftest->trials[i].row == row) {
            selftest->trials[i].verdict = selftest->trials[i].second = verdict;
            selftest->trials[i].repeated = verdict >= GYRE_AB_FASTER;
            count--;
        }
    gyre_selftest_judge(selftest, targets);
    attained = targets[target].attained;
    CHECK(gyre_selftest_passed(targets) == (attained == GYRE_ATTAINED_MET));
    gyre_selftest_destroy(selftest);
    return attained;
}

static void full_targets_turn_at_their_limits(void)
{
    const gyre_attained met = GYRE_ATTAINED_MET, missed = GYRE_ATTAINED_MISSED;
    const gyre_ab_verdict no = GYRE_AB_UNDECIDED;

    for (size_t w = 0; w < GYRE_SELFTEST_WORKLOADS; w++) {
        const size_t row = w * GYRE_SELFTEST_KINDS, target = w * TARGETS_EACH;

        CHECK(with_bad(row + AA, 3, GYRE_AB_FASTER, target + ALARMS) == met);
        CHECK(with_bad(row + AA, 4, GYRE_AB_FASTER, target + ALARMS) == missed); /* by its bound */
        CHECK(with_bad(row + AA, 40, no, target + EQUIVALENT) == met);
        CHECK(with_bad(row + AA, 41, no, target + EQUIVALENT) == missed);
        CHECK(with_bad(row + PLUS_2, 20, no, target + FOUND_2) == met);
        CHECK(with_bad(row + PLUS_2, 21, no, target + FOUND_2) == missed);
        CHECK(with_bad(row + PLUS_5, 10, GYRE_AB_FASTER, target + FOUND_5) == met);
        CHECK(with_bad(row + PLUS_5, 11, GYRE_AB_FASTER, target + FOUND_5) == missed);
    }
}

static void numbers_turn_at_their_limits(void)
{
    gyre_selftest_target targets[GYRE_SELFTEST_TARGETS];
    gyre_selftest *selftest = fake_selftest(GYRE_SELFTEST_FULL, 0);
    gyre_selftest_row *row = &selftest->rows[fake_row(GYRE_SELFTEST_MEMORY, GYRE_SELFTEST_1)];

    fake_success(selftest);
    for (size_t i = 0; i < selftest->count; i++)
        selftest->trials[i].mde = 0.03;
    selftest->trials[selftest->count - 1].seconds = 16.5; /* relinked, memory */
    selftest->head->duration_s = 4501;
    row->proof.new_value = row->proof.old_value * 1.0106;
    gyre_selftest_judge(selftest, targets);
    CHECK(targets[MDE].attained == GYRE_ATTAINED_MISSED && near(targets[MDE].value, 0.03));
    CHECK(targets[TARGETS_EACH + MDE].attained == GYRE_ATTAINED_MET);
    CHECK(targets[LONGEST].attained == GYRE_ATTAINED_MET && near(targets[LONGEST].value, 0.75));
    CHECK(targets[TARGETS_EACH + LONGEST].attained == GYRE_ATTAINED_MISSED);
    CHECK(targets[DEVIATION].attained == GYRE_ATTAINED_MET);
    CHECK(targets[TARGETS_EACH + DEVIATION].attained == GYRE_ATTAINED_MISSED);
    CHECK(targets[GYRE_SELFTEST_TARGETS - 1].attained == GYRE_ATTAINED_MISSED);
    CHECK(!gyre_selftest_proved(selftest) && !gyre_selftest_passed(targets));
    row->proof.new_value = row->proof.old_value * 1.0104;
    CHECK(gyre_selftest_proved(selftest));
    gyre_selftest_destroy(selftest);
}

static void what_was_not_counted_is_not_proved(void)
{
    gyre_selftest_target targets[GYRE_SELFTEST_TARGETS];
    gyre_selftest *selftest = fake_selftest(GYRE_SELFTEST_CUSTOM, 1);

    fake_success(selftest);
    selftest->rows[GYRE_SELFTEST_1].proof.known = false;
    gyre_selftest_judge(selftest, targets);
    CHECK(targets[DEVIATION].attained == GYRE_ATTAINED_NOT_MEASURED);
    CHECK(gyre_selftest_passed(targets) && !gyre_selftest_proved(selftest));
    gyre_selftest_destroy(selftest);
}

/* 1.5 % are too many, although their bound is under 2 %. */
static void many_trials_are_held_to_the_rate_too(void)
{
    gyre_selftest_target targets[GYRE_SELFTEST_TARGETS];
    gyre_selftest *selftest = fake_selftest(GYRE_SELFTEST_CUSTOM, 4000);

    fake_trials(selftest, AA, 60, GYRE_AB_SLOWER, GYRE_AB_SLOWER);
    fake_trials(selftest, AA, 3940, GYRE_AB_EQUIVALENT, GYRE_AB_EQUIVALENT);
    gyre_selftest_judge(selftest, targets);
    CHECK(targets[ALARMS].share.high < 0.02 && targets[ALARMS].attained == GYRE_ATTAINED_MISSED);
    gyre_selftest_destroy(selftest);
}

/* 30 trials cannot show that alarms are below 2 %, but they can show that they are not. */
static void quick_says_only_what_its_bounds_say(void)
{
    gyre_selftest_target targets[GYRE_SELFTEST_TARGETS];
    gyre_selftest *selftest = fake_selftest(GYRE_SELFTEST_CUSTOM, 30);

    fake_trials(selftest, AA, 30, GYRE_AB_EQUIVALENT, GYRE_AB_EQUIVALENT);
    fake_trials(selftest, PLUS_2, 29, GYRE_AB_SLOWER, GYRE_AB_SLOWER);
    fake_trials(selftest, PLUS_2, 1, GYRE_AB_UNDECIDED, GYRE_AB_UNDECIDED);
    fake_trials(selftest, PLUS_5, 30, GYRE_AB_UNDECIDED, GYRE_AB_UNDECIDED);
    fake_trials(selftest, 5 + AA, 30, GYRE_AB_SLOWER, GYRE_AB_SLOWER);
    gyre_selftest_judge(selftest, targets);
    CHECK(targets[ALARMS].attained == GYRE_ATTAINED_UNCLEAR);
    CHECK(near(targets[ALARMS].share.high, 0.09503385285530414));
    CHECK(targets[EQUIVALENT].attained == GYRE_ATTAINED_MET); /* at least 90.5 % */
    CHECK(targets[FOUND_2].attained == GYRE_ATTAINED_UNCLEAR);
    CHECK(targets[FOUND_5].attained == GYRE_ATTAINED_MISSED);
    CHECK(targets[TARGETS_EACH + ALARMS].attained == GYRE_ATTAINED_MISSED);
    CHECK(targets[TARGETS_EACH + FOUND_2].attained == GYRE_ATTAINED_NOT_MEASURED);
    CHECK(targets[GYRE_SELFTEST_TARGETS - 1].attained == GYRE_ATTAINED_NOT_MEASURED);
    gyre_selftest_destroy(selftest);
}

static const test_case cases[] = {
    TEST(full_success_passes),
    TEST(full_targets_turn_at_their_limits),
    TEST(numbers_turn_at_their_limits),
    TEST(what_was_not_counted_is_not_proved),
    TEST(many_trials_are_held_to_the_rate_too),
    TEST(quick_says_only_what_its_bounds_say),
};
TEST_MAIN(cases)
