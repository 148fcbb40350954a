/* SPDX-License-Identifier: Apache-2.0
 *
 * supervise: see supervise.h.
 */
#include "main/supervise.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "bench/count.h"
#include "bench/measure.h"
#include "gyre/clock.h"
#include "main/callgrind.h"
#include "main/guardian.h"
#include "main/orphans.h"
#include "main/preload.h"
#include "main/serve.h"
#include "main/worker.h"
#include "record/read.h"

enum {
    ECHOED_BYTES = 4096,     /* of what one process prints */
    CALLGRIND_PATIENCE = 10, /* times the usual: it runs fifty times slower */
    PHASE_BYTES = 48,
    REASON_BYTES = 256,
};

/* Cases that share a process, and what has come of them. */
typedef struct share {
    const gyre_supervision *s;
    size_t first, count;
    gyre_result *results; /* one for each */
    bool *is_there;
    size_t given;   /* so many of them have been given away */
    size_t current; /* the case in progress, of the list */
    bool begun;     /* `current` is one, and has no result yet */
    bool at_once;   /* results are given away as they come */
    char phase[PHASE_BYTES];
    size_t echoed;
    bool hushed; /* the rest is not echoed, and that was said */
} share;

static void on_tick(void *user)
{
    const share *sh = user;

    sh->s->progress(sh->s->user, sh->current, NULL, 0, 0);
}

static void on_output(void *user, const char *bytes, size_t length)
{
    static const char more[] = "\n... (and more, which is not shown)\n";
    share *sh = user;
    const size_t room = ECHOED_BYTES - sh->echoed;
    const size_t shown = length < room ? length : room;

    if (sh->hushed)
        return;
    sh->echoed += shown;
    sh->s->output(sh->s->user, bytes, shown);
    if (shown < length) {
        sh->hushed = true;
        sh->s->output(sh->s->user, more, sizeof more - 1);
    }
}

/* Gives away, in order, the results of the cases before `end`. The last one of a process waits
 * until it is known how the process ended. */
static void deliver(share *sh, size_t end)
{
    for (; sh->first + sh->given < end; sh->given++)
        if (sh->is_there[sh->given])
            sh->s->result(sh->s->user, &sh->results[sh->given]);
}

/* A place for the result of a case; what was there is forgotten. */
static gyre_result *place_for(share *sh, size_t index)
{
    gyre_result *result = &sh->results[index - sh->first];

    if (sh->is_there[index - sh->first])
        gyre_result_fini(result);
    sh->is_there[index - sh->first] = true;
    return result;
}

static void conclude(share *sh, size_t index, gyre_outcome outcome, const char *reason,
                     const char *last_words)
{
    gyre_result *result = place_for(sh, index);

    gyre_result_begin(result, &sh->s->list->cases[index]);
    result->outcome = outcome;
    result->reason = gyre_arena_text(&result->arena, reason);
    result->last_words = gyre_arena_text(&result->arena, last_words);
}

static gyre_status take_result(share *sh, const gyre_message *message)
{
    const size_t index = sh->current;
    gyre_result parsed;
    gyre_status status;

    if (!sh->begun || message->number != index)
        return gyre_fail(GYRE_CORRUPT, "the process speaks of a case it has not begun");
    status = gyre_result_parse(message->text, message->length, &parsed);
    if (status != GYRE_OK)
        return status;
    if (strcmp(parsed.id, sh->s->list->cases[index].id) != 0) {
        gyre_result_fini(&parsed);
        return gyre_fail(GYRE_CORRUPT, "the process speaks of another case");
    }
    *place_for(sh, index) = parsed;
    sh->begun = false;
    if (parsed.outcome == GYRE_OUTCOME_INTERRUPTED && !*sh->s->interrupted)
        conclude(sh, index, GYRE_OUTCOME_FAILED, "its process was told to stop by somebody else",
                 "");
    return GYRE_OK;
}

static int at_most(size_t length, int most)
{
    return length < (size_t)most ? (int)length : most;
}

