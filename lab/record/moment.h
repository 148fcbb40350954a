/* SPDX-License-Identifier: Apache-2.0
 *
 * moment: a moment as files and reports show it: UTC, `2026-11-15T05:54:52Z`.
 *
 * Threads   any; pure.
 * Owns      nothing.
 */
#ifndef GYRE_RECORD_MOMENT_H
#define GYRE_RECORD_MOMENT_H

#include <stdbool.h>
#include <time.h>

#include "gyre/common.h"

enum { GYRE_MOMENT_BYTES = 32 };

/* A moment outside of the years 1000 to 9999, which the form cannot show, becomes that of 1970. */
void gyre_moment_print(time_t moment, char text[GYRE_MOMENT_BYTES]);

/* Exactly that form, of a moment that there was; false, and 0, for anything else. */
GYRE_MUST_USE bool gyre_moment_parse(const char *text, time_t *out_moment);

#endif
