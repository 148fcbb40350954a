/* SPDX-License-Identifier: Apache-2.0
 *
 * ab_read: reads measurements of two versions (gyre.ab/1, docs/formats/ab.md), trusting nothing in
 * them.
 *
 * Threads   one.
 * Owns      nothing; what is read is the caller's.
 * Not here  whether the judgements follow from the launches: gyre_ab_judge makes them anew.
 */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "record/ab.h"
#include "record/document.h"
#include "record/head.h"
#include "record/read.h"

static const gyre_document_kind kind = {"gyre.ab/", "a measurement of two versions", NULL};

/* The ratio of the least to the most has a logarithm and an exponential. */
static const double LEAST_NS = 1e-9, MOST_NS = 1e18;
static const double MOST = 1e18; /* of what has no limit of its own */

static const char *text_or_empty(const gyre_value *object, const char *key, gyre_arena *arena)
{
    const char *text = gyre_value_text(gyre_value_get(object, key), arena);

    return text ? text : "";
}

static void take_side(const gyre_value *root, const char *key, gyre_ab_side *side,
                      gyre_arena *arena)
{
    const gyre_value object = gyre_value_object(gyre_value_need(root, key));

    side->command = text_or_empty(&object, "command", arena);
    side->path = text_or_empty(&object, "path", arena);
    side->program_bytes = gyre_value_count(&object, "bytes");
    side->program_hash = gyre_value_bits(gyre_value_need(&object, "hash"));
}

/* Each pair is "AB" or "BA". */
static void check_order(const gyre_value *launch, const char *order, size_t pairs)
{
    const gyre_value value = gyre_value_get(launch, "order");

    if (!order)
        return;
    for (size_t i = 0; order[i]; i++)
        if ((order[i] != 'A' && order[i] != 'B') || (i % 2 == 1 && order[i] == order[i - 1])) {
            gyre_value_refuse(&value, "has something other than AB and BA");
            return;
        }
    if (strlen(order) != 2 * pairs)
        gyre_value_refuse(&value, "has %zu letters, not two a pair", strlen(order));
}

static void take_times(const gyre_value *times, double *out_ns, size_t pairs)
{
    if (times->json && gyre_value_size(times) != pairs) {
        gyre_value_refuse(times, "has %zu elements, not %zu", gyre_value_size(times), pairs);
        return;
    }
    for (size_t i = 0; i < pairs; i++)
        out_ns[i] = gyre_value_number(gyre_value_at(times, i), LEAST_NS, MOST_NS);
}

static void take_launch(const gyre_value *value, gyre_ab *ab, gyre_ab_bench *bench)
{
    const gyre_value old_ns = gyre_value_array(gyre_value_need(value, "old_ns"), GYRE_JUDGE_PAIRS);
    const gyre_value new_ns = gyre_value_array(gyre_value_need(value, "new_ns"), GYRE_JUDGE_PAIRS);
    const size_t pairs = gyre_value_size(&old_ns);
    const gyre_value cpu = gyre_value_get(value, "cpu");
    gyre_ab_launch *launch;

    if (pairs == 0) {
        gyre_value_refuse(&old_ns, "is empty");
        return;
    }
    launch = gyre_ab_launch_begin(ab, bench, pairs);
    if (!launch)
        return;
    take_times(&old_ns, launch->old_ns, pairs);
    take_times(&new_ns, launch->new_ns, pairs);
    launch->seed = gyre_value_bits(gyre_value_need(value, "seed"));
    launch->iterations =
        (uint64_t)gyre_value_integer(gyre_value_need(value, "iterations"), 1, INT64_MAX);
    launch->cpu = cpu.json ? (int)gyre_value_integer(cpu, 0, INT_MAX) : -1;
    launch->steal_ticks = gyre_value_count(value, "steal_ticks");
    launch->order = gyre_value_text(gyre_value_need(value, "order"), &ab->arena);
    check_order(value, launch->order, pairs);
    bench->launch_count++;
}

static void take_launches(const gyre_value *value, gyre_ab *ab, gyre_ab_bench *bench)
{
    const gyre_value launches =
        gyre_value_array(gyre_value_need(value, "launches"), GYRE_JUDGE_LAUNCHES);

    for (size_t i = 0; i < gyre_value_size(&launches); i++) {
        const gyre_value launch = gyre_value_object(gyre_value_at(&launches, i));

        if (launch.complaint->text[0])
            return;
        take_launch(&launch, ab, bench);
    }
    if (bench->outcome == GYRE_OUTCOME_MEASURED && bench->launch_count == 0)
        gyre_value_refuse(&launches, "is empty, but it was measured");
}

