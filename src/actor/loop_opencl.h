/* SPDX-License-Identifier: Apache-2.0
 *
 * loop_opencl: a seat that is a work-group of OpenCL, with one work-item. It comes after the text
 * of the behaviour.
 *
 * OpenCL 1.2 has no clock, so times of messages are not kept, and messages are late by the time
 * that the host wrote last (actor/deadline.c); and nothing to rest with, so it spins.
 *
 * Threads   one for a seat.
 * Owns      nothing.
 * Not here  the loop (actor/loop_single.h).
 */
#ifndef GYRE_ACTOR_LOOP_OPENCL_H
#define GYRE_ACTOR_LOOP_OPENCL_H

#if defined(__x86_64__) /* a kernel for the host's own processor: it rests as a thread does */
#include "actor/pace.h"
#define GYRE_LOOP_OWN gyre_pace pace;
#define GYRE_LOOP_REST(loop, idle) gyre_pace_rest(&(loop)->pace, (idle))
#else
#define GYRE_LOOP_OWN
#define GYRE_LOOP_REST(loop, idle) mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
#define GYRE_LOOP_HANDLE(loop, self, state, brief)                                                 \
    gyre_behaviour_handle((self), (__global gyre_behaviour_state *)(state), (brief))
#define GYRE_LOOP_NOW() 0
#define GYRE_LOOP_TIME(loop) gyre_mailbox_load64(&(loop)->seat->control.host.time)

#include "actor/loop_single.h"

GYRE_FUNCTION void gyre_self_say(GYRE_OWN gyre_self *self, const GYRE_LITERAL char *text,
                                 gyre_abi_u32 length, gyre_abi_u32 kind, gyre_abi_u64 value)
{
    gyre_prints_put((GYRE_OWN gyre_prints *)self->runtime, text, length, kind, value);
}

/* What a behaviour gets, and what it does not see. */
typedef struct gyre_seated {
    gyre_self self;
    __global gyre_seat *seat;
    gyre_abi_u64 now; /* the latest that it was told: threads of the host may tell out of turn */
} gyre_seated;

GYRE_FUNCTION gyre_abi_u64 gyre_self_now(GYRE_OWN gyre_self *self)
{
    GYRE_OWN gyre_seated *const seated = (GYRE_OWN gyre_seated *)self;
    const gyre_abi_u64 told = gyre_mailbox_load64(&seated->seat->control.host.time);

    if (told > seated->now)
        seated->now = told;
    return seated->now;
}

__kernel void GYRE_MAILBOX_KERNEL(__global gyre_abi_u8 *mailbox, __global gyre_abi_u8 *state,
                                  gyre_mailbox_shape shape, __local gyre_abi_u8 *shared)
{
    gyre_loop loop = {0};
    gyre_seated seated;

    if (shape.seats == 0) { /* launched so that it is compiled, and tells what it can read */
        *(__global gyre_abi_u32 *)mailbox = GYRE_RING_HAS_QUARTERS;
        return;
    }
    seated.self.lane = 0;
    seated.self.lanes = 1;
    seated.self.seat = (gyre_abi_u32)get_group_id(0);
    seated.self.seats = shape.seats;
    seated.self.shared = shared;
    gyre_loop_init(&loop, mailbox, shape, seated.self.seat);
    seated.self.runtime = &loop.prints;
    seated.seat = loop.seat;
    seated.now = 0;
    gyre_loop_run(&loop, &seated.self, state);
}

#endif
