/* SPDX-License-Identifier: Apache-2.0
 *
 * history_read: runs and points come out. See history.h.
 *
 * Everything that is asked for is in memory before the caller sees any of it: a slow reader of our
 * output must not hold the lock against those who want to write.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "record/history_db.h"
#include "record/moment.h"

enum { SQL_BYTES = 2048, TEXT_BYTES = 65536, FIRST_ROOM = 64 };

static const double MOST = 1e18; /* of a number, as in a run file */

#define COLUMN(type, member, kind, source)                                                         \
    {                                                                                              \
#member, source, GYRE_HISTORY_##kind, offsetof(type, member)                               \
    }
#define RUN(member, kind) COLUMN(gyre_history_run, member, kind, "run." #member)
#define POINT(member, kind) COLUMN(gyre_history_point, member, kind, "result." #member)
#define OF_RUN(member, kind, source) COLUMN(gyre_history_point, member, kind, source)

const gyre_history_column gyre_history_run_columns[] = {
    RUN(number, COUNT),
    RUN(started, MOMENT),
    RUN(duration_s, REAL),
    RUN(interrupted, FLAG),
    RUN(gyre, TEXT),
    RUN(build, TEXT),
    RUN(command, TEXT),
    RUN(options, TEXT),
    RUN(settings, TEXT),
    COLUMN(gyre_history_run, commit, TEXT, "run.commit_id"), /* COMMIT is a word of SQL */
    RUN(branch, TEXT),
    RUN(dirty, FLAG),
    RUN(machine, TEXT),
    RUN(cpu, TEXT),
    RUN(hypervisor, TEXT),
    RUN(kernel, TEXT),
    RUN(cpus, COUNT),
    RUN(allowed_cpus, COUNT),
    RUN(memory_bytes, COUNT),
    RUN(results, COUNT),
    RUN(measured, COUNT),
    RUN(failed, COUNT),
    {NULL, NULL, GYRE_HISTORY_TEXT, 0},
};

const gyre_history_column gyre_history_point_columns[] = {
    POINT(run, COUNT),
    OF_RUN(started, MOMENT, "run.started"),
    OF_RUN(commit, TEXT, "run.commit_id"),
    OF_RUN(dirty, FLAG, "run.dirty"),
    OF_RUN(machine, TEXT, "run.machine"),
    POINT(position, COUNT),
    POINT(id, TEXT),
    POINT(suite, TEXT),
    POINT(outcome, TEXT),
    POINT(reason, TEXT),
    POINT(median_ns, REAL),
    POINT(low_ns, REAL),
    POINT(high_ns, REAL),
    POINT(coverage, REAL),
    POINT(min_ns, REAL),
    POINT(mean_ns, REAL),
    POINT(std_dev_ns, REAL),
    POINT(samples, COUNT),
    POINT(threads, COUNT),
    POINT(device, TEXT),
    POINT(device_clock, TEXT),
    POINT(cold_ns, REAL),
    POINT(hot_ns, REAL),
    POINT(peak_rss_bytes, COUNT),
    POINT(allocations, REAL),
    POINT(allocated_bytes, REAL),
    POINT(instructions, REAL),
    {NULL, NULL, GYRE_HISTORY_TEXT, 0},
};

/* Only the id. */
static const gyre_history_column id_columns[] = {
    POINT(id, TEXT),
    {NULL, NULL, GYRE_HISTORY_TEXT, 0},
};

/* Rows of either kind, until they have their type. */
typedef struct table {
    char *rows;
    size_t count, room, row_size;
    gyre_arena *arena;
} table;

/* A place for one more row; NULL without memory. The smaller places stay in the arena, which goes
 * as a whole. */
static void *next_row(table *t)
{
    if (t->count == t->room) {
        const size_t room = t->room ? 2 * t->room : FIRST_ROOM;
        char *rows = gyre_arena_array(t->arena, room, t->row_size);

        if (!rows)
            return NULL;
        if (t->rows)
            memcpy(rows, t->rows, t->count * t->row_size);
        t->rows = rows;
        t->room = room;
    }
    return t->rows + t->count++ * t->row_size;
}

/* Text alone is text; a long one is cut, between characters. The same as in the row before is not
 * kept twice. */
static const char *read_text(sqlite3_stmt *statement, int at, const char *before, gyre_arena *arena)
{
    const char *text;
    size_t length;

    if (sqlite3_column_type(statement, at) != SQLITE_TEXT)
        return NULL;
    text = (const char *)sqlite3_column_text(statement, at);
    if (!text) {
        arena->exhausted = true;
        return NULL;
    }
    length = strnlen(text, TEXT_BYTES);
    if (length == TEXT_BYTES)
        while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80)
            length--;
    if (before && strlen(before) == length && memcmp(before, text, length) == 0)
        return before;
    return gyre_arena_bytes(arena, text, length);
}

