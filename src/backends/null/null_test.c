/* SPDX-License-Identifier: Apache-2.0
 *
 * The null device itself: its rows, its memory, its code, and what it says of its state.
 */
#include "backends/null/null_fake.h"
#include "base/alloc.h"
#include "child.h"
#include "dev/build_log.h"
#include "gyre/device.h"
#include "gyre/settings.h"
#include "test.h"

enum { MEMORY = 256 << 20, MIB = 1 << 20 };

static gyre_device_state look(uint32_t index)
{
    gyre_device_state state;

    memset(&state, 0xff, sizeof state);
    CHECK(null->look(index, &state) == GYRE_OK);
    return state;
}

static void no_slot_is_empty(void)
{
    void *slots[sizeof *null / sizeof(void *)];

    memcpy(slots, null, sizeof slots);
    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++)
        CHECK(slots[i]);
}

static void both_devices_have_a_row(void)
{
    char text[192] = "";
    uint32_t count = 0;

    REQUIRE(null->probe(&count, text, sizeof text) == GYRE_OK);
    CHECK(count == 2 && text[0] != '\0');
    for (uint32_t i = 0; i < count; i++) {
        gyre_device device = {.struct_size = sizeof device};

        CHECK(null->describe(i, &device) == GYRE_OK);
        CHECK(device.kind == GYRE_DEVICE_NULL && device.trouble[0] == '\0');
        CHECK(device.memory_bytes == MEMORY && device.reach == 3);
        CHECK(gyre_device_has(&device, GYRE_FEATURE_FAULTS | GYRE_FEATURE_FUNCTIONS));
        CHECK(!gyre_device_has(&device, GYRE_FEATURE_COOPERATIVE));
    }
}

static void malformed_faults_do_not_open(void)
{
    fake f;

    CHECK(!fake_open(&f, 0, "hang@3 hnag@4"));
    CHECK(gyre_error_last()->status == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "'hnag@4'"));
}

static void nothing_can_be_adopted(void)
{
    const gyre_dev_options options = {.adopt = &(int){0}, .faults = ""};
    gyre_dev_stream *stream;
    gyre_dev *dev;
    fake f;

    CHECK(null->open(0, &options, &dev) == GYRE_UNSUPPORTED && !dev);
    REQUIRE(fake_open(&f, 0, ""));
    CHECK(null->stream_open(f.dev, &f, 0, &stream) == GYRE_UNSUPPORTED && !stream);
    fake_close(&f, false);
}

static void open_can_fail(void)
{
    fake f;

    CHECK(!fake_open(&f, 0, "open"));
    CHECK(gyre_error_last()->status == GYRE_DEVICE_LOST && gyre_error_last()->native != 0);
    REQUIRE(fake_open(&f, 0, ""));
    fake_close(&f, false);
}

static void memory_is_accounted_by_device(void)
{
    uint64_t left = 0, total = 0;
    void *most, *more, *pinned;
    fake a, b, other;

    REQUIRE(fake_open(&a, 0, "") && fake_open(&b, 0, "") && fake_open(&other, 1, ""));
    REQUIRE(null->take(a.dev, GYRE_DEV_MEMORY_DEVICE, MEMORY - MIB, 64, &most) == GYRE_OK);
    CHECK(null->room(b.dev, &left, &total) == GYRE_OK && left == MIB && total == MEMORY);
    CHECK(look(0).memory_used_bytes == MEMORY - MIB && look(1).memory_used_bytes == 0);
    CHECK(null->take(b.dev, GYRE_DEV_MEMORY_DEVICE, MIB + 1, 64, &more) == GYRE_NO_MEMORY && !more);
    CHECK(gyre_error_last()->native != 0);
    CHECK(null->take(b.dev, GYRE_DEV_MEMORY_PINNED, MIB + 1, 64, &pinned) == GYRE_OK);
    CHECK(null->take(b.dev, GYRE_DEV_MEMORY_DEVICE, MIB, 64, &more) == GYRE_OK);
    null->give(b.dev, GYRE_DEV_MEMORY_DEVICE, more, MIB);
    null->give(b.dev, GYRE_DEV_MEMORY_PINNED, pinned, MIB + 1);
    CHECK(null->take(other.dev, GYRE_DEV_MEMORY_DEVICE, MIB + 1, 64, &more) == GYRE_OK);
    null->give(other.dev, GYRE_DEV_MEMORY_DEVICE, more, MIB + 1);
    null->give(a.dev, GYRE_DEV_MEMORY_DEVICE, most, MEMORY - MIB);
    CHECK(null->room(a.dev, &left, &total) == GYRE_OK && left == MEMORY);
    fake_close(&a, false);
    fake_close(&other, false);
    fake_close(&b, false);
}

static void blocks_are_aligned_as_asked(void)
{
    fake f;

    REQUIRE(fake_open(&f, 0, ""));
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        void *block;

        REQUIRE(null->take(f.dev, GYRE_DEV_MEMORY_DEVICE, 100, alignment, &block) == GYRE_OK);
        CHECK((uintptr_t)block % alignment == 0);
        memset(block, 1, 100);
        null->give(f.dev, GYRE_DEV_MEMORY_DEVICE, block, 100);
    }
    fake_close(&f, false);
}

