/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors: bad input is refused with a detail, leaves NULL behind and everything as it was; a
 * caller's allocator may fail at any of its calls.
 */
#include "conformance.h"

#include "gyre/clock.h"

static void options_without_a_size_are_invalid(void)
{
    gyre_context *context = (gyre_context *)&on;
    gyre_stream *stream = (gyre_stream *)&on;
    gyre_kernel *kernel = (gyre_kernel *)&on;
    gyre_graph *graph = (gyre_graph *)&on;

    CHECK(gyre_context_create(on.device, &(gyre_context_options){0}, &context) == GYRE_INVALID);
    CHECK(context == NULL && gyre_error_last()->status == GYRE_INVALID);
    CHECK(gyre_stream_create(on.context, &(gyre_stream_options){0}, &stream) == GYRE_INVALID);
    CHECK(stream == NULL);
    CHECK(gyre_kernel_create(on.context, &conformance_program, "mark", "pointer",
                             &(gyre_kernel_options){0}, &kernel) == GYRE_INVALID);
    CHECK(kernel == NULL);
    CHECK(gyre_graph_create(on.context, &(gyre_graph_options){0}, &graph) == GYRE_INVALID);
    CHECK(graph == NULL);
}

static void options_of_the_future_are_unsupported(void)
{
    struct {
        gyre_stream_options known;
        uint64_t more;
    } options = {.known = {.struct_size = sizeof options}, .more = 0};
    gyre_stream *stream;

    REQUIRE(ok(gyre_stream_create(on.context, &options.known, &stream)));
    gyre_stream_destroy(stream);
    options.more = 1;
    stream = (gyre_stream *)&on;
    CHECK(gyre_stream_create(on.context, &options.known, &stream) == GYRE_UNSUPPORTED);
    CHECK(stream == NULL);
}

static void statistics_fill_in_no_more_than_asked(void)
{
    gyre_context_statistics context = {.struct_size = 0};
    gyre_stream_statistics stats = {.struct_size = 0};
    gyre_stream *const stream = stream_new();

    REQUIRE(stream);
    CHECK(gyre_context_describe(on.context, &context) == GYRE_INVALID);
    CHECK(gyre_stream_describe(stream, &stats) == GYRE_INVALID);
    memset(&context, 0x5a, sizeof context);
    memset(&stats, 0x5a, sizeof stats);
    context.struct_size = offsetof(gyre_context_statistics, completed);
    stats.struct_size = offsetof(gyre_stream_statistics, completed);
    CHECK(ok(gyre_context_describe(on.context, &context)));
    CHECK(ok(gyre_stream_describe(stream, &stats)));
    CHECK(stats.submitted == 0 && stats.completed == 0x5a5a5a5a5a5a5a5a);
    CHECK(context.submitted != 0x5a5a5a5a5a5a5a5a && context.completed == 0x5a5a5a5a5a5a5a5a &&
          context.pinned_bytes == 0x5a5a5a5a5a5a5a5a);
    context.struct_size = sizeof context;
    CHECK(ok(gyre_context_describe(on.context, &context)) && context.streams == 1);
    gyre_stream_destroy(stream);
}

static void devices_in_trouble_are_unavailable(void)
{
    gyre_context *context;
    size_t seen = 0;

    for (size_t i = 0; i < gyre_device_count(); i++)
        if (gyre_device_at(i)->trouble[0] != '\0') {
            context = (gyre_context *)&on;
            CHECK(gyre_context_create(gyre_device_at(i), NULL, &context) == GYRE_UNAVAILABLE);
            CHECK(context == NULL && gyre_error_last()->text[0] != '\0');
            seen++;
        }
    if (seen == 0)
        SKIP("no device is in trouble");
}

static void faults_are_for_those_who_can(void)
{
    gyre_context_options options = {.struct_size = sizeof options, .faults = "hang@3"};
    gyre_context *context = (gyre_context *)&on;

    if (!gyre_device_has(on.device, GYRE_FEATURE_FAULTS)) {
        CHECK(gyre_context_create(on.device, &options, &context) == GYRE_UNSUPPORTED);
        CHECK(context == NULL);
        return;
    }
    options.faults = "no such fault";
    CHECK(gyre_context_create(on.device, &options, &context) == GYRE_INVALID);
    CHECK(context == NULL && gyre_error_last()->text[0] != '\0');
}

