/* SPDX-License-Identifier: Apache-2.0
 *
 * behaviour_headers: the headers of its own that a behaviour file includes, as text, for compilers
 * that have no folders.
 *
 * One is looked for as a C compiler does for quotes: beside the file that includes it. Headers of
 * Gyre the library knows, and what is between #ifdef GYRE_HOST and #endif, or after #if 0, is not
 * for devices: there nothing is looked for. What else is included, in <> or by a macro, is left to
 * the compilers.
 *
 * Threads   one.
 * Owns      the texts, until behaviour_headers_fini.
 * Not here  putting them in their places (gyre/behaviour_text.h, gyre/actor.h).
 */
#ifndef GYRE_BEHAVIOUR_HEADERS_H
#define GYRE_BEHAVIOUR_HEADERS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "behaviour_file.h"
#include "gyre/common.h"
#include "gyre/program.h"
#include "gyre/status.h"

/* As many as gyre_actor_create takes. */
enum { BEHAVIOUR_HEADERS_MOST = 15, BEHAVIOUR_HEADER_BYTES = 256 };

typedef struct behaviour_headers {
    gyre_include list[BEHAVIOUR_HEADERS_MOST + 1]; /* up to one without a name */
    behaviour_file files[BEHAVIOUR_HEADERS_MOST];
    char names[BEHAVIOUR_HEADERS_MOST][BEHAVIOUR_HEADER_BYTES]; /* as they are included */
    char paths[BEHAVIOUR_HEADERS_MOST][PATH_MAX];
    size_t count;
    const char *missing_from; /* the first file that includes one that is not there; NULL: none */
    char missing[BEHAVIOUR_HEADER_BYTES]; /* by this name */
} behaviour_headers;

/* Reads them, and what they include. GYRE_INVALID when there are too many, when two have one name,
 * or for what is no text; GYRE_IO, GYRE_NO_MEMORY. There is something to fini only when it
 * succeeds. */
GYRE_MUST_USE gyre_status behaviour_headers_read(behaviour_headers *headers,
                                                 const behaviour_file *file);
void behaviour_headers_fini(behaviour_headers *headers);

/* Where in a text the search is; zero at its beginning. */
typedef struct behaviour_conditions {
    size_t depth;         /* of conditions that are open */
    uint64_t host, other; /* a bit for each: its text is not for devices; after #else it is not */
    bool inside;          /* a line, not at its beginning */
} behaviour_conditions;

/* The next header that a text includes in quotes for devices, from `*in_out_at` on: its name and
 * how long that is. False: there is none. Pure. */
GYRE_MUST_USE bool behaviour_next_header(const char **in_out_at, behaviour_conditions *conditions,
                                         const char **out_name, size_t *out_length);

#endif
