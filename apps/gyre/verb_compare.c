/* SPDX-License-Identifier: Apache-2.0
 *
 * compare: two runs that were kept, side by side.
 */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/settings.h"
#include "base/text.h"
#include "bench/method.h"
#include "record/baseline.h"
#include "record/compare.h"
#include "report/comparison.h"
#include "verb.h"

enum { FAIL, NOISE_THRESHOLD, JSON, OUT };

static const gyre_option options[] = {
    [FAIL] = {"--fail", 0, NULL, "exit with 1 when something has regressed or fails now"},
    [NOISE_THRESHOLD] = {"--noise-threshold", 0, "X", "changes below it are noise (default 0.01)"},
    [JSON] = {"--json", 0, NULL, "print JSON instead of text (gyre.compare/1)"},
    [OUT] = {"--out", 0, "DIR", "folder with the results (default GYRE_OUT, gyre-out)"},
    {NULL, 0, NULL, NULL},
};

static int complain(gyre_status status)
{
    fprintf(stderr, "gyre compare: %s\n", gyre_error_last()->text);
    return status == GYRE_INVALID ? GYRE_EXIT_USAGE : GYRE_EXIT_ENVIRONMENT;
}

static gyre_status read_threshold(const gyre_args *args, double *out_threshold)
{
    const char *text = args->value[NOISE_THRESHOLD];
    char rest;

    if (!text)
        return GYRE_OK;
    if (sscanf(text, "%lf%c", out_threshold, &rest) != 1 ||
        !(*out_threshold >= 0.0001 && *out_threshold <= 10))
        return gyre_fail(GYRE_INVALID,
                         "option '--noise-threshold' takes a number from 0.0001 to 10, not '%.*s'",
                         gyre_text_cut(strlen(text)), text);
    return GYRE_OK;
}

static int run_compare(const gyre_args *args, int argc, char **argv)
{
    const char *folder = args->value[OUT] ? args->value[OUT] : gyre_settings_text(GYRE_SETTING_OUT);
    gyre_method method = {0};
    gyre_two_runs two = {0};
    gyre_run *base = NULL, *run = NULL;
    gyre_compared compared;
    gyre_status status = read_threshold(args, &method.noise_threshold);
    int code = GYRE_EXIT_DONE;

    (void)argc, (void)argv;
    if (status == GYRE_OK && args->operand_count != 2)
        status =
            gyre_fail(GYRE_INVALID, "say which two runs: names of baselines, 'latest', or files");
    if (status == GYRE_OK)
        status = gyre_run_load(folder, args->operands[0], &base);
    if (status == GYRE_OK)
        status = gyre_run_load(folder, args->operands[1], &run);
    if (status == GYRE_OK) { /* as the candidate's own run would have judged it */
        const double threshold = method.noise_threshold;

        method = run->method;
        method.noise_threshold = threshold > 0 ? threshold : method.noise_threshold;
        method = gyre_method_defaults(&method);
        status =
            gyre_compare(run, base, args->operands[0], &method, GYRE_MISSING_SKIPPED, &compared);
    }
    if (status == GYRE_OK) {
        two = (gyre_two_runs){base, run, args->operands[0], args->operands[1], &compared};
        if (gyre_args_given(args, JSON))
            gyre_comparison_write(stdout, &two);
        else
            gyre_comparison_print(stdout, &two);
        if (gyre_args_given(args, FAIL) && (compared.verdicts[GYRE_VERDICT_REGRESSED] > 0 ||
                                            gyre_comparison_broken(&two, NULL) > 0))
            code = GYRE_EXIT_FAILED;
        gyre_compared_fini(&compared);
    } else {
        code = complain(status);
    }
    gyre_run_destroy(run);
    gyre_run_destroy(base);
    return code;
}

const gyre_verb verb_compare = {
    .name = "compare",
    .operands = "BASE CANDIDATE",
    .most_operands = 2,
    .summary = "show two kept runs side by side",
    .description =
        "BASE and CANDIDATE are names of baselines, 'latest' for the last run, or run files. Shown "
        "are those benchmarks that were measured in both, with the change of the median and its "
        "interval. The two were measured at different times, so a change may be the machine's: the "
        "comparison is advisory, and the exit status is 0 unless --fail is given.",
    .options = options,
    .run = run_compare,
};
