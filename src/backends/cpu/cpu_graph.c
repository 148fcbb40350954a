/* SPDX-License-Identifier: Apache-2.0
 *
 * cpu_graph: a graph is one operation that does its nodes in their order.
 *
 * What a graph shall do is a plan, in one block of memory. A submission holds the plan; an update
 * changes it in place when no submission does, and a copy of it otherwise.
 *
 * Threads   one at a time for a graph; workers read plans, and give up their holders.
 * Owns      a graph one holder of its plan, each submission another.
 * Not here  the blocks of a launch (cpu_workers.c).
 */
#include <string.h>

#include "backends/cpu/cpu.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "base/process.h"

typedef struct step {
    gyre_dev_node_kind kind;
    uint16_t block[3]; /* of a launch */
    union {
        gyre_cpu_launch launch;
        gyre_dev_copy copy;
        gyre_dev_fill fill;
    } as;
    size_t parameters_at; /* in the plan */
    uint32_t parameters_bytes;
} step;

struct gyre_cpu_plan {
    _Atomic uint32_t holders;
    size_t bytes; /* of all of it; constant, like the next */
    uint32_t count;
    step steps[]; /* then the parameters */
};

enum { PARAMETERS_ALIGNED = 16 };

struct gyre_dev_graph {
    gyre_cpu_plan *plan;
};

void gyre_cpu_plan_release(gyre_cpu_plan *plan)
{
    /* acquire and release [cpu-holders]: the last one sees that all are through with it */
    if (plan && atomic_fetch_sub_explicit(&plan->holders, 1, memory_order_acq_rel) == 1)
        gyre_free(NULL, plan, 1, plan->bytes);
}

void gyre_cpu_plan_run(gyre_cpu_worker *worker, const gyre_cpu_plan *plan)
{
    for (uint32_t i = 0; i < plan->count && !gyre_cpu_is_abandoned(worker->dev); i++) {
        const step *n = &plan->steps[i];

        if (n->kind == GYRE_DEV_NODE_LAUNCH)
            gyre_cpu_run(worker, &n->as.launch, n->block,
                         (const unsigned char *)plan + n->parameters_at);
        else if (n->kind == GYRE_DEV_NODE_COPY)
            gyre_cpu_copy(&n->as.copy);
        else
            gyre_cpu_fill(&n->as.fill);
    }
}

static void set_launch(gyre_cpu_plan *plan, step *n, const gyre_dev_launch *launch)
{
    n->as.launch.function = launch->kernel->function;
    n->as.launch.shared_bytes = launch->shared_bytes;
    for (int i = 0; i < 3; i++) {
        n->as.launch.grid[i] = launch->grid[i];
        n->block[i] = (uint16_t)launch->block[i];
    }
    if (n->parameters_bytes > 0)
        memcpy((unsigned char *)plan + n->parameters_at, launch->parameters, n->parameters_bytes);
}

static size_t padded(size_t bytes)
{
    return (bytes + PARAMETERS_ALIGNED - 1) & ~(size_t)(PARAMETERS_ALIGNED - 1);
}

/* What the plan needs: at most 4 KiB for each of 2^32 nodes beside the nodes themselves. */
static gyre_status make_plan(const gyre_dev_node *nodes, uint32_t count, gyre_cpu_plan **out_plan)
{
    size_t bytes = padded(offsetof(gyre_cpu_plan, steps) + (size_t)count * sizeof(step));
    gyre_cpu_plan *plan;
    gyre_status status;
    void *block;

    *out_plan = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (nodes[i].kind == GYRE_DEV_NODE_LAUNCH)
            bytes += padded(nodes[i].as.launch.kernel->parameters_bytes);
    status = gyre_alloc(NULL, 1, bytes, &block);
    if (status != GYRE_OK)
        return status;
    plan = block;
    plan->bytes = bytes;
    plan->count = count;
    /* relaxed: nobody else knows it yet */
    atomic_store_explicit(&plan->holders, 1, memory_order_relaxed);
    bytes = padded(offsetof(gyre_cpu_plan, steps) + (size_t)count * sizeof(step));
    for (uint32_t i = 0; i < count; i++) {
        step *n = &plan->steps[i];

        n->kind = nodes[i].kind;
        if (n->kind == GYRE_DEV_NODE_COPY) {
            n->as.copy = nodes[i].as.copy;
        } else if (n->kind == GYRE_DEV_NODE_FILL) {
            n->as.fill = nodes[i].as.fill;
        } else {
            n->parameters_at = bytes;
            n->parameters_bytes = nodes[i].as.launch.kernel->parameters_bytes;
            bytes += padded(n->parameters_bytes);
            set_launch(plan, n, &nodes[i].as.launch);
        }
    }
    *out_plan = plan;
    return GYRE_OK;
}

