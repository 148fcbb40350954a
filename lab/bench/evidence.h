/* SPDX-License-Identifier: Apache-2.0
 *
 * evidence: what can be seen and measured of the things that disturb measurements.
 *
 * Collecting takes about a second: it spins on one CPU, watches the kernel's accounts meanwhile,
 * and bounces a line between CPUs. Nothing is judged here.
 *
 * Threads   the calling thread, and two for the ping-pong.
 * Owns      nothing.
 * Not here  what it means (bench/doctor.h).
 */
#ifndef GYRE_BENCH_EVIDENCE_H
#define GYRE_BENCH_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/clock.h"
#include "gyre/common.h"
#include "gyre/status.h"

enum { GYRE_EVIDENCE_PINGPONGS = 3 };

/* Negative means unknown, for the shares and times. */
typedef struct gyre_evidence {
    /* CPUs and what bounds them */
    uint32_t cpu_count, allowed_count, core_count;
    double cpu_quota;            /* CPUs' worth; 0 none */
    uint64_t memory_limit_bytes; /* 0 none */
    uint64_t memory_bytes, available_bytes;
    bool smt_visible, smt; /* whether it can be told; whether cores have two threads or more */
    bool wsl;
    char container[16];  /* "" none */
    char hypervisor[16]; /* "" none seen */

    /* Activity, while one CPU was kept busy for spin_ns */
    double load_1min;    /* the kernel's average */
    double others_share; /* of all CPU time, used by anyone else */
    double steal_share;  /* of all CPU time, taken by the hypervisor */
    uint64_t spin_ns;    /* how long the spin lasted */
    uint64_t gap_count;  /* times it was away for over 10 us */
    uint64_t longest_gap_ns;
    double gap_share; /* of the spin, lost in such gaps */

    /* Speed */
    char governor[24]; /* of the first CPU; "" when frequency scaling is not visible */
    int turbo;         /* 1 on, 0 off, -1 not visible */
    double pingpong_ns[GYRE_EVIDENCE_PINGPONGS]; /* medians, taken apart; -1 with one CPU */
    uint32_t pingpong_cpus[2];
    char thp[12];
    int counters_errno; /* 0: hardware counters work */
    gyre_clock_info clock;
    bool optimised, sanitized; /* of this build */
} gyre_evidence;

/* Looks and measures. Blocks for about a second. */
GYRE_MUST_USE gyre_status gyre_evidence_collect(gyre_evidence *out_evidence);

#endif
