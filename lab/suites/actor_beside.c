/* SPDX-License-Identifier: Apache-2.0
 *
 * actor_beside: what actors that only look for messages take from others on their GPU: a copy to
 * it and one from it, by pinned memory, and a kernel that reads and writes the GPU's own.
 *
 * Each is done beside such actors, in turns with the same while there are none. They spin, which is
 * the most that they can take; nobody sends them anything. Both sides have actors, and those that
 * should not be there are parked, before a turn.
 *
 * Threads   the case's own, the library's.
 * Owns      a fixture per case.
 * Not here  what the silence costs the host, and the first call after it (suites/actor_idle.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gyre/clock.h"
#include "suites/copy_words.h"
#include "suites/device_kernels.h"
#include "suites/suites.h"
#include "suites/troupe.h"

enum { BYTES_MOST = 1 << 30, LINE = 64 };

typedef enum work { COPY_IN, COPY_OUT, KERNEL } work;

typedef struct beside {
    gyre_troupe troupe;
    work work;
    size_t size;         /* bytes, */
    size_t count;        /* and words of 8 of them */
    uint64_t *here;      /* pinned */
    void *there, *other; /* on the device; the kernel reads one and writes the other */
    gyre_kernel *relu;
    uint64_t done; /* whose stream was in step */
    gyre_status status;
    char why[256]; /* what went wrong first */
} beside;

/* Whose actors are on the device; NULL: nobody's. */
static beside *resident;

/* Whether all is well so far. */
static bool went(beside *w, gyre_status status)
{
    if (w->status == GYRE_OK && status != GYRE_OK) {
        w->status = status;
        snprintf(w->why, sizeof w->why, "%s",
                 status == GYRE_TIMEOUT ? "an actor did not leave in time"
                                        : gyre_error_last()->text);
    }
    return w->status == GYRE_OK;
}

static void leave(beside *w)
{
    uint32_t left = 0;

    while (left < w->troupe.count &&
           went(w, gyre_actor_park(w->troupe.actor[left],
                                   gyre_clock_after_ns(GYRE_TROUPE_PATIENCE_NS))))
        left++;
}

static void come_back(beside *w)
{
    uint32_t back = 0;

    while (back < w->troupe.count && went(w, gyre_actor_resume(w->troupe.actor[back])))
        back++;
}

static void teardown(void *fixture)
{
    beside *w = fixture;
    gyre_bench_device *const device = w->troupe.device;

    if (resident == w)
        resident = NULL;
    if (device) {
        gyre_bench_device_give(device, GYRE_CONTEXT_PINNED, w->here, w->size);
        gyre_bench_device_give(device, GYRE_CONTEXT_DEVICE, w->there, w->size);
        gyre_bench_device_give(device, GYRE_CONTEXT_DEVICE, w->other, w->size);
    }
    gyre_kernel_release(w->relu);
    gyre_troupe_close(&w->troupe);
    free(w);
}

static gyre_status take_memory(beside *w)
{
    gyre_bench_device *const device = w->troupe.device;
    void *here = NULL;
    gyre_status status = gyre_bench_device_take(device, GYRE_CONTEXT_PINNED, w->size, &here);

    w->here = here;
    if (status == GYRE_OK)
        status = gyre_bench_device_take(device, GYRE_CONTEXT_DEVICE, w->size, &w->there);
    if (status == GYRE_OK)
        status = gyre_bench_device_take(device, GYRE_CONTEXT_DEVICE, w->size, &w->other);
    return status;
}

/* What is worked on is in place: words, or numbers. */
static gyre_status furnish(beside *w)
{
    if (w->work == KERNEL)
        gyre_bench_device_numbers((float *)w->here, w->size / sizeof(float), 1);
    else
        for (size_t i = 0; i < w->count; i++)
            w->here[i] = gyre_copy_word(i);
    return gyre_bench_device_copy(w->troupe.device, w->there, w->here, w->size);
}

static gyre_status begin(beside *w, const gyre_bench_case *c)
{
    const gyre_troupe_options options = {
        .behaviour = &echo_quad,
        .actors = (uint32_t)gyre_bench_axis(c, "actors"),
        .launch = {.idle = GYRE_ACTOR_SPIN},
    };
    gyre_status status = gyre_troupe_open(&w->troupe, c, &options);

    if (status != GYRE_OK)
        return status;
    leave(w);
    status = w->status;
    if (status == GYRE_OK)
        status = take_memory(w);
    if (status == GYRE_OK && w->work == KERNEL)
        status = gyre_kernel_create(w->troupe.device->context, &gyre_bench_program, "relu",
                                    GYRE_RELU_SIGNATURE, NULL, &w->relu);
    return status == GYRE_OK ? furnish(w) : status;
}

/* So that what was there before is not taken for what is to come: all of it, each time. */
static void spoil(beside *w)
{
    gyre_stream *const stream = w->troupe.device->stream;
    const gyre_fill fill = {.to = w->work == COPY_IN ? w->there : w->other,
                            .pattern = {0xa5},
                            .pattern_size = 1,
                            .count = w->size};

    if (w->work == COPY_OUT)
        memset(w->here, 0, w->size);
    else if (went(w, GYRE_OK) && went(w, gyre_stream_fill(stream, &fill)))
        (void)went(w, gyre_stream_sync(stream));
}

/* Has these actors on the device and no others; NULL: none. */
static void let_be_there(beside *w)
{
    if (resident == w)
        return;
    if (resident)
        leave(resident);
    if (w)
        come_back(w);
    resident = w;
}

static void with_actors(void *fixture, uint64_t iterations)
{
    (void)iterations; /* one at a time */
    let_be_there(fixture);
    spoil(fixture);
}

