/* SPDX-License-Identifier: Apache-2.0
 *
 * selftest_table: see selftest_table.h.
 */
#include "report/selftest_table.h"

#include <string.h>

#include "base/text.h"
#include "report/terminal.h"

enum { NAME_WIDTH = 14, SHARE_WIDTH = 22, ATTAINED_WIDTH = 20, WHAT_WIDTH = 26, LIMIT_WIDTH = 36 };

static void put_blanks(FILE *stream, int written, int width)
{
    fprintf(stream, "%*s", written < width ? width - written : 1, "");
}

static void put_share(FILE *stream, const gyre_selftest_share *share)
{
    char text[64];

    snprintf(text, sizeof text, "%5.1f [%4.1f, %5.1f]", 100 * share->share, 100 * share->low,
             100 * share->high);
    put_blanks(stream, (int)strlen(text), SHARE_WIDTH);
    fputs(text, stream);
}

static void put_shares(FILE *stream, const gyre_selftest *selftest, size_t first)
{
    fprintf(stream, "\n%-*s%8s%*s%*s%*s%*s\n", NAME_WIDTH,
            gyre_selftest_workload_name(selftest->rows[first].workload), "trials", SHARE_WIDTH,
            "alarms or found, %", SHARE_WIDTH, "unconfirmed, %", SHARE_WIDTH, "equivalent, %",
            SHARE_WIDTH, "undecided, %");
    for (size_t i = first; i < first + GYRE_SELFTEST_KINDS; i++) {
        const gyre_selftest_figures figures = gyre_selftest_figure(selftest, i);

        fprintf(stream, "  %-*s%8zu", NAME_WIDTH - 2,
                gyre_selftest_kind_name(selftest->rows[i].kind), figures.trials);
        if (figures.trials > 0) {
            put_share(stream, &figures.found);
            put_share(stream, &figures.unconfirmed);
            put_share(stream, &figures.equivalent);
            put_share(stream, &figures.undecided);
        }
        fputc('\n', stream);
        if (figures.wrong > 0)
            fprintf(stream, "%*s%zu more confirmed as faster, with work added\n", NAME_WIDTH, "",
                    figures.wrong);
    }
}

static void put_proof(FILE *stream, const gyre_selftest_row *row)
{
    if (gyre_selftest_extra(row->kind) == 0)
        return;
    if (row->proof.known)
        fprintf(stream, "%+20.3f", 100 * (row->proof.new_value / row->proof.old_value - 1));
    else
        fprintf(stream, "%20s", "not proved");
}

static void put_figures(FILE *stream, const gyre_selftest *selftest, size_t first)
{
    fprintf(stream, "%*s%12s%8s%10s%10s%12s%10s%10s%20s\n", NAME_WIDTH, "", "change, %", "sd",
            "MDE, %", "largest", "verdict, s", "longest", "launches", "instructions, %");
    for (size_t i = first; i < first + GYRE_SELFTEST_KINDS; i++) {
        const gyre_selftest_figures f = gyre_selftest_figure(selftest, i);

        fprintf(stream, "  %-*s%+12.3f%8.3f%10.2f%10.2f%12.2f%10.2f%10g", NAME_WIDTH - 2,
                gyre_selftest_kind_name(selftest->rows[i].kind), 100 * f.change, 100 * f.change_sd,
                100 * f.mde, 100 * f.mde_largest, f.seconds, f.seconds_largest, f.launches);
        put_proof(stream, &selftest->rows[i]);
        fputc('\n', stream);
    }
}

/* Once, where it is the same for all rows, as it is without valgrind. */
static void put_reasons(FILE *stream, const gyre_selftest *selftest)
{
    const char *last = "";

    for (size_t i = 0; i < GYRE_SELFTEST_ROWS; i++) {
        const gyre_selftest_row *row = &selftest->rows[i];

        if (!row->proof.reason[0] || strcmp(row->proof.reason, last) == 0)
            continue;
        last = row->proof.reason;
        fprintf(stream, "\n%s %s is not proved: ", gyre_selftest_workload_name(row->workload),
                gyre_selftest_kind_name(row->kind));
        gyre_text_print(stream, last);
        fputc('\n', stream);
    }
}

static void print_limit(const gyre_selftest_target *t, char *text, size_t size)
{
    const char *bound = t->at_least ? "at least" : "at most";

    if (t->bound_limit > 0)
        snprintf(text, size, "%s %g %%, bound at most %g %%", bound, 100 * t->limit,
                 100 * t->bound_limit);
    else if (t->unit == GYRE_SELFTEST_SECONDS)
        snprintf(text, size, "%s %g s", bound, t->limit);
    else
        snprintf(text, size, "%s %g %%", bound, 100 * t->limit);
}

