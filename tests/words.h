/* SPDX-License-Identifier: Apache-2.0
 *
 * words: a command line for tests, split at blanks.
 */
#ifndef GYRE_TEST_WORDS_H
#define GYRE_TEST_WORDS_H

#include <stdio.h>
#include <string.h>

enum { TEST_WORDS = 32 };

/* Fills `words`, which live until the next call; returns how many there are. */
static inline int test_words(const char *line, char *words[TEST_WORDS])
{
    static char copy[256];
    int count = 0;

    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word && count < TEST_WORDS; word = strtok(NULL, " "))
        words[count++] = word;
    return count;
}

#endif
