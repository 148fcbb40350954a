/* SPDX-License-Identifier: Apache-2.0
 *
 * device: what it costs to ask for devices, and to open one.
 *
 * Drivers are loaded before the clock runs: what is asked for here is what a process pays each
 * time, not once. `create` opens and closes a device without a stream or a kernel.
 *
 * Threads   one.
 * Owns      a fixture per case.
 * Not here  kernels (suites/kernel.c), what is done with an open device (suites/launch.c).
 */
#include "gyre/device.h"

#include <stdlib.h>
#include <string.h>

#include "gyre/context.h"
#include "suites/device_clock.h"
#include "suites/suites.h"

enum { FEATURES = 17 }; /* bits of gyre_feature */

typedef struct questions {
    const gyre_device *device;
    const char *word; /* what a user would ask for it by */
    size_t number;    /* of the device */
    uint64_t right;
    uint64_t asked;  /* features, to know which is next */
    uint64_t digest; /* of all devices, when the case began */
    gyre_device_state state;
} questions;

static gyre_status questions_create(questions **out_questions)
{
    questions *q = calloc(1, sizeof *q);

    *out_questions = q;
    return q ? GYRE_OK : gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
}

static gyre_status setup_device(const gyre_bench_case *c, void **out_fixture)
{
    questions *q;
    gyre_status status = questions_create(&q);

    *out_fixture = NULL;
    if (status != GYRE_OK)
        return status;
    q->word = gyre_bench_device_word(c);
    status = gyre_bench_device_find(q->word, &q->device);
    if (status != GYRE_OK) {
        free(q);
        return status;
    }
    while (gyre_device_at(q->number) != q->device)
        q->number++;
    *out_fixture = q;
    return GYRE_OK;
}

/* The devices and drivers there are, as one number. */
static uint64_t digest(void)
{
    uint64_t sum = 1469598103934665603u;
    const gyre_device *device;
    const gyre_driver *driver;

    for (size_t i = 0; (driver = gyre_driver_at(i)); i++)
        sum = (sum ^ driver->device_count ^ (uint64_t)driver->status) * 1099511628211u;
    for (size_t i = 0; (device = gyre_device_at(i)); i++) {
        sum = (sum ^ device->features ^ device->kind) * 1099511628211u;
        sum = (sum ^ device->memory_bytes ^ device->units) * 1099511628211u;
        sum = (sum ^ (uint64_t)device->trouble[0] ^ device->block_threads_most) * 1099511628211u;
    }
    return sum;
}

static gyre_status setup_all(const gyre_bench_case *c, void **out_fixture)
{
    questions *q;
    const gyre_status status = questions_create(&q);

    (void)c;
    *out_fixture = q;
    if (status == GYRE_OK)
        q->digest = digest();
    return status;
}

static gyre_status setup_look(const gyre_bench_case *c, void **out_fixture)
{
    gyre_status status = setup_device(c, out_fixture);
    questions *q = *out_fixture;

    if (status != GYRE_OK || !q)
        return status;
    q->state.struct_size = sizeof q->state;
    status = gyre_device_look(q->device, &q->state);
    if (status != GYRE_OK) {
        free(q);
        *out_fixture = NULL;
    }
    return status;
}

static void create_and_destroy(void *fixture, uint64_t iterations)
{
    questions *q = fixture;
    gyre_context *context;

    for (uint64_t i = 0; i < iterations; i++) {
        if (gyre_context_create(q->device, NULL, &context) != GYRE_OK)
            break; /* the check will miss it */
        q->right +=
            gyre_context_device(context) == q->device && gyre_context_check(context) == GYRE_OK;
        gyre_context_destroy(context);
    }
}

static void find_by_name(void *fixture, uint64_t iterations)
{
    questions *q = fixture;
    uint64_t right = 0;

    for (uint64_t i = 0; i < iterations; i++)
        right += gyre_device_find(q->device->name) == q->device;
    q->right += right;
}

/* Asks for one feature after the other, and expects what the mask of all of them says. */
static void query_features(void *fixture, uint64_t iterations)
{
    questions *q = fixture;
    const uint64_t features = q->device->features, first = q->asked;
    uint64_t right = 0;

    for (uint64_t i = first; i < first + iterations; i++) {
        const uint64_t bit = i % FEATURES;
        const gyre_device *device = gyre_device_at(q->number);

        gyre_bench_keep(&right);
        right += gyre_device_has(device, UINT64_C(1) << bit) == ((features >> bit & 1) != 0);
    }
    q->asked += iterations;
    q->right += right;
}

static void report(void *fixture, uint64_t iterations)
{
    questions *q = fixture;
    uint64_t right = 0;

    for (uint64_t i = 0; i < iterations; i++)
        right += digest() == q->digest;
    q->right += right;
}

static void look(void *fixture, uint64_t iterations)
{
    questions *q = fixture;
    gyre_device_state state = {.struct_size = sizeof state};

    for (uint64_t i = 0; i < iterations; i++)
        q->right += gyre_device_look(q->device, &state) == GYRE_OK &&
                    state.memory_total_bytes == q->state.memory_total_bytes &&
                    state.memory_used_bytes <= state.memory_total_bytes;
}

static bool all_right(const void *fixture, uint64_t iterations)
{
    return ((const questions *)fixture)->right == iterations;
}

static void tell_device(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const questions *q = fixture;

    (void)iterations;
    gyre_bench_note(facts, "device", q->device->title);
    gyre_bench_note(facts, "driver", q->device->driver);
}

static void tell_all(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    (void)fixture, (void)iterations;
    gyre_bench_count(facts, "devices", (double)gyre_device_count());
}

#define OF_A_DEVICE                                                                                \
    .axes = {GYRE_DEVICE_AXIS}, .check = all_right, .teardown = free, .tell = tell_device,         \
    .tags = GYRE_TAG_CPU | GYRE_TAG_GPU

static const gyre_bench benches[] = {
    {
        .name = "device_operations/create",
        .t0 = "before the create of a context; its driver is loaded",
        .t1 = "after the destroy of the same",
        .observer = "the create, which tries a small copy on the device before it returns",
        .setup = setup_device,
        .run = create_and_destroy,
        OF_A_DEVICE,
    },
    {
        .name = "device_operations/find",
        .t0 = "before the device is asked for by its name",
        .t1 = "after the answer",
        .observer = "the same thread, which compares the device",
        .setup = setup_device,
        .run = find_by_name,
        OF_A_DEVICE,
    },
    {
        .name = "device_operations/feature_query",
        .t0 = "before the device is asked for by its number",
        .t1 = "after it has said whether it has a feature",
        .observer = "the same thread, which compares the answer with the mask of all features",
        .setup = setup_device,
        .run = query_features,
        OF_A_DEVICE,
    },
    {
        .name = "device_operations/capability_report",
        .t0 = "before the first driver is asked for; all are loaded",
        .t1 = "after capabilities and limits of the last device were read",
        .observer = "the same thread, which compares a digest of all",
        .setup = setup_all,
        .run = report,
        .check = all_right,
        .teardown = free,
        .tell = tell_all,
    },
    {
        .name = "device_operations/look",
        .t0 = "before the driver is asked how the device is",
        .t1 = "after it has told memory, clocks and heat, as far as it does",
        .observer = "the same thread, which compares what of it does not change",
        .setup = setup_look,
        .run = look,
        OF_A_DEVICE,
    },
};

const gyre_suite gyre_suite_device = GYRE_DEVICE_SUITE("device", benches, NULL, &gyre_device_guard);
