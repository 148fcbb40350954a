/* SPDX-License-Identifier: Apache-2.0
 *
 * board: see board.h.
 *
 * Files are the thread's work, so that no launch waits for one; and so is finding out which boards
 * others left behind when they were killed.
 *
 * Threads   `life` guards the thread's handle, and is held while it is waited for; `books`, inside
 *           it, guards the actors and the path, for moments. The locks of actors are outside of
 *           all.
 */
#include "actor/board.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actor/actor.h"
#include "actor/board_file.h"
#include "base/duty.h"
#include "base/log.h"
#include "base/settings.h"
#include "gyre/clock.h"

enum { ON, OFF }; /* in the order of the setting's form */
enum { PERIOD_NS = 250000000 };

typedef struct place {
    gyre_actor *actor; /* NULL: nobody is here */
    bool still;        /* it is not to be read any more */
    bool written;      /* the file has a line here */
    gyre_board_line line;
} place;

static struct {
    pthread_mutex_t life, books;
    gyre_duty duty;  /* under `life` */
    _Atomic int pid; /* whose `path` is; a child of it leaves it alone */
    /* Under `books`. */
    place places[GYRE_BOARD_LINES];
    size_t count;      /* of actors */
    uint64_t launches; /* ever */
    bool exiting;
    char path[sizeof GYRE_BOARD_FOLDER + GYRE_BOARD_NAME]; /* "": no file */
} board = {.life = PTHREAD_MUTEX_INITIALIZER, .books = PTHREAD_MUTEX_INITIALIZER};

/* Brings a line up to date. */
static void describe(place *p)
{
    gyre_actor_statistics all;
    gyre_board_line *const line = &p->line;

    gyre_actor_survey(p->actor, &all); /* takes no lock in which more is done */
    line->status = (uint32_t)gyre_actor_state(p->actor);
    line->incarnation = all.incarnation;
    line->seats = all.seats;
    line->replicas = all.replicas;
    line->last_error = all.last_error;
    line->processed = all.processed;
    line->failed = all.failed;
    line->dropped = all.dropped;
    line->waiting = all.waiting;
    line->mean_ns = all.mean_ns;
    line->min_ns = all.min_ns;
    line->max_ns = all.max_ns;
    line->told_ns = gyre_board_now_ns();
}

static void publish(gyre_board_file *file)
{
    static const gyre_board_line nobody;

    pthread_mutex_lock(&board.books);
    for (size_t i = 0; i < GYRE_BOARD_LINES; i++) {
        place *const p = &board.places[i];

        if (p->actor && !p->still)
            describe(p);
        if (p->actor || p->written)
            gyre_board_write(file, i, p->actor ? &p->line : &nobody);
        p->written = p->actor != NULL;
    }
    pthread_mutex_unlock(&board.books);
    gyre_board_beat(file);
}

/* Under `books`. */
static void remove_file(void)
{
    if (board.path[0])
        (void)unlink(board.path);
    board.path[0] = '\0';
}

static void leave_at_exit(void)
{
    /* relaxed: in a child this is its only thread; elsewhere `books` orders the rest */
    if (atomic_load_explicit(&board.pid, memory_order_relaxed) != (int)getpid())
        return;
    pthread_mutex_lock(&board.books);
    board.exiting = true;
    remove_file();
    pthread_mutex_unlock(&board.books);
}

static void register_exit(void)
{
    (void)atexit(leave_at_exit);
}

static gyre_board_file *open_file(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char path[sizeof board.path], name[GYRE_BOARD_NAME];
    gyre_board_file *file = NULL;
    gyre_board_owner owner;
    const char *failed;
    int error;

    if (!gyre_board_self(&owner)) {
        gyre_log(GYRE_LOG_INFO, GYRE_TOPIC_DEVICE,
                 "others will not see these actors: /proc does not tell who we are");
        return NULL;
    }
    gyre_board_name(&owner, name);
    snprintf(path, sizeof path, "%s/%s", GYRE_BOARD_FOLDER, name);
    failed = gyre_board_make(path, &owner, program_invocation_short_name, &file);
    error = errno;
    if (failed) {
        gyre_log(GYRE_LOG_INFO, GYRE_TOPIC_DEVICE,
                 "others will not see these actors: cannot %s %s: %s", failed, path,
                 strerror(error));
        return NULL;
    }
    pthread_once(&once, register_exit);
    pthread_mutex_lock(&board.books);
    memcpy(board.path, path, sizeof path);
    /* relaxed: see leave_at_exit */
    atomic_store_explicit(&board.pid, (int)owner.pid, memory_order_relaxed);
    if (board.exiting)
        remove_file();
    pthread_mutex_unlock(&board.books);
    return file;
}