static void put_value(FILE *stream, const gyre_selftest_target *t)
{
    if (t->attained == GYRE_ATTAINED_NOT_MEASURED)
        fputs("-\n", stream);
    else if (t->unit == GYRE_SELFTEST_SHARE)
        fprintf(stream, "%.2f %%, %s %.2f %% (%zu of %zu)\n", 100 * t->value,
                t->at_least ? "at least" : "at most",
                100 * (t->at_least ? t->share.low : t->share.high), t->share.hits, t->share.trials);
    else if (t->unit == GYRE_SELFTEST_SECONDS)
        fprintf(stream, "%.1f s\n", t->value);
    else
        fprintf(stream, "%.3f %%\n", 100 * t->value);
}

static void put_target(FILE *stream, const gyre_selftest_target *t)
{
    static const char *const words[] = {"met", "missed", "not enough trials", "not measured"};
    static const gyre_ink inks[] = {GYRE_INK_GOOD, GYRE_INK_BAD, GYRE_INK_WARN, GYRE_INK_WARN};
    char limit[64];

    print_limit(t, limit, sizeof limit);
    fprintf(stream, "  %s%-*s%s%-*s%-*s%-*s", gyre_terminal_ink(stream, inks[t->attained]),
            ATTAINED_WIDTH, words[t->attained], gyre_terminal_ink(stream, GYRE_INK_PLAIN),
            NAME_WIDTH, t->workload, WHAT_WIDTH, t->what, LIMIT_WIDTH, limit);
    put_value(stream, t);
}

static void put_end(FILE *stream, const gyre_selftest *selftest,
                    const gyre_selftest_target targets[GYRE_SELFTEST_TARGETS])
{
    size_t tally[4] = {0};
    const char *plain = gyre_terminal_ink(stream, GYRE_INK_PLAIN);

    for (size_t i = 0; i < GYRE_SELFTEST_TARGETS; i++)
        tally[targets[i].attained]++;
    if (!selftest->head->interrupted && selftest->count < selftest->capacity)
        fprintf(stream, "%zu of %zu trials were taken, then the time was up\n", selftest->count,
                selftest->capacity);
    if (!gyre_selftest_proved(selftest))
        fprintf(stream, "%sthe added work is not proved%s, so this is no full proof of the judge\n",
                gyre_terminal_ink(stream, GYRE_INK_WARN), plain);
    if (selftest->head->interrupted)
        fprintf(stream, "interrupted after %zu of %zu trials; nothing is kept\n", selftest->count,
                selftest->capacity);
    else if (tally[GYRE_ATTAINED_MISSED] > 0)
        fprintf(stream, "%sfailed%s: %zu of %d targets are missed\n",
                gyre_terminal_ink(stream, GYRE_INK_BAD), plain, tally[GYRE_ATTAINED_MISSED],
                GYRE_SELFTEST_TARGETS);
    else if (tally[GYRE_ATTAINED_UNCLEAR] > 0)
        fprintf(stream,
                "%spassed%s, as far as so few trials can say; 'gyre selftest --full' says more\n",
                gyre_terminal_ink(stream, GYRE_INK_GOOD), plain);
    else
        fprintf(stream, "%spassed%s\n", gyre_terminal_ink(stream, GYRE_INK_GOOD), plain);
}

void gyre_selftest_table_print(FILE *stream, const gyre_selftest *selftest)
{
    gyre_selftest_target targets[GYRE_SELFTEST_TARGETS];

    gyre_selftest_judge(selftest, targets);
    fprintf(stream,
            "the judge on this machine: %s, %zu trials in %.0f s; margin %g %%, alpha %g %%, seed "
            "%016llx\nshares are [at least, at most], each bound exact and of 95 %%; the rest are "
            "medians\n",
            gyre_selftest_mode_name(selftest->mode), selftest->count, selftest->head->duration_s,
            100 * selftest->rule.margin, 100 * selftest->rule.alpha,
            (unsigned long long)selftest->seed);
    for (size_t first = 0; first < GYRE_SELFTEST_ROWS; first += GYRE_SELFTEST_KINDS) {
        put_shares(stream, selftest, first);
        put_figures(stream, selftest, first);
    }
    put_reasons(stream, selftest);
    fputs("\ntargets\n", stream);
    for (size_t i = 0; i < GYRE_SELFTEST_TARGETS; i++)
        if (targets[i].limit > 0)
            put_target(stream, &targets[i]);
    put_end(stream, selftest, targets);
}