static void read_field(sqlite3_stmt *statement, int at, const gyre_history_column *column,
                       void *field, const void *before, gyre_arena *arena)
{
    const int type = sqlite3_column_type(statement, at);
    const bool is_number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
    const double number = is_number ? sqlite3_column_double(statement, at) : (double)NAN;
    const int64_t whole = type == SQLITE_INTEGER ? sqlite3_column_int64(statement, at) : 0;
    const char *text;

    switch (column->kind) {
    case GYRE_HISTORY_TEXT:
        *(const char **)field =
            read_text(statement, at, before ? *(const char *const *)before : NULL, arena);
        break;
    case GYRE_HISTORY_REAL:
        *(double *)field = number >= 0 && number <= MOST ? number : (double)NAN;
        break;
    case GYRE_HISTORY_COUNT:
        *(uint64_t *)field = whole > 0 ? (uint64_t)whole : 0;
        break;
    case GYRE_HISTORY_FLAG:
        *(bool *)field = whole != 0;
        break;
    case GYRE_HISTORY_MOMENT:
        text = type == SQLITE_TEXT ? (const char *)sqlite3_column_text(statement, at) : NULL;
        if (!text || !gyre_moment_parse(text, (time_t *)field))
            *(time_t *)field = 0;
        break;
    }
}

static void read_row(sqlite3_stmt *statement, const gyre_history_column *columns, table *t,
                     void *row)
{
    const char *before = t->count > 1 ? (const char *)row - t->row_size : NULL;

    for (int at = 0; columns[at].name; at++) {
        const size_t offset = columns[at].offset;

        read_field(statement, at, &columns[at], (char *)row + offset,
                   before ? before + offset : NULL, t->arena);
    }
}

static void reverse(table *t)
{
    char row[sizeof(gyre_history_run) > sizeof(gyre_history_point) ? sizeof(gyre_history_run)
                                                                   : sizeof(gyre_history_point)];

    for (size_t i = 0; i < t->count / 2; i++) {
        char *first = t->rows + i * t->row_size, *last = t->rows + (t->count - 1 - i) * t->row_size;

        memcpy(row, first, t->row_size);
        memcpy(first, last, t->row_size);
        memcpy(last, row, t->row_size);
    }
}

/* SQL that grows; what does not fit is cut, and then SQLite complains. */
typedef struct words {
    char text[SQL_BYTES];
    size_t used;
} words;

static void say(words *w, const char *more)
{
    w->used += (size_t)snprintf(w->text + w->used, sizeof w->text - w->used, "%s", more);
    w->used = w->used < sizeof w->text ? w->used : sizeof w->text - 1;
}

static void say_columns(words *w, const gyre_history_column *columns)
{
    for (const gyre_history_column *c = columns; c->name; c++) {
        say(w, c == columns ? "" : ", ");
        say(w, c->source);
    }
}

/* Every value has its number, whether or not it is asked for. */
static void say_where(words *w, const gyre_history_query *query, bool points)
{
    say(w, " WHERE 1");
    if (query->machine)
        say(w, " AND run.machine = ?1");
    if (query->since)
        say(w, " AND run.started >= ?2");
    if (query->run)
        say(w, " AND run.number = ?3");
    if (query->from)
        say(w, " AND run.number >= ?6");
    if (points && query->id)
        say(w, " AND result.id = ?4");
    if (points && query->measured)
        say(w, " AND result.outcome = 'measured'" /* texts are above all numbers */
               " AND result.median_ns > 0 AND result.median_ns <= 1e18");
}

static int bind_all(sqlite3_stmt *statement, const gyre_history_query *query)
{
    const int last = sqlite3_bind_parameter_count(statement);
    char since[GYRE_MOMENT_BYTES];
    int code = SQLITE_OK;

    gyre_moment_print(query->since, since);
    if (query->machine)
        code = sqlite3_bind_text(statement, 1, query->machine, -1, SQLITE_STATIC);
    if (code == SQLITE_OK && query->since)
        code = sqlite3_bind_text(statement, 2, since, -1, SQLITE_TRANSIENT);
    if (code == SQLITE_OK && query->run)
        code = sqlite3_bind_int64(statement, 3, (int64_t)query->run);
    if (code == SQLITE_OK && query->id && last >= 4)
        code = sqlite3_bind_text(statement, 4, query->id, -1, SQLITE_STATIC);
    if (code == SQLITE_OK && last >= 5)
        code = sqlite3_bind_int64(statement, 5, query->most ? (int64_t)query->most : -1);
    if (code == SQLITE_OK && query->from)
        code = sqlite3_bind_int64(statement, 6, (int64_t)query->from);
    return code;
}

