/* SPDX-License-Identifier: Apache-2.0
 *
 * measure: see measure.h.
 */
#include "bench/measure.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "bench/analyse.h"
#include "bench/beside.h"
#include "bench/count.h"
#include "bench/latency.h"
#include "bench/sample.h"
#include "bench/usage.h"
#include "gyre/clock.h"
#include "gyre/trace.h"

enum { PROFILE_BATCH_NS = 10000000, WHY_BYTES = 320 };

static void conclude(gyre_result *result, gyre_outcome outcome, const char *where,
                     const char *reason)
{
    result->outcome = outcome;
    result->reason = gyre_arena_print(&result->arena, "%s%s", where, reason);
}

/* The last error's words, if it is about this status: not every failure says why. */
static const char *words_for(gyre_status status)
{
    const gyre_error *error = gyre_error_last();

    return error->status == status && error->text[0] ? error->text : gyre_status_name(status);
}

void gyre_result_begin(gyre_result *result, const gyre_bench_case *c)
{
    const gyre_bench *bench = &c->bench;

    *result = (gyre_result){.tags = bench->tags, .started = time(NULL), .reason = ""};
    result->last_words = "";
    result->id = gyre_arena_text(&result->arena, c->id);
    result->suite = gyre_arena_text(&result->arena, c->suite);
    result->t0 = gyre_arena_text(&result->arena, bench->t0);
    result->t1 = gyre_arena_text(&result->arena, bench->t1);
    result->observer = gyre_arena_text(&result->arena, bench->observer);
    for (size_t i = 0; i < GYRE_BENCH_AXES; i++) {
        const char *name = bench->axes[i].name, *word = c->words[i];

        if (!name)
            continue;
        result->axes[i].name = gyre_arena_text(&result->arena, name);
        result->axes[i].word = gyre_arena_text(&result->arena, word);
        result->axes[i].value = c->values[i];
    }
}

/* What the suite's own functions say of the case. */
static void declare_work(gyre_result *result, const gyre_bench_case *c)
{
    const gyre_bench *bench = &c->bench;

    result->bytes = bench->bytes ? bench->bytes(c) : 0;
    result->items = bench->items ? bench->items(c) : 0;
    result->operations = bench->operations ? bench->operations(c) : 0;
    result->threads = bench->threads ? bench->threads(c) : 1;
}

/* A sentence about a failure that is not the answer's. */
static gyre_status fail_or_give_up(gyre_result *result, gyre_status status)
{
    if (status == GYRE_NO_MEMORY)
        return status;
    conclude(result, GYRE_OUTCOME_FAILED, "its clock failed: ", words_for(status));
    return GYRE_OK;
}

/* Its pace is not asked: it runs as many iterations as the case itself. */
static gyre_status warm_up_other(gyre_drive *drive, const gyre_method *method, gyre_result *result)
{
    const gyre_beside *beside = drive->beside;
    gyre_pace pace;

    result->beside.id = gyre_arena_text(&result->arena, drive->c->beside->id);
    gyre_beside_go(beside, GYRE_BESIDE_OTHER);
    return gyre_sample_warm_up(beside->sides[GYRE_BESIDE_OTHER], method->warm_up_ns, &pace);
}

static gyre_status take_times(gyre_drive *drive, const gyre_method *method, gyre_result *result)
{
    gyre_pace pace;
    gyre_status status = gyre_sample_warm_up(drive, method->warm_up_ns, &pace);

    if (status != GYRE_OK)
        return fail_or_give_up(result, status);
    if (gyre_drive_stopped(drive)) {
        conclude(result, GYRE_OUTCOME_INTERRUPTED, "", "interrupted while warming up");
        return GYRE_OK;
    }
    drive->untimed = !(pace.timed_ns > 0);
    if (drive->untimed)
        return GYRE_OK;
    if (drive->beside)
        status = warm_up_other(drive, method, result);
    if (status == GYRE_OK)
        status = gyre_sample_take(drive, method, &pace, result);
    if (status == GYRE_OK && method->latency)
        status = gyre_latency_take(drive, method, result);
    if (status != GYRE_OK)
        return fail_or_give_up(result, status);
    if (gyre_drive_stopped(drive)) {
        conclude(result, GYRE_OUTCOME_INTERRUPTED, "", "interrupted while sampling");
        return GYRE_OK;
    }
    gyre_drive_tell(drive, "analysing", 0);
    status = gyre_analyse(result, method);
    return status == GYRE_OK ? gyre_latency_judge(&result->latency, method->confidence) : status;
}

