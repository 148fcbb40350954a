/* SPDX-License-Identifier: Apache-2.0
 *
 * device_error: what it costs when a device, or its caller, does wrong.
 *
 * Wrong calls are made on every device: they are refused before the driver hears of them, and what
 * was right before works after. What a device does wrong, the null device does as it is told
 * (docs/backends.md): it refuses launches, faults, and loses its context.
 *
 * Threads   one.
 * Owns      a fixture per case.
 * Not here  what survives (the conformance tests), failing memory (suites/device_memory.c).
 */
#include <stdlib.h>

#include "gyre/log.h"

#include "suites/device_clock.h"
#include "suites/device_kernels.h"
#include "suites/suites.h"

enum { FIRST_COUNT = 41 };

typedef struct errors {
    gyre_bench_device device;
    gyre_kernel *count;
    uint64_t *counter; /* on the device: FIRST_COUNT, and one for every launch that ran */
    const char *faults;
    uint64_t right;
} errors;

static void errors_teardown(void *fixture)
{
    errors *e = fixture;

    gyre_kernel_release(e->count);
    gyre_bench_device_give(&e->device, GYRE_CONTEXT_DEVICE, e->counter, sizeof *e->counter);
    gyre_bench_device_close(&e->device);
    free(e);
}

static gyre_status launch(const errors *e)
{
    const gyre_count_parameters parameters = {e->counter};
    const gyre_launch one = {.parameters = &parameters, .parameters_size = sizeof parameters};

    return gyre_stream_launch(e->device.stream, e->count, &one);
}

static gyre_status furnish(errors *e, const char *backend)
{
    const gyre_context_options options = {.struct_size = sizeof options, .faults = e->faults};
    const uint64_t first = FIRST_COUNT;
    void *counter = NULL;
    gyre_status status =
        gyre_bench_device_open_on(&e->device, backend, e->faults ? &options : NULL);

    if (status == GYRE_OK)
        status = gyre_bench_device_take(&e->device, GYRE_CONTEXT_DEVICE, sizeof first, &counter);
    e->counter = counter;
    if (status == GYRE_OK)
        status = gyre_kernel_create(e->device.context, &gyre_bench_program, "count",
                                    GYRE_COUNT_SIGNATURE, NULL, &e->count);
    return status == GYRE_OK ? gyre_bench_device_copy(&e->device, e->counter, &first, sizeof first)
                             : status;
}

static gyre_status errors_setup(const char *backend, const char *faults, void **out_fixture)
{
    errors *e = calloc(1, sizeof *e);
    gyre_status status;

    *out_fixture = NULL;
    if (!e)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    e->faults = faults;
    status = furnish(e, backend);
    if (status != GYRE_OK) {
        errors_teardown(e); /* accepts a half-built one */
        return status;
    }
    *out_fixture = e;
    return GYRE_OK;
}

static gyre_status setup(const gyre_bench_case *c, void **out_fixture)
{
    return errors_setup(gyre_bench_device_word(c), NULL, out_fixture);
}

static gyre_status setup_null(const gyre_bench_case *c, const char *faults, void **out_fixture)
{
    (void)c;
    return errors_setup("null", faults, out_fixture);
}

/* The context's trial has two submissions, the counter's first value is the third. */
GYRE_SETUP_WITH(setup_refusing, setup_null, "refuse@4..")
GYRE_SETUP_WITH(setup_faulting, setup_null, "fault@1")

/* One launch faults, and the stream has found that. */
static gyre_status setup_latched(const gyre_bench_case *c, void **out_fixture)
{
    gyre_status status = setup_faulting(c, out_fixture);
    errors *e = *out_fixture;

    if (status != GYRE_OK || !e)
        return status;
    status = launch(e);
    if (status == GYRE_OK)
        status = gyre_stream_sync(e->device.stream);
    if (status == GYRE_DEVICE_LOST && gyre_stream_fault(e->device.stream))
        return GYRE_OK;
    errors_teardown(e);
    *out_fixture = NULL;
    return gyre_bench_refuse(GYRE_INVALID, "the null device did not fault");
}

static void wrong_parameters(void *fixture, uint64_t iterations)
{
    errors *e = fixture;
    const uint64_t parameters[2] = {0};
    const gyre_launch wrong = {.parameters = parameters, .parameters_size = sizeof parameters};

    for (uint64_t i = 0; i < iterations; i++)
        e->right += gyre_stream_launch(e->device.stream, e->count, &wrong) == GYRE_INVALID;
}

