/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_main: see bench_main.h.
 *
 * Whatever can go wrong before measuring is found before measuring: the folder is opened and the
 * baseline is read first, so that a run is not lost to a mistyped word. Ctrl-C ends the case at its
 * next sample; what was measured until then is printed and kept.
 */
#include "main/bench_main.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/settings.h"
#include "bench/analyse.h"
#include "gyre/clock.h"
#include "gyre/library.h"
#include "gyre/settings.h"
#include "main/here.h"
#include "main/keep.h"
#include "main/manners.h"
#include "main/options.h"
#include "main/progress.h"
#include "main/serve.h"
#include "main/supervise.h"
#include "main/trace_file.h"
#include "record/baseline.h"
#include "record/file.h"
#include "record/run.h"
#include "report/terminal.h"

typedef struct job {
    const gyre_bench_program *program;
    gyre_request request;
    gyre_case_list *list;
    gyre_run *run;
    gyre_standards standards;
    gyre_trace_file trace;
    gyre_progress_line progress;
    uint64_t started_ns;
} job;

static int complain(const job *j, int code)
{
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", j->program->name, gyre_error_last()->text);
    return code;
}

static int exit_of(gyre_status status)
{
    if (status == GYRE_BUILD) /* a behaviour that does not compile */
        return GYRE_EXIT_FAILED;
    if (status == GYRE_CANCELLED)
        return GYRE_EXIT_INTERRUPTED;
    return status == GYRE_INVALID || status == GYRE_NOT_FOUND ? GYRE_EXIT_USAGE
                                                              : GYRE_EXIT_ENVIRONMENT;
}

static bool is_text(const job *j)
{
    return j->request.format == GYRE_FORMAT_CRITERION;
}

static void on_progress(void *user, size_t index, const char *phase, size_t phase_length,
                        uint64_t left_ns)
{
    job *j = user;

    gyre_progress_show(&j->progress, index, j->list->cases[index].id, phase, phase_length, left_ns);
}

static void on_output(void *user, const char *bytes, size_t length)
{
    job *j = user;

    gyre_progress_wipe(&j->progress);
    fwrite(bytes, 1, length, stderr);
    if (j->progress.stream && length > 0 && bytes[length - 1] != '\n')
        fputc('\n', stderr); /* or the next line of progress would wipe it */
}

static void on_result(void *user, gyre_result *result)
{
    job *j = user;
    const gyre_result *base =
        j->standards.base ? gyre_run_find(j->standards.base, result->id) : NULL;

    gyre_progress_done(&j->progress);
    if (base && base->outcome == GYRE_OUTCOME_MEASURED &&
        result->outcome == GYRE_OUTCOME_MEASURED &&
        gyre_analyse_change(result, base, j->request.compare_with, &j->request.method) != GYRE_OK)
        gyre_result_warn(result, "cannot be compared: %s", gyre_error_last()->text);
    gyre_progress_wipe(&j->progress);
    if (is_text(j)) {
        gyre_terminal_result(stdout, result, &j->request.method, j->request.detail);
        fflush(stdout);
    }
    gyre_run_add(j->run, result);
}

static void on_trace(void *user, const char *json, size_t length, uint64_t lost)
{
    job *j = user;

    gyre_trace_file_add(&j->trace, json, length, lost);
}

/* The trace is an extra: whatever becomes of it, the results are kept. */
static int keep_trace(job *j)
{
    if (!j->request.trace)
        return GYRE_EXIT_DONE;
    if (gyre_trace_file_write(&j->trace, j->list) != GYRE_OK)
        return complain(j, GYRE_EXIT_ENVIRONMENT);
    fflush(stdout);
    if (j->trace.lost > 0)
        fprintf(stderr,
                "%s: %" PRIu64 " events are not in the trace: newer ones took their place; "
                "GYRE_TRACE_EVENTS keeps more\n",
                j->program->name, j->trace.lost);
    if (is_text(j) && !j->request.quiet)
        printf("trace in %s\n", j->request.trace);
    return GYRE_EXIT_DONE;
}

/* Prints and keeps what was measured; the worst of what happened is the exit status. */
static int finish(job *j)
{
    int code = gyre_run_count(j->run, GYRE_OUTCOME_FAILED) > 0 ? GYRE_EXIT_FAILED : GYRE_EXIT_DONE;
    int kept;

    j->run->duration_s = (double)(gyre_clock_now_ns() - j->started_ns) / 1e9;
    j->run->interrupted = gyre_interrupted != 0;
    gyre_progress_wipe(&j->progress);
    if (is_text(j) && !j->request.quiet)
        gyre_terminal_summary(stdout, j->run, j->list->count);
    kept = gyre_keep(j->program, &j->request, j->run, &j->standards);
    if (kept != GYRE_EXIT_DONE)
        code = kept;
    kept = keep_trace(j);
    if (kept != GYRE_EXIT_DONE)
        code = kept;
    return j->run->interrupted ? GYRE_EXIT_INTERRUPTED : code;
}