/* Runs for as long as a profiler wants to look; nothing is kept of it. */
static gyre_status run_for_profiler(gyre_drive *drive, uint64_t profile_ns)
{
    const uint64_t start_ns = drive->now_ns();
    uint64_t batch = 1, spent_ns;

    while ((spent_ns = drive->now_ns() - start_ns) < profile_ns && !gyre_drive_stopped(drive)) {
        double batch_ns;

        gyre_drive_tell(drive, "running for a profiler", profile_ns - spent_ns);
        if (!drive->c->clock) {
            batch_ns = (double)gyre_drive_run(drive, batch);
        } else {
            const gyre_status status =
                gyre_drive_clocked(drive, batch, GYRE_CLOCKED_HOT, &batch_ns);

            if (status != GYRE_OK)
                return status;
        }
        if (batch_ns < PROFILE_BATCH_NS && batch < UINT64_C(1) << 40)
            batch *= 2;
    }
    return GYRE_OK;
}

static gyre_status take_turns(gyre_drive *drive, gyre_result *result)
{
    const gyre_status status = gyre_turns_take(drive, drive->turns);

    if (status == GYRE_CANCELLED)
        conclude(result, GYRE_OUTCOME_INTERRUPTED, "", "interrupted while taking turns");
    else if (status == GYRE_CLOSED)
        conclude(result, GYRE_OUTCOME_INTERRUPTED, "", "the other side ended first");
    else if (status == GYRE_INVALID && !drive->untimed)
        conclude(result, GYRE_OUTCOME_FAILED, "", words_for(status));
    else if (status == GYRE_INVALID)
        return GYRE_OK; /* the check has the first word */
    else if (status != GYRE_OK)
        return fail_or_give_up(result, status);
    return GYRE_OK;
}

static gyre_status visit(gyre_drive *drive, const gyre_method *method, gyre_result *result)
{
    gyre_status status = GYRE_OK;

    switch (method->purpose) {
    case GYRE_PURPOSE_TIME:
        status = take_times(drive, method, result);
        break;
    case GYRE_PURPOSE_CHECK:
        gyre_drive_tell(drive, "running once", 0);
        if (drive->c->clock) {
            double ns;

            status = gyre_drive_clocked(drive, 1, GYRE_CLOCKED_HOT, &ns);
            if (status != GYRE_OK)
                status = fail_or_give_up(result, status);
        } else {
            (void)gyre_drive_run(drive, 1);
        }
        break;
    case GYRE_PURPOSE_PROFILE:
        status = run_for_profiler(drive, method->profile_ns);
        if (status != GYRE_OK)
            status = fail_or_give_up(result, status);
        break;
    case GYRE_PURPOSE_MEMORY:
        gyre_count_memory(drive, result);
        break;
    case GYRE_PURPOSE_TURNS:
        status = take_turns(drive, result);
        break;
    case GYRE_PURPOSE_LIST:
        break;
    case GYRE_PURPOSE_INSTRUCTIONS:
        if (drive->team)
            conclude(result, GYRE_OUTCOME_SKIPPED, "", "it runs on several threads");
        else
            gyre_count_instructions(drive, result);
        break;
    }
    return status;
}

