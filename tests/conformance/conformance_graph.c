/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: nodes run after those that they name, once for each submission, with the parameters of
 * their time; merged or not, the answer is the same.
 */
#include "conformance.h"

enum { N = 256, BYTES = N * 4 };

static const gyre_after at_once = {NULL, 0};

static gyre_graph *graph_new(bool merge)
{
    const gyre_graph_options options = {.struct_size = sizeof options, .merge = merge};
    gyre_graph *graph;

    return ok(gyre_graph_create(on.context, &options, &graph)) ? graph : NULL;
}

/* After those nodes. */
static uint32_t add_step(gyre_graph *graph, step_parameters p, const uint32_t *after, size_t count)
{
    const gyre_launch launch = launch_of((p.n + 63) / 64, 64, &p, sizeof p);
    uint32_t node = UINT32_MAX;

    CHECK(ok(gyre_graph_launch(graph, kernel_of(KERNEL_STEP), &launch, (gyre_after){after, count},
                               &node)));
    return node;
}

static bool all_are(const uint32_t *words, size_t count, uint32_t value)
{
    for (size_t i = 0; i < count; i++)
        if (words[i] != value)
            return false;
    return true;
}

/* What every case has. */
typedef struct scene {
    gyre_stream *stream;
    gyre_graph *graph;
    uint32_t *data; /* 8 * N words, zeros */
    uint32_t host[8 * N];
} scene;

static scene s;

static bool begin(bool merge)
{
    memset(&s, 0, sizeof s);
    s.stream = stream_new();
    s.graph = graph_new(merge);
    s.data = take(GYRE_CONTEXT_DEVICE, sizeof s.host);
    CHECK(s.stream && s.graph && s.data && kernel_of(KERNEL_STEP) && kernel_of(KERNEL_EACH));
    return s.stream && s.graph && s.data && put(s.stream, s.data, s.host, sizeof s.host);
}

static void fetch(void)
{
    CHECK(put(s.stream, s.host, s.data, sizeof s.host));
}

static void end(void)
{
    gyre_graph_destroy(s.graph);
    give(GYRE_CONTEXT_DEVICE, s.data, sizeof s.host);
    gyre_stream_destroy(s.stream);
}

static gyre_graph_facts facts_of(const gyre_graph *graph)
{
    gyre_graph_facts facts = {.struct_size = sizeof facts};

    CHECK(ok(gyre_graph_describe(graph, &facts)));
    return facts;
}

static void a_chain_runs_in_order_and_many_times(void)
{
    uint32_t node = UINT32_MAX, want = 0;

    if (!begin(false))
        return;
    for (uint32_t i = 0; i < 20; i++) {
        const uint32_t last = node;

        node = add_step(s.graph, (step_parameters){s.data, N, 3, i, i % 4 * 3000}, &last, i > 0);
        CHECK(node == i);
    }
    CHECK(ok(gyre_graph_finish(s.graph)));
    CHECK(facts_of(s.graph).nodes == 20 && facts_of(s.graph).submitted == 20);
    for (int round = 0; round < 100; round++) {
        CHECK(ok(gyre_stream_submit(s.stream, s.graph)));
        for (uint32_t i = 0; i < 20; i++)
            want = want * 3 + i;
    }
    CHECK(submitted(s.stream) == 101); /* each is one ticket, and so was the first copy */
    fetch();
    CHECK(all_are(s.host, N, want) && all_are(s.host + N, 7 * (size_t)N, 0));
    end();
}

static void a_diamond_joins(void)
{
    uint32_t node[4];

    if (!begin(false))
        return;
    node[0] = add_step(s.graph, (step_parameters){s.data, 2 * N, 0, 5, 20000}, NULL, 0);
    node[1] = add_step(s.graph, (step_parameters){s.data, N, 2, 1, 10000}, node, 1);
    node[2] = add_step(s.graph, (step_parameters){s.data + N, N, 3, 2, 0}, node, 1);
    node[3] = add_step(s.graph, (step_parameters){s.data, 2 * N, 10, 0, 0}, node + 1, 2);
    CHECK(node[3] == 3);
    CHECK(ok(gyre_graph_finish(s.graph)));
    for (int round = 0; round < 10; round++)
        CHECK(ok(gyre_stream_submit(s.stream, s.graph)));
    fetch();
    CHECK(all_are(s.host, N, 110) && all_are(s.host + N, N, 170));
    end();
}

