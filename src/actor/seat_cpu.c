/* SPDX-License-Identifier: Apache-2.0
 *
 * seat_cpu: seats that are threads of this process.
 *
 * Threads   one for each seat, which begins and ends with the seat's loop.
 * Owns      the threads; one that does not end is left, with all that it might touch.
 * Not here  the loop itself (actor/loop_single.h).
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "actor/actor.h"
#include "actor/pace.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "flow/ring_litmus.h"
#include "gyre/clock.h"
#include "gyre/thread.h"

#define GYRE_LOOP_OWN                                                                              \
    gyre_handler handler;                                                                          \
    gyre_pace pace;                                                                                \
    uint64_t idle_ns; /* when it began to look in vain */
#define GYRE_LOOP_HANDLE(loop, self, state, brief) (loop)->handler((self), (state), (brief))
#define GYRE_LOOP_NOW() gyre_clock_now_ns()
#define GYRE_LOOP_TIME(loop) gyre_clock_now_ns()
#define GYRE_LOOP_REST(loop, idle) rest((loop), (idle))

enum { SPIN_US = 1000, CLOCK_EVERY = 64, CROWD = 16, LITMUS_NS = 2000000 };

struct gyre_loop;
static void rest(struct gyre_loop *loop, uint32_t idle);

#include "actor/loop_single.h"

/* Sleeps, once it has looked in vain for long enough. */
static void nap(gyre_loop *loop, uint32_t idle)
{
    const uint64_t now_ns = gyre_clock_now_ns(), spin_ns = (uint64_t)loop->shape.spin_us * 1000;
    const uint64_t most_ns = (uint64_t)loop->shape.nap_us * 1000;
    uint64_t nap_ns;

    if (idle == CLOCK_EVERY)
        loop->idle_ns = now_ns;
    if (now_ns - loop->idle_ns < spin_ns) {
        sched_yield(); /* who is to send the next message may be waiting for this CPU */
        return;
    }
    /* half as long again as it has waited, at most nap_us */
    nap_ns = (now_ns - loop->idle_ns) / 2 + 1000;
    if (nap_ns > most_ns)
        nap_ns = most_ns;
    nanosleep(&(struct timespec){.tv_sec = (time_t)(nap_ns / 1000000000),
                                 .tv_nsec = (long)(nap_ns % 1000000000)},
              NULL);
}

/* After so many looks in vain, or after a bell. */
static void rest(gyre_loop *loop, uint32_t idle)
{
    gyre_pace_rest(&loop->pace, idle);
    if (idle == 0 || idle % CLOCK_EVERY != 0)
        return;
    if (loop->shape.idle == GYRE_SEAT_SPINS)
        sched_yield();
    else
        nap(loop, idle);
}

/* What belongs to threads that are left to themselves. */
typedef struct gyre_left {
    void *state, *mailbox, *bells;
    struct gyre_seat_thread *next;
} gyre_left;

/* Of a thread. */
enum { RUNS = 0, ENDED = 1, LEFT = 2 /* it hangs, and nobody waits for it any more */ };

typedef struct gyre_seat_thread {
    gyre_left left_with; /* of the first of an actor */
    gyre_thread *thread; /* owned */
    void *shared;        /* owned */
    const gyre_actor *actor;
    uint32_t seat;
    gyre_loop loop;
    _Atomic uint32_t phase; /* [seat-phase] */
} gyre_seat_thread;

static void seat_main(void *arg)
{
    gyre_seat_thread *const thread = arg;
    const gyre_actor *const actor = thread->actor;
    gyre_self self = {.lane = 0,
                      .lanes = 1,
                      .seat = thread->seat,
                      .seats = actor->shape.seats,
                      .shared = thread->shared,
                      .runtime = &thread->loop.prints};

    gyre_loop_init(&thread->loop, actor->mailbox, actor->shape, thread->seat);
    thread->loop.bells = gyre_bells_of(actor, thread->seat, 0);
    gyre_loop_run(&thread->loop, &self, actor->state);
    /* acq_rel [seat-phase]: look() finds everything that it did; or leave() was first */
    if (atomic_exchange_explicit(&thread->phase, ENDED, memory_order_acq_rel) == LEFT)
        pthread_detach(pthread_self());
}

static bool quarters;

static void find_quarters(void)
{
#if !defined(__SANITIZE_THREAD__) /* which sees words, and cannot see 16 bytes */
    gyre_ring_verdict verdict;

    quarters = gyre_ring_litmus(LITMUS_NS, &verdict) == GYRE_OK && verdict.quarters;
#endif
}

bool gyre_actor_quarters(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_quarters);
    return quarters;
}

static gyre_status prepare(gyre_actor *actor)
{
    if (!actor->behaviour->handler)
        return gyre_fail(GYRE_UNSUPPORTED, "behaviour '%s' has no code for %s",
                         actor->behaviour->name, gyre_context_device(actor->context)->name);
    return GYRE_OK;
}

static gyre_status plan(gyre_actor *actor, const gyre_actor_launch_options *options)
{
    gyre_mailbox_shape *const shape = &actor->shape;

    shape->lanes = 1;
    shape->wide = !gyre_actor_quarters();
    shape->replicas = 1;
    shape->in_place = 1;
    shape->spin_us = options->spin_us ? options->spin_us : SPIN_US;
    snprintf(actor->scheme, sizeof actor->scheme, "threads that %s, slots in %s",
             options->idle == GYRE_ACTOR_SPIN    ? "spin"
             : options->idle == GYRE_ACTOR_LEAVE ? "back off and leave"
                                                 : "back off",
             shape->wide ? "words" : "quarters");
    return GYRE_OK;
}

