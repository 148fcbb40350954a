/* SPDX-License-Identifier: Apache-2.0
 *
 * case: expands tables into cases. See case.h.
 */
#include "bench/case.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "bench/axis.h"
#include "bench/filter.h"

enum { MOST_CASES = 10000, MOST_AXIS_CHOICES = 32 };

/* The suite, and entry `index` of it, as we know them: both may be of an older, shorter type. */
static gyre_suite suite_of(const gyre_suite *suite)
{
    gyre_suite copy = {0};

    memcpy(&copy, suite, suite->suite_size < sizeof copy ? suite->suite_size : sizeof copy);
    return copy;
}

static gyre_bench entry_of(const gyre_suite *suite, size_t index)
{
    const size_t size = suite->bench_size;
    gyre_bench bench = {0};

    memcpy(&bench, (const char *)suite->benches + index * size,
           size < sizeof bench ? size : sizeof bench);
    if (bench.tags == 0)
        bench.tags = GYRE_TAG_CPU;
    for (size_t i = 0; i < GYRE_BENCH_AXES; i++) /* words are numbered */
        for (size_t k = 0; bench.axes[i].words[0] && k < GYRE_AXIS_VALUES; k++)
            bench.axes[i].values[k] = (int64_t)k;
    return bench;
}

/* Whether every part between slashes is a name that could be a folder's. */
static bool is_path_of_names(const char *name)
{
    for (;;) {
        const size_t length = strcspn(name, "/");

        if (length == 0 || name[0] == '.')
            return false;
        if (name[length] == '\0')
            return true;
        name += length + 1;
    }
}

static bool has_twin_axes(const gyre_bench *bench)
{
    for (size_t i = 0; i < GYRE_BENCH_AXES; i++)
        for (size_t k = 0; k < i; k++)
            if (bench->axes[i].name && bench->axes[k].name &&
                strcmp(bench->axes[i].name, bench->axes[k].name) == 0)
                return true;
    return false;
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
    if (!is_path_of_names(bench->name) || bench->name[strspn(bench->name, letters)] != '\0')
        return gyre_fail(GYRE_INVALID, "suite '%s': '%.*s' is no name for a benchmark", suite->name,
                         gyre_text_cut(strlen(bench->name)), bench->name);
    if (suite->clock && bench->prepare && bench->batch == GYRE_BATCH_EACH)
        return gyre_fail(GYRE_INVALID,
                         "'%s': a suite with a clock of its own prepares whole batches, not each",
                         bench->name);
    if (suite->clock && bench->threads)
        return gyre_fail(GYRE_INVALID, "'%s': a suite with a clock of its own runs on one thread",
                         bench->name);
    for (size_t i = 0; i < GYRE_BENCH_AXES; i++)
        if (bench->axes[i].name &&
            (bench->axes[i].count == 0 || bench->axes[i].count > GYRE_AXIS_VALUES))
            return gyre_fail(GYRE_INVALID, "'%s': axis '%s' has %zu values, not 1 to %d",
                             bench->name, bench->axes[i].name, bench->axes[i].count,
                             GYRE_AXIS_VALUES);
    if (has_twin_axes(bench))
        return gyre_fail(GYRE_INVALID, "'%s': two axes have one name", bench->name);
    for (size_t i = 0; i < GYRE_BENCH_AXES; i++)
        for (size_t j = 0; bench->axes[i].words[0] && j < bench->axes[i].count; j++) {
            const char *word = bench->axes[i].words[j];

            if (!word || !*word || word[strspn(word, letters)] != '\0' || strchr(word, '/'))
                return gyre_fail(GYRE_INVALID, "'%s': axis '%s' has a word that is none",
                                 bench->name, bench->axes[i].name);
        }
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

    *out_case = (gyre_bench_case){
        .suite = suite->name, .clock = suite->clock, .guard = suite->guard, .bench = *bench};
    for (size_t i = GYRE_BENCH_AXES; i-- > 0;) {
        const gyre_axis *axis = &bench->axes[i];

        if (!axis->name)
            continue;
        out_case->values[i] = axis->values[index % axis->count];
        out_case->words[i] = axis->words[index % axis->count];
        index /= axis->count;
    }
    used = (size_t)snprintf(out_case->id, sizeof out_case->id, "%s", bench->name);
    for (size_t i = 0; i < GYRE_BENCH_AXES && used < sizeof out_case->id; i++) {
        char *end = out_case->id + used;
        const size_t room = sizeof out_case->id - used;

        if (bench->axes[i].name)
            used += (size_t)(out_case->words[i]
                                 ? snprintf(end, room, "/%s", out_case->words[i])
                                 : snprintf(end, room, "/%" PRId64, out_case->values[i]));
    }
    if (used >= sizeof out_case->id)
        return gyre_fail(GYRE_INVALID, "'%.*s...': the name is longer than %zu bytes", 64,
                         bench->name, sizeof out_case->id - 1);
    return GYRE_OK;
}

