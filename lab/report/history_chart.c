/* SPDX-License-Identifier: Apache-2.0
 *
 * history_chart: see history_chart.h.
 *
 * A run is a column: 'o' its median, '|' its interval, ':' where a new level begins, with a letter
 * below that the list under the chart explains.
 */
#include "report/history_chart.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "record/moment.h"
#include "report/history_table.h"
#include "report/quantity.h"
#include "report/terminal.h"

enum { ROWS = 12, COLUMNS = 66, LABEL = 10, DAY = 10 };

typedef struct chart {
    const gyre_history_point *point; /* the first that is drawn */
    size_t count, skipped, step;     /* columns from one run to the next */
    double low, high;                /* of the axis */
    char cell[ROWS][COLUMNS];
    char axis[COLUMNS];
} chart;

/* All medians; of intervals as much as the medians span on either side, so that one wild run does
 * not flatten the rest. */
static void choose_range(chart *c)
{
    double least = (double)INFINITY, most = 0, low = (double)INFINITY, high = 0, span;

    for (size_t i = 0; i < c->count; i++) {
        const gyre_history_point *p = &c->point[i];

        least = fmin(least, p->median_ns);
        most = fmax(most, p->median_ns);
        low = fmin(low, p->low_ns); /* which pass over what is not a number */
        high = fmax(high, p->high_ns);
    }
    span = fmax(most - least, 0.02 * most);
    c->low = fmax(fmin(low, least), least - span);
    c->high = fmin(fmax(high, most), most + span);
    if (c->high - c->low < 0.5 * span) {
        c->low -= 0.25 * span;
        c->high += 0.25 * span;
    }
}

static size_t row_of(const chart *c, double ns)
{
    const double part = (c->high - ns) / (c->high - c->low);

    return (size_t)lround(fmin(1, fmax(0, part)) * (ROWS - 1));
}

static char letter_of(size_t change)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ*";

    return letters[change < sizeof letters - 2 ? change : sizeof letters - 2];
}

static void draw(chart *c, const gyre_trend *trend)
{
    memset(c->cell, ' ', sizeof c->cell);
    memset(c->axis, '-', sizeof c->axis);
    for (size_t i = 0; i < trend->change_count; i++) {
        const size_t index = trend->changes[i].index;

        if (index < c->skipped)
            continue;
        for (size_t row = 0; row < ROWS; row++)
            c->cell[row][(index - c->skipped) * c->step] = ':';
        c->axis[(index - c->skipped) * c->step] = letter_of(i);
    }
    for (size_t i = 0; i < c->count; i++) {
        const gyre_history_point *p = &c->point[i];

        if (isfinite(p->low_ns) && isfinite(p->high_ns) && p->low_ns <= p->high_ns)
            for (size_t row = row_of(c, p->high_ns); row <= row_of(c, p->low_ns); row++)
                c->cell[row][i * c->step] = '|';
        c->cell[row_of(c, p->median_ns)][i * c->step] = 'o';
    }
}

static void print_row(FILE *stream, const chart *c, size_t row)
{
    const double ns = c->high - (c->high - c->low) * (double)row / (ROWS - 1);
    const bool labelled = row == 0 || row == ROWS / 2 || row == ROWS - 1;
    int end = COLUMNS;

    while (end > 0 && c->cell[row][end - 1] == ' ')
        end--;
    fprintf(stream, "%*s |%s", LABEL, labelled ? gyre_quantity_time(ns).text : "",
            end > 0 ? " " : "");
    for (int i = 0; i < end; i++) {
        const char mark = c->cell[row][i];

        if (mark == 'o')
            fprintf(stream, "%so%s", gyre_terminal_ink(stream, GYRE_INK_GOOD),
                    gyre_terminal_ink(stream, GYRE_INK_PLAIN));
        else
            fputc(mark, stream);
    }
    fputc('\n', stream);
}

