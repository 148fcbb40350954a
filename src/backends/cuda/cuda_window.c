/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_window: device memory that the host writes through the GPU's BAR, where the driver lets it.
 *
 * A dma-buf of the memory can be mapped by drivers that allow it; others refuse the mapping, with
 * ENOTSUPP as a rule. Then GDRCopy's module is asked, if it is there (cuda_gdrdrv.c). The mapping
 * is write-combining: reading it takes microseconds, so nobody does.
 *
 * Threads   any.
 * Owns      nothing: windows are their openers'.
 * Not here  what is written there (actor/bells.c).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backends/cuda/cuda.h"
#include "backends/cuda/cuda_later.h"
#include "base/fail.h"

/* The driver gives blocks of this size such an alignment, and dma-bufs are of whole pages. */
enum { WHOLE = 2 << 20 };

/* Maps a dma-buf of it, or says why not. */
static void *map_dma_buf(gyre_dev *dev, void *block, char *why, size_t why_size)
{
    const char *name = NULL;
    int fd = -1, result;
    void *host;

    if (!dev->cu->cuMemGetHandleForAddressRange) {
        snprintf(why, why_size, "the driver makes none");
        return NULL;
    }
    result = dev->cu->cuMemGetHandleForAddressRange(&fd, block, WHOLE, GYRE_CU_RANGE_DMA_BUF, 0);
    if (result != GYRE_CU_SUCCESS) {
        dev->cu->cuGetErrorName(result, &name);
        snprintf(why, why_size, "%s (%d)", name ? name : "refused", result);
        return NULL;
    }
    host = mmap(NULL, WHOLE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (host == MAP_FAILED) {
        snprintf(why, why_size, "mmap refused (%s)",
                 errno == 524 ? "ENOTSUPP" : strerror(errno)); /* the kernel's own, not POSIX's */
        host = NULL;
    }
    close(fd);
    return host;
}

gyre_status gyre_cuda_window_open(gyre_dev *dev, size_t size, gyre_dev_window *out_window)
{
    gyre_dev_window window = {.size = WHOLE, .by = "dma-buf", .fd = -1};
    gyre_status status = GYRE_OK;
    char why[80], why_gdrdrv[80];
    bool pushed;
    int result;

    *out_window = (gyre_dev_window){0};
    if (size > WHOLE)
        return gyre_fail(GYRE_UNSUPPORTED, "a window of %zu bytes; %d is the most", size, WHOLE);
    pthread_mutex_lock(&dev->mutex);
    if (dev->shut[0]) /* a block that is tried may be freed late, so it is not done again */
        status = gyre_fail(GYRE_UNSUPPORTED, "%s", dev->shut);
    pthread_mutex_unlock(&dev->mutex);
    if (status == GYRE_OK)
        status = gyre_cuda_enter(dev, &pushed);
    if (status != GYRE_OK)
        return status;
    result = dev->cu->cuMemAlloc_v2(&window.device, WHOLE);
    if (result == GYRE_CU_SUCCESS)
        window.host = map_dma_buf(dev, window.device, why, sizeof why);
    if (result == GYRE_CU_SUCCESS && !window.host) {
        window.by = "gdrdrv";
        window.host =
            gyre_cuda_gdrdrv_map(window.device, WHOLE, &window.fd, why_gdrdrv, sizeof why_gdrdrv);
    }
    gyre_cuda_leave(dev, pushed);
    if (result != GYRE_CU_SUCCESS)
        return gyre_cuda_fail(dev, result, "cuMemAlloc of %d bytes", WHOLE);
    if (!window.host) {
        gyre_cuda_later(dev, GYRE_CUDA_FREE, window.device);
        pthread_mutex_lock(&dev->mutex);
        snprintf(dev->shut, sizeof dev->shut, "dma-buf: %s, gdrdrv: %s", why, why_gdrdrv);
        status = gyre_fail(GYRE_UNSUPPORTED, "%s", dev->shut);
        pthread_mutex_unlock(&dev->mutex);
        return status;
    }
    memset(window.host, 0, WHOLE);
    *out_window = window;
    return GYRE_OK;
}

void gyre_cuda_window_close(gyre_dev *dev, const gyre_dev_window *window)
{
    munmap(window->host, window->size);
    if (window->fd >= 0)
        close(window->fd);
    if (!gyre_cuda_quiet(dev))
        gyre_cuda_later(dev, GYRE_CUDA_FREE, window->device);
}
