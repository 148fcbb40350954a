/* SPDX-License-Identifier: Apache-2.0
 *
 * slot: a message into a slot and out of it, by one thread, in whichever form the ring has
 * (flow/ring_abi.h). CUDA's seats have many threads to a slot, and their own way.
 *
 * Compiles as C11, C++17 and OpenCL C 1.2.
 *
 * Threads   one writer of a slot at a time. Edge: [ring-slot].
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_SLOT_H
#define GYRE_ACTOR_SLOT_H

#ifndef GYRE_ACTOR_MAILBOX_ABI_H
#include "actor/mailbox_abi.h"
#endif

#if defined(__OPENCL_VERSION__)
#define GYRE_SLOT_APART static inline
#if GYRE_RING_HAS_QUARTERS
#define GYRE_SLOT_QUARTERS 1
#include "actor/slot_opencl.h"
#endif
#else
#if defined(__x86_64__)
#define GYRE_SLOT_QUARTERS 1
#include "actor/slot_sse2.h"
#endif
/* Not into its callers, which would all align their stack for the copy of a slot. */
#define GYRE_SLOT_APART static __attribute__((noinline, unused))
#endif

/* Bytes as the slot of quarters that they are. */
#define GYRE_SLOT_IN(bytes)                                                                        \
    ((const GYRE_RING_SHARED gyre_ring_slot *)(const GYRE_RING_SHARED void *)(bytes))
#define GYRE_SLOT_OUT(bytes) ((GYRE_RING_SHARED gyre_ring_slot *)(GYRE_RING_SHARED void *)(bytes))

/* What a brief begins with. */
GYRE_RING_INLINE gyre_abi_u64 gyre_slot_head(const GYRE_RING_OWN gyre_brief *brief,
                                             gyre_abi_u32 flags, gyre_abi_u32 correlation)
{
    return (gyre_abi_u64)correlation << 32 | (gyre_abi_u32)brief->priority << 24 | flags << 16 |
           brief->type;
}

GYRE_SLOT_APART int gyre_slot_read_parts(const GYRE_MAILBOX_BYTE *slot, gyre_abi_u32 wide,
                                         gyre_abi_u32 stamp, GYRE_RING_OWN gyre_brief *out_brief)
{
    gyre_mailbox_message message;
    int found;

#if GYRE_RING_HAS_QUARTERS
    if (!wide)
        found = gyre_ring_read(GYRE_SLOT_IN(slot), stamp, &message.payload);
    else
#endif
        found = gyre_ring_wide_read((const GYRE_RING_SHARED gyre_ring_wide_slot *)slot, stamp,
                                    &message.payload);
    if (found)
        *out_brief = message.brief;
    return found;
}

GYRE_SLOT_APART void gyre_slot_write_parts(GYRE_MAILBOX_BYTE *slot, gyre_abi_u32 wide,
                                           gyre_abi_u32 stamp, gyre_abi_u64 head,
                                           const GYRE_RING_OWN gyre_brief *brief)
{
    gyre_mailbox_message message;

    message.brief = *brief;
    message.payload.eight[0] = head;
#if GYRE_RING_HAS_QUARTERS
    if (!wide) {
        gyre_ring_write(GYRE_SLOT_OUT(slot), stamp, &message.payload);
        return;
    }
#endif
    gyre_ring_wide_write((GYRE_RING_SHARED gyre_ring_wide_slot *)slot, stamp, &message.payload);
}

/* GYRE_RING_READY and the message; or GYRE_RING_NOT_YET, and it is left alone. */
GYRE_RING_INLINE int gyre_slot_read(const GYRE_MAILBOX_BYTE *slot, gyre_abi_u32 wide,
                                    gyre_abi_u32 stamp, GYRE_RING_OWN gyre_brief *out_brief)
{
#if defined(GYRE_SLOT_QUARTERS)
    if (!wide)
        return gyre_slot_read_quarters(GYRE_SLOT_IN(slot), stamp, out_brief);
#endif
    return gyre_slot_read_parts(slot, wide, stamp, out_brief);
}

/* Writes a message: this head, and the body of a brief whose own head does not matter. */
GYRE_RING_INLINE void gyre_slot_write(GYRE_MAILBOX_BYTE *slot, gyre_abi_u32 wide,
                                      gyre_abi_u32 stamp, gyre_abi_u64 head,
                                      const GYRE_RING_OWN gyre_brief *brief)
{
#if defined(GYRE_SLOT_QUARTERS)
    if (!wide) {
        gyre_slot_write_quarters(GYRE_SLOT_OUT(slot), stamp, head, brief);
        return;
    }
#endif
    gyre_slot_write_parts(slot, wide, stamp, head, brief);
}

#if !defined(__OPENCL_VERSION__)
/* The same into several slots, which lie so many bytes apart. */
GYRE_RING_INLINE void gyre_slot_write_copies(unsigned char *first, gyre_abi_u32 apart,
                                             gyre_abi_u32 count, gyre_abi_u32 wide,
                                             gyre_abi_u32 stamp, gyre_abi_u64 head,
                                             const gyre_brief *brief)
{
#if defined(GYRE_SLOT_QUARTERS)
    if (!wide) {
        const gyre_slot_quarters quarters = gyre_slot_make_quarters(stamp, head, brief);

        for (gyre_abi_u32 i = 0; i < count; i++)
            gyre_slot_put_quarters(GYRE_SLOT_OUT(first + i * apart), quarters);
        return;
    }
#endif
    for (gyre_abi_u32 i = 0; i < count; i++)
        gyre_slot_write_parts(first + i * apart, wide, stamp, head, brief);
}
#endif

/* The same for one of many messages, which the caller did not put down just now. */
GYRE_RING_INLINE void gyre_slot_write_one(GYRE_MAILBOX_BYTE *slot, gyre_abi_u32 wide,
                                          gyre_abi_u32 stamp, gyre_abi_u64 head,
                                          const GYRE_RING_OWN gyre_brief *brief)
{
#if defined(GYRE_SLOT_QUARTERS)
    if (!wide) {
        gyre_slot_write_one_quarters(GYRE_SLOT_OUT(slot), stamp, head, brief);
        return;
    }
#endif
    gyre_slot_write_parts(slot, wide, stamp, head, brief);
}

#endif
