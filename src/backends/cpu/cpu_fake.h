/* SPDX-License-Identifier: Apache-2.0
 *
 * cpu_fake: a device with kernels for tests of the CPU's table.
 */
#ifndef GYRE_BACKENDS_CPU_FAKE_H
#define GYRE_BACKENDS_CPU_FAKE_H

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "backends/cpu/cpu.h"
#include "gyre/clock.h"
#include "test.h"

extern const gyre_backend gyre_backend_cpu;
static const gyre_backend *const cpu = &gyre_backend_cpu;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define SECOND UINT64_C(1000000000)

/* Writes a value at the place that *count says: no two of one log may run at once. */
typedef struct append_parameters {
    uint32_t *log, *count;
    uint32_t value;
} append_parameters;

static inline void append(const gyre_block *block, const void *parameters)
{
    const append_parameters *p = parameters;

    (void)block;
    p->log[(*p->count)++] = p->value;
}

/* Counts how often each block ran, and those that were told something wrong. */
typedef struct touch_parameters {
    uint32_t *hits, *wrong;
    uint32_t grid[3], threads[3], shared_bytes;
} touch_parameters;

static inline void touch(const gyre_block *block, const void *parameters)
{
    const touch_parameters *p = parameters;
    const uint64_t plane = (uint64_t)block->grid[0] * block->grid[1];
    const uint64_t i =
        block->index[2] * plane + (uint64_t)block->index[1] * block->grid[0] + block->index[0];
    bool good = memcmp(block->grid, p->grid, sizeof p->grid) == 0 &&
                memcmp(block->threads, p->threads, sizeof p->threads) == 0 &&
                block->shared_bytes == p->shared_bytes && !block->shared == !p->shared_bytes;

    for (int d = 0; d < 3; d++)
        good = good && block->index[d] < block->grid[d];
    for (uint32_t b = 0; good && b < block->shared_bytes; b++) /* nobody else has this memory */
        ((unsigned char *)block->shared)[b] = (unsigned char)(i + b);
    for (uint32_t b = 0; good && b < block->shared_bytes; b++)
        good = ((unsigned char *)block->shared)[b] == (unsigned char)(i + b);
    /* relaxed, both: read when the stream is drained */
    __atomic_fetch_add(good ? &p->hits[i] : p->wrong, 1, __ATOMIC_RELAXED);
}

/* Says that it is there, and stays until the gate opens. */
typedef struct gate {
    uint32_t entered, open;
} gate;

static inline void hold(const gyre_block *block, const void *parameters)
{
    gate *const *g = parameters;

    (void)block;
    /* release and acquire [fake-gate]: pair with fake_await and fake_open */
    __atomic_fetch_add(&(*g)->entered, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&(*g)->open, __ATOMIC_ACQUIRE))
        sched_yield();
}

static inline void fake_await(const uint32_t *counter, uint32_t value)
{
    const uint64_t end_ns = gyre_clock_after_ns(20 * SECOND);

    while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) < value && gyre_clock_now_ns() < end_ns)
        sched_yield();
    CHECK(__atomic_load_n(counter, __ATOMIC_ACQUIRE) >= value);
}

static inline void fake_open(gate *g)
{
    __atomic_store_n(&g->open, 1, __ATOMIC_RELEASE);
}

/* Adds up 4096 bytes of parameters, of which the first eight are where to. */
typedef struct wide_parameters {
    uint64_t *sum;
    unsigned char bytes[4088];
} wide_parameters;

static inline void wide(const gyre_block *block, const void *parameters)
{
    const wide_parameters *p = parameters;

    (void)block;
    for (size_t i = 0; i < sizeof p->bytes; i++)
        *p->sum += p->bytes[i];
}

static inline void nothing(const gyre_block *block, const void *parameters)
{
    (void)block, (void)parameters;
}

static const gyre_entry fake_functions[] = {
    {"append", append}, {"touch", touch},     {"hold", hold},
    {"wide", wide},     {"nothing", nothing}, {NULL, NULL},
};

typedef struct rig {
    gyre_dev *dev;
    gyre_dev_module *module;
    gyre_dev_kernel *append, *touch, *hold, *wide, *nothing;
} rig;

static inline gyre_dev_kernel *fake_kernel(rig *r, const char *entry, size_t bytes)
{
    const gyre_dev_kernel_request request = {.entry = entry, .parameters_bytes = (uint32_t)bytes};
    gyre_dev_kernel_facts facts;
    gyre_dev_kernel *kernel;

    CHECK(cpu->kernel_open(r->module, &request, &facts, &kernel) == GYRE_OK);
    return kernel;
}

/* A device with so many workers; ends the program when there is none. */
static inline rig rig_open(uint32_t workers)
{
    const gyre_dev_options options = {.workers = workers, .faults = ""};
    const gyre_dev_code code = {.functions = fake_functions};
    rig r = {0};

    if (cpu->open(0, &options, &r.dev) != GYRE_OK ||
        cpu->module_open(r.dev, &code, &r.module) != GYRE_OK) {
        fprintf(stderr, "no device: %s\n", gyre_error_last()->text);
        exit(1);
    }
    r.append = fake_kernel(&r, "append", sizeof(append_parameters));
    r.touch = fake_kernel(&r, "touch", sizeof(touch_parameters));
    r.hold = fake_kernel(&r, "hold", sizeof(gate *));
    r.wide = fake_kernel(&r, "wide", sizeof(wide_parameters));
    r.nothing = fake_kernel(&r, "nothing", 0);
    return r;
}

static inline void rig_close(rig *r)
{
    cpu->module_close(r->module);
    cpu->close(r->dev);
}

static inline gyre_dev_stream *fake_stream(rig *r)
{
    gyre_dev_stream *stream = NULL;

    CHECK(cpu->stream_open(r->dev, NULL, 0, &stream) == GYRE_OK);
    return stream;
}

static inline gyre_dev_event *fake_event(rig *r, bool timed)
{
    gyre_dev_event *event = NULL;

    CHECK(cpu->event_open(r->dev, timed, &event) == GYRE_OK);
    return event;
}

static inline gyre_dev_launch fake_launch(gyre_dev_kernel *kernel, const void *parameters)
{
    return (gyre_dev_launch){
        .kernel = kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}, .parameters = parameters};
}

static inline void fake_submit(gyre_dev_stream *stream, gyre_dev_kernel *kernel,
                               const void *parameters)
{
    const gyre_dev_launch launch = fake_launch(kernel, parameters);

    CHECK(cpu->launch(stream, &launch) == GYRE_OK);
}

static inline void fake_append(rig *r, gyre_dev_stream *stream, const append_parameters *p)
{
    fake_submit(stream, r->append, p);
}

static inline void fake_hold(rig *r, gyre_dev_stream *stream, gate *g)
{
    fake_submit(stream, r->hold, &g);
}

/* Polls until the stream is drained. */
static inline void fake_drain(gyre_dev_stream *stream)
{
    const uint64_t end_ns = gyre_clock_after_ns(60 * SECOND);
    gyre_status status;

    while ((status = cpu->poll(stream)) == GYRE_AGAIN && gyre_clock_now_ns() < end_ns)
        sched_yield();
    CHECK(status == GYRE_OK);
}

#endif
