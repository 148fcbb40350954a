/* SPDX-License-Identifier: Apache-2.0
 *
 * backend_no: see backend_no.h.
 */
#include "dev/backend_no.h"

#include "base/fail.h"

gyre_status gyre_no_compiler(uint32_t index, char *text, size_t text_size)
{
    (void)index;
    if (text_size > 0)
        text[0] = '\0';
    return gyre_fail(GYRE_UNSUPPORTED, "this backend compiles nothing");
}

gyre_status gyre_no_look(uint32_t index, gyre_device_state *out_state)
{
    (void)index, (void)out_state;
    return gyre_fail(GYRE_UNSUPPORTED, "this backend tells nothing of its devices' state");
}

void *gyre_no_native(gyre_dev *dev, gyre_dev_stream *stream)
{
    (void)dev, (void)stream;
    return NULL;
}

gyre_status gyre_no_window_open(gyre_dev *dev, size_t size, gyre_dev_window *out_window)
{
    (void)dev, (void)size;
    *out_window = (gyre_dev_window){0};
    return gyre_fail(GYRE_UNSUPPORTED, "this backend has no windows to its devices' memory");
}

void gyre_no_window_close(gyre_dev *dev, const gyre_dev_window *window)
{
    (void)dev, (void)window;
}

gyre_status gyre_no_compile(gyre_dev *dev, const gyre_dev_source *source, void **out_image,
                            size_t *out_size)
{
    (void)dev, (void)source;
    *out_image = NULL;
    *out_size = 0;
    return gyre_fail(GYRE_UNSUPPORTED, "this backend compiles nothing");
}

gyre_status gyre_no_residency(gyre_dev_kernel *kernel, uint32_t block_threads,
                              uint32_t shared_bytes, uint32_t *out_blocks)
{
    (void)kernel, (void)block_threads, (void)shared_bytes;
    *out_blocks = 0;
    return gyre_fail(GYRE_UNSUPPORTED, "this backend does not know how many blocks are resident");
}

gyre_status gyre_no_between(gyre_dev_event *from, gyre_dev_event *to, double *out_ns)
{
    (void)from, (void)to;
    *out_ns = 0;
    return gyre_fail(GYRE_UNSUPPORTED, "this backend's events tell no time");
}

gyre_status gyre_no_graph_open(gyre_dev *dev, const gyre_dev_node *nodes, uint32_t count,
                               gyre_dev_graph **out_graph)
{
    (void)dev, (void)nodes, (void)count;
    *out_graph = NULL;
    return gyre_fail(GYRE_UNSUPPORTED, "this backend has no graphs of its own");
}

void gyre_no_graph_close(gyre_dev_graph *graph)
{
    (void)graph;
}

gyre_status gyre_no_graph_update(gyre_dev_graph *graph, uint32_t node,
                                 const gyre_dev_launch *launch)
{
    (void)graph, (void)node, (void)launch;
    return gyre_fail(GYRE_UNSUPPORTED, "this backend has no graphs of its own");
}

gyre_status gyre_no_graph_submit(gyre_dev_stream *stream, gyre_dev_graph *graph)
{
    (void)stream, (void)graph;
    return gyre_fail(GYRE_UNSUPPORTED, "this backend has no graphs of its own");
}
