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
#include <stdio.h>

#include "gyre/common.h"

/* The precision for printing `length` bytes of somebody's text with "%.*s": at most 64. */
GYRE_API int gyre_text_cut(size_t length);

/* Replaces control characters, those of Unicode's second block too, by '?', so that a value from
 * outside cannot drive a terminal. */
GYRE_API void gyre_text_plain(char *text);

/* Prints the text, however long, in the same way. */
GYRE_API void gyre_text_print(FILE *stream, const char *text);

/* Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`; words are
 * compared up to 63 bytes. */
size_t gyre_text_distance(const char *a, const char *b);

/* The name that was probably meant by `word`: the nearest of name_at(names, 0), 1, ... up to NULL,
 * if at most a third of it differs; else NULL. */
GYRE_API const char *gyre_text_nearest(const char *word,
                                       const char *(*name_at)(const void *names, size_t index),
                                       const void *names);

/* The index of `word` among the words of "a|b|c", or -1. */
GYRE_API int gyre_text_choice(const char *choices, const char *word);

/* Reads a number, its fraction allowed, and one of "ns us ms s m" (none: seconds); "2s", "0.5 ms"
 * and "50us" are durations. False when malformed, negative or over 292 years. */
GYRE_API GYRE_MUST_USE bool gyre_text_duration(const char *text, double *out_ns);

/* Reads a whole decimal number between `low` and `high`; false when it is anything else. */
GYRE_API GYRE_MUST_USE bool gyre_text_count(const char *text, long long low, long long high,
                                            long long *out_count);

#endif
