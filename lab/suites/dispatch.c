/* SPDX-License-Identifier: Apache-2.0
 *
 * dispatch: a command to a device and its answer, through a channel and the dispatcher's thread;
 * and beside each the same call made directly, with a sync.
 *
 * The caller and the dispatcher are pinned to a CPU each where there are two, and direct calls are
 * made on the dispatcher's, which is where they are made for a command. What moves is pinned memory
 * on both ways.
 *
 * Threads   the case's own asks; the dispatcher is the library's, and so are the CPU's workers.
 * Owns      a fixture per case.
 * Not here  the channel alone (suites/reply.c).
 */
#include "gyre/dispatch.h"

#include <stdlib.h>
#include <string.h>

#include "gyre/bench.h"
#include "gyre/clock.h"
#include "gyre/stream.h"
#include "suites/device_clock.h"
#include "suites/partner.h"
#include "suites/suites.h"

enum { LEAST_BYTES = 64, PATTERNS = 2 };

static const uint64_t PATIENCE_NS = 30000000000;

typedef struct add_parameters {
    uint32_t *to;
    uint32_t value;
} add_parameters;

static void add(const gyre_block *block, const void *parameters)
{
    const add_parameters *const p = parameters;

    (void)block;
    *p->to += p->value;
}

static const gyre_entry entries[] = {{"add", add}, {NULL, NULL}};

static const gyre_program program = {
    .struct_size = sizeof program,
    .name = "add",
    .functions = entries,
    .cuda = "extern \"C\" __global__ void add(unsigned *to, unsigned value) { *to += value; }\n",
    .opencl = "__kernel void add(__global unsigned *to, unsigned value) { *to += value; }\n",
};

typedef struct station {
    gyre_bench_device on; /* its stream is the direct way's */
    gyre_partner cpus;    /* its thread is not used */
    gyre_kernel *kernel;
    gyre_channel *channel;   /* the dispatched way's, */
    gyre_dispatch *dispatch; /* like this */
    uint64_t kernel_id, buffer;
    size_t size;
    unsigned char *address; /* of so many bytes on the device */
    gyre_bytes patterns[PATTERNS], into;
    uint64_t done, right;
} station;

static void station_teardown(void *fixture)
{
    station *s = fixture;

    for (int i = 0; i < PATTERNS; i++)
        gyre_bytes_release(&s->patterns[i]);
    gyre_bytes_release(&s->into);
    if (!s->dispatch)
        gyre_bench_device_give(&s->on, GYRE_CONTEXT_DEVICE, s->address, s->size);
    gyre_dispatch_stop(s->dispatch);
    gyre_channel_destroy(s->channel);
    gyre_kernel_release(s->kernel);
    gyre_bench_device_close(&s->on);
    gyre_partner_stop(&s->cpus);
    free(s);
}

static const uint32_t *dispatcher_cpu(const station *s)
{
    return &s->cpus.cpus[s->cpus.cpu_count - 1];
}

static gyre_status begin_direct(station *s)
{
    void *address = NULL;
    const gyre_status status =
        gyre_bench_device_take(&s->on, GYRE_CONTEXT_DEVICE, s->size, &address);

    s->address = address;
    return status;
}

static gyre_status begin_dispatched(station *s)
{
    const gyre_channel_options channel = gyre_command_channel();
    const gyre_dispatch_options options = {
        .struct_size = sizeof options, .cpus = dispatcher_cpu(s), .cpu_count = 1};
    gyre_status status = gyre_channel_create(&channel, &s->channel);
    void *address = NULL;

    if (status == GYRE_OK)
        status = gyre_dispatch_start(s->on.context, s->channel, &options, &s->dispatch);
    if (status == GYRE_OK)
        status = gyre_dispatch_kernel(s->dispatch, s->kernel, &s->kernel_id);
    if (status == GYRE_OK)
        status = gyre_dispatch_allocate(s->dispatch, s->size, GYRE_BUFFER_ANY, &s->buffer);
    if (status == GYRE_OK)
        status = gyre_dispatch_address(s->dispatch, s->buffer, &address);
    s->address = address;
    return status;
}

