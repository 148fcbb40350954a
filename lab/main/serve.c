/* SPDX-License-Identifier: Apache-2.0
 *
 * serve: see serve.h.
 */
#include "main/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/args.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/settings.h"
#include "bench/measure.h"
#include "bench/spans.h"
#include "gyre/clock.h"
#include "main/listing.h"
#include "main/message.h"
#include "main/orphans.h"
#include "record/run.h"
#include "stat/random.h"

enum { PROGRESS_EVERY_NS = 50000000 };

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

/* The parent is gone: so is everything that this benchmark has started. */
static void on_orphaned(int number)
{
    (void)number;
    gyre_orphans_end(NULL); /* also those that have left our group */
    kill(0, SIGKILL);
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

gyre_status gyre_serve_prepare(const gyre_worker_order *order)
{
    const int orphaned = SIGRTMAX - 1; /* valgrind has the last one for itself */

    if (getppid() != order->parent || getpgrp() != getpid())
        return gyre_fail(GYRE_INVALID, "GYRE_WORKER is set by Gyre, not by people; unset it");
    prctl(PR_SET_NAME, program_invocation_short_name); /* it was started as /proc/self/exe */
    setvbuf(stdout, NULL, _IOLBF, 0); /* a crash does not take the last words with it */
    unsetenv(gyre_settings_at(GYRE_SETTING_WORKER)->name); /* not for what a benchmark starts */
    fcntl(order->fd, F_SETFD, FD_CLOEXEC);
    handle(orphaned, on_orphaned); /* the guardian is for those who do not hear it */
    prctl(PR_SET_PDEATHSIG, orphaned);
    if (getppid() != order->parent) /* it went before we had said so */
        on_orphaned(0);
    handle(SIGINT, on_interrupt);
    handle(SIGTERM, on_interrupt);
    return GYRE_OK;
}

uint64_t gyre_serve_hash(const gyre_case_list *list)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < list->count; i++)
        hash = gyre_hash64(list->cases[i].id, strlen(list->cases[i].id) + 1, hash);
    return hash;
}

typedef struct line {
    int fd;
    pid_t speaker;     /* whose line it is: a benchmark's forked child has none */
    const char *phase; /* told last */
    uint64_t told_ns;
    bool cut; /* nobody listens */
} line;

static void say(line *to, gyre_message_kind kind, uint64_t number, const char *text, size_t length)
{
    if (getpid() != to->speaker)
        _exit(1); /* a benchmark's own child came back from run: it is not ours */
    if (!to->cut && gyre_message_send(to->fd, kind, number, text, length) != GYRE_OK)
        to->cut = true;
}

static void tell_progress(void *user, const char *phase, uint64_t left_ns)
{
    const uint64_t now_ns = gyre_clock_now_ns();
    line *to = user;

    if (phase == to->phase && now_ns - to->told_ns < PROGRESS_EVERY_NS)
        return;
    to->phase = phase;
    to->told_ns = now_ns;
    say(to, GYRE_MESSAGE_PROGRESS, left_ns, phase, strlen(phase));
}

static bool send_result(line *to, size_t index, const gyre_result *result)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    gyre_json json = {.stream = stream};
    bool whole;

    if (!stream)
        return false;
    gyre_result_write(&json, result, 0);
    whole = !ferror(stream);
    whole = fclose(stream) == 0 && whole;
    if (whole)
        say(to, GYRE_MESSAGE_RESULT, index, text, length);
    free(text);
    return whole && !to->cut;
}

static bool send_trace(line *to, const gyre_case_list *list, size_t index)
{
    gyre_spans_text text;

    if (gyre_spans_end(list->cases[index].id, gyre_case_group_first(list, index) + 1, &text) !=
        GYRE_OK)
        return false;
    say(to, GYRE_MESSAGE_TRACE, text.lost, text.json, text.length);
    free(text.json);
    return true;
}

static int list_cases(line *to, const gyre_case_list *list)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);

    if (!stream)
        return GYRE_EXIT_ENVIRONMENT;
    gyre_listing_write(stream, list);
    if (fclose(stream) == 0)
        say(to, GYRE_MESSAGE_LIST, list->count, text, length);
    free(text);
    return to->cut ? GYRE_EXIT_ENVIRONMENT : GYRE_EXIT_DONE;
}

static int give_up(line *to, const char *why)
{
    say(to, GYRE_MESSAGE_SORRY, 0, why, strlen(why));
    return GYRE_EXIT_ENVIRONMENT;
}

/* Moves what the benchmark will allocate by up to 64 KiB, by the seed: where things lie in memory
 * is a part of their speed, and not of the code's. */
static void shift_heap(uint64_t seed)
{
    gyre_stat_random random;
    static void *kept; /* to the end of the process */

    gyre_stat_random_seed(&random, seed);
    (void)gyre_stat_random_next(&random); /* that one has moved the stack */
    kept = malloc((size_t)(gyre_stat_random_next(&random) % 4096 + 1) * 16);
    gyre_bench_keep(&kept);
}

int gyre_serve(const gyre_worker_order *order, const gyre_case_list *list,
               const gyre_method *method, bool trace)
{
    gyre_method with = *method;
    line to = {.fd = order->fd, .speaker = getpid()};
    gyre_turns turns = {.side = (gyre_turn)order->side};
    gyre_watch watch = {.progress = tell_progress, .user = &to, .interrupted = &interrupted};

    if (order->purpose == GYRE_PURPOSE_LIST)
        return list_cases(&to, list);
    if (order->count > list->count || order->first > list->count - order->count ||
        order->ids_hash != gyre_serve_hash(list))
        return give_up(&to, "started again, the program lists other benchmarks");
    trace = trace && order->purpose == (unsigned)method->purpose; /* not where it is counted */
    with.purpose = (gyre_purpose)order->purpose;
    with.seed = order->seed;
    if (with.purpose == GYRE_PURPOSE_TURNS) {
        if (gyre_baton_open(order->baton_fd, &turns.baton) != GYRE_OK)
            return give_up(&to, gyre_error_last()->text);
        close(order->baton_fd); /* the mapping stays; what a benchmark starts has no part in it */
        watch.turns = &turns;
        shift_heap(order->seed);
    }
    for (size_t i = order->first; i < order->first + order->count && !interrupted; i++) {
        gyre_result result;
        gyre_status status;
        bool sent;

        to.phase = NULL;
        say(&to, GYRE_MESSAGE_BEGIN, i, "", 0);
        if (trace && gyre_spans_begin() != GYRE_OK)
            return give_up(&to, gyre_error_last()->text);
        status = gyre_measure(&list->cases[i], &with, &watch, &result);
        sent = !trace || send_trace(&to, list, i);
        sent = send_result(&to, i, &result) && sent;
        gyre_result_fini(&result);
        if (to.cut)
            return GYRE_EXIT_ENVIRONMENT;
        if (!sent || status != GYRE_OK)
            return give_up(&to, "out of memory");
    }
    say(&to, GYRE_MESSAGE_END, 0, "", 0);
    return GYRE_EXIT_DONE;
}
