/* SPDX-License-Identifier: Apache-2.0
 *
 * bench: measures Gyre's own suites. The work is lab/main/bench_main.c's.
 */
#include "behaviour_bench.h"
#include "main/bench_main.h"
#include "main/options.h"
#include "suites/actor_targets.h"
#include "suites/interactive_targets.h"
#include "suites/seed_targets.h"
#include "suites/suites.h"
#include "verb.h"

static const gyre_named_targets named_targets[] = {
    {"seeds", gyre_seed_targets},
    {"actors", gyre_actor_targets},
    {"interactive", gyre_interactive_targets},
    {NULL, NULL},
};

static int run_bench(const gyre_args *args, int argc, char **argv)
{
    const gyre_bench_program program = {
        .name = "gyre bench",
        .suites = gyre_suites,
        .named_targets = named_targets,
        .behaviour = behaviour_bench,
        .argc = argc,
        .argv = argv,
    };

    return gyre_bench_run(&program, args);
}

const gyre_verb verb_bench = {
    .name = "bench",
    .operands = "[FILTER...]",
    .most_operands = GYRE_OPERANDS_MAX,
    .summary = "measure the benchmarks that match a filter, or all",
    .description =
        "A filter is an extended regular expression that is looked for in the id, "
        "group/function/value, or tag:cpu, tag:gpu, tag:slow. Each benchmark is set up, warmed up, "
        "sampled, checked and torn down, each group in a process of its own; the figures are the "
        "median time of one iteration with its interval. A benchmark that crashes, hangs or whose "
        "answer is wrong is reported as failed with its reason, the others are measured, and the "
        "exit status is 1. The run, with every sample, is kept as latest.json in the folder for "
        "results, compared with the baseline 'base', put in its place, added to the history, "
        "and shown in an HTML report. With --behaviour a C file is compiled with cc, or CC, and "
        "its behaviour launched as an actor on the CPU, the first GPU of CUDA and the first device "
        "of OpenCL, as far as they are there; --axis device=cpu chooses. "
        "Calls one by one, calls and messages in bulk are timed beside those of an echo of the "
        "same width; a call that does not come back, or fails, fails the benchmark. Ctrl-C ends "
        "the "
        "run, keeps what was measured, and exits with "
        "130.",
    .options = gyre_bench_options,
    .run = run_bench,
};
