/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of what is left behind when a device hangs or a backend's call fails: on the null device,
 * some of whose calls the test replaces.
 */
#include <pthread.h>
#include <time.h>

#include "base/fail.h"
#include "child.h"
#include "exec/stream.h"
#include "gyre/clock.h"
#include "gyre/graph.h"
#include "gyre/profile.h"
#include "test.h"

#define MILLISECOND UINT64_C(1000000)

static void nothing(const gyre_block *block, const void *parameters)
{
    (void)block, (void)parameters;
}

static void add_one(const gyre_block *block, const void *parameters)
{
    (void)block;
    ++**(uint32_t *const *)parameters;
}

static const gyre_entry entries[] = {
    {"nothing", nothing}, {"add_one", add_one}, {"many", nothing}, {NULL, NULL}};
static const gyre_program program = {
    .struct_size = sizeof program, .name = "fault", .functions = entries};

typedef struct fixture {
    gyre_context *context;
    gyre_stream *stream;
    gyre_kernel *kernel;
    gyre_backend backend; /* what the context calls, once it is replaced */
} fixture;

static bool begin(fixture *f, const char *faults, uint64_t timeout_ms, uint32_t pending_most)
{
    const gyre_context_options options = {.struct_size = sizeof options,
                                          .faults = faults,
                                          .sync_timeout_ns = timeout_ms * MILLISECOND,
                                          .pending_most = pending_most};

    *f = (fixture){0};
    return gyre_context_create(gyre_device_find("null"), &options, &f->context) == GYRE_OK &&
           gyre_stream_create(f->context, NULL, &f->stream) == GYRE_OK &&
           gyre_kernel_create(f->context, &program, "nothing", "", NULL, &f->kernel) == GYRE_OK;
}

static void end(fixture *f)
{
    gyre_kernel_release(f->kernel);
    gyre_stream_destroy(f->stream);
    gyre_context_destroy(f->context);
}

/* From here on the context calls f->backend, which is the null device's until it is changed. */
static gyre_backend *replace_backend(fixture *f)
{
    f->backend = *f->context->backend;
    f->context->backend = &f->backend;
    return &f->backend;
}

static gyre_status launch(fixture *f, uint64_t expected_ns)
{
    return gyre_stream_launch(f->stream, f->kernel, &(gyre_launch){.expected_ns = expected_ns});
}

static uint32_t strikes_of(gyre_stream *stream)
{
    gyre_stream_statistics s = {.struct_size = sizeof s};

    CHECK(gyre_stream_describe(stream, &s) == GYRE_OK);
    return s.strikes;
}

/* With pending_most = 2 every ticket has a mark of its own. */
static void marks_of_work_that_was_waited_for_leave_room(void)
{
    fixture f;
    uint64_t value;

    REQUIRE(begin(&f, "hang@18", 2000, 2));
    for (int i = 0; i < 16; i++)
        CHECK(launch(&f, 0) == GYRE_OK && gyre_stream_sync(f.stream) == GYRE_OK);
    CHECK(launch(&f, 0) == GYRE_OK);
    value = gyre_stream_ticket(f.stream).value;
    CHECK(launch(&f, 0) == GYRE_OK); /* never ends */
    CHECK(gyre_stream_wait(f.stream, value, gyre_clock_after_ns(100 * MILLISECOND)) == GYRE_OK);
    f.context->sync_timeout_ns = MILLISECOND;
    end(&f);
}

static void expectations_that_overflow_do_not_shorten_deadlines(void)
{
    fixture f;
    uint64_t value;

    REQUIRE(begin(&f, "hang@1", 20, 0));
    CHECK(launch(&f, UINT64_MAX) == GYRE_OK && launch(&f, 1) == GYRE_OK);
    value = gyre_stream_ticket(f.stream).value;
    CHECK(gyre_stream_wait(f.stream, value, gyre_clock_after_ns(40 * MILLISECOND)) == GYRE_TIMEOUT);
    CHECK(strikes_of(f.stream) == 0);
    CHECK(gyre_fail(GYRE_DEVICE_LOST, "enough") == GYRE_DEVICE_LOST);
    gyre_context_lose(f.context, GYRE_LOSS_HUNG);
    end(&f);
}

