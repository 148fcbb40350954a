/* SPDX-License-Identifier: Apache-2.0
 *
 * bencher: see bencher.h.
 */
#include "report/bencher.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

enum { WIDTH = 11, NUMBER_BYTES = 400 }; /* the largest double has 309 digits and 102 commas */

/* With a comma between thousands, as "%'f" would in a locale that has them. */
static void put_number(FILE *stream, int width, int digits, double value)
{
    char plain[NUMBER_BYTES], grouped[NUMBER_BYTES + NUMBER_BYTES / 3];
    size_t whole, at = 0;

    snprintf(plain, sizeof plain, "%.*f", digits, isfinite(value) ? value : 0);
    whole = strspn(plain, "0123456789");
    for (size_t i = 0; plain[i]; i++) {
        if (i > 0 && i < whole && (whole - i) % 3 == 0)
            grouped[at++] = ',';
        grouped[at++] = plain[i];
        if (i == whole)
            grouped[at - 1] = '.'; /* whatever the locale has put there */
    }
    grouped[at] = '\0';
    fprintf(stream, "%*s", width, grouped);
}

/* Older readers know no fractions, so there are none where they would say nothing. */
static void put_figure(FILE *stream, const gyre_figure *figure)
{
    const double median = figure->median_ns;
    const double below = median - figure->ns.low, above = figure->ns.high - median;
    const int digits = median < 10 ? 4 : median < 1000 ? 2 : 0;

    fputs("bench: ", stream);
    put_number(stream, WIDTH, digits, median);
    fputs(" ns/iter (+/- ", stream);
    put_number(stream, 0, digits, fmax(fmax(below, above), 0));
    fputs(")\n", stream);
}

static void put_result(FILE *stream, const gyre_result *result)
{
    fputs("test ", stream);
    gyre_text_print(stream, result->id);
    fputs(" ... ", stream);
    switch (result->outcome) {
    case GYRE_OUTCOME_MEASURED:
        put_figure(stream, &result->time);
        return;
    case GYRE_OUTCOME_CHECKED:
        fputs("ok\n", stream);
        return;
    case GYRE_OUTCOME_FAILED:
        fputs("FAILED\n", stream);
        return;
    case GYRE_OUTCOME_SKIPPED:
    case GYRE_OUTCOME_INTERRUPTED:
        break;
    }
    fputs("ignored", stream);
    if (result->reason && result->reason[0]) {
        fputs(", ", stream);
        gyre_text_print(stream, result->reason);
    }
    fputc('\n', stream);
}

static void put_failures(FILE *stream, const gyre_run *run)
{
    fputs("\nfailures:\n", stream);
    for (size_t i = 0; i < run->count; i++) {
        if (run->results[i].outcome != GYRE_OUTCOME_FAILED)
            continue;
        fputs("    ", stream);
        gyre_text_print(stream, run->results[i].id);
        fputs(": ", stream);
        gyre_text_print(stream, run->results[i].reason ? run->results[i].reason : "");
        fputc('\n', stream);
    }
}

void gyre_bencher_write(FILE *stream, const gyre_run *run)
{
    size_t count[GYRE_OUTCOME_INTERRUPTED + 1] = {0};

    fprintf(stream, "\nrunning %zu test%s\n", run->count, run->count == 1 ? "" : "s");
    for (size_t i = 0; i < run->count; i++) {
        put_result(stream, &run->results[i]);
        count[run->results[i].outcome]++;
    }
    if (count[GYRE_OUTCOME_FAILED])
        put_failures(stream, run);
    fprintf(stream,
            "\ntest result: %s. %zu passed; %zu failed; %zu ignored; %zu measured; "
            "0 filtered out; finished in ",
            count[GYRE_OUTCOME_FAILED] ? "FAILED" : "ok", count[GYRE_OUTCOME_CHECKED],
            count[GYRE_OUTCOME_FAILED],
            count[GYRE_OUTCOME_SKIPPED] + count[GYRE_OUTCOME_INTERRUPTED],
            count[GYRE_OUTCOME_MEASURED]);
    put_number(stream, 0, 2, run->duration_s);
    fputs("s\n\n", stream);
}
