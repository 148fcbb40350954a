/* SPDX-License-Identifier: Apache-2.0
 *
 * ab: see ab.h.
 *
 * Benchmarks go round: one launch of each that is still open, then the next. So the launches of one
 * are spread over the whole time, and a bad quarter of a minute of the machine does not fall on one
 * of them alone.
 */
#include "main/ab.h"

#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "bench/filter.h"
#include "gyre/clock.h"
#include "main/command.h"
#include "main/launch.h"
#include "main/progress.h"
#include "main/tally.h"

enum {
    LEAST_LAUNCHES = 2, /* whatever the time limit */
    WHAT_BYTES = 256,
};

/* A benchmark that is on both sides. */
typedef struct bout {
    gyre_ab_bench *bench;
    size_t indices[GYRE_SIDES];
    bool open;
} bout;

typedef struct match {
    const gyre_ab_request *request;
    gyre_ab *ab;
    gyre_program programs[GYRE_SIDES];
    gyre_listing listings[GYRE_SIDES];
    gyre_launcher launcher;
    bout *bouts;
    size_t count, capacity, open, current;
    char asked[GYRE_PAIR_REASON_BYTES]; /* how the old command ended when it was asked */
    gyre_progress_line progress;
} match;

static const volatile sig_atomic_t never;

static bool is_interrupted(const match *m)
{
    return *m->launcher.overseer.interrupted != 0;
}

/* Up to the next look of each that is open, at the pace so far. */
static double left_ns(const match *m)
{
    double spent_s = 0, launches = 0, to_come = 0;

    for (size_t i = 0; i < m->count; i++) {
        const gyre_ab_bench *bench = m->bouts[i].bench;

        spent_s += bench->spent_s;
        launches += (double)bench->launch_count;
        if (m->bouts[i].open)
            to_come += (double)(gyre_judge_next_look(bench->launch_count) - bench->launch_count);
    }
    return launches > 0 ? 1e9 * to_come * spent_s / launches : 0;
}

static void on_tick(void *user)
{
    match *m = user;
    char what[WHAT_BYTES];

    if (!m->progress.stream)
        return;
    if (m->count == 0)
        snprintf(what, sizeof what, "asking for benchmarks");
    else
        snprintf(what, sizeof what, "%s: launch %zu", m->bouts[m->current].bench->id,
                 m->bouts[m->current].bench->launch_count + 1);
    gyre_progress_tell(&m->progress, m->count - m->open, left_ns(m), what);
}

static void copy_side(match *m, size_t side)
{
    const gyre_program *program = &m->programs[side];
    gyre_arena *arena = &m->ab->arena;

    m->ab->sides[side] = (gyre_ab_side){
        .command = gyre_arena_text(arena, program->command),
        .path = gyre_arena_text(arena, program->path),
        .program_bytes = program->bytes,
        .program_hash = program->hash,
    };
}

/* Finds out what both commands are. */
static gyre_status ask_both(match *m)
{
    gyre_fate fates[GYRE_SIDES] = {0};
    gyre_status status = GYRE_OK;

    for (size_t side = 0; side < GYRE_SIDES && status == GYRE_OK; side++) {
        status = gyre_command_ask(&m->programs[side], &m->launcher.overseer, &m->listings[side],
                                  &fates[side]);
        if (status == GYRE_CORRUPT || status == GYRE_UNAVAILABLE) {
            char why[sizeof gyre_error_last()->text];

            snprintf(why, sizeof why, "%s", gyre_error_last()->text);
            status = gyre_fail(status, "the %s command: %s", gyre_side_names[side], why);
        }
    }
    if (status != GYRE_OK)
        return status;
    snprintf(m->asked, sizeof m->asked, "%s", fates[0].reason);
    m->ab->lock_step = m->listings[0].count > 0 && m->listings[1].count > 0;
    for (size_t side = 0; side < GYRE_SIDES && !m->ab->lock_step; side++)
        if (m->listings[1 - side].count > 0)
            return gyre_fail(GYRE_INVALID,
                             "the %s command is built with libgyrelab and the %s one is not%s%s; "
                             "--commands compares them as commands",
                             gyre_side_names[1 - side], gyre_side_names[side],
                             fates[side].reason[0] ? ": asked for its benchmarks, it " : "",
                             fates[side].reason);
    return GYRE_OK;
}

