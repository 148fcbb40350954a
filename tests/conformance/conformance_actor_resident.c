/* SPDX-License-Identifier: Apache-2.0
 *
 * Actors: everything else that can be done with a device goes on while one is resident on it, and
 * nothing waits for the actor to end, which it does not. Here contexts, streams, kernels, graphs
 * and other actors; conformance_actor_beside.c has what is built on them.
 *
 * Every public function that touches a device is called in one of the two;
 * tests/beside_actor_test.sh finds one that is not.
 */
#include "conformance_resident.h"

#include "gyre/histogram.h"

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
    TEST(another_actor_lives),
};
CONFORMANCE_MAIN(cases)
