/* SPDX-License-Identifier: Apache-2.0
 *
 * gate: whether a new version may pass. Measures it against the old one, or takes a measurement
 * that was kept, holds it against a policy, and measures again what fails.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ab_request.h"
#include "base/fail.h"
#include "base/settings.h"
#include "base/text.h"
#include "main/manners.h"
#include "main/program.h"
#include "record/baseline.h"
#include "record/commit.h"
#include "record/compare.h"
#include "record/file.h"
#include "record/gate.h"
#include "record/trust.h"
#include "report/findings.h"
#include "report/verdicts.h"
#include "verb.h"

enum { POLICY = AB_ROWS, READ, SAVE, STRICT, ADVISORY, FAIL, GITHUB, MARKDOWN, JSON };

static const char default_policy[] = "gyre-gate.json";

static const gyre_option options[] = {
    AB_OPTION_ROWS,
    [POLICY] = {"--policy", 'p', "FILE", "what is allowed (default gyre-gate.json, if there)"},
    [READ] = {"--read", 'r', "FILE", "gate the measurement in FILE; OLD and NEW repeat what fails"},
    [SAVE] = {"--save", 's', "FILE", "keep the measurement there (default DIR/ab.json)"},
    [STRICT] = {"--strict", 0, NULL, "exit with 4 when nothing failed but something is undecided"},
    [ADVISORY] = {"--advisory", 0, NULL, "OLD and NEW are kept runs, measured one after the other"},
    [FAIL] = {"--fail", 0, NULL, "with --advisory: exit with 1 all the same when something fails"},
    [GITHUB] = {"--github", 0, NULL, "print annotations for a GitHub workflow, too"},
    [MARKDOWN] = {"--markdown", 0, NULL, "print a summary for a pull request"},
    [JSON] = {"--json", 0, NULL, "print JSON instead of text (gyre.gate-result/1)"},
    {NULL, 0, NULL, NULL},
};

typedef struct job {
    const gyre_args *args;
    int argc;
    char **argv;
    const char *folder;
    const char *policy_name; /* "" for the defaults */
    gyre_policy *policy;
    gyre_ab *ab;
    gyre_findings *findings;
    bool not_kept; /* something could not be written, and that was said */
} job;

static int complain(int code)
{
    fflush(stdout);
    fprintf(stderr, "gyre gate: %s\n", gyre_error_last()->text);
    return code;
}

static int complain_of(gyre_status status)
{
    return complain(status == GYRE_INVALID ? GYRE_EXIT_USAGE : GYRE_EXIT_ENVIRONMENT);
}

static bool given(const job *j, size_t row)
{
    return gyre_args_given(j->args, row);
}

static bool is_json(const char *word)
{
    const size_t length = strlen(word);

    return length > 5 && strcmp(word + length - 5, ".json") == 0 && access(word, X_OK) != 0;
}

static gyre_status check_words(const job *j)
{
    if (given(j, JSON) && (given(j, MARKDOWN) || given(j, GITHUB)))
        return gyre_fail(GYRE_INVALID, "--json stands alone: give no other form");
    if (given(j, READ) && given(j, ADVISORY))
        return gyre_fail(GYRE_INVALID, "--read and --advisory exclude each other");
    if (given(j, READ) && j->args->operand_count != 0 && j->args->operand_count != 2)
        return gyre_fail(GYRE_INVALID,
                         "--read takes OLD and NEW, to repeat what fails, or neither");
    if (!given(j, ADVISORY) && j->args->operand_count > 0 && is_json(j->args->operands[0]))
        return gyre_fail(GYRE_INVALID,
                         "'%.*s' is a file of results: --advisory gates two kept "
                         "runs, --read a measurement of gyre ab",
                         gyre_text_cut(strlen(j->args->operands[0])), j->args->operands[0]);
    if (given(j, FAIL) && !given(j, ADVISORY))
        return gyre_fail(GYRE_INVALID, "--fail is for --advisory; else what fails always fails");
    if (given(j, ADVISORY) && j->args->operand_count != 2)
        return gyre_fail(GYRE_INVALID,
                         "say which two runs: names of baselines, 'latest', or files");
    return GYRE_OK;
}

