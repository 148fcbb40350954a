/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl_fake: what tests of this backend share: the first device that is not in trouble, opened;
 * kernels from text; and events that the test itself completes.
 */
#ifndef GYRE_BACKENDS_OPENCL_FAKE_H
#define GYRE_BACKENDS_OPENCL_FAKE_H

#include <stdlib.h>

#include "backends/opencl/opencl.h"
#include "base/alloc.h"
#include "base/dynlib.h"
#include "dev/build_log.h"
#include "gyre/clock.h"
#include "test.h"

extern const gyre_backend gyre_backend_opencl;
static const gyre_backend *const cl = &gyre_backend_opencl;

static uint32_t device_index; /* of the one that is used */
static gyre_device device;    /* its row */

/* False when there is nothing to test. */
static inline bool device_found(void)
{
    uint32_t count = 0;
    char text[192];

    if (cl->probe(&count, text, sizeof text) != GYRE_OK)
        return false;
    for (device_index = 0; device_index < count; device_index++) {
        memset(&device, 0, sizeof device);
        if (cl->describe(device_index, &device) == GYRE_OK && !device.trouble[0])
            return true;
    }
    return false;
}
#define NEED_DEVICE()                                                                              \
    do {                                                                                           \
        if (!device_found())                                                                       \
            SKIP("there is no OpenCL device that can be used");                                    \
    } while (0)

static inline gyre_dev *open_device(void)
{
    const gyre_dev_options options = {.faults = ""};
    gyre_dev *dev = NULL;

    CHECK(cl->open(device_index, &options, &dev) == GYRE_OK);
    return dev;
}

static inline gyre_dev_stream *open_stream(gyre_dev *dev)
{
    gyre_dev_stream *stream = NULL;

    CHECK(cl->stream_open(dev, NULL, 0, &stream) == GYRE_OK);
    return stream;
}

static inline void *take(gyre_dev *dev, size_t size)
{
    void *block = NULL;

    CHECK(cl->take(dev, GYRE_DEV_MEMORY_DEVICE, size, 64, &block) == GYRE_OK);
    return block;
}

/* Polls until the stream is drained or has failed; GYRE_TIMEOUT after half a minute. */
static inline gyre_status drain(gyre_dev_stream *stream)
{
    const uint64_t end = gyre_clock_now_ns() + UINT64_C(30000000000);
    gyre_status status;

    while ((status = cl->poll(stream)) == GYRE_AGAIN)
        if (gyre_clock_now_ns() > end)
            return GYRE_TIMEOUT;
    return status;
}

static inline gyre_status copy(gyre_dev_stream *stream, void *to, const void *from, size_t size)
{
    const gyre_dev_copy c = {to, from, size, 1, 1, size, size, size, size, NULL};

    return cl->copy(stream, &c);
}

static inline gyre_status build(gyre_dev *dev, const gyre_dev_source *source,
                                gyre_dev_module **out_module)
{
    gyre_dev_code code = {.image = NULL, .image_bytes = 0};
    gyre_status status;
    void *image;

    *out_module = NULL;
    status = cl->compile(dev, source, &image, &code.image_bytes);
    if (status != GYRE_OK)
        return status;
    code.image = image;
    status = cl->module_open(dev, &code, out_module);
    gyre_free(NULL, image, code.image_bytes, 1);
    return status;
}

static inline gyre_dev_module *build_text(gyre_dev *dev, const char *text)
{
    const gyre_dev_source source = {.name = "test.cl", .text = text};
    gyre_dev_module *module;

    CHECK(build(dev, &source, &module) == GYRE_OK);
    return module;
}

static inline gyre_dev_kernel *open_kernel(gyre_dev_module *module, const char *entry,
                                           const gyre_dev_argument *arguments, uint32_t count)
{
    const gyre_dev_kernel_request request = {entry, arguments, count, 0};
    gyre_dev_kernel_facts facts;
    gyre_dev_kernel *kernel = NULL;

    CHECK(cl->kernel_open(module, &request, &facts, &kernel) == GYRE_OK);
    return kernel;
}

static inline gyre_status launch(gyre_dev_stream *stream, gyre_dev_kernel *kernel, uint32_t grid,
                                 uint32_t block, const void *parameters)
{
    const gyre_dev_launch l = {
        .kernel = kernel, .grid = {grid, 1, 1}, .block = {block, 1, 1}, .parameters = parameters};

    return cl->launch(stream, &l);
}

/* Events of the test's own: what waits for one waits until the test completes it. */
typedef struct user_events {
    cl_event *(*create)(cl_context *, int32_t *);
    int32_t (*set)(cl_event *, int32_t);
} user_events;

static inline user_events open_user_events(void)
{
    static const char *const files[] = {"libOpenCL.so.1", NULL};
    static const char *const symbols[] = {"clCreateUserEvent", "clSetUserEventStatus", NULL};
    static gyre_dynlib *library; /* never closed, like the backend's */
    static user_events user;
    void *table[3];

    if (!library && gyre_dynlib_open(files, symbols, table, &library) == GYRE_OK)
        memcpy(&user, table, sizeof user);
    return user;
}

/* Nothing that the queue is given from now on begins before the event is complete. */
static inline cl_event *block_queue(const user_events *user, gyre_dev *dev, cl_queue *queue)
{
    int32_t code = 0;
    cl_event *const gate = user->create(dev->context, &code);

    CHECK(gate && gyre_cl.clEnqueueBarrierWithWaitList(queue, 1, &gate, NULL) == CL_SUCCESS);
    return gate;
}

#endif
