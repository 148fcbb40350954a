/* SPDX-License-Identifier: Apache-2.0
 *
 * schedule: in which order cases are visited, and which of them share a process.
 *
 * Cases of one group (the part of the id before the first '/') stay together.
 *
 * Threads   any; on the caller's data.
 * Owns      nothing.
 */
#ifndef GYRE_BENCH_SCHEDULE_H
#define GYRE_BENCH_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "bench/case.h"
#include "gyre/common.h"
#include "gyre/status.h"

typedef enum gyre_order {
    GYRE_ORDER_DECLARED = 0, /* groups as they first appear */
    GYRE_ORDER_LIGHT = 1,  /* CPU before GPU, slow ones last; then by the largest value on an axis,
                            * which is how much work a case is: little first */
    GYRE_ORDER_RANDOM = 2, /* groups, and cases in them, by the seed */
} gyre_order;

typedef enum gyre_isolation {
    GYRE_ISOLATE_GROUP = 0, /* a process for each group */
    GYRE_ISOLATE_BENCH = 1, /* a process for each case */
    GYRE_ISOLATE_NONE = 2,  /* all in this process */
} gyre_isolation;

/* Reorders the list. GYRE_NO_MEMORY, and then it is as it was. */
GYRE_MUST_USE gyre_status gyre_schedule(gyre_case_list *list, gyre_order order, uint64_t seed);

/* How many cases from `first` on share a process. */
size_t gyre_schedule_share(const gyre_case_list *list, size_t first, gyre_isolation isolation);

/* "declared", "light", "random"; "group", "bench", "none". Borrowed, static. */
const char *gyre_order_name(gyre_order order);
const char *gyre_isolation_name(gyre_isolation isolation);

#endif