static void sizes_that_overflow_are_refused(void)
{
    void *block;
    fake f;

    REQUIRE(fake_open(&f, 0, ""));
    CHECK(null->take(f.dev, GYRE_DEV_MEMORY_DEVICE, SIZE_MAX, 64, &block) == GYRE_NO_MEMORY);
    CHECK(null->take(f.dev, GYRE_DEV_MEMORY_PINNED, SIZE_MAX, 64, &block) == GYRE_NO_MEMORY);
    CHECK(!block && look(0).memory_used_bytes == 0);
    fake_close(&f, false);
}

static void the_told_take_fails(void)
{
    void *block;
    fake f;

    REQUIRE(fake_open(&f, 0, "memory@2"));
    for (int i = 1; i <= 3; i++) {
        const gyre_status status = null->take(f.dev, GYRE_DEV_MEMORY_DEVICE, 64, 64, &block);

        CHECK(status == (i == 2 ? GYRE_NO_MEMORY : GYRE_OK) && !block == (i == 2));
        if (block)
            null->give(f.dev, GYRE_DEV_MEMORY_DEVICE, block, 64);
    }
    fake_close(&f, false);
}

static void state_is_what_faults_say_while_open(void)
{
    gyre_device_state state;
    uint64_t left, total;
    fake a, b;

    REQUIRE(fake_open(&a, 0, "temperature=91 power=650 memory=50 throttle=3 xid=79 ecc=2"));
    REQUIRE(fake_open(&b, 0, "temperature=30"));
    CHECK(look(0).temperature_c == 30 && look(0).power_mw == 650000);
    CHECK(look(1).temperature_c == 40 && look(1).memory_used_bytes == 0);
    CHECK(null->room(b.dev, &left, &total) == GYRE_OK);
    CHECK(left == total - MEMORY / 2);
    fake_close(&b, false);
    state = look(0);
    CHECK(state.temperature_c == 91 && state.memory_used_bytes == MEMORY / 2);
    CHECK(state.throttle == 3 && state.ecc_uncorrected == 2);
    CHECK(state.xid == 79 && state.xid_count == 1);
    CHECK(state.memory_busy_percent == -1);
    fake_close(&a, false);
    CHECK(look(0).temperature_c == 40 && look(0).xid_count == 0);
}

static void sound_setting(void)
{
    fake f;

    REQUIRE(gyre_settings_set("GYRE_NULL_FAULTS", "temperature=70 power=9") == GYRE_OK);
    REQUIRE(fake_open(&f, 0, "temperature=80"));
    CHECK(look(0).temperature_c == 80 && look(1).temperature_c == 70 && look(0).power_mw == 9000);
    fake_close(&f, false);
}

static void malformed_setting(void)
{
    gyre_device_state state = {0};

    REQUIRE(gyre_settings_set("GYRE_NULL_FAULTS", "bogus") == GYRE_OK);
    CHECK(null->look(0, &state) == GYRE_INVALID && strstr(gyre_error_last()->text, "'bogus'"));
}

/* First: settings are read once, and a child that has read none can still set them. */
static void state_is_what_the_setting_says_otherwise(void)
{
    CHECK(passes_in_child(sound_setting));
    CHECK(passes_in_child(malformed_setting));
}

static gyre_status compile(gyre_dev *dev, const char *text, void **out_image, size_t *out_size)
{
    const gyre_dev_source source = {.name = "wave", .text = text};

    return null->compile(dev, &source, out_image, out_size);
}

static void wrong_source_has_a_log_with_its_line(void)
{
    void *image;
    size_t size;
    fake f;

    REQUIRE(fake_open(&f, 0, ""));
    CHECK(compile(f.dev, "entry a\n#warning thin ice\n#error no ice\n", &image, &size) ==
          GYRE_BUILD);
    CHECK(!image && size == 0);
    CHECK(strstr(gyre_build_log(), "wave:2: warning: #warning thin ice"));
    CHECK(strstr(gyre_build_log(), "wave:3: error: #error no ice"));
    CHECK(compile(f.dev, "nothing to enter\n", &image, &size) == GYRE_BUILD);
    CHECK(strstr(gyre_build_log(), "entry NAME"));
    CHECK(compile(f.dev, "", &image, &size) == GYRE_BUILD && !image);
    CHECK(compile(f.dev, "entry ", &image, &size) == GYRE_BUILD && !image);
    fake_close(&f, false);
}

static void warnings_are_told_and_build(void)
{
    void *image;
    size_t size;
    fake f;

    REQUIRE(fake_open(&f, 0, "build@2"));
    REQUIRE(compile(f.dev, "#warning thin ice\nentry a", &image, &size) == GYRE_OK);
    CHECK(strcmp(gyre_build_log(), "wave:1: warning: #warning thin ice") == 0);
    gyre_free(NULL, image, size, 1);
    CHECK(compile(f.dev, "entry a", &image, &size) == GYRE_BUILD);
    CHECK(strstr(gyre_build_log(), "told to fail"));
    REQUIRE(compile(f.dev, "entry a", &image, &size) == GYRE_OK);
    CHECK(gyre_build_log()[0] == '\0');
    gyre_free(NULL, image, size, 1);
    fake_close(&f, false);
}