static void expectations_of_a_graph_do_not_wrap(void)
{
    const gyre_launch half = {.expected_ns = UINT64_MAX / 2 + 1};
    gyre_graph *graph = NULL;
    uint32_t node;
    uint64_t value;
    fixture f;

    REQUIRE(begin(&f, "hang@1", 20, 0));
    REQUIRE(gyre_graph_create(f.context, NULL, &graph) == GYRE_OK);
    for (int i = 0; i < 2; i++)
        CHECK(gyre_graph_launch(graph, f.kernel, &half, (gyre_after){NULL, 0}, &node) == GYRE_OK);
    CHECK(gyre_graph_finish(graph) == GYRE_OK);
    CHECK(gyre_stream_submit(f.stream, graph) == GYRE_OK);
    value = gyre_stream_ticket(f.stream).value;
    CHECK(gyre_stream_wait(f.stream, value, gyre_clock_after_ns(40 * MILLISECOND)) == GYRE_TIMEOUT);
    CHECK(strikes_of(f.stream) == 0);
    CHECK(gyre_fail(GYRE_DEVICE_LOST, "enough") == GYRE_DEVICE_LOST);
    gyre_context_lose(f.context, GYRE_LOSS_HUNG);
    gyre_graph_destroy(graph);
    end(&f);
}

/* It has no ticket of its own, and is not drained: a driver would wait for it without end. */
static void stream_that_waits_for_a_hung_one_is_abandoned(void)
{
    gyre_stream *second = NULL;
    gyre_event *event = NULL;
    fixture f;

    REQUIRE(begin(&f, "hang@1", 20, 0));
    REQUIRE(gyre_stream_create(f.context, NULL, &second) == GYRE_OK);
    REQUIRE(gyre_event_create(f.context, GYRE_EVENT_ORDER, &event) == GYRE_OK);
    CHECK(launch(&f, 0) == GYRE_OK && gyre_event_record(event, f.stream) == GYRE_OK);
    CHECK(gyre_stream_wait_event(second, event) == GYRE_OK);
    gyre_stream_destroy(second);
    CHECK(gyre_context_check(f.context) == GYRE_DEVICE_LOST);
    CHECK(f.context->abandoned);
    gyre_event_destroy(event);
    end(&f);
}

enum { WAITERS = 4 };

static void *sync_stream(void *arg)
{
    CHECK(gyre_stream_sync(arg) == GYRE_TIMEOUT);
    return NULL;
}

static void waits_at_the_same_time_are_one_strike(void)
{
    pthread_t waiters[WAITERS];
    fixture f;

    REQUIRE(begin(&f, "hang@1", 300, 0));
    CHECK(launch(&f, 0) == GYRE_OK);
    for (int i = 0; i < WAITERS; i++)
        CHECK(pthread_create(&waiters[i], NULL, sync_stream, f.stream) == 0);
    for (int i = 0; i < WAITERS; i++)
        CHECK(pthread_join(waiters[i], NULL) == 0);
    CHECK(strikes_of(f.stream) == 1 && gyre_context_check(f.context) == GYRE_OK);
    f.context->sync_timeout_ns = MILLISECOND;
    CHECK(gyre_stream_sync(f.stream) == GYRE_TIMEOUT && strikes_of(f.stream) == 2);
    CHECK(gyre_stream_sync(f.stream) == GYRE_DEVICE_LOST);
    end(&f);
}

static gyre_status no_graphs(gyre_dev *dev, const gyre_dev_node *nodes, uint32_t count,
                             gyre_dev_graph **out_graph)
{
    (void)dev, (void)nodes, (void)count, (void)out_graph;
    return gyre_fail(GYRE_UNSUPPORTED, "no graphs");
}

static gyre_status no_memory_for_graphs(gyre_dev *dev, const gyre_dev_node *nodes, uint32_t count,
                                        gyre_dev_graph **out_graph)
{
    (void)dev, (void)nodes, (void)count, (void)out_graph;
    return gyre_fail(GYRE_NO_MEMORY, "no memory for graphs");
}

