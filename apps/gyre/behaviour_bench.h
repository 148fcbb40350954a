/* SPDX-License-Identifier: Apache-2.0
 *
 * behaviour_bench: the suite of `gyre bench --behaviour FILE`.
 *
 * The process that the user starts compiles the file and never loads it; those that it starts have
 * the library by a descriptor, whose number is the setting GYRE_BEHAVIOUR, and load it when the
 * first case is set up. A list compiles nothing.
 *
 * Threads   the main thread.
 * Owns      the library, until the process ends.
 */
#ifndef GYRE_BEHAVIOUR_BENCH_H
#define GYRE_BEHAVIOUR_BENCH_H

#include "main/options.h"

#include "gyre/bench.h"
#include "gyre/common.h"
#include "gyre/status.h"

/* As gyre_bench_program's `behaviour`. */
GYRE_MUST_USE gyre_status behaviour_bench(const gyre_behaviour_request *request,
                                          const gyre_suite *const **out_suites);

#endif
