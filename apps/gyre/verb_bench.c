/* SPDX-License-Identifier: Apache-2.0
 *
 * bench: measures Gyre's own suites. The work is lab/main/bench_main.c's.
 */
#include "main/bench_main.h"
#include "suites/suites.h"
#include "verb.h"

static int run_bench(const gyre_args *args, int argc, char **argv)
{
    return gyre_bench_run("gyre bench", args, gyre_suites, argc, argv);
}

const gyre_verb verb_bench = {
    .name = "bench",
    .operands = "[FILTER...]",
    .most_operands = GYRE_OPERANDS_MAX,
    .summary = "measure the benchmarks that match a filter, or all",
    .description =
        "A filter is an extended regular expression that is looked for in the id, "
        "group/function/value. Each benchmark is set up, warmed up, sampled, checked and torn "
        "down; the figures are the median time of one iteration with its interval. A benchmark "
        "whose check fails is reported as failed, and the exit status is 1. The run, with every "
        "sample, is kept as latest.json in the folder for results. Ctrl-C ends the run, keeps "
        "what was measured, and exits with 130.",
    .options = gyre_bench_options,
    .run = run_bench,
};
