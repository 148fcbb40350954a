/* SPDX-License-Identifier: Apache-2.0 */
#include "record/policy.h"

#include <stdlib.h>
#include <unistd.h>

#include "record/ab_fake.h"
#include "test.h"

static gyre_policy *policy;

static gyre_status parse(const char *text)
{
    return gyre_policy_parse(text, strlen(text), "p.json", &policy);
}

/* One with these members after its schema. */
static gyre_status parse_with(const char *members)
{
    char text[512];

    snprintf(text, sizeof text, "{\"schema\": \"gyre.gate/1\", %s}", members);
    return parse(text);
}

static bool error_says(const char *words)
{
    const bool says = strstr(gyre_error_last()->text, words) != NULL;

    if (!says)
        fprintf(stderr, "  the error is: %s\n", gyre_error_last()->text);
    return says;
}

static bool are(const gyre_margins *margins, double warn, double fail)
{
    return margins->asked && margins->warn == warn && margins->fail == fail;
}

static void defaults_gate_time_alone(void)
{
    const gyre_policy_rule *rule;

    REQUIRE(gyre_policy_create(&policy) == GYRE_OK);
    rule = gyre_policy_find(policy, "g/a");
    CHECK(are(&rule->margins[GYRE_GATED_TIME], 0.05, 0.10) && !rule->ignore);
    CHECK(!rule->margins[GYRE_GATED_MEMORY].asked);
    CHECK(!rule->margins[GYRE_GATED_INSTRUCTIONS].asked);
    CHECK(gyre_policy_asks(policy, GYRE_GATED_TIME));
    CHECK(!gyre_policy_asks(policy, GYRE_GATED_MEMORY));
    CHECK(policy->on_undecided == GYRE_POLICY_WARN && policy->on_missing == GYRE_POLICY_WARN);
    gyre_policy_destroy(policy);
    gyre_policy_destroy(NULL);
}

static void first_rule_that_matches_decides_wholly(void)
{
    const gyre_policy_rule *rule;

    REQUIRE(parse_with("\"on_undecided\": \"fail\", \"on_missing\": \"ignore\", \"rules\": ["
                       "{\"pattern\": \"^queue/slow\", \"ignore\": true},"
                       "{\"pattern\": \"^queue/\", \"time\": {\"warn\": 0.02, \"fail\": 0.03},"
                       " \"memory\": {}},"
                       "{\"pattern\": \"push\", \"instructions\": {\"fail\": 0.005}}]") == GYRE_OK);
    CHECK(policy->on_undecided == GYRE_POLICY_FAIL && policy->on_missing == GYRE_POLICY_IGNORE);
    CHECK(gyre_policy_find(policy, "queue/slow")->ignore);
    rule = gyre_policy_find(policy, "queue/push");
    CHECK(are(&rule->margins[GYRE_GATED_TIME], 0.02, 0.03) && !rule->ignore);
    CHECK(are(&rule->margins[GYRE_GATED_MEMORY], 0.10, 0.20));
    CHECK(!rule->margins[GYRE_GATED_INSTRUCTIONS].asked);
    rule = gyre_policy_find(policy, "stack/push");
    CHECK(are(&rule->margins[GYRE_GATED_TIME], 0.05, 0.10));
    CHECK(are(&rule->margins[GYRE_GATED_INSTRUCTIONS], 0.005, 0.005));
    CHECK(gyre_policy_find(policy, "other") == &policy->otherwise);
    CHECK(gyre_policy_asks(policy, GYRE_GATED_MEMORY));
    CHECK(gyre_policy_asks(policy, GYRE_GATED_INSTRUCTIONS));
    gyre_policy_destroy(policy);
}

static void absent_margin_follows_the_other(void)
{
    REQUIRE(parse_with("\"rules\": [{\"pattern\": \"a\", \"time\": {\"warn\": 0.2}},"
                       "{\"pattern\": \"b\", \"time\": {\"fail\": 0.2}},"
                       "{\"pattern\": \"c\", \"time\": {\"fail\": 0}}]") == GYRE_OK);
    CHECK(are(&gyre_policy_find(policy, "a")->margins[GYRE_GATED_TIME], 0.2, 0.2));
    CHECK(are(&gyre_policy_find(policy, "b")->margins[GYRE_GATED_TIME], 0.05, 0.2));
    CHECK(are(&gyre_policy_find(policy, "c")->margins[GYRE_GATED_TIME], 0, 0));
    gyre_policy_destroy(policy);
}

static void ignored_rule_asks_for_nothing(void)
{
    REQUIRE(parse_with("\"rules\": [{\"pattern\": \"a\", \"ignore\": true, \"memory\": {}}]") ==
            GYRE_OK);
    CHECK(!gyre_policy_asks(policy, GYRE_GATED_MEMORY));
    gyre_policy_destroy(policy);
}