/* Whether a case is wanted, and the other side has it; one that has not is noted. */
static bool choose(match *m, const gyre_filter *filter, size_t side, const gyre_listed *c)
{
    gyre_ab *ab = m->ab;

    if (!gyre_filter_wants(filter, c->id, c->tags))
        return false;
    if (gyre_listing_find(&m->listings[1 - side], c->id))
        return true;
    if (!m->request->again) {
        const char *id = gyre_arena_text(&ab->arena, c->id);

        if (side == GYRE_TURN_OLD)
            ab->only_old[ab->only_old_count++] = id;
        else
            ab->only_new[ab->only_new_count++] = id;
    }
    return false;
}

static void add_bout(match *m, const gyre_listed *old)
{
    const gyre_listed *new = gyre_listing_find(&m->listings[GYRE_TURN_NEW], old->id);
    bout *b = &m->bouts[m->count++];

    *b = (bout){.open = true};
    b->indices[GYRE_TURN_OLD] = (size_t)(old - m->listings[GYRE_TURN_OLD].cases);
    b->indices[GYRE_TURN_NEW] = (size_t)(new - m->listings[GYRE_TURN_NEW].cases);
    b->bench = gyre_ab_add(m->ab, old->id);
    b->bench->clock = gyre_arena_text(&m->ab->arena, old->clock);
    b->bench->threads = old->threads > new->threads ? old->threads : new->threads;
    if (strcmp(old->clock, new->clock) != 0) { /* their times are of different things */
        b->open = false;
        b->bench->outcome = GYRE_OUTCOME_FAILED;
        b->bench->reason = gyre_arena_print(
            &m->ab->arena, "old is timed by the clock '%s', new by '%s'", old->clock, new->clock);
    }
}

static gyre_status make_room(match *m, size_t count)
{
    void *block;
    gyre_status status = gyre_alloc(NULL, count, sizeof m->bouts[0], &block);

    if (status == GYRE_OK)
        m->bouts = block;
    m->capacity = status == GYRE_OK ? count : 0;
    return status == GYRE_OK ? gyre_ab_reserve(m->ab, count) : status;
}

/* The benchmarks that both sides have and the user wants. */
static gyre_status choose_all(match *m)
{
    const gyre_ab_request *r = m->request;
    gyre_ab *ab = m->ab;
    gyre_filter filter;
    gyre_status status =
        gyre_filter_init(&filter, r->patterns, r->pattern_count, r->exact, r->skip, r->skip_count);

    if (status != GYRE_OK)
        return status;
    ab->only_old = gyre_arena_array(&ab->arena, m->listings[0].count, sizeof ab->only_old[0]);
    ab->only_new = gyre_arena_array(&ab->arena, m->listings[1].count, sizeof ab->only_new[0]);
    if (!ab->only_old || !ab->only_new)
        status = gyre_fail(GYRE_NO_MEMORY, "out of memory for the lists of benchmarks");
    if (status == GYRE_OK)
        status = make_room(m, m->listings[0].count);
    for (size_t i = 0; i < m->listings[0].count && status == GYRE_OK; i++)
        if (choose(m, &filter, GYRE_TURN_OLD, &m->listings[0].cases[i]))
            add_bout(m, &m->listings[0].cases[i]);
    for (size_t i = 0; i < m->listings[1].count && status == GYRE_OK; i++)
        (void)choose(m, &filter, GYRE_TURN_NEW, &m->listings[1].cases[i]);
    gyre_filter_fini(&filter);
    if (status == GYRE_OK && m->count == 0)
        return gyre_fail(GYRE_NOT_FOUND, "no benchmark %s",
                         ab->only_old_count + ab->only_new_count > 0
                             ? "that is wanted is on both sides"
                             : "matches the filter");
    return status;
}

/* Two commands are one benchmark, which is called "command". */
static gyre_status choose_commands(match *m)
{
    const gyre_ab_request *r = m->request;
    gyre_status status;

    for (size_t i = 0; i < r->pattern_count + r->skip_count; i++)
        if (i >= r->pattern_count || strcmp(r->patterns[i], "command") != 0)
            return gyre_fail(GYRE_INVALID,
                             "a filter chooses benchmarks, and these commands list none%s%s",
                             m->asked[0] ? ": asked for them, the old one " : "", m->asked);
    if (r->memory || r->instructions)
        return gyre_fail(GYRE_INVALID, "memory and instructions are counted for programs that are "
                                       "built with libgyrelab; ask for neither, by options or by "
                                       "a policy");
    status = make_room(m, 1);
    if (status != GYRE_OK)
        return status;
    m->bouts[m->count++] = (bout){.bench = gyre_ab_add(m->ab, "command"), .open = true};
    m->bouts[0].bench->threads = 1;
    return GYRE_OK;
}

