/* SPDX-License-Identifier: Apache-2.0
 *
 * ring_litmus: decides which form of ring_abi.h's slot this host can be trusted with.
 *
 * Quarters need 16-byte accesses that are never seen half done. The processor promises that, or
 * not; an emulator may promise what it does not keep, so two threads also try. Only both together
 * are a yes: what was not seen in a few milliseconds may still happen.
 *
 * Threads   any; one more is started and stopped inside.
 * Owns      nothing.
 * Not here  what a device keeps (tests/device/ring_litmus.cu), remembering the answer.
 */
#ifndef GYRE_FLOW_RING_LITMUS_H
#define GYRE_FLOW_RING_LITMUS_H

#include <stdbool.h>
#include <stdint.h>

#include "flow/ring_abi.h"
#include "gyre/common.h"
#include "gyre/status.h"

typedef struct gyre_ring_verdict {
    bool quarters;       /* use quarters; otherwise words */
    bool promised;       /* by the processor: x86-64 with AVX, aarch64 with LSE2 */
    uint64_t reads;      /* of quarters that another thread kept writing, */
    uint64_t overlaps;   /* which found another stamp than the read before */
    uint64_t torn;       /* and those that found parts of two writes */
    const char *because; /* in words; static */
} gyre_ring_verdict;

/* Tries for `budget_ns` and judges. GYRE_NO_MEMORY when there is no thread to be had,
 * GYRE_UNAVAILABLE in a forked child; then the verdict is for words. Blocks for the budget. */
GYRE_MUST_USE gyre_status gyre_ring_litmus(uint64_t budget_ns, gyre_ring_verdict *out_verdict);

/* The same with another way to store a quarter and another promise: how tests make it fail. */
GYRE_MUST_USE gyre_status gyre_ring_litmus_with(void (*store)(gyre_ring_quarter *to,
                                                              gyre_ring_quarter quarter),
                                                bool promised, uint64_t budget_ns,
                                                gyre_ring_verdict *out_verdict);

#endif
