/* SPDX-License-Identifier: Apache-2.0
 *
 * history: series, drawn and exported. See history.h.
 */
#include "history.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "bench/filter.h"
#include "record/trend.h"
#include "report/history_chart.h"
#include "report/history_export.h"

enum { PLOT_RUNS = 500 };

void history_say_none(const history_request *r)
{
    if (r->query.machine)
        fprintf(stderr,
                "gyre history: there is none of machine %s; --machine all shows those of "
                "the others\n",
                r->query.machine);
    else
        fprintf(stderr, "gyre history: there is none\n");
}

/* One series; `first` is whether it is. */
static gyre_status plot_one(history_request *r, gyre_json *json, const char *id, bool first)
{
    gyre_history_points series;
    gyre_arena arena = {0};
    gyre_trend trend;
    gyre_status status;

    r->query.id = id;
    status = gyre_history_series(r->history, &r->query, &series);
    if (status != GYRE_OK)
        return status;
    status = gyre_trend_find(&series, &arena, &trend);
    if (status == GYRE_OK && r->json) {
        gyre_history_json_series(json, &series, &trend);
    } else if (status == GYRE_OK && series.count > 0) {
        fputs(first ? "" : "\n", stdout);
        gyre_history_chart(stdout, &series, &trend);
    }
    gyre_arena_fini(&arena);
    gyre_history_points_fini(&series);
    return status;
}

/* Whether the id is the operand, which goes before what it matches. */
static bool has_id(const gyre_history_points *ids, const char *operand)
{
    for (size_t i = 0; i < ids->count; i++)
        if (strcmp(ids->point[i].id, operand) == 0)
            return true;
    return false;
}

static gyre_status plot_all(history_request *r, const gyre_history_points *ids)
{
    gyre_json json = {.stream = stdout};
    gyre_filter filter;
    size_t plotted = 0;
    gyre_status status =
        gyre_filter_init(&filter, &r->operand, 1, has_id(ids, r->operand), NULL, 0);

    if (status != GYRE_OK)
        return status;
    if (r->json) {
        gyre_history_json_begin(&json);
        gyre_json_begin_array(&json, "series");
    }
    for (size_t i = 0; i < ids->count && status == GYRE_OK; i++)
        if (gyre_filter_wants(&filter, ids->point[i].id, 0))
            status = plot_one(r, &json, ids->point[i].id, plotted++ == 0);
    if (r->json && status == GYRE_OK) {
        gyre_json_end(&json);
        gyre_json_end(&json);
    }
    gyre_filter_fini(&filter);
    if (status == GYRE_OK && plotted == 0 && !r->json) {
        fprintf(stderr, "gyre history: no benchmark of %zu matches\n", ids->count);
        history_say_none(r);
    }
    return status;
}

gyre_status history_plot(history_request *r)
{
    gyre_history_points ids;
    gyre_status status;

    if (!r->operand)
        return gyre_fail(GYRE_INVALID, "say which benchmark: its id, or a pattern");
    r->query.measured = true;
    status = gyre_history_ids(r->history,
                              &(gyre_history_query){.machine = r->query.machine,
                                                    .since = r->query.since,
                                                    .measured = true},
                              &ids);
    if (status != GYRE_OK)
        return status;
    if (r->query.most == 0)
        r->query.most = PLOT_RUNS;
    status = plot_all(r, &ids);
    gyre_history_points_fini(&ids);
    return status;
}

/* Leaves the points that the pattern wants; their memory stays as it is. */
static gyre_status choose(const history_request *r, gyre_history_points *points)
{
    gyre_filter filter;
    size_t kept = 0;
    const gyre_status status = gyre_filter_init(&filter, &r->operand, 1, false, NULL, 0);

    if (status != GYRE_OK)
        return status;
    for (size_t i = 0; i < points->count; i++)
        if (points->point[i].id && gyre_filter_wants(&filter, points->point[i].id, 0))
            points->point[kept++] = points->point[i];
    points->count = kept;
    gyre_filter_fini(&filter);
    return GYRE_OK;
}

/* The points of the newest runs, not the newest points. */
static gyre_status limit_runs(history_request *r)
{
    gyre_history_runs runs;
    gyre_status status;

    if (r->query.most == 0)
        return GYRE_OK;
    status = gyre_history_list(r->history, &r->query, &runs);
    if (status != GYRE_OK)
        return status;
    r->query.from = runs.count > 0 ? runs.run[0].number : 0;
    r->query.most = 0;
    gyre_history_runs_fini(&runs);
    return GYRE_OK;
}

gyre_status history_export(history_request *r)
{
    gyre_json json = {.stream = stdout};
    gyre_history_points points;
    gyre_history_runs runs;
    gyre_status status = limit_runs(r);

    if (status == GYRE_OK)
        status = gyre_history_series(r->history, &r->query, &points);
    if (status != GYRE_OK)
        return status;
    if (r->operand)
        status = choose(r, &points);
    if (status == GYRE_OK && r->csv) {
        gyre_history_csv(stdout, &points);
    } else if (status == GYRE_OK) {
        status = gyre_history_list(r->history, &r->query, &runs);
        if (status == GYRE_OK) {
            gyre_history_json_begin(&json);
            gyre_history_json_runs(&json, &runs);
            gyre_history_json_points(&json, &points);
            gyre_json_end(&json);
            gyre_history_runs_fini(&runs);
        }
    }
    gyre_history_points_fini(&points);
    return status;
}
