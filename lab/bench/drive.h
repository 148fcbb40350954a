/* SPDX-License-Identifier: Apache-2.0
 *
 * drive: a case that is set up, and the one place where its `run` is called and timed.
 *
 * Knows batches that are prepared untimed, teams of threads and the suite's own clock; how often
 * and how long to run is decided by the callers.
 *
 * Threads   one; a team's threads run inside a call.
 * Owns      nothing: bench/measure.c sets up and tears down.
 * Not here  sampling (bench/sample.h), percentiles (bench/latency.h).
 */
#ifndef GYRE_BENCH_DRIVE_H
#define GYRE_BENCH_DRIVE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/case.h"
#include "bench/team.h"
#include "gyre/common.h"
#include "gyre/status.h"

/* What is going on, and how long it will probably take; 0 when that is not known. */
typedef void gyre_progress(void *user, const char *phase, uint64_t left_ns);

typedef struct gyre_drive {
    const gyre_bench_case *c;
    void *fixture;
    gyre_team *team;                  /* NULL: the calling thread alone */
    const struct gyre_turns *turns;   /* with another process; NULL: nobody there */
    const struct gyre_beside *beside; /* with another case; NULL: nobody */
    uint64_t iterations;              /* all, since set-up: what `check` is told */
    bool untimed;                     /* its runs return at once: see gyre_sample_warm_up */
    uint64_t (*now_ns)(void);
    gyre_progress *progress; /* NULL: nobody listens */
    void *user;
    const volatile sig_atomic_t *interrupted; /* NULL: never */
} gyre_drive;

/* Runs `iterations`, prepared in batches where the benchmark asks for it; the time spent in `run`.
 */
uint64_t gyre_drive_run(gyre_drive *drive, uint64_t iterations);

/* The same in pieces: how many of `iterations` make a batch, what prepares one, and its run. */
uint64_t gyre_drive_batch(const gyre_drive *drive, uint64_t iterations);
void gyre_drive_prepare(gyre_drive *drive, uint64_t iterations);
uint64_t gyre_drive_run_prepared(gyre_drive *drive, uint64_t iterations);

/* Which of its figures the suite's clock is asked for. */
typedef enum gyre_clocked {
    GYRE_CLOCKED_END_TO_END, /* host time: handed in, done, seen */
    GYRE_CLOCKED_HOT,        /* device time */
    GYRE_CLOCKED_COLD,       /* device time, caches emptied before */
} gyre_clocked;

/* The same by the suite's clock. Whatever its calls return. */
GYRE_MUST_USE gyre_status gyre_drive_clocked(gyre_drive *drive, uint64_t iterations,
                                             gyre_clocked figure, double *out_ns);

/* Whether the user wants to stop. */
static inline bool gyre_drive_stopped(const gyre_drive *drive)
{
    return drive->interrupted && *drive->interrupted;
}

static inline void gyre_drive_tell(const gyre_drive *drive, const char *phase, uint64_t left_ns)
{
    if (drive->progress)
        drive->progress(drive->user, phase, left_ns);
}

#endif
