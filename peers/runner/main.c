/* SPDX-License-Identifier: Apache-2.0
 *
 * peers: measures the same work done with Gyre and with other people's libraries, in one run.
 *
 * The table goes to stdout, progress to stderr, everything to a file. Exit status: 0 done, whatever
 * the limits say; 1 Gyre's side answered wrong; 2 wrong usage; 3 environment; 130 interrupted, with
 * what was measured so far printed and kept.
 */
#include <inttypes.h>
#include <regex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/args.h"
#include "base/fail.h"
#include "base/settings.h"
#include "base/text.h"
#include "gyre/clock.h"
#include "gyre/library.h"
#include "gyre/topology.h"
#include "peers/runner/apart.h"
#include "peers/runner/judge.h"
#include "peers/runner/table.h"
#include "report/terminal.h"

enum { FULL_PASSES = 5 };
enum { WORK, QUICK, JSON, SEED, VERBOSE, LIST, TEST, TABLE };

static const gyre_option options[] = {
    [WORK] = {"--work", 0, "REGEX", "only works, or rows, that match this extended expression"},
    [QUICK] = {"--quick", 0, NULL, "end within three minutes; peers far behind get few samples"},
    [JSON] = {"--json", 0, "FILE", "keep the run in this file (default peers.json in GYRE_OUT)"},
    [SEED] = {"--seed", 0, "NUMBER", "from which the order is drawn (default: any)"},
    [VERBOSE] = {"--verbose", 'v', NULL, "print every way's figure"},
    [LIST] = {"--list", 0, NULL, "print the works and their ways, and measure nothing"},
    [TEST] = {"--test", 0, NULL, "run every way once, check its answer, and keep nothing"},
    [TABLE] = {"--table", 0, "FILE", "print the rows of a kept run as Markdown"},
    {NULL, 0, NULL, NULL},
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    interrupted = 1;
    if (peers_apart_child > 0)
        kill(peers_apart_child, number);
}

/* With `once` the second signal ends us at once; a part gets one from the terminal and one from
 * whoever started it. One that the caller ignores stays ignored. */
static void heed_signals(bool once)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action, before;

    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART | (once ? (int)SA_RESETHAND : 0);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        sigaction(numbers[i], NULL, &before);
        if (before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
}

static int complain(gyre_status status)
{
    fprintf(stderr, "peers: %s\n", gyre_error_last()->text);
    return status == GYRE_INVALID ? GYRE_EXIT_USAGE : GYRE_EXIT_ENVIRONMENT;
}

/* The first and the last CPU that we may use, as gyre doctor does. */
static gyre_status find_cpus(uint32_t cpus[2])
{
    gyre_topology *topology;
    gyre_status status = gyre_topology_create(NULL, &topology);
    const gyre_topology_cpu *cpu;
    bool found = false;

    if (status != GYRE_OK)
        return status;
    for (uint32_t i = 0; (cpu = gyre_topology_cpu_at(topology, i)); i++) {
        if (!cpu->allowed)
            continue;
        cpus[found ? 1 : 0] = cpu->id;
        if (!found)
            cpus[1] = cpu->id;
        found = true;
    }
    gyre_topology_destroy(topology);
    return GYRE_OK;
}

/* A work is wanted by its own name, or by that of a row that is made from it. */
static bool is_wanted(const void *arg, const char *work)
{
    const peers_rule *rule;

    if (regexec(arg, work, 0, NULL, 0) == 0)
        return true;
    for (size_t i = 0; (rule = peers_rule_at(i)); i++)
        if (rule->work && strcmp(rule->work, work) == 0 && regexec(arg, rule->id, 0, NULL, 0) == 0)
            return true;
    return false;
}

static bool is_of_group(const void *arg, const char *work)
{
    return peers_work_find(work)->group == *(const uint32_t *)arg;
}

/* What all that measures needs. */
static gyre_status begin(peers_measuring *how, uint64_t seed)
{
    gyre_status status = gyre_prepare();

    how->interrupted = &interrupted;
    gyre_stat_random_seed(&how->random, seed);
    gyre_usage_open(&how->usage);
    if (status == GYRE_OK)
        status = find_cpus(how->cpus);
    if (status == GYRE_OK)
        status = peers_crew_create(how->cpus, &how->crew);
    return status;
}

static void end(peers_measuring *how)
{
    peers_crew_destroy(how->crew);
    gyre_usage_close(&how->usage);
}

