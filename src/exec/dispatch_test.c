/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the dispatcher that need nothing to go wrong: each on the first device of every
 * backend that has one.
 */
#include "exec/dispatch_fake.h"
#include "gyre/log.h"

/* The thread sanitizer does not see how a driver orders its own threads. */
#if defined(__SANITIZE_THREAD__)
static const char *const devices[] = {"null", "cpu"};
#else
static const char *const devices[] = {"null", "cpu", "opencl", "cuda"};
#endif

/* Begins on the next device that is there. */
static bool next(fixture *f, size_t *at, const gyre_dispatch_options *options)
{
    while (*at < sizeof devices / sizeof devices[0]) {
        const gyre_device *const device = gyre_device_find(devices[(*at)++]);

        if (!device || device->trouble[0])
            continue;
        if (begin(f, device->name, NULL, options))
            return true;
        CHECK(!"the device can be used");
    }
    return false;
}

static void launch_is_answered_when_it_is_through(void)
{
    fixture f;

    for (size_t at = 0; next(&f, &at, NULL); end(&f)) {
        const uint32_t expected[4] = {5, 5, 5, 5};
        gyre_dispatch_answer answer;
        uint64_t buffer;
        void *address;

        REQUIRE(make(&f, sizeof expected, &buffer, &address));
        CHECK(call(&f, launch(&f, address, 4, 1, 5), &answer) == GYRE_OK);
        CHECK(answer.status == GYRE_OK && answer.native == 0 && answer.bytes.size == 0);
        CHECK(answer.work_ns > 0);
        CHECK(holds(&f, buffer, expected, 4));
    }
}

static void large_parameters_travel_as_bytes(void)
{
    fixture f;

    for (size_t at = 0; next(&f, &at, NULL); end(&f)) {
        gyre_command command = {.kind = GYRE_COMMAND_LAUNCH_SHARED};
        wide_parameters parameters = {.affine = {NULL, 1, 2}, .rest[31] = 40};
        const uint32_t expected = 42;
        _Atomic uint32_t released = 0;
        uint64_t buffer;
        void *address;

        REQUIRE(make(&f, sizeof expected, &buffer, &address));
        parameters.affine.to = address;
        command.as.launch.kernel = f.wide;
        REQUIRE(gyre_bytes_wrap(&parameters, sizeof parameters, count_release, &released,
                                &command.as.launch.parameters.shared) == GYRE_OK);
        CHECK(call(&f, command, NULL) == GYRE_OK);
        CHECK(comes_to(&released, 1));
        CHECK(holds(&f, buffer, &expected, 1));
        CHECK(atomic_load(&released) == 1);
    }
}

static void bytes_go_to_the_device_and_come_back(void)
{
    fixture f;

    for (size_t at = 0; next(&f, &at, NULL); end(&f)) {
        static const unsigned char sent[] = "to the device and back";
        _Atomic uint32_t released = 0;
        gyre_dispatch_answer answer;
        gyre_bytes bytes;
        uint64_t buffer;
        void *address;

        REQUIRE(make(&f, 64, &buffer, &address));
        REQUIRE(gyre_bytes_wrap(sent, sizeof sent, count_release, &released, &bytes) == GYRE_OK);
        CHECK(call(&f, to_device(buffer, 7, bytes), NULL) == GYRE_OK);
        CHECK(comes_to(&released, 1));
        REQUIRE(call(&f, from_device(buffer, 6, sizeof sent + 2), &answer) == GYRE_OK);
        CHECK(answer.bytes.size == sizeof sent + 2);
        CHECK(answer.bytes.data[0] == 0 && answer.bytes.data[sizeof sent + 1] == 0);
        CHECK(memcmp(answer.bytes.data + 1, sent, sizeof sent) == 0);
        gyre_bytes_release(&answer.bytes);
        CHECK(atomic_load(&released) == 1);
    }
}

