/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_driver: opens NVIDIA's driver, and decides what its results mean.
 *
 * Only libcuda.so.1 is asked for: a libcuda.so may be the toolkit's stub, which exports everything
 * and can do nothing. What cuInit refuses becomes a sentence that says what to do.
 *
 * Sticky are the results after which the driver answers every call of the context, and in practice
 * of the device in this process, with the same: faults of a kernel (addresses, instructions, the
 * stack, an assertion, the watchdog), errors of memory or NVLink that were not corrected, and
 * whatever the driver cannot name. A launch that asks for too much (701, 720) is not: nothing has
 * happened. A context that was destroyed under us (709, 201) is lost alone.
 *
 * Threads   any.
 * Owns      the library, to the end of the process.
 * Not here  devices (cuda_device.c).
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backends/cuda/cuda.h"
#include "base/dynlib.h"
#include "base/fail.h"
#include "base/process.h"

static const char *const usual_files[] = {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", NULL};

enum {
#define ROW(name, parameters) +1
    REQUIRED = 0 GYRE_CU_REQUIRED(ROW),
    OPTIONAL = 0 GYRE_CU_OPTIONAL(ROW),
#undef ROW
};

static const char *const symbols[] = {
#define ROW(name, parameters) #name,
    GYRE_CU_REQUIRED(ROW)
#undef ROW
        NULL};

static const char *const optional_symbols[] = {
#define ROW(name, parameters) #name,
    GYRE_CU_OPTIONAL(ROW)
#undef ROW
        NULL};

_Static_assert(sizeof(gyre_cu_api) == (REQUIRED + OPTIONAL) * sizeof(void *), "only pointers");

/* `mutex` guards everything down to `version`, which is constant once `asked` is true. */
static struct {
    pthread_mutex_t mutex;
    const char *const *files;
    gyre_dynlib *library;
    bool asked;
    gyre_error trouble; /* status GYRE_OK: none */
    gyre_cu_api api;
    uint32_t count;
    int version;
    uint32_t dead[GYRE_CUDA_DEVICES_MOST]; /* shared */
    uint32_t hung;                         /* shared: 1: a context of this process may never end */
} driver = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* relaxed, both: each is a flag that only rises, and nothing is published with it; a thread that
 * sees it late asks the driver, which answers the same. */
static bool raised(const uint32_t *flag)
{
    return __atomic_load_n(flag, __ATOMIC_RELAXED) != 0;
}

static void raise_flag(uint32_t *flag)
{
    __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
}

static const char *why_not(int result)
{
    switch (result) {
    case GYRE_CU_NO_DEVICE:
        return "the driver finds no GPU that it may use; see CUDA_VISIBLE_DEVICES and /dev/nvidia*";
    case GYRE_CU_STUB_LIBRARY:
        return "this is the toolkit's stub, not a driver; take its folder out of LD_LIBRARY_PATH";
    case GYRE_CU_SYSTEM_NOT_READY:
        return "the system is not ready; is nvidia-fabricmanager running?";
    case GYRE_CU_DRIVER_MISMATCH:
        return "libcuda and the kernel module are of different versions; restart the machine";
    case GYRE_CU_COMPAT:
        return "this libcuda is one for compatibility, which this GPU is not meant for";
    case GYRE_CU_MPS_CONNECTION:
    case GYRE_CU_MPS_NOT_READY:
    case GYRE_CU_MPS_CLIENTS:
    case GYRE_CU_MPS_CONNECTIONS:
        return "the MPS server does not let us in";
    case GYRE_CU_UNKNOWN:
    case GYRE_CU_OPERATING_SYSTEM:
        return "may this user open /dev/nvidia* and is the module nvidia_uvm loaded?";
    default:
        return "the driver does not start";
    }
}

static const char *name_of(const gyre_cu_api *api, int result)
{
    const char *name = NULL;

    if (!api->cuGetErrorName || api->cuGetErrorName(result, &name) != GYRE_CU_SUCCESS || !name)
        return "a result without a name";
    return name;
}

static gyre_status start(gyre_cu_api *api, uint32_t *out_count, int *out_version)
{
    int count = 0;
    int result = api->cuInit(0);

    if (result != GYRE_CU_SUCCESS)
        return gyre_fail_native(GYRE_UNAVAILABLE, result, "cuInit: %s: %s", name_of(api, result),
                                why_not(result));
    result = api->cuDriverGetVersion(out_version);
    if (result != GYRE_CU_SUCCESS)
        return gyre_fail_native(GYRE_UNAVAILABLE, result, "cuDriverGetVersion: %s",
                                name_of(api, result));
    result = api->cuDeviceGetCount(&count);
    if (result != GYRE_CU_SUCCESS)
        return gyre_fail_native(GYRE_UNAVAILABLE, result, "cuDeviceGetCount: %s: %s",
                                name_of(api, result), why_not(result));
    if (count <= 0)
        return gyre_fail(GYRE_UNAVAILABLE, "%s", why_not(GYRE_CU_NO_DEVICE));
    *out_count = count < GYRE_CUDA_DEVICES_MOST ? (uint32_t)count : GYRE_CUDA_DEVICES_MOST;
    return GYRE_OK;
}

static gyre_status open_driver(void)
{
    void *table[REQUIRED + OPTIONAL];
    gyre_status status;

    status = gyre_dynlib_open(driver.files ? driver.files : usual_files, symbols, table,
                              &driver.library);
    if (status != GYRE_OK) {
        char why[200];

        snprintf(why, sizeof why, "%.190s", gyre_error_last()->text);
        return gyre_fail(status, "no driver of NVIDIA, or a very old one: %s", why);
    }
    for (size_t i = 0; i < OPTIONAL; i++)
        table[REQUIRED + i] = gyre_dynlib_symbol(driver.library, optional_symbols[i]);
    memcpy(&driver.api, table, sizeof driver.api);
    return start(&driver.api, &driver.count, &driver.version);
}

gyre_status gyre_cuda_driver(const gyre_cu_api **out_api)
{
    pthread_mutex_lock(&driver.mutex);
    if (!driver.asked) {
        driver.asked = true;
        driver.trouble = (gyre_error){.status = GYRE_OK};
        if (open_driver() != GYRE_OK)
            driver.trouble = *gyre_error_last();
    }
    pthread_mutex_unlock(&driver.mutex);
    /* constant since it was asked */
    *out_api = driver.trouble.status == GYRE_OK ? &driver.api : NULL;
    if (*out_api)
        return GYRE_OK;
    return gyre_fail_native(driver.trouble.status, driver.trouble.native, "%s",
                            driver.trouble.text);
}

gyre_status gyre_cuda_driver_describe(uint32_t *out_count, int *out_version)
{
    const gyre_cu_api *api;
    const gyre_status status = gyre_cuda_driver(&api);

    *out_count = status == GYRE_OK ? driver.count : 0;
    *out_version = status == GYRE_OK ? driver.version : 0;
    return status;
}

void gyre_cuda_driver_forget(const char *const *files)
{
    pthread_mutex_lock(&driver.mutex);
    gyre_dynlib_close(driver.library);
    driver.library = NULL;
    driver.files = files;
    driver.asked = false;
    driver.api = (gyre_cu_api){0};
    driver.count = 0;
    driver.version = 0;
    memset(driver.dead, 0, sizeof driver.dead);
    driver.hung = 0;
    pthread_mutex_unlock(&driver.mutex);
}

bool gyre_cuda_sticky(int result)
{
    switch (result) {
    case GYRE_CU_ECC_UNCORRECTABLE:
    case GYRE_CU_NVLINK_UNCORRECTABLE:
    case GYRE_CU_CONTAINED:
    case GYRE_CU_ILLEGAL_ADDRESS:
    case GYRE_CU_LAUNCH_TIMEOUT:
    case GYRE_CU_ASSERT:
    case GYRE_CU_HARDWARE_STACK:
    case GYRE_CU_ILLEGAL_INSTRUCTION:
    case GYRE_CU_MISALIGNED:
    case GYRE_CU_ADDRESS_SPACE:
    case GYRE_CU_INVALID_PC:
    case GYRE_CU_LAUNCH_FAILED:
    case GYRE_CU_TENSOR_LEAK:
    case GYRE_CU_MPS_RPC:
    case GYRE_CU_MPS_TERMINATED:
    case GYRE_CU_EXTERNAL_DEVICE:
    case GYRE_CU_UNKNOWN:
        return true;
    default:
        return false;
    }
}

gyre_status gyre_cuda_status(int result)
{
    if (gyre_cuda_sticky(result))
        return GYRE_DEVICE_LOST;
    if (result >= GYRE_CU_CAPTURE_UNSUPPORTED && result <= GYRE_CU_CAPTURE_THREAD)
        return GYRE_INVALID; /* the caller captures the stream that we were lent */
    switch (result) {
    case GYRE_CU_SUCCESS:
        return GYRE_OK;
    case GYRE_CU_NOT_READY:
        return GYRE_AGAIN;
    case GYRE_CU_OUT_OF_MEMORY:
        return GYRE_NO_MEMORY;
    case GYRE_CU_DEINITIALIZED: /* the process is ending */
    case GYRE_CU_CONTEXT_DESTROYED:
    case GYRE_CU_INVALID_CONTEXT: /* the one that we were lent is gone */
        return GYRE_DEVICE_LOST;
    case GYRE_CU_NOT_FOUND:
        return GYRE_NOT_FOUND;
    case GYRE_CU_INVALID_VALUE:
    case GYRE_CU_INVALID_HANDLE:
    case GYRE_CU_OUT_OF_RESOURCES:
    case GYRE_CU_COOPERATIVE_LARGE:
    case GYRE_CU_NOT_PERMITTED:
        return GYRE_INVALID;
    case GYRE_CU_INVALID_IMAGE:
    case GYRE_CU_INVALID_PTX:
    case GYRE_CU_INVALID_SOURCE:
        return GYRE_CORRUPT;
    case GYRE_CU_NO_BINARY_FOR_GPU:
    case GYRE_CU_PTX_VERSION:
    case GYRE_CU_JIT_DISABLED:
    case GYRE_CU_NOT_SUPPORTED:
        return GYRE_UNSUPPORTED;
    case GYRE_CU_OPERATING_SYSTEM:
        return GYRE_IO;
    case GYRE_CU_NOT_INITIALIZED: /* a forked child */
    case GYRE_CU_STUB_LIBRARY:
    case GYRE_CU_NEWER_DRIVER:
    case GYRE_CU_DEVICE_UNAVAILABLE:
    case GYRE_CU_NO_DEVICE:
    case GYRE_CU_INVALID_DEVICE:
    case GYRE_CU_NOT_LICENSED:
    case GYRE_CU_JIT_NOT_FOUND:
    case GYRE_CU_SYSTEM_NOT_READY:
    case GYRE_CU_DRIVER_MISMATCH:
    case GYRE_CU_COMPAT:
    case GYRE_CU_MPS_CONNECTION:
    case GYRE_CU_MPS_NOT_READY:
    case GYRE_CU_MPS_CLIENTS:
    case GYRE_CU_MPS_CONNECTIONS:
        return GYRE_UNAVAILABLE;
    default:
        return GYRE_INTERNAL;
    }
}

void gyre_cuda_note(gyre_dev *dev, int result)
{
    if (!dev || !gyre_cuda_sticky(result))
        return;
    raise_flag(&dev->faulted);
    raise_flag(&driver.dead[dev->index]);
}

gyre_status gyre_cuda_fail_at(gyre_dev *dev, int result, const char *file, int32_t line,
                              const char *format, ...)
{
    const gyre_status status = gyre_cuda_status(result);
    char what[160];
    va_list args;

    gyre_cuda_note(dev, result);
    if (status == GYRE_AGAIN)
        return status;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return gyre_fail_at(status, result, file, line, "%s: %s", what, name_of(&driver.api, result));
}

bool gyre_cuda_dead(uint32_t index)
{
    return raised(&driver.dead[index]);
}

bool gyre_cuda_quiet(const gyre_dev *dev)
{
    return raised(&dev->quiet) || gyre_process_check() != GYRE_OK;
}

/* Whether the driver ended what ran in this context, or it may go on for ever. */
void gyre_cuda_abandon(gyre_dev *dev)
{
    raise_flag(&dev->quiet);
    if (!raised(&dev->faulted))
        raise_flag(&driver.hung);
}

bool gyre_cuda_hung(void)
{
    return raised(&driver.hung);
}

gyre_status gyre_cuda_enter(gyre_dev *dev, bool *out_pushed)
{
    gyre_cu_context *current = NULL;
    int result = dev->cu->cuCtxGetCurrent(&current);

    *out_pushed = false;
    if (result == GYRE_CU_SUCCESS && current == dev->context)
        return GYRE_OK;
    result = dev->cu->cuCtxPushCurrent_v2(dev->context);
    if (result != GYRE_CU_SUCCESS)
        return gyre_cuda_fail(dev, result, "cuCtxPushCurrent");
    *out_pushed = true;
    return GYRE_OK;
}

void gyre_cuda_leave(gyre_dev *dev, bool pushed)
{
    gyre_cu_context *context;

    if (pushed)
        gyre_cuda_note(dev, dev->cu->cuCtxPopCurrent_v2(&context));
}

int gyre_cuda_attribute(const gyre_cu_api *cu, int device, int attribute)
{
    int value = 0;

    return cu->cuDeviceGetAttribute(&value, attribute, device) == GYRE_CU_SUCCESS ? value : 0;
}