/* A graph of two nodes that counts. */
static bool counting_graph(fixture *f, uint32_t *counter, gyre_graph **out_graph)
{
    const gyre_launch one = {.parameters = &counter, .parameters_size = sizeof counter};
    gyre_kernel *kernel = NULL;
    uint32_t node = 0;
    bool made =
        gyre_kernel_create(f->context, &program, "add_one", "pointer", NULL, &kernel) == GYRE_OK &&
        gyre_graph_create(f->context, NULL, out_graph) == GYRE_OK;

    for (int i = 0; i < 2 && made; i++)
        made = gyre_graph_launch(*out_graph, kernel, &one, (gyre_after){&node, i > 0}, &node) ==
               GYRE_OK;
    gyre_kernel_release(kernel); /* the graph holds it */
    return made;
}

/* What was submitted of it may run, and may not be given away before. */
static void half_of_a_graph_has_a_ticket(void)
{
    gyre_graph *graph = NULL;
    uint32_t counter = 0;
    fixture f;

    REQUIRE(begin(&f, "refuse@4", 2000, 0)); /* the context's trial makes two submissions */
    replace_backend(&f)->graph_open = no_graphs;
    REQUIRE(counting_graph(&f, &counter, &graph));
    CHECK(gyre_graph_finish(graph) == GYRE_OK);
    CHECK(gyre_stream_submit(f.stream, graph) == GYRE_NO_MEMORY);
    CHECK(strstr(gyre_error_last()->text, "REFUSED") != NULL);
    CHECK(counter == 1);
    CHECK(gyre_stream_ticket(f.stream).value == 1);
    CHECK(gyre_stream_sync(f.stream) == GYRE_OK);
    CHECK(gyre_stream_submit(f.stream, graph) == GYRE_OK && counter == 3);
    gyre_graph_destroy(graph);
    end(&f);
}

static void graph_whose_finish_failed_is_not_submitted(void)
{
    gyre_graph_facts facts = {.struct_size = sizeof facts};
    gyre_graph *graph = NULL;
    uint32_t counter = 0;
    fixture f;

    REQUIRE(begin(&f, "", 2000, 0));
    replace_backend(&f)->graph_open = no_memory_for_graphs;
    REQUIRE(counting_graph(&f, &counter, &graph));
    CHECK(gyre_graph_finish(graph) == GYRE_NO_MEMORY);
    CHECK(gyre_stream_submit(f.stream, graph) == GYRE_INVALID && counter == 0);
    CHECK(gyre_graph_finish(graph) == GYRE_INVALID);
    CHECK(gyre_graph_describe(graph, &facts) == GYRE_OK && facts.submitted == 0);
    gyre_graph_destroy(graph);
    end(&f);
}

static uint64_t pinned_bytes(gyre_context *context)
{
    gyre_context_statistics s = {.struct_size = sizeof s};

    CHECK(gyre_context_describe(context, &s) == GYRE_OK);
    return s.pinned_bytes;
}

static void refused_table_gives_its_block_back(void)
{
    const gyre_graph_options merge = {.struct_size = sizeof merge, .merge = true};
    const gyre_kernel_options many = {.struct_size = sizeof many, .many = "many"};
    static const uint64_t parameters[128];
    const gyre_launch large = {.parameters = parameters, .parameters_size = sizeof parameters};
    gyre_graph *graph = NULL;
    gyre_kernel *kernel = NULL;
    uint64_t bytes;
    uint32_t node;
    fixture f;

    REQUIRE(begin(&f, "refuse@3..", 2000, 0));
    REQUIRE(gyre_kernel_create(f.context, &program, "nothing", "bytes1024", &many, &kernel) ==
            GYRE_OK);
    REQUIRE(gyre_graph_create(f.context, &merge, &graph) == GYRE_OK);
    for (int i = 0; i < 8; i++)
        CHECK(gyre_graph_launch(graph, kernel, &large, (gyre_after){NULL, 0}, &node) == GYRE_OK);
    CHECK(gyre_graph_finish(graph) == GYRE_OK);
    /* a pool that tracks keeps some for a while before they are taken again */
    for (int i = 0; i < 300; i++)
        CHECK(gyre_stream_submit(f.stream, graph) == GYRE_NO_MEMORY);
    bytes = pinned_bytes(f.context);
    for (int i = 0; i < 300; i++)
        CHECK(gyre_stream_submit(f.stream, graph) == GYRE_NO_MEMORY);
    CHECK(pinned_bytes(f.context) == bytes);
    gyre_graph_destroy(graph);
    gyre_kernel_release(kernel);
    end(&f);
}