static void skip_group(peers_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        snprintf(results[i].problem, sizeof results[i].problem, "needs two CPUs, and there is one");
        results[i].skipped = true;
    }
}

/* One group, here or apart; says on stderr what goes on. */
static gyre_status measure_group(peers_measuring *how, peers_result *results, size_t count)
{
    const uint64_t start_ns = gyre_clock_now_ns();
    const bool live = gyre_terminal_live(stderr);
    const peers_work *work = results[0].work;
    gyre_status status;
    size_t rounds;

    if (work->roles > 1 && how->cpus[0] == how->cpus[1]) {
        skip_group(results, count);
        return GYRE_OK;
    }
    if (live)
        fprintf(stderr, "peers: %s: %zu ways ...\r", work->id, count);
    if (work->apart)
        status = peers_apart_measure(how, results, count, &rounds);
    else
        status = peers_measure(how, results, count, &rounds);
    fprintf(stderr, "peers: %s: %zu ways, %zu rounds, %.1f s", work->id, count, rounds,
            (double)(gyre_clock_now_ns() - start_ns) / 1e9);
    if (how->passes > 1)
        fprintf(stderr, ", pass %" PRIu32 " of %" PRIu32, how->pass + 1, how->passes);
    fprintf(stderr, "\n");
    return status;
}

/* One group after another; what is apart is measured to its end at once. */
static gyre_status measure_pass(peers_measuring *how, peers_run *run)
{
    gyre_status status = GYRE_OK;
    size_t last;

    for (size_t i = 0; i < run->count && status == GYRE_OK && !interrupted; i = last) {
        last = i + 1;
        while (last < run->count && run->results[last].work->group == run->results[i].work->group)
            last++;
        if (how->pass == 0 || !run->results[i].work->apart)
            status = measure_group(how, &run->results[i], last - i);
    }
    return status;
}

static gyre_status measure_all(peers_measuring *how, peers_run *run)
{
    const uint64_t start_ns = gyre_clock_now_ns();
    gyre_status status = GYRE_OK;

    for (; how->pass < how->passes && status == GYRE_OK && !interrupted; how->pass++)
        status = measure_pass(how, run);
    run->head->duration_s = (double)(gyre_clock_now_ns() - start_ns) / 1e9;
    run->head->interrupted = interrupted != 0;
    run->row_count = peers_judge(run->results, run->count, run->rows);
    return status;
}

/* Whether Gyre's side, or a floor, did not do its work. */
static bool is_failed(const peers_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        const peers_result *result = &run->results[i];

        if (result->problem[0] && !result->skipped && result->library->kind != PEERS_PEER)
            return true;
    }
    return false;
}

/* Prints and keeps; returns an exit status. */
static int finish(const peers_run *run, const gyre_args *args)
{
    const bool verbose = gyre_args_given(args, VERBOSE);
    int code = is_failed(run) ? GYRE_EXIT_FAILED : GYRE_EXIT_DONE;
    char path[512];

    if (gyre_args_given(args, TEST)) {
        if (peers_table_answers(stdout, run, verbose) > 0)
            code = GYRE_EXIT_FAILED;
        return run->head->interrupted ? GYRE_EXIT_INTERRUPTED : code;
    }
    peers_table_print(stdout, run, verbose);
    snprintf(path, sizeof path, "%s/peers.json", gyre_settings_text(GYRE_SETTING_OUT));
    if (args->value[JSON])
        snprintf(path, sizeof path, "%s", args->value[JSON]);
    if (peers_run_save(run, path) != GYRE_OK)
        return complain(GYRE_IO);
    printf("kept in %s\n", path);
    return run->head->interrupted ? GYRE_EXIT_INTERRUPTED : code;
}

static int measure_and_finish(const gyre_args *args, uint64_t seed, peers_run *run)
{
    peers_measuring how = {.quick = gyre_args_given(args, QUICK) || gyre_args_given(args, TEST),
                           .once = gyre_args_given(args, TEST),
                           .passes = 1};
    gyre_status status = begin(&how, seed);
    int code;

    run->seed = seed;
    if (!how.quick)
        how.passes = FULL_PASSES;
    run->quick = how.quick;
    memcpy(run->cpus, how.cpus, sizeof run->cpus);
    if (status == GYRE_OK)
        status = measure_all(&how, run);
    code = status == GYRE_OK ? finish(run, args) : complain(status);
    end(&how);
    return code;
}

