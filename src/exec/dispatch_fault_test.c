/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the dispatcher on a null device that is slow, refuses, faults or hangs.
 */
#include "exec/dispatch_fake.h"

/* Begins with faults, a deadline of `timeout_ms` and so many strikes. */
static bool begin_with(fixture *f, const char *faults, uint64_t timeout_ms, uint32_t strikes,
                       const gyre_dispatch_options *options)
{
    const gyre_context_options context = {.struct_size = sizeof context,
                                          .faults = faults,
                                          .sync_timeout_ns = timeout_ms * MILLISECOND,
                                          .strikes = strikes};

    return begin(f, "null", &context, options);
}

static const gyre_dispatch_options two_streams = {.struct_size = sizeof two_streams, .streams = 2};

static gyre_command on_stream(uint32_t stream, gyre_command command)
{
    command.stream = stream;
    return command;
}

static void refused_submission_is_answered_with_its_reason(void)
{
    gyre_dispatch_answer answer;
    gyre_answer raw;
    gyre_reply reply;
    fixture f;

    /* the context's trial makes two submissions */
    REQUIRE(begin_with(&f, "refuse@3", 2000, 3, NULL));
    REQUIRE(ask(&f, launch(&f, &answer, 0, 1, 1), &reply) == GYRE_OK);
    REQUIRE(gyre_reply_wait(f.channel, reply, soon(), &raw) == GYRE_OK);
    CHECK(raw.status == GYRE_NO_MEMORY);
    CHECK(gyre_dispatch_read(&raw, &answer) == GYRE_NO_MEMORY);
    CHECK(answer.status == GYRE_NO_MEMORY && answer.native == 2);
    CHECK(answer.bytes.size > 0 && answer.bytes.data[answer.bytes.size - 1] == '\0');
    CHECK(answer.bytes.data && strstr((const char *)answer.bytes.data, "REFUSED") != NULL);
    CHECK(strstr(gyre_error_last()->text, "REFUSED") != NULL && gyre_error_last()->native == 2);
    gyre_bytes_release(&answer.bytes);
    CHECK(call(&f, synchronize(0), NULL) == GYRE_OK);
    end(&f);
}

static void refused_copies_let_go_of_their_bytes(void)
{
    _Atomic uint32_t released = 0;
    gyre_bytes bytes;
    uint64_t buffer;
    fixture f;

    REQUIRE(begin_with(&f, "refuse@3..4", 2000, 3, NULL));
    REQUIRE(gyre_dispatch_allocate(f.dispatch, 8, GYRE_BUFFER_ANY, &buffer) == GYRE_OK);
    REQUIRE(gyre_bytes_wrap("12345678", 8, count_release, &released, &bytes) == GYRE_OK);
    CHECK(call(&f, to_device(buffer, 0, bytes), NULL) == GYRE_NO_MEMORY);
    CHECK(comes_to(&released, 1));
    CHECK(call(&f, from_device(buffer, 0, 8), NULL) == GYRE_NO_MEMORY);
    CHECK(call(&f, from_device(buffer, 0, 8), NULL) == GYRE_OK);
    CHECK(atomic_load(&released) == 1);
    end(&f);
}

static void fault_is_answered_with_the_kernels_name(void)
{
    _Atomic uint32_t released = 0;
    gyre_reply replies[3];
    uint64_t buffer;
    gyre_bytes bytes;
    void *address;
    fixture f;

    REQUIRE(begin_with(&f, "fault@2 slow=20000", 2000, 3, NULL));
    REQUIRE(make(&f, 8, &buffer, &address));
    CHECK(call(&f, launch(&f, address, 1, 1, 1), NULL) == GYRE_OK);
    REQUIRE(gyre_bytes_wrap("12345678", 8, count_release, &released, &bytes) == GYRE_OK);
    REQUIRE(ask(&f, launch(&f, address, 1, 1, 1), &replies[0]) == GYRE_OK);
    REQUIRE(ask(&f, to_device(buffer, 0, bytes), &replies[1]) == GYRE_OK);
    REQUIRE(ask(&f, from_device(buffer, 0, 8), &replies[2]) == GYRE_OK);
    for (int i = 0; i < 3; i++)
        CHECK(hear(&f, replies[i]) == GYRE_DEVICE_LOST);
    CHECK(comes_to(&released, 1));
    CHECK(call(&f, synchronize(0), NULL) == GYRE_DEVICE_LOST);
    CHECK(call(&f, launch(&f, address, 1, 1, 1), NULL) == GYRE_DEVICE_LOST);
    CHECK(strstr(gyre_error_last()->text, "affine") != NULL);
    CHECK(gyre_dispatch_allocate(f.dispatch, 8, GYRE_BUFFER_ZEROED, &buffer) != GYRE_OK);
    CHECK(figures(&f).pending == 0 && figures(&f).failures == 5);
    end(&f);
    CHECK(atomic_load(&released) == 1);
}

