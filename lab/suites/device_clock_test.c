/* SPDX-License-Identifier: Apache-2.0 */
#include "suites/device_clock.h"

#include <math.h>

#include "test.h"

static gyre_device_state well(void)
{
    return (gyre_device_state){
        .struct_size = sizeof(gyre_device_state),
        .temperature_c = 50,
        .temperature_limit_c = 90,
        .clock_mhz = 1200,
    };
}

static void judge_follows_the_state(void)
{
    const gyre_device_state first = well();
    gyre_device_state now = well();
    char why[128] = "";

    CHECK(gyre_device_guard_judge(&first, &now, why, sizeof why) == GYRE_HEALTH_GOOD);
    now.throttle = GYRE_THROTTLE_IDLE | GYRE_THROTTLE_SETTING;
    CHECK(gyre_device_guard_judge(&first, &now, why, sizeof why) == GYRE_HEALTH_GOOD);
    now.throttle |= GYRE_THROTTLE_POWER;
    CHECK(gyre_device_guard_judge(&first, &now, why, sizeof why) == GYRE_HEALTH_WARNING);
    CHECK(strcmp(why, "the limit of power slows it down to 1200 MHz") == 0);
    now.temperature_c = 90;
    CHECK(gyre_device_guard_judge(&first, &now, why, sizeof why) == GYRE_HEALTH_CRITICAL);
    CHECK(strcmp(why, "90 C, and 90 C is too hot") == 0);
    now = well();
    now.xid = 31;
    now.xid_count = 1;
    CHECK(gyre_device_guard_judge(&first, &now, why, sizeof why) == GYRE_HEALTH_CRITICAL);
    CHECK(strcmp(why, "the driver reports Xid 31") == 0);
}

static void unknown_numbers_are_no_trouble(void)
{
    gyre_device_state now = {.struct_size = sizeof now};
    char why[128] = "";

    now.temperature_c = now.temperature_limit_c = now.clock_mhz = -1;
    now.throttle = now.ecc_corrected = now.ecc_uncorrected = now.xid = now.xid_count = -1;
    CHECK(gyre_device_guard_judge(&now, &now, why, sizeof why) == GYRE_HEALTH_GOOD);
}

static void only_new_memory_errors_are_critical(void)
{
    gyre_device_state first = well(), now = well();
    char why[128] = "";

    first.ecc_uncorrected = now.ecc_uncorrected = 2;
    CHECK(gyre_device_guard_judge(&first, &now, why, sizeof why) == GYRE_HEALTH_WARNING);
    now.ecc_uncorrected = 3;
    CHECK(gyre_device_guard_judge(&first, &now, why, sizeof why) == GYRE_HEALTH_CRITICAL);
    CHECK(strcmp(why, "3 uncorrected memory errors, 2 before") == 0);
}

static void unknown_backend_is_unavailable(void)
{
    const gyre_device *device;
    gyre_bench_device d;

    CHECK(gyre_bench_device_find("abacus", &device) == GYRE_UNAVAILABLE);
    CHECK(device == NULL);
    CHECK(gyre_bench_device_open_on(&d, "abacus", NULL) == GYRE_UNAVAILABLE);
    CHECK(d.context == NULL && d.stream == NULL);
}

static void clock_measures_what_was_handed_in(void)
{
    float in[64], out[64] = {0};
    gyre_bench_device d;
    double ns = -1;
    void *block;

    REQUIRE(gyre_bench_device_open_on(&d, "null", NULL) == GYRE_OK);
    REQUIRE(gyre_bench_device_take(&d, GYRE_CONTEXT_DEVICE, sizeof in, &block) == GYRE_OK);
    gyre_bench_device_numbers(in, 64, 1);
    CHECK(gyre_device_clock.flush(&d) == GYRE_OK);
    CHECK(gyre_device_clock.begin(&d) == GYRE_OK);
    CHECK(gyre_stream_copy(d.stream, block, in, sizeof in) == GYRE_OK);
    CHECK(gyre_stream_copy(d.stream, out, block, sizeof out) == GYRE_OK);
    CHECK(gyre_device_clock.end(&d) == GYRE_OK);
    CHECK(gyre_device_clock.read(&d, &ns) == GYRE_OK);
    CHECK(ns >= 0 && isfinite(ns));
    for (int i = 0; i < 64; i++)
        CHECK(in[i] > -1 && in[i] < 1 && in[i] != 0 && in[i] == out[i]);
    gyre_bench_device_give(&d, GYRE_CONTEXT_DEVICE, block, sizeof in);
    gyre_bench_device_close(&d);
}

static void end_to_end_needs_no_begin(void)
{
    gyre_bench_device d;
    double ns = -1;

    REQUIRE(gyre_bench_device_open_on(&d, "null", NULL) == GYRE_OK);
    CHECK(gyre_device_clock.end(&d) == GYRE_OK);
    CHECK(gyre_device_clock.read(&d, &ns) == GYRE_OK);
    CHECK(ns == 0);
    gyre_bench_device_close(&d);
}

static void nothing(const gyre_block *block, const void *parameters)
{
    (void)block, (void)parameters;
}

/* A launch that the device loses its context by. */
static void lose(gyre_bench_device *d)
{
    static const gyre_entry functions[] = {{"nothing", nothing}, {NULL, NULL}};
    const gyre_program program = {sizeof program, "lose", .functions = functions};
    const gyre_launch launch = {.parameters_size = 0};
    gyre_kernel *kernel = NULL;

    CHECK(gyre_kernel_create(d->context, &program, "nothing", "", NULL, &kernel) == GYRE_OK);
    CHECK(gyre_stream_launch(d->stream, kernel, &launch) == GYRE_OK);
    CHECK(gyre_stream_sync(d->stream) == GYRE_DEVICE_LOST);
    gyre_kernel_release(kernel);
}

static void guard_remembers_a_lost_context_until_the_device_works(void)
{
    const gyre_context_options options = {.struct_size = sizeof options, .faults = "fault@1"};
    char why[256] = "";
    gyre_bench_device d;

    CHECK(gyre_device_guard.healthy(why, sizeof why) != GYRE_HEALTH_CRITICAL);
    REQUIRE(gyre_bench_device_open_on(&d, "null", &options) == GYRE_OK);
    lose(&d);
    gyre_bench_device_close(&d);
    CHECK(gyre_device_guard.healthy(why, sizeof why) == GYRE_HEALTH_CRITICAL);
    CHECK(strstr(why, "null:0: the last case lost its context") != NULL);
    CHECK(gyre_device_guard.reset() == GYRE_OK);
    CHECK(gyre_device_guard.healthy(why, sizeof why) != GYRE_HEALTH_CRITICAL);
}

static const test_case cases[] = {
    TEST(judge_follows_the_state),
    TEST(unknown_numbers_are_no_trouble),
    TEST(only_new_memory_errors_are_critical),
    TEST(unknown_backend_is_unavailable),
    TEST(clock_measures_what_was_handed_in),
    TEST(end_to_end_needs_no_begin),
    TEST(guard_remembers_a_lost_context_until_the_device_works),
};
TEST_MAIN(cases)
