/* SPDX-License-Identifier: Apache-2.0
 *
 * actor: one message at a time, to actors that are resident: handing it in, and there and back.
 *
 * A message has a head of 8 bytes and 40 of its own, all of which change with each call; the actor
 * gives them back. Beside them stands the same done by hand
 * (suites/actor_floor.c, actor_floor_echo.c), in the same run and not in turns, since what waits on
 * the other side spins; `round_trip_in_turns` has an actor that does not, on the host's CPUs.
 *
 * Threads   the case's own, and on the CPU one for each actor.
 * Owns      a fixture per case.
 * Not here  many messages at once (suites/actor_rate.c), life (suites/actor_life.c).
 */
#include "gyre/actor.h"

#include <stdlib.h>
#include <string.h>

#include "gyre/clock.h"
#include "suites/suites.h"
#include "suites/troupe.h"

enum {
    INJECTED = 1 << 16, /* slots: more than are sent between two flushes */
    CALLED = 64,        /* slots */
    PAYLOAD_MOST = 1 << 24,
    LANES = 256, /* of a block, with a word of its own memory each */
};

typedef struct trips {
    gyre_troupe troupe;
    uint64_t number; /* of messages that were called */
    uint64_t right;
    uint32_t next;     /* actor */
    uint32_t *payload; /* pinned */
    uint32_t words;    /* of it */
    gyre_sent sent;    /* for a tally */
} trips;

static void teardown(void *fixture)
{
    trips *t = fixture;

    if (t->payload) {
        /* nobody reads it any more */
        for (uint32_t i = 0; i < t->troupe.count; i++)
            (void)!gyre_actor_terminate(t->troupe.actor[i],
                                        gyre_clock_after_ns(GYRE_TROUPE_PATIENCE_NS));
        gyre_bench_device_give(t->troupe.device, GYRE_CONTEXT_PINNED, t->payload,
                               (size_t)t->words * sizeof t->payload[0]);
    }
    gyre_troupe_close(&t->troupe);
    free(t);
}

static gyre_status set_up(const gyre_bench_case *c, const gyre_troupe_options *options,
                          void **out_fixture)
{
    trips *t = calloc(1, sizeof *t);
    gyre_status status;

    *out_fixture = NULL;
    if (!t)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    status = gyre_troupe_open(&t->troupe, c, options);
    if (status != GYRE_OK) {
        free(t);
        return status;
    }
    *out_fixture = t;
    return GYRE_OK;
}

static gyre_status setup_inject(const gyre_bench_case *c, void **out_fixture)
{
    const gyre_troupe_options options = {
        .behaviour = &tally_quad, .actors = 1, .launch = {.capacity = INJECTED}};

    return set_up(c, &options, out_fixture);
}

static gyre_status setup_round_trip(const gyre_bench_case *c, void **out_fixture)
{
    const int64_t actors = gyre_bench_axis(c, "actors");
    static const gyre_behaviour *const of_width[] = {&echo_quad, &echo_warp, &echo_block};
    gyre_troupe_options options = {.behaviour = of_width[gyre_bench_axis(c, "width")],
                                   .launch = {.capacity = CALLED}};

    *out_fixture = NULL;
    if (actors < 0 || actors > GYRE_TROUPE_MOST)
        return gyre_bench_refuse(GYRE_INVALID, "up to %d actors, or 0 for as many as fit",
                                 GYRE_TROUPE_MOST);
    options.actors = (uint32_t)actors;
    return set_up(c, &options, out_fixture);
}

static gyre_status setup_telemetry(const gyre_bench_case *c, bool without, void **out_fixture)
{
    const gyre_troupe_options options = {
        .behaviour = &echo_quad,
        .actors = 1,
        .launch = {.capacity = CALLED, .no_telemetry = without},
    };

    return set_up(c, &options, out_fixture);
}

