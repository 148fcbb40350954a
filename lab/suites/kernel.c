/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel: how long it takes until a kernel can be launched, and what is known of it then.
 *
 * Kernels come from functions of this program, from source that is compiled each time, or from what
 * the cache kept of that source: one entry of it, since the text is always the same. Compiling
 * keeps nothing in Gyre's cache; a driver may have one of its own, and then it is that which is
 * measured. Every kernel that was made says what it is; the last one is launched.
 *
 * Threads   one.
 * Owns      a fixture per case.
 * Not here  launching (suites/launch.c).
 */
#include "gyre/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "gyre/cache.h"
#include "suites/device_clock.h"
#include "suites/device_kernels.h"
#include "suites/suites.h"

enum { FLOATS = 1000 };

typedef enum origin {
    FROM_FUNCTIONS,
    FROM_SOURCE, /* compiled each time */
    FROM_CACHE,
    FROM_ANY, /* as the device likes it best */
} origin;

typedef struct kernels {
    gyre_bench_device device;
    const gyre_program *program;
    const char *entry;
    origin from;
    gyre_kernel *last; /* that was made */
    uint64_t right;
    gyre_cache_statistics before;
    float in[FLOATS];
    void *block; /* input and output, on the device */
} kernels;

static void kernels_teardown(void *fixture)
{
    kernels *k = fixture;

    gyre_kernel_release(k->last);
    gyre_bench_device_give(&k->device, GYRE_CONTEXT_DEVICE, k->block, 2 * sizeof k->in);
    gyre_bench_device_close(&k->device);
    free(k);
}

/* Whether the device can have kernels of that origin. */
static gyre_status admit(const kernels *k)
{
    const gyre_device *device = k->device.device;
    const bool compiled = k->from == FROM_SOURCE || k->from == FROM_CACHE;

    if (k->from == FROM_FUNCTIONS && !gyre_device_has(device, GYRE_FEATURE_FUNCTIONS))
        return gyre_bench_refuse(GYRE_UNSUPPORTED, "%s runs no functions of this program",
                                 device->name);
    if (compiled && !gyre_device_has(device, GYRE_FEATURE_SOURCE))
        return gyre_bench_refuse(GYRE_UNSUPPORTED, "%s has no compiler", device->name);
    return GYRE_OK;
}

static gyre_status make(const kernels *k, gyre_kernel **out_kernel)
{
    const gyre_kernel_options options = {sizeof options, .no_cache = k->from == FROM_SOURCE};

    return gyre_kernel_create(k->device.context, k->program, k->entry, GYRE_RELU_SIGNATURE,
                              &options, out_kernel);
}

/* The first one, untimed: from now on the cache has it, where it may. */
static gyre_status warm(kernels *k)
{
    gyre_status status = make(k, &k->last);

    k->before.struct_size = sizeof k->before;
    if (status == GYRE_OK)
        status = gyre_cache_describe(&k->before);
    if (status != GYRE_OK || k->from != FROM_CACHE)
        return status;
    if (k->before.folder[0] == '\0')
        return gyre_bench_refuse(GYRE_UNAVAILABLE, "GYRE_CACHE is off");
    if (k->before.store_failures > 0)
        return gyre_bench_refuse(GYRE_UNAVAILABLE, "nothing can be kept in %s", k->before.folder);
    return GYRE_OK;
}

static gyre_status prepare_data(kernels *k)
{
    const gyre_status status =
        gyre_bench_device_take(&k->device, GYRE_CONTEXT_DEVICE, 2 * sizeof k->in, &k->block);

    gyre_bench_device_numbers(k->in, FLOATS, 7);
    return status == GYRE_OK ? gyre_bench_device_copy(&k->device, k->block, k->in, sizeof k->in)
                             : status;
}

static gyre_status setup(const gyre_bench_case *c, origin from, const gyre_program *program,
                         const char *entry, void **out_fixture)
{
    kernels *k = calloc(1, sizeof *k);
    gyre_status status;

    *out_fixture = NULL;
    if (!k)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    k->program = program;
    k->entry = entry;
    k->from = from;
    status = gyre_bench_device_open(&k->device, c, NULL);
    if (status == GYRE_OK)
        status = admit(k);
    if (status == GYRE_OK)
        status = warm(k);
    if (status == GYRE_OK)
        status = prepare_data(k);
    if (status != GYRE_OK) {
        kernels_teardown(k); /* accepts a half-built one */
        return status;
    }
    *out_fixture = k;
    return GYRE_OK;
}

/* relu, as the last of many functions. */
static void last_of_many(const gyre_block *block, const void *parameters)
{
    gyre_bench_program.functions[1].function(block, parameters);
}

static const gyre_entry many_functions[] = {
    {"entry_01", last_of_many},
    {"entry_02", last_of_many},
    {"entry_03", last_of_many},
    {"entry_04", last_of_many},
    {"entry_05", last_of_many},
    {"entry_06", last_of_many},
    {"entry_07", last_of_many},
    {"entry_08", last_of_many},
    {"entry_09", last_of_many},
    {"entry_10", last_of_many},
    {"entry_11", last_of_many},
    {"entry_12", last_of_many},
    {"entry_13", last_of_many},
    {"entry_14", last_of_many},
    {"entry_15", last_of_many},
    {"entry_16", last_of_many},
    {NULL, NULL},
};