/* A benchmark has called exit in this process. */
static void on_over(void *user)
{
    const job *j = user;
    const int code = finish(user);

    _exit(gyre_args_flush(j->program->name, code));
}

static gyre_status visit_all(job *j)
{
    const gyre_supervision s = {
        .list = j->list,
        .method = &j->request.method,
        .isolation = j->request.isolation,
        .memory = j->request.memory,
        .instructions = j->request.instructions,
        .timeout_ns = j->request.timeout_ns,
        .cooldown_ns = j->request.cooldown_ns,
        .cpus = j->request.pinned ? &j->request.cpus : NULL,
        .interrupted = &gyre_interrupted,
        .progress = on_progress,
        .result = on_result,
        .output = on_output,
        .trace = j->request.trace ? on_trace : NULL,
        .hide_output = !is_text(j),
        .user = j,
    };

    return s.isolation == GYRE_ISOLATE_NONE ? gyre_visit_here(&s, on_over) : gyre_supervise(&s);
}

/* A pipe that landed on a standard stream's number would be taken for that stream. */
static void fill_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", O_RDWR); /* takes the lowest number: this one */
}

static void announce(const job *j, bool shortened)
{
    const gyre_method *m = &j->request.method;

    if (j->request.trace && m->purpose == GYRE_PURPOSE_TIME)
        fprintf(is_text(j) && !j->request.quiet ? stdout : stderr,
                "recorded for %s: figures may be slower than without --trace\n", j->request.trace);
    if (!is_text(j) || j->request.quiet || m->purpose != GYRE_PURPOSE_TIME)
        return;
    printf("%zu benchmark%s; time: [low median high], %g %% confidence\n", j->list->count,
           j->list->count == 1 ? "" : "s", 100 * m->confidence);
    if (shortened)
        printf("so many that each is measured for %.0f ms after %.0f ms of warm-up; "
               "--measurement-time says otherwise\n",
               (double)m->measurement_ns / 1e6, (double)m->warm_up_ns / 1e6);
    putchar('\n');
    fflush(stdout);
}

/* What has to be in order before anything is measured. */
static int prepare(job *j, bool shortened)
{
    gyre_request *r = &j->request;
    gyre_status status = gyre_keep_prepare(j->program, r, &j->standards);

    if (status != GYRE_OK)
        return complain(j, status == GYRE_INVALID ? GYRE_EXIT_USAGE : GYRE_EXIT_ENVIRONMENT);
    if (r->trace)
        status = gyre_trace_file_open(&j->trace, r->trace);
    if (status != GYRE_OK)
        return complain(j, GYRE_EXIT_ENVIRONMENT);
    status = gyre_run_create(j->list->count, j->program->argc, j->program->argv, &j->run);
    if (status != GYRE_OK)
        return complain(j, GYRE_EXIT_ENVIRONMENT);
    j->run->method = r->method;
    j->run->isolate = r->isolation;
    j->run->order = r->order;
    if (r->keep)
        j->run->commit = gyre_commit_find(&j->run->arena);
    j->started_ns = gyre_clock_now_ns();
    gyre_progress_begin(&j->progress, r->quiet ? NULL : stderr, j->list->count,
                        r->method.purpose == GYRE_PURPOSE_PROFILE
                            ? (double)r->method.profile_ns
                            : (double)(r->method.warm_up_ns + r->method.measurement_ns));
    announce(j, shortened);
    return GYRE_EXIT_DONE;
}

static int measure(job *j, bool shortened)
{
    int code = prepare(j, shortened);
    gyre_manners before;

    if (code != GYRE_EXIT_DONE)
        return code;
    gyre_manners_take(&before, j->request.isolation == GYRE_ISOLATE_NONE);
    if (visit_all(j) == GYRE_OK) {
        code = finish(j);
    } else {
        gyre_progress_wipe(&j->progress);
        (void)complain(j, GYRE_EXIT_ENVIRONMENT);
        (void)finish(j); /* what was measured until then is not lost */
        code = GYRE_EXIT_ENVIRONMENT;
    }
    code = gyre_args_flush(j->program->name, code);
    gyre_manners_forget(&before);
    return code;
}

static void list_cases(const job *j)
{
    gyre_json json = {.stream = stdout};

    if (j->request.format != GYRE_FORMAT_JSON) {
        for (size_t i = 0; i < j->list->count; i++)
            printf("%s: benchmark\n", j->list->cases[i].id);
        if (!j->request.terse)
            printf("\n%zu benchmark%s\n", j->list->count, j->list->count == 1 ? "" : "s");
        return;
    }
    gyre_json_begin_array(&json, NULL);
    for (size_t i = 0; i < j->list->count; i++) {
        const gyre_bench_case *c = &j->list->cases[i];

        gyre_json_begin_object(&json, NULL);
        gyre_json_string(&json, "id", c->id);
        gyre_json_string(&json, "suite", c->suite);
        gyre_json_begin_array(&json, "tags");
        for (uint32_t tag = 1; tag <= GYRE_TAG_SLOW; tag *= 2)
            if (c->bench.tags & tag)
                gyre_json_string(&json, NULL, gyre_tag_name(tag));
        gyre_json_end(&json);
        gyre_json_end(&json);
    }
    gyre_json_end(&json);
}

