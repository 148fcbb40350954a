/* SPDX-License-Identifier: Apache-2.0
 *
 * history: the runs that were kept, as a list, one by one, as series, and for other programs.
 */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/settings.h"
#include "base/text.h"
#include "history.h"
#include "record/baseline.h"
#include "record/history.h"
#include "record/moment.h"
#include "report/history_export.h"
#include "report/history_table.h"
#include "verb.h"

enum { LIMIT, MACHINE, SINCE, JSON, CSV, OUT };
enum { LIST_RUNS = 20 };

static const gyre_option options[] = {
    [LIMIT] = {"--limit", 0, "N", "only the newest N runs (default 20 for list, 500 for plot)"},
    [MACHINE] = {"--machine", 0, "KEY", "runs of this machine, or 'all' (default the one here)"},
    [SINCE] = {"--since", 0, "DATE", "runs since then: 2026-11-15, or with T05:54:52Z behind it"},
    [JSON] = {"--json", 0, NULL, "print JSON instead of text (gyre.history/1)"},
    [CSV] = {"--csv", 0, NULL, "of export: CSV instead of JSON"},
    [OUT] = {"--out", 0, "DIR", "folder with the results (default GYRE_OUT, gyre-out)"},
    {NULL, 0, NULL, NULL},
};

static gyre_status bad_value(const history_request *r, size_t option, const char *want)
{
    const char *value = r->args->value[option];

    return gyre_fail(GYRE_INVALID, "option '%s' takes %s, not '%.*s'", options[option].name, want,
                     gyre_text_cut(strlen(value)), value);
}

/* A day is its first moment. */
static gyre_status read_since(history_request *r)
{
    const char *text = r->args->value[SINCE];
    char moment[GYRE_MOMENT_BYTES];

    if (!text)
        return GYRE_OK;
    snprintf(moment, sizeof moment, "%s%s", text, strlen(text) == 10 ? "T00:00:00Z" : "");
    if (strlen(text) >= sizeof moment || !gyre_moment_parse(moment, &r->query.since) ||
        r->query.since <= 0)
        return bad_value(r, SINCE, "a day like 2026-11-15, or 2026-11-15T05:54:52Z");
    return GYRE_OK;
}

static gyre_status read_machine(history_request *r)
{
    const char *word = r->args->value[MACHINE];
    gyre_run *here;
    gyre_status status;

    if (word && strcmp(word, "all") == 0)
        return GYRE_OK;
    if (word) {
        if (strlen(word) != GYRE_MACHINE_KEY_BYTES - 1)
            return bad_value(r, MACHINE, "a key as list shows them, or 'all'");
        r->query.machine = word;
        return GYRE_OK;
    }
    status = gyre_run_create(0, 0, NULL, &here);
    if (status != GYRE_OK)
        return status;
    gyre_machine_key(&here->machine, r->machine);
    gyre_run_destroy(here);
    r->query.machine = r->machine;
    return GYRE_OK;
}

static gyre_status read_request(history_request *r)
{
    const char *limit = r->args->value[LIMIT];
    gyre_status status = GYRE_OK;
    long long most = 0;

    if (limit && !gyre_text_count(limit, 1, 1000000000, &most))
        return bad_value(r, LIMIT, "a number from 1 to 1000000000");
    r->query.most = (size_t)most;
    r->json = gyre_args_given(r->args, JSON);
    r->csv = gyre_args_given(r->args, CSV);
    if (r->json && r->csv)
        return gyre_fail(GYRE_INVALID, "--json and --csv exclude each other");
    status = read_since(r);
    return status == GYRE_OK ? read_machine(r) : status;
}

static gyre_status no_operand(const history_request *r, const char *verb)
{
    if (!r->operand)
        return GYRE_OK;
    return gyre_fail(GYRE_INVALID, "%s takes no '%.*s'", verb, gyre_text_cut(strlen(r->operand)),
                     r->operand);
}

static gyre_status list(history_request *r)
{
    gyre_json json = {.stream = stdout};
    gyre_history_runs runs;
    gyre_status status = no_operand(r, "list");

    if (r->query.most == 0)
        r->query.most = LIST_RUNS;
    if (status == GYRE_OK)
        status = gyre_history_list(r->history, &r->query, &runs);
    if (status != GYRE_OK)
        return status;
    if (r->json) {
        gyre_history_json_begin(&json);
        gyre_history_json_runs(&json, &runs);
        gyre_json_end(&json);
    } else if (runs.count > 0) {
        gyre_history_table(stdout, &runs);
    } else {
        history_say_none(r);
    }
    gyre_history_runs_fini(&runs);
    return GYRE_OK;
}

