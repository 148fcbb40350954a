/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_main: see bench_main.h.
 *
 * The folder for results is opened before anything is measured, so that a run is not lost to a
 * mistyped path. Ctrl-C ends the case at its next sample; what was measured until then is printed
 * and kept.
 */
#include "main/bench_main.h"

#include <limits.h>
#include <signal.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/settings.h"
#include "base/text.h"
#include "bench/case.h"
#include "bench/measure.h"
#include "gyre/clock.h"
#include "gyre/library.h"
#include "record/file.h"
#include "record/run.h"
#include "report/quantity.h"
#include "report/terminal.h"

enum {
    LIST,
    EXACT,
    SUITE,
    QUICK,
    TEST,
    SAMPLE_SIZE,
    WARM_UP_TIME,
    MEASUREMENT_TIME,
    CONFIDENCE_LEVEL,
    BRIEF,
    JSON,
    OUT,
    NO_SAVE,
};

const gyre_option gyre_bench_options[] = {
    [LIST] = {"--list", 0, NULL, "print the ids and measure nothing"},
    [EXACT] = {"--exact", 0, NULL, "filters are whole ids, not regular expressions"},
    [SUITE] = {"--suite", 0, "NAME", "only the benchmarks of this suite"},
    [QUICK] = {"--quick", 0, NULL, "30 samples in 0.3 s after 0.1 s of warm-up"},
    [TEST] = {"--test", 0, NULL, "run each benchmark once and check its answer"},
    [SAMPLE_SIZE] = {"--sample-size", 0, "N", "samples, 10 or more (default 100)"},
    [WARM_UP_TIME] = {"--warm-up-time", 0, "TIME",
                      "before sampling, for example 500ms (default 1s)"},
    [MEASUREMENT_TIME] = {"--measurement-time", 0, "TIME", "for all samples together (default 3s)"},
    [CONFIDENCE_LEVEL] = {"--confidence-level", 0, "P", "of the interval (default 0.95)"},
    [BRIEF] = {"--brief", 0, NULL, "leave out when the clock started and stopped"},
    [JSON] = {"--json", 0, NULL, "print JSON instead of text: the run (gyre.run/1), or the list"},
    [OUT] = {"--out", 0, "DIR", "folder for results (default GYRE_OUT, gyre-out)"},
    [NO_SAVE] = {"--no-save", 0, NULL, "write no file"},
    {NULL, 0, NULL, NULL},
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

typedef struct job {
    const char *program;
    const gyre_args *args;
    gyre_measure_options options;
    gyre_case_list *list;
    gyre_run *run;
    char path[PATH_MAX]; /* of the file to write; "" for none */
    bool json, brief, progress;
} job;

static int complain(const job *j, int code)
{
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", j->program, gyre_error_last()->text);
    return code;
}

static int bad_value(const job *j, size_t option, const char *want)
{
    const char *value = j->args->value[option];

    (void)!gyre_fail(GYRE_INVALID, "option '%s' takes %s, not '%.*s'",
                     gyre_bench_options[option].name, want, gyre_text_cut(strlen(value)), value);
    return complain(j, GYRE_EXIT_USAGE);
}

/* A time of at least a microsecond; 0 when the option was not given. False when malformed. */
static bool read_time(const gyre_args *args, size_t option, uint64_t *ns)
{
    double value;

    if (!gyre_args_given(args, option))
        return true;
    if (!gyre_text_duration(args->value[option], &value) || value < 1000 || value > 86400e9)
        return false;
    *ns = (uint64_t)value;
    return true;
}

static int read_options(job *j)
{
    const gyre_args *args = j->args;
    gyre_measure_options *options = &j->options;

    if (gyre_args_given(args, QUICK)) {
        options->sample_count = 30;
        options->warm_up_ns = 100000000;
        options->measurement_ns = 300000000;
    }
    if (gyre_args_given(args, SAMPLE_SIZE)) {
        long long count;

        if (!gyre_text_count(args->value[SAMPLE_SIZE], GYRE_LEAST_SAMPLES, GYRE_MOST_SAMPLES,
                             &count))
            return bad_value(j, SAMPLE_SIZE, "a number from 10 to 100000");
        options->sample_count = (size_t)count;
    }
    if (!read_time(args, WARM_UP_TIME, &options->warm_up_ns))
        return bad_value(j, WARM_UP_TIME, "a time from 1us to 24 hours, like 500ms or 3 (seconds)");
    if (!read_time(args, MEASUREMENT_TIME, &options->measurement_ns))
        return bad_value(j, MEASUREMENT_TIME,
                         "a time from 1us to 24 hours, like 500ms or 3 (seconds)");
    if (gyre_args_given(args, CONFIDENCE_LEVEL)) {
        const char *text = args->value[CONFIDENCE_LEVEL];
        char rest;

        if (sscanf(text, "%lf%c", &options->confidence, &rest) != 1 ||
            !(options->confidence >= 0.5 && options->confidence <= 0.9999))
            return bad_value(j, CONFIDENCE_LEVEL, "a number from 0.5 to 0.9999");
    }
    options->once = gyre_args_given(args, TEST);
    j->options = gyre_measure_defaults(options);
    j->json = gyre_args_given(args, JSON);
    j->brief = gyre_args_given(args, BRIEF);
    j->progress = gyre_terminal_live(stderr);
    return GYRE_EXIT_DONE;
}

static int choose_cases(job *j, const gyre_suite *const *suites)
{
    const gyre_case_filter filter = {
        .patterns = j->args->operands,
        .pattern_count = j->args->operand_count,
        .suite = j->args->value[SUITE],
        .exact = gyre_args_given(j->args, EXACT),
    };

    const gyre_status status = gyre_case_list_create(suites, &filter, &j->list);

    if (status == GYRE_OK)
        return GYRE_EXIT_DONE;
    return complain(j, status == GYRE_NO_MEMORY ? GYRE_EXIT_ENVIRONMENT : GYRE_EXIT_USAGE);
}

static int open_folder(job *j)
{
    const char *folder =
        gyre_args_given(j->args, OUT) ? j->args->value[OUT] : gyre_settings_text(GYRE_SETTING_OUT);

    if (j->options.once || gyre_args_given(j->args, NO_SAVE))
        return GYRE_EXIT_DONE;
    if (gyre_folder_open(folder) != GYRE_OK) {
        fprintf(stderr, "%s: %s; choose another with --out, or --no-save\n", j->program,
                gyre_error_last()->text);
        return GYRE_EXIT_ENVIRONMENT;
    }
    if ((size_t)snprintf(j->path, sizeof j->path, "%s/latest.json", folder) >= sizeof j->path) {
        fprintf(stderr, "%s: the path of the folder is too long\n", j->program);
        return GYRE_EXIT_ENVIRONMENT;
    }
    return GYRE_EXIT_DONE;
}

/* One line on a terminal, written over; it is wiped before a result is printed. */
static void show_progress(void *user, const gyre_bench_case *c, const char *phase, uint64_t left_ns)
{
    static uint64_t shown_ns;
    const job *j = user;
    const uint64_t now_ns = gyre_clock_now_ns();

    if (left_ns > 0 && strcmp(phase, "sampling") == 0 && now_ns - shown_ns < 100000000)
        return;
    shown_ns = now_ns;
    fprintf(stderr, "\r\033[KBenchmarking %s [%zu/%zu]: %s", c->id, j->run->count + 1,
            j->list->count, phase);
    if (left_ns > 0)
        fprintf(stderr, ", %s left", gyre_quantity_time((double)left_ns).text);
    fflush(stderr);
}

static void wipe_progress(const job *j)
{
    if (j->progress)
        fputs("\r\033[K", stderr);
}

static gyre_status measure_all(job *j)
{
    for (size_t i = 0; i < j->list->count && !interrupted; i++) {
        gyre_result *result = &j->run->results[i];
        const gyre_status status = gyre_measure(&j->list->cases[i], &j->options, result);

        j->run->count++;
        wipe_progress(j);
        if (status != GYRE_OK)
            return status;
        if (!j->json) {
            gyre_terminal_result(stdout, result, j->brief);
            fflush(stdout);
        }
    }
    return GYRE_OK;
}

/* A signal that the caller ignores (nohup) stays ignored. */
static void hold_signal(int number, const struct sigaction *action, struct sigaction *out_before)
{
    sigaction(number, NULL, out_before);
    if (out_before->sa_handler != SIG_IGN)
        sigaction(number, action, NULL);
}

static gyre_status measure_under_signals(job *j)
{
    struct sigaction action, before_int, before_term;
    uint64_t start_ns;
    gyre_status status;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    /* a second signal ends what does not listen */
    action.sa_flags = (int)SA_RESETHAND | SA_RESTART;
    sigemptyset(&action.sa_mask);
    interrupted = 0;
    hold_signal(SIGINT, &action, &before_int);
    hold_signal(SIGTERM, &action, &before_term);
    start_ns = gyre_clock_now_ns();
    status = measure_all(j);
    j->run->duration_s = (double)(gyre_clock_now_ns() - start_ns) / 1e9;
    j->run->interrupted = interrupted != 0;
    sigaction(SIGINT, &before_int, NULL);
    sigaction(SIGTERM, &before_term, NULL);
    return status;
}

/* Prints and keeps what was measured; the worst of what happened is the exit status. */
static int finish(const job *j)
{
    int code = GYRE_EXIT_DONE;

    if (gyre_run_count(j->run, GYRE_OUTCOME_FAILED) > 0)
        code = GYRE_EXIT_FAILED;
    if (j->json)
        gyre_run_write(j->run, stdout);
    else
        gyre_terminal_summary(stdout, j->run);
    /* an interrupted run without a figure does not replace one that has some */
    if (j->path[0] && (!j->run->interrupted || gyre_run_count(j->run, GYRE_OUTCOME_MEASURED) > 0)) {
        if (gyre_run_save(j->run, j->path) != GYRE_OK) {
            fflush(stdout);
            fprintf(stderr, "%s: %s; free some space, or choose another folder with --out\n",
                    j->program, gyre_error_last()->text);
            code = GYRE_EXIT_ENVIRONMENT;
        } else if (!j->json) {
            printf("kept in %s\n", j->path);
        }
    }
    return j->run->interrupted ? GYRE_EXIT_INTERRUPTED : code;
}

static int measure_and_finish(job *j, int argc, char *const *argv)
{
    int code = open_folder(j);

    if (code != GYRE_EXIT_DONE)
        return code;
    if (gyre_run_create(j->list->count, &j->run) != GYRE_OK)
        return complain(j, GYRE_EXIT_ENVIRONMENT);
    if (j->progress) {
        j->options.progress = show_progress;
        j->options.user = j;
    }
    j->options.interrupted = &interrupted;
    j->run->argc = argc;
    j->run->argv = argv;
    j->run->options = j->options;
    if (!j->json && !j->options.once) {
        printf("%zu benchmark%s; time: [low median high], %g %% confidence\n\n", j->list->count,
               j->list->count == 1 ? "" : "s", 100 * j->options.confidence);
        fflush(stdout);
    }
    if (measure_under_signals(j) != GYRE_OK) {
        (void)complain(j, GYRE_EXIT_ENVIRONMENT);
        (void)finish(j); /* what was measured until then is not lost */
        return GYRE_EXIT_ENVIRONMENT;
    }
    return finish(j);
}

static void list_cases(const job *j)
{
    gyre_json json = {.stream = stdout};

    if (!j->json) {
        for (size_t i = 0; i < j->list->count; i++)
            printf("%s: benchmark\n", j->list->cases[i].id);
        return;
    }
    gyre_json_begin_array(&json, NULL);
    for (size_t i = 0; i < j->list->count; i++) {
        gyre_json_begin_object(&json, NULL);
        gyre_json_string(&json, "id", j->list->cases[i].id);
        gyre_json_string(&json, "suite", j->list->cases[i].suite->name);
        gyre_json_end(&json);
    }
    gyre_json_end(&json);
}

int gyre_bench_run(const char *program, const gyre_args *args, const gyre_suite *const *suites,
                   int argc, char *const *argv)
{
    job j = {.program = program, .args = args};
    int code = read_options(&j);

    if (code == GYRE_EXIT_DONE)
        code = choose_cases(&j, suites);
    if (code == GYRE_EXIT_DONE) {
        if (gyre_args_given(args, LIST)) {
            list_cases(&j);
        } else if (j.list->count == 0) {
            fprintf(stderr, "%s: there are no benchmarks\n", program);
        } else {
            code = measure_and_finish(&j, argc, argv);
        }
    }
    gyre_run_destroy(j.run);
    gyre_case_list_destroy(j.list);
    return code;
}

int gyre_bench_main(int argc, char **argv, const gyre_suite *const *suites)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *program = slash ? slash + 1 : argc > 0 ? argv[0] : "bench";
    gyre_args args;

    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            printf("usage: %s [OPTIONS] [FILTER...]\n\nMeasures the benchmarks that match a "
                   "filter, or all.\n\n",
                   program);
            gyre_args_help(stdout, gyre_bench_options);
            return GYRE_EXIT_DONE;
        }
    }
    if (gyre_args_parse(gyre_bench_options, GYRE_OPERANDS_MAX, argc - 1, argv + 1, &args) !=
        GYRE_OK) {
        fprintf(stderr, "%s: %s; --help lists the options\n", program, gyre_error_last()->text);
        return GYRE_EXIT_USAGE;
    }
    if (gyre_prepare() != GYRE_OK) {
        fprintf(stderr, "%s: %s\n", program, gyre_error_last()->text);
        return GYRE_EXIT_ENVIRONMENT;
    }
    return gyre_args_flush(program, gyre_bench_run(program, &args, suites, argc, argv));
}
