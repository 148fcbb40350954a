/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_window: device memory that the host writes through the GPU's BAR, where the driver lets it.
 *
 * A dma-buf of the memory can be mapped by drivers that allow it; others refuse the mapping, with
 * ENOTSUPP as a rule. GDRCopy's module could map it too: that it is there is told, and it is not
 * used. The mapping is write-combining: reading it takes microseconds, so nobody does.
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

static const char *gdrdrv = "/dev/gdrdrv";

void gyre_cuda_gdrdrv_is(const char *path)
{
    gdrdrv = path ? path : "/dev/gdrdrv";
}

/* Maps it, or says why not. */
static void *map(gyre_dev *dev, void *block, char *why, size_t why_size)
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
    gyre_dev_window window = {.size = WHOLE, .by = "dma-buf"};
    gyre_status status = GYRE_OK;
    char why[64];
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
        window.host = map(dev, window.device, why, sizeof why);
    gyre_cuda_leave(dev, pushed);
    if (result != GYRE_CU_SUCCESS)
        return gyre_cuda_fail(dev, result, "cuMemAlloc of %d bytes", WHOLE);
    if (!window.host) {
        gyre_cuda_later(dev, GYRE_CUDA_FREE, window.device);
        pthread_mutex_lock(&dev->mutex);
        snprintf(dev->shut, sizeof dev->shut, "dma-buf: %s, gdrdrv: %s", why,
                 access(gdrdrv, F_OK) == 0 ? "there, and not used" : "not there");
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
    if (!gyre_cuda_quiet(dev))
        gyre_cuda_later(dev, GYRE_CUDA_FREE, window->device);
}
