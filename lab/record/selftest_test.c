/* SPDX-License-Identifier: Apache-2.0 */
#include "record/selftest.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "gyre/settings.h"
#include "record/selftest_fake.h"
#include "record/trust.h"
#include "test.h"

enum { TARGETS_EACH = 7 };

/* In the order of a workload's targets. */
enum { ALARMS, EQUIVALENT, FOUND_2, FOUND_5, MDE, LONGEST, DEVIATION };

static const size_t AA = GYRE_SELFTEST_SAME, PLUS_2 = GYRE_SELFTEST_2, PLUS_5 = GYRE_SELFTEST_5;

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static bool is_share(const gyre_selftest_share *share, size_t hits, double low, double high)
{
    return share->hits == hits && near(share->share, (double)hits / (double)share->trials) &&
           near(share->low, low) && near(share->high, high);
}

static void full_plan_is_the_promised_one(void)
{
    static const size_t planned[] = {400, 200, 200, 200, 100};
    gyre_selftest *selftest = fake_selftest(GYRE_SELFTEST_FULL, 0);

    CHECK(selftest->capacity == 2200);
    for (size_t i = 0; i < GYRE_SELFTEST_ROWS; i++) {
        CHECK(selftest->rows[i].planned == planned[i % 5]);
        CHECK(selftest->rows[i].kind == (gyre_selftest_kind)(i % 5));
        CHECK(selftest->rows[i].workload == (gyre_selftest_workload)(i / 5));
    }
    gyre_selftest_destroy(selftest);
    selftest = fake_selftest(GYRE_SELFTEST_QUICK, 0);
    CHECK(selftest->rows[AA].planned == 30 && selftest->rows[5 + AA].planned == 30);
    gyre_selftest_destroy(selftest);
    selftest = fake_selftest(GYRE_SELFTEST_CUSTOM, 3);
    for (size_t i = 0; i < GYRE_SELFTEST_ROWS; i++)
        CHECK(selftest->rows[i].planned == 3);
    gyre_selftest_destroy(selftest);
    gyre_selftest_destroy(NULL);
}

static void order_has_every_trial_and_is_the_seeds(void)
{
    gyre_selftest *selftest = fake_selftest(GYRE_SELFTEST_FULL, 0);
    static size_t order[2200], same[2200], other[2200];
    size_t counts[GYRE_SELFTEST_ROWS] = {0}, early = 0;

    gyre_selftest_order(selftest, order);
    gyre_selftest_order(selftest, same);
    selftest->seed++;
    gyre_selftest_order(selftest, other);
    for (size_t i = 0; i < 2200; i++) {
        counts[order[i]]++;
        early += i < 550 && order[i] == AA; /* a quarter of 400 is expected in a quarter */
    }
    for (size_t i = 0; i < GYRE_SELFTEST_ROWS; i++)
        CHECK(counts[i] == selftest->rows[i].planned);
    CHECK(memcmp(order, same, sizeof order) == 0);
    CHECK(memcmp(order, other, sizeof order) != 0);
    CHECK(early > 50 && early < 150);
    gyre_selftest_destroy(selftest);
}

/* Bounds are Clopper and Pearson's, by summing the binomial distribution. */
static void figures_are_as_computed_elsewhere(void)
{
    gyre_selftest *selftest = fake_selftest(GYRE_SELFTEST_CUSTOM, 5);
    gyre_selftest_figures f;

    fake_trials(selftest, AA, 3, GYRE_AB_EQUIVALENT, GYRE_AB_UNDECIDED);
    fake_trials(selftest, AA, 1, GYRE_AB_UNDECIDED, GYRE_AB_UNDECIDED);
    fake_trials(selftest, AA, 1, GYRE_AB_FASTER, GYRE_AB_FASTER);
    fake_trials(selftest, PLUS_2, 5, GYRE_AB_SLOWER, GYRE_AB_SLOWER); /* no business of A/A's */
    f = gyre_selftest_figure(selftest, AA);
    CHECK(f.trials == 5 && f.wrong == 0 && selftest->rows[AA].count == 5);
    CHECK(is_share(&f.found, 1, 0.010206218313011606, 0.6574083180011385));
    CHECK(is_share(&f.equivalent, 3, 0.18925537743777088, 0.923559608587671));
    CHECK(is_share(&f.undecided, 1, 0.010206218313011606, 0.6574083180011385));
    CHECK(is_share(&f.unconfirmed, 0, 0, 0.45071972834694096));
    CHECK(near(f.change, 0.001) && near(f.change_sd, 0.000894427190999916)); /* 1 2 3 1 1 */
    CHECK(near(f.mde, 0.011) && near(f.mde_largest, 0.0112));
    CHECK(near(f.seconds, 0.5) && near(f.seconds_largest, 0.75) && f.launches == 8);
    gyre_selftest_destroy(selftest);
}

