/* SPDX-License-Identifier: Apache-2.0
 *
 * gate_runs: a policy held against two runs that were measured at different times.
 *
 * Their intervals know nothing of what the machine did in between, so what comes of it is advice.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "record/gate.h"

static void find_time(gyre_findings *findings, const gyre_policy *policy, const gyre_result *result,
                      const gyre_margins *margins)
{
    const gyre_comparison *change = &result->change;
    gyre_finding_kind kind = GYRE_FINDING_NOTE;
    const char *what = "within the policy";
    gyre_finding *f;

    if (change->low > margins->fail) {
        kind = GYRE_FINDING_FAIL;
        what = "above the margin for failures";
    } else if (change->high > margins->fail) {
        kind = gyre_finding_kind_by(policy->on_undecided, GYRE_FINDING_UNDECIDED);
        what = "whether that is above the margin for failures is open";
    } else if (change->low > margins->warn) {
        kind = GYRE_FINDING_WARN;
        what = "above the margin for warnings";
    } else if (change->high > margins->warn) {
        what = "whether that is above the margin for warnings is open";
    } else if (change->verdict != GYRE_VERDICT_REGRESSED) {
        return;
    }
    f = gyre_findings_add(findings, kind, GYRE_ABOUT_TIME, result->id);
    f->change = change->point;
    f->low = change->low;
    f->high = change->high;
    f->text = gyre_arena_print(&findings->arena, "time %s, %s",
                               gyre_finding_change(&findings->arena, f), what);
}

/* Measured in the base alone: gone, or broken now. */
static void find_lost(const gyre_policy *policy, const gyre_run *run, const char *id,
                      gyre_findings *findings)
{
    const gyre_result *result = gyre_run_find(run, id);

    if (result && result->outcome == GYRE_OUTCOME_FAILED)
        gyre_findings_add(findings, GYRE_FINDING_FAIL, GYRE_ABOUT_OUTCOME, id)->text =
            gyre_arena_print(&findings->arena, "failed: %s", result->reason);
    else
        gyre_findings_add(findings, gyre_finding_kind_by(policy->on_missing, GYRE_FINDING_WARN),
                          GYRE_ABOUT_MISSING, id)
            ->text = "the candidate has not measured it";
}

static void find_all(const gyre_policy *policy, const gyre_run *run, const gyre_compared *compared,
                     gyre_findings *findings)
{
    for (size_t i = 0; i < run->count; i++) {
        const gyre_result *result = &run->results[i];
        const gyre_policy_rule *rule = gyre_policy_find(policy, result->id);

        if (!result->change.baseline || rule->ignore)
            continue;
        findings->gated++;
        find_time(findings, policy, result, &rule->margins[GYRE_GATED_TIME]);
        if (rule->margins[GYRE_GATED_MEMORY].asked)
            gyre_findings_add(findings, GYRE_FINDING_NOTE, GYRE_ABOUT_MEMORY, result->id)->text =
                "memory is not compared in kept runs";
        if (rule->margins[GYRE_GATED_INSTRUCTIONS].asked)
            gyre_findings_add(findings, GYRE_FINDING_NOTE, GYRE_ABOUT_INSTRUCTIONS, result->id)
                ->text = "instructions are not compared in kept runs";
    }
    for (size_t i = 0; i < compared->only_base.count; i++)
        if (!gyre_policy_find(policy, compared->only_base.ids[i])->ignore)
            find_lost(policy, run, compared->only_base.ids[i], findings);
    for (size_t i = 0; i < compared->only_run.count; i++)
        if (!gyre_policy_find(policy, compared->only_run.ids[i])->ignore)
            gyre_findings_add(findings, GYRE_FINDING_NOTE, GYRE_ABOUT_MISSING,
                              compared->only_run.ids[i])
                ->text = "the base has not measured it";
}

gyre_status gyre_gate_evaluate_runs(const gyre_policy *policy, const gyre_run *run,
                                    const gyre_compared *compared, gyre_findings **out_findings)
{
    gyre_findings *findings;
    void *block;
    gyre_status status = gyre_alloc(NULL, 1, sizeof *findings, &block);

    *out_findings = NULL;
    if (status != GYRE_OK)
        return status;
    findings = block;
    findings->capacity = 3 * run->count + compared->only_base.count + compared->only_run.count;
    findings->items =
        gyre_arena_array(&findings->arena, findings->capacity + 1, sizeof findings->items[0]);
    if (findings->items)
        find_all(policy, run, compared, findings);
    if (findings->arena.exhausted) {
        gyre_findings_destroy(findings);
        return gyre_fail(GYRE_NO_MEMORY, "out of memory for the findings of a gate");
    }
    *out_findings = findings;
    return GYRE_OK;
}
