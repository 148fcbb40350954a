/* SPDX-License-Identifier: Apache-2.0
 *
 * slot_opencl: a slot of quarters, read and written by a kernel of OpenCL that was compiled for
 * the host's own processor, which is x86-64: what actor/slot_sse2.h does, for the reasons that it
 * tells, in the vectors of OpenCL.
 *
 * Threads   as flow/ring_abi.h, whose accesses these are.
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_SLOT_OPENCL_H
#define GYRE_ACTOR_SLOT_OPENCL_H

static inline uint4 gyre_slot_load_quarter(const __global gyre_ring_quarter *from)
{
    uint4 quarter;

    __asm__ volatile("movdqa %1, %0" : "=x"(quarter) : "m"(*from));
    return quarter;
}

static inline void gyre_slot_store_quarter(__global gyre_ring_quarter *to, uint4 quarter)
{
    __asm__ volatile("movdqa %1, %0" : "=m"(*to) : "x"(quarter));
}

/* As gyre_ring_read. */
static inline int gyre_slot_read_quarters(const __global gyre_ring_slot *slot, uint stamp,
                                          gyre_brief *out_brief)
{
    uint *const out = (uint *)out_brief;
    uint4 q0, q1, q2, q3;

    if (*(const volatile __global uint *)&slot->quarter[3].stamp != stamp)
        return GYRE_RING_NOT_YET;
    q0 = gyre_slot_load_quarter(&slot->quarter[0]);
    q1 = gyre_slot_load_quarter(&slot->quarter[1]);
    q2 = gyre_slot_load_quarter(&slot->quarter[2]);
    q3 = gyre_slot_load_quarter(&slot->quarter[3]);
    if (((q0.w ^ stamp) | (q1.w ^ stamp) | (q2.w ^ stamp) | (q3.w ^ stamp)) != 0)
        return GYRE_RING_NOT_YET;
    gyre_ring_order();
    vstore2(q0.xy, 0, out);
    vstore4((uint4)(q1.xy, q2.xy), 0, out + 2);
    vstore4((uint4)(q3.xy, q0.z, q1.z), 0, out + 6);
    vstore2((uint2)(q2.z, q3.z), 0, out + 10);
    return GYRE_RING_READY;
}

/* As gyre_ring_write. */
static inline void gyre_slot_write_quarters(__global gyre_ring_slot *slot, uint stamp, ulong head,
                                            const gyre_brief *brief)
{
    const volatile uint *const body = brief->body.words; /* each by a load of its own */
    const uint4 q0 = (uint4)((uint)head, (uint)(head >> 32), body[6], stamp);
    const uint4 q1 = (uint4)(body[0], body[1], body[7], stamp);
    const uint4 q2 = (uint4)(body[2], body[3], body[8], stamp);
    const uint4 q3 = (uint4)(body[4], body[5], body[9], stamp);

    gyre_ring_order();
    gyre_slot_store_quarter(&slot->quarter[0], q0);
    gyre_slot_store_quarter(&slot->quarter[1], q1);
    gyre_slot_store_quarter(&slot->quarter[2], q2);
    gyre_slot_store_quarter(&slot->quarter[3], q3);
}

#define gyre_slot_write_one_quarters gyre_slot_write_quarters

#endif
