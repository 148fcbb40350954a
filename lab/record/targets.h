/* SPDX-License-Identifier: Apache-2.0
 *
 * targets: what benchmarks ought to reach, read from a file (gyre.targets/1,
 * docs/formats/targets.md).
 *
 * The reader is strict: a member it does not know, or one that has no place beside another, is an
 * error that names the target, because a target that is silently ignored passes for one that is
 * met.
 *
 * Threads   one at a time.
 * Owns      its texts and compiled expressions, until gyre_targets_destroy.
 * Not here  whether a run met them (record/attainment.h).
 */
#ifndef GYRE_RECORD_TARGETS_H
#define GYRE_RECORD_TARGETS_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "bench/arena.h"
#include "gyre/common.h"
#include "gyre/status.h"

typedef enum gyre_target_quantity {
    GYRE_TARGET_MEDIAN_NS = 0,
    GYRE_TARGET_P99_NS = 1,      /* of single calls */
    GYRE_TARGET_ITEMS_PER_S = 2, /* the rate of items, or of bytes, at the median */
    GYRE_TARGET_BYTES_PER_S = 3,
    GYRE_TARGET_ALLOCATIONS = 4, /* of one iteration */
    GYRE_TARGET_RATIO = 5,       /* the median as a multiple of that of `other` */
    GYRE_TARGET_COUNTER = 6,     /* a number that the benchmark reports about its work */
    GYRE_TARGET_MORE_NS = 7,     /* how much longer the median is than that of `other` */
} gyre_target_quantity;

typedef struct gyre_target {
    const char *id; /* of a benchmark, or an extended regular expression for whole ids */
    bool is_pattern;
    gyre_target_quantity quantity;
    const char *other;   /* ratio, more_ns: the id of the other benchmark; else NULL */
    const char *counter; /* counter: its name; else NULL */
    bool at_least;       /* else at most */
    double limit;
    const char *source; /* who says so; "" when nobody */
    const char *note;   /* one sentence; "" when there is none */
    regex_t compiled;   /* of a pattern */
} gyre_target;

typedef struct gyre_targets {
    gyre_target *items;
    size_t count;
    gyre_arena arena;
} gyre_targets;

/* Reads a text of `size` bytes; `name` is what errors call it. GYRE_CORRUPT with a sentence when it
 * is not gyre.targets/1. */
GYRE_MUST_USE gyre_status gyre_targets_parse(const char *text, size_t size, const char *name,
                                             gyre_targets **out_targets);

/* Reads a file; GYRE_IO with the reason when it cannot be read. */
GYRE_MUST_USE gyre_status gyre_targets_load(const char *path, gyre_targets **out_targets);

/* Whether the target is about the benchmark of that id. */
bool gyre_target_concerns(const gyre_target *target, const char *id);

void gyre_targets_destroy(gyre_targets *targets);

/* "median_ns", "p99_ns", ... Borrowed, static. */
const char *gyre_target_quantity_name(gyre_target_quantity quantity);

#endif
