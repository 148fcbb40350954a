/* SPDX-License-Identifier: Apache-2.0
 *
 * targets_table: see targets_table.h.
 */
#include "report/targets_table.h"

#include <string.h>

#include "base/text.h"
#include "record/attainment.h"
#include "report/quantity.h"

enum { VERDICT_WIDTH = 14, ID_WIDTH = 44, LIMIT_WIDTH = 28 };

static void put_blanks(FILE *stream, size_t written, size_t width)
{
    fprintf(stream, "%*s", written < width ? (int)(width - written) : 2, "");
}

static gyre_quantity express(gyre_target_quantity quantity, double value)
{
    gyre_quantity number;

    switch (quantity) {
    case GYRE_TARGET_MEDIAN_NS:
    case GYRE_TARGET_P99_NS:
        return gyre_quantity_time(value);
    case GYRE_TARGET_MORE_NS:
        number = gyre_quantity_time(value < 0 ? -value : value);
        if (value < 0) {
            memmove(number.text + 1, number.text, sizeof number.text - 1);
            number.text[0] = '-';
            number.text[sizeof number.text - 1] = '\0';
        }
        return number;
    case GYRE_TARGET_ITEMS_PER_S:
        return gyre_quantity_items_rate(1, 1e9 / value);
    case GYRE_TARGET_BYTES_PER_S:
        return gyre_quantity_bytes_rate(1, 1e9 / value);
    case GYRE_TARGET_ALLOCATIONS:
    case GYRE_TARGET_RATIO:
    case GYRE_TARGET_COUNTER:
        break;
    }
    snprintf(number.text, sizeof number.text, "%.4g", value);
    return number;
}

/* "p99 at most 2.0000 us", "at most 0.2 times g/other": a time or a rate says what it is by its
 * unit.
 */
static void put_limit(FILE *stream, const gyre_target *target)
{
    const char *what = target->quantity == GYRE_TARGET_P99_NS        ? "p99"
                       : target->quantity == GYRE_TARGET_ALLOCATIONS ? "allocations"
                                                                     : target->counter;
    const char *bound = target->at_least ? "at least " : "at most ";
    const gyre_quantity limit = express(target->quantity, target->limit);
    size_t length = strlen(bound) + strlen(limit.text);

    if (what) {
        gyre_text_print(stream, what);
        fputc(' ', stream);
        length += strlen(what) + 1;
    }
    fprintf(stream, "%s%s", bound, limit.text);
    if (target->other) {
        const char *word = target->quantity == GYRE_TARGET_RATIO ? " times " : " over ";

        fprintf(stream, "%s%s", word, target->other);
        length += strlen(word) + strlen(target->other);
    }
    put_blanks(stream, length, LIMIT_WIDTH);
}

static void put_attainment(FILE *stream, const gyre_target *target, const gyre_attainment *a)
{
    if (a->why) {
        fputs(a->why, stream);
        if (a->reason) {
            fputs(": ", stream);
            gyre_text_print(stream, a->reason);
        }
    } else {
        fputs(express(target->quantity, a->point).text, stream);
        if (a->low < a->high)
            fprintf(stream, " [%s %s]", express(target->quantity, a->low).text,
                    express(target->quantity, a->high).text);
    }
    fputc('\n', stream);
}

static bool is_among(const gyre_target *target, const gyre_case_list *all)
{
    for (size_t i = 0; all && i < all->count; i++)
        if (gyre_target_concerns(target, all->cases[i].id))
            return true;
    return false;
}

static void put_line(FILE *stream, const gyre_target *target, const gyre_run *run,
                     const gyre_result *result, const gyre_case_list *all,
                     gyre_targets_tally *tally)
{
    gyre_attainment a = gyre_attainment_judge(target, run, result);
    const char *id = result ? result->id : target->id;
    size_t *const counts[] = {&tally->met, &tally->missed, &tally->unclear, &tally->not_measured};

    if (!result && is_among(target, all))
        a.why = "not chosen";
    ++*counts[a.attained];
    fprintf(stream, "  %-*s", VERDICT_WIDTH, gyre_attained_name(a.attained));
    gyre_text_print(stream, id);
    put_blanks(stream, strlen(id), ID_WIDTH);
    put_limit(stream, target);
    put_attainment(stream, target, &a);
}

static void put_target(FILE *stream, const gyre_target *target, const gyre_run *run,
                       const gyre_case_list *all, gyre_targets_tally *tally)
{
    bool some = false;

    for (size_t i = 0; i < run->count; i++) {
        if (!run->results[i].id || !gyre_target_concerns(target, run->results[i].id))
            continue;
        put_line(stream, target, run, &run->results[i], all, tally);
        some = true;
    }
    if (!some)
        put_line(stream, target, run, NULL, all, tally);
    if (target->note[0]) {
        fprintf(stream, "  %-*snote: ", VERDICT_WIDTH, "");
        gyre_text_print(stream, target->note);
        fputc('\n', stream);
    }
}

gyre_targets_tally gyre_targets_table_write(FILE *stream, const gyre_targets *targets,
                                            const gyre_run *run, const gyre_case_list *all)
{
    gyre_targets_tally tally = {0};
    const char *source = "";

    for (size_t i = 0; i < targets->count; i++) {
        const gyre_target *target = &targets->items[i];

        if (strcmp(target->source, source) != 0) {
            source = target->source;
            fputs(i ? "\n" : "", stream);
            gyre_text_print(stream, source[0] ? source : "other targets");
            fputc('\n', stream);
        }
        put_target(stream, target, run, all, &tally);
    }
    fprintf(stream, "\ntargets: %zu met, %zu missed, %zu unclear, %zu not measured\n", tally.met,
            tally.missed, tally.unclear, tally.not_measured);
    return tally;
}
