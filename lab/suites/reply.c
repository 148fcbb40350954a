/* SPDX-License-Identifier: Apache-2.0
 *
 * reply: a question to another thread and its answer, and the same through two legacy queues.
 *
 * Two threads, pinned to a CPU each where there are two. A gyre_call spins first and sleeps later,
 * on both sides; with the legacy queues both sides poll.
 *
 * Threads   the case's own asks, the partner answers.
 * Owns      a fixture per case.
 */
#include "gyre/reply.h"

#include <stdlib.h>
#include <string.h>

#include "gyre/bench.h"
#include "gyre/clock.h"
#include "gyre/command.h"
#include "suites/legacy_queue.h"
#include "suites/partner.h"
#include "suites/suites.h"

enum { CAPACITY = 1000, LOOKS_PER_CLOCK = 4096 };

/* For an answer that never comes; asked for once in a run, so that calls do not read the clock. */
static const uint64_t PATIENCE_NS = 30000000000;

typedef struct trips {
    alignas(128) uint64_t quit; /* shared; the server of the legacy queues ends */
    alignas(128) gyre_channel *channel;
    gyre_legacy_queue *questions, *answers;
    gyre_partner partner;
    alignas(128) uint64_t asked; /* the caller's, like `right` */
    uint64_t right;
} trips;

/* What the server makes of a command, and only the server knows before. */
static uint64_t answer_to(const gyre_command *command)
{
    return command->as.from_device.offset * 3 + command->as.from_device.size;
}

static void ask(gyre_command *out_command, uint64_t number)
{
    out_command->kind = GYRE_COMMAND_FROM_DEVICE;
    out_command->stream = 1;
    out_command->as.from_device.buffer = 7;
    out_command->as.from_device.offset = number;
    out_command->as.from_device.size = number ^ 0x55;
}

static void serve_channel(void *arg)
{
    trips *t = arg;
    gyre_command command;
    gyre_received received;

    while (gyre_channel_receive(t->channel, &command, &received, GYRE_NEVER) == GYRE_OK) {
        const uint64_t answer = answer_to(&command);

        (void)!gyre_reply_send(t->channel, received.reply, GYRE_OK, &answer, sizeof answer);
    }
}

static void serve_legacy(void *arg)
{
    trips *t = arg;
    gyre_command command;
    uint32_t looks = 0;
    size_t size;

    while (!gyre_load_relaxed(&t->quit)) { /* relaxed: ends the loop, no more */
        if (!gyre_legacy_pop(t->questions, &command, &size)) {
            gyre_partner_pause(&looks);
            continue;
        }
        looks = 0;
        command.as.from_device.size = answer_to(&command);
        if (!gyre_legacy_push(t->answers, &command, size))
            return; /* the asker misses it */
    }
}

static void trips_teardown(void *fixture)
{
    trips *t = fixture;

    if (t->channel)
        gyre_channel_close(t->channel);
    (void)gyre_add_relaxed(&t->quit, 1); /* relaxed: ends a loop, no more */
    gyre_partner_stop(&t->partner);
    gyre_channel_destroy(t->channel);
    gyre_legacy_destroy(t->questions);
    gyre_legacy_destroy(t->answers);
    free(t);
}

static gyre_status trips_setup(const gyre_bench_case *c, void (*server)(void *arg),
                               void **out_fixture)
{
    trips *t = aligned_alloc(alignof(trips), sizeof *t);
    gyre_channel_options options = gyre_command_channel();
    gyre_status status = GYRE_OK;

    (void)c;
    *out_fixture = NULL;
    if (!t)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    memset(t, 0, sizeof *t);
    options.capacity = CAPACITY;
    if (server == serve_channel)
        status = gyre_channel_create(&options, &t->channel);
    if (server == serve_legacy) {
        t->questions = gyre_legacy_create(0);
        t->answers = gyre_legacy_create(0);
        if (!t->questions || !t->answers)
            status = gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for two queues");
    }
    if (status == GYRE_OK)
        status = gyre_partner_start(&t->partner, server, t);
    if (status != GYRE_OK) {
        trips_teardown(t); /* accepts a half-built one */
        return status;
    }
    *out_fixture = t;
    return GYRE_OK;
}