static void independents_all_run(void)
{
    if (!begin(false))
        return;
    for (uint32_t i = 0; i < 8; i++)
        add_step(s.graph, (step_parameters){s.data + (size_t)i * N, N, 1, i + 1, 1000}, NULL, 0);
    CHECK(ok(gyre_graph_finish(s.graph)));
    for (int round = 0; round < 5; round++)
        CHECK(ok(gyre_stream_submit(s.stream, s.graph)));
    fetch();
    for (uint32_t i = 0; i < 8; i++)
        CHECK(all_are(s.host + i * (size_t)N, N, 5 * (i + 1)));
    end();
}

static void copies_and_fills_are_nodes_too(void)
{
    uint32_t *const pinned = take(GYRE_CONTEXT_PINNED, BYTES);
    const gyre_fill fill = {.pattern_size = 4, .count = N, .pattern = {7, 0, 0, 0}};
    gyre_fill to_data = fill;
    uint32_t node[4];

    REQUIRE(pinned);
    if (!begin(false))
        return;
    to_data.to = s.data;
    CHECK(ok(gyre_graph_fill(s.graph, &to_data, at_once, &node[0])) && node[0] == 0);
    node[1] = add_step(s.graph, (step_parameters){s.data, N, 2, 1, 5000}, &node[0], 1);
    CHECK(node[1] == 1);
    CHECK(ok(gyre_graph_copy(s.graph, &(gyre_box){.to = s.data + N, .from = s.data, .width = BYTES},
                             (gyre_after){&node[1], 1}, &node[2])));
    CHECK(node[2] == 2);
    /* every other word of the copy, as a box */
    CHECK(ok(gyre_graph_copy(
        s.graph,
        &(gyre_box){.to = pinned, .from = s.data + N, .width = 4, .height = N / 2, .from_pitch = 8},
        (gyre_after){&node[2], 1}, &node[3])));
    CHECK(ok(gyre_graph_finish(s.graph)));
    for (int round = 0; round < 5; round++) {
        memset(pinned, 0, BYTES);
        CHECK(ok(gyre_stream_submit(s.stream, s.graph)) && ok(gyre_stream_sync(s.stream)));
        CHECK(all_are(pinned, N / 2, 15) && all_are(pinned + N / 2, N / 2, 0));
    }
    fetch();
    CHECK(all_are(s.host, 2 * (size_t)N, 15) && all_are(s.host + 2 * (size_t)N, N, 0));
    end();
    give(GYRE_CONTEXT_PINNED, pinned, BYTES);
}

static void graphs_keep_their_place_in_the_stream(void)
{
    uint32_t want = 0;

    if (!begin(false))
        return;
    add_step(s.graph, (step_parameters){s.data, N, 3, 1, 8000}, NULL, 0);
    CHECK(ok(gyre_graph_finish(s.graph)));
    for (uint32_t i = 0; i < 30; i++) {
        CHECK(ok(step(s.stream, (step_parameters){s.data, N, 5, i, 0})));
        CHECK(ok(gyre_stream_submit(s.stream, s.graph)));
        want = (want * 5 + i) * 3 + 1;
    }
    fetch();
    CHECK(all_are(s.host, N, want));
    end();
}

