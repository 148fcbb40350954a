/* SPDX-License-Identifier: Apache-2.0
 *
 * actor_life: what it costs to hold an actor, to take it off its device, and to bring it back.
 *
 * The actor tallies, and a message is sent to it before each cycle and not timed: what a cycle
 * might lose would be missed in the end.
 *
 * Threads   the case's own; on the CPU the actor's, which runs where the system puts it.
 * Owns      a fixture per case.
 * Not here  messages (suites/actor.c).
 */
#include <stdlib.h>

#include "gyre/actor.h"
#include "gyre/clock.h"
#include "suites/suites.h"
#include "suites/troupe.h"

typedef struct life {
    gyre_troupe troupe;
    gyre_actor *actor; /* the troupe's only one */
    gyre_port *port;   /* likewise; NULL: launched by each cycle */
    uint64_t cycles;   /* that went through every state as they should */
    uint64_t sent;
    gyre_sent made; /* for sending */
} life;

static void teardown(void *fixture)
{
    life *l = fixture;

    gyre_troupe_close(&l->troupe);
    free(l);
}

static gyre_status setup_launched(const gyre_bench_case *c, void **out_fixture)
{
    const gyre_troupe_options options = {.behaviour = &tally_quad, .actors = 1, .unplaced = true};
    life *l = calloc(1, sizeof *l);
    gyre_status status;

    *out_fixture = NULL;
    if (!l)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    status = gyre_troupe_open(&l->troupe, c, &options);
    if (status != GYRE_OK) {
        free(l);
        return status;
    }
    l->actor = l->troupe.actor[0];
    l->port = l->troupe.port[0][0];
    *out_fixture = l;
    return GYRE_OK;
}

static uint64_t patience_ns(void)
{
    return gyre_clock_after_ns(GYRE_TROUPE_PATIENCE_NS);
}

/* Launched once, to see that it can be, and ended. */
static gyre_status setup_ended(const gyre_bench_case *c, void **out_fixture)
{
    gyre_status status = setup_launched(c, out_fixture);
    life *l = *out_fixture;

    if (status != GYRE_OK || !l)
        return status;
    gyre_port_close(l->port);
    l->port = l->troupe.port[0][0] = NULL;
    status = gyre_actor_terminate(l->actor, patience_ns());
    if (status != GYRE_OK) {
        teardown(l);
        *out_fixture = NULL;
    }
    return status;
}

static void send_one(void *fixture, uint64_t iterations)
{
    life *l = fixture;
    gyre_brief message = {.type = 1};

    (void)iterations;
    gyre_message_fill(&message, gyre_sent_next(&l->made));
    l->sent += gyre_port_send(l->port, &message, patience_ns()) == GYRE_OK;
}

static void pause_and_resume(void *fixture, uint64_t iterations)
{
    life *l = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        if (gyre_actor_pause(l->actor, patience_ns()) != GYRE_OK ||
            gyre_actor_state(l->actor) != GYRE_ACTOR_PAUSED ||
            gyre_actor_resume(l->actor) != GYRE_OK)
            return; /* the check misses it */
        l->cycles += gyre_actor_state(l->actor) == GYRE_ACTOR_ACTIVE;
    }
}

static void park_and_resume(void *fixture, uint64_t iterations)
{
    life *l = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        if (gyre_actor_park(l->actor, patience_ns()) != GYRE_OK ||
            gyre_actor_state(l->actor) != GYRE_ACTOR_PARKED ||
            gyre_actor_resume(l->actor) != GYRE_OK)
            return; /* the check misses it */
        l->cycles += gyre_actor_state(l->actor) == GYRE_ACTOR_ACTIVE;
    }
}

static void launch_and_terminate(void *fixture, uint64_t iterations)
{
    life *l = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        if (gyre_actor_launch(l->actor, NULL) != GYRE_OK ||
            gyre_actor_state(l->actor) != GYRE_ACTOR_ACTIVE ||
            gyre_actor_terminate(l->actor, patience_ns()) != GYRE_OK)
            return; /* the check misses it */
        l->cycles += gyre_actor_state(l->actor) == GYRE_ACTOR_TERMINATED;
    }
}

/* And everything that was sent between cycles has arrived once. */
static bool all_cycled(const void *fixture, uint64_t iterations)
{
    const life *l = fixture;
    gyre_tally tally;

    if (l->cycles != iterations || l->sent != iterations)
        return false;
    return gyre_port_flush(l->port, patience_ns()) == GYRE_OK &&
           gyre_tally_read(l->actor, 0, &tally) == GYRE_OK && tally.count == l->sent &&
           gyre_tally_is(&tally, &l->made);
}

static bool all_launched(const void *fixture, uint64_t iterations)
{
    const life *l = fixture;
    gyre_actor_statistics statistics = {.struct_size = sizeof statistics};

    return l->cycles == iterations && gyre_actor_describe(l->actor, &statistics) == GYRE_OK &&
           statistics.incarnation == iterations + 1;
}

static void tell(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    (void)iterations;
    gyre_troupe_tell(&((const life *)fixture)->troupe, facts);
}

#define ALWAYS                                                                                     \
    .axes = {GYRE_DEVICE_AXIS}, .teardown = teardown, .tell = tell,                                \
    .tags = GYRE_TAG_CPU | GYRE_TAG_GPU
#define ARRIVED "the host, which finds each state, and all messages sent between cycles in the end"

static const gyre_bench benches[] = {
    {
        .name = "actor/pause_resume",
        .t0 = "before the order to pause, behind one message",
        .t1 = "after the resume that follows when the actor says that it has paused",
        .observer = ARRIVED,
        .setup = setup_launched,
        .prepare = send_one,
        .batch = GYRE_BATCH_EACH,
        .run = pause_and_resume,
        .check = all_cycled,
        ALWAYS,
    },
    {
        .name = "actor/park_resume",
        .t0 = "before the order to park, behind one message",
        .t1 = "the actor was off the device, is back, and says so",
        .observer = ARRIVED,
        .setup = setup_launched,
        .prepare = send_one,
        .batch = GYRE_BATCH_EACH,
        .run = park_and_resume,
        .check = all_cycled,
        ALWAYS,
    },
    {
        .name = "actor/launch_terminate",
        .t0 = "before the launch of an actor whose code is loaded",
        .t1 = "it was resident, and has ended",
        .observer = "the host, which finds each state, and how many launches there were",
        .setup = setup_ended,
        .run = launch_and_terminate,
        .check = all_launched,
        ALWAYS,
    },
};

const gyre_suite gyre_suite_actor_life =
    GYRE_DEVICE_SUITE("actor_life", benches, NULL, &gyre_device_guard);