static void drop_threads(gyre_actor *actor)
{
    gyre_seat_thread *const threads = actor->threads;

    for (uint32_t i = 0; threads && i < actor->shape.seats; i++) {
        gyre_thread_stop(threads[i].thread);
        gyre_free(NULL, threads[i].shared, actor->launched.shared_bytes, 1);
    }
    gyre_free(NULL, threads, actor->shape.seats, sizeof *threads);
    actor->threads = NULL;
}

static gyre_status make_state(gyre_actor *actor)
{
    const gyre_memory *const memory = gyre_context_memory(actor->context, GYRE_CONTEXT_DEVICE);
    const size_t bytes = gyre_actor_state_bytes(actor);

    if (!actor->state) {
        const gyre_status status = memory->take(memory, bytes, 64, &actor->state);

        if (status != GYRE_OK)
            return status;
    }
    if (actor->first_state)
        memcpy(actor->state, actor->first_state, actor->behaviour->state_bytes);
    else
        memset(actor->state, 0, bytes);
    return GYRE_OK;
}

static gyre_status start(gyre_actor *actor, bool fresh)
{
    const uint32_t seats = actor->shape.seats;
    void *memory = NULL;
    gyre_status status = gyre_alloc(NULL, seats, sizeof(gyre_seat_thread), &memory);

    if (status == GYRE_OK && fresh)
        status = make_state(actor);
    actor->threads = memory;
    for (uint32_t i = 0; status == GYRE_OK && i < seats; i++) {
        gyre_seat_thread *const thread = &actor->threads[i];
        const gyre_thread_options options = {.struct_size = sizeof options, .name = actor->name};

        /* those that are there look for messages, and leave little time to make more of them */
        if (i % CROWD == CROWD - 1 &&
            gyre_clock_now_ns() - actor->began_ns > actor->launched.handshake_ns) {
            status = gyre_fail(GYRE_NO_MEMORY,
                               "actor '%s': %u of %u threads began within %llu ms; there may be "
                               "too few CPUs for them",
                               actor->name, i, seats,
                               (unsigned long long)(actor->launched.handshake_ns / 1000000));
            break;
        }

        thread->actor = actor;
        thread->seat = i;
        thread->loop.handler = actor->behaviour->handler;
        if (actor->launched.shared_bytes)
            status = gyre_alloc(NULL, actor->launched.shared_bytes, 1, &thread->shared);
        if (status == GYRE_OK)
            status = gyre_thread_start(seat_main, thread, &options, &thread->thread);
    }
    if (status != GYRE_OK && actor->threads) {
        /* those that began are told to end at once */
        actor->order++;
        for (uint32_t i = 0; i < seats; i++) {
            gyre_control_host *const host = &gyre_actor_seat(actor, i)->control.host;

            gyre_mailbox_store(&host->should_terminate, 1);
            gyre_mailbox_release(&host->order, actor->order);
        }
        drop_threads(actor);
    }
    return status;
}

static gyre_status look(gyre_actor *actor)
{
    for (uint32_t i = 0; actor->threads && i < actor->shape.seats; i++)
        /* acquire [seat-phase] */
        if (atomic_load_explicit(&actor->threads[i].phase, memory_order_acquire) != ENDED)
            return GYRE_AGAIN;
    return GYRE_OK;
}

static pthread_mutex_t left_lock = PTHREAD_MUTEX_INITIALIZER;
static gyre_seat_thread *left; /* under it: threads of actors that hung */

/* What hangs keeps its thread, its state and its mailbox to the end of the process. They are noted,
 * so that nobody takes them for forgotten when it comes back and ends. */
static void leave(gyre_actor *actor)
{
    if (look(actor) == GYRE_OK) {
        drop_threads(actor);
        return;
    }
    for (uint32_t i = 0; i < actor->shape.seats; i++) {
        uint32_t runs = RUNS;

        /* acq_rel [seat-phase]: one of both sees that the other was there */
        if (!atomic_compare_exchange_strong_explicit(&actor->threads[i].phase, &runs, LEFT,
                                                     memory_order_acq_rel, memory_order_acquire)) {
            gyre_thread_stop(actor->threads[i].thread);
            actor->threads[i].thread = NULL;
        }
    }
    pthread_mutex_lock(&left_lock);
    actor->threads[0].left_with =
        (gyre_left){actor->state, actor->mailbox, actor->bells.host, left};
    left = actor->threads;
    pthread_mutex_unlock(&left_lock);
    actor->threads = NULL;
    actor->state = NULL;
    actor->hung = true;
}

static gyre_status read_state(gyre_actor *actor, void *into, size_t size)
{
    memcpy(into, actor->state, size);
    return GYRE_OK;
}

static void destroy(gyre_actor *actor)
{
    const gyre_memory *const memory = gyre_context_memory(actor->context, GYRE_CONTEXT_DEVICE);
    const size_t bytes = gyre_actor_state_bytes(actor);

    if (actor->state)
        memory->give(memory, actor->state, bytes, 64);
    actor->state = NULL;
}

const gyre_residence gyre_residence_threads = {
    .prepare = prepare,
    .plan = plan,
    .start = start,
    .look = look,
    .finish = drop_threads,
    .leave = leave,
    .read_state = read_state,
    .destroy = destroy,
};