static gyre_status (*null_kernel_open)(gyre_dev_module *module,
                                       const gyre_dev_kernel_request *request,
                                       gyre_dev_kernel_facts *out_facts,
                                       gyre_dev_kernel **out_kernel);

/* As when the entry for many needs more registers. */
static gyre_status open_small_many(gyre_dev_module *module, const gyre_dev_kernel_request *request,
                                   gyre_dev_kernel_facts *out_facts, gyre_dev_kernel **out_kernel)
{
    const gyre_status status = null_kernel_open(module, request, out_facts, out_kernel);

    if (strcmp(request->entry, "many") == 0)
        out_facts->block_threads_most = 4;
    return status;
}

static void launches_that_their_many_cannot_do_stay_apart(void)
{
    const gyre_graph_options merge = {.struct_size = sizeof merge, .merge = true};
    const gyre_kernel_options many = {.struct_size = sizeof many, .many = "many"};
    const uint64_t parameter = 0;
    gyre_graph_facts facts = {.struct_size = sizeof facts};
    gyre_graph *graph = NULL;
    gyre_kernel *kernel = NULL;
    uint32_t node;
    fixture f;

    REQUIRE(begin(&f, "", 2000, 0));
    null_kernel_open = f.context->backend->kernel_open;
    replace_backend(&f)->kernel_open = open_small_many;
    REQUIRE(gyre_kernel_create(f.context, &program, "nothing", "u64", &many, &kernel) == GYRE_OK);
    REQUIRE(gyre_graph_create(f.context, &merge, &graph) == GYRE_OK);
    for (uint32_t i = 0; i < 4; i++) {
        const gyre_launch of = {.block = {i < 2 ? 4 : 5, 1, 1},
                                .parameters = &parameter,
                                .parameters_size = sizeof parameter};

        CHECK(gyre_graph_launch(graph, kernel, &of, (gyre_after){NULL, 0}, &node) == GYRE_OK);
    }
    CHECK(gyre_graph_finish(graph) == GYRE_OK);
    CHECK(gyre_graph_describe(graph, &facts) == GYRE_OK && facts.submitted == 3);
    gyre_graph_destroy(graph);
    gyre_kernel_release(kernel);
    end(&f);
}

static void numbers_may_be_repeated_in_what_a_node_waits_for(void)
{
    const uint32_t thrice[] = {0, 0, 0};
    gyre_graph *graph = NULL;
    uint32_t node;
    fixture f;

    REQUIRE(begin(&f, "", 2000, 0));
    REQUIRE(gyre_graph_create(f.context, NULL, &graph) == GYRE_OK);
    CHECK(gyre_graph_launch(graph, f.kernel, &(gyre_launch){0}, (gyre_after){NULL, 0}, &node) ==
          GYRE_OK);
    CHECK(gyre_graph_launch(graph, f.kernel, &(gyre_launch){0}, (gyre_after){thrice, 3}, &node) ==
          GYRE_OK);
    CHECK(node == 1 && gyre_graph_finish(graph) == GYRE_OK);
    CHECK(gyre_stream_submit(f.stream, graph) == GYRE_OK);
    CHECK(gyre_stream_sync(f.stream) == GYRE_OK);
    gyre_graph_destroy(graph);
    end(&f);
}

static void *kept;
static gyre_status (*null_take)(gyre_dev *dev, gyre_dev_memory kind, size_t size, size_t alignment,
                                void **out_block);

static gyre_status take_and_tell(gyre_dev *dev, gyre_dev_memory kind, size_t size, size_t alignment,
                                 void **out_block)
{
    const gyre_status status = null_take(dev, kind, size, alignment, out_block);

    kept = *out_block;
    return status;
}