/* Who waits for the other's turn to end sleeps, or leaves the CPU: kernels cannot sleep. */
static gyre_status setup_in_turns(const gyre_bench_case *c, void **out_fixture)
{
    const bool sleeps = strcmp(gyre_bench_device_word(c), "cpu") == 0;
    const gyre_troupe_options options = {
        .behaviour = &echo_quad,
        .actors = 1,
        .launch = {.capacity = CALLED,
                   .idle = sleeps ? GYRE_ACTOR_BACK_OFF : GYRE_ACTOR_LEAVE,
                   .spin_us = 100,
                   .nap_us = 1000,
                   .leave_us = 1000},
    };

    return set_up(c, &options, out_fixture);
}

GYRE_SETUP_WITH(setup_telemetry_on, setup_telemetry, false)
GYRE_SETUP_WITH(setup_telemetry_off, setup_telemetry, true)

static uint64_t payload_bytes(const gyre_bench_case *c)
{
    return (uint64_t)gyre_bench_axis(c, "bytes");
}

static gyre_status setup_payload(const gyre_bench_case *c, void **out_fixture)
{
    const gyre_troupe_options options = {
        .behaviour = &sum_payload,
        .actors = 1,
        .launch = {.capacity = CALLED, .threads = LANES, .shared_bytes = LANES * 4},
    };
    const uint64_t bytes = payload_bytes(c);
    gyre_status status;
    void *payload = NULL;
    trips *t;

    *out_fixture = NULL;
    if (bytes < 4 || bytes > PAYLOAD_MOST || bytes % 4 != 0)
        return gyre_bench_refuse(GYRE_INVALID, "a payload is whole words, up to 16 MiB");
    status = set_up(c, &options, out_fixture);
    t = *out_fixture;
    if (status != GYRE_OK || !t)
        return status;
    status = gyre_bench_device_take(t->troupe.device, GYRE_CONTEXT_PINNED, bytes, &payload);
    t->payload = payload;
    t->words = (uint32_t)(bytes / sizeof t->payload[0]);
    if (status != GYRE_OK) {
        teardown(t);
        *out_fixture = NULL;
    }
    return status;
}

static void flush(void *fixture, uint64_t iterations)
{
    trips *t = fixture;

    (void)iterations;
    if (gyre_port_flush(t->troupe.port[0][0], gyre_clock_after_ns(GYRE_TROUPE_PATIENCE_NS)) !=
        GYRE_OK)
        t->right = 0; /* the check will miss them */
}

static void send_each(void *fixture, uint64_t iterations)
{
    trips *t = fixture;
    gyre_port *const port = t->troupe.port[0][0];
    const uint64_t deadline_ns = gyre_clock_after_ns(GYRE_TROUPE_PATIENCE_NS);
    gyre_brief message = {.type = 1};

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_message_fill(&message, gyre_sent_next(&t->sent));
        t->right += gyre_port_send(port, &message, deadline_ns) == GYRE_OK;
    }
}

static bool all_tallied(const void *fixture, uint64_t iterations)
{
    const trips *t = fixture;
    gyre_tally tally;

    if (t->right != iterations)
        return false;
    if (gyre_port_flush(t->troupe.port[0][0], gyre_clock_after_ns(GYRE_TROUPE_PATIENCE_NS)) !=
            GYRE_OK ||
        gyre_tally_read(t->troupe.actor[0], 0, &tally) != GYRE_OK)
        return false;
    return tally.count == iterations && gyre_tally_is(&tally, &t->sent);
}

static void call_each(void *fixture, uint64_t iterations)
{
    trips *t = fixture;
    const uint64_t deadline_ns = gyre_clock_after_ns(GYRE_TROUPE_PATIENCE_NS);
    const uint32_t actors = t->troupe.count;
    gyre_brief message = {.type = 1}, answer;

    for (uint64_t i = 0; i < iterations; i++) {
        const uint64_t number = t->number++;

        gyre_message_fill(&message, number);
        if (gyre_port_call(t->troupe.port[t->next][0], &message, &answer, deadline_ns) != GYRE_OK)
            return; /* the check misses it */
        t->right += gyre_message_is(&answer, number);
        t->next = t->next + 1 == actors ? 0 : t->next + 1;
    }
}

