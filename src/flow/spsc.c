/* SPDX-License-Identifier: Apache-2.0
 *
 * spsc: the cold half of gyre/spsc.h, which has the contract, the threads and both edges.
 */
#include "gyre/spsc.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/fail.h"

/* Part of the caller's structs. What the producer writes, what the consumer writes and what nobody
 * writes share no pair of lines. */
_Static_assert(alignof(gyre_spsc) == 64 && sizeof(gyre_spsc) == 320, "layout is public");
_Static_assert(offsetof(gyre_spsc, tail) == 0 && offsetof(gyre_spsc, cached_head) == 8, "producer");
_Static_assert(offsetof(gyre_spsc, head) == 128 && offsetof(gyre_spsc, cached_tail) == 136,
               "consumer");
_Static_assert(offsetof(gyre_spsc, capacity) == 256 && offsetof(gyre_spsc, mask) == 264 &&
                   offsetof(gyre_spsc, slot_size) == 272 && offsetof(gyre_spsc, slots) == 280,
               "constant");

gyre_status gyre_spsc_init(gyre_spsc *queue, void *slots, size_t slot_size, uint64_t capacity)
{
    size_t bytes;

    if (!queue || (uintptr_t)queue % alignof(gyre_spsc) != 0)
        return gyre_fail(GYRE_INVALID,
                         "spsc: the queue at %p is not aligned to 64; make it a variable, or "
                         "allocate it with aligned_alloc",
                         (void *)queue);
    if (slot_size == 0)
        return gyre_fail(GYRE_INVALID, "spsc: the slot size is 0; give the size of one item");
    if (capacity == 0 || (capacity & (capacity - 1)) != 0)
        return gyre_fail(GYRE_INVALID,
                         "spsc: capacity %" PRIu64 " is not a power of two; take 1, 2, 4, 8, ...",
                         capacity);
    if (!gyre_size_multiply(slot_size, capacity, &bytes))
        return gyre_fail(GYRE_INVALID,
                         "spsc: %" PRIu64 " slots of %zu bytes are more than memory can be; "
                         "make them fewer or smaller",
                         capacity, slot_size);
    if (!slots)
        return gyre_fail(GYRE_INVALID, "spsc: there is no storage; give %zu bytes", bytes);
    *queue = (gyre_spsc){
        .capacity = capacity,
        .mask = capacity - 1,
        .slot_size = slot_size,
        .slots = slots,
    };
    return GYRE_OK;
}
