/* SPDX-License-Identifier: Apache-2.0
 *
 * actor_soak: messages to actors for as long as one likes, each of them accounted for.
 *
 *   actor_soak DEVICE [--messages N] [--seconds S] [--threads N] [--actors N] [--seats N]
 *              [--seed N] [--calm 1] [--json FILE]
 *
 * Threads send, call and ask in lumps of random sizes, with words that follow from their numbers
 * and payloads by reference; every answer is compared, and so is what the actor counted of each
 * thread: how many, sums of their words, and their exclusive or. One more thread checks that a
 * block handles messages in their order. Meanwhile another one pauses, parks and resumes all of
 * them, unless it is --calm. Sequences begin a little below 2^32.
 *
 * Ends after so many messages, or so many seconds, whichever is given; default one second. What
 * each thread does follows from the seed. Prints one line, and with --json a file. Exit 0: nothing
 * was wrong; 1: something was, with what, or some kind of message was never tried; 77: there is no
 * such device.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chance.h"
#include "gyre/clock.h"
#include "gyre/context.h"
#include "gyre/device.h"
#include "gyre/port.h"
#include "gyre/thread.h"

#include "tests/conformance/behaviours/soak.c" /* NOLINT(bugprone-suspicious-include): its types as well */
#include "tests/conformance/behaviours/soak_order.c" /* NOLINT(bugprone-suspicious-include): its types as well */

#define SECOND_NS UINT64_C(1000000000)
#define FIRST (UINT32_MAX - 999) /* 2^32 - 1000 */

enum { LUMP = 4096, ASKED = 64, WORDS_MOST = 1024, ACTORS = 8, SINGLES = 20, CHECK_EVERY = 64 };

typedef struct options {
    const char *device, *json;
    uint64_t messages, seconds, seed;
    uint32_t threads, actors, seats;
    bool calm;
} options;

/* What was done, by kinds. */
typedef struct tally {
    uint64_t called, sent, asked, referred, ordered, checks;
} tally;

typedef struct worker {
    gyre_thread *thread;
    gyre_actor *actor;
    gyre_port *port;
    uint32_t *words; /* pinned */
    uint32_t sender;
    uint64_t chance, quota;
    uint64_t number;                /* of the next message */
    uint32_t count, sum, mix, fold; /* of those that were handed over */
    tally done;
    gyre_brief requests[LUMP], answers[LUMP];
} worker;

static options o = {.threads = 3, .actors = 1, .seats = 1};
static gyre_context *context;
static gyre_actor *actors[ACTORS + 1]; /* the last checks the order */
static _Atomic bool failed, over;
static _Atomic uint64_t until_ns;
static uint64_t pauses, parks;

static uint64_t soon(void)
{
    return gyre_clock_after_ns(60 * SECOND_NS);
}

static void wrong(const worker *w, const char *what)
{
    fprintf(stderr, "actor_soak: sender %u, before message %llu: %s\n", w->sender,
            (unsigned long long)w->number, what);
    atomic_store(&failed, true);
}

static bool went(const worker *w, gyre_status status, const char *what)
{
    if (status == GYRE_OK)
        return true;
    fprintf(stderr, "actor_soak: %s: %s\n", gyre_status_name(status),
            status == GYRE_TIMEOUT || status == GYRE_AGAIN ? "" : gyre_error_last()->text);
    wrong(w, what);
    return false;
}

/* The next messages. Simple enough for the compiler to make vectors of it. */
static void make_requests(worker *w, uint32_t count)
{
    const uint32_t base = (uint32_t)w->number, seed = (uint32_t)o.seed ^ w->sender * 0x01000193u;

    for (uint32_t n = 0; n < count; n++) {
        soak_words *const words = (soak_words *)(void *)w->requests[n].body.words;

        w->requests[n].type = SOAK_MIX;
        words->sender = w->sender;
        for (uint32_t i = 0; i < 9; i++)
            words->word[i] = ((base + n) * 2654435761u + i * 0x9e3779b9u) ^ seed;
        w->sum += words->word[0];
        w->mix += soak_mix(words->word);
        w->fold ^= soak_fold(words->word);
    }
    w->number += count;
    w->count += count;
}

