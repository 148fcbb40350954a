/* SPDX-License-Identifier: Apache-2.0
 *
 * history_write: a run goes in. See history.h.
 *
 * The lock for writing is taken at the beginning of the transaction, so that whoever comes second
 * waits there, and not with half of its work done.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "record/history_db.h"
#include "record/moment.h"

enum { SQL_BYTES = 2048 };

static const char *note_of(const gyre_result *result, const char *name)
{
    for (size_t i = 0; i < result->facts.count; i++)
        if (result->facts.fact[i].text && strcmp(result->facts.fact[i].name, name) == 0)
            return result->facts.fact[i].text;
    return NULL;
}

static double median_of(const gyre_figure *figure)
{
    return figure->samples.count > 0 ? figure->median_ns : (double)NAN;
}

static gyre_history_point point_of(const gyre_result *r, uint64_t run, uint64_t position)
{
    const bool measured = r->outcome == GYRE_OUTCOME_MEASURED;
    const double none = (double)NAN;

    return (gyre_history_point){
        .run = run,
        .position = position,
        .id = r->id,
        .suite = r->suite,
        .outcome = gyre_outcome_name(r->outcome),
        .reason = r->reason && r->reason[0] ? r->reason : NULL,
        .median_ns = measured ? r->time.median_ns : none,
        .low_ns = measured ? r->time.ns.low : none,
        .high_ns = measured ? r->time.ns.high : none,
        .coverage = measured ? r->time.ns.coverage : none,
        .min_ns = measured ? r->min_ns : none,
        .mean_ns = measured ? r->mean.point : none,
        .std_dev_ns = measured ? r->std_dev.point : none,
        .samples = r->time.samples.count,
        .threads = r->threads > 1 ? r->threads : 1,
        .device = note_of(r, "device"),
        .device_clock = r->device_clock,
        .cold_ns = median_of(&r->cold),
        .hot_ns = median_of(&r->hot),
        .peak_rss_bytes = r->memory.peak_rss_bytes,
        .allocations = r->memory.counted ? r->memory.allocations : none,
        .allocated_bytes = r->memory.counted ? r->memory.allocated_bytes : none,
        .instructions = r->instructions.source ? r->instructions.per_iteration : none,
    };
}

/* A part of the run file's head as text; NULL without memory. Freed by the caller. */
static char *text_of(const gyre_run *run,
                     void (*write)(gyre_json *, const char *, const gyre_run *))
{
    char *text = NULL;
    size_t size;
    gyre_json json = {.stream = open_memstream(&text, &size)};

    if (!json.stream)
        return NULL;
    write(&json, NULL, run);
    if (fclose(json.stream) == 0) {
        if (size > 0 && text[size - 1] == '\n')
            text[size - 1] = '\0';
        return text;
    }
    free(text);
    return NULL;
}

static gyre_history_run row_of(const gyre_run *run)
{
    const gyre_run_machine *m = &run->machine;

    return (gyre_history_run){
        .started = run->started,
        .duration_s = run->duration_s,
        .interrupted = run->interrupted,
        .gyre = run->version,
        .build = run->build,
        .commit = run->commit.id,
        .branch = run->commit.branch,
        .dirty = run->commit.dirty,
        .cpu = m->cpu,
        .hypervisor = m->hypervisor,
        .kernel = m->kernel,
        .cpus = m->cpus,
        .allowed_cpus = m->allowed_cpus,
        .memory_bytes = m->memory_bytes,
        .results = run->count,
        .measured = gyre_run_count(run, GYRE_OUTCOME_MEASURED),
        .failed = gyre_run_count(run, GYRE_OUTCOME_FAILED),
    };
}

/* Columns of the table itself: those of points that the run has are joined when they are read. */
static bool is_stored(const gyre_history_column *column, const char *table)
{
    const size_t length = strlen(table);

    return strncmp(column->source, table, length) == 0 && column->source[length] == '.';
}

/* INSERT INTO table (columns) VALUES (?, ...); without `number`, which SQLite gives. */
static gyre_status prepare_insert(gyre_history *h, const char *table,
                                  const gyre_history_column *columns, sqlite3_stmt **out_statement)
{
    char names[SQL_BYTES / 2] = "", marks[SQL_BYTES / 8] = "", sql[SQL_BYTES];
    size_t used = 0, marked = 0;

    for (const gyre_history_column *c = columns; c->name; c++) {
        const char *comma = used > 0 ? ", " : "";

        if (!is_stored(c, table))
            continue;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", comma,
                                 c->source + strlen(table) + 1);
        marked += (size_t)snprintf(marks + marked, sizeof marks - marked, "%s?", comma);
    }
    snprintf(sql, sizeof sql, "INSERT INTO %s (%s) VALUES (%s)", table, names, marks);
    return gyre_history_prepare(h, sql, out_statement);
}

