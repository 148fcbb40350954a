/* SPDX-License-Identifier: Apache-2.0
 *
 * listing: which cases a program says it has, as it is told to the one that will compare it.
 *
 * A line for each: "THREADS TAGS ID CLOCK", numbers and words, the clock to the end of the line.
 * The reader trusts nothing: the program is somebody's.
 *
 * Threads   one.
 * Owns      the cases, until gyre_listing_fini.
 */
#ifndef GYRE_MAIN_LISTING_H
#define GYRE_MAIN_LISTING_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/case.h"
#include "gyre/common.h"
#include "gyre/status.h"

enum { GYRE_LISTING_MOST = 10000, GYRE_CLOCK_NAME_BYTES = 64 };

typedef struct gyre_listed {
    char id[GYRE_CASE_ID_BYTES];
    char clock[GYRE_CLOCK_NAME_BYTES]; /* "host", or the name of the suite's own */
    uint32_t threads, tags;
} gyre_listed;

typedef struct gyre_listing {
    gyre_listed *cases;
    size_t count;
    uint64_t hash; /* gyre_serve_hash of the ids */
} gyre_listing;

/* Errors stay in the stream. Calls the suites' `threads`. */
void gyre_listing_write(FILE *stream, const gyre_case_list *list);

/* GYRE_CORRUPT with a sentence when it is no list of `count` cases with ids of their own. There is
 * something to fini only when it succeeds. */
GYRE_MUST_USE gyre_status gyre_listing_parse(const char *text, size_t length, uint64_t count,
                                             gyre_listing *out_listing);
void gyre_listing_fini(gyre_listing *listing);

/* The case of that id, or NULL. */
const gyre_listed *gyre_listing_find(const gyre_listing *listing, const char *id);

#endif
