/* SPDX-License-Identifier: Apache-2.0
 *
 * history: opening, the schema, and what failures mean. See history.h.
 *
 * The journal is SQLite's rollback journal, synchronous is EXTRA: a run that was acknowledged
 * survives a loss of power, and between runs there is one file (docs/decisions/010-history.md).
 *
 * A file whose tables were not made by exactly our statements is not read: a view or a trigger of
 * somebody else's could do anything when it is.
 */
#include "record/history.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/text.h"
#include "record/history_db.h"

enum { APPLICATION = 0x47795265, VERSION = 1, REASON_BYTES = 64 }; /* "GyRe" */

static const uint64_t WAIT_NS = 10000000000;

/* As sqlite_schema has them; the rows are docs/formats/history.md's. */
static const struct {
    const char *name, *sql;
} schema[] = {
    {"run", "CREATE TABLE run (number INTEGER PRIMARY KEY, started TEXT NOT NULL, "
            "duration_s REAL, interrupted INTEGER, gyre TEXT, build TEXT, command TEXT, "
            "options TEXT, settings TEXT, commit_id TEXT, branch TEXT, dirty INTEGER, "
            "machine TEXT NOT NULL, cpu TEXT, hypervisor TEXT, kernel TEXT, cpus INTEGER, "
            "allowed_cpus INTEGER, memory_bytes INTEGER, results INTEGER, measured INTEGER, "
            "failed INTEGER)"},
    {"result", "CREATE TABLE result (run INTEGER NOT NULL REFERENCES run (number), "
               "position INTEGER NOT NULL, id TEXT NOT NULL, suite TEXT, outcome TEXT NOT NULL, "
               "reason TEXT, median_ns REAL, low_ns REAL, high_ns REAL, coverage REAL, "
               "min_ns REAL, mean_ns REAL, std_dev_ns REAL, samples INTEGER, threads INTEGER, "
               "device TEXT, device_clock TEXT, cold_ns REAL, hot_ns REAL, "
               "peak_rss_bytes INTEGER, allocations REAL, allocated_bytes REAL, "
               "instructions REAL, PRIMARY KEY (run, position)) WITHOUT ROWID"},
    {"result_by_id", "CREATE UNIQUE INDEX result_by_id ON result (id, run)"},
};
enum { SCHEMA_ROWS = sizeof schema / sizeof schema[0] };

void gyre_machine_key(const gyre_run_machine *machine, char key[GYRE_MACHINE_KEY_BYTES])
{
    const char *texts[] = {machine->cpu, machine->hypervisor};
    uint64_t hash = gyre_hash64(&machine->cpus, sizeof machine->cpus, 0);

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *text = texts[i] ? texts[i] : "";

        hash = gyre_hash64(text, strlen(text), hash);
    }
    snprintf(key, GYRE_MACHINE_KEY_BYTES, "%08x", (unsigned)(hash & 0xffffffff));
}

/* What SQLite finds wrong with the file, in its words. */
static void examine(gyre_history *h, char reason[REASON_BYTES])
{
    sqlite3_stmt *check = NULL;
    const char *text = NULL, *line;

    if (sqlite3_prepare_v2(h->db, "PRAGMA quick_check(1)", -1, &check, NULL) == SQLITE_OK &&
        sqlite3_step(check) == SQLITE_ROW)
        text = (const char *)sqlite3_column_text(check, 0);
    if (!text || strcmp(text, "ok") == 0)
        text = "database disk image is malformed";
    line =
        strncmp(text, "***", 3) == 0 ? strchr(text, '\n') : NULL; /* which database: there is one */
    snprintf(reason, REASON_BYTES, "%s", line ? line + 1 : text);
    reason[strcspn(reason, "\n")] = '\0';
    gyre_text_plain(reason);
    sqlite3_finalize(check);
}

