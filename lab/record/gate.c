/* SPDX-License-Identifier: Apache-2.0
 *
 * gate: see gate.h.
 */
#include "record/gate.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "stat/holm.h"

/* Findings of one benchmark at most: its time, four counts, and one that was asked for twice. */
enum { MOST_OF_ONE = 8 };

/* What the launches say of one margin. */
typedef enum standing { OPEN, ABOVE, BELOW } standing;

/* What is asked of one benchmark's time, and the answers, corrected for the suite. */
typedef struct question {
    const gyre_policy_rule *rule;
    gyre_answer warn, fail;
} question;

typedef struct evaluation {
    const gyre_policy *policy;
    const gyre_ab *ab;
    question *questions; /* one a benchmark */
    gyre_findings *findings;
} evaluation;

const char *gyre_finding_kind_name(gyre_finding_kind kind)
{
    static const char *const names[] = {"fail", "warn", "undecided", "note"};

    return names[kind];
}

const char *gyre_finding_about_name(gyre_finding_about about)
{
    static const char *const names[] = {"time", "memory", "instructions", "outcome", "missing"};

    return names[about];
}

static bool is_gated_in_time(const gyre_ab_bench *bench, const gyre_policy_rule *rule)
{
    return bench->outcome == GYRE_OUTCOME_MEASURED && !rule->ignore;
}

bool gyre_gate_settled(const gyre_policy *policy, double alpha, const gyre_ab_bench *bench,
                       size_t family)
{
    const gyre_policy_rule *rule = gyre_policy_find(policy, bench->id);
    const double margins[] = {rule->margins[GYRE_GATED_TIME].warn,
                              rule->margins[GYRE_GATED_TIME].fail};
    double words[GYRE_JUDGE_LAUNCHES];
    const size_t launches = gyre_ab_words(bench, words);

    if (!gyre_judge_is_look(launches))
        return false;
    for (size_t i = 0; !rule->ignore && i < 2; i++) {
        const gyre_answer answer = gyre_judge_ask(words, launches, margins[i]);

        if (answer.p_above > alpha / (double)family && answer.p_below > alpha)
            return false;
    }
    return true;
}

static standing standing_of(const gyre_answer *answer, double alpha)
{
    if (answer->p_below <= alpha) /* the last look, with all launches, comes first */
        return BELOW;
    return answer->p_above <= alpha ? ABOVE : OPEN;
}

/* Asks every benchmark, and corrects what was answered at each of the two margins. */
static gyre_status ask_all(evaluation *e)
{
    const size_t count = e->ab->count;
    gyre_arena arena = {0};
    double *p = gyre_arena_array(&arena, 4 * count + 1, sizeof *p);

    e->questions = gyre_arena_array(&e->findings->arena, count + 1, sizeof e->questions[0]);
    for (size_t i = 0; p && e->questions && i < count; i++) {
        const gyre_ab_bench *bench = &e->ab->benches[i];
        question *q = &e->questions[i];
        double words[GYRE_JUDGE_LAUNCHES];

        q->rule = gyre_policy_find(e->policy, bench->id);
        q->warn = q->fail = (gyre_answer){1, 1};
        if (is_gated_in_time(bench, q->rule)) {
            const gyre_margins *margins = &q->rule->margins[GYRE_GATED_TIME];
            const size_t launches = gyre_ab_words(bench, words);

            q->warn = gyre_judge_ask(words, launches, margins->warn);
            q->fail = gyre_judge_ask(words, launches, margins->fail);
        }
        p[i] = q->warn.p_above;
        p[count + i] = q->fail.p_above;
    }
    if (p && e->questions && count > 0) {
        gyre_stat_holm(p, count, p + 2 * count);
        gyre_stat_holm(p + count, count, p + 3 * count);
        for (size_t i = 0; i < count; i++) {
            e->questions[i].warn.p_above = p[2 * count + i];
            e->questions[i].fail.p_above = p[3 * count + i];
        }
    }
    gyre_arena_fini(&arena);
    if (!p || !e->questions)
        return gyre_fail(GYRE_NO_MEMORY, "out of memory for %zu benchmarks", count);
    return GYRE_OK;
}

gyre_finding *gyre_findings_add(gyre_findings *findings, gyre_finding_kind kind,
                                gyre_finding_about about, const char *id)
{
    gyre_finding *finding = &findings->items[findings->count++];

    assert(findings->count <= findings->capacity);
    *finding = (gyre_finding){.kind = kind, .about = about, .id = id, .counted = -1};
    return finding;
}

