/* SPDX-License-Identifier: Apache-2.0
 *
 * command: what a command says it has, and how long one execution of it takes.
 *
 * Any command may be asked: one that is built with the lab finds an order in its environment and
 * lists its benchmarks; any other does what it always does, once.
 *
 * Threads   one.
 * Owns      the process, for as long as a call lasts.
 * Not here  pairs that take turns (main/pair.h).
 */
#ifndef GYRE_MAIN_COMMAND_H
#define GYRE_MAIN_COMMAND_H

#include <stdbool.h>

#include "base/topology.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "main/listing.h"
#include "main/pair.h"
#include "main/program.h"

/* Asks for its benchmarks. When it lists none (`out_listing->count` is 0), it is not built with the
 * lab, and `out_fate` tells how its execution ended. GYRE_CORRUPT when its list makes no sense,
 * GYRE_CANCELLED when the user stopped it, GYRE_UNAVAILABLE when it had to be ended,
 * GYRE_IO, GYRE_NO_MEMORY. */
GYRE_MUST_USE gyre_status gyre_command_ask(const gyre_program *program,
                                           const gyre_overseer *overseer, gyre_listing *out_listing,
                                           gyre_fate *out_fate);

/* Executes it once, on these CPUs (NULL: any): from before the process is made until its end is
 * seen. A status other than 0 is a failure. */
GYRE_MUST_USE gyre_status gyre_command_time(const gyre_program *program,
                                            const gyre_overseer *overseer, const gyre_cpu_set *cpus,
                                            double *out_ns, gyre_fate *out_fate);

#endif
