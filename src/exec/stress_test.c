/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that submit to one stream and to their own, while others come and go: profiles, streams,
 * those who describe and reset.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "exec/monitor.h"
#include "exec/stream.h"
#include "gyre/clock.h"
#include "gyre/profile.h"
#include "test.h"

enum { SUBMITTERS = 3, ROUNDS = 300 };

static void nothing(const gyre_block *block, const void *parameters)
{
    (void)block, (void)parameters;
}

static const gyre_entry entries[] = {{"nothing", nothing}, {NULL, NULL}};
static const gyre_program program = {
    .struct_size = sizeof program, .name = "stress", .functions = entries};

static gyre_context *context;
static gyre_stream *shared;
static _Atomic uint32_t submitting;

/* A launch whose kernel is let go of at once, on both streams. */
static void submit_once(gyre_stream *own, int round)
{
    gyre_kernel *kernel = NULL;

    CHECK(gyre_kernel_create(context, &program, "nothing", "", NULL, &kernel) == GYRE_OK);
    CHECK(gyre_stream_launch(own, kernel, &(gyre_launch){.expected_ns = UINT64_MAX}) == GYRE_OK);
    CHECK(gyre_stream_launch(shared, kernel, &(gyre_launch){0}) == GYRE_OK);
    gyre_kernel_release(kernel);
    if (round % 7 == 0) {
        const uint64_t value = gyre_stream_ticket(shared).value;

        CHECK(gyre_stream_wait(shared, value, gyre_clock_after_ns(UINT64_C(2000000000))) ==
              GYRE_OK);
    }
    if (round % 16 == 0)
        CHECK(gyre_stream_sync(own) == GYRE_OK);
}

static void *submit(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i += 20) {
        gyre_stream *own = NULL;

        CHECK(gyre_stream_create(context, NULL, &own) == GYRE_OK);
        for (int k = i; own && k < i + 20; k++)
            submit_once(own, k);
        gyre_stream_destroy(own);
    }
    atomic_fetch_sub(&submitting, 1);
    return NULL;
}

static void *watch(void *arg)
{
    (void)arg;
    while (atomic_load(&submitting) > 0) {
        gyre_context_statistics s = {.struct_size = sizeof s};

        CHECK(gyre_context_describe(context, &s) == GYRE_OK && s.submitted >= s.completed);
        CHECK(s.oldest_ns < UINT64_C(10000000000));
        CHECK(gyre_monitor_describe(context, &s) == GYRE_OK);
        CHECK(gyre_context_reset(context) == GYRE_OK);
        CHECK(gyre_stream_poll(shared) <= GYRE_AGAIN);
    }
    return NULL;
}

static void run_on(const char *device, const char *faults, uint32_t pending_most)
{
    const gyre_context_options options = {
        .struct_size = sizeof options, .faults = faults, .pending_most = pending_most};
    const gyre_profile_options each = {.struct_size = sizeof each, .device_every = 1};
    pthread_t threads[SUBMITTERS + 1];
    uint32_t profiles = 0;

    REQUIRE(gyre_context_create(gyre_device_find(device), &options, &context) == GYRE_OK);
    REQUIRE(gyre_stream_create(context, NULL, &shared) == GYRE_OK);
    atomic_store(&submitting, SUBMITTERS);
    for (int i = 0; i <= SUBMITTERS; i++)
        CHECK(pthread_create(&threads[i], NULL, i < SUBMITTERS ? submit : watch, NULL) == 0);
    do {
        gyre_profile *profile = NULL;

        CHECK(gyre_profile_start(context, &each, &profile) == GYRE_OK);
        CHECK(gyre_profile_stop(profile) == GYRE_OK);
        gyre_profile_destroy(profile);
        profiles++;
    } while (atomic_load(&submitting) > 0);
    for (int i = 0; i <= SUBMITTERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(profiles > 0);
    gyre_stream_destroy(shared);
    CHECK(atomic_load(&context->objects) == 0);
    gyre_context_destroy(context);
}

static void everything_at_once_on_the_cpu(void)
{
    run_on("cpu", NULL, 4);
}

static void everything_at_once_on_a_slow_device(void)
{
    run_on("null", "slow=50", 2);
}

static void everything_at_once_with_one_place(void)
{
    run_on("cpu", NULL, 1);
}

static const test_case cases[] = {
    TEST(everything_at_once_on_the_cpu),
    TEST(everything_at_once_on_a_slow_device),
    TEST(everything_at_once_with_one_place),
};
TEST_MAIN(cases)