/* Between contexts of devices that do not reach each other's memory; `f` is where it goes to. */
static void copy_under_way_keeps_its_block(void)
{
    static char from[4096], to[4096];
    gyre_context *other = NULL;
    gyre_backend backend;
    gyre_device apart;
    fixture f;

    REQUIRE(begin(&f, "hang@1", 20, 0));
    REQUIRE(gyre_context_create(gyre_device_find("null"), NULL, &other) == GYRE_OK);
    apart = *other->device;
    apart.features &= ~(uint64_t)GYRE_FEATURE_HOST_REACH;
    apart.index = 63;
    other->device = &apart;
    backend = *other->backend;
    null_take = backend.take;
    backend.take = take_and_tell;
    other->backend = &backend;
    CHECK(launch(&f, 0) == GYRE_OK);
    CHECK(gyre_stream_copy_from(f.stream, to, other, from, sizeof from) == GYRE_TIMEOUT);
    CHECK(pinned_bytes(other) == sizeof from); /* which the device may still read */
    end(&f);
    other->pinned_memory.give(&other->pinned_memory, kept, sizeof from, 64);
    gyre_context_destroy(other);
}

static gyre_dev_event *never_reached;
static gyre_status (*null_record)(gyre_dev_event *event, gyre_dev_stream *stream);
static gyre_status (*null_event_poll)(gyre_dev_event *event);

static gyre_status record_for_ever(gyre_dev_event *event, gyre_dev_stream *stream)
{
    never_reached = event;
    return null_record(event, stream);
}

static gyre_status poll_but_that(gyre_dev_event *event)
{
    return event == never_reached ? GYRE_AGAIN : null_event_poll(event);
}

static void check_time(void *user, const gyre_profile_span *span)
{
    const uint64_t *const around = user;

    CHECK(span->begin_ns >= around[0] && span->begin_ns <= around[1]);
}

static void spans_without_a_last_anchor_stay_in_time(void)
{
    const gyre_profile_options each = {.struct_size = sizeof each, .device_every = 1};
    static uint32_t word;
    gyre_profile *profile = NULL;
    uint64_t around[2];
    fixture f;

    REQUIRE(begin(&f, "slow=300", 2000, 0));
    around[0] = gyre_clock_now_ns();
    REQUIRE(gyre_profile_start(f.context, &each, &profile) == GYRE_OK);
    for (int i = 0; i < 4; i++)
        CHECK(gyre_stream_fill(f.stream, &(gyre_fill){&word, {1}, 4, 1}) == GYRE_OK);
    CHECK(gyre_stream_sync(f.stream) == GYRE_OK);
    null_record = f.context->backend->event_record;
    null_event_poll = f.context->backend->event_poll;
    never_reached = NULL;
    replace_backend(&f)->event_record = record_for_ever;
    f.backend.event_poll = poll_but_that;
    f.context->sync_timeout_ns = 20 * MILLISECOND;
    CHECK(gyre_profile_stop(profile) == GYRE_TIMEOUT);
    around[1] = gyre_clock_now_ns();
    CHECK(gyre_profile_visit(profile, check_time, around) == GYRE_OK);
    gyre_profile_destroy(profile);
    end(&f);
}

static gyre_status lost_between(gyre_dev_event *from, gyre_dev_event *to, double *out_ns)
{
    (void)from, (void)to;
    *out_ns = 0;
    return gyre_fail(GYRE_DEVICE_LOST, "lost between two events");
}

static gyre_status lost_residency(gyre_dev_kernel *kernel, uint32_t threads, uint32_t shared_bytes,
                                  uint32_t *out_blocks)
{
    (void)kernel, (void)threads, (void)shared_bytes;
    *out_blocks = 0;
    return gyre_fail(GYRE_DEVICE_LOST, "lost while asking");
}

