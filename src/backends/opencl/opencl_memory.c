/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl_memory: a device in use, and its memory, which is shared virtual memory: addresses.
 *
 * Where the host can share without being told (fine grain), pinned memory is shared so; device
 * memory too, where it is the host's anyway. Elsewhere pinned memory is opencl_pinned.c's, and a
 * kernel must be told of every block that it reaches through another one: it is told of all. Such a
 * block cannot be freed before the kernels that were told are through, though they may never touch
 * it, so while some are not, a queue of its own frees it after what all streams have been given.
 *
 * Threads   any.
 * Owns      the context, and a list of blocks: the driver wants those back as it gave them, and
 *           does not align as far as we do.
 * Not here  copies (opencl_stream.c).
 */
#include <string.h>

#include "backends/opencl/opencl.h"
#include "base/alloc.h"
#include "base/fail.h"

enum {
    ALIGNMENT_OF_DRIVER = 64, /* that every driver must know: of its largest type, 128, or half */
    BLOCKS_FIRST = 64,
    TRIES = 3,          /* NVIDIA's has none at times, while threads open and close contexts */
    STREAMS_MOST = 256, /* that a block is freed after; with more it stays until the context goes */
};

/* A context may have several devices; ours must be one. */
static gyre_status adopt(gyre_dev *dev, cl_context *context)
{
    size_t size = 0;
    cl_device **ids;
    void *block;
    gyre_status status;
    bool has = false;

    status = gyre_cl_check(gyre_cl.clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, NULL, &size),
                           "clGetContextInfo");
    if (status == GYRE_OK)
        status = gyre_alloc(NULL, 1, size, &block);
    if (status != GYRE_OK)
        return status;
    ids = block;
    status = gyre_cl_check(gyre_cl.clGetContextInfo(context, CL_CONTEXT_DEVICES, size, ids, NULL),
                           "clGetContextInfo");
    for (size_t i = 0; status == GYRE_OK && i < size / sizeof(void *); i++)
        has = has || ids[i] == dev->found->id;
    gyre_free(NULL, block, 1, size);
    if (status != GYRE_OK)
        return status;
    if (!has)
        return gyre_fail(GYRE_INVALID, "the adopted cl_context is not of this device");
    status = gyre_cl_check(gyre_cl.clRetainContext(context), "clRetainContext");
    if (status == GYRE_OK)
        dev->context = context;
    return status;
}

/* The first block is never handed out: the list that kernels get must not be empty. */
static gyre_status prepare_declaring(gyre_dev *dev)
{
    int32_t code = CL_SUCCESS;
    void *first;
    gyre_status status;

    dev->declares = true;
    dev->freeing =
        gyre_cl.clCreateCommandQueueWithProperties(dev->context, dev->found->id, NULL, &code);
    status = gyre_cl_check(code, "clCreateCommandQueueWithProperties");
    if (status == GYRE_OK)
        status = gyre_cl_pinned_prepare(dev);
    if (status == GYRE_OK)
        status = gyre_cl_take(dev, GYRE_DEV_MEMORY_DEVICE, ALIGNMENT_OF_DRIVER, 1, &first);
    return status;
}

gyre_status gyre_cl_open(uint32_t index, const gyre_dev_options *options, gyre_dev **out_dev)
{
    const gyre_cl_found *const f = gyre_cl_found_at(index);
    int32_t code = CL_SUCCESS;
    gyre_status status;
    gyre_dev *dev;
    void *block;

    *out_dev = NULL;
    if (!f)
        return gyre_fail(GYRE_INVALID, "there is no OpenCL device %u", index);
    status = gyre_alloc(NULL, 1, sizeof *dev, &block);
    if (status != GYRE_OK)
        return status;
    dev = block;
    pthread_mutex_init(&dev->lock, NULL);
    dev->found = f;
    dev->changes = 1;
    if (options->adopt) {
        status = adopt(dev, options->adopt);
    } else {
        const intptr_t properties[] = {CL_CONTEXT_PLATFORM, (intptr_t)f->platform, 0};

        dev->context = gyre_cl.clCreateContext(properties, 1, &f->id, NULL, NULL, &code);
        status = gyre_cl_check(code, "clCreateContext");
    }
    if (status == GYRE_OK && !f->fine)
        status = prepare_declaring(dev);
    if (status != GYRE_OK)
        goto fail;
    *out_dev = dev;
    return GYRE_OK;
fail:
    gyre_cl_close(dev);
    return status;
}

