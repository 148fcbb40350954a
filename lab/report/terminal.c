/* SPDX-License-Identifier: Apache-2.0
 *
 * terminal: see terminal.h.
 */
#include "report/terminal.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/settings.h"
#include "base/text.h"
#include "report/quantity.h"

enum { COLUMN = 24, SLOWEST = 3, LINE_BYTES = 2048 };
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

    fputs(gyre_terminal_ink(stream, GYRE_INK_BOLD), stream);
    gyre_text_print(stream, id);
    fputs(gyre_terminal_ink(stream, GYRE_INK_PLAIN), stream);
    if (length < COLUMN)
        fprintf(stream, "%*s", COLUMN - length, "");
    else
        fprintf(stream, "\n%*s", COLUMN, "");
}

/* The beginning of a line below the id's. */
static void begin(FILE *stream, const char *label)
{
    fprintf(stream, "%*s%-8s", COLUMN, "", label);
}

/* Of the device's own time in a batch, where there is one. */
static void print_rate(FILE *stream, const gyre_result *result, uint64_t work,
                       gyre_quantity (*rate)(uint64_t, double))
{
    const gyre_figure *figure = gyre_result_work_time(result);

    if (work == 0)
        return;
    begin(stream, "thrpt:");
    /* the longest time is the lowest rate */
    fprintf(stream, "[%s %s %s]%s\n", rate(work, figure->ns.high).text,
            rate(work, figure->median_ns).text, rate(work, figure->ns.low).text,
            figure == &result->hot ? " hot" : "");
}

static void print_times(FILE *stream, const gyre_figure *figure)
{
    fprintf(stream, "[%s %s%s%s %s]", gyre_quantity_time(figure->ns.low).text,
            gyre_terminal_ink(stream, GYRE_INK_GOOD), gyre_quantity_time(figure->median_ns).text,
            gyre_terminal_ink(stream, GYRE_INK_PLAIN), gyre_quantity_time(figure->ns.high).text);
}

static void print_device(FILE *stream, const gyre_result *result)
{
    if (result->cold.samples.count > 0) {
        begin(stream, "cold:");
        print_times(stream, &result->cold);
        fprintf(stream, " on the device, caches emptied before each\n");
    }
    if (result->hot.samples.count > 0) {
        begin(stream, "hot:");
        print_times(stream, &result->hot);
        fprintf(stream, " on the device, in batches of %llu\n",
                (unsigned long long)result->hot.samples.iterations[0]);
    }
}

static void print_change(FILE *stream, const gyre_result *result, const gyre_method *method)
{
    static const struct {
        const char *words;
        gyre_ink ink;
    } verdicts[] = {
        [GYRE_VERDICT_NONE] = {"No change in performance detected.", GYRE_INK_PLAIN},
        [GYRE_VERDICT_NOISE] = {"Change within noise threshold.", GYRE_INK_PLAIN},
        [GYRE_VERDICT_IMPROVED] = {"Performance has improved.", GYRE_INK_GOOD},
        [GYRE_VERDICT_REGRESSED] = {"Performance has regressed.", GYRE_INK_BAD},
    };
    const gyre_comparison *change = &result->change;

    if (!change->baseline)
        return;
    begin(stream, "change:");
    fprintf(stream, "[%+.4f%% %s%+.4f%%%s %+.4f%%] (p = %.*f %c %.2f)\n", 100 * change->low,
            gyre_terminal_ink(stream, GYRE_INK_BOLD), 100 * change->point,
            gyre_terminal_ink(stream, GYRE_INK_PLAIN), 100 * change->high,
            fabs(change->p - method->significance) < 0.005 ? 4 : 2, change->p,
            change->p < method->significance ? '<' : '>', method->significance);
    fprintf(stream, "%*s%s%s%s\n", COLUMN, "",
            gyre_terminal_ink(stream, verdicts[change->verdict].ink),
            verdicts[change->verdict].words, gyre_terminal_ink(stream, GYRE_INK_PLAIN));
}

