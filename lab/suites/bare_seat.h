/* SPDX-License-Identifier: Apache-2.0
 *
 * bare_seat: a kernel that stays on a device and polls memory, without any of the runtime of
 * actors.
 *
 * Gyre opens the device, compiles and launches the kernel, and takes the memory. From then on
 * nothing of Gyre is called before the kernel has ended: both sides have pinned memory, and that is
 * all.
 *
 * Threads   the one that runs the case opens and closes.
 * Owns      the device, the kernel and the memory.
 */
#ifndef GYRE_SUITES_BARE_SEAT_H
#define GYRE_SUITES_BARE_SEAT_H

#include "gyre/clock.h"
#include "suites/bare_line.h"
#include "suites/device_clock.h"
#include "suites/partner.h"

enum {
    GYRE_BARE_ROW = 4096,    /* bytes from one replica of a request to the next */
    GYRE_BARE_REPLICAS = 32, /* most */
    GYRE_BARE_LANES = 256,   /* of a block that handles a request, a power of two */
    GYRE_BARE_WARPS = 32,    /* of a block */
    GYRE_BARE_CHUNK = 8,     /* slots in a row that belong to a warp */
    GYRE_BARE_RINGS = 2,     /* most */
};

/* What a warp tells of a stream; as bare_echo.cu has it. On the CPU there is one for each ring. */
typedef struct __attribute__((aligned(64))) gyre_bare_progress {
    uint64_t count, sum, mix;
    uint32_t first; /* that it has not done */
} gyre_bare_progress;

typedef struct gyre_bare_seat {
    gyre_bench_device device;
    gyre_kernel *kernel;
    gyre_partner cpus; /* where the case's thread may run again */
    size_t bytes;      /* of the memory, */
    void *memory;      /* which is zero at first */
} gyre_bare_seat;

/* Opens a device and takes the memory. On the CPU what is launched spins on the last CPU, and the
 * caller goes to the first, there and with OpenCL on a CPU: GYRE_UNSUPPORTED with fewer than two.
 * What was opened before a failure is closed again. */
GYRE_MUST_USE gyre_status gyre_bare_seat_open(gyre_bare_seat *seat, const char *backend,
                                              size_t bytes);

/* Compiles `entry` of suites/bare_echo.cu or .cl, or takes the function of that name, and launches
 * it. */
GYRE_MUST_USE gyre_status gyre_bare_seat_launch(gyre_bare_seat *seat, const char *entry,
                                                const char *signature, const gyre_launch *launch);

/* What the caller has launched has been told to end. Accepts half of one. */
void gyre_bare_seat_close(gyre_bare_seat *seat);

/* The parameters of `bare_echo`: requests are lines, GYRE_BARE_ROW apart, or words. */
typedef struct gyre_bare_echo {
    void *requests;
    void *reply;
} gyre_bare_echo;

/* Those of `bare_block`: the same by a block, which adds up the words of a payload. */
typedef struct gyre_bare_block {
    void *requests;
    void *reply;
    const void *payload;
    uint32_t words;   /* of it; 0: requests are answered as they came */
    uint32_t readers; /* replicas; on CUDA as many warps, and GYRE_BARE_LANES more threads */
} gyre_bare_block;

/* Those of `bare_rate`: `rings` rings of lines each way, and what warps tell. */
typedef struct gyre_bare_rate {
    void *requests, *replies, *told;
    uint32_t mask, rings;
    uint32_t answers; /* 0: one way */
} gyre_bare_rate;

/* A wait that cannot last for ever; zero at first. */
typedef struct gyre_bare_patience {
    uint64_t deadline_ns;
    uint32_t looks;
} gyre_bare_patience;

/* After a look in vain; false when it has taken half a minute. */
GYRE_INLINE bool gyre_bare_has_patience(gyre_bare_patience *p)
{
    if (++p->looks % 4096 != 0)
        return true;
    if (p->deadline_ns == 0)
        p->deadline_ns = gyre_clock_after_ns(UINT64_C(30000000000));
    return gyre_clock_now_ns() < p->deadline_ns;
}

/* The texts of the kernels. */
extern const char gyre_bare_echo_cuda[] __attribute__((visibility("hidden")));
extern const char gyre_bare_echo_opencl[] __attribute__((visibility("hidden")));

#endif