static void hang_is_answered_after_its_strikes(void)
{
    static gyre_bytes kept; /* what the device may still read is never released */
    _Atomic uint32_t released = 0;
    gyre_reply replies[5];
    uint64_t buffer, began_ns;
    void *address;
    fixture f;

    REQUIRE(begin_with(&f, "hang@2", 100, 3, &two_streams));
    REQUIRE(make(&f, 8, &buffer, &address));
    CHECK(call(&f, launch(&f, address, 1, 1, 1), NULL) == GYRE_OK);
    REQUIRE(gyre_bytes_wrap("12345678", 8, count_release, &released, &kept) == GYRE_OK);
    began_ns = gyre_clock_now_ns();
    REQUIRE(ask(&f, launch(&f, address, 1, 1, 1), &replies[0]) == GYRE_OK);
    REQUIRE(ask(&f, to_device(buffer, 0, gyre_bytes_clone(&kept)), &replies[1]) == GYRE_OK);
    REQUIRE(ask(&f, from_device(buffer, 0, 8), &replies[2]) == GYRE_OK);
    REQUIRE(ask(&f, synchronize(0), &replies[3]) == GYRE_OK);
    CHECK(call(&f, synchronize(1), NULL) == GYRE_OK); /* the other stream goes on meanwhile */
    for (int i = 0; i < 4; i++)
        CHECK(hear(&f, replies[i]) == GYRE_DEVICE_LOST);
    CHECK(gyre_clock_now_ns() - began_ns >= (uint64_t)3 * 100 * MILLISECOND);
    CHECK(call(&f, synchronize(1), NULL) == GYRE_DEVICE_LOST);
    CHECK(call(&f, launch(&f, address, 1, 1, 1), NULL) == GYRE_DEVICE_LOST);
    CHECK(strstr(gyre_error_last()->text, "affine") != NULL);
    for (int i = 0; i < 100; i++) /* more than there is room for */
        CHECK(call(&f, synchronize(0), NULL) == GYRE_DEVICE_LOST);
    CHECK(figures(&f).pending == 0);
    end(&f);
    CHECK(atomic_load(&released) == 0);
}

static void answer_does_not_wait_for_what_is_behind_it(void)
{
    gyre_reply replies[2];
    uint64_t buffer;
    void *address;
    fixture f;

    REQUIRE(begin_with(&f, "hang@2 slow=20000", 1000, 1, NULL));
    REQUIRE(make(&f, 8, &buffer, &address));
    REQUIRE(ask(&f, launch(&f, address, 1, 1, 1), &replies[0]) == GYRE_OK);
    REQUIRE(ask(&f, launch(&f, address, 1, 1, 1), &replies[1]) == GYRE_OK);
    CHECK(hear(&f, replies[0]) == GYRE_OK);
    CHECK(hear(&f, replies[1]) == GYRE_DEVICE_LOST);
    end(&f);
}

static void slow_work_is_no_loss(void)
{
    gyre_context_statistics s = {.struct_size = sizeof s};
    uint64_t buffer;
    void *address;
    fixture f;

    REQUIRE(begin_with(&f, "hang@1+1000", 20, 1000, NULL));
    REQUIRE(make(&f, 8, &buffer, &address));
    CHECK(call(&f, launch(&f, address, 1, 1, 1), NULL) == GYRE_OK);
    REQUIRE(gyre_context_describe(f.context, &s) == GYRE_OK);
    CHECK(s.timeouts > 0 && s.strikes == 0);
    CHECK(figures(&f).worst_ns >= (uint64_t)1000 * MILLISECOND);
    end(&f);
}

