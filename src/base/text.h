/* SPDX-License-Identifier: Apache-2.0
 *
 * text: small helpers for what is shown to people: cutting, cleaning, and guessing what was meant.
 *
 * Threads   any; all functions are pure.
 * Owns      nothing.
 * Not here  numbers with units (lab/report/), JSON (base/json.h).
 */
#ifndef GYRE_BASE_TEXT_H
#define GYRE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "gyre/common.h"

/* The precision for printing `length` bytes of somebody's text with "%.*s": at most 64. */
GYRE_API int gyre_text_cut(size_t length);

/* Replaces control characters by '?', so that a value from outside cannot drive a terminal. */
GYRE_API void gyre_text_plain(char *text);

/* Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`; words are
 * compared up to 63 bytes. */
GYRE_API size_t gyre_text_distance(const char *a, const char *b);

/* Whether `word` is close enough to `name` to ask "did you mean": at most a third of it differs. */
GYRE_API bool gyre_text_resembles(const char *word, const char *name);

/* Reads a number, its fraction allowed, and one of "ns us ms s m" (none: seconds); "2s", "0.5 ms"
 * and "50us" are durations. False when malformed, negative or over 292 years. */
GYRE_API GYRE_MUST_USE bool gyre_text_duration(const char *text, double *out_ns);

/* Reads a whole decimal number between `low` and `high`; false when it is anything else. */
GYRE_API GYRE_MUST_USE bool gyre_text_count(const char *text, long long low, long long high,
                                            long long *out_count);

#endif
