/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_fake_graph: the graphs of a driver that computes nothing (cuda_fake.h): nodes are kept, and
 * done one after another when the graph is launched.
 */
#include "backends/cuda/cuda_fake_driver.h"

#include <stdlib.h>
#include <string.h>

int cuGraphCreate(gyre_cu_graph **graph, unsigned flags)
{
    *graph = fake_make(sizeof **graph);
    cuda_fake.graphs++;
    return (int)flags;
}

int cuGraphDestroy(gyre_cu_graph *graph)
{
    free(graph);
    cuda_fake.graphs--;
    return 0;
}

/* What a node waits for is there, and is named once. */
static gyre_cu_graph_node *node_after(gyre_cu_graph *graph, gyre_cu_graph_node *const *after,
                                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (after[i] < graph->nodes || after[i] >= graph->nodes + graph->count)
            return NULL;
        for (size_t j = 0; j < i; j++)
            if (after[i] == after[j])
                return NULL;
    }
    return graph->count < FAKE_NODES ? &graph->nodes[graph->count++] : NULL;
}

int cuGraphAddKernelNode(gyre_cu_graph_node **node, gyre_cu_graph *graph,
                         gyre_cu_graph_node *const *after, size_t after_count,
                         const gyre_cu_kernel_node *parameters)
{
    *node = node_after(graph, after, after_count);
    if (!*node || !parameters->function)
        return 1;
    (*node)->kind = FAKE_KERNEL;
    fake_read_arguments(parameters->parameters, (*node)->arguments);
    return 0;
}

int cuGraphAddMemcpyNode(gyre_cu_graph_node **node, gyre_cu_graph *graph,
                         gyre_cu_graph_node *const *after, size_t after_count,
                         const gyre_cu_box *box, gyre_cu_context *context)
{
    *node = node_after(graph, after, after_count);
    if (!*node || context != fake_current() || !fake_is_sound(box))
        return 1;
    (*node)->kind = FAKE_COPY;
    (*node)->box = *box;
    return 0;
}

#ifndef FAKE_OLD
int cuGraphAddMemsetNode(gyre_cu_graph_node **node, gyre_cu_graph *graph,
                         gyre_cu_graph_node *const *after, size_t after_count,
                         const gyre_cu_fill_node *what, gyre_cu_context *context)
{
    *node = node_after(graph, after, after_count);
    if (!*node || context != fake_current())
        return 1;
    (*node)->kind = FAKE_FILL;
    (*node)->fill = *what;
    return 0;
}
#endif

int cuGraphInstantiateWithFlags(gyre_cu_graph_exec **exec, gyre_cu_graph *graph,
                                unsigned long long flags)
{
    *exec = fake_make(sizeof **exec);
    (*exec)->graph = graph;
    cuda_fake.execs++;
    return (int)flags;
}

int cuGraphExecKernelNodeSetParams(gyre_cu_graph_exec *exec, gyre_cu_graph_node *node,
                                   const gyre_cu_kernel_node *parameters)
{
    fake_read_arguments(parameters->parameters, node->arguments);
    return exec && node->kind == FAKE_KERNEL ? 0 : 1;
}

int cuGraphLaunch(gyre_cu_graph_exec *exec, gyre_cu_stream *stream)
{
    if (!fake_in_place(stream))
        return 400;
    for (size_t i = 0; i < exec->graph->count; i++) {
        const gyre_cu_graph_node *node = &exec->graph->nodes[i];

        cuda_fake.submitted_nodes++;
        if (node->kind == FAKE_COPY)
            fake_copy_box(&node->box);
        else if (node->kind == FAKE_FILL)
            fake_fill(&node->fill);
        else
            memcpy(cuda_fake.arguments, node->arguments, sizeof node->arguments);
    }
    return 0;
}

int cuGraphExecDestroy(gyre_cu_graph_exec *exec)
{
    free(exec);
    cuda_fake.execs--;
    return 0;
}

#ifndef FAKE_BARE
int cuGraphKernelNodeSetAttribute(gyre_cu_graph_node *node, int attribute,
                                  const gyre_cu_attribute *value)
{
    if (attribute == GYRE_CU_NODE_COOPERATIVE && value->cooperative == 1)
        cuda_fake.cooperative++;
    return node->kind == FAKE_KERNEL ? 0 : 1;
}
#endif