static bool answer_fits(const gyre_brief *request, const gyre_brief *answer)
{
    uint32_t off = answer->flags | (answer->body.words[0] ^ request->body.words[0]);

    for (uint32_t i = 0; i < 9; i++)
        off |= answer->body.words[1 + i] ^ soak_changed(request->body.words[1 + i], i);
    return off == 0;
}

static void check_answers(worker *w, uint32_t count)
{
    uint32_t bad = 0;

    for (uint32_t n = 0; n < count; n++)
        bad += !answer_fits(&w->requests[n], &w->answers[n]);
    if (bad)
        wrong(w, "an answer is not that to its message");
}

static void call_lump(worker *w, uint32_t count)
{
    make_requests(w, count);
    if (went(w, gyre_port_call_many(w->port, w->requests, w->answers, count, soon()), "call_many"))
        check_answers(w, count);
    w->done.called += count;
}

static void send_lump(worker *w, uint32_t count)
{
    size_t sent;

    make_requests(w, count);
    if (went(w, gyre_port_send_many(w->port, w->requests, count, soon(), &sent), "send_many") &&
        sent != count)
        wrong(w, "not all were sent");
    w->done.sent += count;
}

static void call_singly(worker *w, uint32_t count)
{
    make_requests(w, count);
    for (uint32_t n = 0; n < count && !atomic_load(&failed); n++)
        (void)went(w, gyre_port_call(w->port, &w->requests[n], &w->answers[n], soon()), "call");
    if (!atomic_load(&failed))
        check_answers(w, count);
    w->done.called += count;
}

/* Answers come in any order of seats; each is compared with what its cookie says. */
static void ask_some(worker *w, uint32_t count)
{
    gyre_port_answer heard[ASKED];
    bool came[ASKED] = {false};
    size_t all = 0, now = 0;

    make_requests(w, count);
    for (uint32_t n = 0; n < count; n++)
        if (!went(w, gyre_port_ask(w->port, &w->requests[n], n, soon()), "ask"))
            return;
    for (; all < count; all += now) {
        if (!went(w, gyre_port_receive_many(w->port, heard, ASKED, soon(), &now), "receive"))
            return;
        for (size_t i = 0; i < now; i++) {
            const uint64_t n = heard[i].cookie;

            if (n >= count || came[n] || !answer_fits(&w->requests[n], &heard[i].brief)) {
                wrong(w, "an answer that was received is not that to its cookie");
                return;
            }
            came[n] = true;
        }
    }
    if (gyre_port_due(w->port) != 0)
        wrong(w, "answers are due that nobody asked for");
    w->done.asked += count;
}

static void refer(worker *w, uint32_t count)
{
    gyre_brief request = {.type = SOAK_WORDS, .flags = GYRE_BRIEF_REFERS};
    soak_refers refers = {.address = w->words, .size = (uint64_t)count * 4, .sender = w->sender};
    uint32_t sum = 0, bad = 0;
    const uint32_t first = (uint32_t)w->number;
    gyre_brief answer;

    for (uint32_t i = 0; i < count; i++) {
        w->words[i] = (first + i) * 2654435761u;
        sum += w->words[i];
    }
    memcpy(&request.body, &refers, sizeof refers);
    w->number++;
    w->count++;
    w->done.referred++;
    if (!went(w, gyre_port_call(w->port, &request, &answer, soon()), "call by reference"))
        return;
    memcpy(&refers, &answer.body, sizeof refers);
    for (uint32_t i = 0; i < count; i++)
        bad |= w->words[i] ^ ((first + i) * 2654435761u + 1);
    if (bad || refers.sum != sum)
        wrong(w, "a payload is not as it should be");
}

/* What the actor has counted of this sender. */
static void check_books(worker *w)
{
    const gyre_brief ask = {.type = SOAK_BOOKS, .body.words = {w->sender}};
    gyre_brief answer;
    soak_books books;

    if (!went(w, gyre_port_flush(w->port, soon()), "flush") ||
        !went(w, gyre_port_call(w->port, &ask, &answer, soon()), "books"))
        return;
    memcpy(&books, &answer.body, sizeof books);
    if (books.count != w->count || books.sum != w->sum || books.mix != w->mix ||
        books.fold != w->fold)
        wrong(w, "the actor has counted something else than was sent");
    w->done.checks++;
}