static void take_counts(const gyre_value *value, gyre_ab_bench *bench)
{
    const gyre_value counts = gyre_value_object(gyre_value_get(value, "counts"));

    for (int i = 0; i < GYRE_AB_COUNTS; i++) {
        const char *name = gyre_ab_counted_name((gyre_ab_counted)i);
        const gyre_value both = gyre_value_array(gyre_value_get(&counts, name), 2);

        if (!both.json)
            continue;
        if (gyre_value_size(&both) != 2) {
            gyre_value_refuse(&both, "is not what was counted on both sides");
            continue;
        }
        bench->counts[i] = (gyre_ab_count){
            .known = true,
            .old_value = gyre_value_number(gyre_value_at(&both, 0), 0, MOST),
            .new_value = gyre_value_number(gyre_value_at(&both, 1), 0, MOST),
        };
    }
}

static double number_of(const gyre_value *object, const char *key, double low, double high)
{
    return gyre_value_number(gyre_value_need(object, key), low, high);
}

static double number_or_endless(const gyre_value *object, const char *key)
{
    const gyre_value value = gyre_value_get(object, key);

    return value.json ? gyre_value_number(value, -1, DBL_MAX) : (double)INFINITY;
}

static void take_judgement(const gyre_value *value, gyre_judgement *judgement)
{
    const gyre_value object = gyre_value_object(gyre_value_need(value, "judgement"));

    judgement->verdict = (gyre_ab_verdict)gyre_value_choice(gyre_value_need(&object, "verdict"),
                                                            "undecided|equivalent|faster|slower");
    judgement->launches =
        (size_t)gyre_value_integer(gyre_value_need(&object, "launches"), 0, GYRE_JUDGE_LAUNCHES);
    judgement->change = number_of(&object, "change", -1, DBL_MAX);
    judgement->low = number_of(&object, "low", -1, DBL_MAX);
    judgement->high = number_or_endless(&object, "high");
    judgement->hodges_lehmann = number_of(&object, "hodges_lehmann", -1, DBL_MAX);
    judgement->sd = number_of(&object, "sd", 0, MOST);
    judgement->mde = number_or_endless(&object, "mde");
    judgement->p_slower = number_of(&object, "p_slower", 0, 1);
    judgement->p_faster = number_of(&object, "p_faster", 0, 1);
    judgement->p_equivalent = number_of(&object, "p_equivalent", 0, 1);
}

static void take_warnings(const gyre_value *value, gyre_ab *ab, gyre_ab_bench *bench)
{
    const gyre_value warnings =
        gyre_value_array(gyre_value_get(value, "warnings"), GYRE_RESULT_WARNINGS);

    for (size_t i = 0; i < gyre_value_size(&warnings); i++) {
        const char *text = gyre_value_text(gyre_value_at(&warnings, i), &ab->arena);

        if (text)
            bench->warnings[bench->warning_count++] = text;
    }
}

static void take_bench(const gyre_value *value, gyre_ab *ab)
{
    const gyre_value id = gyre_value_need(value, "id"), outcome = gyre_value_need(value, "outcome");
    gyre_ab_bench *bench;

    if (!json_is_string(id.json)) {
        gyre_value_refuse(&id, "is not a string");
        return;
    }
    bench = gyre_ab_add(ab, json_string_value(id.json));
    bench->clock = text_or_empty(value, "clock", &ab->arena);
    bench->threads = (uint32_t)gyre_value_integer(gyre_value_get(value, "threads"), 0, UINT32_MAX);
    bench->outcome =
        (gyre_outcome)gyre_value_choice(outcome, "measured|checked|failed|skipped|interrupted");
    if (bench->outcome == GYRE_OUTCOME_CHECKED)
        gyre_value_refuse(&outcome, "has no place here");
    bench->side = gyre_value_choice(gyre_value_get(value, "side"), "nobody|old|new") - 1;
    bench->reason = text_or_empty(value, "reason", &ab->arena);
    bench->last_words = text_or_empty(value, "last_words", &ab->arena);
    bench->spent_s = gyre_value_number(gyre_value_get(value, "spent_s"), 0, MOST);
    take_warnings(value, ab, bench);
    take_counts(value, bench);
    if (bench->outcome == GYRE_OUTCOME_MEASURED)
        take_judgement(value, &bench->judgement);
    take_launches(value, ab, bench);
}