const char *gyre_finding_change(gyre_arena *arena, const gyre_finding *f)
{
    if (f->about != GYRE_ABOUT_TIME)
        return gyre_arena_print(arena, "%+.2f %%", 100 * f->change);
    return gyre_arena_print(arena, "%+.2f %% [%+.2f %+.2f]", 100 * f->change, 100 * f->low,
                            100 * f->high);
}

gyre_finding_kind gyre_finding_kind_by(gyre_policy_act act, gyre_finding_kind otherwise)
{
    return act == GYRE_POLICY_FAIL     ? GYRE_FINDING_FAIL
           : act == GYRE_POLICY_IGNORE ? GYRE_FINDING_NOTE
                                       : otherwise;
}

/* The judgement's MDE is that of its own margin. */
static double mde_at(const gyre_judgement *j, const gyre_rule *rule, double margin)
{
    return expm1(log1p(j->mde) - log1p(rule->margin) + log1p(margin));
}

static void find_time(const evaluation *e, const gyre_ab_bench *bench, const question *q)
{
    const gyre_margins *margins = &q->rule->margins[GYRE_GATED_TIME];
    const standing warn = standing_of(&q->warn, e->ab->rule.alpha);
    const standing fail = standing_of(&q->fail, e->ab->rule.alpha);
    const gyre_judgement *j = &bench->judgement;
    gyre_arena *arena = &e->findings->arena;
    gyre_finding *f;
    const char *change;

    if (fail == BELOW && warn == BELOW && j->verdict != GYRE_AB_SLOWER)
        return;
    f = gyre_findings_add(e->findings, GYRE_FINDING_NOTE, GYRE_ABOUT_TIME, bench->id);
    f->change = j->change;
    f->low = j->low;
    f->high = j->high;
    change = gyre_finding_change(arena, f);
    if (fail == ABOVE) {
        f->kind = GYRE_FINDING_FAIL;
        f->text =
            gyre_arena_print(arena, "time %s, fails above %g %%", change, 100 * margins->fail);
    } else if (fail == OPEN) {
        f->kind = gyre_finding_kind_by(e->policy->on_undecided, GYRE_FINDING_UNDECIDED);
        f->text = gyre_arena_print(
            arena, "time %s, whether that is above %g %% is open after %zu launches%s; MDE %.2f %%",
            change, 100 * margins->fail, j->launches,
            warn == ABOVE ? ", but it is above the margin for warnings" : "",
            100 * mde_at(j, &e->ab->rule, margins->fail));
    } else if (warn == ABOVE) {
        f->kind = GYRE_FINDING_WARN;
        f->text =
            gyre_arena_print(arena, "time %s, warns above %g %%", change, 100 * margins->warn);
    } else if (warn == OPEN) {
        f->text = gyre_arena_print(arena, "time %s, %swhether that is above %g %% is open", change,
                                   j->verdict == GYRE_AB_SLOWER ? "slower, and " : "",
                                   100 * margins->warn);
    } else {
        f->text = gyre_arena_print(arena, "time %s, slower, but within the policy", change);
    }
}

static const char *const count_words[GYRE_AB_COUNTS] = {"peak memory", "allocations",
                                                        "allocated bytes", "instructions"};

static void find_count(const evaluation *e, const gyre_ab_bench *bench, gyre_ab_counted what,
                       const gyre_margins *margins)
{
    const gyre_ab_count *count = &bench->counts[what];
    const double change = count->old_value == count->new_value
                              ? 0
                              : count->new_value / count->old_value - 1; /* perhaps without end */
    gyre_finding *f;

    if (!count->known || change <= margins->warn)
        return;
    f = gyre_findings_add(
        e->findings, change > margins->fail ? GYRE_FINDING_FAIL : GYRE_FINDING_WARN,
        what == GYRE_AB_INSTRUCTIONS ? GYRE_ABOUT_INSTRUCTIONS : GYRE_ABOUT_MEMORY, bench->id);
    f->change = f->low = f->high = change;
    f->counted = (int)what;
    f->text = gyre_arena_print(
        &e->findings->arena, "%s %s (%.10g to %.10g), %s above %g %%", count_words[what],
        gyre_finding_change(&e->findings->arena, f), count->old_value, count->new_value,
        f->kind == GYRE_FINDING_FAIL ? "fails" : "warns",
        100 * (f->kind == GYRE_FINDING_FAIL ? margins->fail : margins->warn));
}

