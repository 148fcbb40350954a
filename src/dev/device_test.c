/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices: what is listed, what is found by name, what a setting leaves out. Enumeration happens
 * once in a process, so every case that needs another one runs in a child.
 */
#include "gyre/device.h"

#include <pthread.h>

#include "child.h"
#include "dev/backend_fake.h"
#include "gyre/log.h"
#include "gyre/settings.h"

enum { THREADS = 4, CUDA = 1 };

static int warnings;
static char warning[512];

static void note(void *user, gyre_log_level level, const char *topic, const char *text)
{
    (void)user, (void)level, (void)topic;
    warnings++;
    snprintf(warning, sizeof warning, "%s", text);
    CHECK(gyre_device_count() > 0); /* a sink may ask */
}

static void look_around(void)
{
    REQUIRE(gyre_device_count() == 5);
    CHECK(fake.probes == 4);
    CHECK(strcmp(gyre_device_at(0)->name, "cpu:0") == 0);
    CHECK(strcmp(gyre_device_at(CUDA)->name, "cuda:0") == 0);
    CHECK(strcmp(gyre_device_at(CUDA + 1)->name, "cuda:1") == 0);
    CHECK(strcmp(gyre_device_at(4)->name, "null:0") == 0);
    CHECK(gyre_device_at(5) == NULL && gyre_device_at(SIZE_MAX) == NULL);
    for (size_t i = 0; i < 5; i++) {
        const gyre_device *device = gyre_device_at(i);

        CHECK(device == gyre_device_at(i) && device->struct_size == sizeof *device);
        CHECK(strcmp(gyre_backend_of(device)->name, device->backend) == 0);
        CHECK(device->numa_node == -1 && !strchr(device->title, 0x1b));
    }
    CHECK(gyre_device_has(gyre_device_at(0), GYRE_FEATURE_FUNCTIONS));
    CHECK(!gyre_device_has(gyre_device_at(0), GYRE_FEATURE_FUNCTIONS | GYRE_FEATURE_SOURCE));
    CHECK(fake.probes == 4 && gyre_error_last()->status == GYRE_OK);
}

static void every_device_is_listed_once(void)
{
    CHECK(passes_in_child(look_around));
}

static void see_trouble(void)
{
    CHECK(strcmp(gyre_device_at(CUDA + 1)->trouble, "too old") == 0);
    CHECK(strcmp(gyre_device_at(CUDA + 2)->trouble, "it fell off its bus") == 0);
    CHECK(gyre_device_at(CUDA + 2)->features == 0 && gyre_device_at(CUDA + 2)->index == 2);
    CHECK(strcmp(gyre_device_at(CUDA)->trouble, "") == 0);
}

static void device_in_trouble_is_listed_with_its_reason(void)
{
    CHECK(passes_in_child(see_trouble));
}

static void see_drivers(void)
{
    CHECK(strcmp(gyre_driver_at(0)->backend, "cpu") == 0 && gyre_driver_at(0)->device_count == 1);
    CHECK(gyre_driver_at(1)->status == GYRE_OK && gyre_driver_at(1)->device_count == 3);
    CHECK(gyre_driver_at(2)->status == GYRE_UNAVAILABLE && gyre_driver_at(2)->device_count == 0);
    CHECK(strncmp(gyre_driver_at(2)->text, "libOpenCL.so.1 is missing; ", 27) == 0);
    CHECK(gyre_driver_at(3)->status == GYRE_OK && gyre_driver_at(4) == NULL);
}

static void missing_driver_is_a_row_that_says_so(void)
{
    CHECK(passes_in_child(see_drivers));
}

static void find_some(void)
{
    CHECK(gyre_device_find("cpu") == gyre_device_at(0));
    CHECK(gyre_device_find("cuda") == gyre_device_at(CUDA));
    CHECK(gyre_device_find("cuda:1") == gyre_device_at(CUDA + 1));
    CHECK(gyre_device_find("opencl") == NULL);
    CHECK(gyre_error_last()->status == GYRE_NOT_FOUND);
    CHECK(strstr(gyre_error_last()->text, "'opencl'; there is cpu:0, cuda:0, cuda:1, cuda:2, "
                                          "null:0; opencl has none: libOpenCL.so.1 is missing; "));
    CHECK(!gyre_device_find("opencl:1") && strstr(gyre_error_last()->text, "opencl has none: "));
    CHECK(!gyre_device_find("opencl1") && !strstr(gyre_error_last()->text, "has none"));
    CHECK(gyre_device_find("cuda:3") == NULL && gyre_device_find("cuda:") == NULL);
    CHECK(!strstr(gyre_error_last()->text, "has none"));
    CHECK(gyre_device_find("") == NULL && gyre_device_find(NULL) == NULL);
    CHECK(gyre_device_find("a name that is far longer than the name of any device could be; a "
                           "name that is far longer\x1b[2J") == NULL);
    CHECK(strstr(gyre_error_last()->text, "null:0") != NULL);
}

