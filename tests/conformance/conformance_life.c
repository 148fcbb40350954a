/* SPDX-License-Identifier: Apache-2.0
 *
 * Lives: every order of destruction, many things at once, a forked child, and what is adopted.
 */
#include "conformance.h"

#include <dirent.h>

#include "child.h"
#include "gyre/clock.h"
#include "gyre/memory.h"

enum { N = 256, BYTES = N * 4 };

/* All that a context can have. */
typedef struct household {
    gyre_context *context;
    gyre_stream *streams[2];
    gyre_event *event;
    gyre_kernel *kernel;
    gyre_graph *graph;
    uint32_t *data;
} household;

static bool household_make(household *h)
{
    const step_parameters p = {NULL, N, 1, 1, 20000};
    step_parameters mine = p;
    gyre_launch launch = launch_of(N / 64, 64, &mine, sizeof mine);
    uint32_t node, zeros[N] = {0};

    memset(h, 0, sizeof *h);
    if (!ok(gyre_context_create(on.device, NULL, &h->context)) ||
        !ok(gyre_stream_create(h->context, NULL, &h->streams[0])) ||
        !ok(gyre_stream_create(h->context, NULL, &h->streams[1])) ||
        !ok(gyre_event_create(h->context, GYRE_EVENT_ORDER, &h->event)) ||
        !ok(gyre_graph_create(h->context, NULL, &h->graph)))
        return false;
    h->kernel = kernel_in(h->context, KERNEL_STEP);
    h->data = mine.data = take_in(h->context, GYRE_CONTEXT_DEVICE, BYTES);
    return h->kernel && h->data && put(h->streams[0], h->data, zeros, BYTES) &&
           ok(gyre_graph_launch(h->graph, h->kernel, &launch, (gyre_after){NULL, 0}, &node)) &&
           ok(gyre_graph_finish(h->graph)) &&
           ok(gyre_stream_launch(h->streams[0], h->kernel, &launch)) &&
           ok(gyre_event_record(h->event, h->streams[0])) &&
           ok(gyre_stream_wait_event(h->streams[1], h->event)) &&
           ok(gyre_stream_submit(h->streams[1], h->graph));
}

/* Ends one of its things, while work is under way. Memory may only go when nothing uses it, so
 * that comes with a sync where streams are left. */
static void household_end(household *h, uint32_t what)
{
    switch (what) {
    case 0:
        gyre_stream_destroy(h->streams[0]);
        h->streams[0] = NULL;
        break;
    case 1:
        gyre_stream_destroy(h->streams[1]);
        h->streams[1] = NULL;
        break;
    case 2:
        gyre_event_destroy(h->event);
        break;
    case 3:
        gyre_kernel_release(h->kernel);
        break;
    case 4:
        gyre_graph_destroy(h->graph);
        break;
    default:
        for (int i = 0; i < 2; i++)
            CHECK(!h->streams[i] || ok(gyre_stream_sync(h->streams[i])));
        give_in(h->context, GYRE_CONTEXT_DEVICE, h->data, BYTES);
    }
}

static void things_may_go_in_any_order_before_their_context(void)
{
    const int rounds = on.device->kind == GYRE_DEVICE_GPU ? 6 : 60;
    uint64_t seed = chance_seed(), state = seed;

    for (int round = 0; round < rounds; round++) {
        uint32_t order[6] = {0, 1, 2, 3, 4, 5};
        household h;

        REQUIRE(household_make(&h));
        for (uint32_t i = 6; i > 1; i--) {
            const uint32_t with = (uint32_t)chance_below(&state, i), kept = order[i - 1];

            order[i - 1] = order[with];
            order[with] = kept;
        }
        for (int i = 0; i < 6; i++)
            household_end(&h, order[i]);
        CHECK(gyre_context_check(h.context) == GYRE_OK);
        gyre_context_destroy(h.context);
    }
    gyre_context_destroy(NULL);
    gyre_stream_destroy(NULL);
}

