/* SPDX-License-Identifier: Apache-2.0
 *
 * device_clock: the lab's clock and guard for devices: what a case on a device stands on.
 *
 * A case has a device by its axis `device`, whose words are backends: the first of that backend
 * that works, opened for this case alone. Its fixture starts with a gyre_bench_device, which is how
 * the clock finds the stream. Device time is that between two events of it: where the host hands
 * in more slowly than the device works, it is the pace of handing in. Without events that tell
 * time it is the host's.
 *
 * Threads   the one that runs the case.
 * Owns      context, stream, events and what the clock flushes with, from open to close.
 * Not here  the bare driver (suites/bare_cuda.h).
 */
#ifndef GYRE_SUITES_DEVICE_CLOCK_H
#define GYRE_SUITES_DEVICE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/bench.h"
#include "gyre/context.h"
#include "gyre/device.h"
#include "gyre/profile.h"
#include "gyre/stream.h"

/* Elements of .axes. The null device computes nothing that is worth a figure: it is for suites that
 * are about faults. */
#define GYRE_DEVICE_AXIS GYRE_AXIS_WORDS("device", "cpu", "cuda", "opencl")
#define GYRE_DEVICE_AXIS_NULL GYRE_AXIS_WORDS("device", "cpu", "cuda", "opencl", "null")

/* The first member of a fixture. Zero is a closed one. */
typedef struct gyre_bench_device {
    const gyre_device *device;
    gyre_context *context;
    gyre_stream *stream;
    /* the clock's */
    gyre_event *before, *after; /* NULL: the device tells no time */
    bool begun;                 /* since the last read */
    uint64_t begin_ns;          /* the host's, where there are no events */
    void *scratch;              /* taken at the first flush */
    size_t scratch_bytes;
    gyre_profile *profile; /* with --trace: its device spans go there at the close */
    uint64_t flushes;      /* each is one submission to the stream */
} gyre_bench_device;

/* The backend that the case's axis `device` names. Static. */
const char *gyre_bench_device_word(const gyre_bench_case *c);

/* The first device of a backend that is not in trouble. GYRE_UNAVAILABLE, refused with what the
 * driver or the device says, when there is none. Opens nothing. */
GYRE_MUST_USE gyre_status gyre_bench_device_find(const char *backend,
                                                 const gyre_device **out_device);

/* Opens the device that the case's axis names, or that of a backend, with a stream; NULL options
 * mean all defaults. What was opened before a failure is closed again. */
GYRE_MUST_USE gyre_status gyre_bench_device_open(gyre_bench_device *d, const gyre_bench_case *c,
                                                 const gyre_context_options *options);
GYRE_MUST_USE gyre_status gyre_bench_device_open_on(gyre_bench_device *d, const char *backend,
                                                    const gyre_context_options *options);

/* Ends an open one, or half of one; what the case made of the context is gone before. A context
 * that is lost is remembered: the guard calls it critical. */
void gyre_bench_device_close(gyre_bench_device *d);

/* A block of the context's memory, aligned to 256, and back; NULL is a no-op. */
GYRE_MUST_USE gyre_status gyre_bench_device_take(gyre_bench_device *d,
                                                 gyre_context_memory_kind kind, size_t size_bytes,
                                                 void **out_block);
void gyre_bench_device_give(gyre_bench_device *d, gyre_context_memory_kind kind, void *block,
                            size_t size_bytes);

/* Copies, in any direction, and waits. For set-ups and checks. */
GYRE_MUST_USE gyre_status gyre_bench_device_copy(const gyre_bench_device *d, void *to,
                                                 const void *from, size_t size);

/* Whether the device can write to the block, of its memory or pinned, and the host reads there what
 * was written. For checks; whole words of 4 bytes. */
GYRE_MUST_USE bool gyre_bench_device_writes(const gyre_bench_device *d, void *block, size_t size);

/* Numbers between -1 and 1, the same for the same seed, none of them 0. */
void gyre_bench_device_numbers(float *out_numbers, size_t count, uint64_t seed);

/* Reports which device it was. */
void gyre_bench_device_tell(const gyre_bench_device *d, gyre_bench_facts *facts);

/* For GYRE_DEVICE_SUITE. A flush fills twice the device's last cache. */
extern const gyre_bench_clock gyre_device_clock;

/* Looks at the devices that tell how they are; opens none. Warning: a clock is lowered, not by
 * somebody's wish; uncorrected memory errors from before. Critical: too hot, a fault (Xid) or an
 * uncorrected memory error since the process began to look, fallen off the bus, a context that was
 * lost. Its reset waits some seconds for a device that is hot or slowed down, and opens the device
 * of a lost context to see whether it works again. */
extern const gyre_bench_guard gyre_device_guard;

/* How bad it is, by a device's first look in this process and the present one, with the words. */
gyre_health gyre_device_guard_judge(const gyre_device_state *first, const gyre_device_state *now,
                                    char *why, size_t why_size);

#endif
