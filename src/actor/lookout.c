/* SPDX-License-Identifier: Apache-2.0
 *
 * lookout: see lookout.h.
 *
 * Threads   base/duty.h's sleeps while nothing is due. While it asks how an actor is, it holds no
 *           lock, and `at` keeps the post from going.
 */
#include "actor/lookout.h"

#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/duty.h"
#include "base/fail.h"
#include "base/wait.h"
#include "gyre/clock.h"

enum {
    SPIN_NS = 20000,
    NAP_LEAST_NS = 1000,
    NAP_MOST_NS = 50000,
    BREATHS = 32,            /* between two rounds without a pause, so that others get the locks */
    LOOK_EVERY_NS = 5000000, /* how an actor is */
};

struct gyre_post {
    gyre_port *port;
    int descriptor;
    gyre_post *next;    /* under `books` */
    uint64_t looked_ns; /* the thread's */
    pthread_mutex_t lock;
    /* Under the lock. */
    bool due, readable;
    gyre_sight sights[]; /* one for each wire */
};

static struct {
    pthread_mutex_t life, books;
    pthread_cond_t moved;  /* `at` has changed; under `books` */
    gyre_duty duty;        /* under `life` */
    gyre_post *first, *at; /* under `books` */
} lookout = {.life = PTHREAD_MUTEX_INITIALIZER,
             .books = PTHREAD_MUTEX_INITIALIZER,
             .moved = PTHREAD_COND_INITIALIZER};

static size_t post_bytes(const gyre_port *port)
{
    return sizeof(gyre_post) + port->wires * sizeof(gyre_sight);
}

/* Whether a receive would not wait. Under the post's lock. */
static bool is_there(const gyre_post *post)
{
    const gyre_actor_status status = gyre_actor_state(post->port->actor);

    if (!post->due)
        return false;
    for (uint32_t i = 0; i < post->port->wires; i++)
        if (gyre_sight_is_there(post->port, &post->sights[i]))
            return true;
    return status == GYRE_ACTOR_TERMINATED || status == GYRE_ACTOR_FAILED;
}

/* Under the post's lock. */
static void make_readable(gyre_post *post, bool readable)
{
    uint64_t word = 1;

    if (readable && !post->readable)
        (void)!write(post->descriptor, &word, sizeof word); /* it is empty, and has room */
    else if (!readable && post->readable)
        (void)!read(post->descriptor, &word, sizeof word);
    post->readable = readable;
}

void gyre_lookout_note(gyre_port *port)
{
    gyre_post *const post = port->post;
    bool wanted;

    pthread_mutex_lock(&post->lock);
    post->due = false;
    for (uint32_t i = 0; i < port->wires; i++) {
        post->sights[i] = gyre_wire_sight(port, &port->wire[i]);
        post->due |= port->wire[i].asked > 0;
    }
    make_readable(post, is_there(post));
    wanted = post->due && !post->readable;
    pthread_mutex_unlock(&post->lock);
    if (!wanted)
        return;
    gyre_duty_wake(&lookout.duty);
}

/* Looks for the answers of all ports. Whether some are due that are not there; *out_stale is the
 * one whose actor was asked longest ago how it is, if that is to be asked again, and then `at`. */
static bool look_round(gyre_post **out_stale)
{
    const uint64_t now_ns = gyre_clock_now_ns();
    bool waits = false;

    *out_stale = NULL;
    pthread_mutex_lock(&lookout.books);
    for (gyre_post *post = lookout.first; post; post = post->next) {
        pthread_mutex_lock(&post->lock);
        if (post->due && !post->readable) {
            make_readable(post, is_there(post));
            if (!post->readable) {
                waits = true;
                if (now_ns - post->looked_ns > LOOK_EVERY_NS &&
                    (!*out_stale || post->looked_ns < (*out_stale)->looked_ns))
                    *out_stale = post;
            }
        }
        pthread_mutex_unlock(&post->lock);
    }
    lookout.at = *out_stale;
    pthread_mutex_unlock(&lookout.books);
    return waits;
}

/* Asks how the actor of `at` is. If that is bad, the next round sees it. */
static void look_after(gyre_post *post)
{
    (void)!gyre_actor_look(post->port->actor);
    post->looked_ns = gyre_clock_now_ns();
    pthread_mutex_lock(&lookout.books);
    lookout.at = NULL;
    pthread_cond_broadcast(&lookout.moved);
    pthread_mutex_unlock(&lookout.books);
}

