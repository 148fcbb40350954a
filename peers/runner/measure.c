/* SPDX-License-Identifier: Apache-2.0
 *
 * measure: see measure.h.
 */
#include "peers/runner/measure.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "bench/doctor.h"
#include "bench/pingpong.h"
#include "gyre/clock.h"

enum {
    SAMPLE_NS = 2000000, /* of a work whose count is not given */
    TRIPS_NS = 6000000,  /* the same with two threads, whose ping-pongs take longer */
    WARM_UP_PART = 8,    /* of a work whose count is given */
    QUICK_ROUNDS = 4,    /* after which peers far behind stay behind */
    FULL_ROUNDS = PEERS_ENOUGH,
    FULL_SAMPLES = 3 * PEERS_ENOUGH,
    MOST_ROUNDS = PEERS_SAMPLES,
};
static const uint64_t CAP_NS = 2000000000;            /* of a sample */
static const uint64_t CHECK_CAP_NS = 10000000000;     /* of what comes before */
static const uint64_t MOST_COUNT = UINT64_C(1) << 40; /* of a way that takes no time */
static const double BEHIND = 2;                       /* times the best peer's figure is far */
static const double AGREE = 1.2;

/* One way, while it is measured. */
typedef struct runner {
    peers_result *result;
    void *state; /* owned; NULL: not created, or out */
    bool behind;
} runner;

typedef struct group {
    peers_measuring *how;
    runner *runners;
    size_t count;
    double pingpong_ns; /* the last one, not older than the last sample; 0: there is none */
    uint64_t end_ns;
} group;

bool peers_classify(double before_ns, double after_ns, peers_class *out_class)
{
    const double low = before_ns < after_ns ? before_ns : after_ns;
    const double high = before_ns < after_ns ? after_ns : before_ns;

    *out_class = (before_ns + after_ns) / 2 > GYRE_DOCTOR_FAR_NS ? PEERS_FAR : PEERS_NEAR;
    return low > 0 && high <= AGREE * low;
}

/* The counts of samples are multiples of this: of the bulks and batches that ways work in. */
static uint64_t unit_of(const peers_work *work)
{
    if (work->unit > 0)
        return work->unit;
    return work->roles == 1 ? 800 : 8;
}

/* Pauses before a thread that finds nothing yields: soon, where another one waits for its CPU. */
static uint32_t patience_of(const peers_work *work)
{
    return work->roles > 2 ? 64 : 4096;
}

static peers_done call(const group *g, const runner *r,
                       uint64_t (*run)(void *state, peers_turn *turn), uint32_t roles,
                       uint64_t count, uint64_t cap_ns)
{
    const peers_job job = {run, r->state, roles, count, patience_of(r->result->work), cap_ns};

    return peers_crew_run(g->how->crew, &job);
}

static void leave(runner *r)
{
    if (r->state)
        r->result->way->destroy(r->state);
    r->state = NULL;
}

/* Takes out what is left, and adds it to the accounts. */
static bool settle(runner *r)
{
    peers_account account = {0};

    if (!r->result->way->settle)
        return true;
    if (!r->result->way->settle(r->state, &account))
        return false;
    r->result->sent += account.sent;
    r->result->lost += account.lost;
    return true;
}

/* Whether all answers were right; if not, the way is out, with the reason. */
static bool accept(runner *r, const peers_done *done, uint64_t count, const char *where)
{
    peers_result *result = r->result;

    if (done->given_up)
        snprintf(result->problem, sizeof result->problem,
                 "collapsed: %" PRIu64 " of %" PRIu64 " after %.0f s%s", done->right, count,
                 done->elapsed_ns / 1e9, where);
    else if (done->right != count)
        snprintf(result->problem, sizeof result->problem,
                 "wrong: %" PRIu64 " of %" PRIu64 " arrived as they should%s", done->right, count,
                 where);
    else if (!settle(r))
        snprintf(result->problem, sizeof result->problem,
                 "wrong: what was left is not what was sent%s", where);
    if (!result->problem[0])
        return true;
    leave(r);
    return false;
}

