/* SPDX-License-Identifier: Apache-2.0
 *
 * gpu_batch: many small operations on a device, and what saves the way there.
 *
 * 20 times relu of a few floats as 20 launches, as one launch of all floats, as a graph in which
 * each waits for the last, as one in which none does, as that one merged, and as messages to a crew
 * of actors. The floats are the same each time, so the same answer is expected.
 * `gpu_batch_processing` is the host's time, sync included, beside the bare driver's;
 * `gpu_batch_device` is what of it the device was busy.
 *
 * Threads   the case's own, and those of the device.
 * Owns      a fixture per case.
 * Not here  a single launch (suites/launch.c), the crew (suites/gpu_batch_crew.h).
 */
#include <stdlib.h>
#include <string.h>

#include "gyre/graph.h"
#include "suites/bare_cuda.h"
#include "suites/device_clock.h"
#include "suites/device_kernels.h"
#include "suites/gpu_batch_crew.h"
#include "suites/suites.h"

enum { OPS = 20, PENDING = 64, FLOATS_MOST = 1 << 20 };

typedef enum way {
    MANY,
    LARGE,
    CHAIN,
    INDEPENDENTS,
    MERGED,
    CREW,
    CREW_OF_BLOCKS,
} way;

/* The floats of all operations, here; for the bare driver, too. */
typedef struct floats {
    uint32_t each; /* of one operation */
    uint32_t all;
    float *in, *out;
} floats;

typedef struct batch {
    gyre_bench_device device;
    floats floats;
    void *there; /* input, then output */
    way way;
    gyre_kernel *relu;
    gyre_graph *graph;
    gyre_relu_crew crew;
    uint32_t launch_count;
    gyre_relu_parameters parameters[OPS];
    gyre_launch launches[OPS];
    uint64_t tickets; /* before the first run */
    uint64_t spoiled; /* outputs, of which each took one more */
    uint64_t failed;
} batch;

static gyre_status floats_init(floats *f, const gyre_bench_case *c)
{
    const int64_t each = gyre_bench_axis(c, "floats");

    if (each < 1 || each > FLOATS_MOST)
        return gyre_bench_refuse(GYRE_INVALID, "an operation has 1 to %d floats", FLOATS_MOST);
    f->each = (uint32_t)each;
    f->all = f->each * OPS;
    f->in = calloc(f->all, sizeof *f->in);
    f->out = calloc(f->all, sizeof *f->out);
    if (!f->in || !f->out)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for %u floats", f->all);
    gyre_bench_device_numbers(f->in, f->all, 3);
    return GYRE_OK;
}

static void floats_fini(floats *f)
{
    free(f->in);
    free(f->out);
}

static size_t floats_bytes(const floats *f)
{
    return f->all * sizeof(float);
}

static void batch_teardown(void *fixture)
{
    batch *b = fixture;

    gyre_relu_crew_close(&b->crew);
    gyre_graph_destroy(b->graph);
    gyre_kernel_release(b->relu);
    gyre_bench_device_give(&b->device, GYRE_CONTEXT_DEVICE, b->there, 2 * floats_bytes(&b->floats));
    gyre_bench_device_close(&b->device);
    floats_fini(&b->floats);
    free(b);
}

/* In the place of the output what is no number. */
static gyre_status spoil(batch *b)
{
    const gyre_fill fill = {.to = (float *)b->there + b->floats.all,
                            .pattern = {0xff},
                            .pattern_size = 1,
                            .count = floats_bytes(&b->floats)};
    const gyre_status status = gyre_stream_fill(b->device.stream, &fill);

    return status == GYRE_OK ? gyre_stream_sync(b->device.stream) : status;
}

static void plan(batch *b)
{
    float *const in = b->there, *const out = in + b->floats.all;

    b->launch_count = b->way == LARGE ? 1 : OPS;
    for (uint32_t i = 0; i < b->launch_count; i++) {
        const size_t at = (size_t)i * b->floats.each;

        b->parameters[i] = (gyre_relu_parameters){in + at, out + at,
                                                  b->way == LARGE ? b->floats.all : b->floats.each};
        b->launches[i] = gyre_relu_launch(&b->parameters[i]);
    }
}

static gyre_status make_graph(batch *b)
{
    const gyre_graph_options options = {.struct_size = sizeof options, .merge = b->way == MERGED};
    gyre_status status = gyre_graph_create(b->device.context, &options, &b->graph);
    uint32_t node = 0;

    for (uint32_t i = 0; i < b->launch_count && status == GYRE_OK; i++) {
        const uint32_t last = node;
        const gyre_after after = {&last, b->way == CHAIN && i > 0 ? 1 : 0};

        status = gyre_graph_launch(b->graph, b->relu, &b->launches[i], after, &node);
    }
    return status == GYRE_OK ? gyre_graph_finish(b->graph) : status;
}

