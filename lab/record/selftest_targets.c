/* SPDX-License-Identifier: Apache-2.0
 *
 * selftest_targets: what the judge promises, held against the trials of a self-test.
 *
 * A full self-test has as many trials as the promises were made for, and is judged by what it saw.
 * A shorter one says what its bounds let it say: a promise is kept or broken when even the bound is
 * on that side of the limit, else there were too few trials.
 *
 * Threads   one.
 * Owns      nothing.
 */
#include <math.h>

#include "record/selftest.h"

static const double MOST_ALARMS = 0.01, MOST_ALARMS_BOUND = 0.02, LEAST_EQUIVALENT = 0.9;
static const double LEAST_FOUND_2 = 0.9, LEAST_FOUND_5 = 0.95;
static const double MOST_MDE[GYRE_SELFTEST_WORKLOADS] = {0.02, 0.04};
static const double MOST_SECONDS = 16, MOST_DEVIATION = 0.0005;
static const double MOST_DURATION[] = {180, 4500}; /* quick, full */

static size_t row_of(gyre_selftest_workload workload, gyre_selftest_kind kind)
{
    return (size_t)workload * GYRE_SELFTEST_KINDS + (size_t)kind;
}

static gyre_attained attained_if(bool met)
{
    return met ? GYRE_ATTAINED_MET : GYRE_ATTAINED_MISSED;
}

static gyre_attained attain_share(const gyre_selftest_target *t, bool full)
{
    const gyre_selftest_share *s = &t->share;

    if (s->trials == 0)
        return GYRE_ATTAINED_NOT_MEASURED;
    if (t->at_least) {
        if (full || s->low >= t->limit)
            return attained_if(s->share >= t->limit);
        return s->high < t->limit ? GYRE_ATTAINED_MISSED : GYRE_ATTAINED_UNCLEAR;
    }
    if (full || s->high <= t->bound_limit)
        return attained_if(s->share <= t->limit && s->high <= t->bound_limit);
    return s->low > t->limit ? GYRE_ATTAINED_MISSED : GYRE_ATTAINED_UNCLEAR;
}

static void put_share(gyre_selftest_target *t, const gyre_selftest_share *share, bool full)
{
    t->share = *share;
    t->value = share->share;
    t->attained = attain_share(t, full);
}

static void put_value(gyre_selftest_target *t, double value, bool measured)
{
    t->value = measured ? value : 0;
    t->attained = measured ? attained_if(value <= t->limit) : GYRE_ATTAINED_NOT_MEASURED;
}

/* How far the counted work is off what it should be, at worst; false when some was not counted. */
static bool deviation(const gyre_selftest *selftest, gyre_selftest_workload workload,
                      double *out_worst)
{
    *out_worst = 0;
    for (int kind = GYRE_SELFTEST_1; kind <= GYRE_SELFTEST_5; kind++) {
        const gyre_selftest_proof *proof =
            &selftest->rows[row_of(workload, (gyre_selftest_kind)kind)].proof;
        const double extra =
            (double)gyre_selftest_extra((gyre_selftest_kind)kind) / GYRE_SELFTEST_PARTS;

        if (!proof->known)
            return false;
        *out_worst = fmax(*out_worst, fabs(proof->new_value / proof->old_value - 1 - extra));
    }
    return true;
}

/* The longest any row waited for a verdict. */
static double longest(const gyre_selftest *selftest, gyre_selftest_workload workload)
{
    double seconds = 0;

    for (size_t i = 0; i < selftest->count; i++)
        if (selftest->rows[selftest->trials[i].row].workload == workload)
            seconds = fmax(seconds, selftest->trials[i].seconds);
    return seconds;
}

static gyre_selftest_target *next(gyre_selftest_target **at, const char *workload, const char *what,
                                  gyre_selftest_unit unit, double limit)
{
    gyre_selftest_target *target = (*at)++;

    *target =
        (gyre_selftest_target){.workload = workload, .what = what, .unit = unit, .limit = limit};
    return target;
}

static void put_least(gyre_selftest_target *t, const gyre_selftest_share *share, bool full)
{
    t->at_least = true;
    put_share(t, share, full);
}

static void judge_workload(const gyre_selftest *selftest, gyre_selftest_workload workload,
                           gyre_selftest_target **at)
{
    const char *name = gyre_selftest_workload_name(workload);
    const bool full = gyre_selftest_full(selftest);
    const gyre_selftest_figures same =
        gyre_selftest_figure(selftest, row_of(workload, GYRE_SELFTEST_SAME));
    const gyre_selftest_figures two =
        gyre_selftest_figure(selftest, row_of(workload, GYRE_SELFTEST_2));
    const gyre_selftest_figures five =
        gyre_selftest_figure(selftest, row_of(workload, GYRE_SELFTEST_5));
    const double seconds = longest(selftest, workload);
    gyre_selftest_target *t = next(at, name, "A/A false alarms", GYRE_SELFTEST_SHARE, MOST_ALARMS);
    double worst;
    const bool counted = deviation(selftest, workload, &worst);

    t->bound_limit = MOST_ALARMS_BOUND;
    put_share(t, &same.found, full);
    put_least(next(at, name, "A/A equivalent", GYRE_SELFTEST_SHARE, LEAST_EQUIVALENT),
              &same.equivalent, full);
    put_least(next(at, name, "+2 % found", GYRE_SELFTEST_SHARE, LEAST_FOUND_2), &two.found, full);
    put_least(next(at, name, "+5 % found", GYRE_SELFTEST_SHARE, LEAST_FOUND_5), &five.found, full);
    put_value(next(at, name, "A/A MDE, median", GYRE_SELFTEST_CHANGE, MOST_MDE[workload]), same.mde,
              same.trials > 0);
    put_value(next(at, name, "longest until a verdict", GYRE_SELFTEST_SECONDS, MOST_SECONDS),
              seconds, seconds > 0);
    put_value(next(at, name, "added work is off by", GYRE_SELFTEST_CHANGE, MOST_DEVIATION), worst,
              counted);
}

void gyre_selftest_judge(const gyre_selftest *selftest,
                         gyre_selftest_target targets[GYRE_SELFTEST_TARGETS])
{
    const bool timed = selftest->mode != GYRE_SELFTEST_CUSTOM && !selftest->head->interrupted;
    gyre_selftest_target *at = targets;

    for (int workload = 0; workload < GYRE_SELFTEST_WORKLOADS; workload++)
        judge_workload(selftest, (gyre_selftest_workload)workload, &at);
    put_value(next(&at, "", "the whole self-test", GYRE_SELFTEST_SECONDS,
                   timed ? MOST_DURATION[selftest->mode] : 0),
              selftest->head->duration_s, timed);
}

bool gyre_selftest_passed(const gyre_selftest_target targets[GYRE_SELFTEST_TARGETS])
{
    for (size_t i = 0; i < GYRE_SELFTEST_TARGETS; i++)
        if (targets[i].attained == GYRE_ATTAINED_MISSED)
            return false;
    return true;
}

bool gyre_selftest_proved(const gyre_selftest *selftest)
{
    double worst;

    for (int workload = 0; workload < GYRE_SELFTEST_WORKLOADS; workload++)
        if (!deviation(selftest, (gyre_selftest_workload)workload, &worst) ||
            worst > MOST_DEVIATION)
            return false;
    return true;
}
