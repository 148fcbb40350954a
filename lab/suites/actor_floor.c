/* SPDX-License-Identifier: Apache-2.0
 *
 * actor_floor: what stands beside the figures of actors: the same lines, the same polling, and none
 * of the runtime.
 *
 * `bare_echo` is one message at a time, as `actor/round_trip` with one actor; `bare_pairs` and
 * `bare_stream` are rings, as `actor/pairs` and `actor/stream`. The messages are made in the rings
 * and compared there, in one go: nothing is drained between bulks. `floor_ping_pong` is one word
 * between two threads.
 *
 * Threads   the case's own, or as many as the axis says, with a ring each; and on the CPU the one
 *           that answers.
 * Owns      a fixture per case.
 * Not here  the other side (suites/bare_seat.h).
 */
#include <stdlib.h>
#include <string.h>

#include "gyre/clock.h"
#include "suites/bare_seat.h"
#include "suites/suites.h"
#include "suites/troupe.h"

enum {
    LOOKS_PER_CLOCK = 4096, /* in vain */
    RING = 16384,           /* slots */
    BULK = 8192,            /* messages of an iteration and thread */
    BURST = 64,             /* that are written before answers are looked for */
    ECHO_THREADS = GYRE_BARE_REPLICAS * 32,
    RATE_THREADS = GYRE_BARE_WARPS * 32,
};

/* A wait that cannot last for ever. */
typedef struct patience {
    uint64_t deadline_ns;
    uint32_t looks;
} patience;

/* After a look in vain; false when it has taken too long. */
GYRE_INLINE bool has_patience(patience *p)
{
    if (++p->looks % LOOKS_PER_CLOCK != 0)
        return true;
    if (p->deadline_ns == 0)
        p->deadline_ns = gyre_clock_after_ns(GYRE_TROUPE_PATIENCE_NS);
    return gyre_clock_now_ns() < p->deadline_ns;
}

/* One message at a time. */

typedef struct echo {
    gyre_bare_seat seat;
    bool words;
    uint32_t replicas;
    uint64_t number, right;
    unsigned char *requests;
    void *reply;
} echo;

static void write_request(const echo *e, uint64_t number, uint32_t stamp)
{
    if (e->words) {
        gyre_bare_write_words((void *)e->requests, number, stamp);
        return;
    }
    for (uint32_t i = 0; i < e->replicas; i++)
        gyre_bare_write((void *)(e->requests + (size_t)i * GYRE_BARE_ROW), number, stamp);
}

static void echo_teardown(void *fixture)
{
    echo *e = fixture;

    if (e->requests)
        write_request(e, 0, GYRE_BARE_QUIT);
    gyre_bare_seat_close(&e->seat);
    free(e);
}

static gyre_status echo_setup(const gyre_bench_case *c, void **out_fixture)
{
    const char *const backend = gyre_bench_device_word(c);
    const bool cuda = strcmp(backend, "cuda") == 0;
    gyre_bare_echo parameters;
    const gyre_launch launch = {.block = {cuda ? ECHO_THREADS : 1},
                                .parameters = &parameters,
                                .parameters_size = sizeof parameters};
    echo *e = calloc(1, sizeof *e);
    gyre_status status;

    *out_fixture = NULL;
    if (!e)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    e->words = strcmp(backend, "opencl") == 0;
    e->replicas = cuda ? GYRE_BARE_REPLICAS : 1;
    status = gyre_bare_seat_open(&e->seat, backend, (size_t)GYRE_BARE_ROW * (e->replicas + 1));
    if (status == GYRE_OK) {
        e->requests = (unsigned char *)e->seat.memory + GYRE_BARE_ROW;
        e->reply = e->seat.memory;
        parameters = (gyre_bare_echo){e->requests, e->reply};
        status = gyre_bare_seat_launch(&e->seat, "bare_echo", "pointer pointer", &launch);
    }
    if (status != GYRE_OK) {
        echo_teardown(e); /* accepts a half-built one */
        return status;
    }
    *out_fixture = e;
    return GYRE_OK;
}

GYRE_INLINE bool read_reply(const echo *e, uint32_t stamp, uint64_t *out_front, uint64_t *out_back)
{
    if (e->words)
        return gyre_bare_read_words(e->reply, stamp, out_front, out_back);
    return gyre_bare_read(e->reply, stamp, out_front, out_back);
}

static void echo_each(void *fixture, uint64_t iterations)
{
    echo *e = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        const uint64_t number = ++e->number;
        patience wait = {0};
        uint64_t front, back;

        write_request(e, number, (uint32_t)number);
        while (!read_reply(e, (uint32_t)number, &front, &back))
            if (!has_patience(&wait))
                return; /* the check misses it */
        e->right += front == number && back == ~number;
    }
}

static bool echo_check(const void *fixture, uint64_t iterations)
{
    const echo *e = fixture;

    return e->number == iterations && e->right == iterations;
}

