/* SPDX-License-Identifier: Apache-2.0
 *
 * run: see run.h. Members are written in the order of docs/formats/peers.md.
 */
#include "peers/runner/run.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "record/file.h"
#include "record/head.h"
#include "record/member.h"

static size_t count_ways(void)
{
    size_t count = 0;

    for (size_t i = 0; peers_libraries[i]; i++)
        count += peers_libraries[i]->count;
    return count;
}

/* All wanted ways of a work, next to one another. */
static void add_ways(peers_run *run, const peers_work *work)
{
    for (size_t i = 0; peers_libraries[i]; i++)
        for (size_t k = 0; k < peers_libraries[i]->count; k++) {
            const peers_way *way = &peers_libraries[i]->ways[k];

            if (strcmp(way->work, work->id) == 0)
                run->results[run->count++] =
                    (peers_result){.library = peers_libraries[i], .way = way, .work = work};
        }
}

gyre_status peers_run_create(int argc, char *const *argv,
                             bool (*wanted)(const void *arg, const char *work), const void *arg,
                             peers_run **out_run)
{
    peers_run *run = calloc(1, sizeof *run);
    gyre_status status;

    *out_run = NULL;
    if (!run)
        return gyre_fail(GYRE_NO_MEMORY, "out of memory for a run");
    run->results = calloc(count_ways() + 1, sizeof run->results[0]);
    if (!run->results) {
        peers_run_destroy(run);
        return gyre_fail(GYRE_NO_MEMORY, "out of memory for %zu ways", count_ways());
    }
    status = gyre_run_create(0, argc, argv, &run->head);
    if (status != GYRE_OK) {
        peers_run_destroy(run);
        return status;
    }
    for (size_t i = 0; peers_work_at(i); i++)
        if (!wanted || wanted(arg, peers_work_at(i)->id))
            add_ways(run, peers_work_at(i));
    run->head->commit = gyre_commit_find(&run->head->arena);
    *out_run = run;
    return GYRE_OK;
}

void peers_run_destroy(peers_run *run)
{
    if (!run)
        return;
    gyre_run_destroy(run->head);
    free(run->results);
    free(run);
}

/* To a thousandth of a nanosecond: more digits would be noise. */
static double rounded(double ns)
{
    return isfinite(ns) ? round(ns * 1000) / 1000 : ns;
}

static void write_row(gyre_json *json, const peers_row *row)
{
    gyre_json_begin_object(json, NULL);
    gyre_json_string(json, "work", row->work);
    gyre_json_double(json, "gyre_ns", rounded(row->gyre_ns));
    gyre_json_string(json, "best_peer", row->best_peer[0] ? row->best_peer : NULL);
    gyre_json_double(json, "best_peer_ns", rounded(row->best_peer_ns));
    gyre_json_double(json, "ratio", row->ratio);
    gyre_json_double(json, "limit", row->limit);
    gyre_json_double(json, "floor_ns", rounded(row->floor_ns));
    gyre_json_string(json, "class", peers_class_name(row->class_));
    gyre_json_double(json, "loss", row->loss);
    gyre_member_count(json, "samples", row->samples);
    gyre_json_string(json, "verdict", peers_verdict_name(row->verdict));
    gyre_json_string(json, "limit_text", row->limit_text);
    gyre_json_string(json, "conditions", row->conditions);
    gyre_member_some(json, "best_peer_conditions", row->best_peer_conditions);
    gyre_member_some(json, "reason", row->reason);
    if (row->faster_peer[0]) {
        gyre_json_string(json, "faster_peer", row->faster_peer);
        gyre_json_double(json, "faster_peer_ns", rounded(row->faster_peer_ns));
    }
    if (row->also[0]) {
        gyre_json_begin_object(json, "also");
        gyre_json_string(json, "what", row->also);
        gyre_json_double(json, "value", row->also_value);
        gyre_json_double(json, "limit", row->also_limit);
        gyre_json_end(json);
    }
    gyre_json_end(json);
}

static void write_samples(gyre_json *json, const char *key, const double *values, size_t count)
{
    gyre_json_begin_array(json, key);
    for (size_t i = 0; i < count; i++)
        gyre_json_double(json, NULL, rounded(values[i]));
    gyre_json_end(json);
}

static void write_way(gyre_json *json, const peers_result *result)
{
    static const char *const kinds[] = {"peer", "gyre", "floor"};
    const peers_way *way = result->way;

    gyre_json_string(json, "work", way->work);
    gyre_json_string(json, "kind", kinds[result->library->kind]);
    gyre_json_string(json, "library", result->library->name);
    gyre_member_some(json, "version", result->library->version);
    gyre_json_string(json, "way", way->name);
    gyre_json_bool(json, "lossless", way->lossless);
    gyre_json_string(json, "capacity", way->capacity);
    gyre_json_string(json, "policy", way->policy);
    gyre_json_string(json, "in_flight", way->in_flight);
    gyre_member_known(json, "aside", way->aside);
    gyre_member_some(json, "problem", result->problem);
}

