/* SPDX-License-Identifier: Apache-2.0
 *
 * actor_abi.h as devices get it, behind abi.h. NVRTC has to take it, with its assertions; what
 * OpenCL makes is run: it finds the host's words and writes its own where the host finds them.
 */
#include "device.h"
#include "gyre/actor_abi.h"
#include "test.h"

static const char *const headers[] = {"include/gyre/abi.h", "include/gyre/actor_abi.h", NULL};

#define BODY                                                                                       \
    "    control->device.input_head = control->host.input_tail;\n"                                 \
    "    control->device.processed = control->host.input_capacity;\n"                              \
    "    control->device.time = control->host.time + 1;\n"                                         \
    "    control->device.last_error = GYRE_ACTOR_TIMEOUT;\n"                                       \
    "    telemetry->max_latency_ns = 12;\n"                                                        \
    "    telemetry->last_error = control->host.active;\n"                                          \
    "}\n"

static void nvrtc_takes_it(void)
{
    char *const source = device_source(
        headers, "\nextern \"C\" __global__ void look(gyre_control_block *control,\n"
                 "                                gyre_telemetry *telemetry) {\n" BODY);
    device_result result;
    int version;
    char *ptx;

    REQUIRE(source);
    result = device_ptx(source, &ptx, &version);
    free(source);
    if (result == DEVICE_ABSENT)
        SKIP("there is no NVRTC");
    REQUIRE(result == DEVICE_DONE);
    CHECK(strstr(ptx, "+112]") && strstr(ptx, "+96]")); /* device.time and device.input_head */
    free(ptx);
}

static void opencl_finds_what_the_host_wrote(void)
{
    gyre_control_block control = {
        .host = {.active = 1, .input_capacity = 64, .input_tail = 1ull << 40, .time = 99}};
    gyre_telemetry telemetry = {.min_latency_ns = 7};
    const device_argument arguments[DEVICE_ARGUMENTS] = {{&control, sizeof control, false},
                                                         {&telemetry, sizeof telemetry, false}};
    char *const source =
        device_source(headers, "\n__kernel void look(__global gyre_control_block *control,\n"
                               "                   __global gyre_telemetry *telemetry) {\n" BODY);
    device_result result;

    REQUIRE(source);
    result = device_run(source, "look", arguments);
    free(source);
    if (result == DEVICE_ABSENT)
        SKIP("there is no OpenCL device");
    REQUIRE(result == DEVICE_DONE);
    CHECK(control.device.input_head == 1ull << 40 && control.device.processed == 64);
    CHECK(control.device.time == 100 && control.device.last_error == GYRE_ACTOR_TIMEOUT);
    CHECK(telemetry.max_latency_ns == 12 && telemetry.last_error == 1);
    CHECK(control.host.input_tail == 1ull << 40 && telemetry.min_latency_ns == 7);
}

static const test_case cases[] = {
    TEST(nvrtc_takes_it),
    TEST(opencl_finds_what_the_host_wrote),
};
TEST_MAIN(cases)
