/* SPDX-License-Identifier: Apache-2.0
 *
 * crew: see crew.h.
 *
 * Each thread sleeps on a condition of its own, so that a job wakes no more of them than it needs.
 * They meet at a barrier that spins and yields; role 0 opens it and reads the clock.
 */
#include "peers/runner/crew.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/args.h"
#include "base/fail.h"
#include "gyre/clock.h"
#include "gyre/thread.h"
#include "peers/runner/works.h"

enum { LAST_PATIENCE_S = 60 };

typedef struct member {
    peers_crew *crew;
    uint32_t role;
    pthread_cond_t called;
    uint64_t jobs_done; /* the number of the last job, of those that called this thread */
    int pinned;         /* to how many CPUs; 0: not yet */
    gyre_thread *thread;
} member;

struct peers_crew {
    uint32_t cpus[2];
    pthread_mutex_t lock; /* what is not atomic, but for `cpus` */
    pthread_cond_t done;
    member members[PEERS_ROLES];
    peers_job job;
    uint64_t job_number;
    uint32_t working; /* roles that have not returned yet */
    bool ending;
    peers_done result;
    _Atomic uint32_t arrived;
    _Atomic uint64_t open; /* the number of the job whose barrier is open */
};

/* relaxed, both: a hint and a flag that ends loops; the lock orders everything else */
static _Atomic uint32_t patience;
static _Atomic bool given_up;

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("isb" ::: "memory");
#endif
}

uint64_t peers_now_ns(void)
{
    return gyre_clock_now_ns();
}

bool peers_wait(uint32_t *tries)
{
    if (++*tries <= atomic_load_explicit(&patience, memory_order_relaxed)) {
        relax();
        return true;
    }
    sched_yield();
    return !atomic_load_explicit(&given_up, memory_order_relaxed);
}

bool peers_is_over(void)
{
    return atomic_load_explicit(&given_up, memory_order_relaxed);
}

/* One CPU for the roles of small jobs, both for the others. */
static void take_place(member *m, uint32_t roles)
{
    const int wanted = roles <= 2 ? 1 : 2;
    const uint32_t *cpus = m->crew->cpus;

    if (m->pinned == wanted)
        return;
    /* the CPUs were usable when the crew was created; elsewhere is no failure, only slower */
    if (wanted == 1)
        (void)!gyre_thread_pin_self(&cpus[m->role % 2], 1);
    else
        (void)!gyre_thread_pin_self(cpus, cpus[0] == cpus[1] ? 1 : 2);
    m->pinned = wanted;
}

static void meet(peers_crew *crew, uint32_t role, const peers_job *job, uint64_t number)
{
    /* release and acquire [crew-meet]: what the roles prepared is visible to each other */
    atomic_fetch_add_explicit(&crew->arrived, 1, memory_order_acq_rel);
    if (role == 0) {
        while (atomic_load_explicit(&crew->arrived, memory_order_acquire) < job->roles)
            sched_yield();
        return;
    }
    /* acquire [crew-open]: pairs with the release in play */
    for (uint32_t i = 0; atomic_load_explicit(&crew->open, memory_order_acquire) != number; i++) {
        if (i % 64 == 63)
            sched_yield();
        relax();
    }
}

static void play(member *m, const peers_job *job, uint64_t number)
{
    peers_turn turn = {m->role, job->roles, job->count, 0};
    peers_crew *crew = m->crew;
    uint64_t start_ns, end_ns, right;

    take_place(m, job->roles);
    meet(crew, m->role, job, number);
    if (m->role > 0) {
        (void)job->run(job->state, &turn);
        return;
    }
    start_ns = gyre_clock_now_ns();
    /* release [crew-open]: pairs with the acquire in meet */
    atomic_store_explicit(&crew->open, number, memory_order_release);
    right = job->run(job->state, &turn);
    end_ns = gyre_clock_now_ns();
    crew->result.right = right; /* read under the lock, which this thread takes next */
    crew->result.elapsed_ns = (double)(turn.elapsed_ns ? turn.elapsed_ns : end_ns - start_ns);
}

