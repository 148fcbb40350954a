/* SPDX-License-Identifier: Apache-2.0
 *
 * terminal: see terminal.h.
 */
#include "report/terminal.h"

#include <string.h>
#include <unistd.h>

#include "base/settings.h"
#include "report/quantity.h"

enum { COLUMN = 24 };
enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER }; /* as in the form of GYRE_COLOR */

bool gyre_terminal_live(FILE *stream)
{
    return strcmp(gyre_settings_text(GYRE_SETTING_TERM), "dumb") != 0 && isatty(fileno(stream));
}

bool gyre_terminal_coloured(FILE *stream)
{
    const int64_t choice = gyre_settings_number(GYRE_SETTING_COLOR);

    if (choice != COLOR_AUTO)
        return choice == COLOR_ALWAYS;
    return gyre_settings_text(GYRE_SETTING_NO_COLOR)[0] == '\0' && gyre_terminal_live(stream);
}

const char *gyre_terminal_ink(FILE *stream, gyre_ink ink)
{
    static const char *const codes[] = {"\033[0m",  "\033[1m",  "\033[32m",
                                        "\033[33m", "\033[31m", "\033[2m"};

    return gyre_terminal_coloured(stream) ? codes[ink] : "";
}

/* The id padded to the column, on a line of its own when it is longer. */
static void print_id(FILE *stream, const char *id)
{
    const int length = (int)strlen(id);

    fprintf(stream, "%s%s%s", gyre_terminal_ink(stream, GYRE_INK_BOLD), id,
            gyre_terminal_ink(stream, GYRE_INK_PLAIN));
    if (length < COLUMN)
        fprintf(stream, "%*s", COLUMN - length, "");
    else
        fprintf(stream, "\n%*s", COLUMN, "");
}

static void print_rate(FILE *stream, const gyre_result *result, uint64_t work,
                       gyre_quantity (*rate)(uint64_t, double))
{
    if (work > 0) /* the longest time is the lowest rate */
        fprintf(stream, "%*sthrpt:  [%s %s %s]\n", COLUMN, "", rate(work, result->ns.high).text,
                rate(work, result->median_ns).text, rate(work, result->ns.low).text);
}

void gyre_terminal_result(FILE *stream, const gyre_result *result, bool brief)
{
    const gyre_bench *bench = &result->c->bench;
    const char *plain = gyre_terminal_ink(stream, GYRE_INK_PLAIN);

    print_id(stream, result->c->id);
    switch (result->outcome) {
    case GYRE_OUTCOME_MEASURED:
        fprintf(stream, "time:   [%s %s%s%s %s]\n", gyre_quantity_time(result->ns.low).text,
                gyre_terminal_ink(stream, GYRE_INK_GOOD),
                gyre_quantity_time(result->median_ns).text, plain,
                gyre_quantity_time(result->ns.high).text);
        print_rate(stream, result, result->bytes, gyre_quantity_bytes_rate);
        print_rate(stream, result, result->items, gyre_quantity_items_rate);
        if (!brief)
            fprintf(stream, "%*s%sclock:  from %s until %s; seen by %s%s\n", COLUMN, "",
                    gyre_terminal_ink(stream, GYRE_INK_FAINT), bench->t0, bench->t1,
                    bench->observer, plain);
        break;
    case GYRE_OUTCOME_CHECKED:
        fprintf(stream, "%sok%s\n", gyre_terminal_ink(stream, GYRE_INK_GOOD), plain);
        break;
    case GYRE_OUTCOME_FAILED:
        fprintf(stream, "%sFAILED%s: %s\n", gyre_terminal_ink(stream, GYRE_INK_BAD), plain,
                result->reason);
        break;
    case GYRE_OUTCOME_SKIPPED:
        fprintf(stream, "%sskipped%s: %s\n", gyre_terminal_ink(stream, GYRE_INK_WARN), plain,
                result->reason);
        break;
    case GYRE_OUTCOME_INTERRUPTED:
        fprintf(stream, "%s\n", result->reason);
        break;
    }
}

static void print_all(FILE *stream, const gyre_run *run, gyre_outcome outcome, const char *word)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->results[i].outcome == outcome)
            fprintf(stream, "  %s %s: %s\n", word, run->results[i].c->id, run->results[i].reason);
}

void gyre_terminal_summary(FILE *stream, const gyre_run *run)
{
    const size_t measured = gyre_run_count(run, GYRE_OUTCOME_MEASURED);
    const size_t checked = gyre_run_count(run, GYRE_OUTCOME_CHECKED);
    const size_t failed = gyre_run_count(run, GYRE_OUTCOME_FAILED);
    const size_t skipped = gyre_run_count(run, GYRE_OUTCOME_SKIPPED);

    fprintf(stream, "\n%zu %s, %zu failed, %zu skipped of %zu in %.1f s%s\n", measured + checked,
            checked ? "checked" : "measured", failed, skipped, run->capacity, run->duration_s,
            run->interrupted ? "; interrupted" : "");
    print_all(stream, run, GYRE_OUTCOME_FAILED, "failed");
    print_all(stream, run, GYRE_OUTCOME_SKIPPED, "skipped");
}