gyre_status gyre_cpu_graph_open(gyre_dev *dev, const gyre_dev_node *nodes, uint32_t count,
                                gyre_dev_graph **out_graph)
{
    gyre_dev_graph *graph;
    gyre_status status = gyre_process_use();
    void *block;

    (void)dev;
    *out_graph = NULL;
    if (status == GYRE_OK)
        status = gyre_alloc(NULL, 1, sizeof *graph, &block);
    if (status != GYRE_OK)
        return status;
    graph = block;
    status = make_plan(nodes, count, &graph->plan);
    if (status != GYRE_OK) {
        gyre_cpu_graph_close(graph);
        return status;
    }
    *out_graph = graph;
    return GYRE_OK;
}

void gyre_cpu_graph_close(gyre_dev_graph *graph)
{
    gyre_cpu_plan_release(graph->plan);
    gyre_free(NULL, graph, 1, sizeof *graph);
}

/* Makes the plan the graph's own, so that it can be changed. */
static gyre_status own_plan(gyre_dev_graph *graph)
{
    gyre_cpu_plan *plan = graph->plan, *copy;
    gyre_status status;
    void *block;

    /* acquire [cpu-holders]: pairs with gyre_cpu_plan_release. Workers have read it. */
    if (atomic_load_explicit(&plan->holders, memory_order_acquire) == 1)
        return GYRE_OK;
    status = gyre_alloc(NULL, 1, plan->bytes, &block);
    if (status != GYRE_OK)
        return status;
    copy = block;
    copy->bytes = plan->bytes;
    copy->count = plan->count;
    memcpy(copy->steps, plan->steps, plan->bytes - offsetof(gyre_cpu_plan, steps));
    /* relaxed: nobody else knows it yet */
    atomic_store_explicit(&copy->holders, 1, memory_order_relaxed);
    graph->plan = copy;
    gyre_cpu_plan_release(plan);
    return GYRE_OK;
}

gyre_status gyre_cpu_graph_update(gyre_dev_graph *graph, uint32_t node,
                                  const gyre_dev_launch *launch)
{
    const gyre_cpu_plan *plan = graph->plan;
    gyre_status status;

    if (node >= plan->count || plan->steps[node].kind != GYRE_DEV_NODE_LAUNCH)
        return gyre_fail(GYRE_INVALID, "node %u of a graph of %u is no launch", node, plan->count);
    if (launch->kernel->parameters_bytes != plan->steps[node].parameters_bytes)
        return gyre_fail(GYRE_INVALID, "node %u has %u bytes of parameters, not %u", node,
                         plan->steps[node].parameters_bytes, launch->kernel->parameters_bytes);
    status = own_plan(graph);
    if (status == GYRE_OK)
        set_launch(graph->plan, &graph->plan->steps[node], launch);
    return status;
}

gyre_status gyre_cpu_graph_submit(gyre_dev_stream *stream, gyre_dev_graph *graph)
{
    gyre_cpu_slot *slot;
    const gyre_status status = gyre_cpu_begin(stream, &slot);

    if (status != GYRE_OK)
        return status;
    /* relaxed: it is held already */
    atomic_fetch_add_explicit(&graph->plan->holders, 1, memory_order_relaxed);
    slot->kind = GYRE_CPU_GRAPH;
    slot->as.plan = graph->plan;
    gyre_cpu_commit(stream, slot);
    return GYRE_OK;
}
