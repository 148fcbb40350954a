/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_later: see cuda_later.h.
 */
#include "backends/cuda/cuda_later.h"

#include <pthread.h>

#include "base/alloc.h"
#include "dev/resident.h"

typedef struct note note;

struct note {
    const gyre_cu_api *cu;
    gyre_cu_context *context;
    void *what;
    uint32_t index; /* of the device */
    gyre_cuda_call call;
    note *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static note *first, **last = &first;

/* What the driver returned; 0: fine. */
static int make(const note *n)
{
    gyre_cu_context *popped;
    int result;

    if (n->call == GYRE_CUDA_DESTROY)
        return n->cu->cuCtxDestroy_v2(n->context);
    result = n->cu->cuCtxPushCurrent_v2(n->context);
    if (result != GYRE_CU_SUCCESS)
        return result;
    result = n->call == GYRE_CUDA_UNLOAD      ? n->cu->cuModuleUnload(n->what)
             : n->call == GYRE_CUDA_FREE_HOST ? n->cu->cuMemFreeHost(n->what)
                                              : n->cu->cuMemFree_v2(n->what);
    (void)n->cu->cuCtxPopCurrent_v2(&popped);
    return result;
}

/* The oldest of a device; out of the list. */
static note *take(uint32_t index)
{
    note *found = NULL;

    pthread_mutex_lock(&lock);
    for (note **at = &first; *at; at = &(*at)->next)
        if ((*at)->index == index) {
            found = *at;
            *at = found->next;
            if (!*at)
                last = at;
            break;
        }
    pthread_mutex_unlock(&lock);
    return found;
}

void gyre_cuda_catch_up(gyre_dev *dev)
{
    note *n;

    while (!gyre_cuda_hung() && !gyre_resident_on("cuda", dev->index) && (n = take(dev->index))) {
        gyre_cuda_note(dev, make(n));
        gyre_free(NULL, n, 1, sizeof *n);
    }
}

void gyre_cuda_later(gyre_dev *dev, gyre_cuda_call call, void *what)
{
    const note now = {
        .cu = dev->cu, .context = dev->context, .what = what, .index = dev->index, .call = call};
    void *memory;
    note *n;

    if (gyre_residents_try_keep("cuda", dev->index)) {
        gyre_cuda_catch_up(dev);
        gyre_cuda_note(dev, make(&now));
        gyre_residents_restore();
        return;
    }
    if (gyre_alloc(NULL, 1, sizeof *n, &memory) != GYRE_OK)
        return;
    n = memory;
    *n = now;
    pthread_mutex_lock(&lock);
    *last = n;
    last = &n->next;
    pthread_mutex_unlock(&lock);
}

void gyre_cuda_later_forget(const gyre_dev *dev)
{
    pthread_mutex_lock(&lock);
    for (note **at = &first; *at;) {
        note *const n = *at;

        if (n->context != dev->context) {
            at = &n->next;
            continue;
        }
        *at = n->next;
        gyre_free(NULL, n, 1, sizeof *n);
    }
    for (last = &first; *last; last = &(*last)->next)
        ;
    pthread_mutex_unlock(&lock);
}
