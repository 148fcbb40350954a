/* SPDX-License-Identifier: Apache-2.0
 *
 * graph: nodes in the order in which they were added, made ready for the backend once.
 *
 * Merging: launches that wait for the same nodes do not wait for each other. Those among them that
 * have one kernel, grid, block and shared size become one launch of the kernel's `many` entry, in
 * the place of the first, over a table of their parameters in device memory. An update of one of
 * them is written to the host's copy of the table; the next submission carries the table over
 * first, in the stream's order, so that one under way keeps its own.
 *
 * Threads   one at a time for each graph.
 * Owns      its nodes, the tables, a holder of each kernel; a pool for tables on their way.
 * Not here  streams (exec/stream.c).
 */
#include "gyre/graph.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/lasting.h"
#include "base/options.h"
#include "base/process.h"
#include "exec/kernel.h"
#include "exec/stream.h"
#include "gyre/pool.h"

#define NOT_MERGED UINT32_MAX

enum { NODES_MOST = 1 << 16 };

typedef struct node {
    gyre_dev_node ready;
    uint32_t *after;           /* what `ready` waits for, */
    unsigned char *parameters; /* and what it launches with */
    gyre_kernel *kernel;       /* held; NULL: not a launch */
    uint64_t expected_ns;
    uint32_t becomes; /* which of the backend's nodes */
    uint32_t table;   /* of a merged launch; or NOT_MERGED */
    uint32_t row;     /* of it */
} node;

/* The parameters of launches that became one. */
typedef struct table {
    unsigned char *rows; /* the host's copy */
    void *there;         /* on the device */
    size_t row_bytes;
    uint32_t count;
    uint32_t becomes; /* which of the backend's nodes */
    bool changed;     /* since it was carried over */
    _Alignas(16) struct {
        void *rows;
        uint32_t count;
    } parameters; /* of the `many` entry */
} table;

struct gyre_graph {
    gyre_context *context;
    gyre_allocator allocator;
    const char *name; /* lasting */
    bool merge, finished;
    node *nodes;
    uint32_t count, room;
    gyre_dev_node *ready; /* for the backend; `count` are allocated */
    uint32_t ready_count;
    table *tables; /* likewise */
    uint32_t table_count;
    gyre_pool *staging; /* pinned; made with the first table */
    gyre_dev_graph *native;
    uint64_t expected_ns;
};

static const gyre_allocator *memory_of(const gyre_graph *graph)
{
    return gyre_allocator_kept(&graph->allocator);
}

static size_t parameter_bytes(const node *n)
{
    return n->kernel ? gyre_kernel_signature(n->kernel)->padded_bytes : 0;
}

static void free_node(gyre_graph *graph, node *n)
{
    if (n->parameters)
        gyre_free(memory_of(graph), n->parameters, parameter_bytes(n), 1);
    gyre_kernel_release(n->kernel);
    gyre_free(memory_of(graph), n->after, n->ready.after_count, sizeof *n->after);
}

gyre_status gyre_graph_create(gyre_context *context, const gyre_graph_options *options,
                              gyre_graph **out_graph)
{
    gyre_graph_options o;
    gyre_graph *graph;
    char name[GYRE_NAME_BYTES];
    void *memory = NULL;
    gyre_status status = gyre_context_usable(context);

    *out_graph = NULL;
    if (status == GYRE_OK)
        status = GYRE_OPTIONS_READ(o, options);
    if (status == GYRE_OK)
        status = gyre_allocator_check(o.allocator);
    if (status == GYRE_OK)
        status = gyre_alloc(o.allocator, 1, sizeof *graph, &memory);
    if (status != GYRE_OK)
        return status;
    graph = memory;
    graph->context = context;
    graph->merge = o.merge;
    if (o.allocator)
        graph->allocator = *o.allocator;
    gyre_name_copy(name, o.name, "graph");
    graph->name = gyre_lasting(name);
    atomic_fetch_add_explicit(&context->objects, 1, memory_order_relaxed);
    *out_graph = graph;
    return GYRE_OK;
}