static uint64_t tickets(const batch *b)
{
    gyre_stream_statistics s = {.struct_size = sizeof s};

    return gyre_stream_describe(b->device.stream, &s) == GYRE_OK ? s.completed : 0;
}

static gyre_status hand_in_one(batch *b)
{
    gyre_status status = GYRE_OK;

    if (b->crew.port)
        return gyre_relu_crew_run(&b->crew);
    if (b->graph)
        return gyre_stream_submit(b->device.stream, b->graph);
    for (uint32_t i = 0; i < b->launch_count && status == GYRE_OK; i++)
        status = gyre_stream_launch(b->device.stream, b->relu, &b->launches[i]);
    return status;
}

static gyre_status open_crew(batch *b)
{
    float *const in = b->there;
    const gyre_relu_work work = {in, in + b->floats.all, OPS, b->floats.each,
                                 b->way == CREW_OF_BLOCKS};

    return gyre_relu_crew_open(&b->crew, b->device.context, &work);
}

/* Everything is handed in once before it counts: a merged graph carries its table over then. */
static gyre_status furnish(batch *b)
{
    const gyre_kernel_options options = {.struct_size = sizeof options, .many = "relu_many"};
    gyre_status status = gyre_bench_device_take(&b->device, GYRE_CONTEXT_DEVICE,
                                                2 * floats_bytes(&b->floats), &b->there);

    if (status == GYRE_OK)
        status = gyre_kernel_create(b->device.context, &gyre_bench_program, "relu",
                                    GYRE_RELU_SIGNATURE, &options, &b->relu);
    if (status != GYRE_OK)
        return status;
    plan(b);
    if (b->way >= CREW)
        status = open_crew(b);
    else if (b->way >= CHAIN)
        status = make_graph(b);
    if (status == GYRE_OK)
        status = hand_in_one(b);
    if (status == GYRE_OK)
        status =
            gyre_bench_device_copy(&b->device, b->there, b->floats.in, floats_bytes(&b->floats));
    b->tickets = tickets(b);
    return status;
}

static gyre_status setup(const gyre_bench_case *c, way how, void **out_fixture)
{
    const gyre_context_options options = {.struct_size = sizeof options, .pending_most = PENDING};
    batch *b = calloc(1, sizeof *b);
    gyre_status status;

    *out_fixture = NULL;
    if (!b)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    b->way = how;
    status = floats_init(&b->floats, c);
    if (status == GYRE_OK)
        status = gyre_bench_device_open(&b->device, c, &options);
    if (status == GYRE_OK)
        status = furnish(b);
    if (status != GYRE_OK) {
        batch_teardown(b); /* accepts a half-built one */
        return status;
    }
    *out_fixture = b;
    return GYRE_OK;
}

GYRE_SETUP_WITH(setup_many, setup, MANY)
GYRE_SETUP_WITH(setup_large, setup, LARGE)
GYRE_SETUP_WITH(setup_chain, setup, CHAIN)
GYRE_SETUP_WITH(setup_independents, setup, INDEPENDENTS)
GYRE_SETUP_WITH(setup_merged, setup, MERGED)
GYRE_SETUP_WITH(setup_crew, setup, CREW)
GYRE_SETUP_WITH(setup_crew_of_blocks, setup, CREW_OF_BLOCKS)

static void prepare(void *fixture, uint64_t iterations)
{
    batch *b = fixture;

    (void)iterations;
    b->failed += spoil(b) != GYRE_OK;
    b->spoiled++;
}

static void hand_in(void *fixture, uint64_t iterations)
{
    batch *b = fixture;

    for (uint64_t i = 0; i < iterations && b->failed == 0; i++)
        b->failed += hand_in_one(b) != GYRE_OK;
}

static void hand_in_and_sync(void *fixture, uint64_t iterations)
{
    batch *b = fixture;

    for (uint64_t i = 0; i < iterations && b->failed == 0; i++)
        b->failed += hand_in_one(b) != GYRE_OK || gyre_stream_sync(b->device.stream) != GYRE_OK;
}

/* Everything that was handed in is through, and all floats are right. */
static bool all_right(const void *fixture, uint64_t iterations)
{
    const batch *b = fixture;
    const uint64_t each = b->crew.port ? 0 : b->graph ? 1 : b->launch_count;
    const float *out = (const float *)b->there + b->floats.all;

    return b->failed == 0 && gyre_stream_sync(b->device.stream) == GYRE_OK &&
           tickets(b) == b->tickets + b->device.flushes + b->spoiled + iterations * each &&
           gyre_bench_device_copy(&b->device, b->floats.out, out, floats_bytes(&b->floats)) ==
               GYRE_OK &&
           gyre_relu_is(b->floats.out, b->floats.in, b->floats.all);
}