static void wrong_block(void *fixture, uint64_t iterations)
{
    errors *e = fixture;
    const gyre_count_parameters parameters = {e->counter};
    const gyre_launch wrong = {
        .block = {e->device.device->block_threads_most + 1},
        .parameters = &parameters,
        .parameters_size = sizeof parameters,
    };

    for (uint64_t i = 0; i < iterations; i++)
        e->right += gyre_stream_launch(e->device.stream, e->count, &wrong) == GYRE_INVALID;
}

static void wrong_fill(void *fixture, uint64_t iterations)
{
    errors *e = fixture;
    const gyre_fill wrong = {.to = e->counter, .pattern = {1, 2, 3}, .pattern_size = 3, .count = 1};

    for (uint64_t i = 0; i < iterations; i++)
        e->right += gyre_stream_fill(e->device.stream, &wrong) == GYRE_INVALID;
}

static void wrong_entry(void *fixture, uint64_t iterations)
{
    errors *e = fixture;
    gyre_kernel *kernel;

    for (uint64_t i = 0; i < iterations; i++)
        e->right += gyre_kernel_create(e->device.context, &gyre_bench_program, "none_of_that_name",
                                       "", NULL, &kernel) == GYRE_NOT_FOUND;
}

/* All were refused, nothing of it ran, and a right launch still does. */
static bool refused_and_works(const void *fixture, uint64_t iterations)
{
    const errors *e = fixture;
    uint64_t before = 0, after = 0;

    return e->right == iterations &&
           gyre_bench_device_copy(&e->device, &before, e->counter, sizeof before) == GYRE_OK &&
           before == FIRST_COUNT && launch(e) == GYRE_OK &&
           gyre_bench_device_copy(&e->device, &after, e->counter, sizeof after) == GYRE_OK &&
           after == FIRST_COUNT + 1;
}

static void refused_launch(void *fixture, uint64_t iterations)
{
    errors *e = fixture;

    for (uint64_t i = 0; i < iterations; i++)
        e->right += launch(e) == GYRE_NO_MEMORY;
}

/* All were refused; the context does not mind. */
static bool refused_and_lives(const void *fixture, uint64_t iterations)
{
    const errors *e = fixture;
    gyre_stream_statistics now = {.struct_size = sizeof now};

    return e->right == iterations && gyre_context_check(e->device.context) == GYRE_OK &&
           gyre_stream_describe(e->device.stream, &now) == GYRE_OK && now.submitted == 1 &&
           gyre_stream_sync(e->device.stream) == GYRE_OK;
}

static void launch_on_a_fault(void *fixture, uint64_t iterations)
{
    errors *e = fixture;

    for (uint64_t i = 0; i < iterations; i++)
        e->right += launch(e) == GYRE_DEVICE_LOST;
}

static void sync_on_a_fault(void *fixture, uint64_t iterations)
{
    errors *e = fixture;

    for (uint64_t i = 0; i < iterations; i++)
        e->right += gyre_stream_sync(e->device.stream) == GYRE_DEVICE_LOST;
}

/* The fault is the one there was, with the kernel's name. */
static bool fault_is_kept(const void *fixture, uint64_t iterations)
{
    const errors *e = fixture;
    const gyre_error *fault = gyre_stream_fault(e->device.stream);

    return e->right == iterations && fault && fault->status == GYRE_DEVICE_LOST &&
           gyre_context_check(e->device.context) == GYRE_DEVICE_LOST;
}

/* A context of its own for every iteration: opened, a launch, a sync, closed. Each loss is logged,
 * and goes nowhere. */

static void swallow(void *user, gyre_log_level level, const char *topic, const char *text)
{
    (void)user;
    (void)level;
    (void)topic;
    (void)text;
}

static void cycle_teardown(void *fixture)
{
    gyre_log_set_sink(NULL, NULL);
    free(fixture);
}

static gyre_status setup_cycle(const gyre_bench_case *c, const char *faults, void **out_fixture)
{
    errors *e = calloc(1, sizeof *e);
    const gyre_device *device;
    gyre_status status;

    (void)c;
    *out_fixture = NULL;
    if (!e)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    e->faults = faults;
    status = gyre_bench_device_find("null", &device);
    if (status != GYRE_OK) {
        free(e);
        return status;
    }
    gyre_log_set_sink(swallow, NULL);
    *out_fixture = e;
    return GYRE_OK;
}

