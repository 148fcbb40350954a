/* SPDX-License-Identifier: Apache-2.0
 *
 * measure: warms a case up, takes flat samples, checks the answer, and judges the median.
 *
 * Warm-up runs batches of doubling size until its time is spent; what the larger batches took says
 * how long one iteration is. Flat sampling then runs the same number of iterations in every
 * sample, chosen so that all samples together fill the measurement time. A case whose one
 * iteration outlasts a sample's share gets fewer samples instead, at least ten.
 *
 * Threads   the caller's.
 * Owns      the samples of a result.
 */
#include "bench/measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "gyre/clock.h"
#include "gyre/trace.h"

/* More iterations than that in one batch mean that `run` ignores its argument. */
static const uint64_t MOST_ITERATIONS = UINT64_C(1) << 40;

typedef struct session {
    const gyre_bench_case *c;
    const gyre_measure_options *options; /* with defaults filled in */
    void *fixture;
    uint64_t iterations; /* all, since set-up: what `check` is told */
} session;

const char *gyre_outcome_name(gyre_outcome outcome)
{
    static const char *const names[] = {"measured", "checked", "failed", "skipped", "interrupted"};

    return (size_t)outcome < sizeof names / sizeof names[0] ? names[outcome] : "unknown";
}

gyre_measure_options gyre_measure_defaults(const gyre_measure_options *options)
{
    gyre_measure_options with = options ? *options : (gyre_measure_options){0};

    if (with.sample_count == 0)
        with.sample_count = 100;
    if (with.sample_count < GYRE_LEAST_SAMPLES)
        with.sample_count = GYRE_LEAST_SAMPLES;
    if (with.sample_count > GYRE_MOST_SAMPLES)
        with.sample_count = GYRE_MOST_SAMPLES;
    if (with.warm_up_ns == 0)
        with.warm_up_ns = 1000000000;
    if (with.measurement_ns == 0)
        with.measurement_ns = 3000000000;
    if (with.confidence <= 0 || with.confidence >= 1)
        with.confidence = 0.95;
    if (!with.now_ns)
        with.now_ns = gyre_clock_now_ns;
    return with;
}

static void tell(const session *s, const char *phase, uint64_t left_ns)
{
    if (s->options->progress)
        s->options->progress(s->options->user, s->c, phase, left_ns);
}

static bool stopped(const session *s)
{
    return s->options->interrupted && *s->options->interrupted;
}

static uint64_t timed_run(session *s, uint64_t iterations)
{
    const uint64_t start_ns = s->options->now_ns();

    s->c->bench.run(s->fixture, iterations);
    s->iterations += iterations;
    return s->options->now_ns() - start_ns;
}

static void conclude(gyre_result *result, gyre_outcome outcome, const char *where,
                     const char *reason)
{
    result->outcome = outcome;
    snprintf(result->reason, sizeof result->reason, "%s%s", where, reason);
}

/* Runs doubling batches until the warm-up time is spent; the time of one iteration in the last and
 * largest of them, or 0 when it could not be timed. */
static double warm_up(session *s)
{
    uint64_t spent_ns = 0, batch_ns = 0, batch = 1;

    tell(s, "warming up", s->options->warm_up_ns);
    for (;;) {
        batch_ns = timed_run(s, batch);
        spent_ns += batch_ns;
        if (spent_ns >= s->options->warm_up_ns || batch >= MOST_ITERATIONS || stopped(s))
            return (double)batch_ns / (double)batch;
        batch *= 2;
    }
}

/* How many iterations a sample has and how many samples there are. */
static void plan(const gyre_measure_options *options, double iteration_ns, gyre_result *result)
{
    const double share_ns = (double)options->measurement_ns / (double)options->sample_count;

    result->sample_count = options->sample_count;
    result->iterations = 1;
    if (iteration_ns <= share_ns) {
        result->iterations = (uint64_t)ceil(share_ns / iteration_ns);
    } else {
        const double fit = (double)options->measurement_ns / iteration_ns;

        result->sample_count = fit > GYRE_LEAST_SAMPLES ? (size_t)fit : GYRE_LEAST_SAMPLES;
    }
}

static gyre_status summarise(gyre_result *result, double confidence)
{
    const size_t count = result->sample_count;
    double *sorted;
    void *block;
    gyre_status status = gyre_alloc(NULL, count, sizeof *sorted, &block);

    if (status != GYRE_OK)
        return status;
    sorted = block;
    for (size_t i = 0; i < count; i++)
        sorted[i] = result->times_ns[i] / (double)result->iterations;
    gyre_stat_sort(sorted, count);
    result->median_ns = gyre_stat_quantile(sorted, count, 0.5);
    result->ns = gyre_stat_quantile_interval(sorted, count, 0.5, confidence);
    result->min_ns = sorted[0];
    result->max_ns = sorted[count - 1];
    gyre_free(NULL, sorted, count, sizeof *sorted);
    return GYRE_OK;
}

