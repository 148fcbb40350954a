/* SPDX-License-Identifier: Apache-2.0
 *
 * actor_rate: how many messages a second actors take, and answer.
 *
 * `pairs` are requests and their answers, in bulk: an iteration is one bulk of each thread.
 * `stream` is one way: the clock stops when everything is handled, and the actor's count, sum and
 * xor are compared with what each thread sent. Every message is made anew, as by hand, and before
 * it is sent: that is part of the time. With the width of a block one message is handled after
 * another, and their order is looked at as well; a crew has several blocks, two of them for
 * `crew_pairs` and `crew_stream`. Beside them stand the same by hand (suites/actor_floor.c), in the
 * same run.
 *
 * Threads   as many of the host as the axis says, with a port each; on the CPU one for each seat.
 * Owns      a fixture per case.
 * Not here  one message at a time (suites/actor.c), an hour of it (suites/actor_sustained.c).
 */
#include <stdlib.h>
#include <string.h>

#include "gyre/actor.h"
#include "gyre/clock.h"
#include "suites/actor_pairs.h"
#include "suites/suites.h"
#include "suites/troupe.h"

enum { STREAM_RING = 16384, BLOCK_BULK = 1024, CREW = 2 };

/* Numbers of different threads do not meet. */
#define THREAD_FIRST(thread) ((uint64_t)(thread) << 48)

/* One way, by a thread, which writes a line of its own. */
typedef struct sender {
    alignas(128) gyre_sent made; /* messages, of which */
    uint64_t sent;               /* so many could be sent */
    bool flushed;                /* and all of them are handled */
} sender;

typedef struct rate {
    gyre_bulk bulk[GYRE_TROUPE_PORTS];
    sender sender[GYRE_TROUPE_PORTS];
    gyre_troupe troupe;
    uint32_t count;  /* messages of an iteration and thread */
    uint32_t blocks; /* seats of tally_block, which counts; 0: tally_quad does */
} rate;

static void teardown(void *fixture)
{
    rate *r = fixture;

    gyre_troupe_close(&r->troupe);
    for (uint32_t i = 0; i < GYRE_TROUPE_PORTS; i++)
        gyre_bulk_fini(&r->bulk[i]);
    free(r);
}

static gyre_status set_up(const gyre_bench_case *c, const gyre_troupe_options *options,
                          uint32_t count, void **out_fixture)
{
    rate *r = aligned_alloc(alignof(rate), sizeof *r);
    gyre_status status;

    *out_fixture = NULL;
    if (!r)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    memset(r, 0, sizeof *r);
    r->count = count;
    status = gyre_troupe_open(&r->troupe, c, options);
    for (uint32_t i = 0; status == GYRE_OK && i < r->troupe.threads; i++)
        status = gyre_bulk_init(&r->bulk[i], THREAD_FIRST(i));
    if (status != GYRE_OK) {
        teardown(r); /* accepts a half-built one */
        return status;
    }
    *out_fixture = r;
    return GYRE_OK;
}

static gyre_status set_up_pairs(const gyre_bench_case *c, const gyre_actor_launch_options *launch,
                                void **out_fixture)
{
    gyre_troupe_options options = {
        .behaviour = &echo_quad,
        .actors = 1,
        .threads = (uint32_t)gyre_bench_axis(c, "threads"),
        .launch = *launch,
    };

    options.launch.capacity = GYRE_BULK_RING;
    return set_up(c, &options, GYRE_BULK, out_fixture);
}

static const gyre_actor_launch_options plain, silent = {.no_telemetry = true},
                                              crew = {.seats = CREW};

GYRE_SETUP_WITH(setup_pairs, set_up_pairs, &plain)
GYRE_SETUP_WITH(setup_pairs_no_telemetry, set_up_pairs, &silent)
GYRE_SETUP_WITH(setup_crew_pairs, set_up_pairs, &crew)

static gyre_status set_up_block(const gyre_bench_case *c, const gyre_behaviour *behaviour,
                                void **out_fixture)
{
    const gyre_troupe_options options = {
        .behaviour = behaviour,
        .actors = 1,
        .launch = {.seats = (uint32_t)gyre_bench_axis(c, "seats"),
                   .capacity = BLOCK_BULK,
                   .shared_bytes = behaviour == &tally_block ? GYRE_TALLY_SHARED : 0},
    };

    return set_up(c, &options, GYRE_BULK, out_fixture);
}

/* Types say which thread sends. */
static gyre_status ready_stream(gyre_status status, uint32_t blocks, void **out_fixture)
{
    rate *r = *out_fixture;

    if (status != GYRE_OK || !r)
        return status;
    r->blocks = blocks;
    for (uint32_t t = 0; t < r->troupe.threads; t++) {
        r->sender[t].made.number = THREAD_FIRST(t);
        for (uint32_t i = 0; i < r->count; i++)
            r->bulk[t].messages[i].type = (uint16_t)(1 + t);
    }
    if (blocks > 0)
        status = gyre_tally_begin_block(r->troupe.port[0][0], blocks);
    if (status != GYRE_OK) {
        teardown(r);
        *out_fixture = NULL;
    }
    return status;
}

