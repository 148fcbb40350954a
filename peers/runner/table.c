/* SPDX-License-Identifier: Apache-2.0
 *
 * table: see table.h.
 */
#include "peers/runner/table.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/terminal.h"

enum { WORK_WIDTH = 29, FIGURE_WIDTH = 9, LIMIT_WIDTH = 19, CONDITIONS_WIDTH = 25 };

typedef struct figure {
    char text[24];
} figure;

/* Three digits: "1.34 ns", "12.3 ns", "576 ns", "64.2 us". */
static figure figure_of(double ns)
{
    const bool large = ns >= 10000;
    const double value = large ? ns / 1000 : ns;
    figure f;

    if (isnan(ns))
        return (figure){"-"};
    snprintf(f.text, sizeof f.text, "%.*f %s",
             value < 9.995   ? 2
             : value < 99.95 ? 1
                             : 0,
             value, large ? "us" : "ns");
    return f;
}

static figure ratio_of(double ratio)
{
    figure f;

    if (isnan(ratio))
        return (figure){"-"};
    snprintf(f.text, sizeof f.text, ratio < 99.5 ? "%.2fx" : "%.0fx", ratio);
    return f;
}

/* Never "100 %" or "0 %" for what is not all or nothing. */
static figure loss_of(double loss)
{
    figure f;

    if (loss == 0)
        return (figure){"none"};
    snprintf(f.text, sizeof f.text, "%.*f %%", loss > 0.999 ? 3 : 1, 100 * loss);
    return f;
}

static const char *shown_class(peers_class class_)
{
    return class_ == PEERS_SINGLE ? "-" : peers_class_name(class_);
}

static void put_row(FILE *stream, const peers_row *row)
{
    static const gyre_ink inks[] = {GYRE_INK_GOOD, GYRE_INK_BAD, GYRE_INK_WARN, GYRE_INK_PLAIN};

    fprintf(stream, "%-*s%*s%*s%8s  %-*s%s%-11s%s%*s  %-5s%8s%9zu  %-*s%s", WORK_WIDTH, row->work,
            FIGURE_WIDTH, figure_of(row->gyre_ns).text, FIGURE_WIDTH + 2,
            figure_of(row->best_peer_ns).text, ratio_of(row->ratio).text, LIMIT_WIDTH,
            row->limit_text, gyre_terminal_ink(stream, inks[row->verdict]),
            peers_verdict_name(row->verdict), gyre_terminal_ink(stream, GYRE_INK_PLAIN),
            FIGURE_WIDTH, figure_of(row->floor_ns).text, shown_class(row->class_),
            loss_of(row->loss).text, row->samples, CONDITIONS_WIDTH, row->conditions,
            row->best_peer[0] ? row->best_peer : "-");
    if (row->best_peer_conditions[0])
        fprintf(stream, " (%s)", row->best_peer_conditions);
    fputc('\n', stream);
}

static void put_absent(FILE *stream)
{
    for (size_t i = 0; peers_absents[i].name; i++) {
        fprintf(stream, "%s is not here: ", peers_absents[i].name);
        gyre_text_print(stream, peers_absents[i].reason);
        fputc('\n', stream);
    }
}

static void put_problem(FILE *stream, const peers_result *result)
{
    fprintf(stream, "%s: %s %s: %s\n", result->work->id, result->library->name, result->way->name,
            result->problem[0] ? result->problem : "right");
}

size_t peers_table_answers(FILE *stream, const peers_run *run, bool verbose)
{
    size_t wrong = 0, odd = 0;

    for (size_t i = 0; i < run->count; i++) {
        const peers_result *result = &run->results[i];
        const bool collapsed = strncmp(result->problem, "collapsed", 9) == 0;

        if (result->problem[0] || verbose)
            put_problem(stream, result);
        odd += result->problem[0] != '\0';
        /* others may collapse; we may not */
        wrong += result->problem[0] && !result->skipped &&
                 (!collapsed || result->library->kind != PEERS_PEER);
    }
    put_absent(stream);
    fprintf(stream, "%zu ways tried once: %zu right, %zu wrong, %zu with another problem\n",
            run->count, run->count - odd, wrong, odd - wrong);
    return wrong;
}

static void put_notes(FILE *stream, const peers_run *run)
{
    for (size_t i = 0; i < run->row_count; i++) {
        const peers_row *row = &run->rows[i];

        if (row->also[0] && !isnan(row->also_value))
            fprintf(stream, "%s: %s is %.3f, at most %g\n", row->work, row->also, row->also_value,
                    row->also_limit);
        if (row->faster_peer[0])
            fprintf(stream, "%s: faster than the peer that it is compared with: %s, %s\n",
                    row->work, row->faster_peer, figure_of(row->faster_peer_ns).text);
        if (row->verdict == PEERS_UNDECIDED)
            fprintf(stream, "%s (%s): undecided: %s\n", row->work, shown_class(row->class_),
                    row->reason);
    }
    for (size_t i = 0; i < run->count; i++)
        if (run->results[i].problem[0])
            put_problem(stream, &run->results[i]);
    put_absent(stream);
}

