/* SPDX-License-Identifier: Apache-2.0
 *
 * verdicts: see verdicts.h.
 *
 * Text and Markdown say the same in the same order; what differs is how a row, a line and a foreign
 * text are written.
 */
#include "report/verdicts.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/markdown.h"
#include "report/quantity.h"
#include "report/terminal.h"

enum { LEAST_WIDTH = 9, MOST_WIDTH = 40, TIME_WIDTH = 10, CELL_BYTES = 80 };

typedef struct writer {
    FILE *stream;
    bool markdown;
} writer;

static void put_text(const writer *w, const char *text)
{
    if (w->markdown)
        gyre_markdown_text(w->stream, text);
    else
        gyre_text_print(w->stream, text);
}

static const char *ink(const writer *w, gyre_ink which)
{
    return w->markdown ? "" : gyre_terminal_ink(w->stream, which);
}

/* Begins a line below the table: "  failed", "- **failed**". */
static void put_item(const writer *w, const char *word)
{
    fprintf(w->stream, w->markdown ? "- **%s** " : "  %s ", word);
}

static gyre_ink ink_of(gyre_ab_verdict verdict)
{
    static const gyre_ink inks[] = {GYRE_INK_WARN, GYRE_INK_PLAIN, GYRE_INK_GOOD, GYRE_INK_BAD};

    return inks[verdict];
}

static size_t count_of(const gyre_ab *ab, gyre_outcome outcome)
{
    size_t count = 0;

    for (size_t i = 0; i < ab->count; i++)
        count += ab->benches[i].outcome == outcome;
    return count;
}

static size_t count_verdicts(const gyre_ab *ab, gyre_ab_verdict verdict)
{
    size_t count = 0;

    for (size_t i = 0; i < ab->count; i++)
        count += ab->benches[i].outcome == GYRE_OUTCOME_MEASURED &&
                 ab->benches[i].judgement.verdict == verdict;
    return count;
}

static int width_of(const gyre_ab *ab)
{
    size_t width = LEAST_WIDTH;

    for (size_t i = 0; i < ab->count; i++) {
        const gyre_ab_bench *bench = &ab->benches[i];
        const size_t length = bench->outcome == GYRE_OUTCOME_MEASURED ? strlen(bench->id) : 0;

        width = length > width ? length : width;
    }
    return (int)(width < MOST_WIDTH ? width : MOST_WIDTH);
}

static void put_row(const writer *w, const gyre_ab_bench *bench, int width)
{
    const gyre_judgement *j = &bench->judgement;
    const double ns = gyre_ab_old_ns(bench);
    const gyre_quantity old_ns = gyre_quantity_time(ns);
    const gyre_quantity new_ns = gyre_quantity_time(ns * (1 + j->change));
    const char *verdict = gyre_ab_verdict_name(j->verdict);
    const int length = (int)strlen(bench->id);
    char interval[CELL_BYTES];

    snprintf(interval, sizeof interval, "[%s %s]", gyre_quantity_change(j->low).text,
             gyre_quantity_change(j->high).text);
    if (w->markdown) {
        const char *bold = j->verdict == GYRE_AB_EQUIVALENT ? "" : "**";

        fputs("| ", w->stream);
        put_text(w, bench->id);
        fprintf(w->stream, " | %s | %s | %s %% | %s | %s%s%s | %zu | %s %% |\n", old_ns.text,
                new_ns.text, gyre_quantity_change(j->change).text, interval, bold, verdict, bold,
                j->launches, gyre_quantity_percent(j->mde).text);
        return;
    }
    put_text(w, bench->id);
    fprintf(w->stream, "%*s %*s %*s %s%8s %% %-16s %-10s%s %2zu %6s %%\n",
            width > length ? width - length : 0, "", TIME_WIDTH, old_ns.text, TIME_WIDTH,
            new_ns.text, ink(w, ink_of(j->verdict)), gyre_quantity_change(j->change).text, interval,
            verdict, ink(w, GYRE_INK_PLAIN), j->launches, gyre_quantity_percent(j->mde).text);
}

