/* SPDX-License-Identifier: Apache-2.0
 *
 * history_table: see history_table.h.
 */
#include "report/history_table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "record/moment.h"
#include "report/quantity.h"
#include "report/terminal.h"

enum { COLUMN = 24, COMMIT_LETTERS = 12, MINUTES = 16 };

gyre_commit_name gyre_commit_short(const char *commit, bool dirty)
{
    gyre_commit_name name;
    int letters = COMMIT_LETTERS;

    if (!commit || !commit[0])
        return (gyre_commit_name){"-"};
    if (strlen(commit) > COMMIT_LETTERS) /* not within a character */
        while (letters > 0 && ((unsigned char)commit[letters] & 0xC0) == 0x80)
            letters--;
    snprintf(name.text, sizeof name.text, "%.*s%s", letters, commit, dirty ? "+" : "");
    gyre_text_plain(name.text);
    return name;
}

/* "2026-11-15 05:53" */
static void print_minute(FILE *stream, time_t moment)
{
    char text[GYRE_MOMENT_BYTES];

    gyre_moment_print(moment, text);
    text[10] = ' ';
    fprintf(stream, "%.*s", MINUTES, text);
}

/* Padded to `width`, and cut there. */
static void print_cell(FILE *stream, const char *text, int width)
{
    char cell[32];

    snprintf(cell, sizeof cell, "%.*s", width < 31 ? width : 31, text ? text : "-");
    gyre_text_plain(cell);
    fprintf(stream, "%-*s", width, cell);
}

void gyre_history_table(FILE *stream, const gyre_history_runs *runs)
{
    fprintf(stream, "%s%6s  %-16s  %-14s%-10s%9s%8s%s\n", gyre_terminal_ink(stream, GYRE_INK_BOLD),
            "run", "started (UTC)", "commit", "machine", "measured", "failed",
            gyre_terminal_ink(stream, GYRE_INK_PLAIN));
    for (size_t i = runs->count; i-- > 0;) {
        const gyre_history_run *run = &runs->run[i];

        fprintf(stream, "%6" PRIu64 "  ", run->number);
        print_minute(stream, run->started);
        fputs("  ", stream);
        print_cell(stream, gyre_commit_short(run->commit, run->dirty).text, 14);
        print_cell(stream, run->machine, 10);
        fprintf(stream, "%9" PRIu64 "%s%8" PRIu64 "%s%s\n", run->measured,
                run->failed > 0 ? gyre_terminal_ink(stream, GYRE_INK_BAD) : "", run->failed,
                run->failed > 0 ? gyre_terminal_ink(stream, GYRE_INK_PLAIN) : "",
                run->interrupted ? "  interrupted" : "");
    }
}

static void print_fact(FILE *stream, const char *name, const char *text)
{
    if (!text || !text[0])
        return;
    fprintf(stream, "  %-10s", name);
    gyre_text_print(stream, text);
    fputc('\n', stream);
}

static void print_head(FILE *stream, const gyre_history_run *run)
{
    char text[96];

    fprintf(stream, "%srun %" PRIu64 "%s of ", gyre_terminal_ink(stream, GYRE_INK_BOLD),
            run->number, gyre_terminal_ink(stream, GYRE_INK_PLAIN));
    print_minute(stream, run->started);
    if (isfinite(run->duration_s))
        fprintf(stream, " UTC, %.1f s%s\n", run->duration_s,
                run->interrupted ? ", interrupted" : "");
    else
        fputs(" UTC\n", stream);
    print_fact(stream, "commit", run->commit);
    print_fact(stream, "branch", run->branch);
    if (run->dirty)
        print_fact(stream, "", "with changes that were not committed");
    print_fact(stream, "machine", run->machine);
    print_fact(stream, "cpu", run->cpu);
    print_fact(stream, "under", run->hypervisor);
    print_fact(stream, "kernel", run->kernel);
    snprintf(text, sizeof text, "%" PRIu64 ", of which %" PRIu64 " allowed", run->cpus,
             run->allowed_cpus);
    print_fact(stream, "cpus", run->cpus ? text : NULL);
    print_fact(stream, "memory",
               run->memory_bytes ? gyre_quantity_bytes(run->memory_bytes).text : NULL);
    print_fact(stream, "gyre", run->gyre);
    print_fact(stream, "build", run->build);
    print_fact(stream, "command", run->command);
}

static void print_ends(FILE *stream, double low, double median, double high)
{
    fprintf(stream, "[%s %s%s%s %s]", gyre_quantity_time(low).text,
            gyre_terminal_ink(stream, GYRE_INK_GOOD), gyre_quantity_time(median).text,
            gyre_terminal_ink(stream, GYRE_INK_PLAIN), gyre_quantity_time(high).text);
}

static void print_point(FILE *stream, const gyre_history_point *p)
{
    const char *id = p->id ? p->id : "(no name)";
    const int length = (int)strlen(id);

    gyre_text_print(stream, id);
    if (length < COLUMN)
        fprintf(stream, "%*s", COLUMN - length, "");
    else
        fprintf(stream, "\n%*s", COLUMN, "");
    if (isfinite(p->median_ns) && isfinite(p->low_ns) && isfinite(p->high_ns)) {
        fputs("time:   ", stream);
        print_ends(stream, p->low_ns, p->median_ns, p->high_ns);
        fputc('\n', stream);
        if (isfinite(p->hot_ns))
            fprintf(stream, "%*shot:    %s\n", COLUMN, "", gyre_quantity_time(p->hot_ns).text);
        if (isfinite(p->cold_ns))
            fprintf(stream, "%*scold:   %s\n", COLUMN, "", gyre_quantity_time(p->cold_ns).text);
        return;
    }
    gyre_text_print(stream, p->outcome ? p->outcome : "unknown");
    if (p->reason) {
        fputs(": ", stream);
        gyre_text_print(stream, p->reason);
    }
    fputc('\n', stream);
}

void gyre_history_run_print(FILE *stream, const gyre_history_run *run,
                            const gyre_history_points *points)
{
    print_head(stream, run);
    fputc('\n', stream);
    for (size_t i = 0; i < points->count; i++)
        print_point(stream, &points->point[i]);
}