GYRE_SETUP_WITH(setup_lost_cycle, setup_cycle, "fault@1")
GYRE_SETUP_WITH(setup_sound_cycle, setup_cycle, "")

static void open_launch_close(void *fixture, uint64_t iterations)
{
    errors *e = fixture;
    const bool faults = e->faults[0] != '\0';

    for (uint64_t i = 0; i < iterations; i++) {
        errors one = {.faults = e->faults};
        uint64_t count = 0;
        gyre_status status = furnish(&one, "null");
        bool right = status == GYRE_OK && launch(&one) == GYRE_OK;

        status = right ? gyre_stream_sync(one.device.stream) : status;
        right = right && status == (faults ? GYRE_DEVICE_LOST : GYRE_OK);
        if (right && !faults)
            right =
                gyre_bench_device_copy(&one.device, &count, one.counter, sizeof count) == GYRE_OK &&
                count == FIRST_COUNT + 1;
        else if (right)
            right = gyre_stream_fault(one.device.stream) != NULL;
        e->right += right;
        gyre_kernel_release(one.count);
        gyre_bench_device_give(&one.device, GYRE_CONTEXT_DEVICE, one.counter, sizeof count);
        gyre_bench_device_close(&one.device);
    }
}

static bool all_went_so(const void *fixture, uint64_t iterations)
{
    const errors *e = fixture;

    return e->right == iterations;
}

static void tell_device(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const errors *e = fixture;

    (void)iterations;
    gyre_bench_device_tell(&e->device, facts);
}

#define WRONG                                                                                      \
    .axes = {GYRE_DEVICE_AXIS_NULL}, .tags = GYRE_TAG_CPU | GYRE_TAG_GPU, .t0 = "before the call", \
    .t1 = "after it was refused", .setup = setup, .check = refused_and_works, .tell = tell_device, \
    .teardown = errors_teardown,                                                                   \
    .observer = "the host, which counts refusals and sees that only a right launch counts"

static const gyre_bench benches[] = {
    {
        .name = "device_error_path/wrong_parameters",
        .run = wrong_parameters,
        WRONG,
    },
    {
        .name = "device_error_path/block_too_large",
        .run = wrong_block,
        WRONG,
    },
    {
        .name = "device_error_path/wrong_fill",
        .run = wrong_fill,
        WRONG,
    },
    {
        .name = "device_error_path/wrong_entry",
        .run = wrong_entry,
        WRONG,
    },
    {
        .name = "device_error_path/refused_launch",
        .t0 = "before a launch that the null device refuses",
        .t1 = "after its return",
        .observer = "the host, which counts GYRE_NO_MEMORY",
        .setup = setup_refusing,
        .run = refused_launch,
        .check = refused_and_lives,
        .teardown = errors_teardown,
    },
    {
        .name = "device_error_path/launch_on_a_fault",
        .t0 = "before a launch to a stream that has a fault",
        .t1 = "after its return",
        .observer = "the host, which counts GYRE_DEVICE_LOST",
        .setup = setup_latched,
        .run = launch_on_a_fault,
        .check = fault_is_kept,
        .teardown = errors_teardown,
    },
    {
        .name = "device_error_path/sync_on_a_fault",
        .t0 = "before a sync of a stream that has a fault",
        .t1 = "after its return",
        .observer = "the host, which counts GYRE_DEVICE_LOST",
        .setup = setup_latched,
        .run = sync_on_a_fault,
        .check = fault_is_kept,
        .teardown = errors_teardown,
    },
    {
        .name = "device_error_path/lost_context",
        .t0 = "before a context is created",
        .t1 = "after a launch in it faulted, and it was destroyed",
        .observer = "the host, which finds the fault in every stream",
        .setup = setup_lost_cycle,
        .run = open_launch_close,
        .check = all_went_so,
        .teardown = cycle_teardown,
    },
    {
        .name = "device_error_path/floor_sound_context",
        .t0 = "before a context is created",
        .t1 = "after a launch in it ran, and it was destroyed",
        .observer = "the host, which reads the counter in every context",
        .setup = setup_sound_cycle,
        .run = open_launch_close,
        .check = all_went_so,
        .teardown = cycle_teardown,
    },
};

const gyre_suite gyre_suite_device_error = GYRE_SUITE("device_error", benches);