static void put_way(FILE *stream, const peers_result *result, peers_class class_)
{
    const peers_series *series = &result->series[class_];
    const peers_way *way = result->way;

    fprintf(stream,
            "  %-18s%-40s %-5s%*s [%s, %s]  %zu samples, %zu stolen, %zu unsteady; "
            "capacity %s, %s, %s in flight",
            result->library->name, way->name, shown_class(class_), FIGURE_WIDTH,
            figure_of(series->count ? peers_series_median(series) : (double)NAN).text,
            figure_of(series->count ? peers_series_quantile(series, 0.05) : (double)NAN).text,
            figure_of(series->count ? peers_series_quantile(series, 0.95) : (double)NAN).text,
            series->count, result->stolen, result->unsteady, way->capacity, way->policy,
            way->in_flight);
    if (result->sent > 0)
        fprintf(stream, "; loss %s", loss_of((double)result->lost / (double)result->sent).text);
    if (result->problem[0])
        fprintf(stream, "; %s", result->problem);
    if (way->aside)
        fprintf(stream, "; aside: %s", way->aside);
    fputc('\n', stream);
}

static void put_ways(FILE *stream, const peers_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        const peers_result *result = &run->results[i];
        bool some = false;

        if (i == 0 || result->work != run->results[i - 1].work)
            fprintf(stream, "\n%s: %s\n", result->work->id, result->work->what);
        for (int c = 0; c < PEERS_CLASSES; c++)
            if (result->series[c].count > 0) {
                put_way(stream, result, (peers_class)c);
                some = true;
            }
        if (!some)
            put_way(stream, result, PEERS_SINGLE);
    }
}

void peers_table_print(FILE *stream, const peers_run *run, bool verbose)
{
    size_t tally[4] = {0};

    fprintf(stream, "%-*s%*s%*s%8s  %-*s%-11s%*s  %-5s%8s%9s  %-*s%s\n", WORK_WIDTH, "work",
            FIGURE_WIDTH, "Gyre", FIGURE_WIDTH + 2, "best peer", "ratio", LIMIT_WIDTH, "limit", "",
            FIGURE_WIDTH, "floor", "class", "loss", "samples", CONDITIONS_WIDTH,
            "holds, full, on the way", "best lossless peer (the same of it)");
    for (size_t i = 0; i < run->row_count; i++) {
        put_row(stream, &run->rows[i]);
        tally[run->rows[i].verdict]++;
    }
    put_notes(stream, run);
    if (verbose)
        put_ways(stream, run);
    fprintf(stream,
            "%zu met, %zu missed, %zu undecided, %zu not judged of %zu in %.0f s; seed %016llx%s\n",
            tally[PEERS_MET], tally[PEERS_MISSED], tally[PEERS_UNDECIDED], tally[PEERS_NOT_JUDGED],
            run->row_count, run->head->duration_s, (unsigned long long)run->seed,
            run->head->interrupted ? "; interrupted" : "");
}

/* A bar would end a cell. */
static void put_cell(FILE *stream, const char *text)
{
    fputs("| ", stream);
    for (; *text; text++) {
        if (*text == '|')
            fputc('\\', stream);
        fputc(*text, stream);
    }
    fputc(' ', stream);
}

static void put_conditions(FILE *stream, const peers_row *row)
{
    char text[3 * PEERS_NAME];

    if (!row->best_peer_conditions[0] || strcmp(row->conditions, row->best_peer_conditions) == 0)
        snprintf(text, sizeof text, "%s", row->conditions);
    else
        snprintf(text, sizeof text, "%s; the peer: %s", row->conditions, row->best_peer_conditions);
    put_cell(stream, text);
}

void peers_table_markdown(FILE *stream, const char *path, const peers_row *rows, size_t count)
{
    fprintf(stream, "Medians of one run, [`%s`](%s):\n\n", path, path);
    fputs(
        "| work | Gyre | best lossless peer | its figure | ratio | limit | | floor | class | loss "
        "| capacity, policy, in flight |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
        stream);
    for (size_t i = 0; i < count; i++) {
        const peers_row *row = &rows[i];
        char work[PEERS_NAME + 2];

        snprintf(work, sizeof work, "`%s`", row->work);
        put_cell(stream, work);
        put_cell(stream, figure_of(row->gyre_ns).text);
        put_cell(stream, row->best_peer[0] ? row->best_peer : "-");
        put_cell(stream, figure_of(row->best_peer_ns).text);
        put_cell(stream, ratio_of(row->ratio).text);
        put_cell(stream, row->limit_text);
        put_cell(stream, peers_verdict_name(row->verdict));
        put_cell(stream, figure_of(row->floor_ns).text);
        put_cell(stream, shown_class(row->class_));
        put_cell(stream, loss_of(row->loss).text);
        put_conditions(stream, row);
        fputs("|\n", stream);
    }
    for (size_t i = 0; i < count; i++)
        if (rows[i].faster_peer[0])
            fprintf(stream, "\nFaster than the peer that `%s` is held against: %s, %s.\n",
                    rows[i].work, rows[i].faster_peer, figure_of(rows[i].faster_peer_ns).text);
}

void peers_table_list(FILE *stream, const peers_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        const peers_result *result = &run->results[i];

        if (i == 0 || result->work != run->results[i - 1].work)
            fprintf(stream, "%s: %s\n", result->work->id, result->work->what);
        fprintf(stream, "  %s%s%s %s%s%s\n", result->library->name,
                result->library->version[0] ? " " : "", result->library->version, result->way->name,
                result->way->aside ? "; aside: " : "",
                result->way->aside ? result->way->aside : "");
    }
    for (size_t i = 0; peers_absents[i].name; i++)
        fprintf(stream, "%s is not here: %s\n", peers_absents[i].name, peers_absents[i].reason);
}