static bool is_settled(const match *m, const gyre_ab_bench *bench)
{
    double words[GYRE_JUDGE_LAUNCHES];
    gyre_judgement judgement;

    if (m->request->settled)
        return m->request->settled(m->request->user, bench, m->count);
    judgement = gyre_judge(words, gyre_ab_words(bench, words), &m->ab->rule);
    return gyre_judge_settled(&judgement, &m->ab->rule, m->count);
}

/* Whether the benchmark is done with. */
static bool is_over(const match *m, const gyre_ab_bench *bench)
{
    const uint64_t usual_ns = m->ab->lock_step ? 16000000000u : 60000000000u;
    const double limit_s = (double)(m->request->limit_ns ? m->request->limit_ns : usual_ns) / 1e9;
    const double each_s = bench->spent_s / (double)bench->launch_count;

    if (bench->launch_count == GYRE_JUDGE_LAUNCHES ||
        (gyre_judge_is_look(bench->launch_count) && is_settled(m, bench)))
        return true;
    return bench->launch_count >= LEAST_LAUNCHES && bench->spent_s + each_s > limit_s;
}

static gyre_status launch(match *m, bout *b)
{
    gyre_status status;

    m->current = (size_t)(b - m->bouts);
    status = gyre_launch(&m->launcher, b->bench, b->indices);
    if (status == GYRE_OK)
        b->open = b->bench->outcome == GYRE_OUTCOME_MEASURED && !is_over(m, b->bench);
    m->open -= !b->open;
    return status;
}

static gyre_status go_round(match *m)
{
    for (size_t i = 0; i < m->count; i++)
        m->open += m->bouts[i].open;
    while (m->open > 0 && !is_interrupted(m)) {
        for (size_t i = 0; i < m->count && !is_interrupted(m); i++) {
            const gyre_status status = m->bouts[i].open ? launch(m, &m->bouts[i]) : GYRE_OK;

            if (status != GYRE_OK)
                return status;
        }
    }
    for (size_t i = 0; i < m->count; i++) {
        gyre_ab_bench *bench = m->bouts[i].bench;

        if (m->bouts[i].open) {
            bench->outcome = GYRE_OUTCOME_INTERRUPTED;
            bench->reason = gyre_arena_print(&m->ab->arena, "interrupted after %zu launches",
                                             bench->launch_count);
        }
    }
    return GYRE_OK;
}

static void allow_cpus(match *m)
{
    cpu_set_t ours;

    m->launcher.pinned = m->request->cpus != NULL;
    if (m->request->cpus) {
        m->launcher.allowed = *m->request->cpus;
        return;
    }
    CPU_ZERO(&ours);
    (void)sched_getaffinity(0, sizeof ours, &ours);
    for (uint32_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &ours))
            gyre_cpu_set_add(&m->launcher.allowed, i);
    if (gyre_cpu_set_count(&m->launcher.allowed) == 0)
        gyre_cpu_set_add(&m->launcher.allowed, 0);
}

/* Counts what was asked for, of what was measured. */
static gyre_status count_all(match *m)
{
    const gyre_ab_request *r = m->request;
    gyre_tally_request requests[GYRE_SIDES];
    gyre_status status = GYRE_OK;

    for (size_t side = 0; side < GYRE_SIDES; side++)
        requests[side] = (gyre_tally_request){
            .program = &m->programs[side],
            .listing = &m->listings[side],
            .memory = r->memory,
            .instructions = r->instructions,
            .timeout_ns = m->launcher.overseer.timeout_ns,
            .cpus = r->cpus,
            .interrupted = m->launcher.overseer.interrupted,
        };
    for (size_t i = 0; i < m->count && status == GYRE_OK && !is_interrupted(m); i++) {
        char what[WHAT_BYTES];

        if (m->bouts[i].bench->outcome != GYRE_OUTCOME_MEASURED)
            continue;
        snprintf(what, sizeof what, "%s: counting", m->bouts[i].bench->id);
        gyre_progress_tell(&m->progress, i, 0, what);
        status = gyre_tally_both(requests, m->bouts[i].indices, m->ab, m->bouts[i].bench);
    }
    return status;
}