static void echo_tell(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const echo *e = fixture;

    (void)iterations;
    gyre_bench_device_tell(&e->seat.device, facts);
    gyre_bench_count(facts, "replicas", e->replicas);
}

/* Many at once. */

typedef struct ring {
    alignas(128) gyre_bare_line *requests;
    gyre_bare_line *replies;
    gyre_bare_progress *told; /* of the warps of a stream */
    uint32_t warps;
    uint64_t sent, heard, right;
    uint64_t sum, mix; /* of what was sent one way */
    uint64_t done;     /* requests that are known to be read, one way */
} ring;

typedef struct rings {
    gyre_bare_seat seat;
    uint32_t count;
    uint32_t warps; /* of the device; one on the CPU */
    ring ring[GYRE_BARE_RINGS];
} rings;

static void rings_teardown(void *fixture)
{
    rings *r = fixture;

    for (uint32_t i = 0; i < r->count; i++)
        for (uint32_t slot = 0; r->ring[i].requests && slot < RING; slot++)
            gyre_bare_write(&r->ring[i].requests[slot], 0, GYRE_BARE_QUIT);
    gyre_bare_seat_close(&r->seat);
    free(r);
}

static gyre_status launch_rate(rings *r, bool answers)
{
    gyre_bare_line *const lines = r->seat.memory;
    gyre_bare_line *const replies = lines + (size_t)r->count * RING;
    const gyre_bare_rate parameters = {.requests = lines,
                                       .replies = replies,
                                       .told = replies + (size_t)r->count * RING,
                                       .mask = RING - 1,
                                       .rings = r->count,
                                       .answers = answers};
    const gyre_launch launch = {.block = {r->warps > 1 ? RATE_THREADS : 1},
                                .parameters = &parameters,
                                .parameters_size = sizeof parameters};

    for (uint32_t i = 0; i < r->count; i++) {
        r->ring[i].requests = lines + (size_t)i * RING;
        r->ring[i].replies = replies + (size_t)i * RING;
        r->ring[i].told = parameters.told;
        r->ring[i].warps = r->warps;
    }
    /* of a stream, which has one ring: a warp that has told nothing yet is where it begins */
    for (uint32_t i = 0; i < r->warps; i++)
        r->ring[0].told[i].first = i * GYRE_BARE_CHUNK;
    return gyre_bare_seat_launch(&r->seat, "bare_rate", "pointer pointer pointer u32 u32 u32",
                                 &launch);
}

static gyre_status rings_setup(const gyre_bench_case *c, uint32_t count, bool answers,
                               void **out_fixture)
{
    const char *const backend = gyre_bench_device_word(c);
    const size_t bytes = (size_t)2 * count * RING * sizeof(gyre_bare_line) +
                         GYRE_BARE_WARPS * sizeof(gyre_bare_progress);
    rings *r;
    gyre_status status;

    *out_fixture = NULL;
    if (count < 1 || count > GYRE_BARE_RINGS)
        return gyre_bench_refuse(GYRE_INVALID, "1 to %d threads", GYRE_BARE_RINGS);
    r = aligned_alloc(alignof(rings), sizeof *r);
    if (!r)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    memset(r, 0, sizeof *r);
    r->count = count;
    r->warps = strcmp(backend, "cuda") == 0 ? GYRE_BARE_WARPS : 1;
    status = gyre_bare_seat_open(&r->seat, backend, bytes);
    if (status == GYRE_OK && r->warps == 1 && count > 1) /* threads run where this one may */
        status = gyre_thread_pin_self(r->seat.cpus.cpus, r->seat.cpus.cpu_count - 1);
    if (status == GYRE_OK)
        status = launch_rate(r, answers);
    if (status != GYRE_OK) {
        rings_teardown(r); /* accepts a half-built one */
        return status;
    }
    *out_fixture = r;
    return GYRE_OK;
}

static gyre_status setup_pairs(const gyre_bench_case *c, void **out_fixture)
{
    return rings_setup(c, (uint32_t)gyre_bench_axis(c, "threads"), true, out_fixture);
}

static gyre_status setup_stream(const gyre_bench_case *c, void **out_fixture)
{
    return rings_setup(c, 1, false, out_fixture);
}

/* Message `sent` has stamp `sent` + 1: a slot that was never written has 0. */
GYRE_INLINE void put(ring *r)
{
    gyre_bare_write(&r->requests[r->sent % RING], r->sent, (uint32_t)r->sent + 1);
    r->sent++;
}

/* The answers that are there, in order; how many. */
GYRE_INLINE uint32_t hear(ring *r)
{
    uint32_t heard = 0;
    uint64_t front, back;

    while (r->heard != r->sent &&
           gyre_bare_read(&r->replies[r->heard % RING], (uint32_t)r->heard + 1, &front, &back)) {
        r->right += front == r->heard && back == ~front;
        r->heard++;
        heard++;
    }
    return heard;
}

