/* SPDX-License-Identifier: Apache-2.0
 *
 * pace: when to look first for the answer to what was just written, if it is to come in the same
 * line.
 *
 * Whoever reads a line that another has written gets it for himself, and writes into it at no cost.
 * But if the other looks in between, both have a copy, and the write has to send for the line once
 * more: two ways instead of one. A look that is late costs as much as it is late. So a side that
 * waits keeps away for as long as an answer usually takes, and learns how long that is: a little
 * longer when the first look was in vain and one of the next was not, a little shorter when it was
 * not in vain. What takes much longer says nothing.
 *
 * For the host, and for kernels of OpenCL that run on its processor.
 *
 * Threads   one for a pace.
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_PACE_H
#define GYRE_ACTOR_PACE_H

#ifndef GYRE_FLOW_RING_ABI_H
#include "flow/ring_abi.h"
#endif

#if defined(__OPENCL_VERSION__)
#define GYRE_PACE_RELAX() __asm__ volatile("pause" ::: "memory")
#else
#include "base/wait.h"
#define GYRE_PACE_RELAX() gyre_relax()
#endif

enum {
    GYRE_PACE_ONE = 32,                  /* a pause, in parts */
    GYRE_PACE_MOST = 32 * GYRE_PACE_ONE, /* parts */
    GYRE_PACE_SOON = 4,                  /* looks */
};

/* Zero at first. */
typedef struct gyre_pace {
    gyre_ring_u32 parts; /* pauses before the first look */
    gyre_ring_u32 vain;  /* looks in vain since the last that was not, for gyre_pace_rest */
} gyre_pace;

/* Before the first look. */
GYRE_RING_INLINE void gyre_pace_keep(const GYRE_RING_OWN gyre_pace *pace)
{
    for (gyre_ring_u32 left = pace->parts / GYRE_PACE_ONE; left > 0; left--)
        GYRE_PACE_RELAX();
}

/* After the last, the first `vain` of which were in vain. */
GYRE_RING_INLINE void gyre_pace_learn(GYRE_RING_OWN gyre_pace *pace, gyre_ring_u32 vain)
{
    if (vain == 0)
        pace->parts -= pace->parts / 32;
    else if (vain < GYRE_PACE_SOON && pace->parts < GYRE_PACE_MOST)
        pace->parts += GYRE_PACE_ONE / 2;
}

/* After `idle` looks in vain; or, of 0, after an answer was written to what a look had found. */
GYRE_RING_INLINE void gyre_pace_rest(GYRE_RING_OWN gyre_pace *pace, gyre_ring_u32 idle)
{
    if (idle == 0) {
        gyre_pace_learn(pace, pace->vain);
        gyre_pace_keep(pace);
    } else {
        GYRE_PACE_RELAX();
    }
    pace->vain = idle;
}

#endif
