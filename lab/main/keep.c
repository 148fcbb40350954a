/* SPDX-License-Identifier: Apache-2.0
 *
 * keep: see keep.h.
 */
#include "main/keep.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "bench/filter.h"
#include "record/baseline.h"
#include "record/compare.h"
#include "record/file.h"
#include "record/history.h"
#include "report/bencher.h"
#include "report/criterion.h"
#include "report/csv.h"
#include "report/google.h"
#include "report/report.h"
#include "report/targets_table.h"
#include "report/terminal.h"

enum { NAMES_BYTES = 160 };

static gyre_status load_base(const gyre_request *request, gyre_run **out_base)
{
    const gyre_status status = gyre_baseline_load(request->folder, request->compare_with, out_base);

    return status == GYRE_NOT_FOUND && request->lenient ? GYRE_OK : status;
}

/* A baseline that is to be compared with must have whatever was measured, unless it need not. */
static int check_base(const gyre_bench_program *program, const gyre_request *request,
                      const gyre_run *run, const gyre_run *base)
{
    int code = GYRE_EXIT_DONE;

    for (size_t i = 0; i < run->count && base && !request->lenient; i++) {
        const gyre_result *result = &run->results[i];

        if (result->outcome != GYRE_OUTCOME_MEASURED || gyre_run_find(base, result->id))
            continue;
        fflush(stdout);
        fprintf(stderr, "%s: baseline '%s' has no '%s'; --baseline-lenient compares what it has\n",
                program->name, request->compare_with, result->id);
        code = GYRE_EXIT_ENVIRONMENT;
    }
    return code;
}

/* A file that cannot be read was perhaps meant to be one of those that are built in. */
static gyre_status tell_tables(const gyre_named_targets *named, gyre_status status)
{
    char why[sizeof gyre_error_last()->text], names[NAMES_BYTES] = "";
    size_t used = 0;

    for (; named && named->name && used < sizeof names; named++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s'%s'", used ? ", " : "",
                                 named->name);
    if (used == 0)
        return status;
    snprintf(why, sizeof why, "%s", gyre_error_last()->text);
    return gyre_fail(status, "%s; tables that are built in: %s", why, names);
}

static gyre_status load_targets(const gyre_bench_program *program, const char *word,
                                gyre_targets **out_targets)
{
    const gyre_named_targets *named = program->named_targets;
    gyre_status status;

    for (; named && named->name; named++)
        if (strcmp(word, named->name) == 0)
            return gyre_targets_parse(named->text, strlen(named->text), word, out_targets);
    if (gyre_text_choice("seeds|actors|interactive", word) >= 0)
        return gyre_fail(GYRE_INVALID,
                         "'%s' are targets for Gyre's own benchmarks; --targets "
                         "takes a file here",
                         word);
    status = gyre_targets_load(word, out_targets);
    return status == GYRE_IO ? tell_tables(program->named_targets, status) : status;
}

gyre_status gyre_keep_prepare(const gyre_bench_program *program, const gyre_request *request,
                              gyre_standards *out_standards)
{
    gyre_status status = GYRE_OK;

    *out_standards = (gyre_standards){0};
    if (request->targets)
        status = load_targets(program, request->targets, &out_standards->targets);
    if (status != GYRE_OK)
        return status;
    if (request->compare_with)
        status = gyre_baseline_check(request->compare_with);
    if (status != GYRE_OK)
        return status;
    if (request->keep) {
        status = gyre_folder_open(request->folder);
        if (status != GYRE_OK) {
            char why[sizeof gyre_error_last()->text];

            snprintf(why, sizeof why, "%s", gyre_error_last()->text);
            return gyre_fail(status, "%s; choose another with --out, or --no-save", why);
        }
    }
    if (request->export_folder) {
        status = gyre_folder_open(request->export_folder);
        if (status != GYRE_OK)
            return status;
    }
    return request->compare_with ? load_base(request, &out_standards->base) : GYRE_OK;
}

void gyre_standards_fini(gyre_standards *standards)
{
    gyre_run_destroy(standards->base);
    gyre_targets_destroy(standards->targets);
    *standards = (gyre_standards){0};
}

