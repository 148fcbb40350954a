/* SPDX-License-Identifier: Apache-2.0
 *
 * ab_request: the options of every verb that measures two versions, and what they ask for.
 *
 * Threads   the main thread.
 * Owns      nothing: a request points into the arguments.
 */
#ifndef GYRE_AB_REQUEST_H
#define GYRE_AB_REQUEST_H

#include <stdbool.h>

#include "base/args.h"
#include "base/topology.h"
#include "bench/filter.h"
#include "main/ab.h"

/* Rows of the verb's table; its own begin at AB_ROWS. */
enum {
    AB_SKIP,
    AB_EXACT,
    AB_COMMANDS,
    AB_MEMORY,
    AB_INSTRUCTIONS,
    AB_LIMIT,
    AB_TIMEOUT,
    AB_PIN,
    AB_SEED,
    AB_QUIET,
    AB_OUT,
    AB_ROWS,
};

/* clang-format off */
#define AB_OPTION_ROWS                                                                             \
    [AB_SKIP] = {"--skip", 0, "FILTER", "not those that match; may be given several times"},       \
    [AB_EXACT] = {"--exact", 0, NULL, "filters are whole ids, not expressions"},                   \
    [AB_COMMANDS] = {"--commands", 0, NULL,                                                        \
                     "execute OLD and NEW as they are: one execution is one sample"},              \
    [AB_MEMORY] = {"--memory", 0, NULL, "count peak memory and allocations of both sides, too"},   \
    [AB_INSTRUCTIONS] = {"--instructions", 0, NULL, "count instructions of both sides, too"},      \
    [AB_LIMIT] = {"--time-limit", 0, "T",                                                          \
                  "longest for one benchmark, both sides (default 16s; commands 60s)"},            \
    [AB_TIMEOUT] = {"--timeout", 0, "T",                                                           \
                    "end what gives no sign of life, or a command that runs, for so long (60s)"},  \
    [AB_PIN] = {"--pin", 0, "CPUS", "run on these CPUs only, like 2 or 0-3,8"},                    \
    [AB_SEED] = {"--seed", 0, "N", "of everything random (default: another one each time)"},       \
    [AB_QUIET] = {"--quiet", 0, NULL, "no progress"},                                              \
    [AB_OUT] = {"--out", 0, "DIR", "folder for results (default GYRE_OUT, gyre-out)"}
/* clang-format on */

/* A request and what it points to. */
typedef struct ab_request {
    gyre_ab_request asked;
    const char *skip[GYRE_FILTER_PATTERNS];
    gyre_cpu_set cpus;
    const char *folder; /* for results */
} ab_request;

/* Reads the common rows and the operands OLD NEW [FILTER...]. GYRE_INVALID with a sentence. */
GYRE_MUST_USE gyre_status ab_request_read(const gyre_option *options, const gyre_args *args,
                                          ab_request *out_request);

/* Whether a file can be written there, before minutes are spent on what it is to hold. GYRE_IO. */
GYRE_MUST_USE gyre_status ab_request_try(const char *path);

#endif
