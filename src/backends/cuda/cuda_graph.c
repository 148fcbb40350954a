/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_graph: recorded work that the driver submits as one.
 *
 * A node is one of the driver's, but for a fill of eight bytes whose halves differ, which is two in
 * a row. What the driver has no node for makes the whole graph GYRE_UNSUPPORTED: it is submitted
 * one by one then.
 *
 * Threads   one at a time for each graph.
 * Owns      the driver's graph and what it made of it.
 * Not here  merging (exec/graph.c), how work is told (cuda_work.c).
 */
#include "backends/cuda/cuda.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "dev/signature.h"

struct gyre_dev_graph {
    gyre_dev *dev;
    gyre_cu_graph *graph;
    gyre_cu_graph_exec *exec;
    uint32_t count;
    gyre_cu_graph_node **nodes; /* the last one of each */
};

/* Room for what one node waits for, each once. */
typedef struct waits {
    gyre_cu_graph_node **nodes;
    uint32_t *seen; /* by node: the one that it was listed for last, plus 1 */
    uint32_t room, count;
} waits;

static gyre_cu_kernel_node kernel_node(const gyre_dev_launch *launch, const void **pointers)
{
    gyre_cuda_parameters(launch, pointers);
    return (gyre_cu_kernel_node){
        .function = launch->kernel->function,
        .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .block = {launch->block[0], launch->block[1], launch->block[2]},
        .shared_bytes = launch->shared_bytes,
        .parameters = pointers,
    };
}

static gyre_status add_launch(gyre_dev_graph *graph, const gyre_dev_launch *launch,
                              const waits *after, gyre_cu_graph_node **out_node)
{
    gyre_dev *dev = graph->dev;
    const void *pointers[GYRE_ARGUMENTS_MOST];
    const gyre_cu_kernel_node node = kernel_node(launch, pointers);
    gyre_cu_attribute attribute = {.pad = {0}};
    int result;

    if (launch->cooperative && !dev->cu->cuGraphKernelNodeSetAttribute)
        return gyre_fail(GYRE_UNSUPPORTED, "this driver has no cooperative launches in graphs");
    result =
        dev->cu->cuGraphAddKernelNode(out_node, graph->graph, after->nodes, after->count, &node);
    if (result != GYRE_CU_SUCCESS)
        return gyre_cuda_fail(dev, result, "cuGraphAddKernelNode");
    if (!launch->cooperative)
        return GYRE_OK;
    attribute.cooperative = 1;
    result =
        dev->cu->cuGraphKernelNodeSetAttribute(*out_node, GYRE_CU_NODE_COOPERATIVE, &attribute);
    return result == GYRE_CU_SUCCESS
               ? GYRE_OK
               : gyre_cuda_fail(dev, result, "cuGraphKernelNodeSetAttribute: cooperative");
}

static gyre_status add_copy(gyre_dev_graph *graph, const gyre_dev_copy *copy, const waits *after,
                            gyre_cu_graph_node **out_node)
{
    gyre_dev *dev = graph->dev;
    gyre_cu_box box;
    int result;

    if (copy->from_dev || !gyre_cuda_box(copy, &box))
        return gyre_fail(GYRE_UNSUPPORTED, "a copy that is more than one box of this device");
    result = dev->cu->cuGraphAddMemcpyNode(out_node, graph->graph, after->nodes, after->count, &box,
                                           dev->context);
    return result == GYRE_CU_SUCCESS ? GYRE_OK
                                     : gyre_cuda_fail(dev, result, "cuGraphAddMemcpyNode");
}

static gyre_status add_fill(gyre_dev_graph *graph, const gyre_dev_fill *fill, const waits *after,
                            gyre_cu_graph_node **out_node)
{
    const gyre_cuda_pattern pattern = gyre_cuda_pattern_of(fill);
    gyre_dev *dev = graph->dev;
    gyre_cu_fill_node node = {
        .to = fill->to,
        .pitch = pattern.two ? 8 : 0,
        .value = pattern.value[0],
        .element_bytes = pattern.bytes,
        .width = pattern.two ? 1 : pattern.count,
        .height = pattern.two ? pattern.count : 1,
    };
    gyre_cu_graph_node *first = NULL;
    int result;

    result = dev->cu->cuGraphAddMemsetNode(&first, graph->graph, after->nodes, after->count, &node,
                                           dev->context);
    *out_node = first;
    if (result == GYRE_CU_SUCCESS && pattern.two) {
        node.to = (char *)fill->to + 4;
        node.value = pattern.value[1];
        result =
            dev->cu->cuGraphAddMemsetNode(out_node, graph->graph, &first, 1, &node, dev->context);
    }
    return result == GYRE_CU_SUCCESS ? GYRE_OK
                                     : gyre_cuda_fail(dev, result, "cuGraphAddMemsetNode");
}

