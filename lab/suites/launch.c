/* SPDX-License-Identifier: Apache-2.0
 *
 * launch: from the host to a device and back, with nothing to do there.
 *
 * The kernel adds 1 to a counter, so that the check knows how often it ran. A traditional command
 * carries 256 bytes there and 256 bytes back, which are compared for every command. Each is done by
 * Gyre on every device, and by the CUDA driver alone (`bare_`, suites/launch_bare.c), whose context
 * spins as Gyre's waits do.
 *
 * Threads   the case's own, and those of the device. `stream_round_trip` is the CPU with one
 *           worker, on another CPU than the case's: beside it stands `bare_ping_pong` of the same
 *           two.
 * Owns      a fixture per case.
 * Not here  work for the device (suites/gpu_batch.c).
 */
#include <stdlib.h>
#include <string.h>

#include "gyre/graph.h"
#include "suites/bare_cuda.h"
#include "suites/device_clock.h"
#include "suites/device_kernels.h"
#include "suites/launch_bare.h"
#include "suites/partner.h"
#include "suites/suites.h"

enum { PENDING = 64 };

typedef struct launches {
    gyre_bench_device device;
    gyre_kernel *count, *relu;
    gyre_graph *graph; /* one launch of `count` */
    gyre_event *event;
    void *counter;     /* on the device */
    void *there;       /* likewise: a command's input, then its output */
    gyre_words *here;  /* pinned */
    uint64_t right;    /* commands */
    uint64_t failed;   /* calls */
    gyre_partner cpus; /* of a round trip, where the case's thread may run again */
} launches;

static void launches_teardown(void *fixture)
{
    launches *l = fixture;

    gyre_graph_destroy(l->graph);
    gyre_event_destroy(l->event);
    gyre_kernel_release(l->count);
    gyre_kernel_release(l->relu);
    gyre_bench_device_give(&l->device, GYRE_CONTEXT_DEVICE, l->counter, sizeof(uint64_t));
    gyre_bench_device_give(&l->device, GYRE_CONTEXT_DEVICE, l->there,
                           (size_t)2 * GYRE_COMMAND_BYTES);
    gyre_bench_device_give(&l->device, GYRE_CONTEXT_PINNED, l->here, sizeof *l->here);
    gyre_bench_device_close(&l->device);
    gyre_partner_stop(&l->cpus);
    free(l);
}

static gyre_status take_memory(launches *l)
{
    const uint64_t zero = 0;
    void *here = NULL;
    gyre_status status =
        gyre_bench_device_take(&l->device, GYRE_CONTEXT_DEVICE, sizeof zero, &l->counter);

    if (status == GYRE_OK)
        status = gyre_bench_device_take(&l->device, GYRE_CONTEXT_DEVICE,
                                        (size_t)2 * GYRE_COMMAND_BYTES, &l->there);
    if (status == GYRE_OK)
        status = gyre_bench_device_take(&l->device, GYRE_CONTEXT_PINNED, sizeof *l->here, &here);
    l->here = here;
    if (here)
        gyre_words_init(here);
    return status == GYRE_OK ? gyre_bench_device_copy(&l->device, l->counter, &zero, sizeof zero)
                             : status;
}

static gyre_status make_kernels(launches *l)
{
    gyre_context *const context = l->device.context;
    gyre_status status = gyre_kernel_create(context, &gyre_bench_program, "count",
                                            GYRE_COUNT_SIGNATURE, NULL, &l->count);

    if (status == GYRE_OK)
        status = gyre_kernel_create(context, &gyre_bench_program, "relu", GYRE_RELU_SIGNATURE, NULL,
                                    &l->relu);
    return status;
}

GYRE_INLINE gyre_status launch_count(launches *l)
{
    const gyre_count_parameters parameters = {l->counter};
    const gyre_launch launch = {.parameters = &parameters, .parameters_size = sizeof parameters};

    return gyre_stream_launch(l->device.stream, l->count, &launch);
}

static gyre_status make_graph(launches *l)
{
    const gyre_count_parameters parameters = {l->counter};
    const gyre_launch launch = {.parameters = &parameters, .parameters_size = sizeof parameters};
    const gyre_after nothing = {NULL, 0};
    uint32_t node;
    gyre_status status = gyre_graph_create(l->device.context, NULL, &l->graph);

    if (status == GYRE_OK)
        status = gyre_graph_launch(l->graph, l->count, &launch, nothing, &node);
    return status == GYRE_OK ? gyre_graph_finish(l->graph) : status;
}

/* On an open device. */
static gyre_status furnish(launches *l, gyre_status status, void **out_fixture)
{
    if (status == GYRE_OK)
        status = take_memory(l);
    if (status == GYRE_OK)
        status = make_kernels(l);
    if (status == GYRE_OK)
        status = make_graph(l);
    if (status == GYRE_OK)
        status = gyre_event_create(l->device.context, GYRE_EVENT_ORDER, &l->event);
    if (status != GYRE_OK) {
        launches_teardown(l); /* accepts a half-built one */
        return status;
    }
    *out_fixture = l;
    return GYRE_OK;
}

