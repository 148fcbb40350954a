/* SPDX-License-Identifier: Apache-2.0
 *
 * driver: see driver.h. The device and its contexts.
 */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { DEPTH = 8, VERSION = 13000, MAJOR = 9, MINOR = 1 };

struct driver_state driver = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                              .changed = PTHREAD_COND_INITIALIZER};

static pid_t owner; /* who called cuInit: a forked child has no driver */
static _Thread_local gyre_cu_context *stack[DEPTH];
static _Thread_local int depth;

gyre_cu_context *driver_current(void)
{
    return depth > 0 ? stack[depth - 1] : NULL;
}

int driver_ready(void)
{
    int fault;

    if (owner != getpid())
        return GYRE_CU_NOT_INITIALIZED;
    pthread_mutex_lock(&driver.mutex);
    fault = driver.fault;
    pthread_mutex_unlock(&driver.mutex);
    return fault ? fault : driver_current() ? GYRE_CU_SUCCESS : GYRE_CU_INVALID_CONTEXT;
}

void driver_await_work(const gyre_cu_context *context)
{
    pthread_mutex_lock(&driver.mutex);
    while (context ? context->pending > 0 : driver.pending > 0)
        pthread_cond_wait(&driver.changed, &driver.mutex);
    pthread_mutex_unlock(&driver.mutex);
}

int cuInit(unsigned flags)
{
    if (owner == 0)
        owner = getpid();
    return flags != 0 ? GYRE_CU_INVALID_VALUE : owner == getpid() ? 0 : GYRE_CU_NOT_INITIALIZED;
}

int cuDriverGetVersion(int *version)
{
    *version = VERSION;
    return 0;
}

int cuGetErrorName(int error, const char **name)
{
    static const struct {
        int value;
        const char *name;
    } errors[] = {
#define ROW(ours, theirs, value) {value, #theirs},
        GYRE_CU_CONSTANTS(ROW)
#undef ROW
    };

    for (size_t i = 0; errors[i].value != GYRE_CU_UNKNOWN; i++)
        if (errors[i].value == error) {
            *name = errors[i].name;
            return 0;
        }
    return GYRE_CU_INVALID_VALUE;
}

/* NVRTC asks for a table to keep what it compiles, and crashes where there is no such function. */
GYRE_API int cuGetExportTable(const void **table, const void *id);

int cuGetExportTable(const void **table, const void *id)
{
    (void)id;
    *table = NULL;
    return GYRE_CU_NOT_FOUND;
}

int cuDeviceGetCount(int *count)
{
    *count = 1;
    return 0;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = 0;
    return ordinal == 0 ? 0 : GYRE_CU_INVALID_DEVICE;
}

int cuDeviceGetName(char *name, int size, int device)
{
    (void)device;
    snprintf(name, (size_t)size, "PTX on this processor");
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    static const int values[][2] = {
        {GYRE_CU_DEVICE_THREADS, DRIVER_THREADS},
        {GYRE_CU_DEVICE_BLOCK_X, 1024},
        {GYRE_CU_DEVICE_BLOCK_X + 1, 1024},
        {GYRE_CU_DEVICE_BLOCK_X + 2, 64},
        {GYRE_CU_DEVICE_GRID_X, INT32_MAX},
        {GYRE_CU_DEVICE_GRID_X + 1, 65535},
        {GYRE_CU_DEVICE_GRID_X + 2, 65535},
        {GYRE_CU_DEVICE_SHARED, DRIVER_SHARED},
        {GYRE_CU_DEVICE_SHARED_OPT_IN, DRIVER_SHARED_MOST},
        {GYRE_CU_DEVICE_WARP, PTX_LANES},
        {GYRE_CU_DEVICE_CLOCK_KHZ, 1000000}, /* its clock counts nanoseconds */
        {GYRE_CU_DEVICE_UNITS, DRIVER_UNITS},
        {GYRE_CU_DEVICE_UNIT_THREADS, DRIVER_UNIT_THREADS},
        {GYRE_CU_DEVICE_L2, 1 << 20},
        {GYRE_CU_DEVICE_MAPS_HOST, 1},
        {GYRE_CU_DEVICE_UNIFIED, 1},
        {GYRE_CU_DEVICE_COOPERATIVE, 1},
        {GYRE_CU_DEVICE_PRIORITIES, 1},
        {GYRE_CU_DEVICE_MAJOR, MAJOR}, /* no such one: so it gets the PTX of 9.0 */
        {GYRE_CU_DEVICE_MINOR, MINOR},
    };

    (void)device;
    *value = 0;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (values[i][0] == attribute)
            *value = values[i][1];
    return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = DRIVER_MEMORY;
    return 0;
}

int cuDeviceGetPCIBusId(char *text, int size, int device)
{
    (void)device;
    snprintf(text, (size_t)size, "FFFF:FF:1F.0");
    return 0;
}

int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
    (void)device, (void)peer;
    *can = 0;
    return 0;
}

int cuCtxCreate_v2(gyre_cu_context **context, unsigned flags, int device)
{
    (void)flags, (void)device;
    if (owner != getpid())
        return GYRE_CU_NOT_INITIALIZED;
    if (driver.fault)
        return driver.fault;
    *context = calloc(1, sizeof **context);
    return *context ? cuCtxPushCurrent_v2(*context) : GYRE_CU_OUT_OF_MEMORY;
}

/* It is kept, for streams that still look at it. */
int cuCtxDestroy_v2(gyre_cu_context *context)
{
    driver_await_work(NULL);
    if (context == driver_current())
        depth--;
    return 0;
}

int cuCtxPushCurrent_v2(gyre_cu_context *context)
{
    if (!context || depth == DEPTH)
        return GYRE_CU_INVALID_CONTEXT;
    stack[depth++] = context;
    return 0;
}

int cuCtxPopCurrent_v2(gyre_cu_context **context)
{
    if (depth == 0)
        return GYRE_CU_INVALID_CONTEXT;
    *context = stack[--depth];
    return 0;
}

int cuCtxGetCurrent(gyre_cu_context **context)
{
    *context = driver_current();
    return 0;
}

int cuCtxGetDevice(int *device)
{
    *device = 0;
    return driver_current() ? 0 : GYRE_CU_INVALID_CONTEXT;
}

int cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return driver_ready();
}

int cuCtxEnablePeerAccess(gyre_cu_context *peer, unsigned flags)
{
    (void)peer, (void)flags;
    return GYRE_CU_NOT_SUPPORTED;
}
