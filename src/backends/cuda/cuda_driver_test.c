/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "backends/cuda/cuda.h"
#include "base/fail.h"
#include "test.h"

static const char *one[2];

/* What probing says of this library. */
static gyre_status probe_of(const char *file, uint32_t *out_count, char *text, size_t size)
{
    one[0] = file;
    gyre_cuda_driver_forget(one);
    gyre_fail_clear();
    return gyre_cuda_probe(out_count, text, size);
}

static void refused(const char *file, int native, const char *words)
{
    char text[192];
    uint32_t count = 7;
    gyre_device_state state;
    gyre_device device;
    gyre_dev *dev = NULL;

    CHECK(probe_of(file, &count, text, sizeof text) == GYRE_UNAVAILABLE);
    CHECK(count == 0 && text[0] == '\0');
    CHECK(gyre_error_last()->native == native);
    CHECK(strstr(gyre_error_last()->text, words) != NULL);
    if (!strstr(gyre_error_last()->text, words))
        fprintf(stderr, "  %s\n", gyre_error_last()->text);
    /* and whoever goes on all the same is told so again */
    memset(&device, 0, sizeof device);
    CHECK(gyre_cuda_describe(0, &device) == GYRE_UNAVAILABLE);
    CHECK(gyre_cuda_open(0, &(gyre_dev_options){0}, &dev) == GYRE_UNAVAILABLE && !dev);
    memset(&state, 0xff, sizeof state);
    CHECK(gyre_cuda_look(0, &state) != GYRE_OK);
}

static void missing_library_is_a_status(void)
{
    refused("libno-such-driver.so.1", 0, "libno-such-driver.so.1");
}

static void file_that_is_no_library_is_a_status(void)
{
    refused("/dev/null", 0, "no driver of NVIDIA");
}

static void driver_that_is_too_old_names_what_it_lacks(void)
{
    refused(FAKE_OLD, 0, "cuGraphAddMemsetNode");
}

static void driver_without_a_device_says_so(void)
{
    refused(FAKE_NO_DEVICE, 100, "no GPU");
}

static void stub_of_a_toolkit_is_no_driver(void)
{
    refused(FAKE_STUB, 34, "stub");
}

static void driver_of_another_version_than_its_module_says_so(void)
{
    refused(FAKE_MISMATCH, 803, "different versions");
}

static void driver_that_does_not_start_says_so(void)
{
    refused(FAKE_NOT_INITIALIZED, 3, "does not start");
    refused(FAKE_UNKNOWN, 999, "/dev/nvidia");
}

static void toolkit_exports_every_name_that_is_asked_for(void)
{
    static const char *const stubs[] = {"/usr/local/cuda/lib64/stubs/libcuda.so",
                                        "/usr/local/cuda/lib/stubs/libcuda.so"};
    char text[192];
    uint32_t count;

    for (size_t i = 0; i < sizeof stubs / sizeof stubs[0]; i++) {
        if (probe_of(stubs[i], &count, text, sizeof text) == GYRE_UNAVAILABLE &&
            strstr(gyre_error_last()->text, "cannot open"))
            continue;
        /* it got as far as cuInit */
        CHECK(gyre_error_last()->native == GYRE_CU_STUB_LIBRARY);
        return;
    }
    SKIP("there is no toolkit here");
}

static void devices_of_a_driver_are_described(void)
{
    char text[192];
    uint32_t count;
    gyre_device device;

    memset(&device, 0, sizeof device);
    REQUIRE(probe_of(FAKE, &count, text, sizeof text) == GYRE_OK);
    CHECK(count == 2);
    CHECK(strncmp(text, "CUDA 13.0", 9) == 0);
    REQUIRE(gyre_cuda_describe(1, &device) == GYRE_OK);
    CHECK(device.kind == GYRE_DEVICE_GPU);
    CHECK(strcmp(device.title, "Fake 1") == 0);
    CHECK(strcmp(device.architecture, "sm_90") == 0);
    CHECK(strcmp(device.place, "0000:a1:00.0") == 0);
    CHECK(device.trouble[0] == '\0');
    CHECK(device.reach == 3);
    CHECK(device.memory_bytes == (uint64_t)1 << 30);
    CHECK(device.units == 4 && device.lanes == 32 && device.clock_mhz == 1980);
    CHECK(device.block_threads_most == 1024 && device.shared_bytes_most == 232448);
    CHECK(device.block_most[0] == 1024 && device.grid_most[2] == 65535);
    CHECK(gyre_device_has(&device, GYRE_FEATURE_IMAGES | GYRE_FEATURE_COOPERATIVE));
    CHECK(!gyre_device_has(&device, GYRE_FEATURE_ECC));
}

static void driver_without_the_newer_functions_is_taken(void)
{
    char text[192];
    uint32_t count;
    const gyre_cu_api *api;

    REQUIRE(probe_of(FAKE_BARE, &count, text, sizeof text) == GYRE_OK);
    REQUIRE(gyre_cuda_driver(&api) == GYRE_OK);
    CHECK(!api->cuFuncLoad && !api->cuFuncGetParamInfo && api->cuGraphLaunch);
}

static void faults_that_the_driver_keeps_lose_the_device(void)
{
    static const int sticky[] = {214, 220, 226, 700, 702, 710, 714, 715, 716,
                                 717, 718, 719, 721, 806, 810, 911, 999};
    static const int others[] = {0, 1, 2, 201, 209, 400, 500, 600, 701, 709, 720, 801, 908};

    for (size_t i = 0; i < sizeof sticky / sizeof sticky[0]; i++)
        CHECK(gyre_cuda_sticky(sticky[i]) && gyre_cuda_status(sticky[i]) == GYRE_DEVICE_LOST);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        CHECK(!gyre_cuda_sticky(others[i]));
    CHECK(gyre_cuda_status(0) == GYRE_OK && gyre_cuda_status(600) == GYRE_AGAIN);
    CHECK(gyre_cuda_status(2) == GYRE_NO_MEMORY && gyre_cuda_status(720) == GYRE_INVALID);
    CHECK(gyre_cuda_status(709) == GYRE_DEVICE_LOST && gyre_cuda_status(200) == GYRE_CORRUPT);
    CHECK(gyre_cuda_status(209) == GYRE_UNSUPPORTED && gyre_cuda_status(3) == GYRE_UNAVAILABLE);
    CHECK(gyre_cuda_status(12345) == GYRE_INTERNAL);
}

static const test_case cases[] = {
    TEST(missing_library_is_a_status),
    TEST(file_that_is_no_library_is_a_status),
    TEST(driver_that_is_too_old_names_what_it_lacks),
    TEST(driver_without_a_device_says_so),
    TEST(stub_of_a_toolkit_is_no_driver),
    TEST(driver_of_another_version_than_its_module_says_so),
    TEST(driver_that_does_not_start_says_so),
    TEST(toolkit_exports_every_name_that_is_asked_for),
    TEST(devices_of_a_driver_are_described),
    TEST(driver_without_the_newer_functions_is_taken),
    TEST(faults_that_the_driver_keeps_lose_the_device),
};
TEST_MAIN(cases)