static void what_is_wrong_is_named(void)
{
    static const struct {
        const char *members, *says;
    } wrong[] = {
        {"\"rule\": []", "'p.json': rule is not known here; correct it"},
        {"\"rules\": {}", "rules is not an array"},
        {"\"rules\": [7]", "rules[0] is not an object"},
        {"\"on_undecided\": \"maybe\"", "on_undecided is not one of warn|ignore|fail"},
        {"\"on_missing\": 1", "on_missing is not a string"},
        {"\"rules\": [{\"pattern\": \"a\"}, {}]", "rules[1].pattern is missing"},
        {"\"rules\": [{\"pattern\": \"\"}]", "rules[0].pattern is empty or longer"},
        {"\"rules\": [{\"pattern\": \"(a\"}]", "rules[0].pattern has an error: "},
        {"\"rules\": [{\"pattern\": \"a{9}\"}]", "rules[0].pattern has something that has no"},
        {"\"rules\": [{\"pattern\": \"a\", \"tiem\": {}}]", "rules[0].tiem is not known here"},
        {"\"rules\": [{\"pattern\": \"a\", \"time\": 5}]", "rules[0].time is not an object"},
        {"\"rules\": [{\"pattern\": \"a\", \"time\": {\"fial\": 1}}]",
         "rules[0].time.fial is not known here"},
        {"\"rules\": [{\"pattern\": \"a\", \"time\": {\"warn\": 0.2, \"fail\": 0.1}}]",
         "rules[0].time.warn is above fail"},
        {"\"rules\": [{\"pattern\": \"a\", \"time\": {\"warn\": \"5 %\"}}]",
         "rules[0].time.warn is not a number"},
        {"\"rules\": [{\"pattern\": \"a\", \"time\": {\"fail\": -1}}]",
         "rules[0].time.fail cannot be -1"},
        {"\"rules\": [{\"pattern\": \"a\", \"time\": {\"fail\": 101}}]",
         "rules[0].time.fail cannot be 101"},
        {"\"rules\": [{\"pattern\": \"a\", \"ignore\": 1}]", "rules[0].ignore is neither"},
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK(parse_with(wrong[i].members) == GYRE_CORRUPT && !policy && error_says(wrong[i].says));
    CHECK(parse("{") == GYRE_CORRUPT && error_says("'p.json': line 1: ") &&
          error_says("correct it"));
    CHECK(parse("{\"schema\": \"gyre.run/1\"}") == GYRE_CORRUPT &&
          error_says("'p.json' is not a policy for gyre gate (gyre.gate/1)"));
    CHECK(parse("{\"schema\": \"gyre.gate/2\"}") == GYRE_UNSUPPORTED && error_says("newer Gyre"));
}

static void file_is_read(void)
{
    char path[] = "/tmp/gyre_policy_test_XXXXXX";
    const int file = mkstemp(path);
    static const char text[] = "{\"schema\": \"gyre.gate/1\"}";

    REQUIRE(file >= 0 && write(file, text, sizeof text - 1) == sizeof text - 1);
    close(file);
    REQUIRE(gyre_policy_read(path, &policy) == GYRE_OK);
    CHECK(policy->rule_count == 0);
    gyre_policy_destroy(policy);
    unlink(path);
    CHECK(gyre_policy_read(path, &policy) == GYRE_NOT_FOUND && !policy);
}

static void pattern_without_a_benchmark_is_refused(void)
{
    gyre_ab *ab = fake_full_ab();

    REQUIRE(parse_with("\"rules\": [{\"pattern\": \"^g/slow\"}, {\"pattern\": \"^g/gone$\"},"
                       "{\"pattern\": \"added\"}]") == GYRE_OK);
    CHECK(gyre_policy_check(policy, gyre_policy_id_of_ab, ab) == GYRE_OK);
    gyre_policy_destroy(policy);
    REQUIRE(parse_with("\"rules\": [{\"pattern\": \"^g/solwer$\"}]") == GYRE_OK);
    CHECK(gyre_policy_check(policy, gyre_policy_id_of_ab, ab) == GYRE_INVALID);
    CHECK(error_says("the policy's pattern '^g/solwer$' matches no benchmark; the nearest is "
                     "'g/slower'"));
    gyre_policy_destroy(policy);
    gyre_ab_destroy(ab);
}

static const test_case cases[] = {
    TEST(defaults_gate_time_alone),
    TEST(first_rule_that_matches_decides_wholly),
    TEST(absent_margin_follows_the_other),
    TEST(ignored_rule_asks_for_nothing),
    TEST(what_is_wrong_is_named),
    TEST(file_is_read),
    TEST(pattern_without_a_benchmark_is_refused),
};
TEST_MAIN(cases)
