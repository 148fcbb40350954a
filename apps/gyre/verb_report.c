/* SPDX-License-Identifier: Apache-2.0
 *
 * report: the HTML page of a run that was kept.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/settings.h"
#include "bench/method.h"
#include "record/baseline.h"
#include "record/compare.h"
#include "record/file.h"
#include "report/report.h"
#include "verb.h"

enum { BASELINE, OUTPUT, OUT };

static const gyre_option options[] = {
    [BASELINE] = {"--baseline", 'b', "NAME", "show the changes against this run, too"},
    [OUTPUT] = {"--output", 'o', "FILE",
                "write there; - is stdout (default DIR/report/RUN.html, index.html for latest)"},
    [OUT] = {"--out", 0, "DIR", "folder with the results (default GYRE_OUT, gyre-out)"},
    {NULL, 0, NULL, NULL},
};

static void write_page(FILE *stream, const void *report)
{
    gyre_report_write(stream, report);
}

/* The page of the last run is index.html; a baseline's has its name, and so has a file's. */
static const char *name_of(const gyre_args *args)
{
    static char name[GYRE_BASELINE_NAME_BYTES + 1];
    const char *word = args->operand_count > 0 ? args->operands[0] : "latest";
    const char *slash = strrchr(word, '/');
    const char *dot;

    if (strcmp(word, "latest") == 0)
        return "index";
    snprintf(name, sizeof name, "%s", slash ? slash + 1 : word);
    dot = strrchr(name, '.');
    if (slash && dot && dot > name)
        name[dot - name] = '\0';
    return name;
}

/* Where it was written goes to `path`; "" for stdout. */
static gyre_status write_report(const gyre_args *args, const char *folder,
                                const gyre_report *report, char *path, size_t size)
{
    const char *output = args->value[OUTPUT];

    path[0] = '\0';
    if (!output)
        return gyre_report_save(folder, name_of(args), report, path, size);
    if (output[0] == '-' && output[1] == '\0') {
        gyre_report_write(stdout, report);
        return GYRE_OK;
    }
    snprintf(path, size, "%s", output);
    return gyre_file_replace(output, write_page, report);
}

/* A page without trends is better than none: what is wrong with the history is only said. */
static bool read_trends(const char *folder, const gyre_run *run, gyre_trends *trends)
{
    const gyre_status status = gyre_trends_read(folder, run, trends);

    if (status != GYRE_OK && status != GYRE_NOT_FOUND)
        fprintf(stderr, "gyre report: without trends: %s\n", gyre_error_last()->text);
    return status == GYRE_OK;
}

static int run_report(const gyre_args *args, int argc, char **argv)
{
    const char *folder = args->value[OUT] ? args->value[OUT] : gyre_settings_text(GYRE_SETTING_OUT);
    const char *word = args->operand_count > 0 ? args->operands[0] : "latest";
    gyre_run *run, *base = NULL;
    gyre_compared compared;
    gyre_trends trends;
    char path[PATH_MAX];
    gyre_status status = gyre_run_load(folder, word, &run);

    (void)argc, (void)argv;
    if (status == GYRE_OK && args->value[BASELINE]) {
        status = gyre_run_load(folder, args->value[BASELINE], &base);
        if (status == GYRE_OK) {
            const gyre_method method = gyre_method_defaults(&run->method);

            status = gyre_compare(run, base, args->value[BASELINE], &method, GYRE_MISSING_SKIPPED,
                                  &compared);
        }
        if (status == GYRE_OK)
            gyre_compared_fini(&compared);
    }
    if (status == GYRE_OK) {
        gyre_report report = {run, base, args->value[BASELINE], NULL};

        if (read_trends(folder, run, &trends))
            report.trends = &trends;
        status = write_report(args, folder, &report, path, sizeof path);
        if (report.trends)
            gyre_trends_fini(&trends);
    }
    if (status != GYRE_OK)
        fprintf(stderr, "gyre report: %s\n", gyre_error_last()->text);
    else if (path[0])
        printf("report in %s\n", path);
    gyre_run_destroy(base);
    gyre_run_destroy(run);
    return status == GYRE_OK        ? GYRE_EXIT_DONE
           : status == GYRE_INVALID ? GYRE_EXIT_USAGE
                                    : GYRE_EXIT_ENVIRONMENT;
}

const gyre_verb verb_report = {
    .name = "report",
    .operands = "[RUN]",
    .most_operands = 1,
    .summary = "write the HTML report of a kept run",
    .description =
        "RUN is the name of a baseline, 'latest' (the default) or a run file. The report is one "
        "file that needs nothing else: it works offline, from a disk or an attachment, in light "
        "and dark, on a phone and on paper.",
    .options = options,
    .run = run_report,
};