GYRE_SETUP_WITH(channel_setup, trips_setup, serve_channel)
GYRE_SETUP_WITH(legacy_setup, trips_setup, serve_legacy)

static void call_each(void *fixture, uint64_t iterations)
{
    trips *t = fixture;
    const uint64_t deadline_ns = gyre_clock_after_ns(PATIENCE_NS);

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_command command;
        gyre_answer answer;
        uint64_t value = 0;

        ask(&command, t->asked++);
        if (gyre_call(t->channel, 0, &command, gyre_command_size(&command), deadline_ns, &answer) !=
            GYRE_OK)
            return; /* the check misses it */
        memcpy(&value, answer.bytes, sizeof value);
        t->right +=
            answer.status == GYRE_OK && answer.size == sizeof value && value == answer_to(&command);
    }
}

static void push_and_poll(void *fixture, uint64_t iterations)
{
    trips *t = fixture;
    const uint64_t deadline_ns = gyre_clock_after_ns(PATIENCE_NS);

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_command command, answer;
        uint32_t looks = 0;
        size_t size;

        ask(&command, t->asked++);
        if (!gyre_legacy_push(t->questions, &command, gyre_command_size(&command)))
            return; /* the check misses it */
        while (!gyre_legacy_pop(t->answers, &answer, &size)) {
            gyre_partner_pause(&looks);
            if (looks % LOOKS_PER_CLOCK == 0 && gyre_clock_now_ns() >= deadline_ns)
                return;
        }
        t->right += answer.as.from_device.offset == command.as.from_device.offset &&
                    answer.as.from_device.size == answer_to(&command);
    }
}

static bool all_answered(const void *fixture, uint64_t iterations)
{
    const trips *t = fixture;

    return t->asked == iterations && t->right == iterations;
}

/* And every question was sent and received once, and none answered late. */
static bool all_calls_answered(const void *fixture, uint64_t iterations)
{
    const trips *t = fixture;
    gyre_channel_statistics s = {sizeof s, .attempts = 0};

    return all_answered(fixture, iterations) && gyre_channel_describe(t->channel, &s) == GYRE_OK &&
           s.accepted == iterations && s.delivered == iterations && s.queued == 0 &&
           s.late_answers == 0;
}

static void tell_call(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    (void)iterations;
    gyre_partner_tell(&((const trips *)fixture)->partner, facts);
    gyre_bench_note(facts, "waiting", "spins up to GYRE_SPIN, then sleeps");
}

static void tell_poll(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    (void)iterations;
    gyre_partner_tell(&((const trips *)fixture)->partner, facts);
    gyre_bench_note(facts, "waiting", "both sides poll");
}

static const gyre_bench benches[] = {
    {
        .name = "round_trip_latency/channel_oneshot",
        .t0 = "before the command is built",
        .t1 = "the caller has the answer that the other thread gave to it",
        .observer = "the caller, which compares the answer with what the command asks for",
        .setup = channel_setup,
        .run = call_each,
        .check = all_calls_answered,
        .teardown = trips_teardown,
        .tell = tell_call,
    },
    {
        .name = "round_trip_latency/mutex_vecdeque",
        .t0 = "before the command is built",
        .t1 = "the caller has popped the answer that the other thread pushed for it",
        .observer = "the caller, which compares the answer with what the command asks for",
        .setup = legacy_setup,
        .run = push_and_poll,
        .check = all_answered,
        .teardown = trips_teardown,
        .tell = tell_poll,
    },
    GYRE_FLOOR_PING_PONG("round_trip_latency"),
};

const gyre_suite gyre_suite_reply = GYRE_SUITE("reply", benches);
