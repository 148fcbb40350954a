/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda: the table of the backend for GPUs of NVIDIA, on the driver's own interface. See cuda.h.
 */
#include "backends/cuda/cuda.h"

extern const gyre_backend gyre_backend_cuda;

const gyre_backend gyre_backend_cuda = {
    .name = "cuda",
    .probe = gyre_cuda_probe,
    .describe = gyre_cuda_describe,
    .compiler = gyre_cuda_compiler,
    .look = gyre_cuda_look,
    .open = gyre_cuda_open,
    .abandon = gyre_cuda_abandon,
    .close = gyre_cuda_close,
    .native = gyre_cuda_native,
    .room = gyre_cuda_room,
    .take = gyre_cuda_take,
    .give = gyre_cuda_give,
    .window_open = gyre_cuda_window_open,
    .window_close = gyre_cuda_window_close,
    .compile = gyre_cuda_compile,
    .module_open = gyre_cuda_module_open,
    .module_close = gyre_cuda_module_close,
    .kernel_open = gyre_cuda_kernel_open,
    .residency = gyre_cuda_residency,
    .stream_open = gyre_cuda_stream_open,
    .stream_close = gyre_cuda_stream_close,
    .poll = gyre_cuda_poll,
    .launch = gyre_cuda_launch,
    .copy = gyre_cuda_copy,
    .fill = gyre_cuda_fill,
    .words = gyre_cuda_words,
    .event_open = gyre_cuda_event_open,
    .event_close = gyre_cuda_event_close,
    .event_record = gyre_cuda_event_record,
    .event_poll = gyre_cuda_event_poll,
    .event_wait = gyre_cuda_event_wait,
    .event_between = gyre_cuda_event_between,
    .graph_open = gyre_cuda_graph_open,
    .graph_close = gyre_cuda_graph_close,
    .graph_update = gyre_cuda_graph_update,
    .graph_submit = gyre_cuda_graph_submit,
};