static void loss_is_kept_whoever_finds_it(void)
{
    const gyre_profile_options each = {.struct_size = sizeof each, .device_every = 1};
    gyre_profile *profile = NULL;
    gyre_event *event = NULL;
    uint32_t blocks;
    double ns;
    fixture f;

    REQUIRE(begin(&f, "", 2000, 0));
    REQUIRE(gyre_event_create(f.context, GYRE_EVENT_TIME, &event) == GYRE_OK);
    CHECK(gyre_event_record(event, f.stream) == GYRE_OK);
    replace_backend(&f)->event_between = lost_between;
    CHECK(gyre_event_between(event, event, &ns) == GYRE_DEVICE_LOST);
    CHECK(gyre_context_check(f.context) == GYRE_DEVICE_LOST);
    CHECK(strstr(gyre_error_last()->text, "between two") != NULL);
    gyre_event_destroy(event);
    end(&f);

    REQUIRE(begin(&f, "", 2000, 0));
    replace_backend(&f)->residency = lost_residency;
    CHECK(gyre_kernel_residency(f.kernel, 1, 0, &blocks) == GYRE_DEVICE_LOST);
    CHECK(gyre_context_check(f.context) == GYRE_DEVICE_LOST);
    end(&f);

    REQUIRE(begin(&f, "", 2000, 0));
    REQUIRE(gyre_profile_start(f.context, &each, &profile) == GYRE_OK);
    CHECK(launch(&f, 0) == GYRE_OK && gyre_stream_sync(f.stream) == GYRE_OK);
    replace_backend(&f)->event_between = lost_between;
    CHECK(gyre_profile_stop(profile) == GYRE_DEVICE_LOST);
    CHECK(gyre_context_check(f.context) == GYRE_DEVICE_LOST);
    gyre_profile_destroy(profile);
    end(&f);
}

/* The stream that has the fault is asked by nobody. */
static gyre_status find_by_event(fixture *f, gyre_event *event, gyre_stream *other)
{
    gyre_status status;

    (void)f, (void)other;
    while ((status = gyre_event_poll(event)) == GYRE_AGAIN)
        ;
    return status;
}

static gyre_status find_by_memory(fixture *f, gyre_event *event, gyre_stream *other)
{
    const gyre_memory *const memory = gyre_context_memory(f->context, GYRE_CONTEXT_DEVICE);
    void *block;

    (void)event, (void)other;
    CHECK(f->context->backend->poll(f->stream->native) == GYRE_DEVICE_LOST);
    return memory->take(memory, 64, 64, &block);
}

static gyre_status find_by_other_stream(fixture *f, gyre_event *event, gyre_stream *other)
{
    (void)event;
    CHECK(f->context->backend->poll(f->stream->native) == GYRE_DEVICE_LOST);
    return gyre_stream_sync(other);
}

static void kernel_is_named_whoever_finds_the_fault(void)
{
    gyre_status (*const finders[])(fixture *, gyre_event *, gyre_stream *) = {
        find_by_event, find_by_memory, find_by_other_stream};
    const gyre_stream_options options = {.struct_size = sizeof options, .name = "another"};
    gyre_stream *other;
    gyre_event *event;
    fixture f;

    for (size_t i = 0; i < sizeof finders / sizeof finders[0]; i++) {
        REQUIRE(begin(&f, "fault@1", 2000, 0));
        REQUIRE(gyre_stream_create(f.context, &options, &other) == GYRE_OK);
        REQUIRE(gyre_event_create(f.context, GYRE_EVENT_ORDER, &event) == GYRE_OK);
        CHECK(launch(&f, 0) == GYRE_OK && gyre_event_record(event, f.stream) == GYRE_OK);
        CHECK(finders[i](&f, event, other) == GYRE_DEVICE_LOST);
        CHECK(strstr(gyre_error_last()->text, "stream: in 'nothing': ") != NULL);
        CHECK(strstr(gyre_error_last()->text, "launch 1 has faulted") != NULL);
        CHECK(strcmp(gyre_error_last()->text, gyre_context_fault(f.context)->text) == 0);
        gyre_event_destroy(event);
        gyre_stream_destroy(other);
        end(&f);
    }
}

/* Destroys an event while a reset, which has begun, has the context's lock. */
static gyre_event *to_destroy;
static pthread_t destroyer;
static gyre_status (*null_poll)(gyre_dev_stream *stream);
static _Atomic bool destroying;

static void *destroy_event(void *arg)
{
    (void)arg;
    gyre_event_destroy(to_destroy);
    return NULL;
}

static gyre_status poll_meanwhile(gyre_dev_stream *stream)
{
    if (!atomic_exchange(&destroying, true)) {
        CHECK(pthread_create(&destroyer, NULL, destroy_event, NULL) == 0);
        nanosleep(&(struct timespec){.tv_nsec = (long)(50 * MILLISECOND)}, NULL);
    }
    return null_poll(stream);
}

