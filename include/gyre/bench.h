/* SPDX-License-Identifier: Apache-2.0
 *
 * bench: how a benchmark is declared.
 *
 * A benchmark is an entry of a const table. The entry decides what is timed (`run` and nothing
 * else), what the time means (t0, t1, observer) and whether the answer was right (`check`); the
 * harness decides order, sample sizes and when to stop. It measures every combination of the
 * axes; one combination is a case, and lives: setup, run many times, check, teardown.
 *
 * Threads   a case is driven by one thread; a `run` that starts others joins them.
 * Owns      nothing. The fixture is the suite's, from setup to teardown.
 * Not here  sampling and stopping (lab/bench/), files (lab/record/), printing (lab/report/).
 */
#ifndef GYRE_BENCH_H
#define GYRE_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

typedef struct gyre_bench_case gyre_bench_case;

enum { GYRE_BENCH_AXES = 4, GYRE_AXIS_VALUES = 32 };

typedef struct gyre_axis {
    const char *name;
    size_t count;
    int64_t values[GYRE_AXIS_VALUES];
} gyre_axis;

/* GYRE_AXIS("slot_bytes", 8, 64): an element of .axes, with up to 32 values. */
/* clang-format off */
#define GYRE_AXIS(name, ...) {name, GYRE_COUNT(__VA_ARGS__), {__VA_ARGS__}}
#define GYRE_COUNT(...) GYRE_COUNT_(__VA_ARGS__, \
    32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, \
    16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define GYRE_COUNT_(v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16, \
    v17, v18, v19, v20, v21, v22, v23, v24, v25, v26, v27, v28, v29, v30, v31, v32, count, ...) count
/* clang-format on */

typedef struct gyre_bench {
    const char *name;                /* "group/function", of letters, digits, '_', '-', '.' */
    gyre_axis axes[GYRE_BENCH_AXES]; /* unused ones stay zero; values are appended to the name */

    /* What the figure means, printed beside it. All three are required. */
    const char *t0;       /* what starts the clock */
    const char *t1;       /* what stops it */
    const char *observer; /* who saw the effect */

    /* Builds what `run` works on. GYRE_UNAVAILABLE and GYRE_UNSUPPORTED skip the case, any other
     * failure fails it, with the reason of gyre_bench_refuse or of the Gyre call that failed.
     * NULL: no fixture. */
    GYRE_MUST_USE gyre_status (*setup)(const gyre_bench_case *c, void **out_fixture);
    void (*run)(void *fixture, uint64_t iterations); /* the only timed code; required */
    /* Whether all runs since setup, `iterations` together, did right; false fails the case.
     * Required: a benchmark that cannot tell a wrong answer measures nothing. */
    GYRE_MUST_USE bool (*check)(const void *fixture, uint64_t iterations);
    void (*teardown)(void *fixture); /* NULL: nothing to undo */

    /* Work done by one iteration; NULL when the rate would mean nothing. */
    uint64_t (*bytes)(const gyre_bench_case *c);
    uint64_t (*items)(const gyre_bench_case *c);
} gyre_bench;

typedef struct gyre_suite {
    size_t bench_size; /* sizeof(gyre_bench), set by GYRE_SUITE: an older program keeps working */
    const char *name;
    const gyre_bench *benches;
    size_t count;
} gyre_suite;

/* const gyre_suite my_suite = GYRE_SUITE("queue", benches); */
/* clang-format off */
#define GYRE_SUITE(name, benches) \
    {sizeof(gyre_bench), name, benches, sizeof(benches) / sizeof(benches)[0]}
/* clang-format on */

/* A whole benchmark program: `int main(int argc, char **argv) { return gyre_bench_main(argc, argv,
 * suites); }` with `suites` NULL-terminated. Reads the options of `gyre bench` (--help lists them),
 * measures, prints, and keeps the run under GYRE_OUT. Returns the exit status: 0 done, 1 a
 * benchmark failed, 2 wrong usage, 3 environment, 130 interrupted by SIGINT or SIGTERM, whose
 * handlers it holds meanwhile. One call at a time, from the main thread; blocks. */
GYRE_API int gyre_bench_main(int argc, char **argv, const gyre_suite *const *suites);

/* `return gyre_bench_refuse(GYRE_UNAVAILABLE, "no GPU here");` in a set-up: records why and returns
 * the status. Thread-safe, never blocks, not for signal handlers. */
GYRE_API gyre_status gyre_bench_refuse(gyre_status status, const char *format, ...)
    GYRE_PRINTF(2, 3);

/* The case's value on an axis, which must be one of the benchmark's (asserted; 0 otherwise).
 * Thread-safe, never blocks, may be called from a signal handler. */
GYRE_API int64_t gyre_bench_axis(const gyre_bench_case *c, const char *name);

/* Makes the compiler believe that the bytes behind `p` are read here. */
GYRE_INLINE void gyre_bench_keep(const void *p)
{
    __asm__ volatile("" : : "g"(p) : "memory");
}

GYRE_END_DECLS

#endif
