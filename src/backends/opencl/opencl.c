/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl: devices with an OpenCL driver that has shared virtual memory: its table, and what its
 * errors mean.
 *
 * The loader is libOpenCL.so.1, by dlopen. Graphs are submitted node by node, and nobody tells how
 * many blocks are resident, what memory is free or how warm a device is.
 *
 * Threads   as dev/backend.h says.
 * Owns      nothing.
 * Not here  devices (opencl_device.c), memory (opencl_memory.c), compiling (opencl_program.c),
 *           kernels (opencl_kernel.c), streams (opencl_stream.c), events (opencl_event.c).
 */
#include "backends/opencl/opencl.h"

#include "base/fail.h"
#include "dev/backend_no.h"

extern const gyre_backend gyre_backend_opencl;

static const struct {
    int32_t code;
    gyre_status status; /* of all others: GYRE_INTERNAL */
    const char *name;
} errors[] = {
    {CL_DEVICE_NOT_FOUND, GYRE_UNAVAILABLE, "CL_DEVICE_NOT_FOUND"},
    {CL_DEVICE_NOT_AVAILABLE, GYRE_DEVICE_LOST, "CL_DEVICE_NOT_AVAILABLE"},
    {CL_MEM_OBJECT_ALLOCATION_FAILURE, GYRE_NO_MEMORY, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {CL_OUT_OF_RESOURCES, GYRE_NO_MEMORY, "CL_OUT_OF_RESOURCES"},
    {CL_OUT_OF_HOST_MEMORY, GYRE_NO_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
    {CL_PROFILING_INFO_NOT_AVAILABLE, GYRE_UNSUPPORTED, "CL_PROFILING_INFO_NOT_AVAILABLE"},
    {CL_MEM_COPY_OVERLAP, GYRE_INVALID, "CL_MEM_COPY_OVERLAP"},
    {CL_BUILD_PROGRAM_FAILURE, GYRE_BUILD, "CL_BUILD_PROGRAM_FAILURE"},
    {CL_EXEC_STATUS_ERROR_IN_WAIT_LIST, GYRE_DEVICE_LOST,
     "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {CL_COMPILE_PROGRAM_FAILURE, GYRE_BUILD, "CL_COMPILE_PROGRAM_FAILURE"},
    {CL_LINK_PROGRAM_FAILURE, GYRE_BUILD, "CL_LINK_PROGRAM_FAILURE"},
    {CL_INVALID_BINARY, GYRE_CORRUPT, "CL_INVALID_BINARY"},
    {CL_INVALID_BUILD_OPTIONS, GYRE_BUILD, "CL_INVALID_BUILD_OPTIONS"},
    {CL_INVALID_KERNEL_NAME, GYRE_NOT_FOUND, "CL_INVALID_KERNEL_NAME"},
    {CL_INVALID_KERNEL_DEFINITION, GYRE_INVALID, "CL_INVALID_KERNEL_DEFINITION"},
    {CL_INVALID_ARG_INDEX, GYRE_INVALID, "CL_INVALID_ARG_INDEX"},
    {CL_INVALID_ARG_VALUE, GYRE_INVALID, "CL_INVALID_ARG_VALUE"},
    {CL_INVALID_ARG_SIZE, GYRE_INVALID, "CL_INVALID_ARG_SIZE"},
    {CL_INVALID_WORK_GROUP_SIZE, GYRE_INVALID, "CL_INVALID_WORK_GROUP_SIZE"},
    {CL_INVALID_WORK_ITEM_SIZE, GYRE_INVALID, "CL_INVALID_WORK_ITEM_SIZE"},
    {CL_INVALID_BUFFER_SIZE, GYRE_NO_MEMORY, "CL_INVALID_BUFFER_SIZE"},
    {CL_INVALID_GLOBAL_WORK_SIZE, GYRE_INVALID, "CL_INVALID_GLOBAL_WORK_SIZE"},
    {CL_INVALID_COMPILER_OPTIONS, GYRE_BUILD, "CL_INVALID_COMPILER_OPTIONS"},
};

const char *gyre_cl_name(int32_t code)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].code == code)
            return errors[i].name;
    return "an error";
}

gyre_status gyre_cl_check(int32_t code, const char *what)
{
    gyre_status status = GYRE_INTERNAL;

    if (code == CL_SUCCESS)
        return GYRE_OK;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].code == code)
            status = errors[i].status;
    return gyre_fail_native(status, code, "%s: %s (%d)", what, gyre_cl_name(code), (int)code);
}

/* Whoever has the queue counts on its order: it is the one that stays the stream's. */
static void *native(gyre_dev *dev, gyre_dev_stream *stream)
{
    if (!stream)
        return dev->context;
    if (!gyre_cl_abandoned(dev) && gyre_cl_stream_time(stream) != GYRE_OK)
        return NULL;
    return stream->queue;
}

const gyre_backend gyre_backend_opencl = {
    .name = "opencl",
    .probe = gyre_cl_probe,
    .describe = gyre_cl_describe,
    .compiler = gyre_cl_compiler,
    .look = gyre_no_look,
    .open = gyre_cl_open,
    .abandon = gyre_cl_abandon,
    .close = gyre_cl_close,
    .native = native,
    .room = gyre_cl_room,
    .take = gyre_cl_take,
    .give = gyre_cl_give,
    .window_open = gyre_no_window_open,
    .window_close = gyre_no_window_close,
    .compile = gyre_cl_compile,
    .module_open = gyre_cl_module_open,
    .module_close = gyre_cl_module_close,
    .kernel_open = gyre_cl_kernel_open,
    .residency = gyre_no_residency,
    .stream_open = gyre_cl_stream_open,
    .stream_close = gyre_cl_stream_close,
    .poll = gyre_cl_poll,
    .launch = gyre_cl_launch,
    .copy = gyre_cl_copy,
    .fill = gyre_cl_fill,
    .words = gyre_cl_words,
    .event_open = gyre_cl_event_open,
    .event_close = gyre_cl_event_close,
    .event_record = gyre_cl_event_record,
    .event_poll = gyre_cl_event_poll,
    .event_wait = gyre_cl_event_wait,
    .event_between = gyre_cl_event_between,
    .graph_open = gyre_no_graph_open,
    .graph_close = gyre_no_graph_close,
    .graph_update = gyre_no_graph_update,
    .graph_submit = gyre_no_graph_submit,
};