static int print_table(const char *path)
{
    static peers_row rows[PEERS_ROWS];
    size_t count;

    if (peers_rows_read(path, rows, &count) != GYRE_OK)
        return complain(GYRE_IO);
    peers_table_markdown(stdout, path, rows, count);
    return GYRE_EXIT_DONE;
}

static gyre_status choose_seed(const gyre_args *args, uint64_t *out_seed)
{
    long long given;

    *out_seed = 0;
    if (!args->value[SEED]) {
        if (getrandom(out_seed, sizeof *out_seed, 0) != (ssize_t)sizeof *out_seed)
            *out_seed = gyre_clock_now_ns();
        return GYRE_OK;
    }
    if (!gyre_text_count(args->value[SEED], 0, INT64_MAX, &given))
        return gyre_fail(GYRE_INVALID, "option '--seed' takes a whole number, not '%.40s'",
                         args->value[SEED]);
    *out_seed = (uint64_t)given;
    return GYRE_OK;
}

static int run_all(const gyre_args *args, int argc, char **argv)
{
    const char *pattern = args->value[WORK] ? args->value[WORK] : "";
    peers_run *run = NULL;
    gyre_status status;
    uint64_t seed;
    regex_t regex;
    int code;

    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0) {
        (void)!gyre_fail(GYRE_INVALID, "'%.64s' is no extended regular expression", pattern);
        return complain(GYRE_INVALID);
    }
    status = choose_seed(args, &seed);
    if (status == GYRE_OK)
        status = peers_run_create(argc, argv, is_wanted, &regex, &run);
    regfree(&regex);
    if (status == GYRE_OK && run->count == 0)
        status = gyre_fail(GYRE_INVALID, "no work matches '%.64s'; --list prints them", pattern);
    if (status != GYRE_OK) {
        peers_run_destroy(run);
        return complain(status);
    }
    if (gyre_args_given(args, LIST)) {
        peers_table_list(stdout, run);
        code = GYRE_EXIT_DONE;
    } else {
        heed_signals(true);
        code = measure_and_finish(args, seed, run);
    }
    peers_run_destroy(run);
    return code;
}

/* As apart.h says: measures one group without spinning and sends it to whoever started us. */
static int run_apart(int argc, char **argv)
{
    peers_measuring how = {.passes = 1};
    peers_run *run = NULL;
    gyre_status status;
    uint32_t group;
    size_t rounds = 0;

    if (argc != 5)
        return GYRE_EXIT_USAGE;
    how.once = strcmp(argv[3], "once") == 0;
    how.quick = how.once || strcmp(argv[3], "quick") == 0;
    group = (uint32_t)strtoul(argv[4], NULL, 10);
    heed_signals(false);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* nobody would read what we send */
    status = gyre_settings_set("GYRE_SPIN", "0");
    if (status == GYRE_OK)
        status = peers_run_create(argc, argv, is_of_group, &group, &run);
    if (status == GYRE_OK)
        status = begin(&how, strtoull(argv[2], NULL, 10));
    if (status == GYRE_OK) {
        status = peers_measure(&how, run->results, run->count, &rounds);
        peers_apart_send(stdout, run->results, run->count, rounds);
    }
    end(&how);
    peers_run_destroy(run);
    return status == GYRE_OK ? GYRE_EXIT_DONE : complain(status);
}

static int run_words(int argc, char **argv)
{
    gyre_common common;
    gyre_args args;

    if (argc > 1 && strcmp(argv[1], peers_apart_word) == 0)
        return run_apart(argc, argv);
    if (gyre_args_parse_common(options, 0, argc - 1, argv + 1, &args, &common) != GYRE_OK)
        return complain(GYRE_INVALID);
    if (common.color && gyre_settings_set("GYRE_COLOR", common.color) != GYRE_OK)
        return complain(GYRE_INVALID);
    if (common.help) {
        puts(
            "usage: peers [OPTIONS]\n\n"
            "Measures the same work done with Gyre and with other people's libraries, in turns.\n");
        gyre_args_help(stdout, options);
        gyre_args_help(stdout, gyre_args_common());
        return GYRE_EXIT_DONE;
    }
    if (args.value[TABLE])
        return print_table(args.value[TABLE]);
    return run_all(&args, argc, argv);
}

int main(int argc, char **argv)
{
    char *const slash = argc > 0 ? strrchr(argv[0], '/') : NULL;

    if (slash)
        argv[0] = slash + 1; /* where it was started from is nobody's business */
    return gyre_args_flush("peers", run_words(argc, argv));
}