static void what_comes_back_works_again(void)
{
    _Atomic uint32_t released = 0;
    gyre_reply replies[2];
    gyre_bytes bytes;
    uint64_t buffer;
    void *address;
    fixture f;

    REQUIRE(begin_with(&f, "hang@1+1500", 20, 2, NULL));
    REQUIRE(make(&f, 8, &buffer, &address));
    REQUIRE(gyre_bytes_wrap("12345678", 8, count_release, &released, &bytes) == GYRE_OK);
    REQUIRE(ask(&f, launch(&f, address, 1, 1, 1), &replies[0]) == GYRE_OK);
    REQUIRE(ask(&f, to_device(buffer, 0, bytes), &replies[1]) == GYRE_OK);
    CHECK(hear(&f, replies[0]) == GYRE_DEVICE_LOST);
    CHECK(hear(&f, replies[1]) == GYRE_DEVICE_LOST);
    CHECK(atomic_load(&released) == 0);
    for (int i = 0; i < 10000 && gyre_context_reset(f.context) != GYRE_OK; i++)
        nap_ms(1);
    CHECK(call(&f, launch(&f, address, 1, 1, 1), NULL) == GYRE_OK);
    CHECK(comes_to(&released, 1));
    end(&f);
    CHECK(atomic_load(&released) == 1);
}

/* The same with a device that really works beside us, and writes and reads late. */
static void kernel_that_ends_late_finds_its_bytes(void)
{
    const gyre_context_options options = {.struct_size = sizeof options,
                                          .sync_timeout_ns = (uint64_t)200 * MILLISECOND,
                                          .strikes = 2};
    gyre_command command = {.kind = GYRE_COMMAND_LAUNCH};
    _Atomic uint32_t released = 0;
    gyre_reply replies[3];
    gyre_bytes bytes;
    uint64_t buffer;
    void *address;
    fixture f;

    if (!gyre_device_find("cpu"))
        SKIP("GYRE_BACKENDS leaves the CPU out");
    REQUIRE(begin(&f, "cpu", &options, NULL));
    REQUIRE(open_kernel(&f, "hold", "", &command.as.launch.kernel));
    REQUIRE(make(&f, 8, &buffer, &address));
    REQUIRE(gyre_bytes_wrap("12345678", 8, count_release, &released, &bytes) == GYRE_OK);
    atomic_store(&fake_held, true);
    REQUIRE(ask(&f, command, &replies[0]) == GYRE_OK);
    REQUIRE(ask(&f, to_device(buffer, 0, bytes), &replies[1]) == GYRE_OK);
    REQUIRE(ask(&f, from_device(buffer, 0, 8), &replies[2]) == GYRE_OK);
    for (int i = 0; i < 3; i++)
        CHECK(hear(&f, replies[i]) == GYRE_DEVICE_LOST);
    CHECK(call(&f, synchronize(0), NULL) == GYRE_DEVICE_LOST);
    CHECK(atomic_load(&released) == 0);
    atomic_store(&fake_held, false);
    for (int i = 0; i < 10000 && gyre_context_reset(f.context) != GYRE_OK; i++)
        nap_ms(1);
    CHECK(call(&f, launch(&f, address, 1, 1, 0), NULL) == GYRE_OK);
    CHECK(comes_to(&released, 1));
    end(&f);
    CHECK(atomic_load(&released) == 1);
}

static void stop_waits_for_what_was_taken(void)
{
    gyre_dispatch_answer answer = {.status = 0};
    gyre_reply reply;
    gyre_answer raw;
    uint64_t buffer;
    void *address;
    fixture f;

    REQUIRE(begin_with(&f, "hang@1+500", 2000, 3, NULL));
    REQUIRE(make(&f, 8, &buffer, &address));
    REQUIRE(ask(&f, launch(&f, address, 1, 1, 1), &reply) == GYRE_OK);
    while (figures(&f).launches == 0)
        nap_ms(1);
    gyre_dispatch_stop(f.dispatch);
    f.dispatch = NULL;
    REQUIRE(gyre_reply_wait(f.channel, reply, 0, &raw) == GYRE_OK); /* it is there already */
    CHECK(gyre_dispatch_read(&raw, &answer) == GYRE_OK);
    end(&f);
}

static void stop_does_not_wait_for_what_hangs(void)
{
    uint64_t buffer;
    gyre_reply reply;
    void *address;
    fixture f;

    REQUIRE(begin_with(&f, "hang@1", 20, 2, &two_streams));
    REQUIRE(make(&f, 8, &buffer, &address));
    REQUIRE(ask(&f, launch(&f, address, 1, 1, 1), &reply) == GYRE_OK);
    while (figures(&f).launches == 0)
        nap_ms(1);
    gyre_dispatch_stop(f.dispatch);
    f.dispatch = NULL;
    CHECK(hear(&f, reply) == GYRE_DEVICE_LOST);
    end(&f);
}

