/* SPDX-License-Identifier: Apache-2.0
 *
 * case: the combinations of axis values that tables of benchmarks stand for, and choosing among
 * them.
 *
 * Threads   none of its own; a list is immutable once made.
 * Owns      the list. Borrows the suites, which are static.
 * Not here  running a case (bench/measure.h).
 */
#ifndef GYRE_BENCH_CASE_H
#define GYRE_BENCH_CASE_H

#include <stdbool.h>
#include <stddef.h>

#include "gyre/bench.h"
#include "gyre/common.h"
#include "gyre/status.h"

enum { GYRE_CASE_ID_BYTES = 192 };

struct gyre_bench_case {
    const gyre_suite *suite;
    gyre_bench bench; /* a copy: the suite's entry may be of an older, shorter type */
    int64_t values[GYRE_BENCH_AXES];
    char id[GYRE_CASE_ID_BYTES]; /* "group/function/value/value" */
};

typedef struct gyre_case_list {
    gyre_bench_case *cases;
    size_t count;
} gyre_case_list;

/* Which cases are wanted. Zero is all of them. */
typedef struct gyre_case_filter {
    const char *const *patterns; /* wanted when one of them matches; extended regular expressions */
    size_t pattern_count;
    const char *suite; /* only this suite; NULL is any */
    bool exact;        /* patterns are whole ids, compared letter by letter */
} gyre_case_filter;

/* Expands `suites` (NULL-terminated) in declared order and keeps what the filter wants.
 * GYRE_INVALID names what is wrong: an entry without a required field, two cases with one id, a
 * malformed pattern. GYRE_NOT_FOUND when suites hold cases and the filter wants none of them. */
GYRE_MUST_USE gyre_status gyre_case_list_create(const gyre_suite *const *suites,
                                                const gyre_case_filter *filter,
                                                gyre_case_list **out_list);
void gyre_case_list_destroy(gyre_case_list *list);

#endif
