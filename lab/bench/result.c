/* SPDX-License-Identifier: Apache-2.0
 *
 * result: see result.h.
 */
#include "bench/result.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FACT_NAME_BYTES = 64 };

bool gyre_samples_init(gyre_result *result, gyre_samples *samples, size_t count)
{
    *samples = (gyre_samples){.count = count};
    samples->times_ns = gyre_arena_array(&result->arena, count, sizeof samples->times_ns[0]);
    samples->iterations = gyre_arena_array(&result->arena, count, sizeof samples->iterations[0]);
    if (samples->times_ns && samples->iterations)
        return true;
    *samples = (gyre_samples){0};
    return false;
}

const gyre_figure *gyre_result_work_time(const gyre_result *result)
{
    return result->hot.samples.count > 0 ? &result->hot : &result->time;
}

void gyre_result_warn(gyre_result *result, const char *format, ...)
{
    va_list values;

    if (result->warning_count == GYRE_RESULT_WARNINGS)
        return;
    va_start(values, format);
    result->warnings[result->warning_count++] = gyre_arena_vprint(&result->arena, format, values);
    va_end(values);
}

void gyre_result_fini(gyre_result *result)
{
    gyre_arena_fini(&result->arena);
    *result = (gyre_result){0};
}

/* The fact of that name, a new one at the end, or NULL when there is no room. */
static gyre_fact *fact_named(gyre_bench_facts *facts, const char *given)
{
    char name[FACT_NAME_BYTES];

    snprintf(name, sizeof name, "%s", given);
    for (char *c = name; *c; c++) /* names are keys: they stay different in every encoding */
        if (*c < ' ' || *c > '~')
            *c = '?';
    for (size_t i = 0; i < facts->count; i++)
        if (strcmp(facts->fact[i].name, name) == 0)
            return &facts->fact[i];
    if (facts->count == GYRE_RESULT_FACTS)
        return NULL;
    facts->fact[facts->count].name = gyre_arena_text(&facts->owner->arena, name);
    return &facts->fact[facts->count++];
}

void gyre_bench_count(gyre_bench_facts *facts, const char *name, double value)
{
    gyre_fact *fact = fact_named(facts, name);

    if (fact) {
        fact->text = NULL;
        fact->number = value;
    }
}

void gyre_bench_note(gyre_bench_facts *facts, const char *name, const char *text)
{
    gyre_fact *fact = fact_named(facts, name);

    if (fact)
        fact->text = gyre_arena_text(&facts->owner->arena, text);
}

const char *gyre_outcome_name(gyre_outcome outcome)
{
    static const char *const names[] = {"measured", "checked", "failed", "skipped", "interrupted"};

    return (size_t)outcome < sizeof names / sizeof names[0] ? names[outcome] : "unknown";
}

const char *gyre_verdict_name(gyre_verdict verdict)
{
    static const char *const names[] = {"none", "noise", "improved", "regressed"};

    return (size_t)verdict < sizeof names / sizeof names[0] ? names[verdict] : "unknown";
}

const char *gyre_tag_name(uint32_t tag)
{
    return tag == GYRE_TAG_CPU ? "cpu" : tag == GYRE_TAG_GPU ? "gpu" : "slow";
}