static size_t take_ids(const gyre_value *root, const char *key, gyre_arena *arena,
                       const char ***out_ids)
{
    const gyre_value array = gyre_value_array(gyre_value_get(root, key), GYRE_RUN_BENCHMARKS);
    const size_t count = gyre_value_size(&array);

    *out_ids = NULL;
    if (count == 0)
        return 0;
    *out_ids = gyre_arena_array(arena, count, sizeof **out_ids);
    for (size_t i = 0; *out_ids && i < count; i++) {
        (*out_ids)[i] = gyre_value_text(gyre_value_at(&array, i), arena);
        if (!(*out_ids)[i]) {
            const gyre_value id = gyre_value_at(&array, i);

            gyre_value_refuse(&id, "is not a string");
            (*out_ids)[i] = "";
        }
    }
    return *out_ids ? count : 0;
}

/* What both sides have and what one of them has is never the same. */
static void check_ids(gyre_ab *ab, gyre_complaint *complaint)
{
    const size_t count = ab->count + ab->only_old_count + ab->only_new_count;
    const char **ids = gyre_arena_array(&ab->arena, count + 1, sizeof ids[0]);

    if (!ids)
        return;
    for (size_t i = 0; i < ab->count; i++)
        ids[i] = ab->benches[i].id;
    for (size_t i = 0; i < ab->only_old_count; i++)
        ids[ab->count + i] = ab->only_old[i];
    for (size_t i = 0; i < ab->only_new_count; i++)
        ids[ab->count + ab->only_old_count + i] = ab->only_new[i];
    gyre_document_check_ids(ids, count, complaint);
}

static void take_benches(const gyre_value *benchmarks, gyre_ab *ab)
{
    for (size_t i = 0; i < gyre_value_size(benchmarks); i++) {
        const gyre_value value = gyre_value_object(gyre_value_at(benchmarks, i));

        if (value.complaint->text[0])
            return;
        take_bench(&value, ab);
    }
}

static void take_all(const gyre_value *root, const gyre_value *benchmarks, gyre_ab *ab)
{
    const gyre_value rule = gyre_value_object(gyre_value_need(root, "rule"));

    gyre_head_take(root, ab->head);
    take_side(root, "old", &ab->sides[0], &ab->arena);
    take_side(root, "new", &ab->sides[1], &ab->arena);
    ab->lock_step = gyre_value_bool(gyre_value_need(root, "lock_step"));
    ab->again = gyre_value_bool(gyre_value_get(root, "again"));
    ab->seed = gyre_value_bits(gyre_value_need(root, "seed"));
    ab->rule.margin = number_of(&rule, "margin", 1e-6, 10);
    ab->rule.alpha = number_of(&rule, "alpha", 1e-9, 0.5);
    take_benches(benchmarks, ab);
    ab->only_old_count = take_ids(root, "only_old", &ab->arena, &ab->only_old);
    ab->only_new_count = take_ids(root, "only_new", &ab->arena, &ab->only_new);
    if (!root->complaint->text[0])
        check_ids(ab, root->complaint);
}

static gyre_status take_ab(json_t *json, const char *name, gyre_ab **out_ab)
{
    gyre_complaint complaint = {""};
    const gyre_value root = {.json = json, .complaint = &complaint};
    const gyre_value benchmarks =
        gyre_value_array(gyre_value_need(&root, "benchmarks"), GYRE_RUN_BENCHMARKS);
    gyre_ab *ab;
    gyre_status status = gyre_ab_create_blank(&ab);

    if (status != GYRE_OK)
        return status;
    status = gyre_ab_reserve(ab, gyre_value_size(&benchmarks));
    if (status == GYRE_OK)
        take_all(&root, &benchmarks, ab);
    if (ab->arena.exhausted || ab->head->arena.exhausted)
        status = gyre_fail(GYRE_NO_MEMORY, "out of memory reading '%s'", gyre_document_tail(name));
    else if (complaint.text[0])
        status = gyre_document_damaged(&kind, name, complaint.text);
    if (status == GYRE_OK)
        *out_ab = ab;
    else
        gyre_ab_destroy(ab);
    return status;
}

gyre_status gyre_ab_parse(const char *bytes, size_t length, const char *name, gyre_ab **out_ab)
{
    json_t *root;
    gyre_status status = gyre_document_parse(&kind, bytes, length, name, &root);

    *out_ab = NULL;
    if (status == GYRE_OK)
        status = take_ab(root, name, out_ab);
    json_decref(root);
    return status;
}

gyre_status gyre_ab_read(const char *path, gyre_ab **out_ab)
{
    json_t *root;
    gyre_status status = gyre_document_read(&kind, path, &root);

    *out_ab = NULL;
    if (status == GYRE_OK)
        status = take_ab(root, path, out_ab);
    json_decref(root);
    return status;
}