static gyre_status fill_patterns(station *s)
{
    const gyre_memory *const pinned = s->dispatch
                                          ? gyre_dispatch_memory(s->dispatch)
                                          : gyre_context_memory(s->on.context, GYRE_CONTEXT_PINNED);
    gyre_status status = gyre_bytes_take(pinned, s->size, &s->into);

    for (int p = 0; p < PATTERNS && status == GYRE_OK; p++) {
        status = gyre_bytes_take(pinned, s->size, &s->patterns[p]);
        for (size_t i = 0; i < s->size && status == GYRE_OK; i++)
            gyre_bytes_writable(&s->patterns[p])[i] = (unsigned char)(i * (2 * p + 3) + p);
    }
    return status;
}

/* Sends bytes there and waits, by whichever way the station has. */
static gyre_status put(const station *s, const gyre_bytes *bytes, uint64_t deadline_ns)
{
    gyre_command command = {.kind = GYRE_COMMAND_TO_DEVICE,
                            .as.to_device = {s->buffer, 0, {NULL, 0, NULL}}};
    gyre_status status;

    if (s->dispatch) {
        command.as.to_device.data = gyre_bytes_clone(bytes);
        return gyre_dispatch_call(s->channel, 0, &command, deadline_ns, NULL);
    }
    status = gyre_stream_copy(s->on.stream, s->address, bytes->data, bytes->size);
    return status == GYRE_OK ? gyre_stream_sync(s->on.stream) : status;
}

/* Gets them back; the direct way's are always the same ones. */
static gyre_status get(const station *s, uint64_t deadline_ns, gyre_bytes *out_bytes)
{
    gyre_command command = {.kind = GYRE_COMMAND_FROM_DEVICE,
                            .as.from_device = {s->buffer, 0, s->size}};
    gyre_dispatch_answer answer;
    gyre_status status;

    *out_bytes = (gyre_bytes){0};
    if (s->dispatch) {
        status = gyre_dispatch_call(s->channel, 0, &command, deadline_ns, &answer);
        *out_bytes = answer.bytes;
        return status;
    }
    status =
        gyre_stream_copy(s->on.stream, gyre_bytes_writable(&s->into), s->address, s->into.size);
    if (status == GYRE_OK)
        status = gyre_stream_sync(s->on.stream);
    if (status == GYRE_OK)
        *out_bytes = (gyre_bytes){s->into.data, s->into.size, NULL};
    return status;
}

static gyre_status station_setup(const gyre_bench_case *c, bool dispatched, size_t size,
                                 void **out_fixture)
{
    station *s = calloc(1, sizeof *s);
    gyre_status status;

    *out_fixture = NULL;
    if (!s)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    s->size = size;
    status = gyre_bench_device_open(&s->on, c, NULL); /* its workers run where they may */
    if (status == GYRE_OK)
        status =
            gyre_kernel_create(s->on.context, &program, "add", "pointer u32", NULL, &s->kernel);
    if (status == GYRE_OK)
        status = gyre_partner_find_cpus(&s->cpus);
    if (status == GYRE_OK)
        status = gyre_thread_pin_self(dispatched ? s->cpus.cpus : dispatcher_cpu(s), 1);
    if (status == GYRE_OK)
        status = dispatched ? begin_dispatched(s) : begin_direct(s);
    if (status == GYRE_OK)
        status = fill_patterns(s);
    if (status == GYRE_OK) {
        memset(gyre_bytes_writable(&s->into), 0, s->size);
        status = put(s, s->size == LEAST_BYTES ? &s->into : &s->patterns[1],
                     gyre_clock_after_ns(PATIENCE_NS));
    }
    if (status != GYRE_OK) {
        station_teardown(s); /* accepts a half-built one */
        return status;
    }
    *out_fixture = s;
    return GYRE_OK;
}

#define STATION(name, dispatched, size)                                                            \
    static gyre_status name(const gyre_bench_case *c, void **out_fixture)                          \
    {                                                                                              \
        return station_setup(c, dispatched, size, out_fixture);                                    \
    }