static void updates_are_for_the_next_submission(bool merge)
{
    each_parameters p[4];
    uint32_t want[4] = {0};

    if (!begin(merge))
        return;
    for (uint32_t i = 0; i < 4; i++) {
        gyre_launch launch = launch_of(N / 64, 64, &p[i], sizeof p[i]);
        uint32_t node;

        p[i] = (each_parameters){s.data + (size_t)i * N, N, 1, 20000};
        CHECK(ok(gyre_graph_launch(s.graph, kernel_of(KERNEL_EACH), &launch, at_once, &node)));
        CHECK(node == i);
    }
    CHECK(ok(gyre_graph_finish(s.graph)));
    for (uint32_t round = 0; round < 40; round++) { /* while the last ones are under way */
        const uint32_t i = round % 4;

        CHECK(ok(gyre_stream_submit(s.stream, s.graph)));
        for (int n = 0; n < 4; n++)
            want[n] += p[n].k;
        p[i].k = round * 100;
        CHECK(ok(gyre_graph_update(s.graph, i, &p[i],
                                   round % 3 ? sizeof p[i] : offsetof(each_parameters, spin) + 4)));
        memset(&p[i].n, 0xff, 4); /* copied, so this is for nobody */
        p[i].n = N;
    }
    fetch();
    for (uint32_t i = 0; i < 4; i++)
        CHECK(all_are(s.host + i * (size_t)N, N, want[i]));
    end();
}

static void an_update_leaves_what_is_under_way_alone(void)
{
    updates_are_for_the_next_submission(false);
}

static void so_does_an_update_of_merged_launches(void)
{
    updates_are_for_the_next_submission(true);
}

static void updates_that_do_not_fit_are_refused(void)
{
    step_parameters p = {NULL, N, 1, 1, 0};
    uint32_t fill_node;
    gyre_fill fill = {.pattern_size = 4, .count = N};

    if (!begin(false))
        return;
    p.data = s.data;
    fill.to = s.data;
    add_step(s.graph, p, NULL, 0);
    CHECK(ok(gyre_graph_fill(s.graph, &fill, at_once, &fill_node)));
    CHECK(ok(gyre_graph_finish(s.graph)));
    CHECK(gyre_graph_update(s.graph, 0, &p, sizeof p - 1) == GYRE_INVALID);
    CHECK(gyre_graph_update(s.graph, 0, &p, 0) == GYRE_INVALID);
    CHECK(gyre_graph_update(s.graph, 0, &p, SIZE_MAX) == GYRE_INVALID);
    CHECK(gyre_graph_update(s.graph, fill_node, &p, sizeof p) == GYRE_INVALID);
    CHECK(gyre_graph_update(s.graph, 2, &p, sizeof p) == GYRE_INVALID);
    CHECK(gyre_graph_update(s.graph, UINT32_MAX, &p, sizeof p) == GYRE_INVALID);
    CHECK(ok(gyre_graph_update(s.graph, 0, &p, sizeof p)));
    end();
}

static void merged_launches_are_fewer_and_say_the_same(void)
{
    enum { LAUNCHES = 20 };
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, (size_t)LAUNCHES * BYTES);
    uint32_t *const host = host_take((size_t)LAUNCHES * BYTES);

    REQUIRE(data && host);
    for (int merge = 0; merge < 2; merge++) {
        memset(host, 0, (size_t)LAUNCHES * BYTES);
        if (!begin(merge))
            return;
        CHECK(put(s.stream, data, host, (size_t)LAUNCHES * BYTES));
        for (uint32_t i = 0; i < LAUNCHES; i++) { /* of different lengths */
            const each_parameters p = {data + (size_t)i * N, N - i, i + 1, 100};
            const gyre_launch launch = launch_of(N / 64, 64, &p, sizeof p);
            uint32_t node;

            CHECK(ok(gyre_graph_launch(s.graph, kernel_of(KERNEL_EACH), &launch, at_once, &node)));
        }
        CHECK(ok(gyre_graph_finish(s.graph)));
        CHECK(facts_of(s.graph).nodes == LAUNCHES);
        CHECK(merge ? facts_of(s.graph).submitted < LAUNCHES
                    : facts_of(s.graph).submitted == LAUNCHES);
        for (int round = 0; round < 5; round++)
            CHECK(ok(gyre_stream_submit(s.stream, s.graph)));
        CHECK(put(s.stream, host, data, (size_t)LAUNCHES * BYTES));
        for (uint32_t i = 0; i < LAUNCHES; i++) {
            CHECK(all_are(host + (size_t)i * N, N - i, 5 * (i + 1)));
            CHECK(all_are(host + (size_t)i * N + N - i, i, 0));
        }
        end();
    }
    host_give(host);
    give(GYRE_CONTEXT_DEVICE, data, (size_t)LAUNCHES * BYTES);
}