static void print_axis(FILE *stream, const chart *c)
{
    const int width = (int)((c->count - 1) * c->step) + 1;
    const uint64_t first = c->point[0].run, last = c->point[c->count - 1].run;
    char left[32], right[32];
    int gap;

    fprintf(stream, "%*s +-%.*s\n", LABEL, "", width, c->axis);
    snprintf(left, sizeof left, "run %" PRIu64, first);
    snprintf(right, sizeof right, "%" PRIu64, last);
    gap = width - (int)strlen(left) - (int)strlen(right);
    if (c->count == 1)
        fprintf(stream, "%*s   %s\n", LABEL, "", left);
    else
        fprintf(stream, "%*s   %s%*s%s\n", LABEL, "", left, gap > 4 ? gap : 4,
                gap > 4 ? "" : " to ", right);
}

static void print_day(FILE *stream, time_t moment)
{
    char text[GYRE_MOMENT_BYTES];

    gyre_moment_print(moment, text);
    fprintf(stream, "%.*s", DAY, text);
}

static void print_changes(FILE *stream, const gyre_history_points *series, const gyre_trend *trend)
{
    for (size_t i = 0; i < trend->change_count; i++) {
        const gyre_trend_change *change = &trend->changes[i];
        const gyre_history_point *p = &series->point[change->index];

        fprintf(stream, "  %c  run %" PRIu64 " of ", letter_of(i), p->run);
        print_day(stream, p->started);
        if (p->commit && p->commit[0])
            fprintf(stream, ", commit %s", gyre_commit_short(p->commit, p->dirty).text);
        fprintf(stream, ":\n     %s%+.2f %%%s, from %s to %s (p = %.2g)\n",
                gyre_terminal_ink(stream, change->ratio > 0 ? GYRE_INK_BAD : GYRE_INK_GOOD),
                100 * change->ratio, gyre_terminal_ink(stream, GYRE_INK_PLAIN),
                gyre_quantity_time(change->before_ns).text,
                gyre_quantity_time(change->after_ns).text, change->p);
    }
}

static void print_drift(FILE *stream, const gyre_history_points *series, const gyre_trend *trend)
{
    const uint64_t since = series->point[trend->since].run;

    fprintf(stream, "  drift since run %" PRIu64 ": ", since);
    if (!trend->known)
        fprintf(stream, "too few runs to tell (%zu of %d)\n", series->count - trend->since,
                GYRE_TREND_LEAST);
    else if (trend->low <= 0 && trend->high >= 0)
        fprintf(stream, "none found, between %+.3f %% and %+.3f %% a run (95 %%)\n",
                100 * trend->low, 100 * trend->high);
    else
        fprintf(stream, "%+.3f %% a run [%+.3f %%, %+.3f %%] (95 %%)\n", 100 * trend->drift,
                100 * trend->low, 100 * trend->high);
}

void gyre_history_chart(FILE *stream, const gyre_history_points *series, const gyre_trend *trend)
{
    const size_t skipped = series->count > COLUMNS ? series->count - COLUMNS : 0;
    chart c = {.point = series->point + skipped, .count = series->count - skipped};

    c.skipped = skipped;
    c.step = c.count <= COLUMNS / 3 ? 3 : c.count <= COLUMNS / 2 ? 2 : 1;
    choose_range(&c);
    draw(&c, trend);
    fputs(gyre_terminal_ink(stream, GYRE_INK_BOLD), stream);
    gyre_text_print(stream, series->point[0].id ? series->point[0].id : "(no name)");
    fprintf(stream, "%s\n  %zu run%s, ", gyre_terminal_ink(stream, GYRE_INK_PLAIN), series->count,
            series->count == 1 ? "" : "s");
    print_day(stream, series->point[0].started);
    fputs(" to ", stream);
    print_day(stream, series->point[series->count - 1].started);
    if (skipped > 0)
        fprintf(stream, "; the last %zu are drawn", c.count);
    fputs("\n\n", stream);
    for (size_t row = 0; row < ROWS; row++)
        print_row(stream, &c, row);
    print_axis(stream, &c);
    fputc('\n', stream);
    print_changes(stream, series, trend);
    if (trend->change_count == 0 && series->count >= 4)
        fputs("  no change of level found\n", stream);
    print_drift(stream, series, trend);
}
