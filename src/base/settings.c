/* SPDX-License-Identifier: Apache-2.0
 *
 * settings: reads the table from the program, the environment and the defaults, once.
 *
 * Threads   the first reader fills the table under pthread_once; it is constant afterwards.
 *           `mutex` guards what gyre_settings_set stores before that.
 * Owns      copies of all values; they live as long as the process.
 * Not here  the rows (settings.h) and what they do (the modules that read them).
 */
#include "base/settings.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/process.h"
#include "base/text.h"

enum { PROBLEM_SIZE = 192, UNKNOWN_MAX = 16, NAME_MAX_BYTES = 64 };

static const gyre_setting_kind kinds[] = {
#define ROW(id, name, kind, form, fallback, help) GYRE_KIND_##kind,
    GYRE_SETTINGS(ROW)
#undef ROW
};

static gyre_setting rows[] = {
#define ROW(id, name, kind, form, fallback, help)                                                  \
    {(name), (form), (fallback), (help), (fallback), GYRE_ORIGIN_DEFAULT, NULL},
    GYRE_SETTINGS(ROW)
#undef ROW
};

static int64_t numbers[GYRE_SETTING_COUNT];
static gyre_log_spec log_spec;
static char problems[GYRE_SETTING_COUNT][PROBLEM_SIZE];
static char unknown[UNKNOWN_MAX][NAME_MAX_BYTES];
static size_t unknown_count, problem_count;

static pthread_once_t read_once = PTHREAD_ONCE_INIT;
static _Atomic bool told; /* the problems were logged or returned */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *given[GYRE_SETTING_COUNT]; /* by gyre_settings_set; under the mutex */
static bool frozen;                     /* under the mutex */

bool gyre_setting_parse(gyre_setting_id id, const char *text, int64_t *out_number, char *problem,
                        size_t problem_size)
{
    const char *form = rows[id].form, *want = form;
    bool good = true;

    *out_number = 0;
    switch (kinds[id]) {
    case GYRE_KIND_TEXT:
        break;
    case GYRE_KIND_LOG: {
        gyre_log_spec spec;

        good = gyre_log_parse(text, &spec, problem, problem_size);
        if (!good)
            gyre_text_plain(problem);
        return good;
    }
    case GYRE_KIND_FLAG:
    case GYRE_KIND_CHOICE:
        *out_number = gyre_text_choice(form, text);
        good = *out_number >= 0;
        break;
    case GYRE_KIND_COUNT: {
        long long count;

        const bool automatic = strncmp(form, "auto|", 5) == 0;

        good = gyre_text_count(text, 1, 1 << 20, &count);
        if (!good && automatic && strcmp(text, "auto") == 0) {
            good = true;
            count = 0;
        }
        *out_number = count;
        want = automatic ? "auto or a whole number from 1 to 1048576"
                         : "a whole number from 1 to 1048576";
        break;
    }
    case GYRE_KIND_DURATION: {
        double ns;

        /* a bare number would mean seconds, which nobody means here */
        good = gyre_text_duration(text, &ns) && (ns == 0 || strpbrk(text, "sm"));
        *out_number = good ? (int64_t)ns : 0;
        want = "a number with ns, us, ms, s or m, or 0";
        break;
    }
    }
    if (!good) {
        snprintf(problem, problem_size, "'%.*s' is not understood; use %s",
                 gyre_text_cut(strlen(text)), text, want);
        gyre_text_plain(problem);
    }
    return good;
}

static void note_unknown_variables(void)
{
    for (char **entry = environ; entry && *entry && unknown_count < UNKNOWN_MAX; entry++) {
        const size_t length = strcspn(*entry, "=");
        bool known = length >= NAME_MAX_BYTES || strncmp(*entry, "GYRE_", 5) != 0;

        for (size_t i = 0; i < GYRE_SETTING_COUNT && !known; i++)
            known = strlen(rows[i].name) == length && strncmp(rows[i].name, *entry, length) == 0;
        if (!known) {
            memcpy(unknown[unknown_count], *entry, length);
            gyre_text_plain(unknown[unknown_count++]);
        }
    }
}

/* Takes the row's value from the program or the environment; a malformed one leaves the default. */
static void read_row(size_t id)
{
    gyre_setting *row = &rows[id];
    const char *from_environment = getenv(row->name);
    char *value = given[id];

    (void)!gyre_setting_parse((gyre_setting_id)id, row->default_value, &numbers[id], problems[id],
                              PROBLEM_SIZE);
    if (value) {
        row->origin = GYRE_ORIGIN_PROGRAM;
    } else if (from_environment && *from_environment) {
        int64_t number;

        if (!gyre_setting_parse((gyre_setting_id)id, from_environment, &number, problems[id],
                                PROBLEM_SIZE)) {
            row->problem = problems[id];
            return;
        }
        value = strdup(from_environment);
        if (!value) {
            row->problem = "no memory to keep the value";
            return;
        }
        row->origin = GYRE_ORIGIN_ENVIRONMENT;
    } else {
        return;
    }
    row->value = value;
    (void)!gyre_setting_parse((gyre_setting_id)id, value, &numbers[id], problems[id], PROBLEM_SIZE);
}

