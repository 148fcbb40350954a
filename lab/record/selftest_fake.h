/* SPDX-License-Identifier: Apache-2.0
 *
 * selftest_fake: self-tests that nobody made, for tests.
 */
#ifndef GYRE_RECORD_SELFTEST_FAKE_H
#define GYRE_RECORD_SELFTEST_FAKE_H

#include <stdlib.h>

#include "record/run_fake.h"
#include "record/selftest.h"

/* Of nowhere, without trials. */
static inline gyre_selftest *fake_selftest(gyre_selftest_mode mode, size_t trials)
{
    gyre_selftest *selftest;
    gyre_run *head;

    if (gyre_run_create_blank(0, &head) != GYRE_OK)
        abort();
    fake_head(head);
    head->interrupted = false;
    head->duration_s = 100;
    if (gyre_selftest_create(mode, trials, head, &selftest) != GYRE_OK)
        abort();
    selftest->seed = 0xfedcba987654321;
    selftest->rule = (gyre_rule){.margin = 0.01, .alpha = 0.01};
    return selftest;
}

static inline size_t fake_row(gyre_selftest_workload workload, gyre_selftest_kind kind)
{
    return (size_t)workload * GYRE_SELFTEST_KINDS + (size_t)kind;
}

/* `count` trials of one row that end alike; `second` matters for slower and faster. */
static inline void fake_trials(gyre_selftest *selftest, size_t row, size_t count,
                               gyre_ab_verdict verdict, gyre_ab_verdict second)
{
    for (size_t i = 0; i < count; i++) {
        const gyre_selftest_trial trial = {
            .row = row,
            .seed = 1000 + i,
            .verdict = verdict,
            .repeated = verdict == GYRE_AB_SLOWER || verdict == GYRE_AB_FASTER,
            .second = second,
            .change = 0.001 * (double)(i + 1),
            .sd = 0.002,
            .mde = 0.011 + 0.0001 * (double)(i % 5),
            .launches = 8,
            .seconds = 0.5 + 0.125 * (double)(i % 3),
        };

        gyre_selftest_add(selftest, &trial);
    }
}

/* As it should be in every row, all the planned trials, with instructions counted. */
static inline void fake_success(gyre_selftest *selftest)
{
    for (size_t i = 0; i < GYRE_SELFTEST_ROWS; i++) {
        gyre_selftest_row *row = &selftest->rows[i];
        const unsigned extra = gyre_selftest_extra(row->kind);
        const gyre_ab_verdict verdict = extra == 0     ? GYRE_AB_EQUIVALENT
                                        : extra == 100 ? GYRE_AB_UNDECIDED
                                                       : GYRE_AB_SLOWER;

        if (extra > 0) {
            row->proof.known = true;
            row->proof.old_value = 40005;
            row->proof.new_value = 40005 * (1 + (double)extra / GYRE_SELFTEST_PARTS);
        }
        fake_trials(selftest, i, row->planned, verdict, verdict);
    }
}

#endif
