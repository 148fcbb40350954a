/* SPDX-License-Identifier: Apache-2.0
 *
 * actor_floor: what stands beside the figures of actors: the same lines, the same polling, and none
 * of the runtime.
 *
 * `bare_pairs` and `bare_stream` are rings, as `actor/pairs` and `actor/stream`, and with two
 * blocks `bare_crew_pairs` and `bare_crew_stream`. The messages are made in the rings and compared
 * there, in one go: nothing is drained between bulks. `bare_inject` is the store of a message
 * alone, as `actor/inject`. `floor_ping_pong` is one word between two threads.
 *
 * Threads   the case's own, or as many as the axis says, with a ring each; and on the CPU the one
 *           that answers.
 * Owns      a fixture per case.
 * Not here  one message at a time (suites/actor_floor_echo.c), the other side (suites/bare_seat.h).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "gyre/clock.h"
#include "suites/bare_seat.h"
#include "suites/suites.h"
#include "suites/troupe.h"

enum {
    RING = 16384,    /* slots */
    LARGE = 1 << 16, /* slots of `bare_inject`: more than are sent between two looks */
    BULK = 8192,     /* messages of an iteration and thread */
    BURST = 64,      /* that are written before answers are looked for */
    CREW = 2,        /* blocks */
    RATE_THREADS = GYRE_BARE_WARPS * 32,
};

typedef struct ring {
    alignas(128) gyre_bare_line *requests;
    gyre_bare_line *replies;
    gyre_bare_progress *told; /* by its warps, of a stream: the first, */
    uint32_t warps, apart;    /* of so many, and how far one is from the next */
    uint32_t slots;
    uint64_t sent, heard, right;
    gyre_sent made; /* one way */
    uint64_t done;  /* requests that are known to be read, one way */
} ring;

typedef struct rings {
    gyre_bare_seat seat;
    uint32_t count;
    uint32_t slots;  /* of each */
    uint32_t blocks; /* of the device; 0: the CPU, */
    uint32_t warps;  /* which has one for each ring */
    ring ring[GYRE_BARE_RINGS];
} rings;

static void rings_teardown(void *fixture)
{
    rings *r = fixture;

    for (uint32_t i = 0; i < r->count; i++)
        for (uint32_t slot = 0; r->ring[i].requests && slot < r->slots; slot++)
            gyre_bare_write(&r->ring[i].requests[slot], 0, GYRE_BARE_QUIT);
    gyre_bare_seat_close(&r->seat);
    free(r);
}

/* What a case is made of; rings are as many as threads of the host. */
typedef struct rings_plan {
    uint32_t slots; /* of a ring */
    uint32_t blocks;
    bool answers;
} rings_plan;

/* As bare_echo.cu deals them out: warp w is one of ring w modulo the rings. */
static void deal_out(rings *r, const gyre_bare_rate *parameters)
{
    gyre_bare_progress *const told = parameters->told;

    assert(r->count > 0);
    for (uint32_t i = 0; i < r->count; i++) {
        r->ring[i] =
            (ring){.requests = (gyre_bare_line *)parameters->requests + (size_t)i * r->slots,
                   .replies = (gyre_bare_line *)parameters->replies + (size_t)i * r->slots,
                   .told = told + i,
                   .warps = r->warps / r->count,
                   .apart = r->count,
                   .slots = r->slots};
    }
    /* one that has told nothing yet is where it begins */
    for (uint32_t w = 0; w < r->warps; w++)
        told[w].first = w / r->count * GYRE_BARE_CHUNK;
}

static gyre_status launch_rate(rings *r, bool answers)
{
    gyre_bare_line *const lines = r->seat.memory;
    gyre_bare_line *const replies = lines + (size_t)r->count * r->slots;
    const gyre_bare_rate parameters = {.requests = lines,
                                       .replies = replies,
                                       .told = replies + (size_t)r->count * r->slots,
                                       .mask = r->slots - 1,
                                       .rings = r->count,
                                       .answers = answers};
    const gyre_launch launch = {.grid = {r->blocks},
                                .block = {r->blocks ? RATE_THREADS : 1},
                                .parameters = &parameters,
                                .parameters_size = sizeof parameters};

    deal_out(r, &parameters);
    return gyre_bare_seat_launch(&r->seat, "bare_rate", "pointer pointer pointer u32 u32 u32",
                                 &launch);
}