static void only_what_is_said_twice_counts(void)
{
    gyre_selftest *selftest = fake_selftest(GYRE_SELFTEST_CUSTOM, 5);
    gyre_selftest_figures f;

    for (size_t row = AA; row <= PLUS_5; row += PLUS_5) {
        fake_trials(selftest, row, 1, GYRE_AB_SLOWER, GYRE_AB_SLOWER);
        fake_trials(selftest, row, 1, GYRE_AB_SLOWER, GYRE_AB_FASTER);
        fake_trials(selftest, row, 1, GYRE_AB_SLOWER, GYRE_AB_EQUIVALENT);
        fake_trials(selftest, row, 1, GYRE_AB_FASTER, GYRE_AB_FASTER);
        fake_trials(selftest, row, 1, GYRE_AB_EQUIVALENT, GYRE_AB_EQUIVALENT);
        f = gyre_selftest_figure(selftest, row);
        CHECK(f.unconfirmed.hits == 2 && f.equivalent.hits == 1 && f.undecided.hits == 0);
        CHECK(f.found.hits == (row == AA ? 2 : 1)); /* faster is an alarm, but not what was added */
        CHECK(f.wrong == (row == AA ? 0 : 1));
    }
    gyre_selftest_destroy(selftest);
}

static void row_without_trials_has_no_figures(void)
{
    gyre_selftest *selftest = fake_selftest(GYRE_SELFTEST_QUICK, 0);
    const gyre_selftest_figures f = gyre_selftest_figure(selftest, PLUS_2);

    CHECK(f.trials == 0 && f.found.trials == 0 && f.found.low == 0 && f.found.high == 1);
    CHECK(f.mde == 0 && f.seconds == 0);
    gyre_selftest_destroy(selftest);
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

/* What a reader of JSON finds there; the caller's. */
static json_t *written(const gyre_selftest *selftest)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    json_t *root;

    if (!stream)
        abort();
    gyre_selftest_write(selftest, stream);
    fclose(stream);
    root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    CHECK(!strstr(text, "null"));
    free(text);
    return root;
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static bool text_is(const json_t *object, const char *key, const char *text)
{
    const char *found = json_string_value(json_object_get(object, key));

    return found && strcmp(found, text) == 0;
}

static void record_holds_every_trial(void)
{
    gyre_selftest *selftest = fake_selftest(GYRE_SELFTEST_FULL, 0);
    json_t *root, *trials, *row;

    fake_success(selftest);
    selftest->trials[7].mde = (double)INFINITY;
    root = written(selftest);
    REQUIRE(root);
    CHECK(text_is(root, "schema", "gyre.selftest/1") && text_is(root, "mode", "full"));
    CHECK(json_is_true(json_object_get(root, "full")) && json_object_get(root, "machine"));
    CHECK(json_is_true(json_object_get(root, "proved")));
    CHECK(text_is(root, "seed", "0fedcba987654321"));
    trials = json_object_get(root, "trials");
    CHECK(json_array_size(trials) == selftest->count &&
          !json_object_get(json_array_get(trials, 7), "mde"));
    for (size_t i = 0; i < selftest->count; i++) {
        const json_t *trial = json_array_get(trials, i);
        const gyre_selftest_trial *t = &selftest->trials[i];

        CHECK(number(trial, "row") == (double)t->row && number(trial, "change") == t->change);
        CHECK(number(trial, "sd") == t->sd && number(trial, "seconds") == t->seconds);
        CHECK(number(trial, "launches") == (double)t->launches);
        CHECK(text_is(trial, "verdict", gyre_ab_verdict_name(t->verdict)));
        CHECK(t->repeated ? text_is(trial, "second", gyre_ab_verdict_name(t->second))
                          : !json_object_get(trial, "second"));
    }
    row = json_array_get(json_object_get(root, "rows"), 5 + PLUS_2);
    CHECK(text_is(row, "workload", "judge/memory") && text_is(row, "kind", "+2 %"));
    CHECK(number(row, "added") == 0.02 && number(row, "trials") == 200);
    CHECK(number(json_object_get(row, "found"), "hits") == 200);
    CHECK(near(number(json_object_get(row, "proof"), "change"), 0.02));
    CHECK(json_array_size(json_object_get(root, "targets")) == GYRE_SELFTEST_TARGETS);
    json_decref(root);
    gyre_selftest_destroy(selftest);
}

static void interrupted_one_is_neither_full_nor_passed(void)
{
    gyre_selftest *selftest = fake_selftest(GYRE_SELFTEST_FULL, 0);
    json_t *root;

    selftest->head->interrupted = true;
    root = written(selftest);
    REQUIRE(root);
    CHECK(json_is_false(json_object_get(root, "full")));
    CHECK(json_is_false(json_object_get(root, "passed")));
    CHECK(json_is_false(json_object_get(root, "proved")));
    json_decref(root);
    gyre_selftest_destroy(selftest);
}

static void failed_one_says_so(void)
{
    gyre_selftest *selftest = fake_selftest(GYRE_SELFTEST_CUSTOM, 30);
    json_t *root;

    fake_trials(selftest, AA, 30, GYRE_AB_SLOWER, GYRE_AB_SLOWER);
    root = written(selftest);
    REQUIRE(root);
    CHECK(json_is_false(json_object_get(root, "passed")));
    CHECK(json_is_false(json_object_get(root, "full")));
    json_decref(root);
    gyre_selftest_destroy(selftest);
}

static void saved_record_is_there(void)
{
    char path[] = "/tmp/gyre_selftest_test_XXXXXX";
    const int file = mkstemp(path);
    gyre_selftest *selftest = fake_selftest(GYRE_SELFTEST_CUSTOM, 1);
    json_t *root;

    REQUIRE(file >= 0);
    close(file);
    CHECK(gyre_selftest_save(selftest, path) == GYRE_OK);
    root = json_load_file(path, 0, NULL);
    CHECK(root && text_is(root, "mode", "custom"));
    json_decref(root);
    unlink(path);
    CHECK(gyre_selftest_save(selftest, "/nowhere/selftest.json") == GYRE_IO);
    gyre_selftest_destroy(selftest);
}

static bool is_there(const char *folder, const char *name)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static bool takes_away(const char *folder, const char *name)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return remove(path) == 0;
}

