/* SPDX-License-Identifier: Apache-2.0
 *
 * team: see team.h.
 *
 * A round has two hand-overs. Waking takes long and differs from thread to thread, so the threads
 * first gather under the lock; only when all are awake does the caller read the clock and open the
 * gate, on which they spin. A thread that has to spin long gives its CPU away: there may be more
 * threads than CPUs.
 */
#include "bench/team.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "gyre/atomic.h"
#include "gyre/bench.h"
#include "gyre/thread.h"

enum { SPINS_BEFORE_YIELD = 1000 };

typedef struct member {
    _Alignas(128) gyre_team *team;
    gyre_thread *thread;
    uint32_t index;
    uint64_t end_ns; /* of the last round; read under the lock */
} member;

struct gyre_team {
    uint32_t count;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t round;              /* under the lock, as everything down to `now_ns` */
    uint32_t gathered, finished; /* in this round, the caller not counted */
    bool ending;
    void (*run)(void *fixture, uint64_t iterations);
    void *fixture;
    uint64_t iterations;
    uint64_t (*now_ns)(void);
    _Alignas(128) uint64_t gate; /* the round that may run */
    member members[];            /* [0] is the caller */
};

static _Thread_local uint32_t this_thread;

uint32_t gyre_bench_thread(void)
{
    return this_thread;
}

static void wait_at_gate(const gyre_team *team, uint64_t round)
{
    uint32_t spins = 0;

    /* acquire [team-gate]: pairs with the release in gyre_team_round. What the caller did before it
     * opened the gate is visible to the round. */
    while (gyre_load_acquire(&team->gate) < round)
        if (++spins % SPINS_BEFORE_YIELD == 0)
            sched_yield();
}

static void serve(void *arg)
{
    member *m = arg;
    gyre_team *team = m->team;

    this_thread = m->index;
    pthread_mutex_lock(&team->lock);
    for (uint64_t round = 1;; round++) {
        while (team->round < round && !team->ending)
            pthread_cond_wait(&team->changed, &team->lock);
        if (team->ending)
            break;
        team->gathered++;
        pthread_cond_broadcast(&team->changed);
        pthread_mutex_unlock(&team->lock);
        wait_at_gate(team, round);
        team->run(team->fixture, team->iterations);
        m->end_ns = team->now_ns();
        pthread_mutex_lock(&team->lock);
        team->finished++;
        pthread_cond_broadcast(&team->changed);
    }
    pthread_mutex_unlock(&team->lock);
}

gyre_status gyre_team_start(uint32_t count, gyre_team **out_team)
{
    gyre_team *team;
    gyre_status status;
    void *block;

    *out_team = NULL;
    if (count == 0 || count > GYRE_TEAM_MOST)
        return gyre_fail(GYRE_INVALID, "%u threads are not 1 to %d", count, GYRE_TEAM_MOST);
    status = gyre_alloc(NULL, 1, sizeof *team + count * sizeof team->members[0], &block);
    if (status != GYRE_OK)
        return status;
    team = block;
    team->count = count;
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->changed, NULL);
    for (uint32_t i = 1; i < count && status == GYRE_OK; i++) {
        const gyre_thread_options options = {.struct_size = sizeof options, .name = "gyre-bench"};

        team->members[i] = (member){.team = team, .index = i};
        status = gyre_thread_start(serve, &team->members[i], &options, &team->members[i].thread);
    }
    if (status != GYRE_OK) {
        gyre_team_stop(team);
        return status;
    }
    *out_team = team;
    return GYRE_OK;
}

uint64_t gyre_team_round(gyre_team *team, void (*run)(void *fixture, uint64_t iterations),
                         void *fixture, uint64_t iterations, uint64_t (*now_ns)(void))
{
    const uint32_t others = team->count - 1;
    uint64_t start_ns, end_ns;

    pthread_mutex_lock(&team->lock);
    team->run = run;
    team->fixture = fixture;
    team->iterations = iterations;
    team->now_ns = now_ns;
    team->gathered = team->finished = 0;
    team->round++;
    pthread_cond_broadcast(&team->changed);
    while (team->gathered < others)
        pthread_cond_wait(&team->changed, &team->lock);
    pthread_mutex_unlock(&team->lock);
    start_ns = now_ns();
    /* release [team-gate]: pairs with the acquire in wait_at_gate */
    gyre_store_release(&team->gate, team->round);
    run(fixture, iterations);
    end_ns = now_ns();
    pthread_mutex_lock(&team->lock);
    while (team->finished < others)
        pthread_cond_wait(&team->changed, &team->lock);
    for (uint32_t i = 1; i < team->count; i++)
        end_ns = team->members[i].end_ns > end_ns ? team->members[i].end_ns : end_ns;
    pthread_mutex_unlock(&team->lock);
    return end_ns - start_ns;
}

void gyre_team_stop(gyre_team *team)
{
    if (!team)
        return;
    pthread_mutex_lock(&team->lock);
    team->ending = true;
    pthread_cond_broadcast(&team->changed);
    pthread_mutex_unlock(&team->lock);
    for (uint32_t i = 1; i < team->count; i++)
        gyre_thread_stop(team->members[i].thread);
    pthread_cond_destroy(&team->changed);
    pthread_mutex_destroy(&team->lock);
    gyre_free(NULL, team, 1, sizeof *team + team->count * sizeof team->members[0]);
}