/* As many as fill a sample's time; the trials also warm up. */
static bool calibrate(const group *g, runner *r)
{
    const peers_work *work = r->result->work;
    const double wanted_ns = work->roles == 1 ? SAMPLE_NS : TRIPS_NS;
    uint64_t count = work->count ? work->count / WARM_UP_PART : unit_of(work);

    for (;;) {
        const peers_done done = call(g, r, r->result->way->run, work->roles, count,
                                     work->count ? CAP_NS : CHECK_CAP_NS);

        if (!accept(r, &done, count, ""))
            return false;
        r->result->count = work->count ? work->count : count;
        if (work->count || g->how->once || done.elapsed_ns >= wanted_ns / 2 || count > MOST_COUNT)
            return true;
        if (done.elapsed_ns < wanted_ns / 16)
            count *= 8;
        else
            count += unit_of(work) * (uint64_t)((double)count * (wanted_ns / done.elapsed_ns - 1) /
                                                    (double)unit_of(work) +
                                                1);
    }
}

/* Creates the way, lets it hand its object to another thread, and warms it up. */
static void prepare(const group *g, runner *r)
{
    peers_result *result = r->result;
    const uint64_t sent = result->sent, lost = result->lost;
    peers_done done;

    r->state = result->way->create();
    if (!r->state) {
        snprintf(result->problem, sizeof result->problem, "could not be created");
        return;
    }
    if (result->way->hand_over) {
        done = call(g, r, result->way->hand_over, 2, result->work->handed, CHECK_CAP_NS);
        if (!accept(r, &done, result->work->handed, ", from thread to thread"))
            return;
    }
    result->sent = sent;
    result->lost = lost;
    (void)calibrate(g, r);
}

static double pingpong(const group *g)
{
    gyre_pingpong result;

    return gyre_pingpong_measure(g->how->cpus[0], g->how->cpus[1], &result) == GYRE_OK
               ? result.median_ns
               : 0;
}

static void keep(peers_result *result, peers_class class_, double ns, double pingpong_ns)
{
    peers_series *series = &result->series[class_];

    if (series->count == PEERS_SAMPLES)
        return;
    series->ns[series->count] = ns;
    series->pingpong_ns[series->count] = pingpong_ns;
    series->count++;
}

static void take_sample(group *g, runner *r)
{
    peers_result *result = r->result;
    const bool paired = result->work->roles > 1;
    double before_ns = 0;
    peers_class class_ = PEERS_SINGLE;
    gyre_usage_marks mark;
    peers_done done;
    bool stolen, steady = true;

    if (paired)
        before_ns = g->pingpong_ns > 0 ? g->pingpong_ns : pingpong(g);
    mark = gyre_usage_read(&g->how->usage);
    done = call(g, r, result->way->run, result->work->roles, result->count, CAP_NS);
    stolen = gyre_usage_read(&g->how->usage).steal_ticks > mark.steal_ticks;
    g->pingpong_ns = 0;
    if (!accept(r, &done, result->count, ""))
        return;
    if (paired) {
        g->pingpong_ns = pingpong(g);
        steady = peers_classify(before_ns, g->pingpong_ns, &class_);
    }
    result->stolen += stolen;
    result->unsteady += !steady && !stolen;
    if (steady && !stolen)
        keep(result, class_, done.elapsed_ns / (double)result->count,
             (before_ns + g->pingpong_ns) / 2);
}

/* The class in which Gyre, or whoever is there, has the most samples. */
static peers_class leading_class(const group *g)
{
    size_t best = 0, counts[PEERS_CLASSES] = {0};

    for (size_t i = 0; i < g->count; i++)
        for (size_t c = 0; c < PEERS_CLASSES; c++)
            counts[c] += g->runners[i].result->series[c].count;
    for (size_t c = 1; c < PEERS_CLASSES; c++)
        if (counts[c] > counts[best])
            best = c;
    return (peers_class)best;
}

static bool is_contender(const runner *r)
{
    return r->state && !r->behind && !r->result->way->aside;
}

/* The figure of the best peer that the rule allows, so far; 0 without one. */
static double best_of(const group *g, const peers_rule *rule, peers_class class_)
{
    double best = 0;

    for (size_t i = 0; i < g->count; i++) {
        const peers_result *result = g->runners[i].result;
        const peers_series *series = &result->series[class_];

        if (strcmp(result->work->id, peers_rule_work(rule)) == 0 &&
            result->library->kind == PEERS_PEER && !result->way->aside && !result->problem[0] &&
            peers_rule_allows(rule, result->library->name, result->way->name) &&
            series->count > 0) {
            const double median = peers_series_median(series);

            best = best == 0 || median < best ? median : best;
        }
    }
    return best;
}

