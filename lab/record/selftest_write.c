/* SPDX-License-Identifier: Apache-2.0
 *
 * selftest_write: a self-test as JSON, member by member in the order of docs/formats/selftest.md.
 *
 * Threads   one.
 * Owns      nothing.
 * Not here  the head (record/head.h), replacing a file (record/file.h).
 */
#include <limits.h>
#include <string.h>

#include "base/fail.h"
#include "record/file.h"
#include "record/head.h"
#include "record/member.h"
#include "record/selftest.h"
#include "record/trust.h"

static void write_share(gyre_json *json, const char *key, const gyre_selftest_share *share)
{
    gyre_json_begin_object(json, key);
    gyre_member_count(json, "hits", share->hits);
    gyre_member_count(json, "trials", share->trials);
    gyre_json_double(json, "share", share->share);
    gyre_json_double(json, "low", share->low);
    gyre_json_double(json, "high", share->high);
    gyre_json_end(json);
}

static void write_proof(gyre_json *json, const gyre_selftest_proof *proof)
{
    gyre_json_begin_object(json, "proof");
    gyre_json_bool(json, "known", proof->known);
    if (proof->known) {
        gyre_json_double(json, "old_instructions", proof->old_value);
        gyre_json_double(json, "new_instructions", proof->new_value);
        gyre_json_double(json, "change", proof->new_value / proof->old_value - 1);
    }
    gyre_member_some(json, "reason", proof->reason);
    gyre_json_end(json);
}

static void write_row(gyre_json *json, const gyre_selftest *selftest, size_t index)
{
    const gyre_selftest_row *row = &selftest->rows[index];
    const gyre_selftest_figures figures = gyre_selftest_figure(selftest, index);

    gyre_json_begin_object(json, NULL);
    gyre_json_string(json, "workload", gyre_selftest_workload_name(row->workload));
    gyre_json_string(json, "kind", gyre_selftest_kind_name(row->kind));
    gyre_json_double(json, "added", (double)gyre_selftest_extra(row->kind) / GYRE_SELFTEST_PARTS);
    gyre_member_count(json, "planned", row->planned);
    gyre_member_count(json, "trials", figures.trials);
    write_share(json, "found", &figures.found);
    write_share(json, "unconfirmed", &figures.unconfirmed);
    write_share(json, "equivalent", &figures.equivalent);
    write_share(json, "undecided", &figures.undecided);
    gyre_member_count(json, "wrong", figures.wrong);
    gyre_json_double(json, "change", figures.change);
    gyre_json_double(json, "change_sd", figures.change_sd);
    gyre_member_finite(json, "mde", figures.mde);
    gyre_member_finite(json, "mde_largest", figures.mde_largest);
    gyre_json_double(json, "seconds", figures.seconds);
    gyre_json_double(json, "seconds_largest", figures.seconds_largest);
    gyre_json_double(json, "launches", figures.launches);
    if (gyre_selftest_extra(row->kind) > 0)
        write_proof(json, &row->proof);
    gyre_json_end(json);
}

static void write_target(gyre_json *json, const gyre_selftest_target *target)
{
    static const char *const units[] = {"share", "change", "s"};

    gyre_json_begin_object(json, NULL);
    gyre_member_some(json, "workload", target->workload);
    gyre_json_string(json, "what", target->what);
    gyre_json_string(json, "unit", units[target->unit]);
    gyre_json_bool(json, "at_least", target->at_least);
    gyre_json_double(json, "limit", target->limit);
    if (target->bound_limit > 0)
        gyre_json_double(json, "high_limit", target->bound_limit);
    if (target->attained != GYRE_ATTAINED_NOT_MEASURED)
        gyre_member_finite(json, "value", target->value);
    if (target->unit == GYRE_SELFTEST_SHARE) {
        gyre_json_double(json, "low", target->share.low);
        gyre_json_double(json, "high", target->share.high);
    }
    gyre_json_string(json, "attained", gyre_attained_name(target->attained));
    gyre_json_end(json);
}

static void write_trial(gyre_json *json, const gyre_selftest_trial *trial)
{
    gyre_json_begin_object(json, NULL);
    gyre_member_count(json, "row", trial->row);
    gyre_member_bits(json, "seed", trial->seed);
    gyre_json_string(json, "verdict", gyre_ab_verdict_name(trial->verdict));
    if (trial->repeated)
        gyre_json_string(json, "second", gyre_ab_verdict_name(trial->second));
    gyre_json_double(json, "change", trial->change);
    gyre_json_double(json, "sd", trial->sd);
    gyre_member_finite(json, "mde", trial->mde);
    gyre_member_count(json, "launches", trial->launches);
    gyre_json_double(json, "seconds", trial->seconds);
    gyre_json_end(json);
}

void gyre_selftest_write(const gyre_selftest *selftest, FILE *stream)
{
    gyre_selftest_target targets[GYRE_SELFTEST_TARGETS];
    gyre_json json = {.stream = stream};

    gyre_selftest_judge(selftest, targets);
    gyre_json_begin_object(&json, NULL);
    gyre_json_string(&json, "schema", "gyre.selftest/1");
    gyre_head_write_start(&json, selftest->head);
    gyre_head_write_place(&json, selftest->head);
    gyre_json_string(&json, "mode", gyre_selftest_mode_name(selftest->mode));
    gyre_json_bool(&json, "full", gyre_selftest_full(selftest));
    gyre_json_bool(&json, "passed", gyre_selftest_passed(targets) && !selftest->head->interrupted);
    gyre_json_bool(&json, "proved", gyre_selftest_proved(selftest));
    gyre_member_bits(&json, "seed", selftest->seed);
    gyre_json_begin_object(&json, "rule");
    gyre_json_double(&json, "margin", selftest->rule.margin);
    gyre_json_double(&json, "alpha", selftest->rule.alpha);
    gyre_json_end(&json);
    gyre_json_begin_array(&json, "targets");
    for (size_t i = 0; i < GYRE_SELFTEST_TARGETS; i++)
        write_target(&json, &targets[i]);
    gyre_json_end(&json);
    gyre_json_begin_array(&json, "rows");
    for (size_t i = 0; i < GYRE_SELFTEST_ROWS; i++)
        write_row(&json, selftest, i);
    gyre_json_end(&json);
    gyre_json_begin_array(&json, "trials");
    for (size_t i = 0; i < selftest->count; i++)
        write_trial(&json, &selftest->trials[i]);
    gyre_json_end(&json);
    gyre_json_end(&json);
}

static void write_to(FILE *stream, const void *selftest)
{
    gyre_selftest_write(selftest, stream);
}

gyre_status gyre_selftest_save(const gyre_selftest *selftest, const char *path)
{
    return gyre_file_replace(path, write_to, selftest);
}

/* A folder that nobody has made yet is made. */
static gyre_status save_for_all(const gyre_selftest *selftest, char *path)
{
    char *slash = strrchr(path, '/');
    gyre_status status;

    *slash = '\0';
    status = gyre_folder_open(path);
    *slash = '/';
    return status == GYRE_OK ? gyre_selftest_save(selftest, path) : status;
}

gyre_status gyre_selftest_keep(const gyre_selftest *selftest, const char *folder)
{
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s/selftest.json", folder);
    gyre_status status;

    if (length < 0 || (size_t)length >= sizeof path)
        return gyre_fail(GYRE_INVALID, "the folder's path is too long");
    status = gyre_selftest_save(selftest, path);
    if (status == GYRE_OK && gyre_selftest_full(selftest) && gyre_trust_path(path, sizeof path))
        status = save_for_all(selftest, path);
    return status;
}
