/* SPDX-License-Identifier: Apache-2.0 */
#include "record/gate.h"

#include <math.h>
#include <stdlib.h>

#include "record/ab_fake.h"
#include "test.h"

static gyre_ab *ab;
static gyre_policy *policy;
static gyre_findings *findings;

static void begin(const char *rules)
{
    char text[512];

    snprintf(text, sizeof text, "{\"schema\": \"gyre.gate/1\", %s}", rules);
    if (gyre_policy_parse(text, strlen(text), "p.json", &policy) != GYRE_OK)
        abort();
    ab = fake_ab();
}

static void evaluate(void)
{
    if (gyre_ab_judge(ab) != GYRE_OK || gyre_gate_evaluate(policy, ab, &findings) != GYRE_OK)
        abort();
}

static void end(void)
{
    gyre_findings_destroy(findings);
    gyre_policy_destroy(policy);
    gyre_ab_destroy(ab);
    findings = NULL;
}

static const gyre_finding *about(const gyre_findings *among, const char *id)
{
    for (size_t i = 0; i < among->count; i++)
        if (strcmp(among->items[i].id, id) == 0)
            return &among->items[i];
    return NULL;
}

/* The first finding about that benchmark is of the kind and says these words. */
static bool found(const char *id, gyre_finding_kind kind, const char *words)
{
    const gyre_finding *f = about(findings, id);
    const bool is = f && f->kind == kind && strstr(f->text, words);

    if (!is)
        fprintf(stderr, "  %s: %s: %s\n", id, f ? gyre_finding_kind_name(f->kind) : "nothing",
                f ? f->text : "");
    return is;
}

static void time_is_held_against_both_margins(void)
{
    begin("\"rules\": []");
    fake_bench(ab, "g/fails", 8, 0.12, 0.002);
    fake_bench(ab, "g/warns", 8, 0.07, 0.002);
    fake_bench(ab, "g/notes", 8, 0.03, 0.002);
    fake_bench(ab, "g/open_warn", 48, 0.05, 0.002);
    fake_bench(ab, "g/open_fail", 48, 0.10, 0.002);
    fake_bench(ab, "g/wild", 48, 0.10, 0.9);
    fake_bench(ab, "g/same", 8, 0, 0.002);
    fake_bench(ab, "g/faster", 8, -0.3, 0.002);
    evaluate();
    CHECK(found("g/fails", GYRE_FINDING_FAIL, "time +12.00 % [+11.77 +12.23], fails above 10 %"));
    CHECK(found("g/warns", GYRE_FINDING_WARN, "time +7.00 % ["));
    CHECK(found("g/warns", GYRE_FINDING_WARN, "warns above 5 %"));
    CHECK(found("g/notes", GYRE_FINDING_NOTE, "within the policy"));
    CHECK(found("g/open_warn", GYRE_FINDING_NOTE, "whether that is above 5 % is open"));
    CHECK(found("g/open_fail", GYRE_FINDING_UNDECIDED,
                "whether that is above 10 % is open after 48 launches, but it is above the margin "
                "for warnings; MDE 10."));
    CHECK(found("g/wild", GYRE_FINDING_UNDECIDED, "open after 48 launches; MDE "));
    CHECK(!about(findings, "g/same") && !about(findings, "g/faster"));
    CHECK(findings->count == 6 && findings->gated == 8);
    CHECK(gyre_findings_count(findings, GYRE_FINDING_UNDECIDED) == 2);
    CHECK(fabs(about(findings, "g/fails")->change - 0.12) < 1e-9);
    end();
}

/* 0.005 alone, three times that beside two others: Holm's method over the suite. */
static void suite_is_corrected_at_each_margin(void)
{
    begin("\"rules\": []");
    fake_bench(ab, "g/a", 8, 0.115, 0.0118);
    evaluate();
    CHECK(found("g/a", GYRE_FINDING_FAIL, "fails above 10 %"));
    gyre_findings_destroy(findings);
    fake_bench(ab, "g/b", 8, 0, 0.002);
    fake_bench(ab, "g/c", 8, 0, 0.002);
    evaluate();
    CHECK(found("g/a", GYRE_FINDING_UNDECIDED, "above the margin for warnings"));
    end();
}