static gyre_status load_policy(job *j)
{
    j->policy_name = j->args->value[POLICY];
    if (!j->policy_name)
        j->policy_name = access(default_policy, F_OK) == 0 ? default_policy : "";
    return j->policy_name[0] ? gyre_policy_read(j->policy_name, &j->policy)
                             : gyre_policy_create(&j->policy);
}

static bool is_settled(void *user, const gyre_ab_bench *bench, size_t family)
{
    const job *j = user;

    return gyre_gate_settled(j->policy, j->ab->rule.alpha, bench, family);
}

/* A filter leaves out what rules are about; without one, a rule about nothing is a mistake. */
static gyre_status check_policy(void *user, const gyre_ab *ab)
{
    const job *j = user;
    const bool whole = j->args->operand_count <= 2 && !given(j, AB_SKIP) && !ab->again;

    return whole ? gyre_policy_check(j->policy, gyre_policy_id_of_ab, ab) : GYRE_OK;
}

/* GYRE_CANCELLED when the user stopped it. */
static gyre_status measure(job *j, gyre_ab_request *request, gyre_ab **out_ab)
{
    gyre_manners before;
    gyre_status status = gyre_ab_create(j->argc, j->argv, out_ab);

    if (status != GYRE_OK)
        return status;
    (*out_ab)->head->commit = gyre_commit_find(&(*out_ab)->head->arena);
    request->memory |= gyre_policy_asks(j->policy, GYRE_GATED_MEMORY);
    request->instructions |= gyre_policy_asks(j->policy, GYRE_GATED_INSTRUCTIONS);
    request->chosen = check_policy;
    request->settled = is_settled;
    request->user = j;
    gyre_manners_take(&before, false);
    status = gyre_ab_measure(request, *out_ab);
    gyre_manners_forget(&before);
    if (status == GYRE_OK && (*out_ab)->head->interrupted)
        status = gyre_fail(GYRE_CANCELLED, "interrupted");
    return status;
}

/* What cannot be kept is told at once; the findings are printed all the same. */
static void keep(job *j, const gyre_ab *ab, const char *name)
{
    char path[PATH_MAX];
    int length = 0;
    gyre_status status;

    if (!ab->again && given(j, SAVE))
        length = snprintf(path, sizeof path, "%s", j->args->value[SAVE]);
    else
        length = snprintf(path, sizeof path, "%s/%s", j->folder, name);
    status = length >= 0 && (size_t)length < sizeof path
                 ? gyre_ab_save(ab, path)
                 : gyre_fail(GYRE_IO, "the path of the folder is too long");
    if (status != GYRE_OK) {
        (void)complain(GYRE_EXIT_ENVIRONMENT);
        j->not_kept = true;
    }
}

static gyre_status measure_first(job *j)
{
    ab_request request;
    gyre_status status = ab_request_read(options, j->args, &request);

    if (status == GYRE_OK && given(j, SAVE))
        status = ab_request_try(j->args->value[SAVE]);
    if (status == GYRE_OK) /* for the repeat, too */
        status = gyre_folder_open(j->folder);
    if (status == GYRE_OK)
        status = measure(j, &request.asked, &j->ab);
    if (status == GYRE_NOT_FOUND) /* no such benchmark: the words were wrong */
        return GYRE_INVALID;
    if ((status == GYRE_OK || status == GYRE_CANCELLED) && j->ab->count > 0)
        keep(j, j->ab, "ab.json");
    return status;
}

static gyre_status read_first(job *j)
{
    gyre_status status = gyre_ab_read(j->args->value[READ], &j->ab);

    return status == GYRE_OK ? gyre_ab_judge(j->ab) : status;
}

/* NULL when both programs are those that were measured; else why not. Only words of the user's are
 * ever executed, never those of a file. */