static void put_table(const writer *w, const gyre_ab *ab)
{
    const int width = width_of(ab);

    if (count_of(ab, GYRE_OUTCOME_MEASURED) == 0)
        return;
    if (w->markdown)
        fputs("| benchmark | old | new | change | interval, % | verdict | launches | MDE |\n"
              "|---|--:|--:|--:|---|---|--:|--:|\n",
              w->stream);
    else
        fprintf(w->stream, "%-*s %*s %*s %10s %-16s %-10s %2s %8s\n", width, "benchmark",
                TIME_WIDTH, "old", TIME_WIDTH, "new", "change", "interval, %", "verdict", "n",
                "MDE");
    for (size_t i = 0; i < ab->count; i++)
        if (ab->benches[i].outcome == GYRE_OUTCOME_MEASURED)
            put_row(w, &ab->benches[i], width);
    fputc('\n', w->stream);
}

void gyre_verdicts_advise(const gyre_ab_bench *bench, const gyre_rule *rule,
                          char advice[GYRE_ADVICE_BYTES])
{
    const gyre_judgement *j = &bench->judgement;
    const double reach = fmax(fabs(log1p(j->low)), log1p(j->high));

    if (j->launches < GYRE_JUDGE_LAUNCHES)
        snprintf(advice, GYRE_ADVICE_BYTES,
                 "it had %zu of %d launches: more of them would tell (--time-limit)", j->launches,
                 GYRE_JUDGE_LAUNCHES);
    else if (log1p(j->high) - log1p(j->low) < 2 * log1p(rule->margin))
        snprintf(advice, GYRE_ADVICE_BYTES,
                 "the change is too near to the margin of %s %%: choose another margin",
                 gyre_quantity_percent(rule->margin).text);
    else
        snprintf(advice, GYRE_ADVICE_BYTES,
                 "launches differ by %s %%: use a quieter machine, or a margin of %s %%",
                 gyre_quantity_percent(j->sd).text, gyre_quantity_percent(expm1(reach)).text);
}

static void put_advice(const writer *w, const gyre_ab *ab)
{
    for (size_t i = 0; i < ab->count; i++) {
        const gyre_ab_bench *bench = &ab->benches[i];
        char advice[GYRE_ADVICE_BYTES];

        if (bench->outcome != GYRE_OUTCOME_MEASURED ||
            bench->judgement.verdict != GYRE_AB_UNDECIDED)
            continue;
        gyre_verdicts_advise(bench, &ab->rule, advice);
        put_item(w, "undecided");
        put_text(w, bench->id);
        fprintf(w->stream, ": %s\n", advice);
    }
}

static gyre_quantity express(gyre_ab_counted what, double value)
{
    gyre_quantity number;

    if ((what == GYRE_AB_PEAK_RSS || what == GYRE_AB_ALLOCATED) && value < 1e18)
        return gyre_quantity_bytes((uint64_t)value);
    snprintf(number.text, sizeof number.text, "%.6g", value);
    return number;
}

static void put_count(const writer *w, gyre_ab_counted what, const gyre_ab_count *count)
{
    static const char *const words[] = {"peak memory", "allocations", "allocated", "instructions"};
    const double change = count->new_value / count->old_value - 1;

    fprintf(w->stream, " %s %s", words[what], express(what, count->old_value).text);
    if (count->old_value == count->new_value)
        fputs(" on both sides", w->stream);
    else
        fprintf(w->stream, " -> %s", express(what, count->new_value).text);
    if (count->old_value != count->new_value && isfinite(change))
        fprintf(w->stream, " (%s %%)", gyre_quantity_change(change).text);
}

static void put_counts(const writer *w, const gyre_ab *ab)
{
    for (size_t i = 0; i < ab->count; i++)
        for (int what = 0; what < GYRE_AB_COUNTS; what++) {
            if (!ab->benches[i].counts[what].known)
                continue;
            put_item(w, "counted");
            put_text(w, ab->benches[i].id);
            fputc(':', w->stream);
            put_count(w, (gyre_ab_counted)what, &ab->benches[i].counts[what]);
            fputc('\n', w->stream);
        }
}

