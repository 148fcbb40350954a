/* SPDX-License-Identifier: Apache-2.0
 *
 * stream: commands from one thread to another: how many get through, and what a slow consumer does
 * to their producer. Through a channel, the legacy queue with the same limit, and the bare queue
 * for two.
 *
 * Threads   the case's own produces, a partner consumes and checks that commands come once and in
 *           order. An iteration ends when its last command has been handled. Edge:
 *           [stream-handled].
 * Owns      a fixture per case.
 * Not here  many producers (suites/command.c).
 */
#include <stdlib.h>
#include <string.h>

#include "gyre/bench.h"
#include "gyre/channel.h"
#include "gyre/clock.h"
#include "suites/partner.h"
#include "suites/path.h"
#include "suites/suites.h"

enum {
    ROOM = 1024,       /* of throughput */
    BOUND = 100,       /* of backpressure, as in the seeds */
    SLOW_BATCH = 1000, /* commands to the slow consumer */
    WORK_NS = 10000,   /* that it takes for each */
};

/* What one thread writes lies on no line that the other reads for anything else. */
typedef struct stream {
    alignas(128) uint64_t handled; /* shared: the consumer raises it */
    uint64_t right;                /* the consumer's; visible with `handled` */
    alignas(128) uint64_t sent;    /* the producer's, like */
    uint64_t waited_ns;            /* for room in a queue, and */
    bool broken;                   /* some were lost: do not wait for them again */
    alignas(128) gyre_path path;   /* constant from here on, while the case runs */
    uint32_t capacity;
    uint64_t batch;  /* commands of one iteration */
    uint64_t steps;  /* of work for each command; 0 for none */
    uint64_t result; /* of the work */
    double work_ns;  /* that it took when it was measured */
    gyre_partner partner;
} stream;