/* Whether some rule may still need this peer. */
static bool is_needed(const group *g, const peers_result *result, peers_class class_)
{
    const peers_series *series = &result->series[class_];
    const peers_rule *rule;

    if (series->count == 0)
        return true;
    for (size_t i = 0; (rule = peers_rule_at(i)); i++)
        if (strcmp(result->work->id, peers_rule_work(rule)) == 0 &&
            peers_rule_allows(rule, result->library->name, result->way->name) &&
            peers_series_median(series) <= BEHIND * best_of(g, rule, class_))
            return true;
    return false;
}

/* Peers that are far behind, and what is shown aside, have been seen often enough. */
static void leave_behind(group *g)
{
    const peers_class class_ = leading_class(g);

    for (size_t i = 0; i < g->count; i++) {
        runner *r = &g->runners[i];

        if (!r->state || r->behind)
            continue;
        r->behind = r->result->way->aside ||
                    (r->result->library->kind == PEERS_PEER && !is_needed(g, r->result, class_));
    }
}

static bool is_settled(const group *g)
{
    const peers_class class_ = leading_class(g);

    for (size_t i = 0; i < g->count; i++) {
        const runner *r = &g->runners[i];
        const uint32_t least = g->how->quick ? PEERS_ENOUGH : FULL_SAMPLES;
        uint32_t needed = least;

        if (r->result->library->kind == PEERS_GYRE && r->result->work->samples > least)
            needed = r->result->work->samples;
        needed = needed * (g->how->pass + 1) / g->how->passes;
        if (is_contender(r) && r->result->series[class_].count < needed)
            return false;
    }
    return true;
}

static void shuffle(gyre_stat_random *random, size_t *order, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        const size_t other = gyre_stat_random_below(random, i), moved = order[i - 1];

        order[i - 1] = order[other];
        order[other] = moved;
    }
}

static bool is_over(const group *g)
{
    return *g->how->interrupted || gyre_clock_now_ns() > g->end_ns;
}

static size_t go_round(group *g, size_t *order)
{
    const size_t enough = g->how->quick ? QUICK_ROUNDS : FULL_ROUNDS / g->how->passes;
    size_t rounds = 0;

    if (g->how->pass > 0)
        leave_behind(g);
    while (rounds < MOST_ROUNDS && !is_over(g)) {
        shuffle(&g->how->random, order, g->count);
        for (size_t i = 0; i < g->count && !is_over(g); i++) {
            runner *r = &g->runners[order[i]];

            if (r->state && !r->behind)
                take_sample(g, r);
        }
        rounds++;
        if (g->how->once || (rounds >= enough && is_settled(g)))
            break;
        if (rounds >= enough)
            leave_behind(g);
    }
    return rounds;
}

/* Each work of the group brings its own time. */
static double seconds_for(const group *g)
{
    double seconds = 0;

    for (size_t i = 0; peers_work_at(i); i++) {
        const peers_work *work = peers_work_at(i);
        bool wanted = false;

        for (size_t k = 0; k < g->count; k++)
            wanted = wanted || g->runners[k].result->work == work;
        if (wanted)
            seconds += g->how->quick ? work->quick_s : work->full_s;
    }
    return seconds / g->how->passes;
}

gyre_status peers_measure(peers_measuring *how, peers_result *results, size_t count,
                          size_t *out_rounds)
{
    group g = {.how = how, .count = count};
    size_t *order = calloc(count, sizeof *order);

    *out_rounds = 0;
    g.runners = calloc(count, sizeof *g.runners);
    if (!order || !g.runners) {
        free(g.runners);
        free(order);
        return gyre_fail(GYRE_NO_MEMORY, "out of memory for %zu ways", count);
    }
    for (size_t i = 0; i < count; i++) {
        g.runners[i].result = &results[i];
        order[i] = i;
    }
    g.end_ns = how->once ? GYRE_NEVER : gyre_clock_after_ns((uint64_t)(seconds_for(&g) * 1e9));
    for (size_t i = 0; i < count && !*how->interrupted; i++) {
        if (results[i].problem[0])
            continue; /* in a pass before */
        if (!is_over(&g)) {
            prepare(&g, &g.runners[i]);
            continue;
        }
        if (how->pass > 0)
            break;
        snprintf(results[i].problem, sizeof results[i].problem, "there was no time left for it");
        results[i].skipped = true;
    }
    *out_rounds = go_round(&g, order);
    for (size_t i = 0; i < count; i++)
        leave(&g.runners[i]);
    free(g.runners);
    free(order);
    return GYRE_OK;
}