static void put_outcomes(const writer *w, const gyre_ab *ab, gyre_outcome outcome, gyre_ink with)
{
    for (size_t i = 0; i < ab->count; i++) {
        const gyre_ab_bench *bench = &ab->benches[i];

        if (bench->outcome != outcome)
            continue;
        fputs(ink(w, with), w->stream);
        put_item(w, gyre_outcome_name(outcome));
        put_text(w, bench->id);
        fputs(": ", w->stream);
        put_text(w, bench->reason);
        fprintf(w->stream, "%s\n", ink(w, GYRE_INK_PLAIN));
        if (!w->markdown)
            gyre_terminal_last_words(w->stream, bench->last_words, 4);
    }
}

static void put_warnings(const writer *w, const gyre_ab *ab)
{
    for (size_t i = 0; i < ab->count; i++)
        for (size_t k = 0; k < ab->benches[i].warning_count; k++) {
            put_item(w, "warning");
            put_text(w, ab->benches[i].id);
            fputs(": ", w->stream);
            put_text(w, ab->benches[i].warnings[k]);
            fputc('\n', w->stream);
        }
}

static void put_only(const writer *w, const char *side, const char *const *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put_item(w, side);
        put_text(w, ids[i]);
        fputc('\n', w->stream);
    }
}

static void put_summary(const writer *w, const gyre_ab *ab)
{
    const struct {
        size_t count;
        const char *word;
    } parts[] = {
        {count_verdicts(ab, GYRE_AB_SLOWER), "slower"},
        {count_verdicts(ab, GYRE_AB_FASTER), "faster"},
        {count_verdicts(ab, GYRE_AB_EQUIVALENT), "equivalent"},
        {count_verdicts(ab, GYRE_AB_UNDECIDED), "undecided"},
        {count_of(ab, GYRE_OUTCOME_FAILED), "failed"},
        {count_of(ab, GYRE_OUTCOME_SKIPPED), "skipped"},
        {count_of(ab, GYRE_OUTCOME_INTERRUPTED), "interrupted"},
    };

    fprintf(w->stream, "%s%zu compared", w->markdown ? "\n" : "", ab->count);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].count > 0 || i < 4)
            fprintf(w->stream, "%s %zu %s", i == 0 ? ":" : ",", parts[i].count, parts[i].word);
    fprintf(w->stream, "\nmargin %s %%, alpha %g; ", gyre_quantity_percent(ab->rule.margin).text,
            ab->rule.alpha);
    if (ab->lock_step)
        fputs("lock step: n launches of fresh process pairs on one CPU set\n", w->stream);
    else
        fputs("commands: one execution is one sample, without lock step,\nso that starting the "
              "program counts and small changes are not found\n",
              w->stream);
    if (ab->head->interrupted)
        fputs("interrupted: what is missing was not measured\n", w->stream);
}

static void put_all(const writer *w, const gyre_ab *ab)
{
    put_table(w, ab);
    put_advice(w, ab);
    put_counts(w, ab);
    put_outcomes(w, ab, GYRE_OUTCOME_FAILED, GYRE_INK_BAD);
    put_outcomes(w, ab, GYRE_OUTCOME_SKIPPED, GYRE_INK_WARN);
    put_outcomes(w, ab, GYRE_OUTCOME_INTERRUPTED, GYRE_INK_WARN);
    put_warnings(w, ab);
    put_only(w, "only old:", ab->only_old, ab->only_old_count);
    put_only(w, "only new:", ab->only_new, ab->only_new_count);
    put_summary(w, ab);
}

void gyre_verdicts_print(FILE *stream, const gyre_ab *ab)
{
    put_all(&(writer){.stream = stream}, ab);
}

void gyre_verdicts_markdown(FILE *stream, const gyre_ab *ab)
{
    put_all(&(writer){.stream = stream, .markdown = true}, ab);
}