/* The first look sees 20 %, the last nothing. */
static void last_look_that_keeps_the_margin_comes_first(void)
{
    gyre_ab_bench *bench;

    begin("\"rules\": []");
    bench = fake_bench(ab, "g/a", 48, 0.0, 0.004);
    for (size_t i = 0; i < 8; i++)
        for (size_t k = 0; k < FAKE_PAIRS; k++)
            bench->launches[i].new_ns[k] *= 1.2;
    ab->rule.alpha = 0.2;
    evaluate();
    CHECK(gyre_judge_settled(&bench->judgement, &ab->rule, 1));
    CHECK(!about(findings, "g/a") || about(findings, "g/a")->kind == GYRE_FINDING_NOTE);
    end();
}

static void undecided_is_what_the_policy_makes_of_it(void)
{
    static const struct {
        const char *act;
        gyre_finding_kind kind;
    } acts[] = {{"warn", GYRE_FINDING_UNDECIDED},
                {"ignore", GYRE_FINDING_NOTE},
                {"fail", GYRE_FINDING_FAIL}};

    for (size_t i = 0; i < 3; i++) {
        char member[64];

        snprintf(member, sizeof member, "\"on_undecided\": \"%s\"", acts[i].act);
        begin(member);
        fake_bench(ab, "g/wild", 48, 0.10, 0.9);
        evaluate();
        CHECK(found("g/wild", acts[i].kind, "is open after"));
        end();
    }
}

static void counts_are_gated_where_asked(void)
{
    gyre_ab_bench *bench;

    begin("\"rules\": [{\"pattern\": \"asked\", \"memory\": {}, \"instructions\": {}}]");
    bench = fake_bench(ab, "g/asked", 8, 0, 0);
    fake_count(bench, GYRE_AB_PEAK_RSS, 100, 130);
    fake_count(bench, GYRE_AB_ALLOCATIONS, 0, 1);
    fake_count(bench, GYRE_AB_ALLOCATED, 100, 120);
    fake_count(bench, GYRE_AB_INSTRUCTIONS, 1000, 1015);
    bench = fake_bench(ab, "g/free", 8, 0, 0);
    fake_count(bench, GYRE_AB_PEAK_RSS, 100, 1000);
    fake_bench(ab, "g/asked_uncounted", 8, 0, 0);
    evaluate();
    REQUIRE(findings->count == 6);
    CHECK(findings->items[0].kind == GYRE_FINDING_FAIL);
    CHECK(strcmp(findings->items[0].text, "peak memory +30.00 % (100 to 130), fails above 20 %") ==
          0);
    CHECK(findings->items[1].kind == GYRE_FINDING_FAIL && isinf(findings->items[1].change));
    CHECK(findings->items[2].kind == GYRE_FINDING_WARN);
    CHECK(findings->items[2].about == GYRE_ABOUT_MEMORY);
    CHECK(findings->items[3].kind == GYRE_FINDING_WARN);
    CHECK(findings->items[3].about == GYRE_ABOUT_INSTRUCTIONS);
    CHECK(strcmp(findings->items[3].text, "instructions +1.50 % (1000 to 1015), warns above 1 %") ==
          0);
    CHECK(findings->items[4].kind == GYRE_FINDING_NOTE);
    CHECK(strcmp(findings->items[4].text, "memory not counted: nobody asked for it") == 0);
    CHECK(strcmp(findings->items[5].text, "instructions not counted: nobody asked for it") == 0);
    CHECK(!about(findings, "g/free"));
    end();
}