/* Programs that were built anew meanwhile were not compared with each other. */
static gyre_status check_programs(const match *m)
{
    for (size_t side = 0; side < GYRE_SIDES; side++) {
        const gyre_program *before = &m->programs[side];
        gyre_program now;
        bool same;

        if (gyre_program_init(&now, before->command) != GYRE_OK)
            return gyre_fail(GYRE_CORRUPT, "the %s program is gone since it was measured: '%s'",
                             gyre_side_names[side], before->path);
        same = now.bytes == before->bytes && now.hash == before->hash;
        gyre_program_fini(&now);
        if (!same)
            return gyre_fail(GYRE_CORRUPT, "the %s program was changed while it was measured: '%s'",
                             gyre_side_names[side], before->path);
    }
    return GYRE_OK;
}

/* With a guardian and everything: asks, chooses, and goes round. */
static gyre_status play(match *m)
{
    gyre_status status;

    gyre_progress_begin(&m->progress, m->request->progress, 0, 0);
    status = m->request->plain_commands ? GYRE_OK : ask_both(m);
    for (size_t side = 0; side < GYRE_SIDES; side++)
        m->launcher.ids_hash[side] = m->listings[side].hash;
    if (status == GYRE_OK)
        status = m->ab->lock_step ? choose_all(m) : choose_commands(m);
    if (status == GYRE_OK && m->request->chosen)
        status = m->request->chosen(m->request->user, m->ab);
    if (status == GYRE_OK) {
        m->progress.total = m->count;
        gyre_usage_open(&m->launcher.usage);
        status = go_round(m);
        gyre_usage_close(&m->launcher.usage);
    }
    return status;
}

static gyre_status prepare(match *m)
{
    const gyre_rule usual = {.margin = 0.01, .alpha = 0.01};
    const gyre_ab_request *r = m->request;
    gyre_ab *ab = m->ab;
    gyre_status status = GYRE_OK;

    for (size_t side = 0; side < GYRE_SIDES && status == GYRE_OK; side++) {
        status = gyre_program_init(&m->programs[side], r->commands[side]);
        if (status == GYRE_OK)
            copy_side(m, side);
    }
    ab->rule = r->rule;
    ab->rule.margin = r->rule.margin > 0 ? r->rule.margin : usual.margin;
    ab->rule.alpha = r->rule.alpha > 0 ? r->rule.alpha : usual.alpha;
    ab->again = r->again;
    ab->seed = r->seed;
    if (ab->seed == 0) {
        (void)!getrandom(&ab->seed, sizeof ab->seed, 0);
        ab->seed >>= 1; /* an integer that every reader of JSON has */
    }
    gyre_stat_random_seed(&m->launcher.random, ab->seed);
    m->launcher.overseer.timeout_ns = r->timeout_ns ? r->timeout_ns : 60000000000u;
    m->launcher.overseer.interrupted = r->interrupted ? r->interrupted : &never;
    m->launcher.overseer.tick = on_tick;
    m->launcher.overseer.user = m;
    allow_cpus(m);
    return status;
}

gyre_status gyre_ab_measure(const gyre_ab_request *request, gyre_ab *ab)
{
    const uint64_t start_ns = gyre_clock_now_ns();
    match m = {.request = request, .ab = ab, .launcher = {.ab = ab}};
    gyre_orphans orphans;
    gyre_guardian guardian;
    gyre_status status = prepare(&m);

    m.launcher.programs = m.programs;
    if (status == GYRE_OK) {
        status = gyre_guardian_start(&guardian);
        gyre_orphans_adopt(&orphans); /* the guardian is there already, and spared */
        m.launcher.overseer.guardian = &guardian;
        m.launcher.overseer.orphans = &orphans;
        if (status == GYRE_OK)
            status = play(&m);
        gyre_orphans_release(&orphans);
        gyre_guardian_stop(&guardian);
    }
    if (status == GYRE_OK && (request->memory || request->instructions))
        status = count_all(&m);
    gyre_progress_wipe(&m.progress);
    if (status == GYRE_OK)
        status = check_programs(&m);
    if (status == GYRE_CANCELLED)
        status = GYRE_OK; /* before anything was begun */
    ab->head->interrupted = *m.launcher.overseer.interrupted != 0;
    ab->head->duration_s = (double)(gyre_clock_now_ns() - start_ns) / 1e9;
    for (size_t side = 0; side < GYRE_SIDES; side++) {
        gyre_program_fini(&m.programs[side]);
        gyre_listing_fini(&m.listings[side]);
    }
    gyre_free(NULL, m.bouts, m.capacity, sizeof m.bouts[0]);
    if (status == GYRE_OK && ab->arena.exhausted)
        status = gyre_fail(GYRE_NO_MEMORY, "out of memory while comparing");
    return status == GYRE_OK ? gyre_ab_judge(ab) : status;
}