static void pinned_bytes_can_be_sent(void)
{
    fixture f;

    for (size_t at = 0; next(&f, &at, NULL); end(&f)) {
        const uint32_t expected[2] = {3, 4};
        gyre_bytes bytes;
        uint64_t buffer;
        void *address;

        REQUIRE(make(&f, sizeof expected, &buffer, &address));
        REQUIRE(gyre_bytes_take(gyre_dispatch_memory(f.dispatch), sizeof expected, &bytes) ==
                GYRE_OK);
        memcpy(gyre_bytes_writable(&bytes), expected, sizeof expected);
        CHECK(call(&f, to_device(buffer, 0, bytes), NULL) == GYRE_OK);
        CHECK(holds(&f, buffer, expected, 2));
    }
}

static void nothing_can_be_moved(void)
{
    fixture f;

    for (size_t at = 0; next(&f, &at, NULL); end(&f)) {
        gyre_dispatch_answer answer;
        uint64_t buffer;
        void *address;

        REQUIRE(make(&f, 8, &buffer, &address));
        CHECK(call(&f, to_device(buffer, 8, (gyre_bytes){0}), NULL) == GYRE_OK);
        CHECK(call(&f, from_device(buffer, 8, 0), &answer) == GYRE_OK && answer.bytes.size == 0);
    }
}

/* Also that a stream's commands run in their order, and another's beside them. */
static void synchronize_comes_after_what_was_sent_before(void)
{
    const gyre_dispatch_options options = {
        .struct_size = sizeof options, .streams = 2, .pending_most = 4};
    fixture f;

    for (size_t at = 0; next(&f, &at, &options); end(&f)) {
        uint32_t expected[2] = {0, 0};
        uint64_t buffers[2];
        void *addresses[2];

        for (int i = 0; i < 2; i++)
            REQUIRE(make(&f, sizeof(uint32_t), &buffers[i], &addresses[i]));
        for (uint32_t k = 0; k < 100; k++) {
            gyre_command command = launch(&f, addresses[k % 2], 1, 3 + k % 5, k);

            command.stream = k % 2;
            REQUIRE(send(&f, command));
            expected[k % 2] = expected[k % 2] * (3 + k % 5) + k;
        }
        for (uint32_t i = 0; i < 2; i++) {
            CHECK(call(&f, synchronize(i), NULL) == GYRE_OK);
            CHECK(holds(&f, buffers[i], &expected[i], 1));
        }
        CHECK(figures(&f).launches == 100 && figures(&f).synchronizes == 2);
    }
}

static void unknown_ids_are_not_found(void)
{
    fixture f;

    for (size_t at = 0; next(&f, &at, NULL); end(&f)) {
        gyre_dispatch_answer answer;
        gyre_command command;
        uint64_t buffer;
        void *address;

        REQUIRE(make(&f, 8, &buffer, &address));
        command = launch(&f, address, 1, 1, 1);
        for (uint64_t id = 0; id < 8; id++) {
            command.as.launch.kernel = id;
            if (id != f.affine && id != f.wide)
                CHECK(call(&f, command, NULL) == GYRE_NOT_FOUND);
        }
        CHECK(call(&f, from_device(0, 0, 4), &answer) == GYRE_NOT_FOUND);
        CHECK(strstr(gyre_error_last()->text, "buffer") != NULL);
        CHECK(answer.status == GYRE_NOT_FOUND && answer.bytes.size == 0);
        CHECK(call(&f, from_device(buffer + 1, 0, 4), NULL) == GYRE_NOT_FOUND);
        CHECK(call(&f, from_device(UINT64_MAX, 0, 4), NULL) == GYRE_NOT_FOUND);
        CHECK(gyre_dispatch_deallocate(f.dispatch, buffer) == GYRE_OK);
        CHECK(gyre_dispatch_deallocate(f.dispatch, buffer) == GYRE_NOT_FOUND);
        CHECK(gyre_dispatch_address(f.dispatch, buffer, &address) == GYRE_NOT_FOUND && !address);
        CHECK(call(&f, from_device(buffer, 0, 4), NULL) == GYRE_NOT_FOUND);
    }
}