static void print_formatted(const gyre_request *request, const gyre_report *report)
{
    switch (request->format) {
    case GYRE_FORMAT_CRITERION:
        break; /* it was printed as it came */
    case GYRE_FORMAT_BENCHER:
        gyre_bencher_write(stdout, report->run);
        break;
    case GYRE_FORMAT_JSON:
        gyre_run_write(report->run, 0, stdout);
        break;
    case GYRE_FORMAT_CSV:
        gyre_csv_write(stdout, report->run);
        break;
    case GYRE_FORMAT_GOOGLE:
        gyre_google_write(stdout, report->run);
        break;
    case GYRE_FORMAT_HTML:
        break; /* it wants the history */
    }
}

/* What could not be written is said; GYRE_EXIT_ENVIRONMENT then. */
static int told(const gyre_bench_program *program, gyre_status status)
{
    if (status == GYRE_OK)
        return GYRE_EXIT_DONE;
    fflush(stdout);
    fprintf(stderr, "%s: %s%s\n", program->name, gyre_error_last()->text,
            status == GYRE_IO ? "; free some space, or choose another folder with --out" : "");
    return GYRE_EXIT_ENVIRONMENT;
}

static gyre_status save_latest(const gyre_request *request, const gyre_run *run, char *path,
                               size_t size)
{
    if ((size_t)snprintf(path, size, "%s/latest.json", request->folder) >= size)
        return gyre_fail(GYRE_IO, "the path of the folder is too long");
    return gyre_run_save(run, path);
}

/* Whatever becomes of it, the run is in its file, unless that could not be written either. */
static int keep_history(const gyre_bench_program *program, const gyre_request *request,
                        const gyre_run *run, bool in_file)
{
    gyre_history *history;
    uint64_t number;
    gyre_status status = gyre_history_open(request->folder, GYRE_HISTORY_WRITE, 0, &history);

    if (status == GYRE_OK)
        status = gyre_history_add(history, run, &number);
    gyre_history_close(history);
    if (status == GYRE_OK)
        return GYRE_EXIT_DONE;
    fflush(stdout);
    fprintf(stderr, "%s: not in the history: %s\n", program->name, gyre_error_last()->text);
    if (in_file)
        fprintf(stderr, "%s: the run is in %s/latest.json; 'gyre history add' puts it in later\n",
                program->name, request->folder);
    return GYRE_EXIT_ENVIRONMENT;
}

/* The page, where it is wanted; with trends if the run is in the history. */
static int keep_report(const gyre_bench_program *program, const gyre_request *request,
                       gyre_report report, bool measured, bool historic)
{
    const bool html = request->format == GYRE_FORMAT_HTML, plots = request->plots && measured;
    const bool text = request->format == GYRE_FORMAT_CRITERION && !request->quiet;
    gyre_status status = GYRE_OK;
    gyre_trends trends;
    char path[PATH_MAX];

    if (!html && !plots)
        return GYRE_EXIT_DONE;
    if (historic && gyre_trends_read(request->folder, report.run, &trends) == GYRE_OK)
        report.trends = &trends;
    if (html)
        gyre_report_write(stdout, &report);
    if (plots)
        status = gyre_report_save(request->folder, "index", &report, path, sizeof path);
    if (report.trends)
        gyre_trends_fini(&trends);
    if (plots && status == GYRE_OK && text)
        printf("report in %s\n", path);
    return told(program, status);
}

/* Beside what programs read, it goes where progress goes. */
static void print_targets(const gyre_bench_program *program, const gyre_request *request,
                          const gyre_run *run, const gyre_targets *targets)
{
    FILE *const stream = request->format == GYRE_FORMAT_CRITERION ? stdout : stderr;
    const gyre_case_choice everything = {0};
    gyre_case_list *all;

    if (gyre_case_list_create(program->suites, &everything, &all) != GYRE_OK)
        all = NULL;
    fputc('\n', stream);
    (void)gyre_targets_table_write(stream, targets, run, all);
    gyre_case_list_destroy(all);
}

