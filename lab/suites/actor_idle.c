/* SPDX-License-Identifier: Apache-2.0
 *
 * actor_idle: what an actor costs while nothing comes, and how long the first call takes after
 * that, for each of the ways in which it can be idle.
 *
 * `wake` is one call after a silence, which is not timed: the host's thread sleeps for 10 or 50 ms
 * before each call. `spin_awake` is `spin` with a host that reads its clock all the time instead:
 * what the two differ by is what the sleep itself costs. One that leaves does so after 5 ms, so it
 * is away after every silence of these cases, and that is checked. `cost` is the silence itself:
 * its time says nothing; the CPU time that the process used in it, and the power that the device
 * drew where it tells, are reported beside it. `floor_no_actor` is the same process without one.
 *
 * Threads   the case's own, the actor's, the library's.
 * Owns      a fixture per case.
 * Not here  calls without silence (the suite of actors).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "gyre/actor.h"
#include "gyre/clock.h"
#include "gyre/port.h"
#include "suites/device_clock.h"
#include "suites/suites.h"

enum { LEAVE_US = 5000, COST_MS = 100, WORDS = 5 };

static const uint64_t PATIENCE_NS = 10000000000;

extern const gyre_behaviour echo_block;

typedef enum manner { NO_ACTOR, SPIN, SPIN_AWAKE, BACK_OFF, LEAVE } manner;

typedef struct idle {
    gyre_bench_device device;
    gyre_actor *actor; /* NULL: there is none */
    gyre_port *port;
    manner manner;
    uint64_t silence_ns;
    uint64_t called, right; /* calls, and those that got their own answer */
    uint64_t away;          /* silences after which it was off the device */
    uint64_t cpu_ns, wall_ns;
    uint64_t power_mw, power_looks;
} idle;

static void idle_teardown(void *fixture)
{
    idle *w = fixture;

    gyre_port_close(w->port);
    gyre_actor_destroy(w->actor);
    gyre_bench_device_close(&w->device);
    free(w);
}

static gyre_status launch(idle *w)
{
    static const gyre_actor_idle policies[] = {[SPIN] = GYRE_ACTOR_SPIN,
                                               [SPIN_AWAKE] = GYRE_ACTOR_SPIN,
                                               [BACK_OFF] = GYRE_ACTOR_BACK_OFF,
                                               [LEAVE] = GYRE_ACTOR_LEAVE};
    const gyre_actor_launch_options options = {
        .struct_size = sizeof options, .idle = policies[w->manner], .leave_us = LEAVE_US};
    gyre_status status = gyre_actor_create(w->device.context, &echo_block, NULL, &w->actor);

    if (status == GYRE_OK)
        status = gyre_actor_launch(w->actor, &options);
    return status == GYRE_OK ? gyre_port_open(w->actor, NULL, &w->port) : status;
}

static gyre_status open_idle(const gyre_bench_case *c, manner how, uint64_t silence_ns,
                             void **out_fixture)
{
    idle *const w = calloc(1, sizeof *w);
    gyre_status status;

    *out_fixture = NULL;
    if (!w)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    w->manner = how;
    w->silence_ns = silence_ns;
    status = gyre_bench_device_open(&w->device, c, NULL);
    if (status == GYRE_OK && how != NO_ACTOR)
        status = launch(w);
    if (status != GYRE_OK) {
        idle_teardown(w); /* accepts a half-built one */
        return status;
    }
    *out_fixture = w;
    return GYRE_OK;
}

static gyre_status setup_wake(const gyre_bench_case *c, manner how, void **out_fixture)
{
    return open_idle(c, how, (uint64_t)gyre_bench_axis(c, "silence_ms") * 1000000, out_fixture);
}

static gyre_status setup_cost(const gyre_bench_case *c, manner how, void **out_fixture)
{
    return open_idle(c, how, (uint64_t)COST_MS * 1000000, out_fixture);
}

GYRE_SETUP_WITH(setup_wake_spin, setup_wake, SPIN)
GYRE_SETUP_WITH(setup_wake_awake, setup_wake, SPIN_AWAKE)
GYRE_SETUP_WITH(setup_wake_back_off, setup_wake, BACK_OFF)
GYRE_SETUP_WITH(setup_wake_leave, setup_wake, LEAVE)
GYRE_SETUP_WITH(setup_cost_nothing, setup_cost, NO_ACTOR)
GYRE_SETUP_WITH(setup_cost_spin, setup_cost, SPIN)
GYRE_SETUP_WITH(setup_cost_back_off, setup_cost, BACK_OFF)
GYRE_SETUP_WITH(setup_cost_leave, setup_cost, LEAVE)

static void be_silent(uint64_t silence_ns)
{
    nanosleep(&(struct timespec){.tv_sec = (time_t)(silence_ns / 1000000000),
                                 .tv_nsec = (long)(silence_ns % 1000000000)},
              NULL);
}

static void stay_awake(uint64_t silence_ns)
{
    const uint64_t end_ns = gyre_clock_after_ns(silence_ns);

    while (gyre_clock_now_ns() < end_ns)
        ;
}

