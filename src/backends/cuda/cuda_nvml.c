/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_nvml: how a GPU is now, by NVIDIA's management library.
 *
 * Opened when somebody looks for the first time. A device is found by where it is plugged in:
 * neither library numbers them as the other does. Every value may be missing, with the function or
 * on the device, and is -1 then. The driver's faults (Xid) come as events, of one set that is made
 * once, and are counted by device.
 *
 * Threads   any, one at a time: under the mutex.
 * Owns      the library, to the end of the process.
 * Not here  what is done about it (exec/monitor.c).
 */
#include <stdio.h>
#include <string.h>

#include "backends/cuda/cuda.h"
#include "base/dynlib.h"
#include "base/fail.h"

typedef struct nvml_device nvml_device;       /* nvmlDevice_t */
typedef struct nvml_event_set nvml_event_set; /* nvmlEventSet_t */

/* nvmlMemory_t, nvmlUtilization_t, nvmlEventData_t */
typedef struct nvml_memory {
    unsigned long long total, free, used;
} nvml_memory;

typedef struct nvml_busy {
    unsigned gpu, memory;
} nvml_busy;

typedef struct nvml_event {
    nvml_device *device;
    unsigned long long type;
    unsigned long long data;
    unsigned gpu_instance;
    unsigned compute_instance;
} nvml_event;

_Static_assert(sizeof(nvml_memory) == 24 && sizeof(nvml_busy) == 8 && sizeof(nvml_event) == 32,
               "as the library has them");

enum { SUCCESS = 0, GPU_IS_LOST = 15 };                    /* nvmlReturn_t */
enum { SENSOR_GPU = 0, THRESHOLD_SLOWDOWN = 1 };           /* temperatures */
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };                   /* nvmlClockType_t */
enum { CORRECTED = 0, UNCORRECTED = 1, SINCE_LOADED = 0 }; /* errors of memory */
enum { EVENT_XID = 8 };

enum {
    REASON_IDLE = 0x1,
    REASON_APPLICATION_CLOCKS = 0x2,
    REASON_POWER_CAP = 0x4,
    REASON_HARDWARE = 0x8,
    REASON_SYNC_BOOST = 0x10,
    REASON_THERMAL = 0x20,
    REASON_HARDWARE_THERMAL = 0x40,
    REASON_POWER_BRAKE = 0x80,
    REASON_DISPLAY_CLOCKS = 0x100,
    REASONS_KNOWN = 0x1ff,
};

/* clang-format off */
#define REQUIRED(X)                                                                                \
    X(nvmlInit_v2, (void))                                                                         \
    X(nvmlDeviceGetHandleByPciBusId_v2, (const char *place, nvml_device **device))

#define OPTIONAL(X)                                                                                \
    X(nvmlDeviceGetMemoryInfo, (nvml_device *device, nvml_memory *memory))                         \
    X(nvmlDeviceGetUtilizationRates, (nvml_device *device, nvml_busy *busy))                       \
    X(nvmlDeviceGetTemperature, (nvml_device *device, int sensor, unsigned *degrees))              \
    X(nvmlDeviceGetTemperatureThreshold, (nvml_device *device, int threshold, unsigned *degrees))  \
    X(nvmlDeviceGetPowerUsage, (nvml_device *device, unsigned *milliwatts))                        \
    X(nvmlDeviceGetEnforcedPowerLimit, (nvml_device *device, unsigned *milliwatts))                \
    X(nvmlDeviceGetClockInfo, (nvml_device *device, int clock, unsigned *mhz))                     \
    X(nvmlDeviceGetMaxClockInfo, (nvml_device *device, int clock, unsigned *mhz))                  \
    X(nvmlDeviceGetCurrentClocksEventReasons, (nvml_device *device, unsigned long long *why))      \
    X(nvmlDeviceGetCurrentClocksThrottleReasons, (nvml_device *device, unsigned long long *why))   \
    X(nvmlDeviceGetTotalEccErrors, (nvml_device *device, int error, int counter,                   \
                                    unsigned long long *count))                                    \
    X(nvmlEventSetCreate, (nvml_event_set **set))                                                  \
    X(nvmlDeviceRegisterEvents, (nvml_device *device, unsigned long long types,                    \
                                 nvml_event_set *set))                                             \
    X(nvmlEventSetWait_v2, (nvml_event_set *set, nvml_event *data, unsigned timeout_ms))