STATION(dispatched_setup, true, LEAST_BYTES)
STATION(direct_setup, false, LEAST_BYTES)
STATION(dispatched_bytes_setup, true, (size_t)gyre_bench_axis(c, "bytes"))
STATION(direct_bytes_setup, false, (size_t)gyre_bench_axis(c, "bytes"))

/* Whether the device holds these bytes, and every call was right. */
static bool all_right(const void *fixture, uint64_t iterations, const void *bytes, size_t size)
{
    const station *s = fixture;
    gyre_bytes found;
    bool right = s->done == iterations && s->right == iterations &&
                 get(s, gyre_clock_after_ns(PATIENCE_NS), &found) == GYRE_OK;

    right = right && found.size == s->size && memcmp(found.data, bytes, size) == 0;
    if (s->dispatch && right)
        gyre_bytes_release(&found);
    return right;
}

/* launch */

static void launch_dispatched(void *fixture, uint64_t iterations)
{
    static const uint32_t one[3] = {1, 1, 1};
    station *s = fixture;
    const uint64_t deadline_ns = gyre_clock_after_ns(PATIENCE_NS);
    const add_parameters parameters = {(uint32_t *)(void *)s->address, 1};

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_command command;

        s->done++;
        if (gyre_command_launch(s->kernel_id, one, one, &parameters, sizeof parameters, &command) !=
                GYRE_OK ||
            gyre_dispatch_call(s->channel, 0, &command, deadline_ns, NULL) != GYRE_OK)
            return; /* the check misses it */
        s->right++;
    }
}

static void launch_direct(void *fixture, uint64_t iterations)
{
    station *s = fixture;
    const add_parameters parameters = {(uint32_t *)(void *)s->address, 1};
    const gyre_launch launch = {.parameters = &parameters, .parameters_size = sizeof parameters};

    for (uint64_t i = 0; i < iterations; i++) {
        s->done++;
        if (gyre_stream_launch(s->on.stream, s->kernel, &launch) != GYRE_OK ||
            gyre_stream_sync(s->on.stream) != GYRE_OK)
            return;
        s->right++;
    }
}

static bool launched_each(const void *fixture, uint64_t iterations)
{
    const uint32_t count = (uint32_t)iterations;

    return all_right(fixture, iterations, &count, sizeof count);
}

/* transfers */

static void send_each(void *fixture, uint64_t iterations)
{
    station *s = fixture;
    const uint64_t deadline_ns = gyre_clock_after_ns(PATIENCE_NS);

    for (uint64_t i = 0; i < iterations; i++)
        s->right += put(s, &s->patterns[s->done++ % PATTERNS], deadline_ns) == GYRE_OK;
}

static bool sent_each(const void *fixture, uint64_t iterations)
{
    const station *s = fixture;

    return iterations == 0 ||
           all_right(s, iterations, s->patterns[(iterations - 1) % PATTERNS].data, s->size);
}

/* Looks at both ends, and spoils one: what comes there next must be right by itself. */
static void receive_each(void *fixture, uint64_t iterations)
{
    station *s = fixture;
    const uint64_t deadline_ns = gyre_clock_after_ns(PATIENCE_NS);
    const unsigned char *const there = s->patterns[1].data;

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_bytes bytes;

        s->done++;
        if (get(s, deadline_ns, &bytes) != GYRE_OK)
            return;
        s->right += bytes.size == s->size && bytes.data[0] == there[0] &&
                    bytes.data[s->size - 1] == there[s->size - 1];
        gyre_bytes_writable(s->dispatch ? &bytes : &s->into)[0] = (unsigned char)~there[0];
        if (s->dispatch)
            gyre_bytes_release(&bytes);
    }
}

static bool each_was_right(const void *fixture, uint64_t iterations)
{
    const station *s = fixture;

    return s->done == iterations && s->right == iterations;
}

static uint64_t bytes_moved(const gyre_bench_case *c)
{
    return (uint64_t)gyre_bench_axis(c, "bytes");
}

/* synchronize */

static void synchronize_dispatched(void *fixture, uint64_t iterations)
{
    station *s = fixture;
    const uint64_t deadline_ns = gyre_clock_after_ns(PATIENCE_NS);

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_command command = {.kind = GYRE_COMMAND_SYNCHRONIZE};

        s->done++;
        s->right += gyre_dispatch_call(s->channel, 0, &command, deadline_ns, NULL) == GYRE_OK;
    }
}

