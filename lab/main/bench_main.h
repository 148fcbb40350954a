/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_main: the benchmark command line, shared by `gyre bench` and gyre_bench_main.
 *
 * Threads   the main thread; holds the handlers of SIGINT and SIGTERM while it runs.
 * Owns      the run, from the first case to the file.
 * Not here  the options (main/options.h), the processes (main/supervise.h), the formats (report/).
 */
#ifndef GYRE_MAIN_BENCH_MAIN_H
#define GYRE_MAIN_BENCH_MAIN_H

#include "base/args.h"
#include "gyre/bench.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "main/options.h"

/* A table of targets that a program brings along. */
typedef struct gyre_named_targets {
    const char *name; /* what --targets calls it; NULL: no more */
    const char *text; /* JSON */
} gyre_named_targets;

typedef struct gyre_bench_program {
    const char *name; /* begins error messages */
    const gyre_suite *const *suites;
    const gyre_named_targets *named_targets; /* NULL: none */
    /* The suites for `--behaviour`, which are the only ones then. NULL: there is no such option.
     * GYRE_BUILD when it does not compile; the sentence is printed. */
    gyre_status (*behaviour)(const gyre_behaviour_request *request,
                             const gyre_suite *const **out_suites);
    int argc; /* the whole command line, for the record */
    char *const *argv;
} gyre_bench_program;

/* Does what the arguments ask for. Returns an exit status. */
int gyre_bench_run(const gyre_bench_program *program, const gyre_args *args);

#endif
