/* SPDX-License-Identifier: Apache-2.0
 *
 * settings: everything that can be set from outside, in one table.
 *
 * A value comes from the program (gyre_settings_set), else from the environment variable of the
 * same name, else from the default. All are read together at the library's first use and are
 * constant from then on. A malformed variable is replaced by the default; it is logged at that
 * moment, unless the program asks gyre_settings_check before. `gyre env` prints the table.
 *
 * Threads   any; set before the library's first use.
 * Owns      copies of the values.
 * Not here  what a setting does: its help says, and the module that reads it decides.
 */
#ifndef GYRE_SETTINGS_H
#define GYRE_SETTINGS_H

#include <stddef.h>

#include "gyre/common.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

typedef enum gyre_origin {
    GYRE_ORIGIN_DEFAULT = 0,
    GYRE_ORIGIN_ENVIRONMENT = 1,
    GYRE_ORIGIN_PROGRAM = 2,
} gyre_origin;

/* One row. Rows and their strings are constant after the first use of the library. */
typedef struct gyre_setting {
    const char *name;          /* "GYRE_LOG" */
    const char *form;          /* what a value looks like: "auto|counter|system" */
    const char *default_value; /* as text; "" means unset */
    const char *help;          /* one sentence */
    const char *value;         /* in force, as text */
    gyre_origin origin;        /* where that value came from */
    const char *problem;       /* why the variable's value was refused; NULL when it was not */
} gyre_setting;

/* Gives a setting its value, whatever the environment says. GYRE_NOT_FOUND for an unknown name,
 * GYRE_INVALID for a malformed value or when the settings were read already, GYRE_UNAVAILABLE in a
 * forked child. Thread-safe; never blocks for long; not for signal handlers. */
GYRE_API GYRE_MUST_USE gyre_status gyre_settings_set(const char *name, const char *value);

/* Reads the settings if nobody has. GYRE_INVALID with a sentence when one is malformed (and with
 * the number of the others), GYRE_UNAVAILABLE in a forked child. Thread-safe; never blocks for
 * long; not for signal handlers; like all below. */
GYRE_API GYRE_MUST_USE gyre_status gyre_settings_check(void);

/* Row `index`, or NULL past the last. Borrowed; valid until the program ends. */
GYRE_API const gyre_setting *gyre_settings_at(size_t index);

/* The row called `name`, or NULL. Borrowed likewise. */
GYRE_API const gyre_setting *gyre_settings_find(const char *name);

/* Name of the index-th GYRE_ variable in the environment that is no setting, a misspelling most
 * likely; NULL past the last. Borrowed; valid until the program ends. */
GYRE_API const char *gyre_settings_unknown(size_t index);

GYRE_END_DECLS

#endif
