/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl_pinned: pinned memory of a device that must be told what it shares.
 *
 * A block is a buffer in the host's memory that stays mapped from take to give. Ordinary memory
 * would do for copies, were it not for drivers that read it when a copy from it is submitted and
 * not when its turn comes: NVIDIA's does.
 *
 * Threads   any; the list is under the device's lock.
 * Owns      the buffers, and a queue that maps them: one on which nothing waits for a kernel.
 * Not here  pinned memory that is shared (opencl_memory.c).
 */
#include "backends/opencl/opencl.h"
#include "base/alloc.h"
#include "base/fail.h"

struct gyre_cl_pinned {
    gyre_cl_pinned *next;
    cl_buffer *buffer;
    void *mapped; /* as the driver gave it */
    void *address;
};

gyre_status gyre_cl_pinned_prepare(gyre_dev *dev)
{
    int32_t code = CL_SUCCESS;

    dev->mapping =
        gyre_cl.clCreateCommandQueueWithProperties(dev->context, dev->found->id, NULL, &code);
    return gyre_cl_check(code, "clCreateCommandQueueWithProperties");
}

static gyre_status map(gyre_dev *dev, gyre_cl_pinned *pinned, size_t size)
{
    int32_t code = CL_SUCCESS;
    gyre_status status;

    pinned->buffer = gyre_cl.clCreateBuffer(dev->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                            size, NULL, &code);
    status = gyre_cl_check(code, "clCreateBuffer");
    if (status != GYRE_OK)
        return status;
    pinned->mapped = gyre_cl.clEnqueueMapBuffer(
        dev->mapping, pinned->buffer, 1, CL_MAP_READ | CL_MAP_WRITE, 0, size, 0, NULL, NULL, &code);
    status = gyre_cl_check(code, "clEnqueueMapBuffer");
    if (status != GYRE_OK)
        gyre_cl.clReleaseMemObject(pinned->buffer);
    return status;
}

gyre_status gyre_cl_pinned_take(gyre_dev *dev, size_t size, size_t alignment, void **out_block)
{
    gyre_cl_pinned *pinned;
    gyre_status status;
    size_t whole, past;
    void *block;

    *out_block = NULL;
    if (!gyre_size_add(size, alignment, &whole) || whole > dev->found->block_bytes)
        return gyre_fail(GYRE_NO_MEMORY, "no %zu bytes aligned to %zu", size, alignment);
    status = gyre_alloc(NULL, 1, sizeof *pinned, &block);
    if (status != GYRE_OK)
        return status;
    pinned = block;
    status = map(dev, pinned, whole);
    if (status != GYRE_OK) {
        gyre_free(NULL, pinned, 1, sizeof *pinned);
        return status;
    }
    past = (uintptr_t)pinned->mapped & (alignment - 1);
    pinned->address = (char *)pinned->mapped + (past ? alignment - past : 0);
    pthread_mutex_lock(&dev->lock);
    pinned->next = dev->pinned;
    dev->pinned = pinned;
    pthread_mutex_unlock(&dev->lock);
    *out_block = pinned->address;
    return GYRE_OK;
}

/* Takes it from the list. */
static gyre_cl_pinned *find(gyre_dev *dev, const void *address)
{
    gyre_cl_pinned **at, *found;

    pthread_mutex_lock(&dev->lock);
    for (at = &dev->pinned; *at && (*at)->address != address;)
        at = &(*at)->next;
    found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&dev->lock);
    return found;
}

void gyre_cl_pinned_give(gyre_dev *dev, void *block)
{
    gyre_cl_pinned *const pinned = find(dev, block);

    if (!pinned)
        return;
    gyre_cl.clEnqueueUnmapMemObject(dev->mapping, pinned->buffer, pinned->mapped, 0, NULL, NULL);
    gyre_cl.clFinish(dev->mapping); /* nothing else is there; so the memory is free on return */
    gyre_cl.clReleaseMemObject(pinned->buffer);
    gyre_free(NULL, pinned, 1, sizeof *pinned);
}

void gyre_cl_pinned_close(gyre_dev *dev)
{
    while (dev->pinned) { /* of an abandoned device: what hangs may still write to the block */
        gyre_cl_pinned *const pinned = dev->pinned;

        dev->pinned = pinned->next;
        gyre_free(NULL, pinned, 1, sizeof *pinned);
    }
    if (dev->mapping && !gyre_cl_abandoned(dev))
        gyre_cl.clReleaseCommandQueue(dev->mapping);
}
