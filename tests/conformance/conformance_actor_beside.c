/* SPDX-License-Identifier: Apache-2.0
 *
 * Actors: what is built on devices goes on while one is resident: pools, buffers, dispatchers,
 * profiles, monitors. As conformance_actor_resident.c.
 */
#include "conformance_resident.h"

#include "gyre/board.h"
#include "gyre/buffers.h"
#include "gyre/cache.h"
#include "gyre/dispatch.h"
#include "gyre/monitor.h"
#include "gyre/pool.h"
#include "gyre/profile.h"

static void pools_take_give_and_trim(void)
{
    gyre_pool_statistics statistics = {.struct_size = sizeof statistics};
    gyre_stream *stream;
    gyre_ticket ticket;

    BEGIN();
    stream = stream_new();
    REQUIRE(stream);
    for (int kind = GYRE_CONTEXT_DEVICE; kind <= GYRE_CONTEXT_PINNED; kind++) {
        const gyre_pool_options options = {.struct_size = sizeof options,
                                           .source = gyre_context_memory(on.context, kind)};
        const bool reached =
            kind == GYRE_CONTEXT_PINNED || gyre_device_has(on.device, GYRE_FEATURE_HOST_REACH);
        gyre_pool *pool;
        void *block;

        WENT(gyre_pool_create(&options, &pool));
        REQUIRE(pool);
        for (int i = 0; i < 3; i++) {
            WENT(gyre_pool_take(pool, (size_t)BYTES << 2 * i, &block));
            RAN(gyre_pool_give(pool, block, (size_t)BYTES << 2 * i));
        }
        if (reached) {
            WENT(gyre_pool_take_zeroed(pool, BYTES, &block));
            RAN(gyre_pool_give(pool, block, BYTES));
        }
        WENT(gyre_pool_take_aligned(pool, 3 * MIB, 4096, &block));
        ticket = gyre_stream_ticket(stream);
        WENT(gyre_pool_give_after(pool, block, 3 * MIB, 4096, ticket));
        WENT(gyre_pool_take_ordered(pool, 3 * MIB, 4096, ticket.completed, &block));
        RAN(gyre_pool_give_aligned(pool, block, 3 * MIB, 4096));
        CALLED(gyre_pool_trim(pool) > 0);
        WENT(gyre_pool_describe(pool, &statistics));
        CALLED(gyre_pool_memory(pool) != NULL);
        RAN(gyre_pool_destroy(pool));
    }
    RAN(gyre_stream_destroy(stream));
    finish();
}

static void buffers_over_pinned_memory(void)
{
    uint32_t words[4] = {1, 2, 3, 4}, back[4] = {0};
    gyre_buffers *buffers;
    gyre_pool *pool;
    gyre_bytes bytes;
    uint64_t id;
    size_t size;

    BEGIN();
    REQUIRE(ok(gyre_pool_create(
        &(gyre_pool_options){.struct_size = sizeof(gyre_pool_options),
                             .source = gyre_context_memory(on.context, GYRE_CONTEXT_PINNED)},
        &pool)));
    WENT(gyre_buffers_create(
        &(gyre_buffers_options){.struct_size = sizeof(gyre_buffers_options), .pool = pool},
        &buffers));
    REQUIRE(buffers);
    WENT(gyre_buffer_allocate(buffers, MIB, GYRE_BUFFER_ZEROED, &id));
    WENT(gyre_buffer_write(buffers, id, 64, words, sizeof words));
    WENT(gyre_buffer_read(buffers, id, 64, back, sizeof back));
    CHECK(memcmp(words, back, sizeof words) == 0);
    WENT(gyre_buffer_size(buffers, id, &size));
    CALLED(gyre_buffers_count(buffers) == 1);
    WENT(gyre_buffer_deallocate(buffers, id));
    RAN(gyre_buffers_destroy(buffers));
    WENT(gyre_bytes_take(gyre_pool_memory(pool), BYTES, &bytes));
    RAN(gyre_bytes_release(&bytes));
    RAN(gyre_pool_destroy(pool));
    finish();
}

static void a_dispatcher_serves(void)
{
    gyre_channel_options options = gyre_command_channel();
    gyre_dispatch_statistics statistics = {.struct_size = sizeof statistics};
    const uint32_t words[4] = {1, 2, 3, 4};
    step_parameters p = {NULL, 4, 3, 1, 0};
    gyre_channel *channel;
    gyre_dispatch *dispatch;
    gyre_dispatch_answer answer;
    gyre_answer raw = {0};
    gyre_command command;
    uint64_t kernel, buffer;
    void *address;

    BEGIN();
    REQUIRE(ok(gyre_channel_create(&options, &channel)));
    WENT(gyre_dispatch_start(on.context, channel, NULL, &dispatch));
    REQUIRE(dispatch && kernel_of(KERNEL_STEP));
    WENT(gyre_dispatch_kernel(dispatch, kernel_of(KERNEL_STEP), &kernel));
    WENT(gyre_dispatch_allocate(dispatch, BYTES, GYRE_BUFFER_ANY, &buffer));
    WENT(gyre_dispatch_address(dispatch, buffer, &address));
    CALLED(gyre_dispatch_memory(dispatch) != NULL);
    command = (gyre_command){.kind = GYRE_COMMAND_TO_DEVICE, .as.to_device.buffer = buffer};
    WENT(gyre_bytes_copy(NULL, words, sizeof words, &command.as.to_device.data));
    WENT(gyre_dispatch_call(channel, 0, &command, soon(), NULL));
    p.data = address;
    WENT(gyre_command_launch(kernel, (const uint32_t[3]){1}, (const uint32_t[3]){64}, &p, sizeof p,
                             &command));
    WENT(gyre_dispatch_call(channel, 0, &command, soon(), NULL));
    command = (gyre_command){.kind = GYRE_COMMAND_FROM_DEVICE,
                             .as.from_device = {.buffer = buffer, .size = sizeof words}};
    WENT(gyre_dispatch_call(channel, 0, &command, soon(), &answer));
    REQUIRE(answer.bytes.size == sizeof words);
    CHECK(((const uint32_t *)(const void *)answer.bytes.data)[3] == 13);
    gyre_bytes_release(&answer.bytes);
    command = (gyre_command){.kind = GYRE_COMMAND_SYNCHRONIZE};
    WENT(gyre_call(channel, 0, &command, gyre_command_size(&command), soon(), &raw));
    WENT(gyre_dispatch_read(&raw, &answer));
    WENT(gyre_dispatch_describe(dispatch, &statistics));
    WENT(gyre_dispatch_deallocate(dispatch, buffer));
    RAN(gyre_dispatch_stop(dispatch));
    gyre_channel_destroy(channel);
    finish();
}

