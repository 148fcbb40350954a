/* SPDX-License-Identifier: Apache-2.0
 *
 * selftest: see selftest.h.
 */
#include "main/selftest.h"

#include <limits.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "gyre/clock.h"
#include "main/ab.h"
#include "main/progress.h"
#include "stat/random.h"

enum {
    COMMAND_BYTES = 2 * PATH_MAX + 16, /* every byte of a path may have to be quoted */
    WHAT_BYTES = 64,
};

static const double GUESS_S = 1.5; /* a trial of a row that has none yet */

/* After which a quick self-test begins no trial: what it promises is to be quick. Trials are in
 * random order, so no row suffers more than the others. */
static const double QUICK_S = 165;

typedef struct session {
    const gyre_selftest_request *request;
    gyre_selftest *selftest;
    gyre_stat_random random; /* seeds of the trials */
    char commands[GYRE_SELFTEST_KINDS][COMMAND_BYTES];
    double spent_s[GYRE_SELFTEST_ROWS]; /* on trials of the row, repeats and all */
    uint64_t start_ns;
    gyre_progress_line progress;
} session;

static bool is_interrupted(const session *s)
{
    return *s->request->interrupted != 0;
}

static double elapsed_s(const session *s)
{
    return (double)(gyre_clock_now_ns() - s->start_ns) / 1e9;
}

/* Each row at its own pace: a change that equals the margin takes six times as long as none. */
static double left_ns(const session *s)
{
    double left_s = 0;

    for (size_t i = 0; i < GYRE_SELFTEST_ROWS; i++) {
        const gyre_selftest_row *row = &s->selftest->rows[i];
        const double each_s = row->count > 0 ? s->spent_s[i] / (double)row->count : GUESS_S;

        left_s += each_s * (double)(row->planned - row->count);
    }
    if (s->selftest->mode == GYRE_SELFTEST_QUICK && left_s > QUICK_S - elapsed_s(s))
        left_s = QUICK_S - elapsed_s(s);
    return left_s * 1e9;
}

static bool is_late(const session *s)
{
    return s->selftest->mode == GYRE_SELFTEST_QUICK && elapsed_s(s) > QUICK_S;
}

/* "PATH PARTS", with a path of any bytes in it (main/program.h). */
static gyre_status write_command(char *command, const char *path, unsigned parts)
{
    size_t used = 0;

    if (strlen(path) >= PATH_MAX)
        return gyre_fail(GYRE_INVALID, "the path of a workload is too long");
    for (; *path; path++) {
        if (strchr(" \t\n'\"\\", *path))
            command[used++] = '\\';
        command[used++] = *path;
    }
    snprintf(command + used, COMMAND_BYTES - used, " %u", parts);
    return GYRE_OK;
}

static gyre_status write_commands(session *s)
{
    gyre_status status = GYRE_OK;

    for (int i = 0; i < GYRE_SELFTEST_KINDS && status == GYRE_OK; i++) {
        const gyre_selftest_kind kind = (gyre_selftest_kind)i;
        const char *path =
            kind == GYRE_SELFTEST_RELINKED ? s->request->relinked : s->request->workload;

        status = write_command(s->commands[i], path, gyre_selftest_extra(kind));
    }
    return status;
}

/* The usual request for a row; the pattern is the caller's, because it is pointed to. */
static gyre_ab_request request_for(const session *s, const gyre_selftest_row *row,
                                   const char *const *pattern)
{
    return (gyre_ab_request){
        .commands = {s->commands[GYRE_SELFTEST_SAME], s->commands[row->kind]},
        .patterns = pattern,
        .pattern_count = 1,
        .exact = true,
        .rule = s->selftest->rule,
        .interrupted = s->request->interrupted,
    };
}

/* Measures into a new `ab`, which is the caller's to destroy. GYRE_CANCELLED after an interrupt. */
static gyre_status measure(const session *s, const gyre_ab_request *request, gyre_ab **out_ab)
{
    gyre_status status = gyre_ab_create_blank(out_ab);

    if (status == GYRE_OK)
        status = gyre_ab_measure(request, *out_ab);
    if (status == GYRE_OK && is_interrupted(s))
        return GYRE_CANCELLED;
    if (status == GYRE_OK && (*out_ab)->benches[0].outcome != GYRE_OUTCOME_MEASURED)
        status = gyre_fail(GYRE_CORRUPT, "%s cannot be measured: %s", (*out_ab)->benches[0].id,
                           (*out_ab)->benches[0].reason);
    return status;
}

static void keep_proof(gyre_selftest *selftest, gyre_selftest_row *row, const gyre_ab_bench *bench)
{
    const gyre_ab_count *count = &bench->counts[GYRE_AB_INSTRUCTIONS];

    row->proof.known = count->known && count->old_value > 0;
    row->proof.old_value = count->old_value;
    row->proof.new_value = count->new_value;
    if (!row->proof.known)
        row->proof.reason = gyre_arena_text(
            &selftest->arena,
            bench->warning_count > 0 ? bench->warnings[0] : "instructions cannot be counted");
}

/* Counts what the two programs of a row do. Launches are taken as few as can be. */
static gyre_status prove(session *s, gyre_selftest_row *row)
{
    const char *pattern = gyre_selftest_workload_name(row->workload);
    gyre_ab_request request = request_for(s, row, &pattern);
    gyre_ab *ab;
    gyre_status status;

    request.limit_ns = 1;
    request.instructions = true;
    request.seed = 1; /* its times are not looked at */
    status = measure(s, &request, &ab);
    if (status == GYRE_OK)
        keep_proof(s->selftest, row, &ab->benches[0]);
    gyre_ab_destroy(ab);
    return status;
}

