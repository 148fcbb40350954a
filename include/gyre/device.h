/* SPDX-License-Identifier: Apache-2.0
 *
 * device: what this machine can compute on: its processor, GPUs of NVIDIA, whatever has OpenCL.
 *
 * Drivers are looked for once, by dlopen, at the first question; what was found is constant from
 * then on. A driver that is missing, too old or broken is a row that says so, never an abort. No
 * device is opened by looking: that is gyre_context_create.
 *
 * Threads   any; the first call of any of these blocks until all drivers have answered.
 * Owns      the rows, to the end of the process.
 * Not here  using a device (gyre/context.h), how it is now (gyre/monitor.h).
 */
#ifndef GYRE_DEVICE_H
#define GYRE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

/* Values are frozen. */
typedef enum gyre_device_kind {
    GYRE_DEVICE_CPU = 1, /* the host's processor, or OpenCL on it */
    GYRE_DEVICE_GPU = 2,
    GYRE_DEVICE_ACCELERATOR = 3, /* anything else that OpenCL knows */
    GYRE_DEVICE_NULL = 4,        /* computes on the host and fails when it is told to */
} gyre_device_kind;

/* What a device can do, as bits. Values are frozen. */
typedef enum gyre_feature {
    GYRE_FEATURE_FUNCTIONS = 1 << 0,   /* kernels that are C functions of this program */
    GYRE_FEATURE_SOURCE = 1 << 1,      /* kernels from source: there is a compiler */
    GYRE_FEATURE_IMAGES = 1 << 2,      /* kernels that were compiled elsewhere */
    GYRE_FEATURE_COOPERATIVE = 1 << 3, /* launches whose blocks are all resident at once */
    GYRE_FEATURE_RESIDENCY = 1 << 4,   /* knows how many blocks fit a unit */
    GYRE_FEATURE_GRAPHS = 1 << 5,      /* the driver submits a graph as one */
    GYRE_FEATURE_TIMING = 1 << 6,      /* events tell the device's own time */
    GYRE_FEATURE_HOST_REACH = 1 << 7,  /* the host can load and store device memory */
    GYRE_FEATURE_MAPPED = 1 << 8,      /* kernels reach pinned memory at the host's address */
    GYRE_FEATURE_PRIORITIES = 1 << 9,  /* streams differ by priority */
    GYRE_FEATURE_MONITOR = 1 << 10,    /* tells temperature, power, clocks */
    GYRE_FEATURE_F16 = 1 << 11,        /* arithmetic of that type */
    GYRE_FEATURE_F64 = 1 << 12,
    GYRE_FEATURE_ECC = 1 << 13,        /* memory errors are corrected, and counted */
    GYRE_FEATURE_INTEGRATED = 1 << 14, /* its memory is the host's */
    GYRE_FEATURE_TIME_LIMIT = 1 << 15, /* the driver ends kernels that run for seconds */
    GYRE_FEATURE_FAULTS = 1 << 16,     /* fails when it is told to */
    GYRE_FEATURE_WAITS = 1 << 17,      /* streams wait for words (gyre_stream_words) */
} gyre_feature;

/* One device. Constant, and valid until the process ends. */
typedef struct gyre_device {
    size_t struct_size;    /* of the library's struct: a newer one has more at its end */
    char name[24];         /* "cuda:0" */
    const char *backend;   /* "cuda"; static */
    uint32_t index;        /* among the backend's devices */
    gyre_device_kind kind; /* */
    char title[96];        /* "NVIDIA H200" */
    char driver[64];       /* "CUDA 13.0": also what a compiled kernel depends on */
    char architecture[48]; /* "sm_90": likewise */
    char place[32];        /* where it is plugged in, "0000:06:00.0"; "" when nobody says */
    char trouble[192];     /* why it cannot be used; "" when it can */
    uint64_t features;     /* gyre_feature, together */

    uint64_t memory_bytes; /* of the device */
    uint64_t cache_bytes;  /* the last cache before that memory; 0: unknown */
    uint32_t units;        /* multiprocessors, compute units, CPUs */
    uint32_t lanes;        /* that step together: a warp; 1 on a CPU */
    uint32_t clock_mhz;    /* the highest; 0: unknown */
    int32_t numa_node;     /* the host memory that is near; -1: unknown, or all the same */
    uint64_t reach;        /* bit i: it reaches the memory of its backend's device i */

    /* What a launch may ask for at most. */
    uint32_t block_threads_most; /* of a block, all dimensions together */
    uint32_t block_most[3];      /* by dimension */
    uint32_t grid_most[3];       /* in blocks, by dimension */
    uint32_t shared_bytes_most;  /* of a block */
    uint32_t unit_threads_most;  /* resident on one unit; 0: unknown */
    uint32_t parameters_most;    /* bytes of a kernel's parameters */
} gyre_device;

