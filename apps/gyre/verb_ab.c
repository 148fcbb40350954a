/* SPDX-License-Identifier: Apache-2.0
 *
 * ab: measures two versions side by side and says which is faster, or judges a measurement anew.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "ab_request.h"
#include "base/fail.h"
#include "main/given.h"
#include "main/manners.h"
#include "record/commit.h"
#include "record/file.h"
#include "report/verdicts.h"
#include "verb.h"

enum { MARGIN = AB_ROWS, REPLAY, SAVE, NO_SAVE, MARKDOWN, JSON };

static const gyre_option options[] = {
    AB_OPTION_ROWS,
    [MARGIN] = {"--margin", 0, "X%", "changes within it do not matter (default 1%)"},
    [REPLAY] = {"--replay", 0, "FILE", "measure nothing: judge the measurement in FILE again"},
    [SAVE] = {"--save", 's', "FILE", "keep the measurement there (default DIR/ab.json)"},
    [NO_SAVE] = {"--no-save", 0, NULL, "write no file"},
    [MARKDOWN] = {"--markdown", 0, NULL, "print a table for a pull request"},
    [JSON] = {"--json", 0, NULL, "print JSON instead of text (gyre.ab/1)"},
    {NULL, 0, NULL, NULL},
};

static int complain(gyre_status status)
{
    fflush(stdout);
    fprintf(stderr, "gyre ab: %s\n", gyre_error_last()->text);
    return status == GYRE_INVALID || status == GYRE_NOT_FOUND ? GYRE_EXIT_USAGE
                                                              : GYRE_EXIT_ENVIRONMENT;
}

static void print(const gyre_args *args, const gyre_ab *ab)
{
    if (gyre_args_given(args, JSON))
        gyre_ab_write(ab, stdout);
    else if (gyre_args_given(args, MARKDOWN))
        gyre_verdicts_markdown(stdout, ab);
    else
        gyre_verdicts_print(stdout, ab);
}

static int exit_of(const gyre_ab *ab)
{
    for (size_t i = 0; i < ab->count; i++)
        if (ab->benches[i].outcome == GYRE_OUTCOME_FAILED)
            return GYRE_EXIT_FAILED;
    return GYRE_EXIT_DONE;
}

/* Judges what is in a file, and compares with what the file says. */
static int replay(const gyre_args *args)
{
    gyre_judgement *before;
    size_t different = 0;
    gyre_ab *ab;
    gyre_status status;

    if (args->operand_count > 0 || gyre_args_given(args, MARGIN)) {
        status = gyre_fail(GYRE_INVALID, "--replay takes commands and margin from its file: give "
                                         "neither");
        return complain(status);
    }
    status = gyre_ab_read(args->value[REPLAY], &ab);
    if (status != GYRE_OK)
        return complain(status == GYRE_INVALID ? GYRE_CORRUPT : GYRE_IO);
    before = gyre_arena_array(&ab->arena, ab->count + 1, sizeof before[0]);
    for (size_t i = 0; i < ab->count && before; i++)
        before[i] = ab->benches[i].judgement;
    status = before ? gyre_ab_judge(ab) : gyre_fail(GYRE_NO_MEMORY, "out of memory");
    if (status == GYRE_OK) {
        print(args, ab);
        for (size_t i = 0; i < ab->count; i++)
            different += !gyre_judgement_same(&before[i], &ab->benches[i].judgement);
        fflush(stdout);
        if (different > 0)
            fprintf(stderr,
                    "gyre ab: %zu of %zu judgements in '%s' are not what its samples say: it was "
                    "changed, or made by another version of Gyre, C library or processor\n",
                    different, ab->count, args->value[REPLAY]);
        else
            fprintf(stderr, "gyre ab: %zu judgement%s, the same to the last bit\n", ab->count,
                    ab->count == 1 ? "" : "s");
    }
    gyre_ab_destroy(ab);
    if (status != GYRE_OK)
        return complain(status);
    return different > 0 ? GYRE_EXIT_FAILED : GYRE_EXIT_DONE;
}

