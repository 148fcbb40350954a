/* SPDX-License-Identifier: Apache-2.0
 *
 * comparison: see comparison.h.
 */
#include "report/comparison.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "report/quantity.h"
#include "report/terminal.h"

enum { LEAST_WIDTH = 12, MOST_WIDTH = 48, TIME_WIDTH = 12 };

static int width_of(const gyre_two_runs *two)
{
    size_t width = LEAST_WIDTH;

    for (size_t i = 0; i < two->run->count; i++) {
        const gyre_result *result = &two->run->results[i];
        const size_t length = result->change.baseline ? strlen(result->id) : 0;

        width = length > width ? length : width;
    }
    return (int)(width < MOST_WIDTH ? width : MOST_WIDTH);
}

static gyre_ink ink_of(gyre_verdict verdict)
{
    return verdict == GYRE_VERDICT_IMPROVED    ? GYRE_INK_GOOD
           : verdict == GYRE_VERDICT_REGRESSED ? GYRE_INK_BAD
                                               : GYRE_INK_PLAIN;
}

static void print_row(FILE *stream, const gyre_result *result, const gyre_result *base, int width)
{
    static const char *const words[] = {"no change", "within noise", "improved", "regressed"};
    const gyre_comparison *change = &result->change;
    const int length = (int)strlen(result->id);
    char interval[48];

    snprintf(interval, sizeof interval, "[%+.2f %+.2f]", 100 * change->low, 100 * change->high);
    gyre_text_print(stream, result->id);
    fprintf(stream, "%*s  %*s  %*s  %s%+8.2f %%  %-20s %s%s\n", width > length ? width - length : 0,
            "", TIME_WIDTH, gyre_quantity_time(base->time.median_ns).text, TIME_WIDTH,
            gyre_quantity_time(result->time.median_ns).text,
            gyre_terminal_ink(stream, ink_of(change->verdict)), 100 * change->point, interval,
            words[change->verdict], gyre_terminal_ink(stream, GYRE_INK_PLAIN));
}

static void print_ids(FILE *stream, const gyre_id_list *list, const char *what, const char *where)
{
    for (size_t i = 0; i < list->count; i++) {
        fprintf(stream, "  %s ", what);
        gyre_text_print(stream, where);
        fputs(": ", stream);
        gyre_text_print(stream, list->ids[i]);
        fputc('\n', stream);
    }
}

size_t gyre_comparison_broken(const gyre_two_runs *two, FILE *stream)
{
    size_t count = 0;

    for (size_t i = 0; i < two->compared->only_base.count; i++) {
        const gyre_result *result = gyre_run_find(two->run, two->compared->only_base.ids[i]);

        if (!result || result->outcome != GYRE_OUTCOME_FAILED)
            continue;
        count++;
        if (!stream)
            continue;
        fputs("  failed now ", stream);
        gyre_text_print(stream, result->id);
        fputs(": ", stream);
        gyre_text_print(stream, result->reason);
        fputc('\n', stream);
    }
    return count;
}

void gyre_comparison_print(FILE *stream, const gyre_two_runs *two)
{
    const gyre_compared *compared = two->compared;
    const int width = width_of(two);

    fprintf(stream, "%-*s  %*.*s  %*.*s  %10s  %-20s\n", width, "benchmark", TIME_WIDTH, TIME_WIDTH,
            "base", TIME_WIDTH, TIME_WIDTH, "candidate", "change", "interval, %");
    for (size_t i = 0; i < two->run->count; i++) {
        const gyre_result *result = &two->run->results[i];

        if (result->change.baseline)
            print_row(stream, result, gyre_run_find(two->base, result->id), width);
    }
    fprintf(stream,
            "\n%zu compared: %zu improved, %zu regressed, %zu within noise, %zu without change\n",
            compared->count, compared->verdicts[GYRE_VERDICT_IMPROVED],
            compared->verdicts[GYRE_VERDICT_REGRESSED], compared->verdicts[GYRE_VERDICT_NOISE],
            compared->verdicts[GYRE_VERDICT_NONE]);
    (void)gyre_comparison_broken(two, stream);
    print_ids(stream, &compared->only_base, "only in", two->base_name);
    print_ids(stream, &compared->only_run, "only in", two->run_name);
    print_ids(stream, &compared->unjudged, "took no time in", two->base_name);
    fputs("advisory: the two were measured at different times, and a shared machine changes its "
          "pace\n",
          stream);
}

static void write_figure(gyre_json *json, const char *key, const gyre_result *result)
{
    gyre_json_begin_object(json, key);
    gyre_json_double(json, "median", result->time.median_ns);
    gyre_json_double(json, "low", result->time.ns.low);
    gyre_json_double(json, "high", result->time.ns.high);
    gyre_json_end(json);
}

static void write_ids(gyre_json *json, const char *key, const gyre_id_list *list)
{
    gyre_json_begin_array(json, key);
    for (size_t i = 0; i < list->count; i++)
        gyre_json_string(json, NULL, list->ids[i]);
    gyre_json_end(json);
}

void gyre_comparison_write(FILE *stream, const gyre_two_runs *two)
{
    gyre_json json = {.stream = stream};

    gyre_json_begin_object(&json, NULL);
    gyre_json_string(&json, "schema", "gyre.compare/1");
    gyre_json_string(&json, "base", two->base_name);
    gyre_json_string(&json, "candidate", two->run_name);
    gyre_json_bool(&json, "advisory", true);
    gyre_json_begin_array(&json, "benchmarks");
    for (size_t i = 0; i < two->run->count; i++) {
        const gyre_result *result = &two->run->results[i];
        const gyre_comparison *change = &result->change;

        if (!change->baseline)
            continue;
        gyre_json_begin_object(&json, NULL);
        gyre_json_string(&json, "id", result->id);
        write_figure(&json, "base_ns", gyre_run_find(two->base, result->id));
        write_figure(&json, "candidate_ns", result);
        gyre_json_begin_object(&json, "change");
        gyre_json_double(&json, "point", change->point);
        gyre_json_double(&json, "low", change->low);
        gyre_json_double(&json, "high", change->high);
        gyre_json_double(&json, "p", change->p);
        gyre_json_string(&json, "verdict", gyre_verdict_name(change->verdict));
        gyre_json_end(&json);
        gyre_json_end(&json);
    }
    gyre_json_end(&json);
    write_ids(&json, "only_base", &two->compared->only_base);
    write_ids(&json, "only_candidate", &two->compared->only_run);
    write_ids(&json, "unjudged", &two->compared->unjudged);
    gyre_json_end(&json);
}