static gyre_status set_up_stream(const gyre_bench_case *c, uint32_t seats, void **out_fixture)
{
    const gyre_troupe_options options = {
        .behaviour = &tally_quad,
        .actors = 1,
        .threads = (uint32_t)gyre_bench_axis(c, "threads"),
        .launch = {.seats = seats, .capacity = STREAM_RING},
    };

    return ready_stream(set_up(c, &options, GYRE_BULK, out_fixture), 0, out_fixture);
}

GYRE_SETUP_WITH(setup_stream, set_up_stream, 1)
GYRE_SETUP_WITH(setup_crew_stream, set_up_stream, CREW)

GYRE_SETUP_WITH(setup_block_pairs, set_up_block, &echo_block)

static gyre_status setup_block_stream(const gyre_bench_case *c, void **out_fixture)
{
    const int64_t seats = gyre_bench_axis(c, "seats");

    *out_fixture = NULL;
    if (seats < 1 || seats > GYRE_TALLY_SEATS)
        return gyre_bench_refuse(GYRE_INVALID, "1 to %d seats", GYRE_TALLY_SEATS);
    return ready_stream(set_up_block(c, &tally_block, out_fixture), (uint32_t)seats, out_fixture);
}

static uint32_t this_thread(const rate *r)
{
    return r->troupe.threads > 1 ? gyre_bench_thread() : 0;
}

static uint64_t deadline_of(const rate *r, uint64_t iterations)
{
    return gyre_clock_after_ns(GYRE_TROUPE_PATIENCE_NS + iterations * 1000 * r->count);
}

static void call_in_bulk(void *fixture, uint64_t iterations)
{
    rate *r = fixture;
    const uint32_t thread = this_thread(r);
    const uint64_t deadline_ns = deadline_of(r, iterations);

    for (uint64_t i = 0; i < iterations; i++)
        if (gyre_bulk_call(&r->bulk[thread], r->troupe.port[0][thread], r->count, deadline_ns) !=
            GYRE_OK)
            return; /* the check misses them */
}

static void make_bulk(gyre_brief *messages, uint32_t count, gyre_sent *made)
{
    gyre_sent now = *made; /* in registers: the messages are longs as well */

    for (uint32_t i = 0; i < count; i++)
        gyre_message_fill(&messages[i], gyre_sent_next(&now));
    *made = now;
}

static void send_in_bulk(void *fixture, uint64_t iterations)
{
    rate *r = fixture;
    const uint32_t thread = this_thread(r);
    gyre_brief *const messages = r->bulk[thread].messages;
    gyre_port *const port = r->troupe.port[0][thread];
    sender *const own = &r->sender[thread];
    const uint64_t deadline_ns = deadline_of(r, iterations);

    own->flushed = false;
    for (uint64_t i = 0; i < iterations; i++) {
        gyre_status status;
        size_t sent;

        make_bulk(messages, r->count, &own->made);
        status = gyre_port_send_many(port, messages, r->count, deadline_ns, &sent);
        own->sent += sent;
        if (status != GYRE_OK)
            return; /* the check misses them */
    }
    own->flushed = gyre_port_flush(port, deadline_ns) == GYRE_OK;
}

static bool all_answered(const void *fixture, uint64_t iterations)
{
    const rate *r = fixture;
    const uint64_t called = iterations * r->count;

    for (uint32_t i = 0; i < r->troupe.threads; i++)
        if (!gyre_bulk_is_right(&r->bulk[i], THREAD_FIRST(i), called)) {
            (void)gyre_bench_refuse(GYRE_CORRUPT, "thread %u: %llu of %llu answers were right", i,
                                    (unsigned long long)r->bulk[i].answered,
                                    (unsigned long long)called);
            return false;
        }
    return true;
}

/* What the actor counted of a thread's messages is what the thread sent. */
static bool are_tallied(const rate *r, uint32_t thread)
{
    const gyre_sent *const made = &r->sender[thread].made;
    gyre_tally tally;
    const gyre_status status =
        r->blocks ? gyre_tally_read_block(r->troupe.port[0][thread], r->blocks, &tally)
                  : gyre_tally_read(r->troupe.actor[0], thread, &tally);

    if (status != GYRE_OK)
        return false;
    if (gyre_tally_is(&tally, made))
        return true;
    (void)gyre_bench_refuse(
        GYRE_CORRUPT,
        "thread %u: %llu of %llu messages were counted, %llu out of order; sum %s, xor %s", thread,
        (unsigned long long)tally.count, (unsigned long long)made->count,
        (unsigned long long)tally.early, tally.sum == (uint32_t)made->sum ? "right" : "wrong",
        tally.mix == made->mix ? "right" : "wrong");
    return false;
}