/* Steps that cannot be done but one after the other. */
static uint64_t work(uint64_t steps)
{
    uint64_t state = UINT64_C(0x2545f4914f6cdd1d);

    for (uint64_t i = 0; i < steps; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state;
}

/* As many as take WORK_NS, by the fastest of some tries: an interrupted one says nothing. */
static void calibrate(stream *s)
{
    enum { STEPS = 20000, TRIES = 50 };
    double least_ns = 1e9;

    for (int i = 0; i < TRIES; i++) {
        const uint64_t start_ns = gyre_clock_now_ns();
        uint64_t result = work(STEPS);
        double spent_ns;

        gyre_bench_keep(&result);
        spent_ns = (double)(gyre_clock_now_ns() - start_ns);
        least_ns = spent_ns < least_ns ? spent_ns : least_ns;
    }
    s->steps = (uint64_t)(WORK_NS / least_ns * STEPS);
    s->work_ns = least_ns / STEPS * (double)s->steps;
    s->result = work(s->steps);
}

static bool worked(const stream *s)
{
    uint64_t steps = s->steps;

    gyre_bench_keep(&steps); /* or the compiler finds that the result is always the same */
    return steps == 0 || work(steps) == s->result;
}

static void consume(void *arg)
{
    stream *s = arg;
    gyre_command command;

    for (uint64_t next = 0; gyre_path_take(&s->path, &command, GYRE_NEVER); next++) {
        s->right += gyre_path_is(&command, 0, next) && worked(s);
        /* release [stream-handled]: pairs with the acquire in gyre_partner_wait. `right` counts the
         * command before it counts as handled. */
        gyre_store_release(&s->handled, next + 1);
    }
}

static void stream_teardown(void *fixture)
{
    stream *s = fixture;

    gyre_path_stop(&s->path);
    gyre_partner_stop(&s->partner);
    gyre_path_close(&s->path);
    free(s);
}

static gyre_status stream_create(uint64_t batch, uint32_t capacity, stream **out_stream)
{
    stream *s = aligned_alloc(alignof(stream), sizeof *s);

    *out_stream = s;
    if (!s)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    memset(s, 0, sizeof *s);
    s->batch = batch;
    s->capacity = capacity;
    return GYRE_OK;
}

static gyre_status stream_start(stream *s, gyre_path_kind kind, void **out_fixture)
{
    gyre_status status = gyre_path_open(&s->path, kind, s->capacity);

    if (status == GYRE_OK)
        status = gyre_partner_start(&s->partner, consume, s);
    if (status != GYRE_OK) {
        stream_teardown(s); /* accepts a half-built one */
        return status;
    }
    *out_fixture = s;
    return GYRE_OK;
}

static gyre_status fast_setup(const gyre_bench_case *c, gyre_path_kind kind, void **out_fixture)
{
    const int64_t batch = gyre_bench_axis(c, "commands");
    gyre_status status;
    stream *s;

    *out_fixture = NULL;
    if (batch < 1)
        return gyre_bench_refuse(GYRE_INVALID, "a batch has at least 1 command");
    status = stream_create((uint64_t)batch, ROOM, &s);
    return status == GYRE_OK ? stream_start(s, kind, out_fixture) : status;
}

static gyre_status slow_setup(const gyre_bench_case *c, gyre_path_kind kind, void **out_fixture)
{
    stream *s;
    const gyre_status status = stream_create(SLOW_BATCH, BOUND, &s);

    (void)c;
    *out_fixture = NULL;
    if (status != GYRE_OK)
        return status;
    calibrate(s);
    return stream_start(s, kind, out_fixture);
}

GYRE_SETUP_WITH(channel_setup, fast_setup, GYRE_PATH_CHANNEL)
GYRE_SETUP_WITH(legacy_setup, fast_setup, GYRE_PATH_LEGACY)
GYRE_SETUP_WITH(spsc_setup, fast_setup, GYRE_PATH_SPSC)
GYRE_SETUP_WITH(slow_channel_setup, slow_setup, GYRE_PATH_CHANNEL)
GYRE_SETUP_WITH(slow_legacy_setup, slow_setup, GYRE_PATH_LEGACY)

static gyre_status work_setup(const gyre_bench_case *c, void **out_fixture)
{
    stream *s;
    const gyre_status status = stream_create(SLOW_BATCH, 0, &s);

    (void)c;
    *out_fixture = s;
    if (status == GYRE_OK)
        calibrate(s);
    return status;
}

static void send_batches(void *fixture, uint64_t iterations)
{
    stream *s = fixture;

    for (uint64_t i = 0; i < iterations && !s->broken; i++) {
        for (uint64_t k = 0; k < s->batch; k++) {
            gyre_command command;

            gyre_path_number(&command, 0, s->sent);
            if (!gyre_path_put(&s->path, &command, &s->waited_ns))
                return;
            s->sent++;
        }
        s->broken = !gyre_partner_wait(&s->handled, s->sent);
    }
}

static void work_batches(void *fixture, uint64_t iterations)
{
    stream *s = fixture;

    for (uint64_t i = 0; i < iterations * s->batch; i++)
        s->right += worked(s);
}

static bool all_handled(const void *fixture, uint64_t iterations)
{
    const stream *s = fixture;

    return !s->broken && s->sent == iterations * s->batch &&
           gyre_load_acquire(&s->handled) == s->sent && s->right == s->sent;
}

static bool all_worked(const void *fixture, uint64_t iterations)
{
    const stream *s = fixture;

    return s->right == iterations * s->batch;
}

static uint64_t commands(const gyre_bench_case *c)
{
    return (uint64_t)gyre_bench_axis(c, "commands");
}

static uint64_t slow_commands(const gyre_bench_case *c)
{
    (void)c;
    return SLOW_BATCH;
}

static void tell_stream(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const stream *s = fixture;

    (void)iterations;
    gyre_partner_tell(&s->partner, facts);
    gyre_bench_count(facts, "capacity", s->capacity);
    gyre_bench_count(facts, "lost", (double)(s->sent - s->right));
}

/* How much of an iteration the producer waited for room, beside what the consumer worked. */
static void tell_blocked(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const stream *s = fixture;
    gyre_channel_statistics c = {sizeof c, .attempts = 0};
    uint64_t blocked_ns = s->waited_ns;

    if (s->path.channel && gyre_channel_describe(s->path.channel, &c) == GYRE_OK)
        blocked_ns = c.blocked_ns;
    tell_stream(fixture, iterations, facts);
    gyre_bench_count(facts, "delivered", (double)s->right / (double)iterations);
    gyre_bench_count(facts, "blocked_ms", (double)blocked_ns / 1e6 / (double)iterations);
    gyre_bench_count(facts, "work_us", s->work_ns / 1e3);
}

#define HANDLED                                                                                    \
    .observer = "the consumer, which checks that they come once and in order",                     \
    .run = send_batches, .check = all_handled, .teardown = stream_teardown
#define FAST                                                                                       \
    .t1 = "the producer sees that the consumer has handled the last one",                          \
    .axes = {GYRE_AXIS("commands", 10, 100, 1000, 10000)}, .items = commands, .tell = tell_stream, \
    HANDLED
#define SLOW                                                                                       \
    .t1 = "the producer sees that the consumer, which works 10 us on each, is done",               \
    .items = slow_commands, .tell = tell_blocked, HANDLED

static const gyre_bench benches[] = {
    {
        .name = "throughput/channel",
        .t0 = "before the first command is sent",
        .setup = channel_setup,
        FAST,
    },
    {
        .name = "throughput/mutex_vecdeque",
        .t0 = "before the first command is pushed",
        .setup = legacy_setup,
        FAST,
    },
    {
        .name = "throughput/bare_spsc",
        .t0 = "before the first command is pushed into a queue for two threads",
        .setup = spsc_setup,
        FAST,
    },
    GYRE_FLOOR_PING_PONG("throughput"),
    {
        .name = "backpressure/channel_bounded_100",
        .t0 = "before the first of 1000 commands is sent",
        .setup = slow_channel_setup,
        SLOW,
    },
    {
        .name = "backpressure/mutex_vecdeque_limited",
        .t0 = "before the first of 1000 commands is pushed",
        .setup = slow_legacy_setup,
        SLOW,
    },
    {
        .name = "backpressure/floor_work",
        .t0 = "before the work on the first of 1000 commands that nobody sent",
        .t1 = "after the work on the last",
        .observer = "the same thread, which compares every result",
        .setup = work_setup,
        .run = work_batches,
        .check = all_worked,
        .teardown = free,
        .items = slow_commands,
    },
};

const gyre_suite gyre_suite_stream = GYRE_SUITE("stream", benches);
