/* SPDX-License-Identifier: Apache-2.0
 *
 * copy_words: what suites copy to devices and back: words that are all different, and tell where
 * they belong.
 *
 * Threads   none of its own.
 * Owns      nothing.
 */
#ifndef GYRE_SUITES_COPY_WORDS_H
#define GYRE_SUITES_COPY_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Never 0, with which memory is spoiled. */
static inline uint64_t gyre_copy_word(size_t index)
{
    return (index + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

/* Whether they are the words from `first` on; the very first, which changes, is not looked at. */
static inline bool gyre_are_copy_words(const uint64_t *words, size_t first, size_t count)
{
    for (size_t i = first == 0; i < count; i++)
        if (words[i] != gyre_copy_word(first + i))
            return false;
    return true;
}

#endif