static void compiled_entries_run(void)
{
    const gyre_dev_argument one[] = {{0, 8, true}};
    gyre_dev_kernel_request request = {"put", fake_arguments, 2, 12};
    add_parameters parameters = {.value = 7};
    gyre_dev_launch launch = {.grid = {3, 1, 1}, .block = {32, 1, 1}, .parameters = &parameters};
    gyre_dev_code code = {0};
    gyre_dev_kernel_facts facts;
    gyre_dev_module *module;
    void *image;
    fake f;

    REQUIRE(fake_open(&f, 0, ""));
    REQUIRE(compile(f.dev, "entry put store\nentry rest\n", &image, &code.image_bytes) == GYRE_OK);
    code.image = image;
    REQUIRE(null->module_open(f.dev, &code, &module) == GYRE_OK);
    gyre_free(NULL, image, code.image_bytes, 1);
    REQUIRE(null->kernel_open(module, &request, &facts, &launch.kernel) == GYRE_OK);
    parameters.sums = f.sums;
    CHECK(null->launch(f.stream, &launch) == GYRE_OK && null->poll(f.stream) == GYRE_OK);
    CHECK(f.sums[0] == 7 && f.sums[2] == 7 && f.sums[3] == 0);
    request.entry = "pu";
    CHECK(null->kernel_open(module, &request, &facts, &launch.kernel) == GYRE_NOT_FOUND);
    request = (gyre_dev_kernel_request){"put", one, 1, 8};
    CHECK(null->kernel_open(module, &request, &facts, &launch.kernel) == GYRE_INVALID);
    request = (gyre_dev_kernel_request){"rest", NULL, 0, 0};
    REQUIRE(null->kernel_open(module, &request, &facts, &launch.kernel) == GYRE_OK);
    launch.parameters = NULL;
    CHECK(null->launch(f.stream, &launch) == GYRE_OK && null->poll(f.stream) == GYRE_OK);
    null->module_close(module);
    fake_close(&f, false);
}

static void a_damaged_image_is_corrupt(void)
{
    gyre_dev_code code = {0};
    gyre_dev_module *module;
    unsigned char *bytes;
    void *image;
    size_t size;
    fake f;

    REQUIRE(fake_open(&f, 0, ""));
    REQUIRE(compile(f.dev, "entry a", &image, &size) == GYRE_OK);
    bytes = image;
    code.image = image;
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 0x10;
        code.image_bytes = size;
        CHECK(null->module_open(f.dev, &code, &module) == GYRE_CORRUPT && !module);
        bytes[i] ^= 0x10;
        code.image_bytes = i;
        CHECK(null->module_open(f.dev, &code, &module) == GYRE_CORRUPT && !module);
    }
    gyre_free(NULL, image, size, 1);
    fake_close(&f, false);
}

static void functions_have_the_entries_they_name(void)
{
    const gyre_dev_kernel_request missing = {"subtract", NULL, 0, 0};
    gyre_dev_kernel_facts facts;
    gyre_dev_kernel *kernel;
    fake f;

    REQUIRE(fake_open(&f, 0, ""));
    CHECK(null->kernel_open(f.module, &missing, &facts, &kernel) == GYRE_NOT_FOUND && !kernel);
    CHECK(strstr(gyre_error_last()->text, "'subtract'"));
    fake_close(&f, false);
}

static void residency_is_bounded_by_threads_and_shared_memory(void)
{
    uint32_t blocks = 0;
    fake f;

    REQUIRE(fake_open(&f, 0, ""));
    CHECK(null->residency(f.kernel, 256, 0, &blocks) == GYRE_OK && blocks == 4);
    CHECK(null->residency(f.kernel, 256, 24 << 10, &blocks) == GYRE_OK && blocks == 2);
    CHECK(null->residency(f.kernel, 1024, 48 << 10, &blocks) == GYRE_OK && blocks == 1);
    fake_close(&f, false);
}

static const test_case cases[] = {
    TEST(state_is_what_the_setting_says_otherwise),
    TEST(no_slot_is_empty),
    TEST(both_devices_have_a_row),
    TEST(malformed_faults_do_not_open),
    TEST(nothing_can_be_adopted),
    TEST(open_can_fail),
    TEST(memory_is_accounted_by_device),
    TEST(blocks_are_aligned_as_asked),
    TEST(sizes_that_overflow_are_refused),
    TEST(the_told_take_fails),
    TEST(state_is_what_faults_say_while_open),
    TEST(wrong_source_has_a_log_with_its_line),
    TEST(warnings_are_told_and_build),
    TEST(compiled_entries_run),
    TEST(a_damaged_image_is_corrupt),
    TEST(functions_have_the_entries_they_name),
    TEST(residency_is_bounded_by_threads_and_shared_memory),
};
TEST_MAIN(cases)