static void write_series(gyre_json *json, const peers_result *result, peers_class class_)
{
    const peers_series *series = &result->series[class_];

    gyre_json_begin_object(json, NULL);
    write_way(json, result);
    gyre_json_string(json, "class", peers_class_name(class_));
    if (series->count > 0) {
        gyre_json_double(json, "median_ns", rounded(peers_series_median(series)));
        gyre_json_double(json, "low_ns", rounded(peers_series_quantile(series, 0.05)));
        gyre_json_double(json, "high_ns", rounded(peers_series_quantile(series, 0.95)));
    }
    gyre_json_double(json, "loss",
                     result->sent > 0 ? (double)result->lost / (double)result->sent : 0);
    gyre_member_count(json, "samples", series->count);
    gyre_member_count(json, "stolen", result->stolen);
    gyre_member_count(json, "unsteady", result->unsteady);
    gyre_member_count(json, "count", result->count);
    write_samples(json, "times_ns", series->ns, series->count);
    if (class_ != PEERS_SINGLE)
        write_samples(json, "pingpong_ns", series->pingpong_ns, series->count);
    gyre_json_end(json);
}

/* One for each class that it was seen in, or one without samples. */
static void write_result(gyre_json *json, const peers_result *result)
{
    bool some = false;

    for (int c = 0; c < PEERS_CLASSES; c++)
        if (result->series[c].count > 0) {
            write_series(json, result, (peers_class)c);
            some = true;
        }
    if (!some)
        write_series(json, result, result->work->roles == 1 ? PEERS_SINGLE : PEERS_FAR);
}

static void write_works(gyre_json *json, const peers_run *run)
{
    gyre_json_begin_object(json, "works");
    for (size_t i = 0; i < run->count; i++)
        if (i == 0 || run->results[i].work != run->results[i - 1].work)
            gyre_json_string(json, run->results[i].work->id, run->results[i].work->what);
    gyre_json_end(json);
}

/* Each once, in the order in which they are linked; floors have no version. */
static void write_libraries(gyre_json *json)
{
    gyre_json_begin_object(json, "libraries");
    for (size_t i = 0; peers_libraries[i]; i++) {
        bool known = !peers_libraries[i]->version[0];

        for (size_t k = 0; k < i; k++)
            known = known || strcmp(peers_libraries[k]->name, peers_libraries[i]->name) == 0;
        if (!known)
            gyre_json_string(json, peers_libraries[i]->name, peers_libraries[i]->version);
    }
    gyre_json_end(json);
}

static void write_absent(gyre_json *json)
{
    gyre_json_begin_array(json, "absent");
    for (size_t i = 0; peers_absents[i].name; i++) {
        gyre_json_begin_object(json, NULL);
        gyre_json_string(json, "library", peers_absents[i].name);
        gyre_json_string(json, "reason", peers_absents[i].reason);
        gyre_json_end(json);
    }
    gyre_json_end(json);
}

void peers_run_write(const peers_run *run, FILE *stream)
{
    gyre_json json = {.stream = stream};

    gyre_json_begin_object(&json, NULL);
    gyre_json_string(&json, "schema", "gyre.peers/1");
    gyre_head_write_start(&json, run->head);
    gyre_head_write_place(&json, run->head);
    gyre_json_string(&json, "mode", run->quick ? "quick" : "full");
    gyre_member_bits(&json, "seed", run->seed);
    gyre_json_begin_array(&json, "cpus");
    gyre_json_unsigned(&json, NULL, run->cpus[0]);
    gyre_json_unsigned(&json, NULL, run->cpus[1]);
    gyre_json_end(&json);
    write_libraries(&json);
    write_works(&json, run);
    gyre_json_begin_array(&json, "rows");
    for (size_t i = 0; i < run->row_count; i++)
        write_row(&json, &run->rows[i]);
    gyre_json_end(&json);
    write_absent(&json);
    gyre_json_begin_array(&json, "peers");
    for (size_t i = 0; i < run->count; i++)
        write_result(&json, &run->results[i]);
    gyre_json_end(&json);
    gyre_json_end(&json);
}

static void write_to(FILE *stream, const void *run)
{
    peers_run_write(run, stream);
}

gyre_status peers_run_save(const peers_run *run, const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    gyre_status status = GYRE_OK;

    if (slash && slash > path && (size_t)(slash - path) < sizeof folder) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        status = gyre_folder_open(folder);
    }
    return status == GYRE_OK ? gyre_file_replace(path, write_to, run) : status;
}
