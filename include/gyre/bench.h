/* SPDX-License-Identifier: Apache-2.0
 *
 * bench: how a benchmark is declared.
 *
 * A benchmark is an entry of a const table. The entry decides what is timed (`run` and nothing
 * else), what the time means (t0, t1, observer) and whether the answer was right (`check`); the
 * harness decides order, sample sizes and when to stop. It measures every combination of the
 * axes; one combination is a case, and lives: setup, run many times, check, tell, teardown.
 *
 * Threads   a case is driven by one thread, or by as many as its `threads` says.
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
typedef struct gyre_bench_facts gyre_bench_facts;

enum { GYRE_BENCH_AXES = 4, GYRE_AXIS_VALUES = 32 };

/* Values are numbers, or words whose numbers are 0, 1, ... in order. */
typedef struct gyre_axis {
    const char *name;
    size_t count;
    int64_t values[GYRE_AXIS_VALUES];
    const char *words[GYRE_AXIS_VALUES]; /* all NULL when values are numbers */
} gyre_axis;

/* Elements of .axes, with up to 32 values: GYRE_AXIS("slot_bytes", 8, 64),
 * GYRE_AXIS_WORDS("policy", "block", "reject"). */
/* clang-format off */
#define GYRE_AXIS(name, ...) {name, GYRE_COUNT(__VA_ARGS__), {__VA_ARGS__}, {0}}
#define GYRE_AXIS_WORDS(name, ...) {name, GYRE_COUNT(__VA_ARGS__), {0}, {__VA_ARGS__}}
#define GYRE_COUNT(...) GYRE_COUNT_(__VA_ARGS__, \
    32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, \
    16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define GYRE_COUNT_(v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16, \
    v17, v18, v19, v20, v21, v22, v23, v24, v25, v26, v27, v28, v29, v30, v31, v32, count, ...) count
/* clang-format on */

/* What a benchmark is, for choosing among them: the filter `tag:gpu`. */
enum {
    GYRE_TAG_CPU = 1,
    GYRE_TAG_GPU = 2,
    GYRE_TAG_SLOW = 4, /* left out by --quick */
};

/* How many iterations are prepared at once, where there is a `prepare`. */
typedef enum gyre_bench_batch {
    GYRE_BATCH_SMALL = 0, /* a tenth of a sample: what one iteration needs is small */
    GYRE_BATCH_LARGE = 1, /* a thousandth of a sample */
    GYRE_BATCH_EACH = 2,  /* one; then reading the clock is part of the figure */
} gyre_bench_batch;

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
    /* Whether all runs since setup, `iterations` together, did right; false fails the case, with
     * the reason of gyre_bench_refuse if it gave one. Required: a benchmark that cannot tell a
     * wrong answer measures nothing. */
    GYRE_MUST_USE bool (*check)(const void *fixture, uint64_t iterations);
    void (*teardown)(void *fixture); /* NULL: nothing to undo */

    /* Work done by one iteration; NULL when the rate would mean nothing. */
    uint64_t (*bytes)(const gyre_bench_case *c);
    uint64_t (*items)(const gyre_bench_case *c);
    uint64_t (*operations)(const gyre_bench_case *c); /* arithmetic, for the roofline */

    /* Makes ready what the next `iterations` will use up: before each timed run, not timed. A
     * sample is then made of several runs, by `batch`. NULL: nothing is used up. */
    void (*prepare)(void *fixture, uint64_t iterations);
    gyre_bench_batch batch;

    /* How many threads call `run` at once on one fixture, each with all the iterations; the clock
     * runs from their common start until the last has returned, and `check` is told what one of
     * them ran. gyre_bench_thread says which one is calling. NULL: the harness's own thread, as it
     * must be in a suite with a clock of its own. */
    uint32_t (*threads)(const gyre_bench_case *c);

    /* Reports numbers and texts about the work with gyre_bench_count and gyre_bench_note, after
     * the last run. NULL: nothing to tell. */
    void (*tell)(const void *fixture, uint64_t iterations, gyre_bench_facts *facts);
    uint32_t tags; /* GYRE_TAG_..., together; 0 is GYRE_TAG_CPU */

    /* The name of a benchmark beside which this one is measured, its floor perhaps: where that has
     * a case with the same values, both are set up at once, on one thread, and their samples are
     * taken in turns, so that the ratio of the two holds however the machine changes its pace. Each
     * is run where its own set-up has pinned the thread to. Not in a suite with a clock of its own.
     * NULL: on its own. */
    const char *beside;
} gyre_bench;

/* A clock of the suite's own, for work whose end the host does not see at once. With it, `run`
 * hands in the work and need not wait; a benchmark gets three figures: end to end (host time of
 * `run`, `end` and `read`, for one iteration; without `begin`, which may hold the device back until
 * everything is handed in), cold (device time of one iteration after `flush`) and hot (device time
 * of one in a batch), which comes first. Anything but GYRE_OK fails the case. */
