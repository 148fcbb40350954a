/* SPDX-License-Identifier: Apache-2.0
 *
 * tally: what one benchmark of a program uses besides time: memory and instructions.
 *
 * Each is counted in a process of its own, once: unlike times, counts hardly differ from one
 * process to the next.
 *
 * Threads   one.
 * Owns      the processes, for as long as a call lasts.
 * Not here  what a difference means (record/gate.h).
 */
#ifndef GYRE_MAIN_TALLY_H
#define GYRE_MAIN_TALLY_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/topology.h"
#include "bench/baton.h"
#include "bench/result.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "main/listing.h"
#include "main/program.h"
#include "record/ab.h"

typedef struct gyre_tally_request {
    const gyre_program *program;
    const gyre_listing *listing; /* what it has (main/command.h) */
    bool memory, instructions;
    uint64_t timeout_ns;      /* longest without a sign of life; 0 any */
    const gyre_cpu_set *cpus; /* NULL: any */
    const volatile sig_atomic_t *interrupted;
} gyre_tally_request;

/* Counts the case at `index` of the listing. What could not be counted is a warning of the result,
 * or its outcome is not GYRE_OUTCOME_CHECKED. The result is the caller's to fini, when this
 * succeeds. GYRE_IO, GYRE_NO_MEMORY; GYRE_CANCELLED when the user stopped it. */
GYRE_MUST_USE gyre_status gyre_tally(const gyre_tally_request *request, size_t index,
                                     gyre_result *out_result);

/* Counts the same case of both programs into its benchmark: what was counted on both sides, and
 * warnings about the rest. As gyre_tally. */
GYRE_MUST_USE gyre_status gyre_tally_both(const gyre_tally_request requests[GYRE_SIDES],
                                          const size_t indices[GYRE_SIDES], gyre_ab *ab,
                                          gyre_ab_bench *bench);

#endif