void gyre_cl_abandon(gyre_dev *dev)
{
    atomic_store_explicit(&dev->abandoned, true, memory_order_relaxed); /* a flag on its own */
}

void gyre_cl_close(gyre_dev *dev)
{
    if (!dev)
        return;
    gyre_cl_pinned_close(dev);
    if (!gyre_cl_abandoned(dev)) {
        if (dev->freeing)
            gyre_cl.clReleaseCommandQueue(dev->freeing);
        if (dev->declares && dev->block_count > 0)
            gyre_cl.clSVMFree(dev->context, dev->blocks[0].base);
        if (dev->context)
            gyre_cl.clReleaseContext(dev->context);
    }
    pthread_mutex_destroy(&dev->lock);
    gyre_free(NULL, dev->blocks, dev->block_room, sizeof dev->blocks[0]);
    gyre_free(NULL, dev, 1, sizeof *dev);
}

gyre_status gyre_cl_room(gyre_dev *dev, uint64_t *out_free, uint64_t *out_total)
{
    (void)dev;
    *out_free = *out_total = 0;
    return gyre_fail(GYRE_UNSUPPORTED, "OpenCL does not tell how much memory is free");
}

/* Room for one more block; under the lock. */
static gyre_status make_room(gyre_dev *dev)
{
    const size_t room = dev->block_room ? 2 * dev->block_room : BLOCKS_FIRST;
    gyre_status status;
    void *blocks;

    if (dev->block_count < dev->block_room)
        return GYRE_OK;
    status = gyre_alloc(NULL, room, sizeof dev->blocks[0], &blocks);
    if (status != GYRE_OK)
        return status;
    if (dev->blocks)
        memcpy(blocks, dev->blocks, dev->block_count * sizeof dev->blocks[0]);
    gyre_free(NULL, dev->blocks, dev->block_room, sizeof dev->blocks[0]);
    dev->blocks = blocks;
    dev->block_room = room;
    return GYRE_OK;
}

static gyre_status take_shared(gyre_dev *dev, uint64_t flags, size_t size, size_t alignment,
                               void **out_block)
{
    const size_t extra = alignment > ALIGNMENT_OF_DRIVER ? alignment : 0;
    gyre_cl_block block = {.size = size};
    size_t whole, offset;
    gyre_status status;

    if (!gyre_size_add(size, extra, &whole) || whole > dev->found->block_bytes)
        return gyre_fail(GYRE_NO_MEMORY,
                         "%zu bytes aligned to %zu are more than the device's largest block of "
                         "%llu",
                         size, alignment, (unsigned long long)dev->found->block_bytes);
    pthread_mutex_lock(&dev->lock);
    status = make_room(dev);
    if (status != GYRE_OK)
        goto done;
    for (int tries = 0; tries < TRIES && !block.base; tries++)
        block.base = gyre_cl.clSVMAlloc(dev->context, flags, whole, ALIGNMENT_OF_DRIVER);
    if (!block.base) {
        status = gyre_fail(GYRE_NO_MEMORY, "clSVMAlloc: no %zu bytes", whole);
        goto done;
    }
    offset = extra ? (extra - ((uintptr_t)block.base & (extra - 1))) & (extra - 1) : 0;
    block.address = (char *)block.base + offset;
    dev->blocks[dev->block_count++] = block;
    dev->changes++;
    *out_block = block.address;
done:
    pthread_mutex_unlock(&dev->lock);
    return status;
}