/* Reads messages until the process is done or gone; whether it said that it was done. */
static gyre_status listen(share *sh, gyre_worker *worker, const gyre_worker_start *start,
                          bool *out_done, char sorry[REASON_BYTES])
{
    const gyre_supervision *s = sh->s;

    *out_done = false;
    for (;;) {
        gyre_message message;
        gyre_status status = gyre_worker_next(worker, s->interrupted, &message);

        if (status != GYRE_OK)
            return status;
        switch (message.kind) {
        case GYRE_MESSAGE_BEGIN:
            if (message.number < sh->first || message.number >= sh->first + sh->count)
                return gyre_fail(GYRE_CORRUPT, "the process speaks of a case it has not got");
            sh->current = (size_t)message.number;
            sh->begun = true;
            worker->timeout_ns = start->timeout_ns;
            sh->phase[0] = '\0';
            if (sh->at_once)
                deliver(sh, sh->current);
            break;
        case GYRE_MESSAGE_PROGRESS:
            snprintf(sh->phase, sizeof sh->phase, "%.*s", at_most(message.length, PHASE_BYTES),
                     message.text);
            /* what is our own work does not hang, however long it takes */
            worker->timeout_ns = strcmp(sh->phase, "analysing") == 0 ? 0 : start->timeout_ns;
            s->progress(s->user, sh->current, message.text, message.length, message.number);
            break;
        case GYRE_MESSAGE_RESULT:
            status = take_result(sh, &message);
            if (status != GYRE_OK)
                return status;
            break;
        case GYRE_MESSAGE_TRACE:
            if (!s->trace || !sh->begun)
                return gyre_fail(GYRE_CORRUPT, "the process tells what it was not asked");
            s->trace(s->user, message.text, message.length, message.number);
            break;
        case GYRE_MESSAGE_LIST:
            return gyre_fail(GYRE_CORRUPT, "the process lists what it was to measure");
        case GYRE_MESSAGE_END:
            *out_done = true;
            break;
        case GYRE_MESSAGE_SORRY:
            snprintf(sorry, REASON_BYTES, "%.*s", at_most(message.length, REASON_BYTES),
                     message.text);
            break;
        }
    }
}

/* Says of whom it is true that the process came to a bad end; the next case to go on with. */
static size_t bury(share *sh, gyre_worker *worker, size_t at, bool done, gyre_status status,
                   const char *sorry)
{
    const size_t end = sh->first + sh->count;
    char epitaph[REASON_BYTES], reason[REASON_BYTES + PHASE_BYTES + 32],
        words[GYRE_WORDS_BYTES + 1];
    size_t next = at;

    gyre_worker_last_words(worker, words, sizeof words);
    if (status != GYRE_CLOSED)
        snprintf(epitaph, sizeof epitaph, "%s", gyre_error_last()->text);
    else if (sorry[0])
        snprintf(epitaph, sizeof epitaph, "%s", sorry);
    else
        gyre_worker_epitaph(worker, epitaph, sizeof epitaph);
    while (next < end && sh->is_there[next - sh->first])
        next++;
    if (sh->begun) {
        const bool stopped = worker->gave_up || (*sh->s->interrupted && !worker->timed_out);

        snprintf(reason, sizeof reason, "%s%s%s", epitaph, sh->phase[0] ? " while " : "",
                 sh->phase);
        conclude(sh, sh->current, stopped ? GYRE_OUTCOME_INTERRUPTED : GYRE_OUTCOME_FAILED, reason,
                 stopped ? "" : words);
        sh->begun = false;
        return sh->current + 1;
    }
    if (done && worker->status == 0 && next > at)
        return next; /* the end, unless somebody else stopped it */
    if (*sh->s->interrupted)
        return end;
    snprintf(reason, sizeof reason, "%s %s", epitaph,
             next > at ? "after it had been measured" : "before it was begun");
    if (next > at) { /* what was measured last is not to be trusted; the rest goes on */
        conclude(sh, next - 1, GYRE_OUTCOME_FAILED, reason, words);
        return next;
    }
    for (; next < end; next++) /* it would end the same way for each of them */
        conclude(sh, next, GYRE_OUTCOME_FAILED, reason, words);
    return end;
}

/* Visits the cases from `first` on in processes, another one after each that ends badly. */
static gyre_status visit(share *sh, size_t first, size_t count, gyre_purpose purpose,
                         const gyre_worker_start *start)
{
    const gyre_supervision *s = sh->s;
    size_t at = first;

    while (at < first + count && !*s->interrupted) {
        const gyre_worker_order order = {
            .purpose = (unsigned)purpose,
            .seed = s->method->seed,
            .ids_hash = gyre_serve_hash(s->list),
            .first = at,
            .count = first + count - at,
            .baton_fd = -1,
        };
        char sorry[REASON_BYTES] = "";
        gyre_worker worker;
        gyre_status status;
        bool done;

        sh->current = at;
        sh->begun = false;
        sh->echoed = 0;
        sh->hushed = false;
        status = gyre_worker_init(&worker, &order, start);
        if (status != GYRE_OK)
            return status;
        gyre_guardian_watch(s->guardian, 0, worker.pid);
        status = listen(sh, &worker, start, &done, sorry);
        gyre_guardian_watch(s->guardian, 0, 0); /* before its number can be another's */
        if (status == GYRE_NO_MEMORY) {
            gyre_worker_fini(&worker);
            return status;
        }
        if (status != GYRE_CLOSED) /* it is not listened to any more, and its end is ours */
            done = false;
        at = bury(sh, &worker, at, done, status, sorry);
        gyre_worker_fini(&worker);
        gyre_orphans_end(s->orphans);
        if (sh->at_once)
            deliver(sh, at);
    }
    return GYRE_OK;
}

