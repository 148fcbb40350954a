/* SPDX-License-Identifier: Apache-2.0
 *
 * One program of everything that exec has, run again and again while one call after another fails:
 * allocations, then what the null device can be told. Nothing may be left, and no failure may
 * be without its reason.
 */
#include <stdio.h>
#include <stdlib.h>

#include "exec/stream.h"
#include "gyre/clock.h"
#include "gyre/graph.h"
#include "gyre/profile.h"
#include "test.h"

enum { MOST = 400, WORDS = 24 };

typedef struct failing {
    uint32_t made, fails_at; /* 0: none does */
    int64_t out_bytes;
} failing;

static void *allocate(void *user, size_t size, size_t alignment)
{
    failing *const f = user;
    void *block;

    if (++f->made == f->fails_at)
        return NULL;
    block = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (block)
        f->out_bytes += (int64_t)size;
    return block;
}

static void release(void *user, void *block, size_t size)
{
    failing *const f = user;

    f->out_bytes -= (int64_t)size;
    free(block);
}

typedef struct parameters {
    uint32_t *to;
} parameters;

static void count(const gyre_block *block, const void *given)
{
    const parameters *const p = given;

    (void)block;
    ++*p->to;
}

static void count_many(const gyre_block *block, const void *given)
{
    const struct {
        const parameters *rows;
        uint32_t count;
    } *const many = given;

    ++*many->rows[block->index[2]].to;
}

static const gyre_entry entries[] = {{"count", count}, {"count_many", count_many}, {NULL, NULL}};
static const gyre_program program = {
    .struct_size = sizeof program, .name = "sweep", .functions = entries};

typedef struct things {
    gyre_context *context;
    gyre_stream *stream, *second;
    gyre_event *event;
    gyre_kernel *kernel;
    gyre_graph *graph;
    gyre_profile *profile;
} things;

#define TRY(call)                                                                                  \
    do {                                                                                           \
        const gyre_status status_ = (call);                                                        \
        if (status_ != GYRE_OK)                                                                    \
            return status_;                                                                        \
    } while (0)

static gyre_status make(things *t, const gyre_allocator *allocator, const char *faults)
{
    const gyre_context_options context = {.struct_size = sizeof context,
                                          .allocator = allocator,
                                          .faults = faults,
                                          .sync_timeout_ns = 3000000,
                                          .strikes = 2};
    const gyre_kernel_options many = {.struct_size = sizeof many, .many = "count_many"};
    const gyre_graph_options merge = {
        .struct_size = sizeof merge, .allocator = allocator, .merge = true};
    const gyre_profile_options each = {
        .struct_size = sizeof each, .allocator = allocator, .device_every = 1, .spans = 8};

    TRY(gyre_context_create(gyre_device_find("null"), &context, &t->context));
    TRY(gyre_stream_create(t->context, NULL, &t->stream));
    TRY(gyre_stream_create(t->context, NULL, &t->second));
    TRY(gyre_event_create(t->context, GYRE_EVENT_TIME, &t->event));
    TRY(gyre_kernel_create(t->context, &program, "count", "pointer", &many, &t->kernel));
    TRY(gyre_graph_create(t->context, &merge, &t->graph));
    return gyre_profile_start(t->context, &each, &t->profile);
}

static gyre_status use(things *t, uint32_t *counter)
{
    const parameters given = {counter};
    const gyre_launch one = {.parameters = &given, .parameters_size = sizeof given};
    const gyre_after none = {NULL, 0};
    uint32_t nodes[3], node;
    double ns;

    for (int i = 0; i < 3; i++)
        TRY(gyre_graph_launch(t->graph, t->kernel, &one, none, &nodes[i]));
    TRY(gyre_graph_launch(t->graph, t->kernel, &one, (gyre_after){nodes, 3}, &node));
    TRY(gyre_graph_finish(t->graph));
    TRY(gyre_stream_submit(t->stream, t->graph)); /* the table, and the graph */
    TRY(gyre_stream_launch(t->stream, t->kernel, &one));
    TRY(gyre_event_record(t->event, t->stream));
    TRY(gyre_stream_wait_event(t->second, t->event));
    TRY(gyre_stream_launch(t->second, t->kernel, &one));
    TRY(gyre_stream_sync(t->second));
    TRY(gyre_graph_update(t->graph, node, &given, sizeof given));
    TRY(gyre_graph_update(t->graph, nodes[1], &given, sizeof given));
    TRY(gyre_stream_submit(t->second, t->graph));
    TRY(gyre_stream_sync(t->second));
    TRY(gyre_event_between(t->event, t->event, &ns));
    return gyre_profile_stop(t->profile);
}

