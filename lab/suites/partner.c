/* SPDX-License-Identifier: Apache-2.0
 *
 * partner: see partner.h.
 */
#include "suites/partner.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gyre/clock.h"
#include "gyre/park.h"
#include "gyre/topology.h"

enum {
    LOOKS_PER_CLOCK = 4096,
    LOOKS_BEFORE_DOZE = 1 << 16,
    DOZE_NS = 1000000,
    NEW_TURN_NS = 200000, /* that the case has not run for */
    SETTLE_NS = 3000000,
};

static const uint64_t PATIENCE_NS = 10000000000;

gyre_status gyre_partner_find_cpus(gyre_partner *partner)
{
    gyre_topology *topology;
    const gyre_topology_cpu *cpu;
    const gyre_status status = gyre_topology_create(NULL, &topology);

    *partner = (gyre_partner){0};
    if (status != GYRE_OK)
        return status;
    for (uint32_t i = 0; (cpu = gyre_topology_cpu_at(topology, i)); i++)
        if (cpu->allowed && partner->cpu_count < GYRE_PARTNER_CPUS)
            partner->cpus[partner->cpu_count++] = cpu->id;
    gyre_topology_destroy(topology);
    return GYRE_OK;
}

gyre_status gyre_partner_start(gyre_partner *partner, void (*body)(void *arg), void *arg)
{
    gyre_status status = gyre_partner_find_cpus(partner);

    if (status == GYRE_OK)
        status = gyre_thread_pin_self(partner->cpus, 1);
    if (status == GYRE_OK) {
        const gyre_thread_options options = {sizeof options, "gyre-partner",
                                             .cpus = &partner->cpus[partner->cpu_count - 1],
                                             .cpu_count = 1};

        status = gyre_thread_start(body, arg, &options, &partner->thread);
    }
    return status;
}

void gyre_partner_stop(gyre_partner *partner)
{
    gyre_thread_stop(partner->thread);
    partner->thread = NULL;
    if (partner->cpu_count > 0)
        (void)!gyre_thread_pin_self(partner->cpus, partner->cpu_count);
}

void gyre_partner_tell(const gyre_partner *partner, gyre_bench_facts *facts)
{
    gyre_bench_note(facts, "threads",
                    partner->cpu_count > 1 ? "two, each pinned to a CPU of its own"
                                           : "two on one CPU: the scheduler is measured");
}

/* seq_cst [park-handshake]: as gyre/park.h asks of the condition */
static bool may_quit(void *arg)
{
    return __atomic_load_n(&((gyre_idler *)arg)->quit, __ATOMIC_SEQ_CST) != 0;
}

static void idle(void *arg)
{
    gyre_idler *idler = arg;

    (void)!gyre_park_wait(&idler->park, NULL, may_quit, idler, GYRE_NEVER);
}

gyre_status gyre_idler_start(gyre_idler *idler)
{
    const gyre_thread_options options = {.struct_size = sizeof options, .name = "gyre-idler"};

    *idler = (gyre_idler){0};
    return gyre_thread_start(idle, idler, &options, &idler->thread);
}

void gyre_idler_stop(gyre_idler *idler)
{
    __atomic_store_n(&idler->quit, 1, __ATOMIC_SEQ_CST); /* [park-handshake] */
    gyre_park_wake(&idler->park, 1);
    gyre_thread_stop(idler->thread);
    idler->thread = NULL;
}

bool gyre_partner_wait(const uint64_t *counter, uint64_t value)
{
    uint64_t start_ns = 0;
    uint32_t looks = 0;

    while (gyre_load_acquire(counter) < value) {
        gyre_partner_pause(&looks);
        if (looks % LOOKS_PER_CLOCK != 0)
            continue;
        if (start_ns == 0)
            start_ns = gyre_clock_now_ns();
        if (gyre_clock_now_ns() - start_ns > PATIENCE_NS)
            return false;
    }
    return true;
}

/* Looks until it is the turn of `parity`, or quit; returns the turn. Who dozes looks for a while,
 * and then once in a millisecond. */
GYRE_INLINE uint64_t wait_for(const gyre_ball *ball, uint64_t parity, bool dozes)
{
    uint64_t turn;

    /* acquire [ball-turn]: pairs with the release in hit */
    for (uint32_t looks = 0; (turn = gyre_load_acquire(&ball->turn)) % 2 != parity; looks++) {
        if (gyre_load_relaxed(&ball->quit)) /* relaxed: ends the loop, no more */
            break;
        if (dozes && looks > LOOKS_BEFORE_DOZE)
            nanosleep(&(struct timespec){.tv_nsec = DOZE_NS}, NULL);
    }
    return turn;
}

/* Gives the turn that was waited for to the other. */
GYRE_INLINE void hit(gyre_ball *ball, uint64_t turn)
{
    /* release [ball-turn]: pairs with the acquire in wait_for */
    gyre_store_release(&ball->turn, turn + 1);
}

void gyre_ball_drive(gyre_ball *ball, uint64_t iterations)
{
    uint64_t turn = wait_for(ball, 0, false);

    for (uint64_t i = 0; i < iterations; i++) {
        hit(ball, turn);
        turn = wait_for(ball, 0, false);
    }
}

void gyre_ball_return(gyre_ball *ball)
{
    for (;;) {
        const uint64_t turn = wait_for(ball, 1, true);

        if (turn % 2 == 0)
            return; /* quit */
        hit(ball, turn);
    }
}

typedef struct match {
    gyre_ball ball;
    gyre_partner partner;
    uint64_t ended_ns; /* the last run, and how many round trips were none of one, */
    uint64_t untimed;  /* for gyre_ball_settle */
} match;

static void serve(void *arg)
{
    gyre_ball_return(&((match *)arg)->ball);
}

void gyre_ball_teardown(void *fixture)
{
    match *m = fixture;

    (void)gyre_add_relaxed(&m->ball.quit, 1); /* relaxed: ends a loop, no more */
    gyre_partner_stop(&m->partner);
    free(m);
}

gyre_status gyre_ball_setup(const gyre_bench_case *c, void **out_fixture)
{
    match *m = aligned_alloc(alignof(match), sizeof *m);
    gyre_status status;

    (void)c;
    *out_fixture = NULL;
    if (!m)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    memset(m, 0, sizeof *m);
    status = gyre_partner_start(&m->partner, serve, m);
    if (status != GYRE_OK) {
        gyre_ball_teardown(m); /* accepts a half-built one */
        return status;
    }
    *out_fixture = m;
    return GYRE_OK;
}

void gyre_ball_settle(void *fixture, uint64_t iterations)
{
    match *m = fixture;

    (void)iterations;
    if (gyre_clock_now_ns() - m->ended_ns <= NEW_TURN_NS)
        return;
    nanosleep(&(struct timespec){.tv_nsec = SETTLE_NS}, NULL);
    gyre_ball_drive(&m->ball, 1);
    m->untimed++;
}

void gyre_ball_run(void *fixture, uint64_t iterations)
{
    match *m = fixture;

    gyre_ball_drive(&m->ball, iterations);
    m->ended_ns = gyre_clock_now_ns();
}

bool gyre_ball_check(const void *fixture, uint64_t iterations)
{
    const match *m = fixture;

    return gyre_load_acquire(&m->ball.turn) == 2 * (iterations + m->untimed);
}

void gyre_ball_tell(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    (void)iterations;
    gyre_partner_tell(&((const match *)fixture)->partner, facts);
}