/* Layers of launches between fills and copies; all of a layer wait for all of the one before. */
static void merging_keeps_what_waits_for_what(void)
{
    enum { LAYERS = 3 };
    gyre_fill fill = {.pattern_size = 4, .count = N, .pattern = {9}};
    uint32_t before[4], now[4], node;

    for (int merge = 0; merge < 2; merge++) {
        if (!begin(merge))
            return;
        for (uint32_t i = 0; i < 4; i++) {
            fill.to = s.data + (size_t)i * N;
            CHECK(ok(gyre_graph_fill(s.graph, &fill, at_once, &before[i])));
        }
        for (uint32_t layer = 0; layer < LAYERS; layer++) {
            for (uint32_t i = 0; i < 4; i++) {
                const each_parameters p = {s.data + (size_t)i * N, N, i + layer * 10,
                                           (4 - i) * 5000};
                const gyre_launch launch = launch_of(N / 64, 64, &p, sizeof p);

                CHECK(ok(gyre_graph_launch(s.graph, kernel_of(KERNEL_EACH), &launch,
                                           (gyre_after){before, 4}, &now[i])));
            }
            memcpy(before, now, sizeof before);
        }
        for (uint32_t i = 0; i < 4; i++) /* what reads them must not run before */
            CHECK(ok(gyre_graph_copy(s.graph,
                                     &(gyre_box){.to = s.data + (size_t)(4 + i) * N,
                                                 .from = s.data + (size_t)i * N,
                                                 .width = BYTES},
                                     (gyre_after){&before[i], 1}, &node)));
        CHECK(ok(gyre_graph_finish(s.graph)));
        CHECK(facts_of(s.graph).nodes == 8 + 4 * LAYERS);
        CHECK(facts_of(s.graph).submitted == 8 + (merge ? 1 : 4) * LAYERS);
        for (int round = 0; round < 5; round++)
            CHECK(ok(gyre_stream_submit(s.stream, s.graph)));
        fetch();
        for (uint32_t i = 0; i < 8; i++)
            CHECK(all_are(s.host + i * (size_t)N, N, 9 + 3 * (i % 4) + 30));
        end();
    }
}

static void launches_that_wait_for_each_other_are_not_merged(void)
{
    uint32_t node = 0, last = 0;

    if (!begin(true))
        return;
    for (uint32_t i = 0; i < 6; i++) {
        const each_parameters p = {s.data, N, 1, 3000};
        const gyre_launch launch = launch_of(N / 64, 64, &p, sizeof p);

        CHECK(ok(gyre_graph_launch(s.graph, kernel_of(KERNEL_EACH), &launch,
                                   (gyre_after){&last, i > 0}, &node)));
        last = node;
    }
    CHECK(ok(gyre_graph_finish(s.graph)));
    CHECK(facts_of(s.graph).submitted == 6);
    for (int round = 0; round < 20; round++)
        CHECK(ok(gyre_stream_submit(s.stream, s.graph)));
    fetch();
    CHECK(all_are(s.host, N, 120));
    end();
}

/* The same with one variable, which is how a chain is written. */
static void a_node_may_be_told_where_the_last_one_was(void)
{
    uint32_t node = 0;

    if (!begin(true))
        return;
    for (uint32_t i = 0; i < 6; i++) {
        const each_parameters p = {s.data, N, 1, 3000};
        const gyre_launch launch = launch_of(N / 64, 64, &p, sizeof p);

        CHECK(ok(gyre_graph_launch(s.graph, kernel_of(KERNEL_EACH), &launch,
                                   (gyre_after){&node, i > 0}, &node)));
        CHECK(node == i);
    }
    CHECK(ok(gyre_graph_finish(s.graph)));
    CHECK(facts_of(s.graph).submitted == 6); /* fewer, if they do not wait for the last */
    end();
}