/* clang-format on */

typedef struct nvml_api {
#define ROW(name, parameters) int(*name) parameters;
    REQUIRED(ROW)
    OPTIONAL(ROW)
#undef ROW
} nvml_api;

static const char *const symbols[] = {
#define ROW(name, parameters) #name,
    REQUIRED(ROW)
#undef ROW
        NULL};

static const char *const optional_symbols[] = {
#define ROW(name, parameters) #name,
    OPTIONAL(ROW)
#undef ROW
        NULL};

enum {
    REQUIRED_COUNT = sizeof symbols / sizeof symbols[0] - 1,
    OPTIONAL_COUNT = sizeof optional_symbols / sizeof optional_symbols[0] - 1,
};

_Static_assert(sizeof(nvml_api) == (REQUIRED_COUNT + OPTIONAL_COUNT) * sizeof(void *),
               "only pointers");

static const char *const usual_files[] = {"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1",
                                          NULL};

/* A device as the library knows it, and what it reported. */
typedef struct nvml_seen {
    nvml_device *device; /* NULL: not asked for yet */
    bool watched;
    int64_t xid, xid_count;
} nvml_seen;

static struct {
    pthread_mutex_t mutex;
    const char *const *files;
    bool asked;
    gyre_error trouble; /* status GYRE_OK: none */
    gyre_dynlib *library;
    nvml_api api;
    nvml_event_set *set;
    nvml_seen seen[GYRE_CUDA_DEVICES_MOST];
} nvml = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static gyre_status open_library(void)
{
    void *table[REQUIRED_COUNT + OPTIONAL_COUNT + 1];
    gyre_status status =
        gyre_dynlib_open(nvml.files ? nvml.files : usual_files, symbols, table, &nvml.library);
    int result;

    if (status != GYRE_OK) {
        char why[160];

        snprintf(why, sizeof why, "%.150s", gyre_error_last()->text);
        return gyre_fail(GYRE_UNSUPPORTED, "no library that tells of the GPU: %s", why);
    }
    for (size_t i = 0; i < OPTIONAL_COUNT; i++)
        table[REQUIRED_COUNT + i] = gyre_dynlib_symbol(nvml.library, optional_symbols[i]);
    memcpy(&nvml.api, table, sizeof nvml.api);
    result = nvml.api.nvmlInit_v2();
    if (result != SUCCESS)
        return gyre_fail_native(GYRE_UNSUPPORTED, result, "nvmlInit returns %d", result);
    if (!nvml.api.nvmlEventSetCreate || !nvml.api.nvmlDeviceRegisterEvents ||
        !nvml.api.nvmlEventSetWait_v2 || nvml.api.nvmlEventSetCreate(&nvml.set) != SUCCESS)
        nvml.set = NULL;
    return GYRE_OK;
}

void gyre_cuda_nvml_forget(const char *const *files)
{
    pthread_mutex_lock(&nvml.mutex);
    gyre_dynlib_close(nvml.library);
    nvml.files = files;
    nvml.asked = false;
    nvml.trouble = (gyre_error){.status = GYRE_OK};
    nvml.library = NULL;
    nvml.set = NULL;
    memset(nvml.seen, 0, sizeof nvml.seen);
    pthread_mutex_unlock(&nvml.mutex);
}

static gyre_status use(void)
{
    if (!nvml.asked) {
        nvml.asked = true;
        if (open_library() != GYRE_OK)
            nvml.trouble = *gyre_error_last();
    }
    if (nvml.trouble.status == GYRE_OK)
        return GYRE_OK;
    return gyre_fail_native(nvml.trouble.status, nvml.trouble.native, "%s", nvml.trouble.text);
}