/* In numbers that are exact. */
static void margin_itself_is_kept(void)
{
    begin("\"rules\": [{\"pattern\": \"g\", \"memory\": {\"warn\": 0.25, \"fail\": 0.5}}]");
    fake_count(fake_bench(ab, "g/at_warn", 8, 0, 0), GYRE_AB_PEAK_RSS, 4, 5);
    fake_count(fake_bench(ab, "g/at_fail", 8, 0, 0), GYRE_AB_PEAK_RSS, 4, 6);
    fake_count(fake_bench(ab, "g/above", 8, 0, 0), GYRE_AB_PEAK_RSS, 4, 6.5);
    evaluate();
    CHECK(!about(findings, "g/at_warn"));
    CHECK(found("g/at_fail", GYRE_FINDING_WARN, "warns above 25 %"));
    CHECK(found("g/above", GYRE_FINDING_FAIL, "fails above 50 %"));
    end();
}

/* Slower the first time, larger the second: that is no confirmation. */
static void repeat_has_to_fail_in_the_same_way(void)
{
    gyre_findings *first;

    begin("\"rules\": [{\"pattern\": \"g\", \"memory\": {}}]");
    fake_count(fake_bench(ab, "g/a", 8, 0.3, 0.002), GYRE_AB_PEAK_RSS, 4, 4);
    evaluate();
    first = findings;
    for (size_t i = 0; i < 8; i++)
        for (size_t k = 0; k < FAKE_PAIRS; k++)
            ab->benches[0].launches[i].new_ns[k] = ab->benches[0].launches[i].old_ns[k];
    fake_count(&ab->benches[0], GYRE_AB_PEAK_RSS, 4, 8);
    evaluate();
    CHECK(found("g/a", GYRE_FINDING_FAIL, "peak memory"));
    REQUIRE(gyre_gate_confirm(first, findings, NULL) == GYRE_OK);
    gyre_findings_destroy(findings);
    findings = first;
    CHECK(found("g/a", GYRE_FINDING_WARN, "not confirmed by a repeat"));
    end();
}

static void broken_new_version_fails(void)
{
    begin("\"rules\": [{\"pattern\": \"ignored\", \"ignore\": true}]");
    fake_failed(ab, "g/new", GYRE_OUTCOME_FAILED, "new, launch 3: was killed by signal 11");
    fake_failed(ab, "g/old", GYRE_OUTCOME_FAILED, "old, launch 1: its answer is wrong");
    fake_failed(ab, "g/both", GYRE_OUTCOME_FAILED, "hangs");
    fake_failed(ab, "g/skipped", GYRE_OUTCOME_SKIPPED, "no GPU");
    fake_failed(ab, "g/interrupted", GYRE_OUTCOME_INTERRUPTED, "interrupted");
    fake_failed(ab, "g/ignored", GYRE_OUTCOME_FAILED, "new: oh");
    evaluate();
    CHECK(found("g/new", GYRE_FINDING_FAIL, "failed: new, launch 3: was killed by signal 11"));
    CHECK(found("g/old", GYRE_FINDING_WARN, "failed: old, launch 1"));
    CHECK(found("g/both", GYRE_FINDING_UNDECIDED, "failed: hangs")); /* nobody's doing */
    CHECK(found("g/skipped", GYRE_FINDING_WARN, "skipped: no GPU"));
    CHECK(found("g/interrupted", GYRE_FINDING_UNDECIDED, "interrupted"));
    CHECK(!about(findings, "g/ignored"));
    CHECK(findings->gated == 5);
    end();
}