static void copies_and_fills_of_nothing_are_no_nodes(void)
{
    const gyre_fill fill = {.pattern_size = 1};
    uint32_t node = 9;

    if (!begin(false))
        return;
    CHECK(gyre_graph_copy(s.graph, &(gyre_box){.to = s.data, .from = s.data + N}, at_once, &node) ==
          GYRE_INVALID);
    CHECK(node == 0);
    CHECK(gyre_graph_fill(s.graph, &fill, at_once, &node) == GYRE_INVALID);
    add_step(s.graph, (step_parameters){s.data, N, 1, 1, 0}, NULL, 0);
    CHECK(ok(gyre_graph_finish(s.graph)) && ok(gyre_stream_submit(s.stream, s.graph)));
    fetch();
    CHECK(all_are(s.host, N, 1));
    end();
}

static void an_empty_graph_cannot_be_finished(void)
{
    if (!begin(false))
        return;
    CHECK(gyre_stream_submit(s.stream, s.graph) == GYRE_INVALID);
    CHECK(gyre_graph_finish(s.graph) == GYRE_INVALID);
    add_step(s.graph, (step_parameters){s.data, N, 1, 1, 0}, NULL, 0); /* it is as it was */
    CHECK(gyre_stream_submit(s.stream, s.graph) == GYRE_INVALID);
    CHECK(submitted(s.stream) == 1);
    CHECK(ok(gyre_graph_finish(s.graph)));
    CHECK(ok(gyre_stream_submit(s.stream, s.graph)));
    fetch();
    CHECK(all_are(s.host, N, 1));
    end();
    gyre_graph_destroy(NULL);
}

static void bad_nodes_are_refused_and_not_counted(void)
{
    step_parameters p = {NULL, N, 1, 1, 0};
    gyre_launch launch = launch_of(N / 64, 64, &p, sizeof p), bad;
    const uint32_t ahead[] = {0, 1}, self = 0;
    uint32_t node;

    if (!begin(false))
        return;
    p.data = s.data;
    CHECK(gyre_graph_launch(s.graph, kernel_of(KERNEL_STEP), &launch, (gyre_after){&self, 1},
                            &node) == GYRE_INVALID); /* there is no node 0 yet */
    CHECK(ok(gyre_graph_launch(s.graph, kernel_of(KERNEL_STEP), &launch, at_once, &node)));
    CHECK(gyre_graph_launch(s.graph, kernel_of(KERNEL_STEP), &launch, (gyre_after){ahead, 2},
                            &node) == GYRE_INVALID);
    bad = launch;
    bad.parameters_size--;
    CHECK(gyre_graph_launch(s.graph, kernel_of(KERNEL_STEP), &bad, at_once, &node) == GYRE_INVALID);
    bad = launch;
    bad.block[0] = on.device->block_threads_most + 1;
    CHECK(gyre_graph_launch(s.graph, kernel_of(KERNEL_STEP), &bad, at_once, &node) == GYRE_INVALID);
    CHECK(
        gyre_graph_copy(
            s.graph,
            &(gyre_box){.to = s.data, .from = s.data + N, .width = 64, .height = 2, .to_pitch = 63},
            at_once, &node) == GYRE_INVALID);
    CHECK(gyre_graph_fill(s.graph, &(gyre_fill){.to = s.data, .pattern_size = 3, .count = 1},
                          at_once, &node) == GYRE_INVALID);
    CHECK(facts_of(s.graph).nodes == 1);
    CHECK(ok(gyre_graph_finish(s.graph)));
    CHECK(gyre_graph_launch(s.graph, kernel_of(KERNEL_STEP), &launch, at_once, &node) ==
          GYRE_INVALID);
    CHECK(gyre_graph_fill(s.graph, &(gyre_fill){.to = s.data, .pattern_size = 4, .count = 1},
                          at_once, &node) == GYRE_INVALID);
    CHECK(ok(gyre_stream_submit(s.stream, s.graph)));
    fetch();
    CHECK(all_are(s.host, N, 1));
    end();
}

