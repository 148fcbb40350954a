/* SPDX-License-Identifier: Apache-2.0
 *
 * Actors: everything else that can be done with a device goes on while one is resident on it, and
 * nothing waits for the actor to end, which it does not.
 *
 * Every public function that touches a device is called here; tests/beside_actor_test.sh finds one
 * that is not. After each call the actor has to answer. One that does not return is named, and ends
 * the program.
 */
#include "conformance_actor.h"

#include <signal.h>
#include <unistd.h>

#include "gyre/board.h"
#include "gyre/buffers.h"
#include "gyre/cache.h"
#include "gyre/dispatch.h"
#include "gyre/histogram.h"
#include "gyre/monitor.h"
#include "gyre/pool.h"
#include "gyre/profile.h"

#include "behaviours/echo.c" /* NOLINT(bugprone-suspicious-include): its types as well */

enum { N = 256, BYTES = N * 4, PATIENCE_S = 60 };
#define LONG_NS (5000 * MS)

static gyre_actor *resident;
static gyre_port *resident_port;
static uint32_t asked;
static const char *calling;
static uint64_t called_ns;

static void name_it(int signal_number)
{
    (void)signal_number;
    (void)!write(STDERR_FILENO, "does not return: ", 17);
    (void)!write(STDERR_FILENO, calling, strlen(calling));
    (void)!write(STDERR_FILENO, "\n", 1);
    _exit(1);
}

static bool before(const char *what)
{
    calling = what;
    alarm(PATIENCE_S);
    called_ns = gyre_clock_now_ns();
    return true;
}

/* Whether it was good, did not take for ever, and the actor answers. */
static bool after(bool good)
{
    const uint64_t took_ns = gyre_clock_now_ns() - called_ns;
    const gyre_brief request = {.type = 1, .body.words = {asked, 2, 3}};
    gyre_brief answer = {.type = 0};

    alarm(PATIENCE_S);
    if (took_ns > LONG_NS / 10)
        fprintf(stderr, "%s: %.1f s: %s\n", on.device->name, (double)took_ns / 1e9, calling);
    good = good && ok(gyre_port_call(resident_port, &request, &answer, soon()));
    asked++;
    alarm(0);
    return good && answer.body.words[0] == asked && answer.body.words[2] == 3 && took_ns < LONG_NS;
}

#define CALLED(boolean) CHECK(before(#boolean) && after(boolean))
#define RAN(call) CALLED(((call), true))
#define WENT(status) CALLED(ok(status))

static bool begin(void)
{
    const gyre_actor_launch_options options = {.struct_size = sizeof options, .ports = 2};

    signal(SIGALRM, name_it);
    asked = 0;
    resident = actor_new(&echo, &options);
    resident_port = port_new(resident);
    return resident_port != NULL;
}

/* It is the one that was launched, and nobody had it end. */
static void finish(void)
{
    gyre_actor_statistics statistics = {.struct_size = sizeof statistics};
    echo_state state = {0};

    CHECK(gyre_actor_state(resident) == GYRE_ACTOR_ACTIVE);
    CHECK(ok(gyre_actor_pause(resident, soon())));
    CHECK(ok(gyre_actor_describe(resident, &statistics)) && statistics.incarnation == 1);
    CHECK(statistics.processed == asked);
    CHECK(ok(gyre_actor_read_state(resident, &state, sizeof state)) && state.count == asked);
    CHECK(end(resident, resident_port));
}

#define BEGIN()                                                                                    \
    do {                                                                                           \
        if (under_sanitizer())                                                                     \
            SKIP("the sanitizer lets no two kernels run at once");                                 \
        if (!begin()) {                                                                            \
            NEED_ACTORS();                                                                         \
            REQUIRE(!"an actor");                                                                  \
        }                                                                                          \
    } while (0)

static void contexts_and_their_memory(void)
{
    gyre_context_statistics statistics = {.struct_size = sizeof statistics};
    const gyre_context_options options = {.struct_size = sizeof options, .workers = 2};
    uint64_t room, total;
    gyre_context *other;
    gyre_status status;

    BEGIN();
    WENT(gyre_context_create(on.device, &options, &other));
    REQUIRE(other);
    for (int i = 0; i < 2; i++) {
        gyre_context *const context = i ? other : on.context;

        CALLED(gyre_context_device(context) == on.device);
        CALLED((gyre_context_native(context) != NULL) ==
               !gyre_device_has(on.device, GYRE_FEATURE_FUNCTIONS));
        CALLED((status = gyre_context_room(context, &room, &total)) == GYRE_OK ||
               status == GYRE_UNSUPPORTED);
        WENT(gyre_context_check(context));
        CALLED(gyre_context_fault(context) == NULL);
        WENT(gyre_context_describe(context, &statistics));
        WENT(gyre_context_reset(context));
        for (int kind = GYRE_CONTEXT_DEVICE; kind <= GYRE_CONTEXT_PINNED; kind++) {
            const gyre_memory *const memory = gyre_context_memory(context, kind);
            void *block, *large;

            CALLED(gyre_context_memory(context, kind) == memory && memory);
            WENT(memory->take(memory, BYTES, 64, &block));
            WENT(memory->take(memory, 8 * MIB, 4096, &large));
            RAN(memory->give(memory, block, BYTES, 64));
            RAN(memory->give(memory, large, 8 * MIB, 4096));
        }
    }
    RAN(gyre_context_destroy(other));
    finish();
}

