/* SPDX-License-Identifier: Apache-2.0
 *
 * stage_abi: what the host must know of the stage, the shared memory of a GPU through which
 * messages go that a whole block handles (actor/cuda_stage.h): how much of it a launch has to ask
 * for.
 *
 * Compiles as C11, C++17 and CUDA C (nvcc and NVRTC).
 *
 * Threads   const data.
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_STAGE_ABI_H
#define GYRE_ACTOR_STAGE_ABI_H

#ifndef GYRE_ACTOR_MAILBOX_ABI_H
#include "actor/mailbox_abi.h"
#endif

enum {
    GYRE_STAGE = 32, /* messages of a port on the stage, */
    GYRE_HAND = 32,  /* and in hand: two turns of the clerk's, and a bell of each port */
};

/* Which slot a message has: a bell of each port, answers, then GYRE_STAGE messages of each port. So
 * the first of a port that is not there says how many slots there are. */
GYRE_RING_INLINE gyre_abi_u32 gyre_stage_at(gyre_abi_u32 port, gyre_abi_u32 sequence)
{
    return GYRE_MAILBOX_PORTS + GYRE_HAND + port * GYRE_STAGE + sequence % GYRE_STAGE;
}

#endif