static void missing_is_what_the_policy_makes_of_it(void)
{
    const char *gone[] = {"g/gone", "g/ignored"}, *added[] = {"g/added"};
    static const struct {
        const char *act;
        gyre_finding_kind kind;
    } acts[] = {
        {"warn", GYRE_FINDING_WARN}, {"ignore", GYRE_FINDING_NOTE}, {"fail", GYRE_FINDING_FAIL}};

    for (size_t i = 0; i < 3; i++) {
        char member[128];

        snprintf(
            member, sizeof member,
            "\"on_missing\": \"%s\", \"rules\": [{\"pattern\": \"ignored\", \"ignore\": true}]",
            acts[i].act);
        begin(member);
        ab->only_old = gone;
        ab->only_new = added;
        ab->only_old_count = 2;
        ab->only_new_count = 1;
        fake_failed(ab, "g/skipped", GYRE_OUTCOME_SKIPPED, "new, launch 1: no GPU");
        fake_failed(ab, "g/skipped_too", GYRE_OUTCOME_SKIPPED, "old, launch 1: no GPU");
        evaluate();
        CHECK(found("g/gone", acts[i].kind, "the new version does not have it"));
        CHECK(found("g/skipped", acts[i].kind, "no GPU"));
        CHECK(found("g/skipped_too", GYRE_FINDING_WARN, "no GPU")); /* both lack it, as before */
        CHECK(found("g/added", GYRE_FINDING_NOTE, "only the new version has it"));
        CHECK(!about(findings, "g/ignored"));
        end();
    }
}

static void only_what_fails_twice_fails(void)
{
    const char *gone[] = {"g/gone"}, *ids[4];
    gyre_findings *first;

    begin("\"on_missing\": \"fail\"");
    fake_bench(ab, "g/real", 8, 0.2, 0.002);
    fake_bench(ab, "g/chance", 8, 0.2, 0.002);
    fake_failed(ab, "g/crashed", GYRE_OUTCOME_FAILED, "new: killed");
    fake_bench(ab, "g/warns", 8, 0.07, 0.002);
    ab->only_old = gone;
    ab->only_old_count = 1;
    evaluate();
    first = findings;
    CHECK(gyre_gate_doubtful(first, ids, 4) == 2);
    CHECK(strcmp(ids[0], "g/real") == 0 && strcmp(ids[1], "g/chance") == 0);
    CHECK(gyre_gate_doubtful(first, ids, 1) == 2);
    for (size_t i = 0; i < ab->benches[1].launch_count; i++) /* this time there is no change */
        for (size_t k = 0; k < FAKE_PAIRS; k++)
            ab->benches[1].launches[i].new_ns[k] = ab->benches[1].launches[i].old_ns[k];
    ab->only_old_count = 0;
    evaluate();
    REQUIRE(gyre_gate_confirm(first, findings, NULL) == GYRE_OK);
    gyre_findings_destroy(findings);
    findings = first;
    CHECK(found("g/real", GYRE_FINDING_FAIL, "fails above 10 %; confirmed by a repeat"));
    CHECK(found("g/chance", GYRE_FINDING_WARN, "; not confirmed by a repeat"));
    CHECK(found("g/crashed", GYRE_FINDING_FAIL, "killed"));
    CHECK(!strstr(about(findings, "g/crashed")->text, "repeat"));
    CHECK(found("g/warns", GYRE_FINDING_WARN, "warns above 5 %"));
    CHECK(!strstr(about(findings, "g/warns")->text, "repeat"));
    CHECK(found("g/gone", GYRE_FINDING_FAIL, "does not have it"));
    CHECK(!strstr(about(findings, "g/gone")->text, "repeat"));
    CHECK(about(findings, "g/real")->repeated && !about(findings, "g/warns")->repeated);
    end();
}

/* A failure is not washed away by a repeat that could not tell. */
static void repeat_that_fails_otherwise_does_not_help(void)
{
    gyre_findings *first;

    begin("\"rules\": []");
    fake_bench(ab, "g/crashes", 8, 0.2, 0.002);
    fake_bench(ab, "g/open", 48, 0.2, 0.002);
    evaluate();
    first = findings;
    ab->benches[0].outcome = GYRE_OUTCOME_FAILED;
    ab->benches[0].side = 1;
    ab->benches[0].reason = "new, launch 3: was killed by signal 11";
    for (size_t i = 0; i < ab->benches[1].launch_count; i++) /* anything between -20 and +44 % */
        for (size_t k = 0; k < FAKE_PAIRS; k++)
            ab->benches[1].launches[i].new_ns[k] =
                ab->benches[1].launches[i].old_ns[k] * (i % 2 ? 1.44 : 0.8);
    evaluate();
    CHECK(found("g/open", GYRE_FINDING_UNDECIDED, "is open after 48 launches"));
    REQUIRE(gyre_gate_confirm(first, findings, NULL) == GYRE_OK);
    gyre_findings_destroy(findings);
    findings = first;
    CHECK(
        found("g/crashes", GYRE_FINDING_FAIL,
              "; unconfirmed, because the repeat failed: new, launch 3: was killed by signal 11"));
    CHECK(found("g/open", GYRE_FINDING_UNDECIDED, "; left open by a repeat"));
    end();
}

