/* SPDX-License-Identifier: Apache-2.0
 *
 * supervise: gets every case of a list visited, each group in a process of its own, and comes back
 * with a result for each, whatever becomes of the processes.
 *
 * A case that crashes, hangs or ends its process fails with that reason and its last words; the
 * cases after it go on in a fresh process. Memory and instructions are counted in further
 * processes, so that counting does not disturb the clock.
 *
 * Threads   one.
 * Owns      the processes it starts, for as long as it runs.
 * Not here  one process (main/worker.h), what happens in it (main/serve.h).
 */
#ifndef GYRE_MAIN_SUPERVISE_H
#define GYRE_MAIN_SUPERVISE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/topology.h"
#include "bench/case.h"
#include "bench/method.h"
#include "bench/result.h"
#include "bench/schedule.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "main/program.h"

typedef struct gyre_supervision {
    const gyre_case_list *list;  /* in the order of the schedule */
    const gyre_program *program; /* whose list it is; NULL: this one */
    const gyre_method *method;
    gyre_isolation isolation;
    bool memory, instructions; /* to be counted too */
    uint64_t timeout_ns;       /* longest without a sign of life; 0 any */
    uint64_t cooldown_ns;      /* between groups */
    const gyre_cpu_set *cpus;  /* that cases may run on; NULL all */
    const volatile sig_atomic_t *interrupted;

    /* Told what goes on in which case of the list, and ten times a second that it still does
     * (phase NULL). */
    void (*progress)(void *user, size_t index, const char *phase, size_t phase_length,
                     uint64_t left_ns);
    void (*result)(void *user, gyre_result *result); /* takes it over */
    /* Given what was recorded of a case: an array of trace events, unread. NULL: nothing is. */
    void (*trace)(void *user, const char *json, size_t length, uint64_t lost);
    void (*output)(void *user, const char *bytes, size_t length); /* what benchmarks print */
    bool hide_output; /* stdout is for programs: in this process, prints go to stderr */
    void *user;
    const struct gyre_orphans *orphans; /* these two are set by gyre_supervise itself */
    const struct gyre_guardian *guardian;
} gyre_supervision;

/* Visits all of them, or up to the interrupt. GYRE_NO_MEMORY or GYRE_IO with the reason when
 * nothing can go on; results until then have been given. */
GYRE_MUST_USE gyre_status gyre_supervise(const gyre_supervision *given);

/* The same for one case alone. */
GYRE_MUST_USE gyre_status gyre_supervise_one(const gyre_supervision *given, size_t index);

#endif
