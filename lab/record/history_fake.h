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

/* How many runs there are; -1 when it cannot be read. Waits for hardly a moment. */
static inline int fake_runs_in(const char *folder)
{
    gyre_history *history;
    gyre_history_runs runs;
    int count = -1;

    if (gyre_history_open(folder, GYRE_HISTORY_READ, 50000000, &history) != GYRE_OK)
        return -1;
    if (gyre_history_list(history, &(gyre_history_query){0}, &runs) == GYRE_OK) {
        count = (int)runs.count;
        gyre_history_runs_fini(&runs);
    }
    gyre_history_close(history);
    return count;
}

static inline bool fake_is(const char *text, const char *expected)
{
    return expected ? text && strcmp(text, expected) == 0 : !text;
}

static inline bool fake_error_says(const char *text)
{
    if (strstr(gyre_error_last()->text, text))
        return true;
    fprintf(stderr, "the error is: %s\n", gyre_error_last()->text);
    return false;
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

/* TEST_MAIN, with a folder for the cases. */
#define FAKE_ROOT_MAIN(cases)                                                                      \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        int code;                                                                                  \
                                                                                                   \
        fake_root_make();                                                                          \
        code = test_run(cases, sizeof(cases) / sizeof(cases)[0], argc > 1 ? argv[1] : NULL);       \
        fake_root_forget();                                                                        \
        return code;                                                                               \
    }

#endif
