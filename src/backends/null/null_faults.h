/* SPDX-License-Identifier: Apache-2.0
 *
 * null_faults: what shall go wrong on a null device, from a text. docs/backends.md has the grammar.
 *
 * Threads   pure.
 * Owns      nothing.
 * Not here  doing it (null.c, null_code.c, null_stream.c).
 */
#ifndef GYRE_NULL_FAULTS_H
#define GYRE_NULL_FAULTS_H

#include <stdint.h>

#include "gyre/common.h"
#include "gyre/status.h"

typedef enum gyre_null_word {
    GYRE_NULL_HANG = 0, /* @: launches; the value is milliseconds, -1 for ever */
    GYRE_NULL_FAULT,    /* @: launches */
    GYRE_NULL_REFUSE,   /* @: submissions */
    GYRE_NULL_TAKE,     /* @: takes; written memory@ */
    GYRE_NULL_BUILD,    /* @: compilations */
    GYRE_NULL_SLOW,     /* =: microseconds of every operation */
    GYRE_NULL_TEMPERATURE,
    GYRE_NULL_POWER,  /* =: watts */
    GYRE_NULL_MEMORY, /* =: percent that are used */
    GYRE_NULL_THROTTLE,
    GYRE_NULL_XID,
    GYRE_NULL_ECC,
    GYRE_NULL_OPEN,
    GYRE_NULL_SILENT,
    GYRE_NULL_STICKY,
    GYRE_NULL_LIMIT, /* of the setting only: kernels have a time limit, which nobody enforces */
} gyre_null_word;

typedef struct gyre_null_rule {
    gyre_null_word word;
    uint32_t first, last; /* counted from 1; all for a word without numbers */
    int64_t value;
} gyre_null_rule;

enum { GYRE_NULL_RULES = 32 };

typedef struct gyre_null_faults {
    gyre_null_rule rules[GYRE_NULL_RULES];
    uint32_t count;
} gyre_null_faults;

/* NULL and "" are no faults. GYRE_INVALID, with the word that is wrong; nothing is set then. */
GYRE_MUST_USE gyre_status gyre_null_faults_parse(const char *text, gyre_null_faults *out_faults);

/* The last rule of that word for the number'th time, 0 for words that count nothing; or NULL. */
const gyre_null_rule *gyre_null_faults_find(const gyre_null_faults *faults, gyre_null_word word,
                                            uint32_t number);

#endif