static void see_span(void *user, const gyre_profile_span *span)
{
    (void)span;
    ++*(uint32_t *)user;
}

static void see_row(void *user, const gyre_profile_row *row)
{
    *(uint64_t *)user += row->count;
}

static void a_profile_is_taken(void)
{
    const gyre_profile_options options = {.struct_size = sizeof options, .device_every = 1};
    gyre_profile_totals totals = {.struct_size = sizeof totals};
    FILE *const sink = fopen("/dev/null", "w");
    const gyre_profile *profiles[1];
    gyre_profile *profile;
    gyre_stream *stream;
    uint32_t *device, spans = 0;
    uint64_t submissions = 0;

    BEGIN();
    stream = stream_new();
    device = take(GYRE_CONTEXT_DEVICE, BYTES);
    REQUIRE(stream && device && sink);
    WENT(gyre_profile_start(on.context, &options, &profile));
    REQUIRE(profile);
    WENT(gyre_stream_fill(stream, &(gyre_fill){.to = device, .pattern_size = 4, .count = N}));
    WENT(gyre_stream_sync(stream));
    WENT(gyre_profile_stop(profile));
    WENT(gyre_profile_visit(profile, see_span, &spans));
    WENT(gyre_profile_report(profile, see_row, &submissions, &totals));
    CHECK(submissions == 1);
    profiles[0] = profile;
    WENT(gyre_profile_write(profiles, 1, sink));
    RAN(gyre_profile_destroy(profile));
    fclose(sink);
    give(GYRE_CONTEXT_DEVICE, device, BYTES);
    gyre_stream_destroy(stream);
    finish();
}

static bool see_board(void *user, const gyre_board_row *row)
{
    *(bool *)user |= row->pid == (uint32_t)getpid() && row->status == GYRE_ACTOR_ACTIVE;
    return true;
}

static bool see_cache(void *user, const gyre_cache_entry *entry)
{
    (void)user, (void)entry;
    return true;
}

static void devices_are_looked_at(void)
{
    gyre_monitor_report report = {.struct_size = sizeof report};
    gyre_device_state state = {.struct_size = sizeof state};
    gyre_monitor_options options = {.struct_size = sizeof options, .context_count = 1};
    gyre_monitor_point points[4];
    gyre_monitor *monitor;
    gyre_status status;
    bool seen = false;

    BEGIN();
    options.contexts = &on.context;
    WENT(gyre_monitor_create(&options, &monitor));
    REQUIRE(monitor);
    WENT(gyre_monitor_sample(monitor));
    WENT(gyre_monitor_start(monitor));
    WENT(gyre_monitor_stop(monitor));
    CALLED(gyre_monitor_count(monitor) == 1);
    WENT(gyre_monitor_report_at(monitor, 0, &report));
    CALLED(gyre_monitor_history(monitor, 0, points, COUNT(points)) > 0);
    RAN(gyre_monitor_destroy(monitor));
    CALLED((status = gyre_device_look(on.device, &state)) == GYRE_OK || status == GYRE_UNSUPPORTED);
    CALLED(gyre_device_count() > 0 && gyre_device_at(0) != NULL);
    CALLED(gyre_device_find(on.device->name) == on.device);
    RAN((void)gyre_device_reaches(on.device, on.device));
    CALLED(gyre_driver_at(0) != NULL);
    WENT(gyre_cache_visit(false, see_cache, NULL));
    WENT(gyre_board_visit(see_board, &seen));
    /* a thread of its own writes it, soon */
    for (int i = 0; i < 200 && !seen && access("/dev/shm", W_OK) == 0; i++) {
        sleep_ns(10 * MS);
        CHECK(ok(gyre_board_visit(see_board, &seen)));
    }
    CHECK(seen || access("/dev/shm", W_OK) != 0);
    finish();
}

static const test_case cases[] = {
    TEST(pools_take_give_and_trim), TEST(buffers_over_pinned_memory), TEST(a_dispatcher_serves),
    TEST(a_profile_is_taken),       TEST(devices_are_looked_at),
};
CONFORMANCE_MAIN(cases)
