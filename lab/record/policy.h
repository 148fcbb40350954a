/* SPDX-License-Identifier: Apache-2.0
 *
 * policy: how much worse a new version may be, read from a file (gyre.gate/1,
 * docs/formats/gate.md).
 *
 * The first rule whose pattern matches an id decides about that benchmark, alone and wholly; where
 * none does, the defaults hold. The reader is strict: a member that it does not know is an error,
 * because a margin that is silently ignored passes for one that is kept.
 *
 * Threads   any number may ask one policy.
 * Owns      its texts and compiled expressions, until gyre_policy_destroy.
 * Not here  whether a measurement is within it (record/gate.h).
 */
#ifndef GYRE_RECORD_POLICY_H
#define GYRE_RECORD_POLICY_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "bench/arena.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "record/ab.h"

enum { GYRE_POLICY_RULES = 1000 }; /* at most */

typedef enum gyre_gated {
    GYRE_GATED_TIME = 0,
    GYRE_GATED_MEMORY = 1,
    GYRE_GATED_INSTRUCTIONS = 2,
    GYRE_GATED = 3,
} gyre_gated;

/* Relative: 0.05 is 5 % more. Never `warn` above `fail`. */
typedef struct gyre_margins {
    bool asked;
    double warn, fail;
} gyre_margins;

typedef struct gyre_policy_rule {
    const char *pattern; /* looked for in ids; "" for the defaults */
    regex_t compiled;
    bool ignore; /* these benchmarks are not gated at all */
    gyre_margins margins[GYRE_GATED];
} gyre_policy_rule;

typedef enum gyre_policy_act {
    GYRE_POLICY_WARN = 0,
    GYRE_POLICY_IGNORE = 1,
    GYRE_POLICY_FAIL = 2,
} gyre_policy_act;

typedef struct gyre_policy {
    gyre_policy_act on_undecided; /* the launches do not say whether a margin is kept */
    gyre_policy_act on_missing;   /* the new version lacks it, or it was skipped */
    gyre_policy_rule *rules;      /* of these, the first that matches */
    size_t rule_count;
    gyre_policy_rule otherwise;
    gyre_arena arena;
} gyre_policy;

/* The defaults: time 5 and 10 %, the rest not asked for. */
GYRE_MUST_USE gyre_status gyre_policy_create(gyre_policy **out_policy);

/* Reads a file, or a text that errors call `name`. GYRE_NOT_FOUND, GYRE_IO, GYRE_CORRUPT with the
 * member, GYRE_UNSUPPORTED, GYRE_NO_MEMORY. */
GYRE_MUST_USE gyre_status gyre_policy_read(const char *path, gyre_policy **out_policy);
GYRE_MUST_USE gyre_status gyre_policy_parse(const char *bytes, size_t length, const char *name,
                                            gyre_policy **out_policy);

/* An id of a list, or NULL behind its end. */
typedef const char *gyre_id_at(const void *list, size_t index);

/* GYRE_INVALID when a pattern matches no id of the list, with the one that was probably meant. */
GYRE_MUST_USE gyre_status gyre_policy_check(const gyre_policy *policy, gyre_id_at *id_at,
                                            const void *list);

/* The lists: a measurement's (gyre_ab), of both sides, and a run's (gyre_run). */
const char *gyre_policy_id_of_ab(const void *list, size_t index);
const char *gyre_policy_id_of_run(const void *list, size_t index);

/* The rule for a benchmark; never NULL. */
const gyre_policy_rule *gyre_policy_find(const gyre_policy *policy, const char *id);

/* Whether any rule asks for it. */
bool gyre_policy_asks(const gyre_policy *policy, gyre_gated gated);

void gyre_policy_destroy(gyre_policy *policy);

/* "time", "memory", "instructions". Borrowed, static. */
const char *gyre_gated_name(gyre_gated gated);

#endif