static gyre_status grow(gyre_graph *graph)
{
    const uint32_t room = graph->room ? graph->room * 2 : 16;
    void *memory = NULL;
    gyre_status status;

    if (graph->count < graph->room)
        return GYRE_OK;
    if (graph->count >= NODES_MOST)
        return gyre_fail(GYRE_INVALID, "%s: a graph has at most %d nodes", graph->name, NODES_MOST);
    status = gyre_alloc(memory_of(graph), room, sizeof *graph->nodes, &memory);
    if (status != GYRE_OK)
        return status;
    if (graph->count > 0)
        memcpy(memory, graph->nodes, graph->count * sizeof *graph->nodes);
    gyre_free(memory_of(graph), graph->nodes, graph->room, sizeof *graph->nodes);
    graph->nodes = memory;
    graph->room = room;
    return GYRE_OK;
}

/* A node as it was checked, with copies of what it points to. */
static gyre_status add(gyre_graph *graph, const gyre_dev_node *ready, gyre_kernel *kernel,
                       gyre_after after, uint32_t *out_number)
{
    node n = {.ready = *ready, .table = NOT_MERGED};
    void *memory = NULL;
    gyre_status status = GYRE_OK;

    if (graph->finished)
        return gyre_fail(GYRE_INVALID, "%s: it is finished", graph->name);
    for (size_t i = 0; i < after.count; i++)
        if (after.nodes[i] >= graph->count)
            return gyre_fail(GYRE_INVALID, "%s: node %u, to wait for, is not there", graph->name,
                             after.nodes[i]);
    if (after.count > NODES_MOST)
        return gyre_fail(GYRE_INVALID, "%s: a node waits for %d others at most", graph->name,
                         NODES_MOST);
    status = grow(graph);
    if (status == GYRE_OK && after.count > 0) {
        status = gyre_alloc(memory_of(graph), after.count, sizeof(uint32_t), &memory);
        if (status == GYRE_OK) {
            memcpy(memory, after.nodes, after.count * sizeof(uint32_t));
            n.ready.after = n.after = memory;
            n.ready.after_count = (uint32_t)after.count;
        }
    }
    if (status == GYRE_OK && kernel) {
        n.kernel = gyre_kernel_retain(kernel);
        n.ready.as.launch.parameters = NULL;
        if (parameter_bytes(&n) > 0)
            status = gyre_alloc(memory_of(graph), parameter_bytes(&n), 1, &memory);
        if (status == GYRE_OK && parameter_bytes(&n) > 0) {
            memcpy(memory, ready->as.launch.parameters, gyre_kernel_signature(kernel)->bytes);
            n.ready.as.launch.parameters = n.parameters = memory;
        }
    }
    if (status != GYRE_OK) {
        free_node(graph, &n);
        return status;
    }
    *out_number = graph->count;
    graph->nodes[graph->count++] = n;
    return GYRE_OK;
}

/* A number is written last: it may be where the caller keeps what the node waits for. */
static gyre_status number_it(gyre_status status, uint32_t number, uint32_t *out_node)
{
    *out_node = status == GYRE_OK ? number : 0;
    return status;
}

gyre_status gyre_graph_launch(gyre_graph *graph, gyre_kernel *kernel, const gyre_launch *launch,
                              gyre_after after, uint32_t *out_node)
{
    gyre_dev_node ready = {.kind = GYRE_DEV_NODE_LAUNCH};
    gyre_launch_room room;
    uint32_t number = 0;
    gyre_status status;

    if (!kernel || !launch)
        return number_it(gyre_fail(GYRE_INVALID, "%s: a launch of no kernel", graph->name), 0,
                         out_node);
    if (gyre_kernel_context(kernel) != graph->context)
        status = gyre_fail(GYRE_INVALID, "%s: kernel '%s' is of another context", graph->name,
                           gyre_kernel_name(kernel));
    else
        status = gyre_kernel_ready(kernel, launch, &room, &ready.as.launch);
    if (status == GYRE_OK)
        status = add(graph, &ready, kernel, after, &number);
    if (status == GYRE_OK)
        graph->nodes[number].expected_ns = launch->expected_ns;
    return number_it(status, number, out_node);
}

gyre_status gyre_graph_copy(gyre_graph *graph, const gyre_box *box, gyre_after after,
                            uint32_t *out_node)
{
    gyre_dev_node ready = {.kind = GYRE_DEV_NODE_COPY};
    gyre_status status = gyre_box_ready(box, &ready.as.copy);
    uint32_t number = 0;

    if (status == GYRE_OK && box->width == 0)
        status = gyre_fail(GYRE_INVALID, "%s: a copy of nothing", graph->name);
    if (status == GYRE_OK)
        status = add(graph, &ready, NULL, after, &number);
    return number_it(status, number, out_node);
}