/* A run that gives up returns at once too, and then the check knows why: it is asked first. */
static void check_and_ask(gyre_drive *drive, const gyre_method *method, gyre_result *result)
{
    const gyre_bench *bench = &drive->c->bench;
    bool right;

    if (result->outcome != GYRE_OUTCOME_MEASURED)
        return;
    gyre_drive_tell(drive, "checking", 0);
    gyre_fail_clear();
    gyre_trace_begin("check");
    right = bench->check(drive->fixture, drive->iterations);
    gyre_trace_end("check");
    if (right && drive->untimed) {
        conclude(result, GYRE_OUTCOME_FAILED, "",
                 "run returns at once however many iterations it is asked for: nothing was timed");
        return;
    }
    if (right) {
        if (method->purpose != GYRE_PURPOSE_TIME)
            result->outcome = GYRE_OUTCOME_CHECKED;
        if (bench->tell)
            bench->tell(drive->fixture, drive->iterations, &result->facts);
        return;
    }
    /* Ctrl-C reaches whatever the run has started too, and spoils its answer */
    if (gyre_drive_stopped(drive))
        conclude(result, GYRE_OUTCOME_INTERRUPTED, "", "interrupted");
    else
        conclude(result, GYRE_OUTCOME_FAILED,
                 gyre_error_last()->text[0] ? "the check says that its answer is wrong: "
                                            : "the check says that its answer is wrong",
                 gyre_error_last()->text);
}

static void conclude_setup(gyre_result *result, gyre_status status)
{
    const bool absent = status == GYRE_UNAVAILABLE || status == GYRE_UNSUPPORTED;

    conclude(result, absent ? GYRE_OUTCOME_SKIPPED : GYRE_OUTCOME_FAILED,
             absent ? "" : "set-up failed: ", words_for(status));
}

/* Whether the case may be visited; concludes it when not. */
static bool is_healthy(const gyre_bench_guard *guard, gyre_health skip_when, gyre_result *result)
{
    char why[WHY_BYTES] = "", text[WHY_BYTES + 64];
    gyre_health health = guard->healthy(why, sizeof why);

    why[sizeof why - 1] = '\0';
    if (health != GYRE_HEALTH_GOOD && guard->reset) {
        const gyre_status status = guard->reset();

        if (status != GYRE_OK)
            snprintf(why, sizeof why, "the reset failed: %s", words_for(status));
        health = status == GYRE_OK ? guard->healthy(why, sizeof why) : GYRE_HEALTH_CRITICAL;
    }
    if (health == GYRE_HEALTH_GOOD)
        return true;
    snprintf(text, sizeof text, "the guard says %s: %s",
             health == GYRE_HEALTH_WARNING ? "warning" : "critical", why[0] ? why : "no reason");
    if (health < skip_when) {
        gyre_result_warn(result, "%s", text);
        return true;
    }
    conclude(result, GYRE_OUTCOME_SKIPPED, "", text);
    return false;
}

static gyre_status visit_set_up(gyre_drive *drive, const gyre_method *method, gyre_result *result)
{
    gyre_status status = GYRE_OK;

    result->facts.owner = result;
    if (result->threads > 1)
        status = gyre_team_start(result->threads, &drive->team);
    if (status != GYRE_OK) {
        conclude(result, GYRE_OUTCOME_FAILED, "its threads cannot start: ", words_for(status));
        return GYRE_OK;
    }
    status = visit(drive, method, result);
    gyre_team_stop(drive->team);
    drive->team = NULL;
    if (status == GYRE_OK)
        check_and_ask(drive, method, result);
    return status;
}

static gyre_status set_up(gyre_drive *drive)
{
    gyre_status status = GYRE_OK;

    gyre_fail_clear(); /* a reason found below is this set-up's */
    gyre_trace_begin("setup");
    if (drive->c->bench.setup)
        status = drive->c->bench.setup(drive->c, &drive->fixture);
    gyre_trace_end("setup");
    return status;
}

static void tear_down(const gyre_drive *drive)
{
    gyre_trace_begin("teardown");
    if (drive->c->bench.teardown)
        drive->c->bench.teardown(drive->fixture);
    gyre_trace_end("teardown");
}

/* The other of a pair, and its threads. One that this machine lacks is left out without a word,
 * which its own visit has. */