static gyre_worker_start plain_start(share *sh)
{
    return (gyre_worker_start){.program = sh->s->program,
                               .cpus = sh->s->cpus,
                               .timeout_ns = sh->s->timeout_ns,
                               .tick = on_tick,
                               .echo = on_output,
                               .user = sh};
}

static gyre_status share_init(share *sh, const gyre_supervision *s, size_t first, size_t count)
{
    gyre_status status;
    void *block;

    *sh = (share){.s = s, .first = first, .count = count, .current = first};
    status = gyre_alloc(NULL, count, sizeof sh->results[0], &block);
    if (status != GYRE_OK)
        return status;
    sh->results = block;
    status = gyre_alloc(NULL, count, sizeof sh->is_there[0], &block);
    if (status == GYRE_OK)
        sh->is_there = block;
    return status;
}

static void share_fini(share *sh)
{
    for (size_t i = 0; sh->is_there && i < sh->count; i++)
        if (sh->is_there[i])
            gyre_result_fini(&sh->results[i]);
    gyre_free(NULL, sh->results, sh->count, sizeof sh->results[0]);
    gyre_free(NULL, sh->is_there, sh->count, sizeof sh->is_there[0]);
}

/* Whether it came to a good end, beside which counts could stand. */
static bool is_good(const share *sh, size_t i)
{
    return sh->is_there[i] && (sh->results[i].outcome == GYRE_OUTCOME_MEASURED ||
                               sh->results[i].outcome == GYRE_OUTCOME_CHECKED);
}

/* What a counting visit found, or why it found nothing. */
static void adopt(gyre_result *into, const gyre_result *counted, bool is_there, const char *what)
{
    if (!is_there || counted->outcome != GYRE_OUTCOME_CHECKED) {
        gyre_result_warn(into, "%s not counted: %s", what,
                         is_there ? counted->reason : "it was not visited again");
        return;
    }
    if (counted->memory.peak_rss_bytes > 0)
        into->memory = counted->memory;
    if (counted->instructions.source) {
        into->instructions = counted->instructions;
        into->instructions.source = gyre_arena_text(&into->arena, counted->instructions.source);
    }
}

static gyre_status count_all(share *sh, gyre_purpose purpose, int preload_fd, const char *what)
{
    gyre_worker_start start;
    share counted;
    gyre_status status = share_init(&counted, sh->s, sh->first, sh->count);

    start = plain_start(&counted);
    start.preload_fd = preload_fd;
    for (size_t i = 0, next; i < sh->count && status == GYRE_OK; i = next) {
        for (next = i; next < sh->count && is_good(sh, next);)
            next++;
        if (next > i) /* what failed once is not tried again */
            status = visit(&counted, sh->first + i, next - i, purpose, &start);
        else
            next++;
    }
    for (size_t i = 0; status == GYRE_OK && i < sh->count && !*sh->s->interrupted; i++)
        if (is_good(sh, i))
            adopt(&sh->results[i], &counted.results[i], counted.is_there[i], what);
    share_fini(&counted);
    return status;
}

/* How often the counted work was run, and what callgrind says of it all. */
static void adopt_callgrind(gyre_result *into, gyre_result *counted,
                            const gyre_callgrind *callgrind)
{
    double iterations = 0;
    uint64_t total;

    for (size_t i = 0; i < counted->facts.count; i++)
        if (strcmp(counted->facts.fact[i].name, GYRE_COUNTED_FACT) == 0)
            iterations = counted->facts.fact[i].number;
    if (counted->outcome != GYRE_OUTCOME_CHECKED)
        gyre_result_warn(into, "instructions not counted: %s", counted->reason);
    else if (!(iterations > 0) || gyre_callgrind_read(callgrind, &total) != GYRE_OK || total == 0)
        gyre_result_warn(into, "instructions not counted: callgrind saw nothing of it; is the "
                               "program stripped of its symbols?");
    else
        into->instructions.per_iteration = (double)total / iterations;
    if (into->instructions.per_iteration > 0)
        into->instructions.source = "callgrind";
}