gyre_status gyre_graph_fill(gyre_graph *graph, const gyre_fill *fill, gyre_after after,
                            uint32_t *out_node)
{
    gyre_dev_node ready = {.kind = GYRE_DEV_NODE_FILL};
    gyre_status status = gyre_fill_ready(fill, &ready.as.fill);
    uint32_t number = 0;

    if (status == GYRE_OK && fill->count == 0)
        status = gyre_fail(GYRE_INVALID, "%s: a fill of nothing", graph->name);
    if (status == GYRE_OK)
        status = add(graph, &ready, NULL, after, &number);
    return number_it(status, number, out_node);
}

/* Whether two launches can be one. */
static bool alike(const node *a, const node *b)
{
    const gyre_dev_launch *const x = &a->ready.as.launch, *const y = &b->ready.as.launch;

    return a->kernel && a->kernel == b->kernel && a->ready.after_count == b->ready.after_count &&
           (a->ready.after_count == 0 ||
            memcmp(a->ready.after, b->ready.after,
                   a->ready.after_count * sizeof a->ready.after[0]) == 0) &&
           memcmp(x->grid, y->grid, sizeof x->grid) == 0 &&
           memcmp(x->block, y->block, sizeof x->block) == 0 && x->shared_bytes == y->shared_bytes &&
           !x->cooperative && !y->cooperative && x->grid[2] == 1;
}

/* Puts node `first` and all that are like it into one table. */
static gyre_status make_table(gyre_graph *graph, uint32_t first, uint32_t like_it)
{
    const gyre_memory *const memory = &graph->context->device_memory;
    node *const leader = &graph->nodes[first];
    table *const t = &graph->tables[graph->table_count];
    void *rows = NULL;
    gyre_status status;

    t->count = like_it;
    t->row_bytes = parameter_bytes(leader);
    status = gyre_alloc(memory_of(graph), t->count, t->row_bytes, &rows);
    if (status != GYRE_OK)
        return status;
    t->rows = rows;
    graph->table_count++;
    status = memory->take(memory, t->count * t->row_bytes, 256, &t->there);
    if (status != GYRE_OK)
        return status;
    t->parameters.rows = t->there;
    t->parameters.count = t->count;
    t->changed = true;
    for (uint32_t i = first, row = 0; row < like_it; i++) {
        node *const n = &graph->nodes[i];

        if (n->table != NOT_MERGED || !alike(leader, n))
            continue;
        memcpy(t->rows + row * t->row_bytes, n->ready.as.launch.parameters, t->row_bytes);
        n->table = graph->table_count - 1;
        n->row = row++;
    }
    return GYRE_OK;
}

/* Decides which launches become one, and makes their tables. */
static gyre_status merge(gyre_graph *graph)
{
    gyre_status status = GYRE_OK;

    for (uint32_t i = 0; i < graph->count && status == GYRE_OK; i++) {
        const node *const n = &graph->nodes[i];
        uint32_t like_it = 0;

        if (n->table != NOT_MERGED || !n->kernel ||
            !gyre_kernel_many(n->kernel, &n->ready.as.launch) || parameter_bytes(n) == 0)
            continue;
        for (uint32_t k = i; k < graph->count; k++)
            like_it += graph->nodes[k].table == NOT_MERGED && alike(n, &graph->nodes[k]);
        if (like_it > 1 && like_it <= graph->context->device->grid_most[2])
            status = make_table(graph, i, like_it);
    }
    return status;
}

/* The backend's nodes: those that were not merged, and of each table its first. */
static void lay_out(gyre_graph *graph)
{
    for (uint32_t i = 0; i < graph->count; i++) {
        node *const n = &graph->nodes[i];
        gyre_dev_node *into;

        for (uint32_t k = 0; k < n->ready.after_count; k++)
            n->after[k] = graph->nodes[n->after[k]].becomes;
        graph->expected_ns = n->expected_ns < UINT64_MAX - graph->expected_ns
                                 ? graph->expected_ns + n->expected_ns
                                 : UINT64_MAX;
        if (n->table != NOT_MERGED && n->row > 0) {
            n->becomes = graph->tables[n->table].becomes;
            continue;
        }
        n->becomes = graph->ready_count;
        into = &graph->ready[graph->ready_count++];
        *into = n->ready;
        if (n->table != NOT_MERGED) {
            table *const t = &graph->tables[n->table];

            t->becomes = n->becomes;
            into->as.launch.kernel = gyre_kernel_many(n->kernel, &n->ready.as.launch);
            into->as.launch.grid[2] = t->count;
            into->as.launch.parameters = &t->parameters;
        }
    }
}