static const char *cannot_repeat(const job *j)
{
    if (j->args->operand_count < 2)
        return "no programs were given to repeat it";
    for (int side = 0; side < 2; side++) {
        gyre_program program;
        bool same;

        if (gyre_program_init(&program, j->args->operands[side]) != GYRE_OK)
            return side == 0 ? "the old version's program is not there to repeat it"
                             : "the new version's program is not there to repeat it";
        same = program.bytes == j->ab->sides[side].program_bytes &&
               program.hash == j->ab->sides[side].program_hash;
        gyre_program_fini(&program);
        if (!same)
            return side == 0 ? "the old version's program has changed since"
                             : "the new version's program has changed since";
    }
    return NULL;
}

/* The same words, and these ids alone. */
static gyre_status measure_again(job *j, const char *const *ids, size_t count, gyre_ab **out_ab)
{
    gyre_args args = *j->args;
    ab_request request;
    gyre_status status;

    *out_ab = NULL;
    args.operand_count = 2;
    status = ab_request_read(options, &args, &request);
    if (status != GYRE_OK)
        return status;
    request.asked.exact = true;
    request.asked.patterns = ids;
    request.asked.pattern_count = count;
    request.asked.rule = j->ab->rule;
    request.asked.plain_commands = !j->ab->lock_step;
    request.asked.again = true;
    if (request.asked.seed > 0)
        request.asked.seed++; /* independent of the first */
    return measure(j, &request.asked, out_ab);
}

/* Fails twice, or is a warning. */
static gyre_status confirm(job *j)
{
    const char *ids[GYRE_FILTER_PATTERNS];
    const size_t count = gyre_gate_doubtful(j->findings, ids, GYRE_FILTER_PATTERNS);
    const char *why = count > 0 ? cannot_repeat(j) : NULL;
    gyre_findings *repeat = NULL;
    gyre_ab *again = NULL;
    gyre_status status;

    if (count == 0)
        return GYRE_OK;
    if (why)
        return gyre_gate_confirm(j->findings, NULL, why);
    fflush(stdout);
    fprintf(stderr, "gyre gate: %zu fail%s; measuring %s again\n", count, count == 1 ? "s" : "",
            count == 1 ? "it" : "them");
    /* more than a filter has room for: all of it again */
    status = measure_again(j, ids, count <= GYRE_FILTER_PATTERNS ? count : 0, &again);
    if (status == GYRE_OK)
        status = gyre_gate_evaluate(j->policy, again, &repeat);
    if (status == GYRE_OK)
        status = gyre_gate_confirm(j->findings, repeat, NULL);
    if (again && again->count > 0 && !given(j, READ))
        keep(j, again, "ab-repeat.json");
    gyre_findings_destroy(repeat);
    gyre_ab_destroy(again);
    return status;
}

static void print(const job *j, const char *advisory)
{
    const gyre_gate_report report = {j->findings, advisory, j->policy_name};

    if (given(j, JSON)) {
        gyre_findings_write(stdout, &report);
    } else if (given(j, MARKDOWN)) {
        gyre_findings_markdown(stdout, &report);
        if (j->ab) {
            fputs("<details><summary>All benchmarks</summary>\n\n", stdout);
            gyre_verdicts_markdown(stdout, j->ab);
            fputs("\n</details>\n", stdout);
        }
    } else {
        gyre_findings_print(stdout, &report);
    }
    if (given(j, GITHUB))
        gyre_findings_annotate(stdout, &report);
}

static int exit_of(const job *j)
{
    switch (gyre_gate_outcome_of(j->findings)) {
    case GYRE_GATE_FAILED:
        return GYRE_EXIT_FAILED;
    case GYRE_GATE_UNDECIDED:
        return given(j, STRICT) ? GYRE_EXIT_UNDECIDED : GYRE_EXIT_DONE;
    case GYRE_GATE_PASSED:
        break;
    }
    return GYRE_EXIT_DONE;
}

/* A gate that holds nothing back is a mistake. */
static gyre_status check_gated(const job *j)
{
    if (j->findings->gated > 0)
        return GYRE_OK;
    return gyre_fail(GYRE_INVALID, "no benchmark is gated: %s",
                     j->policy_name[0] ? "nothing is on both sides that the policy does not ignore"
                                       : "nothing is on both sides");
}

