/* SPDX-License-Identifier: Apache-2.0
 *
 * graph: launches, copies and fills that are recorded once and submitted as one, many times.
 *
 * A node runs after the nodes that it names; nodes that do not name each other may run in any order
 * or at once. CUDA gets a graph of its own, the CPU one task, other backends what their nodes are,
 * one after the other. Independent launches of one kernel that has a `many` entry (gyre/kernel.h)
 * become one launch when merging is on.
 *
 * Threads   one at a time for each graph; submitting one graph to two streams at once is the
 *           caller's to order.
 * Owns      copies of the nodes, and a holder of each kernel.
 * Not here  streams (gyre/stream.h).
 */
#ifndef GYRE_GRAPH_H
#define GYRE_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/context.h"
#include "gyre/kernel.h"
#include "gyre/status.h"
#include "gyre/stream.h"

GYRE_BEGIN_DECLS

typedef struct gyre_graph gyre_graph;

/* Zero means default, everywhere. */
typedef struct gyre_graph_options {
    size_t struct_size;              /* sizeof(gyre_graph_options): lets the struct grow */
    const gyre_allocator *allocator; /* copied; default malloc */
    const char *name;                /* for logs; copied, cut to 31 bytes; default "graph" */
    bool merge;                      /* independent launches of one kernel, block and shared size */
} gyre_graph_options;

/* An empty graph. */
GYRE_API GYRE_MUST_USE gyre_status gyre_graph_create(gyre_context *context,
                                                     const gyre_graph_options *options,
                                                     gyre_graph **out_graph);

/* Nodes that a node waits for: numbers that an add returned before. */
typedef struct gyre_after {
    const uint32_t *nodes;
    size_t count;
} gyre_after;

/* Add a node, numbered 0, 1, ... GYRE_INVALID for what gyre_stream_launch, _copy and _fill refuse,
 * for copies and fills of nothing,
 * for a node to wait for that is not there, and after gyre_graph_finish. `out_node` may be one of
 * `after`: it is written last. Never block. */
GYRE_API GYRE_MUST_USE gyre_status gyre_graph_launch(gyre_graph *graph, gyre_kernel *kernel,
                                                     const gyre_launch *launch, gyre_after after,
                                                     uint32_t *out_node);
GYRE_API GYRE_MUST_USE gyre_status gyre_graph_copy(gyre_graph *graph, const gyre_box *box,
                                                   gyre_after after, uint32_t *out_node);
GYRE_API GYRE_MUST_USE gyre_status gyre_graph_fill(gyre_graph *graph, const gyre_fill *fill,
                                                   gyre_after after, uint32_t *out_node);

/* Makes it ready; nothing can be added any more. GYRE_INVALID for an empty one. May block in the
 * driver. */
GYRE_API GYRE_MUST_USE gyre_status gyre_graph_finish(gyre_graph *graph);

/* Gives a launch other parameters, from the next submission on: those under way keep theirs.
 * GYRE_INVALID for another size or a node that is no launch. May block in the driver. */
GYRE_API GYRE_MUST_USE gyre_status gyre_graph_update(gyre_graph *graph, uint32_t node,
                                                     const void *parameters, size_t size);

/* Submits the whole graph as one ticket, after one for each table of merged launches that is not
 * there yet or has changed. GYRE_INVALID when it is not finished, or of another context; otherwise
 * as gyre_stream_launch, but where the driver has no graphs of its own some nodes may have been
 * submitted before one fails: those are a ticket then. */
GYRE_API GYRE_MUST_USE gyre_status gyre_stream_submit(gyre_stream *stream, gyre_graph *graph);

typedef struct gyre_graph_facts {
    size_t struct_size; /* set by the caller: sizeof(gyre_graph_facts) */
    uint32_t nodes;     /* that were added */
    uint32_t submitted; /* nodes that are left after merging */
    bool native;        /* the driver submits it as one */
} gyre_graph_facts;

/* Fills in no more than struct_size bytes. Never blocks. */
GYRE_API GYRE_MUST_USE gyre_status gyre_graph_describe(const gyre_graph *graph,
                                                       gyre_graph_facts *out_facts);

/* Ends it, after everything that was submitted with it is through; NULL is a no-op. */
GYRE_API void gyre_graph_destroy(gyre_graph *graph);

GYRE_END_DECLS

#endif
