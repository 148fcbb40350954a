/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor: judges what will disturb measurements on this machine.
 *
 * Threads   any; judging is pure.
 * Owns      nothing.
 * Not here  looking and measuring (bench/evidence.h), printing (apps/gyre/verb_doctor.c), devices
 *           (apps/gyre/doctor_devices.c).
 */
#ifndef GYRE_BENCH_DOCTOR_H
#define GYRE_BENCH_DOCTOR_H

#include <stddef.h>

#include "bench/evidence.h"
#include "gyre/common.h"

/* A finding's weight, and the verdict: the heaviest of them. */
typedef enum gyre_noise {
    GYRE_NOISE_NOTE = 0,     /* good to know; figures stand */
    GYRE_NOISE_NOISY = 1,    /* compare only side by side, in one run */
    GYRE_NOISE_UNUSABLE = 2, /* figures of this machine, as it is, mean nothing */
} gyre_noise;

typedef struct gyre_finding {
    const char *id; /* "steal"; static */
    gyre_noise noise;
    char evidence[160];
    const char *advice; /* static */
} gyre_finding;

enum { GYRE_FINDINGS_MAX = 64 };

typedef struct gyre_diagnosis {
    gyre_noise verdict;
    size_t count;
    gyre_finding findings[GYRE_FINDINGS_MAX];
} gyre_diagnosis;

/* Everything that disturbs, in the order it was looked for. */
gyre_diagnosis gyre_doctor_judge(const gyre_evidence *evidence);

/* Adds a finding, and makes the verdict no lighter than it; for rules that stand elsewhere. What is
 * more than fits is left out. */
void gyre_doctor_find(gyre_diagnosis *diagnosis, const char *id, gyre_noise noise,
                      const char *advice, const char *format, ...) GYRE_PRINTF(5, 6);

/* A slower ping-pong is far: two threads of one core were seen at 40-60 ns, two cores at 100-250.
 */
enum { GYRE_DOCTOR_FAR_NS = 90 };

/* The ids that are looked for, found or not; NULL past the last. Borrowed, static. */
const char *gyre_doctor_check_at(size_t index);

/* "near" or "far", from the slowest ping-pong: near means that the two CPUs are threads of one
 * core, or as close as that; "unknown" when there was no ping-pong. Borrowed, static. */
const char *gyre_doctor_placement(const gyre_evidence *evidence);

/* "quiet", "noisy", "unusable". Borrowed, static. */
const char *gyre_noise_name(gyre_noise verdict);

#endif
