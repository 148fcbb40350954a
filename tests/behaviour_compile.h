/* SPDX-License-Identifier: Apache-2.0
 *
 * behaviour_compile: a behaviour through the compilers of devices, in pieces or as one text.
 */
#ifndef GYRE_TESTS_BEHAVIOUR_COMPILE_H
#define GYRE_TESTS_BEHAVIOUR_COMPILE_H

#include <stdlib.h>
#include <string.h>

#include "actor/text.h"
#include "backends/cuda/cuda.h"
#include "base/alloc.h"
#include "gyre/behaviour_text.h"
#include "gyre/context.h"
#include "gyre/device.h"

static inline gyre_status compile_text(const gyre_behaviour *behaviour, const char *text,
                                       const gyre_include *includes)
{
    static const char *const options[] = {"-fmad=false", NULL};
    const gyre_dev_source source = {
        .name = behaviour->file, .options = options, .includes = includes, .text = text};
    void *image = NULL;
    size_t size;
    const gyre_status status = gyre_cuda_nvrtc_compile(90, &source, &image, &size);

    if (status == GYRE_OK)
        gyre_free(NULL, image, size, 1);
    return status;
}

static inline gyre_status compile_for_cuda(const gyre_behaviour *behaviour)
{
    size_t room;
    char *text;
    gyre_status status = gyre_actor_text(behaviour, true, &text, &room);

    if (status == GYRE_OK)
        status = compile_text(behaviour, text, gyre_actor_texts);
    gyre_free(NULL, text, room, 1);
    return status;
}

/* The one text; from malloc. */
static inline char *whole_text(const gyre_behaviour *behaviour, gyre_behaviour_language language)
{
    size_t size = 0, again;
    char *text;

    if (gyre_behaviour_text(behaviour, language, NULL, 0, &size) != GYRE_OK)
        return NULL;
    text = malloc(size + 1);
    if (text && (gyre_behaviour_text(behaviour, language, text, size + 1, &again) != GYRE_OK ||
                 again != size || strlen(text) != size)) {
        free(text);
        text = NULL;
    }
    return text;
}

static inline gyre_status compile_whole(const gyre_behaviour *behaviour)
{
    char *const text = whole_text(behaviour, GYRE_BEHAVIOUR_IN_CUDA);
    const gyre_status status = text ? compile_text(behaviour, text, NULL) : GYRE_NO_MEMORY;

    free(text);
    return status;
}

/* The first device that compiles behaviours by OpenCL. */
static inline gyre_context *opencl_open(void)
{
    const gyre_device *const device = gyre_device_find("opencl");
    gyre_context *context = NULL;

    if (!device || device->trouble[0] || !gyre_device_has(device, GYRE_FEATURE_MAPPED))
        return NULL;
    return gyre_context_create(device, NULL, &context) == GYRE_OK ? context : NULL;
}

#endif
