/* SPDX-License-Identifier: Apache-2.0
 *
 * selftest: lets the judge compare programs whose difference is known, again and again.
 *
 * First the work that was added is counted, then trials of all rows are taken in random order, each
 * as `gyre ab` would take it.
 *
 * Threads   one.
 * Owns      the processes it starts, for as long as it runs.
 * Not here  what the trials show (record/selftest.h), the programs (lab/workload/).
 */
#ifndef GYRE_MAIN_SELFTEST_H
#define GYRE_MAIN_SELFTEST_H

#include <signal.h>
#include <stdio.h>

#include "gyre/common.h"
#include "gyre/status.h"
#include "record/selftest.h"

typedef struct gyre_selftest_request {
    const char *workload, *relinked; /* paths of the two programs */
    FILE *progress; /* a line is drawn there when it is a terminal, else one printed now and then;
                     * NULL: none */
    const volatile sig_atomic_t *interrupted;
} gyre_selftest_request;

/* Takes the trials that are planned. A seed of 0 is replaced by one that is drawn. What cannot be
 * counted is a reason in its row; a workload that fails ends it: GYRE_CORRUPT; else as
 * gyre_ab_measure. An interrupt is no failure: the trials until then are there, and
 * selftest->head->interrupted says so. */
GYRE_MUST_USE gyre_status gyre_selftest_measure(const gyre_selftest_request *request,
                                                gyre_selftest *selftest);

#endif
