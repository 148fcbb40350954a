/* SPDX-License-Identifier: Apache-2.0
 *
 * policy: see policy.h.
 */
#include "record/policy.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "record/document.h"
#include "record/pattern.h"

static const gyre_document_kind kind = {"gyre.gate/", "a policy for gyre gate", "correct it"};

static const double MOST_MARGIN = 100;

/* What holds where a rule asks without numbers. */
static const gyre_margins defaults[GYRE_GATED] = {
    [GYRE_GATED_TIME] = {true, 0.05, 0.10},
    [GYRE_GATED_MEMORY] = {true, 0.10, 0.20},
    [GYRE_GATED_INSTRUCTIONS] = {true, 0.01, 0.02},
};

const char *gyre_gated_name(gyre_gated gated)
{
    static const char *const names[] = {"time", "memory", "instructions"};

    return names[gated];
}

gyre_status gyre_policy_create(gyre_policy **out_policy)
{
    gyre_policy *policy;
    void *block;
    gyre_status status = gyre_alloc(NULL, 1, sizeof *policy, &block);

    *out_policy = NULL;
    if (status != GYRE_OK)
        return status;
    policy = block;
    policy->otherwise.pattern = "";
    policy->otherwise.margins[GYRE_GATED_TIME] = defaults[GYRE_GATED_TIME];
    *out_policy = policy;
    return GYRE_OK;
}

/* One of two numbers may be absent: it is its default, unless the other is beyond that. */
static void take_margins(const gyre_value *rule, gyre_gated gated, gyre_margins *out_margins)
{
    const gyre_value object = gyre_value_object(gyre_value_get(rule, gyre_gated_name(gated)));
    const gyre_value warn = gyre_value_get(&object, "warn"), fail = gyre_value_get(&object, "fail");
    gyre_margins margins = defaults[gated];

    if (!object.json) {
        if (gated == GYRE_GATED_TIME)
            *out_margins = margins;
        return;
    }
    gyre_value_members(&object, "warn|fail");
    if (warn.json)
        margins.warn = gyre_value_number(warn, 0, MOST_MARGIN);
    if (fail.json)
        margins.fail = gyre_value_number(fail, 0, MOST_MARGIN);
    if (warn.json && fail.json && margins.warn > margins.fail)
        gyre_value_refuse(&warn, "is above fail");
    if (margins.warn > margins.fail && warn.json)
        margins.fail = margins.warn;
    else if (margins.warn > margins.fail)
        margins.warn = margins.fail;
    *out_margins = margins;
}

static void take_pattern(const gyre_value *value, gyre_policy *policy, gyre_policy_rule *rule)
{
    const gyre_value member = gyre_value_need(value, "pattern");
    const char *pattern = gyre_value_text(member, &policy->arena);
    char why[56];

    if (!pattern)
        return;
    if (pattern[0] == '\0' || strlen(pattern) > GYRE_PATTERN_BYTES) {
        gyre_value_refuse(&member, "is empty or longer than %d bytes", GYRE_PATTERN_BYTES);
    } else if (!gyre_pattern_compile(pattern, &rule->compiled, why, sizeof why)) {
        gyre_value_refuse(&member, "has %s%s",
                          strncmp(why, "something", 9) == 0 ? "" : "an error: ", why);
    } else {
        rule->pattern = pattern; /* from here on there is something to free */
        policy->rule_count++;
    }
}

static void take_rule(const gyre_value *value, gyre_policy *policy)
{
    gyre_policy_rule *rule = &policy->rules[policy->rule_count];

    gyre_value_members(value, "pattern|ignore|time|memory|instructions");
    rule->ignore = gyre_value_bool(gyre_value_get(value, "ignore"));
    for (int i = 0; i < GYRE_GATED; i++)
        take_margins(value, (gyre_gated)i, &rule->margins[i]);
    take_pattern(value, policy, rule);
}

static void take_rules(const gyre_value *root, gyre_policy *policy)
{
    const gyre_value rules = gyre_value_array(gyre_value_get(root, "rules"), GYRE_POLICY_RULES);
    const size_t count = gyre_value_size(&rules);

    if (count == 0)
        return;
    policy->rules = gyre_arena_array(&policy->arena, count, sizeof policy->rules[0]);
    for (size_t i = 0; policy->rules && i < count; i++) {
        const gyre_value rule = gyre_value_object(gyre_value_at(&rules, i));

        if (rule.complaint->text[0])
            return;
        take_rule(&rule, policy);
    }
}