/* Whether a status is one that a failing call may have, with a sentence where there must be one. */
static bool is_explained(gyre_status status)
{
    if (status == GYRE_OK || status == GYRE_TIMEOUT)
        return true;
    return (status == GYRE_NO_MEMORY || status == GYRE_DEVICE_LOST) &&
           gyre_error_last()->status == status && gyre_error_last()->text[0] != '\0';
}

/* Runs all of it; `turned`: ends it the other way round. */
static gyre_status run(const gyre_allocator *allocator, const char *faults, bool turned)
{
    things t = {0};
    uint32_t counter = 0;
    gyre_status status = make(&t, allocator, faults);

    if (status == GYRE_OK)
        status = use(&t, &counter);
    CHECK(is_explained(status));
    CHECK(status != GYRE_OK || counter == 10);
    if (turned) {
        gyre_stream_destroy(t.second);
        gyre_stream_destroy(t.stream);
        gyre_event_destroy(t.event);
        gyre_graph_destroy(t.graph);
        gyre_kernel_release(t.kernel);
        gyre_profile_destroy(t.profile);
    } else {
        gyre_profile_destroy(t.profile);
        gyre_kernel_release(t.kernel);
        gyre_event_destroy(t.event);
        gyre_stream_destroy(t.stream);
        gyre_stream_destroy(t.second);
        gyre_graph_destroy(t.graph);
    }
    if (t.context) {
        gyre_context_statistics s = {.struct_size = sizeof s};

        CHECK(gyre_context_describe(t.context, &s) == GYRE_OK);
        CHECK(s.streams == 0 && s.device_bytes == 0 && s.pinned_bytes == 0);
        CHECK(atomic_load(&t.context->objects) == 0);
    }
    gyre_context_destroy(t.context);
    return status;
}

static void any_allocation_may_fail(void)
{
    int failures = 0;

    for (uint32_t n = 0, last = 1; n <= last; n++) {
        failing f = {.fails_at = n};
        const gyre_allocator allocator = {.allocate = allocate, .release = release, .user = &f};
        const gyre_status status = run(&allocator, "", n % 2 != 0);

        CHECK(n > 0 || status == GYRE_OK);
        failures += status != GYRE_OK;
        if (n == 0)
            last = f.made;
        if (f.out_bytes != 0)
            fprintf(stderr, "allocation %u: %lld bytes stay\n", n, (long long)f.out_bytes);
        CHECK(f.out_bytes == 0);
        REQUIRE(last < MOST);
    }
    CHECK(failures >= 10);
}

/* `least` of the runs do fail. */
static void fail_each(const char *word, int least)
{
    int failures = 0;

    for (int n = 1; n <= WORDS; n++) {
        failing f = {0};
        const gyre_allocator allocator = {.allocate = allocate, .release = release, .user = &f};
        char faults[32];
        const int before = test_failed();

        snprintf(faults, sizeof faults, "%s@%d", word, n);
        failures += run(&allocator, faults, n % 2 != 0) != GYRE_OK;
        CHECK(f.out_bytes == 0);
        if (test_failed() != before)
            fprintf(stderr, "with %s\n", faults);
    }
    CHECK(failures >= least && failures < WORDS);
}

static void any_submission_may_be_refused(void)
{
    fail_each("refuse", 8);
}

static void any_take_may_be_refused(void)
{
    fail_each("memory", 3);
}

static void any_launch_may_fault(void)
{
    fail_each("fault", 6);
}

static void any_launch_may_hang(void)
{
    fail_each("hang", 6);
}

static const test_case cases[] = {
    TEST(any_allocation_may_fail), TEST(any_submission_may_be_refused),
    TEST(any_take_may_be_refused), TEST(any_launch_may_fault),
    TEST(any_launch_may_hang),
};
TEST_MAIN(cases)