static void copies_fills_and_waits(void)
{
    const gyre_stream_options options = {.struct_size = sizeof options, .name = "beside"};
    gyre_stream_statistics statistics = {.struct_size = sizeof statistics};
    gyre_context *other;
    gyre_stream *stream;
    uint32_t *host, *device, *far, *pinned;
    gyre_box box;
    gyre_fill fill;

    BEGIN();
    WENT(gyre_stream_create(on.context, &options, &stream));
    REQUIRE(stream && ok(gyre_context_create(on.device, NULL, &other)));
    host = host_take(BYTES);
    device = take(GYRE_CONTEXT_DEVICE, BYTES);
    pinned = take(GYRE_CONTEXT_PINNED, BYTES);
    far = take_in(other, GYRE_CONTEXT_DEVICE, BYTES);
    REQUIRE(host && device && pinned && far);
    fill = (gyre_fill){.to = device, .pattern = {7}, .pattern_size = 4, .count = N};
    box = (gyre_box){.to = pinned, .from = device, .width = 16, .height = BYTES / 16};
    WENT(gyre_stream_fill(stream, &fill));
    WENT(gyre_stream_copy_box(stream, &box));
    WENT(gyre_stream_sync(stream));
    CHECK(pinned[0] == 7 && pinned[N - 1] == 7);
    pinned[1] = 8;
    WENT(gyre_stream_copy(stream, device, pinned, BYTES));
    WENT(gyre_stream_copy(stream, host, device, BYTES));
    WENT(gyre_stream_wait(stream, gyre_stream_ticket(stream).value, soon()));
    CHECK(host[0] == 7 && host[1] == 8);
    WENT(gyre_stream_copy_from(stream, device, other, far, BYTES));
    WENT(gyre_stream_sync_retry(stream, 3, MS));
    WENT(gyre_stream_poll(stream));
    CALLED(gyre_stream_ticket(stream).value > 0);
    CALLED(gyre_stream_fault(stream) == NULL);
    WENT(gyre_stream_describe(stream, &statistics));
    RAN((void)gyre_stream_native(stream));
    RAN(give(GYRE_CONTEXT_DEVICE, device, BYTES));
    RAN(give(GYRE_CONTEXT_PINNED, pinned, BYTES));
    RAN(give_in(other, GYRE_CONTEXT_DEVICE, far, BYTES));
    RAN(gyre_stream_destroy(stream));
    RAN(gyre_context_destroy(other));
    host_give(host);
    finish();
}

static void events_between_streams(void)
{
    const bool timed = gyre_device_has(on.device, GYRE_FEATURE_TIMING);
    const gyre_event_use use = timed ? GYRE_EVENT_TIME : GYRE_EVENT_ORDER;
    gyre_stream *first, *second;
    gyre_event *from, *to;
    uint32_t *device;
    double ns = -1;

    BEGIN();
    first = stream_new();
    second = stream_new();
    device = take(GYRE_CONTEXT_DEVICE, BYTES);
    REQUIRE(first && second && device);
    WENT(gyre_event_create(on.context, use, &from));
    WENT(gyre_event_create(on.context, use, &to));
    WENT(gyre_event_record(from, first));
    WENT(gyre_stream_wait_event(second, from));
    WENT(gyre_stream_fill(second, &(gyre_fill){.to = device, .pattern_size = 4, .count = N}));
    WENT(gyre_event_record(to, second));
    WENT(gyre_stream_sync(second));
    WENT(gyre_event_poll(to));
    if (timed)
        WENT(gyre_event_between(from, to, &ns));
    CHECK(!timed || ns >= 0);
    RAN(gyre_event_destroy(from));
    RAN(gyre_event_destroy(to));
    give(GYRE_CONTEXT_DEVICE, device, BYTES);
    gyre_stream_destroy(first);
    gyre_stream_destroy(second);
    finish();
}