/* With the cases chosen and in order. */
static int work(job *j, const gyre_worker_order *order, bool shortened)
{
    if (order)
        return gyre_serve(order, j->list, &j->request.method, j->request.trace != NULL);
    if (j->request.list) {
        list_cases(j);
        return GYRE_EXIT_DONE;
    }
    if (j->list->count == 0) {
        fprintf(stderr, "%s: there are no benchmarks\n", j->program->name);
        return GYRE_EXIT_DONE;
    }
    return measure(j, shortened);
}

/* The program's own, or those of the behaviour that the user brings. */
static gyre_status find_suites(job *j, bool worker, const gyre_suite *const **out_suites)
{
    gyre_behaviour_request *behaviour = &j->request.behaviour;

    *out_suites = j->program->suites;
    if (!behaviour->file)
        return GYRE_OK;
    if (!j->program->behaviour)
        return gyre_fail(GYRE_INVALID, "--behaviour is an option of 'gyre bench', not of programs");
    behaviour->list = j->request.list;
    behaviour->worker = worker;
    return j->program->behaviour(behaviour, out_suites);
}

int gyre_bench_run(const gyre_bench_program *program, const gyre_args *args)
{
    const char *text = gyre_settings_text(GYRE_SETTING_WORKER);
    gyre_worker_order order;
    job j = {.program = program};
    const gyre_suite *const *suites = NULL;
    bool shortened;
    int code;
    gyre_status status = gyre_request_read(args, &j.request);

    fill_standard_streams();
    if (status == GYRE_OK && text[0]) {
        status = gyre_worker_order_parse(text, &order);
        if (status == GYRE_OK) {
            status = gyre_serve_prepare(&order);
            /* the list is the same in all processes that are compared with another program's */
            j.request.method.seed = order.purpose == GYRE_PURPOSE_TURNS ? 0 : order.seed;
        }
    }
    if (status != GYRE_OK)
        return complain(&j, exit_of(status));
    if (j.request.load)
        return gyre_keep_compare_loaded(program, &j.request);
    status = find_suites(&j, text[0] != '\0', &suites);
    if (status == GYRE_OK)
        status = gyre_case_list_create(suites, &j.request.choice, &j.list);
    if (status == GYRE_OK)
        status = gyre_schedule(j.list, j.request.order, j.request.method.seed);
    if (status == GYRE_OK) {
        shortened = gyre_request_fit(&j.request, gyre_case_list_measured(j.list));
        code = work(&j, text[0] ? &order : NULL, shortened);
    } else {
        code = complain(&j, exit_of(status));
    }
    gyre_standards_fini(&j.standards);
    gyre_trace_file_fini(&j.trace);
    gyre_run_destroy(j.run);
    gyre_case_list_destroy(j.list);
    return code;
}

static void print_help(const gyre_bench_program *program)
{
    printf("usage: %s [OPTIONS] [FILTER...]\n\nMeasures the benchmarks that match a filter, or "
           "all.\n\n",
           program->name);
    gyre_args_help(stdout, gyre_bench_options);
    gyre_args_help(stdout, gyre_args_common());
}

int gyre_bench_main(int argc, char **argv, const gyre_suite *const *suites)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const gyre_bench_program program = {
        .name = slash      ? slash + 1
                : argc > 0 ? argv[0]
                           : "bench",
        .suites = suites,
        .argc = argc,
        .argv = argv,
    };
    gyre_common common;
    gyre_args args;

    if (gyre_args_parse_common(gyre_bench_options, GYRE_OPERANDS_MAX, argc - 1, argv + 1, &args,
                               &common) != GYRE_OK) {
        fprintf(stderr, "%s: %s\n%s: '%s --help' lists the options\n", program.name,
                gyre_error_last()->text, program.name, program.name);
        return GYRE_EXIT_USAGE;
    }
    if (common.help) {
        print_help(&program);
        return gyre_args_flush(program.name, GYRE_EXIT_DONE);
    }
    if ((common.color && gyre_settings_set("GYRE_COLOR", common.color) != GYRE_OK) ||
        gyre_prepare() != GYRE_OK) {
        fprintf(stderr, "%s: %s\n", program.name, gyre_error_last()->text);
        return GYRE_EXIT_ENVIRONMENT;
    }
    return gyre_args_flush(program.name, gyre_bench_run(&program, &args));
}