int gyre_keep(const gyre_bench_program *program, const gyre_request *request, const gyre_run *run,
              const gyre_standards *standards)
{
    const bool text = request->format == GYRE_FORMAT_CRITERION && !request->quiet;
    const gyre_report report = {
        .run = run, .base = standards->base, .base_name = request->compare_with};
    const bool measured = gyre_run_count(run, GYRE_OUTCOME_MEASURED) > 0;
    bool in_file = false, historic = false;
    char path[PATH_MAX];
    int code = check_base(program, request, run, standards->base);

    print_formatted(request, &report);
    if (standards->targets)
        print_targets(program, request, run, standards->targets);
    /* a run without a figure does not replace one that has some */
    if (request->keep && measured) {
        const gyre_status status = save_latest(request, run, path, sizeof path);

        in_file = status == GYRE_OK;
        code |= told(program, status);
        if (in_file && text)
            printf("kept in %s\n", path);
    }
    if (request->save && measured)
        code |= told(program, gyre_baseline_save(request->folder, request->save, run));
    if (request->keep && run->count > 0) {
        const int history = keep_history(program, request, run, in_file);

        historic = history == GYRE_EXIT_DONE;
        code |= history;
    }
    code |= keep_report(program, request, report, measured, historic);
    if (request->export_folder && measured)
        code |= told(program, gyre_criterion_export(run, request->export_folder, "base"));
    return code;
}

/* Leaves the results that the filters want. */
static gyre_status keep_chosen(gyre_run *run, const gyre_case_choice *choice)
{
    gyre_filter filter;
    size_t kept = 0;
    const gyre_status status = gyre_filter_init(&filter, choice->patterns, choice->pattern_count,
                                                choice->exact, choice->skip, choice->skip_count);

    if (status != GYRE_OK)
        return status;
    for (size_t i = 0; i < run->count; i++) {
        gyre_result *result = &run->results[i];
        const bool wanted = gyre_filter_wants(&filter, result->id, result->tags) &&
                            (!choice->suite || strcmp(choice->suite, result->suite) == 0);

        if (!wanted) {
            gyre_result_fini(result);
        } else if (kept++ != i) {
            run->results[kept - 1] = *result;
            *result = (gyre_result){0};
        }
    }
    gyre_filter_fini(&filter);
    run->count = kept;
    return kept > 0 ? GYRE_OK : gyre_fail(GYRE_INVALID, "no benchmark of the baseline matches");
}

int gyre_keep_compare_loaded(const gyre_bench_program *program, const gyre_request *request)
{
    gyre_run *run = NULL, *base = NULL;
    gyre_compared compared;
    int code = GYRE_EXIT_ENVIRONMENT;
    gyre_status status = gyre_baseline_load(request->folder, request->load, &run);

    if (status == GYRE_OK)
        status = gyre_baseline_load(request->folder, request->compare_with, &base);
    if (status == GYRE_OK)
        status = keep_chosen(run, &request->choice);
    if (status == GYRE_OK)
        status =
            gyre_compare(run, base, request->compare_with, &request->method,
                         request->lenient ? GYRE_MISSING_SKIPPED : GYRE_MISSING_REFUSED, &compared);
    if (status == GYRE_OK) {
        const gyre_report report = {.run = run, .base = base, .base_name = request->compare_with};

        gyre_compared_fini(&compared);
        for (size_t i = 0; i < run->count && request->format == GYRE_FORMAT_CRITERION; i++)
            gyre_terminal_result(stdout, &run->results[i], &request->method, request->detail);
        if (request->format == GYRE_FORMAT_CRITERION && !request->quiet)
            gyre_terminal_summary(stdout, run, run->count);
        print_formatted(request, &report);
        if (request->format == GYRE_FORMAT_HTML)
            gyre_report_write(stdout, &report);
        code = GYRE_EXIT_DONE;
    } else {
        fprintf(stderr, "%s: %s\n", program->name, gyre_error_last()->text);
        if (status == GYRE_INVALID)
            code = GYRE_EXIT_USAGE;
    }
    gyre_run_destroy(base);
    gyre_run_destroy(run);
    return code;
}
