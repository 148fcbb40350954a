/* SPDX-License-Identifier: Apache-2.0
 *
 * history: series, drawn and exported. See history.h.
 */
#include "history.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
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

/* Whatever was plotted already. */
typedef struct plotting {
    gyre_json json;
    size_t count;
} plotting;

/* One series, if there is anything of it. */
static gyre_status plot_one(history_request *r, plotting *p, const char *id)
{
    gyre_history_points series;
    gyre_arena arena = {0};
    gyre_trend trend;
    gyre_status status;

    r->query.id = id;
    status = gyre_history_series(r->history, &r->query, &series);
    if (status != GYRE_OK || series.count == 0)
        return status;
    status = gyre_trend_find(&series, &arena, &trend);
    if (status == GYRE_OK && r->json) {
        gyre_history_json_series(&p->json, &series, &trend);
    } else if (status == GYRE_OK) {
        fputs(p->count > 0 ? "\n" : "", stdout);
        gyre_history_chart(stdout, &series, &trend);
    }
    p->count++;
    gyre_arena_fini(&arena);
    gyre_history_points_fini(&series);
    return status;
}

/* The benchmark of that id, or else every one that matches. */
static gyre_status plot_wanted(history_request *r, plotting *p, const gyre_filter *filter)
{
    gyre_history_points ids;
    gyre_status status = plot_one(r, p, r->operand);

    if (status != GYRE_OK || p->count > 0)
        return status;
    status = gyre_history_ids(r->history, &ids);
    if (status != GYRE_OK)
        return status;
    for (size_t i = 0; i < ids.count && status == GYRE_OK; i++)
        if (gyre_filter_wants(filter, ids.point[i].id, 0))
            status = plot_one(r, p, ids.point[i].id);
    gyre_history_points_fini(&ids);
    return status;
}

gyre_status history_plot(history_request *r)
{
    plotting p = {.json = {.stream = stdout}};
    gyre_filter filter;
    gyre_status status;

    if (!r->operand)
        return gyre_fail(GYRE_INVALID, "say which benchmark: its id, or a pattern");
    status = gyre_filter_init(&filter, &r->operand, 1, false, NULL, 0);
    if (status != GYRE_OK)
        return status;
    r->query.measured = true;
    if (r->query.most == 0)
        r->query.most = PLOT_RUNS;
    if (r->json) {
        gyre_history_json_begin(&p.json);
        gyre_json_begin_array(&p.json, "series");
    }
    status = plot_wanted(r, &p, &filter);
    gyre_filter_fini(&filter);
    if (status != GYRE_OK)
        return status;
    if (r->json) {
        gyre_json_end(&p.json);
        gyre_json_end(&p.json);
    } else if (p.count == 0) {
        fprintf(stderr, "gyre history: no benchmark that was measured matches '%.*s'\n",
                gyre_text_cut(strlen(r->operand)), r->operand);
        history_say_none(r);
    }
    return GYRE_OK;
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