static void note_uncounted(const evaluation *e, const gyre_ab_bench *bench, gyre_gated gated,
                           const char *what)
{
    const gyre_finding_about about =
        gated == GYRE_GATED_MEMORY ? GYRE_ABOUT_MEMORY : GYRE_ABOUT_INSTRUCTIONS;
    const char *why = bench->warning_count > 0 ? bench->warnings[0] : "nobody asked for it";

    gyre_findings_add(e->findings, GYRE_FINDING_NOTE, about, bench->id)->text =
        gyre_arena_print(&e->findings->arena, "%s not counted: %s", what, why);
}

static void find_counts(const evaluation *e, const gyre_ab_bench *bench,
                        const gyre_policy_rule *rule)
{
    static const gyre_gated gated_by[] = {GYRE_GATED_MEMORY, GYRE_GATED_MEMORY, GYRE_GATED_MEMORY,
                                          GYRE_GATED_INSTRUCTIONS};
    bool some[GYRE_GATED] = {false};

    for (int what = 0; what < GYRE_AB_COUNTS; what++) {
        some[gated_by[what]] |= bench->counts[what].known;
        if (rule->margins[gated_by[what]].asked)
            find_count(e, bench, (gyre_ab_counted)what, &rule->margins[gated_by[what]]);
    }
    for (int what = 0; what < GYRE_AB_COUNTS; what++) {
        const gyre_gated gated = gated_by[what];
        const bool first = what == 0 || gated != gated_by[what - 1];

        /* a program that is linked statically has no allocations to count, and nobody minds */
        if (rule->margins[gated].asked && !bench->counts[what].known &&
            (some[gated] ? bench->warning_count > 0 : first))
            note_uncounted(e, bench, gated,
                           some[gated] ? count_words[what] : gyre_gated_name(gated));
    }
}

/* What the old version fails at, and what nobody did, the new one cannot be blamed for. */
static void find_outcome(const evaluation *e, const gyre_ab_bench *bench)
{
    const bool is_new = bench->side == 1;
    gyre_finding_kind kind = gyre_finding_kind_by(e->policy->on_undecided, GYRE_FINDING_UNDECIDED);

    if (bench->outcome == GYRE_OUTCOME_FAILED && bench->side >= 0)
        kind = is_new ? GYRE_FINDING_FAIL : GYRE_FINDING_WARN;
    else if (bench->outcome == GYRE_OUTCOME_SKIPPED)
        kind = is_new ? gyre_finding_kind_by(e->policy->on_missing, GYRE_FINDING_WARN)
                      : GYRE_FINDING_WARN;
    gyre_findings_add(e->findings, kind, GYRE_ABOUT_OUTCOME, bench->id)->text = gyre_arena_print(
        &e->findings->arena, "%s: %s", gyre_outcome_name(bench->outcome), bench->reason);
}

static void find_missing(const evaluation *e)
{
    const gyre_ab *ab = e->ab;

    for (size_t i = 0; i < ab->only_old_count; i++)
        if (!gyre_policy_find(e->policy, ab->only_old[i])->ignore)
            gyre_findings_add(e->findings,
                              gyre_finding_kind_by(e->policy->on_missing, GYRE_FINDING_WARN),
                              GYRE_ABOUT_MISSING, ab->only_old[i])
                ->text = "the new version does not have it";
    for (size_t i = 0; i < ab->only_new_count; i++)
        if (!gyre_policy_find(e->policy, ab->only_new[i])->ignore)
            gyre_findings_add(e->findings, GYRE_FINDING_NOTE, GYRE_ABOUT_MISSING, ab->only_new[i])
                ->text = "only the new version has it";
}

static void find_all(const evaluation *e)
{
    for (size_t i = 0; i < e->ab->count; i++) {
        const gyre_ab_bench *bench = &e->ab->benches[i];
        const gyre_policy_rule *rule = e->questions[i].rule;

        if (rule->ignore)
            continue;
        e->findings->gated++;
        if (bench->outcome != GYRE_OUTCOME_MEASURED) {
            find_outcome(e, bench);
            continue;
        }
        find_time(e, bench, &e->questions[i]);
        find_counts(e, bench, rule);
    }
    find_missing(e);
}