static gyre_status setup(const gyre_bench_case *c, void **out_fixture)
{
    const gyre_context_options options = {.struct_size = sizeof options, .pending_most = PENDING};
    launches *l = calloc(1, sizeof *l);

    *out_fixture = NULL;
    if (!l)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    return furnish(l, gyre_bench_device_open(&l->device, c, &options), out_fixture);
}

/* A thread runs where the one that starts it may: so the worker gets the last CPU. */
static gyre_status setup_round_trip(const gyre_bench_case *c, void **out_fixture)
{
    const gyre_context_options options = {.struct_size = sizeof options, .workers = 1};
    launches *l = calloc(1, sizeof *l);
    gyre_status status;

    (void)c;
    *out_fixture = NULL;
    if (!l)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    status = gyre_partner_find_cpus(&l->cpus);
    if (status == GYRE_OK)
        status = gyre_thread_pin_self(&l->cpus.cpus[l->cpus.cpu_count - 1], 1);
    if (status == GYRE_OK)
        status = gyre_bench_device_open_on(&l->device, "cpu", &options);
    if (status == GYRE_OK)
        status = gyre_thread_pin_self(l->cpus.cpus, 1);
    return furnish(l, status, out_fixture);
}

static void wait_until_idle(void *fixture, uint64_t iterations)
{
    launches *l = fixture;

    (void)iterations;
    l->failed += gyre_stream_sync(l->device.stream) != GYRE_OK;
}

static void enqueue(void *fixture, uint64_t iterations)
{
    launches *l = fixture;

    for (uint64_t i = 0; i < iterations; i++)
        l->failed += launch_count(l) != GYRE_OK;
}

static void launch_and_sync(void *fixture, uint64_t iterations)
{
    launches *l = fixture;

    for (uint64_t i = 0; i < iterations && l->failed == 0; i++)
        l->failed += launch_count(l) != GYRE_OK || gyre_stream_sync(l->device.stream) != GYRE_OK;
}

static void submit_and_sync(void *fixture, uint64_t iterations)
{
    launches *l = fixture;

    for (uint64_t i = 0; i < iterations && l->failed == 0; i++)
        l->failed += gyre_stream_submit(l->device.stream, l->graph) != GYRE_OK ||
                     gyre_stream_sync(l->device.stream) != GYRE_OK;
}

static void wait_for_event(void *fixture, uint64_t iterations)
{
    launches *l = fixture;

    for (uint64_t i = 0; i < iterations && l->failed == 0; i++) {
        gyre_status status = launch_count(l);

        if (status == GYRE_OK)
            status = gyre_event_record(l->event, l->device.stream);
        if (status == GYRE_OK)
            while ((status = gyre_event_poll(l->event)) == GYRE_AGAIN)
                continue;
        l->failed += status != GYRE_OK;
    }
}

static gyre_status command(launches *l)
{
    gyre_stream *const stream = l->device.stream;
    float *const there = l->there;
    const gyre_relu_parameters parameters = {there, there + GYRE_COMMAND_FLOATS,
                                             GYRE_COMMAND_FLOATS};
    const gyre_launch launch = {.block = {GYRE_COMMAND_FLOATS},
                                .parameters = &parameters,
                                .parameters_size = sizeof parameters};
    gyre_status status = gyre_stream_copy(stream, there, l->here->in, GYRE_COMMAND_BYTES);

    if (status == GYRE_OK)
        status = gyre_stream_launch(stream, l->relu, &launch);
    if (status == GYRE_OK)
        status =
            gyre_stream_copy(stream, l->here->out, there + GYRE_COMMAND_FLOATS, GYRE_COMMAND_BYTES);
    return status == GYRE_OK ? gyre_stream_sync(stream) : status;
}

static void command_each(void *fixture, uint64_t iterations)
{
    launches *l = fixture;

    for (uint64_t i = 0; i < iterations && l->failed == 0; i++) {
        gyre_words_next(l->here);
        l->failed += command(l) != GYRE_OK;
        l->right += gyre_words_came_back(l->here);
    }
}

static bool all_counted(const void *fixture, uint64_t iterations)
{
    const launches *l = fixture;
    uint64_t counted = 0;

    return l->failed == 0 &&
           gyre_bench_device_copy(&l->device, &counted, l->counter, sizeof counted) == GYRE_OK &&
           counted == iterations;
}

static bool all_came_back(const void *fixture, uint64_t iterations)
{
    const launches *l = fixture;

    return l->failed == 0 && l->right == iterations &&
           gyre_relu_is(l->here->out, l->here->in, GYRE_COMMAND_FLOATS);
}

static void tell(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const launches *l = fixture;

    (void)iterations;
    gyre_bench_device_tell(&l->device, facts);
}

static void tell_round_trip(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const launches *l = fixture;

    tell(fixture, iterations, facts);
    gyre_partner_tell(&l->cpus, facts);
}

#define COUNTED "the host, which finds in the end that the kernel has counted each"
#define COMPARED "the host, which compares what came back of each, and all bytes of the last"
#define ON_A_DEVICE                                                                                \
    .axes = {GYRE_DEVICE_AXIS}, .setup = setup, .teardown = launches_teardown, .tell = tell,       \
    .tags = GYRE_TAG_CPU | GYRE_TAG_GPU
