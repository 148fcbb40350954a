/* SPDX-License-Identifier: Apache-2.0
 *
 * driver_graph: graphs: lists of nodes that are submitted in the order in which they were added,
 * which is one that whatever a node waits for allows.
 */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { NODES = 4096, PARAMETER_BYTES = 4096 };

struct gyre_cu_graph_node {
    enum { NODE_KERNEL, NODE_COPY, NODE_FILL } kind;
    bool cooperative;
    uint32_t number;
    gyre_cu_kernel_node kernel;
    gyre_cu_box box;
    gyre_cu_fill_node fill;
    const void *pointers[PTX_PARAMETERS];
    _Alignas(16) uint8_t parameters[PARAMETER_BYTES];
};

struct gyre_cu_graph {
    gyre_cu_graph_node *nodes[NODES];
    uint32_t count;
};

struct gyre_cu_graph_exec {
    gyre_cu_graph graph;
};

int cuGraphCreate(gyre_cu_graph **graph, unsigned flags)
{
    (void)flags;
    *graph = calloc(1, sizeof **graph);
    return *graph ? driver_ready() : GYRE_CU_OUT_OF_MEMORY;
}

static void free_nodes(gyre_cu_graph *graph)
{
    for (uint32_t i = 0; i < graph->count; i++)
        free(graph->nodes[i]);
}

int cuGraphDestroy(gyre_cu_graph *graph)
{
    free_nodes(graph);
    free(graph);
    return 0;
}

/* The node keeps what the caller's pointers point to. */
static int keep_parameters(gyre_cu_graph_node *node, const gyre_cu_kernel_node *kernel)
{
    const ptx_function *const code = kernel->function->code;

    if (code->parameter_bytes > PARAMETER_BYTES)
        return GYRE_CU_INVALID_VALUE;
    node->kernel = *kernel;
    node->kernel.parameters = node->pointers;
    for (uint32_t i = 0; i < code->parameter_count; i++) {
        memcpy(node->parameters + code->parameters[i].at, kernel->parameters[i],
               code->parameters[i].bytes);
        node->pointers[i] = node->parameters + code->parameters[i].at;
    }
    return 0;
}

static int add(gyre_cu_graph *graph, gyre_cu_graph_node *const *after, size_t after_count,
               gyre_cu_graph_node **node)
{
    for (size_t i = 0; i < after_count; i++)
        if (!after[i])
            return GYRE_CU_INVALID_VALUE;
    if (graph->count == NODES)
        return GYRE_CU_OUT_OF_MEMORY;
    *node = calloc(1, sizeof **node);
    if (!*node)
        return GYRE_CU_OUT_OF_MEMORY;
    (*node)->number = graph->count;
    graph->nodes[graph->count++] = *node;
    return driver_ready();
}

int cuGraphAddKernelNode(gyre_cu_graph_node **node, gyre_cu_graph *graph,
                         gyre_cu_graph_node *const *after, size_t after_count,
                         const gyre_cu_kernel_node *parameters)
{
    const int result = add(graph, after, after_count, node);

    if (result)
        return result;
    (*node)->kind = NODE_KERNEL;
    return keep_parameters(*node, parameters);
}

int cuGraphKernelNodeSetAttribute(gyre_cu_graph_node *node, int attribute,
                                  const gyre_cu_attribute *value)
{
    if (attribute != GYRE_CU_NODE_COOPERATIVE)
        return GYRE_CU_INVALID_VALUE;
    node->cooperative = value->cooperative != 0;
    return 0;
}

int cuGraphAddMemcpyNode(gyre_cu_graph_node **node, gyre_cu_graph *graph,
                         gyre_cu_graph_node *const *after, size_t after_count,
                         const gyre_cu_box *box, gyre_cu_context *context)
{
    const int result = add(graph, after, after_count, node);

    (void)context;
    if (result)
        return result;
    (*node)->kind = NODE_COPY;
    (*node)->box = *box;
    return 0;
}

int cuGraphAddMemsetNode(gyre_cu_graph_node **node, gyre_cu_graph *graph,
                         gyre_cu_graph_node *const *after, size_t after_count,
                         const gyre_cu_fill_node *what, gyre_cu_context *context)
{
    const int result = add(graph, after, after_count, node);

    (void)context;
    if (result)
        return result;
    (*node)->kind = NODE_FILL;
    (*node)->fill = *what;
    return 0;
}

int cuGraphInstantiateWithFlags(gyre_cu_graph_exec **exec, gyre_cu_graph *graph,
                                unsigned long long flags)
{
    (void)flags;
    *exec = calloc(1, sizeof **exec);
    if (!*exec)
        return GYRE_CU_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < graph->count; i++) {
        gyre_cu_graph_node *const node = malloc(sizeof *node);

        if (!node) {
            cuGraphExecDestroy(*exec);
            return GYRE_CU_OUT_OF_MEMORY;
        }
        *node = *graph->nodes[i];
        (*exec)->graph.nodes[(*exec)->graph.count++] = node;
        if (node->kind == NODE_KERNEL)
            (void)keep_parameters(node, &graph->nodes[i]->kernel);
    }
    return driver_ready();
}

int cuGraphExecKernelNodeSetParams(gyre_cu_graph_exec *exec, gyre_cu_graph_node *node,
                                   const gyre_cu_kernel_node *parameters)
{
    if (node->number >= exec->graph.count)
        return GYRE_CU_INVALID_VALUE;
    return keep_parameters(exec->graph.nodes[node->number], parameters);
}

int cuGraphLaunch(gyre_cu_graph_exec *exec, gyre_cu_stream *stream)
{
    int result = 0;

    for (uint32_t i = 0; i < exec->graph.count && !result; i++) {
        const gyre_cu_graph_node *const node = exec->graph.nodes[i];

        result = node->kind == NODE_KERNEL ? driver_launch(stream, &node->kernel, node->cooperative)
                 : node->kind == NODE_COPY ? driver_copy(stream, &node->box)
                                           : driver_fill(stream, &node->fill);
    }
    return result;
}

int cuGraphExecDestroy(gyre_cu_graph_exec *exec)
{
    free_nodes(&exec->graph);
    free(exec);
    return 0;
}