static void synchronize_direct(void *fixture, uint64_t iterations)
{
    station *s = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        s->done++;
        s->right += gyre_stream_sync(s->on.stream) == GYRE_OK;
    }
}

static void tell(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const station *s = fixture;
    gyre_dispatch_statistics statistics = {.struct_size = sizeof statistics};

    (void)iterations;
    gyre_bench_device_tell(&s->on, facts);
    if (!s->dispatch)
        return;
    gyre_partner_tell(&s->cpus, facts);
    if (gyre_dispatch_describe(s->dispatch, &statistics) == GYRE_OK)
        gyre_bench_count(facts, "worst_ns", (double)statistics.worst_ns);
}

#define SIZES GYRE_AXIS("bytes", 4096, 1048576)
#define BOTH .teardown = station_teardown, .tell = tell, .tags = GYRE_TAG_CPU | GYRE_TAG_GPU
#define DISPATCHED                                                                                 \
    .t0 = "before the command is built", .t1 = "the caller has the answer",                        \
    .observer = "the caller, which compares what the device holds", BOTH
#define DIRECT                                                                                     \
    .t0 = "before the call that submits", .t1 = "the sync has returned",                           \
    .observer = "the same thread, which compares what the device holds", BOTH

static const gyre_bench benches[] = {
    {
        .name = "dispatch/launch",
        .beside = "dispatch/direct_launch",
        .axes = {GYRE_DEVICE_AXIS_NULL},
        .setup = dispatched_setup,
        .run = launch_dispatched,
        .check = launched_each,
        DISPATCHED,
    },
    {
        .name = "dispatch/direct_launch",
        .axes = {GYRE_DEVICE_AXIS_NULL},
        .setup = direct_setup,
        .run = launch_direct,
        .check = launched_each,
        DIRECT,
    },
    {
        .name = "dispatch/to_device",
        .beside = "dispatch/direct_to_device",
        .axes = {GYRE_DEVICE_AXIS_NULL, SIZES},
        .setup = dispatched_bytes_setup,
        .run = send_each,
        .check = sent_each,
        .bytes = bytes_moved,
        DISPATCHED,
    },
    {
        .name = "dispatch/direct_to_device",
        .axes = {GYRE_DEVICE_AXIS_NULL, SIZES},
        .setup = direct_bytes_setup,
        .run = send_each,
        .check = sent_each,
        .bytes = bytes_moved,
        DIRECT,
    },
    {
        .name = "dispatch/from_device",
        .beside = "dispatch/direct_from_device",
        .axes = {GYRE_DEVICE_AXIS_NULL, SIZES},
        .setup = dispatched_bytes_setup,
        .run = receive_each,
        .check = each_was_right,
        .bytes = bytes_moved,
        DISPATCHED,
    },
    {
        .name = "dispatch/direct_from_device",
        .axes = {GYRE_DEVICE_AXIS_NULL, SIZES},
        .setup = direct_bytes_setup,
        .run = receive_each,
        .check = each_was_right,
        .bytes = bytes_moved,
        DIRECT,
    },
    {
        .name = "dispatch/synchronize",
        .beside = "dispatch/direct_synchronize",
        .axes = {GYRE_DEVICE_AXIS_NULL},
        .setup = dispatched_setup,
        .run = synchronize_dispatched,
        .check = each_was_right,
        .t0 = "before the command is built",
        .t1 = "the caller has the answer",
        .observer = "the caller, which counts the answers of an idle stream",
        BOTH,
    },
    {
        .name = "dispatch/direct_synchronize",
        .axes = {GYRE_DEVICE_AXIS_NULL},
        .setup = direct_setup,
        .run = synchronize_direct,
        .check = each_was_right,
        .t0 = "before the sync of an idle stream",
        .t1 = "the sync has returned",
        .observer = "the same thread, which counts them",
        BOTH,
    },
};

const gyre_suite gyre_suite_dispatch =
    GYRE_DEVICE_SUITE("dispatch", benches, NULL, &gyre_device_guard);