static void close_file(gyre_board_file *file)
{
    pthread_mutex_lock(&board.books);
    remove_file();
    for (size_t i = 0; i < GYRE_BOARD_LINES; i++)
        board.places[i].written = false;
    pthread_mutex_unlock(&board.books);
    gyre_board_unmap(file);
}

static void run_thread(void *arg)
{
    gyre_board_file *const file = open_file();
    bool first = true;

    (void)arg;
    if (!file)
        return;
    while (!gyre_duty_is_over(&board.duty)) {
        const uint32_t seen = gyre_duty_changes(&board.duty);

        publish(file);
        if (first)
            (void)!gyre_board_visit_in(GYRE_BOARD_FOLDER, NULL, NULL);
        first = false;
        (void)gyre_duty_rest(&board.duty, seen, gyre_clock_after_ns(PERIOD_NS));
    }
    close_file(file);
}

static void start_thread(void)
{
    const gyre_thread_options options = {.struct_size = sizeof options, .name = "gyre-board"};

    if (gyre_duty_start(&board.duty, run_thread, NULL, &options) != GYRE_OK)
        gyre_log(GYRE_LOG_INFO, GYRE_TOPIC_DEVICE, "others will not see these actors: %s",
                 gyre_error_last()->text);
}

/* Where the actor is, or NULL; where nobody is, if it is NULL. Under `books`. */
static place *find(const gyre_actor *actor)
{
    for (size_t i = 0; i < GYRE_BOARD_LINES; i++)
        if (board.places[i].actor == actor)
            return &board.places[i];
    return NULL;
}

void gyre_board_add(gyre_actor *actor)
{
    place *p;

    if (gyre_settings_number(GYRE_SETTING_BOARD) == OFF)
        return;
    pthread_mutex_lock(&board.life);
    pthread_mutex_lock(&board.books);
    p = find(actor);
    if (!p && (p = find(NULL)))
        board.count++;
    if (p && (!p->actor || p->still)) {
        gyre_board_line *const line = &p->line;

        p->actor = actor;
        p->still = false;
        memset(line, 0, sizeof *line);
        line->launch = ++board.launches;
        line->launched_ns = gyre_board_now_ns();
        snprintf(line->actor, sizeof line->actor, "%s", actor->name);
        snprintf(line->behaviour, sizeof line->behaviour, "%s", actor->behaviour->name);
        snprintf(line->device, sizeof line->device, "%s",
                 gyre_context_device(actor->context)->name);
    }
    pthread_mutex_unlock(&board.books);
    if (!p)
        gyre_log(GYRE_LOG_INFO, GYRE_TOPIC_DEVICE,
                 "others will not see actor '%s': the board has %d already", actor->name,
                 GYRE_BOARD_LINES);
    else if (board.duty.thread)
        gyre_duty_wake(&board.duty);
    else
        start_thread();
    pthread_mutex_unlock(&board.life);
}

/* `may_stay`: one that has failed does. */
static void take_off(const gyre_actor *actor, bool may_stay)
{
    size_t count;
    place *p;

    pthread_mutex_lock(&board.life);
    pthread_mutex_lock(&board.books);
    p = find(actor);
    if (p && may_stay &&
        /* relaxed: the caller has just set it */
        atomic_load_explicit(&actor->status, memory_order_relaxed) == GYRE_ACTOR_FAILED) {
        p->still = true;
        p->line.status = GYRE_ACTOR_FAILED;
    } else if (p) {
        p->actor = NULL;
        board.count--;
    }
    count = board.count;
    pthread_mutex_unlock(&board.books);
    if (count == 0)
        gyre_duty_stop(&board.duty);
    else if (p)
        gyre_duty_wake(&board.duty);
    pthread_mutex_unlock(&board.life);
}

void gyre_board_end(const gyre_actor *actor)
{
    take_off(actor, true);
}

void gyre_board_remove(const gyre_actor *actor)
{
    take_off(actor, false);
}
