/* SPDX-License-Identifier: Apache-2.0
 *
 * filter: which cases are wanted.
 *
 * A pattern is an extended regular expression that is looked for in the id, or a whole id, or
 * `tag:cpu`, `tag:gpu`, `tag:slow`. A case is wanted when one of the patterns matches, or there are
 * none, and no pattern of `skip` does.
 *
 * Threads   any number may ask one filter.
 * Owns      the compiled expressions, until gyre_filter_fini.
 */
#ifndef GYRE_BENCH_FILTER_H
#define GYRE_BENCH_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/status.h"

enum { GYRE_FILTER_PATTERNS = 64 };

typedef struct gyre_pattern_list {
    const char *const *text; /* borrowed for as long as the filter lives */
    size_t count;            /* at most GYRE_FILTER_PATTERNS */
    regex_t compiled[GYRE_FILTER_PATTERNS];
    bool is_compiled[GYRE_FILTER_PATTERNS]; /* the others are compared as they are */
} gyre_pattern_list;

typedef struct gyre_filter {
    gyre_pattern_list wanted, skipped;
} gyre_filter;

/* Compiles the patterns; with `exact` those of `wanted` are whole ids. GYRE_INVALID with a sentence
 * for a malformed one, and then there is nothing to fini. */
GYRE_MUST_USE gyre_status gyre_filter_init(gyre_filter *filter, const char *const *wanted,
                                           size_t wanted_count, bool exact,
                                           const char *const *skipped, size_t skipped_count);
GYRE_MUST_USE bool gyre_filter_wants(const gyre_filter *filter, const char *id, uint32_t tags);
void gyre_filter_fini(gyre_filter *filter);

#endif