static void context_that_was_reset_is_not_abandoned(void)
{
    fixture f;

    REQUIRE(begin(&f, "", 2000, 0));
    REQUIRE(gyre_event_create(f.context, GYRE_EVENT_ORDER, &to_destroy) == GYRE_OK);
    CHECK(gyre_fail(GYRE_DEVICE_LOST, "too slow") == GYRE_DEVICE_LOST);
    CHECK(gyre_context_lose(f.context, GYRE_LOSS_HUNG) == GYRE_DEVICE_LOST);
    null_poll = f.context->backend->poll;
    atomic_store(&destroying, false);
    replace_backend(&f)->poll = poll_meanwhile;
    CHECK(gyre_context_reset(f.context) == GYRE_OK);
    REQUIRE(atomic_load(&destroying));
    CHECK(pthread_join(destroyer, NULL) == 0);
    CHECK(!f.context->abandoned && gyre_context_check(f.context) == GYRE_OK);
    CHECK(launch(&f, 0) == GYRE_OK && gyre_stream_sync(f.stream) == GYRE_OK);
    end(&f);
}

static fixture parents;
static gyre_profile *parents_profile;

static void use_what_is_the_parents(void)
{
    gyre_context_statistics s = {.struct_size = sizeof s};

    CHECK(gyre_context_describe(parents.context, &s) == GYRE_UNAVAILABLE);
    CHECK(gyre_context_reset(parents.context) == GYRE_UNAVAILABLE);
    CHECK(gyre_profile_stop(parents_profile) == GYRE_UNAVAILABLE);
    gyre_profile_destroy(parents_profile);
    end(&parents);
}

/* Locks are as some other thread had them at the fork. */
static void child_takes_no_lock_of_its_parents(void)
{
    REQUIRE(begin(&parents, "", 2000, 0));
    REQUIRE(gyre_profile_start(parents.context, NULL, &parents_profile) == GYRE_OK);
    pthread_mutex_lock(&parents.context->lock);
    atomic_fetch_add(&parents.context->profile_inside, 1);
    CHECK(passes_in_child(use_what_is_the_parents));
    atomic_fetch_sub(&parents.context->profile_inside, 1);
    pthread_mutex_unlock(&parents.context->lock);
    gyre_profile_destroy(parents_profile);
    end(&parents);
}

static void waiting_for_ever_ends_with_the_last_strike(void)
{
    fixture f;

    REQUIRE(begin(&f, "hang@1", 20, 0));
    CHECK(launch(&f, 0) == GYRE_OK);
    CHECK(gyre_stream_wait(f.stream, gyre_stream_ticket(f.stream).value, GYRE_NEVER) ==
          GYRE_DEVICE_LOST);
    CHECK(strikes_of(f.stream) == 3);
    end(&f);
    REQUIRE(begin(&f, "hang@1+50", 20, 0)); /* two of its own deadlines, and then it is through */
    CHECK(launch(&f, 0) == GYRE_OK);
    CHECK(gyre_stream_wait(f.stream, gyre_stream_ticket(f.stream).value, GYRE_NEVER) == GYRE_OK);
    end(&f);
}

static const test_case cases[] = {
    TEST(waiting_for_ever_ends_with_the_last_strike),
    TEST(marks_of_work_that_was_waited_for_leave_room),
    TEST(expectations_that_overflow_do_not_shorten_deadlines),
    TEST(expectations_of_a_graph_do_not_wrap),
    TEST(stream_that_waits_for_a_hung_one_is_abandoned),
    TEST(waits_at_the_same_time_are_one_strike),
    TEST(half_of_a_graph_has_a_ticket),
    TEST(graph_whose_finish_failed_is_not_submitted),
    TEST(refused_table_gives_its_block_back),
    TEST(launches_that_their_many_cannot_do_stay_apart),
    TEST(numbers_may_be_repeated_in_what_a_node_waits_for),
    TEST(copy_under_way_keeps_its_block),
    TEST(spans_without_a_last_anchor_stay_in_time),
    TEST(loss_is_kept_whoever_finds_it),
    TEST(kernel_is_named_whoever_finds_the_fault),
    TEST(context_that_was_reset_is_not_abandoned),
    TEST(child_takes_no_lock_of_its_parents),
};
TEST_MAIN(cases)