static gyre_status prove_all(session *s)
{
    gyre_status status = GYRE_OK;

    for (size_t i = 0; i < GYRE_SELFTEST_ROWS && status == GYRE_OK; i++) {
        gyre_progress_tell(&s->progress, 0, left_ns(s), "counting instructions of the workloads");
        if (gyre_selftest_extra(s->selftest->rows[i].kind) > 0)
            status = prove(s, &s->selftest->rows[i]);
    }
    return status;
}

/* One measurement of a row. */
static gyre_status judge_once(const session *s, const gyre_selftest_row *row, uint64_t seed,
                              bool again, gyre_judgement *out_judgement)
{
    const char *pattern = gyre_selftest_workload_name(row->workload);
    gyre_ab_request request = request_for(s, row, &pattern);
    gyre_ab *ab;
    gyre_status status;

    request.seed = seed;
    request.again = again;
    status = measure(s, &request, &ab);
    if (status == GYRE_OK)
        *out_judgement = ab->benches[0].judgement;
    gyre_ab_destroy(ab);
    return status;
}

static gyre_status take_trial(session *s, size_t row)
{
    /* both are drawn whether or not the second is needed: a trial has the same seed either way */
    const uint64_t seed = gyre_stat_random_next(&s->random) >> 1 | 1;
    const uint64_t again = gyre_stat_random_next(&s->random) >> 1 | 1;
    const uint64_t start_ns = gyre_clock_now_ns();
    gyre_selftest_trial trial = {.row = row, .seed = seed};
    gyre_judgement judgement;
    gyre_status status = judge_once(s, &s->selftest->rows[row], seed, false, &judgement);

    if (status != GYRE_OK)
        return status;
    trial.seconds = (double)(gyre_clock_now_ns() - start_ns) / 1e9;
    trial.verdict = judgement.verdict;
    trial.change = judgement.change;
    trial.sd = judgement.sd;
    trial.mde = judgement.mde;
    trial.launches = judgement.launches;
    trial.repeated = judgement.verdict == GYRE_AB_SLOWER || judgement.verdict == GYRE_AB_FASTER;
    if (trial.repeated) {
        status = judge_once(s, &s->selftest->rows[row], again, true, &judgement);
        trial.second = judgement.verdict;
    }
    if (status != GYRE_OK)
        return status;
    s->spent_s[row] += (double)(gyre_clock_now_ns() - start_ns) / 1e9;
    gyre_selftest_add(s->selftest, &trial);
    return GYRE_OK;
}

/* Where no line can be drawn, every tenth of the way is told: an hour is long without a word. */
static void tell_tenths(const session *s, size_t done)
{
    const size_t all = s->selftest->capacity;
    FILE *stream = s->request->progress;

    if (stream && !s->progress.stream && done * 10 / all != (done - 1) * 10 / all) {
        fprintf(stream, "%zu of %zu trials, about %.0f minutes left\n", done, all,
                left_ns(s) / 60e9);
        fflush(stream);
    }
}

static gyre_status take_trials(session *s)
{
    gyre_selftest *selftest = s->selftest;
    gyre_status status;
    size_t *order;
    void *block;

    status = gyre_alloc(NULL, selftest->capacity, sizeof order[0], &block);
    if (status != GYRE_OK)
        return status;
    order = block;
    gyre_selftest_order(selftest, order);
    for (size_t i = 0; i < selftest->capacity && status == GYRE_OK && !is_late(s); i++) {
        const gyre_selftest_row *row = &selftest->rows[order[i]];
        char what[WHAT_BYTES];

        snprintf(what, sizeof what, "%s %s", gyre_selftest_workload_name(row->workload),
                 gyre_selftest_kind_name(row->kind));
        gyre_progress_tell(&s->progress, i, left_ns(s), what);
        status = take_trial(s, order[i]);
        if (status == GYRE_CORRUPT) /* once may be the machine's fault */
            status = take_trial(s, order[i]);
        if (status == GYRE_OK)
            tell_tenths(s, i + 1);
    }
    gyre_free(NULL, block, selftest->capacity, sizeof order[0]);
    return status;
}

gyre_status gyre_selftest_measure(const gyre_selftest_request *request, gyre_selftest *selftest)
{
    session s = {.request = request, .selftest = selftest, .start_ns = gyre_clock_now_ns()};
    gyre_status status = write_commands(&s);

    selftest->rule = (gyre_rule){.margin = 0.01, .alpha = 0.01};
    if (selftest->seed == 0) {
        (void)!getrandom(&selftest->seed, sizeof selftest->seed, 0);
        selftest->seed >>= 1;
    }
    gyre_stat_random_seed(&s.random, ~selftest->seed); /* others than those of the order */
    gyre_progress_begin(&s.progress, request->progress, selftest->capacity, 0);
    if (status == GYRE_OK)
        status = prove_all(&s);
    if (status == GYRE_OK)
        status = take_trials(&s);
    gyre_progress_wipe(&s.progress);
    selftest->head->interrupted = is_interrupted(&s);
    selftest->head->duration_s = elapsed_s(&s);
    return status == GYRE_CANCELLED ? GYRE_OK : status;
}