gyre_status gyre_graph_finish(gyre_graph *graph)
{
    gyre_context *const context = graph->context;
    const gyre_pool_options pinned = {.struct_size = sizeof pinned,
                                      .allocator = memory_of(graph),
                                      .source = &context->pinned_memory,
                                      .name = graph->name};
    void *memory = NULL;
    gyre_status status = gyre_context_usable(context);

    if (status != GYRE_OK)
        return status;
    if (graph->finished || graph->count == 0)
        return gyre_fail(GYRE_INVALID, "%s: it is %s", graph->name,
                         graph->finished ? "finished" : "empty");
    graph->finished = true; /* also when it fails: what was merged cannot be taken apart */
    status = gyre_alloc(memory_of(graph), graph->count, sizeof *graph->ready, &memory);
    if (status != GYRE_OK)
        return status;
    graph->ready = memory;
    status = gyre_alloc(memory_of(graph), graph->count, sizeof *graph->tables, &memory);
    if (status != GYRE_OK)
        return status;
    graph->tables = memory;
    if (graph->merge)
        status = merge(graph);
    if (status == GYRE_OK && graph->table_count > 0)
        status = gyre_pool_create(&pinned, &graph->staging);
    if (status != GYRE_OK)
        return status;
    lay_out(graph);
    status = context->backend->graph_open(context->dev, graph->ready, graph->ready_count,
                                          &graph->native);
    if (status == GYRE_OK || status == GYRE_UNSUPPORTED) /* then one by one */
        return GYRE_OK;
    graph->ready_count = 0; /* it is not to be submitted */
    return gyre_context_heard(context, status);
}

gyre_status gyre_graph_update(gyre_graph *graph, uint32_t number, const void *parameters,
                              size_t size)
{
    gyre_status status = gyre_context_usable(graph->context);
    const gyre_signature *signature;
    node *n;

    if (status != GYRE_OK)
        return status;
    if (number >= graph->count || !graph->nodes[number].kernel)
        return gyre_fail(GYRE_INVALID, "%s: node %u is no launch", graph->name, number);
    n = &graph->nodes[number];
    signature = gyre_kernel_signature(n->kernel);
    if ((size != signature->bytes && size != signature->padded_bytes) || (size > 0 && !parameters))
        return gyre_fail(GYRE_INVALID, "%s: %zu bytes of parameters for '%s'; its signature has %u",
                         graph->name, size, gyre_kernel_name(n->kernel), signature->bytes);
    if (signature->bytes == 0)
        return GYRE_OK;
    memcpy(n->parameters, parameters, signature->bytes);
    if (n->table != NOT_MERGED) {
        table *const t = &graph->tables[n->table];

        memcpy(t->rows + n->row * t->row_bytes, parameters, signature->bytes);
        t->changed = true;
    } else if (graph->native) {
        status =
            graph->context->backend->graph_update(graph->native, n->becomes, &n->ready.as.launch);
    }
    return gyre_context_heard(graph->context, status);
}

static gyre_status submit_node(gyre_stream *stream, const gyre_dev_node *n)
{
    const gyre_backend *const backend = stream->context->backend;

    switch (n->kind) {
    case GYRE_DEV_NODE_LAUNCH:
        return backend->launch(stream->native, &n->as.launch);
    case GYRE_DEV_NODE_COPY:
        return backend->copy(stream->native, &n->as.copy);
    case GYRE_DEV_NODE_FILL:
        return backend->fill(stream->native, &n->as.fill);
    }
    return gyre_fail(GYRE_INTERNAL, "a node of kind %d", (int)n->kind);
}