static void print_latency(FILE *stream, const gyre_latency *latency, const gyre_method *method)
{
    if (latency->count == 0)
        return;
    for (size_t i = 0; i < latency->quantile_count; i++) {
        char label[16];

        snprintf(label, sizeof label, "p%g:", 100 * latency->quantile[i].p);
        begin(stream, label);
        if (latency->quantile[i].interval.coverage < method->confidence)
            fprintf(stream, "%s (too few calls for an interval)\n",
                    gyre_quantity_time(latency->quantile[i].ns).text);
        else
            fprintf(stream, "[%s %s %s]\n",
                    gyre_quantity_time(latency->quantile[i].interval.low).text,
                    gyre_quantity_time(latency->quantile[i].ns).text,
                    gyre_quantity_time(latency->quantile[i].interval.high).text);
    }
    begin(stream, "max:");
    fprintf(stream, "%s of %zu calls", gyre_quantity_time(latency->max_ns).text, latency->count);
    if (latency->rate_hz > 0)
        fprintf(stream, " due %.10g times a second, each from when it was due", latency->rate_hz);
    fputc('\n', stream);
}

static void print_ratio(FILE *stream, const gyre_ratio *beside)
{
    if (!beside->id)
        return;
    begin(stream, "ratio:");
    fprintf(stream, "[%.4g %.4g %.4g] of ", beside->times.low, beside->times.point,
            beside->times.high);
    gyre_text_print(stream, beside->id);
    fprintf(stream, ", in turns\n");
}

static void print_counts(FILE *stream, const gyre_result *result)
{
    if (result->memory.peak_rss_bytes > 0) {
        begin(stream, "memory:");
        fprintf(stream, "peak %s", gyre_quantity_bytes(result->memory.peak_rss_bytes).text);
        if (result->memory.counted)
            fprintf(stream, "; %.4g allocations of together %s an iteration",
                    result->memory.allocations,
                    gyre_quantity_bytes((uint64_t)result->memory.allocated_bytes).text);
        fputc('\n', stream);
    }
    if (result->instructions.source) {
        begin(stream, "instr:");
        fprintf(stream, "%.1f (%s)", result->instructions.per_iteration,
                result->instructions.source);
        if (result->instructions.cycles > 0)
            fprintf(stream, ", %.2f a cycle",
                    result->instructions.per_iteration / result->instructions.cycles);
        fputc('\n', stream);
    }
    for (size_t i = 0; i < result->facts.count; i++) {
        const gyre_fact *fact = &result->facts.fact[i];

        begin(stream, "note:");
        gyre_text_print(stream, fact->name);
        fputc(' ', stream);
        if (fact->text)
            gyre_text_print(stream, fact->text);
        else
            fprintf(stream, "%g", fact->number);
        fputc('\n', stream);
    }
}

static void print_estimate(FILE *stream, const char *name, const gyre_estimate *estimate)
{
    fprintf(stream, "%s [%s %s]", name, gyre_quantity_time(estimate->low).text,
            gyre_quantity_time(estimate->high).text);
}

static void print_estimates(FILE *stream, const gyre_result *result)
{
    if (result->time.samples.linear) {
        fprintf(stream, "%*s", COLUMN, "");
        print_estimate(stream, "slope ", &result->slope);
        fputc('\n', stream);
    }
    fprintf(stream, "%*s", COLUMN, "");
    print_estimate(stream, "mean  ", &result->mean);
    print_estimate(stream, " std. dev.     ", &result->std_dev);
    fprintf(stream, "\n%*s", COLUMN, "");
    print_estimate(stream, "median", &result->median);
    print_estimate(stream, " med. abs. dev.", &result->mad);
    fprintf(stream, "\n%*s%zu samples, %s; neighbours depend over %.1f, resampled by %zu\n", COLUMN,
            "", result->time.samples.count, result->time.samples.linear ? "linear" : "flat",
            result->autocorrelation, result->block);
}