static gyre_status rings_setup(const gyre_bench_case *c, uint32_t count, const rings_plan *plan,
                               void **out_fixture)
{
    const char *const backend = gyre_bench_device_word(c);
    const size_t bytes = (size_t)2 * count * plan->slots * sizeof(gyre_bare_line) +
                         (size_t)GYRE_BARE_WARPS * plan->blocks * sizeof(gyre_bare_progress);
    rings *r;
    gyre_status status;

    *out_fixture = NULL;
    if (count < 1 || count > GYRE_BARE_RINGS)
        return gyre_bench_refuse(GYRE_INVALID, "1 to %d threads", GYRE_BARE_RINGS);
    if (plan->blocks > 1 && strcmp(backend, "cuda") != 0)
        return gyre_bench_refuse(GYRE_UNSUPPORTED, "a bare crew is of blocks of a GPU");
    r = aligned_alloc(alignof(rings), sizeof *r);
    if (!r)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    memset(r, 0, sizeof *r);
    r->count = count;
    r->slots = plan->slots;
    r->blocks = strcmp(backend, "cuda") == 0 ? plan->blocks : 0;
    r->warps = r->blocks ? GYRE_BARE_WARPS * r->blocks : count;
    status = gyre_bare_seat_open(&r->seat, backend, bytes);
    if (status == GYRE_OK && r->blocks == 0 && count > 1) /* threads run where this one may */
        status = gyre_thread_pin_self(r->seat.cpus.cpus, r->seat.cpus.cpu_count - 1);
    if (status == GYRE_OK)
        status = launch_rate(r, plan->answers);
    if (status != GYRE_OK) {
        rings_teardown(r); /* accepts a half-built one */
        return status;
    }
    *out_fixture = r;
    return GYRE_OK;
}

static gyre_status rings_of_threads(const gyre_bench_case *c, const rings_plan *plan,
                                    void **out_fixture)
{
    return rings_setup(c, (uint32_t)gyre_bench_axis(c, "threads"), plan, out_fixture);
}

static const rings_plan pairs = {RING, 1, true}, crew_pairs = {RING, CREW, true},
                        stream = {RING, 1, false}, crew_stream = {RING, CREW, false},
                        inject = {LARGE, 1, false};

GYRE_SETUP_WITH(setup_pairs, rings_of_threads, &pairs)
GYRE_SETUP_WITH(setup_crew_pairs, rings_of_threads, &crew_pairs)
GYRE_SETUP_WITH(setup_stream, rings_of_threads, &stream)
GYRE_SETUP_WITH(setup_crew_stream, rings_of_threads, &crew_stream)

static gyre_status setup_inject(const gyre_bench_case *c, void **out_fixture)
{
    return rings_setup(c, 1, &inject, out_fixture);
}

/* Message `sent` has stamp `sent` + 1: a slot that was never written has 0. */
GYRE_INLINE void put(ring *r, uint64_t number)
{
    gyre_bare_write(&r->requests[r->sent & (r->slots - 1)], number, (uint32_t)r->sent + 1);
    r->sent++;
}

/* The answers that are there, in order; how many. */
GYRE_INLINE uint32_t hear(ring *r)
{
    uint32_t heard = 0;
    gyre_bare_body body;

    while (r->heard != r->sent &&
           gyre_bare_take(&r->replies[r->heard & (r->slots - 1)], (uint32_t)r->heard + 1, &body)) {
        r->right += gyre_bare_is(&body, r->heard, (uint32_t)r->heard + 1);
        r->heard++;
        heard++;
    }
    return heard;
}

static ring *own_ring(void *fixture)
{
    rings *r = fixture;

    return &r->ring[r->count > 1 ? gyre_bench_thread() : 0];
}