static void destroying_a_stream_waits_for_its_work(void)
{
    gyre_stream *const reader = stream_new();
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, BYTES);
    uint32_t host[N] = {0};

    REQUIRE(reader && data && kernel_of(KERNEL_STEP));
    for (uint32_t round = 1; round <= 10; round++) {
        gyre_stream *const stream = stream_new();

        REQUIRE(stream);
        CHECK(put(reader, data, (uint32_t[N]){0}, BYTES));
        for (int i = 0; i < 5; i++)
            CHECK(ok(step(stream, (step_parameters){data, N, 1, round, 30000})));
        gyre_stream_destroy(stream);
        CHECK(put(reader, host, data, BYTES));
        CHECK(host[0] == 5 * round && host[N - 1] == 5 * round);
    }
    give(GYRE_CONTEXT_DEVICE, data, BYTES);
    gyre_stream_destroy(reader);
}

static void contexts_share_nothing(void)
{
    household a, b;
    uint32_t host[N];

    REQUIRE(household_make(&a) && household_make(&b));
    CHECK(a.context != b.context && a.data != b.data);
    CHECK(put(b.streams[1], host, b.data, BYTES) && host[0] == 2);
    for (uint32_t i = 0; i < 6; i++)
        household_end(&a, i);
    gyre_context_destroy(a.context);
    CHECK(put(b.streams[1], host, b.data, BYTES) && host[N - 1] == 2);
    for (uint32_t i = 0; i < 6; i++)
        household_end(&b, i);
    gyre_context_destroy(b.context);
    CHECK(gyre_context_check(on.context) == GYRE_OK);
}

static void there_may_be_many_streams(void)
{
    enum { STREAMS = 64 };
    gyre_context_statistics statistics = {.struct_size = sizeof statistics};
    gyre_stream *streams[STREAMS];
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, (size_t)STREAMS * BYTES);
    uint32_t host[N] = {0};

    REQUIRE(data && kernel_of(KERNEL_STEP));
    for (uint32_t i = 0; i < STREAMS; i++) {
        REQUIRE((streams[i] = stream_new()));
        CHECK(ok(step(streams[i], (step_parameters){data + (size_t)i * N, N, 0, i, 1000})));
    }
    for (uint32_t round = 0; round < 5; round++)
        for (uint32_t i = 0; i < STREAMS; i++)
            CHECK(ok(step(streams[i], (step_parameters){data + (size_t)i * N, N, 3, 1, 100})));
    CHECK(ok(gyre_context_describe(on.context, &statistics)));
    CHECK(statistics.streams == STREAMS && statistics.submitted >= (uint64_t)STREAMS * 6);
    for (uint32_t i = 0; i < STREAMS; i++) {
        CHECK(put(streams[i], host, data + (size_t)i * N, BYTES));
        CHECK(host[0] == i * 243 + 121 && host[N - 1] == i * 243 + 121);
        gyre_stream_destroy(streams[i]);
    }
    give(GYRE_CONTEXT_DEVICE, data, (size_t)STREAMS * BYTES);
}

static void there_may_be_many_events(void)
{
    enum { EVENTS = 1000 };
    static gyre_event *events[EVENTS];
    gyre_stream *const streams[2] = {stream_new(), stream_new()};
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, BYTES);
    uint32_t host[N] = {0};

    REQUIRE(streams[0] && streams[1] && data && kernel_of(KERNEL_STEP));
    CHECK(put(streams[0], data, host, BYTES));
    for (uint32_t i = 0; i < EVENTS; i++) {
        REQUIRE(ok(gyre_event_create(on.context, GYRE_EVENT_ORDER, &events[i])));
        if (i % 10 == 0)
            CHECK(ok(step(streams[i / 10 % 2], (step_parameters){data, N, 1, 1, 0})));
        CHECK(ok(gyre_event_record(events[i], streams[i / 10 % 2])));
        CHECK(ok(gyre_stream_wait_event(streams[1 - i / 10 % 2], events[i])));
    }
    CHECK(ok(gyre_stream_sync(streams[0])) && ok(gyre_stream_sync(streams[1])));
    for (uint32_t i = 0; i < EVENTS; i++) {
        CHECK(gyre_event_poll(events[i]) == GYRE_OK);
        gyre_event_destroy(events[i]);
    }
    CHECK(put(streams[0], host, data, BYTES));
    CHECK(host[0] == EVENTS / 10 && host[N - 1] == EVENTS / 10);
    give(GYRE_CONTEXT_DEVICE, data, BYTES);
    gyre_stream_destroy(streams[0]);
    gyre_stream_destroy(streams[1]);
}

