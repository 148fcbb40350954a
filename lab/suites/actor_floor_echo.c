/* SPDX-License-Identifier: Apache-2.0
 *
 * actor_floor_echo: one message at a time by hand: what stands beside `actor/round_trip` with one
 * actor, and beside `actor/payload`.
 *
 * On CUDA a request is written to as many replicas as the bell of an actor of the same width has
 * there: one is launched before, asked, and ended. Its requests are in host memory, as these are.
 * `bare_echo` is for the narrow widths. With `bare_block` and `bare_payload` a block of 256 threads
 * handles a request, by two barriers.
 *
 * Threads   the case's own; and on the CPU the one that answers.
 * Owns      a fixture per case.
 * Not here  many at once (suites/actor_floor.c), the other side (suites/bare_seat.h).
 */
#include <stdlib.h>
#include <string.h>

#include "suites/bare_seat.h"
#include "suites/suites.h"
#include "suites/troupe.h"

enum { WARP = 32, PAYLOAD_MOST = 1 << 24 };

typedef struct echo {
    gyre_bare_seat seat;
    bool is_words; /* lines are of words: some kernels of OpenCL */
    uint32_t replicas;
    uint64_t number, right;
    unsigned char *requests;
    void *reply;
    uint32_t *payload;
    uint32_t words; /* of it; 0: there is none */
} echo;

static void write_request(const echo *e, uint64_t number, uint32_t stamp)
{
    if (e->is_words) {
        gyre_bare_write_words((void *)e->requests, number, stamp);
        return;
    }
    for (uint32_t i = 0; i < e->replicas; i++)
        gyre_bare_write((void *)(e->requests + (size_t)i * GYRE_BARE_ROW), number, stamp);
}

static void teardown(void *fixture)
{
    echo *e = fixture;

    if (e->requests)
        write_request(e, 0, GYRE_BARE_QUIT);
    gyre_bare_seat_close(&e->seat);
    free(e);
}

/* With room for them: those that handle a block are warps of the same block. */
static gyre_status find_replicas(echo *e, const gyre_bench_case *c, bool block)
{
    const uint32_t most = block ? GYRE_BARE_REPLICAS - GYRE_BARE_LANES / WARP : GYRE_BARE_REPLICAS;
    gyre_status status = GYRE_OK;

    e->replicas = 1;
    if (strcmp(gyre_bench_device_word(c), "cuda") == 0)
        status = gyre_troupe_replicas(c, block ? &echo_block : &echo_quad, &e->replicas);
    if (status == GYRE_OK && (e->replicas < 1 || e->replicas > most))
        return gyre_bench_refuse(GYRE_UNSUPPORTED, "actors have %u replicas here, and this 1 to %u",
                                 e->replicas, most);
    return status;
}

static gyre_status launch(echo *e, const gyre_bench_case *c, bool block)
{
    const bool cuda = strcmp(gyre_bench_device_word(c), "cuda") == 0;
    const uint32_t more = block ? GYRE_BARE_LANES : 0;
    const gyre_bare_echo narrow = {e->requests, e->reply};
    const gyre_bare_block wide = {.requests = e->requests,
                                  .reply = e->reply,
                                  .payload = e->payload,
                                  .words = e->words,
                                  .readers = e->replicas};
    const gyre_launch launch = {.block = {cuda ? e->replicas * WARP + more : 1},
                                .parameters = block ? (const void *)&wide : &narrow,
                                .parameters_size = block ? sizeof wide : sizeof narrow};

    return block ? gyre_bare_seat_launch(&e->seat, "bare_block", "pointer pointer pointer u32 u32",
                                         &launch)
                 : gyre_bare_seat_launch(&e->seat, "bare_echo", "pointer pointer", &launch);
}

/* A kernel of OpenCL tells when it is there, compiled first perhaps, what it can read. */
static gyre_status learn_form(echo *e)
{
    gyre_bare_patience wait = {0};
    uint32_t form;

    e->is_words = true; /* as which both forms end */
    while ((form = gyre_bare_form(e->reply)) == GYRE_BARE_UNKNOWN)
        if (!gyre_bare_has_patience(&wait))
            return gyre_bench_refuse(GYRE_UNAVAILABLE, "the kernel did not begin");
    e->is_words = form == GYRE_BARE_IN_WORDS;
    return GYRE_OK;
}

static gyre_status begin(echo *e, const gyre_bench_case *c, bool block)
{
    const char *const backend = gyre_bench_device_word(c);
    gyre_status status = find_replicas(e, c, block);
    const size_t lines = (size_t)GYRE_BARE_ROW * (e->replicas + 1);

    if (status == GYRE_OK)
        status =
            gyre_bare_seat_open(&e->seat, backend, lines + (size_t)e->words * sizeof(uint32_t));
    if (status != GYRE_OK)
        return status;
    e->reply = e->seat.memory;
    e->requests = (unsigned char *)e->seat.memory + GYRE_BARE_ROW;
    e->payload = (void *)((unsigned char *)e->seat.memory + lines);
    status = launch(e, c, block);
    return status == GYRE_OK && strcmp(backend, "opencl") == 0 ? learn_form(e) : status;
}