static void pair_up(void *fixture, uint64_t iterations)
{
    ring *const r = own_ring(fixture);
    const uint64_t end = r->sent + iterations * BULK;
    gyre_bare_patience wait = {0};

    if (end >= GYRE_BARE_QUIT)
        return; /* the check tells */

    while (r->heard != end) {
        for (int i = 0; i < BURST && r->sent != end && r->sent - r->heard < r->slots; i++)
            put(r, r->sent);
        if (hear(r) > 0)
            wait = (gyre_bare_patience){0};
        else if (!gyre_bare_has_patience(&wait))
            return; /* the check misses them */
    }
}

/* How far all warps are. */
static uint64_t done_by_all(const ring *r)
{
    uint32_t least = UINT32_MAX;

    for (uint32_t i = 0; i < r->warps; i++) {
        /* acquire [bare-told]: pairs with the releases in bare_echo.cu and bare_seat.c; the
         * sums are there */
        const uint32_t first =
            __atomic_load_n(&r->told[(size_t)i * r->apart].first, __ATOMIC_ACQUIRE);
        const uint32_t ahead = first - (uint32_t)r->done;

        least = ahead < least ? ahead : least;
    }
    return r->done + least < r->sent ? r->done + least : r->sent;
}

static bool await_done(ring *r, uint64_t done)
{
    gyre_bare_patience wait = {0};

    while ((r->done = done_by_all(r)) < done)
        if (!gyre_bare_has_patience(&wait))
            return false;
    return true;
}

static void send_one_way(void *fixture, uint64_t iterations)
{
    ring *const r = own_ring(fixture);
    const uint64_t end = r->sent + iterations * BULK;
    gyre_sent made = r->made; /* in registers: lines are longs as well */

    if (end >= GYRE_BARE_QUIT)
        return; /* the check tells */
    while (r->sent != end) {
        if (r->sent - r->done == RING && !await_done(r, r->sent - RING + 1))
            return; /* the check misses them */
        put(r, gyre_sent_next(&made));
    }
    r->made = made;
    if (await_done(r, end))
        r->heard = end;
}

/* The ring is empty, and what goes into it now has room. */
static void await_empty(void *fixture, uint64_t iterations)
{
    ring *const r = &((rings *)fixture)->ring[0];

    (void)iterations;
    (void)!await_done(r, r->sent); /* then the next store waits */
}

static void store_each(void *fixture, uint64_t iterations)
{
    ring *const r = &((rings *)fixture)->ring[0];

    if (r->sent + iterations >= GYRE_BARE_QUIT)
        return; /* the check tells */
    for (uint64_t i = 0; i < iterations; i++) {
        if (r->sent - r->done == LARGE && !await_done(r, r->sent - LARGE + 1))
            return; /* the check misses them */
        put(r, gyre_sent_next(&r->made));
    }
}

/* One more would have the stamp that ends the other side. */
static bool is_too_far(uint64_t end)
{
    return end >= GYRE_BARE_QUIT &&
           gyre_bench_refuse(GYRE_INVALID, "bare lines are numbered up to 2^32: measure "
                                           "for less time") != GYRE_OK;
}

static bool all_answered(const void *fixture, uint64_t iterations)
{
    const rings *r = fixture;

    if (is_too_far(iterations * BULK))
        return false;
    for (uint32_t i = 0; i < r->count; i++)
        if (r->ring[i].right != iterations * BULK || r->ring[i].heard != iterations * BULK)
            return false;
    return true;
}

static bool are_counted(const ring *r, uint64_t sent)
{
    uint64_t count = 0, sum = 0, mix = 0;

    for (uint32_t i = 0; i < r->warps; i++) {
        const gyre_bare_progress *const told = &r->told[(size_t)i * r->apart];

        count += told->count;
        sum += told->sum;
        mix ^= told->mix;
    }
    return r->sent == sent && r->made.count == sent && count == sent && sum == r->made.sum &&
           mix == r->made.mix;
}

