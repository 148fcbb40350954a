/* SPDX-License-Identifier: Apache-2.0
 *
 * profile: what a context did, when, and for how long, on the host and on the device.
 *
 * While a profile is on, every submission is counted by what it is and which stream it went to,
 * with the host's time for handing it over; and one in so many gets a device span: two events
 * around it, read when the device has passed them. One around each would slow short kernels down,
 * which is why it is one in 64 unless asked otherwise. The device's times are put on the host's
 * clock by two anchors, one when the profile starts and one when it stops.
 *
 * Host scopes are those of gyre/trace.h; the library opens one around every submission and wait.
 * gyre_profile_write puts both into one file that Perfetto and chrome://tracing show.
 *
 * Threads   any; start, stop and destroy by one at a time.
 * Owns      its records.
 * Not here  sensors (gyre/monitor.h), counters of the hardware.
 */
#ifndef GYRE_PROFILE_H
#define GYRE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gyre/alloc.h"
#include "gyre/common.h"
#include "gyre/context.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

typedef struct gyre_profile gyre_profile;

/* Zero means default, everywhere. */
typedef struct gyre_profile_options {
    size_t struct_size;              /* sizeof(gyre_profile_options): lets the struct grow */
    const gyre_allocator *allocator; /* copied; default malloc */
    uint32_t spans;                  /* device spans that are kept; default 65536, at most 2^24 */
    uint32_t device_every; /* one submission in so many, of each stream, gets a device span; default
                            * 64; 1: each; UINT32_MAX: none */
} gyre_profile_options;

/* Starts to look at a context, which outlives the profile. GYRE_AGAIN when another profile does,
 * GYRE_NO_MEMORY, GYRE_DEVICE_LOST. Where the device has no GYRE_FEATURE_TIMING there are no device
 * spans. Waits for a moment of the device's, to align the clocks, up to the context's deadline:
 * GYRE_TIMEOUT. */
GYRE_API GYRE_MUST_USE gyre_status gyre_profile_start(gyre_context *context,
                                                      const gyre_profile_options *options,
                                                      gyre_profile **out_profile);

/* Stops looking, waits for device spans that are under way, up to the context's deadline, and sets
 * the second anchor. What was recorded stays readable. Twice is once. GYRE_TIMEOUT,
 * GYRE_DEVICE_LOST: then it has stopped too, without what did not come. GYRE_UNAVAILABLE in a
 * forked child, where it does not. */
GYRE_API GYRE_MUST_USE gyre_status gyre_profile_stop(gyre_profile *profile);

/* One submission as the device saw it, on the host's clock (gyre/clock.h). */
typedef struct gyre_profile_span {
    const char *name;     /* the kernel's, or "copy", "fill", "graph"; until destroy */
    const char *stream;   /* its name; until destroy */
    uint64_t ticket;      /* of the stream */
    uint64_t begin_ns;    /* on the device */
    uint64_t duration_ns; /* there */
    uint64_t submit_ns;   /* when the host handed it over */
} gyre_profile_span;

/* After stop: hands every device span to `visit`, in the order of submission. GYRE_INVALID before
 * stop. */
GYRE_API GYRE_MUST_USE gyre_status gyre_profile_visit(const gyre_profile *profile,
                                                      void (*visit)(void *user,
                                                                    const gyre_profile_span *span),
                                                      void *user);

/* All submissions of one name to streams of one name. */
typedef struct gyre_profile_row {
    const char *name;
    const char *stream;
    uint64_t count;           /* submissions */
    uint64_t submit_ns;       /* the host's time for handing them over, together */
    uint64_t spans;           /* how many of them had a device span, */
    uint64_t device_ns;       /* how long those took together, */
    uint64_t device_least_ns; /* the shortest, */
    uint64_t device_most_ns;  /* and the longest */
} gyre_profile_row;

typedef struct gyre_profile_totals {
    size_t struct_size;   /* set by the caller: sizeof(gyre_profile_totals) */
    uint64_t submissions; /* seen */
    uint64_t spans;       /* device spans kept, */
    uint64_t dropped;     /* those for which there was no room, or no event left, */
    uint64_t uncounted;   /* and submissions of names beyond the 256 that are told apart */
    double align_ns;      /* how far the device's times may be off: half a round trip */
    uint64_t began_ns, ended_ns;
} gyre_profile_totals;

/* After stop: hands a row for each name and stream to `visit`, the largest device time (or count)
 * first; totals may be NULL. GYRE_INVALID before stop. */
GYRE_API GYRE_MUST_USE gyre_status gyre_profile_report(const gyre_profile *profile,
                                                       void (*visit)(void *user,
                                                                     const gyre_profile_row *row),
                                                       void *user, gyre_profile_totals *out_totals);

/* After stop: writes the device spans of `count` profiles, and every event that the recorder of
 * gyre/trace.h holds, as a JSON array of trace events (docs/formats/trace.md). GYRE_IO when the
 * stream fails. */
GYRE_API GYRE_MUST_USE gyre_status gyre_profile_write(const gyre_profile *const *profiles,
                                                      size_t count, FILE *stream);

/* Stops and frees; NULL is a no-op. */
GYRE_API void gyre_profile_destroy(gyre_profile *profile);

GYRE_END_DECLS

#endif