/* Loading has residents off the device for a moment: they come back. */
static void kernels_are_loaded_and_launched(void)
{
    gyre_kernel_facts facts = {.struct_size = sizeof facts};
    uint32_t *device, host[N] = {0}, blocks;
    gyre_stream *stream;
    gyre_kernel *kernel;
    gyre_status status;

    BEGIN();
    stream = stream_new();
    device = take(GYRE_CONTEXT_DEVICE, BYTES);
    REQUIRE(stream && device && put(stream, device, host, BYTES));
    for (int i = 0; i < 3; i++) {
        const step_parameters p = {device, N, 1, 1, 0};
        const gyre_launch launch = launch_of(N / 64, 64, &p, sizeof p);

        WENT(gyre_kernel_create(on.context, &conformance_program, conformance_entries[KERNEL_STEP],
                                conformance_signatures[KERNEL_STEP], NULL, &kernel));
        REQUIRE(kernel);
        WENT(gyre_kernel_describe(kernel, &facts));
        CALLED((status = gyre_kernel_residency(kernel, 64, 0, &blocks)) == GYRE_OK ||
               status == GYRE_UNSUPPORTED);
        CALLED(gyre_kernel_retain(kernel) == kernel);
        WENT(gyre_stream_launch(stream, kernel, &launch));
        WENT(gyre_stream_sync(stream));
        RAN(gyre_kernel_release(kernel));
        RAN(gyre_kernel_release(kernel));
        CALLED(gyre_kernel_build_log() != NULL);
    }
    CHECK(put(stream, host, device, BYTES) && host[0] == 3 && host[N - 1] == 3);
    give(GYRE_CONTEXT_DEVICE, device, BYTES);
    gyre_stream_destroy(stream);
    finish();
}

static void graphs_are_made_and_run(void)
{
    const gyre_after none = {NULL, 0};
    gyre_graph_facts facts = {.struct_size = sizeof facts};
    uint32_t *device, host[N] = {0}, fill_node, launch_node, copy_node;
    step_parameters p = {NULL, N, 2, 1, 0};
    gyre_stream *stream;
    gyre_graph *graph;

    BEGIN();
    stream = stream_new();
    device = take(GYRE_CONTEXT_DEVICE, 2 * (size_t)BYTES);
    REQUIRE(stream && device && kernel_of(KERNEL_STEP));
    p.data = device;
    WENT(gyre_graph_create(on.context, NULL, &graph));
    REQUIRE(graph);
    WENT(gyre_graph_fill(graph,
                         &(gyre_fill){.to = device, .pattern = {5}, .pattern_size = 4, .count = N},
                         none, &fill_node));
    WENT(gyre_graph_launch(
        graph, kernel_of(KERNEL_STEP),
        &(gyre_launch){
            .grid = {N / 64}, .block = {64}, .parameters = &p, .parameters_size = sizeof p},
        (gyre_after){&fill_node, 1}, &launch_node));
    WENT(gyre_graph_copy(graph, &(gyre_box){.to = device + N, .from = device, .width = BYTES},
                         (gyre_after){&launch_node, 1}, &copy_node));
    WENT(gyre_graph_finish(graph));
    WENT(gyre_stream_submit(stream, graph));
    WENT(gyre_stream_sync(stream));
    CHECK(put(stream, host, device + N, BYTES) && host[0] == 11 && host[N - 1] == 11);
    p.add = 2;
    WENT(gyre_graph_update(graph, launch_node, &p, sizeof p));
    WENT(gyre_stream_submit(stream, graph));
    WENT(gyre_stream_sync(stream));
    CHECK(put(stream, host, device + N, BYTES) && host[0] == 12);
    WENT(gyre_graph_describe(graph, &facts));
    RAN(gyre_graph_destroy(graph));
    give(GYRE_CONTEXT_DEVICE, device, 2 * (size_t)BYTES);
    gyre_stream_destroy(stream);
    finish();
}

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
    REQUIRE(ok(gyre_bytes_copy(NULL, words, sizeof words, &command.as.to_device.data)));
    WENT(gyre_dispatch_call(channel, 0, &command, soon(), NULL));
    p.data = address;
    REQUIRE(ok(gyre_command_launch(kernel, (const uint32_t[3]){1}, (const uint32_t[3]){64}, &p,
                                   sizeof p, &command)));
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

