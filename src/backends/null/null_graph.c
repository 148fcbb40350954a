/* SPDX-License-Identifier: Apache-2.0
 *
 * null_graph: copies of nodes, done in their order.
 *
 * Threads   one at a time for each graph.
 * Owns      the copies, and the parameters of their launches. Borrows the kernels.
 * Not here  what a node does (null_stream.c).
 */
#include <string.h>

#include "backends/null/null.h"
#include "base/alloc.h"

struct gyre_dev_graph {
    gyre_dev_node *nodes;
    void **parameters; /* of each node, as it was allocated; NULL: none */
    uint32_t count;
};

/* Puts a launch with parameters of its own at a node, in place of the one that is there. */
static gyre_status keep(gyre_dev_graph *graph, uint32_t node, const gyre_dev_launch *launch)
{
    const uint32_t bytes = gyre_null_parameters_bytes(launch->kernel);
    gyre_dev_launch *const kept = &graph->nodes[node].as.launch;
    gyre_status status;
    void *copy = NULL;

    if (bytes > 0) {
        status = gyre_alloc(NULL, bytes, 1, &copy);
        if (status != GYRE_OK)
            return status;
        memcpy(copy, launch->parameters, bytes);
    }
    if (graph->parameters[node])
        gyre_free(NULL, graph->parameters[node], gyre_null_parameters_bytes(kept->kernel), 1);
    graph->parameters[node] = copy;
    *kept = *launch;
    kept->parameters = copy;
    return GYRE_OK;
}

gyre_status gyre_null_graph_open(gyre_dev *dev, const gyre_dev_node *nodes, uint32_t count,
                                 gyre_dev_graph **out_graph)
{
    gyre_status status = gyre_null_enter(dev);
    gyre_dev_graph *graph;
    void *block;

    *out_graph = NULL;
    if (status != GYRE_OK)
        return status;
    gyre_null_leave(dev);
    status = gyre_alloc(NULL, 1, sizeof *graph, &block);
    if (status != GYRE_OK)
        return status;
    graph = block;
    graph->count = count;
    status = gyre_alloc(NULL, count, sizeof *graph->nodes, &block);
    if (status != GYRE_OK)
        goto fail;
    graph->nodes = block;
    status = gyre_alloc(NULL, count, sizeof *graph->parameters, &block);
    if (status != GYRE_OK)
        goto fail;
    graph->parameters = block;
    for (uint32_t i = 0; i < count; i++) {
        graph->nodes[i] = nodes[i];
        graph->nodes[i].after = NULL; /* the order of the array is enough */
        if (nodes[i].kind == GYRE_DEV_NODE_LAUNCH)
            status = keep(graph, i, &nodes[i].as.launch);
        if (status != GYRE_OK)
            goto fail;
    }
    *out_graph = graph;
    return GYRE_OK;
fail:
    gyre_null_graph_close(graph);
    return status;
}

void gyre_null_graph_close(gyre_dev_graph *graph)
{
    for (uint32_t i = 0; graph->parameters && i < graph->count; i++)
        if (graph->parameters[i])
            gyre_free(NULL, graph->parameters[i],
                      gyre_null_parameters_bytes(graph->nodes[i].as.launch.kernel), 1);
    gyre_free(NULL, graph->parameters, graph->count, sizeof *graph->parameters);
    gyre_free(NULL, graph->nodes, graph->count, sizeof *graph->nodes);
    gyre_free(NULL, graph, 1, sizeof *graph);
}

gyre_status gyre_null_graph_update(gyre_dev_graph *graph, uint32_t node,
                                   const gyre_dev_launch *launch)
{
    return keep(graph, node, launch);
}

gyre_status gyre_null_graph_submit(gyre_dev_stream *stream, gyre_dev_graph *graph)
{
    return gyre_null_submit(stream, graph->nodes, graph->count);
}