/* What the copies behind it read and write is still there when it ends at last. */
static void stop_leaves_a_hung_kernel_its_memory(void)
{
    static gyre_bytes kept; /* never released */
    const gyre_context_options options = {.struct_size = sizeof options,
                                          .sync_timeout_ns = (uint64_t)200 * MILLISECOND,
                                          .strikes = 2};
    gyre_command command = {.kind = GYRE_COMMAND_LAUNCH};
    gyre_reply replies[3];
    uint64_t buffer;
    void *address;
    fixture f;

    if (!gyre_device_find("cpu"))
        SKIP("GYRE_BACKENDS leaves the CPU out");
    REQUIRE(begin(&f, "cpu", &options, NULL));
    REQUIRE(open_kernel(&f, "hold", "", &command.as.launch.kernel));
    REQUIRE(make(&f, 1 << 20, &buffer, &address));
    REQUIRE(gyre_bytes_take(NULL, 1 << 20, &kept) == GYRE_OK);
    memset(gyre_bytes_writable(&kept), 1, kept.size);
    atomic_store(&fake_held, true);
    REQUIRE(ask(&f, command, &replies[0]) == GYRE_OK);
    REQUIRE(ask(&f, to_device(buffer, 0, gyre_bytes_clone(&kept)), &replies[1]) == GYRE_OK);
    REQUIRE(ask(&f, from_device(buffer, 0, 1 << 20), &replies[2]) == GYRE_OK);
    for (int i = 0; i < 3; i++)
        CHECK(hear(&f, replies[i]) == GYRE_DEVICE_LOST);
    end(&f);
    CHECK(!gyre_bytes_writable(&kept)); /* there is another holder */
    atomic_store(&fake_held, false);
    nap_ms(100); /* in which it goes on; a sanitizer sees what it touches */
    REQUIRE(begin(&f, "cpu", NULL, NULL)); /* a new context works, and frees what was left there */
    CHECK(call(&f, synchronize(0), NULL) == GYRE_OK);
    end(&f);
}

static void full_stream_leaves_commands_in_the_channel(void)
{
    const gyre_dispatch_options options = {
        .struct_size = sizeof options, .streams = 2, .pending_most = 2};
    gyre_channel_statistics queue = {.struct_size = sizeof queue};
    uint32_t expected = 6;
    uint64_t buffer;
    void *address;
    fixture f;

    REQUIRE(begin_with(&f, "hang@1+1000", 5000, 3, &options));
    REQUIRE(make(&f, 4, &buffer, &address));
    CHECK(call(&f, on_stream(1, synchronize(1)), NULL) == GYRE_OK);
    for (int i = 0; i < 6; i++)
        REQUIRE(send(&f, launch(&f, address, 1, 1, 1)));
    while (figures(&f).launches < 3)
        nap_ms(1);
    REQUIRE(gyre_channel_describe(f.channel, &queue) == GYRE_OK);
    CHECK(figures(&f).pending == 2);
    CHECK(queue.queued == 3); /* and one is in the dispatcher's hand */
    CHECK(holds(&f, buffer, &expected, 1));
    end(&f);
}

static void late_answer_is_nobodys(void)
{
    _Atomic uint32_t released = 0;
    gyre_dispatch_answer answer;
    gyre_command command;
    gyre_bytes bytes;
    uint64_t buffer;
    void *address;
    fixture f;

    REQUIRE(begin_with(&f, "hang@1+500", 2000, 3, NULL));
    REQUIRE(make(&f, 8, &buffer, &address));
    REQUIRE(gyre_bytes_wrap("12345678", 8, count_release, &released, &bytes) == GYRE_OK);
    REQUIRE(send(&f, launch(&f, address, 1, 1, 1)));
    command = to_device(buffer, 0, bytes);
    CHECK(gyre_dispatch_call(f.channel, 0, &command, gyre_clock_after_ns(MILLISECOND), NULL) ==
          GYRE_TIMEOUT);
    command = from_device(buffer, 0, 8);
    CHECK(gyre_dispatch_call(f.channel, 0, &command, gyre_clock_after_ns(MILLISECOND), &answer) ==
          GYRE_TIMEOUT);
    CHECK(answer.bytes.size == 0);
    REQUIRE(call(&f, from_device(buffer, 0, 8), &answer) == GYRE_OK);
    CHECK(memcmp(answer.bytes.data, "12345678", 8) == 0); /* it was done all the same */
    gyre_bytes_release(&answer.bytes);
    CHECK(figures(&f).late == 2 && figures(&f).failures == 0);
    CHECK(comes_to(&released, 1));
    end(&f);
    CHECK(atomic_load(&released) == 1);
}