static gyre_status take_policy(json_t *json, const char *name, gyre_policy **out_policy)
{
    gyre_complaint complaint = {""};
    const gyre_value root = {.json = json, .complaint = &complaint};
    gyre_policy *policy;
    gyre_status status = gyre_policy_create(&policy);

    if (status != GYRE_OK)
        return status;
    gyre_value_members(&root, "schema|on_undecided|on_missing|rules");
    policy->on_undecided = (gyre_policy_act)gyre_value_choice(gyre_value_get(&root, "on_undecided"),
                                                              "warn|ignore|fail");
    policy->on_missing =
        (gyre_policy_act)gyre_value_choice(gyre_value_get(&root, "on_missing"), "warn|ignore|fail");
    take_rules(&root, policy);
    if (policy->arena.exhausted)
        status = gyre_fail(GYRE_NO_MEMORY, "out of memory reading '%s'", gyre_document_tail(name));
    else if (complaint.text[0])
        status = gyre_document_damaged(&kind, name, complaint.text);
    if (status == GYRE_OK)
        *out_policy = policy;
    else
        gyre_policy_destroy(policy);
    return status;
}

gyre_status gyre_policy_parse(const char *bytes, size_t length, const char *name,
                              gyre_policy **out_policy)
{
    json_t *root;
    gyre_status status = gyre_document_parse(&kind, bytes, length, name, &root);

    *out_policy = NULL;
    if (status == GYRE_OK)
        status = take_policy(root, name, out_policy);
    json_decref(root);
    return status;
}

gyre_status gyre_policy_read(const char *path, gyre_policy **out_policy)
{
    json_t *root;
    gyre_status status = gyre_document_read(&kind, path, &root);

    *out_policy = NULL;
    if (status == GYRE_OK)
        status = take_policy(root, path, out_policy);
    json_decref(root);
    return status;
}

static bool matches(const gyre_policy_rule *rule, const char *id)
{
    return regexec(&rule->compiled, id, 0, NULL, 0) == 0;
}

const char *gyre_policy_id_of_ab(const void *list, size_t index)
{
    const gyre_ab *ab = list;

    if (index < ab->count)
        return ab->benches[index].id;
    index -= ab->count;
    if (index < ab->only_old_count)
        return ab->only_old[index];
    index -= ab->only_old_count;
    return index < ab->only_new_count ? ab->only_new[index] : NULL;
}

const char *gyre_policy_id_of_run(const void *list, size_t index)
{
    const gyre_run *run = list;

    return index < run->count ? run->results[index].id : NULL;
}

static gyre_status refuse_pattern(const gyre_policy_rule *rule, gyre_id_at *id_at, const void *list)
{
    char word[GYRE_PATTERN_BYTES + 1];
    const char *meant;
    size_t length = 0;

    for (const char *c = rule->pattern; *c; c++)
        if (strchr(gyre_id_characters, *c))
            word[length++] = *c;
    word[length] = '\0';
    meant = gyre_text_nearest(word, id_at, list);
    if (!meant)
        meant = id_at(list, 0);
    return gyre_fail(GYRE_INVALID,
                     "the policy's pattern '%.*s' matches no benchmark; the nearest is '%.*s'",
                     gyre_text_cut(strlen(rule->pattern)), rule->pattern,
                     gyre_text_cut(meant ? strlen(meant) : 0), meant ? meant : "");
}

gyre_status gyre_policy_check(const gyre_policy *policy, gyre_id_at *id_at, const void *list)
{
    for (size_t i = 0; i < policy->rule_count; i++) {
        bool some = false;

        for (size_t k = 0; !some && id_at(list, k); k++)
            some = matches(&policy->rules[i], id_at(list, k));
        if (!some)
            return refuse_pattern(&policy->rules[i], id_at, list);
    }
    return GYRE_OK;
}

const gyre_policy_rule *gyre_policy_find(const gyre_policy *policy, const char *id)
{
    for (size_t i = 0; i < policy->rule_count; i++)
        if (matches(&policy->rules[i], id))
            return &policy->rules[i];
    return &policy->otherwise;
}

bool gyre_policy_asks(const gyre_policy *policy, gyre_gated gated)
{
    for (size_t i = 0; i < policy->rule_count; i++)
        if (!policy->rules[i].ignore && policy->rules[i].margins[gated].asked)
            return true;
    return policy->otherwise.margins[gated].asked;
}

void gyre_policy_destroy(gyre_policy *policy)
{
    if (!policy)
        return;
    for (size_t i = 0; i < policy->rule_count; i++)
        regfree(&policy->rules[i].compiled);
    gyre_arena_fini(&policy->arena);
    gyre_free(NULL, policy, 1, sizeof *policy);
}
