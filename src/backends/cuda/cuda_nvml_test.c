/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/cuda/cuda.h"
#include "test.h"

static const char *const driver[] = {FAKE, NULL};
static const char *library[2];

static gyre_status look(const char *file, uint32_t index, gyre_device_state *out_state)
{
    if (file) {
        library[0] = file;
        gyre_cuda_driver_forget(driver);
        gyre_cuda_nvml_forget(library);
    }
    memset(out_state, 0xff, sizeof *out_state); /* all -1 */
    return gyre_cuda_look(index, out_state);
}

static void what_is_told_is_passed_on(void)
{
    gyre_device_state state;

    REQUIRE(look(FAKE_NVML, 0, &state) == GYRE_OK);
    CHECK(state.memory_total_bytes == 1000 && state.memory_used_bytes == 400);
    CHECK(state.busy_percent == 70 && state.memory_busy_percent == 30);
    CHECK(state.temperature_c == 61 && state.temperature_limit_c == 87);
    CHECK(state.clock_mhz == 1980 && state.memory_clock_mhz == 3201);
    CHECK(state.throttle == (GYRE_THROTTLE_POWER | GYRE_THROTTLE_THERMAL | GYRE_THROTTLE_HARDWARE |
                             GYRE_THROTTLE_OTHER));
    CHECK(state.ecc_corrected == 12 && state.ecc_uncorrected == 1);
    /* not supported, and not there */
    CHECK(state.power_mw == -1 && state.power_limit_mw == -1 && state.clock_most_mhz == -1);
}

static void faults_are_counted_once(void)
{
    gyre_device_state state;

    REQUIRE(look(FAKE_NVML, 0, &state) == GYRE_OK);
    CHECK(state.xid == 31 && state.xid_count == 2);
    REQUIRE(look(NULL, 0, &state) == GYRE_OK);
    CHECK(state.xid == 31 && state.xid_count == 2);
}

static void library_that_knows_nothing_leaves_everything_unknown(void)
{
    gyre_device_state state;

    REQUIRE(look(FAKE_NVML_BARE, 0, &state) == GYRE_OK);
    CHECK(state.memory_used_bytes == -1 && state.temperature_c == -1 && state.throttle == -1);
    CHECK(state.xid == -1 && state.xid_count == -1);
}

static void device_that_fell_off_its_bus_is_lost(void)
{
    gyre_device_state state;

    CHECK(look(FAKE_NVML, 1, &state) == GYRE_DEVICE_LOST);
}

static void missing_library_is_unsupported(void)
{
    gyre_device_state state;

    CHECK(look("libno-such-library.so.1", 0, &state) == GYRE_UNSUPPORTED);
    CHECK(strstr(gyre_error_last()->text, "libno-such-library"));
    CHECK(look(NULL, 0, &state) == GYRE_UNSUPPORTED);
}

static const test_case cases[] = {
    TEST(what_is_told_is_passed_on),
    TEST(faults_are_counted_once),
    TEST(library_that_knows_nothing_leaves_everything_unknown),
    TEST(device_that_fell_off_its_bus_is_lost),
    TEST(missing_library_is_unsupported),
};
TEST_MAIN(cases)
