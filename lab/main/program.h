/* SPDX-License-Identifier: Apache-2.0
 *
 * program: a command that was given as one text, and the program behind it.
 *
 * A text that names a file is that file, whatever is in its name. Any other is split into words at
 * blanks, with '...', "..." and \ to keep blanks in a word; no shell is asked, so nothing else is
 * special. The first word is looked up as a shell would, in PATH.
 *
 * Threads   one.
 * Owns      the words, until gyre_program_fini.
 */
#ifndef GYRE_MAIN_PROGRAM_H
#define GYRE_MAIN_PROGRAM_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/status.h"

enum { GYRE_PROGRAM_WORDS = 256 };

typedef struct gyre_program {
    const char *command; /* borrowed: as given */
    char *text;          /* the words, one behind the other */
    size_t text_size;
    char *words[GYRE_PROGRAM_WORDS + 1]; /* ends with NULL */
    size_t count;
    char path[PATH_MAX];  /* of the program */
    uint64_t bytes, hash; /* its size, and gyre_hash64 of what is in it */
} gyre_program;

/* Splits `command` into words. GYRE_INVALID with a sentence for a quote that does not end, no words
 * or too many; GYRE_NO_MEMORY. There is something to fini only when it succeeds. */
GYRE_MUST_USE gyre_status gyre_program_split(gyre_program *program, const char *command);

/* The same, and finds and reads the program. GYRE_NOT_FOUND or GYRE_IO with what to do. */
GYRE_MUST_USE gyre_status gyre_program_init(gyre_program *program, const char *command);
void gyre_program_fini(gyre_program *program);

#endif
