/* SPDX-License-Identifier: Apache-2.0
 *
 * The monitor over real contexts, on null devices that are told how to be.
 */
#include "gyre/clock.h"
#include "gyre/device.h"
#include "gyre/kernel.h"
#include "gyre/monitor.h"
#include "gyre/stream.h"
#include "test.h"

enum { LAUNCHES = 24 };

static gyre_context *context;
static gyre_stream *stream;
static gyre_monitor *monitor;
static gyre_kernel *kernel;

static void nothing(const gyre_block *block, const void *parameters)
{
    (void)block, (void)parameters;
}

static gyre_status submit(void)
{
    return gyre_stream_launch(stream, kernel, &(gyre_launch){.grid = {1}});
}

/* Opens null:0 with these faults, and a stream and a monitor on it. */
static bool open_all(const char *faults, gyre_monitor_options options)
{
    static const gyre_entry entries[] = {{"nothing", nothing}, {NULL, NULL}};
    const gyre_program program = {.struct_size = sizeof program, .functions = entries};
    const gyre_device *device = gyre_device_find("null");
    const gyre_context_options how = {.struct_size = sizeof how,
                                      .faults = faults,
                                      .sync_timeout_ns = 20000000,
                                      .strikes = 3,
                                      .pending_most = UINT32_MAX};

    context = NULL;
    stream = NULL;
    kernel = NULL;
    monitor = NULL;
    if (!device || gyre_context_create(device, &how, &context) != GYRE_OK ||
        gyre_stream_create(context, NULL, &stream) != GYRE_OK ||
        gyre_kernel_create(context, &program, "nothing", "", NULL, &kernel) != GYRE_OK)
        return false;
    options.struct_size = sizeof options;
    options.contexts = &context;
    options.context_count = 1;
    return gyre_monitor_create(&options, &monitor) == GYRE_OK && gyre_monitor_count(monitor) == 1;
}

static void close_all(void)
{
    gyre_monitor_destroy(monitor);
    gyre_stream_destroy(stream);
    gyre_kernel_release(kernel);
    gyre_context_destroy(context);
}

static gyre_monitor_report sample(void)
{
    gyre_monitor_report r = {.struct_size = sizeof r};

    CHECK(gyre_monitor_sample(monitor) == GYRE_OK);
    CHECK(gyre_monitor_report_at(monitor, 0, &r) == GYRE_OK);
    return r;
}

static bool has(const gyre_monitor_report *r, gyre_concern concern, gyre_level level)
{
    for (uint32_t i = 0; i < r->reason_count; i++)
        if (r->reasons[i].concern == concern && r->reasons[i].level == level)
            return true;
    return false;
}

static void idle_device_is_healthy(void)
{
    gyre_monitor_report r;

    REQUIRE(open_all("", (gyre_monitor_options){0}));
    CHECK(submit() == GYRE_OK && gyre_stream_sync(stream) == GYRE_OK);
    r = sample();
    CHECK(r.level == GYRE_LEVEL_HEALTHY && r.looked == GYRE_OK && r.reason_count == 0);
    CHECK(r.pending == 0 && r.context_count == 1 && r.lost_count == 0);
    CHECK(r.state.temperature_c >= 0 && r.state.memory_total_bytes > 0);
    close_all();
}

/* Nobody has looked since it was submitted; that it is done is seen nevertheless. */
static void finished_work_is_not_pending(void)
{
    gyre_monitor_report r;

    REQUIRE(open_all("", (gyre_monitor_options){.age_warning_ns = 1}));
    for (int i = 0; i < LAUNCHES; i++)
        REQUIRE(submit() == GYRE_OK);
    do
        r = sample();
    while (r.pending > 0);
    CHECK(r.pending == 0 && r.oldest_ns == 0 && r.level == GYRE_LEVEL_HEALTHY);
    close_all();
}

static void sensors_come_from_the_device(void)
{
    gyre_monitor_report r;

    REQUIRE(open_all("temperature=88 power=299 memory=95 throttle=2 ecc=1 xid=79",
                     (gyre_monitor_options){0}));
    r = sample();
    CHECK(r.level == GYRE_LEVEL_CRITICAL);
    CHECK(has(&r, GYRE_CONCERN_TEMPERATURE, GYRE_LEVEL_WARNING)); /* its limit is 90 */
    CHECK(has(&r, GYRE_CONCERN_POWER, GYRE_LEVEL_WARNING));
    CHECK(has(&r, GYRE_CONCERN_MEMORY, GYRE_LEVEL_CRITICAL));
    CHECK(has(&r, GYRE_CONCERN_THROTTLE, GYRE_LEVEL_WARNING));
    CHECK(has(&r, GYRE_CONCERN_ECC, GYRE_LEVEL_CRITICAL));
    CHECK(has(&r, GYRE_CONCERN_XID, GYRE_LEVEL_CRITICAL));
    close_all();
}

/* A device that does nothing: tickets pile up, age, and at last the context is lost. */
static void hanging_device_is_seen_to_hang(void)
{
    uint64_t since_ns;
    gyre_monitor_report r;

    REQUIRE(open_all("hang@2",
                     (gyre_monitor_options){.age_warning_ns = 1, .age_critical_ns = 5000000}));
    for (int i = 0; i < LAUNCHES; i++)
        REQUIRE(submit() == GYRE_OK);
    since_ns = gyre_clock_now_ns();
    r = sample();
    CHECK(r.pending >= 20 && r.pending <= LAUNCHES);
    CHECK(has(&r, GYRE_CONCERN_PENDING, GYRE_LEVEL_WARNING));
    CHECK(has(&r, GYRE_CONCERN_AGE, GYRE_LEVEL_WARNING) ||
          has(&r, GYRE_CONCERN_AGE, GYRE_LEVEL_CRITICAL));
    while (gyre_clock_now_ns() - since_ns < 6000000)
        continue;
    r = sample();
    CHECK(r.oldest_ns >= 5000000 && has(&r, GYRE_CONCERN_AGE, GYRE_LEVEL_CRITICAL));
    for (int i = 0; i < 3; i++)
        CHECK(gyre_stream_sync(stream) != GYRE_OK);
    r = sample();
    CHECK(r.lost_count == 1 && has(&r, GYRE_CONCERN_LOST, GYRE_LEVEL_CRITICAL));
    CHECK(r.timeouts >= 3);
    close_all();
}

static const test_case cases[] = {
    TEST(idle_device_is_healthy),
    TEST(finished_work_is_not_pending),
    TEST(sensors_come_from_the_device),
    TEST(hanging_device_is_seen_to_hang),
};
TEST_MAIN(cases)
