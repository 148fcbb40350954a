/* SPDX-License-Identifier: Apache-2.0
 *
 * The harness itself: what it adds to what it measures.
 *
 * harness/empty_run does nothing but turn its loop. The same loop timed by hand in the same process
 * is reported beside it, as bare_loop_ns: the difference is what the harness adds to an iteration.
 */
#include <gyre/bench.h>
#include <gyre/clock.h>
#include <stdlib.h>

#include "suites/suites.h"

enum { BARE_ITERATIONS = 1000000, BARE_TRIES = 15 };

typedef struct turns {
    uint64_t count;
    double bare_ns; /* of one turn of the same loop, without the harness */
} turns;

static void turn(void *fixture, uint64_t iterations)
{
    turns *t = fixture;

    for (uint64_t i = 0; i < iterations; i++)
        gyre_bench_keep(t);
    t->count += iterations;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median of some tries, in the process and on the CPU that will be measured. */
static double time_bare_loop(turns *t)
{
    double ns[BARE_TRIES];

    for (int i = 0; i < BARE_TRIES; i++) {
        const uint64_t start_ns = gyre_clock_now_ns();

        for (uint64_t k = 0; k < BARE_ITERATIONS; k++)
            gyre_bench_keep(t);
        ns[i] = (double)(gyre_clock_now_ns() - start_ns) / BARE_ITERATIONS;
    }
    qsort(ns, BARE_TRIES, sizeof ns[0], ascending);
    return ns[BARE_TRIES / 2];
}

static gyre_status turns_setup(const gyre_bench_case *c, void **out_fixture)
{
    turns *t = calloc(1, sizeof *t);

    (void)c;
    *out_fixture = t;
    if (!t)
        return GYRE_NO_MEMORY;
    t->bare_ns = time_bare_loop(t);
    return GYRE_OK;
}

static bool turned(const void *fixture, uint64_t iterations)
{
    const turns *t = fixture;

    return t->count == iterations;
}

static void tell_bare(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const turns *t = fixture;

    (void)iterations;
    gyre_bench_count(facts, "bare_loop_ns", t->bare_ns);
}

/* Preparing is not timed: with a clock that is read around each iteration, what is left is the
 * clock itself. */
static void prepare_slowly(void *fixture, uint64_t iterations)
{
    volatile uint64_t work = 0;

    (void)fixture;
    for (uint64_t i = 0; i < 1000 * iterations; i++)
        work = work + i;
}

static const gyre_bench benches[] = {
    {
        .name = "harness/empty_run",
        .t0 = "one turn of a loop that does nothing",
        .t1 = "the next one",
        .observer = "the same thread, which counts the turns",
        .setup = turns_setup,
        .run = turn,
        .check = turned,
        .teardown = free,
        .tell = tell_bare,
    },
    {
        .name = "harness/prepared_each",
        .t0 = "the reading of the clock before one iteration that does nothing",
        .t1 = "the reading after it; what prepares it lies outside",
        .observer = "the same thread, which counts the turns",
        .setup = turns_setup,
        .run = turn,
        .check = turned,
        .teardown = free,
        .prepare = prepare_slowly,
        .batch = GYRE_BATCH_EACH,
    },
};

const gyre_suite gyre_suite_harness = GYRE_SUITE("harness", benches);