static void graphs_of_another_context_are_refused(void)
{
    gyre_context *other;
    gyre_stream *their;

    if (!begin(false))
        return;
    REQUIRE(ok(gyre_context_create(on.device, NULL, &other)) &&
            ok(gyre_stream_create(other, NULL, &their)));
    add_step(s.graph, (step_parameters){s.data, N, 1, 1, 0}, NULL, 0);
    CHECK(ok(gyre_graph_finish(s.graph)));
    CHECK(gyre_stream_submit(their, s.graph) == GYRE_INVALID);
    CHECK(submitted(their) == 0);
    gyre_stream_destroy(their);
    gyre_context_destroy(other);
    end();
}

static void a_graph_holds_its_kernels(void)
{
    gyre_kernel *const kernel = kernel_in(on.context, KERNEL_STEP);
    step_parameters p = {NULL, N, 1, 7, 50000};
    const gyre_launch launch = launch_of(N / 64, 64, &p, sizeof p);
    uint32_t node;

    REQUIRE(kernel);
    if (!begin(false))
        return;
    p.data = s.data;
    CHECK(ok(gyre_graph_launch(s.graph, kernel, &launch, at_once, &node)));
    gyre_kernel_release(kernel);
    CHECK(ok(gyre_graph_finish(s.graph)));
    for (int i = 0; i < 10; i++)
        CHECK(ok(gyre_stream_submit(s.stream, s.graph)));
    gyre_graph_destroy(s.graph); /* which waits for those */
    s.graph = NULL;
    fetch();
    CHECK(all_are(s.host, N, 70));
    end();
}

static void two_streams_take_turns_with_a_graph(void)
{
    gyre_stream *const other = stream_new();

    REQUIRE(other);
    if (!begin(true))
        return;
    for (uint32_t i = 0; i < 4; i++) {
        const each_parameters p = {s.data + (size_t)i * N, N, i + 1, 3000};
        const gyre_launch launch = launch_of(N / 64, 64, &p, sizeof p);
        uint32_t node;

        CHECK(ok(gyre_graph_launch(s.graph, kernel_of(KERNEL_EACH), &launch, at_once, &node)));
    }
    CHECK(ok(gyre_graph_finish(s.graph)));
    for (int round = 0; round < 10; round++) {
        gyre_stream *const stream = round % 2 ? other : s.stream;

        CHECK(ok(gyre_stream_submit(stream, s.graph)) && ok(gyre_stream_sync(stream)));
    }
    fetch();
    for (uint32_t i = 0; i < 4; i++)
        CHECK(all_are(s.host + i * (size_t)N, N, 10 * (i + 1)));
    gyre_stream_destroy(other);
    end();
}

static const test_case cases[] = {
    TEST(a_chain_runs_in_order_and_many_times),
    TEST(a_diamond_joins),
    TEST(independents_all_run),
    TEST(copies_and_fills_are_nodes_too),
    TEST(graphs_keep_their_place_in_the_stream),
    TEST(an_update_leaves_what_is_under_way_alone),
    TEST(so_does_an_update_of_merged_launches),
    TEST(updates_that_do_not_fit_are_refused),
    TEST(merged_launches_are_fewer_and_say_the_same),
    TEST(merging_keeps_what_waits_for_what),
    TEST(launches_that_wait_for_each_other_are_not_merged),
    TEST(a_node_may_be_told_where_the_last_one_was),
    TEST(copies_and_fills_of_nothing_are_no_nodes),
    TEST(an_empty_graph_cannot_be_finished),
    TEST(bad_nodes_are_refused_and_not_counted),
    TEST(graphs_of_another_context_are_refused),
    TEST(a_graph_holds_its_kernels),
    TEST(two_streams_take_turns_with_a_graph),
};
CONFORMANCE_MAIN(cases)