static gyre_status sample(session *s, gyre_result *result)
{
    const double iteration_ns = warm_up(s);
    uint64_t left_ns;
    gyre_status status;
    void *block;

    if (stopped(s)) {
        conclude(result, GYRE_OUTCOME_INTERRUPTED, "", "interrupted while warming up");
        return GYRE_OK;
    }
    if (iteration_ns <= 0 || s->iterations >= MOST_ITERATIONS) {
        conclude(result, GYRE_OUTCOME_FAILED, "",
                 "run returns at once however many iterations it is asked for: nothing was timed");
        return GYRE_OK;
    }
    plan(s->options, iteration_ns, result);
    status = gyre_alloc(NULL, result->sample_count, sizeof result->times_ns[0], &block);
    if (status != GYRE_OK)
        return status;
    result->times_ns = block;
    for (size_t i = 0; i < result->sample_count; i++) {
        left_ns = (uint64_t)(iteration_ns * (double)result->iterations *
                             (double)(result->sample_count - i));
        tell(s, "sampling", left_ns);
        if (stopped(s)) {
            conclude(result, GYRE_OUTCOME_INTERRUPTED, "", "interrupted while sampling");
            return GYRE_OK;
        }
        result->times_ns[i] = (double)timed_run(s, result->iterations);
    }
    return summarise(result, s->options->confidence);
}

static gyre_status run_case(session *s, gyre_result *result)
{
    gyre_status status = GYRE_OK;

    if (s->options->once) {
        (void)timed_run(s, 1);
        conclude(result, GYRE_OUTCOME_CHECKED, "", "");
    } else {
        status = sample(s, result);
    }
    if (status != GYRE_OK || result->outcome == GYRE_OUTCOME_INTERRUPTED)
        return status;
    tell(s, "checking", 0);
    if (result->outcome == GYRE_OUTCOME_FAILED || s->c->bench.check(s->fixture, s->iterations))
        return GYRE_OK;
    /* Ctrl-C reaches whatever the run has started too, and spoils its answer */
    if (stopped(s))
        conclude(result, GYRE_OUTCOME_INTERRUPTED, "", "interrupted");
    else
        conclude(result, GYRE_OUTCOME_FAILED, "", "the check says that its answer is wrong");
    return GYRE_OK;
}

static void conclude_setup(gyre_result *result, gyre_status status)
{
    const gyre_error *error = gyre_error_last();
    const bool absent = status == GYRE_UNAVAILABLE || status == GYRE_UNSUPPORTED;

    /* a set-up may return a status without saying why */
    conclude(result, absent ? GYRE_OUTCOME_SKIPPED : GYRE_OUTCOME_FAILED,
             absent ? "" : "set-up failed: ",
             error->status == status ? error->text : gyre_status_name(status));
}

gyre_status gyre_measure(const gyre_bench_case *c, const gyre_measure_options *options,
                         gyre_result *out_result)
{
    const gyre_measure_options with = gyre_measure_defaults(options);
    session s = {.c = c, .options = &with};
    gyre_status status = GYRE_OK;

    *out_result = (gyre_result){.c = c};
    gyre_trace_begin(c->bench.name);
    tell(&s, "setting up", 0);
    gyre_fail_clear(); /* a reason found below is this set-up's */
    if (c->bench.setup)
        status = c->bench.setup(c, &s.fixture);
    if (status != GYRE_OK) {
        conclude_setup(out_result, status);
        gyre_trace_end(c->bench.name);
        return GYRE_OK;
    }
    out_result->bytes = c->bench.bytes ? c->bench.bytes(c) : 0;
    out_result->items = c->bench.items ? c->bench.items(c) : 0;
    status = run_case(&s, out_result);
    if (status != GYRE_OK) {
        gyre_result_fini(out_result);
        conclude(out_result, GYRE_OUTCOME_FAILED, "", gyre_error_last()->text);
    }
    if (c->bench.teardown)
        c->bench.teardown(s.fixture);
    gyre_trace_end(c->bench.name);
    return status;
}

void gyre_result_fini(gyre_result *result)
{
    gyre_free(NULL, result->times_ns, result->sample_count, sizeof result->times_ns[0]);
    result->times_ns = NULL;
    result->sample_count = 0;
}
