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
 * Threads   one for a pace.
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_PACE_H
#define GYRE_ACTOR_PACE_H

#include <stdint.h>

#include "base/wait.h"

enum {
    GYRE_PACE_ONE = 32,                  /* a pause, in parts */
    GYRE_PACE_MOST = 32 * GYRE_PACE_ONE, /* parts */
    GYRE_PACE_SOON = 4,                  /* looks */
};

/* Zero at first. */
typedef struct gyre_pace {
    uint32_t parts; /* pauses before the first look */
} gyre_pace;

/* Before the first look. */
GYRE_INLINE void gyre_pace_keep(const gyre_pace *pace)
{
    for (uint32_t left = pace->parts / GYRE_PACE_ONE; left > 0; left--)
        gyre_relax();
}

/* After the last, the first `vain` of which were in vain. */
GYRE_INLINE void gyre_pace_learn(gyre_pace *pace, uint32_t vain)
{
    if (vain == 0)
        pace->parts -= pace->parts / 32;
    else if (vain < GYRE_PACE_SOON && pace->parts < GYRE_PACE_MOST)
        pace->parts += GYRE_PACE_ONE / 2;
}

#endif
