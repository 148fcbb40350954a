/* SPDX-License-Identifier: Apache-2.0
 *
 * document: a JSON file of one of Gyre's schemas, brought in without trusting it.
 *
 * A document is refused whole, with a sentence that names it and says what to do. What its members
 * say is the reader's of each schema.
 *
 * Threads   any.
 * Owns      nothing; what is read is the caller's (json_decref).
 * Not here  values and complaints (record/value.h), writing (record/file.h).
 */
#ifndef GYRE_RECORD_DOCUMENT_H
#define GYRE_RECORD_DOCUMENT_H

#include <jansson.h>
#include <stddef.h>

#include "gyre/common.h"
#include "gyre/status.h"
#include "record/value.h"

typedef struct gyre_document_kind {
    const char *family; /* "gyre.run/": its version is 1 */
    const char *what;   /* "a run file" */
    const char *remedy; /* what to do about one that is wrong; NULL: it was damaged */
} gyre_document_kind;

/* GYRE_NOT_FOUND when there is no such file, GYRE_IO when it cannot be read, GYRE_CORRUPT when it
 * is damaged or of another kind, GYRE_UNSUPPORTED when it is larger than 1 GiB or a newer Gyre
 * wrote it, GYRE_NO_MEMORY. */
GYRE_MUST_USE gyre_status gyre_document_read(const gyre_document_kind *kind, const char *path,
                                             json_t **out_root);

/* The same of bytes in memory, which errors call `name`. */
GYRE_MUST_USE gyre_status gyre_document_parse(const gyre_document_kind *kind, const char *bytes,
                                              size_t length, const char *name, json_t **out_root);

/* GYRE_CORRUPT, with what is wrong and what to do. */
GYRE_MUST_USE gyre_status gyre_document_damaged(const gyre_document_kind *kind, const char *name,
                                                const char *what);

/* As much of a name as fits into a sentence: its end, which says more than its beginning. */
const char *gyre_document_tail(const char *name);

/* Complains of an id that is there twice. Sorts them, because a file may hold many with long ids
 * that begin alike. */
void gyre_document_check_ids(const char **ids, size_t count, gyre_complaint *complaint);

#endif