/* Another one lives its whole life beside it. */
static void another_actor_lives(void)
{
    const gyre_actor_launch_options waits = {.struct_size = sizeof waits, .not_active = true};
    gyre_actor_statistics statistics = {.struct_size = sizeof statistics};
    gyre_brief requests[8], answers[8];
    gyre_port_answer heard[8];
    gyre_port *ports[1];
    gyre_actor *other;
    gyre_port *port;
    echo_state state;
    size_t count;

    BEGIN();
    for (size_t i = 0; i < COUNT(requests); i++)
        requests[i] = (gyre_brief){.type = 1, .body.words = {(uint32_t)i}};
    WENT(gyre_actor_create(on.context, &echo, NULL, &other));
    REQUIRE(other);
    WENT(gyre_actor_launch(other, &waits));
    WENT(gyre_actor_activate(other));
    WENT(gyre_port_open(other, NULL, &port));
    REQUIRE(port);
    ports[0] = port;
    WENT(gyre_port_send(port, requests, soon()));
    WENT(gyre_port_send_many(port, requests, 8, soon(), &count));
    WENT(gyre_port_call(port, requests, answers, soon()));
    WENT(gyre_port_call_many(port, requests, answers, 8, soon()));
    CHECK(answers[7].body.words[0] == 8);
    WENT(gyre_port_ask(port, requests, 1, soon()));
    WENT(gyre_port_ask(port, requests, 2, soon()));
    CALLED(gyre_port_due(port) == 2);
    WENT(gyre_port_wait_any(ports, 1, soon(), &count));
    WENT(gyre_port_receive(port, heard, soon()));
    WENT(gyre_port_receive_many(port, heard, 8, soon(), &count));
    WENT(gyre_port_flush(port, soon()));
    WENT(gyre_actor_pause(other, soon()));
    WENT(gyre_actor_wait(other, GYRE_ACTOR_PAUSED, soon()));
    WENT(gyre_actor_describe(other, &statistics));
    WENT(gyre_actor_read_state(other, &state, sizeof state));
    CHECK(state.count == 20);
    WENT(gyre_actor_park(other, soon()));
    WENT(gyre_actor_resume(other));
    CALLED(gyre_actor_state(other) == GYRE_ACTOR_ACTIVE && !gyre_actor_fault(other));
    WENT(gyre_actor_drain(other, soon()));
    RAN(gyre_port_close(port));
    WENT(gyre_actor_launch(other, NULL));
    WENT(gyre_actor_terminate(other, soon()));
    CALLED(strcmp(gyre_actor_status_name(gyre_actor_state(other)), "terminated") == 0);
    RAN(gyre_actor_destroy(other));
    finish();
}

/* What some devices cannot do says so at once. */
static bool done_or_not(gyre_status status)
{
    return status == GYRE_OK || status == GYRE_UNSUPPORTED;
}

/* Streams wake another one, wait for it, and an event loop watches its port. */
static void another_actor_meets_streams(void)
{
    gyre_histogram histogram = {.struct_size = sizeof histogram};
    const gyre_brief request = {.type = 1};
    gyre_port *port, *ports[1];
    gyre_port_answer heard[8];
    gyre_stream *stream;
    gyre_actor *other;
    uint32_t *word;
    int descriptor;
    size_t count;

    BEGIN();
    WENT(gyre_actor_create(on.context, &echo, NULL, &other));
    REQUIRE(other);
    WENT(gyre_actor_launch(other, NULL));
    CALLED(gyre_actor_histogram(other, &histogram) == GYRE_INVALID);
    WENT(gyre_port_open(other, NULL, &port));
    WENT(gyre_stream_create(on.context, NULL, &stream));
    word = take(GYRE_CONTEXT_PINNED, sizeof *word);
    REQUIRE(port && stream && word);
    WENT(gyre_port_descriptor(port, &descriptor));
    CALLED(done_or_not(gyre_stream_words(
        stream, &(gyre_word){.act = GYRE_WORD_WRITE, .value = 7, .at = word}, 1)));
    CALLED(done_or_not(gyre_port_send_after(port, stream, &request, soon())));
    CALLED(done_or_not(gyre_port_ask_after(port, stream, &request, 1, soon())));
    CALLED(done_or_not(gyre_port_ask_before(port, stream, &request, 2, soon())));
    CALLED(done_or_not(gyre_port_ask_between(port, stream, &request, 3, soon())));
    WENT(gyre_stream_sync(stream));
    ports[0] = port;
    while (gyre_port_due(port) > 0) {
        CHECK(ok(gyre_port_wait_any(ports, 1, soon(), &count)));
        if (!ok(gyre_port_receive_many(port, heard, COUNT(heard), soon(), &count)))
            break;
    }
    WENT(gyre_port_flush(port, soon()));
    RAN(gyre_port_close(port));
    WENT(gyre_actor_terminate(other, soon()));
    RAN(gyre_actor_destroy(other));
    RAN(gyre_stream_destroy(stream));
    give(GYRE_CONTEXT_PINNED, word, sizeof *word);
    finish();
}

static const test_case cases[] = {
    TEST(another_actor_meets_streams),
    TEST(contexts_and_their_memory),
    TEST(copies_fills_and_waits),
    TEST(events_between_streams),
    TEST(kernels_are_loaded_and_launched),
    TEST(graphs_are_made_and_run),
    TEST(pools_take_give_and_trim),
    TEST(buffers_over_pinned_memory),
    TEST(a_dispatcher_serves),
    TEST(a_profile_is_taken),
    TEST(devices_are_looked_at),
    TEST(another_actor_lives),
};
CONFORMANCE_MAIN(cases)