gyre_status gyre_gate_evaluate(const gyre_policy *policy, const gyre_ab *ab,
                               gyre_findings **out_findings)
{
    evaluation e = {.policy = policy, .ab = ab};
    void *block;
    gyre_status status = gyre_alloc(NULL, 1, sizeof *e.findings, &block);

    *out_findings = NULL;
    if (status != GYRE_OK)
        return status;
    e.findings = block;
    e.findings->capacity = MOST_OF_ONE * ab->count + ab->only_old_count + ab->only_new_count;
    e.findings->items =
        gyre_arena_array(&e.findings->arena, e.findings->capacity + 1, sizeof e.findings->items[0]);
    status = ask_all(&e);
    if (status == GYRE_OK && e.findings->items)
        find_all(&e);
    if (status == GYRE_OK && e.findings->arena.exhausted)
        status = gyre_fail(GYRE_NO_MEMORY, "out of memory for the findings of a gate");
    if (status == GYRE_OK)
        *out_findings = e.findings;
    else
        gyre_findings_destroy(e.findings);
    return status;
}

/* What was measured may be chance. What is missing, crashed or wrong is so, even if not always. */
static bool can_be_repeated(const gyre_finding *finding)
{
    return finding->kind == GYRE_FINDING_FAIL && finding->about <= GYRE_ABOUT_INSTRUCTIONS;
}

/* What the repeat says of the same: NULL when it has nothing against it. */
static const gyre_finding *find_again(const gyre_findings *repeat, const gyre_finding *like)
{
    for (size_t i = 0; i < repeat->count; i++) {
        const gyre_finding *f = &repeat->items[i];
        const bool same = f->about == like->about && f->counted == like->counted;

        if (strcmp(f->id, like->id) == 0 && (same || f->about == GYRE_ABOUT_OUTCOME))
            return f;
    }
    return NULL;
}

static void confirm_one(gyre_findings *findings, gyre_finding *f, const gyre_findings *repeat)
{
    const gyre_finding *again = find_again(repeat, f);

    if (again && again->about == GYRE_ABOUT_OUTCOME) {
        f->text = gyre_arena_print(&findings->arena, "%s; unconfirmed, because the repeat %s",
                                   f->text, again->text);
    } else if (again && again->kind == GYRE_FINDING_FAIL) {
        f->text = gyre_arena_print(&findings->arena, "%s; confirmed by a repeat", f->text);
    } else if (again && again->kind == GYRE_FINDING_UNDECIDED) {
        f->kind = GYRE_FINDING_UNDECIDED;
        f->text = gyre_arena_print(&findings->arena, "%s; left open by a repeat", f->text);
    } else {
        f->kind = GYRE_FINDING_WARN;
        f->text = gyre_arena_print(&findings->arena, "%s; not confirmed by a repeat", f->text);
    }
}

gyre_status gyre_gate_confirm(gyre_findings *findings, const gyre_findings *repeat, const char *why)
{
    for (size_t i = 0; i < findings->count; i++) {
        gyre_finding *f = &findings->items[i];

        if (!can_be_repeated(f))
            continue;
        f->repeated = repeat != NULL;
        if (repeat)
            confirm_one(findings, f, repeat);
        else
            f->text = gyre_arena_print(&findings->arena, "%s; unconfirmed: %s", f->text, why);
    }
    if (findings->arena.exhausted)
        return gyre_fail(GYRE_NO_MEMORY, "out of memory for the findings of a gate");
    return GYRE_OK;
}

size_t gyre_gate_doubtful(const gyre_findings *findings, const char **ids, size_t most)
{
    const char *last = "";
    size_t count = 0;

    for (size_t i = 0; i < findings->count; i++) { /* those of one benchmark are neighbours */
        if (!can_be_repeated(&findings->items[i]) || strcmp(last, findings->items[i].id) == 0)
            continue;
        last = findings->items[i].id;
        if (count < most)
            ids[count] = last;
        count++;
    }
    return count;
}

size_t gyre_findings_count(const gyre_findings *findings, gyre_finding_kind kind)
{
    size_t count = 0;

    for (size_t i = 0; i < findings->count; i++)
        count += findings->items[i].kind == kind;
    return count;
}

void gyre_findings_destroy(gyre_findings *findings)
{
    if (!findings)
        return;
    gyre_arena_fini(&findings->arena);
    gyre_free(NULL, findings, 1, sizeof *findings);
}