static void read_all(void)
{
    char ignored[PROBLEM_SIZE];

    pthread_mutex_lock(&mutex);
    frozen = true;
    for (size_t id = 0; id < GYRE_SETTING_COUNT; id++) {
        read_row(id);
        problem_count += rows[id].problem != NULL;
    }
    note_unknown_variables();
    (void)gyre_log_parse(rows[GYRE_SETTING_LOG].value, &log_spec, ignored, sizeof ignored);
    pthread_mutex_unlock(&mutex);
}

/* A malformed variable is logged at the first use, unless the program asks gyre_settings_check
 * before. Not inside a pthread_once: a log sink may read settings and the clock. */
static void ready(void)
{
    pthread_once(&read_once, read_all);
    /* relaxed: who is first to tell publishes nothing */
    if (!problem_count || atomic_exchange_explicit(&told, true, memory_order_relaxed))
        return;
    for (size_t i = 0; i < GYRE_SETTING_COUNT; i++)
        if (rows[i].problem)
            gyre_log(GYRE_LOG_WARN, GYRE_TOPIC_BASE, "%s: %s; using '%s'", rows[i].name,
                     rows[i].problem, rows[i].value);
}

int64_t gyre_settings_number(gyre_setting_id id)
{
    ready();
    return numbers[id];
}

const char *gyre_settings_text(gyre_setting_id id)
{
    ready();
    return rows[id].value;
}

const char *gyre_settings_system(const char *name)
{
    const char *value = getenv(name);

    return value ? value : "";
}

const gyre_log_spec *gyre_settings_log(void)
{
    pthread_once(&read_once, read_all); /* not ready(): the warning itself is logged */
    return &log_spec;
}

/* Keeps `copy` as the program's value; false when the settings were read already. The previous
 * value, or the refused one, is freed. */
static bool keep(size_t id, char *copy)
{
    bool kept;

    pthread_mutex_lock(&mutex);
    kept = !frozen;
    if (kept) {
        char *previous = given[id];

        given[id] = copy;
        copy = previous;
    }
    pthread_mutex_unlock(&mutex);
    free(copy);
    return kept;
}

gyre_status gyre_settings_set(const char *name, const char *value)
{
    char problem[PROBLEM_SIZE], *copy;
    int64_t number;
    size_t id = 0;
    const gyre_status status = gyre_process_check();

    if (status != GYRE_OK)
        return status;
    while (id < GYRE_SETTING_COUNT && strcmp(rows[id].name, name) != 0)
        id++;
    if (id == GYRE_SETTING_COUNT)
        return gyre_fail(GYRE_NOT_FOUND, "there is no setting '%.*s'", gyre_text_cut(strlen(name)),
                         name);
    if (!gyre_setting_parse((gyre_setting_id)id, value, &number, problem, sizeof problem))
        return gyre_fail(GYRE_INVALID, "%s: %s", name, problem);
    copy = strdup(value);
    if (!copy)
        return gyre_fail(GYRE_NO_MEMORY, "no memory to keep %s", name);
    if (!keep(id, copy))
        return gyre_fail(GYRE_INVALID, "%s: set it before the library's first use", name);
    return GYRE_OK;
}

gyre_status gyre_settings_check(void)
{
    const gyre_status status = gyre_process_check();

    if (status != GYRE_OK)
        return status;
    pthread_once(&read_once, read_all);
    /* relaxed: see ready */
    atomic_store_explicit(&told, true, memory_order_relaxed);
    for (size_t i = 0; i < GYRE_SETTING_COUNT; i++) {
        if (rows[i].problem && problem_count > 1)
            return gyre_fail(GYRE_INVALID, "%s: %s; and %zu more", rows[i].name, rows[i].problem,
                             problem_count - 1);
        if (rows[i].problem)
            return gyre_fail(GYRE_INVALID, "%s: %s", rows[i].name, rows[i].problem);
    }
    return GYRE_OK;
}

const gyre_setting *gyre_settings_at(size_t index)
{
    ready();
    return index < GYRE_SETTING_COUNT ? &rows[index] : NULL;
}

const gyre_setting *gyre_settings_find(const char *name)
{
    for (size_t i = 0; i < GYRE_SETTING_COUNT; i++)
        if (strcmp(rows[i].name, name) == 0)
            return gyre_settings_at(i);
    return NULL;
}

const char *gyre_settings_unknown(size_t index)
{
    ready();
    return index < unknown_count ? unknown[index] : NULL;
}
