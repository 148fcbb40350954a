/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_memory: blocks of device memory and of pinned host memory.
 *
 * The driver promises an alignment of 256, and gives more to large blocks. A block that happens not
 * to be aligned as asked is given back and taken again with room to spare; only these few are
 * remembered, because to give them back takes the address that the driver gave.
 *
 * Threads   any; the odd ones are under the device's mutex.
 * Owns      nothing: blocks are their takers'.
 * Not here  recycling (mem/pool.c): taking and giving here waits for the driver.
 */
#include <stdint.h>

#include "backends/cuda/cuda.h"
#include "backends/cuda/cuda_later.h"
#include "base/alloc.h"
#include "base/fail.h"

struct gyre_cuda_odd {
    gyre_cuda_odd *next;
    void *block;
    void *base;
};

static int allocate(gyre_dev *dev, gyre_dev_memory kind, size_t size, void **out_base)
{
    *out_base = NULL;
    if (kind == GYRE_DEV_MEMORY_PINNED)
        return dev->cu->cuMemHostAlloc(out_base, size, GYRE_CU_HOST_PORTABLE | GYRE_CU_HOST_MAPPED);
    return dev->cu->cuMemAlloc_v2(out_base, size);
}

static void release(gyre_dev *dev, gyre_dev_memory kind, void *base)
{
    gyre_cuda_later(dev, kind == GYRE_DEV_MEMORY_PINNED ? GYRE_CUDA_FREE_HOST : GYRE_CUDA_FREE,
                    base);
}

static size_t past(const void *address, size_t alignment)
{
    return (size_t)((uintptr_t)address & (alignment - 1));
}

static gyre_status take_odd(gyre_dev *dev, gyre_dev_memory kind, size_t size, size_t alignment,
                            void **out_block)
{
    gyre_cuda_odd *odd;
    gyre_status status;
    size_t more, over;
    void *block;
    int result;

    if (!gyre_size_add(size, alignment, &more))
        return gyre_fail(GYRE_NO_MEMORY, "%zu bytes", size);
    status = gyre_alloc(NULL, 1, sizeof *odd, &block);
    if (status != GYRE_OK)
        return status;
    odd = block;
    result = allocate(dev, kind, more, &odd->base);
    if (result != GYRE_CU_SUCCESS) {
        gyre_free(NULL, odd, 1, sizeof *odd);
        return gyre_cuda_fail(dev, result, "%zu bytes aligned to %zu", size, alignment);
    }
    over = past(odd->base, alignment);
    odd->block = (char *)odd->base + (over ? alignment - over : 0);
    pthread_mutex_lock(&dev->mutex);
    odd->next = dev->odd;
    dev->odd = odd;
    pthread_mutex_unlock(&dev->mutex);
    *out_block = odd->block;
    return GYRE_OK;
}

gyre_status gyre_cuda_take(gyre_dev *dev, gyre_dev_memory kind, size_t size, size_t alignment,
                           void **out_block)
{
    gyre_status status;
    void *base;
    bool pushed;
    int result;

    *out_block = NULL;
    status = gyre_cuda_enter(dev, &pushed);
    if (status != GYRE_OK)
        return status;
    result = allocate(dev, kind, size, &base);
    if (result != GYRE_CU_SUCCESS) {
        status =
            gyre_cuda_fail(dev, result, "%s of %zu bytes",
                           kind == GYRE_DEV_MEMORY_PINNED ? "cuMemHostAlloc" : "cuMemAlloc", size);
    } else if (past(base, alignment) == 0) {
        *out_block = base;
    } else {
        release(dev, kind, base);
        status = take_odd(dev, kind, size, alignment, out_block);
    }
    gyre_cuda_leave(dev, pushed);
    return status;
}

/* What the driver calls the block. */
static void *base_of(gyre_dev *dev, void *block)
{
    void *base = block;

    pthread_mutex_lock(&dev->mutex);
    for (gyre_cuda_odd **at = &dev->odd; *at; at = &(*at)->next) {
        gyre_cuda_odd *odd = *at;

        if (odd->block != block)
            continue;
        base = odd->base;
        *at = odd->next;
        gyre_free(NULL, odd, 1, sizeof *odd);
        break;
    }
    pthread_mutex_unlock(&dev->mutex);
    return base;
}

void gyre_cuda_give(gyre_dev *dev, gyre_dev_memory kind, void *block, size_t size)
{
    (void)size;
    /* the odd one is freed by close: another thread may have held the mutex when we were forked */
    if (!gyre_cuda_quiet(dev))
        release(dev, kind, base_of(dev, block));
}

void gyre_cuda_forget_odd(gyre_dev *dev)
{
    while (dev->odd) {
        gyre_cuda_odd *odd = dev->odd;

        dev->odd = odd->next;
        gyre_free(NULL, odd, 1, sizeof *odd);
    }
}