static int bind(sqlite3_stmt *statement, int at, const gyre_history_column *column, const void *row)
{
    const void *field = (const char *)row + column->offset;
    char moment[GYRE_MOMENT_BYTES];

    switch (column->kind) {
    case GYRE_HISTORY_TEXT: /* a NULL text is bound as NULL */
        return sqlite3_bind_text(statement, at, *(const char *const *)field, -1, SQLITE_STATIC);
    case GYRE_HISTORY_REAL: /* and so is what is not a number */
        return sqlite3_bind_double(statement, at, *(const double *)field);
    case GYRE_HISTORY_COUNT: {
        const uint64_t count = *(const uint64_t *)field;

        if (count == 0)
            return sqlite3_bind_null(statement, at);
        return sqlite3_bind_int64(statement, at, (int64_t)(count < INT64_MAX ? count : INT64_MAX));
    }
    case GYRE_HISTORY_FLAG:
        return sqlite3_bind_int(statement, at, *(const bool *)field);
    case GYRE_HISTORY_MOMENT:
        gyre_moment_print(*(const time_t *)field, moment);
        return sqlite3_bind_text(statement, at, moment, -1, SQLITE_TRANSIENT);
    }
    return SQLITE_MISUSE;
}

/* Binds the row to the statement that was made of the same columns, and inserts it. */
static gyre_status insert(gyre_history *h, sqlite3_stmt *statement, const char *table,
                          const gyre_history_column *columns, const void *row)
{
    int at = 0, code = SQLITE_OK;

    for (const gyre_history_column *c = columns; c->name && code == SQLITE_OK; c++)
        if (is_stored(c, table))
            code = bind(statement, ++at, c, row);
    if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_DONE &&
        sqlite3_reset(statement) == SQLITE_OK)
        return GYRE_OK;
    return gyre_history_fail(h);
}

static gyre_status insert_run(gyre_history *h, const gyre_run *run, uint64_t *out_number)
{
    char *command = text_of(run, gyre_run_write_command);
    char *options = text_of(run, gyre_run_write_options);
    char *settings = text_of(run, gyre_run_write_settings);
    char key[GYRE_MACHINE_KEY_BYTES];
    gyre_history_run row = row_of(run);
    sqlite3_stmt *statement = NULL;
    gyre_status status = command && options && settings
                             ? GYRE_OK
                             : gyre_fail(GYRE_NO_MEMORY, "out of memory for '%s'", h->path);

    gyre_machine_key(&run->machine, key);
    row.command = command;
    row.options = options;
    row.settings = settings;
    row.machine = key;
    if (status == GYRE_OK)
        status = prepare_insert(h, "run", gyre_history_run_columns, &statement);
    if (status == GYRE_OK) /* number 0 is bound as NULL, which is the next one */
        status = insert(h, statement, "run", gyre_history_run_columns, &row);
    *out_number = status == GYRE_OK ? (uint64_t)sqlite3_last_insert_rowid(h->db) : 0;
    sqlite3_finalize(statement);
    free(command);
    free(options);
    free(settings);
    return status;
}

static gyre_status insert_results(gyre_history *h, const gyre_run *run, uint64_t number)
{
    sqlite3_stmt *statement;
    gyre_status status = prepare_insert(h, "result", gyre_history_point_columns, &statement);

    for (size_t i = 0; i < run->count && status == GYRE_OK; i++) {
        const gyre_history_point point = point_of(&run->results[i], number, i + 1);

        status = insert(h, statement, "result", gyre_history_point_columns, &point);
    }
    sqlite3_finalize(statement);
    return status;
}

gyre_status gyre_history_add(gyre_history *h, const gyre_run *run, uint64_t *out_number)
{
    bool empty = false;
    gyre_status status;

    *out_number = 0;
    status = gyre_history_execute(h, "BEGIN IMMEDIATE");
    if (status != GYRE_OK)
        return status;
    status = gyre_history_check(h, &empty); /* again: somebody may have been faster */
    if (status == GYRE_OK && empty)
        status = gyre_history_make(h);
    if (status == GYRE_OK)
        status = insert_run(h, run, out_number);
    if (status == GYRE_OK)
        status = insert_results(h, run, *out_number);
    if (status == GYRE_OK)
        status = gyre_history_execute(h, "COMMIT");
    if (status != GYRE_OK) {
        *out_number = 0;
        if (!sqlite3_get_autocommit(h->db)) /* else SQLite has already */
            sqlite3_exec(h->db, "ROLLBACK", NULL, NULL, NULL);
    }
    return status;
}