static bool all_counted(const void *fixture, uint64_t iterations)
{
    const rings *r = fixture;

    if (is_too_far(iterations * BULK))
        return false;
    for (uint32_t i = 0; i < r->count; i++)
        if (r->ring[i].heard != iterations * BULK || !are_counted(&r->ring[i], r->ring[i].heard))
            return false;
    return true;
}

static bool all_stored(const void *fixture, uint64_t iterations)
{
    ring last = ((const rings *)fixture)->ring[0]; /* a copy, which may look on */

    return !is_too_far(iterations) && await_done(&last, iterations) &&
           are_counted(&last, iterations);
}

static uint64_t items_of_threads(const gyre_bench_case *c)
{
    return (uint64_t)BULK * gyre_troupe_threads(c);
}

static void rings_tell(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const rings *r = fixture;

    (void)iterations;
    gyre_bench_device_tell(&r->seat.device, facts);
    gyre_bench_count(facts, "host_threads", r->count);
    gyre_bench_count(facts, "blocks", r->blocks ? r->blocks : 1);
    if (r->blocks == 0 && r->count + 1 > r->seat.cpus.cpu_count)
        gyre_bench_note(facts, "threads", "more that spin than CPUs: the scheduler is measured");
}

#define ON_BOTH GYRE_AXIS_WORDS("device", "cpu", "cuda")
#define THREADS GYRE_AXIS("threads", 1, 2)
#define COUNTED "the other side, whose counts and sums are compared with what was sent"
#define ALWAYS .tell = rings_tell, .teardown = rings_teardown, .tags = GYRE_TAG_CPU | GYRE_TAG_GPU
#define PAIRS                                                                                      \
    .t0 = "before each host thread writes the first of 8192 requests",                             \
    .t1 = "the last reply of the last has been compared",                                          \
    .observer = "the host's threads, which compare every reply, in order",                         \
    .threads = gyre_troupe_threads, .run = pair_up, .check = all_answered,                         \
    .items = items_of_threads
#define STREAM                                                                                     \
    .t0 = "before each host thread writes the first of 8192 messages",                             \
    .t1 = "the other side has told that it has read the last of each", .observer = COUNTED,        \
    .threads = gyre_troupe_threads, .run = send_one_way, .check = all_counted,                     \
    .items = items_of_threads

static const gyre_bench benches[] = {
    {
        .name = "actor_floor/bare_inject",
        .axes = {ON_BOTH},
        .t0 = "before a message is written to its stamped line, in a ring with room",
        .t1 = "after it: the host has stored it, and nobody need have read it",
        .observer = COUNTED,
        .setup = setup_inject,
        .prepare = await_empty,
        .batch = GYRE_BATCH_LARGE,
        .run = store_each,
        .check = all_stored,
        ALWAYS,
    },
    {
        .name = "actor_floor/bare_pairs",
        .axes = {ON_BOTH, THREADS},
        .setup = setup_pairs,
        PAIRS,
        ALWAYS,
    },
    {
        .name = "actor_floor/bare_crew_pairs",
        .axes = {ON_BOTH, THREADS},
        .setup = setup_crew_pairs,
        PAIRS,
        ALWAYS,
    },
    {
        .name = "actor_floor/bare_stream",
        .axes = {ON_BOTH, THREADS},
        .setup = setup_stream,
        STREAM,
        ALWAYS,
    },
    {
        .name = "actor_floor/bare_crew_stream",
        .axes = {ON_BOTH, THREADS},
        .setup = setup_crew_stream,
        STREAM,
        ALWAYS,
    },
    GYRE_FLOOR_PING_PONG("actor_floor"),
    GYRE_PING_PONG("actor_floor/ping_pong_in_turns", .prepare = gyre_ball_settle,
                   .axes = {GYRE_AXIS_WORDS("device", "cpu", "opencl")}),
};

const gyre_suite gyre_suite_actor_floor =
    GYRE_DEVICE_SUITE("actor_floor", benches, NULL, &gyre_device_guard);