/* Carries a changed table over, in the stream's order, from a block that is then given back. */
static gyre_status carry(gyre_graph *graph, table *t, gyre_stream *stream)
{
    const size_t size = t->count * t->row_bytes;
    void *block;
    gyre_status status = gyre_pool_take(graph->staging, size, &block);

    if (status != GYRE_OK)
        return status;
    memcpy(block, t->rows, size);
    status = gyre_stream_copy(stream, t->there, block, size);
    if (status != GYRE_OK) {
        gyre_pool_give(graph->staging, block, size);
        return status;
    }
    t->changed = false;
    if (gyre_pool_give_after(graph->staging, block, size, GYRE_POOL_ALIGNMENT,
                             gyre_stream_ticket(stream)) == GYRE_OK)
        return GYRE_OK;
    status = gyre_stream_sync(stream);
    if (status == GYRE_OK)
        gyre_pool_give(graph->staging, block, size);
    return status;
}

/* One by one, and how many it were when one of them fails. */
static gyre_status submit_nodes(gyre_stream *stream, const gyre_graph *graph, uint32_t *out_done)
{
    gyre_status status = GYRE_OK;
    uint32_t i = 0;

    for (; i < graph->ready_count && status == GYRE_OK; i++)
        status = submit_node(stream, &graph->ready[i]);
    *out_done = status == GYRE_OK ? i : i - 1;
    return status;
}

gyre_status gyre_stream_submit(gyre_stream *stream, gyre_graph *graph)
{
    const gyre_backend *const backend = stream->context->backend;
    const gyre_submission submission = {.what = graph->name, .expected_ns = graph->expected_ns};
    gyre_status status = GYRE_OK;
    uint32_t done = 0;

    if (graph->context != stream->context)
        return gyre_fail(GYRE_INVALID, "%s: it is of another context than %s", graph->name,
                         stream->name);
    if (!graph->finished || graph->ready_count == 0)
        return gyre_fail(GYRE_INVALID, "%s: it is not finished", graph->name);
    for (uint32_t i = 0; i < graph->table_count && status == GYRE_OK; i++)
        if (graph->tables[i].changed)
            status = carry(graph, &graph->tables[i], stream);
    if (status == GYRE_OK)
        status = gyre_stream_begin(stream, graph->name);
    if (status != GYRE_OK)
        return status;
    if (graph->native)
        status = backend->graph_submit(stream->native, graph->native);
    else
        status = submit_nodes(stream, graph, &done);
    if (status != GYRE_OK && status != GYRE_DEVICE_LOST && done > 0) {
        const gyre_error why = *gyre_error_last();

        /* with a ticket, since nobody could wait for what was submitted without */
        (void)!gyre_stream_commit(stream, GYRE_OK, &submission);
        return gyre_fault_again(&why);
    }
    return gyre_stream_commit(stream, status, &submission);
}

gyre_status gyre_graph_describe(const gyre_graph *graph, gyre_graph_facts *out_facts)
{
    const size_t size = out_facts->struct_size;
    const gyre_graph_facts facts = {.struct_size = size,
                                    .nodes = graph->count,
                                    .submitted = graph->ready_count,
                                    .native = graph->native != NULL};

    if (size < sizeof size)
        return gyre_fail(GYRE_INVALID, "facts without struct_size");
    memcpy(out_facts, &facts, size < sizeof facts ? size : sizeof facts);
    return GYRE_OK;
}

void gyre_graph_destroy(gyre_graph *graph)
{
    gyre_context *context;
    gyre_allocator allocator;

    if (!graph)
        return;
    context = graph->context;
    allocator = graph->allocator;
    if (gyre_process_check() == GYRE_OK) {
        gyre_context_leave(context);
        if (graph->native)
            context->backend->graph_close(graph->native);
        atomic_fetch_sub_explicit(&context->objects, 1, memory_order_relaxed);
    }
    for (uint32_t i = 0; i < graph->table_count; i++) {
        table *const t = &graph->tables[i];

        context->device_memory.give(&context->device_memory, t->there, t->count * t->row_bytes,
                                    256);
        gyre_free(memory_of(graph), t->rows, t->count, t->row_bytes);
    }
    gyre_pool_destroy(graph->staging);
    for (uint32_t i = 0; i < graph->count; i++)
        free_node(graph, &graph->nodes[i]);
    gyre_free(memory_of(graph), graph->tables, graph->count, sizeof *graph->tables);
    gyre_free(memory_of(graph), graph->ready, graph->count, sizeof *graph->ready);
    gyre_free(memory_of(graph), graph->nodes, graph->room, sizeof *graph->nodes);
    gyre_free(gyre_allocator_kept(&allocator), graph, 1, sizeof *graph);
}
