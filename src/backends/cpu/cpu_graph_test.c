/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: nodes in order, and updates that submissions under way do not see.
 */
#include "backends/cpu/cpu_fake.h"

static gyre_dev_node launch_node(gyre_dev_kernel *kernel, const void *parameters)
{
    return (gyre_dev_node){.kind = GYRE_DEV_NODE_LAUNCH,
                           .as.launch = fake_launch(kernel, parameters)};
}

static void graph_does_its_nodes_in_order(void)
{
    rig r = rig_open(3);
    gyre_dev_stream *stream = fake_stream(&r);
    uint32_t hits[300] = {0}, wrong = 0, copied[300];
    const touch_parameters p = {hits, &wrong, {300, 1, 1}, {1, 1, 1}, 0};
    gyre_dev_node nodes[3] = {launch_node(r.touch, &p)};
    gyre_dev_graph *graph;

    nodes[0].as.launch.grid[0] = 300;
    nodes[1].kind = GYRE_DEV_NODE_COPY;
    nodes[1].as.copy =
        (gyre_dev_copy){.to = copied, .from = hits, .width = sizeof hits, .height = 1, .depth = 1};
    nodes[2].kind = GYRE_DEV_NODE_FILL;
    nodes[2].as.fill = (gyre_dev_fill){hits, {0}, 4, 300};
    REQUIRE(cpu->graph_open(r.dev, nodes, 3, &graph) == GYRE_OK);
    memset(nodes, 0xff, sizeof nodes); /* they were copied */
    for (int round = 0; round < 20; round++) {
        CHECK(cpu->graph_submit(stream, graph) == GYRE_OK);
        fake_drain(stream);
        for (uint32_t i = 0; i < 300; i++)
            CHECK(copied[i] == 1 && hits[i] == 0);
    }
    CHECK(wrong == 0);
    cpu->graph_close(graph);
    cpu->stream_close(stream);
    rig_close(&r);
}

static void graph_under_way_keeps_its_parameters(void)
{
    enum { UPDATES = 50 };
    rig r = rig_open(2);
    gyre_dev_stream *stream = fake_stream(&r);
    uint32_t log[2 * UPDATES], count = 0;
    append_parameters p = {log, &count, 0}, mark = {log, &count, 1000};
    const gyre_dev_node nodes[2] = {launch_node(r.append, &p), launch_node(r.append, &mark)};
    const gyre_dev_launch launch = fake_launch(r.append, &p);
    gyre_dev_graph *graph;
    gate g = {0};

    REQUIRE(cpu->graph_open(r.dev, nodes, 2, &graph) == GYRE_OK);
    fake_hold(&r, stream, &g);
    for (uint32_t i = 0; i < UPDATES; i++) {
        p.value = i;
        CHECK(cpu->graph_update(graph, 0, &launch) == GYRE_OK);
        CHECK(cpu->graph_submit(stream, graph) == GYRE_OK);
    }
    p.value = 77;
    CHECK(cpu->graph_update(graph, 0, &launch) == GYRE_OK);
    cpu->graph_close(graph); /* while it is under way */
    fake_open(&g);
    fake_drain(stream);
    CHECK(count == COUNT(log));
    for (uint32_t i = 0; i < count; i++)
        CHECK(log[i] == (i % 2 ? 1000 : i / 2));
    cpu->stream_close(stream);
    rig_close(&r);
}

static void graph_update_refuses_what_is_no_such_launch(void)
{
    rig r = rig_open(1);
    unsigned char byte;
    const gyre_dev_node nodes[2] = {launch_node(r.nothing, NULL),
                                    {.kind = GYRE_DEV_NODE_FILL, .as.fill = {&byte, {0}, 1, 1}}};
    const gyre_dev_launch fits = fake_launch(r.nothing, NULL);
    gate *g = NULL;
    const gyre_dev_launch other = fake_launch(r.hold, &g);
    gyre_dev_graph *graph;

    REQUIRE(cpu->graph_open(r.dev, nodes, 2, &graph) == GYRE_OK);
    CHECK(cpu->graph_update(graph, 0, &fits) == GYRE_OK);
    CHECK(cpu->graph_update(graph, 1, &fits) == GYRE_INVALID);
    CHECK(cpu->graph_update(graph, 2, &fits) == GYRE_INVALID);
    CHECK(cpu->graph_update(graph, 0, &other) == GYRE_INVALID);
    cpu->graph_close(graph);
    rig_close(&r);
}

static const test_case cases[] = {
    TEST(graph_does_its_nodes_in_order),
    TEST(graph_under_way_keeps_its_parameters),
    TEST(graph_update_refuses_what_is_no_such_launch),
};
TEST_MAIN(cases)