static void print_outliers(FILE *stream, const gyre_result *result)
{
    const gyre_outliers *o = &result->outliers;
    const struct {
        size_t count;
        const char *name;
    } kinds[] = {{o->low_severe, "low severe"},
                 {o->low_mild, "low mild"},
                 {o->high_mild, "high mild"},
                 {o->high_severe, "high severe"}};
    const size_t all = o->low_severe + o->low_mild + o->high_mild + o->high_severe;
    const size_t count = result->time.samples.count;

    if (all == 0)
        return;
    fprintf(stream, "%sFound %zu outlier%s among %zu measurements (%.2f%%)%s\n",
            gyre_terminal_ink(stream, GYRE_INK_WARN), all, all == 1 ? "" : "s", count,
            100 * (double)all / (double)count, gyre_terminal_ink(stream, GYRE_INK_PLAIN));
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].count > 0)
            fprintf(stream, "  %zu (%.2f%%) %s\n", kinds[i].count,
                    100 * (double)kinds[i].count / (double)count, kinds[i].name);
}

/* "word: text", the word in ink, the text cleaned; `indent` spaces before. */
static void print_after(FILE *stream, gyre_ink ink, const char *word, const char *text, int indent)
{
    fprintf(stream, "%*s%s%s%s: ", indent, "", gyre_terminal_ink(stream, ink), word,
            gyre_terminal_ink(stream, GYRE_INK_PLAIN));
    gyre_text_print(stream, text);
    fputc('\n', stream);
}

static void print_words(FILE *stream, const gyre_result *result)
{
    fprintf(stream, "%*s%sclock:  from ", COLUMN, "", gyre_terminal_ink(stream, GYRE_INK_FAINT));
    gyre_text_print(stream, result->t0);
    fputs(" until ", stream);
    gyre_text_print(stream, result->t1);
    fputs("; seen by ", stream);
    gyre_text_print(stream, result->observer);
    fprintf(stream, "%s\n", gyre_terminal_ink(stream, GYRE_INK_PLAIN));
}

static void print_warnings(FILE *stream, const gyre_result *result)
{
    for (size_t i = 0; i < result->warning_count; i++)
        print_after(stream, GYRE_INK_WARN, "warning", result->warnings[i], COLUMN);
}

static void print_measured(FILE *stream, const gyre_result *result, const gyre_method *method,
                           gyre_detail detail)
{
    fputs("time:   ", stream);
    print_times(stream, &result->time);
    fputs(result->device_clock ? " end to end\n" : "\n", stream);
    print_device(stream, result);
    print_rate(stream, result, result->bytes, gyre_quantity_bytes_rate);
    print_rate(stream, result, result->items, gyre_quantity_items_rate);
    print_ratio(stream, &result->beside);
    print_change(stream, result, method);
    print_latency(stream, &result->latency, method);
    print_counts(stream, result);
    if (detail == GYRE_DETAIL_VERBOSE)
        print_estimates(stream, result);
    if (detail != GYRE_DETAIL_BRIEF)
        print_words(stream, result);
    print_warnings(stream, result);
    if (detail != GYRE_DETAIL_BRIEF)
        print_outliers(stream, result);
}

/* Words of a benchmark, line by line, behind a bar. */
void gyre_terminal_last_words(FILE *stream, const char *words, int indent)
{
    while (*words) {
        const size_t length = strcspn(words, "\n");

        char line[LINE_BYTES];

        snprintf(line, sizeof line, "%.*s", (int)length, words);
        fprintf(stream, "%*s| ", indent, "");
        gyre_text_print(stream, line);
        fputc('\n', stream);
        words += length + (words[length] == '\n');
    }
}