/* One process for each case: callgrind has one sum for a process. */
static gyre_status count_by_callgrind(share *sh)
{
    gyre_callgrind callgrind;
    gyre_status status = gyre_callgrind_init(&callgrind);

    if (status != GYRE_OK) {
        for (size_t i = 0; i < sh->count; i++)
            if (is_good(sh, i))
                gyre_result_warn(&sh->results[i], "instructions not counted: %s",
                                 gyre_error_last()->text);
        return GYRE_OK;
    }
    for (size_t i = 0; i < sh->count && status == GYRE_OK && !*sh->s->interrupted; i++) {
        gyre_worker_start start;
        share counted;

        if (!is_good(sh, i))
            continue;
        status = share_init(&counted, sh->s, sh->first + i, 1);
        start = plain_start(&counted);
        start.in_front = callgrind.words;
        start.timeout_ns *= CALLGRIND_PATIENCE;
        if (status == GYRE_OK)
            status = visit(&counted, counted.first, 1, GYRE_PURPOSE_INSTRUCTIONS, &start);
        if (status == GYRE_OK && counted.is_there[0] && !*sh->s->interrupted)
            adopt_callgrind(&sh->results[i], &counted.results[0], &callgrind);
        share_fini(&counted);
    }
    gyre_callgrind_fini(&callgrind);
    return status;
}

static gyre_status count_what_is_wanted(share *sh)
{
    gyre_status status = GYRE_OK;

    if (sh->s->memory) {
        const int fd = gyre_preload_open();

        status = count_all(sh, GYRE_PURPOSE_MEMORY, fd > 0 ? fd : 0, "memory");
        gyre_preload_close(fd);
    }
    if (status == GYRE_OK && sh->s->instructions)
        status = gyre_count_probe() == 0
                     ? count_all(sh, GYRE_PURPOSE_INSTRUCTIONS, 0, "instructions")
                     : count_by_callgrind(sh);
    return status;
}

static gyre_status supervise_share(const gyre_supervision *s, size_t first, size_t count)
{
    const bool counting = s->memory || s->instructions;
    gyre_worker_start start;
    share sh;
    gyre_status status = share_init(&sh, s, first, count);

    start = plain_start(&sh);
    sh.at_once = !counting;
    if (status == GYRE_OK)
        status = visit(&sh, first, count, s->method->purpose, &start);
    if (status == GYRE_OK && counting)
        status = count_what_is_wanted(&sh);
    if (sh.is_there)
        deliver(&sh, first + count);
    share_fini(&sh);
    return status;
}

static void cool_down(const gyre_supervision *s, size_t next)
{
    static const char phase[] = "cooling down";
    const uint64_t end_ns = gyre_clock_now_ns() + s->cooldown_ns;
    uint64_t now_ns;

    while ((now_ns = gyre_clock_now_ns()) < end_ns && !*s->interrupted) {
        const struct timespec moment = {.tv_nsec = 50000000};

        s->progress(s->user, next, phase, sizeof phase - 1, end_ns - now_ns);
        nanosleep(&moment, NULL);
    }
}

/* Visits the cases from `first` up to `end`. */
static gyre_status supervise_range(const gyre_supervision *given, size_t first, size_t end)
{
    gyre_supervision with = *given;
    const gyre_supervision *s = &with;
    gyre_orphans orphans;
    gyre_guardian guardian;
    gyre_status status = gyre_guardian_start(&guardian);

    gyre_orphans_adopt(&orphans); /* the guardian is there already, and spared */
    with.orphans = &orphans;
    with.guardian = &guardian;

    for (size_t at = first; at < end && status == GYRE_OK && !*s->interrupted;) {
        const size_t together = gyre_schedule_share(s->list, at, s->isolation);
        const size_t count = together < end - at ? together : end - at;

        if (at > first && s->cooldown_ns > 0)
            cool_down(s, at);
        status = supervise_share(s, at, count);
        at += count;
    }
    gyre_orphans_release(&orphans);
    gyre_guardian_stop(&guardian);
    return status;
}

gyre_status gyre_supervise(const gyre_supervision *given)
{
    return supervise_range(given, 0, given->list->count);
}

gyre_status gyre_supervise_one(const gyre_supervision *given, size_t index)
{
    return supervise_range(given, index, index + 1);
}
