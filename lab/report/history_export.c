/* SPDX-License-Identifier: Apache-2.0
 *
 * history_export: see history_export.h.
 *
 * What a row holds is in the table of columns; nothing here knows one by its name.
 */
#include "report/history_export.h"

#include <inttypes.h>

#include "record/moment.h"
#include "report/csv.h"

static void put_member(gyre_json *json, const gyre_history_column *column, const void *row)
{
    const void *field = (const char *)row + column->offset;
    char moment[GYRE_MOMENT_BYTES];

    switch (column->kind) {
    case GYRE_HISTORY_TEXT:
        gyre_json_string(json, column->name, *(const char *const *)field);
        break;
    case GYRE_HISTORY_REAL:
        gyre_json_double(json, column->name, *(const double *)field);
        break;
    case GYRE_HISTORY_COUNT:
        gyre_json_unsigned(json, column->name, *(const uint64_t *)field);
        break;
    case GYRE_HISTORY_FLAG:
        gyre_json_bool(json, column->name, *(const bool *)field);
        break;
    case GYRE_HISTORY_MOMENT:
        gyre_moment_print(*(const time_t *)field, moment);
        gyre_json_string(json, column->name, moment);
        break;
    }
}

static void put_row(gyre_json *json, const gyre_history_column *columns, const void *row)
{
    gyre_json_begin_object(json, NULL);
    for (const gyre_history_column *c = columns; c->name; c++)
        put_member(json, c, row);
    gyre_json_end(json);
}

void gyre_history_json_begin(gyre_json *json)
{
    gyre_json_begin_object(json, NULL);
    gyre_json_string(json, "schema", "gyre.history/1");
}

void gyre_history_json_runs(gyre_json *json, const gyre_history_runs *runs)
{
    gyre_json_begin_array(json, "runs");
    for (size_t i = 0; i < runs->count; i++)
        put_row(json, gyre_history_run_columns, &runs->run[i]);
    gyre_json_end(json);
}

void gyre_history_json_points(gyre_json *json, const gyre_history_points *points)
{
    gyre_json_begin_array(json, "results");
    for (size_t i = 0; i < points->count; i++)
        put_row(json, gyre_history_point_columns, &points->point[i]);
    gyre_json_end(json);
}

void gyre_history_json_series(gyre_json *json, const gyre_history_points *series,
                              const gyre_trend *trend)
{
    gyre_json_begin_object(json, NULL);
    gyre_json_string(json, "id", series->count > 0 ? series->point[0].id : NULL);
    gyre_history_json_points(json, series);
    gyre_json_begin_array(json, "changes");
    for (size_t i = 0; i < trend->change_count; i++) {
        const gyre_trend_change *change = &trend->changes[i];

        gyre_json_begin_object(json, NULL);
        gyre_json_unsigned(json, "run", series->point[change->index].run);
        gyre_json_string(json, "commit", series->point[change->index].commit);
        gyre_json_double(json, "before_ns", change->before_ns);
        gyre_json_double(json, "after_ns", change->after_ns);
        gyre_json_double(json, "change", change->ratio);
        gyre_json_double(json, "p", change->p);
        gyre_json_end(json);
    }
    gyre_json_end(json);
    if (trend->known) {
        gyre_json_begin_object(json, "drift");
        gyre_json_unsigned(json, "since_run", series->point[trend->since].run);
        gyre_json_double(json, "per_run", trend->drift);
        gyre_json_double(json, "low", trend->low);
        gyre_json_double(json, "high", trend->high);
        gyre_json_end(json);
    } else {
        gyre_json_string(json, "drift", NULL);
    }
    gyre_json_end(json);
}

static void put_cell(FILE *stream, const gyre_history_column *column, const void *row)
{
    const void *field = (const char *)row + column->offset;
    char moment[GYRE_MOMENT_BYTES];

    switch (column->kind) {
    case GYRE_HISTORY_TEXT:
        gyre_csv_text(stream, *(const char *const *)field);
        break;
    case GYRE_HISTORY_REAL:
        gyre_csv_number(stream, *(const double *)field);
        break;
    case GYRE_HISTORY_COUNT:
        if (*(const uint64_t *)field > 0)
            fprintf(stream, "%" PRIu64, *(const uint64_t *)field);
        break;
    case GYRE_HISTORY_FLAG:
        fputs(*(const bool *)field ? "1" : "0", stream);
        break;
    case GYRE_HISTORY_MOMENT:
        gyre_moment_print(*(const time_t *)field, moment);
        fputs(moment, stream);
        break;
    }
}

void gyre_history_csv(FILE *stream, const gyre_history_points *points)
{
    for (const gyre_history_column *c = gyre_history_point_columns; c->name; c++)
        fprintf(stream, "%s%s", c == gyre_history_point_columns ? "" : ",", c->name);
    fputc('\n', stream);
    for (size_t i = 0; i < points->count; i++) {
        for (const gyre_history_column *c = gyre_history_point_columns; c->name; c++) {
            if (c != gyre_history_point_columns)
                fputc(',', stream);
            put_cell(stream, c, &points->point[i]);
        }
        fputc('\n', stream);
    }
}