void gyre_terminal_result(FILE *stream, const gyre_result *result, const gyre_method *method,
                          gyre_detail detail)
{
    const char *plain = gyre_terminal_ink(stream, GYRE_INK_PLAIN);

    print_id(stream, result->id);
    switch (result->outcome) {
    case GYRE_OUTCOME_MEASURED:
        print_measured(stream, result, method, detail);
        break;
    case GYRE_OUTCOME_CHECKED:
        fprintf(stream, "%sok%s\n", gyre_terminal_ink(stream, GYRE_INK_GOOD), plain);
        break;
    case GYRE_OUTCOME_FAILED:
        print_after(stream, GYRE_INK_BAD, "FAILED", result->reason, 0);
        gyre_terminal_last_words(stream, result->last_words, COLUMN);
        break;
    case GYRE_OUTCOME_SKIPPED:
        print_after(stream, GYRE_INK_WARN, "skipped", result->reason, 0);
        break;
    case GYRE_OUTCOME_INTERRUPTED:
        fprintf(stream, "%s\n", result->reason);
        break;
    }
    if (result->outcome != GYRE_OUTCOME_MEASURED)
        print_warnings(stream, result);
}

static void print_all(FILE *stream, const gyre_run *run, gyre_outcome outcome, const char *word)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->results[i].outcome == outcome)
            fprintf(stream, "  %s %s: %s\n", word, run->results[i].id, run->results[i].reason);
}

/* The slowest that were measured, slowest first. */
static void print_slowest(FILE *stream, const gyre_run *run)
{
    double below = (double)INFINITY;

    if (gyre_run_count(run, GYRE_OUTCOME_MEASURED) <= SLOWEST)
        return;
    for (int shown = 0; shown < SLOWEST; shown++) {
        const gyre_result *slowest = NULL;

        for (size_t i = 0; i < run->count; i++) {
            const gyre_result *r = &run->results[i];

            if (r->outcome == GYRE_OUTCOME_MEASURED && r->time.median_ns < below &&
                (!slowest || r->time.median_ns > slowest->time.median_ns))
                slowest = r;
        }
        if (!slowest)
            return;
        below = slowest->time.median_ns;
        fprintf(stream, "  slowest %s: %s\n", slowest->id, gyre_quantity_time(below).text);
    }
}

static void print_changes(FILE *stream, const gyre_run *run)
{
    size_t compared = 0, improved = 0, regressed = 0;
    const char *baseline = NULL;

    for (size_t i = 0; i < run->count; i++) {
        const gyre_comparison *change = &run->results[i].change;

        compared += change->baseline != NULL;
        improved += change->baseline && change->verdict == GYRE_VERDICT_IMPROVED;
        regressed += change->baseline && change->verdict == GYRE_VERDICT_REGRESSED;
        baseline = change->baseline ? change->baseline : baseline;
    }
    if (compared > 0)
        fprintf(stream,
                "%zu of %zu compared with '%s' improved, %zu regressed; advisory: the two were "
                "measured at different times\n",
                improved, compared, baseline, regressed);
}

void gyre_terminal_summary(FILE *stream, const gyre_run *run, size_t planned)
{
    const size_t measured = gyre_run_count(run, GYRE_OUTCOME_MEASURED);
    const size_t checked = gyre_run_count(run, GYRE_OUTCOME_CHECKED);
    const size_t failed = gyre_run_count(run, GYRE_OUTCOME_FAILED);
    const size_t skipped = gyre_run_count(run, GYRE_OUTCOME_SKIPPED);

    fprintf(stream, "\n%zu %s, %zu failed, %zu skipped of %zu in %.1f s%s\n", measured + checked,
            checked ? "checked" : "measured", failed, skipped, planned, run->duration_s,
            run->interrupted ? "; interrupted" : "");
    print_changes(stream, run);
    print_slowest(stream, run);
    print_all(stream, run, GYRE_OUTCOME_FAILED, "failed");
    print_all(stream, run, GYRE_OUTCOME_SKIPPED, "skipped");
}
