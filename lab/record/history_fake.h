/* SPDX-License-Identifier: Apache-2.0
 *
 * history_fake: folders, runs and a second way into the database, for the tests of the history.
 */
#ifndef GYRE_RECORD_HISTORY_FAKE_H
#define GYRE_RECORD_HISTORY_FAKE_H

#include <ftw.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/history.h"
#include "record/run_fake.h"

static char fake_root[] = "/tmp/gyre-history-test-XXXXXX";

/* A new, empty folder; the path is good until the next call. */
static inline const char *fake_folder(void)
{
    static char path[64];
    static int count;

    snprintf(path, sizeof path, "%s/%d", fake_root, count++);
    if (mkdir(path, 0777) != 0)
        abort();
    return path;
}

static inline const char *fake_db(const char *folder)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/history.db", folder);
    return path;
}

/* A run with `count` benchmarks g/0, g/1, ..., of `ns` and more. */
static inline gyre_run *fake_history_run(size_t count, double ns)
{
    gyre_run *run;

    if (gyre_run_create_blank(count, &run) != GYRE_OK)
        abort();
    fake_head(run);
    for (size_t i = 0; i < count; i++) {
        char id[32];

        snprintf(id, sizeof id, "g/%zu", i);
        fake_add(run, fake_measured(id, ns + (double)i));
    }
    return run;
}

/* Adds such a run; its number, or 0 when that failed. */
static inline uint64_t fake_history_add(const char *folder, size_t count, double ns,
                                        uint64_t wait_ns)
{
    gyre_run *run = fake_history_run(count, ns);
    gyre_history *history;
    uint64_t number = 0;

    if (gyre_history_open(folder, GYRE_HISTORY_WRITE, wait_ns, &history) == GYRE_OK &&
        gyre_history_add(history, run, &number) != GYRE_OK)
        number = 0;
    gyre_history_close(history);
    gyre_run_destroy(run);
    return number;
}

/* What the statement says in its first row, as text; "" for nothing. Good until the next call. */
static inline const char *fake_sql(const char *path, const char *sql)
{
    static char answer[256];
    sqlite3_stmt *statement = NULL;
    sqlite3 *db = NULL;

    answer[0] = '\0';
    if (sqlite3_open(path, &db) != SQLITE_OK)
        abort();
    sqlite3_busy_timeout(db, 60000);
    while (*sql) { /* the answer is the last one's */
        const char *rest = "";

        if (sqlite3_prepare_v2(db, sql, -1, &statement, &rest) != SQLITE_OK)
            snprintf(answer, sizeof answer, "error: %s", sqlite3_errmsg(db));
        else if (sqlite3_step(statement) == SQLITE_ROW)
            snprintf(answer, sizeof answer, "%s", (const char *)sqlite3_column_text(statement, 0));
        sqlite3_finalize(statement);
        sql = rest;
    }
    sqlite3_close(db);
    return answer;
}

static inline int fake_forget(const char *path, const struct stat *s, int kind, struct FTW *ftw)
{
    (void)s, (void)kind, (void)ftw;
    return remove(path);
}

static inline void fake_root_make(void)
{
    if (!mkdtemp(fake_root) || chmod(fake_root, 0755) != 0)
        abort();
}

static inline void fake_root_forget(void)
{
    nftw(fake_root, fake_forget, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