static size_t entries_of(const char *path)
{
    DIR *const folder = opendir(path);
    size_t count = 0;

    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

/* Whether no more threads and files are left than that. A thread that has ended may still be listed
 * for a moment, and those of a driver end when they like. */
static bool gone_but(size_t threads, size_t files)
{
    const uint64_t deadline = gyre_clock_after_ns(2000 * MS);
    bool gone;

    while (!(gone = entries_of("/proc/self/task") <= threads &&
                    entries_of("/proc/self/fd") <= files) &&
           gyre_clock_now_ns() < deadline)
        sleep_ns(MS);
    return gone;
}

static void contexts_come_and_go_without_a_trace(void)
{
    const int rounds = on.device->kind == GYRE_DEVICE_GPU ? 3 : 30;
    size_t threads = 0, files = 0;

    if (under_sanitizer())
        SKIP("compute-sanitizer has threads and files of its own");
    for (int round = 0; round < rounds; round++) {
        household h;

        if (round == 2) { /* the first may make what stays */
            threads = entries_of("/proc/self/task");
            files = entries_of("/proc/self/fd");
        }
        REQUIRE(household_make(&h));
        for (uint32_t i = 0; i < 6; i++)
            household_end(&h, i);
        gyre_context_destroy(h.context);
    }
    CHECK(gone_but(threads, files));
}

static household inherited;

static void child_may_only_destroy(void)
{
    gyre_context *context = (gyre_context *)&on;
    gyre_stream *stream = (gyre_stream *)&on;
    gyre_event *event = (gyre_event *)&on;
    gyre_graph *graph = (gyre_graph *)&on;
    gyre_kernel *kernel = (gyre_kernel *)&on;
    const step_parameters p = {inherited.data, N, 1, 1, 0};
    const gyre_launch launch = launch_of(N / 64, 64, &p, sizeof p);
    gyre_stream *const its = inherited.streams[0];
    uint32_t word = 0;

    CHECK(gyre_device_count() == 0);
    CHECK(gyre_context_create(on.device, NULL, &context) == GYRE_UNAVAILABLE && !context);
    CHECK(gyre_stream_create(inherited.context, NULL, &stream) == GYRE_UNAVAILABLE && !stream);
    CHECK(gyre_event_create(inherited.context, GYRE_EVENT_ORDER, &event) == GYRE_UNAVAILABLE);
    CHECK(gyre_graph_create(inherited.context, NULL, &graph) == GYRE_UNAVAILABLE && !graph);
    CHECK(gyre_kernel_create(inherited.context, &conformance_program, "mark", "pointer", NULL,
                             &kernel) == GYRE_UNAVAILABLE);
    CHECK(gyre_stream_launch(its, inherited.kernel, &launch) == GYRE_UNAVAILABLE);
    CHECK(gyre_stream_copy(its, &word, inherited.data, 4) == GYRE_UNAVAILABLE);
    CHECK(gyre_stream_submit(inherited.streams[1], inherited.graph) == GYRE_UNAVAILABLE);
    CHECK(gyre_stream_sync(its) == GYRE_UNAVAILABLE);
    CHECK(gyre_stream_poll(its) == GYRE_UNAVAILABLE);
    CHECK(gyre_event_record(inherited.event, its) == GYRE_UNAVAILABLE);
    gyre_graph_destroy(inherited.graph);
    gyre_kernel_release(inherited.kernel);
    gyre_event_destroy(inherited.event);
    gyre_stream_destroy(its);
    gyre_stream_destroy(inherited.streams[1]);
    gyre_context_destroy(inherited.context);
}

static void a_forked_child_may_only_destroy(void)
{
    uint32_t host[N] = {0};

#ifdef __SANITIZE_THREAD__
    SKIP("the thread sanitizer starts no child of a program with threads");
#endif
    REQUIRE(household_make(&inherited));
    CHECK(passes_in_child(child_may_only_destroy));
    /* and the parent never hears of it */
    CHECK(put(inherited.streams[1], host, inherited.data, BYTES) && host[0] == 2);
    for (uint32_t i = 0; i < 6; i++)
        household_end(&inherited, i);
    gyre_context_destroy(inherited.context);
}

static void a_context_can_be_adopted(void)
{
    gyre_context_options options = {.struct_size = sizeof options};
    uint32_t in = 5, out = 0;
    gyre_context *guest;
    gyre_stream *stream;
    void *block;

    options.adopt = gyre_context_native(on.context);
    if (!options.adopt)
        SKIP("this device has no driver's context");
    for (int round = 0; round < 2; round++) { /* ending the guest leaves the host alive */
        REQUIRE(ok(gyre_context_create(on.device, &options, &guest)));
        CHECK(gyre_context_native(guest) == options.adopt);
        REQUIRE(ok(gyre_stream_create(guest, NULL, &stream)));
        block = take_in(guest, GYRE_CONTEXT_DEVICE, 4);
        CHECK(block && put(stream, block, &in, 4) && put(stream, &out, block, 4) && out == 5);
        give_in(guest, GYRE_CONTEXT_DEVICE, block, 4);
        gyre_stream_destroy(stream);
        gyre_context_destroy(guest);
    }
    stream = stream_new();
    block = take(GYRE_CONTEXT_DEVICE, 4);
    out = 0;
    CHECK(stream && block && put(stream, block, &in, 4) && put(stream, &out, block, 4) && out == 5);
    give(GYRE_CONTEXT_DEVICE, block, 4);
    gyre_stream_destroy(stream);
}

static void a_stream_can_be_adopted(void)
{
    gyre_stream_options options = {.struct_size = sizeof options};
    gyre_stream *const host = stream_new();
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, BYTES);
    uint32_t words[N] = {0};
    gyre_stream *guest;

    REQUIRE(host && data && kernel_of(KERNEL_STEP));
    options.adopt = gyre_stream_native(host);
    if (!options.adopt) {
        give(GYRE_CONTEXT_DEVICE, data, BYTES);
        gyre_stream_destroy(host);
        SKIP("this device has no driver's streams");
    }
    REQUIRE(ok(gyre_stream_create(on.context, &options, &guest)));
    CHECK(gyre_stream_native(guest) == options.adopt);
    CHECK(put(host, data, words, BYTES));
    CHECK(ok(step(host, (step_parameters){data, N, 0, 3, 30000}))); /* it is one queue */
    CHECK(ok(step(guest, (step_parameters){data, N, 10, 1, 0})));
    CHECK(put(guest, words, data, BYTES));
    CHECK(words[0] == 31 && words[N - 1] == 31);
    gyre_stream_destroy(guest);
    CHECK(ok(step(host, (step_parameters){data, N, 10, 1, 0})));
    CHECK(put(host, words, data, BYTES));
    CHECK(words[0] == 311 && words[N - 1] == 311);
    give(GYRE_CONTEXT_DEVICE, data, BYTES);
    gyre_stream_destroy(host);
}

