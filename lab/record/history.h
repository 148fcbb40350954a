/* SPDX-License-Identifier: Apache-2.0
 *
 * history: every run that was kept, in one SQLite file, FOLDER/history.db
 * (docs/formats/history.md).
 *
 * Adding a run is one transaction: it is there whole, or not at all, whatever ends the process and
 * whoever else is writing. Reading trusts nothing in the file: what is not of its type is unknown.
 * A file that is not ours, newer than us or damaged is told about and left as it is.
 *
 * Threads   one for each open history; other processes at any time.
 * Owns      the open file. Lists own what they hold, until their fini.
 * Not here  what a series says (record/trend.h), tables and charts (report/).
 */
#ifndef GYRE_RECORD_HISTORY_H
#define GYRE_RECORD_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "bench/arena.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "record/run.h"

typedef struct gyre_history gyre_history;

enum { GYRE_MACHINE_KEY_BYTES = 9 }; /* eight hexadecimal digits, terminated */

typedef enum gyre_history_use {
    GYRE_HISTORY_READ,  /* it must be there */
    GYRE_HISTORY_WRITE, /* it is made when missing */
} gyre_history_use;

/* Texts that are not known are NULL, numbers NAN, counts 0. */
typedef struct gyre_history_run {
    uint64_t number; /* from 1, in the order in which runs were kept */
    time_t started;
    double duration_s;
    bool interrupted;
    const char *gyre, *build;
    const char *command, *options, *settings; /* JSON */
    const char *commit, *branch;
    bool dirty;
    const char *machine, *cpu, *hypervisor, *kernel; /* `machine` is the key */
    uint64_t cpus, allowed_cpus, memory_bytes;
    uint64_t results, measured, failed; /* how many */
} gyre_history_run;

/* One benchmark in one run. */
typedef struct gyre_history_point {
    uint64_t run;
    time_t started; /* the run */
    const char *commit;
    bool dirty;
    const char *machine;
    uint64_t position; /* in the run, from 1 */
    const char *id, *suite, *outcome, *reason;
    double median_ns, low_ns, high_ns, coverage, min_ns, mean_ns, std_dev_ns;
    uint64_t samples, threads;
    const char *device, *device_clock;
    double cold_ns, hot_ns; /* medians */
    uint64_t peak_rss_bytes;
    double allocations, allocated_bytes, instructions;
} gyre_history_point;

typedef struct gyre_history_runs {
    gyre_history_run *run;
    size_t count;
    gyre_arena arena;
} gyre_history_runs;

typedef struct gyre_history_points {
    gyre_history_point *point;
    size_t count;
    gyre_arena arena;
} gyre_history_points;

/* What is asked for. Zero is everything. */
typedef struct gyre_history_query {
    const char *machine; /* only runs on it */
    time_t since;        /* only runs that started then or later */
    uint64_t run;        /* only this one */
    uint64_t from;       /* only this one and later ones */
    const char *id;      /* only this benchmark */
    bool measured;       /* only points with a median above 0 */
    size_t most;         /* the newest so many */
} gyre_history_query;

/* What a column holds, for those who print or keep all of them. */
typedef enum gyre_history_kind {
    GYRE_HISTORY_TEXT,
    GYRE_HISTORY_REAL,
    GYRE_HISTORY_COUNT,
    GYRE_HISTORY_FLAG,
    GYRE_HISTORY_MOMENT,
} gyre_history_kind;

typedef struct gyre_history_column {
    const char *name;   /* NULL behind the last */
    const char *source; /* as SQL has it */
    gyre_history_kind kind;
    size_t offset; /* in the struct */
} gyre_history_column;

extern const gyre_history_column gyre_history_run_columns[];
extern const gyre_history_column gyre_history_point_columns[];

/* Runs with the same key may be compared: the same processor, as often, under the same hypervisor.
 */
void gyre_machine_key(const gyre_run_machine *machine, char key[GYRE_MACHINE_KEY_BYTES]);

/* Opens FOLDER/history.db. Whoever holds a lock on it is waited for, here and in all that follows,
 * up to `wait_ns` (0: 10 s). GYRE_NOT_FOUND when it is to be read and is not there, GYRE_CORRUPT
 * when it is damaged or not ours, GYRE_UNSUPPORTED when a newer Gyre made it, GYRE_IO when it is
 * locked or cannot be opened, GYRE_NO_MEMORY; each with what to do. */
GYRE_MUST_USE gyre_status gyre_history_open(const char *folder, gyre_history_use use,
                                            uint64_t wait_ns, gyre_history **out_history);
void gyre_history_close(gyre_history *history);

/* Adds the run; `out_number` is what it is called from now on. Safe on disk on return. Statuses as
 * above, and then the history is as it was. */
GYRE_MUST_USE gyre_status gyre_history_add(gyre_history *history, const gyre_run *run,
                                           uint64_t *out_number);

/* The number of a run that started then, on that machine, and took as long: the same run. 0: none.
 */
GYRE_MUST_USE gyre_status gyre_history_find(gyre_history *history, const gyre_run *run,
                                            uint64_t *out_number);

/* Runs, oldest first; `id` and `measured` mean nothing here. Statuses as above; the list is empty
 * then, and needs no fini. */
GYRE_MUST_USE gyre_status gyre_history_list(gyre_history *history, const gyre_history_query *query,
                                            gyre_history_runs *out_runs);
void gyre_history_runs_fini(gyre_history_runs *runs);

/* Points, oldest first and in the order of their run. Likewise. */
GYRE_MUST_USE gyre_status gyre_history_series(gyre_history *history,
                                              const gyre_history_query *query,
                                              gyre_history_points *out_points);
void gyre_history_points_fini(gyre_history_points *points);

/* The ids of all benchmarks, each once, in alphabetical order, as points without anything else. */
GYRE_MUST_USE gyre_status gyre_history_ids(gyre_history *history, gyre_history_points *out_ids);

#endif