static bool goes_on(const worker *w)
{
    return !atomic_load(&failed) && w->number < w->quota && gyre_clock_now_ns() < until_ns;
}

static void work(void *arg)
{
    static const uint64_t each[] = {0, 55, 90, 94, 97}; /* every kind once, then by chance */
    const uint64_t kinds = sizeof each / sizeof each[0];
    worker *const w = arg;

    for (uint64_t round = 1; goes_on(w) || (round <= kinds && !atomic_load(&failed)); round++) {
        const uint64_t what = round <= kinds ? each[round - 1] : chance_below(&w->chance, 100);
        const uint32_t lump = (uint32_t)chance_below(&w->chance, LUMP) + 1;

        if (what < 55)
            call_lump(w, lump);
        else if (what < 90)
            send_lump(w, lump);
        else if (what < 94)
            call_singly(w, lump % SINGLES + 1);
        else if (what < 97)
            ask_some(w, lump % ASKED + 1);
        else
            refer(w, lump % WORDS_MOST + 1);
        if (round % CHECK_EVERY == 0 && !atomic_load(&failed))
            check_books(w);
    }
    if (!atomic_load(&failed))
        check_books(w);
}

/* The one that checks the order: lumps that are sent, and now and then a call that tells. */
static void work_in_order(void *arg)
{
    worker *const w = arg;
    uint32_t mix = 0;

    do {
        const uint32_t count = (uint32_t)chance_below(&w->chance, LUMP / 8) + 1;
        order_state told;
        size_t sent;

        for (uint32_t n = 0; n < count; n++) {
            order_request *const request = (order_request *)(void *)w->requests[n].body.words;

            w->requests[n].type = 1;
            request->number = (uint32_t)w->number++;
            request->value = (uint32_t)chance_next(&w->chance);
            mix = mix * 31u + request->value;
        }
        if (!went(w, gyre_port_send_many(w->port, w->requests, count - 1, soon(), &sent), "send") ||
            !went(w, gyre_port_call(w->port, &w->requests[count - 1], w->answers, soon()), "call"))
            return;
        memcpy(&told, &w->answers[0].body, sizeof told);
        if (told.disorder != 0 || told.next != (uint32_t)w->number || told.mix != mix)
            wrong(w, "messages to a block were not handled in their order");
        w->done.ordered += count;
    } while (goes_on(w));
}

static void sleep_ns(uint64_t ns)
{
    nanosleep(&(struct timespec){(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)}, NULL);
}

/* Pauses and parks, one actor at a time. */
static void govern(void *arg)
{
    static const worker governor = {.sender = UINT32_MAX};
    uint64_t chance = o.seed ^ 0x676f7665726eu;

    (void)arg;
    do {
        gyre_actor *const actor = actors[chance_below(&chance, o.actors + 1)];
        const bool park = chance_below(&chance, 3) == 0;

        sleep_ns(chance_below(&chance, 20000000));
        if (!went(&governor,
                  park ? gyre_actor_park(actor, soon()) : gyre_actor_pause(actor, soon()),
                  park ? "park" : "pause"))
            return;
        sleep_ns(chance_below(&chance, 1000000));
        if (!went(&governor, gyre_actor_resume(actor), "resume"))
            return;
        parks += park;
        pauses += !park;
    } while (!atomic_load(&over) && !atomic_load(&failed));
}

static bool parse(int argc, char **argv)
{
    if (argc < 2 || argc % 2 != 0)
        return false;
    o.device = argv[1];
    for (int i = 2; i < argc; i += 2) {
        char *rest = NULL;
        const uint64_t value = strtoull(argv[i + 1], &rest, 10);

        if (strcmp(argv[i], "--json") == 0) {
            o.json = argv[i + 1];
            continue;
        }
        if (*rest != '\0' || rest == argv[i + 1])
            return false;
        if (strcmp(argv[i], "--messages") == 0)
            o.messages = value;
        else if (strcmp(argv[i], "--seconds") == 0)
            o.seconds = value;
        else if (strcmp(argv[i], "--seed") == 0)
            o.seed = value;
        else if (strcmp(argv[i], "--threads") == 0)
            o.threads = (uint32_t)value;
        else if (strcmp(argv[i], "--actors") == 0)
            o.actors = (uint32_t)value;
        else if (strcmp(argv[i], "--seats") == 0)
            o.seats = (uint32_t)value;
        else if (strcmp(argv[i], "--calm") == 0)
            o.calm = value != 0;
        else
            return false;
    }
    if (!o.messages && !o.seconds)
        o.seconds = 1;
    if (!o.seed)
        o.seed = chance_seed();
    return o.threads >= 1 && o.threads <= SOAK_SENDERS && o.actors >= 1 && o.actors <= ACTORS &&
           o.actors <= o.threads;
}

