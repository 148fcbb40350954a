/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_fake_device: a device of a driver that computes nothing (cuda_fake.h), with a stream on it,
 * for the tests of the backend's slots.
 */
#ifndef GYRE_BACKENDS_CUDA_FAKE_DEVICE_H
#define GYRE_BACKENDS_CUDA_FAKE_DEVICE_H

#include <dlfcn.h>

#include "backends/cuda/cuda.h"
#include "backends/cuda/cuda_fake.h"
#include "test.h"

extern const gyre_backend gyre_backend_cuda;
static const gyre_backend *const be = &gyre_backend_cuda;

static cuda_fake_state *fake;
static const gyre_cu_api *cu;
static gyre_dev *dev;
static gyre_dev_stream *stream;

/* A driver as new, a device and a stream on it. */
static inline bool start(const char *file)
{
    static const char *files[2];
    uint32_t count;
    char text[192];
    void *library;

    files[0] = file;
    gyre_cuda_driver_forget(files);
    if (be->probe(&count, text, sizeof text) != GYRE_OK || gyre_cuda_driver(&cu) != GYRE_OK)
        return false;
    library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    fake = dlsym(library, "cuda_fake");
    dlclose(library);
    if (!fake)
        return false;
    *fake = (cuda_fake_state){0};
    if (be->open(0, &(gyre_dev_options){0}, &dev) != GYRE_OK)
        return false;
    return be->stream_open(dev, NULL, 0, &stream) == GYRE_OK;
}

/* Nothing is left, and nobody's current context has changed. */
static inline void end(void)
{
    gyre_cu_context *current = NULL;

    be->stream_close(stream);
    be->close(dev);
    CHECK(cu->cuCtxGetCurrent(&current) == 0 && current == NULL);
    CHECK(fake->contexts == 0 && fake->streams == 0 && fake->events == 0 && fake->modules == 0);
    CHECK(fake->graphs == 0 && fake->execs == 0 && fake->blocks == 0);
}

#endif