static gyre_status set_up(const gyre_bench_case *c, bool block, uint64_t bytes, void **out_fixture)
{
    echo *const e = calloc(1, sizeof *e);
    gyre_status status;

    *out_fixture = NULL;
    if (!e)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    e->words = (uint32_t)(bytes / sizeof e->payload[0]);
    status = begin(e, c, block);
    if (status != GYRE_OK) {
        teardown(e); /* accepts a half-built one */
        return status;
    }
    *out_fixture = e;
    return GYRE_OK;
}

static gyre_status setup_echo(const gyre_bench_case *c, void **out_fixture)
{
    return set_up(c, false, 0, out_fixture);
}

static gyre_status setup_block(const gyre_bench_case *c, void **out_fixture)
{
    return set_up(c, true, 0, out_fixture);
}

static uint64_t payload_bytes(const gyre_bench_case *c)
{
    return (uint64_t)gyre_bench_axis(c, "bytes");
}

static gyre_status setup_payload(const gyre_bench_case *c, void **out_fixture)
{
    const uint64_t bytes = payload_bytes(c);

    *out_fixture = NULL;
    if (bytes < 4 || bytes > PAYLOAD_MOST || bytes % 4 != 0)
        return gyre_bench_refuse(GYRE_INVALID, "a payload is whole words, up to 16 MiB");
    return set_up(c, true, bytes, out_fixture);
}

GYRE_INLINE bool take_reply(const echo *e, uint32_t stamp, gyre_bare_body *out_body)
{
    return e->is_words ? gyre_bare_take_words(e->reply, stamp, out_body)
                       : gyre_bare_take(e->reply, stamp, out_body);
}

/* False when no reply came. */
GYRE_INLINE bool exchange(const echo *e, uint64_t number, gyre_bare_body *out_body)
{
    gyre_bare_patience wait = {0};

    write_request(e, number, (uint32_t)number);
    while (!take_reply(e, (uint32_t)number, out_body))
        if (!gyre_bare_has_patience(&wait))
            return false;
    return true;
}

static void echo_each(void *fixture, uint64_t iterations)
{
    echo *e = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        const uint64_t number = ++e->number;
        gyre_bare_body body;

        if (!exchange(e, number, &body))
            return; /* the check misses it */
        e->right += gyre_bare_is(&body, number, (uint32_t)number);
    }
}

static void refer_each(void *fixture, uint64_t iterations)
{
    echo *e = fixture;
    const uint32_t words = e->words;

    for (uint64_t i = 0; i < iterations; i++) {
        const uint64_t number = ++e->number;
        const uint32_t first = (uint32_t)number * 2654435761U;
        gyre_bare_body body;

        for (uint32_t w = 0; w < words; w++)
            e->payload[w] = first + w;
        gyre_bare_publish(e->reply, (uint32_t)number);
        if (!exchange(e, number, &body))
            return; /* the check misses it */
        e->right += (uint32_t)body.quarter[0][0] ==
                    words * first + (uint32_t)((uint64_t)words * (words - 1) / 2);
    }
}

static bool all_right(const void *fixture, uint64_t iterations)
{
    const echo *e = fixture;

    return e->number == iterations && e->right == iterations;
}

static void tell(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const echo *e = fixture;

    (void)iterations;
    gyre_bench_device_tell(&e->seat.device, facts);
    gyre_bench_count(facts, "replicas", e->replicas);
}

#define REQUEST "before the request is written to its stamped line, or to all replicas for CUDA"
#define COMPARED "the host, which compares all bytes of each"
#define WHOLE "the host has read the reply, a stamped line, whole"
#define ALWAYS                                                                                     \
    .check = all_right, .tell = tell, .teardown = teardown, .tags = GYRE_TAG_CPU | GYRE_TAG_GPU

static const gyre_bench benches[] = {
    {
        .name = "actor_floor/bare_echo",
        .axes = {GYRE_DEVICE_AXIS},
        .t0 = REQUEST,
        .t1 = WHOLE,
        .observer = COMPARED,
        .setup = setup_echo,
        .run = echo_each,
        ALWAYS,
    },
    {
        .name = "actor_floor/bare_block",
        .axes = {GYRE_DEVICE_AXIS},
        .t0 = REQUEST,
        .t1 = WHOLE ", which a block wrote after two barriers",
        .observer = COMPARED,
        .setup = setup_block,
        .run = echo_each,
        ALWAYS,
    },
    {
        .name = "actor_floor/bare_payload",
        .axes = {GYRE_DEVICE_AXIS, GYRE_AXIS("bytes", 64, 1024, 65536)},
        .t0 = "before the payload is written to pinned memory, all of it, and then the request",
        .t1 = "the host has the sum of its words, read where they are",
        .observer = "the host, which compares each sum",
        .setup = setup_payload,
        .run = refer_each,
        .bytes = payload_bytes,
        ALWAYS,
    },
};

const gyre_suite gyre_suite_actor_floor_echo =
    GYRE_DEVICE_SUITE("actor_floor_echo", benches, NULL, &gyre_device_guard);
