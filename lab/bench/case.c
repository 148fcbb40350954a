/* SPDX-License-Identifier: Apache-2.0
 *
 * case: expands tables into cases. See case.h.
 */
#include "bench/case.h"

#include <assert.h>
#include <inttypes.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"

enum { MOST_PATTERNS = 64, MOST_CASES = 10000 };

typedef struct matcher {
    const gyre_case_filter *filter;
    regex_t compiled[MOST_PATTERNS];
    size_t count;
} matcher;

/* Reads entry `index` of a suite whose entries may be shorter than ours. */
static gyre_bench entry_of(const gyre_suite *suite, size_t index)
{
    const size_t size = suite->bench_size;
    gyre_bench bench = {0};

    memcpy(&bench, (const char *)suite->benches + index * size,
           size < sizeof bench ? size : sizeof bench);
    return bench;
}

static gyre_status check_entry(const gyre_suite *suite, const gyre_bench *bench, size_t index)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
    const char *missing = !bench->name                 ? "name"
                          : !bench->run                ? "run"
                          : !bench->check              ? "check"
                          : !bench->t0 || !bench->t1   ? "t0 and t1"
                          : !bench->observer           ? "observer"
                          : !*bench->t0 || !*bench->t1 ? "words for t0 and t1"
                          : !*bench->observer          ? "words for the observer"
                                                       : NULL;

    if (missing)
        return gyre_fail(GYRE_INVALID, "suite '%s', entry %zu (%s): no %s", suite->name, index,
                         bench->name ? bench->name : "unnamed", missing);
    if (!*bench->name || bench->name[strspn(bench->name, letters)] != '\0')
        return gyre_fail(GYRE_INVALID, "suite '%s': '%.*s' is no name for a benchmark", suite->name,
                         gyre_text_cut(strlen(bench->name)), bench->name);
    for (size_t i = 0; i < GYRE_BENCH_AXES; i++)
        if (bench->axes[i].name &&
            (bench->axes[i].count == 0 || bench->axes[i].count > GYRE_AXIS_VALUES))
            return gyre_fail(GYRE_INVALID, "'%s': axis '%s' has %zu values, not 1 to %d",
                             bench->name, bench->axes[i].name, bench->axes[i].count,
                             GYRE_AXIS_VALUES);
    return GYRE_OK;
}

static size_t combinations(const gyre_bench *bench)
{
    size_t count = 1;

    for (size_t i = 0; i < GYRE_BENCH_AXES; i++)
        count *= bench->axes[i].name ? bench->axes[i].count : 1;
    return count;
}

/* The `index`-th combination; the last axis turns fastest. */
static gyre_status make_case(const gyre_suite *suite, const gyre_bench *bench, size_t index,
                             gyre_bench_case *out_case)
{
    size_t used;

    *out_case = (gyre_bench_case){.suite = suite, .bench = *bench};
    for (size_t i = GYRE_BENCH_AXES; i-- > 0;) {
        if (!bench->axes[i].name)
            continue;
        out_case->values[i] = bench->axes[i].values[index % bench->axes[i].count];
        index /= bench->axes[i].count;
    }
    used = (size_t)snprintf(out_case->id, sizeof out_case->id, "%s", bench->name);
    for (size_t i = 0; i < GYRE_BENCH_AXES && used < sizeof out_case->id; i++)
        if (bench->axes[i].name)
            used += (size_t)snprintf(out_case->id + used, sizeof out_case->id - used, "/%" PRId64,
                                     out_case->values[i]);
    if (used >= sizeof out_case->id)
        return gyre_fail(GYRE_INVALID, "'%.*s...': the name is longer than %zu bytes", 64,
                         bench->name, sizeof out_case->id - 1);
    return GYRE_OK;
}

static gyre_status compile(const gyre_case_filter *filter, matcher *out_matcher)
{
    out_matcher->filter = filter;
    out_matcher->count = 0;
    if (filter->pattern_count > MOST_PATTERNS)
        return gyre_fail(GYRE_INVALID, "more than %d filters", MOST_PATTERNS);
    for (size_t i = 0; i < filter->pattern_count && !filter->exact; i++) {
        const char *pattern = filter->patterns[i];
        const int error = regcomp(&out_matcher->compiled[i], pattern, REG_EXTENDED | REG_NOSUB);

        if (error) {
            char why[96];

            regerror(error, &out_matcher->compiled[i], why, sizeof why);
            return gyre_fail(GYRE_INVALID, "filter '%.*s': %s", gyre_text_cut(strlen(pattern)),
                             pattern, why);
        }
        out_matcher->count++;
    }
    return GYRE_OK;
}