/* The axes of all suites and the choices among their values. */
typedef struct axis_choices {
    gyre_axis_choice choice[MOST_AXIS_CHOICES];
    bool used[MOST_AXIS_CHOICES];      /* some benchmark has that axis, */
    uint32_t found[MOST_AXIS_CHOICES]; /* and some of them these values */
    char why[512];                     /* the first was left out, and its name */
    size_t count;
} axis_choices;

static gyre_status read_axis_choices(const gyre_case_choice *from, axis_choices *out_choices)
{
    *out_choices = (axis_choices){.count = 0};
    if (from->axis_count > MOST_AXIS_CHOICES)
        return gyre_fail(GYRE_INVALID, "more than %d choices of values", MOST_AXIS_CHOICES);
    for (; out_choices->count < from->axis_count; out_choices->count++) {
        const gyre_status status = gyre_axis_choice_parse(from->axes[out_choices->count],
                                                          &out_choices->choice[out_choices->count]);

        if (status != GYRE_OK)
            return status;
    }
    return GYRE_OK;
}

/* False when the benchmark has nothing of what was chosen for an axis of its own: it is left out.
 */
static bool apply_axis_choices(axis_choices *choices, gyre_bench *bench)
{
    for (size_t k = 0; k < choices->count; k++) {
        for (size_t i = 0; i < GYRE_BENCH_AXES; i++) {
            gyre_axis *axis = &bench->axes[i];

            if (!axis->name || !gyre_axis_choice_names(&choices->choice[k], axis->name))
                continue;
            choices->used[k] = true;
            if (gyre_axis_choose_some(&choices->choice[k], axis, &choices->found[k]) == GYRE_OK)
                continue;
            if (!choices->why[0])
                snprintf(choices->why, sizeof choices->why, "'%s': %s", bench->name,
                         gyre_error_last()->text);
            return false;
        }
    }
    return true;
}

