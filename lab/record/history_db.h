/* SPDX-License-Identifier: Apache-2.0
 *
 * history_db: what the files of the history share, and nobody else needs: the connection, its
 * statements, and what its failures mean.
 *
 * Threads   one.
 * Owns      the connection.
 */
#ifndef GYRE_RECORD_HISTORY_DB_H
#define GYRE_RECORD_HISTORY_DB_H

#include <limits.h>
#include <sqlite3.h>

#include "gyre/common.h"
#include "gyre/status.h"
#include "record/history.h"

struct gyre_history {
    sqlite3 *db;
    uint64_t wait_ns;
    char path[PATH_MAX];
};

/* The sentence about the last failure of SQLite on this history. */
GYRE_MUST_USE gyre_status gyre_history_fail(gyre_history *history);

/* A statement; NULL with a sentence on failure. Ended by sqlite3_finalize, which takes NULL. */
GYRE_MUST_USE gyre_status gyre_history_prepare(gyre_history *history, const char *sql,
                                               sqlite3_stmt **out_statement);

/* Statements without a result, one after the other. */
GYRE_MUST_USE gyre_status gyre_history_execute(gyre_history *history, const char *sql);

/* Whether the file is ours, or has nothing in it yet, which `out_empty` says and is as good. */
GYRE_MUST_USE gyre_status gyre_history_check(gyre_history *history, bool *out_empty);

/* The same in a transaction of its own, for callers that have none. */
GYRE_MUST_USE gyre_status gyre_history_inspect(gyre_history *history, bool *out_empty);

/* Makes the tables of an empty file; inside a transaction. */
GYRE_MUST_USE gyre_status gyre_history_make(gyre_history *history);

#endif