/* Runs the statement that `sql` is and keeps its rows. */
static gyre_status fetch(gyre_history *h, const char *sql, const gyre_history_query *query,
                         const gyre_history_column *columns, table *t)
{
    sqlite3_stmt *statement;
    gyre_status status = gyre_history_prepare(h, sql, &statement);
    int step = SQLITE_DONE;

    if (status == GYRE_OK && bind_all(statement, query) != SQLITE_OK)
        status = gyre_history_fail(h);
    while (status == GYRE_OK && (step = sqlite3_step(statement)) == SQLITE_ROW) {
        void *row = next_row(t);

        if (row)
            read_row(statement, columns, t, row);
        if (t->arena->exhausted)
            status = gyre_fail(GYRE_NO_MEMORY, "out of memory for the rows of '%s'", h->path);
    }
    if (status == GYRE_OK && step != SQLITE_DONE)
        status = gyre_history_fail(h);
    sqlite3_finalize(statement);
    if (status != GYRE_OK)
        gyre_arena_fini(t->arena);
    return status;
}

gyre_status gyre_history_list(gyre_history *h, const gyre_history_query *query,
                              gyre_history_runs *out_runs)
{
    table t = {.row_size = sizeof out_runs->run[0], .arena = &out_runs->arena};
    words sql = {.used = 0};
    gyre_status status;

    *out_runs = (gyre_history_runs){0};
    say(&sql, "SELECT ");
    say_columns(&sql, gyre_history_run_columns);
    say(&sql, " FROM run");
    say_where(&sql, query, false);
    say(&sql, " ORDER BY run.number DESC LIMIT ?5");
    status = fetch(h, sql.text, query, gyre_history_run_columns, &t);
    if (status != GYRE_OK)
        return status;
    reverse(&t);
    out_runs->run = (gyre_history_run *)(void *)t.rows;
    out_runs->count = t.count;
    return GYRE_OK;
}

gyre_status gyre_history_series(gyre_history *h, const gyre_history_query *query,
                                gyre_history_points *out_points)
{
    table t = {.row_size = sizeof out_points->point[0], .arena = &out_points->arena};
    words sql = {.used = 0};
    gyre_status status;

    *out_points = (gyre_history_points){0};
    say(&sql, "SELECT ");
    say_columns(&sql, gyre_history_point_columns);
    say(&sql, " FROM result JOIN run ON run.number = result.run");
    say_where(&sql, query, true);
    say(&sql, " ORDER BY result.run DESC, result.position DESC LIMIT ?5");
    status = fetch(h, sql.text, query, gyre_history_point_columns, &t);
    if (status != GYRE_OK)
        return status;
    reverse(&t);
    out_points->point = (gyre_history_point *)(void *)t.rows;
    out_points->count = t.count;
    return GYRE_OK;
}

gyre_status gyre_history_ids(gyre_history *h, gyre_history_points *out_ids)
{
    table t = {.row_size = sizeof out_ids->point[0], .arena = &out_ids->arena};
    gyre_status status;

    *out_ids = (gyre_history_points){0};
    /* of the index alone: a join with the runs would take seconds where there are thousands */
    status = fetch(h,
                   "SELECT DISTINCT result.id FROM result WHERE typeof(result.id) = 'text' "
                   "ORDER BY result.id",
                   &(gyre_history_query){0}, id_columns, &t);
    if (status != GYRE_OK)
        return status;
    out_ids->point = (gyre_history_point *)(void *)t.rows;
    out_ids->count = t.count;
    return GYRE_OK;
}

void gyre_history_runs_fini(gyre_history_runs *runs)
{
    gyre_arena_fini(&runs->arena);
    *runs = (gyre_history_runs){0};
}

void gyre_history_points_fini(gyre_history_points *points)
{
    gyre_arena_fini(&points->arena);
    *points = (gyre_history_points){0};
}

gyre_status gyre_history_find(gyre_history *h, const gyre_run *run, uint64_t *out_number)
{
    char started[GYRE_MOMENT_BYTES], key[GYRE_MACHINE_KEY_BYTES];
    sqlite3_stmt *statement;
    int step = SQLITE_ERROR;
    bool empty;
    gyre_status status = gyre_history_inspect(h, &empty);

    *out_number = 0;
    if (status != GYRE_OK || empty)
        return status;
    gyre_moment_print(run->started, started);
    gyre_machine_key(&run->machine, key);
    status = gyre_history_prepare(h,
                                  "SELECT number FROM run WHERE started = ? AND machine = ? AND "
                                  "duration_s = ? AND results = ?",
                                  &statement);
    if (status != GYRE_OK)
        return status;
    if (sqlite3_bind_text(statement, 1, started, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_bind_text(statement, 2, key, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_bind_double(statement, 3, run->duration_s) == SQLITE_OK &&
        sqlite3_bind_int64(statement, 4, (int64_t)run->count) == SQLITE_OK)
        step = sqlite3_step(statement);
    if (step == SQLITE_ROW)
        *out_number = (uint64_t)sqlite3_column_int64(statement, 0);
    else if (step != SQLITE_DONE)
        status = gyre_history_fail(h);
    sqlite3_finalize(statement);
    return status;
}