static void ranges_outside_the_buffer_are_refused(void)
{
    static const uint64_t ranges[][2] = {{0, 9}, {8, 1}, {9, 0}, {1, UINT64_MAX}, {UINT64_MAX, 1}};
    fixture f;

    for (size_t at = 0; next(&f, &at, NULL); end(&f)) {
        const uint32_t zeros[2] = {0, 0};
        static const unsigned char data[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
        _Atomic uint32_t released = 0;
        gyre_bytes bytes;
        uint64_t buffer;
        void *address;

        REQUIRE(make(&f, 8, &buffer, &address));
        for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
            CHECK(call(&f, from_device(buffer, ranges[i][0], ranges[i][1]), NULL) == GYRE_INVALID);
        for (uint64_t offset = 0; offset < 9; offset++) {
            REQUIRE(gyre_bytes_wrap(data, sizeof data, count_release, &released, &bytes) ==
                    GYRE_OK);
            CHECK(call(&f, to_device(buffer, offset, bytes), NULL) == GYRE_INVALID);
        }
        CHECK(comes_to(&released, 9));
        CHECK(holds(&f, buffer, zeros, 2));
    }
}

static void what_is_no_command_is_answered(void)
{
    fixture f;

    for (size_t at = 0; next(&f, &at, NULL); end(&f)) {
        gyre_command command = {.kind = 77};
        uint64_t buffer;
        gyre_reply reply;
        void *address;

        CHECK(call(&f, command, NULL) == GYRE_INVALID); /* already here */
        REQUIRE(gyre_call_begin(f.channel, 0, &command, 12, soon(), &reply) == GYRE_OK);
        CHECK(hear(&f, reply) == GYRE_CORRUPT);
        CHECK(call(&f, synchronize(1), NULL) == GYRE_INVALID);
        CHECK(call(&f, synchronize(UINT32_MAX), NULL) == GYRE_INVALID);
        REQUIRE(make(&f, 8, &buffer, &address));
        command = launch(&f, address, 1, 1, 1);
        command.as.launch.parameters_size -= 4;
        CHECK(call(&f, command, NULL) == GYRE_INVALID);
        command = launch(&f, address, 1, 1, 1);
        command.as.launch.block[0] = UINT32_MAX;
        CHECK(call(&f, command, NULL) == GYRE_INVALID);
        CHECK(call(&f, synchronize(0), NULL) == GYRE_OK);
        CHECK(figures(&f).corrupt == 1 && figures(&f).failures == 5);
    }
}

static void ids_are_never_used_again(void)
{
    enum { TIMES = 40, AT_ONCE = 40 };
    static uint64_t ids[TIMES * AT_ONCE];
    fixture f;

    for (size_t at = 0; next(&f, &at, NULL); end(&f)) {
        size_t count = 0;

        for (int i = 0; i < TIMES; i++) {
            for (int k = 0; k < AT_ONCE; k++)
                REQUIRE(gyre_dispatch_allocate(f.dispatch, 100, GYRE_BUFFER_ANY, &ids[count++]) ==
                        GYRE_OK);
            for (size_t k = 0; k < count - AT_ONCE; k++) { /* though all their places are taken */
                void *address;

                CHECK(gyre_dispatch_address(f.dispatch, ids[k], &address) == GYRE_NOT_FOUND);
            }
            CHECK(figures(&f).buffers == AT_ONCE &&
                  figures(&f).buffer_bytes == (uint64_t)AT_ONCE * 100);
            for (int k = 0; k < AT_ONCE; k++)
                CHECK(gyre_dispatch_deallocate(f.dispatch, ids[count - AT_ONCE + k]) == GYRE_OK);
        }
        CHECK(ids[0] != 0);
        CHECK(figures(&f).buffers == 0 && figures(&f).buffer_bytes == 0);
    }
}

static void limits_refuse_and_let_go_again(void)
{
    const gyre_dispatch_options options = {.struct_size = sizeof options,
                                           .device_limit_bytes = 1 << 20,
                                           .pinned_limit_bytes = 256 << 10};
    fixture f;

    for (size_t at = 0; next(&f, &at, &options); end(&f)) {
        gyre_dispatch_answer kept;
        uint64_t first, second;

        REQUIRE(gyre_dispatch_allocate(f.dispatch, 600 << 10, GYRE_BUFFER_ANY, &first) == GYRE_OK);
        CHECK(gyre_dispatch_allocate(f.dispatch, 600 << 10, GYRE_BUFFER_ANY, &second) ==
              GYRE_AGAIN);
        CHECK(second == 0);
        REQUIRE(call(&f, from_device(first, 0, 150 << 10), &kept) == GYRE_OK);
        CHECK(call(&f, from_device(first, 0, 150 << 10), NULL) == GYRE_AGAIN);
        gyre_bytes_release(&kept.bytes);
        CHECK(call(&f, from_device(first, 0, 150 << 10), NULL) == GYRE_OK);
        CHECK(gyre_dispatch_deallocate(f.dispatch, first) == GYRE_OK);
        CHECK(gyre_dispatch_allocate(f.dispatch, 600 << 10, GYRE_BUFFER_ANY, &second) == GYRE_OK);
    }
}

static int lines; /* calls of the sink are serialised, and the last is over before it is read */

static void count_line(void *user, gyre_log_level level, const char *topic, const char *text)
{
    (void)user, (void)level, (void)topic, (void)text;
    lines++;
}

static void failures_without_a_reply_are_counted(void)
{
    fixture f;

    for (size_t at = 0; next(&f, &at, NULL); end(&f)) {
        lines = 0;
        gyre_log_set_sink(count_line, NULL);
        REQUIRE(send(&f, from_device(0, 0, 1)));
        REQUIRE(send(&f, from_device(0, 0, 1)));
        CHECK(call(&f, from_device(0, 0, 1), NULL) == GYRE_NOT_FOUND);
        CHECK(figures(&f).failures == 3 && figures(&f).unheard == 2 && figures(&f).late == 0);
        gyre_log_set_sink(NULL, NULL);
        CHECK(lines == 1); /* the first */
    }
}

static void a_closed_channel_is_run_to_its_end(void)
{
    fixture f;

    for (size_t at = 0; next(&f, &at, NULL); end(&f)) {
        uint64_t buffer;
        gyre_reply reply;
        void *address;

        REQUIRE(make(&f, 4, &buffer, &address));
        for (int i = 0; i < 50; i++)
            REQUIRE(send(&f, launch(&f, address, 1, 1, 1)));
        REQUIRE(ask(&f, synchronize(0), &reply) == GYRE_OK);
        CHECK(hear(&f, reply) == GYRE_OK);
        for (int i = 0; i < 50; i++)
            REQUIRE(send(&f, launch(&f, address, 1, 1, 1)));
        gyre_channel_close(f.channel);
        CHECK(call(&f, synchronize(0), NULL) == GYRE_CLOSED);
        for (uint64_t i = 0; i < PATIENCE_NS / MILLISECOND && figures(&f).launches < 100; i++)
            nap_ms(1);
        CHECK(figures(&f).launches == 100);
    }
}

static void stop_leaves_in_the_channel_what_was_not_taken(void)
{
    gyre_channel_statistics queue = {.struct_size = sizeof queue};
    fixture f;

    for (size_t at = 0; next(&f, &at, NULL); end(&f)) {
        _Atomic uint32_t released = 0;
        gyre_dispatch_statistics before;
        uint64_t buffer;
        void *address;

        REQUIRE(make(&f, 8, &buffer, &address));
        gyre_dispatch_stop(f.dispatch);
        f.dispatch = NULL;
        for (int i = 0; i < 3; i++) {
            gyre_bytes bytes;

            REQUIRE(gyre_bytes_wrap("12345678", 8, count_release, &released, &bytes) == GYRE_OK);
            REQUIRE(send(&f, to_device(buffer, 0, bytes)));
        }
        REQUIRE(gyre_channel_describe(f.channel, &queue) == GYRE_OK);
        CHECK(queue.queued == 3 && atomic_load(&released) == 0);
        /* and the next dispatcher takes them, though it does not know the buffer */
        REQUIRE(gyre_dispatch_start(f.context, f.channel, NULL, &f.dispatch) == GYRE_OK);
        CHECK(call(&f, synchronize(0), NULL) == GYRE_OK);
        before = figures(&f);
        CHECK(before.to_device == 3 && before.unheard == 3);
        CHECK(comes_to(&released, 3));
    }
}

static void start_refuses_what_it_cannot_serve(void)
{
    static const uint32_t no_cpu[] = {100000};
    static const gyre_allocator half = {.user = NULL};
    static const gyre_dispatch_options wrong[] = {
        {.struct_size = sizeof wrong[0], .streams = 65},
        {.struct_size = sizeof wrong[0], .pending_most = 257},
        {.struct_size = sizeof wrong[0], .cpus = no_cpu, .cpu_count = 1},
        {.struct_size = 0},
        {.struct_size = sizeof wrong[0], .allocator = &half},
    };
    gyre_channel_options options = gyre_command_channel();
    gyre_channel *channel = NULL;
    gyre_dispatch *dispatch;
    fixture f;

    for (size_t at = 0; next(&f, &at, NULL); end(&f)) {
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
            CHECK(gyre_dispatch_start(f.context, f.channel, &wrong[i], &dispatch) == GYRE_INVALID &&
                  !dispatch);
        options.delivery = GYRE_DELIVER_ALL;
        REQUIRE(gyre_channel_create(&options, &channel) == GYRE_OK);
        CHECK(gyre_dispatch_start(f.context, channel, NULL, &dispatch) == GYRE_INVALID);
        gyre_channel_destroy(channel);
        options = gyre_command_channel();
        options.item_bytes = 64;
        REQUIRE(gyre_channel_create(&options, &channel) == GYRE_OK);
        CHECK(gyre_dispatch_start(f.context, channel, NULL, &dispatch) == GYRE_INVALID);
        gyre_channel_destroy(channel);
        options = gyre_command_channel();
        CHECK(call(&f, synchronize(0), NULL) == GYRE_OK);
    }
    gyre_dispatch_stop(NULL);
}

static void wrong_calls_are_refused(void)
{
    fixture f;

    for (size_t at = 0; next(&f, &at, NULL); end(&f)) {
        gyre_dispatch_statistics none = {.struct_size = 0};
        gyre_dispatch_answer answer;
        uint64_t id;

        CHECK(gyre_dispatch_kernel(f.dispatch, NULL, &id) == GYRE_INVALID && id == 0);
        CHECK(gyre_dispatch_allocate(f.dispatch, 0, GYRE_BUFFER_ANY, &id) == GYRE_INVALID);
        CHECK(gyre_dispatch_allocate(f.dispatch, 1, (gyre_buffer_content)2, &id) == GYRE_INVALID);
        CHECK(gyre_dispatch_deallocate(f.dispatch, 0) == GYRE_NOT_FOUND);
        CHECK(gyre_dispatch_describe(f.dispatch, &none) == GYRE_INVALID);
        CHECK(gyre_dispatch_read(&(gyre_answer){.size = 8}, &answer) == GYRE_CORRUPT);
    }
}

static const test_case cases[] = {
    TEST(launch_is_answered_when_it_is_through),
    TEST(large_parameters_travel_as_bytes),
    TEST(bytes_go_to_the_device_and_come_back),
    TEST(pinned_bytes_can_be_sent),
    TEST(nothing_can_be_moved),
    TEST(synchronize_comes_after_what_was_sent_before),
    TEST(unknown_ids_are_not_found),
    TEST(ranges_outside_the_buffer_are_refused),
    TEST(what_is_no_command_is_answered),
    TEST(ids_are_never_used_again),
    TEST(limits_refuse_and_let_go_again),
    TEST(failures_without_a_reply_are_counted),
    TEST(a_closed_channel_is_run_to_its_end),
    TEST(stop_leaves_in_the_channel_what_was_not_taken),
    TEST(start_refuses_what_it_cannot_serve),
    TEST(wrong_calls_are_refused),
};
TEST_MAIN(cases)