static gyre_status launch(const gyre_behaviour *behaviour, gyre_actor **out_actor, bool many)
{
    uint32_t ports = 1;
    gyre_status status = gyre_actor_create(context, behaviour, NULL, out_actor);

    while (many && ports < (o.threads + o.actors - 1) / o.actors)
        ports *= 2;
    return status != GYRE_OK
               ? status
               : gyre_actor_launch(*out_actor, &(gyre_actor_launch_options){
                                                   .struct_size = sizeof(gyre_actor_launch_options),
                                                   .ports = ports,
                                                   .seats = many ? o.seats : 1,
                                                   .first = FIRST});
}

static gyre_status open_device(const gyre_device *device)
{
    gyre_status status = gyre_context_create(device, NULL, &context);

    for (uint32_t i = 0; status == GYRE_OK && i <= o.actors; i++)
        status = launch(i < o.actors ? &soak : &soak_order, &actors[i], i < o.actors);
    return status;
}

/* Sender i of all; the last is the one in order. */
static gyre_status start_worker(worker *w, uint32_t i)
{
    const gyre_memory *const pinned = gyre_context_memory(context, GYRE_CONTEXT_PINNED);
    void *words = NULL;
    gyre_status status;

    w->sender = i;
    w->actor = i < o.threads ? actors[i % o.actors] : actors[o.actors];
    w->chance = o.seed + i;
    w->quota = UINT64_MAX;
    if (o.messages && i < o.threads)
        w->quota = o.messages / o.threads + (i < o.messages % o.threads);
    status = pinned->take(pinned, (size_t)WORDS_MOST * 4, 64, &words);
    w->words = words;
    if (status == GYRE_OK)
        status = gyre_port_open(w->actor, NULL, &w->port);
    return status == GYRE_OK
               ? gyre_thread_start(i < o.threads ? work : work_in_order, w, NULL, &w->thread)
               : status;
}

static unsigned long long count_all(const tally *all)
{
    return all->called + all->sent + all->asked + all->referred + all->ordered;
}

static void report(FILE *file, const gyre_device *device, const tally *all, double seconds)
{
    fprintf(file,
            "{\"device\": \"%s\", \"seed\": %llu, \"threads\": %u, \"actors\": %u, \"seats\": %u,\n"
            " \"messages\": %llu, \"called\": %llu, \"sent\": %llu, \"asked\": %llu,\n"
            " \"referred\": %llu, \"ordered\": %llu, \"checks\": %llu, \"pauses\": %llu,\n"
            " \"parks\": %llu, \"seconds\": %.3f, \"good\": %s}\n",
            device->name, (unsigned long long)o.seed, o.threads, o.actors, o.seats, count_all(all),
            (unsigned long long)all->called, (unsigned long long)all->sent,
            (unsigned long long)all->asked, (unsigned long long)all->referred,
            (unsigned long long)all->ordered, (unsigned long long)all->checks,
            (unsigned long long)pauses, (unsigned long long)parks, seconds,
            atomic_load(&failed) ? "false" : "true");
}

static void add(tally *to, const tally *from)
{
    to->called += from->called;
    to->sent += from->sent;
    to->asked += from->asked;
    to->referred += from->referred;
    to->ordered += from->ordered;
    to->checks += from->checks;
}