gyre_status gyre_history_fail(gyre_history *h)
{
    const int code = sqlite3_extended_errcode(h->db);
    const bool by_system = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
    const int error = by_system ? sqlite3_system_errno(h->db) : 0;
    const int cut = gyre_text_cut(strlen(h->path));
    char reason[REASON_BYTES];

    snprintf(reason, sizeof reason, "%s", error ? strerror(error) : sqlite3_errmsg(h->db));
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return gyre_fail_native(GYRE_IO, code,
                                "'%.*s' is in use by another program, for longer than %g s; "
                                "try again when that has ended",
                                cut, h->path, (double)h->wait_ns / 1e9);
    case SQLITE_CORRUPT:
        examine(h, reason);
        return gyre_fail_native(GYRE_CORRUPT, code,
                                "'%.*s' is damaged (%s); move it away, and the next run begins "
                                "a new one",
                                cut, h->path, reason);
    case SQLITE_NOTADB:
        return gyre_fail_native(GYRE_CORRUPT, code,
                                "'%.*s' is no database, or damaged; move it away, and the next "
                                "run begins a new one",
                                cut, h->path);
    case SQLITE_NOMEM:
        return gyre_fail_native(GYRE_NO_MEMORY, code, "out of memory for '%.*s'", cut, h->path);
    case SQLITE_FULL:
        return gyre_fail_native(GYRE_IO, code,
                                "cannot write '%.*s': the disk is full; free some "
                                "space and try again",
                                cut, h->path);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return gyre_fail_native(GYRE_IO, code,
                                "cannot write '%.*s': it, or its folder, is read-only here", cut,
                                h->path);
    default: /* IOERR, CANTOPEN and what should not happen */
        return gyre_fail_native(GYRE_IO, code, "cannot use '%.*s': %s", cut, h->path, reason);
    }
}

gyre_status gyre_history_prepare(gyre_history *h, const char *sql, sqlite3_stmt **out_statement)
{
    if (sqlite3_prepare_v2(h->db, sql, -1, out_statement, NULL) == SQLITE_OK)
        return GYRE_OK;
    *out_statement = NULL;
    return gyre_history_fail(h);
}

gyre_status gyre_history_execute(gyre_history *h, const char *sql)
{
    return sqlite3_exec(h->db, sql, NULL, NULL, NULL) == SQLITE_OK ? GYRE_OK : gyre_history_fail(h);
}

static gyre_status read_number(gyre_history *h, const char *sql, int64_t *out_number)
{
    sqlite3_stmt *statement;
    gyre_status status = gyre_history_prepare(h, sql, &statement);

    *out_number = 0;
    if (status == GYRE_OK && sqlite3_step(statement) == SQLITE_ROW)
        *out_number = sqlite3_column_int64(statement, 0);
    else if (status == GYRE_OK)
        status = gyre_history_fail(h);
    sqlite3_finalize(statement);
    return status;
}

/* Each of our tables is as we make it, and nobody's trigger waits for us to write. */
static gyre_status check_schema(gyre_history *h)
{
    static const char sql[] =
        "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' OR name IN "
        "('run', 'result', 'result_by_id')";
    sqlite3_stmt *statement;
    gyre_status status = gyre_history_prepare(h, sql, &statement);
    size_t found = 0, wrong = 0;
    int step = SQLITE_DONE;

    while (status == GYRE_OK && (step = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        const char *text = (const char *)sqlite3_column_text(statement, 1);
        bool right = false;

        for (size_t i = 0; i < SCHEMA_ROWS && name && text; i++)
            right |= strcmp(name, schema[i].name) == 0 && strcmp(text, schema[i].sql) == 0;
        found += right;
        wrong += !right;
    }
    if (status == GYRE_OK && step != SQLITE_DONE)
        status = gyre_history_fail(h);
    else if (status == GYRE_OK && (found != SCHEMA_ROWS || wrong > 0))
        status = gyre_fail(GYRE_CORRUPT,
                           "'%.*s' has other tables than a history; move it away, and the next "
                           "run begins a new one",
                           gyre_text_cut(strlen(h->path)), h->path);
    sqlite3_finalize(statement);
    return status;
}

gyre_status gyre_history_check(gyre_history *h, bool *out_empty)
{
    const int cut = gyre_text_cut(strlen(h->path));
    int64_t application = 0, version = 0, objects = 0;
    gyre_status status = read_number(h, "PRAGMA application_id", &application);

    *out_empty = false;
    if (status == GYRE_OK)
        status = read_number(h, "PRAGMA user_version", &version);
    if (status == GYRE_OK)
        status = read_number(h, "SELECT count(*) FROM sqlite_schema", &objects);
    if (status != GYRE_OK)
        return status;
    *out_empty = application == 0 && version == 0 && objects == 0;
    if (*out_empty)
        return GYRE_OK;
    if (application != APPLICATION)
        return gyre_fail(GYRE_CORRUPT,
                         "'%.*s' belongs to another program; move it away, or choose another "
                         "folder with --out",
                         cut, h->path);
    if (version > VERSION)
        return gyre_fail(GYRE_UNSUPPORTED,
                         "'%.*s' was made by a newer Gyre (version %lld, not %d); use that one, or "
                         "choose another folder with --out",
                         cut, h->path, (long long)version, VERSION);
    return check_schema(h);
}

/* In one transaction: between two questions somebody may make what is being asked about. */
gyre_status gyre_history_inspect(gyre_history *h, bool *out_empty)
{
    gyre_status status = gyre_history_execute(h, "BEGIN");

    *out_empty = false;
    if (status != GYRE_OK)
        return status;
    status = gyre_history_check(h, out_empty);
    if (status != GYRE_OK) {
        (void)sqlite3_exec(h->db, "ROLLBACK", NULL, NULL, NULL); /* the reason is the check's */
        return status;
    }
    return gyre_history_execute(h, "COMMIT");
}

gyre_status gyre_history_make(gyre_history *h)
{
    char sql[96];
    gyre_status status;

    snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION,
             VERSION);
    status = gyre_history_execute(h, sql);
    for (size_t i = 0; i < SCHEMA_ROWS && status == GYRE_OK; i++)
        status = gyre_history_execute(h, schema[i].sql);
    return status;
}