/* How many devices there are, those in trouble included. Device 0 is the CPU. 0 in a forked child.
 * Thread-safe; the first call may block for as long as the drivers take; not for signal handlers;
 * like all below. */
GYRE_API size_t gyre_device_count(void);

/* Device `index`, or NULL past the last. */
GYRE_API const gyre_device *gyre_device_at(size_t index);

/* The device called `name`: "cuda:0", or "cuda" for the first of that backend. NULL, with a detail
 * that lists the names there are, when there is none. */
GYRE_API const gyre_device *gyre_device_find(const char *name);

/* Whether it has the feature, or all of several. */
GYRE_INLINE bool gyre_device_has(const gyre_device *device, uint64_t features)
{
    return (device->features & features) == features;
}

/* Whether kernels and copies of `device` can reach the memory of `other` without the host between
 * them. A device reaches itself; devices of different backends never reach each other. */
GYRE_API bool gyre_device_reaches(const gyre_device *device, const gyre_device *other);

/* Why a clock is lowered, as bits. Values are frozen. */
typedef enum gyre_throttle {
    GYRE_THROTTLE_POWER = 1 << 0,    /* the limit of power */
    GYRE_THROTTLE_THERMAL = 1 << 1,  /* too hot */
    GYRE_THROTTLE_HARDWARE = 1 << 2, /* the board slows it down: power supply, heat */
    GYRE_THROTTLE_SETTING = 1 << 3,  /* somebody wants it so */
    GYRE_THROTTLE_IDLE = 1 << 4,     /* nothing to do: no trouble */
    GYRE_THROTTLE_OTHER = 1 << 5,
} gyre_throttle;

/* How a device is now. A negative number is one that nobody tells. */
typedef struct gyre_device_state {
    size_t struct_size; /* set by the caller: sizeof(gyre_device_state) */
    int64_t memory_total_bytes;
    int64_t memory_used_bytes;   /* by all processes */
    int32_t busy_percent;        /* of the last while, in which a kernel ran */
    int32_t memory_busy_percent; /* likewise, in which its memory was read or written */
    int32_t temperature_c;
    int32_t temperature_limit_c; /* at which it slows down */
    int32_t power_mw;
    int32_t power_limit_mw;
    int32_t clock_mhz;
    int32_t clock_most_mhz;
    int32_t memory_clock_mhz;
    int32_t reserved;
    int64_t throttle;        /* gyre_throttle, together */
    int64_t ecc_corrected;   /* errors since the driver was loaded */
    int64_t ecc_uncorrected; /* likewise */
    int64_t xid;       /* the last fault that the driver reported while this process looked, */
    int64_t xid_count; /* and how many there were */
} gyre_device_state;

/* Asks the driver, without opening the device. Fills in no more than struct_size bytes; what is not
 * known is -1. GYRE_INVALID when struct_size is not set, GYRE_UNSUPPORTED when the device tells
 * nothing at all, GYRE_DEVICE_LOST when it has fallen off its bus. May block for milliseconds. */
GYRE_API GYRE_MUST_USE gyre_status gyre_device_look(const gyre_device *device,
                                                    gyre_device_state *out_state);

/* A backend's driver: whether it is there. Constant, and valid until the process ends. */
typedef struct gyre_driver {
    const char *backend;   /* "cpu", "cuda", "opencl", "null" */
    gyre_status status;    /* GYRE_OK, or why there are no devices */
    uint32_t device_count; /* */
    char text[192];        /* its version, or what is missing and what to do */
} gyre_driver;

/* The driver of backend `index`, or NULL past the last. */
GYRE_API const gyre_driver *gyre_driver_at(size_t index);

GYRE_END_DECLS

#endif
