/* SPDX-License-Identifier: Apache-2.0
 *
 * selftest: measures how often the judge is right on this machine.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/settings.h"
#include "main/given.h"
#include "main/manners.h"
#include "main/selftest.h"
#include "record/file.h"
#include "record/selftest.h"
#include "record/trust.h"
#include "report/selftest_table.h"
#include "verb.h"

enum { QUICK, FULL, TRIALS, SEED, JSON, OUT };

static const gyre_option options[] = {
    [QUICK] = {"--quick", 0, NULL, "30 trials of the same program, within 3 minutes (the default)"},
    [FULL] = {"--full", 0, NULL, "400 trials of the same program, 200 of each change; an hour"},
    [TRIALS] = {"--trials", 0, "COUNT", "so many of each row instead, from 1 to 10000"},
    [SEED] = {"--seed", 0, "NUMBER", "from which everything random is drawn (default: any)"},
    [JSON] = {"--json", 0, NULL, "print JSON instead of text (gyre.selftest/1)"},
    [OUT] = {"--out", 0, "DIR", "folder for the record (default GYRE_OUT, gyre-out)"},
    {NULL, 0, NULL, NULL},
};

/* Where the programs are, and the folder for the record. */
typedef struct places {
    char workload[PATH_MAX], relinked[PATH_MAX];
    const char *folder;
} places;

static int complain(gyre_status status)
{
    fprintf(stderr, "gyre selftest: %s\n", gyre_error_last()->text);
    return status == GYRE_INVALID ? GYRE_EXIT_USAGE : GYRE_EXIT_ENVIRONMENT;
}

/* From where this command is, in a build tree as when installed. */
static gyre_status find_workload(const char *name, char out[PATH_MAX])
{
    char self[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;
    int printed;

    if (length <= 0)
        return gyre_fail_native(GYRE_IO, errno, "cannot read /proc/self/exe: %s", strerror(errno));
    self[length] = '\0';
    slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    printed = snprintf(out, PATH_MAX, "%s/%s/%s", self, GYRE_WORKLOADS, name);
    if (printed < 0 || printed >= PATH_MAX)
        return gyre_fail(GYRE_IO, "the path of this command is too long");
    if (access(out, X_OK) != 0)
        return gyre_fail_native(GYRE_NOT_FOUND, errno,
                                "the program '%s' is not at %s/%s (%s): it comes with the command, "
                                "by 'make' or 'make install'",
                                name, GYRE_WORKLOADS, name, strerror(errno));
    return GYRE_OK;
}

/* Whatever can be missing is missed before anything is measured. */
static gyre_status find_places(const gyre_args *args, places *p)
{
    gyre_status status = find_workload("workload", p->workload);

    if (status == GYRE_OK)
        status = find_workload("workload_relinked", p->relinked);
    p->folder = args->value[OUT] ? args->value[OUT] : gyre_settings_text(GYRE_SETTING_OUT);
    return status == GYRE_OK ? gyre_folder_open(p->folder) : status;
}

/* Prints and keeps; returns an exit status. */
static int finish(const gyre_selftest *selftest, const places *p, bool json)
{
    gyre_selftest_target targets[GYRE_SELFTEST_TARGETS];
    char path[PATH_MAX];

    if (json)
        gyre_selftest_write(selftest, stdout);
    else
        gyre_selftest_table_print(stdout, selftest);
    if (selftest->head->interrupted)
        return GYRE_EXIT_INTERRUPTED;
    if (gyre_selftest_keep(selftest, p->folder) != GYRE_OK)
        return complain(GYRE_IO);
    if (!json)
        printf("kept in %s/selftest.json\n", p->folder);
    if (!json && selftest->mode == GYRE_SELFTEST_FULL && gyre_trust_path(path, sizeof path))
        printf("kept in %s\n", path);
    gyre_selftest_judge(selftest, targets);
    return gyre_selftest_passed(targets) ? GYRE_EXIT_DONE : GYRE_EXIT_FAILED;
}

static gyre_status create(const gyre_args *args, int argc, char **argv, gyre_selftest **out)
{
    const bool full = gyre_args_given(args, FULL);
    const gyre_given given = {options, args};
    uint64_t trials = 0, seed = 0;
    gyre_run *head;
    gyre_status status = gyre_given_count(
        &given, TRIALS, (gyre_range){1, GYRE_SELFTEST_MOST, "a number from 1 to 10000"}, &trials);

    *out = NULL;
    if (status == GYRE_OK)
        status =
            gyre_given_count(&given, SEED, (gyre_range){1, 9.3e18, "a number from 1 on"}, &seed);
    if (status == GYRE_OK && full + gyre_args_given(args, QUICK) + (trials > 0) > 1)
        status = gyre_fail(GYRE_INVALID, "choose one of --quick, --full and --trials");
    if (status == GYRE_OK)
        status = gyre_run_create(0, argc, argv, &head);
    if (status == GYRE_OK) {
        head->commit = gyre_commit_find(&head->arena);
        status = gyre_selftest_create(trials > 0 ? GYRE_SELFTEST_CUSTOM
                                      : full     ? GYRE_SELFTEST_FULL
                                                 : GYRE_SELFTEST_QUICK,
                                      trials, head, out);
    }
    if (status == GYRE_OK)
        (*out)->seed = seed;
    return status;
}

static int run_selftest(const gyre_args *args, int argc, char **argv)
{
    gyre_selftest_request request = {.progress = stderr, .interrupted = &gyre_interrupted};
    static places p;
    gyre_selftest *selftest;
    gyre_manners before;
    gyre_status status = create(args, argc, argv, &selftest);
    int code;

    if (status == GYRE_OK)
        status = find_places(args, &p);
    if (status != GYRE_OK) {
        gyre_selftest_destroy(selftest);
        return complain(status);
    }
    request.workload = p.workload;
    request.relinked = p.relinked;
    gyre_manners_take(&before, false);
    status = gyre_selftest_measure(&request, selftest);
    if (status == GYRE_OK) {
        code = finish(selftest, &p, gyre_args_given(args, JSON));
    } else {
        code = complain(GYRE_IO);  /* nothing that was said is wrong */
        if (selftest->count > 0) { /* an hour may have gone into it */
            selftest->head->interrupted = true;
            (void)finish(selftest, &p, gyre_args_given(args, JSON));
        }
    }
    gyre_manners_forget(&before);
    gyre_selftest_destroy(selftest);
    return code;
}

const gyre_verb verb_selftest = {
    .name = "selftest",
    .operands = "",
    .summary = "measure how often the judge is right on this machine",
    .description =
        "Lets the judge of 'gyre ab' compare programs whose difference is known: none, 1, 2 and 5 "
        "% of real work added, and the same source relinked with a function that nobody calls, "
        "each "
        "on arithmetic and on memory. Prints how often it raised a false alarm and how often it "
        "found the "
        "change, with exact bounds, and holds that against its targets. Takes 3 minutes, or an "
        "hour with --full, on a machine that should have nothing else to do. The record is kept as "
        "selftest.json in the folder for results; that of a full self-test for this user "
        "too, where 'gyre gate' finds it. The exit status is 1 when a target is missed.",
    .options = options,
    .run = run_selftest,
};
