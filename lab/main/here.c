/* SPDX-License-Identifier: Apache-2.0
 *
 * here: see here.h.
 */
#include "main/here.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/measure.h"
#include "bench/spans.h"
#include "gyre/thread.h"

/* What an exit from inside a benchmark has to know. */
static struct {
    const gyre_supervision *s; /* NULL: nothing is being visited */
    size_t index;
    int stdout_copy; /* -1: stdout is where it was */
    void (*over)(void *user);
} visit = {.stdout_copy = -1};

/* What a benchmark prints must not get into output that programs read. */
static void hide_stdout(void)
{
    fflush(stdout);
    visit.stdout_copy = dup(STDOUT_FILENO);
    if (visit.stdout_copy >= 0)
        dup2(STDERR_FILENO, STDOUT_FILENO);
}

static void show_stdout(void)
{
    if (visit.stdout_copy < 0)
        return;
    fflush(stdout);
    dup2(visit.stdout_copy, STDOUT_FILENO);
    close(visit.stdout_copy);
    visit.stdout_copy = -1;
}

static void on_exit_inside(void)
{
    const gyre_supervision *s = visit.s;
    gyre_result result;

    if (!s)
        return;
    visit.s = NULL;
    show_stdout();
    gyre_result_begin(&result, &s->list->cases[visit.index]);
    result.outcome = GYRE_OUTCOME_FAILED;
    result.reason = "called exit";
    s->result(s->user, &result);
    visit.over(s->user);
}

static void on_progress(void *user, const char *phase, uint64_t left_ns)
{
    const gyre_supervision *s = visit.s;

    (void)user;
    s->progress(s->user, visit.index, phase, strlen(phase), left_ns);
}

static void hand_over_trace(const gyre_supervision *s, size_t index)
{
    gyre_spans_text text;

    if (gyre_spans_end(s->list->cases[index].id, gyre_case_group_first(s->list, index) + 1,
                       &text) != GYRE_OK)
        return; /* the result says that memory is out, or has room still */
    s->trace(s->user, text.json, text.length, text.lost);
    free(text.json);
}

gyre_status gyre_visit_here(const gyre_supervision *s, void (*over)(void *user))
{
    static bool registered;
    const gyre_watch watch = {.progress = on_progress, .interrupted = s->interrupted};
    gyre_status status = GYRE_OK;

    if (!registered && atexit(on_exit_inside) == 0)
        registered = true;
    if (s->cpus) {
        uint32_t cpus[GYRE_CPU_LIMIT];
        size_t count = 0;

        for (uint32_t i = 0; i < GYRE_CPU_LIMIT; i++)
            if (gyre_cpu_set_has(s->cpus, i))
                cpus[count++] = i;
        status = gyre_thread_pin_self(cpus, count);
    }
    visit.over = over;
    for (size_t i = 0; i < s->list->count && status == GYRE_OK && !*s->interrupted; i++) {
        gyre_result result;

        visit.index = i;
        visit.s = s;
        if (s->hide_output)
            hide_stdout();
        if (s->trace)
            status = gyre_spans_begin();
        if (status != GYRE_OK) {
            show_stdout();
            visit.s = NULL;
            break;
        }
        status = gyre_measure(&s->list->cases[i], s->method, &watch, &result);
        if (s->trace)
            hand_over_trace(s, i);
        show_stdout();
        visit.s = NULL;
        s->result(s->user, &result);
    }
    return status;
}
