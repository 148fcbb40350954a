/* SPDX-License-Identifier: Apache-2.0
 *
 * behaviour_file: a C file with one behaviour in it (gyre/behaviour.h): its text, and the name that
 * GYRE_BEHAVIOUR gives there. Nothing is compiled to find that.
 *
 * Threads   one.
 * Owns      the text, until behaviour_file_fini.
 * Not here  compiling it (behaviour_build.h).
 */
#ifndef GYRE_BEHAVIOUR_FILE_H
#define GYRE_BEHAVIOUR_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "gyre/common.h"
#include "gyre/status.h"

enum { BEHAVIOUR_NAME_BYTES = 96 };

typedef struct behaviour_file {
    const char *path; /* borrowed: as given */
    char *text;       /* terminated */
    size_t room;      /* of the text */
    char name[BEHAVIOUR_NAME_BYTES];
} behaviour_file;

/* Reads it. GYRE_IO when it cannot be, GYRE_INVALID when it is no text or too long, or has not one
 * behaviour, with the lines. There is something to fini only when it succeeds. */
GYRE_MUST_USE gyre_status behaviour_file_read(behaviour_file *file, const char *path);
void behaviour_file_fini(behaviour_file *file);

/* The same for any text, which has no name. */
GYRE_MUST_USE gyre_status behaviour_text_read(behaviour_file *file, const char *path);

/* Past a comment or a quoted text that begins here; `at` itself when none does. Pure. */
const char *behaviour_past_asides(const char *at);

/* The name of the one behaviour in a text, which is not inside a comment or a string; `path` is for
 * the sentence. GYRE_INVALID when there is none, or two. Pure. */
GYRE_MUST_USE gyre_status behaviour_scan(const char *path, const char *text,
                                         char name[BEHAVIOUR_NAME_BYTES]);

/* Whether a text says `object`->`member`, not inside a comment or a string. Pure. */
GYRE_MUST_USE bool behaviour_names(const char *text, const char *object, const char *member);

#endif
