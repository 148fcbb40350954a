/* SPDX-License-Identifier: Apache-2.0
 *
 * trends: see trends.h.
 */
#include "report/trends.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "record/moment.h"

static gyre_status read_series(gyre_history *history, const char *id, gyre_trends *trends)
{
    gyre_trends_series *s = &trends->series[trends->count];
    const gyre_history_query query = {
        .machine = trends->machine, .id = id, .measured = true, .most = GYRE_TRENDS_MOST};
    gyre_status status = gyre_history_series(history, &query, &s->points);

    if (status != GYRE_OK)
        return status;
    if (s->points.count >= GYRE_TRENDS_LEAST) {
        status = gyre_trend_find(&s->points, &trends->arena, &s->trend);
        if (status == GYRE_OK) {
            trends->count++;
            return GYRE_OK;
        }
    }
    gyre_history_points_fini(&s->points);
    return status;
}

gyre_status gyre_trends_read(const char *folder, const gyre_run *run, gyre_trends *out_trends)
{
    gyre_history *history;
    gyre_status status;
    void *block;

    *out_trends = (gyre_trends){0};
    gyre_machine_key(&run->machine, out_trends->machine);
    status = gyre_history_open(folder, GYRE_HISTORY_READ, 0, &history);
    if (status != GYRE_OK)
        return status;
    status = gyre_alloc(NULL, run->count + 1, sizeof out_trends->series[0], &block);
    if (status == GYRE_OK) {
        out_trends->series = block;
        out_trends->capacity = run->count + 1;
    }
    for (size_t i = 0; i < run->count && status == GYRE_OK; i++)
        if (run->results[i].outcome == GYRE_OUTCOME_MEASURED)
            status = read_series(history, run->results[i].id, out_trends);
    gyre_history_close(history);
    if (status != GYRE_OK)
        gyre_trends_fini(out_trends);
    return status;
}

void gyre_trends_fini(gyre_trends *trends)
{
    for (size_t i = 0; i < trends->count; i++)
        gyre_history_points_fini(&trends->series[i].points);
    gyre_free(NULL, trends->series, trends->capacity, sizeof trends->series[0]);
    gyre_arena_fini(&trends->arena);
    *trends = (gyre_trends){0};
}

/* A run, by any of its points. */
typedef struct run_ref {
    const gyre_history_point *point;
} run_ref;

static int by_run(const void *left, const void *right)
{
    const uint64_t a = ((const run_ref *)left)->point->run;
    const uint64_t b = ((const run_ref *)right)->point->run;

    return (a > b) - (a < b);
}

/* Every run once, in order. NULL without memory, or when there is none. */
static run_ref *runs_of(const gyre_trends *trends, size_t *out_count)
{
    run_ref *runs;
    size_t all = 0, kept = 0;

    *out_count = 0;
    for (size_t i = 0; i < trends->count; i++)
        all += trends->series[i].points.count;
    runs = all > 0 ? malloc(all * sizeof *runs) : NULL;
    if (!runs)
        return NULL;
    all = 0;
    for (size_t i = 0; i < trends->count; i++)
        for (size_t k = 0; k < trends->series[i].points.count; k++)
            runs[all++].point = &trends->series[i].points.point[k];
    qsort(runs, all, sizeof *runs, by_run);
    for (size_t i = 0; i < all; i++)
        if (kept == 0 || runs[kept - 1].point->run != runs[i].point->run)
            runs[kept++] = runs[i];
    *out_count = kept;
    return runs;
}

/* Five digits are more than a chart can show. */
static void put_number(gyre_json *json, double value)
{
    char text[32];

    snprintf(text, sizeof text, "%.5g", value);
    gyre_json_double(json, NULL, strtod(text, NULL));
}

static void write_runs(gyre_json *json, const run_ref *runs, size_t count)
{
    gyre_json_begin_array(json, "runs");
    for (size_t i = 0; i < count; i++) {
        const gyre_history_point *run = runs[i].point;
        char started[GYRE_MOMENT_BYTES];

        gyre_moment_print(run->started, started);
        gyre_json_begin_array(json, NULL);
        gyre_json_unsigned(json, NULL, run->run);
        gyre_json_string(json, NULL, started);
        gyre_json_string(json, NULL, run->commit);
        gyre_json_bool(json, NULL, run->dirty);
        gyre_json_end(json);
    }
    gyre_json_end(json);
}

static void write_column(gyre_json *json, const char *key, const gyre_history_points *points,
                         size_t offset)
{
    gyre_json_begin_array(json, key);
    for (size_t i = 0; i < points->count; i++)
        put_number(json, *(const double *)(const void *)((const char *)&points->point[i] + offset));
    gyre_json_end(json);
}

/* Changes and drift are arrays, too: [point, before_ns, after_ns, change, p], [point, drift, low,
 * high]. */
static void write_trend(gyre_json *json, const gyre_trend *trend)
{
    gyre_json_begin_array(json, "changes");
    for (size_t i = 0; i < trend->change_count; i++) {
        const gyre_trend_change *change = &trend->changes[i];

        gyre_json_begin_array(json, NULL);
        gyre_json_unsigned(json, NULL, change->index);
        put_number(json, change->before_ns);
        put_number(json, change->after_ns);
        put_number(json, change->ratio);
        put_number(json, change->p);
        gyre_json_end(json);
    }
    gyre_json_end(json);
    if (!trend->known)
        return;
    gyre_json_begin_array(json, "drift");
    gyre_json_unsigned(json, NULL, trend->since);
    put_number(json, trend->drift);
    put_number(json, trend->low);
    put_number(json, trend->high);
    gyre_json_end(json);
}

static void write_series(gyre_json *json, const gyre_trends_series *series, const run_ref *runs,
                         size_t count)
{
    const gyre_history_points *points = &series->points;
    size_t run = 0;

    gyre_json_begin_object(json, NULL);
    gyre_json_string(json, "id", points->point[0].id);
    gyre_json_begin_array(json, "run"); /* both are in order */
    for (size_t i = 0; i < points->count; i++) {
        while (run + 1 < count && runs[run].point->run < points->point[i].run)
            run++;
        gyre_json_unsigned(json, NULL, run);
    }
    gyre_json_end(json);
    write_column(json, "median", points, offsetof(gyre_history_point, median_ns));
    write_column(json, "low", points, offsetof(gyre_history_point, low_ns));
    write_column(json, "high", points, offsetof(gyre_history_point, high_ns));
    write_trend(json, &series->trend);
    gyre_json_end(json);
}

void gyre_trends_write(FILE *stream, const gyre_trends *trends)
{
    gyre_json json = {.stream = stream};
    size_t count;
    run_ref *runs = runs_of(trends, &count);

    gyre_json_begin_object(&json, NULL);
    gyre_json_string(&json, "machine", trends->machine);
    write_runs(&json, runs, count);
    gyre_json_begin_array(&json, "series");
    for (size_t i = 0; i < trends->count && runs; i++)
        write_series(&json, &trends->series[i], runs, count);
    gyre_json_end(&json);
    gyre_json_end(&json);
    free(runs);
}
