/* SPDX-License-Identifier: Apache-2.0
 *
 * backend_fake: a list of backends of the test's own. The linker takes this one, and leaves the
 * library's with all its backends in the archive.
 *
 * Images are the text "image of " and the source. What the calls were given is kept, and what they
 * shall return can be set.
 */
#ifndef GYRE_DEV_BACKEND_FAKE_H
#define GYRE_DEV_BACKEND_FAKE_H

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "dev/backend.h"
#include "dev/backend_no.h"
#include "dev/build_log.h"

enum { FAKE_TEXT = 256 };

static struct {
    int probes, compiles, opens, looks;
    gyre_status compile, open, open_cached, look; /* what they return; open_cached: while no
                                                   * compile came before it */
    gyre_dev_source source;                       /* the last one */
    gyre_dev_code code;                           /* likewise */
    char image[FAKE_TEXT];                        /* likewise */
    const char *compiler;                         /* NULL: there is none */
    uint32_t extra;                               /* more devices of OpenCL */
} fake = {.compiler = "fakecc 1.0"};

static inline gyre_status fake_probe_cpu(uint32_t *out_count, char *text, size_t text_size)
{
    fake.probes++;
    *out_count = 1;
    snprintf(text, text_size, "built in");
    return GYRE_OK;
}

static inline gyre_status fake_probe_cuda(uint32_t *out_count, char *text, size_t text_size)
{
    fake.probes++;
    *out_count = 3;
    snprintf(text, text_size, "CUDA 13.0\n");
    return GYRE_OK;
}

static inline gyre_status fake_probe_opencl(uint32_t *out_count, char *text, size_t text_size)
{
    (void)text, (void)text_size;
    fake.probes++;
    *out_count = 7; /* not to be believed */
    return gyre_fail(GYRE_UNAVAILABLE, "libOpenCL.so.1 is missing; install an OpenCL loader");
}

static inline gyre_status fake_probe_null(uint32_t *out_count, char *text, size_t text_size)
{
    (void)text, (void)text_size;
    fake.probes++;
    *out_count = 1 + fake.extra;
    return GYRE_OK;
}

static inline gyre_status fake_describe_cpu(uint32_t index, gyre_device *out_device)
{
    (void)index;
    out_device->kind = GYRE_DEVICE_CPU;
    out_device->features = GYRE_FEATURE_FUNCTIONS | GYRE_FEATURE_HOST_REACH;
    snprintf(out_device->title, sizeof out_device->title, "a processor");
    return GYRE_OK;
}

/* The first two reach each other, in one direction; the third cannot be described. */
static inline gyre_status fake_describe_cuda(uint32_t index, gyre_device *out_device)
{
    out_device->kind = GYRE_DEVICE_GPU;
    out_device->features = GYRE_FEATURE_SOURCE | GYRE_FEATURE_IMAGES;
    out_device->reach = index == 0 ? 1 << 1 : 0;
    snprintf(out_device->title, sizeof out_device->title, "GPU\x1b[2J %u", index);
    snprintf(out_device->architecture, sizeof out_device->architecture, "gen_1");
    if (index == 1)
        snprintf(out_device->trouble, sizeof out_device->trouble, "too old");
    if (index == 2)
        return gyre_fail(GYRE_DEVICE_LOST, "it fell off its bus");
    return GYRE_OK;
}

static inline gyre_status fake_describe_null(uint32_t index, gyre_device *out_device)
{
    (void)index;
    out_device->kind = GYRE_DEVICE_NULL;
    out_device->features = GYRE_FEATURE_FUNCTIONS | GYRE_FEATURE_SOURCE;
    return GYRE_OK;
}

static inline gyre_status fake_compiler(uint32_t index, char *text, size_t text_size)
{
    (void)index;
    if (!fake.compiler)
        return gyre_fail(GYRE_UNAVAILABLE, "there is no compiler");
    snprintf(text, text_size, "%s", fake.compiler);
    return GYRE_OK;
}

static inline gyre_status fake_look(uint32_t index, gyre_device_state *out_state)
{
    fake.looks++;
    if (fake.look != GYRE_OK)
        return gyre_fail(fake.look, "nobody tells");
    out_state->temperature_c = 40 + (int32_t)index;
    return GYRE_OK;
}

static inline gyre_status fake_compile(gyre_dev *dev, const gyre_dev_source *source,
                                       void **out_image, size_t *out_size)
{
    (void)dev;
    fake.compiles++;
    fake.source = *source;
    *out_image = NULL;
    *out_size = 0;
    if (fake.compile != GYRE_OK) {
        gyre_build_log_set("line 1: wrong", 13);
        return gyre_fail(fake.compile, "'%s' did not compile", source->name);
    }
    *out_size = (size_t)snprintf(fake.image, sizeof fake.image, "image of %s", source->text) + 1;
    if (gyre_alloc(NULL, *out_size, 1, out_image) != GYRE_OK)
        return GYRE_NO_MEMORY;
    memcpy(*out_image, fake.image, *out_size);
    return GYRE_OK;
}

static inline gyre_status fake_module_open(gyre_dev *dev, const gyre_dev_code *code,
                                           gyre_dev_module **out_module)
{
    const gyre_status status = fake.compiles == 0 && code->image && fake.open_cached != GYRE_OK
                                   ? fake.open_cached
                                   : fake.open;

    fake.opens++;
    fake.code = *code;
    if (code->image)
        snprintf(fake.image, sizeof fake.image, "%.*s", (int)code->image_bytes,
                 (const char *)code->image);
    *out_module = status == GYRE_OK ? (gyre_dev_module *)(void *)dev : NULL;
    return status == GYRE_OK ? GYRE_OK : gyre_fail(status, "the driver does not take it");
}

#define FAKE_BACKEND(id)                                                                           \
    static const gyre_backend fake_backend_##id = {                                                \
        .name = #id,                                                                               \
        .probe = fake_probe_##id,                                                                  \
        .describe = fake_describe_##id,                                                            \
        .compiler = fake_compiler,                                                                 \
        .look = fake_look,                                                                         \
        .compile = fake_compile,                                                                   \
        .module_open = fake_module_open,                                                           \
    }

#define fake_describe_opencl fake_describe_null
FAKE_BACKEND(cpu);
FAKE_BACKEND(cuda);
FAKE_BACKEND(opencl);
FAKE_BACKEND(null);

const gyre_backend *const gyre_backends[] = {
    &fake_backend_cpu, &fake_backend_cuda, &fake_backend_opencl, &fake_backend_null, NULL,
};

#endif