gyre_status gyre_cl_take(gyre_dev *dev, gyre_dev_memory kind, size_t size, size_t alignment,
                         void **out_block)
{
    uint64_t flags = CL_MEM_READ_WRITE;

    *out_block = NULL;
    if (kind == GYRE_DEV_MEMORY_PINNED && dev->declares)
        return gyre_cl_pinned_take(dev, size, alignment, out_block);
    if (kind == GYRE_DEV_MEMORY_PINNED || dev->found->host_reach)
        flags |=
            (uint64_t)CL_MEM_SVM_FINE_GRAIN_BUFFER | (dev->found->atomics ? CL_MEM_SVM_ATOMICS : 0);
    return take_shared(dev, flags, size, alignment, out_block);
}

/* Frees after everything that the streams have been given so far, at once if that is through; under
 * the lock. */
static void free_after_all(gyre_dev *dev, void *base)
{
    cl_event *events[STREAMS_MOST];
    uint32_t count = 0;
    gyre_dev_stream *stream = dev->streams;

    for (; stream && count < STREAMS_MOST; stream = stream->next) {
        cl_event *const last = gyre_cl_stream_last(stream);

        if (last && gyre_cl_event_state(last) == GYRE_AGAIN)
            events[count++] = last;
        else if (last)
            gyre_cl.clReleaseEvent(last);
    }
    if (!stream && count == 0)
        gyre_cl.clSVMFree(dev->context, base);
    else if (!stream && gyre_cl.clEnqueueSVMFree(dev->freeing, 1, &base, NULL, NULL, count, events,
                                                 NULL) == CL_SUCCESS)
        gyre_cl.clFlush(dev->freeing);
    while (count > 0)
        gyre_cl.clReleaseEvent(events[--count]);
}

void gyre_cl_give(gyre_dev *dev, gyre_dev_memory kind, void *block, size_t size)
{
    (void)size;
    if (gyre_cl_abandoned(dev))
        return; /* what hangs may still write to it */
    if (kind == GYRE_DEV_MEMORY_PINNED && dev->declares) {
        gyre_cl_pinned_give(dev, block);
        return;
    }
    pthread_mutex_lock(&dev->lock);
    for (size_t i = dev->block_count; i-- > 0;) {
        void *const base = dev->blocks[i].base;

        if (dev->blocks[i].address != block)
            continue;
        dev->blocks[i] = dev->blocks[--dev->block_count];
        dev->changes++;
        if (dev->declares)
            free_after_all(dev, base);
        else
            gyre_cl.clSVMFree(dev->context, base);
        break;
    }
    pthread_mutex_unlock(&dev->lock);
}

bool gyre_cl_owns(gyre_dev *dev, const void *address)
{
    bool owns = false;

    pthread_mutex_lock(&dev->lock);
    for (size_t i = 0; i < dev->block_count && !owns; i++)
        owns = (uintptr_t)address - (uintptr_t)dev->blocks[i].address < dev->blocks[i].size;
    pthread_mutex_unlock(&dev->lock);
    return owns;
}

gyre_status gyre_cl_declare(gyre_dev *dev, cl_kernel *kernel, uint64_t *seen)
{
    void *list = NULL;
    gyre_status status;

    if (*seen == dev->changes)
        return GYRE_OK;
    status = gyre_alloc(NULL, dev->block_count, sizeof(void *), &list);
    if (status != GYRE_OK)
        return status;
    for (size_t i = 0; i < dev->block_count; i++)
        ((void **)list)[i] = dev->blocks[i].base;
    status = gyre_cl_check(gyre_cl.clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS,
                                                       dev->block_count * sizeof(void *), list),
                           "clSetKernelExecInfo");
    if (status == GYRE_OK)
        *seen = dev->changes;
    gyre_free(NULL, list, dev->block_count, sizeof(void *));
    return status;
}