/* Keeps the measurement before it is shown, because whoever reads may go away; then says where. */
static int keep_and_print(const gyre_args *args, const ab_request *request, const gyre_ab *ab)
{
    char path[PATH_MAX];
    gyre_status status = GYRE_OK;

    if (gyre_args_given(args, NO_SAVE)) {
        print(args, ab);
        return GYRE_EXIT_DONE;
    }
    if (gyre_args_given(args, SAVE))
        snprintf(path, sizeof path, "%s", args->value[SAVE]);
    else if ((size_t)snprintf(path, sizeof path, "%s/ab.json", request->folder) >= sizeof path)
        status = gyre_fail(GYRE_IO, "the path of the folder is too long");
    if (status == GYRE_OK)
        status = gyre_ab_save(ab, path);
    print(args, ab);
    if (status != GYRE_OK)
        return complain(status);
    if (!gyre_args_given(args, JSON) && !gyre_args_given(args, MARKDOWN))
        printf("\nkept in %s\n", path);
    return GYRE_EXIT_DONE;
}

/* What has to be in order before anything is measured. */
static gyre_status prepare(const gyre_args *args, ab_request *request)
{
    const gyre_given given = {options, args};
    gyre_status status = ab_request_read(options, args, request);

    if (status == GYRE_OK)
        status = gyre_given_number(&given, MARGIN,
                                   (gyre_range){0.0001, 0.5, "a share from 0.01% to 50%, like 2%"},
                                   &request->asked.rule.margin);
    if (status == GYRE_OK && gyre_args_given(args, SAVE) && gyre_args_given(args, NO_SAVE))
        status = gyre_fail(GYRE_INVALID, "--save and --no-save exclude each other");
    if (status == GYRE_OK && gyre_args_given(args, SAVE))
        status = ab_request_try(args->value[SAVE]);
    else if (status == GYRE_OK && !gyre_args_given(args, NO_SAVE))
        status = gyre_folder_open(request->folder);
    return status;
}

static int run_ab(const gyre_args *args, int argc, char **argv)
{
    gyre_manners before;
    ab_request request;
    gyre_ab *ab = NULL;
    gyre_status status;
    int code;

    if (gyre_args_given(args, JSON) && gyre_args_given(args, MARKDOWN))
        return complain(gyre_fail(GYRE_INVALID, "--json and --markdown exclude each other"));
    if (gyre_args_given(args, REPLAY))
        return replay(args);
    status = prepare(args, &request);
    if (status == GYRE_OK)
        status = gyre_ab_create(argc, argv, &ab);
    if (status != GYRE_OK)
        return complain(status);
    ab->head->commit = gyre_commit_find(&ab->head->arena);
    gyre_manners_take(&before, false);
    status = gyre_ab_measure(&request.asked, ab);
    gyre_manners_forget(&before);
    if (status != GYRE_OK) {
        code = complain(status);
    } else {
        code = exit_of(ab);
        if (ab->count > 0) {
            const int kept = keep_and_print(args, &request, ab);

            code = kept != GYRE_EXIT_DONE ? kept : code;
        }
        if (ab->head->interrupted)
            code = GYRE_EXIT_INTERRUPTED;
    }
    gyre_ab_destroy(ab);
    return code;
}

const gyre_verb verb_ab = {
    .name = "ab",
    .operands = "OLD NEW [FILTER...]",
    .most_operands = GYRE_OPERANDS_MAX,
    .summary = "say which of two versions is faster",
    .description =
        "OLD and NEW are two programs built with libgyrelab, or two commands in quotes with their "
        "arguments ('build/old/bench --axis n=8'; Gyre's own benchmarks are 'gyre bench'). Each "
        "benchmark that both have and a filter wants is run as pairs of fresh processes that take "
        "turns on the same CPU, thousands of times, in random order, until it is settled: the new "
        "one is faster, slower, or equivalent within the margin; or undecided, when time or "
        "launches run out. That any benchmark is falsely called faster or slower has a probability "
        "of at most 1 %, and so has each 'equivalent' that is none. "
        "Beside each verdict stand the change with its interval and the smallest change that "
        "would have been found. Any other two commands are executed in turn, and one execution is "
        "one sample; each is executed once before, which is how it is found out that it lists no "
        "benchmarks (--commands does not ask). The measurement is kept with every sample, and "
        "--replay judges it again. The "
        "exit status is 1 when a benchmark failed on either side; 'gyre gate' exits by verdicts.",
    .options = options,
    .run = run_ab,
};