static void pair_up(void *fixture, uint64_t iterations)
{
    rings *all = fixture;
    ring *const r = &all->ring[all->count > 1 ? gyre_bench_thread() : 0];
    const uint64_t end = r->sent + iterations * BULK;
    patience wait = {0};

    while (r->heard != end) {
        for (int i = 0; i < BURST && r->sent != end && r->sent - r->heard < RING; i++)
            put(r);
        if (hear(r) > 0)
            wait = (patience){0};
        else if (!has_patience(&wait))
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
        const uint32_t first = __atomic_load_n(&r->told[i].first, __ATOMIC_ACQUIRE);
        const uint32_t ahead = first - (uint32_t)r->done;

        least = ahead < least ? ahead : least;
    }
    return r->done + least < r->sent ? r->done + least : r->sent;
}

static bool await_done(ring *r, uint64_t done)
{
    patience wait = {0};

    while ((r->done = done_by_all(r)) < done)
        if (!has_patience(&wait))
            return false;
    return true;
}

static void send_one_way(void *fixture, uint64_t iterations)
{
    ring *const r = &((rings *)fixture)->ring[0];
    const uint64_t end = r->sent + iterations * BULK;

    while (r->sent != end) {
        if (r->sent - r->done == RING && !await_done(r, r->sent - RING + 1))
            return; /* the check misses them */
        r->sum += r->sent;
        r->mix ^= ~r->sent;
        put(r);
    }
    if (await_done(r, end))
        r->heard = end;
}

static bool all_answered(const void *fixture, uint64_t iterations)
{
    const rings *r = fixture;

    for (uint32_t i = 0; i < r->count; i++)
        if (r->ring[i].right != iterations * BULK || r->ring[i].heard != iterations * BULK)
            return false;
    return true;
}

static bool all_counted(const void *fixture, uint64_t iterations)
{
    const ring *r = &((const rings *)fixture)->ring[0];
    uint64_t count = 0, sum = 0, mix = 0;

    for (uint32_t i = 0; i < r->warps; i++) {
        count += r->told[i].count;
        sum += r->told[i].sum;
        mix ^= r->told[i].mix;
    }
    return r->heard == iterations * BULK && count == r->heard && sum == r->sum && mix == r->mix;
}

static uint64_t items_of_threads(const gyre_bench_case *c)
{
    return (uint64_t)BULK * gyre_troupe_threads(c);
}

static uint64_t items_of_one(const gyre_bench_case *c)
{
    (void)c;
    return BULK;
}

static void rings_tell(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const rings *r = fixture;

    (void)iterations;
    gyre_bench_device_tell(&r->seat.device, facts);
    gyre_bench_count(facts, "host_threads", r->count);
    if (r->warps == 1 && r->count + 1 > r->seat.cpus.cpu_count)
        gyre_bench_note(facts, "threads", "more that spin than CPUs: the scheduler is measured");
}

static const gyre_bench benches[] = {
    {
        .name = "actor_floor/bare_echo",
        .axes = {GYRE_DEVICE_AXIS},
        .t0 = "before the request is written to its stamped line, or to 16 of them for CUDA",
        .t1 = "the host has read the reply, a stamped line, whole",
        .observer = "the host, which compares the first and the last eight bytes of each",
        .setup = echo_setup,
        .run = echo_each,
        .check = echo_check,
        .tell = echo_tell,
        .teardown = echo_teardown,
        .tags = GYRE_TAG_CPU | GYRE_TAG_GPU,
    },
    {
        .name = "actor_floor/bare_pairs",
        .axes = {GYRE_AXIS_WORDS("device", "cpu", "cuda"), GYRE_AXIS("threads", 1, 2)},
        .t0 = "before each host thread writes the first of 8192 requests",
        .t1 = "the last reply of the last has been compared",
        .observer = "the host's threads, which compare every reply, in order",
        .setup = setup_pairs,
        .threads = gyre_troupe_threads,
        .run = pair_up,
        .check = all_answered,
        .items = items_of_threads,
        .tell = rings_tell,
        .teardown = rings_teardown,
        .tags = GYRE_TAG_CPU | GYRE_TAG_GPU,
    },
    {
        .name = "actor_floor/bare_stream",
        .axes = {GYRE_AXIS_WORDS("device", "cpu", "cuda")},
        .t0 = "before the first of 8192 messages is written",
        .t1 = "the other side has told that it has read the last",
        .observer = "the other side, whose counts and sums are compared with what was sent",
        .setup = setup_stream,
        .run = send_one_way,
        .check = all_counted,
        .items = items_of_one,
        .tell = rings_tell,
        .teardown = rings_teardown,
        .tags = GYRE_TAG_CPU | GYRE_TAG_GPU,
    },
    GYRE_FLOOR_PING_PONG("actor_floor"),
};

const gyre_suite gyre_suite_actor_floor =
    GYRE_DEVICE_SUITE("actor_floor", benches, NULL, &gyre_device_guard);
