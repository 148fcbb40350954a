/* SPDX-License-Identifier: Apache-2.0
 *
 * pattern: see pattern.h.
 */
#include "record/pattern.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char gyre_id_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-./";

/* Ids have few characters, so a pattern needs few. Repetition by numbers, back-references, and '+'
 * after a group or another repetition are not for it: with them a short pattern takes all memory,
 * because the C library writes x+ as xx*, and so doubles x each time. */
static bool is_tame(const char *pattern)
{
    for (const char *c = pattern; *c; c++) {
        const bool known = strchr(gyre_id_characters, *c) || strchr("^$[]()|*+?", *c);
        const bool doubles = *c == '+' && (c == pattern || strchr(")*+?", c[-1]));

        if (*c == '\\' && ispunct((unsigned char)c[1]))
            c++;
        else if (!known || doubles)
            return false;
    }
    return true;
}

bool gyre_pattern_compile(const char *pattern, regex_t *compiled, char *why, size_t why_size)
{
    int error;

    if (!is_tame(pattern)) {
        snprintf(why, why_size, "something that has no place in a pattern for ids");
        return false;
    }
    error = regcomp(compiled, pattern, REG_EXTENDED);
    if (error)
        regerror(error, compiled, why, why_size);
    return error == 0;
}
