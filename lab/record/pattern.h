/* SPDX-License-Identifier: Apache-2.0
 *
 * pattern: a regular expression for ids that somebody wrote into a file.
 *
 * POSIX extended, without what lets a short pattern take all memory.
 *
 * Threads   any number may match one pattern.
 * Owns      the compiled expression, until regfree.
 * Not here  patterns of a command line (bench/filter.h), whose author pays for them himself.
 */
#ifndef GYRE_RECORD_PATTERN_H
#define GYRE_RECORD_PATTERN_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "gyre/common.h"

enum { GYRE_PATTERN_BYTES = 200 }; /* at most */

/* The characters that ids consist of. */
extern const char gyre_id_characters[];

/* False with a phrase in `why` when it is refused, and then there is nothing to free. */
GYRE_MUST_USE bool gyre_pattern_compile(const char *pattern, regex_t *compiled, char *why,
                                        size_t why_size);

#endif
