/* SPDX-License-Identifier: Apache-2.0
 *
 * csv: see csv.h.
 */
#include "report/csv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/json.h"

/* One line of this is one of the functions below; both keep the order. */
static const char header[] =
    "id,suite,outcome,reason,"
    "unit,median,low,high,mean,std_dev,mad,slope,min,max,samples,iterations,"
    "bytes,items,operations,"
    "change,change_low,change_high,p,verdict,baseline,"
    "threads,device_cold,device_hot,latency_p50,latency_p90,latency_p99,latency_p999,latency_max,"
    "peak_rss_bytes,allocations,allocated_bytes,instructions,"
    "warnings\n";

/* Every cell but the first of a row begins with its comma. */
static void put_nothing(FILE *stream)
{
    fputc(',', stream);
}

void gyre_csv_number(FILE *stream, double value)
{
    gyre_json number = {.stream = stream}; /* digits that read back as the same number */

    if (isfinite(value))
        gyre_json_double(&number, NULL, value);
}

static void put_number(FILE *stream, double value)
{
    fputc(',', stream);
    gyre_csv_number(stream, value);
}

/* Empty when 0: not declared, or not known. */
static void put_count(FILE *stream, uint64_t count)
{
    fputc(',', stream);
    if (count)
        fprintf(stream, "%" PRIu64, count);
}

static void put_escaped(FILE *stream, const char *text)
{
    for (const char *c = text; *c; c++) {
        const bool control = (unsigned char)*c < 0x20 || *c == 0x7f;

        if (*c == '"')
            fputc('"', stream);
        fputc(control ? '?' : *c, stream);
    }
}

static bool is_formula(const char *text)
{
    return text[0] && strchr("=+-@", text[0]);
}

void gyre_csv_text(FILE *stream, const char *text)
{
    if (!text)
        return;
    if (!is_formula(text) && !strpbrk(text, "\",")) {
        put_escaped(stream, text);
        return;
    }
    fputs(is_formula(text) ? "\"'" : "\"", stream);
    put_escaped(stream, text);
    fputc('"', stream);
}

static void put_text(FILE *stream, const char *text)
{
    fputc(',', stream);
    gyre_csv_text(stream, text);
}

static void put_name(FILE *stream, const gyre_result *result)
{
    gyre_csv_text(stream, result->id);
    put_text(stream, result->suite);
    put_text(stream, gyre_outcome_name(result->outcome));
    put_text(stream, result->reason);
}

static void put_time(FILE *stream, const gyre_result *result)
{
    const gyre_samples *samples = &result->time.samples;
    uint64_t iterations = 0;

    if (result->outcome != GYRE_OUTCOME_MEASURED) {
        for (int i = 0; i < 12; i++)
            put_nothing(stream);
        return;
    }
    put_text(stream, "ns");
    put_number(stream, result->time.median_ns);
    put_number(stream, result->time.ns.low);
    put_number(stream, result->time.ns.high);
    put_number(stream, result->mean.point);
    put_number(stream, result->std_dev.point);
    put_number(stream, result->mad.point);
    if (samples->linear)
        put_number(stream, result->slope.point);
    else
        put_nothing(stream);
    put_number(stream, result->min_ns);
    put_number(stream, result->max_ns);
    for (size_t i = 0; i < samples->count; i++)
        iterations += samples->iterations[i];
    put_count(stream, samples->count);
    put_count(stream, iterations);
}

static void put_work(FILE *stream, const gyre_result *result)
{
    put_count(stream, result->bytes);
    put_count(stream, result->items);
    put_count(stream, result->operations);
}

static void put_change(FILE *stream, const gyre_comparison *change)
{
    if (!change->baseline) {
        for (int i = 0; i < 6; i++)
            put_nothing(stream);
        return;
    }
    put_number(stream, change->point);
    put_number(stream, change->low);
    put_number(stream, change->high);
    put_number(stream, change->p);
    put_text(stream, gyre_verdict_name(change->verdict));
    put_text(stream, change->baseline);
}

static void put_figure(FILE *stream, const gyre_figure *figure)
{
    if (figure->samples.count)
        put_number(stream, figure->median_ns);
    else
        put_nothing(stream);
}

static void put_more_times(FILE *stream, const gyre_result *result)
{
    static const double wanted[] = {0.5, 0.9, 0.99, 0.999};
    const gyre_latency *latency = &result->latency;

    put_count(stream, result->threads ? result->threads : 1);
    put_figure(stream, &result->cold);
    put_figure(stream, &result->hot);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        size_t at = 0;

        while (at < latency->quantile_count && latency->quantile[at].p != wanted[i])
            at++;
        if (at < latency->quantile_count)
            put_number(stream, latency->quantile[at].ns);
        else
            put_nothing(stream);
    }
    if (latency->quantile_count)
        put_number(stream, latency->max_ns);
    else
        put_nothing(stream);
}

static void put_counts(FILE *stream, const gyre_result *result)
{
    put_count(stream, result->memory.peak_rss_bytes);
    if (result->memory.counted) {
        put_number(stream, result->memory.allocations);
        put_number(stream, result->memory.allocated_bytes);
    } else {
        put_nothing(stream);
        put_nothing(stream);
    }
    if (result->instructions.source)
        put_number(stream, result->instructions.per_iteration);
    else
        put_nothing(stream);
}

/* The sentences in one cell. */
static void put_warnings(FILE *stream, const gyre_result *result)
{
    put_nothing(stream);
    if (result->warning_count == 0)
        return;
    fputc('"', stream);
    for (size_t i = 0; i < result->warning_count; i++) {
        fputs(i ? "; " : is_formula(result->warnings[i]) ? "'" : "", stream);
        put_escaped(stream, result->warnings[i]);
    }
    fputc('"', stream);
}

void gyre_csv_write(FILE *stream, const gyre_run *run)
{
    fputs(header, stream);
    for (size_t i = 0; i < run->count; i++) {
        const gyre_result *result = &run->results[i];

        put_name(stream, result);
        put_time(stream, result);
        put_work(stream, result);
        put_change(stream, &result->change);
        put_more_times(stream, result);
        put_counts(stream, result);
        put_warnings(stream, result);
        fputc('\n', stream);
    }
}
