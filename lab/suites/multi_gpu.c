/* SPDX-License-Identifier: Apache-2.0
 *
 * multi_gpu: copies from one device to another of the same backend: directly, where the second
 * reaches the first, and through pinned memory of the host. The null device has two, so that the
 * copies are tried everywhere; they are worth no figure.
 *
 * Threads   one.
 * Owns      a fixture per case.
 * Not here  copies between host and device (suites/transfer.c).
 */
#include <stdlib.h>

#include "suites/device_clock.h"
#include "suites/suites.h"

typedef struct pair {
    gyre_bench_device from; /* the first of the backend */
    gyre_context *context;  /* of the second, with */
    gyre_stream *stream;
    size_t size;
    void *source, *target;
    uint64_t *here; /* pinned, of the first */
    uint64_t number, failed;
} pair;

static const gyre_memory *memory_of(const pair *p)
{
    return gyre_context_memory(p->context, GYRE_CONTEXT_DEVICE);
}

static void pair_teardown(void *fixture)
{
    pair *p = fixture;

    if (p->target)
        memory_of(p)->give(memory_of(p), p->target, p->size, 256);
    gyre_stream_destroy(p->stream);
    gyre_context_destroy(p->context);
    gyre_bench_device_give(&p->from, GYRE_CONTEXT_PINNED, p->here, p->size);
    gyre_bench_device_give(&p->from, GYRE_CONTEXT_DEVICE, p->source, p->size);
    gyre_bench_device_close(&p->from);
    free(p);
}

/* The next device of the same backend that works. */
static const gyre_device *find_other(const gyre_device *first)
{
    const gyre_device *device;

    for (size_t i = 0; (device = gyre_device_at(i)); i++)
        if (device != first && device->backend == first->backend && device->trouble[0] == '\0')
            return device;
    return NULL;
}

static gyre_status open_pair(pair *p, const char *backend, bool direct)
{
    const gyre_device *other;
    void *here = NULL;
    gyre_status status = gyre_bench_device_open_on(&p->from, backend, NULL);

    if (status != GYRE_OK)
        return status;
    other = find_other(p->from.device);
    if (!other)
        return gyre_bench_refuse(GYRE_UNAVAILABLE, "%s is the only device of its kind",
                                 p->from.device->name);
    if (direct && !gyre_device_reaches(other, p->from.device))
        return gyre_bench_refuse(GYRE_UNAVAILABLE, "%s does not reach the memory of %s",
                                 other->name, p->from.device->name);
    status = gyre_context_create(other, NULL, &p->context);
    if (status == GYRE_OK)
        status = gyre_stream_create(p->context, NULL, &p->stream);
    if (status == GYRE_OK)
        status = gyre_bench_device_take(&p->from, GYRE_CONTEXT_DEVICE, p->size, &p->source);
    if (status == GYRE_OK)
        status = gyre_bench_device_take(&p->from, GYRE_CONTEXT_PINNED, p->size, &here);
    p->here = here;
    return status == GYRE_OK ? memory_of(p)->take(memory_of(p), p->size, 256, &p->target) : status;
}

static gyre_status setup_pair(const gyre_bench_case *c, bool direct, void **out_fixture)
{
    static const char *const backends[] = {"cuda", "opencl", "null"};
    const int64_t backend = gyre_bench_axis(c, "backend"), size = gyre_bench_axis(c, "size");
    pair *p = calloc(1, sizeof *p);
    gyre_status status = GYRE_OK;

    *out_fixture = NULL;
    if (!p)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    p->size = (size_t)size;
    if (size < 8 || size > 1 << 30 || size % 8 != 0)
        status = gyre_bench_refuse(GYRE_INVALID, "the size is a multiple of 8, at most a GiB");
    if (status == GYRE_OK)
        status = open_pair(p, backends[backend > 0 && backend < 3 ? backend : 0], direct);
    for (size_t i = 0; status == GYRE_OK && i < p->size / 8; i++)
        p->here[i] = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    if (status == GYRE_OK)
        status = gyre_bench_device_copy(&p->from, p->source, p->here, p->size);
    if (status != GYRE_OK) {
        pair_teardown(p);
        return status;
    }
    *out_fixture = p;
    return GYRE_OK;
}

GYRE_SETUP_WITH(setup_direct, setup_pair, true)
GYRE_SETUP_WITH(setup_through_host, setup_pair, false)

static void copy_direct(void *fixture, uint64_t iterations)
{
    pair *p = fixture;

    for (uint64_t i = 0; i < iterations && p->failed == 0; i++) {
        p->failed += gyre_stream_copy_from(p->stream, p->target, p->from.context, p->source,
                                           p->size) != GYRE_OK ||
                     gyre_stream_sync(p->stream) != GYRE_OK;
        p->number++;
    }
}

static void copy_through_host(void *fixture, uint64_t iterations)
{
    pair *p = fixture;

    for (uint64_t i = 0; i < iterations && p->failed == 0; i++) {
        p->failed += gyre_stream_copy(p->from.stream, p->here, p->source, p->size) != GYRE_OK ||
                     gyre_stream_sync(p->from.stream) != GYRE_OK ||
                     gyre_stream_copy(p->stream, p->target, p->here, p->size) != GYRE_OK ||
                     gyre_stream_sync(p->stream) != GYRE_OK;
        p->number++;
    }
}

/* What the second device has is what the first was given. */
static bool all_copied(const void *fixture, uint64_t iterations)
{
    const pair *p = fixture;
    uint64_t *back = calloc(1, p->size);
    bool right = back && p->failed == 0 && p->number == iterations &&
                 gyre_stream_copy(p->stream, back, p->target, p->size) == GYRE_OK &&
                 gyre_stream_sync(p->stream) == GYRE_OK;

    for (size_t i = 0; right && i < p->size / 8; i++)
        right = back[i] == (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    free(back);
    return right;
}

static uint64_t pair_bytes(const gyre_bench_case *c)
{
    return (uint64_t)gyre_bench_axis(c, "size");
}

static void tell_pair(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const pair *p = fixture;
    const gyre_device *other = gyre_context_device(p->context);

    (void)iterations;
    gyre_bench_device_tell(&p->from, facts);
    gyre_bench_note(facts, "to", other->title);
    gyre_bench_note(facts, "reach", gyre_device_reaches(other, p->from.device) ? "direct" : "none");
}

#define BETWEEN                                                                                    \
    .axes = {GYRE_AXIS_WORDS("backend", "cuda", "opencl", "null"),                                 \
             GYRE_AXIS("size", 65536, 67108864)},                                                  \
    .observer = "the host, which reads the second device's bytes back at the end",                 \
    .check = all_copied, .bytes = pair_bytes, .tell = tell_pair, .tags = GYRE_TAG_GPU,             \
    .teardown = pair_teardown

static const gyre_bench benches[] = {
    {
        .name = "multi_gpu/copy_direct",
        .t0 = "before the copy from the first device is submitted to the second",
        .t1 = "after the sync of the second",
        .setup = setup_direct,
        .run = copy_direct,
        BETWEEN,
    },
    {
        .name = "multi_gpu/copy_through_host",
        .t0 = "before the copy from the first device to pinned memory is submitted",
        .t1 = "after the sync of the copy from there to the second",
        .setup = setup_through_host,
        .run = copy_through_host,
        BETWEEN,
    },
};

const gyre_suite gyre_suite_multi_gpu =
    GYRE_DEVICE_SUITE("multi_gpu", benches, NULL, &gyre_device_guard);