static void what_is_open_is_what_the_policy_makes_of_it(void)
{
    begin("\"on_undecided\": \"fail\"");
    fake_failed(ab, "g/stopped", GYRE_OUTCOME_INTERRUPTED, "interrupted");
    evaluate();
    CHECK(found("g/stopped", GYRE_FINDING_FAIL, "interrupted"));
    end();
    begin("\"on_undecided\": \"ignore\"");
    fake_failed(ab, "g/stopped", GYRE_OUTCOME_INTERRUPTED, "interrupted");
    evaluate();
    CHECK(found("g/stopped", GYRE_FINDING_NOTE, "interrupted"));
    end();
}

static void failure_without_a_repeat_stays(void)
{
    begin("\"rules\": []");
    fake_bench(ab, "g/a", 8, 0.2, 0.002);
    evaluate();
    REQUIRE(gyre_gate_confirm(findings, NULL, "no repeat was wanted") == GYRE_OK);
    CHECK(found("g/a", GYRE_FINDING_FAIL, "; unconfirmed: no repeat was wanted"));
    CHECK(!findings->items[0].repeated);
    end();
}

static void settled_when_every_margin_is_answered(void)
{
    begin("\"rules\": [{\"pattern\": \"ignored\", \"ignore\": true}]");
    CHECK(gyre_gate_settled(policy, 0.01, fake_bench(ab, "g/same", 8, 0, 0.002), 20));
    CHECK(gyre_gate_settled(policy, 0.01, fake_bench(ab, "g/between", 8, 0.07, 0.002), 20));
    CHECK(gyre_gate_settled(policy, 0.01, fake_bench(ab, "g/above", 8, 0.2, 0.002), 20));
    CHECK(!gyre_gate_settled(policy, 0.01, fake_bench(ab, "g/between9", 9, 0.07, 0.002), 20));
    CHECK(!gyre_gate_settled(policy, 0.01, fake_bench(ab, "g/near", 8, 0.10, 0.002), 20));
    CHECK(!gyre_gate_settled(policy, 0.01, fake_bench(ab, "g/wild", 8, 0, 0.5), 20));
    CHECK(gyre_gate_settled(policy, 0.01, fake_bench(ab, "g/ignored", 8, 0, 0.5), 20));
    /* above 10 % with p of 0.005: enough for one, not for twenty */
    CHECK(gyre_gate_settled(policy, 0.01, fake_bench(ab, "g/alone", 8, 0.115, 0.0118), 1));
    CHECK(!gyre_gate_settled(policy, 0.01, fake_find(ab, "g/alone"), 20));
    end();
}

static const test_case cases[] = {
    TEST(time_is_held_against_both_margins),
    TEST(suite_is_corrected_at_each_margin),
    TEST(last_look_that_keeps_the_margin_comes_first),
    TEST(undecided_is_what_the_policy_makes_of_it),
    TEST(counts_are_gated_where_asked),
    TEST(margin_itself_is_kept),
    TEST(repeat_has_to_fail_in_the_same_way),
    TEST(broken_new_version_fails),
    TEST(missing_is_what_the_policy_makes_of_it),
    TEST(only_what_fails_twice_fails),
    TEST(repeat_that_fails_otherwise_does_not_help),
    TEST(what_is_open_is_what_the_policy_makes_of_it),
    TEST(failure_without_a_repeat_stays),
    TEST(settled_when_every_margin_is_answered),
};
TEST_MAIN(cases)