/* The number that the operand is, or that of the last run. */
static gyre_status find_run(history_request *r, gyre_history_runs *out_runs)
{
    long long number = 0;
    gyre_status status;

    *out_runs = (gyre_history_runs){0};
    if (r->operand && strcmp(r->operand, "latest") != 0 &&
        !gyre_text_count(r->operand, 1, INT64_MAX, &number))
        return gyre_fail(GYRE_INVALID, "show takes the number of a run or 'latest', not '%.*s'",
                         gyre_text_cut(strlen(r->operand)), r->operand);
    r->query = (gyre_history_query){.run = (uint64_t)number, .most = 1}; /* of any machine */
    status = gyre_history_list(r->history, &r->query, out_runs);
    if (status != GYRE_OK || out_runs->run)
        return status;
    return gyre_fail(GYRE_NOT_FOUND, "there is no run %lld; 'gyre history list' shows them",
                     number);
}

static gyre_status show(history_request *r)
{
    gyre_json json = {.stream = stdout};
    gyre_history_points points;
    gyre_history_runs runs;
    gyre_status status = find_run(r, &runs);

    if (status != GYRE_OK || !runs.run)
        return status;
    r->query = (gyre_history_query){.run = runs.run[0].number};
    status = gyre_history_series(r->history, &r->query, &points);
    if (status == GYRE_OK && r->json) {
        gyre_history_json_begin(&json);
        gyre_history_json_runs(&json, &runs);
        gyre_history_json_points(&json, &points);
        gyre_json_end(&json);
    } else if (status == GYRE_OK) {
        gyre_history_run_print(stdout, &runs.run[0], &points);
    }
    if (status == GYRE_OK)
        gyre_history_points_fini(&points);
    gyre_history_runs_fini(&runs);
    return status;
}

static gyre_status add(history_request *r)
{
    uint64_t number = 0;
    gyre_run *run;
    gyre_status status = gyre_run_load(r->folder, r->operand ? r->operand : "latest", &run);

    if (status == GYRE_OK)
        status = gyre_history_find(r->history, run, &number);
    if (status == GYRE_OK && number > 0) {
        printf("it is there already, as run %llu\n", (unsigned long long)number);
    } else if (status == GYRE_OK) {
        status = gyre_history_add(r->history, run, &number);
        if (status == GYRE_OK)
            printf("kept as run %llu\n", (unsigned long long)number);
    }
    gyre_run_destroy(run);
    return status;
}

static const char *const names[] = {"list", "show", "plot", "export", "add", NULL};
static gyre_status (*const parts[])(history_request *r) = {list, show, history_plot, history_export,
                                                           add};

static int run_history(const gyre_args *args, int argc, char **argv)
{
    history_request r = {
        .args = args,
        .folder = args->value[OUT] ? args->value[OUT] : gyre_settings_text(GYRE_SETTING_OUT),
        .operand = args->operand_count > 1 ? args->operands[1] : NULL,
    };
    size_t part = 0;
    gyre_status status = GYRE_OK;

    (void)argc, (void)argv;
    if (args->operand_count > 0)
        status = verb_part(&verb_history, names, args->operands[0], &part);
    if (status == GYRE_OK)
        status = read_request(&r);
    if (status == GYRE_OK)
        status = gyre_history_open(
            r.folder, parts[part] == add ? GYRE_HISTORY_WRITE : GYRE_HISTORY_READ, 0, &r.history);
    if (status == GYRE_OK)
        status = parts[part](&r);
    gyre_history_close(r.history);
    if (status == GYRE_OK)
        return GYRE_EXIT_DONE;
    fflush(stdout);
    fprintf(stderr, "gyre history: %s\n", gyre_error_last()->text);
    return status == GYRE_INVALID ? GYRE_EXIT_USAGE : GYRE_EXIT_ENVIRONMENT;
}

const gyre_verb verb_history = {
    .name = "history",
    .operands = "[list|show|plot|export|add] [RUN|ID|PATTERN]",
    .most_operands = 2,
    .summary = "list, show, plot and export the runs that were kept",
    .description =
        "Every run that gyre bench keeps goes into history.db, with its commit, machine and "
        "options. 'list', which is what happens without a word, shows the runs, the newest first; "
        "'show RUN' the figures of one, by its number or 'latest'; 'plot ID' or 'plot PATTERN' the "
        "medians of a benchmark over the runs, where its level changed, by how much and with which "
        "commit, and whether it has drifted since; 'export [PATTERN]' everything as JSON or CSV. "
        "'add RUN' puts in a run that is in a file only: the name of a baseline, 'latest' or a run "
        "file. Runs of other machines are left out unless --machine says otherwise. A change may "
        "be "
        "the machine's: measure both commits side by side before you believe it.",
    .options = options,
    .run = run_history,
};