static gyre_status find(uint32_t index, nvml_seen **out_seen)
{
    const gyre_cu_api *cu;
    nvml_seen *seen = &nvml.seen[index];
    gyre_status status;
    char place[32];
    int number, result;

    *out_seen = seen;
    if (seen->device)
        return GYRE_OK;
    status = gyre_cuda_driver(&cu);
    if (status != GYRE_OK)
        return status;
    if (cu->cuDeviceGet(&number, (int)index) != GYRE_CU_SUCCESS ||
        cu->cuDeviceGetPCIBusId(place, (int)sizeof place, number) != GYRE_CU_SUCCESS)
        return gyre_fail(GYRE_UNSUPPORTED, "the driver does not say where device %u is", index);
    result = nvml.api.nvmlDeviceGetHandleByPciBusId_v2(place, &seen->device);
    if (result != SUCCESS) {
        seen->device = NULL;
        return gyre_fail_native(result == GPU_IS_LOST ? GYRE_DEVICE_LOST : GYRE_UNSUPPORTED, result,
                                "nvmlDeviceGetHandleByPciBusId of %s returns %d", place, result);
    }
    seen->watched =
        nvml.set && nvml.api.nvmlDeviceRegisterEvents(seen->device, EVENT_XID, nvml.set) == SUCCESS;
    return GYRE_OK;
}

/* Moves the events there are to the devices they are of. */
static void drain_events(void)
{
    nvml_event event = {0};

    /* a bound, for a device that reports without end */
    for (int i = 0; nvml.set && i < 256; i++) {
        if (nvml.api.nvmlEventSetWait_v2(nvml.set, &event, 0) != SUCCESS)
            return;
        for (size_t j = 0; j < GYRE_CUDA_DEVICES_MOST; j++) {
            if (!nvml.seen[j].device || nvml.seen[j].device != event.device)
                continue;
            nvml.seen[j].xid = (int64_t)event.data;
            nvml.seen[j].xid_count++;
        }
    }
}

static int64_t throttle_of(unsigned long long reasons)
{
    static const struct {
        unsigned long long reason;
        int64_t throttle;
    } known[] = {
        {REASON_IDLE, GYRE_THROTTLE_IDLE},
        {REASON_APPLICATION_CLOCKS, GYRE_THROTTLE_SETTING},
        {REASON_POWER_CAP, GYRE_THROTTLE_POWER},
        {REASON_HARDWARE, GYRE_THROTTLE_HARDWARE},
        {REASON_SYNC_BOOST, GYRE_THROTTLE_SETTING},
        {REASON_THERMAL, GYRE_THROTTLE_THERMAL},
        {REASON_HARDWARE_THERMAL, GYRE_THROTTLE_HARDWARE | GYRE_THROTTLE_THERMAL},
        {REASON_POWER_BRAKE, GYRE_THROTTLE_HARDWARE | GYRE_THROTTLE_POWER},
        {REASON_DISPLAY_CLOCKS, GYRE_THROTTLE_SETTING},
    };
    int64_t throttle = 0;

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (reasons & known[i].reason)
            throttle |= known[i].throttle;
    if (reasons & ~(unsigned long long)REASONS_KNOWN)
        throttle |= GYRE_THROTTLE_OTHER;
    return throttle;
}

static int32_t told(int result, const unsigned *value)
{
    return result == SUCCESS && *value <= INT32_MAX ? (int32_t)*value : -1;
}