static const gyre_program many_entries = {
    .struct_size = sizeof(gyre_program),
    .name = "many_entries",
    .functions = many_functions,
};

static gyre_status setup_relu(const gyre_bench_case *c, origin from, void **out_fixture)
{
    return setup(c, from, &gyre_bench_program, "relu", out_fixture);
}

GYRE_SETUP_WITH(setup_functions, setup_relu, FROM_FUNCTIONS)
GYRE_SETUP_WITH(setup_source, setup_relu, FROM_SOURCE)
GYRE_SETUP_WITH(setup_cached, setup_relu, FROM_CACHE)
GYRE_SETUP_WITH(setup_any, setup_relu, FROM_ANY)

static gyre_status setup_lookup(const gyre_bench_case *c, void **out_fixture)
{
    return setup(c, FROM_FUNCTIONS, &many_entries, "entry_16", out_fixture);
}

/* Whether the kernel is what it should be, and from where. */
static bool is_it(const kernels *k, const gyre_kernel *kernel)
{
    gyre_kernel_facts facts = {.struct_size = sizeof facts};

    return gyre_kernel_describe(kernel, &facts) == GYRE_OK && strcmp(facts.name, k->entry) == 0 &&
           facts.argument_count == 3 && facts.parameters_bytes == 20 &&
           (k->from == FROM_ANY || (facts.from_cache == (k->from == FROM_CACHE) &&
                                    (facts.build_ns > 0) == (k->from == FROM_SOURCE)));
}

static void make_each(void *fixture, uint64_t iterations)
{
    kernels *k = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_kernel_release(k->last);
        if (make(k, &k->last) != GYRE_OK)
            break; /* the check will miss it */
        k->right += is_it(k, k->last);
    }
}

static void describe_each(void *fixture, uint64_t iterations)
{
    kernels *k = fixture;
    uint64_t right = 0;

    for (uint64_t i = 0; i < iterations; i++)
        right += is_it(k, k->last);
    k->right += right;
}

/* All were right, and the last one works. */
static bool all_right(const void *fixture, uint64_t iterations)
{
    const kernels *k = fixture;
    float *const there = k->block, out[FLOATS] = {0};
    const gyre_relu_parameters parameters = {there, there + FLOATS, FLOATS};
    const gyre_launch launch = gyre_relu_launch(&parameters);

    return k->right == iterations && k->last &&
           gyre_stream_launch(k->device.stream, k->last, &launch) == GYRE_OK &&
           gyre_bench_device_copy(&k->device, out, there + FLOATS, sizeof out) == GYRE_OK &&
           gyre_relu_is(out, k->in, FLOATS);
}

static void tell_kernel(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const kernels *k = fixture;
    gyre_kernel_facts kernel = {.struct_size = sizeof kernel};

    (void)iterations;
    gyre_bench_device_tell(&k->device, facts);
    if (k->last && gyre_kernel_describe(k->last, &kernel) == GYRE_OK)
        gyre_bench_count(facts, "image_bytes", (double)kernel.image_bytes);
}

static void tell_cache(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const kernels *k = fixture;
    gyre_cache_statistics now = {.struct_size = sizeof now};
    double asked;

    tell_kernel(fixture, iterations, facts);
    if (gyre_cache_describe(&now) != GYRE_OK)
        return;
    asked = (double)(now.hits - k->before.hits + now.misses - k->before.misses);
    gyre_bench_count(facts, "hit_rate",
                     asked > 0 ? (double)(now.hits - k->before.hits) / asked : 0);
}

#define OF_A_KERNEL                                                                                \
    .axes = {GYRE_DEVICE_AXIS}, .check = all_right, .teardown = kernels_teardown,                  \
    .observer = "the same thread, which reads what each kernel is, and launches the last",         \
    .tags = GYRE_TAG_CPU | GYRE_TAG_GPU

static const gyre_bench benches[] = {
    {
        .name = "kernel_operations/create",
        .t0 = "before the last kernel is released, and one created from a C function",
        .t1 = "after it has told what it is",
        .setup = setup_functions,
        .run = make_each,
        .tell = tell_kernel,
        OF_A_KERNEL,
    },
    {
        .name = "kernel_operations/compile",
        .t0 = "before the last kernel is released, and one created from source, without a cache",
        .t1 = "after it has told what it is",
        .setup = setup_source,
        .run = make_each,
        .tell = tell_kernel,
        OF_A_KERNEL,
    },
    {
        .name = "kernel_operations/compile_cached",
        .t0 = "before the last kernel is released, and one created from source that is cached",
        .t1 = "after it has told what it is",
        .setup = setup_cached,
        .run = make_each,
        .tell = tell_cache,
        OF_A_KERNEL,
    },
    {
        .name = "kernel_operations/entry_lookup",
        .t0 = "before the last kernel is released, and the last of 16 entries created",
        .t1 = "after it has told what it is",
        .setup = setup_lookup,
        .run = make_each,
        .tell = tell_kernel,
        OF_A_KERNEL,
    },
    {
        .name = "kernel_operations/metadata",
        .t0 = "before a kernel is asked what it is",
        .t1 = "after name, arguments and origin were compared",
        .setup = setup_any,
        .run = describe_each,
        .tell = tell_kernel,
        OF_A_KERNEL,
    },
};

const gyre_suite gyre_suite_kernel = GYRE_DEVICE_SUITE("kernel", benches, NULL, &gyre_device_guard);