/* Where a gate would look for it. */
static void full_record_is_for_all_projects(void)
{
    char folder[] = "/tmp/gyre_selftest_test_XXXXXX";
    gyre_selftest *full = fake_selftest(GYRE_SELFTEST_FULL, 0);
    gyre_selftest *quick = fake_selftest(GYRE_SELFTEST_QUICK, 0);

    fake_success(full);
    fake_success(quick);
    REQUIRE(mkdtemp(folder) && gyre_settings_set("XDG_STATE_HOME", folder) == GYRE_OK);
    CHECK(gyre_selftest_keep(quick, folder) == GYRE_OK && is_there(folder, "selftest.json"));
    CHECK(!is_there(folder, "gyre"));
    CHECK(!gyre_trust_find(folder, &full->head->machine).tested);
    full->head->interrupted = true;
    CHECK(gyre_selftest_keep(full, folder) == GYRE_OK && !is_there(folder, "gyre"));
    full->head->interrupted = false;
    CHECK(gyre_selftest_keep(full, folder) == GYRE_OK);
    CHECK(is_there(folder, "gyre/selftest.json"));
    CHECK(gyre_trust_find("/nowhere", &full->head->machine).tested);
    CHECK(gyre_selftest_keep(quick, "/nowhere") == GYRE_IO);
    CHECK(takes_away(folder, "gyre/selftest.json") && takes_away(folder, "gyre"));
    CHECK(takes_away(folder, "selftest.json") && rmdir(folder) == 0); /* there was nothing else */
    gyre_selftest_destroy(quick);
    gyre_selftest_destroy(full);
}

static const test_case cases[] = {
    TEST(full_plan_is_the_promised_one),
    TEST(order_has_every_trial_and_is_the_seeds),
    TEST(figures_are_as_computed_elsewhere),
    TEST(only_what_is_said_twice_counts),
    TEST(row_without_trials_has_no_figures),
    TEST(full_success_passes),
    TEST(full_targets_turn_at_their_limits),
    TEST(numbers_turn_at_their_limits),
    TEST(what_was_not_counted_is_not_proved),
    TEST(many_trials_are_held_to_the_rate_too),
    TEST(quick_says_only_what_its_bounds_say),
    TEST(record_holds_every_trial),
    TEST(interrupted_one_is_neither_full_nor_passed),
    TEST(failed_one_says_so),
    TEST(saved_record_is_there),
    TEST(full_record_is_for_all_projects),
};
TEST_MAIN(cases)