static void refer_each(void *fixture, uint64_t iterations)
{
    trips *t = fixture;
    const uint64_t deadline_ns = gyre_clock_after_ns(GYRE_TROUPE_PATIENCE_NS);
    const uint32_t words = t->words;
    gyre_brief message = {.type = 1, .flags = GYRE_BRIEF_REFERS}, answer;

    message.body.reference.address = t->payload;
    message.body.reference.size = (uint64_t)words * sizeof t->payload[0];
    for (uint64_t i = 0; i < iterations; i++) {
        const uint32_t first = (uint32_t)t->number++ * 2654435761U;

        for (uint32_t w = 0; w < words; w++)
            t->payload[w] = first + w;
        if (gyre_port_call(t->troupe.port[0][0], &message, &answer, deadline_ns) != GYRE_OK)
            return; /* the check misses it */
        t->right +=
            answer.body.words[0] == words * first + (uint32_t)((uint64_t)words * (words - 1) / 2);
    }
}

static bool all_right(const void *fixture, uint64_t iterations)
{
    const trips *t = fixture;

    return t->number == iterations && t->right == iterations;
}

static void tell(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    (void)iterations;
    gyre_troupe_tell(&((const trips *)fixture)->troupe, facts);
}

#define THERE "before the message is written"
#define BACK "the caller has the answer to it"
#define COMPARED "the caller, which compares all 40 bytes of each answer"
#define ALWAYS .teardown = teardown, .tell = tell, .tags = GYRE_TAG_CPU | GYRE_TAG_GPU

static const gyre_bench benches[] = {
    {
        .name = "actor/inject",
        .axes = {GYRE_DEVICE_AXIS},
        .t0 = "before the send of one message, into a ring with room",
        .t1 = "after it has returned: the host has stored it, and nobody need have read it",
        .observer =
            "the actor, whose count, sum and xor of all of them are compared with what was sent",
        .setup = setup_inject,
        .prepare = flush,
        .batch = GYRE_BATCH_LARGE,
        .run = send_each,
        .check = all_tallied,
        ALWAYS,
    },
    {
        .name = "actor/round_trip",
        .axes = {GYRE_DEVICE_AXIS, GYRE_AXIS_WORDS("width", "quad", "warp", "block"),
                 GYRE_AXIS("actors", 1, 8, 32, 0)},
        .t0 = THERE ", for the next of the actors; 0 are as many as fit",
        .t1 = BACK,
        .observer = COMPARED,
        .setup = setup_round_trip,
        .run = call_each,
        .check = all_right,
        ALWAYS,
    },
    {
        .name = "actor/round_trip_in_turns",
        .axes = {GYRE_AXIS_WORDS("device", "cpu", "opencl")},
        .beside = "actor_floor/ping_pong_in_turns",
        .t0 = THERE ", to an actor that takes turns with a ball between the same two CPUs",
        .t1 = BACK,
        .observer = COMPARED,
        .setup = setup_in_turns,
        .run = call_each,
        .check = all_right,
        ALWAYS,
    },
    {
        .name = "actor/payload",
        .axes = {GYRE_DEVICE_AXIS, GYRE_AXIS("bytes", 64, 1024, 65536)},
        .t0 = "before the payload is written to pinned memory, all of it",
        .t1 = "the caller has the sum of its words, read where they are",
        .observer = "the caller, which compares each sum",
        .setup = setup_payload,
        .run = refer_each,
        .check = all_right,
        .bytes = payload_bytes,
        ALWAYS,
    },
    {
        .name = "actor/round_trip_telemetry",
        .axes = {GYRE_AXIS_WORDS("device", "cpu", "cuda")},
        .beside = "actor/round_trip_no_telemetry",
        .t0 = THERE ", to an actor that keeps times of messages",
        .t1 = BACK,
        .observer = COMPARED,
        .setup = setup_telemetry_on,
        .run = call_each,
        .check = all_right,
        ALWAYS,
    },
    {
        .name = "actor/round_trip_no_telemetry",
        .axes = {GYRE_AXIS_WORDS("device", "cpu", "cuda")},
        .t0 = THERE ", to an actor that keeps none",
        .t1 = BACK,
        .observer = COMPARED,
        .setup = setup_telemetry_off,
        .run = call_each,
        .check = all_right,
        ALWAYS,
    },
};

const gyre_suite gyre_suite_actor = GYRE_DEVICE_SUITE("actor", benches, NULL, &gyre_device_guard);