static bool wants(const matcher *by, const gyre_bench_case *c)
{
    const gyre_case_filter *filter = by->filter;

    if (filter->suite && strcmp(filter->suite, c->suite->name) != 0)
        return false;
    for (size_t i = 0; i < filter->pattern_count; i++)
        if (filter->exact ? strcmp(filter->patterns[i], c->id) == 0
                          : regexec(&by->compiled[i], c->id, 0, NULL, 0) == 0)
            return true;
    return filter->pattern_count == 0;
}

/* GYRE_NOT_FOUND with their names when there is no suite of that name. */
static gyre_status find_suite(const gyre_suite *const *suites, const char *name)
{
    char names[160] = "";

    for (const gyre_suite *const *s = suites; *s; s++) {
        const size_t used = strlen(names);

        if (strcmp((*s)->name, name) == 0)
            return GYRE_OK;
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", (*s)->name);
    }
    return gyre_fail(GYRE_NOT_FOUND, "there is no suite '%.*s'; there are: %s",
                     gyre_text_cut(strlen(name)), name, names);
}

static gyre_status refuse_twins(const gyre_case_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        for (size_t j = i + 1; j < list->count; j++)
            if (strcmp(list->cases[i].id, list->cases[j].id) == 0)
                return gyre_fail(GYRE_INVALID, "two benchmarks are called '%s'", list->cases[i].id);
    return GYRE_OK;
}

/* All cases of all suites, wanted or not. */
static gyre_status expand(const gyre_suite *const *suites, gyre_case_list *list)
{
    size_t total = 0, at = 0;
    gyre_status status;
    void *block;

    for (const gyre_suite *const *s = suites; *s; s++) {
        for (size_t i = 0; i < (*s)->count; i++) {
            const gyre_bench bench = entry_of(*s, i);

            status = check_entry(*s, &bench, i);
            if (status != GYRE_OK)
                return status;
            total += combinations(&bench);
        }
    }
    if (total == 0)
        return GYRE_OK;
    if (total > MOST_CASES)
        return gyre_fail(GYRE_INVALID, "%zu cases are more than %d", total, MOST_CASES);
    status = gyre_alloc(NULL, total, sizeof list->cases[0], &block);
    if (status != GYRE_OK)
        return status;
    list->cases = block;
    list->count = total;
    for (const gyre_suite *const *s = suites; *s; s++) {
        for (size_t i = 0; i < (*s)->count; i++) {
            const gyre_bench bench = entry_of(*s, i);

            for (size_t k = 0; k < combinations(&bench); k++) {
                status = make_case(*s, &bench, k, &list->cases[at++]);
                if (status != GYRE_OK)
                    return status;
            }
        }
    }
    return refuse_twins(list);
}

gyre_status gyre_case_list_create(const gyre_suite *const *suites, const gyre_case_filter *filter,
                                  gyre_case_list **out_list)
{
    static const gyre_case_filter everything;
    matcher by = {.count = 0};
    gyre_case_list *list;
    gyre_status status;
    void *block;
    size_t kept = 0;

    *out_list = NULL;
    status = gyre_alloc(NULL, 1, sizeof *list, &block);
    if (status != GYRE_OK)
        return status;
    list = block;
    status = expand(suites, list);
    if (status == GYRE_OK && filter && filter->suite)
        status = find_suite(suites, filter->suite);
    if (status == GYRE_OK)
        status = compile(filter ? filter : &everything, &by);
    if (status == GYRE_OK) {
        for (size_t i = 0; i < list->count; i++)
            if (wants(&by, &list->cases[i]))
                list->cases[kept++] = list->cases[i];
        if (list->count > 0 && kept == 0)
            status = gyre_fail(GYRE_NOT_FOUND, "no benchmark of %zu matches; --list shows them",
                               list->count);
        list->count = kept;
    }
    for (size_t i = 0; i < by.count; i++)
        regfree(&by.compiled[i]);
    if (status != GYRE_OK) {
        gyre_case_list_destroy(list);
        return status;
    }
    *out_list = list;
    return GYRE_OK;
}

void gyre_case_list_destroy(gyre_case_list *list)
{
    if (!list)
        return;
    /* malloc's free needs no size, so the count need not be the one that was allocated */
    gyre_free(NULL, list->cases, list->count, sizeof list->cases[0]);
    gyre_free(NULL, list, 1, sizeof *list);
}

gyre_status gyre_bench_refuse(gyre_status status, const char *format, ...)
{
    char text[sizeof gyre_error_last()->text];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return gyre_fail(status, "%s", text);
}

int64_t gyre_bench_axis(const gyre_bench_case *c, const char *name)
{
    for (size_t i = 0; i < GYRE_BENCH_AXES; i++)
        if (c->bench.axes[i].name && strcmp(c->bench.axes[i].name, name) == 0)
            return c->values[i];
    assert(false && "the benchmark has no such axis");
    return 0;
}
