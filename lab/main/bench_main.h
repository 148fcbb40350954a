/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_main: the benchmark command line, shared by `gyre bench` and gyre_bench_main.
 *
 * Threads   the main thread; holds the handlers of SIGINT and SIGTERM while it runs.
 * Owns      the run, from the first case to the file.
 * Not here  the sampling (bench/measure.c), the text (report/terminal.c), the file (record/run.c).
 */
#ifndef GYRE_MAIN_BENCH_MAIN_H
#define GYRE_MAIN_BENCH_MAIN_H

#include <stddef.h>

#include "base/args.h"
#include "gyre/bench.h"

/* The options, for whoever parses or prints them. */
extern const gyre_option gyre_bench_options[];

/* Does what the arguments ask for. `program` begins error messages; argv, for the record, is the
 * whole command line. Returns an exit status. */
int gyre_bench_run(const char *program, const gyre_args *args, const gyre_suite *const *suites,
                   int argc, char *const *argv);

#endif