static void devices_are_found_by_name(void)
{
    CHECK(passes_in_child(find_some));
}

static void reach_some(void)
{
    const gyre_device *cpu = gyre_device_at(0), *first = gyre_device_at(CUDA);
    const gyre_device *second = gyre_device_at(CUDA + 1);

    CHECK(gyre_device_reaches(cpu, cpu) && gyre_device_reaches(first, second));
    CHECK(!gyre_device_reaches(second, first) && !gyre_device_reaches(cpu, first));
}

static void reach_is_what_the_driver_says(void)
{
    CHECK(passes_in_child(reach_some));
}

static void look_at_one(void)
{
    gyre_device_state state = {.struct_size = 0};

    CHECK(gyre_device_look(gyre_device_at(CUDA), &state) == GYRE_INVALID && fake.looks == 0);
    memset(&state, 0x55, sizeof state);
    state.struct_size = sizeof state;
    CHECK(gyre_device_look(gyre_device_at(CUDA + 1), &state) == GYRE_OK);
    CHECK(state.temperature_c == 41 && state.power_mw == -1 && state.memory_total_bytes == -1);
    CHECK(state.struct_size == sizeof state && state.xid_count == -1);
    memset(&state, 0x55, sizeof state);
    state.struct_size = offsetof(gyre_device_state, power_mw);
    CHECK(gyre_device_look(gyre_device_at(CUDA), &state) == GYRE_OK);
    CHECK(state.temperature_c == 40 && state.power_mw == 0x55555555);
    fake.look = GYRE_UNSUPPORTED;
    CHECK(gyre_device_look(gyre_device_at(0), &state) == GYRE_UNSUPPORTED);
}

static void state_is_filled_up_to_its_size(void)
{
    CHECK(passes_in_child(look_at_one));
}

static void choose_some(void)
{
    gyre_log_set_sink(note, NULL);
    REQUIRE(gyre_settings_set("GYRE_BACKENDS", " null, cdua ,,x\x1b") == GYRE_OK);
    CHECK(gyre_device_count() == 2 && fake.probes == 2);
    CHECK(gyre_device_find("cpu") && gyre_device_find("null") && !gyre_device_find("cuda"));
    CHECK(gyre_driver_at(1)->status == GYRE_UNAVAILABLE);
    CHECK(strcmp(gyre_driver_at(1)->text, "left out by GYRE_BACKENDS") == 0);
    CHECK(warnings == 1 && strstr(warning, "there is no backend 'cdua, x?'"));
}

static void choose_all(void)
{
    gyre_log_set_sink(note, NULL);
    REQUIRE(gyre_settings_set("GYRE_BACKENDS", "all") == GYRE_OK);
    CHECK(gyre_device_count() == 5 && warnings == 0);
}

static void setting_chooses_backends(void)
{
    CHECK(passes_in_child(choose_some));
    CHECK(passes_in_child(choose_all));
}

static void count_many(void)
{
    fake.extra = 1000;
    CHECK(gyre_device_count() == 4 + 64);
    CHECK(strcmp(gyre_device_at(67)->name, "null:63") == 0);
}

static void backend_has_64_devices_at_most(void)
{
    CHECK(passes_in_child(count_many));
}

static const gyre_device *before_the_fork;

static void ask_in_child(void)
{
    gyre_device_state state = {.struct_size = sizeof state};

    CHECK(gyre_device_count() == 0 && gyre_device_at(0) == NULL && gyre_driver_at(0) == NULL);
    CHECK(gyre_device_find("cpu") == NULL && gyre_error_last()->status == GYRE_UNAVAILABLE);
    CHECK(gyre_device_look(before_the_fork, &state) == GYRE_UNAVAILABLE);
}

static void fork_after_use(void)
{
    before_the_fork = gyre_device_at(0);
    REQUIRE(before_the_fork != NULL);
    CHECK(passes_in_child(ask_in_child));
    CHECK(gyre_device_count() == 5);
}

static void forked_child_has_no_devices(void)
{
    CHECK(passes_in_child(fork_after_use));
}

static void *ask(void *unused)
{
    (void)unused;
    CHECK(gyre_device_count() == 5 && gyre_device_find("null") == gyre_device_at(4));
    return NULL;
}

static void first_callers_may_be_many(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, ask, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(fake.probes == 4);
}

/* The last one uses the library in the test's own process. */
static const test_case cases[] = {
    TEST(every_device_is_listed_once),
    TEST(device_in_trouble_is_listed_with_its_reason),
    TEST(missing_driver_is_a_row_that_says_so),
    TEST(devices_are_found_by_name),
    TEST(reach_is_what_the_driver_says),
    TEST(state_is_filled_up_to_its_size),
    TEST(setting_chooses_backends),
    TEST(backend_has_64_devices_at_most),
    TEST(forked_child_has_no_devices),
    TEST(first_callers_may_be_many),
};
TEST_MAIN(cases)