/* Between two rounds; `since_ns` is when something was asked last. */
static void pause_until_next(uint64_t since_ns)
{
    const uint64_t waited_ns = gyre_clock_now_ns() - since_ns;
    uint64_t nap_ns = waited_ns / 4;

    if (waited_ns < SPIN_NS) {
        for (int i = 0; i < BREATHS; i++)
            gyre_relax();
        return;
    }
    nap_ns = nap_ns < NAP_LEAST_NS ? NAP_LEAST_NS : nap_ns > NAP_MOST_NS ? NAP_MOST_NS : nap_ns;
    nanosleep(&(struct timespec){.tv_nsec = (long)nap_ns}, NULL);
}

static void run_thread(void *arg)
{
    uint64_t since_ns = gyre_clock_now_ns();
    uint32_t seen = gyre_duty_changes(&lookout.duty);

    (void)arg;
    while (!gyre_duty_is_over(&lookout.duty)) {
        const uint32_t now_seen = gyre_duty_changes(&lookout.duty);
        gyre_post *stale;
        const bool waits = look_round(&stale);

        if (now_seen != seen)
            since_ns = gyre_clock_now_ns();
        seen = now_seen;
        if (stale)
            look_after(stale);
        if (waits)
            pause_until_next(since_ns);
        else
            (void)gyre_duty_rest(&lookout.duty, seen, GYRE_NEVER);
    }
}

/* Joins those that the thread looks at. */
static gyre_status enlist(gyre_post *post)
{
    const gyre_thread_options options = {.struct_size = sizeof options, .name = "gyre-lookout"};
    gyre_status status = GYRE_OK;

    pthread_mutex_lock(&lookout.life);
    if (!lookout.duty.thread)
        status = gyre_duty_start(&lookout.duty, run_thread, NULL, &options);
    if (status == GYRE_OK) {
        pthread_mutex_lock(&lookout.books);
        post->next = lookout.first;
        lookout.first = post;
        pthread_mutex_unlock(&lookout.books);
    }
    pthread_mutex_unlock(&lookout.life);
    return status;
}

static void discharge(gyre_post *post)
{
    bool empty;

    pthread_mutex_lock(&lookout.life);
    pthread_mutex_lock(&lookout.books);
    while (lookout.at == post)
        pthread_cond_wait(&lookout.moved, &lookout.books);
    for (gyre_post **p = &lookout.first; *p; p = &(*p)->next)
        if (*p == post) {
            *p = post->next;
            break;
        }
    empty = !lookout.first;
    pthread_mutex_unlock(&lookout.books);
    if (empty)
        gyre_duty_stop(&lookout.duty);
    pthread_mutex_unlock(&lookout.life);
}

static void destroy_post(gyre_post *post)
{
    if (post->descriptor >= 0)
        close(post->descriptor);
    pthread_mutex_destroy(&post->lock);
    gyre_free(NULL, post, post_bytes(post->port), 1);
}

gyre_status gyre_port_descriptor(gyre_port *port, int *out_descriptor)
{
    gyre_status status = gyre_process_check();
    void *memory = NULL;
    gyre_post *post;

    *out_descriptor = -1;
    if (status != GYRE_OK)
        return status;
    if (port->post) {
        *out_descriptor = port->post->descriptor;
        return GYRE_OK;
    }
    status = gyre_alloc(NULL, post_bytes(port), 1, &memory);
    if (status != GYRE_OK)
        return status;
    post = memory;
    post->port = port;
    post->looked_ns = gyre_clock_now_ns();
    pthread_mutex_init(&post->lock, NULL);
    post->descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (post->descriptor < 0)
        status = gyre_fail_native(GYRE_IO, errno,
                                  "a port of actor '%s': no descriptor: the process or the system "
                                  "has none left",
                                  port->actor->name);
    if (status == GYRE_OK)
        status = enlist(post);
    if (status != GYRE_OK) {
        destroy_post(post);
        return status;
    }
    port->post = post;
    gyre_lookout_note(port);
    *out_descriptor = post->descriptor;
    return GYRE_OK;
}

void gyre_lookout_close(gyre_port *port)
{
    gyre_post *const post = port->post;

    if (!post)
        return;
    if (gyre_process_check() == GYRE_OK)
        discharge(post);
    port->post = NULL;
    destroy_post(post);
}