typedef struct gyre_bench_clock {
    const char *name; /* "CUDA events" */
    GYRE_MUST_USE gyre_status (*begin)(void *fixture);
    GYRE_MUST_USE gyre_status (*end)(void *fixture);
    /* Waits until what was handed in before `end` is done; how long it took there since `begin`. */
    GYRE_MUST_USE gyre_status (*read)(void *fixture, double *out_ns);
    /* Empties the device's caches and waits; NULL: there is no cold figure. */
    GYRE_MUST_USE gyre_status (*flush)(void *fixture);
} gyre_bench_clock;

typedef enum gyre_health {
    GYRE_HEALTH_GOOD = 0,
    GYRE_HEALTH_WARNING = 1,  /* works, but figures may be off */
    GYRE_HEALTH_CRITICAL = 2, /* does not work */
} gyre_health;

/* Watches over what the suite's benchmarks stand on. Asked before each case; when the answer is not
 * good, `reset` is tried once, and a case for which it is still as bad as --skip-when says (default
 * critical) is skipped with the words left in `why`. */
typedef struct gyre_bench_guard {
    gyre_health (*healthy)(char *why, size_t why_size);
    GYRE_MUST_USE gyre_status (*reset)(void); /* NULL: cannot be mended */
} gyre_bench_guard;

typedef struct gyre_suite {
    size_t suite_size; /* sizeof(gyre_suite), and */
    size_t bench_size; /* sizeof(gyre_bench), set by GYRE_SUITE: an older program keeps working */
    const char *name;
    const gyre_bench *benches;
    size_t count;
    const gyre_bench_clock *clock; /* NULL: host time only */
    const gyre_bench_guard *guard; /* NULL: nothing to watch */
} gyre_suite;

/* const gyre_suite my_suite = GYRE_SUITE("queue", benches); */
/* clang-format off */
#define GYRE_SUITE(name, benches) GYRE_DEVICE_SUITE(name, benches, 0, 0)
#define GYRE_DEVICE_SUITE(name, benches, clock, guard) \
    {sizeof(gyre_suite), sizeof(gyre_bench), name, benches, \
     sizeof(benches) / sizeof(benches)[0], clock, guard}
/* clang-format on */

/* A whole benchmark program: `int main(int argc, char **argv) { return gyre_bench_main(argc, argv,
 * suites); }` with `suites` NULL-terminated. Reads the options of `gyre bench` (--help lists them),
 * measures, prints, and keeps the run under GYRE_OUT. Each group runs in a process of its own: this
 * program, started again with the same words, so what main does before must bear being done again
 * and lead to the same tables. Returns the exit status: 0 done, 1 a benchmark failed, 2 wrong
 * usage, 3 environment, 130 interrupted by SIGINT, SIGTERM or SIGHUP, whose handlers it holds
 * meanwhile, as those of SIGPIPE and SIGCHLD. One call at a time, from the main thread; blocks. */
GYRE_API int gyre_bench_main(int argc, char **argv, const gyre_suite *const *suites);

/* `return gyre_bench_refuse(GYRE_UNAVAILABLE, "no GPU here");` in a set-up: records why and returns
 * the status. Thread-safe, never blocks, not for signal handlers. */
GYRE_API gyre_status gyre_bench_refuse(gyre_status status, const char *format, ...)
    GYRE_PRINTF(2, 3);

/* The case's value on an axis, which must be one of the benchmark's (asserted; 0 otherwise).
 * Thread-safe, never blocks, may be called from a signal handler. */
GYRE_API int64_t gyre_bench_axis(const gyre_bench_case *c, const char *name);

/* The word of that value, which is the case's; NULL on an axis of numbers. Thread-safe, never
 * blocks, may be called from a signal handler. */
GYRE_API const char *gyre_bench_word(const gyre_bench_case *c, const char *name);

/* Which of the threads that run the case is calling: 0 up to their number. Thread-safe, never
 * blocks, may be called from a signal handler. */
GYRE_API uint32_t gyre_bench_thread(void);

/* Whether what goes on is recorded, for --trace. Then a suite may add spans that nobody else sees,
 * such as a device's: `name`, from `begin_ns` (gyre/clock.h) on, of `track`, whose work it is; both
 * are copied, 127 bytes of them. From set-up to teardown, by the thread that drives the case;
 * without --trace a no-op. */
GYRE_API bool gyre_bench_traced(void);
GYRE_API void gyre_bench_span(const char *track, const char *name, uint64_t begin_ns,
                              uint64_t duration_ns);

/* Report a number ("lost", 3) or a text ("kernel", "avx512") from `tell`. A name is up to 63
 * letters of ASCII; given twice it keeps the last value; 32 of them are kept. Called by the thread
 * that `tell` runs on; never block. */
GYRE_API void gyre_bench_count(gyre_bench_facts *facts, const char *name, double value);
GYRE_API void gyre_bench_note(gyre_bench_facts *facts, const char *name, const char *text);

/* Makes the compiler believe that the bytes behind `p`, and all memory that others can reach, are
 * read and written here: what `p` points to must have been computed, and must be loaded again. */
GYRE_INLINE void gyre_bench_keep(const void *p)
{
    __asm__ volatile("" : : "g"(p) : "memory");
}

GYRE_END_DECLS

#endif