static void without_actors(void *fixture, uint64_t iterations)
{
    (void)iterations;
    let_be_there(NULL);
    spoil(fixture);
}

static gyre_status submit(const beside *w)
{
    const gyre_relu_parameters parameters = {
        .in = w->there, .out = w->other, .count = (uint32_t)(w->size / sizeof(float))};
    gyre_stream *const stream = w->troupe.device->stream;
    gyre_launch launch;

    if (w->work == COPY_IN)
        return gyre_stream_copy(stream, w->there, w->here, w->size);
    if (w->work == COPY_OUT)
        return gyre_stream_copy(stream, w->here, w->there, w->size);
    launch = gyre_relu_launch(&parameters);
    return gyre_stream_launch(stream, w->relu, &launch);
}

static void do_it(void *fixture, uint64_t iterations)
{
    beside *w = fixture;

    for (uint64_t i = 0; i < iterations && w->status == GYRE_OK; i++)
        w->done += went(w, submit(w)) && went(w, gyre_stream_sync(w->troupe.device->stream));
}

/* Once while nobody is there, so that nothing of the driver is made for the first time later. */
static gyre_status rehearse(beside *w)
{
    spoil(w);
    do_it(w, 1);
    w->done = 0;
    return w->status;
}

static gyre_status set_up(const gyre_bench_case *c, work what, void **out_fixture)
{
    const int64_t size = gyre_bench_axis(c, "bytes"), actors = gyre_bench_axis(c, "actors");
    beside *w;
    gyre_status status;

    *out_fixture = NULL;
    if (size < LINE || size > BYTES_MOST || size % LINE != 0)
        return gyre_bench_refuse(GYRE_INVALID, "bytes are a multiple of %d, up to 1 GiB", LINE);
    if (actors < 1 || actors > GYRE_TROUPE_MOST)
        return gyre_bench_refuse(GYRE_INVALID, "1 to %d actors", GYRE_TROUPE_MOST);
    w = calloc(1, sizeof *w);
    if (!w)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    w->work = what;
    w->size = (size_t)size;
    w->count = w->size / sizeof w->here[0];
    status = begin(w, c);
    if (status == GYRE_OK)
        status = rehearse(w);
    if (status != GYRE_OK) {
        teardown(w); /* accepts a half-built one */
        return status;
    }
    *out_fixture = w;
    return GYRE_OK;
}

GYRE_SETUP_WITH(setup_in, set_up, COPY_IN)
GYRE_SETUP_WITH(setup_out, set_up, COPY_OUT)
GYRE_SETUP_WITH(setup_kernel, set_up, KERNEL)

/* What the last one left, on whichever side. */
static bool is_there(const beside *w, void *room)
{
    const uint64_t *const words = w->work == COPY_OUT ? w->here : room;

    if (w->work != COPY_OUT &&
        gyre_bench_device_copy(w->troupe.device, room, w->work == COPY_IN ? w->there : w->other,
                               w->size) != GYRE_OK)
        return false;
    if (w->work == KERNEL)
        return gyre_relu_is(room, (const float *)w->here, w->size / sizeof(float));
    return words[0] == gyre_copy_word(0) && gyre_are_copy_words(words, 0, w->count);
}

static bool all_done(const void *fixture, uint64_t iterations)
{
    const beside *w = fixture;
    void *room;
    bool good;

    if (w->status != GYRE_OK)
        return gyre_bench_refuse(w->status, "%s", w->why) == GYRE_OK;
    if (w->done != iterations)
        return false;
    room = malloc(w->size);
    if (!room)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for the check") == GYRE_OK;
    good = is_there(w, room);
    free(room);
    return good;
}

static void tell(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const beside *w = fixture;

    (void)iterations;
    gyre_troupe_tell(&w->troupe, facts);
}

static void tell_device(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const beside *w = fixture;

    (void)iterations;
    gyre_bench_device_tell(w->troupe.device, facts);
}

static uint64_t bytes(const gyre_bench_case *c)
{
    return (uint64_t)gyre_bench_axis(c, "bytes");
}

#define COMMON                                                                                     \
    .axes = {GYRE_AXIS_WORDS("device", "cuda"), GYRE_AXIS("actors", 1, 32),                        \
             GYRE_AXIS("bytes", 4096, 1 << 26)},                                                   \
    .t0 = "before it is handed to the stream", .t1 = "the stream is in step",                      \
    .observer = "the host, which looks at all that the last one left", .batch = GYRE_BATCH_EACH,   \
    .run = do_it, .check = all_done, .teardown = teardown, .bytes = bytes, .tags = GYRE_TAG_GPU
#define WITH .prepare = with_actors, .tell = tell, COMMON
#define WITHOUT .prepare = without_actors, .tell = tell_device, COMMON

static const gyre_bench benches[] = {
    {.name = "actor_beside/copy_to_device",
     .beside = "actor_beside/alone_copy_to_device",
     .setup = setup_in,
     WITH},
    {.name = "actor_beside/alone_copy_to_device", .setup = setup_in, WITHOUT},
    {.name = "actor_beside/copy_from_device",
     .beside = "actor_beside/alone_copy_from_device",
     .setup = setup_out,
     WITH},
    {.name = "actor_beside/alone_copy_from_device", .setup = setup_out, WITHOUT},
    {.name = "actor_beside/relu", .beside = "actor_beside/alone_relu", .setup = setup_kernel, WITH},
    {.name = "actor_beside/alone_relu", .setup = setup_kernel, WITHOUT},
};

const gyre_suite gyre_suite_actor_beside =
    GYRE_DEVICE_SUITE("actor_beside", benches, NULL, &gyre_device_guard);
