/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_later: what the driver is asked only when nobody is resident on the device.
 *
 * Freeing memory, unloading a module and destroying a context wait until every kernel on the device
 * has ended, which a resident one does not. So while there is one, such a call is noted, and made
 * by the next that comes when there is none. What cannot be noted for lack of memory is not freed.
 *
 * Threads   any; a lock of its own.
 * Owns      the notes.
 */
#ifndef GYRE_BACKENDS_CUDA_LATER_H
#define GYRE_BACKENDS_CUDA_LATER_H

#include "backends/cuda/cuda.h"

typedef enum gyre_cuda_call {
    GYRE_CUDA_FREE = 0,
    GYRE_CUDA_FREE_HOST = 1,
    GYRE_CUDA_UNLOAD = 2,
    GYRE_CUDA_DESTROY = 3, /* the context; `what` is NULL */
} gyre_cuda_call;

/* Makes the call, now or later. The context need not be current. */
void gyre_cuda_later(gyre_dev *dev, gyre_cuda_call call, void *what);

/* Makes those that are due, if nobody is resident. Never waits otherwise. */
void gyre_cuda_catch_up(gyre_dev *dev);

/* The caller's own context goes back to the caller: what is noted for it is not done any more. */
void gyre_cuda_later_forget(const gyre_dev *dev);

#endif