static void look_clocks(nvml_device *device, gyre_device_state *out)
{
    const nvml_api *api = &nvml.api;
    unsigned long long reasons = 0;
    unsigned value = 0;

    if (api->nvmlDeviceGetClockInfo) {
        out->clock_mhz = told(api->nvmlDeviceGetClockInfo(device, CLOCK_SM, &value), &value);
        out->memory_clock_mhz =
            told(api->nvmlDeviceGetClockInfo(device, CLOCK_MEMORY, &value), &value);
    }
    if (api->nvmlDeviceGetMaxClockInfo)
        out->clock_most_mhz =
            told(api->nvmlDeviceGetMaxClockInfo(device, CLOCK_SM, &value), &value);
    if (api->nvmlDeviceGetCurrentClocksEventReasons
            ? api->nvmlDeviceGetCurrentClocksEventReasons(device, &reasons) == SUCCESS
            : api->nvmlDeviceGetCurrentClocksThrottleReasons &&
                  api->nvmlDeviceGetCurrentClocksThrottleReasons(device, &reasons) == SUCCESS)
        out->throttle = throttle_of(reasons);
}

static void look_heat(nvml_device *device, gyre_device_state *out)
{
    const nvml_api *api = &nvml.api;
    unsigned value = 0;

    if (api->nvmlDeviceGetTemperature)
        out->temperature_c =
            told(api->nvmlDeviceGetTemperature(device, SENSOR_GPU, &value), &value);
    if (api->nvmlDeviceGetTemperatureThreshold)
        out->temperature_limit_c = told(
            api->nvmlDeviceGetTemperatureThreshold(device, THRESHOLD_SLOWDOWN, &value), &value);
    if (api->nvmlDeviceGetPowerUsage)
        out->power_mw = told(api->nvmlDeviceGetPowerUsage(device, &value), &value);
    if (api->nvmlDeviceGetEnforcedPowerLimit)
        out->power_limit_mw = told(api->nvmlDeviceGetEnforcedPowerLimit(device, &value), &value);
}

/* GPU_IS_LOST, or SUCCESS for everything else. */
static int look_memory(nvml_device *device, gyre_device_state *out)
{
    const nvml_api *api = &nvml.api;
    unsigned long long count = 0;
    nvml_busy busy = {0};
    nvml_memory memory = {0};
    int result = SUCCESS;

    if (api->nvmlDeviceGetMemoryInfo) {
        result = api->nvmlDeviceGetMemoryInfo(device, &memory);
        if (result == SUCCESS) {
            out->memory_total_bytes = (int64_t)memory.total;
            out->memory_used_bytes = (int64_t)memory.used;
        }
    }
    if (api->nvmlDeviceGetUtilizationRates &&
        api->nvmlDeviceGetUtilizationRates(device, &busy) == SUCCESS) {
        out->busy_percent = (int32_t)busy.gpu;
        out->memory_busy_percent = (int32_t)busy.memory;
    }
    if (api->nvmlDeviceGetTotalEccErrors) {
        if (api->nvmlDeviceGetTotalEccErrors(device, CORRECTED, SINCE_LOADED, &count) == SUCCESS)
            out->ecc_corrected = (int64_t)count;
        if (api->nvmlDeviceGetTotalEccErrors(device, UNCORRECTED, SINCE_LOADED, &count) == SUCCESS)
            out->ecc_uncorrected = (int64_t)count;
    }
    return result == GPU_IS_LOST ? GPU_IS_LOST : SUCCESS;
}

gyre_status gyre_cuda_look(uint32_t index, gyre_device_state *out_state)
{
    gyre_status status;
    nvml_seen *seen;

    pthread_mutex_lock(&nvml.mutex);
    status = use();
    if (status == GYRE_OK)
        status = find(index, &seen);
    if (status == GYRE_OK) {
        if (look_memory(seen->device, out_state) == GPU_IS_LOST)
            status = gyre_fail_native(GYRE_DEVICE_LOST, GPU_IS_LOST,
                                      "device %u has fallen off its bus", index);
        look_clocks(seen->device, out_state);
        look_heat(seen->device, out_state);
        drain_events();
        if (seen->watched) {
            out_state->xid = seen->xid;
            out_state->xid_count = seen->xid_count;
        }
    }
    pthread_mutex_unlock(&nvml.mutex);
    return status;
}
