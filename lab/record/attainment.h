/* SPDX-License-Identifier: Apache-2.0
 *
 * attainment: whether a run met a target.
 *
 * Met is only what is met with the whole of its interval, and missed what is missed with the whole
 * of it; when the limit lies inside, the run does not tell. The interval of a ratio reaches from
 * the one benchmark's low over the other's high to its high over the other's low: wider than it
 * need be, never narrower.
 *
 * Threads   any; pure.
 * Owns      nothing.
 * Not here  reading targets (record/targets.h), printing (report/targets_table.h).
 */
#ifndef GYRE_RECORD_ATTAINMENT_H
#define GYRE_RECORD_ATTAINMENT_H

#include "bench/result.h"
#include "gyre/common.h"
#include "record/run.h"
#include "record/targets.h"

typedef enum gyre_attained {
    GYRE_ATTAINED_MET = 0,
    GYRE_ATTAINED_MISSED = 1,
    GYRE_ATTAINED_UNCLEAR = 2, /* the limit lies inside the interval */
    GYRE_ATTAINED_NOT_MEASURED = 3,
} gyre_attained;

typedef struct gyre_attainment {
    gyre_attained attained;
    double point, low, high; /* in the unit of the limit; 0 when not measured */
    const char *why;         /* not measured: borrowed, static; else NULL */
    const char *reason;      /* more of it, borrowed from the run; NULL when there is none */
} gyre_attainment;

/* What the result, which is one of the run's, says about the target; NULL: the run has none. */
gyre_attainment gyre_attainment_judge(const gyre_target *target, const gyre_run *run,
                                      const gyre_result *result);

/* "met", "missed", "unclear", "not measured". Borrowed, static. */
const char *gyre_attained_name(gyre_attained attained);

#endif