/* Each axis that was named is there, and some benchmark has each value that was chosen. */
static gyre_status check_axis_choices(const axis_choices *choices)
{
    for (size_t k = 0; k < choices->count; k++) {
        const gyre_axis_choice *const choice = &choices->choice[k];
        const int name = gyre_text_cut(choice->name_length);
        const char *word;
        size_t length;

        if (!choices->used[k])
            return gyre_fail(GYRE_NOT_FOUND, "no benchmark has an axis '%.*s'", name, choice->name);
        if (choices->found[k] == 0)
            return gyre_fail(GYRE_INVALID, "%s", choices->why);
        if (gyre_axis_choice_misses(choice, choices->found[k], &word, &length))
            return gyre_fail(GYRE_INVALID, "no benchmark has the value '%.*s' on its axis '%.*s'",
                             gyre_text_cut(length), word, name, choice->name);
    }
    return GYRE_OK;
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

static int by_id(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *gyre_ids_twin(const char **ids, size_t count)
{
    qsort(ids, count, sizeof ids[0], by_id);
    for (size_t i = 1; i < count; i++)
        if (strcmp(ids[i - 1], ids[i]) == 0)
            return ids[i];
    return NULL;
}

static gyre_status refuse_twins(const gyre_case_list *list)
{
    gyre_status status;
    const char **ids, *twin;
    void *block;

    status = gyre_alloc(NULL, list->count, sizeof ids[0], &block);
    if (status != GYRE_OK)
        return status;
    ids = block;
    for (size_t i = 0; i < list->count; i++)
        ids[i] = list->cases[i].id;
    twin = gyre_ids_twin(ids, list->count);
    if (twin)
        status = gyre_fail(GYRE_INVALID, "two benchmarks are called '%s'", twin);
    gyre_free(NULL, block, list->count, sizeof ids[0]);
    return status;
}

/* Adds the cases of one suite; a first pass without room only counts. */
static gyre_status expand_suite(const gyre_suite *suite, axis_choices *choices,
                                gyre_case_list *list, size_t *at)
{
    for (size_t i = 0; i < suite->count; i++) {
        gyre_bench bench = entry_of(suite, i);
        gyre_status status = check_entry(suite, &bench, i);

        if (status == GYRE_OK && !apply_axis_choices(choices, &bench))
            continue;
        for (size_t k = 0; status == GYRE_OK && list->cases && k < combinations(&bench); k++)
            status = make_case(suite, &bench, k, &list->cases[*at + k]);
        if (status != GYRE_OK)
            return status;
        *at += combinations(&bench);
    }
    return GYRE_OK;
}

static gyre_status expand_suites(const gyre_suite *const *suites, axis_choices *choices,
                                 gyre_case_list *list, size_t *out_total)
{
    gyre_status status = GYRE_OK;

    *out_total = 0;
    for (; *suites && status == GYRE_OK; suites++) {
        const gyre_suite suite = suite_of(*suites);

        if (suite.suite_size == 0 || suite.bench_size == 0 || !suite.name)
            return gyre_fail(GYRE_INVALID,
                             "a suite does not say its sizes; make it with GYRE_SUITE");
        status = expand_suite(&suite, choices, list, out_total);
    }
    return status;
}

/* The case of the benchmark beside which `c` is measured that has the same values, if there is one.
 */
static gyre_status find_beside(const gyre_case_list *list, const gyre_bench_case *c,
                               bool some_left_out, const gyre_bench_case **out_other)
{
    const char *name = c->bench.beside, *values = c->id + strlen(c->bench.name);
    const size_t length = strlen(name);
    bool declared = some_left_out; /* it may be among those */

    *out_other = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const gyre_bench_case *other = &list->cases[i];

        if (strcmp(other->bench.name, name) != 0)
            continue;
        declared = true;
        if (strcmp(other->id + length, values) == 0)
            *out_other = other;
    }
    if (!declared || strcmp(c->bench.name, name) == 0)
        return gyre_fail(GYRE_INVALID, "'%s': there is no other benchmark '%.*s' beside it",
                         c->bench.name, gyre_text_cut(length), name);
    if (c->clock || (*out_other && (*out_other)->clock))
        return gyre_fail(GYRE_INVALID,
                         "'%s': in a suite with a clock of its own nothing is measured beside '%s'",
                         c->bench.name, name);
    return GYRE_OK;
}

/* Copies, because what is not wanted goes. */
static gyre_status find_others(gyre_case_list *list, bool some_left_out)
{
    gyre_status status = GYRE_OK;
    size_t most = 0;
    void *block;

    for (size_t i = 0; i < list->count; i++)
        most += list->cases[i].bench.beside != NULL;
    if (most == 0)
        return GYRE_OK;
    status = gyre_alloc(NULL, most, sizeof list->others[0], &block);
    if (status != GYRE_OK)
        return status;
    list->others = block;
    for (size_t i = 0; i < list->count && status == GYRE_OK; i++) {
        const gyre_bench_case *other = NULL;

        if (list->cases[i].bench.beside)
            status = find_beside(list, &list->cases[i], some_left_out, &other);
        if (status == GYRE_OK && other) {
            list->others[list->other_count] = *other;
            list->cases[i].beside = &list->others[list->other_count++];
        }
    }
    return status;
}

/* All cases of all suites, wanted or not. */
static gyre_status expand(const gyre_suite *const *suites, const gyre_case_choice *choice,
                          gyre_case_list *list)
{
    axis_choices choices;
    size_t total;
    gyre_status status = read_axis_choices(choice, &choices);
    void *block;

    if (status == GYRE_OK)
        status = expand_suites(suites, &choices, list, &total);
    if (status != GYRE_OK)
        return status;
    status = check_axis_choices(&choices);
    if (status != GYRE_OK || total == 0)
        return status;
    if (total > MOST_CASES)
        return gyre_fail(GYRE_INVALID, "%zu cases are more than %d", total, MOST_CASES);
    status = gyre_alloc(NULL, total, sizeof list->cases[0], &block);
    if (status != GYRE_OK)
        return status;
    list->cases = block;
    list->count = total;
    status = expand_suites(suites, &choices, list, &total);
    if (status == GYRE_OK)
        status = refuse_twins(list);
    return status == GYRE_OK ? find_others(list, choices.why[0] != '\0') : status;
}

static const char *id_at(const void *list, size_t index)
{
    const gyre_case_list *cases = list;

    return index < cases->count ? cases->cases[index].id : NULL;
}

static gyre_status nothing_wanted(const gyre_case_list *list, const gyre_case_choice *choice)
{
    const char *guess =
        choice->pattern_count == 1 ? gyre_text_nearest(choice->patterns[0], id_at, list) : NULL;

    if (choice->axis_count > 0)
        return gyre_fail(GYRE_NOT_FOUND,
                         "no benchmark of %zu matches, with the values that --axis gives",
                         list->count);
    if (guess)
        return gyre_fail(GYRE_NOT_FOUND, "no benchmark of %zu matches; did you mean '%s'?",
                         list->count, guess);
    return gyre_fail(GYRE_NOT_FOUND, "no benchmark of %zu matches; --list shows them", list->count);
}

/* Leaves those that are wanted, in their order. */
static gyre_status keep_wanted(gyre_case_list *list, const gyre_case_choice *choice)
{
    gyre_filter filter;
    size_t kept = 0;
    const gyre_status status = gyre_filter_init(&filter, choice->patterns, choice->pattern_count,
                                                choice->exact, choice->skip, choice->skip_count);

    if (status != GYRE_OK)
        return status;
    for (size_t i = 0; i < list->count; i++) {
        const gyre_bench_case *c = &list->cases[i];

        if ((!choice->suite || strcmp(choice->suite, c->suite) == 0) &&
            gyre_filter_wants(&filter, c->id, c->bench.tags)) {
            if (kept != i)
                list->cases[kept] = *c;
            kept++;
        }
    }
    gyre_filter_fini(&filter);
    if (list->count > 0 && kept == 0)
        return nothing_wanted(list, choice);
    list->count = kept;
    return GYRE_OK;
}

gyre_status gyre_case_list_create(const gyre_suite *const *suites, const gyre_case_choice *choice,
                                  gyre_case_list **out_list)
{
    static const gyre_case_choice everything;
    gyre_case_list *list;
    gyre_status status;
    void *block;

    *out_list = NULL;
    choice = choice ? choice : &everything;
    status = gyre_alloc(NULL, 1, sizeof *list, &block);
    if (status != GYRE_OK)
        return status;
    list = block;
    status = expand(suites, choice, list);
    if (status == GYRE_OK && choice->suite)
        status = find_suite(suites, choice->suite);
    if (status == GYRE_OK)
        status = keep_wanted(list, choice);
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
    /* malloc's free needs no size, so the counts need not be those that were allocated */
    gyre_free(NULL, list->cases, list->count, sizeof list->cases[0]);
    gyre_free(NULL, list->others, list->other_count, sizeof list->others[0]);
    gyre_free(NULL, list, 1, sizeof *list);
}

size_t gyre_case_list_measured(const gyre_case_list *list)
{
    size_t count = list->count;

    for (size_t i = 0; i < list->count; i++)
        count += list->cases[i].beside != NULL;
    return count;
}

size_t gyre_case_group_length(const char *id)
{
    return strcspn(id, "/");
}

size_t gyre_case_group_first(const gyre_case_list *list, size_t index)
{
    const char *id = list->cases[index].id;
    const size_t length = gyre_case_group_length(id);
    size_t i = 0;

    while (gyre_case_group_length(list->cases[i].id) != length ||
           memcmp(list->cases[i].id, id, length) != 0)
        i++;
    return i;
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

static size_t place_of(const gyre_bench_case *c, const char *name)
{
    size_t i;

    for (i = 0; i < GYRE_BENCH_AXES; i++)
        if (c->bench.axes[i].name && strcmp(c->bench.axes[i].name, name) == 0)
            break;
    assert(i < GYRE_BENCH_AXES && "the benchmark has no such axis");
    return i;
}

int64_t gyre_bench_axis(const gyre_bench_case *c, const char *name)
{
    const size_t place = place_of(c, name);

    return place < GYRE_BENCH_AXES ? c->values[place] : 0;
}

const char *gyre_bench_word(const gyre_bench_case *c, const char *name)
{
    const size_t place = place_of(c, name);

    return place < GYRE_BENCH_AXES ? c->words[place] : NULL;
}