static void close_does_not_keep_the_bytes(void)
{
    _Atomic uint32_t released = 0;
    gyre_reply replies[2];
    gyre_bytes bytes;
    uint64_t buffer;
    void *address;
    fixture f;

    REQUIRE(begin_with(&f, "hang@1+500", 2000, 3, NULL));
    REQUIRE(make(&f, 8, &buffer, &address));
    REQUIRE(gyre_bytes_wrap("12345678", 8, count_release, &released, &bytes) == GYRE_OK);
    REQUIRE(send(&f, launch(&f, address, 1, 1, 1)));
    REQUIRE(ask(&f, to_device(buffer, 0, bytes), &replies[0]) == GYRE_OK);
    REQUIRE(ask(&f, from_device(buffer, 0, 8), &replies[1]) == GYRE_OK);
    gyre_channel_close(f.channel);
    CHECK(hear(&f, replies[0]) == GYRE_CLOSED && hear(&f, replies[1]) == GYRE_CLOSED);
    CHECK(comes_to(&released, 1));
    end(&f);
    CHECK(atomic_load(&released) == 1);
}

/* A buffer's memory is not another's while the device may still write it. */
static void deallocated_memory_waits_for_the_device(void)
{
    uint64_t first, second, third;
    void *before, *after;
    fixture f;

    REQUIRE(begin_with(&f, "hang@1+1000", 5000, 3, &two_streams));
    REQUIRE(make(&f, 1 << 20, &first, &before));
    REQUIRE(send(&f, on_stream(1, launch(&f, before, 1, 1, 1))));
    while (figures(&f).pending == 0) /* for a second it is */
        nap_ms(1);
    CHECK(gyre_dispatch_deallocate(f.dispatch, first) == GYRE_OK);
    REQUIRE(make(&f, 1 << 20, &second, &after));
    CHECK(after != before);
    CHECK(gyre_dispatch_deallocate(f.dispatch, second) == GYRE_OK);
    CHECK(call(&f, synchronize(1), NULL) == GYRE_OK);
    REQUIRE(make(&f, 1 << 20, &second, &after));
    REQUIRE(make(&f, 1 << 20, &third, &after));
    CHECK(figures(&f).buffers == 2);
    end(&f);
}

static void allocation_that_cannot_be_zeroed_is_none(void)
{
    uint64_t buffer = 7;
    fixture f;

    REQUIRE(begin_with(&f, "refuse@3", 2000, 3, NULL));
    CHECK(gyre_dispatch_allocate(f.dispatch, 8, GYRE_BUFFER_ZEROED, &buffer) == GYRE_NO_MEMORY);
    CHECK(buffer == 0 && figures(&f).buffers == 0);
    CHECK(gyre_dispatch_allocate(f.dispatch, 8, GYRE_BUFFER_ZEROED, &buffer) == GYRE_OK);
    end(&f);
}

/* Two that take most of a deadline each; the second waits in hand for the first one's place. */
static void waiting_for_room_is_no_part_of_a_deadline(void)
{
    const gyre_dispatch_options one = {.struct_size = sizeof one, .pending_most = 1};
    gyre_reply first, second;
    uint32_t number = 0;
    fixture f;

    REQUIRE(begin_with(&f, "hang@1..2+800", 1500, 1, &one));
    CHECK(ask(&f, launch(&f, &number, 1, 0, 1), &first) == GYRE_OK);
    CHECK(ask(&f, launch(&f, &number, 1, 1, 1), &second) == GYRE_OK);
    CHECK(hear(&f, first) == GYRE_OK);
    CHECK(hear(&f, second) == GYRE_OK);
    CHECK(number == 2);
    end(&f);
}

static const test_case cases[] = {
    TEST(waiting_for_room_is_no_part_of_a_deadline),
    TEST(refused_submission_is_answered_with_its_reason),
    TEST(refused_copies_let_go_of_their_bytes),
    TEST(fault_is_answered_with_the_kernels_name),
    TEST(hang_is_answered_after_its_strikes),
    TEST(answer_does_not_wait_for_what_is_behind_it),
    TEST(slow_work_is_no_loss),
    TEST(what_comes_back_works_again),
    TEST(kernel_that_ends_late_finds_its_bytes),
    TEST(stop_waits_for_what_was_taken),
    TEST(stop_does_not_wait_for_what_hangs),
    TEST(stop_leaves_a_hung_kernel_its_memory),
    TEST(full_stream_leaves_commands_in_the_channel),
    TEST(late_answer_is_nobodys),
    TEST(close_does_not_keep_the_bytes),
    TEST(deallocated_memory_waits_for_the_device),
    TEST(allocation_that_cannot_be_zeroed_is_none),
};
TEST_MAIN(cases)