static gyre_status add(gyre_dev_graph *graph, const gyre_dev_node *node, uint32_t index,
                       waits *after)
{
    gyre_cu_graph_node **out_node = &graph->nodes[index];

    after->count = 0;
    for (uint32_t i = 0; i < node->after_count; i++) {
        const uint32_t earlier = node->after[i];

        if (after->seen[earlier] == index + 1)
            continue; /* the driver takes no name twice */
        after->seen[earlier] = index + 1;
        after->nodes[after->count++] = graph->nodes[earlier];
    }
    switch (node->kind) {
    case GYRE_DEV_NODE_LAUNCH:
        return add_launch(graph, &node->as.launch, after, out_node);
    case GYRE_DEV_NODE_COPY:
        return add_copy(graph, &node->as.copy, after, out_node);
    default:
        return add_fill(graph, &node->as.fill, after, out_node);
    }
}

/* Under the device's context. */
static gyre_status build(gyre_dev_graph *graph, const gyre_dev_node *nodes, waits *after)
{
    gyre_dev *dev = graph->dev;
    gyre_status status = GYRE_OK;
    int result = dev->cu->cuGraphCreate(&graph->graph, 0);

    if (result != GYRE_CU_SUCCESS)
        return gyre_cuda_fail(dev, result, "cuGraphCreate");
    for (uint32_t i = 0; i < graph->count && status == GYRE_OK; i++)
        status = add(graph, &nodes[i], i, after);
    if (status != GYRE_OK)
        return status;
    result = dev->cu->cuGraphInstantiateWithFlags(&graph->exec, graph->graph, 0);
    return result == GYRE_CU_SUCCESS
               ? GYRE_OK
               : gyre_cuda_fail(dev, result, "cuGraphInstantiate of %u nodes", graph->count);
}

static gyre_status alloc_waits(waits *after, uint32_t count)
{
    gyre_status status;
    void *block;

    status = gyre_alloc(NULL, count, sizeof(void *), &block);
    if (status != GYRE_OK)
        return status;
    after->nodes = block;
    after->room = count;
    status = gyre_alloc(NULL, count, sizeof after->seen[0], &block);
    if (status == GYRE_OK)
        after->seen = block;
    return status;
}

gyre_status gyre_cuda_graph_open(gyre_dev *dev, const gyre_dev_node *nodes, uint32_t count,
                                 gyre_dev_graph **out_graph)
{
    gyre_dev_graph *graph;
    waits after = {0};
    gyre_status status;
    void *block;
    bool pushed;

    *out_graph = NULL;
    status = gyre_alloc(NULL, 1, sizeof *graph, &block);
    if (status != GYRE_OK)
        return status;
    graph = block;
    graph->dev = dev;
    graph->count = count;
    status = gyre_alloc(NULL, count, sizeof(void *), &block);
    if (status != GYRE_OK)
        goto done;
    graph->nodes = block;
    status = alloc_waits(&after, count);
    if (status != GYRE_OK)
        goto done;
    status = gyre_cuda_enter(dev, &pushed);
    if (status != GYRE_OK)
        goto done;
    status = build(graph, nodes, &after);
    gyre_cuda_leave(dev, pushed);
done:
    gyre_free(NULL, after.nodes, after.room, sizeof(void *));
    gyre_free(NULL, after.seen, after.room, sizeof after.seen[0]);
    if (status == GYRE_OK)
        *out_graph = graph;
    else
        gyre_cuda_graph_close(graph);
    return status;
}

void gyre_cuda_graph_close(gyre_dev_graph *graph)
{
    gyre_dev *dev = graph->dev;
    bool pushed;

    if (!gyre_cuda_quiet(dev) && gyre_cuda_enter(dev, &pushed) == GYRE_OK) {
        if (graph->exec)
            gyre_cuda_note(dev, dev->cu->cuGraphExecDestroy(graph->exec));
        if (graph->graph)
            gyre_cuda_note(dev, dev->cu->cuGraphDestroy(graph->graph));
        gyre_cuda_leave(dev, pushed);
    }
    gyre_free(NULL, graph->nodes, graph->count, sizeof(void *));
    gyre_free(NULL, graph, 1, sizeof *graph);
}

gyre_status gyre_cuda_graph_update(gyre_dev_graph *graph, uint32_t node,
                                   const gyre_dev_launch *launch)
{
    gyre_dev *dev = graph->dev;
    const void *pointers[GYRE_ARGUMENTS_MOST];
    const gyre_cu_kernel_node parameters = kernel_node(launch, pointers);
    gyre_status status;
    bool pushed;
    int result;

    status = gyre_cuda_enter(dev, &pushed);
    if (status != GYRE_OK)
        return status;
    result = dev->cu->cuGraphExecKernelNodeSetParams(graph->exec, graph->nodes[node], &parameters);
    gyre_cuda_leave(dev, pushed);
    return result == GYRE_CU_SUCCESS
               ? GYRE_OK
               : gyre_cuda_fail(dev, result, "cuGraphExecKernelNodeSetParams of node %u", node);
}

gyre_status gyre_cuda_graph_submit(gyre_dev_stream *stream, gyre_dev_graph *graph)
{
    gyre_dev *dev = stream->dev;
    gyre_status status;
    bool pushed;
    int result;

    status = gyre_cuda_enter(dev, &pushed);
    if (status != GYRE_OK)
        return status;
    result = dev->cu->cuGraphLaunch(graph->exec, stream->stream);
    gyre_cuda_leave(dev, pushed);
    return result == GYRE_CU_SUCCESS ? GYRE_OK : gyre_cuda_fail(dev, result, "cuGraphLaunch");
}