static void adoption_is_refused_where_there_is_nothing_to_adopt(void)
{
    const gyre_context_options context_options = {.struct_size = sizeof context_options,
                                                  .adopt = &on};
    const gyre_stream_options stream_options = {.struct_size = sizeof stream_options, .adopt = &on};
    gyre_context *context = (gyre_context *)&on;
    gyre_stream *stream = (gyre_stream *)&on;

    if (gyre_context_native(on.context))
        SKIP("this device has contexts to adopt, and cannot tell others from them");
    CHECK(gyre_context_create(on.device, &context_options, &context) == GYRE_UNSUPPORTED);
    CHECK(context == NULL);
    CHECK(gyre_stream_create(on.context, &stream_options, &stream) == GYRE_UNSUPPORTED);
    CHECK(stream == NULL);
}

static void not_yet_and_too_late_write_no_detail(void)
{
    gyre_stream *const stream = stream_new();
    gyre_event *event;
    gyre_error before;
    gate held;

    if (!gates_exist()) {
        gyre_stream_destroy(stream);
        SKIP("kernels of this device cannot be held up");
    }
    REQUIRE(stream && gate_init(&held, on.context) && kernel_of(KERNEL_GATE) &&
            ok(gyre_event_create(on.context, GYRE_EVENT_ORDER, &event)));
    CHECK(ok(gate_submit(&held, stream, kernel_of(KERNEL_GATE))));
    CHECK(ok(gyre_event_record(event, stream)));
    CHECK(gyre_device_find("nobody") == NULL);
    before = *gyre_error_last();
    CHECK(gyre_stream_poll(stream) == GYRE_AGAIN);
    CHECK(gyre_event_poll(event) == GYRE_AGAIN);
    CHECK(gyre_stream_wait(stream, ticket(stream), gyre_clock_after_ns(MS)) == GYRE_TIMEOUT);
    CHECK(before.status == gyre_error_last()->status && before.line == gyre_error_last()->line);
    CHECK(strcmp(before.text, gyre_error_last()->text) == 0);
    CHECK(gyre_stream_fault(stream) == NULL && gyre_context_fault(on.context) == NULL);
    gate_open(&held);
    CHECK(ok(gyre_stream_sync(stream)));
    gyre_event_destroy(event);
    gate_fini(&held);
    gyre_stream_destroy(stream);
}

static void a_refusal_leaves_the_stream_as_it_was(void)
{
    enum { N = 64 };
    gyre_stream *const stream = stream_new();
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, (size_t)N * 4);
    const step_parameters p = {data, N, 1, 1, 0};
    gyre_launch launch = launch_of(1, N, &p, sizeof p);
    uint32_t host[N] = {0};

    REQUIRE(stream && data && kernel_of(KERNEL_STEP));
    CHECK(put(stream, data, host, sizeof host));
    for (uint64_t i = 0; i < 20; i++) {
        launch.parameters_size = 3;
        CHECK(gyre_stream_launch(stream, kernel_of(KERNEL_STEP), &launch) == GYRE_INVALID);
        CHECK(gyre_stream_fill(stream, &(gyre_fill){.to = data, .pattern_size = 5, .count = 1}) ==
              GYRE_INVALID);
        launch.parameters_size = sizeof p;
        CHECK(ok(gyre_stream_launch(stream, kernel_of(KERNEL_STEP), &launch)));
        CHECK(submitted(stream) == 2 + i);
    }
    CHECK(put(stream, host, data, sizeof host));
    CHECK(host[0] == 20 && host[N - 1] == 20);
    CHECK(gyre_stream_fault(stream) == NULL && gyre_context_check(on.context) == GYRE_OK);
    CHECK(gyre_context_fault(on.context) == NULL);
    give(GYRE_CONTEXT_DEVICE, data, (size_t)N * 4);
    gyre_stream_destroy(stream);
}

/* Has none left after so many. relaxed, all: counters of a test, read when all is over. */
typedef struct miser {
    int64_t left, out;
} miser;

static void *miser_allocate(void *user, size_t size, size_t alignment)
{
    miser *const m = user;
    void *block = NULL;

    if (__atomic_fetch_sub(&m->left, 1, __ATOMIC_RELAXED) <= 0 ||
        posix_memalign(&block, alignment, size) != 0)
        return NULL;
    memset(block, 0xa5, size);
    __atomic_fetch_add(&m->out, 1, __ATOMIC_RELAXED);
    return block;
}

static void miser_release(void *user, void *block, size_t size)
{
    miser *const m = user;

    memset(block, 0x5a, size);
    __atomic_fetch_sub(&m->out, 1, __ATOMIC_RELAXED);
    free(block);
}

