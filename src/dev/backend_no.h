/* SPDX-License-Identifier: Apache-2.0
 *
 * backend_no: slots for what a backend has not: each returns GYRE_UNSUPPORTED, or does nothing.
 */
#ifndef GYRE_DEV_BACKEND_NO_H
#define GYRE_DEV_BACKEND_NO_H

#include "dev/backend.h"

gyre_status gyre_no_compiler(uint32_t index, char *text, size_t text_size);
gyre_status gyre_no_look(uint32_t index, gyre_device_state *out_state);
void *gyre_no_native(gyre_dev *dev, gyre_dev_stream *stream);
gyre_status gyre_no_window_open(gyre_dev *dev, size_t size, gyre_dev_window *out_window);
void gyre_no_window_close(gyre_dev *dev, const gyre_dev_window *window);
gyre_status gyre_no_compile(gyre_dev *dev, const gyre_dev_source *source, void **out_image,
                            size_t *out_size);
gyre_status gyre_no_residency(gyre_dev_kernel *kernel, uint32_t block_threads,
                              uint32_t shared_bytes, uint32_t *out_blocks);
gyre_status gyre_no_between(gyre_dev_event *from, gyre_dev_event *to, double *out_ns);
gyre_status gyre_no_graph_open(gyre_dev *dev, const gyre_dev_node *nodes, uint32_t count,
                               gyre_dev_graph **out_graph);
void gyre_no_graph_close(gyre_dev_graph *graph);
gyre_status gyre_no_graph_update(gyre_dev_graph *graph, uint32_t node,
                                 const gyre_dev_launch *launch);
gyre_status gyre_no_graph_submit(gyre_dev_stream *stream, gyre_dev_graph *graph);

#endif
