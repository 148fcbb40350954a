/* SPDX-License-Identifier: Apache-2.0 */
#include "record/gate.h"

#include <stdlib.h>

#include "record/run_fake.h"
#include "test.h"

static gyre_findings *findings;

static bool found(size_t index, const char *id, gyre_finding_kind kind, const char *words)
{
    const gyre_finding *f = index < findings->count ? &findings->items[index] : NULL;
    const bool is =
        f && strcmp(f->id, id) == 0 && f->kind == kind && strstr(f->text, words) != NULL;

    if (!is && f)
        fprintf(stderr, "  %s: %s: %s\n", f->id, gyre_finding_kind_name(f->kind), f->text);
    return is;
}

static gyre_result changed(const char *id, double low, double high, gyre_verdict verdict)
{
    gyre_result result = fake_measured(id, 100);

    result.change = (gyre_comparison){"base", (low + high) / 2, low, high, 0.001, verdict};
    return result;
}

static void intervals_are_held_against_the_margins(void)
{
    gyre_run *run;
    gyre_policy *policy;
    gyre_compared compared = {0};

    REQUIRE(gyre_run_create_blank(8, &run) == GYRE_OK);
    REQUIRE(gyre_policy_create(&policy) == GYRE_OK);
    fake_add(run, changed("g/fails", 0.11, 0.13, GYRE_VERDICT_REGRESSED));
    fake_add(run, changed("g/open", 0.09, 0.13, GYRE_VERDICT_REGRESSED));
    fake_add(run, changed("g/warns", 0.06, 0.08, GYRE_VERDICT_REGRESSED));
    fake_add(run, changed("g/open_warn", 0.04, 0.08, GYRE_VERDICT_REGRESSED));
    fake_add(run, changed("g/notes", 0.02, 0.04, GYRE_VERDICT_REGRESSED));
    fake_add(run, changed("g/same", -0.01, 0.01, GYRE_VERDICT_NONE));
    fake_add(run, fake_measured("g/uncompared", 100));
    REQUIRE(gyre_gate_evaluate_runs(policy, run, &compared, &findings) == GYRE_OK);
    CHECK(findings->count == 5 && findings->gated == 6);
    CHECK(
        found(0, "g/fails", GYRE_FINDING_FAIL, "time +12.00 % [+11.00 +13.00], above the margin"));
    CHECK(found(1, "g/open", GYRE_FINDING_UNDECIDED, "for failures is open"));
    CHECK(found(2, "g/warns", GYRE_FINDING_WARN, "above the margin for warnings"));
    CHECK(found(3, "g/open_warn", GYRE_FINDING_NOTE, "for warnings is open"));
    CHECK(found(4, "g/notes", GYRE_FINDING_NOTE, "within the policy"));
    gyre_findings_destroy(findings);
    gyre_policy_destroy(policy);
    gyre_run_destroy(run);
}

static void what_one_run_lacks_is_told(void)
{
    const char *lost[] = {"g/broken", "g/gone", "x/ignored"}, *added[] = {"g/added"};
    static const char text[] = "{\"schema\": \"gyre.gate/1\", \"rules\": [{\"pattern\": \"^x/\", "
                               "\"ignore\": true}]}";
    gyre_compared compared = {.only_base = {lost, 3}, .only_run = {added, 1}};
    gyre_run *run = fake_run();
    gyre_policy *policy;

    REQUIRE(gyre_policy_parse(text, sizeof text - 1, "p", &policy) == GYRE_OK);
    fake_add(run, fake_result("g/broken", GYRE_OUTCOME_FAILED));
    run->results[0].reason = "oh";
    fake_add(run, changed("x/slow", 0.5, 0.6, GYRE_VERDICT_REGRESSED));
    REQUIRE(gyre_gate_evaluate_runs(policy, run, &compared, &findings) == GYRE_OK);
    CHECK(findings->count == 3 && findings->gated == 0);
    CHECK(found(0, "g/broken", GYRE_FINDING_FAIL, "failed: oh"));
    CHECK(found(1, "g/gone", GYRE_FINDING_WARN, "has not measured it"));
    CHECK(found(2, "g/added", GYRE_FINDING_NOTE, "the base has not measured it"));
    gyre_findings_destroy(findings);
    gyre_policy_destroy(policy);
    gyre_run_destroy(run);
}

static const test_case cases[] = {
    TEST(intervals_are_held_against_the_margins),
    TEST(what_one_run_lacks_is_told),
};
TEST_MAIN(cases)