static void a_context_survives_an_allocator_that_fails_anywhere(void)
{
    /* some drivers take a tenth of a second to open */
    const int step_size = on.device->kind == GYRE_DEVICE_GPU ? 5 : 1;
    miser m = {0, 0};
    const gyre_allocator allocator = {miser_allocate, miser_release, &m};
    const gyre_context_options options = {.struct_size = sizeof options, .allocator = &allocator};
    gyre_context *context = NULL;
    gyre_status status = GYRE_NO_MEMORY;
    int64_t count;

    for (count = 0; count < 200 && status == GYRE_NO_MEMORY; count += step_size) {
        context = (gyre_context *)&on;
        m = (miser){.left = count};
        status = gyre_context_create(on.device, &options, &context);
        if (status == GYRE_NO_MEMORY)
            CHECK(context == NULL && m.out == 0);
    }
    REQUIRE(ok(status));
    CHECK(count > 1); /* it is asked at all */
    m.left = INT64_MAX;
    gyre_context_destroy(context);
    CHECK(m.out == 0);
}

/* What a caller does in a context; it may fail with GYRE_NO_MEMORY only. */
static gyre_status live(gyre_context *context)
{
    const gyre_launch nothing = {.grid = {1}};
    gyre_stream *stream = NULL;
    gyre_event *event = NULL;
    gyre_kernel *kernel = NULL;
    gyre_graph *graph = NULL;
    gyre_status status = gyre_stream_create(context, NULL, &stream);
    uint32_t node;

    if (status == GYRE_OK)
        status = gyre_event_create(context, GYRE_EVENT_ORDER, &event);
    if (status == GYRE_OK)
        status = gyre_kernel_create(context, &conformance_program, "nothing", "", NULL, &kernel);
    if (status == GYRE_OK)
        status = gyre_stream_launch(stream, kernel, &nothing);
    if (status == GYRE_OK)
        status = gyre_event_record(event, stream);
    if (status == GYRE_OK)
        status = gyre_graph_create(context, NULL, &graph);
    for (int i = 0; i < 20 && status == GYRE_OK; i++)
        status = gyre_graph_launch(graph, kernel, &nothing, (gyre_after){NULL, 0}, &node);
    if (status == GYRE_OK)
        status = gyre_graph_finish(graph);
    if (status == GYRE_OK)
        status = gyre_stream_submit(stream, graph);
    if (stream && gyre_stream_sync(stream) != GYRE_OK)
        status = GYRE_INTERNAL;
    gyre_graph_destroy(graph);
    gyre_kernel_release(kernel);
    gyre_event_destroy(event);
    gyre_stream_destroy(stream);
    return status;
}

static void what_lives_in_a_context_survives_it_too(void)
{
    miser m = {.left = INT64_MAX};
    const gyre_allocator allocator = {miser_allocate, miser_release, &m};
    const gyre_context_options options = {.struct_size = sizeof options, .allocator = &allocator};
    gyre_status status = GYRE_NO_MEMORY;
    gyre_context *context;
    int64_t before;

    REQUIRE(ok(gyre_context_create(on.device, &options, &context)));
    CHECK(live(context) == GYRE_OK); /* what is made once, is made now */
    before = m.out;
    for (int64_t count = 0; count < 300 && status == GYRE_NO_MEMORY; count++) {
        m.left = count;
        status = live(context);
        CHECK(status == GYRE_OK || status == GYRE_NO_MEMORY);
        CHECK(m.out <= before + 4); /* lists may have grown, nothing leaks each time */
        CHECK(gyre_context_check(context) == GYRE_OK);
    }
    CHECK(ok(status));
    m.left = INT64_MAX;
    gyre_context_destroy(context);
    CHECK(m.out == 0);
}

static void half_an_allocator_is_invalid(void)
{
    const gyre_allocator half = {.allocate = miser_allocate};
    const gyre_context_options options = {.struct_size = sizeof options, .allocator = &half};
    const gyre_graph_options graph_options = {.struct_size = sizeof graph_options,
                                              .allocator = &half};
    gyre_context *context = (gyre_context *)&on;
    gyre_graph *graph = (gyre_graph *)&on;

    CHECK(gyre_context_create(on.device, &options, &context) == GYRE_INVALID && context == NULL);
    CHECK(gyre_graph_create(on.context, &graph_options, &graph) == GYRE_INVALID && graph == NULL);
}

static const test_case cases[] = {
    TEST(options_without_a_size_are_invalid),
    TEST(options_of_the_future_are_unsupported),
    TEST(statistics_fill_in_no_more_than_asked),
    TEST(devices_in_trouble_are_unavailable),
    TEST(faults_are_for_those_who_can),
    TEST(adoption_is_refused_where_there_is_nothing_to_adopt),
    TEST(not_yet_and_too_late_write_no_detail),
    TEST(a_refusal_leaves_the_stream_as_it_was),
    TEST(a_context_survives_an_allocator_that_fails_anywhere),
    TEST(what_lives_in_a_context_survives_it_too),
    TEST(half_an_allocator_is_invalid),
};
CONFORMANCE_MAIN(cases)
