/* SPDX-License-Identifier: Apache-2.0
 *
 * beside: see beside.h.
 */
#include "bench/beside.h"

enum { UNTIMED_PART = 8 }; /* of the iterations that follow; none of fewer */

void gyre_beside_place(gyre_beside *beside, int side)
{
    beside->placed[side] =
        sched_getaffinity(0, sizeof beside->cpus[side], &beside->cpus[side]) == 0;
}

void gyre_beside_go(const gyre_beside *beside, int side)
{
    const bool apart =
        beside->placed[0] && beside->placed[1] && !CPU_EQUAL(&beside->cpus[0], &beside->cpus[1]);

    if (apart)
        (void)sched_setaffinity(0, sizeof beside->cpus[side], &beside->cpus[side]);
}

void gyre_beside_turn(const gyre_beside *beside, int side, uint64_t iterations)
{
    gyre_beside_go(beside, side);
    if (iterations >= UNTIMED_PART)
        (void)gyre_drive_run(beside->sides[side], iterations / UNTIMED_PART);
}