static void tell(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const batch *b = fixture;
    gyre_graph_facts graph = {.struct_size = sizeof graph};

    (void)iterations;
    gyre_bench_device_tell(&b->device, facts);
    if (b->crew.port)
        gyre_relu_crew_tell(&b->crew, facts);
    if (!b->graph || gyre_graph_describe(b->graph, &graph) != GYRE_OK)
        return;
    gyre_bench_count(facts, "nodes", graph.nodes);
    gyre_bench_count(facts, "nodes_submitted", graph.submitted);
    gyre_bench_note(facts, "graph",
                    graph.native ? "submitted by the driver as one" : "submitted node by node");
}

static uint64_t count_floats(const gyre_bench_case *c)
{
    return OPS * (uint64_t)gyre_bench_axis(c, "floats");
}

static uint64_t count_bytes(const gyre_bench_case *c)
{
    return 2 * sizeof(float) * count_floats(c);
}

/* The bare driver */

typedef struct bare_batch {
    gyre_bare_cuda cuda;
    floats floats;
    gyre_cu_pointer there; /* input, then output */
    bool large;
} bare_batch;

static void bare_teardown(void *fixture)
{
    bare_batch *b = fixture;

    if (b->there)
        b->cuda.memory_give(b->there);
    gyre_bare_cuda_close(&b->cuda);
    floats_fini(&b->floats);
    free(b);
}

static gyre_status bare_carry_over(bare_batch *b)
{
    const gyre_bare_cuda *const cuda = &b->cuda;
    const size_t bytes = floats_bytes(&b->floats);
    gyre_cu_result result = cuda->memory_take(&b->there, 2 * bytes);

    if (result == 0)
        result = cuda->copy_in(b->there, b->floats.in, bytes);
    return gyre_bare_cuda_checked(cuda, "carrying the floats over", result);
}

static gyre_status bare_setup(const gyre_bench_case *c, bool large, void **out_fixture)
{
    bare_batch *b = calloc(1, sizeof *b);
    gyre_status status;

    *out_fixture = NULL;
    if (!b)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    b->large = large;
    status = floats_init(&b->floats, c);
    if (status == GYRE_OK)
        status = gyre_bare_cuda_open(&b->cuda);
    if (status == GYRE_OK)
        status = bare_carry_over(b);
    if (status != GYRE_OK) {
        bare_teardown(b); /* accepts a half-built one */
        return status;
    }
    *out_fixture = b;
    return GYRE_OK;
}

GYRE_SETUP_WITH(bare_setup_many, bare_setup, false)
GYRE_SETUP_WITH(bare_setup_large, bare_setup, true)

static void bare_prepare(void *fixture, uint64_t iterations)
{
    bare_batch *b = fixture;
    const size_t bytes = floats_bytes(&b->floats);

    (void)iterations;
    memset(b->floats.out, 0xff, bytes);
    gyre_bare_cuda_did(&b->cuda, b->cuda.copy_in(b->there + bytes, b->floats.out, bytes));
}

static void bare_launch(bare_batch *b, uint32_t first, uint32_t count)
{
    gyre_bare_cuda *const cuda = &b->cuda;
    gyre_cu_pointer in = b->there + first * sizeof(float), out = in + floats_bytes(&b->floats);
    void *parameters[] = {&in, &out, &count};

    gyre_bare_cuda_did(cuda,
                       cuda->launch(cuda->relu, (count + GYRE_RELU_BLOCK - 1) / GYRE_RELU_BLOCK, 1,
                                    1, GYRE_RELU_BLOCK, 1, 1, 0, cuda->stream, parameters, NULL));
}

static void bare_launch_and_sync(void *fixture, uint64_t iterations)
{
    bare_batch *b = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        if (b->large)
            bare_launch(b, 0, b->floats.all);
        for (uint32_t op = 0; !b->large && op < OPS; op++)
            bare_launch(b, op * b->floats.each, b->floats.each);
        gyre_bare_cuda_did(&b->cuda, b->cuda.stream_sync(b->cuda.stream));
    }
}

static bool bare_all_right(const void *fixture, uint64_t iterations)
{
    const bare_batch *b = fixture;
    const size_t bytes = floats_bytes(&b->floats);

    (void)iterations;
    return b->cuda.failures == 0 && b->cuda.copy_out(b->floats.out, b->there + bytes, bytes) == 0 &&
           gyre_relu_is(b->floats.out, b->floats.in, b->floats.all);
}

static void bare_tell(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    (void)iterations;
    gyre_bare_cuda_tell(&((const bare_batch *)fixture)->cuda, facts);
}

