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
    TEST(record_holds_every_trial),
    TEST(interrupted_one_is_neither_full_nor_passed),
    TEST(failed_one_says_so),
    TEST(saved_record_is_there),
    TEST(full_record_is_for_all_projects),
};
TEST_MAIN(cases)