static int gate_versions(job *j)
{
    gyre_status status = given(j, READ) ? read_first(j) : measure_first(j);
    gyre_trust trust;

    if (status == GYRE_OK && given(j, READ))
        status = check_policy(j, j->ab);
    if (status == GYRE_OK)
        status = gyre_gate_evaluate(j->policy, j->ab, &j->findings);
    if (status == GYRE_OK)
        status = check_gated(j);
    if (status == GYRE_OK)
        status = confirm(j);
    if (status == GYRE_CANCELLED)
        return complain(GYRE_EXIT_INTERRUPTED);
    if (status != GYRE_OK)
        return complain_of(status);
    trust = gyre_trust_find(j->folder, &j->ab->head->machine);
    print(j, trust.why);
    return j->not_kept && exit_of(j) != GYRE_EXIT_FAILED ? GYRE_EXIT_ENVIRONMENT : exit_of(j);
}

static int gate_runs(job *j)
{
    const char *const *names = j->args->operands;
    gyre_run *base = NULL, *run = NULL;
    gyre_compared compared = {0};
    gyre_status status = gyre_run_load(j->folder, names[0], &base);
    int code;

    if (status == GYRE_OK)
        status = gyre_run_load(j->folder, names[1], &run);
    if (status == GYRE_OK)
        status = gyre_policy_check(j->policy, gyre_policy_id_of_run, base);
    if (status == GYRE_OK)
        status = gyre_compare(run, base, names[0], &run->method, GYRE_MISSING_SKIPPED, &compared);
    if (status == GYRE_OK)
        status = gyre_gate_evaluate_runs(j->policy, run, &compared, &j->findings);
    if (status == GYRE_OK)
        status = check_gated(j);
    if (status == GYRE_OK) {
        print(j, "the two were measured one after the other, and a shared machine changes its "
                 "pace; 'gyre gate OLD NEW' measures both at once");
        code = given(j, FAIL) ? exit_of(j) : GYRE_EXIT_DONE;
    } else {
        code = complain_of(status);
    }
    gyre_findings_destroy(j->findings); /* its ids are the runs' */
    j->findings = NULL;
    gyre_compared_fini(&compared);
    gyre_run_destroy(run);
    gyre_run_destroy(base);
    return code;
}

static int run_gate(const gyre_args *args, int argc, char **argv)
{
    job j = {
        .args = args,
        .argc = argc,
        .argv = argv,
        .folder = gyre_args_given(args, AB_OUT) ? args->value[AB_OUT]
                                                : gyre_settings_text(GYRE_SETTING_OUT),
    };
    gyre_status status = check_words(&j);
    int code;

    if (status == GYRE_OK)
        status = load_policy(&j);
    if (status != GYRE_OK)
        code = complain_of(status);
    else
        code = given(&j, ADVISORY) ? gate_runs(&j) : gate_versions(&j);
    gyre_findings_destroy(j.findings);
    gyre_ab_destroy(j.ab);
    gyre_policy_destroy(j.policy);
    return code;
}

const gyre_verb verb_gate = {
    .name = "gate",
    .operands = "[OLD NEW [FILTER...]]",
    .most_operands = GYRE_OPERANDS_MAX,
    .summary = "fail when a new version is worse than a policy allows",
    .description =
        "OLD and NEW are as for 'gyre ab'. Both are measured in turns until it is settled for each "
        "benchmark whether it is within the policy's margins; by default 5 % slower is worth a "
        "warning and 10 % a failure. What fails is measured again, with another seed, and fails "
        "only if it does so twice. The exit status is 1 when something failed, and 4 with --strict "
        "when nothing did but something is undecided. The result is called advisory until a full "
        "self-test of this machine is on record; the exit status is the same. With --advisory two "
        "kept runs are compared instead, which were measured one after the other, and the exit "
        "status is 0 unless --fail is given.",
    .options = options,
    .run = run_gate,
};