#define BARE                                                                                       \
    .axes = {GYRE_BARE_CUDA_AXIS}, .setup = gyre_bare_launch_setup,                                \
    .teardown = gyre_bare_launch_teardown, .tell = gyre_bare_launch_tell, .tags = GYRE_TAG_GPU

static const gyre_bench benches[] = {
    {
        .name = "kernel_latency/launch_enqueue",
        .beside = "kernel_latency/bare_launch_enqueue",
        .t0 = "before the launch, with nothing under way",
        .t1 = "after it has returned; nothing is waited for",
        .observer = COUNTED,
        .prepare = wait_until_idle,
        .batch = GYRE_BATCH_EACH,
        .run = enqueue,
        .check = all_counted,
        ON_A_DEVICE,
    },
    {
        .name = "kernel_latency/bare_launch_enqueue",
        .t0 = "before cuLaunchKernel, with nothing under way",
        .t1 = "after it has returned; nothing is waited for",
        .observer = COUNTED,
        .prepare = gyre_bare_wait_until_idle,
        .batch = GYRE_BATCH_EACH,
        .run = gyre_bare_enqueue,
        .check = gyre_bare_all_counted,
        BARE,
    },
    {
        .name = "kernel_latency/launch_sync",
        .beside = "kernel_latency/bare_launch_sync",
        .t0 = "before the launch",
        .t1 = "after the sync of the stream",
        .observer = COUNTED,
        .run = launch_and_sync,
        .check = all_counted,
        ON_A_DEVICE,
    },
    {
        .name = "kernel_latency/bare_launch_sync",
        .t0 = "before cuLaunchKernel",
        .t1 = "after cuStreamSynchronize, which spins",
        .observer = COUNTED,
        .run = gyre_bare_launch_and_sync,
        .check = gyre_bare_all_counted,
        BARE,
    },
    {
        .name = "kernel_latency/graph_sync",
        .beside = "kernel_latency/bare_graph_sync",
        .t0 = "before the submission of a graph with one launch",
        .t1 = "after the sync of the stream",
        .observer = COUNTED,
        .run = submit_and_sync,
        .check = all_counted,
        ON_A_DEVICE,
    },
    {
        .name = "kernel_latency/bare_graph_sync",
        .t0 = "before cuGraphLaunch of a graph with one launch",
        .t1 = "after cuStreamSynchronize, which spins",
        .observer = COUNTED,
        .run = gyre_bare_graph_and_sync,
        .check = gyre_bare_all_counted,
        BARE,
    },
    {
        .name = "kernel_latency/event_wait",
        .beside = "kernel_latency/bare_event_wait",
        .t0 = "before the launch, behind which an event is recorded",
        .t1 = "after the poll that finds the event reached",
        .observer = COUNTED,
        .run = wait_for_event,
        .check = all_counted,
        ON_A_DEVICE,
    },
    {
        .name = "kernel_latency/bare_event_wait",
        .t0 = "before cuLaunchKernel, behind which an event is recorded",
        .t1 = "after cuEventSynchronize, which spins",
        .observer = COUNTED,
        .run = gyre_bare_wait_for_event,
        .check = gyre_bare_all_counted,
        BARE,
    },
    {
        .name = "kernel_latency/traditional_command",
        .beside = "kernel_latency/bare_traditional_command",
        .t0 = "before 256 bytes are written, copied in, and a kernel launched",
        .t1 = "after 256 bytes were copied out, and the sync",
        .observer = COMPARED,
        .run = command_each,
        .check = all_came_back,
        ON_A_DEVICE,
    },
    {
        .name = "kernel_latency/bare_traditional_command",
        .t0 = "before 256 bytes are written, cuMemcpyHtoDAsync and cuLaunchKernel",
        .t1 = "after cuMemcpyDtoHAsync of 256 bytes, and cuStreamSynchronize, which spins",
        .observer = COMPARED,
        .run = gyre_bare_command_each,
        .check = gyre_bare_all_came_back,
        BARE,
    },
    {
        .name = "kernel_latency/stream_round_trip",
        .t0 = "before the launch of a C function on the CPU, whose worker is on another CPU",
        .t1 = "after the sync of the stream",
        .observer = COUNTED,
        .setup = setup_round_trip,
        .run = launch_and_sync,
        .check = all_counted,
        .tell = tell_round_trip,
        .teardown = launches_teardown,
    },
    {
        .name = "kernel_latency/bare_ping_pong",
        .t0 = "the store that gives the turn away",
        .t1 = "the poll that sees the turn come back from the other thread",
        .observer = "the same thread, which counts the turns of both",
        .setup = gyre_ball_setup,
        .run = gyre_ball_run,
        .check = gyre_ball_check,
        .tell = gyre_ball_tell,
        .teardown = gyre_ball_teardown,
    },
};

const gyre_suite gyre_suite_launch = GYRE_DEVICE_SUITE("launch", benches, NULL, &gyre_device_guard);