static bool set_up_other(gyre_drive *other, gyre_result *result)
{
    const uint32_t threads = other->c->bench.threads ? other->c->bench.threads(other->c) : 1;
    gyre_status status = set_up(other);

    if (status == GYRE_OK && threads > 1) {
        status = gyre_team_start(threads, &other->team);
        if (status != GYRE_OK)
            tear_down(other);
    }
    if (status != GYRE_OK && status != GYRE_UNAVAILABLE && status != GYRE_UNSUPPORTED)
        gyre_result_warn(result, "there is no ratio: '%s' beside it cannot be set up: %s",
                         other->c->id, words_for(status));
    return status == GYRE_OK;
}

static void check_other(const gyre_drive *other, gyre_result *result)
{
    if (!result->beside.id || result->outcome != GYRE_OUTCOME_MEASURED ||
        other->c->bench.check(other->fixture, other->iterations))
        return;
    gyre_result_warn(result, "there is no ratio: '%s' beside it gave a wrong answer", other->c->id);
    result->beside = (gyre_ratio){0};
}

/* A visit with another case set up too. The place of the other's side is that of the thread before
 * any set-up. */
static gyre_status visit_beside(gyre_drive *drive, gyre_beside *beside, const gyre_method *method,
                                gyre_result *result)
{
    gyre_drive other = *drive;
    gyre_status status;
    bool there;

    other.c = drive->c->beside;
    other.fixture = NULL;
    beside->sides[GYRE_BESIDE_OWN] = drive;
    beside->sides[GYRE_BESIDE_OTHER] = &other;
    gyre_beside_place(beside, GYRE_BESIDE_OWN);
    gyre_beside_go(beside, GYRE_BESIDE_OTHER);
    there = set_up_other(&other, result);
    gyre_beside_place(beside, GYRE_BESIDE_OTHER);
    gyre_beside_go(beside, GYRE_BESIDE_OWN);
    drive->beside = there ? beside : NULL;
    status = visit_set_up(drive, method, result);
    if (there) {
        gyre_beside_go(beside, GYRE_BESIDE_OTHER);
        gyre_team_stop(other.team);
        check_other(&other, result);
        tear_down(&other);
        gyre_beside_go(beside, GYRE_BESIDE_OWN);
    }
    return status;
}

gyre_status gyre_measure(const gyre_bench_case *c, const gyre_method *method,
                         const gyre_watch *watch, gyre_result *out_result)
{
    static const gyre_watch nobody;
    const gyre_method with = gyre_method_defaults(method);
    gyre_drive drive = {.c = c};
    gyre_beside beside = {0};
    gyre_status status;

    watch = watch ? watch : &nobody;
    drive.now_ns = watch->now_ns ? watch->now_ns : gyre_clock_now_ns;
    drive.progress = watch->progress;
    drive.user = watch->user;
    drive.interrupted = watch->interrupted;
    drive.turns = watch->turns;
    gyre_result_begin(out_result, c);
    if (c->guard && !is_healthy(c->guard, with.skip_when, out_result))
        return GYRE_OK;
    if (with.purpose == GYRE_PURPOSE_MEMORY)
        gyre_usage_forget_peak();
    gyre_drive_tell(&drive, "setting up", 0);
    declare_work(out_result, c);
    gyre_beside_place(&beside, GYRE_BESIDE_OTHER);
    status = set_up(&drive);
    if (status != GYRE_OK) {
        conclude_setup(out_result, status);
        return GYRE_OK;
    }
    status = c->beside && with.purpose == GYRE_PURPOSE_TIME
                 ? visit_beside(&drive, &beside, &with, out_result)
                 : visit_set_up(&drive, &with, out_result);
    tear_down(&drive);
    if (status == GYRE_OK && !out_result->arena.exhausted)
        return GYRE_OK;
    gyre_result_fini(out_result);
    gyre_result_begin(out_result, c);
    conclude(out_result, GYRE_OUTCOME_FAILED, "", "out of memory");
    return gyre_fail(GYRE_NO_MEMORY, "out of memory while measuring '%s'", c->id);
}