/* One call, and whether it got what it sent. */
static void call_once(idle *w)
{
    gyre_brief request = {.type = 1}, answer;

    for (uint32_t i = 0; i < WORDS; i++)
        request.body.longs[i] = w->called * WORDS + i;
    w->called++;
    if (gyre_port_call(w->port, &request, &answer, gyre_clock_after_ns(PATIENCE_NS)) == GYRE_OK)
        w->right += memcmp(request.body.longs, answer.body.longs, sizeof answer.body.longs) == 0;
}

/* It may take a little longer on a machine that is busy. */
static void await_leaving(idle *w)
{
    if (w->manner == LEAVE)
        w->away +=
            gyre_actor_wait(w->actor, GYRE_ACTOR_AWAY, gyre_clock_after_ns(PATIENCE_NS)) == GYRE_OK;
}

static void prepare_silence(void *fixture, uint64_t iterations)
{
    idle *w = fixture;

    (void)iterations; /* one at a time */
    if (w->manner == SPIN_AWAKE)
        stay_awake(w->silence_ns);
    else
        be_silent(w->silence_ns);
    await_leaving(w);
}

static void call_each(void *fixture, uint64_t iterations)
{
    idle *w = fixture;

    for (uint64_t i = 0; i < iterations; i++)
        call_once(w);
}

static uint64_t cpu_ns(void)
{
    struct rusage usage;

    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return 0;
    return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000 +
           ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000;
}

/* The call before a silence shows that it works; what it and the look at the device cost is not
 * part of the silence. */
static void stay_silent(void *fixture, uint64_t iterations)
{
    idle *w = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_device_state state = {.struct_size = sizeof state};
        uint64_t cpu_before_ns, before_ns;

        if (w->port)
            call_once(w);
        cpu_before_ns = cpu_ns();
        before_ns = gyre_clock_now_ns();
        be_silent(w->silence_ns);
        w->wall_ns += gyre_clock_now_ns() - before_ns;
        w->cpu_ns += cpu_ns() - cpu_before_ns;
        await_leaving(w);
        if (gyre_device_look(w->device.device, &state) == GYRE_OK && state.power_mw >= 0) {
            w->power_mw += (uint64_t)state.power_mw;
            w->power_looks++;
        }
    }
}

static bool all_answered(const void *fixture, uint64_t iterations)
{
    const idle *w = fixture;

    if (w->port && (w->called != iterations || w->right != iterations))
        return false;
    if (w->manner == LEAVE && w->away != iterations) {
        (void)gyre_bench_refuse(GYRE_INVALID, "it was away after %llu of %llu silences",
                                (unsigned long long)w->away, (unsigned long long)iterations);
        return false;
    }
    return true;
}

static void tell_scheme(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const idle *w = fixture;
    gyre_actor_statistics statistics = {.struct_size = sizeof statistics};

    (void)iterations;
    gyre_bench_device_tell(&w->device, facts);
    if (!w->actor || gyre_actor_describe(w->actor, &statistics) != GYRE_OK)
        return;
    gyre_bench_note(facts, "scheme", statistics.scheme);
    gyre_bench_count(facts, "returns", (double)statistics.returns);
}

static void tell_cost(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const idle *w = fixture;

    tell_scheme(fixture, iterations, facts);
    if (w->wall_ns > 0)
        gyre_bench_count(facts, "cpu_ms_per_s", (double)w->cpu_ns / (double)w->wall_ns * 1000);
    if (w->power_looks > 0)
        gyre_bench_count(facts, "device_watts",
                         (double)w->power_mw / (double)w->power_looks / 1000);
}

#define WAKE                                                                                       \
    .axes = {GYRE_DEVICE_AXIS, GYRE_AXIS("silence_ms", 10, 50)},                                   \
    .t0 = "before the call, after a silence", .t1 = "its answer is there",                         \
    .observer = "the host, which compares the answer", .prepare = prepare_silence,                 \
    .batch = GYRE_BATCH_EACH, .run = call_each, .check = all_answered, .tell = tell_scheme,        \
    .teardown = idle_teardown, .tags = GYRE_TAG_CPU | GYRE_TAG_GPU
#define COST                                                                                       \
    .axes = {GYRE_DEVICE_AXIS}, .t0 = "before a call and a silence of 100 ms", .t1 = "after both", \
    .observer = "the host, which compares the answer and asks the system for its CPU time",        \
    .run = stay_silent, .check = all_answered, .tell = tell_cost, .teardown = idle_teardown,       \
    .tags = GYRE_TAG_CPU | GYRE_TAG_GPU

static const gyre_bench benches[] = {
    {.name = "actor_idle/wake/spin", .setup = setup_wake_spin, WAKE},
    {.name = "actor_idle/wake/spin_awake", .setup = setup_wake_awake, WAKE},
    {.name = "actor_idle/wake/back_off", .setup = setup_wake_back_off, WAKE},
    {.name = "actor_idle/wake/leave", .setup = setup_wake_leave, WAKE},
    {.name = "actor_idle/cost/floor_no_actor", .setup = setup_cost_nothing, COST},
    {.name = "actor_idle/cost/spin", .setup = setup_cost_spin, COST},
    {.name = "actor_idle/cost/back_off", .setup = setup_cost_back_off, COST},
    {.name = "actor_idle/cost/leave", .setup = setup_cost_leave, COST},
};

const gyre_suite gyre_suite_actor_idle =
    GYRE_DEVICE_SUITE("actor_idle", benches, NULL, &gyre_device_guard);