static void member_body(void *arg)
{
    member *m = arg;
    peers_crew *crew = m->crew;

    pthread_mutex_lock(&crew->lock);
    for (;;) {
        peers_job job;
        uint64_t number;

        while (!crew->ending && (crew->job_number == m->jobs_done || m->role >= crew->job.roles))
            pthread_cond_wait(&m->called, &crew->lock);
        if (crew->ending)
            break;
        m->jobs_done = number = crew->job_number;
        job = crew->job;
        pthread_mutex_unlock(&crew->lock);
        play(m, &job, number);
        pthread_mutex_lock(&crew->lock);
        if (--crew->working == 0)
            pthread_cond_signal(&crew->done);
    }
    pthread_mutex_unlock(&crew->lock);
}

static struct timespec from_now(uint64_t ns)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += (time_t)(ns / 1000000000u);
    t.tv_nsec += (long)(ns % 1000000000u);
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    return t;
}

/* With the lock held: whether all roles returned before `limit`. */
static bool wait_for_all(peers_crew *crew, struct timespec limit)
{
    int error = 0;

    while (crew->working > 0 && error == 0)
        error = pthread_cond_timedwait(&crew->done, &crew->lock, &limit);
    return crew->working == 0;
}

peers_done peers_crew_run(peers_crew *crew, const peers_job *job)
{
    peers_done result;
    bool in_time;

    pthread_mutex_lock(&crew->lock);
    crew->job = *job;
    crew->job_number++;
    crew->working = job->roles;
    crew->result = (peers_done){0};
    atomic_store_explicit(&crew->arrived, 0, memory_order_relaxed); /* relaxed: nobody runs */
    atomic_store_explicit(&patience, job->patience, memory_order_relaxed);
    atomic_store_explicit(&given_up, false, memory_order_relaxed);
    for (uint32_t role = 0; role < job->roles; role++)
        pthread_cond_signal(&crew->members[role].called);
    in_time = wait_for_all(crew, from_now(job->cap_ns));
    if (!in_time) {
        atomic_store_explicit(&given_up, true, memory_order_relaxed);
        if (!wait_for_all(crew, from_now(LAST_PATIENCE_S * UINT64_C(1000000000)))) {
            fputs("peers: a sample has not ended a minute after it was given up; ending\n", stderr);
            _exit(GYRE_EXIT_ENVIRONMENT);
        }
    }
    result = crew->result;
    result.given_up = !in_time;
    pthread_mutex_unlock(&crew->lock);
    return result;
}

static void init_conditions(peers_crew *crew)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->done, &monotonic);
    for (uint32_t i = 0; i < PEERS_ROLES; i++)
        pthread_cond_init(&crew->members[i].called, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

gyre_status peers_crew_create(const uint32_t cpus[2], peers_crew **out_crew)
{
    const gyre_thread_options options = {.struct_size = sizeof options, .name = "peers"};
    peers_crew *crew = calloc(1, sizeof *crew);
    gyre_status status = GYRE_OK;

    *out_crew = NULL;
    if (!crew)
        return gyre_fail(GYRE_NO_MEMORY, "out of memory for threads");
    crew->cpus[0] = cpus[0];
    crew->cpus[1] = cpus[1];
    init_conditions(crew);
    for (uint32_t i = 0; i < PEERS_ROLES && status == GYRE_OK; i++) {
        member *m = &crew->members[i];

        m->crew = crew;
        m->role = i;
        status = gyre_thread_start(member_body, m, &options, &m->thread);
    }
    if (status == GYRE_OK)
        *out_crew = crew;
    else
        peers_crew_destroy(crew);
    return status;
}

void peers_crew_destroy(peers_crew *crew)
{
    if (!crew)
        return;
    pthread_mutex_lock(&crew->lock);
    crew->ending = true;
    for (uint32_t i = 0; i < PEERS_ROLES; i++)
        pthread_cond_signal(&crew->members[i].called);
    pthread_mutex_unlock(&crew->lock);
    for (uint32_t i = 0; i < PEERS_ROLES; i++) {
        gyre_thread_stop(crew->members[i].thread);
        pthread_cond_destroy(&crew->members[i].called);
    }
    pthread_cond_destroy(&crew->done);
    pthread_mutex_destroy(&crew->lock);
    free(crew);
}
