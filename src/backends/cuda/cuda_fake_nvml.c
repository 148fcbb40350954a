/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_fake_nvml: a library that tells made-up things of GPUs, for tests, as libnvidia-ml.so.1 does
 * of real ones. Device 0 is at 0000:A0:00.0 and tells most; 1 is lost. Built with FAKE_BARE it has
 * nothing but what is needed.
 */
#include <string.h>

#include "gyre/common.h"

typedef struct fake_memory {
    unsigned long long total, free, used;
} fake_memory;

typedef struct fake_event {
    const void *device;
    unsigned long long type, data;
    unsigned gpu, compute;
} fake_event;

enum { NOT_SUPPORTED = 3, NOT_FOUND = 6, TIMEOUT = 10, LOST = 15 };

static const int devices[2];

/* clang-format off */
GYRE_API int nvmlInit_v2(void);
GYRE_API int nvmlDeviceGetHandleByPciBusId_v2(const char *place, const void **device);
GYRE_API int nvmlDeviceGetMemoryInfo(const void *device, fake_memory *memory);
GYRE_API int nvmlDeviceGetUtilizationRates(const void *device, unsigned percent[2]);
GYRE_API int nvmlDeviceGetTemperature(const void *device, int sensor, unsigned *degrees);
GYRE_API int nvmlDeviceGetTemperatureThreshold(const void *device, int kind, unsigned *degrees);
GYRE_API int nvmlDeviceGetPowerUsage(const void *device, unsigned *milliwatts);
GYRE_API int nvmlDeviceGetClockInfo(const void *device, int clock, unsigned *mhz);
GYRE_API int nvmlDeviceGetCurrentClocksThrottleReasons(const void *device, unsigned long long *why);
GYRE_API int nvmlDeviceGetTotalEccErrors(const void *device, int kind, int counter,
                                         unsigned long long *count);
GYRE_API int nvmlEventSetCreate(const void **set);
GYRE_API int nvmlDeviceRegisterEvents(const void *device, unsigned long long types,
                                      const void *set);
GYRE_API int nvmlEventSetWait_v2(const void *set, fake_event *event, unsigned timeout_ms);
/* clang-format on */

int nvmlInit_v2(void)
{
    return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *place, const void **device)
{
    if (strcmp(place, "0000:A0:00.0") != 0 && strcmp(place, "0000:A1:00.0") != 0)
        return NOT_FOUND;
    *device = &devices[place[6] - '0'];
    return 0;
}

#ifndef FAKE_BARE
static int events = 2;

int nvmlDeviceGetMemoryInfo(const void *device, fake_memory *memory)
{
    *memory = (fake_memory){1000, 600, 400};
    return device == &devices[0] ? 0 : LOST;
}

int nvmlDeviceGetUtilizationRates(const void *device, unsigned percent[2])
{
    percent[0] = 70;
    percent[1] = 30;
    return device ? 0 : NOT_FOUND;
}

int nvmlDeviceGetTemperature(const void *device, int sensor, unsigned *degrees)
{
    *degrees = 61;
    return device && sensor == 0 ? 0 : NOT_SUPPORTED;
}

int nvmlDeviceGetTemperatureThreshold(const void *device, int kind, unsigned *degrees)
{
    *degrees = 87;
    return device && kind == 1 ? 0 : NOT_SUPPORTED;
}

int nvmlDeviceGetPowerUsage(const void *device, unsigned *milliwatts)
{
    (void)device;
    *milliwatts = 5;
    return NOT_SUPPORTED;
}

int nvmlDeviceGetClockInfo(const void *device, int clock, unsigned *mhz)
{
    *mhz = clock == 1 ? 1980 : 3201;
    return device ? 0 : NOT_FOUND;
}

/* the power cap, the board's heat, and one of the future */
int nvmlDeviceGetCurrentClocksThrottleReasons(const void *device, unsigned long long *why)
{
    *why = 0x4 | 0x40 | 0x1000;
    return device ? 0 : NOT_FOUND;
}

int nvmlDeviceGetTotalEccErrors(const void *device, int kind, int counter,
                                unsigned long long *count)
{
    *count = kind == 0 ? 12 : 1;
    return device && counter == 0 ? 0 : NOT_SUPPORTED;
}

int nvmlEventSetCreate(const void **set)
{
    *set = &events;
    return 0;
}

int nvmlDeviceRegisterEvents(const void *device, unsigned long long types, const void *set)
{
    return device && types == 8 && set == &events ? 0 : NOT_SUPPORTED;
}

/* Two faults, 13 and then 31, and silence. */
int nvmlEventSetWait_v2(const void *set, fake_event *event, unsigned timeout_ms)
{
    if (set != &events || timeout_ms != 0 || events == 0)
        return TIMEOUT;
    *event = (fake_event){&devices[0], 8, events == 2 ? 13 : 31, 0, 0};
    events--;
    return 0;
}
#endif
