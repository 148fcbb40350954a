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
    const char *suite; /* its name, and what it handed in */
    const gyre_bench_clock *clock;
    const gyre_bench_guard *guard;
    gyre_bench bench; /* a copy: the suite's entry may be of an older, shorter type */
    int64_t values[GYRE_BENCH_AXES];
    const char *words[GYRE_BENCH_AXES]; /* NULL where the value is a number */
    char id[GYRE_CASE_ID_BYTES];        /* "group/function/value/value" */
    const gyre_bench_case *beside;      /* with which it takes turns, wanted or not; NULL: nobody */
};

typedef struct gyre_case_list {
    gyre_bench_case *cases;
    size_t count;
    gyre_bench_case *others; /* beside which some of them are measured */
    size_t other_count;
} gyre_case_list;

/* Which cases are wanted. Zero is all of them. */
typedef struct gyre_case_choice {
    const char *const *patterns; /* see bench/filter.h */
    size_t pattern_count;
    const char *const *skip; /* likewise: not these */
    size_t skip_count;
    const char *const *axes; /* see bench/axis.h: values in place of declared ones */
    size_t axis_count;
    const char *suite; /* only this suite; NULL is any */
    bool exact;        /* patterns are whole ids, compared letter by letter */
} gyre_case_choice;

/* Expands `suites` (NULL-terminated) in declared order and keeps what is wanted. A benchmark that
 * has no value of those that were chosen for its axis is left out. GYRE_INVALID names
 * what is wrong: an entry without a required field, two cases with one id, a malformed pattern or
 * axis, a value that no benchmark has. GYRE_NOT_FOUND when suites hold cases and none of them is
 * wanted. */
GYRE_MUST_USE gyre_status gyre_case_list_create(const gyre_suite *const *suites,
                                                const gyre_case_choice *choice,
                                                gyre_case_list **out_list);
void gyre_case_list_destroy(gyre_case_list *list);

/* How many cases are measured: those of the list, and with each that takes turns another one. */
size_t gyre_case_list_measured(const gyre_case_list *list);

/* Sorts the ids; one that is there twice, or NULL. */
const char *gyre_ids_twin(const char **ids, size_t count);

/* How many bytes of an id name its group: those before the first '/'. */
size_t gyre_case_group_length(const char *id);

/* Where in the list the case's group first appears. */
size_t gyre_case_group_first(const gyre_case_list *list, size_t index);

#endif
