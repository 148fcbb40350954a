/* SPDX-License-Identifier: Apache-2.0
 *
 * usage: what the machine did to this process while it was measured.
 *
 * Threads   one reader.
 * Owns      the descriptor of /proc/stat, from open to close.
 * Not here  what it means (bench/analyse.h).
 */
#ifndef GYRE_BENCH_USAGE_H
#define GYRE_BENCH_USAGE_H

#include <stdint.h>

#include "gyre/common.h"

typedef struct gyre_usage {
    int stat; /* -1: steal is not known */
} gyre_usage;

typedef struct gyre_usage_marks {
    uint64_t steal_ticks; /* of all CPUs, since boot */
    uint64_t switches;    /* times a thread of this process lost its CPU */
} gyre_usage_marks;

void gyre_usage_open(gyre_usage *usage);
gyre_usage_marks gyre_usage_read(const gyre_usage *usage);
void gyre_usage_close(gyre_usage *usage);

/* The most memory that this process had, since gyre_usage_forget_peak where the kernel lets it be
 * forgotten, else since it began; 0 when not known. */
void gyre_usage_forget_peak(void);
uint64_t gyre_usage_peak_bytes(void);

#endif