/* The path is never a URI, and what is there is a plain file or nothing. */
static gyre_status locate(gyre_history *h, const char *folder, gyre_history_use use)
{
    const int length = snprintf(h->path, sizeof h->path, "%s%s/history.db",
                                folder[0] == '/' || folder[0] == '.' ? "" : "./", folder);
    const int cut = gyre_text_cut(strlen(folder));
    struct stat there;

    if (length < 0 || (size_t)length >= sizeof h->path)
        return gyre_fail(GYRE_INVALID, "the path '%.64s...' is too long", folder);
    if (stat(h->path, &there) != 0 && errno == ENOENT && use == GYRE_HISTORY_READ)
        return gyre_fail(GYRE_NOT_FOUND,
                         "there is no history in '%.*s' yet; gyre bench begins one, and --out "
                         "chooses another folder",
                         cut, folder);
    if (stat(h->path, &there) == 0 && !S_ISREG(there.st_mode))
        return gyre_fail(GYRE_IO,
                         "'%.*s' is no plain file; move it away, and the next run begins one",
                         gyre_text_cut(strlen(h->path)), h->path);
    return GYRE_OK;
}

/* Nothing in the file is executed, and nothing in it is trusted to fit its page. */
static gyre_status set_up(gyre_history *h)
{
    const uint64_t wait_ms = h->wait_ns / 1000000;

    sqlite3_extended_result_codes(h->db, 1);
    sqlite3_busy_timeout(h->db, wait_ms < INT_MAX ? (int)wait_ms : INT_MAX);
    sqlite3_db_config(h->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(h->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return gyre_history_execute(h, "PRAGMA cell_size_check = ON; PRAGMA synchronous = EXTRA");
}

gyre_status gyre_history_open(const char *folder, gyre_history_use use, uint64_t wait_ns,
                              gyre_history **out_history)
{
    /* for reading too: a run that was killed halfway is rolled back by whoever comes first */
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
                      (use == GYRE_HISTORY_WRITE ? SQLITE_OPEN_CREATE : 0);
    gyre_history *h;
    gyre_status status;
    bool empty;
    void *block;

    *out_history = NULL;
    status = gyre_alloc(NULL, 1, sizeof *h, &block);
    if (status != GYRE_OK)
        return status;
    h = block;
    h->wait_ns = wait_ns ? wait_ns : WAIT_NS;
    status = locate(h, folder, use);
    if (status == GYRE_OK && sqlite3_open_v2(h->path, &h->db, flags, NULL) != SQLITE_OK)
        status = h->db ? gyre_history_fail(h)
                       : gyre_fail(GYRE_NO_MEMORY, "out of memory for '%s'", h->path);
    if (status == GYRE_OK)
        status = set_up(h);
    if (status == GYRE_OK)
        status = gyre_history_inspect(h, &empty);
    if (status == GYRE_OK && empty && use == GYRE_HISTORY_READ)
        status = gyre_fail(GYRE_NOT_FOUND, "there is no run in '%.*s' yet",
                           gyre_text_cut(strlen(h->path)), h->path);
    if (status != GYRE_OK) {
        gyre_history_close(h);
        return status;
    }
    *out_history = h;
    return GYRE_OK;
}

void gyre_history_close(gyre_history *h)
{
    if (!h)
        return;
    sqlite3_close(h->db);
    gyre_free(NULL, h, 1, sizeof *h);
}