#define FLOATS_AXIS GYRE_AXIS("floats", 256, 16384)
#define OBSERVER .observer = "the host, which compares every float of the last batch"
#define ON_A_DEVICE(way_setup, how)                                                                \
    .axes = {GYRE_DEVICE_AXIS, FLOATS_AXIS}, OBSERVER, .setup = way_setup, .prepare = prepare,     \
    .run = how, .check = all_right, .teardown = batch_teardown, .tell = tell,                      \
    .items = count_floats, .bytes = count_bytes, .tags = GYRE_TAG_CPU | GYRE_TAG_GPU
#define BARE                                                                                       \
    .axes = {GYRE_BARE_CUDA_AXIS, FLOATS_AXIS}, OBSERVER, .prepare = bare_prepare,                 \
    .run = bare_launch_and_sync, .check = bare_all_right, .teardown = bare_teardown,               \
    .tell = bare_tell, .items = count_floats, .bytes = count_bytes, .tags = GYRE_TAG_GPU
#define SYNCED .t1 = "after the sync of the stream"
#define ANSWERED .t1 = "after the answers to all"
#define DONE .t1 = "the device is done with the last"

#define MANY_T0 .t0 = "before the first of 20 launches"
#define LARGE_T0 .t0 = "before the launch for 20 times the floats"
#define CHAIN_T0 .t0 = "before the submission of a graph of 20 launches, one after the other"
#define INDEPENDENTS_T0 .t0 = "before the submission of a graph of 20 launches in any order"
#define CREW_T0 .t0 = "before the first of 20 messages is written to the mailbox of an actor"
#define MERGED_T0 .t0 = "before the submission of a graph of 20 launches that are merged"

static const gyre_bench benches[] = {
    {
        .name = "gpu_batch_processing/many_small_ops",
        .beside = "gpu_batch_processing/bare_many_small_ops",
        MANY_T0,
        SYNCED,
        ON_A_DEVICE(setup_many, hand_in_and_sync),
    },
    {
        .name = "gpu_batch_processing/bare_many_small_ops",
        .t0 = "before the first of 20 calls of cuLaunchKernel",
        .t1 = "after cuStreamSynchronize, which spins",
        .setup = bare_setup_many,
        BARE,
    },
    {
        .name = "gpu_batch_processing/single_large_op",
        .beside = "gpu_batch_processing/bare_single_large_op",
        LARGE_T0,
        SYNCED,
        ON_A_DEVICE(setup_large, hand_in_and_sync),
    },
    {
        .name = "gpu_batch_processing/bare_single_large_op",
        .t0 = "before cuLaunchKernel for 20 times the floats",
        .t1 = "after cuStreamSynchronize, which spins",
        .setup = bare_setup_large,
        BARE,
    },
    {
        .name = "gpu_batch_processing/graph_chain",
        CHAIN_T0,
        SYNCED,
        ON_A_DEVICE(setup_chain, hand_in_and_sync),
    },
    {
        .name = "gpu_batch_processing/graph_independents",
        INDEPENDENTS_T0,
        SYNCED,
        ON_A_DEVICE(setup_independents, hand_in_and_sync),
    },
    {
        .name = "gpu_batch_processing/merged",
        MERGED_T0,
        SYNCED,
        ON_A_DEVICE(setup_merged, hand_in_and_sync),
    },
    {
        .name = "gpu_batch_processing/crew",
        CREW_T0,
        ANSWERED,
        ON_A_DEVICE(setup_crew, hand_in),
    },
    {
        .name = "gpu_batch_processing/crew_of_blocks",
        CREW_T0,
        ANSWERED,
        ON_A_DEVICE(setup_crew_of_blocks, hand_in),
    },
};

static const gyre_bench device_benches[] = {
    {.name = "gpu_batch_device/many_small_ops", MANY_T0, DONE, ON_A_DEVICE(setup_many, hand_in)},
    {.name = "gpu_batch_device/single_large_op", LARGE_T0, DONE, ON_A_DEVICE(setup_large, hand_in)},
    {.name = "gpu_batch_device/graph_chain", CHAIN_T0, DONE, ON_A_DEVICE(setup_chain, hand_in)},
    {
        .name = "gpu_batch_device/graph_independents",
        INDEPENDENTS_T0,
        DONE,
        ON_A_DEVICE(setup_independents, hand_in),
    },
    {.name = "gpu_batch_device/merged", MERGED_T0, DONE, ON_A_DEVICE(setup_merged, hand_in)},
};

const gyre_suite gyre_suite_gpu_batch =
    GYRE_DEVICE_SUITE("gpu_batch", benches, NULL, &gyre_device_guard);
const gyre_suite gyre_suite_gpu_batch_device =
    GYRE_DEVICE_SUITE("gpu_batch_device", device_benches, &gyre_device_clock, &gyre_device_guard);