static void names_may_be_long(void)
{
    static const char name[] = "a name that is far longer than the thirty-one bytes that are kept";
    const gyre_context_options context_options = {.struct_size = sizeof context_options,
                                                  .name = name};
    const gyre_stream_options stream_options = {
        .struct_size = sizeof stream_options, .name = name, .priority = -100};
    const gyre_graph_options graph_options = {.struct_size = sizeof graph_options, .name = name};
    gyre_context *context;
    gyre_stream *stream;
    gyre_graph *graph;

    REQUIRE(ok(gyre_context_create(on.device, &context_options, &context)) &&
            ok(gyre_stream_create(context, &stream_options, &stream)) &&
            ok(gyre_graph_create(context, &graph_options, &graph)));
    CHECK(ok(gyre_stream_sync(stream)));
    gyre_graph_destroy(graph);
    gyre_stream_destroy(stream);
    gyre_context_destroy(context);
}

static const test_case cases[] = {
    TEST(things_may_go_in_any_order_before_their_context),
    TEST(destroying_a_stream_waits_for_its_work),
    TEST(contexts_share_nothing),
    TEST(there_may_be_many_streams),
    TEST(there_may_be_many_events),
    TEST(contexts_come_and_go_without_a_trace),
    TEST(a_forked_child_may_only_destroy),
    TEST(a_context_can_be_adopted),
    TEST(a_stream_can_be_adopted),
    TEST(names_may_be_long),
};
CONFORMANCE_MAIN(cases)