static bool all_tallied(const void *fixture, uint64_t iterations)
{
    const rate *r = fixture;
    const uint64_t each = iterations * r->count;

    for (uint32_t i = 0; i < r->troupe.threads; i++) {
        const sender *const own = &r->sender[i];

        if (own->sent != each || own->made.count != each || !own->flushed) {
            (void)gyre_bench_refuse(GYRE_CORRUPT, "thread %u: %llu of %llu messages were sent%s", i,
                                    (unsigned long long)own->sent, (unsigned long long)each,
                                    own->flushed ? "" : ", and not all handled");
            return false;
        }
        if (!are_tallied(r, i))
            return false;
    }
    return true;
}

static uint64_t items_of_threads(const gyre_bench_case *c)
{
    return (uint64_t)GYRE_BULK * gyre_troupe_threads(c);
}

static uint64_t items_of_one(const gyre_bench_case *c)
{
    (void)c;
    return GYRE_BULK;
}

static void tell(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const rate *r = fixture;

    (void)iterations;
    gyre_troupe_tell(&r->troupe, facts);
    gyre_bench_count(facts, "bulk", r->count);
}

#define BULK_THERE "before each host thread writes the first of a bulk of 8192 messages"
#define BULK_MADE "before each host thread makes the first of a bulk of 8192 messages"
#define BULK_BACK "the last answer of the last bulk has been compared"
#define EVERY_ONE "the host's threads, which compare every answer, in order"
#define SENT_ALL "the last one of each is handled, as a flush tells"
#define TALLIED                                                                                    \
    "the actor, whose count, sum and xor of each thread's are compared with what it sent"
#define IN_ORDER TALLIED ", and which sees them in order"
#define THREADS GYRE_AXIS("threads", 1, 2)
#define SEATS GYRE_AXIS("seats", 1, 8)
#define ALWAYS .teardown = teardown, .tell = tell, .tags = GYRE_TAG_CPU | GYRE_TAG_GPU
#define PAIRS                                                                                      \
    .t0 = BULK_THERE, .t1 = BULK_BACK, .observer = EVERY_ONE, .run = call_in_bulk,                 \
    .check = all_answered
#define STREAM .t0 = BULK_MADE, .t1 = SENT_ALL, .run = send_in_bulk, .check = all_tallied

static const gyre_bench benches[] = {
    {
        .name = "actor/pairs",
        .axes = {GYRE_DEVICE_AXIS, THREADS},
        .setup = setup_pairs,
        .threads = gyre_troupe_threads,
        .items = items_of_threads,
        PAIRS,
        ALWAYS,
    },
    {
        .name = "actor/stream",
        .axes = {GYRE_DEVICE_AXIS, THREADS},
        .setup = setup_stream,
        .threads = gyre_troupe_threads,
        .items = items_of_threads,
        .observer = TALLIED,
        STREAM,
        ALWAYS,
    },
    {
        .name = "actor/crew_pairs",
        .axes = {GYRE_AXIS_WORDS("device", "cpu", "cuda"), THREADS},
        .setup = setup_crew_pairs,
        .threads = gyre_troupe_threads,
        .items = items_of_threads,
        PAIRS,
        ALWAYS,
    },
    {
        .name = "actor/crew_stream",
        .axes = {GYRE_AXIS_WORDS("device", "cpu", "cuda"), THREADS},
        .setup = setup_crew_stream,
        .threads = gyre_troupe_threads,
        .items = items_of_threads,
        .observer = TALLIED,
        STREAM,
        ALWAYS,
    },
    {
        .name = "actor/block_pairs",
        .axes = {GYRE_DEVICE_AXIS, SEATS},
        .setup = setup_block_pairs,
        .items = items_of_one,
        PAIRS,
        ALWAYS,
    },
    {
        .name = "actor/block_stream",
        .axes = {GYRE_DEVICE_AXIS, SEATS},
        .setup = setup_block_stream,
        .items = items_of_one,
        .observer = IN_ORDER,
        STREAM,
        ALWAYS,
    },
    {
        .name = "actor/pairs_telemetry",
        .axes = {GYRE_AXIS_WORDS("device", "cpu", "cuda"), THREADS},
        .beside = "actor/pairs_no_telemetry",
        .setup = setup_pairs,
        .threads = gyre_troupe_threads,
        .items = items_of_threads,
        PAIRS,
        ALWAYS,
    },
    {
        .name = "actor/pairs_no_telemetry",
        .axes = {GYRE_AXIS_WORDS("device", "cpu", "cuda"), THREADS},
        .setup = setup_pairs_no_telemetry,
        .threads = gyre_troupe_threads,
        .items = items_of_threads,
        PAIRS,
        ALWAYS,
    },
};

const gyre_suite gyre_suite_actor_rate =
    GYRE_DEVICE_SUITE("actor_rate", benches, NULL, &gyre_device_guard);