/* Has everybody work, and waits for them. */
static tally run(worker *workers)
{
    gyre_thread *governor = NULL;
    gyre_status status = GYRE_OK;
    tally all = {0};

    for (uint32_t i = 0; status == GYRE_OK && i <= o.threads; i++)
        status = start_worker(&workers[i], i);
    if (status == GYRE_OK && !o.calm)
        status = gyre_thread_start(govern, NULL, NULL, &governor);
    if (!went(&workers[0], status, "start"))
        atomic_store(&over, true);
    for (uint32_t i = 0; i < o.threads; i++)
        gyre_thread_stop(workers[i].thread);
    until_ns = 0; /* for the last: it has no quota */
    gyre_thread_stop(workers[o.threads].thread);
    atomic_store(&over, true);
    gyre_thread_stop(governor);
    for (uint32_t i = 0; i <= o.threads; i++)
        add(&all, &workers[i].done);
    return all;
}

static void close_all(worker *workers)
{
    const gyre_memory *const pinned = gyre_context_memory(context, GYRE_CONTEXT_PINNED);

    for (uint32_t i = 0; i <= o.threads; i++)
        gyre_port_close(workers[i].port);
    for (uint32_t i = 0; i <= o.actors; i++) {
        (void)went(&workers[0], gyre_actor_drain(actors[i], soon()), "drain");
        gyre_actor_destroy(actors[i]);
    }
    for (uint32_t i = 0; i <= o.threads; i++)
        if (workers[i].words)
            pinned->give(pinned, workers[i].words, (size_t)WORDS_MOST * 4, 64);
    gyre_context_destroy(context);
}

static bool write_json(const gyre_device *device, const tally *all, double seconds)
{
    FILE *const file = fopen(o.json, "w");

    if (file)
        report(file, device, all, seconds);
    if (file && fclose(file) == 0)
        return true;
    fprintf(stderr, "actor_soak: cannot write %s\n", o.json);
    return false;
}

/* Whether everything was tried: what was not has proved nothing. */
static bool is_whole(const tally *all)
{
    const struct {
        const char *what;
        uint64_t count;
    } kinds[] = {{"calls", all->called},
                 {"sends", all->sent},
                 {"questions", all->asked},
                 {"payloads", all->referred},
                 {"messages in order", all->ordered},
                 {"checks of the books", all->checks},
                 {"pauses and parks", o.calm ? 1 : pauses + parks}};
    bool whole = true;

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].count == 0) {
            fprintf(stderr, "actor_soak: no %s\n", kinds[i].what);
            whole = false;
        }
    return whole;
}

/* What main returns. */
static int soak_it(const gyre_device *device, worker *workers)
{
    const uint64_t began_ns = gyre_clock_now_ns();
    double seconds;
    tally all;

    until_ns = o.seconds ? gyre_clock_after_ns(o.seconds * SECOND_NS) : GYRE_NEVER;
    all = run(workers);
    seconds = (double)(gyre_clock_now_ns() - began_ns) / 1e9;
    close_all(workers);
    if (!is_whole(&all))
        atomic_store(&failed, true);
    printf("%s %s: %llu messages in %.1f s by %u threads, %llu in order, %llu payloads, "
           "%llu pauses, %llu parks, seed %llu\n",
           atomic_load(&failed) ? "FAIL " : "ok   ", device->name, count_all(&all), seconds,
           o.threads, (unsigned long long)all.ordered, (unsigned long long)all.referred,
           (unsigned long long)pauses, (unsigned long long)parks, (unsigned long long)o.seed);
    return (!o.json || write_json(device, &all, seconds)) && !atomic_load(&failed) ? 0 : 1;
}

int main(int argc, char **argv)
{
    const gyre_device *device;
    worker *workers;
    int code;

    if (!parse(argc, argv)) {
        fprintf(stderr, "usage: actor_soak DEVICE [--messages N] [--seconds S] [--threads N] "
                        "[--actors N] [--seats N] [--seed N] [--calm 1] [--json FILE]\n");
        return 2;
    }
    device = gyre_device_find(o.device);
    if (!device || device->trouble[0] != '\0') {
        printf("skip  %s: %s\n", o.device, device ? device->trouble : "there is none");
        return 77;
    }
    workers = calloc(o.threads + 1, sizeof *workers);
    if (workers && open_device(device) == GYRE_OK) {
        code = soak_it(device, workers);
    } else {
        fprintf(stderr, "actor_soak: %s\n", gyre_error_last()->text);
        code = 1;
    }
    free(workers);
    return code;
}
