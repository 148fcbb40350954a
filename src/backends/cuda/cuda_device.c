/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_device: what GPUs there are, and contexts on them.
 *
 * Threads   any.
 * Owns      the contexts, unless they were lent.
 * Not here  the driver (cuda_driver.c), how a device is now (cuda_nvml.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/cuda.h"
#include "backends/cuda/cuda_later.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "base/sysfile.h"

static void version_text(int version, char *text, size_t size)
{
    char module[32];

    if (gyre_sysfile_line("/sys/module/nvidia/version", module, sizeof module) && module[0])
        snprintf(text, size, "CUDA %d.%d (%s)", version / 1000, version % 1000 / 10, module);
    else
        snprintf(text, size, "CUDA %d.%d", version / 1000, version % 1000 / 10);
}

gyre_status gyre_cuda_probe(uint32_t *out_count, char *text, size_t text_size)
{
    gyre_status status;
    int version;

    text[0] = '\0';
    status = gyre_cuda_driver_describe(out_count, &version);
    if (status == GYRE_OK)
        version_text(version, text, text_size);
    return status;
}

static int32_t numa_node_of(const char *place)
{
    char path[96], line[16];
    long node;
    char *end;

    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/numa_node", place);
    if (!gyre_sysfile_line(path, line, sizeof line))
        return -1;
    node = strtol(line, &end, 10);
    return end == line || node < 0 || node > 4095 ? -1 : (int32_t)node;
}

static uint64_t reach_of(const gyre_cu_api *cu, uint32_t index, uint32_t count, int device)
{
    uint64_t reach = UINT64_C(1) << index;

    for (uint32_t i = 0; i < count; i++) {
        int peer = 0, can = 0;

        if (i != index && cu->cuDeviceGet(&peer, (int)i) == GYRE_CU_SUCCESS &&
            cu->cuDeviceCanAccessPeer(&can, device, peer) == GYRE_CU_SUCCESS && can)
            reach |= UINT64_C(1) << i;
    }
    return reach;
}

static uint64_t features_of(const gyre_cu_api *cu, int device)
{
    static const struct {
        int attribute;
        uint64_t feature;
    } told[] = {
        {GYRE_CU_DEVICE_COOPERATIVE, GYRE_FEATURE_COOPERATIVE},
        {GYRE_CU_DEVICE_MAPS_HOST, GYRE_FEATURE_MAPPED},
        {GYRE_CU_DEVICE_PRIORITIES, GYRE_FEATURE_PRIORITIES},
        {GYRE_CU_DEVICE_ECC, GYRE_FEATURE_ECC},
        {GYRE_CU_DEVICE_INTEGRATED, GYRE_FEATURE_INTEGRATED},
        {GYRE_CU_DEVICE_TIME_LIMIT, GYRE_FEATURE_TIME_LIMIT},
    };
    uint64_t features = GYRE_FEATURE_IMAGES | GYRE_FEATURE_RESIDENCY | GYRE_FEATURE_GRAPHS |
                        GYRE_FEATURE_TIMING | GYRE_FEATURE_MONITOR | GYRE_FEATURE_F16 |
                        GYRE_FEATURE_F64;
    char compiler[32];

    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
        if (gyre_cuda_attribute(cu, device, told[i].attribute))
            features |= told[i].feature;
    if (gyre_cuda_nvrtc_name(compiler, sizeof compiler) == GYRE_OK)
        features |= GYRE_FEATURE_SOURCE;
    if (cu->cuStreamBatchMemOp_v2)
        features |= GYRE_FEATURE_WAITS;
    return features;
}

static uint32_t positive(int value)
{
    return value > 0 ? (uint32_t)value : 0;
}

static int shared_most(const gyre_cu_api *cu, int device)
{
    const int more = gyre_cuda_attribute(cu, device, GYRE_CU_DEVICE_SHARED_OPT_IN);

    return more > 0 ? more : gyre_cuda_attribute(cu, device, GYRE_CU_DEVICE_SHARED);
}

static void describe_limits(const gyre_cu_api *cu, int device, gyre_device *out)
{
    out->units = positive(gyre_cuda_attribute(cu, device, GYRE_CU_DEVICE_UNITS));
    out->lanes = positive(gyre_cuda_attribute(cu, device, GYRE_CU_DEVICE_WARP));
    out->clock_mhz = positive(gyre_cuda_attribute(cu, device, GYRE_CU_DEVICE_CLOCK_KHZ)) / 1000;
    out->cache_bytes = positive(gyre_cuda_attribute(cu, device, GYRE_CU_DEVICE_L2));
    out->block_threads_most = positive(gyre_cuda_attribute(cu, device, GYRE_CU_DEVICE_THREADS));
    out->unit_threads_most = positive(gyre_cuda_attribute(cu, device, GYRE_CU_DEVICE_UNIT_THREADS));
    for (int i = 0; i < 3; i++) {
        out->block_most[i] = positive(gyre_cuda_attribute(cu, device, GYRE_CU_DEVICE_BLOCK_X + i));
        out->grid_most[i] = positive(gyre_cuda_attribute(cu, device, GYRE_CU_DEVICE_GRID_X + i));
    }
    out->shared_bytes_most = positive(shared_most(cu, device));
    out->parameters_most = 4096; /* of every driver; some take more */
}

gyre_status gyre_cuda_describe(uint32_t index, gyre_device *out_device)
{
    const gyre_cu_api *cu;
    int device = 0, version, result;
    uint32_t count;
    size_t memory = 0;
    gyre_status status = gyre_cuda_driver(&cu);

    if (status == GYRE_OK)
        status = gyre_cuda_driver_describe(&count, &version);
    if (status != GYRE_OK)
        return status;
    out_device->kind = GYRE_DEVICE_GPU;
    out_device->numa_node = -1;
    version_text(version, out_device->driver, sizeof out_device->driver);
    result = cu->cuDeviceGet(&device, (int)index);
    if (result != GYRE_CU_SUCCESS) {
        snprintf(out_device->title, sizeof out_device->title, "a GPU of NVIDIA");
        snprintf(out_device->trouble, sizeof out_device->trouble,
                 "the driver does not give it out: cuDeviceGet returns %d", result);
        return GYRE_OK;
    }
    if (cu->cuDeviceGetName(out_device->title, (int)sizeof out_device->title, device) !=
        GYRE_CU_SUCCESS)
        snprintf(out_device->title, sizeof out_device->title, "a GPU of NVIDIA");
    snprintf(out_device->architecture, sizeof out_device->architecture, "sm_%d%d",
             gyre_cuda_attribute(cu, device, GYRE_CU_DEVICE_MAJOR),
             gyre_cuda_attribute(cu, device, GYRE_CU_DEVICE_MINOR));
    if (cu->cuDeviceGetPCIBusId(out_device->place, (int)sizeof out_device->place, device) ==
        GYRE_CU_SUCCESS) {
        for (char *c = out_device->place; *c; c++) /* as the files of the system spell it */
            if (*c >= 'A' && *c <= 'F')
                *c = (char)(*c - 'A' + 'a');
        out_device->numa_node = numa_node_of(out_device->place);
    } else {
        out_device->place[0] = '\0';
    }
    if (cu->cuDeviceTotalMem_v2(&memory, device) == GYRE_CU_SUCCESS)
        out_device->memory_bytes = memory;
    out_device->features = features_of(cu, device);
    out_device->reach = reach_of(cu, index, count, device);
    describe_limits(cu, device, out_device);
    if (!gyre_cuda_attribute(cu, device, GYRE_CU_DEVICE_UNIFIED))
        snprintf(out_device->trouble, sizeof out_device->trouble,
                 "its memory and the host's do not share their addresses");
    else if (gyre_cuda_attribute(cu, device, GYRE_CU_DEVICE_COMPUTE_MODE) ==
             GYRE_CU_COMPUTE_PROHIBITED)
        snprintf(out_device->trouble, sizeof out_device->trouble,
                 "its compute mode forbids contexts; an administrator can change that with "
                 "nvidia-smi -c DEFAULT");
    return GYRE_OK;
}

static gyre_status new_context(gyre_dev *dev)
{
    gyre_cu_context *popped;
    int result = dev->cu->cuCtxCreate_v2(
        &dev->context, GYRE_CU_CONTEXT_SPIN | GYRE_CU_CONTEXT_MAP_HOST, dev->device);

    if (result == GYRE_CU_SUCCESS) {
        gyre_cuda_note(dev, dev->cu->cuCtxPopCurrent_v2(&popped));
        return GYRE_OK;
    }
    dev->context = NULL;
    if (result == GYRE_CU_UNKNOWN || result == GYRE_CU_OPERATING_SYSTEM)
        return gyre_fail_native(GYRE_UNAVAILABLE, result,
                                "cuCtxCreate on device %u fails without a reason", dev->index);
    if (result == GYRE_CU_DEVICE_UNAVAILABLE)
        return gyre_fail_native(GYRE_UNAVAILABLE, result,
                                "device %u is used by another process alone, or forbids contexts",
                                dev->index);
    return gyre_cuda_fail(dev, result, "cuCtxCreate on device %u", dev->index);
}

/* Whether what we were lent is a context of this device. */
static gyre_status lent_context(gyre_dev *dev, void *adopt)
{
    int device = -1, result;
    gyre_status status;
    bool pushed;

    dev->context = adopt;
    dev->adopted = true;
    status = gyre_cuda_enter(dev, &pushed);
    if (status != GYRE_OK)
        return status;
    result = dev->cu->cuCtxGetDevice(&device);
    gyre_cuda_leave(dev, pushed);
    if (result != GYRE_CU_SUCCESS)
        return gyre_cuda_fail(dev, result, "cuCtxGetDevice of the context to adopt");
    if (device != dev->device)
        return gyre_fail(GYRE_INVALID, "the context to adopt is one of device %d, not %d", device,
                         dev->device);
    return GYRE_OK;
}

gyre_status gyre_cuda_open(uint32_t index, const gyre_dev_options *options, gyre_dev **out_dev)
{
    const gyre_cu_api *cu;
    gyre_status status = gyre_cuda_driver(&cu);
    gyre_dev *dev;
    void *block;
    bool pushed;
    int result;

    *out_dev = NULL;
    if (status != GYRE_OK)
        return status;
    if (gyre_cuda_dead(index))
        return gyre_fail(GYRE_DEVICE_LOST,
                         "device %u had a fault; the driver gives it to another process only",
                         index);
    status = gyre_alloc(NULL, 1, sizeof *dev, &block);
    if (status != GYRE_OK)
        return status;
    dev = block;
    dev->cu = cu;
    dev->index = index;
    pthread_mutex_init(&dev->mutex, NULL);
    result = cu->cuDeviceGet(&dev->device, (int)index);
    if (result != GYRE_CU_SUCCESS) {
        status = gyre_cuda_fail(dev, result, "cuDeviceGet of device %u", index);
        goto fail;
    }
    dev->architecture = gyre_cuda_attribute(cu, dev->device, GYRE_CU_DEVICE_MAJOR) * 10 +
                        gyre_cuda_attribute(cu, dev->device, GYRE_CU_DEVICE_MINOR);
    dev->shared_most = shared_most(cu, dev->device);
    status = options->adopt ? lent_context(dev, options->adopt) : new_context(dev);
    if (status != GYRE_OK)
        goto fail;
    status = gyre_cuda_enter(dev, &pushed);
    if (status != GYRE_OK)
        goto fail;
    result = cu->cuCtxGetStreamPriorityRange(&dev->priority_least, &dev->priority_greatest);
    gyre_cuda_leave(dev, pushed);
    if (result != GYRE_CU_SUCCESS) {
        status = gyre_cuda_fail(dev, result, "cuCtxGetStreamPriorityRange");
        goto fail;
    }
    *out_dev = dev;
    return GYRE_OK;
fail:
    gyre_cuda_close(dev);
    return status;
}

void gyre_cuda_close(gyre_dev *dev)
{
    if (dev->context && dev->adopted)
        gyre_cuda_later_forget(dev);
    else if (dev->context && !gyre_cuda_quiet(dev) && !gyre_cuda_hung())
        gyre_cuda_later(dev, GYRE_CUDA_DESTROY, NULL);
    gyre_cuda_forget_odd(dev);
    pthread_mutex_destroy(&dev->mutex);
    gyre_free(NULL, dev, 1, sizeof *dev);
}

void *gyre_cuda_native(gyre_dev *dev, gyre_dev_stream *stream)
{
    return stream ? (void *)stream->stream : (void *)dev->context;
}

gyre_status gyre_cuda_room(gyre_dev *dev, uint64_t *out_free, uint64_t *out_total)
{
    size_t available = 0, total = 0;
    gyre_status status;
    bool pushed;
    int result;

    *out_free = 0;
    *out_total = 0;
    status = gyre_cuda_enter(dev, &pushed);
    if (status != GYRE_OK)
        return status;
    result = dev->cu->cuMemGetInfo_v2(&available, &total);
    gyre_cuda_leave(dev, pushed);
    if (result != GYRE_CU_SUCCESS)
        return gyre_cuda_fail(dev, result, "cuMemGetInfo");
    *out_free = available;
    *out_total = total;
    return GYRE_OK;
}
